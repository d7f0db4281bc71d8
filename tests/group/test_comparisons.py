"""Comparisons of metrics that are not rates, against formulas and brute force."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm, t
from sklearn.metrics import balanced_accuracy_score, matthews_corrcoef, mean_squared_error, roc_auc_score

from skfairtest import FairnessTest

pytestmark = pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")


METRICS = {
    "roc_auc": (roc_auc_score, "score"),
    "mean_squared_error": (mean_squared_error, "number"),
    "balanced_accuracy": (balanced_accuracy_score, "label"),
    "matthews_corrcoef": (matthews_corrcoef, "label"),
}


#: Largest and smallest difference of two values.
ENDS = {"roc_auc": 1, "mean_squared_error": np.inf, "balanced_accuracy": 1, "matthews_corrcoef": 2}


every_metric = pytest.mark.parametrize("metric", list(METRICS))


def reference(test, metric):
    """Return the distribution of the statistic of two groups in large samples: Welch's t of means, normal of others."""
    if metric != "mean_squared_error":
        return norm
    v, n = test.by_group_["standard_error"].to_numpy() ** 2, test.by_group_["n"].to_numpy()
    return t(v.sum() ** 2 / (v**2 / (n - 1)).sum())


class People:
    """People of unequal groups and strata, with labels, predictions, scores and numbers."""

    def __init__(self, n=900, seed=1, groups="abc", share=(0.5, 0.3, 0.2)):
        rng = np.random.default_rng(seed)
        self.group = rng.choice(list(groups), n, p=share)
        self.stratum = rng.choice(["x", "y", "z"], n, p=[0.5, 0.3, 0.2])
        late = self.group == groups[-1]
        self.y = (rng.random(n) < 0.3 + 0.2 * (self.stratum == "y")).astype(int)
        self.score = rng.normal(size=n) + self.y * (1.4 - 0.4 * late)
        self.label = (self.score > 0.6).astype(int)
        self.truth = rng.normal(size=n)
        self.number = self.truth + rng.normal(size=n) * (1 + 0.1 * late)

    def columns(self, metric, keep=slice(None)):
        predicted = {"score": self.score, "label": self.label, "number": self.number}[METRICS[metric][1]]
        return (self.truth if METRICS[metric][1] == "number" else self.y)[keep], predicted[keep]

    def test(self, metric, keep=slice(None), *, strata=False, group=None, **params):
        control = {"control_features": self.stratum[keep]} if strata else {}
        params = {"random_state": 0, "n_resamples": 499, **params}
        return FairnessTest.from_predictions(
            *self.columns(metric, keep),
            sensitive_features=(self.group if group is None else group)[keep],
            metric=metric,
            **control,
            **params,
        )

    def value(self, metric, keep=slice(None)):
        return METRICS[metric][0](*self.columns(metric, keep))


@pytest.fixture(scope="module")
def people():
    return People()


def quick(metric, y, predicted):
    """The metrics once more, for thousands of samples."""
    if metric == "roc_auc":
        return np.mean(predicted[y == 1][:, None] > predicted[y == 0])  # ties only between copies of one person
    if metric == "mean_squared_error":
        return np.mean((y - predicted) ** 2)
    if metric == "balanced_accuracy":
        return (predicted[y == 1].mean() + 1 - predicted[y == 0].mean()) / 2
    return np.corrcoef(y, predicted)[0, 1]


