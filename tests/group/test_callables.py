"""Anybody's functions: of one group and of all groups, against every permutation, and what they cost."""

import functools
import statistics
import sys
from itertools import combinations, product

import joblib
import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import (
    MetricFrame,
    count,
    demographic_parity_difference,
    equalized_odds_difference,
    make_derived_metric,
)
from scipy.stats import norm
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    fbeta_score,
    precision_score,
    r2_score,
    recall_score,
)

from skfairtest import FairnessTest, ScoreMetric
from skfairtest._utils import progress as _progress
from skfairtest.inference import resampling

MANY = 2000
FEWER = 1500  # functions of all groups are evaluated anew for every resample
# Small samples are what can be enumerated.
pytestmark = pytest.mark.filterwarnings("ignore:.*rests on few people:UserWarning")

TRUTH = np.array([1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0])
SCORE = np.array([0.9, 0.8, 0.3, 0.1, 0.6, 0.7, 0.2, 0.4, 0.5, 0.55, 0.95])
DECISION = np.array([1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1])
GROUP = np.array(["a"] * 5 + ["b"] * 6)
IN_A = GROUP == "a"


def run(y_true, y_pred, group, metric, **params):
    return FairnessTest.from_predictions(
        y_true, y_pred, sensitive_features=group, metric=metric, **{"random_state": 0, **params}
    )


def spread(y_true, y_pred):
    """Return a metric that nobody has a formula for."""
    return float(np.max(y_pred - y_true) - np.median(y_pred - y_true))


def average(y_true, y_pred):
    return float(np.mean(y_pred))


def weighted_error(y_true, y_pred, sample_weight=None):
    return float(np.average((y_true - y_pred) ** 2, weights=sample_weight))


def median_error(y_true, y_pred):
    return float(np.median(np.abs(y_true - y_pred)))


def assert_monte_carlo(found, exact, n=MANY):
    assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / n) + 2 / n)


def labellings(sizes, blocks=None):
    """Return every assignment of groups 0, 1, ... of given sizes, or of observed labels within blocks."""
    if blocks is not None:
        observed = np.repeat(np.arange(len(sizes)), sizes)
        places = [np.flatnonzero(blocks == b) for b in np.unique(blocks)]
        parts = [list(labellings(np.bincount(observed[place], minlength=len(sizes)))) for place in places]
        for chosen in product(*parts):
            labels = np.empty(len(observed), dtype=int)
            for place, part in zip(places, chosen, strict=True):
                labels[place] = part
            yield labels
        return
    n = int(np.sum(sizes))
    if len(sizes) == 1:
        yield np.zeros(n, dtype=int)
        return
    for last in combinations(range(n), int(sizes[-1])):
        labels = np.full(n, len(sizes) - 1)
        labels[np.setdiff1d(np.arange(n), last)] = 0 if len(sizes) == 2 else -1
        if len(sizes) == 2:
            yield labels
            continue
        for inner in labellings(sizes[:-1]):
            filled = labels.copy()
            filled[labels == -1] = inner
            yield filled


def jackknife(function, y_true, y_pred):
    """Return the value and the variance of leaving out one person; a person who leaves it undefined moves nothing."""
    n, value = len(y_true), function(y_true, y_pred)
    with np.errstate(all="ignore"):
        without = np.array([function(np.delete(y_true, i), np.delete(y_pred, i)) for i in range(n)])
    without = np.where(np.isnan(without), value, without)
    return value, (n - 1) / n * ((without - without.mean()) ** 2).sum()


def exhaustive(function, y_true, y_pred, in_a, blocks=None):
    """Return the observed studentized statistic and its p-value among all labellings in which it is defined."""

    def statistic(first):
        (t1, v1), (t2, v2) = (jackknife(function, y_true[side], y_pred[side]) for side in (first, ~first))
        if np.isnan(t1 + t2 + v1 + v2):
            return np.nan
        if abs(t1 - t2) < 1e-12:
            return 0.0
        return (t1 - t2) / np.sqrt(v1 + v2) if v1 + v2 > 1e-20 else np.copysign(np.inf, t1 - t2)

    sizes = [int(in_a.sum()), int((~in_a).sum())]
    observed = statistic(in_a)
    every = np.array([statistic(labels == 0) for labels in labellings(sizes, blocks)])
    every = np.abs(every[~np.isnan(every)])
    seen = abs(observed)
    return observed, float(np.mean(every >= (seen * (1 - 1e-9) if np.isfinite(seen) else seen)))


