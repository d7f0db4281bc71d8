"""People who come in clusters: null distributions, robust standard errors, size, and the null hypothesis."""

import numpy as np
import pytest

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
            **{"random_state": 0, "n_resamples": 199, **params},
        )


ROBUST = ["selection_rate", "recall", "mean_prediction", "mean_squared_error", "roc_auc", "balanced_accuracy"]


@pytest.fixture(scope="module")
def whole():
    return Clustered()


@pytest.fixture(scope="module")
def mixed():
    return Clustered(size=(2, 6), mixed=True)


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


def test_whole_clusters_are_permuted_by_default(whole):
    # With two clusters on a side there are six ways: p is a multiple of about 1/3.
    keep = np.isin(whole.cluster, [np.unique(whole.cluster[whole.group == g])[i] for g in "ab" for i in (0, 1)])
    test = whole.test("mean_prediction", keep=keep, n_resamples=999)
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


def test_few_clusters_make_no_finding():
    # Two clusters a side are not evidence, however many people are in them.
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
