"""People who come in clusters: null distributions, robust standard errors, size, and the null hypothesis."""

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.sandwich_covariance import cov_cluster

from skfairtest import FairnessTest

pytestmark = pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")


class Clustered:
    """Clusters of people who are alike, each in one group (or, if `mixed`, of both groups)."""

    def __init__(self, n=120, seed=0, size=(1, 6), spread=1.0, mixed=False, groups="ab", shift=0.0):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(*size, n)
        self.cluster = np.repeat(np.arange(n), sizes)
        people = len(self.cluster)
        self.group = rng.choice(list(groups), n)[self.cluster]
        if mixed:  # at least one of each group in every cluster
            place = np.concatenate([np.arange(k) for k in sizes])
            self.group = np.where(place == 0, "a", np.where(place == 1, "b", rng.choice(["a", "b"], people)))
        own = spread * rng.normal(size=n)[self.cluster]
        self.number = own + rng.normal(size=people) + shift * (self.group == "a")
        self.label = (self.number > 0.2).astype(int)
        self.y = ((own + rng.normal(size=people)) > 0).astype(int)
        self.truth = np.zeros(people)

    def test(self, metric="selection_rate", *, clusters=True, keep=slice(None), **params):
        number = metric in ("mean_prediction", "mean_squared_error", "roc_auc")
        y = self.truth if metric == "mean_squared_error" else self.y
        clusters = self.cluster if clusters is True else clusters
        return FairnessTest.from_predictions(
            y[keep],
            (self.number if number else self.label)[keep],
            sensitive_features=self.group[keep],
            clusters=None if clusters is None else np.asarray(clusters)[keep],
            metric=metric,
            **{"random_state": 0, "n_resamples": 299, **params},
        )


ROBUST = ["selection_rate", "recall", "mean_prediction", "mean_squared_error", "roc_auc", "balanced_accuracy"]


@pytest.fixture(scope="module")
def whole():
    return Clustered()


@pytest.fixture(scope="module")
def mixed():
    return Clustered(size=(2, 6), mixed=True)


# Names and order ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["whole", "mixed"])
@pytest.mark.parametrize("metric", ["recall", "mean_squared_error"])
def test_how_clusters_are_called_changes_nothing(data, metric, request):
    data = request.getfixturevalue(data)
    first = data.test(metric)
    for names in (
        [f"c{number:04d}" for number in data.cluster],
        data.cluster * 10 + 3,
        data.cluster.astype(float),
    ):
        again = data.test(metric, clusters=names)
        np.testing.assert_array_equal(again.comparisons_["p_value"], first.comparisons_["p_value"])
        np.testing.assert_array_equal(again.comparisons_["standard_error"], first.comparisons_["standard_error"])
    # Another order of the clusters draws other permutations of them.
    turned = data.test(metric, clusters=[f"c{9999 - number}" for number in data.cluster])
    np.testing.assert_allclose(turned.comparisons_["standard_error"], first.comparisons_["standard_error"])
    np.testing.assert_allclose(turned.comparisons_["p_value"], first.comparisons_["p_value"], atol=0.15)


