"""``skfairtest scan``: what it finds in a file, writes and returns."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import SubgroupScan
from skfairtest.cli.app import run


@pytest.fixture
def people(tmp_path):
    """A file in which young women are treated unlike others."""
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "age": np.resize(np.arange(20, 70), n)})
    frame["town"] = rng.choice(["01", "02"], n)
    frame["truth"] = rng.integers(0, 2, n)
    frame["pred"] = (rng.random(n) < np.where((frame["sex"] == "f") & (frame["age"] < 30), 0.8, 0.4)).astype(int)
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path


ASKED = ["--y-pred", "pred", "--metric", "selection_rate", "--sensitive", "sex", "--sensitive", "age"]


def scan(path, *options):
    return run(["scan", str(path), *options])


def test_a_subgroup_that_differs_is_named_and_the_status_is_1(people, capsys):
    assert scan(people, *ASKED, "--feature", "town") == 1
    text = capsys.readouterr().out
    assert text.startswith("Significant disparity: of ")
    assert "eople with age 20 to 29, sex = f were predicted positive " in text
    assert "town = 01" not in text.split("Null hypothesis")[0]


def test_every_format_says_what_the_class_says(people, capsys, tmp_path):
    files = {name: tmp_path / f"scan.{name}" for name in ("html", "json", "markdown")}
    options = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    assert scan(people, *ASKED, "--csv", str(people.with_name("rows.csv")), *options) == 1
    frame = pd.read_csv(people.with_name("rows.csv"))
    rows = pd.read_csv(people)
    own = SubgroupScan.from_predictions(
        None, rows["pred"], sensitive_features=rows[["sex", "age"]], metric="selection_rate"
    )
    assert list(frame["subgroup"]) == list(own.subgroups_["subgroup"])
    np.testing.assert_allclose(frame["p_value"], own.subgroups_["p_value"])
    again = SubgroupScan.from_json(files["json"])
    assert again.comparisons_["subgroup"].iloc[0] == "age 20 to 29, sex = f"
    assert '<span class="bar' in files["html"].read_text()
    assert "age 20 to 29, sex = f" in files["markdown"].read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([*ASKED, "--max-depth", "0"], "--max-depth must be an integer of at least 1"),
        ([*ASKED, "--compare", "in_context"], "--compare 'in_context' compares people who share values of"),
        ([*ASKED, "--metric", "roc_auc", "--y-score", "pred", "--y-true", "truth"], "is neither a rate nor a mean"),
        ([*ASKED, "--feature", "nowhere"], "nowhere"),
    ],
)
def test_bad_input_is_named_by_its_option(people, capsys, options, message):
    assert scan(people, *options) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_numbers_are_cut_beside_the_name_of_what_is_missing(people, capsys):
    rows = pd.read_csv(people, dtype=str)
    rows.loc[:199, "age"] = "unknown"
    rows.to_csv(people, index=False)
    assert scan(people, *ASKED, "--csv", str(people.with_name("rows.csv"))) == 1
    found = set(pd.read_csv(people.with_name("rows.csv"))["subgroup"])
    assert {"age 20 to 29", "age unknown"} <= found


def test_a_column_may_be_a_feature_too(people, capsys):
    assert scan(people, *ASKED, "--feature", "age", "--compare", "in_context") == 1
    assert "others with age 20 to 29" in capsys.readouterr().out


def test_an_audit_has_a_section_about_subgroups(people, capsys):
    asked = ["audit", str(people), "--y-pred", "pred", "--sensitive", "sex"]
    without = run(asked)
    capsys.readouterr()
    assert run([*asked, "--scan", "age", "--scan", "town"]) == without
    assert "age 20 to 29, sex = f" in capsys.readouterr().out
    assert run([*asked, "--scan", "sex", "--scan", "age", "--metric", "selection_rate"]) == without
    assert "Further subgroups" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scan", "nowhere"], "nowhere"),
        (["--scan", "age", "--weight", "truth"], "--scan counts each person once and alone, and takes no --weight"),
    ],
)
def test_a_scan_beside_an_audit_that_cannot_be_made(people, capsys, options, message):
    assert run(["audit", str(people), "--y-pred", "pred", "--sensitive", "sex", *options]) == 2
    assert message in capsys.readouterr().err
