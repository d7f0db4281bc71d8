"""Every other metric: two groups' values over their standard error, against permuted labels or bootstrap samples."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats, Moments
from skfairtest.comparisons.evaluation import Studentized
from skfairtest.comparisons.rates import bootstrapped_log_p, farthest_beyond, resampled_log_p, tests_of
from skfairtest.comparisons.resample import announce_if_long, resample, sides_of
from skfairtest.comparisons.rows import (
    SMALL,
    SMALLEST_GROUP,
    Exclusion,
    GroupValues,
    Measured,
    Missing,
    Row,
    by_hypothesis,
    ends_of,
    name_hypothesis,
    places_of,
    what_is_equal,
)
from skfairtest.comparisons.settings import Settings
from skfairtest.inference import two_sides
from skfairtest.inference.draws import MOST_PEOPLE
from skfairtest.inference.linear_form import (
    EffectiveRates,
    Form,
    Linearized,
    effective_people,
    linear_form,
    resampled,
)
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.rates import quantiles
from skfairtest.inference.resampling import oriented
from skfairtest.inference.two_sides import Sides, Statistic, Stratum
from skfairtest.metrics import (
    Bootstrap,
    BuiltIn,
    Functional,
    Rate,
)

#: Seconds of one evaluation from which on a forecast is made before anything else is evaluated.
UNHURRIED = 0.02
#: Skewness of a difference's error from which on its law is too far from the normal one (that of six events is .4).
SKEWED = 0.4
#: A variance below this share of the largest square is a rounding error of 0.
ROUNDING = 1e-24


def measure_studentized(
    out: Measured,
    made: Studentized,
    contrasts: Sequence[tuple[Contrast, Any]],
    settings: Settings,
    seed: np.random.SeedSequence,
) -> None:
    """Make and test the rows of one metric."""
    if settings.question.method == "exact":
        raise ParameterError(
            f"method='exact' has no law for {made.name}"
            + (" of people with weights or in clusters" if isinstance(made.metric, Rate) else "")
            + ": use method='auto', which permutes labels"
        )
    out.values[made.name] = _values(out, made, settings, seed)
    missing = Missing()
    made_rows = [_rows(out, made, base, other, missing) for base, other in contrasts]
    families = [(rows, comparison) for rows, comparison in made_rows if rows]
    missing.report(out, made.name, _why_undefined(made))
    # Pooled comparisons come before those within strata.
    own = [row for rows, _ in families for row in rows]
    out.rows += sorted(own, key=lambda row: -1 if row.contrast.stratum is None else row.contrast.stratum)
    _test(out, made, families, settings, seed)


def _why_undefined(made: Studentized) -> str:
    if isinstance(made.metric, Rate):
        among = made.metric.among or "who meet the condition"
        lonely = "" if made.kinds.cluster is None else ", or all who do are in one cluster"
        return f"undefined: nobody meets the condition ({among}){lonely}"
    why = made.metric.undefined if isinstance(made.metric, BuiltIn) else ""
    return "undefined" + (f": {why}" if why else " or without a standard error")


def _values(out: Measured, made: Studentized, settings: Settings, seed: np.random.SeedSequence) -> GroupValues:
    """Evaluate the metric in every stratum and group."""
    sizes = out.sample.sizes
    shape = sizes.shape
    n_effective, value, error = np.zeros(shape), np.full(shape, np.nan), np.full(shape, np.nan)
    rng = np.random.default_rng(seed.spawn(1)[0])
    # What is not studentized has a standard error all the same, where it costs nothing.
    shown = replace(made, variance="auto") if made.variance is None and not made.is_own else made
    for stratum, group in zip(*np.nonzero(sizes), strict=True):
        side = np.zeros(shape[1], dtype=bool)
        side[group] = True
        kinds, counts = made.kinds.within(int(stratum), [side])
        functional = shown.functional(kinds)
        out.errors.setdefault(made.name, _error_of(made, functional))
        try:
            seconds = made.check(out, kinds, counts[0], f"group {out.sample.group_labels[group]!r}", int(stratum))
        except ValueError:
            if sizes[:, group].sum() < SMALLEST_GROUP:  # compared with nobody: no answer depends on it
                continue
            raise
        if seconds > UNHURRIED and not settings.adaptive and made.name not in out.announced:
            evaluations = 2 * (1 + (functional.n_inner if isinstance(functional, Bootstrap) else counts.shape[1]))
            if announce_if_long(made.name, seconds * evaluations, settings):
                out.announced.add(made.name)
        found, variance = functional.moments(counts.astype(float), rng)
        value[stratum, group], error[stratum, group] = float(found[0]), float(np.sqrt(max(variance[0], 0.0)))
        if np.isnan(variance[0]) or functional.error == "none":
            error[stratum, group] = np.nan
        n_effective[stratum, group] = float(functional.effective(counts.astype(float))[0])
        informative = float(functional.informative(counts.astype(float))[0])
        if made.variance is not None and informative < SMALL and not (out.sample.control_names or np.isnan(found[0])):
            name = out.sample.group_labels[group]
            out.doubtful.append((made.name, name, "rests on few people, too few to say how uncertain it is"))
    low, high = (np.full(shape, np.nan) for _ in range(2))
    z, _ = quantiles("two-sided", settings.alpha)
    for place in np.ndindex(shape):
        if not (np.isnan(value[place]) or np.isnan(error[place])):
            spread = _at_least(float(error[place]), float(n_effective[place]), made.bounds)
            low[place], high[place] = two_sides.limits(float(value[place]), spread, made.bounds, (z, z))
    rounded = np.floor(n_effective + 1e-9).astype(np.int64)
    return GroupValues(rounded, value, error, low, high)


def _error_of(made: Studentized, functional: Functional) -> str | None:
    return None if made.variance is None else functional.error


def _at_least(error: float, n: float, bounds: tuple[float, float]) -> float:
    """Standard error for an interval: people who are all alike leave no spread, which is no certainty.

    It is then as large as if one person more were at the other end of what is possible, wherever that is.
    """
    if error > 0 or np.isnan(error):
        return error
    width = bounds[1] - bounds[0]
    return width / (n + 1)


@dataclass
class Comparison:
    """One contrast over the strata in which both sides are defined."""

    strata: list[Stratum]
    places: list[int]
    weights: Floats  # of the values shown: against everyone those of the group's own people
    balanced: Floats  # of the statistic: Mantel and Haenszel's
    shown: Moments  # (S,), the second side being everyone where that is shown
    tested: Moments
    own: Moments  # the second side being never everyone, with errors of values that differ
    people: tuple[Floats, Floats]  # (S,), how many the values of both sides rest on
    heads: tuple[Floats, Floats]  # (S,), how many people they are
    part: Floats  # (S,), share of everyone that the first side is, where everyone is shown
    third: Floats  # (S,), third moment of the difference's error

    def skewness(self) -> float:
        """Return the skewness of the difference's error over all strata: the normal law has none."""
        share = self.balanced / self.balanced.sum()
        spread = float((share**2 * (self.tested.first_variance + self.tested.second_variance)).sum())
        return float((share**3 * self.third).sum()) / spread**1.5 if spread > 0 else 0.0

    def resampling(self, place: int | None) -> str:
        """Return what a resample does to the strata of a row."""
        return "permutation" if self.are_nested(self.at(place)) else "sign flipping"

    def are_nested(self, at: slice) -> bool:
        """Whether each cluster of some strata lies in one side."""
        return all(stratum.clusters_nested for stratum in self.strata[at])

    def at(self, place: int | None) -> slice:
        """Return where a stratum is among those that are compared; None: all of them."""
        if place is None:
            return slice(None)
        at = self.places.index(place)
        return slice(at, at + 1)


