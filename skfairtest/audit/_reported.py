"""From adjusted comparisons to the record of an audit, and from a record to everything that an audit is written as."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar, overload

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import Later
from skfairtest._utils.files import write_text
from skfairtest._utils.text import label
from skfairtest._utils.typing import Floats
from skfairtest.audit.impact import ImpactRecord
from skfairtest.audit.record import COLUMNS, AuditPart, AuditRecord, AuditVerdict
from skfairtest.audit.report import audit_report, summary_frame
from skfairtest.comparisons.breaking import kept_breaking_point, shown_breaking_point
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.engine import Compared, setup_of
from skfairtest.comparisons.frames import ByGroup, cautions, comparisons_frame, excluded_frame, homogeneity_frame
from skfairtest.comparisons.null_histogram import minimum_detectable, null_histogram_of
from skfairtest.individual import IndividualFairnessTest
from skfairtest.paired.fairness import PairedFairnessTest
from skfairtest.report.cells import homogeneity_sentences, oriented, records
from skfairtest.report.mixin import ReportMixin, library_versions
from skfairtest.report.report import Report
from skfairtest.report.sentences import FOUND, NOT_FOUND, finding_sentence
from skfairtest.report.text import to_csv
from skfairtest.subgroups.fairness import SubgroupScan


class ReportedAudit(Compared, ReportMixin):
    """Fitted attributes, frames, text, pages and JSON from a record."""

    _titled = True
    _breaking = Later()
    _reported: ClassVar[tuple[str, ...]] = (
        "p_value", "rejected", "concern", "n_samples", "pos_label", "comparisons", "by_group", "summary", "excluded",
        "impact",
    )  # fmt: skip
    _not_written: ClassVar[tuple[str, ...]] = ("_metrics", "individual_", "scan_", "baseline_")

    def _set(self, record: AuditRecord) -> None:
        """Take fitted attributes from a record, wherever it comes from."""
        self._say(record)
        self._without()
        self.impact_ = None if record.impact is None else record.impact.frame
        self.comparisons_ = pd.concat([_results(part) for part in record.parts], ignore_index=True)
        self.by_group_ = pd.concat([_with_feature(part, part.by_group) for part in record.parts], ignore_index=True)
        counts = {"n": record.verdict.n_samples, "n_effective": 0, "comparisons": 0}
        rows = [{**dict.fromkeys(COLUMNS["excluded"]), "reason": why, **counts} for _, why in record.not_compared]
        whole = pd.DataFrame(rows, columns=list(COLUMNS["excluded"]))
        whole.insert(0, "feature", pd.Series([names for names, _ in record.not_compared], dtype=object))
        left_out = [*(_with_feature(part, part.excluded) for part in record.parts), whole]
        self.excluded_ = pd.concat([frame for frame in left_out if len(frame)] or left_out[:1], ignore_index=True)
        self.summary_ = summary_frame(record.parts)
        self.p_value_ = record.verdict.p_value
        self.rejected_ = self.concern_ = record.verdict.concern
        self.pos_label_, self.negative_labels_ = record.verdict.pos_label, list(record.verdict.negative_labels)
        self.n_samples_ = record.verdict.n_samples

    def _say(self, record: AuditRecord) -> None:
        """Take other words, or accepted findings, from a record of the same numbers."""
        self.record_ = record
        self._given, self._versions = dict(record.parameters), dict(record.versions)
        self.__dict__.pop("_kept", None)

    def _without(self) -> None:
        """Set what tests beside the comparisons set, and records do not hold."""
        self.individual_: IndividualFairnessTest | None = None
        self.scan_: SubgroupScan | None = None
        self.baseline_: dict[str, PairedFairnessTest] | None = None

    @property
    def breaking_point_(self) -> pd.DataFrame:
        """With how few decisions, and true labels, of one group the verdict would turn."""
        check_is_fitted(self)
        return shown_breaking_point(self, self._breaking)

    @overload
    def to_csv(self, path: None = None) -> str: ...
    @overload
    def to_csv(self, path: str | os.PathLike[str]) -> None: ...
    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write all comparisons as a table of comma-separated values, which no spreadsheet executes.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.

        Returns
        -------
        str or None
            A header and a line for each comparison, as in `to_frame`; undefined numbers are empty, and text that would
            be read as a formula begins with an apostrophe.

        Raises
        ------
        NotFittedError
            If the audit is not fitted.

        Examples
        --------
        >>> from skfairtest import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     None, [1, 1, 0, 0], sensitive_features={"sex": list("ffmm")}
        ... )
        >>> print(audit.to_csv())
        feature,metric,group,other,disparity,ci_low,ci_high,stratum,n_group,n_other,value_group,...
        sex,selection_rate,f,m,1.0,-0.12299406351...,1.0,,2,2,1.0,...
        """
        return write_text(to_csv(self.to_frame()), path)

    def _title(self) -> str:
        return label(self.record_.title)

    def _found(self) -> dict[str, Any]:
        return {name: value for name, value in super()._found().items() if value is not None}

    def _facts(self) -> dict[str, Any]:
        """The attributes that a record keeps: frames of parts are slices of those of the audit."""
        facts, parts = super()._facts(), self.record_.parts
        bare: dict[str, Any] = {name: pd.DataFrame() for name in COLUMNS}
        record = replace(self.record_, parts=tuple(replace(part, **bare) for part in parts))
        if record.impact is not None:
            record = replace(record, impact=replace(record.impact, frame=pd.DataFrame()))
        return {**facts, "record_": record, "_breaking": kept_breaking_point(self._breaking)}

    def _take(self, facts: dict[str, Any]) -> None:
        record, parts = facts["record_"], []
        whole = {name: facts[f"{name}_"][list(columns)] for name, columns in COLUMNS.items()}
        features = {name: facts[f"{name}_"]["feature"].to_numpy() for name in COLUMNS}
        for part in record.parts:
            own = {name: np.flatnonzero(features[name] == part.feature) for name in COLUMNS}
            frames = {name: frame.iloc[own[name]].reset_index(drop=True) for name, frame in whole.items()}
            parts.append(replace(part, **frames))
        if record.impact is not None:
            record = replace(record, impact=replace(record.impact, frame=facts["impact_"]))
        super()._take({**facts, "record_": replace(record, parts=tuple(parts))})
        self._without()

    def _made(self) -> Report:
        return audit_report(self.record_, self._breaking)

    def _label_remarks(self) -> list[str]:
        return []  # the verdict says it