# Everyone a cluster ---------------------------------------------------------------------------------------------------


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("metric", ROBUST)
def test_people_who_are_a_cluster_each_are_tested_as_people(whole, metric):
    alone = np.arange(len(whole.group))
    plain, own = (
        whole.test(metric, clusters=None, n_resamples=999),
        whole.test(metric, clusters=alone, n_resamples=999),
    )
    one, two = plain.comparisons_.iloc[0], own.comparisons_.iloc[0]
    assert two["disparity"] == pytest.approx(one["disparity"], abs=1e-12)
    assert two["statistic"] == pytest.approx(one["statistic"], rel=0.06)
    assert two["p_value"] == pytest.approx(one["p_value"], abs=0.06)
    assert (two["ci_low"], two["ci_high"]) == pytest.approx((one["ci_low"], one["ci_high"]), abs=0.02)
    assert own.variance_ == "cluster-robust"
    assert own.method_ == "permutation"


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("metric", ROBUST)
def test_copies_of_people_are_no_evidence(metric, thorough):
    data, n_resamples = Clustered(size=(1, 2), n=150, shift=0.3), 1999 if thorough else 499
    one = data.test(metric, n_resamples=n_resamples).comparisons_.iloc[0]
    for times in (2, 5) if thorough else (3,):
        copied = Clustered(size=(1, 2), n=150, shift=0.3)
        for name in ("cluster", "group", "number", "label", "y", "truth"):
            setattr(copied, name, np.repeat(getattr(data, name), times))
        many = copied.test(metric, n_resamples=n_resamples).comparisons_.iloc[0]
        assert many["disparity"] == pytest.approx(one["disparity"])
        assert many["statistic"] == pytest.approx(one["statistic"], rel=1e-6)
        p = one["p_value"]
        assert many["p_value"] == pytest.approx(p, abs=5 * np.sqrt(2 * p * (1 - p) / n_resamples) + 1e-3)
        ignored = copied.test(metric, clusters=None, method="asymptotic").comparisons_.iloc[0]
        assert abs(ignored["statistic"]) > 0.9 * np.sqrt(times) * abs(one["statistic"])


@pytest.mark.parametrize("compare", ["between_groups", "to_rest", "to_overall"])
def test_clusters_do_not_reach_over_strata(compare):
    # The same people, each once in either stratum, are no independent strata.
    rng = np.random.default_rng(3)
    label, group, cluster = rng.integers(0, 2, 80), rng.choice(["a", "b"], 80), np.arange(80)
    params = {"metric": "selection_rate", "random_state": 0, "n_resamples": 1999, "compare": compare}
    with pytest.raises(ValueError, match=r"clusters: some lie in several strata.*leave control_features out"):
        FairnessTest.from_predictions(
            None,
            np.tile(label, 2),
            sensitive_features=np.tile(group, 2),
            clusters=np.tile(cluster, 2),
            control_features=np.repeat(["x", "y"], 80),
            **params,
        )


# Standard errors ------------------------------------------------------------------------------------------------------


def value_of(data, metric, place):
    number, label, y = data.number[place], data.label[place], data.y[place]
    if metric == "roc_auc":
        return np.mean(np.sign(number[y == 1][:, None] - number[y == 0]) + 1) / 2
    return {
        "selection_rate": lambda: label.mean(),
        "recall": lambda: label[y == 1].mean(),
        "mean_prediction": lambda: number.mean(),
        "mean_squared_error": lambda: (number**2).mean(),
        "balanced_accuracy": lambda: (label[y == 1].mean() + 1 - label[y == 0].mean()) / 2,
    }[metric]()


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("compare", [pytest.param("between_groups", marks=pytest.mark.slow), "to_overall"])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("metric", ROBUST)
def test_the_standard_error_is_that_of_a_bootstrap_of_clusters(metric, inside, compare, thorough):
    data = Clustered(n=300, size=(2, 6), mixed=inside, seed=4)
    row = data.test(metric, method="asymptotic", compare=compare).comparisons_.iloc[0]
    rng = np.random.default_rng(0)
    members = np.split(np.arange(len(data.cluster)), np.flatnonzero(np.diff(data.cluster)) + 1)
    found = []
    for _ in range(700 if thorough else 250):
        place = np.concatenate([members[number] for number in rng.integers(0, 300, 300)])
        group = data.group[place]
        second = place if compare == "to_overall" else place[group == "b"]
        found.append(value_of(data, metric, place[group == "a"]) - value_of(data, metric, second))
    assert row["standard_error"] == pytest.approx(np.std(found, ddof=1), rel=0.12 if thorough else 0.18)
    ignored = data.test(metric, method="asymptotic", compare=compare, clusters=None).comparisons_.iloc[0]
    # People of one cluster are alike: across groups that helps, within groups it hurts.
    assert (ignored["standard_error"] > row["standard_error"]) == inside


