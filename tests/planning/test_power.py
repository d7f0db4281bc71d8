import pickle
import warnings

import numpy as np
import pytest
from fairlearn.metrics import selection_rate
from scipy.stats import binom
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from skfairtest import FairnessAudit, FairnessTest, Rate
from skfairtest.planning.power import minimum_detectable_disparity, power, required_sample_size

RATE = {"metric": "selection_rate"}
TPR, FPR = "true_positive_rate", "false_positive_rate"


def fitted(x1, d1, x2, d2, **params):
    y_pred = [1] * x1 + [0] * (d1 - x1) + [1] * x2 + [0] * (d2 - x2)
    return FairnessTest.from_predictions(None, y_pred, sensitive_features=["a"] * d1 + ["b"] * d2, **RATE, **params)


def test_power_of_the_tests_on_the_same_numbers():
    numbers = {"rates": (0.3, 0.5), "n_per_group": (93, 93)}
    assert power(**RATE, **numbers) == pytest.approx(0.7906, abs=5e-5)
    assert power(**RATE, **numbers, method="exact") == power(**RATE, **numbers)
    assert power(**RATE, **numbers, method="asymptotic") == pytest.approx(0.7991, abs=5e-5)
    assert isinstance(power(**RATE, **numbers), float)


def test_the_recipe_of_two_standard_deviations_has_power_one_half():
    # 2 sqrt(.21 / 46 + .25 / 46) = .2
    assert 0.45 < power(**RATE, rates=(0.3, 0.5), n_per_group=(46, 46)) < 0.52


@pytest.mark.parametrize("metric", ["selection_rate", "demographic_parity", selection_rate, Rate("mine", "y_pred")])
def test_a_metric_is_named_in_all_the_ways_of_the_test(metric):
    assert power(metric=metric, rates=(0.3, 0.5), n_per_group=(93, 93)) == pytest.approx(0.7906, abs=5e-5)


def test_other_names_have_the_power_of_the_metric():
    people = {"n_per_group": [90, 90]}
    ratio = power(rates=[0.3, 0.5], metric="selection_rate", disparity="ratio", **people)
    assert power(rates=[0.3, 0.5], metric="disparate_impact", **people) == ratio
    areas = {"rates": [0.7, 0.8], "base_rates": 0.5, **people}
    assert power(metric="roc_auc_score", **areas) == power(metric="roc_auc", **areas)
    with pytest.raises(ValueError, match="metric='f1_macro' has no power computation"):
        power(rates=[0.3, 0.5], metric="f1_macro", **people)


def test_a_dict_names_the_rate_of_a_criterion():
    found = power(metric="demographic_parity", rates={"selection_rate": (0.3, 0.5)}, n_per_group=[93, 93])
    assert found == pytest.approx(0.7906, abs=5e-5)


def test_alpha_is_one_minus_the_confidence_level():
    numbers = {**RATE, "rates": (0.3, 0.5), "n_per_group": (93, 93)}
    assert power(**numbers, alpha=0.01) == power(**numbers, confidence_level=0.99, alpha=0.01)
    assert power(**numbers, alpha=0.01) == pytest.approx(power(**numbers, confidence_level=0.99), abs=1e-12)


@pytest.mark.slow
def test_power_falls_with_random_denominators_and_with_comparisons():
    numbers = {"metric": TPR, "rates": (0.6, 0.9)}
    fixed = power(**numbers, n_per_group=(60, 20))
    averaged = power(**numbers, n_per_group=(200, 200), base_rates=(0.3, 0.1))
    assert averaged < fixed
    both = power(
        metric="equalized_odds", rates={TPR: (0.6, 0.9), FPR: (0.2, 0.2)}, n_per_group=(200, 200), base_rates=(0.3, 0.1)
    )
    assert both < averaged


def test_f1_has_the_power_of_jaccard():
    f1 = (0.5, 0.65)
    jaccard = tuple(f / (2 - f) for f in f1)
    numbers = {"n_per_group": (90, 80)}
    assert power(metric="f1", rates=f1, **numbers) == pytest.approx(power(metric="jaccard", rates=jaccard, **numbers))


