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
schema_version      2
created             when the audit ran: ISO 8601, UTC
title, subject      what the report is called, what was audited; `about` and `sources` are paragraphs on it
versions            of skfairtest, Python and the libraries that computed the numbers
parameters          as they were given, seed included
verdict             concern, p_value, p_value_interval, alpha, adjust, n_samples, n_comparisons, n_found, pos_label;
                    and as a sentence: sentence
parts               one for each sensitive feature and each intersection: sensitive and control (names), setup (how
                    sentences are written), by_group, comparisons (each with its sentence) and excluded (lists of rows)
not_compared        groupings in which nothing could be compared: sensitive, reason
leading             which comparison sets the p-value: [part, row]
null_distribution   its null distribution, in at most about a hundred bins; or null
warnings            what was said while the audit ran
homogeneity         whether disparities are the same in every stratum, in sentences; missing where there are no strata
scan                the search for subgroups (`skfairtest.report.scan_record`): setup, n_searched, n_tested,
                    n_significant, p_value, remaining_p_value and results; missing where there was none
impact              the impact tables (`skfairtest.report.impact_record`): scoring, smallest_share, not_compared and
                    tables, each with sensitive (names) and rows; missing where there are none
baseline            the comparison with the model in production (`skfairtest.report.paired`): setup, kind, names,
                    shares, n_samples, p_value, concern, results and not_compared; missing where there was none
individual          the test of individual fairness in sentences, the verdict first; missing where there was none
individual_verdict  its verdict: "unfair", "not_rejected", or "no_trace" (nothing was tested); missing where there was
                    none, and in records of versions that did not write it
provenance          how the audit was called, the command if one was typed, and hashes of the data and of the model;
                    null in records of versions that did not trace it. The seed is among the parameters
signature           name and date of who signed it; or null
==================  ===================================================================================================

Undefined numbers are null, infinite ones the strings "inf" and "-inf". A group of several features is a list. A label
that is no text, number or truth value is written as text. What a group is compared with (other) is a group, or the text
"overall", "rest" or, for the rest of a parent group, "rest of race = Black".

