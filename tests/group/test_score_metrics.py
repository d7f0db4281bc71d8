"""Metrics of scores and numbers: their values by group, and p-values against every permutation of small samples."""

import warnings
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame, mean_prediction
from fairlearn.postprocessing import ThresholdOptimizer
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    log_loss,
    matthews_corrcoef,
    mean_absolute_error,
    mean_squared_error,
    normalized_mutual_info_score,
    recall_score,
    roc_auc_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from skfairtest import CountTable, FairnessTest
from skfairtest.inference.resampling import monte_carlo_p

MANY = 8_000
# Small samples are what can be enumerated; that they are small is said by a warning, tested below.
pytestmark = pytest.mark.filterwarnings("ignore:.*rests on few people:UserWarning")


def run(y_true, y_pred, group, metric, **params):
    return FairnessTest.from_predictions(
        y_true, y_pred, sensitive_features=group, metric=metric, **{"random_state": 0, **params}
    )


@pytest.fixture(scope="module")
def people():
    """240 people of three groups with labels, decisions and probabilities."""
    rng = np.random.default_rng(3)
    n = 240
    group = np.repeat(["a", "b", "c"], [60, 80, 100])
    truth = rng.integers(0, 2, n)
    score = np.clip(rng.normal(0.35 + 0.25 * truth, 0.22), 0.01, 0.99)
    return pd.DataFrame({"group": group, "truth": truth, "score": score, "decision": (score > 0.5).astype(int)})


# Values by group ------------------------------------------------------------------------------------------------------

OF_DECISIONS = {
    "balanced_accuracy": balanced_accuracy_score,
    "matthews_corrcoef": matthews_corrcoef,
    "mean_prediction": mean_prediction,
    "mean_residual": lambda y, p: np.mean(y - p),
    "mean_squared_error": mean_squared_error,
    "mean_absolute_error": mean_absolute_error,
}
OF_SCORES = {
    "roc_auc": roc_auc_score,
    "log_loss": lambda y, p: log_loss(y, p, labels=[0, 1]),
    "brier_score": brier_score_loss,
    "calibration": lambda y, p: np.mean(y - p),
}


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("name", [*OF_DECISIONS, *OF_SCORES])
def test_values_are_those_of_a_metric_frame(people, name):
    scores = name in OF_SCORES
    reference = (OF_SCORES if scores else OF_DECISIONS)[name]
    frame = MetricFrame(
        metrics=reference,
        y_true=people["truth"],
        y_pred=people["score" if scores else "decision"],
        sensitive_features=people["group"],
    )
    test = run(
        people["truth"], people["decision"], people["group"], name, n_resamples=199,
        y_score=people["score"] if scores else None,
    )  # fmt: skip
    pd.testing.assert_series_equal(test.by_group_["value"], frame.by_group.astype(float), check_names=False, rtol=1e-12)
    assert test.by_group_.index.name == frame.by_group.index.name
    for row in test.comparisons_.itertuples():
        assert row.disparity == pytest.approx(frame.by_group[row.group] - frame.by_group[row.other], abs=1e-12)
    inside = test.by_group_["ci_low"] <= test.by_group_["value"]
    assert (inside & (test.by_group_["value"] <= test.by_group_["ci_high"])).all()


@pytest.mark.parametrize("name", ["mean_prediction", "mean_residual", "mean_squared_error", "mean_absolute_error"])
def test_metrics_of_a_regression(name):
    rng = np.random.default_rng(4)
    y, group = rng.normal(50, 10, 200), np.repeat(["f", "m"], 100)
    predicted = y + rng.normal(2, 5, 200)
    test = run(y, predicted, group, name, n_resamples=199)
    for label, value in test.by_group_["value"].items():
        own = group == label
        assert value == pytest.approx(OF_DECISIONS[name](y[own], predicted[own]), rel=1e-12)
    z = {
        "mean_prediction": predicted,
        "mean_residual": y - predicted,
        "mean_squared_error": (y - predicted) ** 2,
        "mean_absolute_error": np.abs(y - predicted),
    }[name]
    welch = stats.ttest_ind(z[:100], z[100:], equal_var=False)
    assert test.statistic_ == pytest.approx(welch.statistic, rel=1e-10)
    assert test.comparisons_.at[0, "standard_error"] == pytest.approx(
        np.sqrt(z[:100].var(ddof=1) / 100 + z[100:].var(ddof=1) / 100)
    )
    assert test.variance_ == "welch"
    assert test.within_ is None


def test_a_permutation_interval_is_close_to_welchs():
    rng = np.random.default_rng(5)
    predicted, group = rng.normal(0, 1, 300), np.repeat(["f", "m"], [100, 200])
    test = run(None, predicted, group, "mean_prediction")
    result = stats.ttest_ind(predicted[:100], predicted[100:], equal_var=False)
    welch = result.confidence_interval()
    width = welch.high - welch.low
    assert test.confidence_interval_ == pytest.approx((welch.low, welch.high), abs=0.05 * width)
    one_sided = run(None, predicted, group, "mean_prediction", alternative="greater")
    assert one_sided.confidence_interval_[0] > test.confidence_interval_[0]
    assert one_sided.confidence_interval_[1] == np.inf


# P-values against every permutation -----------------------------------------------------------------------------------


def every_labelling(in_first, blocks):
    """Return all ways to permute memberships within blocks, as boolean arrays."""
    places = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
    for chosen in product(*(combinations(place, int(in_first[place].sum())) for place in places)):
        drawn = np.zeros(len(in_first), dtype=bool)
        drawn[np.concatenate([np.array(part, dtype=int) for part in chosen])] = True
        yield drawn


def studentized(first, second, disparity="difference"):
    """Return the statistic of two (value, variance)."""
    (t1, v1), (t2, v2) = first, second
    with np.errstate(all="ignore"):
        if disparity == "ratio":
            t1, t2, v1, v2 = np.log(t1), np.log(t2), v1 / t1**2, v2 / t2**2
        difference, error = t1 - t2, np.sqrt(v1 + v2)
        if np.isnan(difference) or np.isnan(error):
            return np.nan
        if abs(difference) < 1e-12:
            return 0.0
        return difference / error if error > 0 else np.copysign(np.inf, difference)


