"""The impact tables of an audit, a section beside its comparisons."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label
from skfairtest.audit._questions import kinds_of
from skfairtest.audit.impact import above_median, tables_of
from skfairtest.audit.impact_report import UNFAVORABLE, below_sentences, impact_report
from skfairtest.audit.record import AuditRecord
from skfairtest.readers import Column, resolve_pos_label
from skfairtest.tables import Sample

#: What the level of a section beside the comparisons is apart from.
APART = "of their own, apart from the comparisons of this audit: the verdict does not count them."


def with_impact(
    record: AuditRecord, sample: Sample, estimator: Any, classes: tuple[Any, ...] | None, settings: Mapping[str, Any]
) -> tuple[AuditRecord, pd.DataFrame]:
    """Compare rates of selection with the highest one, of decisions; of scores and numbers those above the median."""
    people = sample.everyone or sample  # of whom a feature may not be known
    kinds, _ = kinds_of(people, estimator, settings["pos_label"])
    scoring = bool(kinds & {"scores", "continuous"}) and "binary" not in kinds
    if scoring:
        chosen = above_median(people.columns["y_pred" if "y_pred" in people.columns else "y_score"], people.counts)
    else:
        decisions = people.labels_of("y_pred")
        positive = resolve_pos_label(people.labels, settings["pos_label"], classes)
        chosen = np.array([bool(level == positive) for level in decisions.levels])[decisions.codes]
    frames, reasons = tables_of(
        people.sensitive,
        Sample({"y_pred": Column("y_pred", (False, True), chosen.astype(np.intp))}, (), counts=people.counts),
        intersections=settings["intersections"],
        confidence_level=settings["confidence_level"],
        method=settings["method"] if settings["method"] in ("exact", "asymptotic") else "auto",
    )
    frame = pd.concat(frames, ignore_index=True)
    section = impact_report(
        frame,
        title="Impact table",
        about=f"These tables have a level {APART}",
        scoring=scoring,
        confidence_level=settings["confidence_level"],
        not_compared=[*map(label, map(str, reasons)), *[UNFAVORABLE] * (settings["favorable"] is False)],
    )
    return replace(record, beside=(*record.beside, section), impact=tuple(below_sentences(frame))), frame
