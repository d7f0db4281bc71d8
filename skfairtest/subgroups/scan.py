"""A scan: what people's values add up to in every subgroup, which subgroups differ, and which of them explain it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest._utils.typing import Floats, Positions
from skfairtest.comparisons.contrasts import EXTREME, FEW, SKEWED, SMALL
from skfairtest.comparisons.family import p_of, p_values_of
from skfairtest.comparisons.outcomes import Measure
from skfairtest.inference.rates import Question
from skfairtest.inference.score import of_score
from skfairtest.metrics import Mean
from skfairtest.report import cells
from skfairtest.report.cells import records
from skfairtest.report.report import Cell, Column, Report, Table, listed
from skfairtest.report.sentences import Setup, equals_p, finding_sentence, metric_title, number
from skfairtest.tables.subgroups import Cells, Subgroups

#: Subgroups whose exact p-values are computed in a step of the explanation: those with the largest scores.
LOOKED_AT = 5
#: Shorter descriptions that may take the place of a longer one, beside its own parts; and how many times (as a
#: logarithm) too large a p-value may be for the subgroup to be looked at again.
MOST_RIVALS, FAR = 20, 10.0
#: Subgroups that are reported at the most.
MOST_REPORTED = 20
#: What can be guaranteed.
GUARANTEES = ("familywise", "split")


def people_of(cells: Cells, measures: Sequence[Measure], seed: np.random.SeedSequence | None) -> list[list[Floats]]:
    """Return the people of every cell and each measure's sums: of all, or with a `seed` of two random halves."""
    keys = np.concatenate([cells.of_row[:, None], *(measure.rows for measure in measures)], axis=1)
    kinds, place = np.unique(keys, axis=0, return_inverse=True)
    counts = np.bincount(place.reshape(-1), cells.counts, minlength=len(kinds)).astype(np.int64)
    parts = [counts]
    if seed is not None:
        half = np.random.default_rng(seed).multivariate_hypergeometric(counts, int(counts.sum()) // 2)
        parts = [half, counts - half]
    ends = np.cumsum([1, *(measure.rows.shape[1] for measure in measures)])
    where, n_cells = kinds[:, 0].astype(np.intp), len(cells.codes)

    def added(values: Floats, people: Any) -> Floats:
        return np.stack([np.bincount(where, column * people, minlength=n_cells) for column in values.T], axis=1)

    columns = [np.ones((len(kinds), 1)), *(kinds[:, start:stop] for start, stop in pairwise(ends.tolist()))]
    return [[added(values, people) for values in columns] for people in parts]


@dataclass(frozen=True, eq=False)
class Scanned:
    """The subgroups of one measure, each tested against the others.

    `smallest` is the log of the smallest p-value there can be; `own` and `rest` are the sums (n, strata, K) of both
    sides.
    """

    measure: Measure
    people: Floats
    sums: Floats
    subgroups: Subgroups
    own: Floats
    rest: Floats
    scores: Floats
    log_p: Floats
    smallest: Floats
    alternative: str

    @classmethod
    def of(cls, measure: Measure, people: Floats, sums: Floats, subgroups: Subgroups, alternative: str) -> Self:
        """Test subgroups of people who are this many in each cell, and add up to some sums."""
        cells = subgroups.cells
        n_strata = int(cells.stratum.max()) + 1
        own, rest = (np.zeros((len(subgroups), n_strata, sums.shape[1])) for _ in range(2))
        for rows, first, second in subgroups.sides(sums, cells.stratum, n_strata):
            own[rows], rest[rows] = first, second
        scores = measure.sums.scores(own, rest)
        log_p, smallest = measure.sums.log_p(own, rest, alternative)
        return cls(measure, people, sums, subgroups, own, rest, scores, log_p, smallest, alternative)

    def given(self, rows: Positions, above: Sequence[int], *, exact: bool) -> Floats:
        """Return log p-values of subgroups within the strata that those `above` divide people into."""
        covered = np.array([[_is_inside(self.subgroups, row, one) for one in above] for row in rows.tolist()])
        out, cells = np.zeros(len(rows)), self.subgroups.cells
        for pattern in np.unique(covered.astype(bool), axis=0):
            same = np.flatnonzero((covered == pattern).all(axis=1))
            dividing = [
                self.subgroups.members(one) for one, covers in zip(above, pattern.tolist(), strict=True) if not covers
            ]
            parts = [cells.stratum, *(2 * context + inside for inside, context in dividing)]
            stratum = np.unique(np.stack(parts), axis=1, return_inverse=True)[1].reshape(-1)
            for places, own, rest in self.subgroups.take(rows[same]).sides(self.sums, stratum, int(stratum.max()) + 1):
                tested = self.measure.sums.log_p(own, rest, self.alternative)[0] if exact else of_score(
                    self.measure.sums.scores(own, rest), self.alternative)  # fmt: skip
                out[same[places]] = tested
        return out


def by_permutation(scanned: Scanned, n_resamples: int, seed: np.random.SeedSequence) -> Floats:
    """Return log p-values of means, adjusted by the smallest of each permutation of people within strata.

    It is exact if nothing differs (Westfall and Young 1993). Subgroups compared in contexts of the same features are a
    family, permuted within these contexts; families are combined by Bonferroni's inequality.
    """
    families, out = scanned.subgroups.contexts, np.zeros(len(scanned.log_p))
    for (features, rows), own in zip(families.items(), seed.spawn(len(families)), strict=True):
        found = _smallest_permuted(scanned, rows, features, n_resamples, own)
        extreme = np.searchsorted(np.sort(found), scanned.log_p[rows] + 1e-9, side="right")
        out[rows] = np.log((1 + extreme) / (1 + n_resamples)) + np.log(len(families))
    return out


def _smallest_permuted(
    scanned: Scanned, rows: Positions, features: Sequence[int], n_resamples: int, seed: np.random.SeedSequence
) -> Floats:
    """Return the smallest log p-value of some subgroups in each permutation within strata and values of features."""
    subgroups, measure = scanned.subgroups.take(rows), scanned.measure
    cells = subgroups.cells
    times = np.ones(len(cells.of_row), dtype=np.int64) if cells.counts is None else cells.counts
    # An order that does not depend on that of rows.
    order = np.lexsort((measure.rows[:, 1], cells.of_row))
    order = order.repeat(times[order])
    cell, value = cells.of_row[order], measure.rows[order, 1]
    fixed = [cells.codes[:, f] for f in features]
    block = np.unique(np.stack([cells.stratum, *fixed]), axis=1, return_inverse=True)[1].reshape(-1)[cell]
    sorted_places, together, rng = np.argsort(block, kind="stable"), not block.any(), np.random.default_rng(seed)
    n_cells, n_strata = len(cells.codes), scanned.own.shape[1]
    smallest = np.empty(n_resamples)
    for place in range(n_resamples):
        if together:
            mixed = rng.permutation(value)
        else:
            mixed = np.empty_like(value)
            mixed[sorted_places] = value[np.argsort(block + rng.random(len(value)))]
        parts = [np.bincount(cell, weights, minlength=n_cells) for weights in (mixed, mixed * mixed)]
        sums = np.stack([cells.people, *parts], axis=1)
        # All at once: most of the time of a test goes into calling it.
        sides = [(own, rest) for _, own, rest in subgroups.sides(sums, cells.stratum, n_strata)]
        own, rest = (np.concatenate(side) for side in zip(*sides, strict=True))
        smallest[place] = measure.sums.log_p(own, rest, scanned.alternative)[0].min()
    return smallest


def doubtful(scanned: Scanned, row: int) -> str:
    """Return why Welch's test of a subgroup's mean is only approximate; empty where it is not."""
    (inside, context), cells = scanned.subgroups.members(row), scanned.subgroups.cells
    sides = np.stack([inside, context & ~inside])[:, cells.of_row]
    counts = sides * (np.ones(len(cells.of_row)) if cells.counts is None else cells.counts)
    mean = Mean(scanned.measure.rows[:, 1])
    if mean.informative(counts).min() < SMALL:
        return FEW
    third, spread = mean.third_moment(counts), mean.moments(counts)[1].sum()
    return EXTREME if abs(third[0] - third[1]) > SKEWED * spread**1.5 else ""


#: A subgroup that is reported: its row, and the logarithm of its adjusted p-value given those before it.
Step = tuple[int, float]


def explain(tested: Scanned, found: Positions, n_hypotheses: int, alpha: float) -> tuple[list[Step], float]:
    """Choose among significant subgroups those that explain all of them, the strongest evidence first.

    A subgroup is chosen if it still differs within the strata of those chosen; a shorter description takes its place if
    that differs as well, and the subgroup does not differ within it.
    """
    level, more = float(np.log(alpha)) + 1e-12, float(np.log(max(1, n_hypotheses)))
    given = tested.given
    chosen: list[Step] = []
    left, remaining = found, 0.0
    while len(left):
        above = [row for row, _ in chosen]
        rough = given(left, above, exact=False) if above else tested.log_p[left]
        best = left[np.lexsort((tested.subgroups.depth[left], rough))[:LOOKED_AT]]
        log_p = given(best, above, exact=True) if above else tested.log_p[best]
        at = int(np.lexsort((tested.subgroups.depth[best], log_p))[0])
        remaining = min(0.0, float(log_p[at]) + more)
        if len(chosen) == MOST_REPORTED or (above and remaining > level):
            return chosen, remaining
        row = _shortest(tested, int(best[at]), left, rough, above, alpha, level - more)
        own = tested.log_p[row] if not above else given(np.array([row]), above, exact=True)[0]
        chosen.append((row, min(0.0, float(own) + more)))
        # What is far from significant now is explained, and is not looked at again.
        left, remaining = left[(left != row) & (rough + more <= level + FAR)], 0.0
    return chosen, remaining


def _is_inside(subgroups: Subgroups, row: int, other: int) -> bool:
    """Whether the context of a subgroup is a part of that of another one of the same sensitive features."""
    contextual = subgroups.cells.contextual
    if not any(contextual):
        return False
    terms, others = subgroups.terms(row), subgroups.terms(other)
    within, around = ({term for term in both if contextual[term[0]]} for both in (terms, others))
    features, same = ({f for f, _ in both if not contextual[f]} for both in (terms, others))
    return features == same and around < within


def _shortest(
    tested: Scanned, row: int, left: Positions, rough: Floats, above: list[int], alpha: float, level: float
) -> int:
    """Return a shorter description that explains a subgroup, the shortest first, then by evidence; or the subgroup."""
    alone = np.array([row])
    subgroups, given, others = tested.subgroups, tested.given, 0
    shorter = np.flatnonzero((subgroups.depth[left] < subgroups.depth[row]) & (rough <= level + 1))
    order = shorter[np.lexsort((rough[shorter], subgroups.depth[left][shorter]))]
    for rival in left[order].tolist():
        is_part = set(subgroups.terms(rival)) <= set(subgroups.terms(row))
        others += not is_part
        if not is_part and others > MOST_RIVALS:
            continue
        with_rival = [*above, rival]
        # What is cheap comes first: few rivals are left.
        if given(alone, with_rival, exact=False)[0] <= np.log(alpha) - 1:
            continue
        if above and given(np.array([rival]), above, exact=True)[0] > level:
            continue
        if given(alone, with_rival, exact=True)[0] > np.log(alpha):
            return int(rival)
    return row


#: Columns of a subgroup that is reported.
REPORTED_COLUMNS = (
    "metric", "subgroup", "disparity", "ci_low", "ci_high", "compared_with", "depth", "n_group", "n_other",
    "n_effective", "value_group", "value_other", "statistic", "sentence", "p_value", "p_value_given_above",
    "p_value_adjusted",
)  # fmt: skip


def subgroup_sentence(setup: Setup, row: Mapping[str, Any]) -> str:
    """Say how a subgroup that is reported differs from those it is compared with."""
    people = {"group": f"people with {row['subgroup']}", "other": row["compared_with"], "stratum": None}
    return finding_sentence(setup, {**row, **people, "concern": True})


def _described(subgroups: Subgroups, binned: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the description of each subgroup ("sex = Female, age 25 to 34") and of its comparison group."""
    terms = [
        [f"{label(column.name)}{' ' if column.name in binned else ' = '}{label(level)}" for level in column.levels]
        for column in subgroups.cells.features
    ]
    names, others = [], []
    for row in range(len(subgroups)):
        parts = [(terms[f][code], subgroups.cells.contextual[f]) for f, code in subgroups.terms(row)]
        within = [part for part, is_shared in parts if is_shared]
        names.append(", ".join(part for part, _ in parts))
        others.append(f"others with {', '.join(within)}" if within else "everyone else")
    return names, others


def subgroups_frame(
    tested: Scanned, log_adjusted: Floats, reported: Sequence[Step], binned: Collection[str], alpha: float
) -> pd.DataFrame:
    """Return a row for each subgroup of one metric, in the order of `tested`."""
    subgroups = tested.subgroups
    names, others = _described(subgroups, binned)
    people, rest = np.zeros(len(subgroups)), np.zeros(len(subgroups))
    for rows, first, second in subgroups.sides(tested.people):
        people[rows], rest[rows] = first[:, 0, 0], second[:, 0, 0]
    value, other = tested.measure.sums.values(tested.own, tested.rest)
    chosen = np.zeros(len(subgroups), dtype=bool)
    chosen[[row for row, _ in reported]] = True
    columns = {
        "metric": tested.measure.metric.name, "subgroup": names, "disparity": value - other, "compared_with": others,
        "depth": subgroups.depth, "n_group": people.astype(np.int64), "n_other": rest.astype(np.int64),
        "n_effective": tested.measure.sums.counted(tested.own).astype(np.int64),
        "value_group": value + tested.measure.sums.centre, "value_other": other + tested.measure.sums.centre,
        "statistic": tested.scores, "reported": chosen, "p_value": p_values_of(tested.log_p),
        "p_value_adjusted": p_values_of(log_adjusted), "concern": log_adjusted <= np.log(alpha) + 1e-12,
    }  # fmt: skip
    return pd.DataFrame(columns, index=range(len(subgroups)))


def limits_of(tested: Scanned, row: int, disparity: float, error: float, *, rejected: bool) -> tuple[float, float]:
    """Return the interval of one subgroup's disparity that misses with a probability of `error`."""
    limits = tested.measure.sums.limits(tested.own[row], tested.rest[row], tested.alternative, error)
    question = Question(alternative=tested.alternative)
    return question.consistent_limits(limits, disparity, (-np.inf, np.inf), rejected=rejected)


def results_frame(
    frames: Sequence[pd.DataFrame], tested: Sequence[Scanned], chosen: Sequence[Sequence[Step]], error: float,
    setup: Setup,
) -> pd.DataFrame:  # fmt: skip
    """Return the subgroups that are reported, of each metric in the order in which they were chosen.

    Each interval may miss with a probability of `error`.
    """
    rows = []
    for frame, one, steps in zip(frames, tested, chosen, strict=True):
        for place, log_p in steps:
            (row,) = records(frame.iloc[[place]])
            low, high = limits_of(one, place, row["disparity"], error, rejected=row["concern"])
            row |= {"ci_low": low, "ci_high": high, "p_value_given_above": p_of(log_p)}
            rows.append({**row, "sentence": subgroup_sentence(setup, row)})
    return pd.DataFrame(rows, columns=REPORTED_COLUMNS)


#: What each guarantee promises, and what is added for means; {level} is the level of the test.
PROMISES = {
    "familywise": "The probability that any true hypothesis is rejected is at most {level} (Holm).",
    "split": "Subgroups were chosen on a random half of the people and tested on the other half: the probability that "
    "any true hypothesis is rejected there is at most {level} (Holm).",
}
OF_MEANS = "For means this is exact if distributions are equal, and approximate in large samples if only the means are."


def scan_report(test: Any) -> Report:
    """The report of a fitted `SubgroupScan`."""
    setup, (metrics, features, contextual) = test._setup, test._names
    searched = test.not_searched_.groupby("reason", sort=True)["subgroups"].sum()
    left_out = [f"{pluralize(int(n), 'subgroup')}: {reason}" for reason, n in searched.items()]
    cut = [f"{label(name)}: {', '.join(map(number, edges))}" for name, edges in sorted(test.edges_.items())]
    columns = (
        len(metrics) > 1 and cells.METRIC, Column("subgroup", "name", shows="subgroup"),
        bool(contextual) and Column("compared with", "name", shows="compared_with"),
        Column("people", shows="n_group"),
        *cells.numbers(setup, value="value_group", others="value_other", difference="disparity"),
        cells.P, cells.ADJUSTED_P, cells.VERDICT,
    )  # fmt: skip
    rows = cells.records(test.subgroups_.head(cells.SHOWN))
    caption = f"Subgroups with the strongest evidence ({len(rows):,} of {len(test.subgroups_):,} tested; subgroups_ has"
    return replace(
        scan_section(test, setup),
        title=f"{enumerated([*map(metric_title, metrics)])} in subgroups of {enumerated([*map(label, features)])}",
        tables=(Table.of(columns, rows, f"{caption} all)"),),
        parts=(*listed("Not looked at", left_out), *listed("Where numbers were cut", cut)),
    )


def scan_section(test: Any, setup: Setup) -> Report:
    """The report of a scan, without its tables."""
    (metrics, features, contextual), frame = test._names, test.comparisons_
    n, differ = len(frame), int(test.subgroups_["concern"].sum())
    rows = cells.barred(cells.records(frame.assign(concern=True)), setup)
    tested = f"{pluralize(test.n_searched_, 'subgroup')} of {enumerated([*map(label, features + contextual)])}"
    p = f"(smallest adjusted {equals_p(test.p_value_)})."
    verdict = f"Significant disparity: of {tested}, {differ:,} {'differs' if differ == 1 else 'differ'} {p}"
    if not differ:
        verdict = f"No significant disparity was detected in {tested} {p} This does not prove fairness."
    elif test.remaining_p_value_ <= setup.alpha:
        verdict += f" {n:,} reported below, each chosen given those before; given these, others differ as well."
    elif n < differ:
        remaining = f"no other subgroup differs (smallest adjusted {equals_p(test.remaining_p_value_)})"
        verdict += f" {pluralize(n, 'description')} below explain all: given {'it' if n == 1 else 'them'}, {remaining}."
    names = [*map(label, contextual)]
    whom = f"among {f'the others with the same {enumerated(names)}' if names else 'everyone else'}"
    inside = f", within every {label(setup.controls)}" if setup.controls else ""
    how = {"greater": "is not greater than", "less": "is not less than"}.get(setup.alternative, "is the same as")
    asked = pluralize(test.n_tested_, "different hypothesis", "different hypotheses")
    promise = PROMISES[test.guarantee].format(level=f"{100 * setup.alpha:g}%")
    null = f"{enumerated([*map(label, metrics)])} in a subgroup {how} {whom}{inside}: {asked}. {promise}"
    return Report(
        verdict=verdict,
        concern=differ > 0,
        findings=tuple(Cell(subgroup_sentence(setup, row), bar=row["bar"]) for row in rows),
        hypotheses=(f"{null} {OF_MEANS}" if setup.descriptions else null,),
    )