def exhaustive(moments, columns, in_first, blocks=None, *, alternative="two-sided", disparity="difference"):
    """Return the observed statistic and its p-value among all labellings in which it is defined."""
    blocks = np.zeros(len(in_first)) if blocks is None else blocks

    def statistic(first):
        return studentized(*(moments(*(c[side] for c in columns)) for side in (first, ~first)), disparity)

    observed = statistic(in_first)
    every = np.array([statistic(drawn) for drawn in every_labelling(in_first, blocks)])
    every = every[~np.isnan(every)]
    seen, all_ = {
        "two-sided": (abs(observed), np.abs(every)),
        "greater": (observed, every),
        "less": (-observed, -every),
    }[alternative]
    return observed, float(np.mean(all_ >= seen - 1e-9 * abs(seen) if np.isfinite(seen) else all_ >= seen))


def assert_monte_carlo(found, exact, n=MANY):
    """P-value within the Monte-Carlo error of a share of `n` draws."""
    assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / n) + 2 / n)


def of_mean(z):
    return z.mean(), z.var(ddof=1) / len(z)


def of_auc(truth, score):
    positive, negative = score[truth == 1], score[truth == 0]
    if not len(positive) or not len(negative):
        return np.nan, np.nan
    pairs = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    parts = [v.var(ddof=1) / len(v) if len(v) > 1 else 0.0 for v in (pairs.mean(axis=1), pairs.mean(axis=0))]
    return pairs.mean(), sum(parts)


def of_balanced_accuracy(truth, predicted):
    value, variance = [], []
    for label in (0, 1):
        right, n = (predicted[truth == label] == label).sum(), (truth == label).sum()
        p = (right + 1) / (n + 2)
        value.append(right / n if n else np.nan)
        variance.append(p * (1 - p) / (n + 2))
    return np.mean(value), np.nan if np.isnan(np.mean(value)) else sum(variance) / 4


def of_matthews(truth, predicted):
    def phi(cells):
        tn, fp, fn, tp = cells
        with np.errstate(all="ignore"):
            return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))

    cells = np.array([((truth == t) & (predicted == p)).sum() for t in (0, 1) for p in (0, 1)], dtype=float)
    value = phi(cells)
    if not np.isfinite(value):
        return np.nan, np.nan
    n, variance = cells.sum(), 0.0
    smooth = cells + 1  # one more of right and of wrong in both classes
    for cell in range(4):
        up, down = smooth.copy(), smooth.copy()
        up[cell] += 1e-6
        down[cell] -= 1e-6
        variance += smooth[cell] * ((phi(up) - phi(down)) / 2e-6) ** 2
    variance *= n / (n - 1)
    return value, variance if variance > 1e-12 else 0.0


TRUTH = np.array([1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0])
SCORE = np.array([0.9, 0.8, 0.7, 0.1, 0.4, 0.2, 0.3, 0.6, 0.8, 0.5, 0.6, 0.2, 0.9])
DECISION = np.array([1, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1])
GROUP = np.array(["a"] * 6 + ["b"] * 7)
IN_A = GROUP == "a"


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("name", ["mean_squared_error", "log_loss", "brier_score", "mean_prediction"])
def test_means_have_the_exhaustive_p_value(name, disparity, alternative):
    z = {
        "mean_squared_error": (TRUTH - SCORE) ** 2,
        "brier_score": (TRUTH - SCORE) ** 2,
        "log_loss": -np.log(np.where(TRUTH, SCORE, 1 - SCORE)),
        "mean_prediction": SCORE,
    }[name]
    # That a ratio is 1 and that a difference is 0 are one hypothesis, with one statistic.
    observed, exact = exhaustive(of_mean, (z,), IN_A, alternative=alternative, disparity="difference")
    test = run(TRUTH, SCORE, GROUP, name, disparity=disparity, alternative=alternative, n_resamples=MANY)
    assert test.statistic_ == pytest.approx(observed, rel=1e-9)
    welch = stats.ttest_ind(z[IN_A], z[~IN_A], equal_var=False, alternative=alternative)
    assert observed == pytest.approx(welch.statistic, rel=1e-9)
    assert_monte_carlo(test.p_value_, max(exact, welch.pvalue))
    low, high = test.p_value_interval_
    assert low <= max(exact, welch.pvalue) * (1 + 1e-12) <= high * (1 + 2e-12)
    published = run(
        TRUTH, SCORE, GROUP, name, disparity=disparity, alternative=alternative, n_resamples=MANY, method="diciccio",
        variance="delta",
    )  # fmt: skip
    assert_monte_carlo(published.p_value_, exact)


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("name", ["mean_residual", "calibration"])
def test_scipy_counts_the_same_permutations(name, alternative):
    z = TRUTH - SCORE

    def welch(x, y, axis):
        return stats.ttest_ind(x, y, equal_var=False, axis=axis).statistic

    exact = stats.permutation_test(
        (z[IN_A], z[~IN_A]), welch, n_resamples=np.inf, vectorized=True, alternative=alternative
    )
    test = run(TRUTH, SCORE, GROUP, name, alternative=alternative, n_resamples=MANY)
    assert test.statistic_ == pytest.approx(exact.statistic, rel=1e-9)
    parametric = stats.ttest_ind(z[IN_A], z[~IN_A], equal_var=False, alternative=alternative)
    assert_monte_carlo(test.p_value_, max(exact.pvalue, parametric.pvalue))


@pytest.mark.parametrize("within", ["auto", None])
def test_areas_are_permuted_within_the_true_label(within):
    blocks = TRUTH if within == "auto" else None
    observed, exact = exhaustive(of_auc, (TRUTH, SCORE), IN_A, blocks)
    test = run(TRUTH, SCORE, GROUP, "roc_auc", method="permutation", n_resamples=MANY, within=within)
    assert test.statistic_ == pytest.approx(observed, rel=1e-9)
    assert_monte_carlo(test.p_value_, max(exact, 2 * stats.norm.sf(abs(observed))))
    assert test.within_ == ("y_true" if within == "auto" else None)
    assert test.variance_ == "delong"


def test_balanced_accuracies_are_permuted_within_the_true_label():
    observed, exact = exhaustive(of_balanced_accuracy, (TRUTH, DECISION), IN_A, TRUTH)
    test = run(TRUTH, DECISION, GROUP, "balanced_accuracy", n_resamples=MANY, method="permutation")
    assert test.statistic_ == pytest.approx(observed, rel=1e-9)
    assert_monte_carlo(test.p_value_, exact)


