"""From a table and its rates to rows: one comparison each, tested but not yet adjusted for the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from skfairtest.group._random import seed_sequence
from skfairtest.group._settings import Settings
from skfairtest.inference import rate_draws
from skfairtest.inference._discrete import Floats
from skfairtest.inference.max_t import oriented
from skfairtest.inference.rate_draws import Contrast, RateTable, pair_of
from skfairtest.inference.rates import Pair, Scale, answer, disparity_of, shown_error, values
from skfairtest.inference.resampling import monte_carlo_p
from skfairtest.inference.score import studentize
from skfairtest.metrics import Rate
from skfairtest.tables import CountTable

#: A group's value is flagged when fewer people than this meet the condition.
SMALL = 10
#: A group takes part in comparisons from this many people on.
SMALLEST_GROUP = 2
#: Comparisons of one table that are made at the most.
MOST_COMPARISONS = 100_000


@dataclass
class Row:
    """One comparison. What `judge` sets later has no value yet."""

    metric: str
    group: Any
    other: Any
    stratum: Any
    contrast: Contrast
    pair: Pair
    scale: Scale
    n_group: int
    n_other: int
    value_group: float
    value_other: float
    disparity: float
    log_p: float = np.nan
    method: str = ""
    statistic: float = np.nan
    standard_error: float = np.nan
    drawn: Floats | None = field(default=None, repr=False)
    extreme: tuple[int, int] | None = None  # draws at least as extreme as the statistic, of how many
    beyond: float = np.nan  # the statistic, oriented: larger is more evidence
    log_p_adjusted: float = np.nan
    interval: tuple[float, float] = (np.nan, np.nan)
    concern: bool = False


@dataclass
class Exclusion:
    """A group, cell or stratum that was left out of `comparisons` comparisons, and why."""

    metric: str | None
    group: Any
    other: Any
    stratum: Any
    reason: str
    n: int
    n_effective: int
    comparisons: int


@dataclass
class Measured:
    """Everything that one table says about its rates, before multiplicity."""

    table: CountTable
    rates: list[Rate]
    events: dict[str, np.ndarray]  # metric -> (strata, groups)
    denominators: dict[str, np.ndarray]
    conditions: list[np.ndarray]  # per rate, which cells meet its condition
    rows: list[Row]
    excluded: list[Exclusion]


def measure(
    table: CountTable, rates: Sequence[Rate], settings: Settings, pos_label: Any, random_state: Any
) -> Measured:
    """Test every comparison of a table on its own.

    Parameters
    ----------
    table : CountTable
        Counts, with the cells that the rates read.
    rates : sequence of Rate
        What is compared.
    settings : Settings
        How it is compared.
    pos_label : object
        The positive label.
    random_state : int, RandomState, Generator or None
        Source of randomness for resampled laws; an enumerated law leaves it alone.

    Returns
    -------
    Measured
        Rows in the order metric, pooled before strata, contrast.
    """
    cells = {
        name: np.array([cell[place] == pos_label for cell in table.cells], dtype=bool)
        for place, name in enumerate(table.cell_names)
        if name != "y_score"
    }
    # Cells in an order that does not depend on how labels are spelled: drawn tables depend on it.
    order = np.lexsort(tuple(cells.values())[::-1])
    cells = {name: column[order] for name, column in cells.items()}
    counts = table.counts[:, :, order]
    sizes = counts.sum(axis=2)  # (strata, groups)
    excluded: list[Exclusion] = []
    kept = _kept_groups(table, sizes, excluded, settings, len(rates))
    _check_how_many(table, len(kept), len(rates), settings)
    contrasts = list(_contrasts(table, kept, settings))
    out = Measured(table, list(rates), {}, {}, [], [], excluded)
    tested = []
    for rate in rates:
        event, given = rate.masks(cells)
        out.conditions.append(given)
        out.events[rate.name] = counts[:, :, event].sum(axis=2)
        out.denominators[rate.name] = counts[:, :, given].sum(axis=2)
        rows = list(_rows(out, rate, contrasts, sizes, settings))
        tested.append((rows, _rate_table(counts, cells, event, given, settings)))
        out.rows.extend(rows)
    draw = _needs_draws(out, settings)
    seed = seed_sequence(random_state) if draw else np.random.SeedSequence(0)
    # Whole tables drawn with one seed are the same tables for every rate, hence jointly distributed across rates.
    whole = settings.within != "auto" or settings.question.method == "bootstrap"
    for (rows, counted), rate_seed in zip(tested, seed.spawn(len(tested)), strict=True):
        if rows:
            _test(rows, counted, settings, seed if whole else rate_seed, draw=draw)
    for row in out.rows:
        _report_undefined_draws(row, out)
    return out


def _report_undefined_draws(row: Row, out: Measured) -> None:
    """List the drawn tables in which a comparison is undefined, which count in neither part of its p-value."""
    if row.drawn is None:
        return
    undefined = int(np.isnan(row.drawn).sum())
    if undefined:
        reason = f"undefined in {undefined:,} of {len(row.drawn):,} drawn tables, which are not counted"
        effective = int(row.pair.d1.sum())
        out.excluded.append(Exclusion(row.metric, row.group, row.other, row.stratum, reason, row.n_group, effective, 0))


def enumerable(rows: Sequence[Row], settings: Settings) -> bool:
    """Whether rows on disjoint conditions have an enumerated joint law: one pair of groups, one stratum per row."""
    return (
        settings.question.alternative == "two-sided"
        and settings.question.method in ("auto", "exact")
        and len({(row.contrast.first, row.contrast.second) for row in rows}) == 1
        and rows[0].contrast.second is not None
        and all(len(row.pair.x1) == 1 for row in rows)
    )


def _needs_draws(out: Measured, settings: Settings) -> bool:
    """Whether p-values or their adjustment need drawn tables."""
    if settings.question.method in ("permutation", "bootstrap"):
        return True
    if settings.adjust != "max_t":
        return False
    pooled = [row for row in out.rows if row.contrast.stratum is None]
    strata = [row for row in out.rows if row.contrast.stratum is not None]
    # One comparison has nothing to be adjusted for.
    return any(len(family) > 1 and not enumerable(family, settings) for family in (pooled, strata))


def _kept_groups(
    table: CountTable, sizes: np.ndarray, excluded: list[Exclusion], settings: Settings, n_rates: int
) -> list[int]:
    labels = table.group_labels
    totals = sizes.sum(axis=0)
    names = " x ".join(table.sensitive_names)
    if len(labels) < 2:
        raise ValueError(
            f"sensitive_features ({names}) holds one group only, {labels[0]!r}: nothing can be compared; "
            "at least two groups are needed"
        )
    kept = [g for g, n in enumerate(totals.tolist()) if n >= SMALLEST_GROUP]
    if len(kept) < 2:
        found = ", ".join(f"{label!r}: {n}" for label, n in zip(labels, totals.tolist(), strict=True))
        raise ValueError(
            f"sensitive_features ({names}) needs at least two groups of {SMALLEST_GROUP} or more people; found {found}"
        )
    for g, n in enumerate(totals.tolist()):
        if n < SMALLEST_GROUP:
            reason = f"fewer than {SMALLEST_GROUP} people: compared with nobody"
            partners = len(kept) if settings.compare == "between_groups" else 1
            excluded.append(Exclusion(None, labels[g], None, None, reason, n, n, partners * n_rates))
    return kept


def _check_how_many(table: CountTable, n_groups: int, n_rates: int, settings: Settings) -> None:
    """Refuse more comparisons than anybody can wait for or read; all pairs of crossed features grow fast."""
    if settings.compare != "between_groups":
        return
    places = 1 + len(table.strata) * bool(table.control_names)
    found = comb(n_groups, 2) * n_rates * places
    if found > MOST_COMPARISONS:
        names = " x ".join(table.sensitive_names)
        raise ValueError(
            f"sensitive_features ({names}) makes {n_groups:,} groups, whose pairs are {found:,} comparisons; at most "
            f"{MOST_COMPARISONS:,} are made: use compare='to_rest' or 'to_reference', or fewer sensitive features"
        )


def _contrasts(table: CountTable, kept: list[int], settings: Settings) -> Iterable[tuple[Contrast, Any]]:
    """Pair each contrast with the label of what the group is compared with."""
    labels = table.group_labels
    if settings.compare == "between_groups":
        if len(kept) > 2 and settings.question.alternative in ("greater", "less"):
            raise ValueError(
                f"alternative={settings.question.alternative!r} needs a direction, which all pairs of {len(kept)} "
                "groups do not have: use compare='to_reference', 'to_rest' or 'to_overall'"
            )
        for first, second in combinations(kept, 2):
            yield Contrast(first, second), labels[second]
    elif settings.compare == "to_reference":
        reference = settings.reference_group
        if isinstance(reference, list):
            reference = tuple(reference)
        if reference not in labels:
            raise ValueError(
                f"reference_group={reference!r} is not a group; the groups are {', '.join(map(repr, labels))}"
            )
        second = labels.index(reference)
        if second not in kept:
            raise ValueError(f"reference_group={reference!r} has fewer than {SMALLEST_GROUP} people")
        for first in kept:
            if first != second:
                yield Contrast(first, second), labels[second]
    else:
        overall = settings.compare == "to_overall"
        for first in kept:
            yield Contrast(first, None, overall), "overall" if overall else "rest"


def _rows(
    out: Measured, rate: Rate, contrasts: list[tuple[Contrast, Any]], sizes: np.ndarray, settings: Settings
) -> Iterable[Row]:
    table = out.table
    groups, strata = table.group_labels, table.stratum_labels
    events, denominators = out.events[rate.name], out.denominators[rate.name]
    scale = Scale() if rate.value is None or rate.slope is None else Scale(rate.value, rate.slope)
    stratified = bool(table.control_names)
    places: list[int | None] = [None, *range(len(strata))] if stratified else [None]
    missing: dict[tuple[int, int | None], int] = {}
    for place in places:
        label = None if place is None else strata[place]
        for base, other in contrasts:
            contrast = Contrast(base.first, base.second, base.overall, place)
            pair = pair_of(events, denominators, contrast)
            people = pair_of(sizes, sizes, contrast)
            defined = pair.defined()
            if not defined.any():
                for side, total in ((base.first, pair.d1.sum()), (base.second, pair.d2.sum())):
                    if side is not None and total == 0:
                        missing[(side, place)] = missing.get((side, place), 0) + 1
                if pair.d1.sum() and (base.second is None or pair.d2.sum()):
                    reason = "nobody to compare with meets the condition" + (
                        " in the same stratum" if stratified else ""
                    )
                    out.excluded.append(
                        Exclusion(
                            rate.name,
                            groups[base.first],
                            other,
                            label,
                            reason,
                            int(people.x1.sum()),
                            int(pair.d1.sum()),
                            1,
                        )
                    )
                continue
            pair = pair.only(defined)
            first, second = (float(v) for v in values(pair, scale))
            disparity = float(disparity_of(np.asarray(first), np.asarray(second), settings.question.disparity))
            if np.isnan(disparity):
                reason = "both values are 0: their ratio is undefined (their difference is not)"
                out.excluded.append(
                    Exclusion(
                        rate.name, groups[base.first], other, label, reason, int(people.x1.sum()), int(pair.d1.sum()), 1
                    )
                )
                continue
            everyone = int(people.x2.sum() + (people.x1.sum() if base.overall else 0))
            yield Row(
                rate.name,
                groups[base.first],
                other,
                label,
                contrast,
                pair,
                scale,
                int(people.x1.sum()),
                everyone,
                first,
                second,
                disparity,
            )
    _report_missing(out, rate, missing, sizes)


def _report_missing(out: Measured, rate: Rate, missing: dict[tuple[int, int | None], int], sizes: np.ndarray) -> None:
    """List the groups, and the strata of a group, in which a rate is undefined."""
    labels, strata = out.table.group_labels, out.table.stratum_labels
    among = rate.among or (f"who meet {rate.given!r}" if isinstance(rate.given, str) else "who meet the condition")
    reason = f"undefined: nobody meets the condition ({among})"
    for (group, place), comparisons in missing.items():
        n = int(sizes[:, group].sum() if place is None else sizes[place, group])
        label = None if place is None else strata[place]
        why = reason if n else "no people"
        out.excluded.append(Exclusion(rate.name, labels[group], None, label, why, n, 0, comparisons))


def _rate_table(
    counts: np.ndarray, cells: dict[str, np.ndarray], event: np.ndarray, given: np.ndarray, settings: Settings
) -> RateTable:
    """Cells among which labels are exchanged: the rate's own condition, or what `within` says."""
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
        if settings.within not in cells:
            raise ValueError(f"within={settings.within!r} needs {settings.within}, which was not given")
        blocks = [everyone[cells[settings.within]], everyone[~cells[settings.within]]]
    return RateTable(counts, event, given, tuple(tuple(b.tolist()) for b in blocks if len(b)))


