"""What every audit can be written as: all of it is made of its record, wherever that comes from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Self, overload

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import ModelTest
from skfairtest._utils.text import label
from skfairtest.report.audit import audit_document, summary_frame
from skfairtest.report.document import plain
from skfairtest.report.record import AuditPart, AuditRecord
from skfairtest.report.sentences import result_sentence


class ReportedAudit(ModelTest):
    """Fitted attributes, frames, text, pages and JSON of a record."""

    def _set(self, record: AuditRecord) -> None:
        """Take fitted attributes from a record, wherever it comes from."""
        self.record_ = record
        self.results_ = pd.concat([_results(part) for part in record.parts], ignore_index=True)
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

    def to_frame(self) -> pd.DataFrame:
        """Return the results with labels of several features as one text each, so that any file can hold them.

        Returns
        -------
        DataFrame
            A copy of `results_`.
        """
        check_is_fitted(self)
        frame = self.results_.copy()
        for column in ("group", "other", "stratum"):
            frame[column] = [label(value) for value in frame[column]]
        return frame

    @overload
    def to_json(self, path: None = None) -> str: ...
    @overload
    def to_json(self, path: str | os.PathLike[str]) -> None: ...
    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write everything that reports are made of as JSON.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.

        Returns
        -------
        str or None
            ASCII text. `skfairtest.report.record` documents the schema, whose version it names.
        """
        check_is_fitted(self)
        return _written(self.record_.to_json(), path)

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
            If it is not the record of an audit, or one of another version.

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
        record = AuditRecord.from_json(text)
        names = set(cls._get_param_names())
        audit = cls(**{name: value for name, value in record.parameters.items() if name in names})
        audit._set(record)
        return audit

    @overload
    def to_markdown(self, path: None = None) -> str: ...
    @overload
    def to_markdown(self, path: str | os.PathLike[str]) -> None: ...
    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write a section for a model card.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.

        Returns
        -------
        str or None
            Markdown, in which every name is text.
        """
        from skfairtest.report.markdown import audit_markdown

        check_is_fitted(self)
        return _written(audit_markdown(self.record_), path)

    @overload
    def to_html(self, path: None = None) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str]) -> None: ...
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write the report as one page that needs nothing else: no network, no script.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.

        Returns
        -------
        str or None
            HTML.

        Raises
        ------
        ImportError
            If jinja2 or matplotlib is not installed.
        """
        check_is_fitted(self)
        from skfairtest.report.html import audit_html

        return _written(audit_html(self.record_), path)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Show the report in a notebook where the libraries that draw it are there; before `fit`, the parameters."""
        if not hasattr(self, "record_"):
            return super()._repr_mimebundle_(**kwargs)  # type: ignore[no-any-return]
        bundle = {"text/plain": str(self)}
        try:
            from skfairtest.report.html import audit_fragment
        except ImportError:
            return bundle
        return {**bundle, "text/html": audit_fragment(self.record_)}

    def _repr_html_(self) -> str | None:
        """Return the report for a notebook; None before `fit`, or where the libraries that draw it are missing."""
        return self._repr_mimebundle_().get("text/html")

    def __str__(self) -> str:
        """Return the verdict and the findings in sentences, then the tables; before `fit`, the parameters."""
        return plain(audit_document(self.record_)) if hasattr(self, "record_") else repr(self)


def _with_feature(part: AuditPart, frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.copy()
    frame.insert(0, "feature", pd.Series([part.feature] * len(frame), dtype=object))
    return frame


def _results(part: AuditPart) -> pd.DataFrame:
    frame = _with_feature(part, part.comparisons)
    rows = part.comparisons.to_dict("records")
    frame["sentence"] = pd.Series([result_sentence(part.facts, row) for row in rows], dtype=object)  # type: ignore[arg-type]
    return frame


def _written(text: str, path: str | os.PathLike[str] | None) -> str | None:
    if path is None:
        return text
    Path(path).write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
    return None