# Functions of one group -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [spread, weighted_error, median_error])
def test_any_function_has_the_exhaustive_p_value(function):
    plain = functools.partial(function) if function is not weighted_error else weighted_error
    observed, exact = exhaustive(function, TRUTH, SCORE, IN_A)
    published = run(TRUTH, SCORE, GROUP, plain, n_resamples=MANY, method="diciccio", variance="jackknife")
    assert_monte_carlo(published.p_value_, exact)
    test = run(TRUTH, SCORE, GROUP, plain, n_resamples=MANY)
    assert test.statistic_ == pytest.approx(observed, rel=1e-7)
    assert test.p_value_ == pytest.approx(max(published.p_value_, 2 * norm.sf(abs(observed))), rel=1e-7)
    assert test.by_group_.at["a", "value"] == pytest.approx(function(TRUTH[IN_A], SCORE[IN_A]))
    assert test.variance_ == "jackknife"
    assert test.within_ is None


def test_the_standard_error_of_a_group_is_the_jackknifes():
    test = run(TRUTH, SCORE, GROUP, spread, n_resamples=99)
    for group, side in (("a", IN_A), ("b", ~IN_A)):
        _, variance = jackknife(spread, TRUTH[side], SCORE[side])
        assert test.by_group_.at[group, "standard_error"] == pytest.approx(np.sqrt(variance))


def test_a_mean_that_nobody_knows_to_be_one_is_tested_as_one():
    known = run(TRUTH, SCORE, GROUP, "mean_squared_error", n_resamples=MANY)
    unknown = run(TRUTH, SCORE, GROUP, weighted_error, n_resamples=MANY)
    assert unknown.statistic_ == pytest.approx(known.statistic_, rel=1e-9)
    assert unknown.p_value_ == pytest.approx(known.p_value_, abs=0.03)


def test_labels_are_permuted_where_it_was_asked():
    _, exact = exhaustive(spread, TRUTH, SCORE, IN_A, TRUTH)
    alone = {"method": "diciccio", "variance": "jackknife", "within": "y_true"}
    assert_monte_carlo(run(TRUTH, SCORE, GROUP, spread, n_resamples=MANY, **alone).p_value_, exact)
    test = run(TRUTH, SCORE, GROUP, spread, n_resamples=MANY, within="y_true")
    own = run(TRUTH, SCORE, GROUP, ScoreMetric("spread", spread, within="y_true"), n_resamples=MANY)
    assert own.p_value_ == test.p_value_
    assert own.within_ == "y_true"


def recall(y_true, y_pred):
    """Return NaN where nobody is positive."""
    with np.errstate(invalid="ignore"):
        return np.sum((y_true == 1) & (y_pred == 1)) / np.float64(np.sum(y_true == 1))


def test_undefined_resamples_leave_numerator_and_denominator():
    truth = np.array([1, 1, 0, 0, 0, 0, 1, 0, 0, 0])
    predicted = np.array([1, 0, 0, 1, 0, 0, 0, 1, 0, 1])
    in_a = np.arange(10) < 5
    observed, exact = exhaustive(recall, truth, predicted, in_a)
    test = run(truth, predicted, np.where(in_a, "a", "b"), recall, n_resamples=MANY)
    undefined = np.isnan(test.null_distribution_).mean()
    # All three positives on one side: 2 C(7, 2) of C(10, 5) labellings.
    assert undefined == pytest.approx(42 / 252, abs=0.02)
    assert test.statistic_ == pytest.approx(observed) or (np.isinf(test.statistic_) and np.isinf(observed))
    assert_monte_carlo(test.p_value_, exact)
    assert "not counted" in test.excluded_.iloc[0]["reason"]


def strict_recall(y_true, y_pred):
    """Raise where nobody is positive."""
    return statistics.mean(int(p) for t, p in zip(y_true, y_pred, strict=True) if t == 1)


def test_resamples_in_which_a_function_raises_are_undefined():
    # Every group has positives; a resample, or a group without its only positive, may have none.
    truth = np.array([1, 1, 0, 0, 0, 0, 1, 0, 0, 0])
    predicted = np.array([1, 0, 0, 1, 0, 0, 0, 1, 0, 1])
    group = np.repeat(["a", "b"], 5)
    gentle = run(truth, predicted, group, recall, n_resamples=999)
    strict = run(truth, predicted, group, strict_recall, n_resamples=999)
    assert strict.p_value_ == gentle.p_value_


