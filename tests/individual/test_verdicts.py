"""What the test can say: no trace, what changing a category alone does, whether similar people are treated alike."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from skfairtest import (
    FairnessAudit,
    IndividualFairnessTest,
    LossRatioDisplay,
    Projection,
    SensitiveSubspace,
)
from skfairtest.cli.app import run


@pytest.fixture(scope="module")
def coin():
    """People, a model of half of them, and a coin that each has tossed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 6))
    y = (X[:, :3].sum(axis=1) * 1.5 + rng.normal(size=1200) > 0).astype(int)
    tossed = pd.Series(rng.integers(0, 2, 1200), name="coin")
    return LogisticRegression().fit(X[:600], y[:600]), X[600:], y[600:], tossed[600:].to_numpy(), tossed.name


@pytest.fixture(scope="module")
def untested(coin):
    model, X, y, tossed, name = coin
    return IndividualFairnessTest(model).fit(X, y, sensitive_features={name: tossed})


def test_a_coin_flip_is_no_verdict(untested):
    assert (untested.verdict_, untested.concern_, untested.rejected_) == ("no_trace", False, False)
    for name in ("p_value_", "statistic_", "lower_bound_", "standard_error_"):
        assert np.isnan(getattr(untested, name)), name
    assert np.isnan(untested.confidence_interval_).all()
    assert not len(untested.path_)
    assert not len(untested.most_unfair()) or not untested.changed_features()["n_people"].any()
    (row,) = untested.traces_.to_dict("records")
    assert (row["feature"], row["measure"], row["found"]) == ("coin", "AUC", False)
    assert row["p_value"] > 0.05


def test_no_trace_is_said_everywhere(untested, tmp_path):
    first, *_ = str(untested).splitlines()
    assert first.startswith("Individual fairness was not tested: X holds no trace of coin (AUC 0.")
    assert len(str(untested).splitlines()) == 2
    assert "neither a pass nor a failure" in str(untested)
    assert untested.sentences()[0] == first
    for report in (untested.to_markdown(), untested.to_html()):
        assert "was not tested" in report
        assert "No violation" not in report
    found = untested.to_dict()
    assert (found["verdict"], found["p_value"], found["concern"]) == ("no_trace", None, False)
    assert found["traces"][0]["feature"] == "coin"


@pytest.mark.parametrize("display", [LossRatioDisplay])
def test_nothing_is_drawn_of_what_was_not_tested(display, untested):
    with pytest.raises(ValueError, match=r"test has nothing to draw. Individual fairness was not tested: X holds no"):
        display.from_test(untested)


def test_an_audit_and_its_record_say_that_nothing_was_tested(coin, tmp_path):
    model, X, y, tossed, name = coin
    audit = FairnessAudit(model, metrics="accuracy", individual=True).fit(X, y, sensitive_features={name: tossed})
    assert audit.record_.individual_verdict == "no_trace"
    assert "Individual fairness was not tested" in str(audit)
    again = FairnessAudit.from_json(audit.to_json())
    assert str(again) == str(audit)
    assert not audit.concern_
    path = tmp_path / "audit.json"
    audit.to_json(path)
    assert run(["report", str(path)]) == 4


def test_without_evidence_noise_is_a_direction_as_published(coin):
    model, X, y, tossed, name = coin
    groups = {name: tossed}
    test = IndividualFairnessTest(model, fair_metric=SensitiveSubspace(level=None)).fit(X, y, sensitive_features=groups)
    assert test.verdict_ == "unfair"
    assert not len(test.traces_)
    assert IndividualFairnessTest.as_published(model).fair_metric.level is None


def test_a_metric_that_is_known_needs_no_trace(coin):
    model, X, y, tossed, name = coin
    test = IndividualFairnessTest(model, fair_metric=Projection([1, 0, 0, 0, 0, 0]))
    assert test.fit(X, y, sensitive_features={name: tossed}).verdict_ == "unfair"
    metric = SensitiveSubspace(sensitive_columns=0)
    test = IndividualFairnessTest(model, fair_metric=metric).fit(X, y, sensitive_features={name: tossed})
    assert (test.verdict_, test.solver_report_["n_directions"]) == ("unfair", 1)


def test_features_without_a_trace_teach_nothing(coin):
    model, X, y, tossed, name = coin
    sex = (X[:, 0] + np.random.default_rng(1).normal(size=600) > 0).astype(int)
    test = IndividualFairnessTest(model, steps=(10, 0.2)).fit(X, y, sensitive_features={"sex": sex, name: tossed})
    assert test.traces_["found"].tolist() == [True, False]
    alone = IndividualFairnessTest(model, steps=(10, 0.2)).fit(X, y, sensitive_features={"sex": sex})
    assert test.statistic_ == alone.statistic_
    assert "X holds no trace of coin (" in str(test)


