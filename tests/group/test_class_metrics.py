"""Metrics of several classes, of ranks and of numbers: values of scikit-learn, weights, strata, clusters and sizes."""

import functools
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sk
from scipy.optimize import brentq
from scipy.stats import binom, norm

from skfairtest import FairnessTest, SignificanceFrame
from skfairtest.inference.two_sides import Statistic, Stratum, columns
from skfairtest.metrics import Context, resolve_metrics
from skfairtest.metrics.counted import AveragePrecision, Determination
from skfairtest.metrics.scores import class_score
from skfairtest.readers import read_values

partial = functools.partial


def geometric_mean(y_true, y_pred, sample_weight=None):
    """The default of imbalanced-learn's ``geometric_mean_score``: the classes' recalls, multiplied, and the root."""
    recalls = sk.recall_score(y_true, y_pred, average=None, sample_weight=sample_weight)
    return np.prod(recalls) ** (1 / len(recalls))


#: What a test is asked for, and the same of one group.
OF_LABELS = {
    **{
        f"{kind}_{average}": partial(getattr(sk, f"{kind}_score"), average=average)
        for kind in ("precision", "recall", "f1", "jaccard")
        for average in ("macro", "micro", "weighted")
    },
    "f2_macro": partial(sk.fbeta_score, beta=2, average="macro"),
    "f0.5_weighted": partial(sk.fbeta_score, beta=0.5, average="weighted"),
    "cohen_kappa": sk.cohen_kappa_score,
    "geometric_mean": geometric_mean,
    "balanced_accuracy": sk.balanced_accuracy_score,
}
#: Those that are the accuracy, which has an exact test.
AS_ACCURACY = {"precision_micro", "recall_micro", "f1_micro", "recall_weighted"}
#: Functions with arguments that no name says.
FUNCTIONS = {
    "kappa of two labels": partial(sk.cohen_kappa_score, labels=["b", "c"]),
    "macro F1 of two labels": partial(sk.f1_score, average="macro", labels=["b", "c"]),
    "micro F2 of two labels": partial(sk.fbeta_score, beta=2, average="micro", labels=["b", "c"]),
    "weighted precision of two labels": partial(sk.precision_score, average="weighted", labels=["b", "c"]),
}


