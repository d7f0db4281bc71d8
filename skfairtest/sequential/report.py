"""The report of a stream: what is significant so far, the evidence and limits of every pair, and what still waits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report.cells import ADJUSTED_P, GROUP, NAME, VERDICT, comparison_bars, numbers, records
from skfairtest.report.report import Column, Figure, Report, Table, listed, values_of
from skfairtest.report.sentences import Setup, equals_p, metric_title, number, percent, points, smallest_p, span

#: Rows of the table of looks.
LOOKS = 12
#: What has to be true of a stream, and why a sample may have been compared with nobody.
ASSUMED = {
    "batches": "Valid if who is in a batch does not follow the outcomes in it.",
    "queues": (
        "Valid also where outcomes decide who comes next, if each group's samples are independent draws of one "
        "distribution and nobody's coming follows their own outcome."
    ),
}
UNCOMPARED = {"batches": "the other group was missing from their batches", "queues": "they wait for the other group"}


@dataclass(frozen=True)
class StreamSetup:
    """What sentences need to know about how a stream is tested.

    Parameters
    ----------
    sentences : Setup
        How differences are written, with the level and the margin.
    metrics : tuple of str
        Their names.
    blocks : str
        What a block is: "queues" or "batches".
    """

    sentences: Setup
    metrics: tuple[str, ...]
    blocks: str

    @property
    def block(self) -> tuple[str, str]:
        """What a block is called, and several."""
        return ("batch", "batches") if self.blocks == "batches" else ("block", "blocks")


def sequential_report(test: Any, setup: StreamSetup) -> Report:
    """The report of a fitted `SequentialFairnessTest`, of which a setup says how it is tested."""
    comparisons = test.comparisons_
    rows = [row for row in records(comparisons) if row["concern"]]
    first = verdict(setup, comparisons, test.p_value_, test.n_batches_, test.n_samples_)
    return Report(
        verdict=f"{first} {ASSUMED[setup.blocks]}",
        concern=bool(comparisons["concern"].any()),
        findings=tuple(sentence(setup, row) for row in rows),
        hypotheses=(_null(setup),),
        figures=_figures(setup, comparisons, test.wealth_),
        tables=_tables(setup, comparisons, test.wealth_),
        parts=listed("Not compared", _waiting(setup, comparisons, test.pending_)),
    )


def _figures(setup: StreamSetup, comparisons: pd.DataFrame, wealth: pd.DataFrame) -> tuple[Figure, ...]:
    """Draw the pair with the strongest evidence, if there is one, look by look."""
    if not len(wealth):
        return ()
    row = records(comparisons.sort_values(["p_value_adjusted", "p_value"], kind="stable").head(1))[0]
    same = (wealth["metric"] == row["metric"]) & (wealth["group"] == row["group"]) & (wealth["other"] == row["other"])
    share = setup.sentences.is_share(row["metric"])
    fields = {"y": "disparity", "low": "ci_low", "high": "ci_high"}
    numbers = wealth[same].sort_values("look", kind="stable")
    shown = {name: numbers[column] * (100.0 if share else 1.0) for name, column in fields.items()}
    what = f"{metric_title(row['metric'])}: {label(row['group'])} minus {label(row['other'])}"
    caption = f"{what}, the pair with the strongest evidence. The band is its confidence sequence, the line equality."
    unit = " in percentage points" if share else ""
    return (Figure("curve", what, caption, values_of({"x": numbers["look"], **shown}), "look", f"difference{unit}"),)


def verdict(setup: StreamSetup, comparisons: pd.DataFrame, p_value: float, n_batches: int, n_samples: int) -> str:
    """Say in a sentence or two whether any look has shown a significant disparity."""
    seen = f"{pluralize(n_batches, 'batch', 'batches')} ({n_samples:,} samples)"
    beyond = "" if setup.sentences.margin_bounds is None else " beyond the margin"
    found, p = comparisons[comparisons["concern"]], smallest_p(p_value, len(comparisons))
    if len(found):
        look = int(found["rejected_at"].min())
        return f"Significant disparity{beyond} in {seen}: first at look {look} ({p})."
    return f"No significant disparity{beyond} was detected in {seen} ({p}). This does not prove fairness."


def sentence(setup: StreamSetup, row: Mapping[str, Any]) -> str:
    """Say what is known of one pair."""
    written = setup.sentences
    share = written.is_share(row["metric"])
    value, gap = (percent, points) if share else (number, number)
    unit = " points" if share else ""
    level = f"{100 * (1 - written.alpha):g}%"
    open_at = (written.margin_bounds or (0.0,)) if row["concern"] else ()
    said = (
        f"{metric_title(row['metric'])}: {label(row['group'])} {value(row['value_group'])}, {label(row['other'])} "
        f"{value(row['value_other'])} over all batches; within {setup.block[1]} the difference is "
        f"{gap(row['disparity'])}{unit} ({level} confidence sequence "
        f"{span(gap, row['ci_low'], row['ci_high'], open_at)}{unit})"
    )
    if row["concern"]:
        said += f"; significant since look {int(row['rejected_at'])}, adjusted {equals_p(row['p_value_adjusted'])}"
    return f"{said}."


def _null(setup: StreamSetup) -> str:
    written = setup.sentences
    several = len(setup.metrics) > 1
    alike = f"{'are' if several else 'is'} the same in both groups"
    if written.margin_bounds is not None:
        margin = written.margin_bounds[1]
        size = f"{points(margin)} points" if all(map(written.is_share, setup.metrics)) else number(margin)
        alike = f"{'differ' if several else 'differs'} between both groups by at most {size}"
    return (
        f"Of each pair: in every {setup.block[0]}, {enumerated([*map(label, setup.metrics)])} {alike}. The probability "
        f"that a true hypothesis is ever rejected is at most {100 * written.alpha:g}%, however often the stream is "
        "looked at."
    )


def _tables(setup: StreamSetup, comparisons: pd.DataFrame, wealth: pd.DataFrame) -> tuple[Table, ...]:
    def columns(e_value: str) -> list[Column | bool]:
        return [
            len(setup.metrics) > 1 and NAME, GROUP, Column("other", "name", shows="other"),
            Column("samples", shows=lambda row: f"{row['n_group'] + row['n_other']:,}"),
            *numbers(setup.sentences, "disparity", difference="disparity", **{"from": "ci_low", "to": "ci_high"}),
            Column("e-value", shows=lambda row: number(row[e_value])),
        ]  # fmt: skip

    rows = records(comparisons)
    drawn = comparison_bars(setup.sentences, rows)
    rows = [{**row, "bar": bar} for row, bar in zip(rows, drawn, strict=True)]
    now = Table.of([*columns("e_value"), ADJUSTED_P, VERDICT], rows, "Pairs of groups now")
    last = records(wealth.sort_values("look", ascending=False, kind="stable").head(LOOKS))
    looks = [
        Column("look", shows=lambda row: f"{row['look']}"), Column("batch", "name", shows=_when), *columns("wealth"),
        Column("adjusted e", shows=lambda row: number(row["e_value_adjusted"])),
    ]  # fmt: skip
    caption = "The latest looks (wealth_ has all)"
    return (now, Table.of(looks, last, caption, None)) if last else (now,)


def _when(row: Mapping[str, Any]) -> str:
    known = [row[name] for name in ("time", "batch") if label(row[name])]
    return label(known[0]) if known else "–"


def _waiting(setup: StreamSetup, comparisons: pd.DataFrame, pending: pd.DataFrame) -> list[str]:
    return [
        f"{pluralize(int(row['n']), 'sample')} of batch {label(row['batch'])}: their labels have not come"
        for row in records(pending)
    ] + [
        f"{pluralize(int(row['n_uncompared']), 'sample')} of {label(row['group'])} and {label(row['other'])} "
        f"({label(row['metric'])}): {UNCOMPARED[setup.blocks]}"
        for row in records(comparisons)
        if row["n_uncompared"]
    ]