def test_resamples_without_a_correlation_leave_numerator_and_denominator():
    # Fairlearn's bootstrap counts such resamples, and p shrinks.
    truth = np.array([1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0])
    predicted = np.array([1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0])
    in_a = np.arange(11) < 5
    observed, exact = exhaustive(of_matthews, (truth, predicted), in_a)
    with_all = [of_matthews(truth[side], predicted[side])[0] for d in every_labelling(in_a, np.zeros(11))
                for side in (d, ~d)]  # fmt: skip
    assert np.isnan(with_all).mean() > 0.05
    group = np.where(in_a, "a", "b")
    test = run(truth, predicted, group, "matthews_corrcoef", n_resamples=MANY, method="permutation")
    assert test.statistic_ == pytest.approx(observed, rel=1e-5)
    assert_monte_carlo(test.p_value_, exact, n=MANY // 2)
    undefined = int(np.isnan(test.null_distribution_).sum())
    assert undefined > MANY * 0.05
    told = test.excluded_.iloc[0]
    assert f"{undefined:,} of {MANY:,}" in told["reason"]
    assert told["comparisons"] == 0
    defined = test.null_distribution_[~np.isnan(test.null_distribution_)]
    extreme = (np.abs(defined) >= abs(test.statistic_) * (1 - 1e-9)).sum()
    assert test.p_value_ == pytest.approx((1 + extreme) / (1 + len(defined)), rel=1e-12)


def test_a_raw_statistic_is_not_divided():
    z = (TRUTH - SCORE) ** 2
    observed, exact = exhaustive(lambda x: (x.mean(), 0.5), (z,), IN_A)
    test = run(TRUTH, SCORE, GROUP, "mean_squared_error", n_resamples=MANY, variance=None)
    assert test.statistic_ == pytest.approx(observed, rel=1e-9)  # sqrt(.5 + .5) is 1
    assert_monte_carlo(test.p_value_, exact)
    assert test.variance_ is None


def test_a_place_of_permutation_that_was_asked_for():
    truth = np.array([1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    score = np.array([0.9, 0.8, 0.7, 0.6, 0.4, 0.2, 0.8, 0.5, 0.1, 0.2, 0.1, 0.2, 0.3])
    _, exact = exhaustive(of_mean, (score,), IN_A, truth)
    test = run(truth, score, GROUP, "mean_prediction", n_resamples=MANY, within="y_true")
    _, everywhere = exhaustive(of_mean, (score,), IN_A)
    assert exact - everywhere > 0.1
    for found, expected in ((test, exact), (run(truth, score, GROUP, "mean_prediction", n_resamples=MANY), everywhere)):
        assert_monte_carlo(monte_carlo_p(found.null_distribution_[:, 0], found.statistic_, "two-sided")[0], expected)
    assert test.within_ == "y_true"
    assert "within y_true" in str(test)


def test_mutual_information_has_the_exhaustive_p_value():
    group = np.repeat([0, 1, 2], 3)
    predicted = np.array([1, 1, 1, 0, 1, 0, 0, 0, 2])

    def information(labels):
        # Margins are fixed: the mutual information is a constant minus the joint entropy, over a constant.
        joint = np.bincount(3 * labels + predicted, minlength=9) / 9
        return (joint[joint > 0] * np.log(joint[joint > 0])).sum()

    every = []
    for first in combinations(range(9), 3):
        for second in combinations([i for i in range(9) if i not in first], 3):
            labels = np.full(9, 2)
            labels[list(first)], labels[list(second)] = 0, 1
            every.append(information(labels))
    exact = np.mean(np.array(every) >= information(group) - 1e-9)
    test = run(None, predicted, group, "normalized_mutual_info", n_resamples=MANY)
    observed = normalized_mutual_info_score(group, predicted, average_method="geometric")
    assert test.statistic_ == test.disparity_ == pytest.approx(observed)
    assert_monte_carlo(test.p_value_, exact)
    assert test.by_group_ is None
    assert len(test.comparisons_) == 1


def test_a_standard_error_of_zero_is_infinitely_extreme():
    # Both groups are constant and differ: only the two labellings like it are as extreme.
    values = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    test = run(None, values, list("aaabbb"), "mean_prediction", n_resamples=MANY)
    assert test.statistic_ == -np.inf
    assert_monte_carlo(test.p_value_, 2 / 20)
    assert all(np.isfinite(test.confidence_interval_)) or "undefined" not in str(test)


def test_nothing_differs_where_all_are_alike():
    test = run(None, np.full(10, 0.1), list("aaabbbbbbb"), "mean_prediction", n_resamples=99)
    assert test.statistic_ == 0
    assert test.p_value_ == 1


# Other distributions --------------------------------------------------------------------------------------------------


def test_delongs_z(people):
    two = people[people["group"] != "c"]
    (a1, v1), (a2, v2) = (of_auc(*two.loc[two["group"] == g, ["truth", "score"]].to_numpy().T) for g in "ab")
    test = run(two["truth"], two["decision"], two["group"], "roc_auc", y_score=two["score"], method="asymptotic")
    z = (a1 - a2) / np.sqrt(v1 + v2)
    assert test.statistic_ == pytest.approx(z, rel=1e-9)
    assert test.p_value_ == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)
    half = stats.norm.isf(0.025) * np.sqrt(v1 + v2)
    assert test.confidence_interval_ == pytest.approx((a1 - a2 - half, a1 - a2 + half), rel=1e-9)
    assert test.n_resamples_ == 0
    assert test.null_distribution_ is None


def test_equivalence_of_means_is_two_one_sided_tests():
    rng = np.random.default_rng(6)
    y, group = rng.normal(0, 1, 400), np.repeat(["f", "m"], 200)
    predicted = y + rng.normal(0, 1, 400)
    test = run(y, predicted, group, "mean_residual", alternative="equivalence", margin=2.5)
    z = y - predicted
    welch = [
        stats.ttest_ind(z[:200] + moved, z[200:], equal_var=False, alternative=side)
        for moved, side in ((2.5, "greater"), (-2.5, "less"), (0.0, "two-sided"))
    ]
    assert test.p_value_ == pytest.approx(max(one.pvalue for one in welch[:2]), rel=1e-9)
    assert not test.concern_
    assert test.equivalence_interval_ == pytest.approx(welch[2].confidence_interval(0.9), rel=1e-9)
    assert "Certified" in str(test)


@pytest.mark.parametrize("metric", ["mean_prediction", "mean_absolute_error"])
@pytest.mark.parametrize(
    "asked", [{"alternative": "equivalence", "margin": 0.1}, {"alternative": "less", "margin": 0.1}, {"margin": 0.1}]
)
def test_people_who_are_all_alike_certify_nothing(metric, asked):
    # Three against three with one value each have no spread, which is not certainty: their interval has no ends.
    value = np.repeat([0.5, 0.5 if asked.get("alternative") == "equivalence" else 0.9], 3)
    test = run(np.full(6, 0.25), value, list("aaabbb"), metric, **asked)
    low, high = test.confidence_interval_
    assert low == -np.inf or high == np.inf
    assert test.p_value_ > 0.05
    assert test.concern_ == (asked.get("alternative") == "equivalence")


def test_bootstrap_of_areas_agrees_with_the_normal_law(people):
    params = {"y_score": people["score"], "compare": "to_reference", "reference_group": "c"}
    normal = run(people["truth"], None, people["group"], "roc_auc", method="asymptotic", **params)
    boot = run(people["truth"], None, people["group"], "roc_auc", method="bootstrap", n_resamples=4000, **params)
    np.testing.assert_allclose(boot.comparisons_["statistic"], normal.comparisons_["statistic"], rtol=1e-9)
    np.testing.assert_allclose(boot.comparisons_["p_value"], normal.comparisons_["p_value"], atol=0.06)
    assert boot.method_ == "bootstrap"


@pytest.mark.parametrize("compare", ["to_rest", "to_overall"])
def test_each_group_against_the_others(people, compare):
    test = run(
        people["truth"], people["decision"], people["group"], "roc_auc", y_score=people["score"], compare=compare,
        method="permutation", n_resamples=499,
    )  # fmt: skip
    for row in test.comparisons_.itertuples():
        own = people["group"] == row.group
        other = ~own if compare == "to_rest" else own | True
        values = [roc_auc_score(people["truth"][who], people["score"][who]) for who in (own, other)]
        assert (row.value_group, row.value_other) == pytest.approx(values)
        assert row.n_other == other.sum()
        rest = [of_auc(people["truth"][who].to_numpy(), people["score"][who].to_numpy()) for who in (own, ~own)]
        assert row.statistic == pytest.approx(studentized(*rest), rel=1e-9)


def test_the_p_value_against_everyone_is_that_against_the_rest(people):
    both = [
        run(people["truth"], people["score"], people["group"], "roc_auc", compare=compare, n_resamples=999)
        for compare in ("to_rest", "to_overall")
    ]
    assert both[0].comparisons_["p_value"].tolist() == both[1].comparisons_["p_value"].tolist()
    assert (both[0].comparisons_["disparity"].abs() > both[1].comparisons_["disparity"].abs()).all()


# Labels ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [(("no", "yes"), "yes"), ((False, True), None), ((-1, 1), None), ((0, 1), None), ((1.0, 5.0), 5.0)],
)
@pytest.mark.parametrize("name", ["roc_auc", "log_loss", "brier_score", "calibration"])
def test_any_two_labels_are_the_same_to_a_metric_of_scores(people, name, labels, pos_label):
    plain = run(people["truth"], people["score"], people["group"], name, n_resamples=199)
    truth = np.array(labels)[people["truth"]]
    other = run(truth, people["score"], people["group"], name, n_resamples=199, pos_label=pos_label)
    pd.testing.assert_frame_equal(plain.comparisons_, other.comparisons_)
    assert other.pos_label_ == labels[1]


@pytest.mark.parametrize("name", ["roc_auc", "log_loss", "brier_score", "calibration"])
def test_a_positive_label_may_come_first(people, name):
    plain = run(people["truth"], people["score"], people["group"], name, n_resamples=1999)
    words = np.array(["paid", "default"])[people["truth"]]
    other = run(words, people["score"], people["group"], name, n_resamples=1999, pos_label="default")
    np.testing.assert_allclose(plain.comparisons_["statistic"], other.comparisons_["statistic"], rtol=1e-9)
    np.testing.assert_allclose(plain.comparisons_["p_value"], other.comparisons_["p_value"], atol=0.06)


@pytest.mark.parametrize("name", ["balanced_accuracy", "matthews_corrcoef"])
def test_metrics_of_all_labels_need_no_positive_one(people, name):
    plain = run(people["truth"], people["decision"], people["group"], name, n_resamples=199)
    words = np.array(["Approved", "Rejected"])
    other = run(words[people["truth"]], words[people["decision"]], people["group"], name, n_resamples=199)
    pd.testing.assert_frame_equal(plain.comparisons_, other.comparisons_)


def test_nobody_guesses_which_label_is_positive(people):
    words = np.array(["Approved", "Rejected"])[people["truth"]]
    with pytest.raises(ValueError, match=r"pos_label.*'Approved'.*'Rejected'"):
        run(words, people["score"], people["group"], "roc_auc")
    with pytest.raises(ValueError, match=r"'Maybe'"):
        run(words, people["score"], people["group"], "roc_auc", pos_label="Maybe")


@pytest.mark.parametrize("name", ["mean_prediction", "mean_residual", "mean_squared_error", "mean_absolute_error"])
def test_means_of_words_count_the_positive_one(people, name):
    words = np.array(["Approved", "Rejected"])
    plain = run(people["truth"], people["decision"], people["group"], name, n_resamples=199)
    other = run(
        words[people["truth"]], words[people["decision"]], people["group"], name, n_resamples=199, pos_label="Rejected"
    )
    pd.testing.assert_frame_equal(plain.comparisons_, other.comparisons_)
    with pytest.raises(ValueError, match=r"pos_label.*'Approved'.*'Rejected'"):
        run(words[people["truth"]], words[people["decision"]], people["group"], name)


@pytest.mark.parametrize("decimals", [1, 8])
def test_a_positive_label_leaves_predicted_numbers_as_they_are(people, decimals):
    # Whether scores have nine different values or two hundred does not matter.
    score = people["score"].round(decimals)
    plain = run(people["truth"], score, people["group"], "mean_residual", n_resamples=199)
    asked = run(people["truth"], score, people["group"], "mean_residual", n_resamples=199, pos_label=1)
    assert asked.by_group_["value"].tolist() == plain.by_group_["value"].tolist()


def test_a_mean_of_zeros_and_ones_is_a_rate_and_has_its_exact_law(people):
    rate = run(None, people["decision"], people["group"], "selection_rate")
    mean = run(None, people["decision"], people["group"], "mean_prediction")
    assert mean.comparisons_["p_value"].tolist() == rate.comparisons_["p_value"].tolist()
    assert mean.method_ == "exact"
    wrong = run(people["truth"], people["decision"], people["group"], "zero_one_loss")
    squared = run(people["truth"], people["decision"], people["group"], "mean_squared_error")
    assert squared.comparisons_["p_value"].tolist() == wrong.comparisons_["p_value"].tolist()


def test_labels_of_minus_one_and_one_keep_their_mean(people):
    signs = 2 * people["decision"] - 1
    test = run(None, signs, people["group"], "mean_prediction", n_resamples=199)
    expected = signs.groupby(people["group"]).mean()
    assert test.by_group_["value"].tolist() == pytest.approx(expected.tolist())


# Several classes ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three_classes():
    rng = np.random.default_rng(9)
    truth = rng.choice(["bus", "car", "van"], 300)
    predicted = np.where(rng.random(300) < 0.6, truth, rng.choice(["bus", "car", "van"], 300))
    return truth, predicted, np.repeat(["x", "y"], 150)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("accuracy", accuracy_score),
        ("balanced_accuracy", balanced_accuracy_score),
        ("matthews_corrcoef", matthews_corrcoef),
        (balanced_accuracy_score, balanced_accuracy_score),
    ],
)
def test_several_classes(three_classes, name, reference):
    truth, predicted, group = three_classes
    test = run(truth, predicted, group, name, n_resamples=199)
    expected = [reference(truth[group == g], predicted[group == g]) for g in "xy"]
    assert test.by_group_["value"].tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("label", ["bus", "car", "van"])
