"""Odds ratios given totals, against SciPy, exact rational arithmetic and published figures."""

import json
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats.contingency import odds_ratio

from skfairtest.inference.conditional import Strata
from skfairtest.inference.odds_ratio import (
    conditional_estimate,
    conditional_limits,
    expected_events,
    mantel_haenszel_odds_ratio,
)

GOLDEN = json.loads((Path(__file__).parent / "golden" / "strata.json").read_text(encoding="utf-8"))


@st.composite
def strata(draw, most=3, largest=12):
    """x1, d1, x2, d2 of one stratum or several, with some choice left by the totals."""
    counts = []
    for _ in range(draw(st.integers(1, most))):
        d1, d2 = draw(st.integers(1, largest)), draw(st.integers(1, largest))
        counts.append((draw(st.integers(0, d1)), d1, draw(st.integers(0, d2)), d2))
    found = tuple(np.array(column) for column in zip(*counts, strict=True))
    assume(np.ptp(Strata.of(*found).bounds) > 0)
    return found


def enumerated(x1, d1, x2, d2):
    """First sum, and how many tables have each sum of the strata's events."""
    weights = np.array([1], dtype=object)
    for a, m, b in zip(d1.tolist(), (x1 + x2).tolist(), d2.tolist(), strict=True):
        low, high = max(0, m - b), min(a, m)
        weights = np.convolve(weights, np.array([comb(a, x) * comb(b, m - x) for x in range(low, high + 1)], object))
    return Strata.of(x1, d1, x2, d2).bounds[0], weights


def tails(counts, psi):
    """P(S >= s), P(S <= s), P(S = s) and the mean of S, where the odds ratio is psi."""
    first, weights = enumerated(*counts)
    x = first + np.arange(len(weights))
    terms = np.array([float(w) for w in weights]) * psi ** (x - first).astype(float)
    p, s = terms / terms.sum(), int(counts[0].sum())
    return p[x >= s].sum(), p[x <= s].sum(), p[x == s].sum(), p @ x


@settings(deadline=None)
@given(strata())
def test_the_estimate_gives_the_sum_its_mean(counts):
    low, high = Strata.of(*counts).bounds
    found = conditional_estimate(*counts)
    if counts[0].sum() in (low, high):
        assert found == (0.0 if counts[0].sum() == low else np.inf)
    else:
        assert tails(counts, found)[3] == pytest.approx(counts[0].sum(), abs=1e-6)


@settings(deadline=None)
@given(strata(), st.sampled_from([0.2, 0.05, 0.001]))
def test_tails_at_the_limits_are_the_errors(counts, error):
    low, high = conditional_limits(*counts, error, error)
    bounds, s = Strata.of(*counts).bounds, counts[0].sum()
    if s == bounds[0]:
        assert low == 0
    else:
        above, *_ = tails(counts, low)
        assert above == pytest.approx(error, rel=1e-6)
    if s == bounds[1]:
        assert high == np.inf
    else:
        _, below, *_ = tails(counts, high)
        assert below == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize("table", [(8, 10, 1, 6), (3, 4, 1, 4), (141, 340, 1854, 3623), (1, 500, 3, 20_000)])
def test_one_stratum_is_that_of_scipy(table):
    x1, d1, x2, d2 = table
    theirs = odds_ratio([[x1, d1 - x1], [x2, d2 - x2]])
    counts = tuple(np.array([v]) for v in table)
    assert conditional_estimate(*counts) == pytest.approx(theirs.statistic, rel=1e-6)
    assert conditional_limits(*counts, 0.025, 0.025) == pytest.approx(tuple(theirs.confidence_interval(0.95)), rel=1e-6)


def test_no_limit_is_asked_for_at_an_error_of_zero():
    counts = tuple(np.array([v]) for v in (8, 10, 1, 6))
    assert conditional_limits(*counts, 0, 0.05)[0] == 0
    assert conditional_limits(*counts, 0.05, 0)[1] == np.inf


def test_totals_without_a_choice_say_nothing():
    counts = tuple(np.array([v]) for v in (4, 4, 6, 6))
    assert np.isnan(conditional_estimate(*counts))
    assert conditional_limits(*counts, 0.025, 0.025) == (0, np.inf)


@pytest.mark.parametrize("name", [name for name, study in GOLDEN.items() if "mantel_haenszel" in study])
def test_published_mantel_haenszel_odds_ratios(name):
    study = GOLDEN[name]
    counts = [np.array(study[column]) for column in ("x1", "d1", "x2", "d2")]
    assert mantel_haenszel_odds_ratio(*counts, 1.96)[0] == pytest.approx(study["mantel_haenszel"], abs=5e-5)


def test_limits_of_one_large_stratum_are_woolfs():
    counts = tuple(np.array([v * 1000.0]) for v in (30, 100, 20, 100))
    estimate, error, low, high = mantel_haenszel_odds_ratio(*counts, 1.96)
    assert estimate == pytest.approx(30 * 80 / (70 * 20))
    assert error == pytest.approx(np.sqrt((1 / 30 + 1 / 70 + 1 / 20 + 1 / 80) / 1000))
    assert (low, high) == pytest.approx((estimate * np.exp(-1.96 * error), estimate * np.exp(1.96 * error)))


@pytest.mark.parametrize(("x1", "x2", "expected"), [(0, 3, 0.0), (3, 0, np.inf), (0, 0, np.nan)])
def test_a_side_without_events_has_an_extreme_ratio(x1, x2, expected):
    estimate, error, low, high = mantel_haenszel_odds_ratio(*(np.array([v]) for v in (x1, 10, x2, 10)), 1.96)
    assert np.array_equal(estimate, expected, equal_nan=True)
    assert np.isnan(error)
    assert (low, high) == (0, np.inf)


@settings(deadline=None)
@given(strata(), st.floats(-12, 12))
def test_expected_events_have_the_odds_ratio(counts, log):
    x1, d1, x2, d2 = counts
    m, psi = x1 + x2, float(np.exp(log))
    a = expected_events(d1, d2, m, psi)
    assert ((a >= np.maximum(0, m - d2)) & (a <= np.minimum(d1, m))).all()
    left, right = a * (d2 - m + a), psi * (m - a) * (d1 - a)
    assert left == pytest.approx(right, abs=1e-6 * max(1, psi))


def test_expected_events_at_the_ends():
    assert expected_events(np.array([4]), np.array([6]), np.array([5]), 0.0) == [0]
    assert expected_events(np.array([4]), np.array([6]), np.array([5]), np.inf) == [4]