def test_a_mean_has_the_sandwich_error_of_a_regression():
    data = Clustered(n=80, seed=1)
    for group in "ab":
        keep = data.group == group
        test = data.test("mean_prediction", method="asymptotic")
        fitted = OLS(data.number[keep], np.ones(keep.sum())).fit()
        n = len(np.unique(data.cluster[keep]))
        expected = np.sqrt(cov_cluster(fitted, data.cluster[keep], use_correction=False)[0, 0] * n / (n - 1))
        assert test.by_group_["standard_error"][group] == pytest.approx(expected, rel=1e-6)


def test_a_wider_bootstrap_interval_for_clusters(whole):
    intervals = {}
    for clusters in (None, True):
        row = whole.test("mean_prediction", clusters=clusters, method="bootstrap", n_resamples=1999).comparisons_.iloc[
            0
        ]
        normal = whole.test("mean_prediction", clusters=clusters, method="asymptotic").comparisons_.iloc[0]
        intervals[clusters] = row["ci_high"] - row["ci_low"]
        assert intervals[clusters] == pytest.approx(normal["ci_high"] - normal["ci_low"], rel=0.15)
    assert intervals[True] > 1.2 * intervals[None]


@pytest.mark.parametrize("inside", [False, True])
def test_weights_and_clusters_together(inside):
    data = Clustered(n=300, size=(2, 6), mixed=inside, seed=7)
    weight = np.random.default_rng(0).integers(1, 4, len(data.cluster)).astype(float)
    test = FairnessTest.from_predictions(
        None, data.label, sensitive_features=data.group, clusters=data.cluster, sample_weight=weight,
        metric="selection_rate", method="asymptotic",
    )  # fmt: skip
    rng = np.random.default_rng(0)
    members = np.split(np.arange(len(data.cluster)), np.flatnonzero(np.diff(data.cluster)) + 1)
    found = []
    for _ in range(700):
        place = np.concatenate([members[number] for number in rng.integers(0, 300, 300)])
        a, b = (place[data.group[place] == g] for g in "ab")
        found.append(np.average(data.label[a], weights=weight[a]) - np.average(data.label[b], weights=weight[b]))
    assert test.comparisons_["standard_error"][0] == pytest.approx(np.std(found, ddof=1), rel=0.12)


def test_copies_that_share_one_weight_are_one_person():
    data = Clustered(size=(1, 2), n=100)
    split = FairnessTest.from_predictions(
        None, np.repeat(data.label, 4), sensitive_features=np.repeat(data.group, 4), sample_weight=[0.25] * 400,
        clusters=np.repeat(data.cluster, 4), metric="selection_rate", method="asymptotic",
    )  # fmt: skip
    one = data.test(method="asymptotic")
    assert split.statistic_ == pytest.approx(one.statistic_)
    assert split.by_group_["n_effective"].tolist() == one.by_group_["n_effective"].tolist()


# Which clusters -------------------------------------------------------------------------------------------------------


def test_whole_clusters_are_permuted_by_default(whole):
    # With two clusters on a side there are six ways: p is a multiple of about 1/3.
    keep = np.isin(whole.cluster, [np.unique(whole.cluster[whole.group == g])[i] for g in "ab" for i in (0, 1)])
    test = whole.test("mean_prediction", keep=keep, n_resamples=2999)
    values = np.unique(np.abs(test.null_distribution_[:, 0]).round(9))
    assert len(values) <= 3
    assert test.p_value_ > 0.25


def test_pairs_are_compared_by_the_signs_of_their_differences():
    # Two people a cluster, one of each group, far apart between clusters: a paired test of signs.
    rng = np.random.default_rng(0)
    n = 12
    cluster, group = np.repeat(np.arange(n), 2), np.tile(["a", "b"], n)
    number = 100 * rng.normal(size=n)[cluster] + 0.5 * (group == "a") + 0.1 * rng.normal(size=2 * n)
    params = {"sensitive_features": group, "metric": "mean_prediction", "random_state": 0, "n_resamples": 999}
    paired = FairnessTest.from_predictions(None, number, clusters=cluster, **params)
    assert (number[::2] > number[1::2]).all()
    assert paired.p_value_ < 0.01  # 2 in 4096 ways are as extreme
    assert FairnessTest.from_predictions(None, number, **params).p_value_ > 0.5
    difference = number[::2] - number[1::2]
    assert paired.statistic_ == pytest.approx(difference.mean() / (difference.std(ddof=1) / np.sqrt(n)), rel=0.1)
    assert paired.method_ == "sign flipping"


