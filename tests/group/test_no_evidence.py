"""What is no evidence, and what is counted once too often: cases in which several features of a test meet."""

import numpy as np
import pytest
from scipy.stats import norm

from skfairtest import FairnessTest
from skfairtest._utils.typing import Moments
from skfairtest.inference.linear_form import Linearized

pytestmark = pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning", "ignore:.*comparisons are left out")

PAIRED = {"sensitive_features": list("ababab"), "clusters": [0, 0, 1, 1, 2, 2], "metric": "mean_absolute_error"}


@pytest.mark.parametrize(
    "params",
    [
        {"method": "asymptotic"},
        {"margin": 2, "alternative": "equivalence"},
        {"margin": 0.5},
        {"method": "bootstrap", "n_resamples": 99},
    ],
)
def test_clusters_that_all_show_the_same_difference_have_no_error_to_divide_by(params):
    # The errors are 0 and 1, 2 and 3, 5 and 6: three differences of 1, without a spread.
    test = FairnessTest.from_predictions([0] * 6, [0, 1, 2, 3, 5, 6], random_state=0, **PAIRED, **params)
    assert test.p_value_ == 1
    assert test.confidence_interval_ == (-np.inf, np.inf)


def test_a_difference_in_every_one_of_three_clusters_is_no_bootstrap_proof():
    test = FairnessTest.from_predictions(
        None, [1, 0, 0, 0, 1, 1, 1, 0] * 3, sensitive_features=list("aaaabbbb") * 3,
        clusters=np.repeat(range(3), 8), metric="selection_rate", method="bootstrap", n_resamples=999, random_state=0,
    )  # fmt: skip
    assert test.p_value_ == 1
    assert test.confidence_interval_[0] <= 0 <= test.confidence_interval_[1]


def areas(seed, shift, n=300):
    """Two groups of different base rates, with equal areas in the first but none in the second."""
    rng = np.random.default_rng(seed)
    group = np.repeat(["a", "b"], n)
    y = np.r_[rng.random(n) < 0.2, rng.random(n) < 0.8].astype(int)
    score = rng.normal(size=2 * n) + np.where(group == "a", 1.0, 0.2) * y + np.where(group == "b", shift, 0)
    return {"y_true": y, "y_pred": None, "y_score": score, "sensitive_features": group, "metric": "roc_auc"}


def test_an_area_against_everyones_has_an_interval_of_its_own_error():
    # Everyone's area is no average of the groups': its distance from the rest's says nothing about its error.
    overall = FairnessTest.from_predictions(**areas(0, 0.6), compare="to_overall", method="asymptotic").comparisons_
    ends = (
        overall[["ci_low", "ci_high"]].sub(overall["disparity"], axis=0).abs().max(axis=1).to_numpy()
    )  # one may be cut
    assert ends == pytest.approx(norm.isf(0.025) * overall["standard_error"].to_numpy(), rel=0.02)


def test_bootstrap_samples_of_everyone_test_each_group_by_itself():
    rows = FairnessTest.from_predictions(
        **areas(0, 2.2, 400), compare="to_overall", method="bootstrap", n_resamples=199, adjust=None, random_state=0
    ).comparisons_
    assert (rows["p_value_adjusted"] == rows["p_value"]).all()
    assert rows["p_value"].nunique() == 2


def test_a_group_without_anyone_who_qualifies_is_left_out_where_clusters_mix():
    test = FairnessTest.from_predictions(
        [1, 1, 0, 0, 1, 0, 0, 0], [1, 0, 1, 0, 1, 1, 0, 0], sensitive_features=list("aabbaabb"),
        clusters=[0, 1, 0, 1, 2, 3, 2, 3], metric=["recall", "selection_rate"], n_resamples=199, random_state=0,
    )  # fmt: skip
    assert set(test.comparisons_["metric"]) == {"selection_rate"}
    assert "true_positive_rate" in set(test.excluded_["metric"])


def test_a_rate_of_a_group_in_one_of_several_clusters_is_left_out():
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(12), 10)
    group = np.where((cluster == 0) & (np.arange(120) % 2 == 0), "a", "b")
    with pytest.raises(ValueError, match="all who do are in one cluster"):
        FairnessTest.from_predictions(
            None, rng.integers(0, 2, 120), sensitive_features=group, clusters=cluster, metric="selection_rate"
        )


@pytest.mark.parametrize("method", ["permutation", "asymptotic"])
def test_a_stratum_in_which_all_are_alike_leaves_the_others_their_answer(method):
    predicted = np.r_[np.zeros(8), np.arange(16) * np.tile([1, 3], 8)]
    rows = FairnessTest.from_predictions(
        np.zeros(24), predicted, sensitive_features=np.tile(["a", "b"], 12),
        control_features=np.r_[np.zeros(8, int), np.ones(16, int)], metric="mean_absolute_error", method=method,
        n_resamples=999, random_state=0,
    ).comparisons_  # fmt: skip
    pooled, alike, other = (rows.iloc[place] for place in range(3))
    assert pooled["p_value"] == pytest.approx(other["p_value"], rel=0.5)
    assert np.isfinite([pooled["ci_low"], pooled["ci_high"]]).all()
    assert alike["p_value"] == 1


def test_an_interval_of_max_t_contains_equality_where_the_adjusted_p_value_does_not_reject():
    rng = np.random.default_rng(13)
    cluster, group = np.repeat(np.arange(5), 8), rng.choice(list("abc"), 40)
    label = (rng.random(40) < np.where(group == "a", 0.1, 0.7)).astype(int)
    rows = FairnessTest.from_predictions(
        None, label, sensitive_features=group, clusters=cluster, metric="selection_rate", method="asymptotic",
        adjust="max_t", n_resamples=199, random_state=0,
    ).comparisons_  # fmt: skip
    kept = rows[rows["p_value_adjusted"] > 0.05]
    assert len(kept)
    assert ((kept["ci_low"] <= 0) & (kept["ci_high"] >= 0)).all()


def test_a_ratio_without_an_error_and_without_a_critical_value_has_no_limit_and_warns_of_nothing():
    form = Linearized(Moments(*(np.asarray(v) for v in (0.5, 0.0, 0.0, 0.0, 0.0))), "ratio")
    assert form.limits((np.inf, np.inf), (0.0, np.inf)) == (0.0, np.inf)