def _test(rows: list[Row], counted: RateTable, settings: Settings, seed: np.random.SeedSequence, *, draw: bool) -> None:
    """Give each row of one rate its p-value; draw the rows' law where a resampled method or max-T needs it."""
    question = settings.question
    bootstrap = question.method == "bootstrap"
    contrasts = [row.contrast for row in rows]
    if not bootstrap:
        contrasts = rate_draws.to_rest(contrasts)
    scale = rows[0].scale
    arguments = (contrasts, scale, question.disparity, settings.variance)
    if draw:
        n = settings.n_resamples
        if bootstrap:
            drawn = rate_draws.bootstrap_statistics(counted, *arguments, n, np.random.default_rng(seed))
        elif settings.adjust == "max_t":
            drawn = rate_draws.joint_permutations(counted, *arguments, n, np.random.default_rng(seed))
        else:
            drawn = rate_draws.pairwise_permutations(counted, *arguments, n, seed.spawn(len(rows)))
        for row, column in zip(rows, drawn.T, strict=True):
            row.drawn = column
    if question.method in ("permutation", "bootstrap"):
        statistics, errors = rate_draws.observed_statistics(counted, *arguments)
        for row, statistic, error in zip(rows, statistics.tolist(), errors.tolist(), strict=True):
            row.statistic, row.standard_error, row.method = statistic, error, question.method
            row.log_p, row.extreme = _resampled_log_p(row, settings)
            if settings.variance == "score":
                row.standard_error = shown_error(row.pair, question, error)
        return
    answers = Parallel(n_jobs=settings.n_jobs)(delayed(answer)(row.pair, row.scale, question) for row in rows)
    for row, found in zip(rows, answers, strict=True):
        row.log_p, row.method = found.log_p, found.method
        row.statistic, row.standard_error = found.statistic, found.standard_error
        row.beyond = float(oriented(np.asarray(found.statistic), question.alternative))