def test_rates_of_one_class_by_its_label(three_classes, label):
    truth, predicted, group = three_classes
    test = run(truth, predicted, group, "true_positive_rate", pos_label=label)
    expected = [recall_score(truth[group == g], predicted[group == g], labels=[label], average=None)[0] for g in "xy"]
    assert test.by_group_["value"].tolist() == pytest.approx(expected)
    assert test.method_ == "exact"


def test_three_labels_are_no_two(three_classes):
    truth, predicted, group = three_classes
    with pytest.raises(ValueError, match=r"pos_label is needed: there are 3 labels"):
        run(truth, predicted, group, "true_positive_rate")
    with pytest.raises(ValueError, match=r"pos_label is needed: there are 3 labels"):
        run(truth, np.linspace(0, 1, 300), group, "roc_auc")


def test_the_area_of_one_class_against_the_others(three_classes):
    truth, _, group = three_classes
    score = np.random.default_rng(0).random(300) + (truth == "car")
    test = run(truth, score, group, "roc_auc", pos_label="car", n_resamples=199)
    expected = [roc_auc_score(truth[group == g] == "car", score[group == g]) for g in "xy"]
    assert test.by_group_["value"].tolist() == pytest.approx(expected)


# Estimators -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    return X, y, np.where(rng.random(400) < 0.4, "f", "m")


