"""What is not evidence: ratios of zero, sides without spread, sparse values, areas near one, few errors, outliers."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from skfairtest import FairnessTest, minimum_detectable_disparity
from skfairtest.inference.linear_form import without_skewness
from skfairtest.inference.resampling import monte_carlo_p
from skfairtest.metrics.confusion import ClassScores
from skfairtest.metrics.errors import Robust
from skfairtest.metrics.functionals import Auc, worth

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*are approximate:UserWarning", "ignore:.*cannot reject at", "ignore:.*comparisons are left out"
)
METHODS = ["auto", "asymptotic", "bootstrap"]
ONE_EVENT = {
    "y_true": None,
    "y_pred": [0] * 5 + [1] + [0] * 19,
    "sensitive_features": ["a"] * 5 + ["b"] * 20,
    "sample_weight": [1] * 24 + [2],
    "metric": "selection_rate",
    "disparity": "ratio",
    "random_state": 0,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("margin", "alternatives"), [(None, ["two-sided", "greater"]), (0.8, ["less", "equivalence"])])
@pytest.mark.parametrize("compare", ["between_groups", "to_overall"])
def test_one_event_among_25_people_is_no_evidence(method, margin, alternatives, compare):
    for alternative in alternatives:
        params = {"method": method, "alternative": alternative, "margin": margin, "compare": compare}
        rows = FairnessTest.from_predictions(**ONE_EVENT, **params, adjust=None, n_resamples=99).comparisons_
        assert (rows["p_value"] > 0.05).all()
        assert np.isfinite(rows["statistic"]).all()
        assert margin or ((rows["ci_low"] <= 1) & (rows["ci_high"] >= 1)).all()
        assert not np.isinf(rows["standard_error"]).any()


def drawn(kind, rng):
    """Fair people: 20 and 100 with weights, 20 and 30 clusters, or losses that are mostly 0."""
    group = np.repeat(["a", "b"], [20, 100])
    if kind == "clusters":
        cluster = np.repeat(np.arange(50), 4)
        label = (rng.random(200) < rng.beta(0.5, 9.5, 50)[cluster]).astype(int)
        known = {"clusters": cluster, "sensitive_features": np.where(cluster < 20, "a", "b")}
        return {"y_true": None, "y_pred": label, "metric": "selection_rate", **known}
    if kind == "losses":
        loss = (rng.random(120) < 0.05) * rng.choice([1.0, 2.0], 120)
        return {"y_true": loss, "y_pred": np.zeros(120), "metric": "mean_absolute_error", "sensitive_features": group}
    label = (rng.random(120) < 0.05).astype(int)
    known = {"sample_weight": rng.lognormal(0, 0.5, 120), "sensitive_features": group}
    return {"y_true": None, "y_pred": label, "metric": "selection_rate", **known}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["weights", "clusters", "losses"])
def test_equality_has_one_p_value_whichever_disparity_is_shown(kind, method):
    columns = drawn(kind, np.random.default_rng(8))
    params = {"method": method, "n_resamples": 99, "random_state": 0}
    difference, ratio = (
        FairnessTest.from_predictions(**columns, disparity=d, **params) for d in ("difference", "ratio")
    )
    assert ratio.p_value_ == pytest.approx(difference.p_value_, rel=1e-9)
    if method != "bootstrap":
        assert ratio.statistic_ == pytest.approx(difference.statistic_, rel=1e-9)


def test_a_side_whose_losses_are_all_0_is_as_uncertain_as_the_other():
    # 0 of 20 against 5 of 100: Fisher's p is .59. A normal test with an error of 0 for the 20 has p = .022.
    loss = np.r_[np.zeros(20), np.ones(5) * 1.5, np.zeros(95)]
    columns = {
        "y_true": loss, "y_pred": np.zeros(120), "sensitive_features": np.repeat(["a", "b"], [20, 100]),
        "metric": "mean_absolute_error",
    }  # fmt: skip
    for method in ("asymptotic", "bootstrap"):
        for disparity in ("difference", "ratio"):
            test = FairnessTest.from_predictions(**columns, method=method, disparity=disparity, random_state=0)
            assert test.p_value_ > 0.2
    # The same spread as the other's: 5 of 100 have 1.5.
    spread = np.var(loss[20:], ddof=1)
    test = FairnessTest.from_predictions(**columns, method="asymptotic")
    assert test.statistic_ == pytest.approx(-0.075 / np.sqrt(spread / 20 + spread / 100))


# Clusters and strata without spread -----------------------------------------------------------------------------------

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


@pytest.mark.parametrize("metric", ["mean_prediction", "mean_absolute_error"])
@pytest.mark.parametrize(
    "asked", [{"alternative": "equivalence", "margin": 0.1}, {"alternative": "less", "margin": 0.1}, {"margin": 0.1}]
)
def test_people_who_are_all_alike_certify_nothing(metric, asked):
    # Three against three with one value each have no spread, which is not certainty: their interval has no ends.
    value = np.repeat([0.5, 0.5 if asked.get("alternative") == "equivalence" else 0.9], 3)
    test = FairnessTest.from_predictions(
        np.full(6, 0.25), value, sensitive_features=list("aaabbb"), metric=metric, random_state=0, **asked
    )
    low, high = test.confidence_interval_
    assert low == -np.inf or high == np.inf
    assert test.p_value_ > 0.05
    assert test.concern_ == (asked.get("alternative") == "equivalence")


# Sparse values: permutations alone reject too often -------------------------------------------------------------------

GROUP = np.repeat(["a", "b"], [30, 3000])
#: 9 of 30 and 12 of 3,000 people have a value of -1 or 1; those of the small group are mostly positive.
VALUES = np.r_[np.ones(7), -np.ones(2), np.zeros(21), np.ones(6), -np.ones(6), np.zeros(2988)]
ASKED = {"sensitive_features": GROUP, "n_resamples": 999, "random_state": 0}


def significant_by_permutation(test):
    """Whether the permutations alone make the first comparison significant."""
    row = test.comparisons_.iloc[0]
    return monte_carlo_p(test.null_distribution_[:, 0], row["statistic"], "two-sided")[0] <= 0.05


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_means_of_sparse_values_have_at_least_welchs_p_value(disparity):
    values = VALUES + 2  # positive, so that ratios have a meaning
    test = FairnessTest.from_predictions(None, values, metric="mean_prediction", disparity=disparity, **ASKED)
    welch = stats.ttest_ind(values[:30], values[30:], equal_var=False)
    assert significant_by_permutation(test)
    assert test.p_value_ == pytest.approx(welch.pvalue, rel=1e-9)
    assert not test.rejected_
    low, high = test.confidence_interval_
    assert low <= (disparity == "ratio") <= high
    if disparity == "difference":
        # The side on which these few are rare is longer by Hall's transformation.
        assert low == pytest.approx(welch.confidence_interval().low, rel=1e-9)
        assert high > welch.confidence_interval().high
    assert test.p_value_interval_ == pytest.approx((welch.pvalue, welch.pvalue), rel=1e-9)


def test_the_published_algorithm_counts_permutations_alone_and_warns():
    asked = {"metric": "mean_prediction", "method": "diciccio", "variance": "delta", **ASKED}
    with pytest.warns(UserWarning, match="significant by permutations in which"):
        test = FairnessTest.from_predictions(None, VALUES, **asked)
    assert test.rejected_
    assert test.p_value_ == monte_carlo_p(test.null_distribution_[:, 0], test.statistic_, "two-sided")[0]


# Outliers -------------------------------------------------------------------------------------------------------------


def doubted(losses, group, name):
    """Return whether a mean is called approximate, and its test."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        test = FairnessTest.from_predictions(
            None, losses, sensitive_features=group, metric="mean_prediction", n_resamples=199, random_state=0
        )
    return any(name in str(one.message) for one in caught), test