def _resampled_log_p(row: Row, settings: Settings) -> tuple[float, tuple[int, int] | None]:
    """Log p-value from a row's draws, and (extreme, defined) behind it where one count decides."""
    assert row.drawn is not None
    question = settings.question
    if question.edges is None:
        row.beyond = float(oriented(np.asarray(row.statistic), question.alternative))
        p, extreme, defined = monte_carlo_p(row.drawn, row.statistic, question.alternative)
        return float(np.log(p)), (extreme, defined)
    lower, upper = (np.log(question.edges) if question.disparity == "ratio" else np.asarray(question.edges)).tolist()
    with np.errstate(divide="ignore"):
        estimate = float(np.log(row.disparity)) if question.disparity == "ratio" else row.disparity
    if np.isinf(estimate):  # the logarithm of a ratio of 0 or infinity has no bootstrap law
        row.beyond = -np.inf
        return 0.0, None
    above, below = (float(studentize(estimate - edge, row.standard_error)) for edge in (upper, lower))
    tests = {
        "greater": [(above, "greater")],
        "less": [(below, "less")],
        "equivalence": [(below, "greater"), (above, "less")],
        "two-sided": [(above, "greater"), (below, "less")],
    }[question.alternative]
    row.beyond = max(statistic if side == "greater" else -statistic for statistic, side in tests)
    results = [(monte_carlo_p(row.drawn, statistic, side), statistic) for statistic, side in tests]
    choose = max if question.alternative == "equivalence" else min
    (p, extreme, defined), row.statistic = choose(results, key=lambda result: result[0][0])
    if question.alternative == "two-sided":
        p, extreme = min(1.0, 2 * p), min(defined, 2 * extreme)
    return float(np.log(p)), (extreme, defined)
