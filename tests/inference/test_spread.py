"""The spread of rates: its variance against enumeration, its test and interval against simulation."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from skfairtest.inference.spread import debiased, spread, variance

EQUAL = np.full(3, 1 / 3)
#: People, rates, and whether groups are weighted by people: the designs of the fourth round, and others.
DESIGNS = {
    "50 groups of 10": (np.full(50, 10), np.full(50, 0.3), False),
    "rare events": (np.full(12, 60), np.full(12, 0.02), False),
    "unequal sizes": (np.array([10, 20, 50, 100, 500]), np.full(5, 0.05), True),
    "a straight line": (np.full(10, 30), np.linspace(0.2, 0.5, 10), False),
    "one odd group": (np.full(8, 40), np.r_[np.full(7, 0.3), 0.6], False),
    "one odd small group": (np.r_[np.full(5, 200), 12], np.r_[np.full(5, 0.3), 0.7], True),
    "rare and unequal": (np.full(12, 60), np.linspace(0.005, 0.06, 12), False),
    "two groups": (np.array([30, 300]), np.array([0.2, 0.5]), False),
    "few at a half, many near one": (np.array([50, 2000]), np.array([0.5, 0.97]), False),
    "few at .3, many near none": (np.array([50, 2000]), np.array([0.3, 0.02]), False),
    "all or nothing": (np.full(8, 30), np.repeat([0.0, 1.0], 4), False),
    "two million": (np.full(5, 2_000_000), np.array([0.1, 0.12, 0.15, 0.11, 0.2]), False),
}


@pytest.mark.parametrize("weight", [EQUAL, np.array([0.5, 0.3, 0.2])], ids=["groups", "people"])
def test_the_debiased_variance_is_unbiased(weight):
    n, p = np.array([2, 3, 4]), np.array([0.3, 0.6, 0.5])
    x = np.array(list(itertools.product(*(range(k + 1) for k in n))))
    probability = stats.binom.pmf(x, n, p).prod(axis=1)
    assert probability @ debiased(x, n, weight) == pytest.approx(variance(p, weight), abs=1e-14)
    assert probability @ variance(x / n, weight) > variance(p, weight) + 0.02


def test_with_equal_weights_it_is_the_formula_of_the_paper():
    x, n = np.array([3, 9, 14, 2]), np.array([11, 20, 31, 15])
    p = x / n
    expected = np.var(p, ddof=1) - np.mean(p * (1 - p) / (n - 1))
    assert debiased(x, n, np.full(4, 0.25)) == pytest.approx(expected, abs=1e-15)


def enumerated(x, n):
    """The permutation p-value of the debiased variance, over all tables with these margins."""
    tables = [t for t in itertools.product(*(range(k + 1) for k in n)) if sum(t) == sum(x)]
    mass = np.array([math.prod(map(math.comb, n, t)) for t in tables], dtype=float)
    statistic, weight = debiased(np.array(tables), np.array(n), np.full(len(n), 1 / len(n))), np.full(3, 1 / 3)
    return mass[statistic >= debiased(np.array(x), np.array(n), weight) - 1e-9].sum() / mass.sum()


@pytest.mark.parametrize(("x", "n"), [((1, 6, 4), (10, 12, 14)), ((0, 5, 5), (10, 10, 10)), ((2, 2, 2), (10, 11, 12))])
def test_the_p_value_is_that_of_all_tables(x, n):
    p = enumerated(x, n)
    found = spread(
        np.array(x), np.array(n), by_people=False, alpha=0.05, n_resamples=20_000, rng=np.random.default_rng(0)
    )
    assert abs(found.p_value - p) <= 4 * math.sqrt(p * (1 - p) / 20_000) + 1 / 20_000


def test_the_order_of_groups_does_not_matter():
    x, n = np.array([3, 9, 14, 2, 9]), np.array([11, 20, 31, 15, 20])
    place = np.array([3, 0, 4, 2, 1])
    settings = {"by_people": True, "alpha": 0.1, "n_resamples": 199}
    first, second = (
        spread(x[rows], n[rows], **settings, rng=np.random.default_rng(1)) for rows in (np.arange(5), place)
    )
    assert first == second


@pytest.mark.parametrize("x", [(0, 0, 0), (12, 20, 30), (6, 10, 15)], ids=["no event", "only events", "equal rates"])
def test_rates_that_are_equal_have_no_spread_and_an_upper_limit(x):
    found = spread(
        np.array(x), np.array([12, 20, 30]), by_people=False, alpha=0.05, n_resamples=999, rng=np.random.default_rng(0)
    )
    assert (found.standard_deviation, found.ci_low, found.p_value) == (0.0, 0.0, 1.0)
    assert 0.09 < found.ci_high < 0.6


@pytest.mark.parametrize(
    ("x", "n", "by_people"),
    [
        ([1182, 3373], [2051, 3373], False),
        ([0, 390, 237, 49, 19, 160], [143, 390, 409, 49, 19, 160], False),
        ([0, 3, 24, 148, 9, 50], [976, 15, 24, 148, 43, 50], True),
    ],
)
def test_the_interval_contains_the_estimate_of_rates_at_0_and_1(x, n, by_people):
    found = spread(
        np.array(x), np.array(n), by_people=by_people, alpha=0.05, n_resamples=999, rng=np.random.default_rng(0)
    )
    assert found.ci_low < found.standard_deviation <= found.ci_high
    assert found.ci_high - found.ci_low > 0.005


def test_of_more_people_than_tables_can_be_drawn_for_the_total_is_free():
    n = np.array([2_000_000_000, 500_000_000])
    found = spread(n // 10, n, by_people=False, alpha=0.05, n_resamples=199, rng=np.random.default_rng(0))
    assert found.p_value == 1
    assert found.ci_high < 1e-4


def simulated(design, n_data_sets):
    """How often the interval contains the truth, and how often the test rejects at 5%."""
    n, p, by_people = DESIGNS[design]
    weight = n / n.sum() if by_people else np.full(len(n), 1 / len(n))
    truth, rng = math.sqrt(variance(p, weight)), np.random.default_rng(53)
    found = [
        spread(rng.binomial(n, p), n, by_people=by_people, alpha=0.05, n_resamples=499, rng=rng)
        for _ in range(n_data_sets)
    ]
    covered = np.mean([one.ci_low <= truth + 1e-12 and truth - 1e-12 <= one.ci_high for one in found])
    return covered, np.mean([one.p_value <= 0.05 for one in found]), truth


@pytest.mark.parametrize(
    "design",
    ["rare events", "two groups", "few at a half, many near one", "few at .3, many near none", "all or nothing"],
)
def test_intervals_of_a_hundred_data_sets_cover(design):
    covered, rejected, truth = simulated(design, 100)
    assert covered >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 100)
    assert rejected > 0.5 if truth else rejected <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_cover_and_the_test_has_its_size(design):
    covered, rejected, truth = simulated(design, 600)
    # One odd group among few, and rates of one or two events, cover somewhat less: see the guide.
    assert covered >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / 600)
    assert truth or rejected <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 600)
