"""Digits of the score statistic and of the limits it has, against arithmetic in 60 decimal digits.

The oracle knows nothing of the package's formulas: it bisects the derivative of the likelihood.
"""

from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skfairtest.inference.intervals import miettinen_nurminen
from skfairtest.inference.score import difference_of_rates, score_at

Z = 1.959963984540054
DISPARITIES = ("difference", "ratio")
SIZES = (10, 10_000, 10**9)


def score(x1, d1, x2, d2, edge, disparity):
    """Miettinen-Nurminen score (1985, equations 8 and 9, appendix I) in decimal arithmetic, infinite over no error."""
    x1, d1, x2, d2, edge = (Decimal(int(v)) if isinstance(v, int | np.integer) else Decimal(v)
                            for v in (x1, d1, x2, d2, edge))  # fmt: skip
    slope, offset = (Decimal(1), edge) if disparity == "difference" else (edge, Decimal(0))
    low, high = max(Decimal(0), -offset / slope), min(Decimal(1), (1 - offset) / slope)
    for _ in range(190):
        p2 = (low + high) / 2
        p1 = offset + slope * p2
        if slope * (x1 - d1 * p1) * p2 * (1 - p2) + (x2 - d2 * p2) * p1 * (1 - p1) > 0:
            low = p2
        else:
            high = p2
    p2 = (low + high) / 2
    p1 = offset + slope * p2
    people = d1 + d2
    variance = (p1 * (1 - p1) / d1 + slope**2 * p2 * (1 - p2) / d2) * people / (people - 1)
    distance = x1 / d1 - slope * x2 / d2 - offset
    if variance <= 0:
        return distance and distance / abs(distance) * Decimal("Infinity")
    return distance / variance.sqrt()


