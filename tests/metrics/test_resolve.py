"""From what a user calls a metric to the rates that are tested."""

import copy
import pickle
from functools import partial

import fairlearn.metrics as fair
import numpy as np
import pytest
import sklearn.metrics as sk
from sklearn.linear_model import LogisticRegression

from skfairtest import FairnessTest, Rate, ScoreMetric, power
from skfairtest.metrics import CRITERIA, RATES, resolve_metrics
from skfairtest.metrics.names import INSTEAD, OTHER_NAMES


def names(metric, disparity="difference"):
    """Names of the rates of a metric."""
    return [rate.name for rate in resolve_metrics(metric, disparity)]


@pytest.mark.parametrize("name", list(RATES))
def test_a_rate_is_found_by_its_name(name):
    assert resolve_metrics(name) == [RATES[name]]
    assert names(np.str_(name)) == [name]


@pytest.mark.parametrize(
    ("criterion", "rates"),
    [
        ("demographic_parity", ["selection_rate"]),
        ("equal_opportunity", ["true_positive_rate"]),
        ("predictive_equality", ["false_positive_rate"]),
        ("equalized_odds", ["true_positive_rate", "false_positive_rate"]),
        ("predictive_parity", ["precision"]),
        ("conditional_use_accuracy", ["precision", "negative_predictive_value"]),
        ("overall_accuracy_equality", ["accuracy"]),
        ("treatment_equality", ["false_negative_share"]),
    ],
)
def test_a_criterion_is_its_rates(criterion, rates):
    # Barocas, Hardt and Narayanan, chapter 3; Verma and Rubin (2018), Fairness definitions explained.
    assert names(criterion) == rates
    assert set(CRITERIA) >= {criterion}


def test_each_rate_is_tested_once_in_the_order_given():
    assert names(["equalized_odds", "selection_rate", "recall", ["f1", "equalized_odds"]]) == [
        "true_positive_rate",
        "false_positive_rate",
        "selection_rate",
        "f1",
    ]


def test_the_keys_of_a_dict_rename():
    assert names({"TPR": "recall", "mine": Rate("x", "y_true")}) == ["TPR", "mine"]
    assert names({"odds": "equalized_odds"}) == ["odds/true_positive_rate", "odds/false_positive_rate"]
    assert names({"a": "recall", "b": "recall"}) == ["a", "b"]
    assert names({7: sk.f1_score}) == ["7"]
    assert names([{"TPR": "recall"}, "recall"]) == ["TPR", "true_positive_rate"]


def test_two_different_rates_of_one_name_are_an_error():
    with pytest.raises(ValueError, match="two different metrics named 'true_positive_rate'"):
        names(["recall", Rate("true_positive_rate", "y_true")])
    with pytest.raises(ValueError, match="two different metrics named 'precision'"):
        names(["precision", {"precision": "recall"}])


@pytest.mark.parametrize(
    ("metric", "meant"),
    [
        ("nonsense", None),
        ("", None),
        ("Recall", "'recall'"),
        ("selection rate", "'selection_rate'"),
        ("equalised_odds", "'equalized_odds'"),
        ("f1_makro", "'f1_macro'"),
        ("FPR", "'false_positive_rate'"),
        ("MCC", "'mcc'"),
        ("AUC", "'auc'"),
        ("macro_f1", "'f1_macro'"),
    ],
)
def test_an_unknown_name_is_an_error_that_says_what_may_have_been_meant(metric, meant):
    with pytest.raises(ValueError, match=r"[tT]here are selection_rate") as error:
        names(metric)
    assert f"metric={metric!r} is unknown; " in str(error.value)
    assert (f"did you mean {meant}" if meant else "unknown; there are") in str(error.value)


@pytest.mark.parametrize("name", list(INSTEAD))
def test_a_name_without_a_test_of_its_own_is_an_error_that_says_what_to_write(name):
    with pytest.raises(ValueError, match=rf"metric='{name}' has no test of its own: .*(write|use) "):
        names(name)


@pytest.mark.parametrize("metric", [[], (), {}, [[]], {"a": []}])
def test_no_metric_at_all_is_an_error(metric):
    with pytest.raises(ValueError, match="metric is empty"):
        names(metric)


@pytest.mark.parametrize("metric", [None, 3, 0.5, {"recall"}, b"recall"])
def test_what_is_no_metric_is_an_error_that_says_what_was_found(metric):
    with pytest.raises(ValueError, match=f"found {type(metric).__name__}"):
        names(metric)


# Functions of fairlearn and scikit-learn ------------------------------------------------------------------------------