@pytest.mark.parametrize(
    ("function", "scores"),
    [
        (average_precision_score, True),
        (r2_score, True),
        (functools.partial(fbeta_score, beta=2), False),
        (functools.partial(balanced_accuracy_score, adjusted=True), False),
        (lambda y, p: np.float32(np.mean(p)), False),
        (lambda y, p: bool(np.mean(p) > 0.5), False),
        (lambda y, p: len(y), False),
    ],
)
def test_values_are_what_the_function_returns(function, scores):
    rng = np.random.default_rng(1)
    truth, group = np.tile([0, 1], 9), np.repeat(["a", "b", "c"], 6)
    predicted = rng.random(18) if scores else rng.integers(0, 2, 18)
    test = run(truth, predicted, group, function, n_resamples=59, compare="to_reference", reference_group="a")
    expected = [float(function(truth[group == g], predicted[group == g])) for g in "abc"]
    assert test.by_group_["value"].tolist() == pytest.approx(expected)
    assert ((test.comparisons_["p_value"] > 0) & (test.comparisons_["p_value"] <= 1)).all()


def test_functions_see_labels_as_they_were_given():
    words = np.array(["no", "yes"])
    seen = set()

    def share(y_true, y_pred):
        seen.update(y_pred.tolist())
        return np.mean(y_pred == "yes")

    test = run(words[TRUTH], words[DECISION], GROUP, share, n_resamples=99)
    assert seen == {"no", "yes"}
    assert test.by_group_.at["a", "value"] == pytest.approx(DECISION[IN_A].mean())
    partial = functools.partial(precision_score, pos_label="yes", zero_division=0.0)
    named = run(words[TRUTH], words[DECISION], GROUP, partial, n_resamples=99)
    assert named.by_group_.at["b", "value"] == pytest.approx(precision_score(TRUTH[~IN_A], DECISION[~IN_A]))


def test_names_of_functions():
    test = run(
        TRUTH, SCORE, GROUP,
        {"widest": lambda y, p: np.ptp(p), "partial": functools.partial(np.vdot), "mse": "mean_squared_error"},
        n_resamples=99,
    )  # fmt: skip
    assert test.comparisons_["metric"].tolist() == ["widest", "partial", "mse"]
    assert run(TRUTH, SCORE, GROUP, [spread, "mean_squared_error"], n_resamples=99).by_group_.index.get_level_values(
        "metric"
    ).unique().tolist() == ["spread", "mean_squared_error"]
    with pytest.raises(ValueError, match=r"two different metrics named '<lambda>': rename one"):
        run(TRUTH, SCORE, GROUP, [lambda y, p: 1.0, lambda y, p: 2.0])


def test_a_vectorized_metric_of_counts():
    def error(y_true, y_pred, counts):
        return counts @ (y_true - y_pred) ** 2 / counts.sum(axis=-1)

    slow = run(TRUTH, SCORE, GROUP, weighted_error, n_resamples=999)
    fast = run(TRUTH, SCORE, GROUP, ScoreMetric("weighted_error", error), n_resamples=999)
    pd.testing.assert_frame_equal(fast.comparisons_, slow.comparisons_)
    assert fast.variance_ == "jackknife"


def test_a_metric_with_a_variance_of_its_own():
    def error(y_true, y_pred, counts):
        return counts @ (y_true - y_pred) ** 2 / counts.sum(axis=-1)

    def variance(y_true, y_pred, counts):
        z, n = (y_true - y_pred) ** 2, counts.sum(axis=-1)
        return (counts @ z**2 / n - (counts @ z / n) ** 2) / (n - 1)

    own = run(TRUTH, SCORE, GROUP, ScoreMetric("own", error, variance), n_resamples=MANY)
    welch = run(TRUTH, SCORE, GROUP, "mean_squared_error", n_resamples=MANY)
    assert own.statistic_ == pytest.approx(welch.statistic_, rel=1e-9)
    assert own.p_value_ == pytest.approx(welch.p_value_, abs=0.03)
    assert own.variance_ == "own"


def test_a_function_of_counts_must_return_an_array_of_them():
    with pytest.raises(ValueError, match=r"'bad'.*must return an array of shape"):
        run(TRUTH, SCORE, GROUP, ScoreMetric("bad", lambda y_true, y_pred, counts: 0.5))