def tables():
    """Few events, about half, all but a few, in small and very large groups."""
    for d1, d2 in product(SIZES, SIZES):
        for x1, x2 in product(*[(0, 1, 7, d // 2, d - 3, d) for d in (d1, d2)]):
            yield x1, d1, x2, d2


@pytest.mark.parametrize("disparity", DISPARITIES)
def test_scores_have_ten_digits_wherever_the_rates_and_the_edge_lie(disparity):
    rng = np.random.default_rng(1)
    rows = []
    for x1, d1, x2, d2 in tables():
        if disparity == "ratio":
            rows.append((x1, d1, x2, d2, float(np.exp(rng.normal()))))
            rows.append((x1, d1, x2, d2, 1 + float(rng.choice([-1, 1]) * 10 ** rng.uniform(-9, -1))))
        else:
            size = float(10 ** rng.uniform(-10, -0.01))
            rows.append((x1, d1, x2, d2, size * float(rng.choice([-1, 1]))))
            rows.append((x1, d1, x2, d2, (1 - size / 2) * float(rng.choice([-1, 1]))))
    found = score_at(*np.array(rows).T, disparity)[0]
    with localcontext() as context:
        context.prec = 60
        expected = np.array([float(score(*(int(v) for v in row[:4]), row[4], disparity)) for row in rows])
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("disparity", DISPARITIES)
def test_limits_lie_where_the_score_is_the_quantile_to_a_billionth_of_their_distance_from_the_estimate(disparity):
    rows = list(tables())
    limits = np.array(miettinen_nurminen(*np.array(rows).T, Z, disparity)).T
    ends = (0.0, np.inf) if disparity == "ratio" else (-1.0, 1.0)
    compared = 0
    with localcontext() as context:
        context.prec = 60
        for row, pair in zip(rows, limits.tolist(), strict=True):
            x1, d1, x2, d2 = map(Decimal, row)
            for limit, end, sign in zip(pair, ends, (-1, 1), strict=True):
                if limit == end:
                    continue
                if disparity == "difference":
                    distance = abs(Decimal(limit) - (x1 / d1 - x2 / d2))
                elif x2 == 0:
                    distance = Decimal(limit)
                else:
                    distance = abs(Decimal(limit) - x1 * d2 / (x2 * d1))
                # A float near 1 cannot say more than its last digits.
                step = sign * (distance * Decimal("1e-9") + 2 * Decimal(float(np.spacing(abs(limit)))))
                inside, outside = (abs(score(*row, Decimal(limit) + side * step, disparity)) for side in (-1, 1))
                assert inside <= Decimal(Z) <= outside, (row, limit, inside, outside)
                compared += 1
    assert compared > 500


def test_the_limits_of_the_issue_are_those_of_exact_arithmetic():
    # Found by another implementation with 50 digits: 10**8 of 10**8 against 7 fewer.
    low, _ = miettinen_nurminen(10**8, 10**8, 10**8 - 7, 10**8, Z)
    assert low == pytest.approx(3.1585e-8, rel=2e-5)
    low, _ = miettinen_nurminen(10**9, 10**9, 10**9 - 7, 10**9, Z)
    assert low == pytest.approx(3.1585e-9, rel=2e-5)


sizes = st.one_of(st.integers(1, 100), st.sampled_from([10**4, 10**6, 10**9]), st.integers(1, 10**9))


@st.composite
def counts(draw):
    out = []
    for d in (draw(sizes), draw(sizes)):
        few = draw(st.integers(0, min(d, 20)))
        out += [draw(st.one_of(st.just(few), st.just(d - few), st.integers(0, d))), d]
    return tuple(out)


LARGE = (10**8, 10**8, 10**8 - 7, 10**8)


@settings(deadline=None)
@given(counts())
@example(LARGE)
def test_a_mirrored_question_has_the_mirrored_interval_but_for_rounding(table):
    x1, d1, x2, d2 = table
    low, high = (float(v) for v in miettinen_nurminen(*table, Z))
    for mirrored in ((x2, d2, x1, d1), (d1 - x1, d1, d2 - x2, d2)):
        np.testing.assert_allclose(miettinen_nurminen(*mirrored, Z), (-high, -low), rtol=1e-13)
    np.testing.assert_allclose(miettinen_nurminen(d2 - x2, d2, d1 - x1, d1, Z), (low, high), rtol=1e-13)


@settings(max_examples=3 * settings.default.max_examples, deadline=None)
@given(counts(), st.floats(-0.999, 0.999))
@example(LARGE, 1e-7)
def test_a_mirrored_question_has_the_mirrored_score_to_the_last_digit(table, edge):
    x1, d1, x2, d2 = table
    z, error = (float(v) for v in score_at(*table, edge))
    assert tuple(map(float, score_at(x2, d2, x1, d1, -edge))) == (-z, error)
    assert tuple(map(float, score_at(d1 - x1, d1, d2 - x2, d2, -edge))) == (-z, error)
    assert tuple(map(float, score_at(d2 - x2, d2, d1 - x1, d1, edge))) == (z, error)


@settings(deadline=None)
@given(counts())
@example((10**9, 10**9, 10**9 - 7, 10**9))
def test_a_mirrored_ratio_has_the_inverse_interval(table):
    x1, d1, x2, d2 = table
    low, high = miettinen_nurminen(*table, Z, "ratio")
    with np.errstate(divide="ignore"):
        expected = 1 / high, 1 / low
    np.testing.assert_allclose(miettinen_nurminen(x2, d2, x1, d1, Z, "ratio"), expected, rtol=1e-13)


@settings(deadline=None)
@given(counts(), st.sampled_from(DISPARITIES), st.sampled_from([1.0, Z, 3.0]))
@example((10**9, 10**9, 10**9 - 7, 10**9), "difference", Z)
def test_the_interval_leaves_equality_out_exactly_where_the_score_test_rejects_it(table, disparity, z):
    null = float(disparity == "ratio")
    low, high = (float(v) for v in miettinen_nurminen(*table, z, disparity))
    assert (low <= null <= high) == (abs(float(score_at(*table, null, disparity)[0])) <= z)


def test_differences_of_rates_are_those_of_integers():
    rng = np.random.default_rng(2)
    for _ in range(300):
        d1, d2 = (int(v) for v in rng.integers(10**8, 2**31, size=2))
        x1 = int(rng.integers(0, d1))
        x2 = min(d2, max(0, x1 * d2 // d1 + int(rng.integers(-2, 3))))
        exact = (x1 * d2 - x2 * d1) / (d1 * d2)
        floats = (np.array([float(v)]) for v in (x1, d1, x2, d2))
        assert float(difference_of_rates(*floats)[0]) == pytest.approx(exact, rel=1e-15, abs=0)


def test_a_difference_far_below_ten_to_the_minus_fourteen_is_a_difference():
    # Twice as many events among 10**15 people: z is (2 - 1) / sqrt(3) at equality, whatever the number of people.
    z, _ = score_at(2, 10**15, 1, 10**15, 0.0)
    assert float(z) == pytest.approx(1 / np.sqrt(3), rel=1e-9)