PLAIN = {
    fair.selection_rate: "selection_rate",
    fair.mean_prediction: "mean_prediction",
    sk.recall_score: "true_positive_rate",
    sk.zero_one_loss: "zero_one_loss",
    sk.f1_score: "f1",
    sk.roc_auc_score: "roc_auc",
    sk.brier_score_loss: "brier_score",
    sk.r2_score: "r2",
}
BASES = {
    "selection_rate": "selection_rate",
    "true_positive_rate": "true_positive_rate",
    "false_positive_rate": "false_positive_rate",
    "true_negative_rate": "true_negative_rate",
    "false_negative_rate": "false_negative_rate",
    "accuracy_score": "accuracy",
    "zero_one_loss": "zero_one_loss",
    "demographic_parity": "demographic_parity",
    "equalized_odds": "equalized_odds",
    "equal_opportunity": "equal_opportunity",
}
#: Disparity functions of fairlearn by name: every one in its ``__all__`` of which we have the rate.
DISPARITIES = {
    f"{base}_{disparity}": (ours, disparity)
    for base, ours in BASES.items()
    for disparity in ("difference", "ratio")
    if f"{base}_{disparity}" in fair.__all__
}


@pytest.mark.parametrize("function", list(PLAIN), ids=lambda f: f.__name__)
def test_a_function_with_a_twin_is_recognised_by_identity(function):
    for disparity in ("difference", "ratio"):
        assert names(function, disparity) == names(PLAIN[function])


@pytest.mark.parametrize("name", list(DISPARITIES))
def test_a_disparity_function_is_its_rates_and_its_disparity(name):
    ours, disparity = DISPARITIES[name]
    for metric in (getattr(fair, name), name):
        assert resolve_metrics(metric, disparity) == resolve_metrics(ours, disparity)
        if disparity == "ratio":
            assert names(metric) == names(ours)
            assert {rate.disparity for rate in resolve_metrics(metric)} == {"ratio"}
        else:
            with pytest.raises(ValueError, match=rf"{name}'? is a difference.*set disparity='difference'"):
                names(metric, "ratio")


@pytest.mark.parametrize("name", list(DISPARITIES))
def test_a_copy_of_a_disparity_function_is_the_same_function(name):
    ours, disparity = DISPARITIES[name]
    function = getattr(fair, name)  # often an object, which a clone copies and another process unpickles
    for other in (copy.deepcopy(function), pickle.loads(pickle.dumps(function))):
        assert names(other, disparity) == names(ours)


def test_arguments_of_a_derived_function_are_those_of_what_it_is_derived_from():
    f1 = fair.make_derived_metric(metric=sk.f1_score, transform="difference")
    (macro,) = resolve_metrics(partial(f1, average="macro", method="to_overall"))
    assert (macro.name, macro.summary.name, macro.summary.method) == ("f1_macro", "f1_score_difference", "to_overall")
    fbeta = fair.make_derived_metric(metric=sk.fbeta_score, transform="difference")
    assert [metric.name for metric in resolve_metrics(partial(fbeta, beta=2))] == ["f2"]
    with pytest.raises(ValueError, match="metric=fbeta_score_difference needs beta"):
        resolve_metrics(fbeta)


def test_every_disparity_function_of_fairlearn_is_known():
    assert len(DISPARITIES) >= 16
    generated = {name for name in fair.__all__ if name.endswith(("_difference", "_ratio"))}
    others = {name for name in generated - set(DISPARITIES) if "rate" in name or "parity" in name or "odds" in name}
    assert not others


def test_a_function_of_the_same_name_is_another_function():
    def selection_rate(y_true, y_pred):
        return 0.0

    (metric,) = resolve_metrics(selection_rate)
    assert isinstance(metric, ScoreMetric)
    assert metric.name == "selection_rate"
    assert metric.evaluate is selection_rate


# Names of scorers and of the literature, and functions with arguments -------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("neg_log_loss", "log_loss"),
        ("neg_brier_score", "brier_score"),
        ("brier_score_loss", "brier_score"),
        ("precision_micro", "accuracy"),
        ("recall_weighted", "accuracy"),
        ("statistical_parity", "demographic_parity"),
        ("geometric_mean_score", "geometric_mean"),
        ("specificity", "true_negative_rate"),
        ("mcc", "matthews_corrcoef"),
        ("hamming_loss", "zero_one_loss"),
    ],
)
def test_another_name_is_the_same_metric(name, ours):
    assert resolve_metrics(name) == resolve_metrics(ours)