def bootstrap(people, metric, disparity, n=300, seed=0):
    """Disparities of each group to everybody in samples drawn with replacement."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        drawn = rng.integers(0, len(people.group), len(people.group))
        found.append(disparity(lambda keep, drawn=drawn: quick(metric, *people.columns(metric, drawn[keep[drawn]]))))
    return np.array(found)


# What is compared -----------------------------------------------------------------------------------------------------


@every_metric
def test_pairs_are_compared_by_their_values(people, metric):
    test = people.test(metric, method="permutation")
    rows = test.comparisons_
    assert list(zip(rows["group"], rows["other"], strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    value = {g: people.value(metric, people.group == g) for g in "abc"}
    for row in rows.itertuples():
        assert row.value_group == pytest.approx(value[row.group], abs=1e-12)
        assert row.value_other == pytest.approx(value[row.other], abs=1e-12)
        assert row.disparity == pytest.approx(value[row.group] - value[row.other], abs=1e-12)
        assert (row.n_group, row.n_other) == ((people.group == row.group).sum(), (people.group == row.other).sum())
        errors = test.by_group_["standard_error"][[row.group, row.other]]
        assert row.standard_error == pytest.approx(np.hypot(*errors))
        assert row.statistic == pytest.approx(row.disparity / row.standard_error)
    assert [test.by_group_["value"][g] for g in "abc"] == pytest.approx(list(value.values()), abs=1e-12)


@every_metric
def test_the_rest_is_a_group_of_its_own(people, metric):
    rows = people.test(metric, compare="to_rest", adjust=None, n_resamples=499).comparisons_
    assert list(rows["other"]) == ["rest"] * 3
    for row in rows.itertuples():
        merged = np.where(people.group == row.group, "1", "2")
        two = people.test(metric, group=merged, n_resamples=499, random_state=5).comparisons_.iloc[0]
        for name in ("n_group", "n_other", "value_group", "value_other", "disparity", "standard_error", "statistic"):
            assert getattr(row, name) == pytest.approx(two[name], rel=1e-9), name
        p = (row.p_value + two["p_value"]) / 2
        assert row.p_value == pytest.approx(two["p_value"], abs=4.5 * np.sqrt(2 * p * (1 - p) / 499) + 1e-9)
        # The critical values are drawn quantiles.
        assert (row.ci_low, row.ci_high) == pytest.approx((two["ci_low"], two["ci_high"]), abs=0.5 * row.standard_error)


@every_metric
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_the_disparity_to_everybody_has_the_error_of_a_bootstrap(people, metric, disparity):
    rows = people.test(metric, compare="to_overall", disparity=disparity, method="asymptotic").comparisons_
    rest = people.test(metric, compare="to_rest", disparity=disparity, method="asymptotic").comparisons_
    ratio = disparity == "ratio"
    everyone = people.value(metric)

    def of(value):
        groups = np.array([value(people.group == g) for g in "abc"])
        overall = value(np.ones(len(people.group), dtype=bool))
        return np.log(groups / overall) if ratio else groups - overall

    found = bootstrap(people, metric, of)
    own = np.array([people.value(metric, people.group == g) for g in "abc"])
    np.testing.assert_allclose(rows["disparity"], own / everyone if ratio else own - everyone)
    np.testing.assert_allclose(rows["standard_error"], found.std(axis=0, ddof=1), rtol=0.15)
    np.testing.assert_array_equal(rows["p_value"], rest["p_value"])
    np.testing.assert_array_equal(rows["statistic"], rest["statistic"])
    assert list(rows["other"]) == ["overall"] * 3
    assert (rows["n_other"] == len(people.group)).all()


@every_metric
def test_a_ratio_has_the_error_of_its_logarithm_and_the_test_of_the_difference(people, metric):
    # That two values are equal is one null hypothesis. The interval is Fieller's: the roots of a quadratic.
    test = people.test(metric, disparity="ratio", method="asymptotic", adjust=None)
    difference = people.test(metric, method="asymptotic", adjust=None).comparisons_
    np.testing.assert_array_equal(test.comparisons_["p_value"], difference["p_value"])
    np.testing.assert_array_equal(test.comparisons_["statistic"], difference["statistic"])
    for row in test.comparisons_.itertuples():
        pair = SimpleNamespace(by_group_=test.by_group_.loc[[row.group, row.other]])
        z = reference(pair, metric).isf(0.025)
        values, errors = (test.by_group_[name][[row.group, row.other]] for name in ("value", "standard_error"))
        error = np.sqrt(((errors / values) ** 2).sum())
        assert row.disparity == pytest.approx(row.value_group / row.value_other)
        assert row.standard_error == pytest.approx(error)
        (a, b), (v, w) = values, errors**2
        roots = np.roots([b**2 - z**2 * w, -2 * a * b, a**2 - z**2 * v])
        assert (row.ci_low, row.ci_high) == pytest.approx(tuple(np.sort(roots)))


@every_metric
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_strata_are_averaged_by_mantel_and_haenszel(people, metric, disparity):
    rows = people.test(metric, strata=True, disparity=disparity, method="asymptotic").comparisons_
    pooled = rows[rows["stratum"].isna()]
    assert len(rows) == 3 * 4
    for row in pooled.itertuples():
        sides = [(people.stratum == s) & (people.group == g) for s in "xyz" for g in (row.group, row.other)]
        n1, n2 = np.array([side.sum() for side in sides]).reshape(3, 2).T
        v1, v2 = np.array([people.value(metric, side) for side in sides]).reshape(3, 2).T
        weight = n1 * n2 / (n1 + n2)
        weight = weight / weight.sum()
        assert row.value_group == pytest.approx(weight @ v1)
        assert row.value_other == pytest.approx(weight @ v2)
        within = rows[(rows["group"] == row.group) & (rows["other"] == row.other) & rows["stratum"].notna()]
        if disparity == "difference":
            assert row.disparity == pytest.approx(weight @ (v1 - v2))
            assert row.standard_error == pytest.approx(np.sqrt(weight**2 @ within["standard_error"] ** 2))
        else:
            assert row.disparity == pytest.approx((weight @ v1) / (weight @ v2))


def test_a_stratum_without_one_side_is_left_to_the_others(people):
    keep = ~((people.stratum == "z") & (people.group == "a"))
    test = people.test("mean_squared_error", keep, strata=True, method="asymptotic")
    rows = test.comparisons_
    assert len(rows) == 3 + 2 * 3 + 1
    (pooled,) = rows[rows["stratum"].isna() & (rows["group"] == "a") & (rows["other"] == "b")].itertuples()
    alone = people.test("mean_squared_error", keep & (people.stratum != "z"), strata=True, method="asymptotic")
    assert pooled.disparity == pytest.approx(alone.comparisons_["disparity"][0])
    assert pooled.standard_error == pytest.approx(alone.comparisons_["standard_error"][0])
    left_out = test.excluded_[test.excluded_["stratum"] == "z"]
    assert left_out["comparisons"].sum() == 2


def test_people_are_permuted_within_strata_only():
    # Two strata that differ widely, in which the groups are alike but unequally present: nothing to be found.
    rng = np.random.default_rng(0)
    stratum = np.repeat(["x", "y"], 200)
    group = np.where(rng.random(400) < np.where(stratum == "x", 0.8, 0.2), "a", "b")
    number = rng.normal(size=400) + 10 * (stratum == "y")
    both = {"sensitive_features": group, "metric": "mean_prediction", "random_state": 0, "n_resamples": 199}
    test = FairnessTest.from_predictions(None, number, control_features=stratum, **both)
    crude = FairnessTest.from_predictions(None, number, **both)
    assert crude.p_value_ == pytest.approx(1 / 200)
    assert test.p_value_ > 0.2
    assert abs(test.disparity_) < 0.3 < abs(crude.disparity_)


# Margins --------------------------------------------------------------------------------------------------------------


@every_metric
@pytest.mark.parametrize("margin", [0.02, 0.15, 0.4])
def test_a_margin_is_tested_at_its_edge(metric, margin):
    people = People(500, groups="ab", share=(0.6, 0.4))
    test = people.test(metric, method="asymptotic")
    plain, null = test.comparisons_.iloc[0], reference(test, metric)
    d, error = plain["disparity"], plain["standard_error"]
    above, below = null.sf((d - margin) / error), null.cdf((d + margin) / error)
    expected = {
        "greater": above,
        "less": below,
        "two-sided": min(1, 2 * min(above, below)),
        "equivalence": max(null.sf((d + margin) / error), null.cdf((d - margin) / error)),
    }
    for alternative, p in expected.items():
        test = people.test(metric, margin=margin, alternative=alternative, method="asymptotic")
        assert test.p_value_ == pytest.approx(p, rel=1e-9), alternative
        assert test.method_ == "asymptotic"
        assert test.concern_ == ((p > 0.05) if alternative == "equivalence" else (p <= 0.05))
        assert test.null_distribution_ is None
    test = people.test(metric, margin=margin, alternative="equivalence", method="asymptotic")
    ends = np.clip([d - null.isf(0.05) * error, d + null.isf(0.05) * error], -ENDS[metric], ENDS[metric])
    assert test.equivalence_interval_ == pytest.approx(tuple(ends))
    certified = -margin < test.equivalence_interval_[0] and test.equivalence_interval_[1] < margin
    assert test.concern_ == (not certified)


def test_a_margin_of_a_ratio_is_tested_by_a_linear_form():
    # Ratios of at least .8 are differences first - .8 second of at least 0, which exist where a value is 0.
    people = People(500, groups="ab", share=(0.6, 0.4))
    test = people.test("mean_squared_error", method="asymptotic", disparity="ratio")
    null = reference(test, "mean_squared_error")
    (a, b), (v, w) = test.by_group_["value"], test.by_group_["standard_error"] ** 2

    def z(edge):
        return (a - edge * b) / np.sqrt(v + edge**2 * w)

    expected = {
        "greater": null.sf(z(1.25)),
        "less": null.cdf(z(0.8)),
        "two-sided": min(1, 2 * min(null.sf(z(1.25)), null.cdf(z(0.8)))),
        "equivalence": max(null.sf(z(0.8)), null.cdf(z(1.25))),
    }
    for alternative, p in expected.items():
        test = people.test("mean_squared_error", margin=0.8, alternative=alternative, disparity="ratio")
        assert test.p_value_ == pytest.approx(p, rel=1e-9), alternative
    low, high = test.equivalence_interval_
    assert (z(low), z(high)) == pytest.approx((null.isf(0.05), null.ppf(0.05)))


# Intervals ------------------------------------------------------------------------------------------------------------


@every_metric
@pytest.mark.parametrize("method", ["asymptotic", "permutation", "bootstrap"])
def test_a_one_sided_test_has_a_one_sided_interval(metric, method):
    people = People(500, groups="ab", share=(0.6, 0.4))
    two = people.test(metric, method=method, confidence_level=0.9, n_resamples=999).comparisons_.iloc[0]
    end = ENDS[metric]
    greater = people.test(metric, method=method, alternative="greater", n_resamples=999).confidence_interval_
    less = people.test(metric, method=method, alternative="less", n_resamples=999).confidence_interval_
    assert greater[1] == end
    assert less[0] == -end
    tolerance = {"abs": 1e-9} if method == "asymptotic" else {"abs": 0.5 * two["standard_error"]}
    assert (greater[0], less[1]) == pytest.approx((two["ci_low"], two["ci_high"]), **tolerance)


@pytest.mark.parametrize("alike", [True, False])
def test_groups_without_spread_are_not_certain(alike):
    # Every positive of both groups (or of one) scores above every negative: no variance, but few people.
    group, y = np.repeat(["a", "b"], 20), np.tile([0, 1], 20)
    score = np.where((group == "a") | alike, y, 1 - y) * 0.8 + 0.1
    test = FairnessTest.from_predictions(
        y, score, sensitive_features=group, metric="roc_auc", n_resamples=999, random_state=0
    )
    row = test.comparisons_.iloc[0]
    low, high = test.confidence_interval_
    if alike:
        assert (row["disparity"], row["statistic"], row["p_value"]) == (0, 0, 1)
        # The rule of three: what 10 people do not show has a probability of up to about .3.
        assert -1 < low < -0.05 < 0.05 < high < 1
    else:
        # Of ten people a class in either group: areas of 0 and 1 are worth rates of 0 of 10 and 10 of 10.
        assert row["disparity"] == 1
        assert row["statistic"] == pytest.approx(np.sqrt(19))
        assert row["p_value"] == pytest.approx(2 * norm.sf(np.sqrt(19)))
        assert 0 < low < 0.99
        assert high == 1
    assert (test.by_group_["ci_high"] - test.by_group_["ci_low"] > 0.05).all()


@every_metric
@pytest.mark.parametrize("just_below", [True, False])
def test_equality_is_in_the_interval_exactly_if_it_is_not_rejected(metric, just_below):
    # Levels just below and just above the p-value.
    people = People(160, seed=4, groups="ab", share=(0.6, 0.4))
    people.score += 0.8 * (people.group == "a") * people.y
    people.label = (people.score > 0.6).astype(int)
    people.number = people.truth + (people.number - people.truth) * np.where(people.group == "a", 1.2, 1)
    test = people.test(metric, n_resamples=999)
    alpha = test.p_value_ + (-1e-9 if just_below else 1e-9)
    again = people.test(metric, n_resamples=999, confidence_level=1 - alpha)
    low, high = again.confidence_interval_
    assert again.p_value_ == test.p_value_
    assert again.rejected_ == (not just_below)
    if just_below:
        assert low <= 0 <= high
    elif abs(again.statistic_) > norm.isf(alpha / 2):
        assert not low <= 0 <= high


def test_a_bootstrap_t_interval_of_means_is_written_out():
    rng = np.random.default_rng(3)
    values = rng.exponential(size=70)
    group = np.repeat(["a", "b"], [30, 40])
    test = FairnessTest.from_predictions(
        None, values, sensitive_features=group, metric="mean_prediction", method="bootstrap", n_resamples=3999,
        random_state=0,
    )  # fmt: skip
    sides = [values[:30], values[30:]]
    drawn = [rng.choice(side, (10_000, len(side))) for side in sides]
    means = [side.mean() for side in sides]
    d = means[0] - means[1]
    error = np.sqrt(sum(side.var(ddof=1) / len(side) for side in sides))
    t = (drawn[0].mean(1) - drawn[1].mean(1) - d) / np.sqrt(sum(x.var(1, ddof=1) / x.shape[1] for x in drawn))
    # As the p-value, the interval is of the size of the statistic: it leaves 0 out exactly where that is rejected.
    reach = np.quantile(np.abs(t), 0.95) * error
    low, high = d - reach, d + reach
    assert test.confidence_interval_ == pytest.approx((low, high), abs=0.08 * error)
    p = np.mean(np.abs(t) >= abs(d / error))
    assert test.p_value_ == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 3999))


# Standard errors ------------------------------------------------------------------------------------------------------
