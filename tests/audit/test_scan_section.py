"""An audit may search for further subgroups as well."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skfairtest import CountTable, FairnessAudit, SubgroupScan

TITLE = "Further subgroups"


@pytest.fixture(scope="module")
def people():
    """Young women are treated unlike others; nobody else is."""
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "age": np.resize(np.arange(20, 70), n)})
    frame["pred"] = (rng.random(n) < np.where((frame["sex"] == "f") & (frame["age"] < 30), 0.8, 0.4)).astype(int)
    frame["truth"] = rng.integers(0, 2, n)
    return frame


SCAN = SubgroupScan(metric="selection_rate", features="age")


def audit(people, **params):
    if params.get("scan"):
        params["X"] = people
    return FairnessAudit.from_predictions(
        people["truth"], people["pred"], sensitive_features=people["sex"], metrics="selection_rate", **params
    )


@pytest.fixture(scope="module")
def found(people):
    return audit(people, scan=SCAN, positive_means="hired", random_state=0)


def test_the_section_says_what_the_scan_says(people, found):
    alone = SubgroupScan.from_predictions(
        people["truth"], people["pred"], sensitive_features=people["sex"], X=people, metric="selection_rate",
        features="age",
    )  # fmt: skip
    pd.testing.assert_frame_equal(found.scan_.comparisons_, alone.comparisons_)
    sentence = found.scan_.comparisons_["sentence"].iloc[0].replace("predicted positive", "hired")
    inside = (people["sex"] == "f") & (people["age"] < 30)
    own, others = (f"{100 * people['pred'][some].mean():.1f}%" for some in (inside, ~inside))
    assert sentence.startswith("People with age 20 to 29, sex = f were hired ")
    assert f": {own} versus {others}, " in sentence
    for report in (found.to_text(details=True), found.to_markdown(), found.to_html()):
        assert TITLE in report
        assert "eople with age 20 to 29, sex = f were hired" in report
        assert "guarantee of their own" in report
        assert "Tarone" in report
    assert str(alone).splitlines()[0] in found.to_text(details=True)
    assert '<span class="bar' in found.to_html().split(TITLE, 1)[1]


def test_the_verdict_is_that_of_the_comparisons(people, found):
    without = audit(people, random_state=0)
    assert (found.p_value_, found.concern_) == (without.p_value_, without.concern_)
    assert without.scan_ is None
    assert TITLE not in str(without)
    assert not without.record_.beside


def test_where_nothing_differs_the_section_says_so(people):
    rng = np.random.default_rng(1)
    shuffled = people.assign(pred=rng.permutation(people["pred"]))
    text = str(audit(shuffled, scan=SCAN)).split(TITLE, 1)[1]
    assert text.lstrip("\n-").startswith("No significant disparity was detected in ")


def test_a_model_is_asked_once_more_with_the_same_seed(people):
    X = pd.get_dummies(people[["sex", "age"]]).astype(float)
    model = LogisticRegression().fit(X, people["truth"])
    own = FairnessAudit(model, scan=SubgroupScan(features="age"), random_state=3)
    own.fit(X, people["truth"], sensitive_features=people["sex"])
    assert own.scan_.random_state == 3
    assert own.scan_.n_samples_ == len(people)
    assert "age" in own.scan_.edges_
    assert own.record_.parameters["scan"] == "SubgroupScan(features='age')"


@pytest.mark.parametrize("truth", [True, False])
def test_a_table_of_counts_is_searched_by_its_features(people, truth):
    groups = {"sex": people["sex"], "age": pd.cut(people["age"], [0, 29, 49, 99], labels=["young", "middle", "old"])}
    y = people["truth"] if truth else None
    table = CountTable.from_predictions(y, people["pred"], sensitive_features=groups)
    of_table = FairnessAudit.from_table(table, metrics="selection_rate", scan=True)
    of_rows = FairnessAudit.from_predictions(
        y, people["pred"], sensitive_features=groups, metrics="selection_rate", scan=True
    )
    pd.testing.assert_frame_equal(of_table.scan_.comparisons_, of_rows.scan_.comparisons_)
    assert set(of_table.scan_.subgroups_["metric"]) == (
        {"true_positive_rate", "false_positive_rate"} if truth else {"selection_rate"}
    )
    assert of_table.scan_.subgroups_["subgroup"].tolist()[:1] == ["age = young, sex = f"]


def test_what_cannot_be_asked(people):
    with pytest.raises(ValueError, match=r"scan must be None, True or SubgroupScan.*found 'yes'"):
        audit(people, scan="yes")
    with pytest.raises(ValueError, match=r"max_depth must be an integer of at least 1 .*; found 0"):
        audit(people, scan=SubgroupScan(max_depth=0))
    with pytest.raises(ValueError, match=r"X is where a scan looks up its features"):
        FairnessAudit.from_predictions(None, people["pred"], sensitive_features=people["sex"], X=people)
    for name in ("sample_weight", "clusters"):
        with pytest.raises(ValueError, match=rf"scan counts each person once and alone, and takes no {name}"):
            audit(people, scan=SCAN, **{name: np.ones(len(people)) * (1 + np.arange(len(people)) % 7)})


def test_an_individual_test_and_a_scan_both_have_their_sections(people):
    X = pd.DataFrame({"age": people["age"].astype(float), "sex": (people["sex"] == "f").astype(float)})
    model = LogisticRegression().fit(X, people["truth"])
    both = FairnessAudit(model, individual=True, scan=True, metrics="accuracy", random_state=0)
    both.fit(X, people["truth"], sensitive_features=people["sex"])
    assert both.individual_ is not None
    assert both.scan_ is not None
    assert TITLE in str(both)
    assert "Similar people" in str(both)
    again = FairnessAudit.from_json(both.to_json())
    assert again.scan_ is again.individual_ is None
    assert str(again) == str(both)
