"""Disparities along thresholds: counts by cumulative sums, and the test at each threshold."""

import numpy as np
import pytest

from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rates import Pair, Question, answer
from skfairtest.inference.regions import kept_outcomes
from skfairtest.inference.thresholds import cell_counts, chosen_thresholds, curve


def test_cells_are_what_counting_people_gives():
    rng = np.random.default_rng(0)
    scores, truths = rng.integers(0, 6, 50).astype(float), rng.random(50) < 0.4
    at = np.array([-1.0, 0.0, 2.5, 3.0, 5.0, 9.0])
    for threshold, found in zip(at, cell_counts(scores, truths, at), strict=True):
        predicted = scores >= threshold
        expected = [(truths & predicted), (truths & ~predicted), (~truths & predicted), (~truths & ~predicted)]
        assert found.tolist() == [int(cell.sum()) for cell in expected]


def test_thresholds_are_scores_that_somebody_has():
    scores = np.random.default_rng(0).normal(size=3000)
    at = chosen_thresholds(scores, 50)
    assert len(at) == 50
    assert np.isin(at, scores).all()
    assert (at[0], at[-1]) == (scores.min(), scores.max())
    skewed = chosen_thresholds(np.repeat(np.arange(300.0), [1] * 299 + [5000]), 10)
    assert len(skewed) == len(set(skewed.tolist()))


@pytest.mark.parametrize("law", ["unconditional", "conditional", "asymptotic"])
@pytest.mark.parametrize(("d1", "d2"), [(6, 9), (13, 13), pytest.param(31, 12, marks=pytest.mark.slow)])
def test_what_is_kept_is_what_the_test_does_not_reject(d1, d2, law, thorough):
    from skfairtest.inference.conditional import conditional_log_p

    m = np.arange(d1 + d2 + 1)
    lower, upper = kept_outcomes(d1, d2, m, 0.05, law)
    for total in m.tolist()[:: 3 if thorough else 6]:
        for x1 in range(max(0, total - d2), min(d1, total) + 1):
            if law == "conditional":
                log_p = conditional_log_p(x1, d1, total - x1, d2)
            else:
                method = "exact" if law == "unconditional" else "asymptotic"
                counts = [np.array([k]) for k in (x1, d1, total - x1, d2)]
                log_p = answer(Pair(*counts), Scale(), Question(method=method)).log_p
            rejected = np.exp(log_p) <= 0.05
            assert rejected == (not lower[total] <= x1 <= upper[total])


def test_a_threshold_at_which_nobody_counts_is_undefined_and_not_rejected():
    pair = Pair(*(np.array(column) for column in ([5, 1, 0], [10, 2, 0], [1, 0, 0], [10, 3, 4])))
    found = curve(pair, Scale(), 0.05, "auto")
    assert found.method == "exact"
    for values in (found.disparity, found.ci_low, found.ci_high, found.kept_low, found.kept_high):
        assert np.isnan(values).tolist() == [False, False, True]
    assert found.rejected.tolist() == [False, False, False]
    nobody = curve(pair.only(np.array([False, False, True])), Scale(), 0.05, "auto")
    assert np.isnan(nobody.disparity).all()


def test_auto_takes_the_score_test_only_where_exact_laws_take_long():
    one_design = Pair(*(np.full(100, k) for k in (300, 1000, 280, 1000)))
    assert curve(one_design, Scale(), 0.05, "auto").method == "exact"
    d = np.arange(2000, 2100)
    many = Pair(d // 3, d, d // 4, d)
    assert curve(many, Scale(), 0.05, "auto").method == "asymptotic"
