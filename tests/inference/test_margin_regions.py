import numpy as np
import pytest
from scipy.stats import binom

from skfairtest.inference.linear_form import Scale
from skfairtest.inference.margin_regions import margin_region
from skfairtest.inference.rates import Pair, Question, answer


def p_values(d1, d2, question):
    """The p-value that the test gives every outcome."""
    out = np.empty((d1 + 1, d2 + 1))
    for x1, x2 in np.ndindex(out.shape):
        pair = Pair(*(np.array([v]) for v in (x1, d1, x2, d2)))
        out[x1, x2] = np.exp(answer(pair, Scale(), question).log_p)
    return out


@pytest.mark.parametrize(
    "alternative", ["two-sided", pytest.param("greater", marks=pytest.mark.slow), "less", "equivalence"]
)
@pytest.mark.parametrize(
    ("disparity", "margin_bounds"),
    [("difference", (-0.3, 0.3)), pytest.param("ratio", (0.6, 1 / 0.6), marks=pytest.mark.slow)],
)
def test_a_region_with_a_margin_holds_the_outcomes_that_the_test_rejects(
    alternative, disparity, margin_bounds, thorough
):
    d1, d2, alpha = (14, 11, 0.1) if thorough else (7, 6, 0.1)
    question = Question(disparity, alternative, margin_bounds)
    p = p_values(d1, d2, question)
    found = margin_region(d1, d2, question, alpha)
    rejected = p <= alpha
    assert (found.rejects(*np.ogrid[: d1 + 1, : d2 + 1]) == rejected).mean() > 0.99
    for p1, p2 in ((0.2, 0.7), (0.5, 0.5), (0.8, 0.3)):
        summed = binom.pmf(np.arange(d1 + 1), d1, p1) @ rejected @ binom.pmf(np.arange(d2 + 1), d2, p2)
        assert found.probability(p1, p2) == pytest.approx(summed, abs=0.005)


@pytest.mark.parametrize(
    ("disparity", "bounds"),
    [
        ("difference", (-0.2, np.inf)),
        ("difference", (-np.inf, 0.2)),
        ("ratio", (0.7, np.inf)),
        ("ratio", (-np.inf, 1.5)),
    ],
)
def test_a_margin_with_one_end_is_certified_at_most_as_often_as_the_level_says(disparity, bounds, thorough):
    # Every outcome, at every pair of rates on the edge: beyond it, the probability is smaller.
    d1, d2 = (14, 11) if thorough else (8, 6)
    p = p_values(d1, d2, Question(disparity, "equivalence", bounds))
    edge = max(bounds) if np.isinf(min(bounds)) else min(bounds)
    p2 = np.linspace(0, 1, 401)
    p1 = edge * p2 if disparity == "ratio" else p2 + edge
    p1, p2 = (rates[(p1 >= 0) & (p1 <= 1)] for rates in (p1, p2))
    first, second = (binom.pmf(np.arange(d + 1)[:, None], d, rates) for d, rates in ((d1, p1), (d2, p2)))
    for alpha in (0.01, 0.05, 0.1, 0.2):
        sizes = np.einsum("ik,ij,jk->k", first, p <= alpha, second)
        assert sizes.max() <= alpha
    assert (p <= 0.2).any()


@pytest.mark.slow
def test_equivalence_has_no_power_beyond_the_level_at_the_edge():
    question = Question("difference", "equivalence", (-0.15, 0.15))
    for p1, p2 in ((0.3, 0.45), (0.65, 0.5), (0.2, 0.35)):
        assert margin_region(150, 130, question, 0.05).probability(p1, p2) <= 0.051