@pytest.mark.parametrize("names", [("few", "many"), ("z", "a")])
def test_a_mean_is_doubted_where_extreme_values_may_be_missing(names):
    # Squared normal errors of 50 people, whose mean is lower, against squared uniform ones; turned; and higher.
    rng, group = np.random.default_rng(0), np.repeat(names, [50, 500])
    few, many = rng.normal(size=50) ** 2, 3 * rng.uniform(-1, 1, 500) ** 2
    lower, higher = (np.concatenate([few * factor, many]) for factor in (0.3, 3.0))
    for turned, expected in ((lower, True), (-lower, True), (higher, False)):
        said, test = doubted(turned, group, "lack the extreme ones")
        assert test.p_value_ <= 0.05
        assert said == expected
    alike = np.concatenate([np.full(50, 0.01), rng.exponential(0.05, 500)])
    outliers, group = rng.lognormal(0, 2, 1012), np.repeat(names, [12, 1000])
    for losses, who in ((alike, np.repeat(names, [50, 500])), (outliers, group)):
        assert doubted(losses, who, f"mean_prediction of {names[0]} rests on few people")[0]
    assert not doubted(rng.normal(size=1012), group, "few people")[0]


# Areas and values of labels as rates of the people that they are worth ------------------------------------------------


def scores_of(seed, sizes=(40, 160), areas=(0.93, 0.93), spread=1.0, digits=None):
    """Return truth, score and group; half of each group is positive."""
    rng = np.random.default_rng(seed)
    truth, score = [], []
    for n, area, own in zip(sizes, areas, (spread, 1.0), strict=True):
        y = np.arange(n) % 2
        score.append(rng.normal(size=n) * np.where(y, own, 1.0) + y * norm.ppf(area) * np.hypot(1, own))
        truth.append(y)
    score = np.concatenate(score)
    return np.concatenate(truth), score if digits is None else score.round(digits), np.repeat(["a", "b"], sizes)


