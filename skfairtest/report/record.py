"""The record of an audit: everything that a report says, as plain data that JSON has, too.

A report is a pure function of a record. Text, HTML, Markdown, frames and drawings are made of it and of nothing else,
so that an audit written as JSON and read again yields the same reports, byte for byte.

The schema
----------
``to_json`` writes one object; ``SCHEMA_VERSION`` changes whenever a reader of the previous version would misread it.

==================  ===================================================================================================
key                 what it holds
==================  ===================================================================================================
schema              "skfairtest.audit"
schema_version      1
created             when people were tested: ISO 8601, UTC
title, subject      what the report is called, what was audited; `about` and `sources` are paragraphs on it
versions            of skfairtest, Python and the libraries that computed the numbers
parameters          as they were given, seed included
verdict             concern, p_value, p_value_interval, alpha, adjust, n_samples, n_comparisons, n_found, pos_label;
                    and in words: sentence
parts               one for each sensitive feature and each intersection: sensitive and control (names), facts (how
                    sentences are written), by_group, comparisons (each in words: sentence) and excluded (lists of rows)
not_compared        groupings in which nothing could be compared: sensitive, reason
leading             which comparison sets the p-value: [part, row]
law                 its law under the null hypothesis, in at most about a hundred bins; or null
warnings            what was said while people were tested
==================  ===================================================================================================

Undefined numbers are null, infinite ones the strings "inf" and "-inf". A group of several features is a list. A label
that is no text, number or truth value is written as text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from skfairtest.report.law import NullLaw
from skfairtest.report.words import Facts

__all__ = ["AuditPart", "AuditRecord", "Verdict", "plain_label", "plain_value"]

SCHEMA, SCHEMA_VERSION = "skfairtest.audit", 1
#: Columns of frames that hold labels; the others hold numbers, truth values and our own words.
LABELS = frozenset({"metric", "group", "other", "stratum", "reason", "method", "verdict"})
WHOLE = frozenset({"n", "n_group", "n_other", "n_effective", "comparisons"})
TRUTH = frozenset({"concern", "small"})


def plain_label(value: Any) -> Any:
    """Return a label that JSON has, with tuples kept: text, numbers and truth values; anything else as text.

    Examples
    --------
    >>> import numpy as np
    >>> plain_label((np.int64(3), None, np.datetime64("2020-01-01")))
    (3, None, '2020-01-01')
    """
    if value is None or isinstance(value, str | bool):
        # A subclass of str (an enumeration, NumPy's text) is written as its text.
        return str(value) if isinstance(value, str) and type(value) is not str else value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, tuple | list):
        return tuple(plain_label(part) for part in value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(float(value)):
        return float(value)
    return str(value)


def plain_value(value: Any) -> Any:
    """Return a number, or anything made of plain values, as JSON has it: nan is null, infinities "inf" and "-inf"."""
    if isinstance(value, Mapping):
        return {str(key): plain_value(part) for key, part in value.items()}
    if isinstance(value, tuple | list | frozenset | set):
        return [plain_value(part) for part in value]
    if isinstance(value, Real) and not isinstance(value, Integral | np.bool_):
        number = float(value)
        return number if math.isfinite(number) else None if math.isnan(number) else str(number)
    return plain_label(value)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _label(value: Any) -> Any:
    return tuple(map(_label, value)) if isinstance(value, list) else value


def _column(name: str, values: list[Any]) -> pd.Series:
    if name in LABELS:
        column = np.empty(len(values), dtype=object)
        column[:] = [_label(value) for value in values]
        return pd.Series(column, dtype=object)
    if name in WHOLE:
        return pd.Series([int(value) for value in values], dtype="int64")
    if name in TRUTH:
        return pd.Series([bool(value) for value in values], dtype=bool)
    return pd.Series([_number(value) for value in values], dtype="float64")


def frame_of(rows: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Return columns as a frame with the types of the schema, whatever they came from."""
    return pd.DataFrame({name: _column(name, list(values)) for name, values in rows.items()})