def test_a_trace_depends_on_neither_order_nor_names(coin):
    model, X, y, _, _ = coin
    rng = np.random.default_rng(4)
    sex = np.where(X[:, 0] + 6 * rng.normal(size=600) > 0, "f", "m")
    test = IndividualFairnessTest(model, steps=(1, 0.2))
    found = clone(test).fit(X, y, sensitive_features={"sex": sex})
    order = rng.permutation(600)
    again = clone(test).fit(X[order], y[order], sensitive_features={"sex": sex[order]})
    pd.testing.assert_frame_equal(again.traces_, found.traces_)
    renamed = clone(test).fit(X, y, sensitive_features={"sex": np.where(sex == "f", "z", "m")})
    pd.testing.assert_frame_equal(renamed.traces_, found.traces_)


@pytest.mark.filterwarnings("ignore:nobody's loss changed:UserWarning")
@pytest.mark.parametrize("metric", ["sensitive_subspace", make_pipeline(StandardScaler(), SensitiveSubspace())])
def test_a_model_without_weight_on_what_is_shifted_is_not_unfair(metric, logistic, thorough):
    n_data, most = (20, 2) if thorough else (2, 1)  # at 5%, more have a probability of .08, or .0025
    n = 1000 if thorough else 300
    unfair = []
    for seed in range(n_data):
        rng = np.random.default_rng(seed)
        sex = rng.integers(0, 2, n)
        X = rng.normal(size=(n, 5))
        X[:, 0] += 0.5 * sex
        y = (rng.random(n) < 1 / (1 + np.exp(-X[:, 1:].sum(axis=1)))).astype(int)
        test = IndividualFairnessTest(logistic([0.0, 1.0, 1.0, 1.0, 1.0]), fair_metric=metric)
        unfair.append(test.fit(X, y, sensitive_features=sex).concern_)
    assert sum(unfair) <= most  # without selection 2 to 3 in 4 samples of .2


# Levels -------------------------------------------------------------------------------------


def applicants(n, seed, levels=("nonwhite", "white")):
    rng = np.random.default_rng(seed)
    race = rng.choice(levels, n)
    X = pd.DataFrame({"income": rng.normal(size=n), "race": race})
    y = (rng.random(n) < 1 / (1 + np.exp(-X["income"] + 2 * (race == levels[0])))).astype(int)
    return X, y


def text_pipeline(model, encoder=None):
    encoder = OneHotEncoder() if encoder is None else encoder
    return make_pipeline(make_column_transformer((encoder, ["race"]), remainder="passthrough"), model)


WAYS = {
    "default": (text_pipeline(LogisticRegression()), {}),
    "search": (text_pipeline(LogisticRegression()), {"gradient": "search"}),
    "level dropped": (text_pipeline(LogisticRegression(), OneHotEncoder(drop="first")), {}),
    "boosted": (text_pipeline(HistGradientBoostingClassifier(max_iter=20), OrdinalEncoder()), {}),
}


@pytest.mark.parametrize("way", WAYS)
def test_changing_a_category_alone_by_hand_is_a_lower_bound(way):
    model, params = WAYS[way]
    X, y = applicants(400, 0)
    model = model.fit(X[:250], y[:250])
    X, y = X[250:].reset_index(drop=True), y[250:]
    test = IndividualFairnessTest(model, statistic="loss_ratio", **params).fit(X, y, sensitive_features=X["race"])
    swapped = X.assign(race=np.where(X["race"] == "white", "nonwhite", "white"))
    rows = np.arange(150)
    before, after = (-np.log(model.predict_proba(people)[rows, y]) for people in (X, swapped))
    assert test.statistic_ >= np.mean(np.maximum(after, before) / before) - 1e-9
    assert test.verdict_ == "unfair"


@pytest.mark.parametrize("seed", range(3))
def test_of_several_levels_the_worst(seed):
    X, y = applicants(400, seed, levels=("a", "b", "c"))
    model = text_pipeline(LogisticRegression()).fit(X[:250], y[:250])
    X, y = X[250:], y[250:]
    test = IndividualFairnessTest(model, statistic="loss_ratio").fit(X, y, sensitive_features=X["race"].to_numpy())
    losses = np.stack([-np.log(model.predict_proba(X.assign(race=name))[np.arange(150), y]) for name in "abc"], axis=1)
    own = X["race"].to_numpy()[:, None] == np.array(list("abc"))
    before = losses[own]
    assert test.statistic_ >= np.mean(losses.max(axis=1) / before) - 1e-9


def test_more_combinations_than_can_be_tried_are_tried_category_by_category(monkeypatch):
    from skfairtest.individual import unfair

    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(list("abc"), 400) for name in ("one", "two")}).assign(skill=rng.normal(size=400))
    y = (rng.random(400) < np.where(X["one"] == "a", 0.8, 0.3)).astype(int)
    encode = make_column_transformer((OneHotEncoder(), ["one", "two"]), remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression()).fit(X, y)
    metric = SensitiveSubspace(sensitive_columns=["one", "two"])
    both = IndividualFairnessTest(model, fair_metric=metric).fit(X, y)
    monkeypatch.setattr(unfair, "MOST_COMBINATIONS", 3)
    # A logistic model adds up what its columns say: one after the other finds the same.
    assert IndividualFairnessTest(model, fair_metric=metric).fit(X, y).statistic_ == pytest.approx(both.statistic_)