def _compare(
    out: Measured, made: Studentized, base: Contrast, other: Any
) -> tuple[Comparison, dict[int, tuple[bool, bool]]]:
    """Evaluate both sides in every stratum; return also the strata where one is undefined, and which."""
    sizes = out.sample.sizes
    first, second = _sides(sizes.shape[1], base)
    none = np.zeros(0)
    nothing = Moments(none, none, none, none, none)
    comparison = Comparison([], [], none, none, nothing, nothing, nothing, (none, none), (none, none), none, none)
    heads: list[np.ndarray] = []
    shown, tested, apart, people, weights, balanced, part, third = [], [], [], [], [], [], [], []
    undefined = {}
    for stratum in range(sizes.shape[0]):
        if not (sizes[stratum][first].sum() and sizes[stratum][second].sum()):
            continue
        kinds, counts = made.kinds.within(stratum, [first, second])
        functional = made.functional(kinds)
        if base.second is None:
            rest = "rest" if base.overall else other
            made.check(
                out, kinds, counts[1], f"the {rest}, everybody but {out.sample.group_labels[base.first]!r}", stratum
            )
        plain = Stratum(functional, counts, made.block(kinds), kinds.rows, kinds.cluster)
        if not plain.clusters_nested and made.variance is None:  # signs are given to parts, which raw values have not
            plain = replace(plain, functional=replace(made, variance="auto").functional(kinds))
        moments = plain.observed(np.random.default_rng(0))
        # Elsewhere what is shown is what is tested.
        differs = made.has_effective_people or not plain.clusters_nested
        own = plain.observed(np.random.default_rng(0), null=False) if differs else moments
        known = moments if plain.clusters_nested else own
        present = (functional.base(counts.astype(float)) > 0) & (counts > 0)
        # The signs of one cluster's parts say nothing about how clusters differ.
        alone = [not plain.clusters_nested and plain.n_clusters(side) < 2 for side in present]
        with np.errstate(invalid="ignore"):
            sides = [
                alone[0] or np.isnan(moments.first + moments.first_variance + known.first_variance),
                alone[1] or np.isnan(moments.second + moments.second_variance + known.second_variance),
            ]
        if any(sides):
            undefined[stratum] = (bool(sides[0]), bool(sides[1]))
            continue
        comparison.strata.append(plain)
        comparison.places.append(stratum)
        mass = functional.denominator(counts)
        balanced.append(mass[0] * mass[1] / mass.sum())
        weights.append(mass[0] if base.overall else balanced[-1])
        tested.append(moments)
        moved = functional.third_moment(counts)
        third.append(float(moved[0] - moved[1]))
        people.append(functional.effective(counts.astype(float)))
        heads.append((counts * present).sum(axis=1))
        part.append(mass[0] / mass.sum() if base.overall else 0.0)
        apart.append(own)
        everyone = replace(plain, overall=True)
        shown.append(everyone.observed(np.random.default_rng(0), null=False) if base.overall else own)
    if comparison.strata:
        comparison.weights, comparison.balanced = np.array(weights), np.array(balanced)
        comparison.third = np.array(third)
        comparison.part, comparison.people = np.array(part), (np.array(people)[:, 0], np.array(people)[:, 1])
        comparison.heads = np.array(heads)[:, 0], np.array(heads)[:, 1]
        comparison.shown, comparison.tested = two_sides.columns(shown), two_sides.columns(tested)
        comparison.own = two_sides.columns(apart)
    return comparison, undefined


