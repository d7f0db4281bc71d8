"""``skfairtest impact``: what it finds in a file, writes and returns."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from skfairtest import FairnessAudit, impact_table
from skfairtest.cli.app import run


@pytest.fixture
def people(tmp_path):
    """A file in which women are selected less often; the sex of some is not known, and a town is small."""
    rng = np.random.default_rng(0)
    n = 900
    frame = pd.DataFrame({"sex": rng.choice(["f", "m", None], n, p=[0.45, 0.5, 0.05])})
    frame["town"] = rng.choice(["01", "02", "03"], n, p=[0.6, 0.39, 0.01])
    frame["hired"] = np.where(rng.random(n) < np.where(frame["sex"] == "f", 0.4, 0.6), "yes", "no")
    frame["score"] = rng.random(n).round(3) + 0.2 * (frame["sex"] == "m")
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    return path


HIRED = ["--y-pred", "hired", "--pos-label", "yes", "--sensitive", "sex", "--sensitive", "town"]


def impact(path, *options):
    return run(["impact", str(path), *options])


def test_a_disparity_is_status_1_and_the_unknown_are_counted(people, capsys):
    assert impact(people, *HIRED) == 1
    text = capsys.readouterr().out
    assert "Significant disparity: of " in text
    unknown = int(pd.read_csv(people)["sex"].isna().sum())
    lines = [line.split() for line in text.splitlines() if line.strip().startswith("unknown")]
    assert [line[1] for line in lines] == [str(unknown)] * 2
    assert "below, significant" in text
    assert "too few to compare" in text


def test_a_csv_and_a_parquet_file_give_the_numbers_of_the_function(people, capsys):
    frame = pd.read_csv(people, dtype={"town": str})
    own = impact_table(frame["hired"], sensitive_features=frame[["sex", "town"]], pos_label="yes")
    for path in (people, people.with_suffix(".parquet")):
        assert impact(path, *HIRED, "--csv", str(people.with_name("rows.csv"))) == 1
        found = pd.read_csv(people.with_name("rows.csv"), dtype={"category": str})
        for name in ("n", "selected", "ratio", "ci_low", "p_value_adjusted", "to_four_fifths", "shortfall_pool"):
            np.testing.assert_allclose(found[name], own[name].astype(float), rtol=1e-12)
        assert list(found["category"].isna()) == list(own["category"].isna())


def test_scores_are_compared_with_their_median(people, capsys):
    assert impact(people, "--y-score", "score", "--sensitive", "sex", "--csv", str(people.with_name("rows.csv"))) == 1
    found = pd.read_csv(people.with_name("rows.csv"))
    score = pd.read_csv(people)["score"]
    assert found["selected"].sum() == (score > score.median()).sum()


def test_a_crossing_that_cannot_be_compared_is_named_in_the_report(people, capsys):
    assert impact(people, *HIRED, "--smallest-share", "0.35") == 1
    out, err = capsys.readouterr()
    assert "warning: shown and not compared" in err
    assert "sex x town: rates can be compared only if at least two categories" in out


def test_an_audit_has_the_same_tables_on_request(people, tmp_path, capsys):
    path, options = tmp_path / "audit.json", [*HIRED, "--missing", "exclude", "--metric", "selection_rate"]
    assert run(["audit", str(people), *options, "--impact", "--json", str(path)]) == 1
    assert "Impact table" in capsys.readouterr().out
    frame = pd.read_csv(people, dtype={"town": str})
    own = impact_table(frame["hired"], sensitive_features=frame[["sex", "town"]], pos_label="yes")
    pd.testing.assert_frame_equal(FairnessAudit.from_json(path).impact_, own)
    run(["audit", str(people), *options])
    assert "Impact table" not in capsys.readouterr().out


def test_lists_of_which_one_is_chosen_are_strata(tmp_path, capsys):
    rows = [f"{place},{sex},{int(sex == ('m' if place % 4 else 'f'))}" for place in range(60) for sex in "fm"]
    path = tmp_path / "lists.csv"
    path.write_text("list,sex,chosen\n" + "\n".join(rows), encoding="utf-8")
    asked = ["--y-pred", "chosen", "--sensitive", "sex"]
    out = str(tmp_path / "rows.csv")
    assert impact(path, *asked, "--strata", "list", "--csv", out) == 1
    assert "compared within list" in capsys.readouterr().out
    assert pd.read_csv(out)["p_value"][0] == pytest.approx(binomtest(15, 60).pvalue)
    assert impact(path, *asked, "--clusters", "list", "--csv", out) == 1
    assert pd.read_csv(out)["method"][0] == "sign flipping"
    assert impact(path, *asked, "--strata", "sex") == 2
    assert "named by --sensitive and --strata" in capsys.readouterr().err
