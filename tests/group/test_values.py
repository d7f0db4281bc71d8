"""Values by group of every metric that is not a plain rate, against scikit-learn and NumPy.

One table of (true column, predicted column, metric, reference) holds the metrics.
"""

import functools

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sk
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest import FairnessTest, ScoreMetric

pytestmark = pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")

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


#: Functions with arguments that no name says.
FUNCTIONS = {
    "macro precision, 0 if undefined": partial(sk.precision_score, average="macro", zero_division=0),
}


def residual(y_true, y_pred, sample_weight=None):
    return np.average(y_true - y_pred, weights=sample_weight)


def mean_of(y_true, y_pred, sample_weight=None):
    return np.average(y_pred, weights=sample_weight)


@pytest.fixture(scope="module")
def people():
    """900 people of two sexes and sites, with labels of three classes, numbers, chances, weights and households."""
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
        chance=lambda d: 0.25 + 0.5 * (d["truth"] == "a") + rng.uniform(-0.24, 0.24, n),
        positive=lambda d: (d["truth"] == "a").astype(int),
        yes=lambda d: (d["label"] == "a").astype(int),
    )


def run(people, metric, y_true="truth", y_pred="label", *, weight=None, clusters=None, site=None, **params):
    given = {"sample_weight": weight, "clusters": clusters, "control_features": site}
    return FairnessTest.from_predictions(
        people[y_true], people[y_pred], sensitive_features=people["sex"], metric=metric,
        **{name: people[column] for name, column in given.items() if column}, **{"random_state": 0, **params},
    )  # fmt: skip


#: The columns, the metric, and the same of one group.
CASES = {
    **{name: ("truth", "label", name, function) for name, function in OF_LABELS.items()},
    **{name: ("truth", "label", function, function) for name, function in FUNCTIONS.items()},
    **{
        name: ("number", "guess", name, function)
        for name, function in {
            "r2": sk.r2_score,
            "mean_prediction": mean_of,
            "mean_residual": residual,
            "mean_squared_error": sk.mean_squared_error,
            "mean_absolute_error": sk.mean_absolute_error,
        }.items()
    },
    **{
        name: ("positive", "chance", name, function)
        for name, function in {
            "roc_auc": sk.roc_auc_score,
            "average_precision": sk.average_precision_score,
            "log_loss": sk.log_loss,
            "brier_score": sk.brier_score_loss,
            "calibration": residual,
        }.items()
    },
    "matthews_corrcoef": ("truth", "label", "matthews_corrcoef", sk.matthews_corrcoef),
    "correlation of two": ("positive", "yes", "matthews_corrcoef", sk.matthews_corrcoef),
    "f2": ("positive", "yes", "f2", partial(sk.fbeta_score, beta=2)),
    "f0.5": ("positive", "yes", partial(sk.fbeta_score, beta=0.5), partial(sk.fbeta_score, beta=0.5)),
    **{
        name: ("positive", "yes", name, getattr(sk, f"{name}_score"))
        for name in ("accuracy", "recall", "precision", "f1", "jaccard")
    },
    "selection_rate": ("positive", "yes", "selection_rate", mean_of),
    "F1 of label 0": ("positive", "yes", partial(sk.f1_score, pos_label=0), partial(sk.f1_score, pos_label=0)),
}
cases = pytest.mark.parametrize("name", CASES)


@pytest.mark.in_turn(3)
@cases
@pytest.mark.parametrize("weight", [None, "weight"])
def test_values_are_those_of_scikit_learn_in_each_group(people, name, weight):
    y_true, y_pred, metric, function = CASES[name]
    test = run(people, metric, y_true, y_pred, weight=weight, n_resamples=19)
    for sex, part in people.groupby("sex"):
        weights = {} if weight is None else {"sample_weight": part[weight]}
        expected = function(part[y_true], part[y_pred], **weights)
        assert test.by_group_["value"][sex] == pytest.approx(expected, rel=1e-11)
    rows = test.comparisons_
    np.testing.assert_allclose(rows["disparity"], rows["value_group"] - rows["value_other"], atol=1e-12)
    assert test.by_group_["value"].between(test.by_group_["ci_low"], test.by_group_["ci_high"]).all()
    assert test.variance_ not in ("jackknife", "bootstrap")


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("name", [name for name in CASES if name != "roc_auc"])  # whose error is pooled
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
        # Precision rests on half of the people.
        assert error == pytest.approx(1.0, abs=0.1 if name == "precision" else 0.05)
    apart = ({"clusters": "household"},) if thorough else ()
    for given in ({"site": "site"}, {"clusters": "household", "weight": "weight"}, *apart):
        rows = run(people, metric, y_true, y_pred, n_resamples=19, **given).comparisons_
        assert rows["p_value"].between(0, 1).all()
        assert rows["standard_error"][0] == pytest.approx(plain.comparisons_["standard_error"][0], rel=0.4)


