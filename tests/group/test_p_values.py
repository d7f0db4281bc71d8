"""Sampled p-values against every permutation of small samples, and what their resamples are made of."""

import functools
import statistics
from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import make_derived_metric
from scipy import stats
from scipy.stats import hypergeom, norm
from sklearn.metrics import normalized_mutual_info_score

from skfairtest import FairnessTest, ScoreMetric

MANY, FEWER = 4000, 400  # functions of all groups are evaluated anew for every resample
RATE = {"metric": "selection_rate"}
# Small samples are what can be enumerated.
pytestmark = pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")


def run(y_true, y_pred, group, metric, **params):
    return FairnessTest.from_predictions(
        y_true, y_pred, sensitive_features=group, metric=metric, **{"random_state": 0, **params}
    )


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


TRUTH = np.array([1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0])


SCORE = np.array([0.9, 0.8, 0.7, 0.1, 0.4, 0.2, 0.3, 0.6, 0.8, 0.5, 0.6, 0.2, 0.9])


DECISION = np.array([1, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1])


GROUP = np.array(["a"] * 6 + ["b"] * 7)


IN_A = GROUP == "a"


def jackknife(function, y_true, y_pred):
    """Return the value and the variance of leaving out one person; a person who leaves it undefined moves nothing."""
    n, value = len(y_true), function(y_true, y_pred)
    with np.errstate(all="ignore"):
        without = np.array([function(np.delete(y_true, i), np.delete(y_pred, i)) for i in range(n)])
    without = np.where(np.isnan(without), value, without)
    variance = (n - 1) / n * ((without - without.mean()) ** 2).sum()
    return value, variance if variance > 1e-20 else 0.0


# Metrics with a formula ---------------------------------------------------------------------------------------------


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


# Functions of one group ---------------------------------------------------------------------------------------------


def spread(y_true, y_pred):
    """Return a metric that nobody has a formula for."""
    return float(np.max(y_pred - y_true) - np.median(y_pred - y_true))


def weighted_error(y_true, y_pred, sample_weight=None):
    return float(np.average((y_true - y_pred) ** 2, weights=sample_weight))


def median_error(y_true, y_pred):
    return float(np.median(np.abs(y_true - y_pred)))


def recall(y_true, y_pred):
    """Return NaN where nobody is positive."""
    with np.errstate(invalid="ignore"):
        return np.sum((y_true == 1) & (y_pred == 1)) / np.float64(np.sum(y_true == 1))


def strict_recall(y_true, y_pred):
    """Raise where nobody is positive."""
    return statistics.mean(int(p) for t, p in zip(y_true, y_pred, strict=True) if t == 1)


#: Fewer of them, because functions of one group are evaluated person by person.
Y, P, SIDE, IN_FIRST = (column[1:12] for column in (TRUTH, SCORE, GROUP, IN_A))


@pytest.mark.parametrize("function", [spread, weighted_error, median_error])
def test_any_function_has_the_exhaustive_p_value_and_the_jackknifes_error(function):
    observed, exact = exhaustive(functools.partial(jackknife, function), (Y, P), IN_FIRST)
    published = run(Y, P, SIDE, function, n_resamples=FEWER, method="diciccio", variance="jackknife")
    assert_monte_carlo(published.p_value_, exact, FEWER)
    test = run(Y, P, SIDE, function, n_resamples=FEWER)
    assert test.statistic_ == pytest.approx(observed, rel=1e-7)
    assert test.p_value_ == pytest.approx(max(published.p_value_, 2 * norm.sf(abs(observed))), rel=1e-7)
    for group, side in (("a", IN_FIRST), ("b", ~IN_FIRST)):
        value, variance = jackknife(function, Y[side], P[side])
        assert test.by_group_.loc[group, ["value", "standard_error"]].tolist() == pytest.approx([value, variance**0.5])
    assert (test.variance_, test.within_) == ("jackknife", None)


def test_a_function_is_permuted_where_it_was_asked():
    _, exact = exhaustive(functools.partial(jackknife, spread), (Y, P), IN_FIRST, Y)
    alone = {"method": "diciccio", "variance": "jackknife", "within": "y_true"}
    assert_monte_carlo(run(Y, P, SIDE, spread, n_resamples=FEWER, **alone).p_value_, exact, FEWER)
    test = run(Y, P, SIDE, spread, n_resamples=999, within="y_true")
    own = run(Y, P, SIDE, ScoreMetric("spread", spread, within="y_true"), n_resamples=999)
    assert own.p_value_ == test.p_value_
    assert own.within_ == "y_true"