# The null hypothesis --------------------------------------------------------------------------------------------------


def composed(seed, slope, n=40):
    """Clusters whose composition depends on their rate, with equal rates of both groups overall.

    Half of the clusters have the rate .2, half .6; `slope` of each cluster's six people are of group a in the latter,
    the others in the former. Group a's rates are moved so that both groups have .4 overall.
    """
    rng = np.random.default_rng(seed)
    high = rng.random(n) < 0.5
    share = np.where(high, slope, 1 - slope)
    cluster = np.repeat(np.arange(n), 6)
    group = np.where(rng.random(6 * n) < share[cluster], "a", "b")
    # Group b: (1 - slope) of it where the rate is .6. Group a has one more or less everywhere, so that it has as much.
    rate = np.where(high, 0.6, 0.2)[cluster]
    overall = {"a": slope * 0.6 + (1 - slope) * 0.2, "b": (1 - slope) * 0.6 + slope * 0.2}
    rate = rate + np.where(group == "a", 0.4 - overall["a"], 0.4 - overall["b"])
    return (rng.random(6 * n) < rate).astype(int), group, cluster


def test_a_disparity_between_clusters_is_one():
    # Everybody in a cluster has the same outcome, and group a is where it is 1: nothing differs within clusters.
    rng = np.random.default_rng(0)
    outcome = np.repeat([1, 0], 30)
    first = np.where(outcome == 1, 4, 1)  # of five people
    cluster = np.repeat(np.arange(60), 5)
    group = np.where(np.tile(np.arange(5), 60) < first[cluster], "a", "b")
    params = {"metric": "selection_rate", "random_state": 0, "n_resamples": 999}
    label = np.where(rng.random(300) < 0.02, 1 - outcome[cluster], outcome[cluster])
    test = FairnessTest.from_predictions(None, label, sensitive_features=group, clusters=cluster, **params)
    assert test.disparity_ > 0.5
    assert abs(test.statistic_) > 5
    assert test.p_value_ <= 0.001
    # Within clusters is another question, which is asked with control features.
    within = FairnessTest.from_predictions(None, label, sensitive_features=group, control_features=cluster, **params)
    assert within.p_value_ > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.8, 0.3])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_equal_rates_are_rejected_as_often_as_said_however_clusters_are_composed(slope, alternative):
    n = 150
    rejected = 0
    for seed in range(n):
        label, group, cluster = composed(seed, slope)
        test = FairnessTest.from_predictions(
            None, label, sensitive_features=group, clusters=cluster, metric="selection_rate", n_resamples=99,
            random_state=seed, alternative=alternative,
        )  # fmt: skip
        rejected += test.p_value_ <= 0.05
    assert binomtest(rejected, n, 0.05, alternative="greater").pvalue > 1e-3


def test_clusters_of_either_kind_go_together(whole, mixed):
    group = np.concatenate([whole.group, mixed.group])
    params = {"sensitive_features": group, "clusters": np.concatenate([whole.cluster, mixed.cluster + 1000])}
    number = np.concatenate([whole.number, mixed.number])
    for metric in ("mean_prediction", lambda y_true, y_pred: float(np.mean(y_pred))):
        test = FairnessTest.from_predictions(
            number, number + 2.0 * (group == "a"), metric=metric, random_state=0, n_resamples=199, **params
        )
        assert test.method_ == "sign flipping"
        assert test.p_value_ == pytest.approx(1 / 200)