def _with_feature(part: AuditPart, frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.copy()
    frame.insert(0, "feature", pd.Series([part.feature] * len(frame), dtype=object))
    return frame


def _results(part: AuditPart) -> pd.DataFrame:
    frame = _with_feature(part, part.comparisons)
    said = [finding_sentence(part.setup, row) for row in records(oriented(part.setup, part.comparisons))]
    sentences = pd.Series(said, dtype=object)
    frame.insert(list(frame).index("method"), "sentence", sentences)
    return frame


def record_of(
    results: Sequence[Result],
    *,
    n_samples: int,
    subject: str,
    parameters: Mapping[str, Any],
    not_compared: Sequence[tuple[str, str]],
    provenance: Mapping[str, Any],
    impact: ImpactRecord | None = None,
    said: Sequence[str] = (),
) -> AuditRecord:
    """Return the record of an audit, made now; `said` is what makes the predictions doubtful."""
    verdict, settings = results[0].verdict, results[0].measured.settings
    parts = tuple(map(_part_of, results, minimum_detectable(results)))
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
            negative_labels=tuple(results[0].measured.negative_labels),
        ),
        parts=parts,
        leading=verdict.leading,
        null_distribution=null_histogram_of(results[part].findings[row]),
        not_compared=tuple(not_compared),
        warnings=tuple(dict.fromkeys([*said, *(one for result in results for one in cautions(result.measured))])),
        homogeneity=tuple(line for result in results for line in _homogeneity(result)),
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


def _part_of(result: Result, detectable: Floats) -> AuditPart:
    measured, sample = result.measured, result.measured.sample
    assert sample is not None
    comparisons = comparisons_frame(result.findings)
    comparisons["minimum_detectable"] = detectable
    comparisons["verdict"] = np.where(comparisons["concern"].astype(bool), FOUND, NOT_FOUND)
    return AuditPart.of(
        sample.sensitive_names,
        sample.control_names,
        setup_of(measured, result.verdict.adjust),
        by_group=ByGroup.of(measured).flat(),
        comparisons=comparisons,
        excluded=excluded_frame(measured.excluded),
    )