def areas_of(truth, score, group, **params):
    return FairnessTest.from_predictions(
        truth, None, y_score=score, sensitive_features=group, metric="roc_auc", **params
    )


def misranked(truth, score, weight):
    """Misranked people of either class, by the definition."""
    out = []
    for own, other, sign in ((truth == 1, truth == 0, 1), (truth == 0, truth == 1, -1)):
        above = sign * np.sign(score[other][None, :] - score[own][:, None])
        wrong = weight[own] * (weight[other] * (1 + above) / 2).sum(axis=1)
        out.append(wrong.sum() ** 2 / (wrong**2).sum() if wrong.any() else 0.0)
    return min(out)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [None, 0])
@pytest.mark.parametrize("area", [0.9, 0.2])
def test_misranked_people_are_counted_by_their_definition(weighted, digits, area):
    truth, score, _ = scores_of(0, areas=(area, area), digits=digits)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(truth)) if weighted else np.ones(len(truth))
    functional = Auc(truth > 0, score)
    functional = Robust(functional, weight) if weighted else functional
    once = np.ones((1, len(truth)))
    found, least = functional.misplaced(once, once)
    # Below one half those on the right side are the few.
    assert found[0] == pytest.approx(misranked(truth, score if area > 0.5 else -score, weight))
    assert least[0] == pytest.approx(
        min(weight[truth == y].sum() ** 2 / (weight[truth == y] ** 2).sum() for y in (0, 1))
    )


def test_people_who_share_a_score_are_counted_one_by_one():
    score, truth = np.array([1.0, 2.0, 1.0, 2.0]), np.array([False, False, True, True])
    counts = np.array([[3.0, 1.0, 2.0, 4.0]])
    rows = np.repeat(np.arange(4), counts[0].astype(int))
    single = Auc(truth[rows], score[rows]).misplaced(*[np.ones((1, 10))] * 2)
    np.testing.assert_allclose(Auc(truth, score).misplaced(counts, counts), single)


def test_an_area_is_worth_its_variance_or_the_smaller_class():
    assert worth(0.8, 0.002, 1e9, 50.0) == pytest.approx(0.16 / 0.002)
    assert worth(1.0, 0.0, 0.0, 50.0) == worth(0.9, 0.01, 0.0, 50.0) == 50


@pytest.mark.parametrize("skewness", [-0.8, -0.1, 0.0, 0.5])
def test_skewness_is_taken_out_where_there_is_evidence(skewness):
    z = np.array([-2.5, -1.5, 1.0, 1.2, 3.0])
    z = z[np.abs(1 + skewness * z / 3) > 0]
    skewed = z + skewness * (z**2 - 1) / 6
    keep = (np.abs(skewed) >= 1) & (1 + skewness * z / 3 > 0)
    np.testing.assert_allclose(without_skewness(skewed, np.array(skewness))[keep], z[keep], rtol=1e-6)
    grid = np.linspace(-6, 6, 400)
    assert (np.diff(without_skewness(grid, np.array(skewness))) >= 0).all()
    assert (without_skewness(grid, np.array(skewness))[np.abs(grid) <= 1] == grid[np.abs(grid) <= 1]).all()


def test_the_score_is_that_of_two_rates_of_so_many_people():
    truth, score, group = scores_of(3)
    test = areas_of(truth, score, group)
    area = [roc_auc_score(truth[group == g], score[group == g]) for g in "ab"]
    functional = Auc(truth > 0, score)
    n = functional.worth(np.stack([group == "a", group == "b"]).astype(float))
    pooled = (n * area).sum() / n.sum()
    variance = pooled * (1 - pooled) * (1 / n).sum() * n.sum() / (n.sum() - 1)
    third = pooled * (1 - pooled) * (1 - 2 * pooled) * (1 / n[0] ** 2 - 1 / n[1] ** 2)
    z = without_skewness(np.array((area[0] - area[1]) / variance**0.5), np.array(third / variance**1.5))
    assert test.statistic_ == pytest.approx(float(z))
    assert test.p_value_ == pytest.approx(2 * norm.sf(abs(z)))
    assert test.method_ == "score"
    assert test.null_distribution_ is None
    same = areas_of(truth, score, np.where(group == "a", "z", "b"))
    assert same.p_value_ == test.p_value_


