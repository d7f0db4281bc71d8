"""Rates: counts of two groups, tested by the exact laws or by drawn tables of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.progress import progress
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.rows import (
    Exclusion,
    GroupValues,
    Measured,
    Missing,
    Row,
    by_hypothesis,
    ends_of,
    name_hypothesis,
    places_of,
)
from skfairtest.comparisons.settings import Settings
from skfairtest.inference import rate_draws
from skfairtest.inference.intervals import wilson
from skfairtest.inference.linear_form import Resampled
from skfairtest.inference.rate_draws import Contrast, RateTable, pair_of
from skfairtest.inference.rates import (
    Answer,
    Question,
    Scale,
    answer,
    disparity_of,
    linearized,
    quantiles,
    shown_error,
    values,
)
from skfairtest.inference.resampling import monte_carlo_p, oriented
from skfairtest.inference.two_sides import sequential_p
from skfairtest.metrics import Rate


@dataclass
class Counted:
    """A rate in a table of counts (S, G, K): which cells are counted in its numerator and its denominator.

    `roles` are the columns by which labels may be exchanged within (see `Settings.within`): for each, which cells are
    true.
    """

    rate: Rate
    counts: np.ndarray
    event: np.ndarray
    given: np.ndarray
    roles: dict[str, np.ndarray]
    question: Question
    rows: list[Row]

    @property
    def scale(self) -> Scale:
        """How the metric follows from the rate."""
        rate = self.rate
        return Scale() if rate.value is None or rate.slope is None else Scale(rate.value, rate.slope)


def count(
    out: Measured,
    rate: Rate,
    table: tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]],
    contrasts: Sequence[tuple[Contrast, Any]],
    settings: Settings,
    what: tuple[Hashable, bool],
) -> Counted:
    """Make the rows of one rate, not tested yet.

    `table` is (counts, event, given, roles); `what` is equal if the rate is, and whether that is its complement.
    """
    counts, event, given, roles = table
    events, denominators = counts[:, :, event].sum(axis=2), counts[:, :, given].sum(axis=2)
    question = replace(settings.question, disparity=rate.disparity or settings.question.disparity)
    made = Counted(rate, counts, event, given, roles, question, [])
    out.conditions[rate.name] = given
    out.errors[rate.name] = settings.variance
    out.values[rate.name] = _values(events, denominators, made.scale, settings)
    made.rows = list(_rows(out, made, contrasts, events, denominators))
    for row in made.rows:
        strata = [row.contrast.stratum or 0]
        if row.contrast.stratum is None and len(counts) > 1:
            strata = np.flatnonzero(pair_of(events, denominators, row.contrast).defined()).tolist()
        name_hypothesis(row, out, what[0], strata, complement=what[1])
    out.rows.extend(made.rows)
    return made


def _values(events: np.ndarray, denominators: np.ndarray, scale: Scale, settings: Settings) -> GroupValues:
    z, _ = quantiles("two-sided", settings.alpha)
    low, high = wilson(events, denominators, z)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = events / denominators
        error = np.sqrt(value * (1 - value) / denominators)
    if not scale.is_identity:
        error = error * scale.slope(value)
        value, low, high = scale.value(value), scale.value(low), scale.value(high)
    return GroupValues(denominators, value, error, low, high)


def _rows(
    out: Measured,
    made: Counted,
    contrasts: Sequence[tuple[Contrast, Any]],
    events: np.ndarray,
    denominators: np.ndarray,
) -> Iterable[Row]:
    sample, rate, question = out.sample, made.rate, made.question
    groups, strata, sizes = sample.group_labels, sample.stratum_labels, sample.sizes
    missing = Missing()
    for place in places_of(sample):
        label = None if place is None else strata[place]
        for base, other in contrasts:
            contrast = replace(base, stratum=place)
            pair = pair_of(events, denominators, contrast)
            people = pair_of(sizes, sizes, contrast)
            n_group = int(people.x1.sum())

            def leave_out(reason: str) -> None:
                effective = int(pair.d1.sum())  # noqa: B023  # called at once
                out.excluded.append(
                    Exclusion(rate.name, groups[base.first], other, label, reason, n_group, effective, 1)  # noqa: B023
                )

            defined = pair.defined()
            if not defined.any():
                for side, total in ((base.first, pair.d1.sum()), (base.second, pair.d2.sum())):
                    if side is not None and total == 0:
                        missing.add(side, place)
                if pair.d1.sum() and (base.second is None or pair.d2.sum()):
                    stratified = " in the same stratum" if sample.control_names else ""
                    leave_out("nobody to compare with meets the condition" + stratified)
                continue
            pair = pair.only(defined)
            first, second = (float(v) for v in values(pair, made.scale))
            disparity = float(disparity_of(np.asarray(first), np.asarray(second), question.disparity))
            if np.isnan(disparity):
                leave_out("both values are 0: their ratio is undefined (their difference is not)")
                continue
            yield Row(
                rate.name, groups[base.first], other, label, contrast, question, n_group,
                int(people.x2.sum() + (people.x1.sum() if base.overall else 0)), first, second, disparity,
                pair, made.scale, ends_of((0.0, 1.0), question.disparity),
            )  # fmt: skip
    among = rate.among or (f"who meet {rate.given!r}" if isinstance(rate.given, str) else "who meet the condition")
    missing.report(out, rate.name, f"undefined: nobody meets the condition ({among})")


def rate_table(made: Counted, settings: Settings) -> RateTable:
    """Cells among which labels are exchanged: the rate's own condition, or what `within` says."""
    counts, event, given = made.counts, made.event, made.given
    if settings.question.method == "bootstrap":
        return RateTable(counts, event, given, ())
    if settings.within == "auto":
        role = np.where(event, 0, np.where(given, 1, 2))
        roles = np.stack([counts[:, :, role == r].sum(axis=2) for r in range(3)], axis=2)
        return RateTable(roles, np.array([True, False, False]), np.array([True, True, False]), ((0, 1),))
    everyone = np.arange(len(event))
    if settings.within is None:
        blocks = [everyone]
    else:
        if settings.within not in made.roles:
            raise ParameterError(f"within={settings.within!r} needs {settings.within}, which was not given")
        inside = made.roles[settings.within]
        blocks = [everyone[inside == value] for value in np.unique(inside)[::-1]]
    return RateTable(counts, event, given, tuple(tuple(b.tolist()) for b in blocks if len(b)))