@pytest.mark.parametrize("variance", ["jackknife", "bootstrap", None])
def test_the_standard_error_that_was_asked_for(variance):
    test = run(TRUTH, SCORE, GROUP, weighted_error, n_resamples=499, variance=variance)
    assert test.variance_ == variance
    if variance is None:
        difference = weighted_error(TRUTH[IN_A], SCORE[IN_A]) - weighted_error(TRUTH[~IN_A], SCORE[~IN_A])
        assert test.statistic_ == pytest.approx(difference)


def test_many_different_people_are_bootstrapped_and_not_left_out_one_by_one():
    rng = np.random.default_rng(0)
    truth, score, group = rng.integers(0, 2, 200), rng.random(200), np.repeat(["a", "b"], 100)
    test = run(truth, score, group, spread, n_resamples=99)
    assert test.variance_ == "bootstrap"
    with pytest.raises(ValueError, match=r"variance='jackknife' is limited to 64 kinds.*'bootstrap'"):
        run(truth, score, group, spread, n_resamples=99, variance="jackknife")
    with pytest.raises(ValueError, match=r"variance='delta' needs the derivative of spread"):
        run(truth, score, group, spread, variance="delta")


def test_a_single_score_metric_through_an_estimator():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y, group = (X[:, 0] + rng.normal(size=60) > 0).astype(int), np.repeat(["a", "b"], 30)
    model = LogisticRegression().fit(X, y)
    metric = ScoreMetric("error", lambda y, p: np.mean((y - p) ** 2), response="predict_proba")
    test = FairnessTest(model, metric=metric, n_resamples=99, random_state=0).fit(X, y, sensitive_features=group)
    score = model.predict_proba(X)[:, 1]
    expected = [np.mean((y - score)[group == g] ** 2) for g in "ab"]
    assert test.by_group_["value"].tolist() == pytest.approx(expected)


# What functions must not do -------------------------------------------------------------------------------------------


def only_in_b(result):
    """Return a function that is fine in one group and not in the other."""

    def fragile(y_true, y_pred):
        return result() if len(y_true) == 6 else 0.5

    return fragile


def boom():
    raise KeyError("no such column")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (lambda: float("nan"), "returns NaN"),
        (boom, "raises KeyError.*no such column"),
        (lambda: np.array([0.1, 0.2]), r"array of shape \(2,\), not one number"),
        (lambda: "high", "'high', not one number"),
        (lambda: None, "None, not one number"),
        (lambda: 1 + 2j, "not one number"),
    ],
)
def test_the_group_is_named_in_which_a_function_fails(result, reason):
    with pytest.raises(ValueError, match=rf"group 'b'.*fragile.*{reason}|group 'b'.*{reason}"):
        run(TRUTH, SCORE, GROUP, only_in_b(result), n_resamples=99)


def test_the_stratum_is_named_too():
    def fragile(y_true, y_pred):
        return float("nan") if len(y_true) == 2 else 0.5

    stratum = np.array(["x", "x", "x", "y", "y", "x", "x", "x", "y", "y", "y"])
    with pytest.raises(ValueError, match=r"group 'a' of stratum 'y'.*NaN"):
        run(TRUTH, SCORE, GROUP, fragile, control_features=stratum, n_resamples=99)


def test_it_is_said_for_whom_a_function_fails_beside_groups():
    # Fine in every group, and not in everybody else.
    def fragile(y_true, y_pred):
        if len(y_true) > 8:
            raise KeyError("too many")
        return float(np.mean(y_pred))

    group = np.repeat(["a", "b", "c", "d"], 6)
    with pytest.raises(ValueError, match=r"rest.*fragile raises KeyError|fragile raises KeyError.*rest"):
        run(np.tile([0, 1], 12), np.linspace(0, 1, 24), group, fragile, compare="to_rest", n_resamples=99)


def test_weights_are_refused_by_functions_without_them():
    with pytest.raises(ValueError, match=r"sample_weight.*'spread'.*add a parameter sample_weight"):
        run(TRUTH, SCORE, GROUP, spread, sample_weight=np.ones(11))


