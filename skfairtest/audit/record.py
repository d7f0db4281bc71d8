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
schema_version      3; 2 is read, too, and written again as it was
created             when the audit ran: ISO 8601, UTC
title, subject      what the report is called, what was audited; `about` and `sources` are paragraphs on it
versions            of skfairtest, Python and the libraries that computed the numbers
parameters          as they were given, seed included
verdict             concern, p_value, p_value_interval, alpha, adjust, n_samples, n_comparisons, n_found, pos_label;
                    and as a sentence: sentence
parts               one for each sensitive feature and each intersection: sensitive and control (names), setup (how
                    sentences are written), by_group, comparisons (each with its sentence) and excluded (lists of rows),
                    hypotheses (for each comparison numbers of what is equal and of both sides; null: of its own)
not_compared        groupings in which nothing could be compared: sensitive, reason. Metrics without a test stand
                    in excluded of their parts
leading             which comparison sets the p-value: [part, row]
null_distribution   its null distribution, in at most about a hundred bins; or null
warnings            what was said while the audit ran
homogeneity         whether disparities are the same in every stratum, in sentences; missing where there are no strata
scan                the search for subgroups (`skfairtest.subgroups.report`): setup, n_searched, n_tested,
                    n_significant, p_value, remaining_p_value and results; missing where there was none
impact              the impact tables (`skfairtest.audit.impact_record`): scoring, smallest_share, not_compared and
                    tables, each with sensitive (names) and rows; missing where there are none
baseline            the comparison with the model in production (`skfairtest.paired.report`): setup, kind, names,
                    shares, n_samples, p_value, concern, results and not_compared; missing where there was none
individual          the test of individual fairness in sentences, the verdict first; missing where there was none
individual_verdict  its verdict: "unfair", "not_rejected", or "no_trace" (nothing was tested); missing where there was
                    none, and in records of versions that did not write it
own_metrics         metrics that are not built in, whose descriptions are the caller's; missing where there are none
provenance          how the audit was called, the command if one was typed, and hashes of the data and of the model;
                    null in records of versions that did not trace it. The seed is among the parameters
signature           name and date of who signed it; or null
accepted            known findings: id of the comparison, the reason, and up to which disparity; missing where there
                    are none
==================  ===================================================================================================

Undefined numbers are null, infinite ones the strings "inf" and "-inf". A group of several features is a list. A label
that is no text, number or truth value is written as text. What a group is compared with (other) is a group, or the text
"overall", "rest" or, for the rest of a parent group, "rest of race = Black".

A record holds facts, and what follows from them for readers of the JSON. When it is read, everything that follows is
computed again (`skfairtest.audit.rebuilt`; by `FairnessAudit.from_json` also what takes statistics, such as exact
p-values from counts), and must be what was read, number for number within rounding, and sentence for sentence where the
same version wrote it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Self

import pandas as pd

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest._version import __version__
from skfairtest.audit import rebuilt
from skfairtest.audit.impact_record import ImpactRecord
from skfairtest.audit.provenance import Accepted, Provenance, Signature
from skfairtest.paired.report import PairedRecord
from skfairtest.report import plain
from skfairtest.report.cells import oriented, oriented_histogram, result_sentences
from skfairtest.report.plots import NullHistogram
from skfairtest.report.sentences import ADJUST, FOUND, LEVEL, NOT_FOUND, Setup, equals_p
from skfairtest.report.wording import check_words
from skfairtest.subgroups.report import ScanRecord

SCHEMA, SCHEMA_VERSION = "skfairtest.audit", 3
#: Versions that are read; one is written again as it was read.
READ = (2, SCHEMA_VERSION)
#: What a record need not have, and what stands for it.
OPTIONAL: dict[str, Any] = {
    "scan": None, "impact": None, "baseline": None, "homogeneity": [], "individual": [], "individual_verdict": None,
    "own_metrics": [], "provenance": None, "signature": None, "accepted": [],
}  # fmt: skip
#: Groupings that the verdict names, and what was not tested for the same reason.
NAMED, MOST_UNTESTED = 3, 8


# Fields are annotated with what reads them. Those that are not, such as sentences, are made of those that are.

