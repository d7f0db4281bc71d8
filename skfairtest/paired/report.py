"""The sentences and the report of a comparison of two models, those of `PairedFairnessTest` and `compare_models`."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.comparisons.frames import frame_of
from skfairtest.group.report import group_title
from skfairtest.group.report import notes as group_notes
from skfairtest.report import cells, sentences
from skfairtest.report.report import Cell, Column, Report, Table, bars
from skfairtest.report.sentences import equals_p, metric_title, number, percent, points


class TwoModels:
    """A fitted comparison of two models in words, with names for the models."""

    def __init__(self, test: Any, names: tuple[str, str]) -> None:
        self.test, self.setup, self.shares = test, test._setup, test._shares
        self.labels = label(names[0]), label(names[1])
        #: Whether values are sizes of disparities, or rates of one group; and how much larger B's size may be.
        self.sizes, self.one_group = self.setup.models == "sizes", self.setup.models == "one group"
        self.margin = (self.setup.margin_bounds or (0.0, 0.0))[1]

    @property
    def frame(self) -> pd.DataFrame:
        """The comparisons, those with the strongest evidence first, each so that model A's disparity is positive."""
        test, setup, changes = self.test, self.setup, self.setup.models == "change"
        names = ["disparity_a", "disparity_b"] if changes else ["value_other", "value_group"]
        values = (test.disparities_ if changes else test.comparisons_)[names].to_numpy(dtype=float)
        turn = changes and setup.compare == "between_groups" and setup.alternative == "two-sided"
        rows = []
        for row, (a, b) in zip(cells.records(test.comparisons_), values.tolist(), strict=True):
            if self.one_group:
                row["group"] = test.groups_[0]
            if turn and a < 0:
                row, a, b = sentences.turned(setup, row), -a, -b
            labels = {name: None if row[name] is None else label(row[name]) for name in ("group", "other", "stratum")}
            rows.append({**row, **labels, "value_a": a, "value_b": b})
        ordered = cells.by_p_value(setup, frame_of({name: [row[name] for row in rows] for name in rows[0]}))
        return cells.pooled_first(ordered.iloc[::-1] if self.sizes else ordered)

    def compared(self, row: Mapping[str, Any]) -> str:
        """The name of a comparison."""
        joint = "and" if self.sizes else "minus"
        name = label(row["group"]) if self.one_group else f"{label(row['group'])} {joint} {label(row['other'])}"
        return f"{name}, in {label(row['stratum'])}" if row["stratum"] else name

    def text(self, row: Mapping[str, Any], name: str, *, unit: str = "", rate: bool = False) -> str:
        """Write a value of a row: of shares in percentage points, or in percent if it is the rate of one group."""
        if row["metric"] not in self.shares:
            return number(row[name])
        return percent(row[name]) if rate or (self.one_group and name.startswith("value")) else points(row[name]) + unit

    def limits(self, row: Mapping[str, Any]) -> str:
        """Write the interval of a difference, or the upper limit of a difference of sizes."""
        if not self.sizes:
            return cells.difference_span(points if row["metric"] in self.shares else number, row)
        return "" if math.isnan(row["ci_high"]) else self.text(row, "ci_high")

    def sentence(self, row: Mapping[str, Any]) -> str:
        """Say what both values are, how they differ, and whether that is significant."""
        a, b = (
            f"{self.text(row, name, unit=' points')} under {model}"
            for name, model in zip(("value_a", "value_b"), self.labels, strict=True)
        )
        limits = self.limits(row)
        inside = f"{'at most' if self.sizes else 'interval'} {limits}, " if limits else ""
        return (
            f"{metric_title(row['metric'])}, {self.compared(row)}: {'disparity in size ' * self.sizes}{a} and {b}, "
            f"a difference of {self.text(row, 'disparity', unit=' points')} ({inside}adjusted "
            f"{equals_p(row['p_value_adjusted'])}): {self._judged(row)}."
        )

    def _judged(self, row: Mapping[str, Any]) -> str:
        b = self.labels[1]
        if self.sizes:
            margin = self.text({**row, "margin": self.margin}, "margin", unit=" points")
            what = f"not larger by {margin} or more" if self.margin else "smaller"
            return f"{'not certified' if row['concern'] else 'certified'} to be {what} under {b}"
        if not row["concern"]:
            return "no significant difference was detected"
        if self.one_group:
            return f"significantly {'lower' if row['disparity'] < 0 else 'higher'} under {b}"
        of_a, of_b = abs(row["value_a"]), abs(row["value_b"])
        smaller = "of the same size" if of_a == of_b else f"smaller in size under {self.labels[of_b < of_a]}"
        if row["value_a"] * row["value_b"] < 0:
            return f"significantly different, {smaller}, and in opposite directions"
        return f"significantly {smaller}"

    def null_sentence(self, metric: str) -> str:
        """State the null hypothesis of one metric's comparisons."""
        (a, b), setup = self.labels, self.setup
        larger = f"larger in size by {number(self.margin)} or more" if self.margin else "as large in size or larger"
        how = {
            "greater": f"not greater under {b}", "less": f"not less under {b}",
            "equivalence": f"{larger} under {b} than under {a}",
        }.get(setup.alternative, "the same under both models")  # fmt: skip
        what = f"the disparity by {label(setup.features)}"
        if self.one_group:
            happens, among = setup.told(metric)
            what = f"among {among}, the share who {happens}"
        inside = f", within every {label(setup.controls)}" if setup.controls else ""
        return f"{label(metric)}: {what} is {how}{inside}"

    @property
    def verdict(self) -> str:
        """Whether the models differ, in a sentence or two."""
        n, (a, b), by = self.test.comparisons_["stratum"].isna().sum(), self.labels, label(self.setup.features)
        compared, size = pluralize(n, "comparison"), number(self.margin)
        if self.sizes and self.test.concern_:
            larger = f"larger by {size} or more" if self.margin else "as large or larger"
            return (
                f"Not certified: for {'the' if n == 1 else 'at least one of'} {compared} it cannot be ruled out that "
                f"the disparity by {by} is {larger} under {b} (largest {equals_p(self.test.p_value_)})."
            )
        if self.sizes:
            smaller = f"larger by less than {size}, if it is larger at all," if self.margin else "smaller"
            return (
                f"Certified at {100 * (1 - self.setup.alpha):g}%: for {'the' if n == 1 else 'each of'} {compared} the "
                f"disparity by {by} is {smaller} under {b} (largest {equals_p(self.test.p_value_)})."
            )
        what, rows = "rates" if self.one_group else f"disparities by {by}", cells.records(self.frame)
        if not self.test.concern_:
            return (
                f"No significant difference between the models' {what} was detected in {compared} "
                f"({sentences.smallest_p(self.test.p_value_, n)}). This does not prove that they are the "
                "same: the intervals show which differences the data do not rule out."
            )
        averages = [row for row in rows if not row["stratum"]]
        differ = [row for row in averages if row["concern"]]
        sizes = [(abs(row["value_a"]), abs(row["value_b"])) for row in differ if not self.one_group]
        fairer = [(a, sum(of_a < of_b for of_a, of_b in sizes)), (b, sum(of_b < of_a for of_a, of_b in sizes))]
        told = enumerated([f"{name} in {times:,}" for name, times in fairer if times])
        many = f", significant in {len(differ):,} of {compared}"
        many += f": the disparity is smaller under {told}" if told != "none" else ""
        strongest = self.sentence((differ or averages or rows)[0])
        return f"Significant difference between {a} and {b}{many if n > 1 else ''}. {strongest}"


