"""Audits of people of whom few have a true label: rates that need labels, other metrics, files and records."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest import FairnessAudit, FairnessTest, LabelledFairnessTest
from skfairtest.cli.app import run as command

N = 800
RNG = np.random.default_rng(8)
SEX, AGE = RNG.choice(["f", "m"], N), RNG.choice(["old", "young"], N)
Y = RNG.integers(0, 2, N)
PRED = np.where(RNG.random(N) < np.where(SEX == "f", 0.6, 0.9), Y, 1 - Y)
JUDGE = np.where(RNG.random(N) < 0.9, Y, 1 - Y)
KNOWN = RNG.random(N) < 0.25
TRUTH = np.where(KNOWN, Y, np.nan)
FEW = {"y_judge": JUDGE, "labelled": "at_random"}


def run(**params):
    params = {"sensitive_features": {"sex": SEX}, **FEW} | params
    return FairnessAudit.from_predictions(TRUTH, PRED, **params)


def test_rates_that_need_labels_and_others_are_one_family():
    audit = run(sensitive_features={"sex": SEX, "age": AGE})
    by_sex = audit.comparisons_[(audit.comparisons_["feature"] == "sex") & audit.comparisons_["stratum"].isna()]
    rows = by_sex.set_index("metric")
    few = LabelledFairnessTest.from_predictions(TRUTH, PRED, sensitive_features={"sex": SEX}, metric="accuracy", **FEW)
    everybody = FairnessTest.from_predictions(None, PRED, sensitive_features={"sex": SEX}, metric="selection_rate")
    assert rows.loc["accuracy", "p_value"] == few.p_value_
    assert rows.loc["selection_rate", "p_value"] == everybody.p_value_
    assert rows.loc["accuracy", "p_value_adjusted"] > few.p_value_
    worth = round(few.labels_["worth"].sum())
    assert worth > KNOWN.sum()
    assert f"{KNOWN.sum()} labels and the judge are worth" in str(audit)


@pytest.mark.parametrize("more", [{"labelled": "at_random"}, {"label_probability": "p"}])
def test_a_fit_takes_a_judge_by_the_name_of_a_column(more):
    class Model:
        def predict(self, X):
            return X["said"].to_numpy()

    X = pd.DataFrame({"said": PRED, "sex": SEX, "judge": JUDGE, "p": 0.25})
    columns = {name: more[name] for name in more if name == "label_probability"}
    settings = {name: more[name] for name in more if name == "labelled"}
    audit = FairnessAudit(Model(), metrics=["accuracy", "selection_rate"], **settings).fit(
        X, TRUTH, sensitive_features=["sex"], y_judge="judge", **columns
    )
    said = run(metrics=["accuracy", "selection_rate"])
    assert audit.comparisons_["p_value"].tolist() == said.comparisons_["p_value"].tolist()
    assert f"{KNOWN.sum()} labels and the judge are worth" in str(audit)
    assert {"y_judge", *columns} <= set(audit.record_.provenance["columns"])
    assert "y_judge=y_judge" in audit.to_text(details=True)


def test_metrics_without_such_a_test_are_named():
    with pytest.warns(UndefinedMetricWarning, match="it has no test where few people have a label"):
        audit = run(metrics=["accuracy", "f1"])
    assert "f1" in str(audit.to_text(details=True))
    assert set(audit.comparisons_["metric"]) == {"accuracy"}
    with pytest.raises(ValueError, match="metrics=selection_rate has no test with few labels"):
        run(metrics="selection_rate")


@pytest.mark.parametrize(
    "more",
    [
        {"control_features": {"age": AGE}}, {"sample_weight": np.ones(N)}, {"impact": True}, {"missing": "exclude"},
        {"compare": "to_overall"}, {"disparity": "odds_ratio", "metrics": "accuracy"},
    ],
)  # fmt: skip
def test_what_has_no_test_with_few_labels_is_refused(more):
    with pytest.raises(ValueError, match="where few people have a label audits are without it"):
        run(**more)


def test_a_file_with_empty_labels(tmp_path, capsys):
    people = pd.DataFrame({"sex": SEX, "pred": PRED, "judge": JUDGE, "p": 0.25})
    people["y"] = [str(value) if known else "" for value, known in zip(Y, KNOWN, strict=True)]
    people.to_csv(tmp_path / "people.csv", index=False)
    given = ["audit", str(tmp_path / "people.csv"), "--y-true", "y", "--y-pred", "pred", "--sensitive", "sex"]
    status = command([*given, "--y-judge", "judge", "--labelled", "at_random", "--metric", "accuracy", "--details"])
    said = capsys.readouterr().out
    expected = run(metrics="accuracy")
    assert status == int(expected.concern_)
    assert f"{KNOWN.sum()} labels and the judge are worth" in said
    assert command([*given, "--metric", "accuracy"]) == 2
    assert "--labelled at_random or --label-probability" in capsys.readouterr().err
    assert command([*given, "--y-judge", "judge", "--metric", "accuracy"]) == 2
    assert "nothing says how the others were chosen" in capsys.readouterr().err
    assert command([*given, "--y-judge", "judge", "--label-probability", "p", "--metric", "accuracy"]) == status