@pytest.mark.parametrize(
    "model", [LogisticRegression(), LinearSVC(), make_pipeline(StandardScaler(), LogisticRegression())]
)
def test_a_model_is_asked_for_its_scores(data, model):
    X, y, group = data
    model = model.fit(X[:200], y[:200])
    test = FairnessTest(model, metric="roc_auc", n_resamples=199, random_state=0).fit(
        X[200:], y[200:], sensitive_features=group[200:]
    )
    score = model.decision_function(X[200:])
    expected = [roc_auc_score(y[200:][group[200:] == g], score[group[200:] == g]) for g in "fm"]
    assert test.by_group_["value"].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("name", ["log_loss", "brier_score", "calibration"])
def test_a_model_without_probabilities_says_so(data, name):
    X, y, group = data
    model = LinearSVC().fit(X, y)
    with pytest.raises(ValueError, match=rf"LinearSVC.*no predict_proba.*{name}"):
        FairnessTest(model, metric=name).fit(X, y, sensitive_features=group)


@pytest.mark.parametrize("name", ["log_loss", "brier_score", "calibration"])
def test_probabilities_of_a_model(data, name):
    X, y, group = data
    words = np.array(["bad", "good"])[y]
    model = LogisticRegression().fit(X, words)
    test = FairnessTest(model, metric=name, n_resamples=199, pos_label="good", random_state=0)
    test.fit(X, words, sensitive_features=group)
    score = model.predict_proba(X)[:, 1]
    expected = [OF_SCORES[name](y[group == g], score[group == g]) for g in "fm"]
    assert test.by_group_["value"].tolist() == pytest.approx(expected)
    assert test.pos_label_ == "good"


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()])
def test_the_other_label_has_the_other_scores(data, model):
    X, y, group = data
    words = np.array(["bad", "good"])[y]
    model = model.fit(X, words)
    good, bad = (
        FairnessTest(model, metric="roc_auc", pos_label=label, n_resamples=199, random_state=0).fit(
            X, words, sensitive_features=group
        )
        for label in ("good", "bad")
    )
    assert good.by_group_["value"].tolist() == pytest.approx(bad.by_group_["value"].tolist())
    assert good.by_group_["value"].min() > 0.6


def test_calibration_of_the_other_label_has_the_other_sign(data):
    X, y, group = data
    model = LogisticRegression().fit(X, y)
    one, zero = (
        FairnessTest(model, metric="calibration", pos_label=label, n_resamples=199, random_state=0).fit(
            X, y, sensitive_features=group
        )
        for label in (1, 0)
    )
    np.testing.assert_allclose(one.by_group_["value"], -zero.by_group_["value"], atol=1e-12)


@pytest.mark.parametrize("model", [Ridge(), LinearRegression()])
def test_a_regressor(data, model):
    X, _, group = data
    y = 3 + X @ [1.0, 2.0, 3.0] + np.random.default_rng(0).normal(size=400)
    model = model.fit(X, y)
    test = FairnessTest(model, metric=["mean_squared_error", "mean_residual"], n_resamples=199, random_state=0).fit(
        X, y, sensitive_features=group
    )
    predicted = model.predict(X)
    for g in "fm":
        own = group == g
        assert test.by_group_.at[("mean_squared_error", g), "value"] == pytest.approx(
            mean_squared_error(y[own], predicted[own])
        )
        assert test.by_group_.at[("mean_residual", g), "value"] == pytest.approx((y - predicted)[own].mean())
    with pytest.raises(ValueError, match=r"Ridge|LinearRegression"):
        FairnessTest(model, metric="roc_auc").fit(X, y > 0, sensitive_features=group)


