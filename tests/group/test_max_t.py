"""The joint distribution of several comparisons: enumerated where it can be, drawn where it cannot."""

import numpy as np
import pytest

from skfairtest import CountTable, FairnessTest

TWO = {"a": (40, 22, 9, 31), "b": (30, 30, 16, 24)}


def score(x1, d1, x2, d2):
    """The score statistic, written out once more."""
    pooled = (x1 + x2) / (d1 + d2)
    return (x1 / d1 - x2 / d2) / np.sqrt(pooled * (1 - pooled) * (1 / d1 + 1 / d2))


def brute_force(groups, n_resamples=400_000, seed=0):
    """Adjusted p-values of TPR and FPR by permuting the groups within each true label: 1 - and step-down."""
    rng = np.random.default_rng(seed)
    (tn1, fp1, fn1, tp1), (tn2, fp2, fn2, tp2) = groups["a"], groups["b"]
    observed, drawn = [], []
    for x1, d1, x2, d2 in [(tp1, tp1 + fn1, tp2, tp2 + fn2), (fp1, fp1 + tn1, fp2, fp2 + tn2)]:
        observed.append(abs(score(x1, d1, x2, d2)))
        x = rng.hypergeometric(x1 + x2, d1 + d2 - x1 - x2, d1, n_resamples)
        drawn.append(np.abs(score(x, d1, x1 + x2 - x, d2)))
    observed, drawn = np.array(observed), np.array(drawn)
    first = int(np.argmax(observed))
    adjusted = np.empty(2)
    adjusted[first] = (drawn.max(axis=0) >= observed[first] - 1e-9).mean()
    adjusted[1 - first] = max(adjusted[first], (drawn[1 - first] >= observed[1 - first] - 1e-9).mean())
    return adjusted


def test_equalized_odds_of_two_groups_is_enumerated(confused):
    test = FairnessTest.from_table(confused(TWO), adjust="max_t")
    assert test.n_resamples_ == 0
    assert test.null_distribution_ is None
    assert test.adjust_ == "max_t"
    assert test.p_value_interval_ == (test.p_value_, test.p_value_)


@pytest.mark.parametrize(
    "groups", [TWO, {"a": (40, 5, 9, 31), "b": (30, 17, 16, 24)}, {"a": (8, 2, 1, 9), "b": (4, 6, 6, 4)}]
)
def test_the_enumerated_law_is_that_of_a_brute_force_permutation(confused, groups):
    rows = FairnessTest.from_table(confused(groups), adjust="max_t").comparisons_
    expected = brute_force(groups)
    error = 4 * np.sqrt(expected * (1 - expected) / 400_000)
    # The joint distribution may not undercut a comparison's own exact p-value.
    expected = np.maximum(expected, rows["p_value"])
    assert (np.abs(rows["p_value_adjusted"] - expected) <= error + 1e-9).all()


def test_the_joint_law_never_undercuts_a_comparisons_own_p_value(confused):
    rng = np.random.default_rng(6)
    for _ in range(20):
        groups = {name: tuple(int(v) for v in rng.integers(1, 30, 4)) for name in "ab"}
        rows = FairnessTest.from_table(confused(groups), adjust="max_t").comparisons_
        assert (rows["p_value_adjusted"] >= rows["p_value"] * (1 - 1e-12)).all()


@pytest.mark.parametrize(
    "groups",
    [
        {"a": (20, 10, 20, 10), "b": (20, 10, 20, 10)},  # both rates equal
        {"a": (20, 10, 20, 10), "b": (20, 10, 10, 20)},  # one rate equal
        {"a": (20, 0, 0, 10), "b": (20, 0, 0, 10)},  # no error at all
    ],
)
def test_equal_rates_have_an_adjusted_p_value_of_1(confused, groups):
    rows = FairnessTest.from_table(confused(groups), adjust="max_t").comparisons_
    equal = rows["disparity"] == 0
    assert (rows.loc[equal, "p_value_adjusted"] == 1).all()
    assert (rows.loc[~equal, "p_value_adjusted"] < 0.05).all()


def test_a_single_comparison_has_nothing_to_adjust_for(selected):
    for groups in ({"a": (5, 20), "b": (14, 20)}, {"a": (5, 10), "b": (10, 20)}):
        test = FairnessTest.from_table(selected(groups), metric="selection_rate", adjust="max_t")
        plain = FairnessTest.from_table(selected(groups), metric="selection_rate")
        assert test.p_value_ == pytest.approx(plain.p_value_, rel=1e-9)
        assert test.n_resamples_ == 0


def test_tiny_p_values_survive_the_product(confused):
    table = confused({"a": (100_000, 900_000, 900_000, 100_000), "b": (500_000, 500_000, 500_000, 500_000)})
    test = FairnessTest.from_table(table, adjust="max_t")
    assert 0 < test.p_value_ < 1e-300
    assert (test.comparisons_["p_value_adjusted"] > 0).all()


