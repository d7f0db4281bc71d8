"""The smallest disparity that could have been shown, against power functions and simulation."""

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.power import NormalIndPower

from skfairtest.inference.detectable import detectable_estimates, detectable_rates
from skfairtest.inference.power_normal import normal_power
from skfairtest.inference.rates import Question


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize(
    ("p2", "d1", "d2", "alpha"), [(0.3, 93, 93, 0.05), (0.1, 500, 4000, 1e-4), (0.6, 30, 1000, 0.01)]
)
def test_the_farther_of_both_ways_has_the_power_asked_for(p2, d1, d2, alpha, disparity):
    (size,) = detectable_rates(p2, d1, d2, alpha=alpha, power=0.8, disparity=disparity)
    both = (p2 + size, p2 - size) if disparity == "difference" else (p2 * size, p2 / size)
    reached = [normal_power(p1, d1, p2, d2, Question(), alpha) for p1 in both if 0 <= p1 <= 1]
    assert min(reached) == pytest.approx(0.8, abs=1e-3)


def test_with_room_on_one_side_only_that_side_counts():
    (size,) = detectable_rates(0.0, 100, 100, alpha=0.05, power=0.8)
    assert normal_power(size, 100, 0.0, 100, Question(), 0.05) == pytest.approx(0.8, abs=1e-6)
    (mirrored,) = detectable_rates(1.0, 100, 100, alpha=0.05, power=0.8)
    assert mirrored == pytest.approx(size)


def test_too_few_people_could_have_shown_nothing():
    assert np.isinf(detectable_rates(0.5, 3, 1000, alpha=1e-4, power=0.8)).all()


def test_a_share_of_everyone_shrinks_what_is_shown():
    (rest,) = detectable_rates(0.3, 200, 800, alpha=0.05, power=0.8)
    (overall,) = detectable_rates(0.3, 200, 800, alpha=0.05, power=0.8, share=0.2)
    assert overall == pytest.approx(0.8 * rest)
    (ratio,) = detectable_rates(0.3, 200, 800, alpha=0.05, power=0.8, share=0.2, disparity="ratio")
    assert 1 < ratio < detectable_rates(0.3, 200, 800, alpha=0.05, power=0.8, disparity="ratio")[0]


def test_more_people_show_less():
    sizes = detectable_rates(0.4, [50, 500, 5000], [50, 500, 5000], alpha=0.05, power=0.8)
    assert (np.diff(sizes) < 0).all()


def test_estimates_are_found_at_both_quantiles_from_the_edge():
    effect = NormalIndPower().solve_power(nobs1=100, ratio=1, alpha=0.01, power=0.8)
    (size,) = detectable_estimates(np.sqrt(2 / 100), alpha=0.01, power=0.8)
    assert size == pytest.approx(effect, rel=1e-3)
    (beyond,) = detectable_estimates(0.1, alpha=0.05, power=0.8, edge=0.2)
    assert beyond == pytest.approx(0.2 + 0.1 * (norm.isf(0.025) + norm.isf(0.2)))
    (ratio,) = detectable_estimates(0.1, alpha=0.05, power=0.8, disparity="ratio", edge=np.log(1.25))
    assert ratio == pytest.approx(1.25 * np.exp(0.1 * (norm.isf(0.025) + norm.isf(0.2))))


def test_no_error_is_no_knowledge():
    assert np.isnan(detectable_estimates([0.0, np.nan], alpha=0.05, power=0.8)).all()


def test_a_direction_can_be_asked_for():
    up, down = (detectable_rates(0.05, 400, 400, alpha=0.1, power=0.8, direction=way)[0] for way in ("up", "down"))
    assert down < up == detectable_rates(0.05, 400, 400, alpha=0.1, power=0.8)[0]


def test_no_ratio_to_zero_is_known():
    assert np.isnan(detectable_rates(0.0, 100, 100, alpha=0.05, power=0.8, disparity="ratio")).all()
