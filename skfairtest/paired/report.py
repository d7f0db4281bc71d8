"""The record of a comparison of two models, its sentences and its report.

Reports of `PairedFairnessTest`, of `compare_models`, and of an audit of a candidate for the place of the model in
production are made of a `PairedRecord`.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.comparisons.frames import frame_of
from skfairtest.group.report import group_title
from skfairtest.group.report import notes as group_notes
from skfairtest.report import cells, sentences
from skfairtest.report.record import Recorded
from skfairtest.report.report import Cell, Column, Report, Table, bars
from skfairtest.report.sentences import Setup, equals_p, metric_title, number, percent, points

#: What the level of a comparison with the model in production holds for.
APART = (
    "Both models judged the same people. This comparison has a level of its own, by Holm's method over its "
    "comparisons, and the verdict of the audit does not count it."
)


@dataclass(frozen=True, eq=False)
class PairedRecord(Recorded):
    """What the comparison of two models found.

    Parameters
    ----------
    setup : Setup
        How it was set up; its `models` say whether values are disparities, their sizes, or rates.
    names : (str, str)
        What models A and B are called.
    shares : tuple of str
        Metrics that are shares of people.
    p_value : float
        The global p-value.
    concern : bool
        Whether the models differ significantly; of sizes, whether model B was not certified.
    results : tuple of mapping
        Rows of ``comparisons_`` with texts as labels; ``feature`` (what divides people into groups), ``value_a`` and
        ``value_b``.
    not_compared : tuple of str
        What was left out, and why.
    """

    setup: Setup
    names: tuple[str, str]
    shares: tuple[str, ...]
    p_value: float
    concern: bool
    results: tuple[Mapping[str, Any], ...]
    not_compared: tuple[str, ...] = ()

    @property
    def sizes(self) -> bool:
        """Whether values are sizes of disparities."""
        return self.setup.models == "sizes"

    @property
    def one_group(self) -> bool:
        """Whether values are rates of one group."""
        return self.setup.models == "one group"

    @property
    def labels(self) -> tuple[str, str]:
        """What sentences call the models."""
        return label(self.names[0]), label(self.names[1])

    @property
    def frame(self) -> pd.DataFrame:
        """The comparisons, those with the strongest evidence first, each so that model A's disparity is positive."""
        listed = list(map(self._oriented, self.results))
        rows = cells.by_p_value(self.setup, frame_of({name: [row[name] for row in listed] for name in listed[0]}))
        return cells.pooled_first(rows.iloc[::-1] if self.sizes else rows)

    def _oriented(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        pairs = self.setup.compare == "between_groups" and self.setup.alternative == "two-sided"
        if not (pairs and self.setup.models == "change" and row["value_a"] < 0):
            return row
        return {**sentences.turned(self.setup, row), "value_a": -row["value_a"], "value_b": -row["value_b"]}

    def pieces(self, row: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """The pieces of a comparison's name in a drawing, and what joins them."""
        pieces, joints = [label(row["group"]), label(row["other"])], [" and " if self.sizes else " minus "]
        return ([*pieces, label(row["stratum"])], [*joints, ", "]) if row["stratum"] else (pieces, joints)

    def writer(self, metric: str, *, level: bool = False) -> tuple[Any, str]:
        """The format of a metric's values, and their unit; a `level` is a rate and no difference."""
        if metric not in self.shares:
            return number, ""
        return (percent, "") if level else (points, " points")

    def text(self, row: Mapping[str, Any], field: str, *, level: bool = False) -> str:
        """Write a field of a row as its metric is written."""
        return str(self.writer(row["metric"], level=level)[0](row[field]))

    def limits(self, row: Mapping[str, Any]) -> str:
        """Write the interval of a difference, or the upper limit of a difference of sizes."""
        write, _ = self.writer(row["metric"])
        if self.sizes:
            return "" if math.isnan(row["ci_high"]) else str(write(row["ci_high"]))
        return cells.difference_span(write, row)

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence about each comparison, the strongest evidence first."""
        return tuple(map(self.sentence, cells.records(self.frame)))

    def sentence(self, row: Mapping[str, Any]) -> str:
        """Say what both disparities are, how they differ, and which is smaller."""
        gap, limits = self.writer(row["metric"]), self.limits(row)
        inside = f"{'at most' if self.sizes else 'interval'} {limits}, " if limits else ""
        return (
            f"{self._both(row)}, a difference of {gap[0](row['disparity'])}{gap[1]} "
            f"({inside}adjusted {equals_p(row['p_value_adjusted'])}): {self._judged(row)}."
        )

    def _both(self, row: Mapping[str, Any]) -> str:
        """Say what both models' values are."""
        pieces, joints = self.pieces(row)
        whom = f"{pieces[0]}{'' if self.one_group else joints[0] + pieces[1]}"
        whom += f", in {pieces[2]}: " if row["stratum"] else ": "
        write, unit = self.writer(row["metric"], level=self.one_group)
        a, b = (
            f"{write(row[field])}{unit} under {name}"
            for field, name in zip(("value_a", "value_b"), self.labels, strict=True)
        )
        return f"{metric_title(row['metric'])}, {whom}{'disparity in size ' * self.sizes}{a} and {b}"

    def _smaller(self, row: Mapping[str, Any]) -> str:
        """Name the model whose disparity is smaller in size."""
        a, b = abs(row["value_a"]), abs(row["value_b"])
        return "" if a == b else self.labels[int(b < a)]

    def _judged(self, row: Mapping[str, Any]) -> str:
        b, smaller = self.labels[1], self._smaller(row)
        if self.sizes:
            (write, unit), margin = self.writer(row["metric"]), self._margin
            what = f"not larger by {write(margin)}{unit} or more" if margin else "smaller"
            return f"{'not certified' if row['concern'] else 'certified'} to be {what} under {b}"
        if not row["concern"]:
            return "no significant difference was detected"
        if self.one_group:
            return f"significantly {'lower' if row['disparity'] < 0 else 'higher'} under {b}"
        smaller = f"smaller in size under {smaller}" if smaller else "of the same size"
        opposite = row["value_a"] * row["value_b"] < 0
        return (
            f"significantly different, {smaller}, and in opposite directions"
            if opposite
            else f"significantly {smaller}"
        )

    @property
    def _margin(self) -> float:
        return (self.setup.margin_bounds or (0.0, 0.0))[1]

    def null_sentence(self, metric: str) -> str:
        """State the null hypothesis of one metric's comparisons."""
        (a, b), setup, larger = self.labels, self.setup, "as large in size or larger"
        if self._margin:
            larger = f"larger in size by {number(self._margin)} or more"
        ways = {
            "greater": f"not greater under {b}", "less": f"not less under {b}",
            "equivalence": f"{larger} under {b} than under {a}",
        }  # fmt: skip
        how, what = (
            ways.get(setup.alternative, "the same under both models"),
            f"the disparity by {label(setup.features)}",
        )
        if self.one_group:
            happens, among = setup.told(metric)
            what = f"among {among}, the share who {happens}"
        inside = f", within every {label(setup.controls)}" if setup.controls else ""
        return f"{label(metric)}: {what} is {how}{inside}"

    @property
    def verdict(self) -> str:
        """Whether the models differ, in a sentence or two."""
        n = sum(not row["stratum"] for row in self.results)
        (a, b), by, asked, margin = self.labels, label(self.setup.features), pluralize(n, "comparison"), self._margin
        if self.sizes:
            some, every = f"at least one of {asked}", f"every one of {asked}"
            some, every = ("the one comparison",) * 2 if n == 1 else (some, every)
            p, size = f"(largest {equals_p(self.p_value)})", number(margin)
            if self.concern:
                worse = f"is larger by {size} or more" if margin else "is as large or larger"
                said = f"for {some} it cannot be ruled out that the disparity by {by} {worse} under {b}"
                return f"Not certified: {said} {p}."
            better = f"is larger by less than {size}, if it is larger at all," if margin else "is smaller"
            fairer = "" if margin else f"{b} is fairer than {a}; "
            level = f"{100 * (1 - self.setup.alpha):g}%"
            return f"Certified at {level}: {fairer}in {every} the disparity by {by} {better} under {b} {p}."
        if self.concern:
            return f"Significant difference between {a} and {b}: {self._fairer(by, asked)}"
        what = "rates" if self.one_group else f"disparities by {by}"
        return (
            f"No significant difference between the models' {what} was detected in {asked} "
            f"({sentences.smallest_p(self.p_value, n)}). This does not prove that they are the "
            "same: the intervals show which differences the data do not rule out."
        )

    def _fairer(self, by: str, asked: str) -> str:
        """Name the model whose disparities are smaller where they differ significantly, and the strongest evidence."""
        rows = [row for row in cells.records(self.frame) if row["concern"]]
        rows = [row for row in rows if not row["stratum"]] or rows
        if not rows:
            return f"by {by}, in none of {asked} by itself ({equals_p(self.p_value)})."
        if self.one_group:
            return self.sentence(rows[0])
        straight = [row for row in rows if row["value_a"] * row["value_b"] >= 0]
        smaller = Counter(filter(None, map(self._smaller, straight)))
        told = [f"{name} in {smaller[name]:,}" for name in self.labels if name in smaller]
        if len(told) == 1:
            where = f" in {told[0].rpartition(' ')[2]} of {asked}, and significantly larger in none" * (len(rows) > 1)
            said = f"{next(iter(smaller))} is fairer by {by} (the observed disparity is smaller{where})"
        else:
            why = "no disparity is smaller in the same direction"
            if told:
                why = f"the observed disparity is smaller under {enumerated(told)} of {asked}"
            said = f"neither is fairer by {by}: {why}"
        if crossed := len(rows) - len(straight):
            said += f"; {pluralize(crossed, 'comparison')} changed direction"
        return f"{said}. Strongest evidence: {self._both(rows[0])} (adjusted {equals_p(rows[0]['p_value_adjusted'])})."


def paired_report(test: Any, found: PairedRecord) -> Report:
    """The report of a fitted `PairedFairnessTest`, whose record has the names of the models."""
    setup, report = test._setup, paired_section(found)
    keys = [cells.METRIC, cells.GROUP, cells.stratum(setup.controls), Column("people", shows="n")]
    rows, caption = cells.records(test.by_model_), "Values under both models"
    values = Table.of([*keys, *_of_models(found, level=True)], rows, caption, None, few=cells.SHOWN)
    return replace(
        report,
        title=f"Two models: {group_title(test)}",
        verdict=report.verdict + sentences.untested_metrics(test.excluded_, test.comparisons_["metric"]),
        remarks=tuple(sentences.sampling_error(test.p_value_interval_)),
        tables=(*report.tables, values),
        parts=cells.homogeneity_part(setup, test.homogeneity_, test.comparisons_),
        left_out=cells.excluded_tables(test.excluded_),
        notes=group_notes(setup, test.comparisons_),
    )


def paired_section(found: PairedRecord) -> Report:
    """What an audit's report says of the model in production."""
    rows = cells.records(found.frame)
    several = len({row["feature"] for row in rows}) > 1
    told = [row for row in rows if row["concern"]] or rows[:3]
    return Report(
        verdict=found.verdict,
        concern=found.concern,
        remarks=(APART,),
        findings=tuple(f"By {label(row['feature'])}: " * several + found.sentence(row) for row in told),
        hypotheses=tuple(map(found.null_sentence, dict.fromkeys(row["metric"] for row in rows))),
        tables=(models_table(found, rows, "Disparities under both models", several and cells.FEATURE),),
        notes=found.not_compared,
    )


def _of_models(found: PairedRecord, *, level: bool) -> list[Column]:
    """The columns of the values under both models."""
    fields = [(name, f"value_{model}") for name, model in zip(found.labels, "ab", strict=True)]
    return [Column(name, named=True, shows=partial(found.text, field=field, level=level)) for name, field in fields]


def models_table(found: PairedRecord, rows: Sequence[Mapping[str, Any]], caption: str, first: Column | bool) -> Table:
    """Write comparisons of two models, each with a line from one to the other."""
    sizes, rates, (a, b) = found.sizes, found.one_group, found.labels
    unit = "; those of shares in percentage points" * (bool(found.shares) > rates)
    ends = [(min(a, b), b, max(a, b), a) for a, b in ((row["value_a"], row["value_b"]) for row in rows)]
    judged = ["" if row["concern"] == sizes else "certified" if sizes else "significant" for row in rows]
    drawn = bars(ends, math.nan if rates else 0.0, kinds=["significant" * bool(each) for each in judged])
    columns = (
        first, cells.METRIC, cells.GROUP, not rates and cells.COMPARED_WITH,
        any(row["stratum"] for row in rows) and cells.STRATUM, *_of_models(found, level=rates),
        Column("difference", shows=lambda row: Cell(found.text(row, "disparity"), bar=row["bar"])),
        Column("at most" if sizes else "interval", shows=found.limits), cells.P, cells.ADJUSTED_P,
        Column("verdict", "mark", shows="judged"),
    )  # fmt: skip
    shown = [{**row, "bar": bar, "judged": each} for row, bar, each in zip(rows, drawn, judged, strict=True)]
    note = f"Each line runs from {a} (hollow circle) to {b}; the vertical line is equality."
    return Table.of(columns, shown, f"{caption}{unit}", "judged", few=cells.SHOWN, notes=(note,))