def run_counted(
    out: Measured, made: Counted, settings: Settings, seed: np.random.SeedSequence, *, draw: bool, joint: bool
) -> None:
    """Give each row of one rate its p-value; draw tables where a resampled method or max-T (`joint`) needs them.

    A hypothesis is tested once: further rows with it take the p-value of the first.
    """
    rows, question = made.rows, made.question
    bootstrap = question.method == "bootstrap"
    counted = rate_table(made, settings)
    contrasts = [row.contrast for row in rows]
    if not bootstrap:
        contrasts = rate_draws.to_rest(contrasts)
    shape = (made.scale, settings.variance)
    firsts = [out.first_of(row) for row in rows]
    new = [place for place, (row, first) in enumerate(zip(rows, firsts, strict=True)) if row is first]
    if draw and bootstrap:
        resampled = rate_draws.bootstrap_moments(
            counted, contrasts, made.scale, question.disparity, settings.variance, settings.n_resamples,
            np.random.default_rng(seed),
        )  # fmt: skip
        for row, found in zip(rows, resampled, strict=True):
            row.resampled = found
    elif draw:
        places = list(range(len(rows))) if joint else new
        if joint:
            rng = np.random.default_rng(seed)
            drawn = rate_draws.joint_permutations(counted, contrasts, *shape, settings.n_resamples, rng)
        elif new:
            seeds, own = seed.spawn(len(rows)), [contrasts[place] for place in new]
            with progress(made.rate.name, len(new), bool(settings.verbose)) as advance:
                drawn = rate_draws.pairwise_permutations(
                    counted, own, *shape, settings.n_resamples, [seeds[place] for place in new], advance
                )
        for column, place in enumerate(places):
            rows[place].drawn = drawn[:, column]
    if question.method in ("permutation", "bootstrap"):
        statistics, errors = rate_draws.observed_statistics(counted, contrasts, *shape)
        for row, first, statistic, error in zip(rows, firsts, statistics.tolist(), errors.tolist(), strict=True):
            row.method, row.studentized = question.method, settings.variance is not None
            row.standard_error = error
            if settings.variance == "score":
                row.standard_error = shown_error(row.counted, question, error, row.scale)
            elif question.disparity == "ratio" and settings.variance is not None:
                row.standard_error = log_error(row)
            if bootstrap:
                row.alike = _is_alike(row)
                bootstrapped_log_p(row, partial(_asymptotic_log_p, row))
            elif row is first:
                row.statistic = statistic
                resampled_log_p(row, settings)
            else:
                row.take(first)
        return
    jobs = (delayed(answer)(rows[place].pair, rows[place].scale, question) for place in new)
    answers = Parallel(n_jobs=settings.n_jobs, return_as="generator")(jobs)
    with progress(made.rate.name, len(new), bool(settings.verbose)) as advance:
        for place, answered in zip(new, answers, strict=True):
            _set(rows[place], answered)
            advance()
    for row, first in zip(rows, firsts, strict=True):
        if row is not first:
            _set(row, answer(row.counted, row.scale, question, known=(first.log_p, first.method)))


def _set(row: Row, found: Answer) -> None:
    row.log_p, row.method = found.log_p, found.method
    row.statistic, row.standard_error = found.statistic, found.standard_error
    row.beyond = float(oriented(np.asarray(found.statistic), row.question.alternative))


