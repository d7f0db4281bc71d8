"""``--missing`` of the command: people whose group is an empty field."""

from pathlib import Path

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
    record = path.replace("csv", "json")
    status = run(["audit", path, *ASKED, "--missing", missing, "--json", record])
    found = FairnessAudit.from_json(Path(record))
    audit = FairnessAudit.from_predictions(
        None, HIRED, sensitive_features={"sex": SEX}, metrics="selection_rate", missing=missing, random_state=0
    )
    pd.testing.assert_frame_equal(found.to_frame(), audit.to_frame())
    assert status == int(audit.concern_)


def test_people_who_are_left_out_are_in_the_report(path, capsys):
    run(["audit", path, *ASKED, "--missing", "exclude"])
    assert "sex is missing: left out" in capsys.readouterr().out
