"""Score statistics: the restricted maximum by direct maximisation, and the order that the exact tests need."""

from math import log

import numpy as np
import pytest

from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rates import Pair, statistic
from skfairtest.inference.score import restricted_rates, score_at, studentize

DIFFERENCES = (-0.5, -0.1, -0.02, -1e-6, 0.0, 0.02, 0.1, 0.3, 0.9)
RATIOS = (0.1, 0.5, 0.8, 0.999, 1.0, 1.25, 2.0, 50.0)
DESIGNS = ((10, 40), (40, 10), (30, 30), (1, 20), (20, 1), (1, 1), (15, 60), (3, 300), (300, 3))


def score_standard_error(x1, d1, x2, d2):
    """Standard error of the package's score statistic of one stratum."""
    pair = Pair(*(np.array([value]) for value in (x1, d1, x2, d2)))
    return float(statistic(pair, Scale(), "score")[1])


def maximiser(x1, d1, x2, d2, edge, disparity):
    """Rates of largest likelihood with p1 - p2 or p1 / p2 at the edge: bisection, the log-likelihood is concave."""
    slope = 1.0 if disparity == "difference" else edge
    offset = edge if disparity == "difference" else 0.0
    low, high = max(0.0, -offset / slope), min(1.0, (1 - offset) / slope)

    def derivative(p2):
        p1 = offset + slope * p2
        value = 0.0
        value += slope * x1 / p1 if x1 else 0.0
        value -= slope * (d1 - x1) / (1 - p1) if d1 > x1 else 0.0
        value += x2 / p2 if x2 else 0.0
        value -= (d2 - x2) / (1 - p2) if d2 > x2 else 0.0
        return value

    for _ in range(200):
        middle = (low + high) / 2
        p1 = offset + slope * middle
        if not (0 < middle < 1 and 0 < p1 < 1):
            break
        if derivative(middle) > 0:
            low = middle
        else:
            high = middle
    middle = (low + high) / 2
    return offset + slope * middle, middle


def log_likelihood(x1, d1, x2, d2, p1, p2):
    pairs = ((x1, p1), (d1 - x1, 1 - p1), (x2, p2), (d2 - x2, 1 - p2))
    return sum(count * log(p) for count, p in pairs if count)


def random_tables(number, seed):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        d1, d2 = (int(d) for d in rng.integers(1, 10 ** rng.integers(1, 5, size=2)))
        counts = [int(rng.choice([0, d, rng.integers(0, d + 1)])) for d in (d1, d2)]
        yield counts[0], d1, counts[1], d2


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_restricted_rates_maximise_the_likelihood(disparity):
    rng = np.random.default_rng(3)
    for table in random_tables(400, seed=1):
        if disparity == "difference":
            edge = float(rng.choice([rng.uniform(-0.99, 0.99), 0.02, -0.05, 0.0]))
        else:
            edge = float(rng.choice([np.exp(rng.normal()), 0.8, 1.25, 1.0]))
        expected = maximiser(*table, edge, disparity)
        p1, p2 = (float(p) for p in restricted_rates(*table, edge, disparity))
        assert (p1, p2) == pytest.approx(expected, abs=1e-7), (table, edge)
        assert 0 <= p1 <= 1
        assert 0 <= p2 <= 1
        on_edge = p1 - p2 - edge if disparity == "difference" else p1 - edge * p2
        assert on_edge == pytest.approx(0.0, abs=1e-12)


def test_without_a_margin_the_restricted_rates_are_the_pooled_rate():
    for table in random_tables(100, seed=2):
        pooled = (table[0] + table[2]) / (table[1] + table[3])
        for edge, disparity in [(0.0, "difference"), (1.0, "ratio")]:
            np.testing.assert_allclose(restricted_rates(*table, edge, disparity), pooled, atol=1e-8)


def test_observed_rates_on_the_edge_are_their_own_maximum_and_score_zero():
    np.testing.assert_allclose(restricted_rates(14, 20, 10, 20, 0.2), [0.7, 0.5], atol=1e-9)
    np.testing.assert_allclose(restricted_rates(14, 20, 10, 20, 1.4, "ratio"), [0.7, 0.5], atol=1e-9)
    assert score_at(14, 20, 10, 20, 0.2)[0] == 0.0
    assert score_at(14, 20, 10, 20, 1.4, "ratio")[0] == 0.0


def test_at_equality_the_statistic_is_the_pooled_one_with_the_n_minus_one_factor():
    # Miettinen and Nurminen (1985), equation 8 at RD = 0: the chi of Pearson's chi-squared times sqrt((N - 1) / N).
    x1, d1, x2, d2 = 56, 70, 48, 80
    pooled = (0.8 - 0.6) / float(score_standard_error(x1, d1, x2, d2))
    z, error = score_at(x1, d1, x2, d2, 0.0)
    assert float(z) == pytest.approx(pooled * np.sqrt(149 / 150), rel=1e-9)
    assert float(error) == pytest.approx(0.2 / float(z), rel=1e-12)
    assert float(score_at(x1, d1, x2, d2, 1.0, "ratio")[0]) == pytest.approx(float(z), rel=1e-9)


def test_the_standard_error_is_taken_at_the_pooled_rate():
    # sqrt(p (1 - p) (1/d1 + 1/d2)) with p = 104/150.
    p = 104 / 150
    assert score_standard_error(56, 70, 48, 80) == pytest.approx(np.sqrt(p * (1 - p) * (1 / 70 + 1 / 80)))


def test_no_event_in_one_group_leaves_a_positive_standard_error():
    assert score_standard_error(0, 30, 20, 1000) > 0
    assert score_standard_error(0, 30, 0, 1000) == 0.0


def test_an_empty_group_has_no_standard_error():
    assert not np.isfinite(score_standard_error(0, 0, 3, 10))


@pytest.mark.parametrize(
    ("disparity", "edge"),
    [("difference", e) for e in DIFFERENCES] + [("ratio", e) for e in RATIOS],
)
@pytest.mark.parametrize("design", DESIGNS)
def test_the_score_rises_with_the_first_groups_events_and_falls_with_the_seconds(design, disparity, edge):
    # Chan's (1998) and Berger and Boos's exact tests need this: then the tail is largest on the border of the null.
    d1, d2 = design
    z, _ = score_at(np.arange(d1 + 1)[:, None], d1, np.arange(d2 + 1), d2, edge, disparity)
    assert not np.isnan(z).any()
    assert (np.diff(z, axis=0) >= -1e-9).all()
    assert (np.diff(z, axis=1) <= 1e-9).all()


def test_nothing_over_no_error_is_no_evidence_and_something_is_infinite():
    np.testing.assert_array_equal(
        studentize([0.0, 0.2, -0.2, 0.3, np.nan], [0.0, 0.0, 0.0, 0.1, 0.1]),
        [0.0, np.inf, -np.inf, 0.3 / 0.1, np.nan],
    )
    assert np.isnan(studentize(0.1, np.nan))
    assert studentize(-0.0, 0.0) == 0.0
    assert studentize(0.0, 0.5) == 0.0


def test_groups_without_events_score_zero_at_equality():
    assert score_at(0, 10, 0, 20, 0.0)[0] == 0.0
    assert score_at(10, 10, 20, 20, 0.0)[0] == 0.0
    assert score_at(0, 10, 0, 20, 0.8, "ratio")[0] == 0.0


def test_arguments_broadcast():
    z, error = score_at(np.arange(5)[:, None], 10, np.arange(3), 20, 0.1)
    assert z.shape == error.shape == (5, 3)
    assert z[4, 2] == pytest.approx(float(score_at(4, 10, 2, 20, 0.1)[0]))