@pytest.fixture(scope="module")
def people():
    """900 people of two sexes and three sites, with labels of three classes, weights and households of three."""
    rng = np.random.default_rng(11)
    n = 900
    truth = rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2])
    return pd.DataFrame(
        {
            "truth": truth,
            "label": np.where(rng.random(n) < 0.6, truth, rng.choice(list("abc"), n)),
            "sex": rng.choice(["f", "m"], n, p=[0.4, 0.6]),
            "site": rng.choice(["east", "west"], n),
            "weight": rng.choice([0.5, 1.0, 2.5], n),
            "number": rng.normal(size=n),
            "household": np.repeat(np.arange(n // 3), 3),
        }
    ).assign(
        guess=lambda d: d["number"] + rng.normal(size=n) * 0.7,
        score=lambda d: (d["truth"] == "a") + rng.normal(size=n),
        positive=lambda d: (d["truth"] == "a").astype(int),
        yes=lambda d: (d["label"] == "a").astype(int),
    )


def run(people, metric, y_true="truth", y_pred="label", *, weight=None, clusters=None, site=None, **params):
    given = {"sample_weight": weight, "clusters": clusters, "control_features": site}
    return FairnessTest.from_predictions(
        people[y_true], people[y_pred], sensitive_features=people["sex"], metric=metric,
        **{name: people[column] for name, column in given.items() if column}, **{"random_state": 0, **params},
    )  # fmt: skip


CASES = {
    **{name: ("truth", "label", name, function) for name, function in OF_LABELS.items()},
    **{name: ("truth", "label", function, function) for name, function in FUNCTIONS.items()},
    "f2": ("positive", "yes", "f2", partial(sk.fbeta_score, beta=2)),
    "f0.5": ("positive", "yes", partial(sk.fbeta_score, beta=0.5), partial(sk.fbeta_score, beta=0.5)),
    "F1 of label 0": ("positive", "yes", partial(sk.f1_score, pos_label=0), partial(sk.f1_score, pos_label=0)),
    "average_precision": ("positive", "score", "average_precision", sk.average_precision_score),
    "r2": ("number", "guess", "r2", sk.r2_score),
}
cases = pytest.mark.parametrize("name", CASES)


@pytest.mark.parametrize("name", ["f1", "recall", "precision", "jaccard"])
def test_a_ratio_of_one_label_has_the_exact_test_of_that_label_as_the_positive_one(people, name):
    of_label = run(people, partial(getattr(sk, f"{name}_score"), pos_label=0), "positive", "yes")
    positive = run(people, name, "positive", "yes", pos_label=0)
    assert of_label.method_ == positive.method_ == "exact"
    assert of_label.p_value_ == pytest.approx(positive.p_value_, rel=1e-12)
    assert of_label.confidence_interval_ == pytest.approx(positive.confidence_interval_)
    with pytest.raises(ValueError, match="pos_label=7 is not among the labels, which are 0, 1"):
        run(people, partial(getattr(sk, f"{name}_score"), pos_label=7), "positive", "yes")


@pytest.mark.in_turn(3)
@cases
@pytest.mark.parametrize("weight", [None, "weight"])
def test_values_are_those_of_scikit_learn_in_each_group(people, name, weight):
    y_true, y_pred, metric, function = CASES[name]
    test = run(people, metric, y_true, y_pred, weight=weight, n_resamples=19)
    for sex, part in people.groupby("sex"):
        weights = {} if weight is None else {"sample_weight": part[weight]}
        assert test.by_group_["value"][sex] == pytest.approx(function(part[y_true], part[y_pred], **weights), rel=1e-12)
    assert test.variance_ not in ("jackknife", "bootstrap")


@pytest.mark.in_turn(3)
@cases
def test_weights_strata_and_clusters_of_one_change_no_value_and_others_give_errors_of_its_size(people, name, thorough):
    y_true, y_pred, metric, _ = CASES[name]
    people = people.head(900 if thorough else 600)
    people = people.assign(one=1.0, alone=np.arange(len(people)), here="here")
    plain = run(people, metric, y_true, y_pred, n_resamples=19)
    together = {"weight": "one", "clusters": "alone", "site": "here"}
    apart = [{name: column} for name, column in together.items()] if thorough else []
    for given in (together, *apart):
        test = run(people, metric, y_true, y_pred, n_resamples=19, **given)
        assert test.disparity_ == pytest.approx(plain.disparity_, rel=1e-10)
        error = test.comparisons_["standard_error"][0] / plain.comparisons_["standard_error"][0]
        assert error == pytest.approx(1.0, abs=0.03)
    apart = ({"clusters": "household"},) if thorough else ()
    for given in ({"site": "site"}, {"clusters": "household", "weight": "weight"}, *apart):
        rows = run(people, metric, y_true, y_pred, n_resamples=19, **given).comparisons_
        assert rows["p_value"].between(0, 1).all()
        assert rows["standard_error"][0] == pytest.approx(plain.comparisons_["standard_error"][0], rel=0.4)


@pytest.mark.filterwarnings("ignore:n_resamples=1 cannot reject:UserWarning")
@pytest.mark.parametrize(
    "metric",
    [
        "f1_macro",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("f2_macro", "precision_weighted", "cohen_kappa", "jaccard_micro")
        ),
    ],
)
def test_many_permutations_of_a_metric_on_counts_call_no_function(people, metric):
    # 9,999 permutations with the function itself take minutes, of counts a fraction of a second.
    test = run(people, metric, n_resamples=9999, compare="to_rest", method="permutation")
    assert test.n_resamples_ == 9999
    assert test.method_ == "permutation"
    slow = run(people, {"f": lambda t, p: OF_LABELS[metric](t, p)}, n_resamples=1)
    assert slow.variance_ == "jackknife"
    assert slow.statistic_ == pytest.approx(test.statistic_, rel=0.02)


def test_a_binary_f_score_is_permuted_among_those_who_count_in_it(people):
    test = run(people, "f2", "positive", "yes", n_resamples=99)
    assert test.within_ == "condition"
    # People who are truly negative and predicted negative change nothing.
    negative = pd.DataFrame({"positive": 0, "yes": 0, "sex": ["f"] * 500 + ["m"] * 20})
    more = run(pd.concat([people, negative]), "f2", "positive", "yes", n_resamples=99)
    assert more.disparity_ == test.disparity_
    assert more.statistic_ == test.statistic_


def test_f1_by_its_beta_has_the_exact_test(people):
    exact = run(people, partial(sk.fbeta_score, beta=1.0), "positive", "yes")
    assert exact.p_value_ == run(people, "f1", "positive", "yes").p_value_
    assert exact.n_resamples_ == 0


def test_micro_averages_over_all_classes_have_the_exact_test_of_accuracy(people):
    exact = run(people, "accuracy")
    for metric in ("f1_micro", partial(sk.precision_score, average="micro"), sk.get_scorer("recall_weighted")):
        assert run(people, metric).p_value_ == exact.p_value_


@pytest.mark.filterwarnings("ignore:.*rests on few people:UserWarning")
def test_two_labels_may_be_averaged_too(compas):
    test = FairnessTest.from_predictions(
        compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features["race"], metric="f1_macro",
        compare="to_rest", n_resamples=999, random_state=0,
    )  # fmt: skip
    race = compas.sensitive_features["race"]
    for group in ("African-American", "Caucasian"):
        own = race == group
        expected = sk.f1_score(compas.y_true[own], compas.y_pred[own], average="macro")
        assert test.by_group_["value"][group] == pytest.approx(expected, rel=1e-12)


# Classes that are missing somewhere -----------------------------------------------------------------------------------


def test_a_class_that_a_group_does_not_have_is_left_out_of_its_average(people):
    some = people[(people["sex"] == "m") | ((people["truth"] != "c") & (people["label"] != "c"))]
    women = some[some["sex"] == "f"]
    for name in ("f1_macro", "precision_macro", "recall_macro", "jaccard_macro", "f1_weighted"):
        test = run(some, name, n_resamples=99)
        expected = OF_LABELS[name](women["truth"], women["label"])
        assert test.by_group_["value"]["f"] == pytest.approx(expected, rel=1e-12)


def test_a_class_that_nobody_of_a_group_is_predicted_to_be_in_leaves_its_precision_undefined(people):
    never = people.assign(label=people["label"].mask((people["sex"] == "f") & (people["label"] == "c"), "a"))
    with pytest.raises(ValueError, match="nobody is predicted to have"):
        run(never, "precision_macro", n_resamples=99)
    zero = partial(sk.precision_score, average="macro", zero_division=0)
    women = never[never["sex"] == "f"]
    value = run(never, zero, n_resamples=99).by_group_["value"]["f"]
    assert value == pytest.approx(zero(women["truth"], women["label"]), rel=1e-12)
    assert run(never, "f1_macro", n_resamples=99).by_group_["value"].notna().all()


def test_people_who_all_have_one_true_value_have_no_r2(people):
    constant = people.assign(number=people["number"].mask(people["sex"] == "f", 1.0))
    with pytest.raises(ValueError, match="all people have one true value"):
        run(constant, "r2", "number", "guess", n_resamples=99)


# In a frame -----------------------------------------------------------------------------------------------------------


def test_a_frame_of_averages_over_classes_is_tested_without_calling_them(people):
    calls = []

    class Counted(partial):
        def __call__(self, *args, **kwargs):
            calls.append(1)
            return super().__call__(*args, **kwargs)

    functions = {"macro": Counted(sk.f1_score, average="macro"), "beta": Counted(sk.fbeta_score, beta=2,
                 average="weighted")}  # fmt: skip
    frame = SignificanceFrame(
        metrics=functions, y_true=people["truth"], y_pred=people["label"], sensitive_features=people["sex"],
        random_state=0,
    )  # fmt: skip
    before = len(calls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = frame.p_values()
    assert len(calls) == before
    assert found["macro"] == run(people, "f1_macro").p_value_
    assert found["beta"] == run(people, "f2_weighted").p_value_


# Sizes ----------------------------------------------------------------------------------------------------------------

LEVEL, N_DATA = 0.05, 300
#: The largest number of false alarms in so many data sets that the level gives once in a thousand runs.
MOST = {n: binom.isf(0.001, n, LEVEL) for n in (80, N_DATA)}


def with_value(function, base, target):
    """Return the shares of the cells of three classes with these true shares of which a metric has a value."""
    truth, label = np.arange(3).repeat(3), np.tile(np.arange(3), 3)

    def table(right):
        wrong = np.where(np.eye(3) > 0, 0.0, base)
        rows = (1 - right) * wrong / wrong.sum(axis=1, keepdims=True) + right * np.eye(3)
        return (np.asarray(base)[:, None] * rows).ravel()

    return table(brentq(lambda right: function(truth, label, sample_weight=table(right)) - target, 0.05, 0.999))


def alarms(draw, n_resamples=199, n_data=N_DATA):
    """Count the data sets of which a permutation test at 5% finds the values of two sides different."""
    rng, found = np.random.default_rng(1), 0
    statistic = Statistic("difference", np.ones(1))
    for _ in range(n_data):
        stratum = draw(rng)
        observed = abs(float(statistic(columns([stratum.observed()]))))
        drawn = np.abs(statistic(columns([stratum.permuted(n_resamples, rng)])))
        drawn = drawn[~np.isnan(drawn)]
        found += 1 + int((drawn >= observed - 1e-12).sum()) <= LEVEL * (1 + len(drawn))
    return found


def kinds_of(*columns):
    return {name: read_values(column, name) for name, column in zip(("y_true", "y_pred"), columns, strict=True)}


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("name", sorted(OF_LABELS.keys() - AS_ACCURACY))
def test_the_size_is_the_level_where_groups_share_the_value_and_nothing_else(name, thorough):
    # 1,000 data sets of 200 v 2,000, 2,000 v 200 and 300 v 300 people gave .038 to .061.
    truth, label = np.arange(3).repeat(3), np.tile(np.arange(3), 3)
    (metric,) = resolve_metrics(name)
    functional = metric.functional(Context(kinds_of(truth, label), None))
    block = {"y_true": truth, "y_pred": label}.get(metric.within, np.zeros(9, dtype=int))
    cells = [with_value(OF_LABELS[name], base, 0.65) for base in ([0.4, 0.3, 0.3], [0.6, 0.25, 0.15])]

    def draw(rng):
        counts = np.stack([rng.multinomial(n, each) for n, each in zip((150, 600), cells, strict=True)])
        return Stratum(functional, counts, block)

    n_data = N_DATA if thorough else 80
    assert alarms(draw, n_data=n_data) <= MOST[n_data]


@pytest.mark.parametrize("sizes", [(80, 400), (400, 80)])
def test_the_size_of_a_binary_f_score_is_the_level(sizes):
    # TP, FN, FP, TN of one F2, .7, with other shares of truly positive people.
    functional, block = (
        class_score("f1", "micro", beta=2.0, labels=(1,)).functional(
            Context(kinds_of([1, 1, 0, 0], [1, 0, 1, 0]), None)
        ),
        np.array([0, 0, 0, -1]),
    )
    cells = []
    for base, recall in ((0.5, 0.75), (0.2, 0.8)):
        right, missed = base * recall, base * (1 - recall)
        wrong = 5 * (right / 0.7 - right - 0.8 * missed)
        cells.append([right, missed, wrong, 1 - base - wrong])

    def draw(rng):
        counts = np.stack([rng.multinomial(n, each) for n, each in zip(sizes, cells, strict=True)])
        return Stratum(functional, counts, block)

    assert alarms(draw) <= MOST[N_DATA]


@pytest.mark.parametrize("sizes", [(60, 240), (240, 60)])
@pytest.mark.parametrize("name", ["average_precision", "r2"])
def test_the_size_of_metrics_of_numbers_is_the_level(name, sizes, thorough):
    # Shifts of normal scores that give an average precision of .7 to 50% and to 20% of truly positive people.
    sides = (np.arange(2)[:, None] == np.repeat([0, 1], sizes)).astype(np.uint8)
    block, n = np.zeros(sum(sizes), dtype=int), sum(sizes)

    def draw(rng):
        if name == "r2":  # numbers three times as far apart, and so are their errors
            spread = np.repeat([1.0, 3.0], sizes)
            y = rng.normal(size=n) * spread
            return Stratum(Determination(y, y + rng.normal(size=n) * 0.7 * spread), sides, block, rows=True)
        positive = rng.random(n) < np.repeat([0.5, 0.2], sizes)
        score = rng.normal(size=n) + positive * np.repeat([0.781, 1.682], sizes)
        return Stratum(AveragePrecision(positive, score), sides, block, rows=True)

    n_data = N_DATA if thorough else 80
    assert alarms(draw, 99, n_data) <= MOST[n_data]


def test_a_group_without_a_positive_person_is_left_out_of_average_precision():
    rng = np.random.default_rng(0)
    truth, score, group = rng.integers(0, 2, 160), rng.random(160), np.repeat(list("abcd"), 40)
    truth[group == "a"] = 0
    with pytest.warns(UserWarning, match="nobody is truly positive"):
        test = FairnessTest.from_predictions(
            truth, score, sensitive_features=group, metric="average_precision", n_resamples=99, random_state=0
        )
    assert test.excluded_["group"].tolist() == ["a"]
    assert test.method_ == "permutation"


@pytest.mark.slow
def test_average_precision_rejects_alike_in_both_directions():
    # Normal critical values reject .108 towards the better 100 and .051 towards the other side; permuted .049, .046.
    rng, first, n, repeats, rejected = np.random.default_rng(1), 100, 1100, 200, np.zeros(2)
    for _ in range(repeats):
        truth = rng.random(n) < 0.2
        functional = AveragePrecision(truth, rng.normal(size=n) + truth)
        members = np.stack([rng.permutation(np.arange(n) < first) for _ in range(100)]).astype(float)
        members[0] = np.arange(n) < first
        (first_value, first_variance), (value, variance) = map(functional.moments, (members, 1 - members))
        z = (first_value - value) / np.sqrt(first_variance + variance)
        rejected += [max((z >= z[0]).mean(), norm.sf(z[0])) <= 0.05, max((z <= z[0]).mean(), norm.cdf(z[0])) <= 0.05]
    assert (rejected / repeats <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / repeats)).all()
