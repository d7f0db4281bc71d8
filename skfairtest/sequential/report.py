"""What is shown of a stream: its frames, its report, and the text that collectors of OpenMetrics read.

The frames hold its pairs, its groups, and what they were at every look; the report says what is significant so far, the
evidence and limits of every pair, and what still waits.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest._utils.typing import Positions
from skfairtest.readers import sort_levels
from skfairtest.report.cells import ADJUSTED_P, GROUP, NAME, VERDICT, numbers, records
from skfairtest.report.document import Block, Column, Items, Table
from skfairtest.report.sentences import Setup, equals_p, metric_title, number, percent, points, span
from skfairtest.report.skeleton import forest_figure, listed, skeleton, verdict_of
from skfairtest.sequential.stream import NUMBERS, Stream

#: Logarithm of the largest e-value that is written.
LARGEST = 700.0
COLUMNS = (
    "metric", "group", "other", "disparity", "ci_low", "ci_high", "n_group", "n_other", "n_uncompared", "value_group",
    "value_other", "e_value", "e_value_adjusted", "rejected_at", "changed_at", "p_value", "p_value_adjusted", "concern",
)  # fmt: skip


def as_e(log_e: Any) -> Any:
    """Return e-values; the largest number there is in place of larger ones."""
    return np.exp(np.minimum(log_e, LARGEST))


def _order(stream: Stream) -> Positions:
    """Return the places of pairs in the order of their groups."""
    places = {group: place for place, group in enumerate(sort_levels(stream.arrivals))}
    codes = np.reshape([[places[group] for group in pair] for pair in stream.pairs], (-1, 2))
    return np.lexsort(codes.T[::-1])


def pairs_frame(stream: Stream) -> pd.DataFrame:
    """The present state of every pair."""
    order, frames = _order(stream), []
    pairs = [stream.pairs[place] for place in order]
    adjusted = stream.adjusted(stream.plan.adjust)
    for place, (metric, process) in enumerate(stream.evidence.items()):
        totals = [[stream.totals.get((metric, group), (0.0, np.nan)) for group in pair] for pair in pairs]
        n, sums = np.moveaxis(np.reshape(totals, (-1, 2, 2)), -1, 0)
        value = np.divide(sums, n, out=np.full_like(sums, np.nan), where=n > 0)
        limits = stream.disparities(metric)[order].T
        log_p = -stream.log_most[place, order], -stream.log_adjusted[place, order]
        columns: dict[str, Any] = {
            "metric": metric,
            "group": [group for group, _ in pairs],
            "other": [other for _, other in pairs],
            "n_group": n[:, 0].astype(int),
            "n_other": n[:, 1].astype(int),
            "n_uncompared": (n - process.seen[order, :, 0]).sum(axis=1).astype(int),
            "value_group": value[:, 0],
            "value_other": value[:, 1],
            **dict(zip(("disparity", "ci_low", "ci_high"), limits, strict=True)),
            "e_value": as_e(process.log_e[order]),
            "p_value": np.exp(log_p[0]),
            "e_value_adjusted": as_e(adjusted[place, order]),
            "p_value_adjusted": np.exp(log_p[1]),
            "rejected_at": stream.rejected_at[place, order],
            "changed_at": stream.changed_at[place, order],
            "concern": ~np.isnan(stream.rejected_at[place, order]),
        }
        frames.append(pd.DataFrame(columns, index=range(len(pairs)), columns=COLUMNS))
    return pd.concat(frames, ignore_index=True).astype({"rejected_at": "Int64", "changed_at": "Int64", "concern": bool})


def looks_frame(stream: Stream) -> pd.DataFrame:
    """The states of pairs at every look that compared them."""
    rank = np.argsort(_order(stream))
    told: list[tuple[Any, ...]] = []
    numbers = [np.zeros((0, len(NUMBERS)))]
    for look, batch, time, metric, pairs, own in stream.records:
        order = np.argsort(rank[pairs])
        told += [(look, batch, time, metric, *stream.pairs[place]) for place in pairs[order]]
        numbers.append(own[order])
    frame = pd.DataFrame(told, columns=["look", "batch", "time", "metric", "group", "other"])
    found = dict(zip(NUMBERS, np.concatenate(numbers).T, strict=True))
    for name, column in (("disparity", "difference"), ("ci_low", "low"), ("ci_high", "high")):
        found[name] = found.pop(column)
    for name, log in (("wealth", "log_e"), ("e_value_adjusted", "log_adjusted"), ("detector", "log_detector")):
        found[name] = as_e(found.pop(log))
    return frame.assign(**found).astype({"n_group": int, "n_other": int})


def groups_frame(stream: Stream) -> pd.DataFrame:
    """Return the samples and the value of every group over all batches."""
    rows = [
        (metric, group, int(n), total / n if n else np.nan) for (metric, group), (n, total) in stream.totals.items()
    ]
    return pd.DataFrame(rows, columns=["metric", "group", "n", "value"])


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
    average_run_length : float
        Blocks without a disparity until the change detector's first alarm, on average at least.
    blocks : str
        What a block is: "queues" or "batches".
    """

    sentences: Setup
    metrics: tuple[str, ...]
    average_run_length: float
    blocks: str

    @property
    def block(self) -> tuple[str, str]:
        """What a block is called, and several."""
        return ("batch", "batches") if self.blocks == "batches" else ("block", "blocks")


