"""From adjusted comparisons to the record that every report is made from."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from skfairtest._utils.text import label
from skfairtest._utils.typing import Floats
from skfairtest.audit._recomputed import own_metrics
from skfairtest.audit.impact_record import ImpactRecord
from skfairtest.audit.provenance import Provenance
from skfairtest.audit.record import AuditPart, AuditRecord, AuditVerdict
from skfairtest.comparisons.contrasts import BEST
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.frames import ByGroup, cautions, comparisons_frame, excluded_frame, homogeneity_frame
from skfairtest.comparisons.null_histogram import minimum_detectable, null_histogram_of
from skfairtest.comparisons.setup import setup_of
from skfairtest.inference.multiplicity import Equality
from skfairtest.report.mixin import library_versions
from skfairtest.report.sentences import FOUND, NOT_FOUND
from skfairtest.report.skeleton import homogeneity_sentences


def record_of(
    results: Sequence[Result],
    *,
    n_samples: int,
    subject: str,
    parameters: Mapping[str, Any],
    not_compared: Sequence[tuple[str, str]],
    provenance: Provenance,
    impact: ImpactRecord | None = None,
    said: Sequence[str] = (),
) -> AuditRecord:
    """Return the record of an audit, made now; `said` is what makes the predictions doubtful."""
    verdict, settings = results[0].verdict, results[0].measured.settings
    parts = tuple(map(_part_of, results, minimum_detectable(results), _hypotheses(results)))
    part, row = verdict.leading
    return AuditRecord(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        title=f"Fairness audit of {subject}",
        subject=subject,
        versions=library_versions(),
        parameters=parameters,
        verdict=AuditVerdict(
            **AuditVerdict.of([part.comparisons for part in parts]),
            p_value_interval=verdict.limits,
            alpha=round(settings.alpha, 12),
            adjust=verdict.adjust,
            n_samples=n_samples,
            pos_label=results[0].measured.pos_label,
        ),
        parts=parts,
        leading=verdict.leading,
        null_distribution=null_histogram_of(results[part].findings[row]),
        not_compared=tuple(not_compared),
        warnings=tuple(dict.fromkeys([*said, *(one for result in results for one in cautions(result.measured))])),
        homogeneity=tuple(line for result in results for line in _homogeneity(result)),
        own_metrics=own_metrics(results[0].measured.metrics),
        impact=impact,
        provenance=provenance,
    )


def _homogeneity(result: Result) -> list[str]:
    """Say of one grouping whether disparities are the same in every stratum."""
    measured = result.measured
    assert measured.sample is not None
    setup, frames = setup_of(measured, result.verdict.adjust), (homogeneity_frame, comparisons_frame)
    said = homogeneity_sentences(setup, *(frame(result.findings) for frame in frames))
    return [f"By {label(' x '.join(measured.sample.sensitive_names))}: {line}" for line in said]


def _hypotheses(results: Sequence[Result]) -> list[tuple[tuple[int, int, int] | None, ...]]:
    """Number what is equal and both sides, of every comparison; nothing where others were tested than are shown."""
    if any(result.measured.settings.compare in BEST for result in results):
        return [()] * len(results)
    numbers: dict[Hashable, int] = {}

    def numbered(hypothesis: Equality | None) -> tuple[int, int, int] | None:
        if hypothesis is None:
            return None
        of, a, b = (
            numbers.setdefault(key, len(numbers)) for key in (hypothesis.of, *sorted(map(str, hypothesis.sides)))
        )
        return of, min(a, b), max(a, b)

    return [tuple(numbered(finding.estimate.hypothesis) for finding in result.findings) for result in results]


def _part_of(result: Result, detectable: Floats, hypotheses: tuple[tuple[int, int, int] | None, ...]) -> AuditPart:
    measured, sample = result.measured, result.measured.sample
    assert sample is not None
    comparisons = comparisons_frame(result.findings)
    comparisons["minimum_detectable"] = detectable
    comparisons["verdict"] = np.where(comparisons["concern"].astype(bool), FOUND, NOT_FOUND)
    return AuditPart(
        sample.sensitive_names,
        sample.control_names,
        setup_of(measured, result.verdict.adjust),
        ByGroup.of(measured).flat(),
        comparisons,
        excluded_frame(measured.excluded),
        hypotheses,
    )