def _rows(
    out: Measured, made: Studentized, base: Contrast, other: Any, missing: Missing
) -> tuple[list[Row], Comparison]:
    """Make the rows of one contrast: over all strata, then in each."""
    sample, question = out.sample, made.question
    groups, labels, sizes = sample.group_labels, sample.stratum_labels, sample.sizes
    first, second = _sides(sizes.shape[1], base)
    comparison, undefined = _compare(out, made, base, other)
    rows = []
    for place in places_of(sample):
        label = None if place is None else labels[place]
        here = slice(None) if place is None else slice(place, place + 1)
        n_group, n_second = int(sizes[here, first].sum()), int(sizes[here, second].sum())
        if not comparison.strata or (place is not None and place not in comparison.places):
            _explain(out, made, base, other, place, undefined, missing, n_group)
            continue
        row = _row(made, comparison, place)
        if np.isnan(row.disparity):
            reason = "a value below 0, or both are 0: their ratio has no meaning (their difference has)"
            if question.disparity == "difference":
                reason = _why_undefined(made)
            out.excluded.append(Exclusion(made.name, groups[base.first], other, label, reason, n_group, n_group, 1))
            continue
        row.group, row.other, row.stratum = groups[base.first], other, label
        row.contrast = replace(base, stratum=place)
        row.n_group, row.n_other = n_group, n_second + (n_group if base.overall else 0)
        row.ends = ends_of(made.bounds, question.disparity)
        what, complement = _what(out, made)
        name_hypothesis(row, out, what, comparison.places if place is None else [place], complement=complement)
        rows.append(row)
    if rows and made.variance is not None and abs(comparison.skewness()) > SKEWED:
        out.doubtful.append((made.name, rows[0].group, "depends on a few extreme people"))
    return rows, comparison


def _what(out: Measured, made: Studentized) -> tuple[Hashable, bool]:
    if not isinstance(made.metric, Rate):
        return made.name, False
    question = made.question
    if question.method != "bootstrap":  # the statistic is that of the difference, whatever is shown
        question = replace(question, disparity="difference")
    return what_is_equal(out, made.metric, question, scored=False)


def _sides(n_groups: int, contrast: Contrast) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n_groups) == contrast.first, contrast.others(n_groups)


