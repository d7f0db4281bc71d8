"""Everything that an audit can be written as, made from its record, wherever that comes from."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any, Self, overload

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfairtest.audit._recomputed import recomputed
from skfairtest.audit.breaking import breaking_point_of_record
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.audit.report import audit_document, summary_frame
from skfairtest.comparisons.breaking import BreakingPoint, shown_breaking_point
from skfairtest.comparisons.engine import Compared
from skfairtest.individual import IndividualFairnessTest
from skfairtest.paired.fairness import PairedFairnessTest
from skfairtest.report.cells import result_sentences
from skfairtest.report.document import Block
from skfairtest.report.mixin import ReportMixin, write_text
from skfairtest.report.text import to_csv
from skfairtest.subgroups.fairness import SubgroupScan


class ReportedAudit(Compared, ReportMixin):
    """Fitted attributes, frames, text, pages and JSON from a record."""

    _all = "comparisons_ has all"

    def _set(self, record: AuditRecord) -> None:
        """Take fitted attributes from a record, wherever it comes from."""
        self.record_ = record
        self.__dict__.pop("_breaking", None)
        self.individual_: IndividualFairnessTest | None = None
        self.scan_: SubgroupScan | None = None
        self.impact_ = None if record.impact is None else record.impact.frame
        self.baseline_: dict[str, PairedFairnessTest] | None = None
        self.comparisons_ = pd.concat([_results(part) for part in record.parts], ignore_index=True)
        self.by_group_ = pd.concat([_with_feature(part, part.by_group) for part in record.parts], ignore_index=True)
        left_out = [_with_feature(part, part.excluded) for part in record.parts if len(part.excluded)]
        self.excluded_ = (
            pd.concat(left_out, ignore_index=True)
            if left_out
            else _with_feature(record.parts[0], record.parts[0].excluded)
        )
        self.summary_ = summary_frame(record.parts)
        self.p_value_ = record.verdict.p_value
        self.rejected_ = self.concern_ = record.verdict.concern
        self.pos_label_ = record.verdict.pos_label
        self.n_samples_ = record.verdict.n_samples

    @cached_property
    def _breaking(self) -> BreakingPoint | str:
        return breaking_point_of_record(self.record_)

    @property
    def breaking_point_(self) -> pd.DataFrame:
        """With how few decisions, and true labels, of one group each verdict would turn."""
        check_is_fitted(self)
        frame = shown_breaking_point(self, self._breaking).copy()
        features = [part.feature for part in self.record_.parts for _ in range(len(part.comparisons))]
        kinds = frame["changed"].nunique()
        frame.insert(0, "feature", pd.Series([*features, None] * kinds, dtype=object))
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return everything that reports are made from, as plain Python objects.

        Returns
        -------
        dict
            What `to_json` writes and `from_json` reads. `skfairtest.audit.record` documents the schema, whose version
            it names.

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
        >>> found = audit.to_dict()
        >>> found["schema"], found["verdict"]["concern"], found["parts"][0]["sensitive"]
        ('skfairtest.audit', False, ['sex'])
        """
        check_is_fitted(self)
        return self.record_.to_dict()

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

    def sign(self, name: str) -> Self:
        """Write into the record who signs it, with today's date.

        Parameters
        ----------
        name : str
            The person who has read it.

        Returns
        -------
        self
            The audit; its reports and its JSON name who signed it.

        Raises
        ------
        ValueError
            If the name is empty or not text.
        NotFittedError
            If the audit is not fitted.

        Examples
        --------
        >>> from skfairtest import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     None, [1, 1, 0, 0], sensitive_features={"sex": list("ffmm")}
        ... )
        >>> audit.sign("Jane Doe, model risk").to_dict()["signature"]["name"]
        'Jane Doe, model risk'
        """
        check_is_fitted(self)
        self.record_ = self.record_.signed(name)
        return self

    @classmethod
    def from_json(cls, source: str | bytes | os.PathLike[str]) -> Self:
        """Read an audit that `to_json` wrote, as it was fitted: its reports are the same, byte for byte.

        Parameters
        ----------
        source : str, bytes or path
            The text, or a path object (``pathlib.Path``) of its file.

        Returns
        -------
        FairnessAudit
            The fitted audit, without its estimator.

        Raises
        ------
        ValueError
            If it is not the record of an audit, or is of another version.

        Examples
        --------
        >>> from skfairtest import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     None, [1, 1, 0, 0], sensitive_features={"sex": list("ffmm")}
        ... )
        >>> again = FairnessAudit.from_json(audit.to_json())
        >>> again.to_json() == audit.to_json()
        True
        """
        text = Path(source).read_bytes() if isinstance(source, os.PathLike) else source
        record = AuditRecord.from_json(text, recomputed)
        names = set(cls._get_param_names())
        audit = cls(**{name: value for name, value in record.parameters.items() if name in names})
        audit._set(record)
        return audit

    def _written(self) -> dict[str, Any]:
        """Return the record: all that an audit is made of."""
        return self.to_dict()

    def _document(self) -> list[Block]:
        check_is_fitted(self)
        return audit_document(self.record_, self._breaking)

    _page = _document


def _with_feature(part: AuditPart, frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.copy()
    frame.insert(0, "feature", pd.Series([part.feature] * len(frame), dtype=object))
    return frame


def _results(part: AuditPart) -> pd.DataFrame:
    frame = _with_feature(part, part.comparisons)
    sentences = pd.Series(result_sentences(part.setup, part.comparisons), dtype=object)
    frame.insert(list(frame).index("method"), "sentence", sentences)
    return frame
