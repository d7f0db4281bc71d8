"""Confidence limits against published tables, other implementations, and the inversion of the test by brute force."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from statsmodels.stats.proportion import confint_proportions_2indep

from skfairtest.inference import rates
from skfairtest.inference.intervals import crossings, miettinen_nurminen, mover, mover_ratio, wilson
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rates import Pair, strata_form, values
from skfairtest.inference.score import score_at, studentize

Z = norm.ppf(0.975)
GOLDEN = Path(__file__).parent / "golden"
DIFFERENCES = json.loads((GOLDEN / "difference_intervals.json").read_text())
STRATA = json.loads((GOLDEN / "mantel_haenszel.json").read_text())
EXAMPLES = list(range(len(DIFFERENCES["counts"])))


def difference(r1, r2):
    return r1 - r2


def hybrid_score(x1, d1, x2, d2, z=Z):
    (l1, u1), (l2, u2) = wilson(x1, d1, z), wilson(x2, d2, z)
    return mover(difference, (x1 / d1, x2 / d2), (l1, l2), (u1, u2))


# One rate


@settings(max_examples=2 * settings.default.max_examples, deadline=None)
@given(st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_wilson_limits_equal_scipys(data, level):
    d = data.draw(st.one_of(st.integers(1, 5), st.integers(1, 100_000)))
    x = data.draw(st.one_of(st.sampled_from([0, d]), st.integers(0, d)))
    expected = binomtest(x, d).proportion_ci(confidence_level=level, method="wilson")
    limits = wilson(x, d, norm.ppf((1 + level) / 2))
    assert tuple(float(v) for v in limits) == pytest.approx(tuple(expected), abs=1e-12)


def test_wilson_limits_are_the_published_ones():
    # Newcombe (1998), Statistics in Medicine 17, 857-872, Table I, method 3: 81/263, 15/148, 0/20, 1/29.
    published = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    for (x, d), expected in published.items():
        assert tuple(float(v) for v in wilson(x, d, Z)) == pytest.approx(expected, abs=5e-5)


def test_wilson_limits_reach_zero_and_one_exactly():
    low, high = wilson([0, 7], [7, 7], Z)
    assert low[0] == 0.0
    assert high[1] == 1.0
    assert 0 < high[0] < 1
    assert 0 < low[1] < 1


def test_a_rate_of_nobody_has_no_limits():
    low, high = wilson([0, 3], [0, 10], Z)
    assert np.isnan([low[0], high[0]]).all()
    assert np.isfinite([low[1], high[1]]).all()


# Score limits of a disparity


@pytest.mark.parametrize("example", EXAMPLES)
def test_difference_limits_are_those_of_newcombes_table(example):
    limits = miettinen_nurminen(*DIFFERENCES["counts"][example], Z)
    expected = DIFFERENCES["miettinen_nurminen"][example]
    assert [float(v) for v in limits] == pytest.approx(expected, abs=5.1e-5)


@pytest.mark.parametrize("example", EXAMPLES)
def test_without_the_n_minus_one_factor_the_limits_are_mees(example):
    counts = DIFFERENCES["counts"][example]
    people = counts[1] + counts[3]
    limits = miettinen_nurminen(*counts, Z * np.sqrt((people - 1) / people))
    assert [float(v) for v in limits] == pytest.approx(DIFFERENCES["mee"][example], abs=5.1e-5)


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("largest", [4, 60, 3000, 10**8])
def test_beyond_a_limit_the_score_test_rejects_and_up_to_it_it_does_not(disparity, largest):
    rng = np.random.default_rng(largest)
    d1, d2 = rng.integers(1, largest + 1, (2, 300))
    rare = rng.random(300) ** rng.choice([1, 4, 10], 300)
    x1, x2 = rng.binomial(d1, rare), rng.binomial(d2, rng.choice([rare, rng.random(300)]))
    z = rng.choice([0.5, 1.96, 4.0], 300)
    for limit, way, end in zip(
        miettinen_nurminen(x1, d1, x2, d2, z, disparity), (-1, 1), ((0, np.inf), (-1, 1))[disparity == "difference"],
        strict=True,
    ):  # fmt: skip
        kept = (limit != end) & (limit != (disparity == "ratio"))  # an end, or equality, which the test has decided
        tables, near = np.stack([x1, d1, x2, d2])[:, kept], limit[kept]
        inside, beyond = (
            np.abs(score_at(*tables, near + sign * way * 1e-10 * np.abs(near), disparity)[0]) for sign in (-1, 1)
        )
        assert kept.sum() > 100
        assert (inside <= z[kept]).all()
        assert (beyond > z[kept]).all()


@pytest.mark.parametrize("limit", [1e-20, 0.3, 1 - 1e-9])
@pytest.mark.parametrize("power", [1, 3, 0])
def test_a_crossing_is_bracketed_whatever_the_shape_of_the_excess(limit, power):
    without, beyond = crossings(
        lambda value: np.sign(value - limit) * np.abs(value - limit) ** power, np.zeros(1), np.ones(1)
    )
    assert without[0] <= limit <= beyond[0]
    assert beyond[0] - without[0] <= 1e-11 * limit
    inside = crossings(lambda value: value - 2.0, np.zeros(1), np.ones(1))
    assert [point.tolist() for point in inside] == [[1.0], [1.0]]


@pytest.mark.parametrize("end", [0.0, 0.5])
def test_a_crossing_without_room_is_the_point_itself(end):
    looked_at = []
    points = crossings(lambda value: looked_at.append(value) or value + 1, np.array([0.0, end]), np.array([1.0, end]))
    assert [point[1] for point in points] == [end, end]
    assert np.isfinite(looked_at).all()


def test_miettinen_and_nurminens_own_example():
    # Miettinen and Nurminen (1985), example 5: 0/10 v 0/20: -.1658 to .2844.
    low, high = miettinen_nurminen(0, 10, 0, 20, Z)
    assert (float(low), float(high)) == pytest.approx((-0.16576, 0.28438), abs=5e-6)


def random_tables(number, seed, interior=False):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        d1, d2 = (int(d) for d in rng.integers(2, 10 ** rng.integers(1, 4, size=2) + 2))
        low, high = (1, -1) if interior else (0, 0)
        yield int(rng.integers(low, d1 + 1 + high)), d1, int(rng.integers(low, d2 + 1 + high)), d2


def with_limits(tables, disparity="difference"):
    """Yield each table with its two limits, which all tables are given at once."""
    tables = list(tables)
    yield from zip(tables, *miettinen_nurminen(*np.transpose(tables), Z, disparity), strict=True)


def test_ratio_limits_equal_those_of_statsmodels():
    compared = 0
    for table, *limits in with_limits(random_tables(120, seed=7, interior=True), "ratio"):
        try:
            expected = confint_proportions_2indep(*table, compare="ratio", method="score")
        except (ValueError, RuntimeError):  # its search for a bracket fails on some tables
            continue
        assert limits == pytest.approx(list(expected), rel=1e-5), table
        compared += 1
    assert compared > 60


@settings(max_examples=2 * settings.default.max_examples, deadline=None)
@given(st.data(), st.sampled_from(["difference", "ratio"]))
def test_the_limits_contain_the_estimate_and_grow_with_the_level(data, disparity):
    d1, d2 = data.draw(st.integers(1, 300)), data.draw(st.integers(1, 300))
    x1 = data.draw(st.one_of(st.sampled_from([0, d1]), st.integers(0, d1)))
    x2 = data.draw(st.one_of(st.sampled_from([0, d2]), st.integers(0, d2)))
    limits = np.array([miettinen_nurminen(x1, d1, x2, d2, z, disparity) for z in (0.5, 1.645, 1.96, 4.0)])
    assert not np.isnan(limits).any()
    assert (np.diff(limits[:, 0]) <= 1e-9).all()
    assert (np.diff(1 / (1 + limits[:, 1])) <= 1e-9).all()  # also of infinite limits
    if disparity == "difference":
        estimate = x1 / d1 - x2 / d2
        assert (limits[:, 0] >= -1).all()
        assert (limits[:, 1] <= 1).all()
    elif x1 + x2 == 0:
        assert (limits == [0, np.inf]).all()
        return
    else:
        estimate = np.inf if x2 == 0 else (x1 / d1) / (x2 / d2)
    slack = 1e-9 * (1 + estimate) if np.isfinite(estimate) else 0.0
    assert (limits[:, 0] <= estimate + slack).all()
    assert (limits[:, 1] >= estimate - slack).all()


def test_zero_cells_of_a_ratio_open_the_interval_on_their_side():
    low, high = miettinen_nurminen([0, 5, 0, 10], [10, 10, 10, 10], [5, 0, 0, 10], [10, 10, 10, 10], Z, "ratio")
    np.testing.assert_array_equal(low[[0, 2]], 0.0)
    np.testing.assert_array_equal(high[[1, 2]], np.inf)
    assert 0 < high[0] < 1
    assert low[1] > 1
    assert low[3] < 1 < high[3]
    assert low[3] * high[3] == pytest.approx(1, rel=1e-6)


def test_arrays_give_what_scalars_give():
    tables = np.array(list(random_tables(30, seed=11)))
    for disparity in ("difference", "ratio"):
        together = np.array(miettinen_nurminen(*tables.T, Z, disparity)).T
        alone = np.array([miettinen_nurminen(*table, Z, disparity) for table in tables])
        np.testing.assert_allclose(together, alone, rtol=1e-14)


def test_an_undefined_rate_has_undefined_limits():
    for disparity in ("difference", "ratio"):
        low, high = miettinen_nurminen([0, 3], [0, 10], [4, 4], [9, 9], Z, disparity)
        assert np.isnan([low[0], high[0]]).all()
        assert np.isfinite([low[1], high[1]]).all()


# MOVER


@pytest.mark.parametrize("example", EXAMPLES)
def test_recovered_variances_give_newcombes_hybrid_score_limits(example):
    limits = hybrid_score(*DIFFERENCES["counts"][example])
    expected = DIFFERENCES["hybrid_score"][example]
    assert [float(v) for v in limits] == pytest.approx(expected, abs=5.1e-5)


def test_recovered_variances_equal_statsmodels_newcombe_interval():
    for table in random_tables(60, seed=12):
        expected = confint_proportions_2indep(*table, compare="diff", method="newcomb")
        assert tuple(float(v) for v in hybrid_score(*table)) == pytest.approx(expected, abs=1e-9)


def test_a_transformed_rate_moves_one_rate_at_a_time():
    # F1 = 2 J / (1 + J): each limit's squared distance is the sum of the squares of what each rate's own limit moves.
    def f1(j1, j2):
        return 2 * j1 / (1 + j1) - 2 * j2 / (1 + j2)

    low, high = mover(f1, (0.5, 0.2), (0.4, 0.15), (0.65, 0.3))
    estimate = Fraction(2, 3) - Fraction(1, 3)
    below = [Fraction(2, 3) - Fraction(4, 7), Fraction(6, 13) - Fraction(1, 3)]
    above = [Fraction(26, 33) - Fraction(2, 3), Fraction(1, 3) - Fraction(6, 23)]
    assert float(low) == pytest.approx(float(estimate) - float(sum(v**2 for v in below)) ** 0.5, rel=1e-12)
    assert float(high) == pytest.approx(float(estimate) + float(sum(v**2 for v in above)) ** 0.5, rel=1e-12)


def test_ratio_limits_solve_the_equation_they_recover_variances_from():
    # Donner and Zou (2012): R is a limit where (a - R b)**2 = (a - l1)**2 + R**2 (u2 - b)**2, and likewise above.
    rng = np.random.default_rng(13)
    for _ in range(200):
        a, b = rng.uniform(0.05, 0.95, size=2)
        l1, l2 = (float(v) for v in np.array([a, b]) * rng.uniform(0.1, 0.99, size=2))
        u1, u2 = (float(v) for v in np.array([a, b]) * rng.uniform(1.01, 3.0, size=2))
        low, high = (float(v) for v in mover_ratio((a, b), (l1, l2), (u1, u2)))
        assert 0 < low < a / b < high
        assert (a - low * b) ** 2 == pytest.approx((a - l1) ** 2 + low**2 * (u2 - b) ** 2, abs=1e-9)
        assert (a - high * b) ** 2 == pytest.approx((u1 - a) ** 2 + high**2 * (b - l2) ** 2, rel=1e-6)


def test_a_ratio_limit_is_continuous_where_its_quadratic_loses_its_first_term():
    # u2 = 2 b: the equation becomes linear.
    around = [
        float(mover_ratio((0.4, 0.3), (0.3, 0.2), (0.5, u2))[0]) for u2 in 0.6 + np.array([-1e-7, 0, 1e-12, 1e-7])
    ]
    assert around == pytest.approx([around[1]] * 4, rel=1e-4)
    assert around[1] == pytest.approx(0.3 * (0.8 - 0.3) / (2 * 0.4 * 0.3), rel=1e-9)


def test_ratio_limits_of_wilson_limits_with_zero_cells():
    x1, x2 = np.array([0, 5, 0, 10]), np.array([5, 0, 0, 10])
    (l1, u1), (l2, u2) = wilson(x1, 10, Z), wilson(x2, 10, Z)
    low, high = mover_ratio((x1 / 10, x2 / 10), (l1, l2), (u1, u2))
    np.testing.assert_array_equal(low[[0, 2]], 0.0)
    np.testing.assert_array_equal(high[[1, 2]], np.inf)
    assert 0 < high[0] < np.inf
    assert 0 < low[1] < np.inf
    assert low[3] < 1 < high[3]


# Strata


@pytest.mark.parametrize("name", STRATA)
def test_limits_over_strata_lie_near_those_of_metafor_and_stata(name):
    # Theirs have the estimate's variance, by Sato and by Greenland and Robins, and no correction for continuity.
    known = STRATA[name]
    pair = Pair(*(np.array(known[column]) for column in ("x1", "d1", "x2", "d2")))
    first, second = values(pair, Scale())
    error = known["difference_standard_error"]
    assert float(first - second) == pytest.approx(known["difference"], abs=5e-7)
    low, high = rates.limits(pair, Scale(), "difference", Z, Z)
    assert (low, high) == pytest.approx(
        (known["difference"] - Z * error, known["difference"] + Z * error), abs=0.2 * error
    )
    if "ratio" in known:
        assert float(first / second) == pytest.approx(known["ratio"], abs=5e-4)
        assert rates.limits(pair, Scale(), "ratio", Z, Z) == pytest.approx(known["ratio_limits"], abs=0.003)


def test_intervals_over_many_strata_of_a_few_people_cover():
    # A within-stratum variance is zero at 1:1; the score's is consistent for many sparse strata too.
    rng = np.random.default_rng(15)
    strata, repeats, covered = 150, 600, 0
    d1, d2 = rng.integers(1, 4, size=strata), rng.integers(1, 4, size=strata)
    base = rng.uniform(0.1, 0.6, size=strata)
    for x1, x2 in zip(
        rng.binomial(d1, base + 0.15, size=(repeats, strata)),
        rng.binomial(d2, base, size=(repeats, strata)),
        strict=True,
    ):
        z = float(studentize(*strata_form(Pair(x1, d1, x2, d2), Scale(), "difference").at(0.15)))
        covered += abs(z) <= Z
    assert 0.935 <= covered / repeats <= 0.985
