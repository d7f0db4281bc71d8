"""Rates of counted people: exact, asymptotic, permutation and bootstrap tests of tables of counts."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Self

import numpy as np

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.parallel import in_parallel
from skfairtest._utils.progress import progress
from skfairtest._utils.typing import Floats
from skfairtest.comparisons import core
from skfairtest.comparisons.contrasts import Known, disparity_bounds, few_in_strata, new_hypotheses, tested_once
from skfairtest.comparisons.resample import with_draws, with_samples
from skfairtest.comparisons.settings import Settings
from skfairtest.inference import conditional, rate_draws
from skfairtest.inference.detectable import TwoRates
from skfairtest.inference.homogeneity import Homogeneity, breslow_day, cochran_q, score_homogeneity
from skfairtest.inference.intervals import wilson
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rate_draws import RateTable, pairs_of
from skfairtest.inference.rates import (
    Answer,
    Pair,
    Question,
    answer,
    answer_known,
    disparity_of,
    equalities,
    limits_of_all,
    linearized,
    log_odds_ratio,
    pair_disparity,
    quantiles,
    refuse_to_enumerate,
    shown_error,
    values,
)
from skfairtest.metrics import Rate


@dataclass(frozen=True)
class RateNull(core.NullDistribution):
    """The null distribution of a rate on two sides, given both denominators."""

    pair: Pair
    scale: Scale

    @property
    def is_enumerated(self) -> bool:
        """Whether its exact test is that the two rates of one stratum are equal."""
        return self.question.is_exact and self.question.disparity != "odds_ratio" and len(self.pair.x1) == 1

    def attainable(self) -> tuple[float, Floats] | None:
        """Fisher's log p-value in the only stratum, and those that tables with its margins can have."""
        pair, alternative = self.pair, self.question.alternative
        if not self.question.is_exact or len(pair.x1) > 1:
            return None
        x1, d1, x2, d2 = (int(counts[0]) for counts in (pair.x1, pair.d1, pair.x2, pair.d2))
        log_p = conditional.conditional_log_p(x1, d1, x2, d2, alternative)
        return log_p, conditional.attainable(d1, d2, x1 + x2, alternative)

    @classmethod
    def limits_of_all(
        cls, nulls: Sequence[Self], critical: Sequence[tuple[float, float]], bounds: Sequence[tuple[float, float]]
    ) -> list[tuple[float, float]]:
        """Invert the score tests of all comparisons with the same critical values at once."""
        asked = [(null.question.disparity, *z, null.question.method) for null, z in zip(nulls, critical, strict=True)]
        out: dict[int, tuple[float, float]] = {}
        for same in dict.fromkeys(asked):
            places = [place for place, one in enumerate(asked) if one == same]
            pairs, scales = [nulls[place].pair for place in places], [nulls[place].scale for place in places]
            found = limits_of_all(pairs, scales, *same)
            out.update(zip(places, found, strict=True))
        return [out[place] for place in range(len(nulls))]

    def table(self) -> TwoRates | None:
        """The only stratum's table; None with several strata, or if the test's power is not known."""
        pair, equality = self.pair, self.question.margin_bounds is None
        known = equality or (self.scale.is_identity and self.question.disparity != "odds_ratio")
        if len(pair.x1) > 1 or not known:
            return None
        d1, d2 = float(pair.d1[0]), float(pair.d2[0])
        return TwoRates(float(pair.x2[0]) / d2, d1, d2, pair.share, self.scale.value)

    def error(self) -> float:
        """The delta method's standard error."""
        if self.question.disparity == "odds_ratio":
            return log_odds_ratio(self.pair)[1]
        if self.question.disparity == "ratio" and not np.isfinite(linearized(self.pair, self.scale, "ratio")[0]):
            return np.nan  # a value is 0
        return float(linearized(self.pair, self.scale, self.question.disparity, smooth=0.5)[1])

    @property
    def worst(self) -> Pair | None:
        """The counts whose exact distribution gives the p-value."""
        return self.pair

    def n_effective(self, row: core.Comparison) -> int:
        """The number of people of the group who meet the condition."""
        return int(self.pair.d1.sum())

    def homogeneity(self) -> Homogeneity | None:
        """Test that the disparity (against everyone: the one to the rest) is the same in every stratum."""
        pair, disparity = self.pair, self.question.disparity
        if len(pair.x1) < 2:
            return None
        if disparity == "odds_ratio":
            return breslow_day(pair.x1, pair.d1, pair.x2, pair.d2)
        if self.scale.is_identity:
            return score_homogeneity(pair.x1, pair.d1, pair.x2, pair.d2, disparity)
        each = [pair.only(np.arange(len(pair.x1)) == place) for place in range(len(pair.x1))]
        found = [linearized(replace(one, overall=False), self.scale, disparity, smooth=0.5) for one in each]
        values, errors = np.array(found, dtype=float).T
        return cochran_q(values, errors**2, disparity)


