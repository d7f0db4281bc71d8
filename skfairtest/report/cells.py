"""What tables and sentences say of one comparison or of one value: columns and tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.report import sentences
from skfairtest.report.report import NOT_CERTIFIED, Cell, Column, Table, bars

METRIC = Column("metric", "name", shows=lambda row: sentences.metric_title(row["metric"]))
FEATURE = Column("feature", "name", shows="feature")
GROUP, COMPARED_WITH = Column("group", "name", shows="group"), Column("compared with", "name", shows="other")
P = Column("p", shows=lambda row: sentences.p_text(row["p_value"]))
ADJUSTED_P = Column("adjusted p", shows=lambda row: sentences.p_text(row["p_value_adjusted"]))
VERDICT = Column("verdict", "mark", shows=lambda row: "significant" if row["concern"] else "")


def numbers(setup: sentences.Setup, **fields: str) -> Iterator[Column]:
    """Yield a column for each field that holds values of a metric; shares have four decimals, disparities a bar."""

    def cell(row: Mapping[str, Any], name: str) -> str | Cell:
        text = (sentences.decimal if setup.is_share(row["metric"]) else sentences.number)(row[name])
        return Cell(text, bar=row.get("bar")) if name == "disparity" else text

    yield from (Column(head, shows=partial(cell, name=name)) for head, name in fields.items())


def interval(write: Callable[[float], str], head: str = "interval", under: str | None = "") -> Column:
    """Return the column of an interval of a difference, of whose ends both are known or none; with its bar, if any."""
    return Column(head, under=under, shows=lambda row: Cell(difference_span(write, row), bar=row.get("bar")))


def difference_span(write: Callable[[float], str], row: Mapping[str, Any]) -> str:
    """Write the interval of a difference, which is open at 0 if it is significant."""
    return sentences.span(write, row["ci_low"], row["ci_high"], (0.0,) if row.get("concern") else ())


#: Rows of a short table of comparisons: significant ones up to MOST, others up to FEW.
FEW, MOST = 5, 20
#: What the bars of a table are.
BARS = "Bars are intervals; the vertical line is equality, and orange diamonds are significant."
#: Comparisons that ``print(test)`` shows; all of them are in ``comparisons_``.
SHOWN = 20
#: Stands for a detectable size where even the largest possible disparity would mostly be missed.
NO_SIZE = "more than possible"
#: Whom each group is compared with, where that is the same for all.
OTHER_SIDES = {"to_overall": "everyone", "to_rest": "everyone else"}


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame by the names of its columns."""
    names, columns = list(map(str, frame.columns)), [column.tolist() for _, column in frame.items()]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def by_p_value(setup: sentences.Setup, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Order comparisons of one family, strata and averages alike, by p-value."""
    ratios = np.array([setup.is_ratio(metric) for metric in comparisons["metric"]], dtype=bool)
    disparity = comparisons["disparity"].to_numpy(dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.nan_to_num(np.abs(np.where(ratios, np.log(disparity), disparity)), nan=-1.0)
    return comparisons.iloc[np.lexsort((-distance, comparisons["p_value_adjusted"], comparisons["p_value"]))]


def pooled_first(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Put comparisons averaged over strata before those within a stratum, each in the order that they have."""
    return comparisons.iloc[np.argsort(comparisons["stratum"].notna().to_numpy(), kind="stable")]


def compared_with(compare: str, row: Mapping[str, Any]) -> str:
    """The name of a comparison's other side."""
    return OTHER_SIDES.get(compare, label(row["other"]))


def stratum_name(controls: str, row: Mapping[str, Any]) -> str:
    """Name the stratum of a comparison, or all of them."""
    return f"all {label(controls)}" if row["stratum"] is None else label(row["stratum"])


def compared(compare: str) -> Column:
    """The column that names the other side."""
    return replace(COMPARED_WITH, shows=partial(compared_with, compare))


def stratum(controls: str) -> Column | bool:
    """The column of strata, if there are any."""
    return bool(controls) and Column(label(controls), "name", named=True, shows=partial(stratum_name, controls))


def counted(rows: Sequence[Mapping[str, Any]], what: str = "comparison", within: str = "") -> list[str]:
    """Say how many of several comparisons are significant, or of those within strata."""
    n, where = sum(row["concern"] for row in rows), f" within single levels of {label(within)}" if within else ""
    said = f"{n or 'None'} of {pluralize(len(rows), what)}{where} {'is' if n == 1 else 'are'} significant."
    return [said] if len(rows) > (not within) else []


def values_table(setup: sentences.Setup, by_group: pd.DataFrame) -> Table:
    """Write the values of all groups, those of each metric with intervals on one scale."""

    def limits(row: Mapping[str, Any]) -> Cell:
        return Cell(sentences.span(row["how"], row["ci_low"], row["ci_high"]).replace("%", "", 1), bar=row["bar"])

    def people(row: Mapping[str, Any]) -> str:
        return f"{row['n_effective']:,}{(' (small)' if row['n_effective'] else ' (no one)') * bool(row['small'])}"

    columns = (
        replace(GROUP, head=label(setup.features), named=True),
        bool(setup.controls) and Column(label(setup.controls), "name", named=True, shows="stratum"),
        Column("people", shows="n"), Column("value", shows=lambda row: row["how"](row["value"])),
        Column("interval", under="", shows=limits), Column("n", under="n ", shows=people),
    )  # fmt: skip
    caption = f"Values by {label(setup.features)}, each with its {100 * (1 - setup.alpha):g}% interval "
    caption += "and the number of people it rests on (n)"
    table = Table.of(columns, (), caption)
    for metric, values in by_group.groupby("metric", sort=False):
        rows = barred(records(values), at="value", null=np.nan)
        rows = [{**row, "how": sentences.written(setup, {**row, "value_group": row["value"]}).value} for row in rows]
        heading = (sentences.metric_title(str(metric)), *[""] * (len(table.columns) - 1))
        table = replace(table, rows=(*table.rows, heading, *Table.of(columns, rows, marks=None).rows))
    return replace(table, few=SHOWN) if setup.controls and len(table.rows) > 2 * SHOWN else table


def barred(
    rows: Sequence[Mapping[str, Any]], setup: sentences.Setup | None = None, at: str = "disparity", null: float = 0.0
) -> list[dict[str, Any]]:
    """Return rows with their bars, those of one unit on one scale; without a setup, all are of one unit."""
    scales: dict[tuple[bool, str], list[dict[str, Any]]] = {}
    shown = [{**row, "bar": None} for row in rows]
    for row in shown:
        is_ratio = setup is not None and setup.is_ratio(row["metric"])
        plain = setup is None or is_ratio or setup.is_share(row["metric"])
        scales.setdefault((is_ratio, "" if plain else row["metric"]), []).append(row)
    for (is_ratio, _), same in scales.items():
        ends = [[row["ci_low"], row[at], row["ci_high"]] for row in same]
        kinds = ["significant" if row.get("concern") else "few" if row.get("small") else "" for row in same]
        for row, bar in zip(same, bars(ends, 1.0 if is_ratio else null, log=is_ratio, kinds=kinds), strict=True):
            row["bar"] = bar
    return shown


def comparisons_table(
    setup: sentences.Setup, comparisons: pd.DataFrame, caption: str, *, first: Sequence[Column] = (METRIC,),
    values: tuple[str, str] = ("value", "against"), more: Sequence[Column] = (),
) -> Table:  # fmt: skip
    """Write comparisons, in the order given."""
    audited = "minimum_detectable" in comparisons
    compared = set(comparisons["metric"])
    kinds = sorted({setup.disparity_of(metric).replace("_", " ") for metric in compared}) or [setup.disparity]
    points = kinds == ["difference"] and all(setup.is_share(metric) for metric in compared)
    unit = " (points)" if points else ""
    word = NOT_CERTIFIED if setup.alternative == "equivalence" else "significant"
    rows = [
        {**row, "verdict": word if row["concern"] else "", "how": sentences.written(setup, row)}
        for row in barred(records(comparisons), setup)
    ]

    def of(write: Callable[[Mapping[str, Any]], str], alone: str = "") -> Callable[[Mapping[str, Any]], str]:
        """Write what a metric that looks at all groups at once has not."""
        return lambda row: alone if row["group"] is None else write(row)

    def gap(row: Mapping[str, Any], value: float) -> str:
        return f"{row['how'].disparity(value)}{'' if points else row['how'].unit}"

    def interval(row: Mapping[str, Any]) -> Cell:
        said = sentences.span(row["how"].disparity, row["ci_low"], row["ci_high"], setup.open_ends(row))
        return Cell(said, bar=row["bar"])

    def detectable(row: Mapping[str, Any]) -> str:
        size = row["minimum_detectable"]
        return "" if np.isnan(size) else NO_SIZE if np.isinf(size) else gap(row, size)

    columns = (
        *first, replace(GROUP, shows=of(lambda row: label(row["group"]), "all groups")),
        replace(COMPARED_WITH, shows=of(partial(compared_with, setup.compare))),
        stratum(setup.controls), Column(values[0], shows=of(lambda row: row["how"].value(row["value_group"]))),
        Column(values[1], shows=of(lambda row: row["how"].value(row["value_other"]))),
        Column(f"{' or '.join(kinds)}{unit}", shows=lambda row: gap(row, row["disparity"])),
        Column("interval", under="", shows=interval), *more, P, ADJUSTED_P,
        audited and Column(f"detectable{unit}", shows=detectable), Column("verdict", "mark", shows="verdict"),
    )  # fmt: skip
    few = SHOWN if not audited else min(MOST, max(FEW, int(comparisons["concern"].sum())))
    return Table.of(columns, rows, caption, few=few, notes=() if audited else (BARS,))


def excluded_tables(excluded: pd.DataFrame, caption: str = "Left out") -> tuple[Table, ...]:
    """Write what was left out and why, if anything was."""
    fields = {
        "metric": Column("metric", "name", shows=lambda row: sentences.metric_title(row["metric"] or "all")),
        "feature": FEATURE, "group": GROUP, "stratum": Column("stratum", "name", shows="stratum"),
        "n": Column("people", shows="n"), "n_effective": Column("n", shows="n_effective"),
        "comparisons": Column("comparisons", shows="comparisons"), "reason": Column("reason", "word", shows="reason"),
    }  # fmt: skip
    columns = [column for name, column in fields.items() if name in excluded and excluded[name].notna().any()]
    return (Table.of(columns, records(excluded), caption, None),) if len(excluded) else ()


def homogeneity_sentences(setup: sentences.Setup, homogeneity: pd.DataFrame, comparisons: pd.DataFrame) -> list[str]:
    """Say how many disparities are not the same in every stratum, then of each of these where it is farthest."""
    rows, controls = records(homogeneity.sort_values("p_value", kind="stable")), label(setup.controls)
    if not rows:
        return []
    found = [row for row in rows if row["p_value_adjusted"] <= setup.alpha]
    p = sentences.smallest_p(min(row["p_value_adjusted"] for row in rows), len(rows))
    tested = pluralize(len(rows), "disparity", "disparities")
    if not found:
        none = f"No significant difference between strata was detected in {tested} over {controls} ({p})."
        return [f"{none} This does not prove that strata are alike."]
    which = "The disparity" if len(rows) == 1 else f"{len(found):,} of {tested}"
    verb = "differs" if len(found) == 1 else "differ"
    said = [f"{which} {verb} over {controls} by more than chance explains ({p})."]
    strata = [row for row in records(comparisons) if row["stratum"] is not None]
    for row in found:
        pair = {key: row[key] for key in ("metric", "group", "other")}
        gaps = [each["value_group"] - each["value_other"] for each in strata if pair.items() <= each.items()]
        said.append(
            f"{sentences.metric_title(row['metric'])}, {label(row['group'])} and {compared_with(setup.compare, row)}: "
            f"{label(row['stratum'])} is farthest from the disparity that all would share, by "
            f"{abs(row['distance']):.1f} standard errors (adjusted {sentences.equals_p(row['p_value_adjusted'])})."
            + " The average over strata hides opposite signs."
            * bool(np.nanmin(gaps) < 0 < np.nanmax(gaps))
        )
    return said