def test_a_post_processed_model_has_no_scores(data):
    X, y, group = data
    model = ThresholdOptimizer(
        estimator=LogisticRegression().fit(X, y), constraints="demographic_parity", prefit=True,
        predict_method="predict_proba",
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sensitive_features=group)
    with pytest.raises(ValueError, match=r"ThresholdOptimizer.*no .*roc_auc needs scores"):
        FairnessTest(model, metric="roc_auc").fit(X, y, sensitive_features=group)
    test = FairnessTest(model, metric="balanced_accuracy", n_resamples=199, random_state=0).fit(
        X, y, sensitive_features=group
    )
    assert test.by_group_["value"].between(0.5, 1).all()


def test_a_model_is_asked_for_labels_and_scores_where_metrics_need_both(data):
    X, y, group = data
    model = LogisticRegression().fit(X, y)
    test = FairnessTest(model, metric=["selection_rate", "brier_score"], n_resamples=199, random_state=0).fit(
        X, y, sensitive_features=group
    )
    predicted, score = model.predict(X), model.predict_proba(X)[:, 1]
    for g in "fm":
        assert test.by_group_.at[("selection_rate", g), "value"] == pytest.approx(predicted[group == g].mean())
        assert test.by_group_.at[("brier_score", g), "value"] == pytest.approx(
            brier_score_loss(y[group == g], score[group == g])
        )


# Scores beside predictions, tables, containers ------------------------------------------------------------------------


def test_scores_together_with_predictions(people):
    both = run(
        people["truth"], people["decision"], people["group"], ["equalized_odds", "roc_auc"], y_score=people["score"],
        n_resamples=499,
    )  # fmt: skip
    alone = run(people["truth"], people["decision"], people["group"], "equalized_odds")
    own = both.comparisons_[both.comparisons_["metric"] != "roc_auc"].reset_index(drop=True)
    assert own["p_value"].tolist() == alone.comparisons_["p_value"].tolist()
    assert set(both.comparisons_["metric"]) == {"true_positive_rate", "false_positive_rate", "roc_auc"}
    assert both.method_ == "exact+score"


def test_scores_alone_are_enough_for_a_metric_of_scores(people):
    named = run(people["truth"], None, people["group"], "roc_auc", y_score=people["score"], n_resamples=199)
    as_predictions = run(people["truth"], people["score"], people["group"], "roc_auc", n_resamples=199)
    through_fit = FairnessTest(metric="roc_auc", n_resamples=199, random_state=0).fit(
        people["score"], people["truth"], sensitive_features=people["group"]
    )
    pd.testing.assert_frame_equal(named.comparisons_, as_predictions.comparisons_)
    pd.testing.assert_frame_equal(named.comparisons_, through_fit.comparisons_)


def test_missing_scores_are_named(people):
    with pytest.raises(ValueError, match=r"y_score is missing.*roc_auc"):
        run(people["truth"], people["decision"], people["group"], ["roc_auc", "selection_rate"])
    with pytest.raises(ValueError, match=r"y_pred is missing: pass the predictions, or y_score"):
        run(people["truth"], None, people["group"], "roc_auc")


def test_scores_do_not_stand_for_decisions(people):
    with pytest.raises(ValueError, match=r"y_pred"):
        run(people["truth"], None, people["group"], ["roc_auc", "selection_rate"], y_score=people["score"])


def test_truth_is_asked_for_where_it_is_needed(people):
    with pytest.raises(ValueError, match=r"y is missing.*roc_auc"):
        run(None, people["score"], people["group"], "roc_auc")


def test_compas_deciles(compas):
    race = compas.sensitive_features["race"]
    test = run(compas.y_true, compas.y_pred, race, "roc_auc", y_score=compas.decile_score, n_resamples=499)
    frame = MetricFrame(
        metrics=roc_auc_score, y_true=compas.y_true, y_pred=compas.decile_score, sensitive_features=race
    )
    np.testing.assert_allclose(test.by_group_["value"], frame.by_group.astype(float), rtol=1e-12)
    assert test.by_group_["small"].loc["Native American"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("metric", ["roc_auc", "mean_residual", "balanced_accuracy", "matthews_corrcoef", "hinnefeld"])
def test_a_table_gives_the_numbers_of_its_rows(compas, metric):
    features = {
        "sensitive_features": compas.sensitive_features["sex"],
        "control_features": compas.sensitive_features["race"],
        "y_score": compas.decile_score,
    }
    params = {"metric": metric, "n_resamples": 199, "random_state": 0}
    rows = FairnessTest.from_predictions(compas.y_true, compas.y_pred, **features, **params)
    counted = FairnessTest.from_table(CountTable.from_predictions(compas.y_true, compas.y_pred, **features), **params)
    pd.testing.assert_frame_equal(rows.comparisons_, counted.comparisons_)
    pd.testing.assert_frame_equal(rows.by_group_, counted.by_group_)
    pd.testing.assert_frame_equal(rows.excluded_, counted.excluded_)
    assert str(rows) == str(counted)
    if metric in ("roc_auc", "balanced_accuracy", "matthews_corrcoef"):
        assert rows.null_distribution_ is counted.null_distribution_ is None  # no resamples
    else:
        assert np.array_equal(rows.null_distribution_, counted.null_distribution_, equal_nan=True)


@pytest.mark.filterwarnings("ignore:.*left out:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_table_of_published_counts(compas_table, compas):
    crossed = FairnessTest.from_table(
        compas_table, metric="roc_auc", n_resamples=999, random_state=0, compare="to_rest"
    )
    keys = compas.sensitive_features.apply(tuple, axis=1)
    for key in [("Caucasian", "Female", "25 - 45"), ("African-American", "Male", "Less than 25")]:
        own = (keys == key).to_numpy()
        expected = roc_auc_score(compas.y_true[own], compas.decile_score[own])
        assert crossed.by_group_.at[key, "value"] == pytest.approx(expected)


def test_a_table_without_scores(confused):
    with pytest.raises(ValueError, match=r"table has no y_score, which roc_auc needs"):
        FairnessTest.from_table(confused({"a": (3, 4, 5, 6), "b": (6, 5, 4, 3)}), metric="roc_auc")


@pytest.mark.parametrize("name", ["roc_auc", "log_loss", "mean_squared_error"])
def test_neither_the_order_of_people_nor_the_container_matters(people, name):
    plain = run(people["truth"], people["score"], people["group"], name, n_resamples=199)
    order = np.random.default_rng(0).permutation(len(people))
    mixed = people.iloc[order]
    for truth, score, group in (
        (mixed["truth"], mixed["score"], mixed["group"]),
        (mixed["truth"].tolist(), mixed["score"].tolist(), mixed["group"].tolist()),
        (mixed["truth"].to_numpy(), mixed["score"].to_numpy(), {"group": mixed["group"].to_numpy()}),
    ):
        other = run(truth, score, group, name, n_resamples=199)
        np.testing.assert_allclose(other.comparisons_["p_value"], plain.comparisons_["p_value"], rtol=1e-6)
        np.testing.assert_allclose(other.comparisons_["statistic"], plain.comparisons_["statistic"], rtol=1e-9)


# Sizes of scores, and what is wrong with them -------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [lambda s: 1e300 * s, lambda s: 1e15 + 1000 * s, np.log, lambda s: s**9 - 7])
def test_an_area_depends_on_the_order_of_scores_alone(people, transform):
    score = people["score"].round(3)
    plain = run(people["truth"], score, people["group"], "roc_auc", n_resamples=199)
    other = run(people["truth"], transform(score), people["group"], "roc_auc", n_resamples=199)
    pd.testing.assert_frame_equal(plain.comparisons_, other.comparisons_)


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e9, 1e100])
def test_the_unit_of_predictions_does_not_matter(people, scale):
    plain = run(None, people["score"], people["group"], "mean_prediction", n_resamples=199)
    other = run(None, scale * people["score"], people["group"], "mean_prediction", n_resamples=199)
    np.testing.assert_allclose(other.comparisons_["statistic"], plain.comparisons_["statistic"], rtol=1e-6)
    np.testing.assert_allclose(other.comparisons_["p_value"], plain.comparisons_["p_value"], rtol=1e-6)
    np.testing.assert_allclose(other.comparisons_["ci_low"] / scale, plain.comparisons_["ci_low"], rtol=1e-5)