#: A rate, its comparisons, those left out, its values, and what makes the table from which it is resampled.
Counted = tuple[Rate, list[core.Comparison], list[core.Exclusion], core.GroupValues, Callable[[], RateTable]]


def null_of(one: core.Comparison) -> RateNull:
    """The null distribution of a comparison of rates."""
    assert isinstance(one.null, RateNull)
    return one.null


def scale_of(rate: Rate) -> Scale:
    """The function by which a metric follows from its rate."""
    return Scale() if rate.value is None or rate.slope is None else Scale(rate.value, rate.slope)


def count(
    design: core.Design,
    rate: Rate,
    table: tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]],
    what: tuple[Hashable, bool],
) -> Counted:
    """Estimate one rate's comparisons, not yet tested; return also what makes the table for resampling.

    `table`: (counts, event, given, roles), the cells of numerator and denominator, and per column within which labels
    may be exchanged (see `Settings.within`) its true cells. `what`: see `Design.what_is_equal`.
    """
    counts, event, given, _ = table
    events, denominators = counts[:, :, event].sum(axis=2), counts[:, :, given].sum(axis=2)
    question, scale = design.question(rate), scale_of(rate)
    fast = not design.settings.tested and question.method == "auto" and question.disparity != "odds_ratio"
    if fast:
        question = replace(question, method="asymptotic")
    if question.disparity == "odds_ratio" and not scale.is_identity:
        raise ParameterError(
            f"disparity='odds_ratio' compares rates, and {rate.name} is a function of one: use 'ratio'"
        )
    excluded: list[core.Exclusion] = []
    rows = list(_rows(design, rate, question, what, events, denominators, excluded))
    shown = group_values(events, denominators, scale, design.settings, design.settings.variance)
    return rate, rows, excluded, shown, partial(rate_table, *table, design.settings)


def group_values(
    events: np.ndarray, denominators: np.ndarray, scale: Scale, settings: Settings, variance: str | None
) -> core.GroupValues:
    """A metric in every stratum and group, with Wilson limits."""
    z, _ = quantiles("two-sided", settings.alpha)
    low, high = wilson(events, denominators, z)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = events / denominators
        error = np.sqrt(value * (1 - value) / denominators)
    if not scale.is_identity:
        error = error * scale.slope(value)
        value, low, high = scale.value(value), scale.value(low), scale.value(high)
    return core.GroupValues(denominators, value, error, low, high, variance)