def test_undefined_resamples_leave_numerator_and_denominator():
    truth, predicted = np.array([1, 1, 0, 0, 0, 0, 1, 0, 0, 0]), np.array([1, 0, 0, 1, 0, 0, 0, 1, 0, 1])
    in_a = np.arange(10) < 5
    observed, exact = exhaustive(functools.partial(jackknife, recall), (truth, predicted), in_a)
    group = np.where(in_a, "a", "b")
    test = run(truth, predicted, group, recall, n_resamples=MANY)
    # All three positives on one side: 2 C(7, 2) of C(10, 5) labellings.
    assert np.isnan(test.null_distribution_).mean() == pytest.approx(42 / 252, abs=0.02)
    assert test.statistic_ == pytest.approx(observed)
    assert_monte_carlo(test.p_value_, exact)
    assert "not counted" in test.excluded_.iloc[0]["reason"]
    # So do those in which a function raises.
    gentle, strict = (run(truth, predicted, group, each, n_resamples=499) for each in (recall, strict_recall))
    assert strict.p_value_ == gentle.p_value_


# Functions of all groups ----------------------------------------------------------------------------------------------

TRIPLE = np.repeat(["x", "y", "z"], [3, 3, 3])


TRUTH9 = np.array([1, 0, 1, 0, 1, 0, 1, 1, 0])


DECISION9 = np.array([1, 1, 1, 0, 0, 1, 0, 0, 0])


def shares_of(y_pred, groups):
    groups = np.asarray(groups)
    return [y_pred[groups == group].mean() for group in np.unique(groups)]


def shares_in(labels):
    return np.array([DECISION9[labels == g].mean() for g in range(3)])


#: What fairlearn derives from a metric of groups; the tails of its test; and the same of a labelling.
TRANSFORMS = {
    "difference": (("greater",), np.ptp),
    "ratio": (("less",), lambda shares: shares.min() / shares.max()),
    "group_min": (("greater", "less"), np.min),
    "group_max": (("greater", "less"), np.max),
}


def mean_of_predictions(y_true, y_pred):
    return float(np.mean(y_pred))


def plain_function(transform):
    """Return a fast function like fairlearn's derived metric of the mean prediction."""

    def derived(y_true, y_pred, sensitive_features):
        return float(TRANSFORMS[transform][1](np.array(shares_of(y_pred, sensitive_features))))

    derived.__name__ = f"mean_of_predictions_{transform}"
    derived._transform = transform
    return derived


OBSERVED = np.repeat([0, 1, 2], 3)


@functools.cache
def three_labellings(within=False):
    """Return every assignment of nine people to three groups of three, within their true label if so."""
    places = [np.flatnonzero(label == TRUTH9) for label in (0, 1)] if within else [np.arange(9)]
    every = []
    for parts in product(*(set(permutations(OBSERVED[place])) for place in places)):
        labels = np.empty(9, dtype=int)
        labels[np.concatenate(places)] = np.concatenate(parts)
        every.append(labels)
    return every


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_derived_metrics_have_the_exhaustive_p_value(transform):
    tails, reference = TRANSFORMS[transform]
    observed = reference(shares_in(OBSERVED))
    every = np.array([reference(shares_in(labels)) for labels in three_labellings()])
    assert len(every) == 1680
    shares = {"greater": np.mean(every >= observed - 1e-12), "less": np.mean(every <= observed + 1e-12)}
    exact = min(1.0, len(tails) * min(shares[tail] for tail in tails))
    fast = plain_function(transform)
    test = run(TRUTH9, DECISION9, TRIPLE, fast, n_resamples=FEWER)
    assert test.statistic_ == test.disparity_ == pytest.approx(observed)
    assert_monte_carlo(test.p_value_, exact, FEWER / len(tails) ** 2)
    derived = make_derived_metric(metric=mean_of_predictions, transform=transform)
    theirs, ours = (run(TRUTH9, DECISION9, TRIPLE, metric, n_resamples=19) for metric in (derived, fast))
    pd.testing.assert_frame_equal(theirs.comparisons_, ours.comparisons_)
    # There are neither values by group nor intervals, and nothing is said of them.
    assert test.by_group_ is test.variance_ is None
    assert test.comparisons_[["ci_low", "ci_high", "standard_error"]].isna().all(axis=None)
    assert "nan" not in str(test).lower()
    assert "the intervals show" not in str(test)


def test_a_function_of_all_groups_is_permuted_within_y_true_and_within_strata():
    widest = plain_function("difference")
    observed = np.ptp(shares_in(OBSERVED))
    every = np.array([np.ptp(shares_in(labels)) for labels in three_labellings(within=True)])
    test = run(TRUTH9, DECISION9, TRIPLE, widest, n_resamples=FEWER, within="y_true")
    exact = np.mean(every >= observed - 1e-12)
    assert_monte_carlo(test.p_value_, exact, FEWER)
    everywhere = np.mean([np.ptp(shares_in(labels)) >= observed - 1e-12 for labels in three_labellings()])
    assert abs(exact - everywhere) > 0.02
    stratum = np.array(["s", "t", "s", "t", "s", "t", "s", "t", "s"])
    rows = run(TRUTH9, DECISION9, TRIPLE, widest, n_resamples=99, control_features=stratum).comparisons_
    found = rows.set_index("stratum")["disparity"]
    for name in "st":
        inside = stratum == name
        assert found[name] == pytest.approx(np.ptp(shares_of(DECISION9[inside], TRIPLE[inside])))
    assert rows[rows["stratum"].isna()]["disparity"].item() == pytest.approx((5 * found["s"] + 4 * found["t"]) / 9)


