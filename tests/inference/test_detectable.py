"""The smallest disparity that could have been shown, against power functions and simulation."""

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.power import NormalIndPower

from skfairtest.inference._given_totals import given_totals, nearly_raised_level, raised_level
from skfairtest.inference.detectable import detectable_estimates, detectable_rates
from skfairtest.inference.power_normal import normal_power
from skfairtest.inference.rates import Question
from skfairtest.inference.regions import equality_region


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


def power_at(d1, d2, p1, p2, alpha):
    """Power of the certified test, enumerated."""
    return equality_region(d1, d2, alpha).probability(p1, p2)


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 20, 0.05 / 400])
@pytest.mark.parametrize("people", [(50, 50), (30, 1000), (200, 200), (5, 300), (900, 12), (300, 1500)])
@pytest.mark.parametrize("p2", [0.05, 0.3, 0.5])
def test_the_exact_power_at_the_size_is_the_one_that_is_named_and_at_least_that_the_other_way(people, p2, alpha):
    # By normal approximation it was .54 for 30 against 1,000 at a rate of .02 and the level of 1 of 400 comparisons.
    common = {"alpha": alpha, "power": 0.8, "method": "auto"}
    up, down, farther = (detectable_rates(p2, *people, direction=way, **common)[0] for way in ("up", "down", "farther"))
    for size, sign, room in ((up, 1, 1 - p2), (down, -1, p2)):
        if np.isfinite(size):
            assert 0.785 <= power_at(*people, p2 + sign * size, p2, alpha) <= 0.815
        else:
            assert power_at(*people, p2 + sign * room, p2, alpha) < 0.8
    sizes = [size for size in (up, down) if np.isfinite(size)]
    assert farther == pytest.approx(max(sizes, default=np.inf), rel=1e-12)


def test_where_only_the_exact_test_has_the_power_its_size_is_named():
    # 56 points less: no disparity at all by normal approximation, and a power of .91.
    people, p2, alpha = (10, 300), 0.56, 0.05 / 100
    common = {"alpha": alpha, "power": 0.8}
    assert np.isinf(detectable_rates(p2, *people, **common)[0])
    assert power_at(*people, 0.0, p2, alpha) > 0.8
    (size,) = detectable_rates(p2, *people, method="auto", **common)
    assert power_at(*people, p2 - size, p2, alpha) == pytest.approx(0.8, abs=0.015)


def test_ratios_and_disparities_to_everyone_are_found_with_the_power_too():
    people, p2, alpha = (40, 400), 0.2, 0.01
    common = {"alpha": alpha, "power": 0.8, "method": "exact", "disparity": "ratio"}
    (ratio,) = detectable_rates(p2, *people, **common)
    reached = [power_at(*people, p1, p2, alpha) for p1 in (p2 * ratio, p2 / ratio) if p1 <= 1]
    assert min(reached) == pytest.approx(0.8, abs=0.015)
    share = 40 / 440
    (overall,) = detectable_rates(p2, *people, share=share, **{**common, "disparity": "difference"})
    assert power_at(*people, p2 + overall / (1 - share), p2, alpha) == pytest.approx(0.8, abs=0.015)


def test_the_power_is_that_of_the_test_that_is_run():
    # Fisher's test needs more than Boschloo's, and that more than the score test in groups of one size.
    sizes = [
        detectable_rates(0.3, 60, 60, alpha=0.05, power=0.8, method=m)[0] for m in ("permutation", "exact", "bootstrap")
    ]
    assert sizes[0] > sizes[1] > sizes[2]
    region = equality_region(60, 60, 0.05, reference="conditional")
    assert region.probability(0.3 + sizes[0], 0.3) == pytest.approx(0.8, abs=0.005)


def test_among_very_many_people_the_normal_approximation_is_taken():
    people = (0.4, 10**6, 10**6)
    exact, normal = (detectable_rates(*people, alpha=0.05, power=0.8, method=m)[0] for m in ("auto", None))
    assert exact == normal


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 400])
@pytest.mark.parametrize("people", [(2, 4), (1, 30), (15, 40), (12, 900), (60, 120), (150, 1500), (400, 400)])
def test_the_raised_level_that_is_found_fast_is_near_the_certified_one(people, alpha):
    law = given_totals(*people, np.arange(sum(people) + 1), alpha, "two-sided")
    assert nearly_raised_level(*people, alpha) == pytest.approx(raised_level(law, alpha, "two-sided"), rel=0.1)


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
