"""From adjusted comparisons to the record of an audit, and from a record to everything that an audit is written as."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import Later
from skfairtest._utils.text import label
from skfairtest._utils.typing import Floats
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.audit.report import audit_report
from skfairtest.comparisons import frames
from skfairtest.comparisons.breaking import kept_breaking_point, shown_breaking_point
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.engine import Compared, setup_of
from skfairtest.comparisons.null_histogram import minimum_detectable, null_histogram_of
from skfairtest.comparisons.orientation import oriented
from skfairtest.group.spread import FEWEST, spread_of, spread_sentence
from skfairtest.individual import IndividualFairnessTest
from skfairtest.metrics import Rate
from skfairtest.report.cells import homogeneity_sentences, records
from skfairtest.report.mixin import PEOPLE, ReportMixin, library_versions, names_of
from skfairtest.report.report import Report
from skfairtest.report.sentences import FOUND, NOT_FOUND, finding_sentence
from skfairtest.report.wording import in_unit
from skfairtest.subgroups.fairness import SubgroupScan
from skfairtest.tables import Sample

#: Groups that are many.
MANY = 5
#: The frames of each part, which those of the audit are put together from.
FRAMES = ("by_group", "comparisons", "excluded")


class ReportedAudit(Compared, ReportMixin):
    """Fitted attributes, frames, text, pages and JSON from a record."""

    _breaking = Later()
    _reported: ClassVar[tuple[str, ...]] = (
        "p_value", "rejected", "concern", "n_samples", "pos_label", "comparisons", "by_group", "excluded", "impact",
    )  # fmt: skip
    _not_written: ClassVar[tuple[str, ...]] = ("_metrics", "individual_", "scan_")
    individual_: IndividualFairnessTest | None
    scan_: SubgroupScan | None
    impact_: pd.DataFrame | None

    def _set(self, record: AuditRecord) -> None:
        self._say(record)
        self.individual_ = self.scan_ = self.impact_ = None
        held = {name: [getattr(part, name) for part in record.parts] for name in FRAMES}
        blank = dict.fromkeys(held["excluded"][0]) | {"n": record.n_samples, "n_effective": 0, "comparisons": 0}
        lost = [{**blank, "feature": names, "reason": why} for names, why in record.not_compared]
        held["excluded"].append(pd.DataFrame(lost, dtype=object))
        for name, of_parts in held.items():
            filled = [frame for frame in of_parts if len(frame)] or of_parts[:1]
            setattr(self, f"{name}_", pd.concat(filled, ignore_index=True).astype(of_parts[0].dtypes))
        self.p_value_, self.rejected_ = record.p_value, record.n_found > 0
        self.concern_, self.n_samples_ = self.rejected_, record.n_samples
        self.pos_label_, self.negative_labels_ = record.pos_label, list(record.negative_labels)

    def _say(self, record: AuditRecord) -> None:
        """Take other words, or accepted findings, from a record of the same numbers."""
        self.record_ = record
        self._given, self._versions = dict(record.parameters), dict(record.versions)
        self.__dict__.pop("_kept", None)

    @property
    def breaking_point_(self) -> pd.DataFrame:
        """With how few decisions, and true labels, of one group the verdict would turn."""
        check_is_fitted(self)
        return shown_breaking_point(self, self._breaking)

    def _found(self) -> dict[str, Any]:
        return {name: value for name, value in super()._found().items() if value is not None}

    def _facts(self) -> dict[str, Any]:
        return {**super()._facts(), "_breaking": kept_breaking_point(self._breaking)}

    def _take(self, facts: dict[str, Any]) -> None:
        """Take the attributes of a record; frames of parts are rows of those of the audit."""
        record, parts = facts["record_"], []
        for part in record.parts:
            own = {name: facts[f"{name}_"] for name in FRAMES}
            own = {name: frame[frame["feature"] == part.feature].reset_index(drop=True) for name, frame in own.items()}
            parts.append(replace(part, **own))
        beside = dict.fromkeys(("individual_", "scan_"))
        super()._take({**facts, **beside, "record_": replace(record, parts=tuple(parts))})

    def _made(self) -> Report:
        return audit_report(self.record_, self._breaking)


def record_of(
    results: Sequence[Result], *, subject: str, parameters: Mapping[str, Any], doubts: Sequence[str], **known: Any
) -> AuditRecord:
    """Return the record of an audit, made now: `doubts` are about the predictions, `known` are further fields."""
    verdict = results[0].verdict
    part, row = verdict.leading
    return AuditRecord(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        title=f"Fairness audit of {subject}",
        versions=dict(library_versions()),
        parameters=parameters,
        p_value_interval=verdict.limits,
        pos_label=results[0].pos_label,
        negative_labels=tuple(results[0].negative_labels),
        parts=tuple(_part_of(*each, parameters) for each in zip(results, minimum_detectable(results), strict=True)),
        leading=verdict.leading,
        null_distribution=null_histogram_of(results[part].comparisons[row]),
        spread=tuple(line for result in results for line in _spread(result)),
        homogeneity=tuple(line for result in results for line in _homogeneity(result)),
        warnings=tuple(dict.fromkeys([*doubts, *(line for result in results for line in frames.cautions(result))])),
        **known,
    )


def _spread(result: Result) -> list[str]:
    """Say of one grouping how much of the gaps between many groups is noise, once for complementary rates."""
    sample, said = result.sample, dict[tuple[float, ...], str]()
    if type(sample) is not Sample or sample.weight is not None or sample.clusters is not None or sample.control_names:
        return []
    values, level = frames.by_group(result)[1](), 1 - result.settings.alpha
    feature = label(setup_of(result).features)
    for name in [metric.name for metric in result.metrics if isinstance(metric, Rate) and metric.value is None]:
        rows = values[values["metric"] == name]
        if (n_groups := int((rows["n_effective"] >= FEWEST).sum())) >= MANY:
            found, _ = spread_of(rows, by_people=False, confidence_level=level, n_resamples=999, random_state=0)
            key = tuple(np.round([found.observed, found.observed_range], 9).tolist())
            said.setdefault(key, f"By {feature}: {spread_sentence(name, n_groups, found, level)}")
    return list(said.values())


def _homogeneity(result: Result) -> list[str]:
    setup, shown = setup_of(result), (frames.homogeneity_columns, frames.comparisons_columns)
    said = homogeneity_sentences(setup, *(frames.frame_of(columns(result.comparisons)) for columns in shown))
    return [f"By {label(setup.features)}: {line}" for line in said]


def _part_of(result: Result, detectable: Floats, parameters: Mapping[str, Any]) -> AuditPart:
    sample, unit = result.sample, parameters["unit"]
    assert sample is not None
    setup = setup_of(result)
    words: dict[str, Any] = {name: parameters.get(name) for name in ("positive_means", "favorable")}
    setup = replace(setup, unique=setup.unique and unit == PEOPLE, **words)
    comparisons = frames.frame_of(frames.comparisons_columns(result.comparisons))
    comparisons.insert(len(comparisons.columns) - 2, "minimum_detectable", detectable)
    verdicts = np.where(comparisons["concern"].astype(bool), FOUND, NOT_FOUND)
    comparisons.insert(len(comparisons.columns) - 2, "verdict", verdicts)
    shown = (frames.by_group(result)[1](), comparisons, frames.excluded_frame(result.excluded))
    said = [finding_sentence(setup, row) for row in records(oriented(setup, comparisons))]
    if unit != PEOPLE:
        names = names_of({"_setup": setup, **dict(zip(FRAMES, shown, strict=True))})
        said = [in_unit(sentence, unit, names) for sentence in said]
    comparisons.insert(list(comparisons).index("method"), "sentence", pd.Series(said, dtype=object))
    for frame in shown:
        frame.insert(0, "feature", pd.Series([setup.features] * len(frame), dtype=object))
    return AuditPart(sample.sensitive_names, sample.control_names, setup, *shown)