def test_comparisons_decide_each_for_themselves_which_clusters_reach_over_both_sides():
    # Groups a and b share clusters, group c has its own.
    data = Clustered(n=60, size=(2, 6), mixed=True)
    group = np.where(data.cluster % 3 == 0, "c", data.group)
    test = FairnessTest.from_predictions(
        None, data.label, sensitive_features=group, clusters=data.cluster, metric="selection_rate", random_state=0,
        n_resamples=199,
    )  # fmt: skip
    assert test.comparisons_["method"].tolist() == ["sign flipping", "permutation", "permutation"]
    assert test.method_ == "permutation+sign flipping"
    assert "whole clusters were permuted" in str(test)
    assert "signs of the clusters' parts" in str(test)


@pytest.mark.parametrize("variance", ["auto", None])
def test_a_function_of_ones_own_has_the_parts_of_the_mean_that_it_is(mixed, variance):
    def own(y_true, y_pred):
        return float(np.mean(y_pred))

    found = [
        FairnessTest.from_predictions(
            mixed.number, mixed.number, sensitive_features=mixed.group, clusters=mixed.cluster, metric=metric,
            random_state=0, n_resamples=199, variance=variance,
        )
        for metric in (own, "mean_prediction")
    ]  # fmt: skip
    # Of a function nobody knows that it is a mean, which is compared with t.
    assert found[0].p_value_ == pytest.approx(found[1].p_value_, rel=0.01)
    np.testing.assert_allclose(found[0].null_distribution_, found[1].null_distribution_, rtol=1e-6, atol=1e-9)
    assert found[0].statistic_ == pytest.approx(found[1].statistic_, rel=1e-9)


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("compare", ["between_groups", "to_rest", "to_overall"])
def test_swapped_groups_have_the_same_answer(mixed, compare, disparity):
    params = {"metric": "selection_rate", "random_state": 0, "n_resamples": 199, "compare": compare}
    one, two = (
        FairnessTest.from_predictions(
            None, mixed.label, sensitive_features=groups, clusters=mixed.cluster, disparity=disparity, **params
        )
        for groups in (mixed.group, np.where(mixed.group == "a", "b", "a"))
    )
    assert one.p_value_ == two.p_value_


def test_people_alone_go_with_either_kind(mixed):
    n = len(mixed.group)
    params = {"metric": "selection_rate", "random_state": 0, "n_resamples": 99}
    group, cluster = np.append(mixed.group, ["a", "b"]), np.append(mixed.cluster, [900, 901])
    test = FairnessTest.from_predictions(
        None, np.append(mixed.label, [0, 1]), sensitive_features=group, clusters=cluster, **params
    )
    assert test.n_samples_ == n + 2


def test_few_clusters_make_no_finding():
    # Two clusters a side are no evidence, however many people are in them.
    n = 2
    cluster = np.repeat(np.arange(2 * n), 50)
    group = np.where(cluster < n, "a", "b")
    number = np.random.default_rng(0).normal(size=100 * n) + 5.0 * (group == "a")
    params = {"sensitive_features": group, "metric": "mean_prediction", "random_state": 0, "n_resamples": 999}
    test = FairnessTest.from_predictions(None, number, clusters=cluster, **params)
    assert test.p_value_ > 0.25
    assert test.by_group_["small"].all()
    assert (test.by_group_["n_effective"] <= n).all()
    assert FairnessTest.from_predictions(None, number, **params).p_value_ < 0.01


@pytest.mark.parametrize("metric", ["mean_prediction", "selection_rate"])
def test_a_single_cluster_has_no_standard_error(metric):
    # Its people say nothing about how clusters differ.
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(11), 10)
    group = np.where(cluster == 0, "a", "b")
    number = rng.normal(size=110) if metric == "mean_prediction" else rng.integers(0, 2, 110)
    params = {"sensitive_features": group, "clusters": cluster, "metric": metric, "n_resamples": 199}
    if metric == "mean_prediction":
        with pytest.raises(ValueError, match=r"no comparison is defined.*standard error"):
            FairnessTest.from_predictions(None, number, random_state=0, **params)
    else:  # a rate has the pooled spread
        test = FairnessTest.from_predictions(None, number, random_state=0, **params)
        assert np.isnan(test.by_group_["standard_error"]["a"])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda c: np.where(c == 3, np.nan, c), "clusters.*missing"),
        (lambda c: c[:-1], "clusters"),
        (lambda c: np.stack([c, c], axis=1), "clusters"),
    ],
)
def test_clusters_that_make_no_sense_are_refused(whole, change, match):
    with pytest.raises(ValueError, match=match):
        FairnessTest.from_predictions(
            None, whole.label, sensitive_features=whole.group, clusters=change(whole.cluster), metric="selection_rate"
        )