OF_LABELS = ["balanced_accuracy", "f1_macro", "f1_weighted", "precision_macro", "matthews_corrcoef", "cohen_kappa"]


def labels(seed, sizes=(40, 400), wrong=(0.1, 0.1)):
    """Return truth, prediction and group; two in three are of the first class."""
    rng = np.random.default_rng(seed)
    group = np.repeat(["a", "b"], sizes)
    truth = (rng.random(len(group)) < 1 / 3).astype(int)
    return truth, truth ^ (rng.random(len(group)) < np.repeat(wrong, sizes)), group


def test_balanced_accuracy_is_worth_what_its_recalls_are():
    counts = np.array([[30.0, 5.0, 10.0, 2.0]])  # right and wrong of either class
    functional = ClassScores(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), absent=False)
    n = np.array([35, 12])
    recall = np.array([31 / 37, 11 / 14])
    variance = (recall * (1 - recall) / (n + 2)).sum() / 4 * 47 / 46
    fewer = (1 / (n + 2)).sum() / (1 / n).sum()
    assert functional.worth(counts)[0] == pytest.approx(recall.mean() * (1 - recall.mean()) / variance * fewer)


@pytest.mark.parametrize("metric", ["roc_auc", *OF_LABELS])
@pytest.mark.parametrize(("disparity", "equal"), [("difference", 0), ("ratio", 1)])
@pytest.mark.parametrize("compare", ["between_groups", "to_overall"])
def test_an_interval_holds_equality_where_the_test_does_not_reject(metric, disparity, equal, compare):
    rejected = set()
    for seed in (0, 3, 6, 9):
        if metric == "roc_auc":
            truth, predicted, group = scores_of(seed, areas=(0.93 - 0.04 * seed, 0.93))
        else:
            truth, predicted, group = labels(seed, (60, 300), (0.05 + 0.03 * seed, 0.05))
        test = FairnessTest.from_predictions(
            truth, predicted, sensitive_features=group, metric=metric, disparity=disparity, compare=compare
        )
        rows = test.comparisons_
        assert set(rows["method"]) == {"score"}
        inside = (rows["ci_low"] <= equal) & (equal <= rows["ci_high"])
        assert (inside == (rows["p_value_adjusted"] > 0.05)).all()
        rejected |= set(inside)
    assert rejected == {True, False}


# Functions of numbers -------------------------------------------------------------------------------------------------


def median_error(y_true, y_pred):
    return float(np.median(np.abs(y_true - y_pred)))


@pytest.mark.parametrize(
    ("of_labels", "params", "method"),
    [
        (False, {}, "bootstrap"),
        (False, {"disparity": "ratio"}, "bootstrap"),
        (False, {"method": "permutation"}, "permutation"),
        (False, {"variance": "bootstrap"}, "permutation"),
        (False, {"clusters": np.arange(120)}, "permutation"),
        (False, {"margin": 0.5, "alternative": "equivalence"}, "asymptotic"),
        (True, {}, "permutation"),  # labels: events of a small group may be rare
    ],
)
def test_a_function_of_numbers_takes_bootstrap_samples_by_default(of_labels, params, method):
    rng = np.random.default_rng(5)
    group, numbers, score = rng.choice(["a", "b"], 120), rng.normal(size=120), rng.random(120)
    asked = {"sensitive_features": group, "metric": median_error, "random_state": 0, "n_resamples": 19} | params
    test = FairnessTest.from_predictions((numbers > 0).astype(int) if of_labels else numbers, score, **asked)
    assert test.comparisons_["method"].tolist() == [method]
    assert np.isfinite(test.comparisons_["standard_error"]).all()
    assert minimum_detectable_disparity(test, power=0.8) > 0
    # Bootstrap samples of people who are all alike would make a difference look certain; one that is there is found.
    if method == "bootstrap":
        alike = np.where(group == "a", 1.0, numbers)
        assert FairnessTest.from_predictions(alike, np.full(120, 0.25), **asked).p_value_ > 0.5
        shifted = numbers + np.where(group == "a", 3.0, 0.0)
        found = FairnessTest.from_predictions(shifted, 0 * score, **asked, method="bootstrap", variance=None)
        assert found.p_value_ == pytest.approx(1 / 20)