@pytest.mark.parametrize("name", ["log_loss", "brier_score", "calibration"])
@pytest.mark.parametrize("wrong", [1.5, -0.01])
def test_scores_outside_zero_and_one_are_no_probabilities(people, name, wrong):
    score = people["score"].copy()
    score.iloc[17] = wrong
    with pytest.raises(ValueError, match=rf"y_score must hold probabilities.*{wrong:g}"):
        run(people["truth"], score, people["group"], name)


def test_deciles_are_no_probabilities(compas):
    with pytest.raises(ValueError, match=r"between 0 and 1; found 1 to 10"):
        run(compas.y_true, compas.decile_score, compas.sensitive_features["sex"], "log_loss")


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("decimals", [1, 8])
def test_scores_must_be_finite(people, wrong, decimals):
    score = people["score"].round(decimals).copy()
    score.iloc[5] = wrong
    with pytest.raises(ValueError, match=r"y_score (must hold finite|has 1 missing)"):
        run(people["truth"], people["decision"], people["group"], "roc_auc", y_score=score)


def test_certain_probabilities_have_a_finite_loss():
    truth, score = np.array([1, 0, 1, 0, 1, 0, 1, 0]), np.array([0.0, 0.2, 1.0, 0.0, 0.9, 1.0, 0.4, 0.3])
    test = run(truth, score, list("aaaabbbb"), "log_loss", n_resamples=99)
    expected = [log_loss(truth[i : i + 4], score[i : i + 4]) for i in (0, 4)]
    assert test.by_group_["value"].tolist() == pytest.approx(expected)


def test_words_are_no_scores(people):
    words = np.array(["low", "high"])[people["decision"]]
    with pytest.raises(ValueError, match=r"y_score must hold numbers.*'high'"):
        run(people["truth"], people["decision"], people["group"], "roc_auc", y_score=words)


@pytest.mark.parametrize("name", ["roc_auc", "balanced_accuracy", "matthews_corrcoef", "log_loss"])
def test_no_exact_law(people, name):
    with pytest.raises(ValueError, match=rf"method='exact' has no distribution for {name}"):
        run(people["truth"], people["decision"], people["group"], name, method="exact")


# Undefined ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["roc_auc", "balanced_accuracy", "matthews_corrcoef"])
def test_a_group_without_positives_is_undefined_and_the_others_are_tested(people, name):
    truth = people["truth"].where(people["group"] != "b", 0)
    predictions = people["score" if name == "roc_auc" else "decision"]
    with pytest.warns(UndefinedMetricWarning, match=rf"{name} of b is undefined.*excluded_"):
        test = run(truth, predictions, people["group"], name, n_resamples=499)
    assert test.comparisons_[["group", "other"]].to_numpy().tolist() == [["a", "c"]]
    assert test.by_group_["value"].isna().tolist() == [False, True, False]
    assert np.isnan(test.by_group_.at["b", "standard_error"])
    assert test.by_group_.at["b", "small"]
    row = test.excluded_.iloc[0]
    assert (row["metric"], row["group"], row["comparisons"]) == (name, "b", 2)
    without = run(
        truth[people["group"] != "b"], predictions[people["group"] != "b"], people["group"][people["group"] != "b"],
        name, n_resamples=499,
    )  # fmt: skip
    assert test.statistic_ == pytest.approx(without.statistic_)
    assert "undefined" in str(test)


def test_a_loss_of_a_group_without_positives_is_defined(people):
    # Fairlearn's log_loss raises there, because only one label is seen.
    truth = people["truth"].where(people["group"] != "b", 0)
    test = run(truth, people["score"], people["group"], "log_loss", n_resamples=199)
    own = people["group"] == "b"
    assert test.by_group_.at["b", "value"] == pytest.approx(log_loss(truth[own], people["score"][own], labels=[0, 1]))
    assert len(test.comparisons_) == 3


def test_nothing_is_left_to_compare(people):
    with pytest.raises(ValueError, match=r"no comparison is defined.*positive"):
        run(np.zeros(240, dtype=int), people["score"], people["group"], "roc_auc", pos_label=0)


