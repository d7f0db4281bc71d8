"""Significant disparities as findings with stable identifiers, and the files in which CI systems read them."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

from skfairtest._utils.text import label
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.report.record import plain_rows

#: What XML 1.0 cannot hold.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def findings_of(record: AuditRecord) -> list[dict[str, Any]]:
    """Return all comparisons of an audit in the order of the record, each with its identifier."""
    found = []
    for part in record.parts:
        for row in plain_rows(part.comparisons):
            below = row["disparity"] is not None and float(row["disparity"]) < part.setup.is_ratio(row["metric"])
            known, sides = _id(part, row, below=below), [row["group"], row["other"]]
            name = f"{part.feature}: {' and '.join(_label(side) for side in sides if side is not None)}"
            name += "" if row["stratum"] is None else f" within {_label(row['stratum'])}"
            found.append({
                **row, "id": known, "turned": _id(part, row, below=not below),
                "name": name, "reason": record.accepted.get(known),
            })  # fmt: skip
    return found


def _id(part: AuditPart, row: Mapping[str, Any], *, below: bool) -> str:
    """Hash what is compared, whichever side comes first: reports turn comparisons round."""
    sides = [row["group"], row["other"]]
    if json.dumps(sides[0]) > json.dumps(sides[1]):
        sides, below = sides[::-1], not below
    what = [part.sensitive, part.control, row["metric"], *sides, row["stratum"]]
    what += [part.setup.disparity, "below" if below else "above"]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:12]


def accept(record: AuditRecord, accepted: Mapping[str, str]) -> AuditRecord:
    """Return the record with the disparities that are known, and why each is accepted."""
    known = {each[name] for each in findings_of(record) for name in ("id", "turned")}
    for name, reason in accepted.items():
        if not reason.strip():
            raise ValueError(f"--accept {name}: give the reason as well, as in {name}=REASON")
        if name not in known:
            raise ValueError(f"--accept {name}: no comparison of this audit has this identifier, see --junit")
    return replace(record, accepted={**record.accepted, **accepted})


def to_junit(record: AuditRecord) -> str:
    """Write an audit as JUnit's XML: a suite for each grouping, a case for each comparison.

    Significant disparities are failures; accepted ones, and what was left out, are skipped with the reason.
    """
    suites = ElementTree.Element("testsuites", name=_text(record.title))

    def case(suite: ElementTree.Element, of: str, name: str, outcome: str = "", said: str = "") -> None:
        made = ElementTree.SubElement(suite, "testcase", name=_text(name), classname=_text(of), time="0")
        if outcome:
            ElementTree.SubElement(made, outcome, type="disparity", message=_text(said)).text = _text(said)

    found = findings_of(record)
    for part in record.parts:
        suite = ElementTree.SubElement(suites, "testsuite", name=_text(f"by {part.feature}"))
        for each in found:
            if each["feature"] == part.feature:
                outcome = "" if not each["concern"] else "failure" if each["reason"] is None else "skipped"
                said = each["sentence"] if outcome == "failure" else f"Accepted: {each['reason']}"
                case(suite, str(each["metric"]), f"{each['name']} [{each['id']}]", outcome, said)
        for row in plain_rows(part.excluded):
            names = [_label(row[key]) for key in ("metric", "group", "other", "stratum") if row[key] is not None]
            case(suite, "left out", f"{part.feature}: {', '.join(names)}", "skipped", str(row["reason"]))
    if record.not_compared:
        suite = ElementTree.SubElement(suites, "testsuite", name="not compared")
        for names_of, reason in record.not_compared:
            case(suite, "left out", names_of, "skipped", reason)
    counts = {"tests": "testcase", "failures": "testcase/failure", "skipped": "testcase/skipped"}
    for suite in suites:
        sizes = {name: str(len(suite.findall(path))) for name, path in counts.items()}
        suite.attrib.update({**sizes, "errors": "0", "time": "0"})
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _label(value: Any) -> str:
    return label(tuple(value) if isinstance(value, list) else value)


def _text(said: str) -> str:
    return _NO_XML.sub("\ufffd", said)