@pytest.mark.parametrize("name", [name for name in sk.get_scorer_names() if name not in INSTEAD])
def test_every_scorer_of_scikit_learn_is_found_by_its_name_and_as_an_object(name):
    (metric,) = resolve_metrics(name)
    scorer = sk.get_scorer(name)
    (same,) = resolve_metrics(scorer)
    assert (metric.name, type(metric)) == (same.name, type(same))
    if type(metric) is ScoreMetric:  # a function that is not built in: it is asked of the model what the scorer asks
        asked = scorer._response_method
        assert metric.responses == ((asked,) if isinstance(asked, str) else tuple(asked))


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("kind", ["precision", "recall", "f1", "jaccard"])
def test_averages_over_classes_have_the_names_of_scorers(kind, average):
    expected = resolve_metrics(f"{kind}_{average}")
    assert resolve_metrics(partial(getattr(sk, f"{kind}_score"), average=average)) == expected
    assert resolve_metrics(sk.get_scorer(f"{kind}_{average}")) == expected
    assert type(expected[0]) is not ScoreMetric


def test_f_scores_are_named_by_their_beta():
    assert names(["f2", "f0.5", "f2_macro", "f1.5_micro"]) == ["f2", "f0.5", "f2_macro", "accuracy"]
    assert resolve_metrics(partial(sk.fbeta_score, beta=2)) == resolve_metrics("f2")
    assert resolve_metrics(partial(sk.fbeta_score, beta=1)) == resolve_metrics("f1")
    assert resolve_metrics(sk.make_scorer(sk.fbeta_score, beta=0.5, average="macro")) == resolve_metrics("f0.5_macro")
    with pytest.raises(ValueError, match=r"fbeta_score needs beta: write functools.partial\(fbeta_score, beta="):
        names(sk.fbeta_score)


@pytest.mark.parametrize(
    "function",
    [
        partial(sk.f1_score, average=None),
        partial(sk.zero_one_loss, normalize=False),
        partial(sk.roc_auc_score, max_fpr=0.1),
        partial(sk.mean_squared_error, multioutput="raw_values"),
        partial(sk.f1_score, [0, 1]),
        partial(sk.f1_score, average="macro", labels=[0, 1]),
        partial(sk.cohen_kappa_score, labels=["a", "b"]),
    ],
)
def test_an_argument_that_changes_the_metric_leaves_a_function_of_its_own(function):
    (metric,) = resolve_metrics(function)
    assert type(metric) is ScoreMetric
    assert metric.evaluate is function


@pytest.mark.parametrize("metric", [
    sk.top_k_accuracy_score, partial(sk.top_k_accuracy_score, k=3), sk.get_scorer("top_k_accuracy"),
])  # fmt: skip
def test_top_k_accuracy_says_what_to_write_however_it_is_asked_for(metric):
    with pytest.raises(ValueError, match="whether the true label is among the k highest"):
        names(metric)


def test_a_pos_label_names_the_label_that_is_meant_whatever_is_positive_in_the_test():
    found = resolve_metrics([partial(sk.f1_score, pos_label="no"), sk.make_scorer(sk.recall_score, pos_label=0), "f1"])
    assert [metric.name for metric in found] == ["f1(pos_label='no')", "recall(pos_label=0)", "f1"]
    assert not any(metric.needs_pos_label for metric in found[:2])
    assert names(partial(sk.fbeta_score, beta=2, pos_label=0)) == ["f2(pos_label=0)"]


@pytest.mark.filterwarnings("ignore:.*rests on few people:UserWarning", "ignore:.*resamples:UserWarning")
@pytest.mark.parametrize(
    "function", [partial(sk.roc_auc_score, max_fpr=0.5), partial(sk.log_loss, normalize=False), sk.roc_auc_score]
)
def test_a_function_of_scores_is_given_scores_whatever_its_arguments(function):
    rng = np.random.default_rng(5)
    X, groups = rng.normal(size=(30, 2)), np.tile(["a", "b"], 15)
    y = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    found = FairnessTest(model, metric=function, n_resamples=1, random_state=0).fit(X, y, sensitive_features=groups)
    score = model.predict_proba(X)[:, 1]
    expected = [function(y[groups == group], score[groups == group]) for group in ("a", "b")]
    np.testing.assert_allclose(found.by_group_["value"], expected)


def test_an_argument_that_says_what_holds_anyway_changes_nothing():
    assert resolve_metrics(partial(sk.f1_score, pos_label=1, average="binary")) == resolve_metrics("f1")
    assert resolve_metrics(partial(sk.zero_one_loss, normalize=True)) == resolve_metrics("zero_one_loss")


