"""What the report of few labels says beside that of groups: what labels are worth, and how good the judge is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from skfairtest._utils.text import label
from skfairtest.group.report import group_report
from skfairtest.report import cells
from skfairtest.report.report import Column, Report, Table
from skfairtest.report.sentences import decimal, smallest_p


def worth_sentence(labels: pd.DataFrame, metric: str) -> str:
    """Say how many labels without a judge the labels and the judge are worth, of one metric."""
    n, found, worth = (round(value) for value in labels.loc[labels["metric"] == metric, ["n", "labels", "worth"]].sum())
    if n == found:
        return "Everyone has a label."
    share = f"{100 * found / n:.1f}% of {n:,} people have a label"
    if worth <= found:
        return f"{share}: the verdict rests on {found:,} labels, to which the judge adds nothing."
    return (
        f"{share}. {found:,} labels and the judge are worth {worth:,} labels: {100 * found / worth:.0f}% of the "
        f"evidence rests on labels, {100 - 100 * found / worth:.0f}% on the judge, whose errors are allowed for."
    )


def labelled_report(test: Any) -> Report:
    """The report of a fitted `LabelledFairnessTest`: that of groups, and what labels and the judge are worth."""
    several = test.labels_["metric"].nunique() > 1
    of_labels = (
        several and cells.METRIC, cells.GROUP, Column("people", shows="n"),
        Column("labels", shows="labels"), Column("worth", shows=lambda row: f"{row['worth']:.0f} labels"),
        Column("bins", shows="bins"), Column("value", shows=lambda row: decimal(row["value"])),
        Column("the judge says", shows=lambda row: decimal(row["value_judge"])),
    )  # fmt: skip
    rows: Any = {"marks": None, "few": cells.SHOWN}
    tables = [Table.of(of_labels, cells.records(test.labels_), "What labels are worth with the judge", **rows)]
    judged, findings = test.judge_[test.judge_["disparity_judge"].notna()], []
    if len(judged):
        of_judge = (
            several and cells.METRIC, cells.GROUP, cells.COMPARED_WITH,
            Column("disparity", shows=lambda row: decimal(row["disparity"])),
            Column("by the judge alone", shows=lambda row: decimal(row["disparity_judge"])),
            Column("p (judge is right)", shows=cells.P.shows),
        )  # fmt: skip
        tables += [Table.of(of_judge, cells.records(judged), "The disparity that the judge alone finds", **rows)]
        worst = judged.loc[judged["p_value"].idxmin()] if judged["p_value"].notna().any() else None
        if worst is not None and worst["p_value"] * len(judged) <= test._setup.alpha:
            findings.append(
                f"The judge is biased between groups: its disparity of {label(worst['group'])} and "
                f"{label(worst['other'])} is off by {decimal(worst['bias'])} "
                f"({smallest_p(min(1.0, worst['p_value'] * len(judged)), len(judged))}). The test is not."
            )
    report = group_report(test)
    judge = Report(title="Labels and the judge", findings=tuple(findings), tables=tuple(tables))
    return replace(report, parts=(judge, *report.parts))
