"""What the comparison of two models found: its record and its report.

What the comparison of two models found, as plain data: both disparities, their difference, which one is smaller.

Reports of `PairedFairnessTest`, of `compare_models`, and of an audit of a candidate for the place of the model in
production are made of a `PairedRecord`.

The report of two models: both disparities, their difference with its interval, which of them is smaller.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.group.report import notes
from skfairtest.report import skeleton as page
from skfairtest.report.cells import ADJUSTED_P, COMPARED_WITH, GROUP, METRIC, SHOWN, P, difference_span, records
from skfairtest.report.document import Block, Column, Figure, Items, Paragraph, Table
from skfairtest.report.plots import Forest, Mark, joined
from skfairtest.report.record import Recorded
from skfairtest.report.sentences import Setup, equals_p, metric_title, null_sentence, number, percent, points

#: What is said of one comparison. `feature` is what divides people into groups.
RESULT = (
    "feature", "metric", "group", "other", "stratum", "value_a", "value_b", "difference", "ci_low", "ci_high",
    "p_value", "p_value_adjusted", "concern",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PairedRecord(Recorded):
    """What the comparison of two models found.

    Parameters
    ----------
    setup : Setup
        How it was set up.
    kind : {"change", "sizes", "one group"}
        As `models` of the setup, which a record in JSON has here: values are disparities, their sizes, or rates.
    names : (str, str)
        What models A and B are called.
    shares : tuple of str
        Metrics that are shares of people.
    n_samples : int
        People whom both models judged.
    p_value : float
        The global p-value.
    concern : bool
        Whether the models differ significantly; of sizes, whether model B was not certified.
    results : tuple of mapping
        The comparisons, with the fields of `RESULT`: values under A and B, and B less A.
    not_compared : tuple of str
        What was left out, and why.
    """

    setup: Setup
    kind: str
    names: tuple[str, str]
    shares: tuple[str, ...]
    n_samples: int
    p_value: float
    concern: bool
    results: tuple[Mapping[str, Any], ...]
    not_compared: tuple[str, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """The comparisons, those with the strongest evidence first, each so that model A's disparity is positive."""
        rows = pd.DataFrame([self._oriented(row) for row in self.results], columns=[*RESULT, "smaller"])
        last = rows["stratum"] != ""
        order = np.lexsort((-rows["difference"].abs().fillna(0), rows["p_value"], rows["p_value_adjusted"], last))
        return rows.iloc[order[::-1]] if self.kind == "sizes" else rows.iloc[order]

    def _oriented(self, row: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(row)
        turned = self.kind == "change" and self.setup.compare == "between_groups" and row["value_a"] < 0
        if turned and self.setup.alternative == "two-sided":
            found |= {"group": row["other"], "other": row["group"], "ci_low": -row["ci_high"]}
            found |= {name: -row[name] for name in ("value_a", "value_b", "difference")}
            found["ci_high"] = -row["ci_low"]
        return found | {"smaller": self._smaller(found)}

    @property
    def dumbbells(self) -> pd.DataFrame:
        """The comparisons as dumbbells: ``start`` under model A, ``disparity`` under B, and the line between them."""
        frame = self.frame
        value, low, high, start = Mark.moved(frame["value_a"], frame["value_b"])
        kind = np.where(frame["concern"] != (self.kind == "sizes"), "significant", "other")
        return frame.assign(disparity=value, ci_low=low, ci_high=high, start=start, kind=kind)

    def pieces(self, row: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """The pieces of a comparison's name in a drawing, and what joins them."""
        pieces, joints = [label(row["group"]), label(row["other"])], [" and " if self.kind == "sizes" else " minus "]
        return ([*pieces, label(row["stratum"])], [*joints, ", "]) if row["stratum"] else (pieces, joints)

    @property
    def _margin(self) -> float:
        return (self.setup.margin_bounds or (0.0, 0.0))[1]

    def _smaller(self, row: Mapping[str, Any]) -> str:
        """Name the model whose disparity is smaller in size, where the difference is significant."""
        a, b = row["value_a"], row["value_b"]
        if self.kind == "sizes":
            return "" if row["concern"] or self._margin else self.names[1]
        if not row["concern"] or abs(a) == abs(b):
            return ""
        return self.names[0] if abs(a) < abs(b) else self.names[1]

    def writer(self, metric: str, *, level: bool = False) -> tuple[Any, str]:
        """The format of a metric's values, and their unit; a `level` is a rate and no difference."""
        if metric not in self.shares:
            return number, ""
        return (percent, "") if level else (points, " points")

    def text(self, row: Mapping[str, Any], field: str, *, level: bool = False) -> str:
        """Write a field of a row as its metric is written."""
        return str(self.writer(row["metric"], level=level)[0](row[field]))

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence about each comparison, the strongest evidence first."""
        return tuple(map(self.sentence, records(self.frame)))

    def sentence(self, row: Mapping[str, Any]) -> str:
        """Say what both disparities are, how they differ, and which is smaller."""
        one_group, sizes = self.kind == "one group", self.kind == "sizes"
        value, unit = self.writer(row["metric"], level=one_group)
        gap, of_gap = self.writer(row["metric"])
        a, b = (f"{value(abs(row[name]) if sizes else row[name])}" for name in ("value_a", "value_b"))
        whom = label(row["group"])
        if not one_group:
            whom += f" and {label(row['other'])}" if sizes else f" minus {label(row['other'])}"
        where = f", in {label(row['stratum'])}" if row["stratum"] else ""
        what = "disparity in size " if sizes else ""
        said = (
            f"{metric_title(row['metric'])}, {whom}{where}: {what}{a}{unit} under {label(self.names[0])} and "
            f"{b}{unit} under {label(self.names[1])}, a difference of {gap(row['difference'])}{of_gap} "
            f"({self._interval(row, gap)}adjusted {equals_p(row['p_value_adjusted'])})"
        )
        return f"{said}: {self._judged(row)}."

    def _interval(self, row: Mapping[str, Any], write: Any) -> str:
        low, high = row["ci_low"], row["ci_high"]
        if math.isnan(low) or math.isnan(high):
            return ""
        if self.kind == "sizes":
            return f"at most {write(high)}, "
        return f"interval {difference_span(write, row)}, "

    def _judged(self, row: Mapping[str, Any]) -> str:
        if self.kind == "sizes":
            margin, (gap, unit) = self._margin, self.writer(row["metric"])
            smaller = f"not larger by {gap(margin)}{unit} or more" if margin else "smaller"
            return f"{'not certified' if row['concern'] else 'certified'} to be {smaller} under {label(self.names[1])}"
        if not row["concern"]:
            return "no significant difference was detected"
        if self.kind == "one group":
            return f"significantly {'lower' if row['difference'] < 0 else 'higher'} under {label(self.names[1])}"
        smaller = f"smaller in size under {label(row['smaller'])}" if row["smaller"] else "of the same size"
        if row["value_a"] * row["value_b"] < 0:
            return f"significantly different, {smaller}, and in opposite directions"
        return f"significantly {smaller}"

    @property
    def verdict(self) -> str:
        """Whether the models differ, in a sentence or two."""
        setup, n = self.setup, sum(not row["stratum"] for row in self.results)
        by, p, asked = label(setup.features), equals_p(self.p_value), pluralize(n, "comparison")
        if self.kind == "sizes":
            margin, worse, better = self._margin, "is as large or larger", "is smaller"
            if margin:
                worse = f"is larger by {number(margin)} or more"
                better = f"is larger by less than {number(margin)}, if it is larger at all,"
            fairer = "" if margin else "model B is fairer than model A; "
            every, some = f"every one of {asked}", f"at least one of {asked}"
            every, some = ("the one comparison",) * 2 if n == 1 else (every, some)
            said = (
                f"Not certified: for {some} it cannot be ruled out that the disparity by "
                f"{by} {worse} under model B (largest {p})."
                if self.concern
                else f"Certified at {100 * (1 - setup.alpha):g}%: {fairer}in {every} the disparity by {by} {better} "
                f"under model B (largest {p})."
            )
            return self.named(said)
        what = "rates" if self.kind == "one group" else f"disparities by {by}"
        if self.concern:
            return f"Significant difference between {enumerated([*map(label, self.names)])}: {self._fairer(by, asked)}"
        return (
            f"No significant difference between the models' {what} was detected in {asked} ({p}). "
            "This does not prove that they are the same: the intervals show which differences the data do not rule out."
        )

    def _fairer(self, by: str, asked: str) -> str:
        """Name the model whose disparities are smaller where they differ significantly, and the strongest evidence."""
        found = self.frame[self.frame["concern"]]
        found = found[found["stratum"] == ""] if (found["stratum"] == "").any() else found
        if not len(found):
            return f"by {by}, in none of {asked} by itself ({equals_p(self.p_value)})."
        row = next(iter(records(found)))
        if self.kind == "one group":
            return self.sentence(row)
        crossed = found["value_a"] * found["value_b"] < 0
        counts = found["smaller"].mask(crossed, "").value_counts()
        fairer = [name for name in self.names if name in counts]
        told = [f"{label(name)} in {counts[name]:,}" for name in fairer]
        if len(fairer) == 1:
            where = f" in {counts[fairer[0]]:,} of {asked}, and significantly larger in none" if len(found) > 1 else ""
            said = f"{label(fairer[0])} is fairer by {by} (the observed disparity is smaller{where})"
        elif fairer:
            said = f"neither is fairer by {by}: the observed disparity is smaller under {enumerated(told)} of {asked}"
        else:
            said = f"neither is fairer by {by}: no disparity is smaller in the same direction"
        if crossed.any():
            said += f"; {pluralize(int(crossed.sum()), 'comparison')} changed direction"
        value, unit = self.writer(row["metric"])
        pieces, joints = self.pieces(row)
        pair = "".join(part for both in zip(pieces, [*joints, ""], strict=True) for part in both)
        a, b = map(label, self.names)
        return (
            f"{said}. Strongest evidence: {metric_title(row['metric'])}, {pair}, {value(row['value_b'])}{unit} under "
            f"{b} and {value(row['value_a'])} under {a} ({equals_p(self.p_value)})."
        )

    def named(self, said: str) -> str:
        """A sentence about models A and B, with their names."""
        for generic, own in zip(("model A", "model B"), self.names, strict=True):
            said = said.replace(generic, label(own))
        return said


def paired_row(row: Mapping[str, Any], feature: str, values: tuple[float, float]) -> dict[str, Any]:
    """Return a comparison as a record has it: a row of `comparisons_`, and the values under both models."""
    numbers = {name: float(row[name]) for name in ("ci_low", "ci_high", "p_value", "p_value_adjusted")}
    labels = {name: "" if row[name] is None else label(row[name]) for name in ("metric", "group", "other", "stratum")}
    a, b = map(float, values)
    both = {"value_a": a, "value_b": b, "difference": float(row["disparity"])}
    return {"feature": feature, **labels, **both, **numbers, "concern": bool(row["concern"])}


#: Comparisons that are told in sentences, and in a report that is short.
TOLD = 3

Row = Mapping[str, Any]


def _found(found: PairedRecord) -> list[Block]:
    """Say how the models differ, draw it, and write the table, as a report and an audit do."""
    frame, several = found.frame, len({row["feature"] for row in found.results}) > 1
    told = records(frame[frame["concern"]] if frame["concern"].any() else frame.head(TOLD))
    return [
        Items(tuple(_with_feature(found, row, several) for row in told), few=TOLD),
        *([] if found.kind == "one group" else [models_figure(found)]),
        _table(found, frame, several),
        *([Items(found.not_compared, few=TOLD)] if found.not_compared else []),
    ]


def paired_document(test: Any, found: PairedRecord) -> list[Block]:
    """Compose the report of a fitted `PairedFairnessTest`, whose record has the names of the models."""
    setup, metrics = test._setup, dict.fromkeys(test.comparisons_["metric"])
    return page.skeleton(
        page.verdict_of(found.verdict, found.concern, excluded=test.excluded_, tested=metrics),
        found=[*_found(found), *map(Paragraph, page.sampling_error(test.p_value_interval_))],
        null=[found.named(_null(setup, metric)) for metric in metrics],
        heading="Null hypotheses",
        tables=[
            *([_values(found, setup, test._values, test.by_model_)] if len(test.by_model_) else []),
            *page.homogeneity_blocks(setup, test.homogeneity_, test.comparisons_),
        ],
        excluded=test.excluded_,
        notes=notes(setup, test.comparisons_),
    )


def paired_section(found: PairedRecord) -> list[Block]:
    """Compose what an audit's report says of the model in production, without a title."""
    features = enumerated([*map(label, dict.fromkeys(row["feature"] for row in found.results))])
    notes = [
        f"Null hypothesis: {label(metric)}: the disparity by {features} is the same under both models; their "
        "difference is tested, whatever each of them is."
        for metric in dict.fromkeys(row["metric"] for row in found.results)
    ]
    return [
        page.verdict_of(found.verdict, found.concern),
        *_found(found),
        Paragraph(
            "Both models judged the same people. This comparison has a level of its own: p-values are adjusted by "
            "Holm's method for its comparisons together, and the verdict of the audit does not count it."
        ),
        Items(tuple(notes), tone="notes"),
    ]


def models_figure(found: PairedRecord) -> Figure:
    """Draw a dumbbell for each comparison, from the disparity under model A to the one under model B."""
    frame, names, sizes = found.frame, [label(name) for name in found.names], found.kind == "sizes"
    shown = found.dumbbells.head(page.MOST_COMPARISONS)
    what, units = "size of the disparity" if sizes else "disparity", ("the metric's unit", "percentage points")
    drawn = page.forest_rows(
        found.setup, shown, lambda row: joined(*found.pieces(row)), list(dict.fromkeys(shown["metric"])),
        shared=False, axis=lambda _, metric: f"{what}, in {units[metric in found.shares]}",
        factor=lambda _, metric: 100.0 if metric in found.shares else 1.0,
    )  # fmt: skip
    total = len(frame)
    described = (
        f"A dumbbell for each of {pluralize(len(shown), 'comparison')}, from the disparity under {names[0]} to the one "
        f"under {names[1]}. The table holds the same numbers, and the intervals of differences."
    )
    some = "" if len(shown) == total else f" The {len(shown)} comparisons with the strongest evidence of {total:,}."
    return Figure(
        Forest("Disparities under both models", described, drawn),
        f"Disparities under both models.{some} Each line runs from {names[0]} (hollow circle) to {names[1]} (full "
        f"mark); orange diamonds are {'certified' if sizes else 'significant'} differences. The grey line is equality.",
    )


def models_document(compared: Any, documents: Mapping[str, list[Block]]) -> list[Block]:
    """Compose the report of a `ModelComparison`: several candidates against one baseline.

    Parameters
    ----------
    compared : ModelComparison
        The candidates.
    documents : mapping of str to list of Block
        The report of each candidate by itself.

    Returns
    -------
    list of Block
        The document, without a title.
    """
    found, results, fairer = compared._records, compared.results, compared._is_fairer
    if len(found) == 1:
        return page.sections(next(iter(documents.values())))
    names = [str(name) for name in results.index[results["significant"]]]
    told = enumerated([*map(label, names)]) if names else "none"
    asked, baseline = f"Of {len(results):,} candidates", label(compared.baseline)
    p = equals_p(float(results["p_value_adjusted"].agg("max" if fairer else "min")))
    if fairer:
        said = f"{asked}, {told} {'is' if len(names) < 2 else 'are'} certified, in comparison with {baseline}"
    else:
        differ = "differs" if len(names) < 2 else "differ"
        said = f"{asked}, {told} {differ} significantly from {baseline} in a disparity"

    def of(row: Row) -> PairedRecord:
        one: PairedRecord = found[row["candidate"]]
        return one

    def disparity(head: str, name: str) -> Column:
        return Column(head, shows=lambda row: of(row).text(row, name, level=of(row).kind == "one group"))

    columns = (
        Column("candidate", "name", shows="candidate"),
        Column("metric", "name", shows=lambda row: label(_titled(of(row), row))),
        Column("groups", "name", shows=lambda row: f"{label(row['group'])} and {label(row['other'])}"),
        replace(disparity(baseline, "disparity_a"), named=True), disparity("candidate's", "disparity_b"),
        Column("difference", shows=lambda row: of(row).text(row, "difference")),
        Column("at most" if fairer else "interval", shows=lambda row: _span(of(row), row, sizes=fairer)),
        ADJUSTED_P,
        Column(
            "verdict", "mark",
            shows=lambda row: ("certified" if fairer else "significant") if row["significant"] else "",
        ),
    )  # fmt: skip
    told_of = tuple(one.verdict for name, one in found.items() if one.concern != fairer and name in names)
    level = compared.confidence_level
    note = (
        f"Candidates are judged by Holm's method over all of them, at a level of {100 * (1 - level):.3g}%. What "
        f"follows about single comparisons of a candidate, and intervals, is at this level divided by {len(found)}, so "
        "that it holds for all candidates together. To choose a candidate by these people, and to test it, takes "
        "other people."
    )
    rows = [{**row, "candidate": str(name)} for name, row in zip(results.index, records(results), strict=True)]
    caption = "The strongest evidence about each candidate"
    return [
        *page.sections(
            [
                page.verdict_of(f"{said} ({'largest' if fairer else 'smallest'} adjusted {p}).", compared.concern_),
                *([Items(told_of)] if told_of else []),
                Table.of(columns, rows, caption, None if fairer else "significant"),
                Paragraph(note),
            ]
        ),
        *(
            block
            for name, blocks in documents.items()
            for block in page.sections(blocks, label(name), f"{label(name)} in detail")
        ),
    ]


def _null(setup: Setup, metric: str) -> str:
    """State the null hypothesis of one metric's comparisons."""
    if setup.models == "one group":
        happens, among = setup.told(metric)
        return f"{metric}: among {among or 'these people'}, the share who {happens} is the same under both models"
    if setup.models != "sizes":
        return null_sentence(setup, metric)
    _, margin = setup.margin_bounds or (0.0, 0.0)
    inside = f", within every {label(setup.controls)}" if setup.controls else ""
    larger = f"larger in size by {number(margin)} or more" if margin else "as large in size or larger"
    return f"{metric}: the disparity by {label(setup.features)} is {larger} under model B than under model A{inside}"


def _values(found: PairedRecord, setup: Setup, by_group: pd.DataFrame, by_model: pd.DataFrame) -> Table:
    """Write every group's values under both models, and their change with its interval."""
    keys = ("metric", "stratum", "group")
    changes = {tuple(row[key] for key in keys): row for row in records(by_group)}
    rows = [{**row, "change": changes.get(tuple(row[key] for key in keys))} for row in records(by_model)]

    def change(write: Callable[[Row], str]) -> Callable[[Row], str]:
        return lambda row: "" if row["change"] is None else write(row["change"])

    columns = (
        Column("metric", "name", shows=lambda row: label(_titled(found, row, "change in points"))), GROUP,
        bool(setup.controls) and Column(label(setup.controls), "name", named=True, shows="stratum"),
        Column("people", shows="n"), *_of_models(found, level=True),
        Column("change", shows=change(lambda row: found.text(row, "value"))),
        Column("interval", shows=change(lambda row: _span(found, row, sizes=False))),
        Column("n", shows=change(lambda row: f"{row['n_effective']:,}{', few' if row['small'] else ''}")),
    )  # fmt: skip
    level = f"{100 * (1 - setup.alpha):g}%"
    caption = f"Values under both models; changes with {level} intervals, and the people they rest on (n)"
    return Table.of(columns, rows, caption, None, few=SHOWN)


def _with_feature(found: PairedRecord, row: Row, several: bool) -> str:
    said = found.sentence(row)
    return f"By {label(row['feature'])}: {said[0].lower()}{said[1:]}" if several else said


def _table(found: PairedRecord, frame: pd.DataFrame, several: bool) -> Table:
    one_group, sizes = found.kind == "one group", found.kind == "sizes"

    def judged(row: Row) -> str:
        if sizes:
            return "" if row["concern"] else "certified"
        return label(row["smaller"]) if row["smaller"] else "other direction" if row["concern"] else ""

    columns = (
        METRIC if one_group else Column("metric", "name", shows=lambda row: _titled(found, row)),
        several and Column("feature", "name", shows="feature"), GROUP, not one_group and COMPARED_WITH,
        (frame["stratum"] != "").any() and Column("within", "name", shows=lambda row: row["stratum"]),
        *_of_models(found, level=one_group),
        Column("difference", shows=lambda row: found.text(row, "difference")),
        Column("at most" if sizes else "interval", shows=lambda row: _span(found, row, sizes=sizes)),
        P, ADJUSTED_P, Column("certified" if sizes else "smaller", "mark", shows=judged),
    )  # fmt: skip
    caption = "Sizes of disparities under both models" if sizes else "Disparities under both models"
    caption = f"The rates of both models among {label(frame['group'].iloc[0])}" if one_group else caption
    few = max(SHOWN, int(frame["concern"].sum()))
    return Table.of(columns, records(frame), caption, None if sizes else "concern", few=few)


def _of_models(found: PairedRecord, *, level: bool) -> tuple[Column, Column]:
    """Return a column for each model."""
    a, b = map(label, found.names)
    first = Column(a, named=True, shows=lambda row: found.text(row, "value_a", level=level))
    return first, Column(b, named=True, shows=lambda row: found.text(row, "value_b", level=level))


def _titled(found: PairedRecord, row: Row, unit: str = "points") -> str:
    return metric_title(row["metric"]) + (f" ({unit})" if found.writer(row["metric"])[1] else "")


def _span(found: PairedRecord, row: Row, *, sizes: bool) -> str:
    write, _ = found.writer(row["metric"])
    if math.isnan(row["ci_high"]):
        return "undefined"
    return str(write(row["ci_high"])) if sizes else difference_span(write, row)