def _explain(
    out: Measured, made: Studentized, base: Contrast, other: Any, place: int | None,
    undefined: dict[int, tuple[bool, bool]], missing: Missing, n_group: int,
) -> None:  # fmt: skip
    """List why a comparison is left out: groups in which the metric is undefined, or nobody to compare with."""
    flags = list(undefined.values()) if place is None else [undefined[place]] if place in undefined else []
    found = False
    for index, side in enumerate((base.first, base.second)):
        if side is not None and flags and all(flag[index] for flag in flags):
            missing.add(side, place)
            found = True
    if not found:
        sample = out.sample
        label = None if place is None else sample.stratum_labels[place]
        reason = "nobody to compare with" + (" in the same stratum" if sample.control_names else "")
        if flags:
            reason = f"{_why_undefined(made)}, in those it is compared with"
        out.excluded.append(Exclusion(made.name, sample.group_labels[base.first], other, label, reason, n_group, 0, 1))


def _row(made: Studentized, comparison: Comparison, place: int | None) -> Row:
    at = comparison.at(place)
    shown = two_sides.only(comparison.shown, at)
    question, studentized = made.question, made.variance is not None
    statistic = Statistic(question.disparity, comparison.weights[at])
    first, second = (float(v) for v in statistic.sides(shown))
    estimate, spread = (float(v) for v in statistic.distance(shown))
    disparity = first - second
    if question.disparity == "ratio":
        disparity = np.nan if np.isnan(estimate) else first / second if second else np.inf
    row = Row(made.name, None, None, None, Contrast(0, None), question, 0, 0, first, second, disparity)
    row.studentized = studentized
    row.standard_error = spread if studentized else np.nan
    row.form = _form(made, comparison, at)
    row.spread = float(row.form.at(0.0)[1]) if question.disparity == "difference" and not spread > 0 else spread
    return row


def _form(made: Studentized, comparison: Comparison, at: slice) -> Form:
    """Return the disparity at any size of it."""
    weights, disparity = comparison.weights[at], made.question.disparity
    if made.has_effective_people:
        own = two_sides.only(comparison.own, at)
        n1 = effective_people(own.first, own.first_variance)
        n2 = effective_people(own.second, own.second_variance)
        if comparison.strata[0].cluster is not None:  # by chance few clusters look more alike than single people
            n1, n2 = (np.minimum(n, heads[at]) for n, heads in zip((n1, n2), comparison.heads, strict=True))
        correlation = np.clip(own.covariance / np.sqrt(own.first_variance * own.second_variance), -0.999, 0.999)
        share, part = weights / weights.sum(), comparison.part[at]
        return EffectiveRates(own.first, own.second, n1, n2, share, part, correlation, disparity)
    moments = two_sides.only(comparison.shown, at)
    pooled = Statistic(disparity, weights).pooled(_spread_out(made, moments, comparison, at))
    if made.variance is None:  # what is not studentized has one error everywhere
        half = np.asarray(0.5)
        pooled = Moments(pooled.first, half, pooled.second, half, np.asarray(0.0))
    return Linearized(pooled, disparity)


def _spread_out(made: Studentized, moments: Moments, comparison: Comparison, at: slice) -> Moments:
    """Return moments with errors of sides whose people are all alike, which is no certainty.

    They are taken to be as spread as the other side's; if everybody is alike, as if one person more were at the other
    end of what is possible. A stratum in which everybody is alike has no error beside others.
    """
    v1, v2 = moments.first_variance, moments.second_variance
    n1, n2 = (np.maximum(side[at], 1.0) for side in comparison.people)
    noise = ROUNDING * np.maximum.reduce([v1, v2, moments.first**2, moments.second**2])
    alike1, alike2 = v1 <= noise, v2 <= noise
    width = made.bounds[1] - made.bounds[0] if (alike1 & alike2).all() else 0.0
    return moments._replace(
        first_variance=np.where(alike1, np.where(alike2, (width / (n1 + 1)) ** 2, v2 * n2 / n1), v1),
        second_variance=np.where(alike2, np.where(alike1, (width / (n2 + 1)) ** 2, v1 * n1 / n2), v2),
    )


