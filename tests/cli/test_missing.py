"""``--missing`` of the command: people whose group is an empty field."""

import json

import pandas as pd
import pytest

from skfairtest import FairnessAudit
from skfairtest.cli.app import run

SEX = ["f", "m", None] * 30
HIRED = [0, 1, 1, 1, 0, 0, 0, 1, 1, 1] * 9
ASKED = ["--y-pred", "hired", "--sensitive", "sex", "--metric", "selection_rate"]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "people.csv"
    pd.DataFrame({"sex": SEX, "hired": HIRED}).to_csv(file, index=False)
    return str(file)


@pytest.mark.parametrize("missing", ["exclude", "group", "bounds"])
def test_the_command_finds_what_the_audit_finds(missing, path, capsys):
    status = run(["audit", path, *ASKED, "--missing", missing, "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    audit = FairnessAudit.from_predictions(
        None, HIRED, sensitive_features={"sex": SEX}, metrics="selection_rate", missing=missing, random_state=0
    )
    assert found["parts"] == json.loads(audit.to_json())["parts"]
    assert found["parameters"]["missing"] == missing
    assert found["verdict"]["n_samples"] == 90
    assert status == int(audit.concern_)


def test_people_who_are_left_out_are_in_the_report(path, capsys):
    run(["audit", path, *ASKED, "--missing", "exclude"])
    assert "sex is missing: left out" in capsys.readouterr().out


def test_without_the_option_an_empty_field_is_an_error_that_names_it(path, capsys):
    assert run(["audit", path, *ASKED]) == 2
    assert "30 of 90 values are missing in column 'sex' (--sensitive)" in (said := capsys.readouterr().err)
    assert "--missing" in said


def test_a_command_without_the_option_does_not_name_it(path, capsys):
    assert run(["count", path, "--y-pred", "hired", "--sensitive", "sex", "-o", path.replace("csv", "json")]) == 2
    assert "--missing" not in capsys.readouterr().err


def test_what_engines_count_has_no_missing_groups(path, capsys):
    assert run(["audit", path, *ASKED, "--missing", "group", "--engine", "polars"]) == 2
    assert "--missing needs a single file that is read into memory: it does not go with --engine" in (
        capsys.readouterr().err
    )