def test_two_groups_against_the_rest_are_two_comparisons_that_test_one_equality():
    numbers = {**RATE, "rates": (0.3, 0.5), "n_per_group": (93, 93)}
    assert power(**numbers, compare="to_rest") == pytest.approx(power(**numbers))
    assert power(**numbers, compare="to_reference", reference_group=0) == pytest.approx(power(**numbers))
    less = power(**numbers, alternative="less")
    assert less > power(**numbers, alternative="greater")
    assert power(**numbers, compare="to_reference", reference_group=0, alternative="greater") == pytest.approx(less)
    assert power(**numbers, compare="to_rest", alternative="greater") == pytest.approx(
        power(**numbers, alternative="less", alpha=0.025), abs=1e-3
    )


def test_several_groups_are_simulated_with_one_seed():
    numbers = {**RATE, "rates": (0.3, 0.5, 0.4), "n_per_group": (93, 93, 60)}
    assert power(**numbers) == power(**numbers)
    # More than the best single pair at the level that Holm leaves it, less than all together.
    pair = power(**RATE, rates=(0.3, 0.5), n_per_group=(93, 93), alpha=0.05 / 3)
    assert pair - 0.015 < power(**numbers) < pair + 0.1
    for compare in ("to_rest", "to_overall"):
        assert 0.5 < power(**numbers, compare=compare) < 0.9


def test_sizes_of_the_exact_tests():
    assert required_sample_size(**RATE, rates=(0.3, 0.5)) == (95, 95)
    # power.prop.test: 93; the score test that is enumerated is within a few people of it.
    sizes = required_sample_size(**RATE, rates=(0.3, 0.5), method="asymptotic")
    assert 90 <= sizes[0] <= 97


def test_sizes_keep_their_proportions_and_their_power():
    sizes = required_sample_size(**RATE, rates=(0.3, 0.5), shares=(0.2, 0.8))
    assert sizes[1] == 4 * sizes[0]
    for size in range(sizes[0], sizes[0] + 10):
        assert power(**RATE, rates=(0.3, 0.5), n_per_group=(size, 4 * size)) >= 0.8
    assert power(**RATE, rates=(0.3, 0.5), n_per_group=(sizes[0] - 1, 4 * sizes[0] - 4)) < 0.8


def test_size_for_means_is_that_of_r():
    # power.t.test(power = .90, delta = 1): n = 22.02
    assert required_sample_size(metric="mean_prediction", rates=((0, 1), (1, 1)), power=0.9) == (23, 23)


@pytest.mark.slow
def test_size_for_equivalence_and_for_conditional_rates():
    numbers = {**RATE, "rates": (0.3, 0.3), "alternative": "equivalence", "margin": 0.8}
    sizes = required_sample_size(**numbers)
    assert power(**numbers, n_per_group=sizes) >= 0.8
    sizes = required_sample_size(metric=TPR, rates=(0.3, 0.9), base_rates=0.5)
    assert power(metric=TPR, rates=(0.3, 0.9), n_per_group=sizes, base_rates=0.5) >= 0.8


def test_size_of_several_groups():
    sizes = required_sample_size(**RATE, rates=(0.2, 0.6, 0.4))
    assert len(set(sizes)) == 1
    assert power(**RATE, rates=(0.2, 0.6, 0.4), n_per_group=sizes) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("direction", ["up", "down"])
def test_the_disparity_found_has_the_power_asked_for(direction):
    found = minimum_detectable_disparity(**RATE, baseline=0.3, n_per_group=(93, 70), power=0.7, direction=direction)
    assert (found > 0) == (direction == "up")
    assert power(**RATE, rates=(0.3 + found, 0.3), n_per_group=(93, 70)) == pytest.approx(0.7, abs=1e-4)


