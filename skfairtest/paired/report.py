"""The sentences and the report of a comparison of two models, those of `PairedFairnessTest` and `compare_models`."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.group.report import group_title
from skfairtest.group.report import notes as group_notes
from skfairtest.report import cells, sentences
from skfairtest.report.report import Cell, Column, Report, Table, bars
from skfairtest.report.sentences import equals_p, metric_title, number, percent, points, smallest_p


class TwoModels:
    """A fitted comparison of two models in words, with names for the models."""

    def __init__(self, test: Any, names: tuple[str, str]) -> None:
        self.test, self.setup, self.labels = test, test._setup, (label(names[0]), label(names[1]))
        #: Whether values are sizes of disparities, or rates of one group; otherwise they are disparities.
        self.sizes, self.one_group = self.setup.models == "sizes", self.setup.models == "one group"

    @property
    def frame(self) -> pd.DataFrame:
        """The comparisons with the values under both models, those with the strongest evidence first."""
        changes = self.setup.models == "change"
        names = ["disparity_a", "disparity_b"] if changes else ["value_other", "value_group"]
        a, b = (self.test.disparities_ if changes else self.test.comparisons_)[names].to_numpy(dtype=float).T
        frame = self.test.comparisons_.assign(value_a=a, value_b=b)
        frame = frame.assign(group=self.test.groups_[0]) if self.one_group else frame
        ordered = cells.by_p_value(self.setup, frame)
        return cells.pooled_first(ordered.iloc[::-1] if self.sizes else ordered)

    def compared(self, row: Mapping[str, Any]) -> str:
        """The name of a comparison."""
        joint = "and" if self.sizes else "minus"
        name = label(row["group"]) if self.one_group else f"{label(row['group'])} {joint} {label(row['other'])}"
        return name if row["stratum"] is None else f"{name}, in {label(row['stratum'])}"

    def text(self, row: Mapping[str, Any], name: str, unit: str = "") -> str:
        """Write a value of a row: of shares in percentage points, or in percent if it is the rate of one group."""
        if row["metric"] not in self.test._shares:
            return number(row[name])
        return percent(row[name]) if self.one_group and name.startswith("value") else f"{points(row[name])}{unit}"

    def limits(self, row: Mapping[str, Any]) -> str:
        """Write the interval of a difference, or the upper limit of a difference of sizes."""
        if self.sizes:
            return "" if pd.isna(row["ci_high"]) else f"at most {self.text(row, 'ci_high')}"
        return cells.difference_span(points if row["metric"] in self.test._shares else number, row)

    def sentence(self, row: Mapping[str, Any]) -> str:
        """Say what both values are, and how they differ."""
        a, b, gap = (self.text(row, name, " points") for name in ("value_a", "value_b", "disparity"))
        return (
            f"{metric_title(row['metric'])}, {self.compared(row)}: {'disparity in size ' * self.sizes}{a} under "
            f"{self.labels[0]} and {b} under {self.labels[1]}, a difference of {gap} "
            f"({self.limits(row) or 'no interval'}, adjusted {equals_p(row['p_value_adjusted'])})."
        )

    @property
    def verdict(self) -> str:
        """Whether the models differ, in a sentence or two."""
        rows, (a, b), by = cells.records(self.frame), self.labels, label(self.setup.features)
        rows = [row for row in rows if row["stratum"] is None]
        compared, (_, margin) = pluralize(len(rows), "comparison"), self.setup.margin_bounds or (0.0, 0.0)
        if self.sizes:
            larger = f", or larger by less than {number(margin)}," if margin else ""
            where = f"in every one of {compared}" if len(rows) > 1 else "in the one comparison"
            said = f"{where} the disparity by {by} is smaller{larger} under {b}"
            said = f"{said} (largest {equals_p(self.test.p_value_)})."
            shown = f"Certified at {100 * (1 - self.setup.alpha):g}%: {said}"
            return f"Not certified: it was not shown that {said}" if self.test.concern_ else shown
        what, p = "rates" if self.one_group else f"disparities by {by}", smallest_p(self.test.p_value_, len(rows))
        if not self.test.concern_:
            none = f"No significant difference between the models' {what} was detected in {compared} ({p})."
            return f"{none} This does not prove that they are the same: see the intervals."
        differ = [row for row in rows if row["concern"]]
        smaller = sum(abs(row["value_b"]) < abs(row["value_a"]) for row in differ)
        fairer = "" if self.one_group else f"; the disparity is smaller in size under {b} in {smaller:,} of these"
        return f"Significant difference between {a} and {b} in {len(differ):,} of {compared} ({p}){fairer}."

    def null_sentence(self, metric: str) -> str:
        """State the null hypothesis of one metric's comparisons."""
        setup, (a, b), (_, margin) = self.setup, self.labels, self.setup.margin_bounds or (0.0, 0.0)
        larger = f"larger in size by {number(margin)} or more" if margin else "as large in size or larger"
        ways = {"greater": "not greater", "less": "not less", "equivalence": larger}
        how = f"{ways[setup.alternative]} under {b} than under {a}" if setup.alternative in ways else SAME
        happens, among = setup.told(metric)
        what = (
            f"among {among}, the share who {happens}" if self.one_group else f"the disparity by {label(setup.features)}"
        )
        return f"{label(metric)}: {what} is {how}{f', within every {label(setup.controls)}' * bool(setup.controls)}"


