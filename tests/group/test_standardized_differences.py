"""Standardized differences of a fitted test: for which comparisons there are any, and what reports say of them."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, ttest_ind

from skfairtest import FairnessTest

RNG = np.random.default_rng(0)
GROUP = np.repeat(["a", "b", "c"], [50, 60, 80])
SCORE = RNG.normal(size=190) + 0.6 * (GROUP == "b")
TRUTH = RNG.integers(0, 2, 190)


def run(y_true=None, y_pred=SCORE, **params):
    given = {"metric": "mean_prediction", "sensitive_features": GROUP, "n_resamples": 199, "random_state": 0} | params
    return FairnessTest.from_predictions(y_true, y_pred, **given)


def test_each_comparison_has_its_difference_and_the_test_of_the_means():
    test = run(method="asymptotic")
    found = test.standardized_differences_
    for name in ("group", "other", "p_value", "p_value_adjusted"):
        assert found[name].tolist() == test.comparisons_[name].tolist()
    for row, tested in zip(found.to_dict("records"), test.comparisons_.to_dict("records"), strict=True):
        first, second = (SCORE[row[name] == GROUP] for name in ("group", "other"))
        n1, n2 = len(first), len(second)
        spread = np.sqrt(((n1 - 1) * first.var(ddof=1) + (n2 - 1) * second.var(ddof=1)) / (n1 + n2 - 2))
        assert row["standardized_difference"] == pytest.approx((first.mean() - second.mean()) / spread)
        welch = ttest_ind(first, second, equal_var=False).statistic
        assert (row["ci_low"] <= 0 <= row["ci_high"]) == (abs(welch) <= norm.ppf(1 - 0.05 / 6))
        assert tested["disparity"] * row["standardized_difference"] > 0


@pytest.mark.parametrize(
    "params",
    [
        {"compare": "to_rest"}, {"compare": "to_reference", "reference_group": "c"}, {"compare": "to_highest"},
        {"method": "bootstrap"}, {"adjust": None}, {"alternative": "equivalence", "margin": 0.5},
        {"disparity": "ratio", "y_pred": np.exp(SCORE)},
    ],
    ids=lambda params: "-".join(map(str, params)),
)  # fmt: skip
def test_other_questions_have_them_too(params):
    test = run(**params)
    found = test.standardized_differences_
    assert len(found) == len(test.comparisons_)
    assert found["ci_low"].lt(found["standardized_difference"]).all()
    assert found["ci_high"].gt(found["standardized_difference"]).all()


def test_one_sided_tests_have_one_sided_limits():
    two = np.where(GROUP == "c", "a", GROUP)
    found = run(sensitive_features=two, alternative="less").standardized_differences_
    assert found["ci_low"].tolist() == [-np.inf]
    assert np.isfinite(found["ci_high"]).all()


def test_strata_have_their_own_and_the_average_over_them_has_none():
    test = run(control_features={"site": np.arange(190) % 2})
    assert test.standardized_differences_["stratum"].tolist() == test.comparisons_["stratum"].dropna().tolist()
    assert len(test.standardized_differences_) == 6


@pytest.mark.parametrize(
    "params",
    [
        {"metric": "selection_rate", "y_pred": TRUTH}, {"metric": "roc_auc", "y_true": TRUTH},
        {"compare": "to_overall"}, {"variance": None}, {"sample_weight": np.arange(190) % 3 + 1.0},
        {"clusters": np.arange(190) // 2}, {"metric": "r2", "y_true": SCORE + 1 + RNG.normal(size=190)},
    ],
    ids=lambda params: "-".join(params),
)  # fmt: skip
def test_where_there_are_none(params):
    test = run(**params)
    assert len(test.standardized_differences_) == 0
    assert "standard deviations" not in str(test)


def test_people_who_are_all_alike_have_no_standard_deviation():
    with pytest.warns(UserWarning, match="rests on few people"):
        test = run(y_pred=np.full(190, 0.1), method="asymptotic")
    assert len(test.standardized_differences_) == 0


def test_json_has_them():
    test = run()
    assert test.to_dict()["standardized_differences"][0]["group"] == "a"
    assert isinstance(test.standardized_differences_, pd.DataFrame)
