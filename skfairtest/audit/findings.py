"""Significant disparities as findings with stable identifiers, and the files in which CI systems read them."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from skfairtest._utils.text import label
from skfairtest.audit.record import Accepted, AuditPart, AuditRecord
from skfairtest.report.cells import oriented, records
from skfairtest.report.plain import plain_rows
from skfairtest.report.sentences import finding_sentence

#: What XML 1.0 cannot hold.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Finding:
    """A comparison of an audit.

    Parameters
    ----------
    id : str
        The same in every audit by the same features, groups and metric, compared alike, in which the disparity has the
        same direction: an accepted one that turns round is not accepted.
    part : AuditPart
        The grouping.
    row : mapping
        The comparison.
    sentence : str
        What it says.
    accepted : Accepted or None
        Why it was accepted, if it was.
    """

    id: str
    part: AuditPart
    row: Mapping[str, Any]
    sentence: str
    accepted: Accepted | None

    @property
    def reason(self) -> str | None:
        """Why it is accepted, if it is."""
        return None if self.accepted is None else self.accepted.reason

    @property
    def name(self) -> str:
        """What is compared: "race: A and B", with the stratum if there is one."""
        sides = " and ".join(_labels(self.row, ("group", "other")))
        within = "" if self.row["stratum"] is None else f" within {label(self.row['stratum'])}"
        return f"{self.part.feature}: {sides}{within}"


def findings_of(record: AuditRecord) -> Iterator[Finding]:
    """Yield all comparisons of an audit, each with its identifier.

    Parameters
    ----------
    record : AuditRecord
        What was found.

    Yields
    ------
    Finding
        In the order of the record.
    """
    known = {accepted.id: accepted for accepted in record.accepted}
    for part in record.parts:
        said = [finding_sentence(part.setup, row) for row in records(oriented(part.setup, part.comparisons))]
        for row, sentence in zip(plain_rows(part.comparisons), said, strict=True):
            name = _id(part, row, below=_is_below(part, row))
            yield Finding(name, part, row, sentence, known.get(name))


def _id(part: AuditPart, row: Mapping[str, Any], *, below: bool) -> str:
    """Hash what is compared, whichever side comes first: reports turn comparisons round."""
    sides = [row["group"], row["other"]]
    if json.dumps(sides[0]) > json.dumps(sides[1]):
        sides, below = sides[::-1], not below
    what = [part.sensitive, part.control, row["metric"], *sides, row["stratum"]]
    what += [part.setup.disparity, "below" if below else "above"]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:12]


def _is_ratio(part: AuditPart, row: Mapping[str, Any]) -> bool:
    return part.setup.is_ratio(row["metric"])


def _is_below(part: AuditPart, row: Mapping[str, Any]) -> bool:
    return row["disparity"] is not None and float(row["disparity"]) < _is_ratio(part, row)


def accept(record: AuditRecord, accepted: Mapping[str, str]) -> AuditRecord:
    """The record with the disparities that are known, and why each is accepted.

    Parameters
    ----------
    record : AuditRecord
        What was found.
    accepted : mapping of str to str
        Reasons by identifiers.

    Raises
    ------
    ValueError
        If there is no such comparison, or no reason.
    """
    ids = {_id(one.part, one.row, below=_is_below(one.part, one.row) != turned)
           for one in findings_of(record) for turned in (False, True)}  # fmt: skip
    for name, reason in accepted.items():
        if not reason.strip():
            raise ValueError(f"--accept {name}: give the reason as well, as in {name}=REASON")
        if name not in ids:
            raise ValueError(f"--accept {name}: no comparison of this audit has this identifier, see --junit")
    return record.accepting([Accepted(name, reason) for name, reason in accepted.items()])


def to_junit(record: AuditRecord) -> str:
    """Write an audit as JUnit's XML: a suite for each grouping, a case for each comparison.

    A significant disparity is a failure; one that was accepted, and what was left out, is skipped, with the reason.
    """
    suites = ElementTree.Element("testsuites", name=_text(record.title))
    found = list(findings_of(record))
    for part in record.parts:
        suite = ElementTree.SubElement(suites, "testsuite", name=_text(f"by {part.feature}"))
        for finding in found:
            if finding.part is not part:
                continue
            case = _case(suite, f"{finding.name} [{finding.id}]", str(finding.row["metric"]))
            sentence = _text(finding.sentence)
            if finding.row["concern"] and finding.reason is None:
                ElementTree.SubElement(case, "failure", type="disparity", message=sentence).text = sentence
            elif finding.row["concern"]:
                ElementTree.SubElement(case, "skipped", message=_text(f"Accepted: {finding.reason}"))
        for row in plain_rows(part.excluded):
            what = ", ".join(_labels(row, ("metric", "group", "other", "stratum")))
            case = _case(suite, f"{part.feature}: {what}", "left out")
            ElementTree.SubElement(case, "skipped", message=_text(str(row["reason"])))
    if record.not_compared:
        suite = ElementTree.SubElement(suites, "testsuite", name="not compared")
        for names, reason in record.not_compared:
            ElementTree.SubElement(_case(suite, names, "left out"), "skipped", message=_text(reason))
    counts = {"tests": "testcase", "failures": "testcase/failure", "skipped": "testcase/skipped"}
    for suite in suites:
        sizes = {name: str(len(suite.findall(path))) for name, path in counts.items()}
        suite.attrib.update({**sizes, "errors": "0", "time": "0"})
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, name: str, of: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", name=_text(name), classname=_text(of), time="0")


def _labels(row: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    """What a row of a record holds under some keys, as it is written; nothing where it holds None."""
    values = [row[key] for key in keys if row[key] is not None]
    return [label(tuple(value) if isinstance(value, list) else value) for value in values]


def _text(said: str) -> str:
    return _NO_XML.sub("\ufffd", said)