@pytest.mark.parametrize("method", ["exact"])
def test_there_is_no_exact_law(whole, method):
    with pytest.raises(ValueError, match=r"method='exact'.*clusters.*method='auto'"):
        whole.test(method=method)


def test_a_metric_of_all_groups_at_once_takes_no_clusters(whole):
    with pytest.raises(ValueError, match=r"clusters.*normalized_mutual_info"):
        whole.test("normalized_mutual_info")


@pytest.mark.parametrize("data", ["whole", "mixed"])
def test_where_labels_were_permuted_is_said(data, request):
    # Clusters are resampled whatever the labels of their people are.
    data = request.getfixturevalue(data)
    assert data.test("recall").within_ is None
    with pytest.raises(ValueError, match=r"within='y_true'.*by cluster"):
        data.test("recall", within="y_true")


def test_a_printout_says_that_people_come_in_clusters(whole):
    assert "cluster" in str(whole.test())


def test_any_function_can_be_clustered(whole):
    def gain(y_true, y_pred):
        return np.mean(2.0 * y_true * y_pred - y_pred)

    test = whole.test(gain, n_resamples=39)
    z = 2.0 * whole.y * whole.label - whole.label
    for group in "ab":
        keep = whole.group == group
        assert test.by_group_["value"][group] == pytest.approx(z[keep].mean())
        sums = np.bincount(whole.cluster[keep], z[keep] - z[keep].mean())
        expected = np.sqrt((sums**2).sum()) / keep.sum()
        assert test.by_group_["standard_error"][group] == pytest.approx(expected, rel=0.4)  # 50 inner draws
    assert test.variance_ == "bootstrap"


# Size -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["selection_rate", "mean_prediction"])
@pytest.mark.parametrize("inside", [False, True])
def test_alike_groups_of_clusters_are_rejected_as_often_as_said(metric, inside):
    rejected = ignored = 0
    n = 200
    for seed in range(n):
        data = Clustered(n=40, size=(2, 8), seed=1000 + seed, mixed=inside, spread=1.5)
        rejected += data.test(metric, n_resamples=99, random_state=seed).p_value_ <= 0.05
        ignored += data.test(metric, method="asymptotic", clusters=None).p_value_ <= 0.05
    assert binomtest(rejected, n, 0.05, alternative="greater").pvalue > 1e-3
    assert rejected > 0.01 * n
    if not inside:
        assert ignored > 0.2 * n


@pytest.mark.parametrize("inside", [False, True])
def test_groups_of_clusters_that_differ_are_found(inside, thorough):
    found, n = 0, 20 if thorough else 5
    for seed in range(n):
        data = Clustered(n=60, size=(2, 6), seed=seed, mixed=inside, shift=1.0)
        found += data.test("mean_prediction", n_resamples=99, random_state=seed).p_value_ <= 0.05
    assert found >= 0.8 * n


def test_clusters_of_several_groups_and_comparisons():
    data = Clustered(n=200, groups="abc", size=(2, 5))
    for compare in ("between_groups", "to_rest", "to_overall"):
        test = data.test("recall", compare=compare, n_resamples=199)
        rows = test.comparisons_
        assert len(rows) == 3
        assert (rows["p_value_adjusted"] >= rows["p_value"]).all()
        assert (rows["standard_error"] > 0).all()
        assert ((rows["ci_low"] < rows["disparity"]) & (rows["disparity"] < rows["ci_high"])).all()