#: Metrics that are asked for as one thing and are another, whose test they have.
SAME = [
    ("f1", partial(sk.fbeta_score, beta=1.0), "positive", "yes"),
    ("accuracy", "f1_micro", "truth", "label"),
    ("accuracy", partial(sk.precision_score, average="micro"), "truth", "label"),
    ("accuracy", sk.get_scorer("recall_weighted"), "truth", "label"),
    ("selection_rate", "mean_prediction", "positive", "yes"),
    ("zero_one_loss", "mean_squared_error", "positive", "yes"),
    ("roc_auc", sk.roc_auc_score, "positive", "score"),
    ("log_loss", sk.log_loss, "positive", "chance"),
    ("mean_squared_error", sk.mean_squared_error, "positive", "chance"),
]


@pytest.mark.parametrize(("name", "metric", "y_true", "y_pred"), SAME)
def test_a_metric_by_another_name_has_its_test(people, name, metric, y_true, y_pred):
    found, expected = (run(people, asked, y_true, y_pred, n_resamples=99).comparisons_ for asked in (metric, name))
    pd.testing.assert_frame_equal(found.drop(columns="metric"), expected.drop(columns="metric"))


@pytest.mark.parametrize("name", ["f1", "recall", "precision", "jaccard"])
def test_a_ratio_of_one_label_has_the_exact_test_of_that_label_as_the_positive_one(people, name):
    of_label = run(people, partial(getattr(sk, f"{name}_score"), pos_label=0), "positive", "yes")
    positive = run(people, name, "positive", "yes", pos_label=0)
    assert of_label.method_ == positive.method_ == "exact"
    assert of_label.p_value_ == pytest.approx(positive.p_value_, rel=1e-12)
    assert of_label.confidence_interval_ == pytest.approx(positive.confidence_interval_)


def test_a_binary_f_score_is_permuted_among_those_who_count_in_it(people):
    test = run(people, "f2", "positive", "yes", n_resamples=99)
    assert test.within_ == "condition"
    # People who are truly negative and predicted negative change nothing.
    negative = pd.DataFrame({"positive": 0, "yes": 0, "sex": ["f"] * 500 + ["m"] * 20})
    more = run(pd.concat([people, negative]), "f2", "positive", "yes", n_resamples=99)
    assert more.disparity_ == test.disparity_
    assert more.statistic_ == test.statistic_


def test_a_class_that_nobody_of_a_group_is_predicted_to_be_in_leaves_its_precision_undefined(people):
    never = people.assign(label=people["label"].mask((people["sex"] == "f") & (people["label"] == "c"), "a"))
    with pytest.raises(ValueError, match="no one is predicted to have"):
        run(never, "precision_macro", n_resamples=99)
    zero = partial(sk.precision_score, average="macro", zero_division=0)
    women = never[never["sex"] == "f"]
    value = run(never, zero, n_resamples=99).by_group_["value"]["f"]
    assert value == pytest.approx(zero(women["truth"], women["label"]), rel=1e-12)
    assert run(never, "f1_macro", n_resamples=99).by_group_["value"].notna().all()


# Labels ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["a", "c"])
def test_rates_and_areas_of_one_class_by_its_label(people, label):
    rate = run(people, "true_positive_rate", pos_label=label)
    area = run(people, "roc_auc", "truth", "score", pos_label=label)
    for sex, part in people.groupby("sex"):
        recall = sk.recall_score(part["truth"], part["label"], labels=[label], average=None)[0]
        assert rate.by_group_["value"][sex] == pytest.approx(recall)
        assert area.by_group_["value"][sex] == pytest.approx(sk.roc_auc_score(part["truth"] == label, part["score"]))
    assert rate.method_ == "exact"


# Scores ---------------------------------------------------------------------------------------------------------------


