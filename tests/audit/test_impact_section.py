"""The impact tables of an audit: the numbers of the function, a section in every report, a record that is checked."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from skfairtest import CountTable, FairnessAudit, impact_table

TITLE = "Impact table"


@pytest.fixture(scope="module")
def people():
    """People of whom the sex of some is not known; women are hired less often, and one town is small."""
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame({"sex": rng.choice(["f", "m", None], n, p=[0.45, 0.5, 0.05])})
    frame["town"] = rng.choice(["A", "B"], n, p=[0.55, 0.45])
    frame.loc[frame.index[:10], ["sex", "town"]] = [[sex, "C"] for sex in "fm" * 5]
    frame["hired"] = (rng.random(n) < np.where(frame["sex"] == "f", 0.3, 0.6)).astype(int)
    return frame


def audit(people, **params):
    given = {"metrics": "selection_rate", "missing": "exclude", "impact": True} | params
    return FairnessAudit.from_predictions(
        None, people["hired"], sensitive_features=people[["sex", "town"]], random_state=0, **given
    )


@pytest.fixture(scope="module")
def found(people):
    return audit(people)


def test_the_tables_are_those_of_the_function(people, found):
    own = impact_table(people["hired"], sensitive_features=people[["sex", "town"]])
    pd.testing.assert_frame_equal(found.impact_, own)
    assert found.impact_["feature"].unique().tolist() == ["sex", "town", "sex x town"]
    assert found.impact_.groupby("feature")["n"].sum().eq(len(people)).all()  # the unknown are counted


@pytest.mark.parametrize("missing", ["group", "bounds"])
def test_the_unknown_are_unknown_whatever_becomes_of_them_elsewhere(people, found, missing):
    pd.testing.assert_frame_equal(audit(people, missing=missing).impact_, found.impact_)


def test_the_verdict_is_that_of_the_comparisons(people, found):
    without = audit(people, impact=False)
    assert without.impact_ is None
    assert TITLE not in str(without)
    assert "impact" not in without.to_dict()
    assert (found.p_value_, found.concern_) == (without.p_value_, without.concern_)
    pd.testing.assert_frame_equal(found.comparisons_, without.comparisons_)


def test_a_table_of_counts_has_the_same_tables():
    rng = np.random.default_rng(1)
    groups = {"sex": rng.choice(["f", "m"], 200), "town": rng.choice(["A", "B"], 200)}
    y_pred = rng.integers(0, 2, 200)
    table = CountTable.from_predictions(None, y_pred, sensitive_features=groups)
    of_table = FairnessAudit.from_table(table, metrics="selection_rate", impact=True)
    pd.testing.assert_frame_equal(of_table.impact_, impact_table(y_pred, sensitive_features=groups))


def test_numbers_and_scores_are_divided_at_their_median():
    rng = np.random.default_rng(2)
    sex = np.repeat(["f", "m"], 60)
    X = rng.normal(size=(120, 2)).round(1) + (sex == "m")[:, None]
    model = LinearRegression().fit(X, X @ [1.0, 2.0] + rng.normal(size=120))
    of_model = FairnessAudit(model, metrics="mean_prediction", impact=True, n_resamples=99, random_state=0)
    of_model.fit(X, sensitive_features={"sex": sex})
    own = impact_table(y_score=model.predict(X), sensitive_features={"sex": sex})
    pd.testing.assert_frame_equal(of_model.impact_, own)
    assert "above the median of all scores" in str(of_model)
    scores = rng.integers(0, 7, 120) / 7
    truth = rng.integers(0, 2, 120)
    table = CountTable.from_predictions(truth, None, y_score=scores, sensitive_features={"sex": sex})
    of_scores = FairnessAudit.from_table(table, metrics="roc_auc", impact=True, n_resamples=99, random_state=0)
    pd.testing.assert_frame_equal(of_scores.impact_, impact_table(y_score=scores, sensitive_features={"sex": sex}))


def test_positive_labels_that_are_not_favorable_are_named(people):
    said = "the rule of four fifths is meant for favorable decisions"
    assert said in str(audit(people, favorable=False, intersections=False))
    assert said not in str(audit(people, favorable=True, intersections=False))


def test_where_nobody_is_selected_no_category_is_compared(people):
    nobody = audit(people.assign(hired=0), pos_label=1)
    assert not nobody.impact_["compared"].any()
    section = str(nobody).rsplit(f"{TITLE}\n", 1)[1]
    assert "No category can be compared with the highest rate." in section
    assert "no one was selected in the categories that can be compared" in section


def test_what_cannot_be_asked(people):
    with pytest.raises(ValueError, match="impact must be True or False; found 'yes'"):
        audit(people, impact="yes")
    for name in ("sample_weight", "clusters"):
        with pytest.raises(ValueError, match=f"impact counts each person once and alone, and takes no {name}"):
            audit(people, **{name: np.ones(len(people)) * (1 + np.arange(len(people)) % 7)})
    labels = people["hired"].map({0: "no", 1: "yes"})
    with pytest.raises(ValueError, match="pos_label is needed"):
        FairnessAudit.from_predictions(
            labels, labels, sensitive_features=people["town"], metrics="accuracy", impact=True
        )