# How many resamples, by whom, and how long ----------------------------------------------------------------------------


def test_adaptive_stops_at_the_twentieth_extreme_resample_of_each_comparison():
    test = run(TRUTH, SCORE, GROUP, weighted_error, n_resamples="adaptive")
    drawn = test.null_distribution_[:, 0]
    drawn = drawn[~np.isnan(drawn)]
    extreme = np.abs(drawn) >= abs(test.statistic_) * (1 - 1e-9)
    assert extreme.sum() == 20
    assert extreme[-1]
    assert test.p_value_ == pytest.approx(20 / len(drawn))
    assert test.n_resamples_ == len(drawn) < 9999
    low, high = test.p_value_interval_
    assert low < test.p_value_ < high
    assert test.excluded_.empty  # what is not drawn any more is not undefined
    everyone = run(TRUTH9, DECISION9, TRIPLE, plain_function("difference"), n_resamples="adaptive")
    assert everyone.p_value_ == pytest.approx(20 / everyone.n_resamples_)
    rng = np.random.default_rng(1)
    group = np.repeat(["a", "b", "c"], 20)
    score = rng.random(60) + np.where(group == "c", 0.25, 0)
    three = run(None, score, group, "mean_prediction", n_resamples="adaptive", variance=None)
    used = (~np.isnan(three.null_distribution_)).sum(axis=0)
    for p, times in zip(three.comparisons_["p_value"], used, strict=True):
        assert p == pytest.approx(20 / times) if times < 9999 else p < 20 / 9999 + 1e-12
    assert three.n_resamples_ == used.max()
    assert len(set(used)) > 1
    assert three.excluded_.empty


# Resampled tables of counts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [(14, 40, 31, 60), (2, 9, 7, 11), (30, 300, 5, 20), (0, 12, 6, 15), (9, 9, 3, 8)])
def test_the_permutation_p_value_approaches_the_conditional_law(selected, counts):
    x1, d1, x2, d2 = counts
    x = np.arange(max(0, x1 + x2 - d2), min(d1, x1 + x2) + 1)
    farther = np.abs(x * (d1 + d2) - (x1 + x2) * d1) >= abs(x1 * d2 - x2 * d1)
    exact = hypergeom.pmf(x[farther], d1 + d2, x1 + x2, d1).sum()
    test = FairnessTest.from_table(
        selected({"a": (x1, d1), "b": (x2, d2)}), method="permutation", n_resamples=40_000, random_state=1, **RATE
    )
    low, high = test.p_value_interval_
    assert low <= exact <= high
    assert test.p_value_ == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000) + 1e-4)
    assert test.method_ == "permutation"
    assert test.null_distribution_.shape == (40_000, 1)


@pytest.mark.parametrize("variance", ["delta", None])
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_bootstrap_interval_leaves_equality_out_exactly_where_it_is_rejected(
    selected, alternative, disparity, variance
):
    rng, null, seen = np.random.default_rng(5), float(disparity == "ratio"), set()
    for seed in range(12):
        x = rng.binomial([30, 60], [0.12, 0.35])
        test = FairnessTest.from_table(
            selected({"a": (int(x[0]), 30), "b": (int(x[1]), 60)}), method="bootstrap", alternative=alternative,
            disparity=disparity, variance=variance, n_resamples=199, random_state=seed, **RATE,
        )  # fmt: skip
        low, high = test.confidence_interval_
        assert (not low <= null <= high) == test.rejected_
        seen.add(test.rejected_)
    assert False in seen


@pytest.mark.parametrize("margin", [None, 0.8])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_a_bootstrap_ratio_with_a_zero_claims_no_more_than_the_score_test(selected, alternative, margin):
    # All samples of a group without an event are alike, and say nothing about how uncertain its rate is. Fisher's test
    # of 0 of 20 and 5 of 20 has p = .047; the bootstrap alone would say .001 or less of 0 of 5 and 30 of 60.
    params = {"disparity": "ratio", "alternative": alternative, "margin": margin, "random_state": 0, **RATE}
    for groups in ({"a": (0, 20), "b": (5, 20)}, {"a": (0, 5), "b": (30, 60)}):
        table = selected(groups)
        test = FairnessTest.from_table(table, method="bootstrap", n_resamples=1999, **params)
        score = FairnessTest.from_table(table, method="asymptotic", **params)
        low, high = test.confidence_interval_
        assert low == test.disparity_ == 0
        assert high >= score.confidence_interval_[1] > 0.2
        assert test.p_value_ >= score.p_value_ * (1 - 1e-12)
        assert np.isfinite(test.statistic_)


def test_a_bootstrap_without_variation_claims_no_certainty(selected):
    # All draws are alike: an interval of no width would say that 0 of 4 and 4 of 4 are known for sure.
    test = FairnessTest.from_table(selected({"a": (0, 4), "b": (4, 4)}), method="bootstrap", random_state=0, **RATE)
    low, high = test.confidence_interval_
    assert high - low > 0.1