def test_the_direction_is_the_other_one_where_the_first_is_impossible():
    numbers = {**RATE, "baseline": 0.95, "n_per_group": (93, 93)}
    assert minimum_detectable_disparity(**numbers) < 0
    with pytest.raises(ValueError, match=r"power=0\.8 is not reached by any disparity \(up\)"):
        minimum_detectable_disparity(**numbers, direction="up")


def test_disparity_follows_alternative_and_margin():
    numbers = {**RATE, "baseline": 0.4, "n_per_group": (200, 200)}
    assert minimum_detectable_disparity(**numbers, alternative="less") < 0
    plain = minimum_detectable_disparity(**numbers, alternative="greater")
    with_margin = minimum_detectable_disparity(**numbers, alternative="greater", margin=0.1)
    assert with_margin == pytest.approx(plain + 0.1, abs=0.02)
    ratio = minimum_detectable_disparity(**numbers, disparity="ratio")
    assert ratio == pytest.approx(1 + minimum_detectable_disparity(**numbers) / 0.4, abs=1e-5)
    with pytest.raises(ValueError, match="direction='up' is not the direction of alternative='less'"):
        minimum_detectable_disparity(**numbers, alternative="less", direction="up")


def test_for_equivalence_it_is_the_largest_disparity_that_is_certified():
    numbers = {**RATE, "n_per_group": (25, 25), "alternative": "equivalence", "margin": 0.6}
    found = minimum_detectable_disparity(**numbers, baseline=0.3)
    assert 0 < found < 0.6
    assert power(**numbers, rates=(0.3 + found, 0.3)) == pytest.approx(0.8, abs=1e-3)
    with pytest.raises(ValueError, match="not reached by any disparity"):
        minimum_detectable_disparity(**{**numbers, "margin": 0.02}, baseline=0.3)


@pytest.mark.parametrize(
    ("method", "people", "size"), [("exact", 50, 0.0165174583), ("asymptotic", 10**6, 0.0992548957)]
)
def test_disparities_from_a_baseline_at_an_end_have_one_direction(method, people, size):
    numbers = {**RATE, "n_per_group": (people, people), "margin": 0.1, "alternative": "equivalence", "method": method}
    sizes = [minimum_detectable_disparity(**numbers, baseline=end) for end in (0.0, 1.0)]
    assert sizes == pytest.approx([size, -size], abs=1e-9)