def resampled_log_p(row: Row, settings: Settings) -> None:
    """Set a row's log p-value from permutations, and (extreme, defined) behind it."""
    assert row.drawn is not None
    question = row.question
    row.beyond = float(oriented(np.asarray(row.statistic), question.alternative))
    if settings.adaptive:
        found = sequential_p(row.drawn, row.statistic, question.alternative)
        if found is not None:
            p, extreme, used = found
            row.log_p, row.extreme = float(np.log(p)), (extreme, used)
            row.undefined = int(np.isnan(row.drawn[np.cumsum(~np.isnan(row.drawn)) < used]).sum())
            # What was drawn for other comparisons after this one had its answer is not part of it.
            row.drawn = np.where(np.cumsum(~np.isnan(row.drawn)) <= used, row.drawn, np.nan)
            return
    p, extreme, defined = monte_carlo_p(row.drawn, row.statistic, question.alternative)
    row.log_p, row.extreme, row.undefined = float(np.log(p)), (extreme, defined), len(row.drawn) - defined


def bootstrapped_log_p(row: Row, asymptotic: Callable[[], float]) -> None:
    """Set a row's log p-value from bootstrap samples, at equality or at a margin.

    Where the people of a side are all alike, so are all of its samples: they say nothing about what is uncertain there,
    and the p-value is not below the `asymptotic` one.
    """
    assert row.resampled is not None
    question, found = row.question, row.resampled
    tests = tests_of(question)
    results = [(found.test(edge, side), found.statistic(edge)) for edge, side in tests]
    choose = max if question.alternative == "equivalence" else min
    (p, extreme, defined), row.statistic = choose(results, key=lambda result: result[0][0])
    row.drawn, row.beyond = farthest_beyond(found, question)
    row.tails = 2 if len(tests) == 2 and question.alternative == "two-sided" else 1
    row.log_p, row.extreme = min(0.0, float(np.log(p) + np.log(row.tails))), (extreme, defined)
    row.undefined = int(np.isnan(row.drawn).sum())
    if row.alike:
        row.log_p = max(row.log_p, asymptotic())


def farthest_beyond(found: Resampled, question: Question) -> tuple[Floats, float]:
    """Return bootstrap statistics, and that of the data oriented, each where it is farthest beyond what is tested."""
    tests = tests_of(question)
    columns = np.stack([found.centred(edge) for edge, _ in tests[: len({edge for edge, _ in tests})]])
    largest = np.argmax(np.nan_to_num(np.abs(columns), nan=-1.0), axis=0)
    beyond = max(float(oriented(np.asarray(found.statistic(edge)), side)) for edge, side in tests)
    return np.take_along_axis(columns, largest[None], axis=0)[0], beyond


def tests_of(question: Question) -> list[tuple[float, str]]:
    """Return the tests that a question asks for: the disparity that is tested, and which side of it."""
    if question.margin_bounds is None:
        return [(question.null, question.alternative)]
    lower, upper = question.margin_bounds
    return {
        "greater": [(upper, "greater")],
        "less": [(lower, "less")],
        "equivalence": [(lower, "greater"), (upper, "less")],
        "two-sided": [(upper, "greater"), (lower, "less")],
    }[question.alternative]


def _is_alike(row: Row) -> bool:
    """Whether everyone of a side shows the event, or no one does."""
    pair = row.counted
    return any(x.sum() in (0, d.sum()) for x, d in ((pair.x1, pair.d1), (pair.x2, pair.d2)))


def _asymptotic_log_p(row: Row) -> float:
    return answer(row.counted, row.scale, replace(row.question, method="asymptotic")).log_p


def log_error(row: Row) -> float:
    """Delta-method error of the logarithm of a rate's ratio; NaN where it is infinite."""
    distance, error = (float(v) for v in linearized(row.counted, row.scale, "ratio"))
    return error if np.isfinite(distance) else np.nan


def enumerable(rows: Sequence[Row]) -> bool:
    """Whether rows on disjoint conditions have an enumerated joint law: one pair of groups, one stratum per row."""
    question = rows[0].question
    return (
        question.alternative == "two-sided"
        and question.method in ("auto", "exact")
        and all(row.pair is not None and row.question == question for row in rows)
        and len({(row.contrast.first, row.contrast.second) for row in rows}) == 1
        and rows[0].contrast.second is not None
        and all(len(row.counted.x1) == 1 for row in rows)
    )


def needs_draws(rows: Sequence[Row], settings: Settings) -> bool:
    """Whether p-values of rates, or their adjustment, need drawn tables."""
    if settings.question.method in ("permutation", "bootstrap"):
        return True
    if settings.adjust != "max_t":
        return False
    tested = [same[0] for same in by_hypothesis(rows)]
    pooled = [row for row in tested if row.contrast.stratum is None]
    strata = [row for row in tested if row.contrast.stratum is not None]
    # One comparison has nothing to be adjusted for.
    return any(len(family) > 1 and not enumerable(family) for family in (pooled, strata))
