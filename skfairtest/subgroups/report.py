"""What a scan found: its frames, its record and its report.

What a scan found as frames, and how subgroups are called.

The record of a scan: what reports of it, and of an audit that it is part of, say of the subgroups that differ.

The report of a scan: which subgroups differ, what remains beside them, and what was not looked at.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.family import p_of
from skfairtest.inference.rates import Question
from skfairtest.report.cells import ADJUSTED_P, NAME, P, numbers, records
from skfairtest.report.document import Block, Column, Items, Paragraph, Table
from skfairtest.report.record import Recorded
from skfairtest.report.sentences import Setup, equals_p, number, result_sentence
from skfairtest.report.skeleton import forest_figure, listed, skeleton
from skfairtest.subgroups.scan import Scanned, Step
from skfairtest.tables.subgroups import NotSearched, Subgroups

#: Columns of a subgroup, and of one that is reported.
COLUMNS = (
    "metric", "subgroup", "disparity", "compared_with", "depth", "n_group", "n_other", "n_effective", "value_group",
    "value_other", "statistic", "reported", "p_value", "p_value_adjusted", "concern",
)  # fmt: skip
REPORTED_COLUMNS = (
    "metric", "subgroup", "disparity", "ci_low", "ci_high", "compared_with", "depth", "n_group", "n_other",
    "n_effective", "value_group", "value_other", "statistic", "sentence", "p_value", "p_value_given_above",
    "p_value_adjusted",
)  # fmt: skip


def terms_of(subgroups: Subgroups, binned: Sequence[bool]) -> list[list[str]]:
    """Return each value of each feature as a term of a description: "sex = Female", "age 25 to 34"."""
    return [
        [f"{label(column.name)}{' ' if cut else ' = '}{label(level)}" for level in column.levels]
        for column, cut in zip(subgroups.cells.features, binned, strict=True)
    ]


def described(subgroups: Subgroups, terms: list[list[str]]) -> tuple[list[str], list[str]]:
    """Return the description of each subgroup, and of whom it is compared with."""
    names, others = np.empty(len(subgroups), dtype=object), np.empty(len(subgroups), dtype=object)
    contextual = subgroups.cells.contextual
    for place, features in enumerate(subgroups.combinations):
        rows = np.flatnonzero(subgroups.combination == place)
        codes = np.unravel_index(subgroups.entry[rows], [subgroups.cells.sizes[f] for f in features])
        parts = [[terms[f][c] for c in code.tolist()] for f, code in zip(features, codes, strict=True)]
        within = [part for f, part in zip(features, parts, strict=True) if contextual[f]]
        names[rows] = [", ".join(one) for one in zip(*parts, strict=True)]
        others[rows] = (
            [f"others with {', '.join(one)}" for one in zip(*within, strict=True)] if within else "everyone else"
        )
    return names.tolist(), others.tolist()


def subgroups_frame(
    tested: Scanned, log_adjusted: Floats, reported: Sequence[Step], terms: list[list[str]], alpha: float
) -> pd.DataFrame:
    """Return a row for each subgroup of one metric, in the order of `tested`."""
    subgroups = tested.subgroups
    names, others = described(subgroups, terms)
    people, rest = np.zeros(len(subgroups)), np.zeros(len(subgroups))
    for rows, first, second in subgroups.sides(tested.people):
        people[rows], rest[rows] = first[:, 0, 0], second[:, 0, 0]
    value, other = tested.measure.sums.values(tested.own, tested.rest)
    chosen = np.zeros(len(subgroups), dtype=bool)
    chosen[[step.row for step in reported]] = True
    columns = (
        tested.measure.metric.name, names, value - other, others, subgroups.depth, people.astype(np.int64),
        rest.astype(np.int64), tested.measure.sums.counted(tested.own).astype(np.int64), value, other, tested.scores,
        chosen, exact(tested.log_p), exact(log_adjusted), log_adjusted <= np.log(alpha) + 1e-12,
    )  # fmt: skip
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)), index=range(len(subgroups)))


def exact(log_p: Floats) -> list[float]:
    """Return p-values of logarithms."""
    return [p_of(one) for one in log_p.tolist()]


def limits_of(tested: Scanned, row: int, disparity: float, error: float, *, rejected: bool) -> tuple[float, float]:
    """Return the interval of one subgroup's disparity that misses with a probability of `error`."""
    limits = tested.measure.sums.limits(tested.own[row], tested.rest[row], tested.alternative, error)
    question = Question(alternative=tested.alternative)
    return question.consistent_limits(limits, disparity, (-np.inf, np.inf), rejected=rejected)