def _rows(
    design: core.Design,
    rate: Rate,
    question: Question,
    what: tuple[Hashable, bool],
    events: np.ndarray,
    denominators: np.ndarray,
    excluded: list[core.Exclusion],
) -> Iterator[core.Comparison]:
    sizes, scale = design.sample.sizes, scale_of(rate)
    missing: Counter[tuple[int, int | None]] = Counter()
    bases = [base for base, _ in design.contrasts]
    for place in design.places if bases else ():
        here = slice(None) if place is None else slice(place, place + 1)
        pairs, people = (pairs_of(a[here], b[here], bases) for a, b in ((events, denominators), (sizes, sizes)))
        n_groups, n_others = people.x1.sum(axis=1), people.x2.sum(axis=1)
        n_others = n_others + n_groups * bases[0].overall
        if place is None and design.settings.strata_weights is not None:
            pairs = replace(pairs, weights=strata_weights(design, pairs))
        each, first, second = _defined_values(pairs, scale)
        if question.disparity == "odds_ratio":
            found = zip(each, first, second, strict=True)
            disparity = [np.nan if pair is None else pair_disparity(pair, a, b, "odds_ratio") for pair, a, b in found]
        else:
            disparity = disparity_of(first, second, question.disparity).tolist()
        columns = each, n_groups.tolist(), n_others.tolist(), first.tolist(), second.tolist(), disparity
        for row, ((base, other), pair, n_group, n_other, value, beside, apart) in enumerate(
            zip(design.contrasts, *columns, strict=True)
        ):
            contrast = base if place is None else replace(base, stratum=place)
            if pair is None:
                totals = ((base.first, pairs.d1[row].sum()), (base.second, pairs.d2[row].sum()))
                missing.update((side, place) for side, total in totals if side is not None and total == 0)
                if totals[0][1] and (base.second is None or totals[1][1]):
                    stratified = " in the same stratum" if design.sample.control_names else ""
                    stratified += " with a weight" * (pairs.weights is not None)
                    reason = "no one on the other side meets the condition" + stratified
                    excluded.append(design.left_out(rate.name, contrast, other, reason, int(totals[0][1]), n_group))
                continue
            undefined = "both values are 0" + " or 1" * (question.disparity == "odds_ratio")
            strata = [place or 0] if pairs.d1.shape[1] == 1 else np.flatnonzero(pairs.defined()[row]).tolist()
            yield design.comparison(
                rate.name, contrast, other, (value, beside), apart, RateNull(question, pair, scale),
                bounds=disparity_bounds((0.0, 1.0), question.disparity), n=(n_group, n_other), strata=strata,
                hypothesis=design.hypothesis(question, contrast, what, strata),
                undefined=undefined if np.isnan(apart) else "",
            )  # fmt: skip
    excluded += design.undefined(rate.name, missing, f"undefined: no one meets the condition ({rate.among})")


def strata_weights(design: core.Design, pairs: Pair) -> Floats:
    """The weights of strata that the caller gave, for each of the pairs: of shape (pairs, strata)."""
    given, labels, found = design.settings.strata_weights, design.sample.stratum_labels, np.zeros(pairs.d1.shape)
    by_label = isinstance(given, Mapping)
    if by_label and (missing := [label for label in labels if label not in given]):
        raise ParameterError(f"strata_weights has no weight of stratum {missing[0]!r}: give it one (0 leaves it out)")
    for row, defined in enumerate(pairs.defined()):
        where = np.ones_like(defined) if by_label else defined
        sizes = pairs.d1[row, where], pairs.d2[row, where]
        own = np.asarray([given[label] for label in labels] if by_label else given(*sizes))
        usable = own.shape == sizes[0].shape and own.dtype.kind in "iuf" and np.isfinite(own).all()
        if not usable or own.min(initial=0) < 0 or own.max(initial=0) == 0 < own.size:
            raise ParameterError(
                f"strata_weights must be {where.sum()} finite numbers, one for each stratum, none of them negative and "
                f"not all 0; found {brief(own.tolist())}"
            )
        found[row, where] = own / own.max(initial=0)
    return found


