"""Whole distributions of predictions and scores, as users ask for them."""

import warnings

import numpy as np
import pytest
from scipy.stats import PermutationMethod, anderson_ksamp, expon, ks_2samp, norm
from sklearn.linear_model import LinearRegression, LogisticRegression

from skfairtest import CountTable, FairnessAudit, FairnessTest

RNG = np.random.default_rng(17)
GROUP = np.array(["small"] * 30 + ["large"] * 300)
VALUES = np.concatenate([RNG.normal(0, 3, 30), RNG.normal(0, 1, 300)])


def _tested(values=VALUES, groups=GROUP, **given):
    asked = {"metric": "distribution", "random_state": 0, **given}
    return FairnessTest.from_predictions(values, values, sensitive_features=groups, **asked)


def test_another_shape_with_the_same_mean_is_found():
    test = _tested()
    assert test.p_value_ < 0.001
    assert _tested(metric="mean_prediction").p_value_ > 0.1
    scipys = ks_2samp(VALUES[:30], VALUES[30:])
    row = test.comparisons_.iloc[0]
    assert abs(row["disparity"]) == pytest.approx(scipys.statistic)
    assert row["at"] == scipys.statistic_location
    assert row["value_group"] - row["value_other"] == row["disparity"]
    assert test.by_group_["value"].to_dict() == pytest.approx(
        {"large": np.median(VALUES[30:]), "small": np.median(VALUES[:30])}
    )


def test_its_p_value_is_that_of_scipys_permutations():
    values = VALUES + (GROUP == "small")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method = PermutationMethod(n_resamples=4999, rng=np.random.default_rng(0))
        scipys = anderson_ksamp([values[:30] / 3, values[30:]], method=method).pvalue
    ours = _tested(np.concatenate([values[:30] / 3, values[30:]])).p_value_
    assert ours == pytest.approx(scipys, abs=4 * np.sqrt(scipys * (1 - scipys) / 4999) + 0.002)


def test_nothing_depends_on_how_the_axis_is_drawn():
    shifted = np.concatenate([VALUES[:30] / 3 + 0.5, VALUES[30:]])
    test = _tested(shifted)
    assert _tested(np.exp(shifted)).p_value_ == test.p_value_
    assert _tested(-shifted).p_value_ == pytest.approx(test.p_value_, abs=0.01)
    order = RNG.permutation(len(GROUP))
    assert _tested(shifted[order], GROUP[order]).p_value_ == test.p_value_
    renamed = _tested(shifted, np.where(GROUP == "small", "a", "z"))
    assert abs(renamed.disparity_) == abs(test.disparity_)
    assert renamed.p_value_ == pytest.approx(test.p_value_, abs=0.01)


def test_demographic_parity_of_a_regressor_is_that_of_its_distribution():
    X = np.c_[VALUES, RNG.normal(size=330)]
    model = LinearRegression().fit(X, VALUES)
    fitted = FairnessTest(model, metric="demographic_parity", random_state=0).fit(X, VALUES, sensitive_features=GROUP)
    assert (
        fitted.p_value_
        == FairnessTest(model, metric="distribution", random_state=0).fit(X, VALUES, sensitive_features=GROUP).p_value_
    )
    for metric in ("statistical_parity", ["demographic_parity"], {"parity": "demographic_parity"}):
        assert _tested(metric=metric).p_value_ == _tested().p_value_
    counts = RNG.poisson(3, 330)
    whole = FairnessTest.from_predictions(
        VALUES, counts, sensitive_features=GROUP, metric="demographic_parity", random_state=0
    )
    assert whole.p_value_ == _tested(counts.astype(float)).p_value_
    labels = (VALUES > 0).astype(int)
    assert _tested(labels, metric="demographic_parity").method_ == "exact"