ENDS = [
    {"margin": (None, 0.9), "compare": "to_reference", "reference_group": 0},
    {"margin": (-0.8, 0.9)},
    {"margin": (0.1, None), "disparity": "ratio", "compare": "to_reference", "reference_group": 0},
]


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_a_margin_of_two_ends_has_the_power_of_its_test(ends):
    n1, n2, rates = 4, 3, (0.8, 0.7)
    named = {**ends, "reference_group": "a"} if "reference_group" in ends else ends
    certified = 0.0
    for x1, x2 in np.ndindex(n1 + 1, n2 + 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # 0 against 0
            test = fitted(x1, n1, x2, n2, alternative="equivalence", **named)
        certified += binom.pmf(x1, n1, rates[0]) * binom.pmf(x2, n2, rates[1]) * (not test.concern_)
    found = power(**RATE, rates=rates, n_per_group=(n1, n2), alternative="equivalence", **ends)
    assert 0 < found == pytest.approx(certified, abs=1e-9)


def test_an_open_margin_is_looked_at_from_its_end():
    numbers = {**RATE, "alternative": "equivalence", "margin": (-0.6, None)}
    found = minimum_detectable_disparity(**numbers, baseline=0.5, n_per_group=(20, 20))
    assert -0.6 < found < 0
    assert power(**numbers, rates=(0.5 + found, 0.5), n_per_group=(20, 20)) == pytest.approx(0.8, abs=1e-3)
    with pytest.raises(ValueError, match="direction='up' is not the direction"):
        minimum_detectable_disparity(**numbers, baseline=0.5, n_per_group=(20, 20), direction="up")
    # Against the rest each of two groups is asked, so that the ends of one are those of the other, turned over.
    both = {**RATE, "rates": (0.5, 0.5), "n_per_group": (20, 20), "alternative": "equivalence"}
    rest = power(**both, compare="to_rest", margin=(-0.6, 0.7))
    assert rest == pytest.approx(power(**both, margin=0.6), abs=0.02)
    with pytest.raises(ValueError, match="with this margin needs a direction"):
        power(**{**both, "rates": (0.5,) * 3, "n_per_group": (20,) * 3}, margin=(-0.6, 0.7))


@pytest.mark.slow
def test_disparity_of_means_and_areas():
    found = minimum_detectable_disparity(metric="brier_score", baseline=(0.2, 0.3), n_per_group=(50, 60))
    rates = ((0.2 + found, 0.3), (0.2, 0.3))
    assert power(metric="brier_score", rates=rates, n_per_group=(50, 60)) == pytest.approx(0.8, abs=1e-4)
    numbers = {"metric": "roc_auc", "n_per_group": (200, 300), "base_rates": 0.4}
    found = minimum_detectable_disparity(**numbers, baseline=0.7)
    assert power(**numbers, rates=(0.7 + found, 0.7)) == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize(
    ("metric", "values"), [("mean_prediction", ((0.0, 1.0), (0.8, 1.5))), ("roc_auc", (0.7, 0.85))]
)
@pytest.mark.parametrize(
    "params",
    [
        {}, {"alternative": "less"}, {"margin": 0.05}, {"alternative": "equivalence", "margin": (-0.95, 0.95)},
        {"alternative": "equivalence", "margin": (-0.9, 0.6)}, {"alternative": "greater"},
    ],
)  # fmt: skip
def test_the_rest_of_two_groups_is_the_other_group(metric, values, params):
    numbers = {"metric": metric, "rates": values, "n_per_group": (140, 160)}
    numbers |= {"base_rates": 0.5} if metric == "roc_auc" else {}
    rest = power(**numbers, **params, compare="to_rest")
    ways = [power(**numbers, **params, compare="to_reference", reference_group=place) for place in (1, 0)]
    if params.get("alternative") == "equivalence":
        assert rest == pytest.approx(min(ways), abs=1e-3)
    elif "alternative" in params:  # each of two questions at half the level
        each = [
            power(**numbers, **params, compare="to_reference", reference_group=place, alpha=0.025) for place in (1, 0)
        ]
        assert rest == pytest.approx(sum(each))
    else:
        assert rest == pytest.approx(ways[0])


def test_ratio_of_means_and_certification_of_means():
    same = ((2.0, 0.5), (2.0, 0.5))
    numbers = {"metric": "mean_absolute_error", "rates": same, "n_per_group": (80, 80)}
    for test in ({"margin": 0.8, "disparity": "ratio"}, {"margin": 0.4}):
        assert power(**numbers, alternative="equivalence", **test) > 0.9
    assert power(**numbers, disparity="ratio") == pytest.approx(0.05, abs=1e-3)


def test_of_a_fitted_test_is_that_of_its_numbers():
    test = fitted(30, 93, 28, 70)
    found = minimum_detectable_disparity(test)
    assert found == pytest.approx(
        minimum_detectable_disparity(**RATE, baseline=28 / 70, n_per_group=(93, 70)), abs=1e-6
    )
    assert minimum_detectable_disparity(test, power=0.5, direction="down") < 0


def test_of_a_fitted_test_with_several_comparisons():
    rng = np.random.default_rng(0)
    groups = np.repeat(["a", "b", "c"], [120, 100, 80])
    y_true, y_pred = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    test = FairnessTest.from_predictions(y_true, y_pred, sensitive_features=groups)
    row = test.comparisons_.iloc[test._leading]
    by_group = test.by_group_.loc[row["metric"]]
    expected = minimum_detectable_disparity(
        metric=row["metric"],
        baseline=row["value_other"],
        n_per_group=[int(by_group.loc[row[side], "n_effective"]) for side in ("group", "other")],
        alpha=0.05 / 6,
    )
    assert minimum_detectable_disparity(test) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "params",
    [
        {"compare": "to_rest"},
        {"compare": "to_overall"},
        {"compare": "to_overall", "margin": 0.05, "people": 30},
        {"compare": "to_reference", "reference_group": "a"},
        {"alternative": "equivalence", "margin": 0.7, "people": 20},
        {"disparity": "ratio"},
        {"metric": "f1"},
        {"metric": "f1", "margin": 0.05},
        {"metric": "f1", "margin": 0.9, "disparity": "ratio"},
        {"method": "asymptotic"},
        {"method": "permutation", "n_resamples": 99},
        {"method": "bootstrap", "n_resamples": 99},
    ],
)
def test_every_fitted_test_has_one(params):
    rng = np.random.default_rng(1)
    params = {"metric": "selection_rate", "random_state": 0, "people": 90, **params}
    sizes = np.array([1.0, 0.8]) * params.pop("people")
    groups = np.repeat(["a", "b"], sizes.astype(int))
    y_true, y_pred = rng.integers(0, 2, (2, len(groups)))
    test = FairnessTest.from_predictions(y_true, y_pred, sensitive_features=groups, **params)
    found = minimum_detectable_disparity(test)
    null = 1 if params.get("disparity") == "ratio" else 0
    assert null < found < null + 1


