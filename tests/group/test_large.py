"""People by the billion, p-values far below the smallest float, means far from zero, and very few people.

Expected p-values are those of the normal distribution; beside a group of 1,000 those of the binomial distribution.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest, norm
from sklearn.linear_model import Ridge

from skfairtest import (
    AdjustedFairnessTest,
    CorrelationFairnessTest,
    CountTable,
    FairnessTest,
    PairedFairnessTest,
    SubgroupScan,
    minimum_detectable_disparity,
)
from skfairtest.inference._discrete import hypergeometric_log_pmf
from skfairtest.inference.conditional import conditional_log_p, mode_of

SIZES = (2_150_000_000, 5_000_000_000, 10**12, 2**60)


def selection(counts, **params):
    cells = {(g, y): n for g, (x, d) in zip("ab", counts, strict=True) for y, n in ((1, x), (0, d - x))}
    table = CountTable.from_counts(cells, names=("g", "y"), y_pred="y", sensitive_features="g")
    return FairnessTest.from_table(table, metric="selection_rate", **params)


def apart(n, z):
    """Half of n people, and so many more that the difference is z standard errors."""
    return n // 2 + round(z * np.sqrt(n / 2)), n // 2


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("disparity", ["difference", "ratio", "odds_ratio"])
@pytest.mark.parametrize(("alternative", "tails"), [("two-sided", 2), ("greater", 1)])
def test_the_p_value_of_billions_is_normal(n, disparity, alternative, tails):
    x1, x2 = apart(n, 5)
    test = selection([(x1, n), (x2, n)], disparity=disparity, alternative=alternative)
    assert test.p_value_ == pytest.approx(tails * norm.sf(test.statistic_), rel=0.002)
    assert test.statistic_ == pytest.approx(5, abs=1e-3)
    assert test.confidence_interval_[0] > (0 if disparity == "difference" else 1)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("disparity", "margin"), [("difference", 0.01), ("ratio", 0.9), ("odds_ratio", 0.9)])
def test_a_margin_of_billions_is_tested(n, disparity, margin):
    x1, x2 = apart(n, 5)
    test = selection([(x1, n), (x2, n)], disparity=disparity, alternative="equivalence", margin=margin)
    assert not test.concern_


@pytest.mark.parametrize("n", SIZES)
def test_few_people_beside_billions_keep_their_exact_test(n):
    test = selection([(n // 2, n), (600, 1000)])
    assert test.method_ == "exact"
    assert test.p_value_ == pytest.approx(binomtest(600, 1000, 0.5).pvalue, rel=1e-3)
    rare = selection([(20, n), (5, n)], alternative="greater")  # of 25 events 20 or more
    assert rare.p_value_ == pytest.approx(binom.sf(19, 25, 0.5), rel=1e-6)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("disparity", ["difference", "odds_ratio"])
def test_strata_of_billions_are_tested(n, disparity):
    x1, x2 = apart(n, 4)
    cells = {(s, g, y): m for s in "xyz" for g, x in (("a", x1), ("b", x2)) for y, m in ((1, x), (0, n - x))}
    table = CountTable.from_counts(
        {key: m // 2 for key, m in cells.items()},
        names=("s", "g", "y"), y_pred="y", sensitive_features="g", control_features="s",
    )  # fmt: skip
    test = FairnessTest.from_table(table, metric="selection_rate", disparity=disparity)
    assert test.p_value_ == pytest.approx(2 * norm.sf(test.statistic_), rel=0.002)
    assert test.statistic_ == pytest.approx(4 * np.sqrt(3 / 2), rel=1e-3)
    assert test.homogeneity_["p_value"].iloc[0] == pytest.approx(1, abs=1e-4)


def test_two_models_on_billions_are_compared():
    n = 2**58
    more = round(3 * np.sqrt(n))
    cells = {(g, a, b): n + more * (g == "b" and a > b) for g in "ab" for a in (0, 1) for b in (0, 1)}
    table = CountTable.from_counts(cells, names=("g", "a", "b"), y_pred_a="a", y_pred_b="b", sensitive_features="g")
    test = PairedFairnessTest.from_table(table, metric="selection_rate")
    assert test.p_value_ == pytest.approx(2 * norm.sf(abs(test.statistic_)), rel=1e-6)


def test_integers_keep_their_last_digits():
    # Of 2**61 + 1 people all but 7 show the event; of 9 others 4: nearly binomial among the 12 who do not.
    d1, d2 = 2**61 + 1, 9
    m = d1 - 7 + 4
    assert mode_of(d1, d2, np.array([m]))[0] == (m + 1) * (d1 + 1) // (d1 + d2 + 2)
    # Equally many on both sides are not evidence, one more is next to none.
    half = np.array([2**60])
    assert conditional_log_p(half, 2 * half, half, 2 * half)[0] == 0
    # C(9, 4) C(d1, 7) / C(d1 + 9, 12), in logarithms of factorials that nearly cancel: log(126 * 12! / 7! / d1**5).
    expected = np.log(126) + np.log(np.arange(8, 13)).sum() - 5 * np.log(float(d1))
    assert hypergeometric_log_pmf(d1 - 7, d1, d2, m) == pytest.approx(expected, rel=1e-12)


def test_what_is_too_much_is_refused_in_words():
    n, largest = 10**12, 2**61
    cells = {(g, y, p): n + 5 * 10**6 * (g == "a" and y == p) for g in "ab" for y in (0, 1) for p in (0, 1)}
    table = CountTable.from_counts(cells, names=("g", "y", "p"), y_true="y", y_pred="p", sensitive_features="g")
    rows = pd.DataFrame([("a", 1), ("a", 0), ("b", 1), ("b", 0)], columns=["g", "p"])
    read = {"count": "n", "y_pred": "p", "sensitive_features": "g"}
    full = CountTable.from_counts(rows.assign(n=largest // 2), **read)
    assert FairnessTest.from_table(full, metric="selection_rate").p_value_ == 1
    scores = pd.DataFrame(np.indices((2, 2, 2)).reshape(3, -1).T, columns=["g", "y", "s"]).assign(n=10**9)
    scores["s"] += 1
    areas = CountTable.from_counts(scores, count="n", y_true="y", y_score="s", sensitive_features="g")
    assert FairnessTest.from_table(areas, metric="roc_auc").method_ == "score"
    for work, told in (
        (lambda: selection([(n // 3, n), (n // 2, n)], method="exact"), "people"),
        (lambda: selection([(n // 3, n), (n // 2, n)], method="permutation"), "fewer than 1,000,000,000 people, found"),
        (lambda: FairnessTest.from_table(areas, metric="roc_auc", method="permutation"), r"fewer than.*asymptotic"),
        (
            lambda: FairnessTest.from_table(table, metric=lambda y, p: float(np.mean(y == p))),
            "table counts 4,000,0.* people, and what needs a row for each takes at most 100,000,000",
        ),
        (lambda: CountTable.from_counts(rows.assign(n=largest), **read), r"table counts .* people, and at most 4.612e"),
        (lambda: full.merge(full, full), r"table counts .* people, and at most 4.612e\+18"),
    ):
        with pytest.raises(ValueError, match=told):
            work()


@pytest.mark.parametrize("n", [10**12, 2**60])
def test_the_smallest_disparity_that_billions_detect_is_normal(n):
    test = selection([(n // 2, n), (n // 2, n)])
    # Two rates of 1/2: (1.96 + .8416) standard errors of their difference.
    expected = (norm.isf(0.025) + norm.isf(0.2)) * np.sqrt(0.5 / n)
    assert minimum_detectable_disparity(test) == pytest.approx(expected, rel=1e-3)


def test_billions_are_resampled_in_groups():
    asked = {"method": "bootstrap", "n_resamples": 999, "random_state": 0}
    boot = selection([(3 * 10**8, 10**9), (300_020_000, 10**9)], **asked)
    assert boot.p_value_ == pytest.approx(0.329, abs=0.06)  # 20,000 in a billion are z = .976


def test_no_p_value_is_0(compas, confused):
    # ProPublica: 805 of 1795 Black and 349 of 1488 white people who did not reoffend.
    races = compas.sensitive_features["race"].isin(["African-American", "Caucasian"])
    test = FairnessTest.from_predictions(
        compas.y_true[races],
        compas.y_pred[races],
        sensitive_features=compas.sensitive_features.loc[races, "race"],
        metric="false_positive_rate",
    )
    assert test.disparity_ == pytest.approx(805 / 1795 - 349 / 1488, rel=1e-12)
    assert 0 < test.p_value_ < 1e-30
    assert f"{test.p_value_:.1e}" in str(test)
    table = confused({"a": (90_000, 10_000, 20_000, 80_000), "b": (10_000, 90_000, 80_000, 20_000)})
    for adjust in ("holm", "bonferroni", "fdr_bh", None):
        test = FairnessTest.from_table(table, adjust=adjust)
        assert test.p_value_ > 0
        assert (test.comparisons_["p_value_adjusted"] > 0).all()
    assert "<1e-300" in str(test).replace("< 1e-300", "<1e-300")


def test_few_people_have_p_values_that_can_be_checked_by_hand(selected):
    # 0 of 2 against 2 of 2: the outcomes {0,2} and {2,0}; P = 2 p^2 (1 - p)^2, largest at p = 1/2.
    test = FairnessTest.from_table(selected({"a": (0, 2), "b": (2, 2)}), metric="selection_rate")
    assert test.p_value_ == pytest.approx(1 / 8, rel=1e-5)
    one_sided = FairnessTest.from_table(
        selected({"a": (0, 2), "b": (2, 2)}), metric="selection_rate", alternative="less"
    )
    assert one_sided.p_value_ == pytest.approx(1 / 16, rel=1e-5)


def test_a_group_of_one_person_in_the_condition_can_be_compared(confused):
    table = confused({"a": (5, 5, 0, 1), "b": (5, 5, 9, 0)})
    test = FairnessTest.from_table(table, metric="true_positive_rate")
    assert test.disparity_ == 1.0
    # Boschloo: the outcomes (1, 0) and (0, 9): p (1-p)^9 + (1-p) p^9, and its maximum.
    p = np.linspace(0, 1, 100_001)
    assert test.p_value_ == pytest.approx((p * (1 - p) ** 9 + (1 - p) * p**9).max(), rel=1e-5)
    assert test.by_group_["small"].all()


# Means far from zero --------------------------------------------------------------------------------------------------

N = 240
GROUP = np.repeat(["a", "b"], [90, 150])
THREE, STRATUM = np.array(["a", "b", "c"])[np.arange(N) % 3], np.tile(["p", "q"], N // 2)
RNG = np.random.default_rng(7)
VALUE, OTHER, COVARIATE = RNG.normal(size=(3, N)) * 0.3
VALUE = VALUE + (GROUP == "a") / 8
COVARIATE = COVARIATE + VALUE
CLUSTERS, WEIGHTS = np.arange(N) // 3, 1.0 + np.arange(N) % 3 + 0.37 * (np.arange(N) % 5)
DRAWN = {"random_state": 0, "n_resamples": 99}


def means(**params):
    fixed = {"sensitive_features": GROUP, "metric": "mean_prediction"} | DRAWN
    return lambda value, other, covariate: FairnessTest.from_predictions(None, value, **(fixed | params))


def of_errors(metric):
    return lambda value, other, covariate: FairnessTest.from_predictions(
        other, value, sensitive_features=GROUP, metric=metric, **DRAWN
    )


def of_models(**params):
    return lambda value, other, covariate: PairedFairnessTest.from_predictions(
        None, other, value, sensitive_features=GROUP, metric="mean_prediction", **DRAWN, **params
    )


def correlation(**params):
    return lambda value, other, covariate: CorrelationFairnessTest.from_predictions(
        None, value, of="prediction", sensitive_features=covariate, **DRAWN, **params
    )


def adjusted(of, columns):
    return lambda value, other, covariate: AdjustedFairnessTest.from_predictions(
        other, value, of=of, sensitive_features=GROUP, random_state=0, outcome_model=Ridge(), group_model=Ridge(),
        covariates=np.stack([covariate, other][:columns], axis=1),
    )  # fmt: skip


def whole(numbers):
    """Whole numbers, at most a few hundred apart, are labels of a table."""
    return np.round(8 * (numbers - numbers.min())) + np.round(numbers.min())


CASES = {
    "means": means(),
    "by t": means(method="asymptotic"),
    "bootstrap": means(method="bootstrap"),
    "bootstrap variance": means(variance="bootstrap"),
    "strata": means(control_features=STRATUM),
    "weights": means(sample_weight=WEIGHTS),
    "weights in strata": means(sample_weight=WEIGHTS, control_features=STRATUM, method="asymptotic"),
    "clusters": means(clusters=CLUSTERS),
    "whole clusters": means(clusters=np.r_[CLUSTERS[:90], 100 + CLUSTERS[90:]], sample_weight=WEIGHTS),
    "margin": means(alternative="equivalence", margin=0.3),
    "overall": means(sensitive_features=THREE, compare="to_overall"),
    "residuals": of_errors("mean_residual"),
    "errors": of_errors("mean_absolute_error"),
    "two models": of_models(),
    "two models, weights": of_models(sample_weight=WEIGHTS),
    "two models, clusters": of_models(clusters=CLUSTERS),
    "correlation": correlation(),
    "correlation in strata": correlation(control_features=STRATUM),
    "ranks": correlation(correlation="spearman"),
    "adjusted": adjusted("prediction", 1),
    "adjusted for two": adjusted("prediction", 2),
    "adjusted residuals": adjusted("residual", 1),
    "scan": lambda value, other, covariate: SubgroupScan.from_predictions(
        None, value, sensitive_features=pd.DataFrame({"sex": GROUP, "race": THREE}), metric="mean_prediction", **DRAWN
    ),
    "table": lambda value, other, covariate: FairnessTest.from_table(
        CountTable.from_predictions(None, whole(value), sensitive_features=GROUP), metric="mean_prediction", **DRAWN
    ),
}


@pytest.mark.parametrize("offset", [1e6, -1e11, 1e15])
@pytest.mark.parametrize("name", CASES)
def test_a_common_offset_changes_nothing(name, offset):
    """The numbers are those that floats far from 0 hold: subtracting the offset from these is exact."""
    far = VALUE + offset, OTHER + offset, COVARIATE + offset
    test, moved = CASES[name](*(numbers - offset for numbers in far)), CASES[name](*far)
    assert moved.p_value_ == pytest.approx(test.p_value_, rel=1e-9)
    assert moved.disparity_ == pytest.approx(test.disparity_, rel=1e-9)
    assert moved.confidence_interval_ == pytest.approx(test.confidence_interval_, rel=1e-9)
    names = [name for name in ("standard_error", "statistic", "p_value", "ci_high") if name in test.comparisons_]
    assert moved.comparisons_[names].to_numpy(float) == pytest.approx(
        test.comparisons_[names].to_numpy(float), rel=1e-9, nan_ok=True
    )