def _defined_values(pairs: Pair, scale: Scale) -> tuple[list[Pair | None], Floats, Floats]:
    """Each row's pair in the strata in which it is defined, None without any, and both its values."""
    each: list[Pair | None] = [None] * len(pairs.x1)
    first, second = np.full((2, len(each)), np.nan)
    patterns, numbers = np.unique(pairs.defined(), axis=0, return_inverse=True)
    for number, defined in enumerate(patterns):
        rows = np.flatnonzero(numbers.reshape(-1) == number)
        if defined.any():
            x1, d1, x2, d2 = (
                np.ascontiguousarray(a[rows][:, defined]) for a in (pairs.x1, pairs.d1, pairs.x2, pairs.d2)
            )
            weights = None if pairs.weights is None else pairs.weights[rows][:, defined]
            first[rows], second[rows] = values(Pair(x1, d1, x2, d2, pairs.overall, weights), scale)
            for at, (row, a, b, c, d) in enumerate(zip(rows.tolist(), x1, d1, x2, d2, strict=True)):
                each[row] = Pair(a, b, c, d, pairs.overall, None if weights is None else weights[at])
    return each, first, second


def rate_table(
    counts: np.ndarray, event: np.ndarray, given: np.ndarray, roles: dict[str, np.ndarray], settings: Settings
) -> RateTable:
    """Cells among which labels are exchanged: the rate's own condition, or what `within` says."""
    if settings.question.method == "bootstrap":
        return RateTable(counts, event, given, ())
    if settings.within == "auto":
        role = np.where(event, 0, np.where(given, 1, 2))
        by_role = np.stack([counts[:, :, role == r].sum(axis=2) for r in range(3)], axis=2)
        return RateTable(by_role, np.array([True, False, False]), np.array([True, True, False]), ((0, 1),))
    everyone = np.arange(len(event))
    if settings.within is None:
        blocks = [everyone]
    else:
        inside = roles[settings.within]
        blocks = [everyone[inside == value] for value in np.unique(inside)[::-1]]
    return RateTable(counts, event, given, tuple(tuple(b.tolist()) for b in blocks if len(b)))


def test_rates(
    counted: Sequence[Counted], settings: Settings, known: Known, seed: np.random.SeedSequence
) -> Iterator[core.Measured]:
    """Test the comparisons of rates, with resampled tables if the method needs them; each hypothesis once."""
    rows = [of_rate for _, of_rate, *_ in counted]
    if settings.question.method not in ("permutation", "bootstrap"):
        tested = iter(_answered([one for of_rate in rows for one in of_rate], settings))
        rows = [list(islice(tested, len(of_rate))) for of_rate in rows]
    # Whole tables drawn with one seed are the same tables for every rate.
    whole = settings.within != "auto" or settings.question.method == "bootstrap"
    for (rate, _, excluded, shown, table), of_rate, own in zip(counted, rows, seed.spawn(len(counted)), strict=True):
        if of_rate and not of_rate[0].method:
            of_rate = _resampled(rate, of_rate, table(), settings, known, seed if whole else own)
        # Margins of the rates themselves hold the level over strata of any size.
        inexact = () if scale_of(rate).is_identity else few_in_strata(of_rate, shown, settings.alpha)
        yield of_rate, excluded, replace(shown, doubtful=tuple(inexact))