def test_weights_reach_functions_that_take_them():
    weight = np.arange(1.0, 12.0)
    test = run(TRUTH, SCORE, GROUP, weighted_error, sample_weight=weight, n_resamples=199)
    expected = weighted_error(TRUTH[IN_A], SCORE[IN_A], sample_weight=weight[IN_A])
    assert test.by_group_.at["a", "value"] == pytest.approx(expected)
    known = run(TRUTH, SCORE, GROUP, "mean_squared_error", sample_weight=weight, n_resamples=199)
    assert test.by_group_["value"].tolist() == pytest.approx(known.by_group_["value"].tolist())


def test_people_of_weight_zero_may_be_there():
    weight = np.ones(11)
    weight[[0, 9]] = 0
    test = run(TRUTH, SCORE, GROUP, weighted_error, sample_weight=weight, n_resamples=199)
    assert len(test.comparisons_) == 1
    assert test.by_group_["standard_error"].notna().all()


# Functions of all groups ----------------------------------------------------------------------------------------------

TRIPLE = np.repeat(["x", "y", "z"], [3, 3, 3])
TRUTH9 = np.array([1, 0, 1, 0, 1, 0, 1, 1, 0])
DECISION9 = np.array([1, 1, 1, 0, 0, 1, 0, 0, 0])


def shares_of(y_pred, groups):
    groups = np.asarray(groups)
    return [y_pred[groups == group].mean() for group in np.unique(groups)]


def widest_gap(y_true, y_pred, *, sensitive_features):
    """Return the largest share minus the smallest."""
    shares = shares_of(y_pred, sensitive_features)
    return max(shares) - min(shares)


def gap_of(labels, truth=TRUTH9, predicted=DECISION9):
    shares = [predicted[labels == g].mean() for g in range(3)]
    return max(shares) - min(shares)


def test_a_gap_of_all_groups_has_the_exhaustive_p_value():
    every = np.array([gap_of(labels) for labels in labellings([3, 3, 3])])
    observed = gap_of(np.repeat([0, 1, 2], 3))
    assert len(every) == 1680
    test = run(TRUTH9, DECISION9, TRIPLE, widest_gap, n_resamples=FEWER)
    assert test.statistic_ == test.disparity_ == pytest.approx(observed)
    assert_monte_carlo(test.p_value_, np.mean(every >= observed - 1e-12), FEWER)
    assert test.by_group_ is None
    assert len(test.comparisons_) == 1
    assert test.variance_ is None
    assert np.isnan(test.comparisons_.at[0, "standard_error"])


def test_its_null_hypothesis_is_independence():
    test = run(TRUTH9, DECISION9, TRIPLE, widest_gap, n_resamples=99)
    words = str(test)
    null = words.partition("Null hypothes")[2].splitlines()[1]
    assert "widest_gap: " in null
    assert "truth and prediction together" in null
    assert "do not depend on sensitive_feature" in null
    assert "Values by group" not in words
    assert "nan" not in words.lower()


def test_nothing_is_said_of_intervals_that_there_are_not():
    test = run(TRUTH9, DECISION9, TRIPLE, widest_gap, n_resamples=99)
    assert not test.concern_
    assert test.comparisons_[["ci_low", "ci_high"]].isna().all(axis=None)
    assert "the intervals show" not in str(test)
    assert "Intervals of disparities" not in str(test)


def test_it_is_permuted_where_it_was_asked():
    every = np.array([gap_of(labels) for labels in labellings([3, 3, 3], TRUTH9)])
    observed = gap_of(np.repeat([0, 1, 2], 3))
    test = run(TRUTH9, DECISION9, TRIPLE, widest_gap, n_resamples=FEWER, within="y_true")
    exact = np.mean(every >= observed - 1e-12)
    assert_monte_carlo(test.p_value_, exact, FEWER)
    everywhere = np.mean([gap_of(labels) >= observed - 1e-12 for labels in labellings([3, 3, 3])])
    assert abs(exact - everywhere) > 0.02
    assert "among people of one y_true" in str(test)


def smallest_share(labels):
    return min(DECISION9[labels == g].mean() for g in range(3))


def largest_share(labels):
    return max(DECISION9[labels == g].mean() for g in range(3))


def mean_of_predictions(y_true, y_pred):
    return float(np.mean(y_pred))


def plain_function(transform):
    """Return a fast function like fairlearn's derived metric of the mean prediction."""

    def derived(y_true, y_pred, sensitive_features):
        shares = shares_of(y_pred, sensitive_features)
        return {
            "difference": max(shares) - min(shares),
            "ratio": min(shares) / max(shares),
            "group_min": min(shares),
            "group_max": max(shares),
        }[transform]

    derived.__name__ = f"mean_of_predictions_{transform}"
    derived._transform = transform
    return derived


