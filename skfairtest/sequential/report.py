"""The report of a stream: what is significant so far, the evidence and limits of every pair, and what still waits."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.metrics import resolve_metrics
from skfairtest.report import cells
from skfairtest.report.report import Column, Figure, Report, Table, listed, values_of
from skfairtest.report.sentences import Setup, equals_p, metric_title, number, smallest_p, span, written

#: What has to be true of a stream, and why a sample may have been compared with nobody.
ASSUMED = {
    "batches": "Valid if who is in a batch does not follow the outcomes in it.",
    "queues": "Valid also where outcomes decide who comes next, if the samples of each group are independent draws.",
}
UNCOMPARED = {"batches": "the other group was missing from their batches", "queues": "they wait for the other group"}


def verdict(test: Any) -> str:
    """Say in a sentence or two whether any look has shown a significant disparity."""
    seen = f"{pluralize(test.n_batches_, 'batch', 'batches')} ({test.n_samples_:,} samples)"
    beyond = " beyond the margin" if test.margin else ""
    found, p = test.comparisons_[test.comparisons_["concern"]], smallest_p(test.p_value_, len(test.comparisons_))
    if len(found):
        return f"Significant disparity{beyond} in {seen}: first at look {int(found['rejected_at'].min())} ({p})."
    return f"No significant disparity{beyond} was detected in {seen} ({p}). This does not prove fairness."


def sequential_report(test: Any) -> Report:
    """The report of a fitted `SequentialFairnessTest`."""
    setup, rows = test._setup(), cells.records(test.comparisons_)
    block, metrics = "batch" if test.blocks_ == "batches" else "block", [*setup.sentences, *setup.descriptions]
    columns = (
        len(metrics) > 1 and cells.METRIC, cells.GROUP, cells.COMPARED_WITH,
        Column("samples", shows=lambda row: f"{row['n_group'] + row['n_other']:,}"),
        *cells.numbers(setup, difference="disparity", **{"from": "ci_low", "to": "ci_high"}),
        Column("e-value", shows=lambda row: number(row["e_value"])), cells.ADJUSTED_P, cells.VERDICT,
    )  # fmt: skip
    null = f"Of each pair of groups, in every {block}: the difference in {enumerated([*map(label, metrics)])} is "
    null += f"at most {test.margin:g} in size. " if test.margin else "zero. "
    null += f"The probability that a true hypothesis is ever rejected is at most {100 * setup.alpha:g}%, "
    pending, alone = test.pending_, test.comparisons_[test.comparisons_["n_uncompared"] > 0]
    late = [(row.n, f"batch {label(row.batch)}: their labels have not come") for row in pending.itertuples()]
    pairs = [f"{label(row.group)} and {label(row.other)} ({label(row.metric)})" for row in alone.itertuples()]
    late += [(n, f"{pair}: {UNCOMPARED[test.blocks_]}") for n, pair in zip(alone["n_uncompared"], pairs, strict=True)]
    return Report(
        title=f"Monitoring: {enumerated([metric_title(m.name) for m in resolve_metrics(test.metric)])}",
        verdict=f"{verdict(test)} {ASSUMED[test.blocks_]}",
        concern=test.concern_,
        findings=tuple(_finding(setup, row, block) for row in rows if row["concern"]),
        hypotheses=(f"{null}however often the stream is looked at.",),
        figures=(_figure(setup, rows, test.wealth_),) if len(test.wealth_) else (),
        tables=(Table.of(columns, cells.barred(rows, setup), "Pairs of groups now; wealth_ has every look"),),
        parts=listed("Not compared", [f"{pluralize(int(n), 'sample')} of {whom}" for n, whom in late]),
    )


def _finding(setup: Setup, row: Mapping[str, Any], block: str) -> str:
    """Say what is known of a pair that differs."""
    how, metric = written(setup, row), metric_title(row["metric"])
    limits = span(how.disparity, row["ci_low"], row["ci_high"], setup.margin_bounds or (0.0,))
    return (
        f"{metric}: {label(row['group'])} minus {label(row['other'])} is {how.disparity(row['disparity'])}{how.unit} "
        f"within a {block} ({100 * (1 - setup.alpha):g}% confidence sequence {limits}); significant since look "
        f"{int(row['rejected_at'])}, adjusted {equals_p(row['p_value_adjusted'])}."
    )


def _figure(setup: Setup, rows: Sequence[Mapping[str, Any]], wealth: pd.DataFrame) -> Figure:
    """Draw the pair with the strongest evidence, look by look."""
    row, keys = min(rows, key=lambda row: (row["p_value_adjusted"], row["p_value"])), ["metric", "group", "other"]
    same = wealth[(wealth[keys] == [row[key] for key in keys]).all(axis=1)].sort_values("look", kind="stable")
    scale, unit = (100.0, " in percentage points") if setup.is_share(row["metric"]) else (1.0, "")
    numbers = {"y": scale * same["disparity"], "low": scale * same["ci_low"], "high": scale * same["ci_high"]}
    what = f"{metric_title(row['metric'])}: {label(row['group'])} minus {label(row['other'])}"
    caption = f"{what}, the pair with the strongest evidence. The band is its confidence sequence, the line equality."
    return Figure("curve", what, caption, values_of({"x": same["look"], **numbers}), "look", f"difference{unit}")