def test_enumeration_does_not_depend_on_what_can_be_drawn(confused):
    # Two groups of a billion people: nothing needs to be drawn.
    half = 500_000_000
    table = confused({"a": (half, half, half, half), "b": (half, half, half, half - 10_000)})
    test = FairnessTest.from_table(table, adjust="max_t")
    assert test.n_resamples_ == 0
    assert 0 < test.p_value_ <= 1


def test_several_groups_are_drawn_and_the_draws_are_kept(confused):
    table = confused({**TWO, "c": (25, 25, 20, 20)})
    test = FairnessTest.from_table(table, adjust="max_t", n_resamples=499, random_state=0)
    assert test.n_resamples_ == 499
    assert test.null_distribution_.shape == (499, len(test.comparisons_)) == (499, 6)
    low, high = test.p_value_interval_
    assert low <= test.p_value_ <= high
    assert high - low < 0.15


@pytest.mark.parametrize("method", ["auto", "permutation"])
@pytest.mark.parametrize(
    "metric", [["true_positive_rate", "precision"], ["true_positive_rate", "precision", "accuracy"]]
)
def test_the_monte_carlo_interval_holds_the_p_value_for_rates_on_different_conditions(confused, metric, method):
    # Conditioned differently the rates share no distribution: blocks are drawn apart and combined by Bonferroni.
    table = confused({"a": (30, 10, 8, 20), "b": (25, 14, 12, 14), "c": (40, 20, 9, 30)})
    test = FairnessTest.from_table(
        table, metric=metric, adjust="max_t", method=method, n_resamples=1999, random_state=0
    )
    low, high = test.p_value_interval_
    assert low <= test.p_value_ <= high
    own = test.comparisons_["p_value"]
    assert (test.comparisons_["p_value_adjusted"] >= own - 1e-12).all()


def test_with_strata_the_joint_law_is_drawn(berkeley_table):
    test = FairnessTest.from_table(
        berkeley_table, metric="selection_rate", adjust="max_t", n_resamples=999, random_state=0
    )
    rows = test.comparisons_.set_index("stratum")
    assert rows.index[rows["concern"]].tolist() == ["A"]
    assert (rows["p_value_adjusted"] >= rows["p_value"] - 1e-12).all()
    plain = FairnessTest.from_table(berkeley_table, metric="selection_rate").p_value_
    assert test.p_value_ == pytest.approx(plain, abs=0.05)


@pytest.mark.parametrize(
    "params",
    [
        {"alternative": "less"},
        {"alternative": "greater"},
        {"method": "asymptotic"},
        {"method": "permutation"},
        {"method": "bootstrap"},
        {"compare": "to_rest"},
        {"compare": "to_overall", "alternative": "less"},
        {"compare": "to_reference", "reference_group": "Male"},
        {"variance": None, "within": None},
    ],
)
def test_strata_have_a_joint_law_in_every_setting(berkeley_table, params):
    rows = FairnessTest.from_table(
        berkeley_table, metric="selection_rate", adjust="max_t", n_resamples=199, random_state=0, **params
    ).comparisons_
    assert (rows["p_value_adjusted"] >= rows["p_value"] - 1e-12).all()
    assert (rows["p_value_adjusted"] <= 1).all()


@pytest.mark.slow
def test_under_the_joint_null_the_level_holds():
    # Five groups of unequal size with one rate; a valid test with 99 resamples rejects exactly 5% or less.
    rng = np.random.default_rng(11)
    sizes = np.array([10, 15, 20, 30, 60])
    repetitions, rejections = 300, 0
    for _ in range(repetitions):
        events = rng.binomial(sizes, 0.3)
        table = CountTable(
            np.stack([sizes - events, events], axis=1)[None],
            groups=[(g,) for g in range(5)],
            cells=[(0,), (1,)],
            sensitive_names=["g"],
            cell_names=["y_pred"],
        )
        test = FairnessTest.from_table(
            table, metric="selection_rate", adjust="max_t", method="permutation", n_resamples=99, random_state=rng
        )
        rejections += test.rejected_
    assert rejections / repetitions <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / repetitions)


@pytest.mark.parametrize("variance", ["score", "delta", None])
def test_intervals_are_simultaneous_whatever_studentizes(selected, variance):
    table = selected({"a": (50, 100), "b": (55, 100), "c": (20, 80)})
    params = {"metric": "selection_rate", "method": "permutation", "variance": variance, "random_state": 0}
    joint = FairnessTest.from_table(table, adjust="max_t", **params).comparisons_
    alone = FairnessTest.from_table(table, adjust=None, **params).comparisons_
    assert (joint["ci_low"] < alone["ci_low"]).all()
    assert (joint["ci_high"] > alone["ci_high"]).all()


def test_infinite_statistics_do_not_break_the_intervals(selected):
    table = selected({"a": (0, 4), "b": (4, 4), "c": (2, 5)})
    for disparity in ("difference", "ratio"):
        rows = FairnessTest.from_table(
            table, metric="selection_rate", method="permutation", variance="delta", adjust="max_t",
            disparity=disparity, random_state=0,
        ).comparisons_  # fmt: skip
        assert (rows["ci_low"] <= rows["disparity"]).all()
        assert (rows["disparity"] <= rows["ci_high"]).all()
