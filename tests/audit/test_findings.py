"""Files that CI systems read, and findings that are known."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from skfairtest import FairnessAudit
from skfairtest.audit.findings import accept, findings_of, to_junit
from skfairtest.audit.report import audit_report
from skfairtest.cli.app import run
from skfairtest.report.text import text


def people(seed=0, gap=0.4):
    rng = np.random.default_rng(seed)
    sex, team = rng.choice(["f", "m"], 400), rng.choice(["a", "b"], 400)
    return pd.DataFrame({"sex": sex, "team": team, "hired": (rng.random(400) < 0.3 + gap * (sex == "m")).astype(int)})


def record(**given):
    data = people(**given)
    return FairnessAudit.from_predictions(None, data["hired"], sensitive_features=data[["sex", "team"]]).record_


def significant(made):
    return [finding for finding in findings_of(made) if finding["concern"]]


def test_identifiers_are_those_of_what_is_compared_and_not_of_the_numbers():
    one, other = (findings_of(record(seed=seed)) for seed in (0, 1))
    alike = [(a, b) for a, b in zip(one, other, strict=True) if (a["disparity"] < 0) == (b["disparity"] < 0)]
    assert all(a["id"] == b["id"] for a, b in alike)
    assert len({finding["id"] for finding in one}) == len(one)
    assert {a["id"] for a in significant(record())} <= {a["id"] for a, _ in alike}


def test_an_accepted_disparity_that_turns_round_is_a_new_one():
    known = {finding["id"] for finding in significant(record(gap=0.4))}
    assert known
    assert not known & {finding["id"] for finding in significant(record(gap=-0.25))}


def test_junit_has_a_case_for_each_comparison(tmp_path):
    made = record()
    root = ElementTree.fromstring(to_junit(made))
    cases = root.findall("testsuite/testcase")
    assert len(cases) == made.n_comparisons + sum(len(part.excluded) for part in made.parts)
    assert len(root.findall("testsuite/testcase/failure")) == made.n_found > 0
    junitparser = pytest.importorskip("junitparser")
    path = tmp_path / "out.xml"
    path.write_text(to_junit(made), encoding="utf-8")
    suites = list(junitparser.JUnitXml.fromfile(str(path)))
    assert sum(suite.tests for suite in suites) == made.n_comparisons
    assert sum(suite.failures for suite in suites) == made.n_found


def test_files_hold_any_name(hostile_record):
    root = ElementTree.fromstring(to_junit(hostile_record))
    cases = hostile_record.n_comparisons + len(hostile_record.not_compared)
    assert len(root.findall("testsuite/testcase")) == cases


def test_what_is_accepted_is_kept_with_its_reason_and_shown(tmp_path, capsys):
    data, saved, junit = (tmp_path / name for name in ("people.csv", "out.json", "out.xml"))
    people().to_csv(data, index=False)
    columns = ["audit", str(data), "--y-pred", "hired", "--sensitive", "sex", "--seed", "0"]
    files = ["--json", str(saved), "--junit", str(junit)]
    assert run([*columns, *files]) == 1
    known = ElementTree.parse(junit).find("testsuite/testcase").get("name").rpartition("[")[2].rstrip("]")
    capsys.readouterr()
    assert run([*columns, *files, "--accept", f"{known}=agreed with the works council"]) == 0
    again = FairnessAudit.from_json(saved).record_
    assert again.accepted == {known: "agreed with the works council"}
    assert f"Accepted: Selection rate, sex: f and m ({known}): agreed with the" in " ".join(
        capsys.readouterr().out.split()
    )
    assert again.n_found
    assert run(["report", str(saved), "--junit", str(junit)]) == 0
    assert ElementTree.parse(junit).find("testsuite/testcase/skipped").get("message").endswith("works council")


def test_a_report_that_turns_comparisons_round_names_what_was_accepted():
    made = record(gap=-0.25)
    known, *_ = significant(made)
    turned, *_ = significant(accept(made, {known["id"]: "quota"}).oriented())
    assert (turned["group"], turned["other"]) == (known["other"], known["group"])
    assert (turned["id"], turned["reason"]) == (known["id"], "quota")
    assert [each["id"] for each in findings_of(made)] == [each["id"] for each in findings_of(made.oriented())]


def test_what_was_accepted_and_turned_round_is_no_error():
    made = record(gap=0.4)
    known = significant(made)[0]
    turned = accept(record(gap=-0.25), {known["id"]: "quota of 2026"})
    assert all(finding["reason"] is None for finding in findings_of(turned))
    said = text(audit_report(turned))
    assert f"Accepted, and no longer observed: ({known['id']}): quota of 2026" in " ".join(said.split())


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("0123=why", "no comparison of this audit has this identifier"),
        ("0123", "give the reason as well"),
        ("KNOWN:0.1=why", "no comparison of this audit has this identifier"),
    ],
)
def test_what_cannot_be_accepted_is_an_error(tmp_path, capsys, typed, says):
    data = tmp_path / "people.csv"
    people().to_csv(data, index=False)
    made = FairnessAudit.from_predictions(None, people()["hired"], sensitive_features=people()[["sex"]]).record_
    typed = typed.replace("KNOWN", significant(made)[0]["id"])
    assert run(["audit", str(data), "--y-pred", "hired", "--sensitive", "sex", "--accept", typed]) == 2
    assert says in capsys.readouterr().err