def _at_equality(row: Row, comparison: Comparison, distance: float, error: float) -> None:
    """Give the row's form at equality the error of the statistic tested there, so that its interval agrees with it."""
    if row.question.margin_bounds is not None or row.form is None:
        return
    shown, own = (float(v) for v in row.form.at(row.question.null))
    times = 1.0
    if row.contrast.overall:
        # An average that is compared with everyone's is that much nearer to it than to the rest's, which is tested.
        at = comparison.at(row.contrast.stratum)
        times = float(comparison.balanced[at].sum() / comparison.weights[at].sum())
        if abs(shown - times * distance) > 1e-9 * max(abs(row.value_group), abs(row.value_other)):
            return  # no average: what is shown has an error of its own
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = float(times * np.divide(error, own))
    if np.isfinite(scale) and scale > 0:
        row.form = replace(row.form, scale=scale)


def _test(
    out: Measured,
    made: Studentized,
    families: list[tuple[list[Row], Comparison]],
    settings: Settings,
    seed: np.random.SeedSequence,
) -> None:
    question = made.question
    method = question.method
    if method == "auto":
        method = "asymptotic" if question.margin_bounds is not None or _too_many(families) else "permutation"
    seeds = seed.spawn(len(families) + 1)
    tested = len(by_hypothesis(row for rows, _ in families for row in rows))
    if method == "bootstrap" or (settings.adjust == "max_t" and tested > 1):
        _draw_bootstrap(made, families, out.sample.sizes.shape[1], settings, seeds[-1])
    for (rows, comparison), own in zip(families, seeds[:-1], strict=True):
        if method == "permutation":
            statistics = [_statistic_of(row, comparison) for row in rows]
            firsts = [out.first_of(row) for row in rows]
            if any(row is first for row, first in zip(rows, firsts, strict=True)):
                # What one comparison takes tells what all of them do.
                leading = rows is families[0][0] and made.name not in out.announced
                _permute(made, rows, statistics, comparison, settings, own, len(families) if leading else 0)
            # A hypothesis is tested once: further rows with it take the test of the first.
            for row, first in zip(rows, firsts, strict=True):
                if row is not first:
                    row.take(first)
        for row in rows:
            row.method = comparison.resampling(row.contrast.stratum) if method == "permutation" else method
            if method == "asymptotic":
                row.log_p, row.statistic, row.beyond = _asymptotic(made, row, comparison)
            elif method == "bootstrap":
                row.alike = _is_alike(made, comparison, comparison.at(row.contrast.stratum))
                row.standard_error = row.standard_error if row.studentized else 1.0
                bootstrapped_log_p(row, lambda: _asymptotic(made, row, comparison)[0])  # noqa: B023  # called at once
            if method != "bootstrap" and row.resampled is not None:
                row.joint, row.beyond = farthest_beyond(row.resampled, question)


def _too_many(families: list[tuple[list[Row], Comparison]]) -> bool:
    """Whether there are more people than tables can be drawn of; nothing is left to chance then."""
    totals = (int(stratum.counts.sum()) for _, comparison in families for stratum in comparison.strata)
    return max(totals, default=0) >= MOST_PEOPLE


def _statistic_of(row: Row, comparison: Comparison) -> Statistic:
    """Set the statistic of a row at equality, to which its interval is tied.

    Equality is one null hypothesis, whether a difference or a ratio is shown, and no logarithm is infinite.
    """
    at = comparison.at(row.contrast.stratum)
    statistic = Statistic("difference", comparison.balanced[at], row.studentized)
    tested = two_sides.only(comparison.tested, at)
    row.statistic = float(statistic(tested))
    distance, error = (float(v) for v in statistic.distance(tested))
    _at_equality(row, comparison, distance, error if row.studentized else 1.0)
    return statistic


def _permute(
    made: Studentized, rows: list[Row], statistics: list[Statistic], comparison: Comparison, settings: Settings,
    seed: np.random.SeedSequence, times: int,
) -> None:  # fmt: skip
    """Permute labels between two sides, once for the pooled row and those of its strata."""
    two_sides.check_size(int(max(stratum.counts.sum() for stratum in comparison.strata)))
    places = [comparison.at(row.contrast.stratum) for row in rows]

    def columns(parts: list[Moments]) -> list[Floats]:
        moments = sides_of(parts)
        return [statistic(two_sides.only(moments, at)) for at, statistic in zip(places, statistics, strict=True)]

    def done(parts: list[Moments]) -> bool:
        return all(
            two_sides.sequential_p(drawn, row.statistic, row.question.alternative) is not None
            for row, drawn in zip(rows, columns(parts), strict=True)
        )

    draw = partial(two_sides.draw_permutations, comparison.strata)
    parts = resample(draw, settings, seed, what=made.name, done=done, times=times)
    for row, drawn in zip(rows, columns(parts), strict=True):
        row.drawn = drawn
        resampled_log_p(row, settings)