def test_a_ratio_of_negative_values_has_no_meaning(people):
    with pytest.warns(UndefinedMetricWarning, match=r"a value is below 0.* ratio is undefined"):
        test = run(None, people["score"] - 10, people["group"], "mean_prediction", disparity="ratio", n_resamples=99)
    assert test.comparisons_["disparity"].isna().all()
    assert (test.comparisons_["p_value"] == 1).all()
    assert test.confidence_interval_ == (0, np.inf)
    assert not test.concern_


@pytest.mark.filterwarnings("error")
def test_few_people_and_outliers_are_said_to_be_a_problem():
    rng = np.random.default_rng(0)
    group = np.repeat(["few", "many"], [12, 3000])
    losses = rng.lognormal(0, 2, 3012)
    with pytest.warns(UserWarning, match=r"mean_prediction of few.* rests on few people"):
        run(None, losses, group, "mean_prediction", n_resamples=199)
    run(None, rng.normal(0, 1, 3012), group, "mean_prediction", n_resamples=199)


@pytest.mark.parametrize("names", [("few", "many"), ("z", "a")])
def test_a_mean_is_doubted_where_extreme_values_may_be_missing(names):
    # Squared normal errors of 50 people, whose mean is lower, against squared uniform ones; turned; and higher.
    rng, group = np.random.default_rng(0), np.repeat(names, [50, 500])
    few, many = rng.normal(size=50) ** 2, 3 * rng.uniform(-1, 1, 500) ** 2
    lower, higher = (np.concatenate([few * factor, many]) for factor in (0.3, 3.0))
    for turned, is_doubted in ((lower, True), (-lower, True), (higher, False)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            test = run(None, turned, group, "mean_prediction", n_resamples=199)
        assert test.p_value_ <= 0.05
        assert any("lack the extreme ones" in str(one.message) for one in caught) == is_doubted


def test_a_mean_of_people_who_are_all_alike_is_doubted():
    losses = np.concatenate([np.full(50, 0.01), np.random.default_rng(0).exponential(0.05, 500)])
    with pytest.warns(UserWarning, match="mean_prediction of few rests on few people"):
        run(None, losses, np.repeat(["few", "many"], [50, 500]), "mean_prediction", n_resamples=199)


def test_equal_means_of_squared_errors_are_seldom_doubted():
    # Benchmarks hold the share with 1,000 data sets: at least .95 are silent.
    rng, doubted = np.random.default_rng(0), 0
    for _ in range(30):
        losses = rng.normal(size=550) ** 2
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(None, losses, np.repeat(["few", "many"], [50, 500]), "mean_prediction", n_resamples=99)
        doubted += any("approximate" in str(one.message) for one in caught)
    assert doubted <= 4  # of 30 with 5%: more in 1.6 of 100 runs


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["roc_auc", "balanced_accuracy", "matthews_corrcoef"])
def test_a_group_with_few_positives_is_small(people, name, weighted):
    # A hundred people, three of them positive: an area rests on three, with weights or without.
    truth = people["truth"].to_numpy().copy()
    truth[np.flatnonzero((people["group"] == "c") & (truth == 1))[3:]] = 0
    predictions = people["score" if name == "roc_auc" else "decision"]
    weight = np.where(np.arange(240) % 2, 1.0, 1.1) if weighted else None
    test = run(truth, predictions, people["group"], name, sample_weight=weight, n_resamples=199)
    assert test.by_group_.at["c", "n_effective"] <= 3
    assert test.by_group_["small"].tolist() == [False, False, True]


# Sets -----------------------------------------------------------------------------------------------------------------


def test_the_six_of_hinnefeld(people):
    two = people[people["group"] != "c"]
    test = run(two["truth"], two["decision"], two["group"], "hinnefeld", n_resamples=999)
    rows = test.comparisons_.set_index("metric")
    a, b = (two[two["group"] == g] for g in "ab")
    share = [g["decision"].mean() for g in (a, b)]
    expected = {
        "difference_in_means": share[0] - share[1],
        "difference_in_residuals": (a["decision"] - a["truth"]).mean() - (b["decision"] - b["truth"]).mean(),
        "equal_opportunity": a["decision"][a["truth"] == 1].mean() - b["decision"][b["truth"] == 1].mean(),
        "equal_mis_opportunity": a["decision"][a["truth"] == 0].mean() - b["decision"][b["truth"] == 0].mean(),
        "disparate_impact": share[0] / share[1],
        "normalized_mutual_info": normalized_mutual_info_score(
            two["group"], two["decision"], average_method="geometric"
        ),
    }
    assert rows.index.tolist() == list(expected)
    for name, disparity in expected.items():
        assert rows.at[name, "disparity"] == pytest.approx(disparity), name
    reference = {"n_resamples": 999, "compare": "to_reference", "reference_group": "a"}  # their S = 1
    turned = run(two["truth"], two["decision"], two["group"], "hinnefeld", **reference).comparisons_.set_index("metric")
    assert turned.at["disparate_impact", "disparity"] == pytest.approx(share[1] / share[0])
    assert turned.at["normalized_mutual_info", "p_value"] == rows.at["normalized_mutual_info", "p_value"]
    alone = run(two["truth"], two["decision"], two["group"], "true_positive_rate")
    assert rows.at["equal_opportunity", "p_value"] == alone.p_value_
    assert "normalized_mutual_info" not in test.by_group_.index.get_level_values("metric")
    np.testing.assert_allclose(np.sort(rows["p_value_adjusted"])[0], min(1, 6 * rows["p_value"].min()))


def test_functions_with_a_twin_take_its_path(people):
    for function, name in ((roc_auc_score, "roc_auc"), (log_loss, "log_loss"), (mean_squared_error, None)):
        named = run(people["truth"], people["score"], people["group"], name or "mean_squared_error", n_resamples=199)
        given = run(people["truth"], people["score"], people["group"], function, n_resamples=199)
        pd.testing.assert_frame_equal(named.comparisons_, given.comparisons_)


# What a person reads --------------------------------------------------------------------------------------------------


def test_the_result_in_words(people):
    two = people[people["group"] != "c"]
    test = run(two["truth"], two["score"], two["group"], "roc_auc", method="permutation", n_resamples=999)
    words = str(test)
    assert "he probability that a truly positive person scores above a truly negative one (AUC)" in words
    values = test.by_group_["value"]
    assert f"{min(values):.4g} versus {max(values):.4g}" in words
    assert "points" not in words  # an area is not a share of people
    assert "Null hypothes" in words
    assert "permutation" in words
