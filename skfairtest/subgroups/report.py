"""The record of a scan, and its report: which subgroups differ, what remains, and what was not looked at."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report.cells import ADJUSTED_P, NAME, P, comparison_bars, numbers, records
from skfairtest.report.record import Recorded
from skfairtest.report.report import Cell, Column, Report, Table, listed
from skfairtest.report.sentences import Setup, equals_p, finding_sentence, number

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
    return finding_sentence(setup, {**row, **people, "concern": True})


#: Subgroups that the table shows.
SHOWN = 20


def scan_report(test: Any) -> Report:
    """The report of a fitted `SubgroupScan`."""
    scan: ScanRecord = test.record_
    left_out = [
        f"{pluralize(int(rows['subgroups'].sum()), 'subgroup')}: {reason}"
        for reason, rows in test.not_searched_.groupby("reason", sort=True)
    ]
    cut = [f"{label(name)}: {', '.join(map(number, edges))}" for name, edges in sorted(test.edges_.items())]
    return replace(
        scan_section(scan),
        tables=(_table(scan.setup, test.subgroups_),),
        parts=(*listed("Not looked at", left_out), *listed("Where numbers were cut", cut)),
    )


def scan_section(scan: ScanRecord) -> Report:
    """What reports of a scan, and of an audit, say of the subgroups that differ."""
    found = scan.frame.assign(concern=True)
    drawn = comparison_bars(scan.setup.sentences, records(found))
    findings = tuple(Cell(said, bar=bar) for said, bar in zip(scan.sentences, drawn, strict=True))
    verdict, concern = _verdict(scan), scan.n_significant > 0
    return Report(verdict=verdict, concern=concern, findings=findings, hypotheses=(_null(scan),))


def _verdict(scan: ScanRecord) -> str:
    """Say which subgroups differ, and whether others differ given those."""
    setup, n, differ = scan.setup, len(scan.results), scan.n_significant
    names = enumerated([*map(label, setup.features + setup.contextual)])
    tested = f"{pluralize(scan.n_searched, 'subgroup')} of {names}"
    if not differ:
        said = f"No significant disparity was detected in {tested} (smallest adjusted {equals_p(scan.p_value)})."
        return f"{said} This does not prove fairness."
    lead = f"Significant disparity: of {tested}, {differ:,} {'differs' if differ == 1 else 'differ'}"
    lead += f" (smallest adjusted {equals_p(scan.p_value)})."
    given, still = ("it", "is") if n == 1 else ("them", "are")
    if scan.remaining_p_value <= setup.sentences.alpha:
        return f"{lead} {n:,} {still} reported, each chosen given those before; given {given}, others differ as well."
    if n < differ:
        return (
            f"{lead} The {pluralize(n, 'description')} below {'explains' if n == 1 else 'explain'} all: given {given}, "
            f"no other subgroup differs (smallest adjusted {equals_p(scan.remaining_p_value)})."
        )
    return lead


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


def _reported(row: Mapping[str, Any]) -> str:
    return ("reported" if row["reported"] else "significant") if row["concern"] else ""


def _table(setup: ScanSetup, subgroups: pd.DataFrame) -> Table:
    columns = (
        len(setup.metrics) > 1 and NAME, Column("subgroup", "name", shows="subgroup"),
        bool(setup.contextual) and Column("compared with", "name", shows="compared_with"),
        Column("people", shows="n_group"),
        *numbers(setup.sentences, value="value_group", others="value_other", difference="disparity"),
        P, ADJUSTED_P, Column("verdict", "mark", shows=_reported),
    )  # fmt: skip
    rows = records(subgroups.head(SHOWN))
    caption = f"Subgroups with the strongest evidence ({len(rows):,} of {len(subgroups):,} tested; subgroups_ has all)"
    return Table.of(columns, rows, caption)