SAME = "the same under both models"


def paired_report(found: TwoModels) -> Report:
    """The report of a fitted `PairedFairnessTest`."""
    test, setup, rows = found.test, found.setup, cells.records(found.frame)

    def rate(name: str, row: Mapping[str, Any]) -> str:
        return (percent if row["metric"] in test._shares else number)(row[name])

    models = (Column(a, named=True, shows=partial(rate, f"value_{b}")) for a, b in zip(found.labels, "ab", strict=True))
    keys = [cells.METRIC, cells.GROUP, cells.stratum(setup.controls), Column("people", shows="n")]
    caption, by_model = "Values under both models", cells.records(test.by_model_)
    return Report(
        title=f"Two models: {group_title(test)}",
        verdict=found.verdict + sentences.untested_metrics(test.excluded_, test.comparisons_["metric"]),
        concern=test.concern_,
        remarks=tuple(sentences.sampling_error(test.p_value_interval_)),
        findings=tuple(map(found.sentence, [row for row in rows if row["concern"]] or rows[:3])),
        hypotheses=tuple(map(found.null_sentence, dict.fromkeys(row["metric"] for row in rows))),
        tables=(
            models_table(found, rows, "Disparities under both models", False),
            Table.of([*keys, *models], by_model, caption, None, few=cells.SHOWN),
        ),
        parts=cells.homogeneity_part(setup, test.homogeneity_, test.comparisons_),
        left_out=cells.excluded_tables(test.excluded_),
        notes=group_notes(setup, test.comparisons_),
    )


def models_table(
    found: TwoModels, rows: Sequence[Mapping[str, Any]], caption: str, first: Column | bool, *more: Column
) -> Table:
    """Write comparisons of two models, each with a line from one to the other."""
    (a, b), sizes = found.labels, found.sizes
    ends = [(min(one), one[1], max(one), one[0]) for one in ((row["value_a"], row["value_b"]) for row in rows)]
    judged = ["" if row["concern"] == sizes else "certified" if sizes else "significant" for row in rows]
    kinds = ["significant" * bool(each) for each in judged]
    drawn = bars(ends, math.nan if found.one_group else 0.0, kinds=kinds)
    models = zip(found.labels, ("value_a", "value_b"), strict=True)
    columns = (
        first, cells.METRIC, cells.GROUP, not found.one_group and cells.COMPARED_WITH,
        bool(found.setup.controls) and cells.STRATUM,
        *(Column(model, named=True, shows=partial(found.text, name=value)) for model, value in models),
        Column("difference", shows=lambda row: Cell(found.text(row, "disparity"), bar=row["bar"])),
        Column("interval", shows=found.limits), *more, cells.P, cells.ADJUSTED_P,
        Column("verdict", "mark", shows="judged"),
    )  # fmt: skip
    shown = [{**row, "bar": bar, "judged": each} for row, bar, each in zip(rows, drawn, judged, strict=True)]
    unit = "; those of shares in percentage points" * (bool(found.test._shares) > found.one_group)
    note = f"Each line runs from {a} (hollow circle) to {b}; the vertical line is equality."
    return Table.of(columns, shown, f"{caption}{unit}", "judged", few=cells.SHOWN, notes=(note,))