def _normalised(frame: pd.DataFrame) -> pd.DataFrame:
    return frame_of({str(name): [plain_value(value) for value in frame[name].tolist()] for name in frame.columns})


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    columns = {str(name): [plain_value(value) for value in frame[name].tolist()] for name in frame.columns}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    return frame_of({name: [row[name] for row in rows] for name in columns})


@dataclass(frozen=True)
class Verdict:
    """What decides an audit: one family of comparisons.

    Parameters
    ----------
    concern : bool
        Whether any adjusted p-value is at most the level.
    p_value : float
        The smallest adjusted p-value.
    p_value_interval : (float, float)
        Limits of its Monte-Carlo error.
    alpha : float
        The level.
    adjust : str or None
        The adjustment that was run.
    n_samples : int
        People.
    n_comparisons, n_found : int
        Comparisons that were adjusted together, and how many of them are findings.
    pos_label : object
        The label counted as positive.
    """

    concern: bool
    p_value: float
    p_value_interval: tuple[float, float]
    alpha: float
    adjust: str | None
    n_samples: int
    n_comparisons: int
    n_found: int
    pos_label: Any = None


#: Columns of the frames of a part.
BY_GROUP = (
    "metric", "stratum", "group", "n", "n_effective", "value", "standard_error", "ci_low", "ci_high", "small",
)  # fmt: skip
COMPARISONS = (
    "metric", "group", "other", "stratum", "n_group", "n_other", "value_group", "value_other", "disparity",
    "standard_error", "statistic", "ci_low", "ci_high", "p_value", "p_value_adjusted", "minimum_detectable", "concern",
    "verdict", "method",
)  # fmt: skip
EXCLUDED = ("metric", "group", "other", "stratum", "reason", "n", "n_effective", "comparisons")


@dataclass(frozen=True, eq=False)
class AuditPart:
    """What one grouping of the people says, its p-values adjusted for the whole audit.

    Parameters
    ----------
    sensitive, control : tuple of str
        Names of the features that make the groups, and of those that make the strata.
    facts : Facts
        How sentences are written.
    by_group, comparisons, excluded : DataFrame
        Values by group and stratum, one row per comparison, and what was left out.
    """

    sensitive: tuple[str, ...]
    control: tuple[str, ...]
    facts: Facts
    by_group: pd.DataFrame
    comparisons: pd.DataFrame
    excluded: pd.DataFrame

    def __post_init__(self) -> None:
        """Give the frames the schema's types, whatever they came from."""
        for name, columns in (("by_group", BY_GROUP), ("comparisons", COMPARISONS), ("excluded", EXCLUDED)):
            object.__setattr__(self, name, _normalised(getattr(self, name)[list(columns)]))

    @property
    def feature(self) -> str:
        """The name of the grouping: "race", "race x sex"."""
        return self.facts.features