def test_a_pickled_test_has_the_same_smallest_disparity():
    test = fitted(30, 93, 28, 70)
    assert minimum_detectable_disparity(pickle.loads(pickle.dumps(test))) == minimum_detectable_disparity(test)


def test_too_few_resamples_could_have_found_nothing():
    with pytest.warns(UserWarning, match="n_resamples=9"):
        test = fitted(30, 93, 28, 70, method="permutation", n_resamples=9, random_state=0)
    with pytest.raises(ValueError, match="has 9 resamples, too few for a p-value of"):
        minimum_detectable_disparity(test)


def test_an_audit_and_a_test_say_the_same_of_the_same_comparison():
    rng = np.random.default_rng(0)
    people = {"sensitive_features": np.repeat(["a", "b"], [150, 120])}
    y_true, y_pred = rng.integers(0, 2, (2, 270))
    for params in ({}, {"margin": 0.05}, {"disparity": "ratio"}):
        audit = FairnessAudit.from_predictions(y_true, y_pred, metrics="f1", **people, **params)
        test = FairnessTest.from_predictions(y_true, y_pred, metric="f1", **people, **params)
        both = [minimum_detectable_disparity(test, direction=way) for way in ("up", "down")]
        size = max(max(one, 1 / one) if "disparity" in params else abs(one) for one in both)
        assert audit.comparisons_["minimum_detectable"].item() == pytest.approx(size, rel=0.02)


def test_a_disparity_to_everyone_is_the_smaller_one():
    everyone, rest = (fitted(30, 93, 28, 70, compare=compare) for compare in ("to_overall", "to_rest"))
    share = 93 / 163 if everyone.comparisons_.iloc[everyone._leading]["group"] == "a" else 70 / 163
    found = minimum_detectable_disparity(everyone)
    assert found == pytest.approx((1 - share) * minimum_detectable_disparity(rest), abs=1e-6)