def _asymptotic(made: Studentized, row: Row, comparison: Comparison) -> tuple[float, float, float]:
    """Log p-value of the normal distribution at equality or at a margin, the statistic, and how far it is beyond."""
    question, at = row.question, comparison.at(row.contrast.stratum)
    assert row.form is not None
    if question.margin_bounds is None and not made.has_effective_people:
        tested = _spread_out(made, two_sides.only(comparison.tested, at), comparison, at)
        distance, error = (float(v) for v in Statistic("difference", comparison.balanced[at]).distance(tested))
        _at_equality(row, comparison, distance, error)
        tests = [(distance, error, question.alternative)]
    else:
        forms = [(row.form.at(edge), side) for edge, side in tests_of(question)]
        tests = [(float(distance), float(error), side) for (distance, error), side in forms]
    # Without a spread between people, or a finite error, nothing is known, and nothing is evidence.
    unknown = _has_no_spread(comparison, at)
    results = [
        (0.0, 0.0) if unknown or not 0 < error < np.inf else (normal_log_p(distance / error, side), distance / error)
        for distance, error, side in tests
    ]
    choose = max if question.alternative == "equivalence" else min
    log_p, statistic = choose(results, key=lambda result: result[0])
    if question.alternative == "two-sided" and len(tests) == 2:
        log_p = min(0.0, log_p + float(np.log(2)))
    beyond = [float(oriented(np.asarray(s), side)) for (_, s), (*_, side) in zip(results, tests, strict=True)]
    return log_p, statistic, max(beyond)


def _has_no_spread(comparison: Comparison, at: slice) -> bool:
    """Whether the difference has no error: all clusters on both sides show the same one."""
    nested = comparison.are_nested(at)
    moments = two_sides.only(comparison.own if nested else comparison.tested, at)
    pooled = Statistic("difference", comparison.weights[at]).pooled(moments)
    alike = nested and float(pooled.first_variance) == 0 and float(pooled.second_variance) == 0
    return not alike and float(linear_form(pooled, "difference", 0.0)[1]) == 0


def _is_alike(made: Studentized, comparison: Comparison, at: slice) -> bool:
    """Whether the people of a side are all alike in every stratum, or the difference has no error."""
    if _has_no_spread(comparison, at):
        return True
    own = two_sides.only(comparison.own, at)
    if made.has_effective_people or isinstance(made.metric, Rate):
        return any(np.isin(value, (0.0, 1.0)).all() for value in (own.first, own.second))
    spread = _spread_out(made, own, comparison, at)
    changed = ((own.first_variance, spread.first_variance), (own.second_variance, spread.second_variance))
    return any((before != after).all() for before, after in changed)


def _draw_bootstrap(
    made: Studentized, families: list[tuple[list[Row], Comparison]], n_groups: int, settings: Settings,
    seed: np.random.SeedSequence,
) -> None:  # fmt: skip
    """Draw both values of all rows together, from people resampled within their groups."""
    contrasts = [rows[0].contrast for rows, _ in families]
    sets: list[tuple[bool, ...]] = []
    pairs = []
    for contrast in contrasts:
        first, second = _sides(n_groups, contrast)
        numbers = []
        for side in (first, first | second if contrast.overall else second):
            key = tuple(side.tolist())
            if key not in sets:
                sets.append(key)
            numbers.append(sets.index(key))
        pairs.append((numbers[0], numbers[1], contrast.overall))
    places = sorted({place for _, comparison in families for place in comparison.places})
    strata = []
    for place in places:
        groups = [np.arange(n_groups) == g for g in range(n_groups)]
        kinds, counts = made.kinds.within(place, groups)
        strata.append(Sides(made.functional(kinds), counts, np.array(sets), kinds.rows, kinds.cluster))
    draw = partial(two_sides.draw_bootstrap, strata, pairs)
    chunks = resample(draw, settings, seed, what=made.name)
    for number, (rows, comparison) in enumerate(families):
        moments = sides_of([chunk[number] for chunk in chunks])
        there = [places.index(place) for place in comparison.places]
        for row in rows:
            at = comparison.at(row.contrast.stratum)
            part = two_sides.only(Moments(*(array[:, there] for array in moments)), at)
            pooled = Statistic(row.question.disparity, comparison.weights[at]).pooled
            row.resampled = resampled(
                pooled(two_sides.only(comparison.shown, at)), pooled(part), row.question.disparity,
                studentized=row.studentized,
            )  # fmt: skip