def paired_report(found: TwoModels) -> Report:
    """The report of a fitted `PairedFairnessTest`."""
    test, setup, rows = found.test, found.setup, cells.records(found.frame)
    keys = [cells.METRIC, cells.GROUP, cells.stratum(setup.controls), Column("people", shows="n")]
    by_model = cells.records(test.by_model_)
    of_groups = [*keys, *_of_models(found, rate=True)]
    values = Table.of(of_groups, by_model, "Values under both models", None, few=cells.SHOWN)
    return Report(
        title=f"Two models: {group_title(test)}",
        verdict=found.verdict + sentences.untested_metrics(test.excluded_, test.comparisons_["metric"]),
        concern=test.concern_,
        remarks=tuple(sentences.sampling_error(test.p_value_interval_)),
        findings=tuple(map(found.sentence, [row for row in rows if row["concern"]] or rows[:3])),
        hypotheses=tuple(map(found.null_sentence, dict.fromkeys(row["metric"] for row in rows))),
        tables=(models_table(found, rows, "Disparities under both models", False), values),
        parts=cells.homogeneity_part(setup, test.homogeneity_, test.comparisons_),
        left_out=cells.excluded_tables(test.excluded_),
        notes=group_notes(setup, test.comparisons_),
    )


def _of_models(found: TwoModels, *, rate: bool = False) -> list[Column]:
    fields = [(name, f"value_{model}") for name, model in zip(found.labels, "ab", strict=True)]
    return [Column(name, named=True, shows=partial(found.text, name=field, rate=rate)) for name, field in fields]


def models_table(found: TwoModels, rows: Sequence[Mapping[str, Any]], caption: str, first: Column | bool) -> Table:
    """Write comparisons of two models, each with a line from one to the other."""
    sizes, rates, (a, b) = found.sizes, found.one_group, found.labels
    unit = "; those of shares in percentage points" * (bool(found.shares) > rates)
    ends = [(min(a, b), b, max(a, b), a) for a, b in ((row["value_a"], row["value_b"]) for row in rows)]
    judged = ["" if row["concern"] == sizes else "certified" if sizes else "significant" for row in rows]
    drawn = bars(ends, math.nan if rates else 0.0, kinds=["significant" * bool(each) for each in judged])
    accuracy = "p_value_accuracy" in rows[0]

    def limits_of_b(row: Mapping[str, Any]) -> str:
        write = points if row["metric"] in found.shares else number
        return sentences.span(write, row["disparity_b_low"], row["disparity_b_high"])

    columns = (
        first, cells.METRIC, cells.GROUP, not rates and cells.COMPARED_WITH,
        any(row["stratum"] for row in rows) and cells.STRATUM, *_of_models(found),
        Column("difference", shows=lambda row: Cell(found.text(row, "disparity"), bar=row["bar"])),
        Column("at most" if sizes else "interval", shows=found.limits),
        not rates and "disparity_b_low" in rows[0] and Column("interval of the candidate", shows=limits_of_b),
        accuracy and Column("accuracies", shows=lambda row: " and ".join(percent(row[f"accuracy_{m}"]) for m in "ab")),
        accuracy and Column("p of accuracy", shows=lambda row: sentences.p_text(row["p_value_accuracy"])),
        cells.P, cells.ADJUSTED_P, Column("verdict", "mark", shows="judged"),
    )  # fmt: skip
    shown = [{**row, "bar": bar, "judged": each} for row, bar, each in zip(rows, drawn, judged, strict=True)]
    note = f"Each line runs from {a} (hollow circle) to {b}; the vertical line is equality."
    return Table.of(columns, shown, f"{caption}{unit}", "judged", few=cells.SHOWN, notes=(note,))