NUMBERS = {"metric": "selection_rate", "rates": (0.3, 0.5), "n_per_group": (50, 50)}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_resamples": 9}, "n_resamples: not a parameter that power depends on; these are compare"),
        ({"metric": "balanced_accuracy"}, "'balanced_accuracy' has no power computation; it exists for rates"),
        ({"metric": "nonsense"}, "nonsense"),
        ({"metric": ["true_positive_rate", "precision"]}, "conditions are not complementary"),
        ({"metric": "equalized_odds"}, "rates must be a dict for metric='equalized_odds'"),
        ({"rates": {"precision": (0.1, 0.2)}}, "a dict with the keys selection_rate; found precision"),
        ({"rates": 0.3}, "one value per group, at least two; found 0.3"),
        ({"rates": (0.3, 1.5)}, "between 0 and 1 for metric='selection_rate'; found 1.5"),
        ({"rates": (0.3, 0.5, 0.5)}, "found 3 and 2"),
        ({"n_per_group": 50}, "n_per_group must be a sequence of integers"),
        ({"n_per_group": (50, 1)}, "integers from 2 to 10,000,000,000, one per group; found 1"),
        ({"base_rates": 0.5}, "which counts everyone"),
        ({"base_rates": (0.5, 0.5, 0.5)}, "found 3 for 2 groups"),
        ({"metric": TPR, "base_rates": 0}, "above 0 and at most 1; found 0"),
        ({"alpha": 5}, "alpha must be a number between 0 and 1; found 5"),
        ({"alpha": 0.1, "confidence_level": 0.95}, "is not 1 - confidence_level"),
        ({"method": "permutation"}, "method='permutation' has no power without data"),
        ({"method": "bootstrap"}, "method='bootstrap' has no power without data"),
        ({"adjust": "max_t"}, "adjust must be one of"),
        ({"alternative": "equivalence"}, "margin is missing"),
        ({"alternative": "sideways"}, "alternative must be one of"),
        ({"compare": "to_reference", "reference_group": "a"}, "a position in n_per_group, counted from 0; found 'a'"),
        ({"compare": "to_reference", "reference_group": 2}, "not a position in 2 groups"),
        ({"reference_group": 1, "compare": "to_rest"}, "only used with compare='to_reference'"),
        ({"metric": "f1", "margin": 0.1}, "'jaccard' for F1"),
        ({"metric": "mean_prediction"}, r"must be pairs \(mean, standard deviation"),
        ({"metric": "mean_prediction", "method": "exact"}, "method='exact' is for rates"),
        ({"metric": "roc_auc"}, "base_rates is needed for metric='roc_auc'"),
        ({"metric": "roc_auc", "rates": (0.5, 1.0)}, "strictly between 0 and 1"),
        (
            {"metric": "roc_auc", "compare": "to_overall"},
            "has no power computation for metric='roc_auc': use 'to_rest'",
        ),
        (
            {"metric": "mean_prediction", "rates": ((0.3, 1.0),) * 3, "n_per_group": (9,) * 3},
            "'mean_prediction' of 3 groups has no power computation: give two groups, with alpha divided",
        ),
        (  # all comparisons have to be shown, each at alpha
            {
                "metric": "mean_prediction",
                "rates": ((0.3, 1.0),) * 3,
                "n_per_group": (9,) * 3,
                "alternative": "equivalence",
                "margin": 0.5,
            },
            "'mean_prediction' of 3 groups has no power computation: give two groups, with alpha as it is",
        ),
        ({"rates": (0.3,) * 3, "n_per_group": (9,) * 3, "alternative": "less"}, "do not have: use compare="),
    ],
)
def test_bad_input_is_named(changed, message):
    with pytest.raises(ValueError, match=message):
        power(**{**NUMBERS, **changed})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"rates": (0.3, 0.3)},
            "no power at any size: alternative='two-sided' needs a disparity other than 0; found 0",
        ),
        ({"alternative": "greater"}, "needs a disparity above 0; found -0.2"),
        ({"margin": 0.3}, "a disparity above 0.3 or below -0.3; found -0.2"),
        ({"margin": 0.1, "alternative": "equivalence"}, "every disparity above -0.1 and below 0.1; found -0.2"),
        ({"power": 80}, "power must be a number between 0 and 1; found 80"),
        ({"shares": (1, 0)}, "shares must be positive numbers; found 0"),
        ({"shares": (1, 2, 3)}, "one proportion for each of 2 groups"),
        ({"rates": (0.3, 0.300001)}, "more than 100 million people"),
    ],
)
def test_sizes_that_do_not_exist_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        required_sample_size(**{"metric": "selection_rate", "rates": (0.3, 0.5), **changed})


