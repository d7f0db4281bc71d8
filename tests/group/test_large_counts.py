"""Counts of up to 2**62 people: no product overflows, no integer loses its last digits, nothing is as long as the data.

Expected p-values are those of the normal distribution; beside a group of 1,000 those of the binomial distribution.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest, norm

from skfairtest import CountTable, FairnessTest, PairedFairnessTest, minimum_detectable_disparity
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


def test_what_is_too_much_to_enumerate_is_refused_in_words():
    x1, x2 = apart(10**12, 10)
    for method in ("exact", "permutation"):
        with pytest.raises(ValueError, match="people"):
            selection([(x1, 10**12), (x2, 10**12)], method=method)


def test_integers_keep_their_last_digits():
    # Of 2**61 + 1 people all but 7 show the event; of 9 others 4: nearly binomial among the 12 who do not.
    d1, d2 = 2**61 + 1, 9
    m = d1 - 7 + 4
    assert mode_of(d1, d2, np.array([m]))[0] == (m + 1) * (d1 + 1) // (d1 + d2 + 2)
    # Equally many on both sides are no evidence, one more is next to none.
    half = np.array([2**60])
    assert conditional_log_p(half, 2 * half, half, 2 * half)[0] == 0
    # C(9, 4) C(d1, 7) / C(d1 + 9, 12), in logarithms of factorials that nearly cancel: log(126 * 12! / 7! / d1**5).
    expected = np.log(126) + np.log(np.arange(8, 13)).sum() - 5 * np.log(float(d1))
    assert hypergeometric_log_pmf(d1 - 7, d1, d2, m) == pytest.approx(expected, rel=1e-12)


def test_what_needs_a_row_for_each_of_billions_is_refused_in_words():
    n, more = 10**12, 5 * 10**6
    cells = {(g, y, p): n + more * (g == "a" and y == p) for g in "ab" for y in (0, 1) for p in (0, 1)}
    table = CountTable.from_counts(cells, names=("g", "y", "p"), y_true="y", y_pred="p", sensitive_features="g")
    for work, told in (
        (table.expand, "table counts 8,000,0.* people, and what needs a row for each takes at most 100,000,000"),
        (lambda: FairnessTest.from_table(table, metric=lambda y, p: float(np.mean(y == p))), "a row for each"),
    ):
        with pytest.raises(ValueError, match=told):
            work()


@pytest.mark.parametrize("n", [10**12, 2**60])
def test_the_smallest_disparity_that_billions_detect_is_normal(n):
    test = selection([(n // 2, n), (n // 2, n)])
    # Two rates of 1/2: (1.96 + .8416) standard errors of their difference.
    expected = (norm.isf(0.025) + norm.isf(0.2)) * np.sqrt(0.5 / n)
    assert minimum_detectable_disparity(test) == pytest.approx(expected, rel=1e-3)


def test_more_people_than_whole_numbers_hold_are_refused():
    largest = 2**61
    rows = pd.DataFrame([("a", 1), ("a", 0), ("b", 1), ("b", 0)], columns=["g", "p"])
    read = {"count": "n", "y_pred": "p", "sensitive_features": "g"}
    table = CountTable.from_counts(rows.assign(n=largest // 2), **read)
    assert FairnessTest.from_table(table, metric="selection_rate").p_value_ == 1
    for work in (lambda: CountTable.from_counts(rows.assign(n=largest), **read), lambda: table.merge(table, table)):
        with pytest.raises(ValueError, match=r"table counts .* people, and at most 4.612e\+18"):
            work()