def sequential_document(test: Any, setup: StreamSetup) -> list[Block]:
    """Compose the report of a fitted `SequentialFairnessTest`, of which a setup says how it is tested."""
    comparisons, written = test.comparisons_, setup.sentences
    said = [sentence(setup, row) for row in records(comparisons) if row["concern"] or not pd.isna(row["changed_at"])]
    tolerated = ", the pale band what is tolerated" if written.margin_bounds is not None else ""
    figures = forest_figure(
        written,
        comparisons[comparisons["disparity"].notna()],
        lambda row: f"{label(row['group'])} minus {label(row['other'])}",
        "Disparities so far",
        "pair of groups, with its disparity and confidence sequence",
        "Mean differences within batches, with the confidence sequence as it is now. Orange diamonds are "
        f"significant disparities, blue circles are not. The grey line is equality{tolerated}.",
    )
    first = verdict(setup, comparisons, test.p_value_, test.n_batches_, test.n_samples_)
    return skeleton(
        verdict_of(f"{first} {ASSUMED[setup.blocks]}", comparisons["concern"].any()),
        found=[*([Items(tuple(said))] if said else []), *figures],
        null=[_null(setup), _detector(setup)],
        tables=[
            *_tables(setup, comparisons, test.wealth_),
            *listed("Not compared", _waiting(setup, comparisons, test.pending_), 5),
        ],
    )


def verdict(setup: StreamSetup, comparisons: pd.DataFrame, p_value: float, n_batches: int, n_samples: int) -> str:
    """Say in a sentence or two whether any look has shown a significant disparity, and whether there was a change."""
    seen = f"{pluralize(n_batches, 'batch', 'batches')} ({n_samples:,} samples)"
    beyond = "" if setup.sentences.margin_bounds is None else " beyond the margin"
    found = comparisons[comparisons["concern"]]
    changed = comparisons["changed_at"].dropna()
    change = f" The change detector raised its first alarm at look {int(changed.min())}." if len(changed) else ""
    if len(found):
        look = int(found["rejected_at"].min())
        return f"Significant disparity{beyond} in {seen}: first at look {look} ({equals_p(p_value)}).{change}"
    return (
        f"No significant disparity{beyond} was detected in {seen} ({equals_p(p_value)}).{change} This does not prove "
        "fairness."
    )


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
        said += f"; significant since look {int(row['rejected_at'])}, {equals_p(row['p_value_adjusted'])}"
    if not pd.isna(row["changed_at"]):
        said += f"; alarm of a change at look {int(row['changed_at'])}"
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


def _detector(setup: StreamSetup) -> str:
    return (
        "The change detector looks for a disparity that began later. Where there is none, its first alarm comes on "
        f"average after at least {setup.average_run_length:,g} {setup.block[1]}: it is no "
        "test at this level."
    )


def _tables(setup: StreamSetup, comparisons: pd.DataFrame, wealth: pd.DataFrame) -> list[Block]:
    def columns(e_value: str) -> list[Column | bool]:
        return [
            len(setup.metrics) > 1 and NAME, GROUP, Column("other", "name", shows="other"),
            Column("samples", shows=lambda row: f"{row['n_group'] + row['n_other']:,}"),
            *numbers(setup.sentences, difference="disparity", **{"from": "ci_low", "to": "ci_high"}),
            Column("e-value", shows=lambda row: number(row[e_value])),
        ]  # fmt: skip

    now = Table.of([*columns("e_value"), ADJUSTED_P, VERDICT], records(comparisons), "Pairs of groups now")
    last = records(wealth.sort_values("look", ascending=False, kind="stable").head(LOOKS))
    looks = [
        Column("look", shows=lambda row: f"{row['look']}"), Column("batch", "name", shows=_when), *columns("wealth"),
        Column("adjusted e", shows=lambda row: number(row["e_value_adjusted"])),
    ]  # fmt: skip
    caption = "The latest looks (wealth_ has all)"
    return [now, *([Table.of(looks, last, caption, None, folded=True)] if last else [])]


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


#: Gauges of the whole stream, and of each comparison, by the attribute or column that they show.
STREAM = {
    "p_value": "Anytime-valid p-value of the stream so far.",
    "e_value": "Evidence against fairness now.",
    "concern": "1 from the first significant disparity on.",
    "changed": "1 from the first alarm of the change detector on.",
    "n_batches": "Batches that were taken in.",
    "n_samples": "Samples that were taken in.",
}
COMPARISON = {
    "disparity": "Value of the group minus that of the other.",
    "ci_low": "Lower limit of the disparity, valid at every look.",
    "ci_high": "Upper limit of the disparity, valid at every look.",
    "p_value_adjusted": "Anytime-valid p-value, adjusted for all comparisons.",
}


def open_metrics(test: Any) -> str:
    """Write a fitted test of a stream as gauges.

    Parameters
    ----------
    test : SequentialFairnessTest
        The fitted test.

    Returns
    -------
    str
        OpenMetrics 1.0: ``skfairtest_p_value`` and others of the stream, ``skfairtest_comparison_disparity`` and others
        of each comparison, which have the labels ``metric``, ``group`` and ``other``.
    """
    return "\n".join([*_lines(test), "# EOF", ""])


def _lines(test: Any) -> Iterator[str]:
    for name, says in STREAM.items():
        yield from _head(f"skfairtest_{name}", says)
        yield f"skfairtest_{name} {_number(getattr(test, f'{name}_'))}"
    rows = test.comparisons_.to_dict("records")
    for name, says in COMPARISON.items():
        yield from _head(f"skfairtest_comparison_{name}", says)
        for row in rows:
            given = ",".join(f'{key}="{_escaped(label(row[key]))}"' for key in ("metric", "group", "other"))
            yield f"skfairtest_comparison_{name}{{{given}}} {_number(row[name])}"


def _head(name: str, says: str) -> tuple[str, str]:
    return f"# TYPE {name} gauge", f"# HELP {name} {says}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: Any) -> str:
    number = float(value)
    if math.isnan(number):
        return "NaN"
    return f"{number:+}".replace("inf", "Inf") if math.isinf(number) else repr(number)