def test_scores_of_a_classifier():
    X, y = np.c_[VALUES, RNG.normal(size=330)], RNG.integers(0, 2, 330)
    model = LogisticRegression().fit(X, y)
    fitted = FairnessTest(model, metric="distribution", random_state=0).fit(X, y, sensitive_features=GROUP)
    given = FairnessTest.from_predictions(
        y, model.predict(X), y_score=model.decision_function(X), sensitive_features=GROUP, metric="distribution",
        random_state=0,
    )  # fmt: skip
    assert fitted.p_value_ == given.p_value_
    assert "distributions of scores" in str(given)
    rounded = VALUES.round(1)
    table = CountTable.from_predictions(y, None, y_score=rounded, sensitive_features=GROUP)
    counted = FairnessTest.from_table(table, metric="distribution", random_state=0)
    assert counted.disparity_ == pytest.approx(_tested(rounded).disparity_)


def test_several_groups_strata_and_clusters():
    groups, strata = RNG.choice(list("xyz"), 330), RNG.choice(["s", "t"], 330)
    test = _tested(groups=groups)
    assert len(test.comparisons_) == 3
    assert np.isfinite(test.comparisons_[["ci_low", "ci_high"]]).all(axis=None)
    assert len(_tested(groups=groups, compare="to_rest").comparisons_) == 3
    within = _tested(control_features=strata)
    assert within.p_value_ < 0.01
    pooled = within.comparisons_["stratum"].isna()
    assert within.comparisons_["ci_low"].isna().eq(pooled).all()
    households = np.repeat(np.arange(110), 3)
    clustered = _tested(np.repeat(VALUES[::3], 3), np.repeat(GROUP[::3], 3), clusters=households)
    alone = _tested(VALUES[::3], GROUP[::3])
    assert clustered.disparity_ == pytest.approx(alone.disparity_)
    assert clustered.p_value_ == pytest.approx(alone.p_value_, abs=0.02)
    assert _tested(np.repeat(VALUES[::3], 3), np.repeat(GROUP[::3], 3)).p_value_ < alone.p_value_


def test_an_audit_reports_it():
    audit = FairnessAudit.from_predictions(
        VALUES, VALUES + 1, sensitive_features=GROUP, metrics=["distribution", "mean_prediction"], random_state=0
    )
    assert audit.comparisons_["concern"].to_list() == [True, False]
    assert "differ most at" in audit.to_text()


@pytest.mark.slow
def test_the_band_contains_the_true_difference_of_other_distributions():
    rng, held = np.random.default_rng(5), 0
    for _ in range(400):
        values = np.concatenate([rng.exponential(1, 30), rng.normal(0.5, 1, 200)])
        test = _tested(values, np.array(["a"] * 30 + ["b"] * 200), n_resamples=19)
        row = test.comparisons_.iloc[0]
        truth = expon.cdf(row["at"]) - norm.cdf(row["at"], 0.5)
        held += row["ci_low"] <= truth <= row["ci_high"]
    assert held / 400 >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 400)


def test_it_is_drawn_and_read_back():
    test = _tested()
    assert len(test.plot().ax_.get_yticklabels()) == 1
    again = FairnessTest.from_json(test.to_json())
    assert again.comparisons_["at"].to_list() == test.comparisons_["at"].to_list()


@pytest.mark.parametrize(("n", "warned"), [(6, True), (20, False)])
def test_few_clusters_are_doubted(n, warned):
    rng = np.random.default_rng(0)
    cluster = np.concatenate([np.repeat(np.arange(n), 5), np.repeat(np.arange(n, n + 40), 3)])
    group = np.where(cluster < n, "a", "b")
    value = rng.normal(size=len(cluster)) + rng.normal(size=n + 40)[cluster]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FairnessTest.from_predictions(
            None, value, sensitive_features=group, clusters=cluster, metric="distribution", n_resamples=99,
            random_state=0,
        )  # fmt: skip
    assert any("distribution of a rests on fewer than 15 clusters" in str(each.message) for each in caught) == warned