def test_scores_beside_predictions_or_alone(people):
    columns = {"sensitive_features": people["sex"], "random_state": 0, "n_resamples": 99}
    truth, label, score = people["positive"], people["yes"], people["chance"]
    both = FairnessTest.from_predictions(truth, label, y_score=score, metric=["equalized_odds", "roc_auc"], **columns)
    alone = FairnessTest.from_predictions(truth, label, metric="equalized_odds", **columns)
    own = both.comparisons_[both.comparisons_["metric"] != "roc_auc"]
    assert own["p_value"].tolist() == alone.comparisons_["p_value"].tolist()
    assert both.method_ == "exact+score"
    named = FairnessTest.from_predictions(truth, None, y_score=score, metric="roc_auc", **columns)
    fitted = FairnessTest(metric="roc_auc", random_state=0, n_resamples=99)
    for other in (
        FairnessTest.from_predictions(truth, score, metric="roc_auc", **columns),
        fitted.fit(score, truth, sensitive_features=people["sex"]),
    ):
        pd.testing.assert_frame_equal(named.comparisons_, other.comparisons_)


@pytest.mark.parametrize("transform", [lambda s: 1e300 * s, lambda s: 1e15 + 1000 * s, np.log, lambda s: s**9 - 7])
def test_an_area_depends_on_the_order_of_scores_alone(people, transform):
    rounded = people.assign(chance=people["chance"].round(3))
    plain, other = (
        run(data, "roc_auc", "positive", "chance")
        for data in (rounded, rounded.assign(chance=transform(rounded["chance"])))
    )
    pd.testing.assert_frame_equal(plain.comparisons_, other.comparisons_)


# Undefined ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "y_pred"),
    [
        ("roc_auc", "chance"),
        ("average_precision", "chance"),
        ("balanced_accuracy", "yes"),
        ("matthews_corrcoef", "yes"),
    ],
)
def test_a_group_without_positives_is_undefined_and_the_others_are_tested(people, name, y_pred):
    lacking = people.assign(sex=np.repeat(list("abc"), 300), positive=people["positive"].mask(np.arange(900) < 300, 0))
    with pytest.warns(UndefinedMetricWarning, match=rf"{name} of a is undefined.*excluded_"):
        test = run(lacking, name, "positive", y_pred, n_resamples=99)
    assert test.comparisons_[["group", "other"]].to_numpy().tolist() == [["b", "c"]]
    assert test.by_group_["value"].isna().tolist() == [True, False, False]
    assert np.isnan(test.by_group_.at["a", "standard_error"])
    assert test.by_group_.at["a", "small"]
    row = test.excluded_.iloc[0]
    assert (row["metric"], row["group"], row["comparisons"]) == (name, "a", 2)
    others = run(lacking[300:], name, "positive", y_pred, n_resamples=99)
    assert test.statistic_ == pytest.approx(others.statistic_)
    # A loss is defined there. Fairlearn's log_loss raises, because only one label is seen.
    loss = run(lacking, "log_loss", "positive", "chance", n_resamples=99)
    expected = sk.log_loss(lacking["positive"][:300], lacking["chance"][:300], labels=[0, 1])
    assert loss.by_group_.at["a", "value"] == pytest.approx(expected)


def test_certain_probabilities_have_a_finite_loss():
    truth, score = np.array([1, 0, 1, 0, 1, 0, 1, 0]), np.array([0.0, 0.2, 1.0, 0.0, 0.9, 1.0, 0.4, 0.3])
    test = FairnessTest.from_predictions(
        truth, score, sensitive_features=list("aaaabbbb"), metric="log_loss", n_resamples=99, random_state=0
    )
    expected = [sk.log_loss(truth[i : i + 4], score[i : i + 4]) for i in (0, 4)]
    assert test.by_group_["value"].tolist() == pytest.approx(expected)


def test_losses_of_tiny_probabilities_keep_their_digits():
    # From 1 - p they had four digits, and a difference was that of rounding errors.
    score = np.outer([3e-13, 1e-13], np.linspace(0.5, 1.5, 50)).ravel()
    test = FairnessTest.from_predictions(
        np.zeros(100, dtype=int), score, sensitive_features=np.repeat(["a", "b"], 50), metric="log_loss", pos_label=1,
        n_resamples=99, random_state=0,
    )  # fmt: skip
    assert test.by_group_["value"].tolist() == pytest.approx([3e-13, 1e-13], rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["roc_auc", "balanced_accuracy", "matthews_corrcoef"])