def _resampled(
    rate: Rate, rows: list[core.Comparison], table: RateTable, settings: Settings, known: Known,
    seed: np.random.SeedSequence,
) -> list[core.Comparison]:  # fmt: skip
    """Draw permuted tables of the two sides of each new hypothesis, or bootstrap samples of all."""
    question, contrasts, nulls = rows[0].null.question, [one.contrast for one in rows], list(map(null_of, rows))
    shape, bootstrap = (scale_of(rate), settings.variance), question.method == "bootstrap"
    contrasts = contrasts if bootstrap else rate_draws.to_rest(contrasts)
    statistics, errors = rate_draws.observed_statistics(table, contrasts, *shape)
    rows = [
        replace(
            one, null=replace(null, studentized=settings.variance is not None), method="permutation",
            statistic=float(statistic), standard_error=_error(null, settings, float(error)),
        )
        for one, null, statistic, error in zip(rows, nulls, statistics, errors, strict=True)
    ]  # fmt: skip
    if bootstrap:
        rng = np.random.default_rng(seed)
        samples = rate_draws.bootstrap_moments(
            table, contrasts, shape[0], question.disparity, settings.variance, settings.n_resamples, rng
        )
        for place, (null, drawn) in enumerate(zip(nulls, samples, strict=True)):
            # Everyone of a side shows the event, or no one does.
            pair, large = null.pair, replace(question, method="asymptotic")
            alike = any(x.sum() in (0, d.sum()) for x, d in ((pair.x1, pair.d1), (pair.x2, pair.d2)))
            one = replace(rows[place], null=replace(rows[place].null, samples=drawn, alike=alike))
            rows[place] = with_samples(one, answer(pair, null.scale, large).log_p if alike else -np.inf)
        return rows
    new, draws = new_hypotheses(rows, known), dict[int, Floats]()
    if new:
        seeds = seed.spawn(len(contrasts))
        tables, own = [contrasts[place] for place in new], [seeds[place] for place in new]
        with progress(rate.name, len(new), bool(settings.verbose)) as advance:
            columns = rate_draws.pairwise_permutations(table, tables, *shape, settings.n_resamples, own, advance)
        draws = dict(zip(new, columns.T, strict=True))
    return tested_once(rows, known, lambda place: with_draws(rows[place], draws[place], settings))


def _answered(rows: Sequence[core.Comparison], settings: Settings) -> list[core.Comparison]:
    """Test each hypothesis once, those that are enumerated all at once; with a margin each comparison is tested."""
    nulls, equality = list(map(null_of, rows)), settings.question.margin_bounds is None
    keys = [(one.hypothesis or (one.metric, one.contrast)) if equality else place for place, one in enumerate(rows)]
    first = {key: place for place, key in reversed([*enumerate(keys)])}
    new = sorted(first.values())
    enumerated = [place for place in new if nulls[place].is_enumerated]
    others = [place for place in new if not nulls[place].is_enumerated]
    # What takes no time is not worth a process.
    n_jobs = 1 if all(nulls[place].question.method == "asymptotic" for place in others) else settings.n_jobs
    known: dict[Hashable, tuple[float, str]] = {}
    answers: dict[int, Answer] = {}
    with progress("rates", len(new), bool(settings.verbose)) as advance:
        if enumerated:
            pairs = [nulls[place].pair for place in enumerated]
            for place, found in zip(enumerated, equalities(pairs, settings.question.alternative, advance), strict=True):
                known[keys[place]] = found
                if found[1] == "asymptotic":
                    refuse_to_enumerate(nulls[place].pair, settings.question)
        pieces = ((nulls[place].pair, nulls[place].scale, nulls[place].question) for place in others)
        for place, answered in zip(others, in_parallel(answer, pieces, n_jobs), strict=True):
            answers[place], known[keys[place]] = answered, (answered.log_p, answered.method)
            advance()
    alike: dict[tuple[Scale, Question, int], list[int]] = {}
    for place, null in enumerate(nulls if equality else ()):
        alike.setdefault((null.scale, null.question, len(null.pair.x1)), []).append(place)
    for (scale, question, _), places in alike.items():
        found_before = [known[keys[place]] for place in places]
        answers |= zip(
            places, answer_known([nulls[place].pair for place in places], scale, question, found_before), strict=True
        )
    return [one.updated(**vars(answers[place])) for place, one in enumerate(rows)]


def _error(null: RateNull, settings: Settings, error: float) -> float:
    if settings.variance == "score":
        return float(shown_error([null.pair], null.question, np.array([error]), null.scale)[0])
    if null.question.disparity == "ratio" and settings.variance is not None:
        distance, of_log = (float(v) for v in linearized(null.pair, null.scale, "ratio"))
        return of_log if np.isfinite(distance) else np.nan  # the logarithm is infinite
    return error