def test_other_names_say_which_disparity_they_are(confused):
    table = confused({"a": (30, 10, 8, 20), "b": (25, 14, 12, 14)})
    expected = FairnessTest.from_table(table, metric="selection_rate", disparity="ratio")
    for metric in ("disparate_impact", "demographic_parity_ratio", fair.demographic_parity_ratio):
        test = FairnessTest.from_table(table, metric=metric)
        # fairlearn's function is the smaller value by the larger one, whichever group comes first.
        own = expected.disparity_ if metric == "disparate_impact" else min(expected.disparity_, 1 / expected.disparity_)
        assert test.disparity_ == pytest.approx(own)
        assert test.p_value_ == expected.p_value_
        assert test.comparisons_["disparity"].item() == expected.disparity_
    with pytest.raises(ValueError, match=r"margin=0.05 is a difference and selection_rate .* with disparity='ratio'"):
        FairnessTest.from_table(table, metric="disparate_impact", margin=0.05)
    with pytest.raises(ValueError, match=r"margin=0.05 is a difference and selection_rate"):
        power(rates=[0.3, 0.5], n_per_group=[50, 50], metric="disparate_impact", margin=0.05)
    tolerant = FairnessTest.from_table(table, metric="disparate_impact", disparity="ratio", margin=0.8)
    assert (
        tolerant.p_value_
        == FairnessTest.from_table(table, metric="selection_rate", disparity="ratio", margin=0.8).p_value_
    )
    for metric in ("accuracy_ratio", "predictive_parity_ratio", "f1_macro_ratio"):
        assert {one.disparity for one in resolve_metrics(metric)} == {"ratio"}
        assert names(metric) == names(metric.removesuffix("_ratio"))
    with pytest.raises(ValueError, match="'disparate_impact_difference' is unknown; did you mean 'disparate_impact'"):
        resolve_metrics("disparate_impact_difference")
    assert names("disparate_impact_ratio") == names("statistical_parity_difference") == ["selection_rate"]
    with pytest.raises(ValueError, match="'statistical_parity_difference' is a difference"):
        FairnessTest.from_table(table, metric="statistical_parity_difference", disparity="ratio")


def test_other_names_mean_what_is_built_in():
    for name, (ours, disparity) in OTHER_NAMES.items():
        assert names(name, disparity or "difference") == names(ours)


@pytest.mark.parametrize(("name", "plain"), [("f2", "f2"), ("f0.5_macro", "f0.5_macro"), ("g_mean", "geometric_mean")])
def test_any_name_may_say_difference_or_ratio(name, plain):
    (difference,) = resolve_metrics(f"{name}_difference")
    (ratio,) = resolve_metrics(f"{name}_ratio")
    assert (difference.name, difference.disparity) == (plain, None)
    assert (ratio.name, ratio.disparity) == (plain, "ratio")


@pytest.mark.parametrize("name", ["f0.12345678_macro", "f10000000", "f0_weighted"])
def test_every_digit_of_beta_is_in_the_name(name):
    assert names(name) == [name]


def test_arguments_that_make_another_metric_are_in_its_name():
    f1 = partial(sk.f1_score, average="macro")
    assert names([f1, partial(f1, zero_division=0)]) == ["f1_macro", "f1_macro(zero_division=0.0)"]


@pytest.mark.parametrize(
    "metric",
    [
        partial(sk.cohen_kappa_score, weights="cubic"),
        partial(sk.f1_score, average="macro", labels=[]),
        partial(sk.cohen_kappa_score, labels=[]),
        partial(sk.fbeta_score, beta=-1),
        partial(sk.fbeta_score, beta="two"),
        partial(sk.recall_score, average="macro", zero_division=2),
        partial(sk.recall_score, average="macro", zero_division="none"),
    ],
)
def test_arguments_that_scikit_learn_refuses_are_refused(metric):
    y = np.tile([0, 1, 1], 10)
    with pytest.raises(ValueError, match="metric cannot be computed in group 'a': "):
        FairnessTest.from_predictions(y, y[::-1], sensitive_features=["a", "b"] * 15, metric=metric, n_resamples=9)


def test_a_scorer_is_computed_from_what_it_asks_of_a_model():
    known, other = sk.make_scorer(sk.roc_auc_score, response_method="predict_proba"), sk.make_scorer(sk.roc_auc_score)
    assert resolve_metrics(known) == resolve_metrics("roc_auc")
    (metric,) = resolve_metrics(other)
    assert (metric.name, metric.responses, metric.reads) == ("roc_auc_score", ("predict",), {"y_true", "y_pred"})


@pytest.mark.parametrize("name", ["roc_auc_ovr", "roc_auc_ovo_weighted"])
def test_averages_over_two_classes_of_the_auc_are_the_auc(name):
    assert resolve_metrics(name) == resolve_metrics("roc_auc") == resolve_metrics(sk.get_scorer(name))