@dataclass(frozen=True, eq=False)
class AuditRecord:
    """Everything that a report of an audit says. The module says what each field holds."""

    created: str
    title: str
    subject: str
    versions: Mapping[str, str]
    parameters: Mapping[str, Any]
    verdict: Verdict
    parts: tuple[AuditPart, ...]
    leading: tuple[int, int]
    law: NullLaw | None = None
    not_compared: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Make everything plain, so that a record is the same before it is written and after it is read."""
        object.__setattr__(self, "parameters", plain_value(self.parameters))
        object.__setattr__(self, "verdict", replace(self.verdict, pos_label=plain_label(self.verdict.pos_label)))

    @property
    def facts(self) -> Facts:
        """How sentences of the whole audit are written."""
        return self.parts[0].facts

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON has it."""
        from skfairtest.report.audit import audit_verdict
        from skfairtest.report.words import result_sentence

        def comparisons(part: AuditPart) -> list[dict[str, Any]]:
            sentences = [result_sentence(part.facts, row) for row in part.comparisons.to_dict("records")]  # type: ignore[arg-type]
            return [
                {**row, "sentence": sentence} for row, sentence in zip(_rows(part.comparisons), sentences, strict=True)
            ]

        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "created": self.created,
            "title": self.title,
            "subject": self.subject,
            "about": list(self.about),
            "sources": list(self.sources),
            "versions": dict(self.versions),
            "parameters": plain_value(self.parameters),
            "verdict": {
                **{f.name: plain_value(getattr(self.verdict, f.name)) for f in fields(Verdict)},
                "sentence": audit_verdict(self.parts, self.verdict),
            },
            "parts": [
                {
                    "sensitive": list(part.sensitive),
                    "control": list(part.control),
                    "facts": _facts_to_dict(part.facts),
                    "by_group": _rows(part.by_group),
                    "comparisons": comparisons(part),
                    "excluded": _rows(part.excluded),
                }
                for part in self.parts
            ],
            "not_compared": [{"sensitive": names, "reason": reason} for names, reason in self.not_compared],
            "leading": list(self.leading),
            "law": None if self.law is None else self.law.to_dict(),
            "warnings": list(self.warnings),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Write the record as ASCII text that any reader of JSON takes."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> AuditRecord:
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError
            If the text is no JSON, or no record of an audit that this version can read.
        """
        try:
            document = json.loads(text)
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"text is not JSON: {error}") from error
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            found = document.get("schema") if isinstance(document, dict) else type(document).__name__
            raise ValueError(f"text is not the record of an audit: its schema must be {SCHEMA!r}; found {found!r}")
        version = document.get("schema_version")
        if version != SCHEMA_VERSION:
            raise ValueError(
                f"text has schema_version {version!r}, and this version of skfairtest reads {SCHEMA_VERSION}: read it "
                "with the version that wrote it, which it names under versions"
            )
        try:
            return cls._from_dict(document)
        except KeyError as error:
            raise ValueError(f"text is not a whole record of an audit: {error.args[0]!r} is missing") from error
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"text is not the record of an audit that to_json wrote: {error}") from error

    @classmethod
    def _from_dict(cls, document: dict[str, Any]) -> AuditRecord:
        verdict = {f.name: document["verdict"][f.name] for f in fields(Verdict)}
        low, high = verdict["p_value_interval"]
        verdict |= {
            "p_value": _number(verdict["p_value"]),
            "p_value_interval": (_number(low), _number(high)),
            "pos_label": _label(verdict["pos_label"]),
        }
        parts = tuple(
            AuditPart(
                tuple(map(str, part["sensitive"])),
                tuple(map(str, part["control"])),
                _facts_from_dict(part["facts"]),
                _frame(part["by_group"], BY_GROUP),
                _frame(part["comparisons"], COMPARISONS),
                _frame(part["excluded"], EXCLUDED),
            )
            for part in document["parts"]
        )
        place, row = document["leading"]
        if not 0 <= place < len(parts) or not 0 <= row < len(parts[place].comparisons):
            raise ValueError(f"leading {[place, row]} is no comparison")
        return cls(
            created=str(document["created"]),
            title=str(document["title"]),
            subject=str(document["subject"]),
            versions={str(k): str(v) for k, v in document["versions"].items()},
            parameters=dict(document["parameters"]),
            verdict=Verdict(**verdict),
            parts=parts,
            leading=(int(place), int(row)),
            law=None if document["law"] is None else NullLaw.from_dict(document["law"]),
            not_compared=tuple((str(each["sensitive"]), str(each["reason"])) for each in document["not_compared"]),
            warnings=tuple(map(str, document["warnings"])),
            about=tuple(map(str, document["about"])),
            sources=tuple(map(str, document["sources"])),
        )


def _facts_to_dict(facts: Facts) -> dict[str, Any]:
    # Sets have no order of their own.
    return {
        f.name: sorted(value) if isinstance(value := getattr(facts, f.name), frozenset) else plain_value(value)
        for f in fields(Facts)
    }


def _facts_from_dict(given: Mapping[str, Any]) -> Facts:
    found = {f.name: given[f.name] for f in fields(Facts)}
    edges = found["edges"]
    found |= {
        "edges": None if edges is None else (_number(edges[0]), _number(edges[1])),
        "words": {str(k): (str(happens), str(among)) for k, (happens, among) in found["words"].items()},
        "functions": frozenset(found["functions"]),
        "everybody": frozenset(found["everybody"]),
    }
    return Facts(**found)