@pytest.mark.parametrize(
    ("transform", "reference", "tails"),
    [
        ("difference", gap_of, ("greater",)),
        ("ratio", lambda labels: smallest_share(labels) / largest_share(labels), ("less",)),
        ("group_min", smallest_share, ("greater", "less")),
        ("group_max", largest_share, ("greater", "less")),
    ],
)
def test_derived_metrics_of_fairlearn(transform, reference, tails):
    observed = reference(np.repeat([0, 1, 2], 3))
    every = np.array([reference(labels) for labels in labellings([3, 3, 3])])
    shares = {"greater": np.mean(every >= observed - 1e-12), "less": np.mean(every <= observed + 1e-12)}
    exact = min(1.0, len(tails) * min(shares[tail] for tail in tails))
    fast = plain_function(transform)
    test = run(TRUTH9, DECISION9, TRIPLE, fast, n_resamples=FEWER)
    assert test.disparity_ == pytest.approx(observed)
    assert_monte_carlo(test.p_value_, exact, FEWER / len(tails) ** 2)
    derived = make_derived_metric(metric=mean_of_predictions, transform=transform)
    theirs, ours = (run(TRUTH9, DECISION9, TRIPLE, metric, n_resamples=19) for metric in (derived, fast))
    pd.testing.assert_frame_equal(theirs.comparisons_, ours.comparisons_)
    assert theirs.comparisons_.at[0, "metric"] == f"mean_of_predictions_{transform}"


def test_functions_of_fairlearn_with_a_method():
    partial = functools.partial(demographic_parity_difference, method="to_overall")
    test = run(TRUTH9, DECISION9, TRIPLE, partial, n_resamples=19)
    expected = demographic_parity_difference(TRUTH9, DECISION9, sensitive_features=TRIPLE, method="to_overall")
    assert test.disparity_ == pytest.approx(expected)
    assert test.by_group_ is not None
    twin = run(TRUTH9, DECISION9, TRIPLE, demographic_parity_difference)
    assert twin.method_ == "exact"
    assert twin.by_group_ is not None


def test_several_features_reach_the_function_as_a_frame():
    seen = []

    def gap(y_true, y_pred, sensitive_features):
        seen.append(sensitive_features.columns.tolist())
        shares = pd.Series(y_pred).groupby([sensitive_features[c].to_numpy() for c in sensitive_features]).mean()
        return shares.max() - shares.min()

    rng = np.random.default_rng(0)
    features = pd.DataFrame({"sex": rng.choice(["f", "m"], 60), "old": rng.choice([True, False], 60)})
    predicted = rng.integers(0, 2, 60)
    test = run(predicted, predicted, features, gap, n_resamples=49)
    assert seen[0] == ["sex", "old"]
    expected = MetricFrame(
        metrics=mean_of_predictions, y_true=predicted, y_pred=predicted, sensitive_features=features
    ).difference()
    assert test.disparity_ == pytest.approx(expected)


def test_strata_are_permuted_apart_and_averaged():
    stratum = np.array(["s", "t", "s", "t", "s", "t", "s", "t", "s"])
    test = run(TRUTH9, DECISION9, TRIPLE, widest_gap, n_resamples=499, control_features=stratum)
    rows = test.comparisons_.set_index("stratum")["disparity"]
    people = {"s": 5, "t": 4}
    for name in people:
        inside = stratum == name
        expected = widest_gap(TRUTH9[inside], DECISION9[inside], sensitive_features=TRIPLE[inside])
        assert rows[name] == pytest.approx(expected)
    pooled = test.comparisons_[test.comparisons_["stratum"].isna()]
    assert len(pooled) == 1
    assert pooled["disparity"].item() == pytest.approx(sum(people[s] * rows[s] for s in people) / 9)


