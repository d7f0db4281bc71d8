"""Bounds over wrong labels: equal to trying every relabelling, whichever rate and disparity."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from skfairtest.inference import relabelling
from skfairtest.inference.rates import Pair, Question, Scale, answer, disparity_of, statistic
from skfairtest.inference.relabelling import completed_p_values, disparity_ends, relabelled
from skfairtest.metrics import RATES
from skfairtest.metrics.rates import CELLS

OF_TRUTH = [rate for rate in RATES.values() if "y_true" in rate.reads]


def side_of(cells, rate, budget):
    n11, n10, n01, n00 = (min(budget, n) for n in cells)
    return relabelled(np.array(cells), *rate.masks(CELLS), [(-n11, n01), (-n10, n00)], budget)


def every_relabelling(cells, rate, budget):
    """Counts (events, people) of the rate after up to so many labels of single cells have been turned over."""
    event, given = rate.masks(CELLS)
    found = set()
    for turned in product(*(range(min(budget, n) + 1) for n in cells)):
        if sum(turned) <= budget:
            a, b, c, d = (n - k for n, k in zip(cells, turned, strict=True))
            after = np.array([a + turned[2], b + turned[3], c + turned[0], d + turned[1]])
            found.add((int(after[event].sum()), int(after[given].sum())))
    return found


@cache
def log_p(x1, d1, x2, d2, question):
    if not (d1 and d2):
        return 0.0
    return answer(Pair(*(np.array([n]) for n in (x1, d1, x2, d2))), Scale(), question).log_p


def tables(n, largest, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        sizes = rng.integers(2, largest + 1, 2)
        yield (
            OF_TRUTH[rng.integers(len(OF_TRUTH))],
            [tuple(rng.multinomial(size, rng.dirichlet(np.ones(4))).tolist()) for size in sizes],
            rng.integers(0, 4, 2).tolist(),
        )


def tried(rate, cells, budgets, question):
    sides = [every_relabelling(*of) for of in zip(cells, [rate, rate], budgets, strict=True)]
    return [log_p(*first, *second, question) for first in sides[0] for second in sides[1]]


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_p_values_are_those_of_every_relabelling(alternative, thorough):
    question = Question(alternative=alternative)
    for rate, cells, budgets in tables(250 if thorough else 25, 12 if thorough else 7, 0):
        found = completed_p_values(*map(side_of, cells, [rate, rate], budgets), Scale(), question)
        all_of_them = tried(rate, cells, budgets, question)
        if found.attained and found.method != "asymptotic":
            assert (found.low, found.high) == pytest.approx((min(all_of_them), max(all_of_them)), abs=1e-9)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_ends_of_the_score_statistic_are_those_of_every_relabelling(alternative, monkeypatch, thorough):
    """The largest and the smallest p-value of the score test, although only the fronts are looked at."""
    monkeypatch.setattr(relabelling, "MOST_TABLES", 0)
    question = Question(alternative=alternative, method="asymptotic")
    for rate, cells, budgets in tables(3000 if thorough else 60, 12, 1):
        sides = [side_of(*of) for of in zip(cells, [rate, rate], budgets, strict=True)]
        found = completed_p_values(*sides, Scale(), question)
        all_of_them = tried(rate, cells, budgets, question)
        defined = [one for one in all_of_them if one < 0] or [0.0]
        if not any(side.may_be_empty for side in sides):
            assert found.low == pytest.approx(min(all_of_them), abs=1e-9)
        assert found.low <= min(defined) + 1e-9
        assert found.high >= max(all_of_them) - 1e-9
        zero = alternative == "two-sided" and found.high == 0
        if found.attained and not zero:  # a statistic may be 0 between two tables
            assert found.high == pytest.approx(max(all_of_them), abs=1e-9)


@pytest.mark.parametrize("ends_only", [False, True])
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_disparities_are_those_of_every_relabelling(disparity, ends_only, monkeypatch, thorough):
    if ends_only:
        monkeypatch.setattr(relabelling, "MOST_OF_SIDE", 0)
    for rate, cells, budgets in tables(4000 if thorough else 150, 12, 2):
        sides = [
            [(x, d) for x, d in every_relabelling(*of) if d] for of in zip(cells, [rate] * 2, budgets, strict=True)
        ]
        found = disparity_ends(*map(side_of, cells, [rate, rate], budgets), Scale(), disparity)
        if not all(sides):
            assert np.isnan(found).all()
            continue
        first, second = (np.array([x / d for x, d in side]) for side in sides)
        every = disparity_of(first[:, None], second[None, :], disparity)
        if not np.isnan(every).any():
            assert found == pytest.approx((every.min(), every.max()))


def test_the_score_statistic_grows_with_events_of_the_group_and_others_beside_it():
    n = np.arange(9)
    a, b, c, e = np.meshgrid(n, n, n, n, indexing="ij")
    with np.errstate(invalid="ignore"):
        z = statistic(Pair(*(one[..., None] for one in (a, a + b, c, c + e))), Scale(), "score")[0]
    for axis, sign in enumerate((1, -1, -1, 1)):
        steps = sign * np.diff(z, axis=axis)
        assert not (steps < -1e-12).any()


def test_long_fronts_are_cut_into_corners_that_lie_beyond(monkeypatch):
    rate, cells, budgets = RATES["true_positive_rate"], [(300, 200, 150, 350), (200, 250, 220, 330)], (90, 70)
    sides = [side_of(*of) for of in zip(cells, [rate, rate], budgets, strict=True)]
    exact = completed_p_values(*sides, Scale(), Question(alternative="greater"))
    monkeypatch.setattr(relabelling, "MOST_OF_FRONT", 12)
    rough = completed_p_values(*sides, Scale(), Question(alternative="greater"))
    assert exact.attained
    assert not rough.attained
    assert rough.low <= exact.low
    assert rough.high >= exact.high
    assert rough.low == pytest.approx(exact.low, rel=0.2)


def test_margins_are_tried_on_every_table_or_refused():
    rate = RATES["precision"]
    question = Question(alternative="less", margin_bounds=(-0.1, 0.1), directed=True)
    cells, budgets = [(3, 2, 1, 2), (2, 3, 3, 1)], (1, 1)
    found = completed_p_values(*map(side_of, cells, [rate, rate], budgets), Scale(), question)
    all_of_them = tried(rate, cells, budgets, question)
    assert (found.low, found.high) == pytest.approx((min(all_of_them), max(all_of_them)))
    with pytest.raises(ValueError, match="margin: the test of"):
        completed_p_values(*map(side_of, [(300, 2, 100, 2)] * 2, [rate, rate], (50, 50)), Scale(), question)
