"""From judged comparisons to the record that every report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from skfairtest.audit._detectable import level_of_one, minimum_detectable
from skfairtest.comparisons.cautions import cautions
from skfairtest.comparisons.family import Verdict, p_of
from skfairtest.comparisons.frames import comparisons_frame, excluded_frame, values_frame
from skfairtest.comparisons.null_histogram import null_histogram_of
from skfairtest.comparisons.rows import Measured
from skfairtest.comparisons.settings import Settings
from skfairtest.comparisons.setup import setup_of
from skfairtest.report.mixin import library_versions
from skfairtest.report.record import AuditPart, AuditRecord, AuditVerdict
from skfairtest.report.sentences import FOUND, NOT_FOUND


def record_of(
    measured: Sequence[tuple[Measured, Settings]],
    judged: Verdict,
    settings: Settings,
    *,
    n_samples: int,
    subject: str,
    parameters: Mapping[str, Any],
    not_compared: Sequence[tuple[str, str]],
) -> AuditRecord:
    """Return the record of an audit, made now."""
    parts = [part for part, _ in measured]
    rows = [row for part in parts for row in part.rows]
    alpha = level_of_one(settings, judged.n_hypotheses)
    return AuditRecord(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        title=f"Fairness audit of {subject}",
        subject=subject,
        versions=library_versions(),
        parameters=parameters,
        verdict=AuditVerdict(
            concern=judged.concern,
            p_value=p_of(judged.log_p),
            p_value_interval=judged.limits,
            alpha=round(settings.alpha, 12),
            adjust=settings.adjust,
            n_samples=n_samples,
            n_comparisons=len(rows),
            n_found=sum(row.concern for row in rows),
            pos_label=parts[0].pos_label,
        ),
        parts=tuple(_part_of(part, own, alpha) for part, own in measured),
        leading=next(
            (place, i) for place, part in enumerate(parts) for i, row in enumerate(part.rows) if row is judged.leading
        ),
        null_distribution=null_histogram_of(judged.leading),
        not_compared=tuple(not_compared),
        warnings=tuple(dict.fromkeys(caution for part in parts for caution in cautions(part))),
    )


def _part_of(part: Measured, own: Settings, alpha: float) -> AuditPart:
    comparisons = comparisons_frame(part.rows)
    comparisons["minimum_detectable"] = minimum_detectable(part.rows, alpha, own)
    comparisons["verdict"] = np.where(comparisons["concern"].astype(bool), FOUND, NOT_FOUND)
    return AuditPart(
        part.sample.sensitive_names,
        part.sample.control_names,
        setup_of(part, own),
        values_frame(part),
        comparisons,
        excluded_frame(part.excluded),
    )