SHARE, SIZE = plain.between(0, 1, null=True), plain.between(0, math.inf, null=True, infinite=True)


@dataclass(frozen=True)
class AuditVerdict(plain.Declared):
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
    negative_labels : tuple
        The other labels.
    """

    concern: Annotated[bool, plain.truth]
    p_value: Annotated[float, SHARE]
    p_value_interval: Annotated[tuple[float, float], plain.array(SHARE, 2)]
    alpha: Annotated[float, LEVEL]
    adjust: Annotated[str | None, ADJUST]
    n_samples: Annotated[int, plain.count]
    n_comparisons: Annotated[int, plain.count]
    n_found: Annotated[int, plain.count]
    pos_label: Annotated[Any, plain.scalar] = None
    negative_labels: Annotated[tuple[Any, ...], plain.array(plain.scalar)] = ()

    @staticmethod
    def of(comparisons: Sequence[pd.DataFrame]) -> dict[str, Any]:
        """What follows from the comparisons of all parts."""
        every = pd.concat(comparisons, ignore_index=True)
        found = int(every["concern"].sum())
        p_value = float(every["p_value_adjusted"].min())
        return {"concern": found > 0, "p_value": p_value, "n_comparisons": len(every), "n_found": found}


def _label_of(features: int) -> plain.Reader:
    """Return a reader of labels of so many features: a list where there are several, null where there is none."""
    return plain.array(plain.scalar, features) if features > 1 else plain.scalar if features else plain.one_of(None)


def _tables(sensitive: int, control: int) -> dict[str, Mapping[str, plain.Reader]]:
    """Declare the columns of the frames of a part with so many features."""
    null, group, level = plain.one_of(None), _label_of(sensitive), _label_of(control)
    # Of a group's counterpart, which may be everybody else, and of what is left out for all of its part.
    named, stratum = plain.either(null, plain.text, group), plain.either(null, level)
    return {
        "by_group": {
            "metric": plain.text, "stratum": level, "group": group, "n": plain.count, "n_effective": plain.count,
            "value": plain.real, "standard_error": SIZE, "ci_low": plain.real, "ci_high": plain.real,
            "small": plain.truth,
        },
        "comparisons": {
            "metric": plain.text, "group": plain.either(null, group), "other": named, "disparity": plain.real,
            "ci_low": plain.real, "ci_high": plain.real, "stratum": stratum, "n_group": plain.count,
            "n_other": plain.count, "value_group": plain.real, "value_other": plain.real, "standard_error": SIZE,
            "statistic": plain.real, "method": plain.text, "p_value": SHARE, "minimum_detectable": SIZE,
            "verdict": plain.one_of(FOUND, NOT_FOUND), "p_value_adjusted": SHARE, "concern": plain.truth,
        },
        "excluded": {
            "metric": plain.either(null, plain.text), "group": named, "other": named, "stratum": stratum,
            "reason": plain.text, "n": plain.count, "n_effective": plain.count, "comparisons": plain.count,
        },
    }  # fmt: skip


_HYPOTHESES = plain.array(plain.either(plain.one_of(None), plain.array(plain.count, 3)))
#: Columns of the frames of a part.
COLUMNS = {name: tuple(fields) for name, fields in _tables(1, 0).items()}


@dataclass(frozen=True, eq=False)
class AuditPart(plain.Declared):
    """What one grouping of the people says, its p-values adjusted for the whole audit.

    Parameters
    ----------
    sensitive, control : tuple of str
        Names of the features that make the groups, and of those that make the strata.
    setup : Setup
        How sentences are written.
    by_group, comparisons, excluded : DataFrame
        Values by group and stratum, one row per comparison, and what was left out.
    hypotheses : tuple
        For each comparison, numbers of what is equal and of both sides: those with equal numbers, in any part, are one
        hypothesis; None: a hypothesis of its own. Empty where not all that were tested are shown, or it is not known.
    """

    sensitive: Annotated[tuple[str, ...], plain.array(plain.text, least=1)]
    control: Annotated[tuple[str, ...], plain.array(plain.text)]
    setup: Annotated[Setup, plain.made_of(Setup)]
    # How long labels are depends on the features.
    by_group: Annotated[pd.DataFrame, plain.anything]
    comparisons: Annotated[pd.DataFrame, plain.anything]
    excluded: Annotated[pd.DataFrame, plain.anything]
    hypotheses: Annotated[tuple[tuple[int, int, int] | None, ...], _HYPOTHESES] = ()

    _left_out = frozenset({"hypotheses"})

    def __post_init__(self) -> None:
        """Give the frames the schema's types, whatever they came from."""
        features = {"group": len(self.sensitive), "other": len(self.sensitive), "stratum": len(self.control)}
        for name, columns in COLUMNS.items():
            rows = plain.plain_rows(getattr(self, name))
            for row in rows:
                row |= {key: plain.of_features(row[key], n) for key, n in features.items() if key in row}
            object.__setattr__(self, name, plain.frame_of(rows, columns))
        object.__setattr__(self, "setup", replace(self.setup, names=self.sensitive))

    def also(self) -> dict[str, Any]:
        """The comparisons, each with its sentence."""
        said = result_sentences(self.setup, self.comparisons)
        rows = zip(plain.plain_rows(self.comparisons), said, strict=True)
        return {"comparisons": [row | {"sentence": sentence} for row, sentence in rows]}

    def in_words(self, positive_means: str | None, favorable: bool | None) -> Self:
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


