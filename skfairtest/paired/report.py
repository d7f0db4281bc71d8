"""The report of two models: both disparities, their difference with its interval, and a verdict."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from skfairtest._utils.text import label
from skfairtest.group.report import notes as group_notes
from skfairtest.paired.record import PairedRecord
from skfairtest.report import cells, sentences
from skfairtest.report.report import Cell, Column, Report, Table, bars

#: What the level of a comparison with the model in production holds for.
APART = (
    "Both models judged the same people. This comparison has a level of its own, by Holm's method over its "
    "comparisons, and the verdict of the audit does not count it."
)


def paired_report(test: Any, found: PairedRecord) -> Report:
    """The report of a fitted `PairedFairnessTest`, whose record has the names of the models."""
    setup, report = test._setup, paired_section(found)
    keys = [cells.METRIC, cells.GROUP, cells.stratum(setup.controls), Column("people", shows="n")]
    rows, caption = cells.records(test.by_model_), "Values under both models"
    values = Table.of([*keys, *_of_models(found, level=True)], rows, caption, None, few=cells.SHOWN)
    return replace(
        report,
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
    several = found.frame["feature"].nunique() > 1
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
    fields = [(label(name), f"value_{model}") for name, model in zip(found.names, "ab", strict=True)]
    return [Column(name, named=True, shows=partial(found.text, field=field, level=level)) for name, field in fields]


def models_table(found: PairedRecord, rows: Sequence[Mapping[str, Any]], caption: str, first: Column | bool) -> Table:
    """Write comparisons of two models, each with a line from one to the other."""
    sizes, rates, (a, b) = found.kind == "sizes", found.kind == "one group", map(label, found.names)
    unit = "; those of shares in percentage points" * (bool(found.shares) > rates)
    ends = [(min(a, b), b, max(a, b), a) for a, b in ((row["value_a"], row["value_b"]) for row in rows)]
    judged = ["" if row["concern"] == sizes else "certified" if sizes else "significant" for row in rows]
    drawn = bars(ends, math.nan if rates else 0.0, kinds=["significant" * bool(each) for each in judged])
    columns = (
        first, cells.METRIC, cells.GROUP, not rates and cells.COMPARED_WITH,
        any(row["stratum"] for row in rows) and cells.STRATUM, *_of_models(found, level=rates),
        Column("difference", shows=lambda row: Cell(found.text(row, "difference"), bar=row["bar"])),
        Column("at most" if sizes else "interval", shows=found.limits), cells.P, cells.ADJUSTED_P,
        Column("verdict", "mark", shows="judged"),
    )  # fmt: skip
    shown = [{**row, "bar": bar, "judged": each} for row, bar, each in zip(rows, drawn, judged, strict=True)]
    note = f"Each line runs from {a} (hollow circle) to {b}; the vertical line is equality."
    return Table.of(columns, shown, f"{caption}{unit}", "judged", few=cells.SHOWN, notes=(note,))