def test_a_group_with_few_positives_is_small(people, name, weighted):
    # Hundreds of people, three of them positive: an area rests on three, with weights or without.
    truth = people["positive"].to_numpy().copy()
    truth[np.flatnonzero((people["sex"] == "f") & (truth == 1))[3:]] = 0
    few = people.assign(positive=truth, weight=np.where(np.arange(900) % 2, 1.0, 1.1))
    y_pred = "chance" if name == "roc_auc" else "yes"
    test = run(few, name, "positive", y_pred, weight="weight" if weighted else None, n_resamples=99)
    assert test.by_group_.at["f", "n_effective"] <= 3
    assert test.by_group_["small"].tolist() == [True, False]


# Functions ------------------------------------------------------------------------------------------------------------


def test_metrics_of_counts_with_or_without_a_variance_are_the_mean_that_they_are(people):
    few = people.head(40)

    def error(y_true, y_pred, counts):
        return counts @ (y_true - y_pred) ** 2 / counts.sum(axis=-1)

    def variance(y_true, y_pred, counts):
        z, n = (y_true - y_pred) ** 2, counts.sum(axis=-1)
        return (counts @ z**2 / n - (counts @ z / n) ** 2) / (n - 1)

    asked = {"y_true": "number", "y_pred": "guess", "n_resamples": 499}
    welch = run(few, "mean_squared_error", **asked)
    slow = run(few, {"error": lambda y, p: float(np.mean((y - p) ** 2))}, **asked)
    fast, own = run(few, ScoreMetric("error", error), **asked), run(few, ScoreMetric("own", error, variance), **asked)
    pd.testing.assert_frame_equal(fast.comparisons_, slow.comparisons_)
    assert (fast.variance_, own.variance_) == ("jackknife", "own")
    for found in (fast, own):
        assert found.statistic_ == pytest.approx(welch.statistic_, rel=1e-9)
        assert found.p_value_ == pytest.approx(welch.p_value_, abs=0.06)


def test_many_different_people_are_bootstrapped_and_not_left_out_one_by_one(people):
    def spread(y_true, y_pred):
        return float(np.max(y_pred - y_true) - np.median(y_pred - y_true))

    asked = {"y_true": "positive", "y_pred": "chance", "n_resamples": 19}
    assert run(people, spread, **asked).variance_ == "bootstrap"
    with pytest.raises(ValueError, match=r"variance='jackknife' is limited to 64 kinds.*'bootstrap'"):
        run(people, spread, variance="jackknife", **asked)
    few = run(people.head(40), spread, **asked, variance=None)
    assert few.statistic_ == few.disparity_


# A set of metrics -----------------------------------------------------------------------------------------------------


def test_the_six_of_hinnefeld(people):
    truth, decision, sex = people["positive"], people["yes"], people["sex"]
    test = run(people, "hinnefeld", "positive", "yes", n_resamples=499)
    rows = test.comparisons_.set_index("metric")
    a, b = (people[sex == group] for group in "fm")
    share = [g["yes"].mean() for g in (a, b)]
    expected = {
        "difference_in_means": share[0] - share[1],
        "difference_in_residuals": residual(a["yes"], a["positive"]) - residual(b["yes"], b["positive"]),
        "equal_opportunity": a["yes"][a["positive"] == 1].mean() - b["yes"][b["positive"] == 1].mean(),
        "equal_mis_opportunity": a["yes"][a["positive"] == 0].mean() - b["yes"][b["positive"] == 0].mean(),
        "disparate_impact": share[0] / share[1],
        "normalized_mutual_info": sk.normalized_mutual_info_score(sex, decision, average_method="geometric"),
    }
    assert rows["disparity"].to_dict() == pytest.approx(expected)
    assert rows.index.tolist() == list(expected)
    reference = {"n_resamples": 499, "compare": "to_reference", "reference_group": "f"}  # their S = 1
    turned = run(people, "hinnefeld", "positive", "yes", **reference).comparisons_.set_index("metric")
    assert turned.at["disparate_impact", "disparity"] == pytest.approx(share[1] / share[0])
    assert turned.at["normalized_mutual_info", "p_value"] == rows.at["normalized_mutual_info", "p_value"]
    alone = FairnessTest.from_predictions(truth, decision, sensitive_features=sex, metric="true_positive_rate")
    assert rows.at["equal_opportunity", "p_value"] == pytest.approx(alone.p_value_, rel=1e-12)
    assert "normalized_mutual_info" not in test.by_group_.index.get_level_values("metric")
    assert rows["p_value_adjusted"].min() == pytest.approx(min(1, 6 * rows["p_value"].min()))