def results_frame(
    frames: Sequence[pd.DataFrame], tested: Sequence[Scanned], chosen: Sequence[Sequence[Step]],
    error: float, sentence: Callable[[dict[str, Any]], str],
) -> pd.DataFrame:  # fmt: skip
    """Return the subgroups that are reported, of each metric in the order in which they were chosen.

    Each interval may miss with a probability of `error`; `sentence` writes a row.
    """
    rows = []
    for frame, one, steps in zip(frames, tested, chosen, strict=True):
        for step in steps:
            (row,) = records(frame.iloc[[step.row]])
            low, high = limits_of(one, step.row, row["disparity"], error, rejected=row["concern"])
            row |= {"ci_low": low, "ci_high": high, "p_value_given_above": p_of(step.log_p)}
            rows.append({**row, "sentence": sentence(row)})
    return pd.DataFrame(rows, columns=REPORTED_COLUMNS)


def not_searched_frame(left_out: Sequence[NotSearched]) -> pd.DataFrame:
    """The subgroups that were not searched: how many for each combination of features, and why."""
    rows = [(" x ".join(map(label, one.features)), one.subgroups, one.reason) for one in left_out]
    return pd.DataFrame(rows, columns=["features", "subgroups", "reason"])


def by_evidence(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put the subgroups of all metrics together, in the order of their p-values; ties: the shorter description."""
    together = pd.concat(frames, ignore_index=True)
    order = np.lexsort((together["depth"], together["p_value"]))
    return together.iloc[order].reset_index(drop=True)


#: What is added for means.
OF_MEANS = (
    "Of means this is exact where nothing differs, and approximate, in large samples, where equal means have unequal "
    "distributions."
)
#: What each guarantee promises; {level} is the level of the test.
PROMISES = {
    "familywise": (
        "The probability that any of these hypotheses is rejected although it is true is at most {level}, whichever "
        "are true (Holm's procedure, in which a hypothesis counts only where its p-value could have been so small)."
    ),
    "split": (
        "Subgroups were chosen on a random half of the people and tested on the other half: the probability that any "
        "of those tested is rejected although its hypothesis is true is at most {level} (Holm)."
    ),
}
#: What is said of a subgroup that is reported, as `SubgroupScan.comparisons_` has it.
RESULT = (
    "metric", "subgroup", "compared_with", "depth", "n_group", "n_other", "n_effective", "value_group", "value_other",
    "disparity", "statistic", "p_value", "p_value_adjusted", "ci_low", "ci_high", "p_value_given_above",
)  # fmt: skip


@dataclass(frozen=True)
class ScanSetup(Recorded):
    """What sentences need to know about how a scan was set up.

    Parameters
    ----------
    sentences : Setup
        How the sentence of a subgroup is written.
    metrics, features, contextual : tuple of str
        Names of the metrics, of the features that tell people apart, and of those of contexts.
    max_depth, min_group_size : int
        As in the scan.
    guarantee : str
        As in the scan.
    """

    sentences: Setup
    metrics: tuple[str, ...]
    features: tuple[str, ...]
    contextual: tuple[str, ...]
    max_depth: int
    min_group_size: int
    guarantee: str


@dataclass(frozen=True, eq=False)
class ScanRecord(Recorded):
    """What a scan found.

    Parameters
    ----------
    setup : ScanSetup
        How it was set up.
    n_searched, n_tested, n_significant : int
        Subgroups searched, different hypotheses, and subgroups that differ.
    p_value, remaining_p_value : float
        As of the scan.
    results : tuple of mapping
        The subgroups that are reported, with the fields of `RESULT`.
    """

    setup: ScanSetup
    n_searched: int
    n_tested: int
    n_significant: int
    p_value: float
    remaining_p_value: float
    results: tuple[Mapping[str, Any], ...]

    @property
    def frame(self) -> pd.DataFrame:
        """The subgroups that are reported, a row each."""
        return pd.DataFrame(list(self.results), columns=list(RESULT))

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence about each subgroup that is reported."""
        return tuple(subgroup_sentence(self.setup.sentences, row) for row in self.results)

    def in_words(self, positive_means: str | None, favorable: bool | None) -> Self:
        """Return the record with sentences that say what a positive prediction means."""
        sentences = replace(self.setup.sentences, positive_means=positive_means, favorable=favorable)
        return replace(self, setup=replace(self.setup, sentences=sentences))


def subgroup_sentence(setup: Setup, row: Mapping[str, Any]) -> str:
    """Say how a subgroup that is reported differs from those it is compared with."""
    people = {"group": f"people with {row['subgroup']}", "other": row["compared_with"], "stratum": None}
    return result_sentence(setup, {**row, **people, "concern": True, "minimum_detectable": math.nan})


#: Subgroups that the table shows, and lines of what was not looked at.
SHOWN, FEW = 20, 5


def scan_document(test: Any) -> list[Block]:
    """Compose the report of a fitted `SubgroupScan`."""
    scan: ScanRecord = test.record_
    left_out = [
        f"{pluralize(int(rows['subgroups'].sum()), 'subgroup')}: {reason}"
        for reason, rows in test.not_searched_.groupby("reason", sort=True)
    ]
    cut = [f"{label(name)}: {', '.join(map(number, edges))}" for name, edges in sorted(test.edges_.items())]
    verdict, *found = _found(scan)
    return skeleton(
        verdict,
        found=found,
        null=[_null(scan)],
        tables=[
            _table(scan.setup, test.subgroups_),
            *listed("Not looked at", left_out, FEW),
            *listed("Where numbers were cut", cut, FEW),
        ],
    )


def scan_section(scan: ScanRecord) -> list[Block]:
    """Compose what an audit's report says of a scan, without a title."""
    return [
        *_found(scan),
        Paragraph(
            "This search has a guarantee of its own, apart from the comparisons of this audit: they do not share a "
            "level, and the verdict does not count it."
        ),
        Items((f"Null hypothesis of each subgroup: {_null(scan)}",), tone="notes"),
    ]


def _found(scan: ScanRecord) -> list[Block]:
    """Say which subgroups differ, and draw them."""
    setup, n, differ = scan.setup, len(scan.results), scan.n_significant
    names = enumerated([*map(label, setup.features + setup.contextual)])
    asked = f"{pluralize(scan.n_searched, 'subgroup')} of {names}"
    if not differ:
        said = f"No significant disparity was detected in {asked} (smallest adjusted {equals_p(scan.p_value)})."
        return [Paragraph(f"{said} This does not prove fairness.", "fine")]
    lead = f"Significant disparity: of {asked}, {differ:,} {'differs' if differ == 1 else 'differ'}"
    lead += f" (smallest adjusted {equals_p(scan.p_value)})."
    given, still = ("it", "is") if n == 1 else ("them", "are")
    if scan.remaining_p_value <= setup.sentences.alpha:
        lead += f" The {n:,} with the strongest evidence {still} reported; given {given}, others differ as well."
    elif n < differ:
        lead += (
            f" The {pluralize(n, 'description')} below {'explains' if n == 1 else 'explain'} all: given {given}, no "
            f"other subgroup differs (smallest adjusted {equals_p(scan.remaining_p_value)})."
        )
    figures = forest_figure(
        setup.sentences,
        scan.frame.assign(concern=True),
        lambda row: str(row["subgroup"]),
        "Subgroups that differ",
        "subgroup reported, with its disparity and interval",
        "The subgroups reported, the strongest evidence first, each minus those it is compared with. Lines are "
        "intervals that hold for all subgroups tested; arrows mark intervals that extend beyond the plot. The grey "
        "line is equality.",
    )
    return [Paragraph(lead, "concern"), Items(scan.sentences), *figures]


def _null(scan: ScanRecord) -> str:
    setup, whom = scan.setup, "among everyone else"
    if setup.contextual:
        whom = f"among the others with the same {enumerated([*map(label, setup.contextual)])}"
    inside = f", within every {label(setup.sentences.controls)}" if setup.sentences.controls else ""
    how = {"greater": "is not greater than", "less": "is not less than"}.get(
        setup.sentences.alternative, "is the same as"
    )
    metrics = enumerated([*map(label, setup.metrics)])
    promise = PROMISES[setup.guarantee].format(level=f"{100 * setup.sentences.alpha:g}%")
    if setup.sentences.descriptions:
        promise += f" {OF_MEANS}"
    asked = pluralize(scan.n_tested, "different hypothesis", "different hypotheses")
    return f"{metrics} in a subgroup {how} {whom}{inside}: {asked}. {promise}"


def _verdict(row: Mapping[str, Any]) -> str:
    return ("reported" if row["reported"] else "significant") if row["concern"] else ""


def _table(setup: ScanSetup, subgroups: pd.DataFrame) -> Table:
    columns = (
        len(setup.metrics) > 1 and NAME, Column("subgroup", "name", shows="subgroup"),
        bool(setup.contextual) and Column("compared with", "name", shows="compared_with"),
        Column("people", shows="n_group"),
        *numbers(setup.sentences, value="value_group", others="value_other", difference="disparity"),
        P, ADJUSTED_P, Column("verdict", "mark", shows=_verdict),
    )  # fmt: skip
    rows = records(subgroups.head(SHOWN))
    caption = f"Subgroups with the strongest evidence ({len(rows):,} of {len(subgroups):,} tested; subgroups_ has all)"
    return Table.of(columns, rows, caption)