def test_derived_metrics_pass_weights_to_functions_that_take_them():
    weight = np.arange(1.0, 10.0)
    derived = make_derived_metric(metric=recall_score, transform="difference", sample_param_names=["sample_weight"])
    test = run(TRUTH9, DECISION9, TRIPLE, derived, sample_weight=weight, n_resamples=99)
    expected = derived(TRUTH9, DECISION9, sensitive_features=TRIPLE, sample_weight=weight)
    assert test.disparity_ == pytest.approx(expected)
    without = make_derived_metric(metric=count, transform="difference")
    with pytest.raises(ValueError, match=r"sample_weight.*takes none"):
        run(TRUTH9, DECISION9, TRIPLE, without, sample_weight=weight)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alternative": "less"}, "no alternative or margin"),
        ({"margin": 0.1}, "no alternative or margin"),
        ({"alternative": "equivalence", "margin": 0.1}, "no alternative or margin"),
        ({"compare": "to_rest"}, "compare='between_groups'"),
        ({"method": "bootstrap"}, "method='auto'"),
        ({"method": "exact"}, "method='auto'"),
        ({"clusters": np.arange(9)}, "clusters"),
    ],
)
def test_what_all_groups_at_once_cannot_be_asked(params, message):
    with pytest.raises(ValueError, match=message):
        run(TRUTH9, DECISION9, TRIPLE, widest_gap, **params)


def test_a_function_of_all_groups_that_fails():
    def fails(y_true, y_pred, sensitive_features):
        raise RuntimeError("no luck")

    with pytest.raises(ValueError, match=r"metric cannot be computed.*fails raises RuntimeError: no luck"):
        run(TRUTH9, DECISION9, TRIPLE, fails)
    with pytest.raises(ValueError, match=r"not one number"):
        run(TRUTH9, DECISION9, TRIPLE, lambda y_true, y_pred, sensitive_features: y_pred)


def test_of_all_groups_beside_a_rate():
    test = run(TRUTH9, DECISION9, TRIPLE, ["selection_rate", widest_gap], n_resamples=199)
    assert len(test.comparisons_) == 4
    assert test.by_group_.index.get_level_values("metric").unique().tolist() == ["selection_rate"]
    known = equalized_odds_difference(TRUTH9, DECISION9, sensitive_features=TRIPLE)
    twin = run(TRUTH9, DECISION9, TRIPLE, equalized_odds_difference)
    assert twin.comparisons_["disparity"].abs().max() == pytest.approx(known)


# How many resamples, by whom, and how long ----------------------------------------------------------------------------


