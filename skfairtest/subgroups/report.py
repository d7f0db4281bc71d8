"""The report of a scan: which subgroups differ, what remains, and what was not looked at."""

from dataclasses import replace
from typing import Any

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report import cells
from skfairtest.report.report import Cell, Column, Report, Table, listed
from skfairtest.report.sentences import equals_p, metric_title, number
from skfairtest.subgroups.scan import ScanRecord

#: What each guarantee promises, and what is added for means; {level} is the level of the test.
PROMISES = {
    "familywise": "The probability that any true hypothesis is rejected is at most {level} (Holm).",
    "split": "Subgroups were chosen on a random half of the people and tested on the other half: the probability that "
    "any true hypothesis is rejected there is at most {level} (Holm).",
}
OF_MEANS = (
    "Of means this is exact where nothing differs, and approximate, in large samples, where equal means have unequal "
    "distributions."
)


def scan_report(test: Any) -> Report:
    """The report of a fitted `SubgroupScan`."""
    scan, searched = test.record_, test.not_searched_.groupby("reason", sort=True)["subgroups"].sum()
    left_out = [f"{pluralize(int(n), 'subgroup')}: {reason}" for reason, n in searched.items()]
    cut = [f"{label(name)}: {', '.join(map(number, edges))}" for name, edges in sorted(test.edges_.items())]
    columns = (
        len(scan.metrics) > 1 and cells.METRIC, Column("subgroup", "name", shows="subgroup"),
        bool(scan.contextual) and Column("compared with", "name", shows="compared_with"),
        Column("people", shows="n_group"),
        *cells.numbers(scan.setup, value="value_group", others="value_other", difference="disparity"),
        cells.P, cells.ADJUSTED_P, cells.VERDICT,
    )  # fmt: skip
    rows, features = cells.records(test.subgroups_.head(cells.SHOWN)), enumerated([*map(label, scan.features)])
    caption = f"Subgroups with the strongest evidence ({len(rows):,} of {len(test.subgroups_):,} tested; subgroups_ has"
    return replace(
        scan_section(scan),
        title=f"{enumerated([*map(metric_title, scan.metrics)])} in subgroups of {features}",
        tables=(Table.of(columns, rows, f"{caption} all)"),),
        parts=(*listed("Not looked at", left_out), *listed("Where numbers were cut", cut)),
    )


def scan_section(scan: ScanRecord) -> Report:
    """What reports of a scan, and of an audit, say of the subgroups that differ."""
    setup, n, differ = scan.setup, len(scan.frame), scan.n_significant
    drawn = cells.barred(cells.records(scan.frame.assign(concern=True)), setup)
    tested = f"{pluralize(scan.n_searched, 'subgroup')} of {enumerated([*map(label, scan.features + scan.contextual)])}"
    p = f"(smallest adjusted {equals_p(scan.p_value)})."
    verdict = f"Significant disparity: of {tested}, {differ:,} {'differs' if differ == 1 else 'differ'} {p}"
    if not differ:
        verdict = f"No significant disparity was detected in {tested} {p} This does not prove fairness."
    elif scan.remaining_p_value <= setup.alpha:
        verdict += f" {n:,} reported below, each chosen given those before; given these, others differ as well."
    elif n < differ:
        remaining = f"no other subgroup differs (smallest adjusted {equals_p(scan.remaining_p_value)})"
        verdict += f" {pluralize(n, 'description')} below explain all: given {'it' if n == 1 else 'them'}, {remaining}."
    names = [*map(label, scan.contextual)]
    whom = f"among {f'the others with the same {enumerated(names)}' if names else 'everyone else'}"
    inside = f", within every {label(setup.controls)}" if setup.controls else ""
    how = {"greater": "is not greater than", "less": "is not less than"}.get(setup.alternative, "is the same as")
    asked = pluralize(scan.n_tested, "different hypothesis", "different hypotheses")
    promise = PROMISES[scan.guarantee].format(level=f"{100 * setup.alpha:g}%")
    null = f"{enumerated([*map(label, scan.metrics)])} in a subgroup {how} {whom}{inside}: {asked}. {promise}"
    return Report(
        verdict=verdict,
        concern=differ > 0,
        findings=tuple(Cell(said, bar=row["bar"]) for said, row in zip(scan.sentences, drawn, strict=True)),
        hypotheses=(f"{null} {OF_MEANS}" if setup.descriptions else null,),
    )