def _part(value: Any, place: str) -> AuditPart:
    """Read a part, whose features say how long labels are."""
    names = plain.record({"sensitive": plain.array(plain.text, least=1), "control": plain.array(plain.text)})(
        value, place
    )
    columns = _tables(len(names["sensitive"]), len(names["control"]))
    tables = {name: plain.array(plain.record(fields)) for name, fields in columns.items()}
    others = {"setup": plain.made_of(Setup), "hypotheses": _HYPOTHESES}
    found = plain.record({**others, **tables})({"hypotheses": [], **value}, place)
    frames: dict[str, Any] = {name: plain.frame_of(found[name], fields) for name, fields in columns.items()}
    return AuditPart(**names, **{name: found[name] for name in others}, **frames)


def _not_compared(value: Any, place: str) -> tuple[str, ...]:
    """Read a grouping that was not compared, and why."""
    return tuple(plain.record({"sensitive": plain.text, "reason": plain.text})(value, place).values())


def _accepted(value: Any, place: str) -> Accepted:
    """Read a known finding; those of earlier versions have no limit."""
    known: Accepted = plain.made_of(Accepted)({"limit": None, **value} if isinstance(value, dict) else value, place)
    return known


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditRecord(plain.Declared):
    """Everything that a report of an audit says. The module says what each field holds."""

    _left_out = frozenset(
        {"scan", "impact", "baseline", "individual", "individual_verdict", "homogeneity", "own_metrics", "accepted"}
    )

    schema_version: Annotated[int, plain.count] = SCHEMA_VERSION
    created: Annotated[str, plain.text]
    title: Annotated[str, plain.text]
    subject: Annotated[str, plain.text]
    about: Annotated[tuple[str, ...], plain.array(plain.text)] = ()
    sources: Annotated[tuple[str, ...], plain.array(plain.text)] = ()
    versions: Annotated[Mapping[str, str], plain.mapping(plain.text)]
    parameters: Annotated[Mapping[str, Any], plain.mapping(plain.anything)]
    verdict: Annotated[AuditVerdict, plain.made_of(AuditVerdict)]
    parts: Annotated[tuple[AuditPart, ...], plain.array(_part, least=1)]
    not_compared: Annotated[tuple[tuple[str, str], ...], plain.array(_not_compared)] = ()
    leading: Annotated[tuple[int, int], plain.array(plain.count, 2)]
    null_distribution: Annotated[NullHistogram | None, plain.optional(NullHistogram)] = None
    warnings: Annotated[tuple[str, ...], plain.array(plain.text)] = ()
    scan: Annotated[ScanRecord | None, plain.optional(ScanRecord)] = None
    impact: Annotated[ImpactRecord | None, plain.optional(ImpactRecord)] = None
    baseline: Annotated[PairedRecord | None, plain.optional(PairedRecord)] = None
    individual: Annotated[tuple[str, ...], plain.array(plain.text)] = ()
    individual_verdict: Annotated[str | None, plain.one_of("unfair", "not_rejected", "no_trace", None)] = None
    homogeneity: Annotated[tuple[str, ...], plain.array(plain.text)] = ()
    own_metrics: Annotated[tuple[str, ...], plain.array(plain.text)] = ()
    provenance: Annotated[Provenance | None, plain.optional(Provenance)] = None
    signature: Annotated[Signature | None, plain.optional(Signature)] = None
    accepted: Annotated[tuple[Accepted, ...], plain.array(_accepted)] = ()

    def __post_init__(self) -> None:
        """Make everything plain, so that a record is the same before it is written and after it is read."""
        object.__setattr__(self, "parameters", plain.plain_value(self.parameters))
        verdict = self.verdict
        positive, *negative = (
            plain.of_features(plain.plain_value(label), 1) for label in (verdict.pos_label, *verdict.negative_labels)
        )
        object.__setattr__(self, "verdict", replace(verdict, pos_label=positive, negative_labels=tuple(negative)))
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
    def untested(self) -> dict[str, list[str]]:
        """Metrics, and groupings, in which nothing could be compared, by the reason."""
        lost: dict[tuple[str, str], list[str]] = {}
        for part in self.parts:
            tested = {None, *part.comparisons["metric"]}
            for metric, reason in part.excluded[["metric", "reason"]].drop_duplicates("metric").itertuples(index=False):
                if metric not in tested:
                    lost.setdefault((metric, reason), []).append(f"{label(metric)} by {label(part.feature)}")
        found: dict[str, list[str]] = {}
        for (metric, reason), names in lost.items():
            found.setdefault(reason, []).extend([label(metric)] if len(names) == len(self.parts) else names)
        for name, reason in self.not_compared:
            found.setdefault(reason, []).append(f"by {label(name)}")
        return found

    @property
    def sentence(self) -> str:
        """The verdict: whether there is a significant disparity, where, its p-value, and what could not be tested."""
        lost = [f"{enumerated(names, most=MOST_UNTESTED)} ({label(reason)})" for reason, names in self.untested.items()]
        if len(lost) > NAMED:
            lost[NAMED:] = [f"and for {len(lost) - NAMED} more reasons"]
        return f"{self._found} Not tested: {'; '.join(lost)}." if lost else self._found

    @property
    def _found(self) -> str:
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

    def oriented(self) -> Self:
        """Return the record with the comparisons of all its parts, and its null distribution, as reports show them."""
        parts = tuple(replace(part, comparisons=oriented(part.setup, part.comparisons)) for part in self.parts)
        histogram = self.null_distribution
        if histogram is not None:
            part, row = self.leading
            histogram = oriented_histogram(self.parts[part].setup, self.parts[part].comparisons, row, histogram)
        return replace(self, parts=parts, null_distribution=histogram)

    def signed(self, name: str) -> Self:
        """Return the record with the name of who signs it, now.

        Raises
        ------
        ValueError
            If the name is empty or no text.
        """
        if not isinstance(name, str) or not name.strip():
            raise ParameterError(f"name must be the name of who signs, as a text; found {name!r}")
        return replace(self, signature=Signature(name, datetime.now(UTC).isoformat(timespec="seconds")))

    def accepting(self, known: Sequence[Accepted]) -> Self:
        """Return the record with known disparities that are accepted; what is accepted again replaces the earlier."""
        return replace(self, accepted=tuple({each.id: each for each in (*self.accepted, *known)}.values()))

    def also(self) -> dict[str, Any]:
        """The verdict with its sentence, and what was not compared by name."""
        return {
            "verdict": plain.plain_value(self.verdict) | {"sentence": self.sentence},
            "not_compared": [{"sensitive": names, "reason": reason} for names, reason in self.not_compared],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON has it."""
        return {"schema": SCHEMA, **plain.plain_value(self)}

    def to_json(self, indent: int | None = 2) -> str:
        """Write the record as ASCII text that any reader of JSON takes."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, recomputed: Callable[[AuditRecord], AuditRecord] | None = None) -> Self:
        """Read what `to_json` wrote.

        Parameters
        ----------
        text : str or bytes
            What was written.
        recomputed : callable
            Takes a record, and computes again what takes statistics.

        Raises
        ------
        ValueError
            If the text is no JSON, or no record of an audit that this version can read; or if one field contradicts
            others, such as a `concern` that is false where a comparison is significant. The message names both.
        """
        document = plain.document_of(text)
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            found = document.get("schema") if isinstance(document, dict) else type(document).__name__
            raise ValueError(f"text is not the record of an audit: its schema must be {SCHEMA!r}; found {found!r:.60}")
        version = document.get("schema_version")
        if isinstance(version, bool) or version not in READ:
            read = enumerated([str(one) for one in READ])
            raise ValueError(
                f"text has schema_version {version!r:.60}, and this version of skfairtest reads {read}: read it with "
                "the version that wrote it, which it names under versions"
            )
        try:
            made = cls(**plain.record(plain.readers_of(cls))(OPTIONAL | document, ""))
            place, row = made.leading
            if place >= len(made.parts) or row >= len(made.parts[place].comparisons):
                raise ValueError(f"leading {[place, row]} is no comparison")
            due = made.rebuilt()
            made.check(document, due)
            for said in rebuilt.unlikely(made):
                raise ValueError(said)
            if recomputed is not None:
                made.check(document, recomputed(due).rebuilt())
            made.check(document, due, sentences=True)
        except ValueError as error:
            raise ValueError(f"text is not the record of an audit that to_json wrote: {error}") from error
        return made

    def check(self, document: Mapping[str, Any], due: AuditRecord, *, sentences: bool = False) -> None:
        """Refuse a document that is not what it was rebuilt to be; other versions may have put it in other words."""
        if sentences and (self.schema_version, self.versions.get("skfairtest")) != (SCHEMA_VERSION, __version__):
            return
        without = frozenset() if sentences else frozenset({"sentence"})
        for said in plain.differences(document, due.to_dict(), without=without):
            raise ValueError(said)

    def rebuilt(self) -> Self:
        """Return the record with everything computed again that follows from other facts.

        Raises
        ------
        ValueError
            If something cannot be computed, because what it should follow from is not there.
        """
        asked, verdict, parts = rebuilt.asked_of(self.parameters), self.verdict, []
        adjust = asked["adjust"]
        if adjust == "auto":
            adjust = "shaffer" if verdict.adjust == "shaffer" else "holm"
        for place, part in enumerate(self.parts):
            part = replace(part, setup=rebuilt.rebuilt_setup(part, asked, adjust))
            try:
                parts.append(replace(part, **rebuilt.rebuilt_frames(part)))
            except ValueError as error:
                raise ValueError(f"parts[{place}].{error}") from error
        people = [n for n in map(rebuilt.n_people, parts) if n is not None]
        if len(set(people)) > 1:
            raise ValueError(f"parts hold {enumerated([f'{n:,}' for n in people])} people, and must hold the same")
        leading, given = rebuilt.leading_of(parts, self.leading), self.parameters.get("pos_label")
        lead = parts[leading[0]].comparisons.iloc[leading[1]]
        histogram = self.null_distribution
        if histogram is not None:
            seen = histogram.observed if histogram.kind == "enumerated" else float(lead["statistic"])
            histogram = replace(histogram, p_value=float(lead["p_value"]), observed=seen)
        verdict = replace(
            verdict,
            **AuditVerdict.of([part.comparisons for part in parts]),
            alpha=parts[0].setup.alpha,
            adjust=adjust,
            n_samples=people[0] if people else verdict.n_samples,
            pos_label=verdict.pos_label if given is None or verdict.pos_label is None else given,
        )
        return replace(
            self,
            verdict=verdict,
            parts=tuple(parts),
            leading=leading,
            null_distribution=histogram,
            scan=None if self.scan is None else self.scan.rebuilt(),
            baseline=None if self.baseline is None else replace(self.baseline, kind="change"),
        )