@pytest.mark.parametrize("function", [weighted_error, widest_gap])
def test_the_number_of_processes_changes_nothing(function):
    one = run(TRUTH, DECISION, GROUP, function, n_resamples=210, n_jobs=1)
    two = run(TRUTH, DECISION, GROUP, function, n_resamples=210, n_jobs=2)
    others = [two]
    for backend in ("threading", "multiprocessing"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            others.append(run(TRUTH, DECISION, GROUP, function, n_resamples=210))
    for other in others:
        pd.testing.assert_frame_equal(one.comparisons_, other.comparisons_)
        assert np.array_equal(one.null_distribution_, other.null_distribution_, equal_nan=True)


@pytest.mark.parametrize("variance", ["bootstrap", "jackknife"])
def test_lambdas_and_inner_draws_may_go_to_other_processes(variance):
    metric = {"own": lambda y, p: float(np.mean((y - p) ** 2))}
    one, two = (run(TRUTH, SCORE, GROUP, metric, n_resamples=250, n_jobs=jobs, variance=variance) for jobs in (None, 2))
    pd.testing.assert_frame_equal(one.comparisons_, two.comparisons_)


def test_adaptive_stops_at_the_twentieth_extreme_resample():
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


def test_what_is_not_drawn_any_more_is_not_undefined():
    test = run(TRUTH, SCORE, GROUP, weighted_error, n_resamples="adaptive")
    assert not len(test.excluded_)
    assert "Left out" not in str(test)
    rng = np.random.default_rng(1)
    three = run(None, rng.random(60), np.repeat(["a", "b", "c"], 20), "mean_prediction", n_resamples="adaptive")
    assert not len(three.excluded_)


def test_adaptive_goes_on_where_there_is_something_to_find():
    truth, group = np.zeros(40), np.repeat(["a", "b"], 20)
    score = np.r_[np.tile([0.0, 1.0], 10), np.tile([2.0, 3.0], 10)]
    test = run(truth, score, group, weighted_error, n_resamples="adaptive")
    assert test.n_resamples_ == 9999
    assert test.p_value_ == pytest.approx(1e-4)


@pytest.mark.parametrize("variance", [None, pytest.param("auto", marks=pytest.mark.slow)])
def test_adaptive_comparisons_stop_on_their_own(variance):
    rng = np.random.default_rng(1)
    group = np.repeat(["a", "b", "c"], 20)
    score = rng.random(60) + np.where(group == "c", 0.25, 0)
    test = run(np.zeros(60, dtype=int), score, group, average, n_resamples="adaptive", variance=variance)
    used = (~np.isnan(test.null_distribution_)).sum(axis=0)
    for (_, row), times in zip(test.comparisons_.iterrows(), used, strict=True):
        if times < 9999:
            assert row["p_value"] == pytest.approx(20 / times)
        else:
            assert row["p_value"] < 20 / 9999 + 1e-12
    assert test.n_resamples_ == used.max()
    assert len(set(used)) > 1


def test_adaptive_has_no_meaning_for_the_bootstrap():
    with pytest.raises(ValueError, match=r"n_resamples='adaptive'.*n_resamples=9999"):
        run(TRUTH, SCORE, GROUP, weighted_error, n_resamples="adaptive", method="bootstrap")


def test_the_sequential_p_value_is_valid():
    # Under the null hypothesis the data are one more draw.
    rng = np.random.default_rng(0)
    p = []
    for draws in rng.random((4000, 1500)):
        found = resampling.sequential_p(draws[1:], draws[0], "greater")
        p.append((1 + (draws[1:] >= draws[0]).sum()) / 1500 if found is None else found[0])
    p = np.array(p)
    for level in (0.02, 0.05, 0.1, 0.25, 0.5):
        share = np.mean(p <= level)
        error = np.sqrt(level * (1 - level) / len(p))
        assert share <= level + 3.5 * error
        assert share >= level - 3.5 * error - 0.03  # and it is not conservative
    assert p.min() < 0.005


def test_the_sequential_p_value_passes_over_undefined_draws():
    draws = np.tile([1.0, np.nan, 0.0], 40)
    p, h, used = resampling.sequential_p(draws, 0.5, "greater")
    assert (p, h, used) == (20 / 39, 20, 39)
    assert resampling.sequential_p(draws[:50], 0.5, "greater") is None
    assert resampling.sequential_p(-draws[:50], -0.5, "less") is None
    assert resampling.sequential_p(-draws, -0.5, "less") == (20 / 39, 20, 39)


def test_progress_is_shown_on_standard_error(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "NOTICEABLE", -1.0)
    run(TRUTH, SCORE, GROUP, weighted_error, n_resamples=499, verbose=1)
    shown = capsys.readouterr()
    assert "weighted_error" in shown.err
    assert "100" in shown.err
    assert shown.out == ""
    run(TRUTH, SCORE, GROUP, weighted_error, n_resamples=499)
    assert capsys.readouterr().err == ""


def test_progress_without_rich(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "NOTICEABLE", -1.0)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    run(TRUTH, SCORE, GROUP, weighted_error, n_resamples=499, verbose=1)
    shown = capsys.readouterr().err
    assert "weighted_error: 100%" in shown
    assert shown.endswith("\n")


def test_one_seed_is_one_result_whatever_the_order_of_people():
    order = np.random.default_rng(5).permutation(11)
    one = run(TRUTH, DECISION, GROUP, weighted_error, n_resamples=299)
    two = run(TRUTH[order], DECISION[order], GROUP[order], weighted_error, n_resamples=299)
    pd.testing.assert_frame_equal(one.comparisons_, two.comparisons_)
    other = run(TRUTH, DECISION, GROUP, weighted_error, n_resamples=299, random_state=1)
    assert not np.array_equal(one.null_distribution_, other.null_distribution_)


@pytest.mark.filterwarnings("ignore:sensitive_features. .* left out of comparisons:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_function_that_one_person_leaves_undefined_is_tested_for_the_others():
    rng = np.random.default_rng(0)
    y_true, group = rng.normal(size=61), np.array(["a"] * 30 + ["b"] * 30 + ["z"])
    y_pred = y_true + rng.normal(size=61)
    params = {"metric": r2_score, "n_resamples": 19, "random_state": 0}
    test = FairnessTest.from_predictions(y_true, y_pred, sensitive_features=group, **params)
    assert np.isnan(test.by_group_.loc["z", "value"])
    assert list(test.excluded_["group"]) == ["z"]
    others = FairnessTest.from_predictions(y_true[:60], y_pred[:60], sensitive_features=group[:60], **params)
    assert test.disparity_ == others.disparity_
