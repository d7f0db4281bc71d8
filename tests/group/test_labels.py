"""Predictions with three to ten labels: each against the rest, and one test of all of them."""

from itertools import product
from math import lgamma

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from skfairtest import FairnessAudit, FairnessTest, make_fairness_scorer

RNG = np.random.default_rng(8)
N = 240
GROUP = RNG.choice(["a", "b"], N, p=[0.25, 0.75])
TRUTH = RNG.choice(["red", "green", "blue"], N)
PREDICTED = np.where(RNG.random(N) < 0.6, TRUTH, RNG.choice(["red", "green", "blue"], N))
LABELS = ["blue", "green", "red"]


def _tested(y_true=TRUTH, y_pred=PREDICTED, groups=GROUP, **given):
    asked = {"metric": "demographic_parity", "random_state": 0, **given}
    return FairnessTest.from_predictions(y_true, y_pred, sensitive_features=groups, **asked)


@pytest.mark.parametrize(
    ("metric", "rates", "together"),
    [
        ("demographic_parity", ["selection_rate"], "all labels"),
        ("equalized_odds", ["true_positive_rate", "false_positive_rate"], "all labels given y_true"),
        ("precision", ["precision"], "all labels given y_pred"),
    ],
)
def test_each_label_is_tested_as_if_it_were_the_positive_one(metric, rates, together):
    rows = _tested(metric=metric).comparisons_.set_index("metric")
    assert rows.index.to_list() == [together, *(f"{rate} of {label}" for rate in rates for label in LABELS)]
    for label in LABELS:
        alone = _tested(metric=metric, pos_label=label).comparisons_.set_index("metric")
        for rate in rates:
            ours, theirs = rows.loc[f"{rate} of {label}"], alone.loc[rate]
            for name in ("disparity", "value_group", "n_group", "p_value"):
                assert ours[name] == pytest.approx(theirs[name], rel=1e-9)


def _enumerated(table):
    """The probability, given its margins, of all tables (2, 3) that are at most as probable as this one."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    found = {}
    for first in product(*(range(n + 1) for n in columns)):
        if sum(first) == rows[0]:
            found[first] = -sum(lgamma(k + 1) for row in (first, columns - first) for k in row)
    logs = np.array(list(found.values()))
    p = np.exp(logs - logs.max())
    p /= p.sum()
    return p[logs <= found[tuple(table[0])] + 1e-9].sum()


def test_the_test_of_all_labels_is_that_of_the_enumerated_tables():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        group, label = rng.choice(["a", "b"], 22, p=[0.3, 0.7]), rng.choice(["x", "y", "z"], 22)
        table = pd.crosstab(group, label).to_numpy()
        row = _tested(None, label, group, metric="selection_rate").comparisons_.iloc[0]
        exact = _enumerated(table)
        assert row["p_value"] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9999) + 1e-4)


def test_equalized_odds_of_all_labels_keep_true_labels_apart():
    # Groups that differ only in their true labels differ in predictions, and not in odds.
    rng = np.random.default_rng(1)
    group = np.repeat(["a", "b"], 200)
    truth = np.where(group == "a", rng.choice(LABELS, 400, p=[0.8, 0.1, 0.1]), rng.choice(LABELS, 400))
    predicted = np.where(rng.random(400) < 0.7, truth, rng.choice(LABELS, 400))
    assert _tested(truth, predicted, group).comparisons_["p_value"].iloc[0] < 0.001
    assert _tested(truth, predicted, group, metric="equalized_odds").comparisons_["p_value"].iloc[0] > 0.05


def test_names_and_order_do_not_matter():
    test, order = _tested(), RNG.permutation(N)
    again = _tested(TRUTH[order], PREDICTED[order], GROUP[order])
    pd.testing.assert_frame_equal(test.comparisons_, again.comparisons_)
    numbered = _tested(*(np.searchsorted(LABELS, labels) for labels in (TRUTH, PREDICTED)))
    assert numbered.p_value_ == test.p_value_
    assert numbered.comparisons_["metric"].iloc[1] == "selection_rate of 0"


def test_the_disparity_of_all_labels_is_cramers_v():
    association = _tested().comparisons_["disparity"].iloc[0]
    table = pd.crosstab(GROUP, PREDICTED).to_numpy()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / N
    assert association == pytest.approx(np.sqrt(((table - expected) ** 2 / expected).sum() / N))


@pytest.mark.parametrize(
    "given",
    [{"compare": "to_overall"}, {"margin": 0.1, "alternative": "equivalence"}, {"sample_weight": np.ones(N)},
     {"clusters": np.arange(N) // 2}, {"method": "asymptotic"},
     {"groups": np.where(np.arange(N) == 0, None, GROUP), "missing": "bounds"},
     {"control_features": np.arange(N) // 3 % 2, "strata_weights": {0: 1, 1: 2}}],
)  # fmt: skip
def test_where_all_labels_have_no_test_each_label_has_one(given):
    rows = _tested(**given).comparisons_
    assert set(rows["metric"]) == {f"selection_rate of {label}" for label in LABELS}


def test_an_audit_of_features_and_intersections():
    features = pd.DataFrame({"sex": GROUP, "town": RNG.choice(["u", "v"], N)})
    audit = FairnessAudit.from_predictions(
        TRUTH, PREDICTED, sensitive_features=features, metrics="equalized_odds", random_state=0
    )
    assert len(audit.comparisons_.query("metric == 'all labels given y_true'")) == 3
    assert "predicted 'red'" in audit.to_text(details=True)
    assert (
        FairnessAudit.from_json(audit.to_json()).comparisons_["metric"].to_list()
        == audit.comparisons_["metric"].to_list()
    )


def test_a_label_that_is_never_predicted_has_a_rate_of_0():
    predicted = np.where(PREDICTED == "blue", "red", PREDICTED)
    rows = _tested(y_pred=predicted).comparisons_.set_index("metric")
    assert rows.loc["selection_rate of blue", "value_group"] == 0
    assert rows.loc["selection_rate of blue", "p_value"] == 1
    weighted = _tested(y_pred=predicted, sample_weight=np.ones(N)).comparisons_.set_index("metric")
    assert weighted.loc["selection_rate of blue", "value_group"] == 0


@pytest.mark.parametrize("output", ["upper_bound", "disparity", "p_value"])
def test_a_scorer_scores_the_labels(output):
    X = pd.DataFrame({"x": RNG.normal(size=N), "group": GROUP})
    model = make_pipeline(ColumnTransformer([("x", "passthrough", ["x"])]), GaussianNB()).fit(X, TRUTH)
    scorer = make_fairness_scorer("demographic_parity", sensitive_features="group", output=output)
    assert np.isfinite(scorer(model, X, TRUTH))
    if output in ("upper_bound", "disparity"):
        assert -1 <= scorer(model, X, TRUTH) <= 0
