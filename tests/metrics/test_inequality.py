"""Indices of inequality: AIF360's values and published ones, derivatives, and the parts between and within groups."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from skfairtest import FairnessTest, inequality_decomposition
from skfairtest.metrics import resolve_metrics
from skfairtest.metrics.inequality import Entropy, Inequality, between_and_within

GOLDEN = json.loads((Path(__file__).parent / "golden" / "inequality.json").read_text())
PUBLISHED = GOLDEN["published"]
TRUE, PREDICTED = np.array([0, 0, 1, 1]) > 0, np.array([0, 1, 0, 1]) > 0
INDICES = {"entropy 2": Entropy(2.0), "entropy .5": Entropy(0.5), "entropy 3": Entropy(3.0), "theil": Entropy(1.0)}


#: Indices do not change when everybody is there ten times, and there are enough people for a test.
TRUE_10, PREDICTED_10, GROUP_10 = (np.tile(GOLDEN[name], 10) for name in ("y_true", "y_pred", "group"))


def values(metric, y_true, y_pred, group, **params):
    test = FairnessTest.from_predictions(
        y_true, y_pred, sensitive_features=group, metric=metric, n_resamples=199, random_state=0, **params
    )
    return test.by_group_["value"].to_dict(), test


@pytest.mark.parametrize("metric", list(GOLDEN["values"]["a"]))
def test_indices_of_groups_are_those_of_aif360(metric):
    found, _ = values(metric, TRUE_10, PREDICTED_10, GROUP_10)
    assert found == pytest.approx({group: of[metric] for group, of in GOLDEN["values"].items()})


@pytest.mark.parametrize("metric", ["average_odds_difference", "average_odds"])
def test_average_odds_difference_is_that_of_aif360(metric):
    _, test = values(metric, TRUE_10, PREDICTED_10, GROUP_10)
    assert test.disparity_ == pytest.approx(GOLDEN["average_odds_difference"])


@pytest.mark.parametrize("case", PUBLISHED["cases"], ids=["first", "second"])
def test_published_indices(case):
    y_true, y_pred = (np.tile(y, 10) for y in (PUBLISHED["y_true"], case["y_pred"]))
    for metric in {"generalized_entropy", "theil_index"} & set(case):
        assert values(metric, y_true, y_pred, np.arange(100) < 50)[0][True] == pytest.approx(case[metric])


@pytest.mark.parametrize("alpha", GOLDEN["between"])
def test_parts_are_those_of_aif360(alpha):
    found = inequality_decomposition(
        TRUE_10, PREDICTED_10, sensitive_features=GROUP_10, alpha=float(alpha), random_state=0
    )
    assert found.parts["value"]["total"] == pytest.approx(GOLDEN["total"][alpha])
    assert found.parts["value"]["between"] == pytest.approx(GOLDEN["between"][alpha], rel=1e-9)
    assert found.by_group["contribution"].sum() == pytest.approx(found.parts["value"]["within"])
    own = {group: of[f"generalized_entropy_{alpha}"] for group, of in GOLDEN["values"].items()}
    assert found.by_group["value"].to_dict() == pytest.approx(own)


def test_the_published_part_between_three_groups():
    case = PUBLISHED["cases"][0]
    people = (np.tile(y, 10) for y in (PUBLISHED["y_true"], case["y_pred"]))
    with pytest.warns(UserWarning, match="mean_residual of 0 rests on few people"):  # nobody is predicted wrongly there
        found = inequality_decomposition(*people, sensitive_features=np.tile(PUBLISHED["group"], 10), random_state=0)
    assert found.parts["value"]["between"] == pytest.approx(case["between"])


@pytest.mark.parametrize("name", INDICES)
def test_derivatives_are_numerical_ones(name):
    functional = Inequality(TRUE, PREDICTED, INDICES[name])
    masses, step = np.array([11.0, 3.0, 4.0, 9.0]), 1e-5
    moved = np.array([functional.values(masses + step * e) - functional.values(masses - step * e) for e in np.eye(4)])
    assert functional.slopes(masses)[1] == pytest.approx(moved / (2 * step), abs=1e-8)


@pytest.mark.parametrize("name", INDICES)
def test_standard_errors_are_those_of_many_samples(name):
    functional = Inequality(TRUE, PREDICTED, INDICES[name])
    share = np.array([0.4, 0.1, 0.15, 0.35])
    samples = np.random.default_rng(0).multinomial(2000, share, size=4000).astype(float)
    found, variance = functional.moments(samples)
    assert np.sqrt(variance.mean()) == pytest.approx(found.std(), rel=0.05)


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_everybody_predicted_correctly_is_perfectly_equal(index):
    functional = Inequality(TRUE, PREDICTED, index)
    value, variance = functional.moments(np.array([30.0, 0.0, 0.0, 20.0]))
    assert value == pytest.approx(0.0, abs=1e-12)
    assert variance > 0
    assert np.isnan(functional.values(np.array([0.0, 0.0, 5.0, 0.0])))


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_errors_of_the_parts_are_those_of_many_samples(alpha):
    counts, benefit = np.array([[90.0, 240.0, 60.0], [30.0, 360.0, 150.0]]), np.array([0.0, 1.0, 2.0])
    _, covariance = between_and_within(alpha, benefit, counts)
    drawn = np.random.default_rng(1).multinomial(930, (counts / 930).ravel(), size=3000).reshape(-1, 2, 3)
    found = np.array([between_and_within(alpha, benefit, table.astype(float))[0] for table in drawn])
    assert np.sqrt(np.diag(covariance)) == pytest.approx(found.std(axis=0), rel=0.06)


def test_a_group_without_benefits_is_part_of_the_inequality_between_groups():
    found = inequality_decomposition(
        [1, 1, 1, 0, 0, 1], [0, 0, 0, 0, 0, 1], sensitive_features=list("aaabbb"), alpha=0.5, random_state=0
    )
    assert found.parts["value"]["within"] == pytest.approx(0.0, abs=1e-12)
    assert found.by_group["mean_benefit"].to_dict() == {"a": 0.0, "b": 1.0}


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ("generalized_entropy_0", "alpha of generalized_entropy must be positive"),
        ("generalized_entropy_-1", "alpha of generalized_entropy must be positive"),
        ("coefficient_of_variation", "generalized_entropy"),
        ("conditional_equality_of_opportunity", "control_features"),
        ("consistency", "IndividualFairnessTest"),
        ("gini", "roc_auc"),
    ],
)
def test_what_has_no_test_says_what_to_write(metric, says):
    with pytest.raises(ValueError, match=says):
        resolve_metrics(metric)


@pytest.mark.parametrize(
    ("typed", "name"),
    [("generalized_entropy_1", "theil_index"), ("generalized_entropy_1.0", "theil_index"),
     ("generalized_entropy_2", "generalized_entropy"),
     ("generalized_entropy_1.50", "generalized_entropy_1.5"),
     ("generalized_entropy_error", "generalized_entropy"), ("theil_index_ratio", "theil_index")],
)  # fmt: skip
def test_a_parameter_is_part_of_the_name(typed, name):
    assert resolve_metrics(typed)[0].name == name


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"y_true": [0, 1, 2, 0]}, "two labels"),
        ({"y_true": None}, "y_true and y_pred are both needed"),
        ({"y_true": [1, 1, 1, 1], "y_pred": [0, 0, 0, 0]}, "all benefits are 0"),
    ],
)
def test_a_decomposition_says_what_is_wrong(arguments, says):
    usual = {"y_true": [0, 1, 0, 1], "y_pred": [0, 1, 1, 0], "sensitive_features": list("aabb"), "random_state": 0}
    with pytest.raises(ValueError, match=says):
        inequality_decomposition(**(usual | arguments))


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_an_error_that_nobody_makes_counts_in_the_standard_error(index):
    every = Inequality(TRUE, PREDICTED, index).moments(np.array([30.0, 5.0, 0.0, 20.0]))
    made = np.array([True, True, False, True])
    without = Inequality(TRUE[made], PREDICTED[made], index).moments(np.array([30.0, 5.0, 20.0]))
    assert np.array(without) == pytest.approx(np.array(every), rel=1e-12)


def test_groups_that_err_differently_have_at_least_the_normal_p_value():
    # One group only misses (1 of 60), the other has only false alarms (90 of 400): permutations mix both kinds.
    true = np.r_[np.ones(60), np.zeros(200), np.ones(200)].astype(int)
    predicted = true ^ np.r_[np.arange(60) < 1, np.arange(400) < 90]
    with pytest.warns(UserWarning, match="rests on few people"):
        test = FairnessTest.from_predictions(
            true, predicted, sensitive_features=np.repeat(["a", "b"], [60, 400]), metric="theil_index",
            n_resamples=999, random_state=0,
        )  # fmt: skip
    by_permutation = (np.abs(test.null_distribution_[:, 0]) >= abs(test.statistic_)).mean()
    normal = 2 * stats.norm.sf(abs(test.statistic_))
    assert by_permutation < 0.5 * normal
    assert test.p_value_ == pytest.approx(normal, rel=1e-9)


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_nobody_predicted_wrongly_is_no_certainty(alpha):
    label = np.arange(200) % 2
    parts = inequality_decomposition(
        label, label, sensitive_features=np.arange(200) < 80, alpha=alpha, n_resamples=99, random_state=0
    ).parts
    assert parts["value"]["total"] == parts["ci_low"]["total"] == 0
    # One person in 200 of either kind is well inside.
    one_each = Entropy(alpha)(np.array([0.0, 1.0, 2.0]), np.array([1.0, 198.0, 1.0]) / 200)[0]
    assert (parts["ci_high"][["total", "within"]] > one_each).all()