Sentences are written for readers of the JSON, and never read. Whatever else follows from other fields is compared with
them when a record is read (`skfairtest.report._consistency`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from numbers import Integral, Real
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import enumerated, label, name_of, pluralize
from skfairtest.report._consistency import contradictions
from skfairtest.report._schema import (
    Reader,
    anything,
    array,
    between,
    count,
    declared,
    document_of,
    either,
    made_of,
    mapping,
    number,
    one_of,
    readers_of,
    record,
    scalar,
    text,
    truth,
)
from skfairtest.report.impact_record import ImpactRecord
from skfairtest.report.null_histogram import NullHistogram
from skfairtest.report.orientation import oriented, oriented_histogram, result_sentences
from skfairtest.report.paired_record import PairedRecord
from skfairtest.report.provenance import Provenance, Signature, optional
from skfairtest.report.scan_record import ScanRecord
from skfairtest.report.sentences import ADJUST, FOUND, LEVEL, NOT_FOUND, Setup, equals_p
from skfairtest.report.wording import check_words

__all__ = ["AuditPart", "AuditRecord", "AuditVerdict", "plain_label", "plain_rows", "plain_value"]

SCHEMA, SCHEMA_VERSION = "skfairtest.audit", 2
#: What a record need not have, and what stands for it.
OPTIONAL: dict[str, Any] = {
    "scan": None, "impact": None, "baseline": None, "homogeneity": [], "individual": [], "individual_verdict": None,
    "provenance": None, "signature": None,
}  # fmt: skip
#: Columns of frames that hold labels; the others hold numbers, truth values and our own words.
LABELS = frozenset({"metric", "group", "other", "stratum", "reason", "method", "verdict"})
WHOLE = frozenset({"n", "n_group", "n_other", "n_effective", "comparisons"})
TRUTH = frozenset({"concern", "small"})
#: Groupings that the verdict names.
NAMED = 3


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
        # Larger ones have no place in an index.
        whole = int(value)
        return whole if -(2**63) <= whole < 2**64 else str(whole)
    if isinstance(value, Real) and math.isfinite(float(value)):
        return float(value)
    return str(value)


def plain_value(value: Any) -> Any:
    """Return a number, or anything made of plain values, as JSON has it: nan is null, infinities "inf" and "-inf"."""
    if value is None or type(value) in (str, bool, int):
        return plain_label(value)
    if isinstance(value, Mapping):
        return {str(key): plain_value(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, tuple | list | frozenset | set):
        # Sets have no order of their own.
        return [plain_value(part) for part in (sorted(value, key=str) if isinstance(value, frozenset | set) else value)]
    if isinstance(value, pd.DataFrame):
        return plain_rows(value)
    if callable(value):
        return name_of(value)
    if isinstance(value, Real) and not isinstance(value, Integral | np.bool_):
        number = float(value)
        return number if math.isfinite(number) else None if math.isnan(number) else str(number)
    return plain_label(value)


def _label(value: Any) -> Any:
    return tuple(map(_label, value)) if isinstance(value, list) else value


def _of_features(value: Any, features: int) -> Any:
    """Return a plain label of so many features: a tuple that is the label of one of them is written as text."""
    if not isinstance(value, list):
        return value
    return [_of_features(part, 1) for part in value] if features > 1 else str(_label(value))


def _column(name: str, values: list[Any], index: pd.Index) -> pd.Series | NDArray[Any]:
    if name in LABELS:
        column = np.empty(len(values), dtype=object)
        column[:] = [_label(value) for value in values]
        return pd.Series(column, index=index, dtype=object)
    if name in WHOLE:
        return np.array([int(value) for value in values], dtype=np.int64)
    if name in TRUTH:
        return np.array([bool(value) for value in values], dtype=bool)
    return np.array([math.nan if value is None else float(value) for value in values], dtype=float)


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as JSON has them."""
    columns = {str(name): [plain_value(value) for value in column.tolist()] for name, column in frame.items()}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _frame(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> pd.DataFrame:
    """Return rows as a frame with the types of the schema, whatever they came from."""
    # Columns that share one index need not be aligned.
    index = pd.RangeIndex(len(rows))
    return pd.DataFrame({name: _column(name, [row[name] for row in rows], index) for name in columns}, index=index)


# Fields are annotated with what reads them. Those that are not, such as sentences, are made of those that are.

SHARE, SIZE = between(0, 1, null=True), between(0, math.inf, null=True, infinite=True)


@dataclass(frozen=True)
class AuditVerdict:
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
        Comparisons that were adjusted together, and how many of them are significant.
    pos_label : object
        The label counted as positive.
    """

    concern: Annotated[bool, truth]
    p_value: Annotated[float, SHARE]
    p_value_interval: Annotated[tuple[float, float], array(SHARE, 2)]
    alpha: Annotated[float, LEVEL]
    adjust: Annotated[str | None, ADJUST]
    n_samples: Annotated[int, count]
    n_comparisons: Annotated[int, count]
    n_found: Annotated[int, count]
    pos_label: Annotated[Any, scalar] = None


def _label_of(features: int) -> Reader:
    """Return a reader of labels of so many features: a list where there are several, null where there is none."""
    return array(scalar, features) if features > 1 else scalar if features else one_of(None)


def _tables(sensitive: int, control: int) -> dict[str, Mapping[str, Reader]]:
    """Declare the columns of the frames of a part with so many features."""
    null, group, level = one_of(None), _label_of(sensitive), _label_of(control)
    # Of a group's counterpart, which may be everybody else, and of what is left out for all of its part.
    named, stratum = either(null, text, group), either(null, level)
    return {
        "by_group": {
            "metric": text, "stratum": level, "group": group, "n": count, "n_effective": count, "value": number,
            "standard_error": SIZE, "ci_low": number, "ci_high": number, "small": truth,
        },
        "comparisons": {
            "metric": text, "group": either(null, group), "other": named, "stratum": stratum, "n_group": count,
            "n_other": count, "value_group": number, "value_other": number, "disparity": number,
            "standard_error": SIZE, "statistic": number, "ci_low": number, "ci_high": number, "p_value": SHARE,
            "p_value_adjusted": SHARE, "minimum_detectable": SIZE, "concern": truth,
            "verdict": one_of(FOUND, NOT_FOUND), "method": text,
        },
        "excluded": {
            "metric": either(null, text), "group": named, "other": named, "stratum": stratum, "reason": text,
            "n": count, "n_effective": count, "comparisons": count,
        },
    }  # fmt: skip


#: Columns of the frames of a part.
COLUMNS = {name: tuple(fields) for name, fields in _tables(1, 0).items()}


@dataclass(frozen=True, eq=False)
class AuditPart:
    """What one grouping of the people says, its p-values adjusted for the whole audit.

    Parameters
    ----------
    sensitive, control : tuple of str
        Names of the features that make the groups, and of those that make the strata.
    setup : Setup
        How sentences are written.
    by_group, comparisons, excluded : DataFrame
        Values by group and stratum, one row per comparison, and what was left out.
    """

    sensitive: tuple[str, ...]
    control: tuple[str, ...]
    setup: Setup
    by_group: pd.DataFrame
    comparisons: pd.DataFrame
    excluded: pd.DataFrame

    def __post_init__(self) -> None:
        """Give the frames the schema's types, whatever they came from."""
        features = {"group": len(self.sensitive), "other": len(self.sensitive), "stratum": len(self.control)}
        for name, columns in COLUMNS.items():
            rows = plain_rows(getattr(self, name))
            for row in rows:
                row |= {key: _of_features(row[key], n) for key, n in features.items() if key in row}
            object.__setattr__(self, name, _frame(rows, columns))
        object.__setattr__(self, "setup", replace(self.setup, names=self.sensitive))

    def in_words(self, positive_means: str | None, favorable: bool | None) -> AuditPart:
        """Return the part with sentences that say what a positive prediction means."""
        if (self.setup.positive_means, self.setup.favorable) == (positive_means, favorable):
            return self
        return replace(self, setup=replace(self.setup, positive_means=positive_means, favorable=favorable))

    @property
    def feature(self) -> str:
        """The name of the grouping: "race", "race x sex"."""
        return self.setup.features

    @property
    def pools_groups(self) -> bool:
        """Whether a group is compared with several groups together."""
        groups = {group if isinstance(group, tuple) else (group,) for group in self.by_group["group"]}
        if self.setup.compare == "to_parents":  # a parent leaves one feature open
            return any(len(set(values)) > 2 for values in zip(*groups, strict=True))
        return self.setup.compare in ("to_overall", "to_rest") and len(groups) > 2


@dataclass(frozen=True, eq=False)
class AuditRecord:
    """Everything that a report of an audit says. The module says what each field holds."""

    created: Annotated[str, text]
    title: Annotated[str, text]
    subject: Annotated[str, text]
    versions: Annotated[Mapping[str, str], mapping(text)]
    parameters: Annotated[Mapping[str, Any], mapping(anything)]
    verdict: Annotated[AuditVerdict, made_of(AuditVerdict)]
    parts: Annotated[tuple[AuditPart, ...], array(_part, least=1)]
    leading: Annotated[tuple[int, int], array(count, 2)]
    null_distribution: Annotated[NullHistogram | None, _null_distribution] = None
    not_compared: Annotated[tuple[tuple[str, str], ...], array(_not_compared)] = ()
    warnings: Annotated[tuple[str, ...], array(text)] = ()
    about: Annotated[tuple[str, ...], array(text)] = ()
    sources: Annotated[tuple[str, ...], array(text)] = ()
    homogeneity: Annotated[tuple[str, ...], array(text)] = ()
    scan: Annotated[ScanRecord | None, optional(ScanRecord)] = None
    impact: Annotated[ImpactRecord | None, optional(ImpactRecord)] = None
    baseline: Annotated[PairedRecord | None, optional(PairedRecord)] = None
    individual: Annotated[tuple[str, ...], array(text)] = ()
    individual_verdict: Annotated[str | None, one_of("unfair", "not_rejected", "no_trace", None)] = None
    provenance: Annotated[Provenance | None, optional(Provenance)] = None
    signature: Annotated[Signature | None, optional(Signature)] = None

    def __post_init__(self) -> None:
        """Make everything plain, so that a record is the same before it is written and after it is read."""
        object.__setattr__(self, "parameters", plain_value(self.parameters))
        object.__setattr__(
            self, "verdict", replace(self.verdict, pos_label=_of_features(plain_value(self.verdict.pos_label), 1))
        )
        # Sentences say what a positive prediction means, as the parameters do.
        words = {name: self.parameters.get(name) for name in ("positive_means", "favorable")}
        check_words(**words)
        object.__setattr__(self, "parts", tuple(part.in_words(**words) for part in self.parts))
        if self.scan is not None:
            object.__setattr__(self, "scan", self.scan.in_words(**words))

    @property
    def setup(self) -> Setup:
        """How sentences of the whole audit are written."""
        return self.parts[0].setup

    @property
    def sentence(self) -> str:
        """The verdict in one or two sentences: whether there is a significant disparity, where, and its p-value."""
        setup, several = self.setup, self.verdict.n_comparisons > 1
        asked = pluralize(self.verdict.n_comparisons, "comparison")
        p = equals_p(self.verdict.p_value)
        level = f"level {100 * setup.alpha:g}%"
        beyond = "" if setup.margin_bounds is None else " beyond the margin"
        if not self.verdict.concern:
            names = [f"by {label(part.feature)}" for part in self.parts]
            if len(names) > NAMED:
                single = [f"by {label(part.feature)}" for part in self.parts if len(part.sensitive) == 1][:NAMED]
                names = [*single, f"in {pluralize(len(names) - len(single), 'further grouping')}"]
            return (
                f"No significant disparity{beyond} was detected {enumerated(names)}, in {asked} "
                f"({'smallest adjusted ' if several else ''}{p}, {level}). This "
                "does not prove fairness: each comparison says how large a disparity it could have missed."
            )
        shows = "show" if self.verdict.n_found > 1 else "shows"
        lead = f"{self.verdict.n_found:,} of {asked} {shows}" if several else "The comparison shows"
        over = "; the smallest adjusted" if several else ";"
        differ = f"{lead} a significant disparity{beyond}, more than chance explains"
        return f"{differ}: {enumerated(self._places())}{over} {p}, {level}."

    def _places(self) -> list[str]:
        """Name the groupings with significant disparities: features one by one, and how many crossings."""
        found = [(part, int(part.comparisons["concern"].sum())) for part in self.parts]
        fewest = min(len(part.sensitive) for part in self.parts)
        single = sorted((one for one in found if one[1] and len(one[0].sensitive) == fewest), key=lambda one: -one[1])
        names = [f"by {label(part.feature)} ({n:,} of {len(part.comparisons):,})" for part, n in single[:NAMED]]
        if len(single) > NAMED:
            names.append(f"by {pluralize(len(single) - NAMED, 'further feature')}")
        crossed = [(part, n) for part, n in found if n and len(part.sensitive) > fewest]
        if crossed:
            total = sum(len(part.comparisons) for part, _ in found if len(part.sensitive) > fewest)
            names.append(f"at intersections ({sum(n for _, n in crossed):,} of {total:,})")
        return names

    def oriented(self) -> AuditRecord:
        """Return the record with the comparisons of all its parts, and its null distribution, as reports show them."""
        parts = tuple(replace(part, comparisons=oriented(part.setup, part.comparisons)) for part in self.parts)
        histogram = self.null_distribution
        if histogram is not None:
            part, row = self.leading
            histogram = oriented_histogram(self.parts[part].setup, self.parts[part].comparisons, row, histogram)
        return replace(self, parts=parts, null_distribution=histogram)

    def signed(self, name: str) -> AuditRecord:
        """Return the record with the name of who signs it, now.

        Raises
        ------
        ValueError
            If the name is empty or no text.
        """
        if not isinstance(name, str) or not name.strip():
            raise ParameterError(f"name must be the name of who signs, as a text; found {name!r}")
        return replace(self, signature=Signature(name, datetime.now(UTC).isoformat(timespec="seconds")))

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON has it."""

        def comparisons(part: AuditPart) -> list[dict[str, Any]]:
            said = result_sentences(part.setup, part.comparisons)
            rows = plain_rows(part.comparisons)
            return [row | {"sentence": sentence} for row, sentence in zip(rows, said, strict=True)]

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
                **plain_value(asdict(self.verdict)),
                "sentence": self.sentence,
            },
            "parts": [
                {
                    "sensitive": list(part.sensitive),
                    "control": list(part.control),
                    "setup": plain_value(declared(part.setup)),
                    "by_group": plain_rows(part.by_group),
                    "comparisons": comparisons(part),
                    "excluded": plain_rows(part.excluded),
                }
                for part in self.parts
            ],
            "not_compared": [{"sensitive": names, "reason": reason} for names, reason in self.not_compared],
            "leading": list(self.leading),
            "null_distribution": None if self.null_distribution is None else self.null_distribution.to_dict(),
            "warnings": list(self.warnings),
            **({"scan": plain_value(self.scan.plain())} if self.scan else {}),
            **({"impact": plain_value(self.impact.plain())} if self.impact else {}),
            **({"baseline": plain_value(self.baseline.plain())} if self.baseline else {}),
            **({"individual": list(self.individual)} if self.individual else {}),
            **({"individual_verdict": self.individual_verdict} if self.individual_verdict else {}),
            **({"homogeneity": list(self.homogeneity)} if self.homogeneity else {}),
            "provenance": None if self.provenance is None else plain_value(asdict(self.provenance)),
            "signature": None if self.signature is None else asdict(self.signature),
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
            If the text is no JSON, or no record of an audit that this version can read; or if one field contradicts
            others, such as a `concern` that is false where a comparison is significant. The message names both.
        """
        document = document_of(text)
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            found = document.get("schema") if isinstance(document, dict) else type(document).__name__
            raise ValueError(f"text is not the record of an audit: its schema must be {SCHEMA!r}; found {found!r:.60}")
        version = document.get("schema_version")
        if isinstance(version, bool) or version != SCHEMA_VERSION:
            raise ValueError(
                f"text has schema_version {version!r:.60}, and this version of skfairtest reads {SCHEMA_VERSION}: read "
                "it with the version that wrote it, which it names under versions"
            )
        try:
            found = record(readers_of(cls))(OPTIONAL | document, "")
            place, row = found["leading"]
            if place >= len(found["parts"]) or row >= len(found["parts"][place].comparisons):
                raise ValueError(f"leading {[place, row]} is no comparison")
            made = cls(**found)
            for said in contradictions(made):
                raise ValueError(said)
        except ValueError as error:
            raise ValueError(f"text is not the record of an audit that to_json wrote: {error}") from error
        return made


def _part(value: Any, place: str) -> AuditPart:
    """Read a part, whose features say how long labels are."""
    names = record({"sensitive": array(text, least=1), "control": array(text)})(value, place)
    columns = _tables(len(names["sensitive"]), len(names["control"]))
    tables = {name: array(record(fields)) for name, fields in columns.items()}
    found = record({"setup": made_of(Setup), **tables})(value, place)
    frames = {name: _frame(found[name], fields) for name, fields in columns.items()}
    return AuditPart(names["sensitive"], names["control"], found["setup"], **frames)


def _null_distribution(value: Any, place: str) -> NullHistogram | None:
    """Read the null distribution of the comparison with the strongest evidence, if there is one."""
    if value is None:
        return None
    record({})(value, place)
    try:
        return NullHistogram.from_dict(value)
    except ValueError as error:
        raise ValueError(f"{place}.{error}") from error


def _not_compared(value: Any, place: str) -> tuple[str, ...]:
    """Read a grouping that was not compared, and why."""
    return tuple(record({"sensitive": text, "reason": text})(value, place).values())