def test_bad_input_of_detectable_disparities():
    with pytest.raises(ValueError, match="metric is missing: give a fitted test, or"):
        minimum_detectable_disparity()
    with pytest.raises(NotFittedError):
        minimum_detectable_disparity(FairnessTest())
    with pytest.raises(ValueError, match="test must be a fitted FairnessTest, found str"):
        minimum_detectable_disparity("selection_rate")
    with pytest.raises(ValueError, match="metric cannot be given together with a fitted test"):
        minimum_detectable_disparity(fitted(3, 9, 4, 9), metric="precision")
    with pytest.raises(ValueError, match="direction must be one of 'auto', 'up', 'down'; found 'left'"):
        minimum_detectable_disparity(**RATE, baseline=0.3, n_per_group=(9, 9), direction="left")
    with pytest.raises(ValueError, match=r"several rates.*alpha=0\.025"):
        minimum_detectable_disparity(metric="equalized_odds", baseline=0.3, n_per_group=(9, 9))
    y_pred, groups = [1, 0] * 20, ["a"] * 20 + ["b"] * 20
    test = FairnessTest.from_predictions(
        None, y_pred, sensitive_features=groups, control_features=[1, 1, 2, 2] * 10, metric="selection_rate"
    )
    with pytest.raises(ValueError, match="control features"):
        minimum_detectable_disparity(test)


def test_functions_with_a_twin_are_known_by_its_name():
    numbers = {"rates": (0.7, 0.8), "n_per_group": (200, 300), "base_rates": 0.3}
    assert power(metric=roc_auc_score, **numbers) == power(metric="roc_auc", **numbers)


def test_large_samples_of_means_are_found_always():
    assert power(metric="log_loss", rates=((0.0, 1.0), (5.0, 1.0)), n_per_group=(10_000, 10_000)) == 1.0


def test_equivalence_to_everyone_reaches_further_than_to_the_rest():
    numbers = {**RATE, "baseline": 0.3, "n_per_group": (25, 25), "alternative": "equivalence", "margin": 0.6}
    rest = minimum_detectable_disparity(**numbers, compare="to_rest")
    assert minimum_detectable_disparity(**numbers, compare="to_overall") > rest


def test_a_fitted_test_has_the_smallest_disparity_of_its_fit_whatever_is_set_later():
    test = fitted(30, 93, 28, 70)
    found = minimum_detectable_disparity(test)
    test.set_params(
        metric="roc_auc", disparity="ratio", alternative="less", confidence_level=0.5, compare="to_overall", adjust=None
    )
    assert minimum_detectable_disparity(test) == found


@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2, 163)])
def test_a_rate_that_is_always_compared_by_its_ratio_has_a_smallest_ratio(weight):
    groups, y_pred = np.repeat(["a", "b"], [93, 70]), np.repeat([1, 0, 1, 0], [30, 63, 28, 42])
    people = {"sensitive_features": groups, "sample_weight": weight, "random_state": 0, "n_resamples": 99}
    ratio = FairnessTest.from_predictions(None, y_pred, metric="selection_rate", disparity="ratio", **people)
    own = FairnessTest.from_predictions(None, y_pred, metric=Rate("own", "y_pred", disparity="ratio"), **people)
    assert minimum_detectable_disparity(own) == minimum_detectable_disparity(ratio) > 1


def test_everybody_else_may_have_a_value_that_none_of_their_groups_has():
    rng = np.random.default_rng(0)
    y_true = np.r_[rng.integers(0, 2, 40), np.ones(20, dtype=int), np.zeros(20, dtype=int)]
    groups = np.repeat(["a", "b", "c"], [40, 20, 20])
    with pytest.warns(UndefinedMetricWarning, match="roc_auc of b is undefined"):
        test = FairnessTest.from_predictions(
            y_true, rng.random(80), sensitive_features=groups, metric="roc_auc", compare="to_rest", n_resamples=99,
            random_state=0,
        )  # fmt: skip
    assert test.comparisons_["group"].tolist() == ["a"]
    # Of the normal approximation: 1.96 + 0.84 standard errors.
    expected = 2.8016 * test.comparisons_["standard_error"].item()
    assert minimum_detectable_disparity(test) == pytest.approx(expected, rel=1e-3)
