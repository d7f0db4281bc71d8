"""``skfairtest compare``: what it finds in a file, writes and returns."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import PairedFairnessTest, compare_models
from skfairtest.cli.app import run
from skfairtest.paired.fairness import ModelComparison


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A file of women and men; model "b" selects women as often as men, "c" is "a" for all but a few."""
    rng = np.random.default_rng(0)
    n = 1200
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "town": rng.choice(["01", "02"], n)})
    merit = rng.random(n)
    frame["truth"] = (merit + rng.normal(0, 0.2, n) > 0.5).astype(int)
    frame["a"] = (merit - 0.3 * (frame["sex"] == "f") > 0.4).astype(int)
    frame["b"] = (merit > 0.5).astype(int)
    frame["c"] = np.where(rng.random(n) < 0.02, frame["b"], frame["a"])
    frame["score_a"], frame["score_b"] = merit - 0.3 * (frame["sex"] == "f"), merit
    frame["word"] = np.where(frame["a"] == 1, "yes", "no")
    path = tmp_path_factory.mktemp("compare") / "people.csv"
    frame.to_csv(path, index=False)
    frame.to_parquet(path.with_suffix(".parquet"))
    return path


ASKED = ["--sensitive", "sex", "--metric", "selection_rate"]
AB = ["--y-pred", "a", "--y-pred", "b"]


def compare(path, *options):
    return run(["compare", str(path), *options])


def test_models_that_differ_are_status_1_and_the_effect_comes_before_the_p_value(people, capsys):
    assert compare(people, *AB, *ASKED) == 1
    text = capsys.readouterr().out
    rows = pd.read_csv(people)
    of = rows.groupby("sex")[["a", "b"]].mean()
    gap = 100 * (of.loc["f"] - of.loc["m"])
    said = next(line for line in text.splitlines() if line.startswith("- "))
    assert f"{gap['a']:.1f} points under a and {gap['b']:.1f} points under b" in said
    assert "the disparity is smaller in size under b in 1 of these" in text
    assert said.index("points") < said.index("a difference of") < said.index("p = ")


def test_several_candidates_are_judged_together(people, capsys):
    assert compare(people, *AB, "--y-pred", "c", *ASKED, "--csv", str(people.with_name("rows.csv"))) == 1
    found = pd.read_csv(people.with_name("rows.csv"))
    rows = pd.read_csv(people)
    own = compare_models(
        {name: rows[name] for name in "abc"}, sensitive_features=rows[["sex"]], metric="selection_rate", random_state=0
    )
    assert list(found["candidate"]) == ["b", "c"]
    assert list(found["significant"]) == [True, False]
    np.testing.assert_allclose(found["p_value_adjusted"], own.results["p_value_adjusted"])
    assert compare(people, *AB, "--y-pred", "c", *ASKED) == 1
    text = capsys.readouterr().out
    assert "Of 2 candidates, b is significantly different, in a disparity, from a" in text
    assert str(own) in text


def test_a_margin_certifies(people, capsys):
    assert compare(people, *AB, *ASKED, "--margin", "0.02") == 0
    assert "smaller, or larger by less than 0.02, under b" in capsys.readouterr().out
    assert compare(people, "--y-pred", "b", "--y-pred", "a", *ASKED, "--margin", "0") == 1
    assert (
        "Not certified: it was not shown that in the one comparison the disparity by sex is smaller under a"
        in capsys.readouterr().out
    )


def test_accuracy_is_certified_too(people, capsys):
    margins = ["--y-true", "truth", "--margin", "0.02", "--accuracy-margin"]
    status = compare(people, *AB, *ASKED, *margins, "0.05", "--csv", str(people.with_name("rows.csv")))
    rows = pd.read_csv(people)
    columns = {"y": rows["truth"], "sensitive_features": rows[["sex"]], "metric": "selection_rate", "random_state": 0}
    models = compare_models(
        {name: rows[name] for name in "ab"}, **columns, margin=0.02, accuracy_margin=0.05, alternative="fairer"
    )
    written = pd.read_csv(people.with_name("rows.csv"))
    np.testing.assert_allclose(written["p_value_accuracy"], models.results["p_value_accuracy"])
    assert status == (not models.results["significant"].all())
    assert compare(people, *AB, *ASKED, "--accuracy-margin", "0.05") == 2
    assert "--accuracy-margin" in capsys.readouterr().err


def test_scores_of_models_are_compared_by_metrics_of_scores(people, capsys):
    options = ["--y-true", "truth", "--y-score", "score_a", "--y-score", "score_b", "--sensitive", "sex"]
    assert compare(people, *options, "--metric", "roc_auc", "--n-resamples", "199") in (0, 1)
    assert "ROC AUC" in capsys.readouterr().out


def test_every_format_says_what_the_class_says_and_parquet_is_read_alike(people, capsys, tmp_path):
    files = {name: tmp_path / f"models.{name}" for name in ("html", "json", "markdown")}
    options = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    assert compare(people.with_suffix(".parquet"), *AB, *ASKED, *options) == 1
    text = capsys.readouterr().out
    assert run(["report", str(files["json"]), "--html", str(tmp_path / "again.html")]) == 1
    assert capsys.readouterr().out == text
    assert (tmp_path / "again.html").read_text() == files["html"].read_text()
    found = ModelComparison.from_json(files["json"])
    rows = pd.read_csv(people)
    own = PairedFairnessTest.from_predictions(
        None, rows["a"], rows["b"], sensitive_features=rows[["sex"]], metric="selection_rate", random_state=0
    )
    assert found.results.loc["b", "p_value"] == pytest.approx(own.p_value_)
    assert found.concern_
    assert '<span class="bar' in files["html"].read_text()
    for written in (text, files["html"].read_text(), files["markdown"].read_text()):
        assert "smaller in size under b" in written
