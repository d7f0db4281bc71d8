"""What the report of few labels says beside that of groups: what labels are worth, and how good the judge is."""

from __future__ import annotations

from typing import Any

import pandas as pd

from skfairtest._utils.text import label
from skfairtest.group.report import group_document
from skfairtest.report import cells
from skfairtest.report.document import Block, Column, Heading, Table
from skfairtest.report.sentences import smallest_p
from skfairtest.report.skeleton import lines


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


def labelled_document(test: Any) -> list[Block]:
    """Compose the report of a fitted `LabelledFairnessTest`."""
    blocks = group_document(test)
    last = max(place for place, block in enumerate(blocks) if isinstance(block, Table)) + 1
    several = test.labels_["metric"].nunique() > 1
    of_labels = (
        several and cells.NAME, cells.GROUP, Column("people", shows="n"),
        Column("labels", shows="labels"), Column("worth", shows=lambda row: f"{row['worth']:.0f} labels"),
        Column("bins", shows="bins"), Column("value", shows=lambda row: cells.number_text(row["value"])),
        Column("the judge says", shows=lambda row: cells.number_text(row["value_judge"])),
    )  # fmt: skip
    shown: list[Block] = [Heading("Labels and the judge", 3)]
    rows: Any = {"marks": None, "few": cells.SHOWN}
    shown += [Table.of(of_labels, cells.records(test.labels_), "What labels are worth with the judge", **rows)]
    judged = test.judge_[test.judge_["disparity_judge"].notna()]
    if len(judged):
        of_judge = (
            several and cells.NAME, cells.GROUP, cells.COMPARED_WITH,
            Column("disparity", shows=lambda row: cells.number_text(row["disparity"])),
            Column("by the judge alone", shows=lambda row: cells.number_text(row["disparity_judge"])),
            Column("p (judge is right)", shows=lambda row: cells.P.cell(row)),
        )  # fmt: skip
        shown += [Table.of(of_judge, cells.records(judged), "The disparity that the judge alone finds", **rows)]
        worst = judged.loc[judged["p_value"].idxmin()] if judged["p_value"].notna().any() else None
        if worst is not None and worst["p_value"] * len(judged) <= test._setup.alpha:
            shown += lines(
                [
                    f"The judge is biased between groups: its disparity of {label(worst['group'])} and "
                    f"{label(worst['other'])} is off by {cells.number_text(worst['bias'])} "
                    f"({smallest_p(min(1.0, worst['p_value'] * len(judged)), len(judged))}). The test is not."
                ]
            )
    return [*blocks[:last], *shown, *blocks[last:]]
