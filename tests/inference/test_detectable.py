"""The smallest disparity that could have been shown, against power functions and simulation."""

import numpy as np
import pytest
from scipy.stats import binom, norm
from statsmodels.stats.power import NormalIndPower

from skfairtest.inference.detectable import TwoRates, detectable_estimates, detectable_rates, nearly_boschloos_level
from skfairtest.inference.power import comparison_power
from skfairtest.inference.power_designs import estimate_power, normal_power, values_tested
from skfairtest.inference.rates import Question
from skfairtest.inference.regions import boschloos_level, is_rejected
from skfairtest.metrics.rates import f1_of_jaccard


def size_of(other, d1, d2, disparity="difference", share=0.0, method=None, alpha=0.05, **asked):
    """Return the size that is found of one table, by normal approximation unless a method is named."""
    question = Question(disparity, "two-sided", None, method or "auto")
    asked = {"power": 0.8, "accuracy": "quick" if method else "normal", **asked}
    (size,) = detectable_rates([TwoRates(other, d1, d2, share)], question, alpha=alpha, **asked)
    return size


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize(
    ("p2", "d1", "d2", "alpha"), [(0.3, 93, 93, 0.05), (0.1, 500, 4000, 1e-4), (0.6, 30, 1000, 0.01)]
)
def test_the_farther_of_both_ways_has_the_power_asked_for(p2, d1, d2, alpha, disparity):
    size = size_of(p2, d1, d2, disparity, alpha=alpha)
    both = (p2 + size, p2 - size) if disparity == "difference" else (p2 * size, p2 / size)
    reached = [normal_power(p1, d1, p2, d2, Question(), alpha) for p1 in both if 0 <= p1 <= 1]
    assert min(reached) == pytest.approx(0.8, abs=1e-3)


def test_with_room_on_one_side_only_that_side_counts():
    size = size_of(0.0, 100, 100)
    assert normal_power(size, 100, 0.0, 100, Question(), 0.05) == pytest.approx(0.8, abs=1e-6)
    mirrored = size_of(1.0, 100, 100)
    assert mirrored == pytest.approx(size)


def power_at(d1, d2, p1, p2, alpha):
    """Power of the certified test, enumerated."""
    return comparison_power(d1, d2, p1, p2, Question(), alpha)[0]


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 20, 0.05 / 400])
@pytest.mark.parametrize("people", [(50, 50), (30, 1000), (200, 200), (5, 300), (900, 12), (300, 1500)])
@pytest.mark.parametrize("p2", [0.05, 0.3, 0.5])
def test_the_exact_power_at_the_size_is_the_one_that_is_named_and_at_least_that_the_other_way(people, p2, alpha):
    # By normal approximation it was .54 for 30 against 1,000 at a rate of .02 and the level of 1 of 400 comparisons.
    common = {"alpha": alpha, "method": "auto"}
    up, down, farther = (size_of(p2, *people, direction=way, **common) for way in ("up", "down", "farther"))
    for size, sign, room in ((up, 1, 1 - p2), (down, -1, p2)):
        if np.isfinite(size):
            assert 0.785 <= power_at(*people, p2 + sign * size, p2, alpha) <= 0.815
        else:
            assert power_at(*people, p2 + sign * room, p2, alpha) < 0.8
    sizes = [size for size in (up, down) if np.isfinite(size)]
    assert farther == pytest.approx(max(sizes, default=np.inf), rel=1e-12)


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("method", ["auto", "permutation", "asymptotic"])
@pytest.mark.parametrize("people", [(50, 50), (20, 300), (300, 20), (400, 400)])
@pytest.mark.parametrize(("p2", "alpha"), [(0.15, 0.05), (0.5, 0.05 / 400), (0.85, 0.05 / 20)])
def test_the_size_of_a_one_sided_test_has_the_power_of_its_own_region(people, p2, alpha, method, alternative):
    # At the level of a two-sided test with twice the alpha it was .757 for a power of .8.
    sign, question = 1 if alternative == "greater" else -1, Question(alternative=alternative, method=method)
    asked = {"alpha": alpha, "power": 0.8, "direction": "up" if sign > 0 else "down"}
    (size,) = detectable_rates([TwoRates(p2, *people)], question, **asked)
    p1 = p2 + sign * size if np.isfinite(size) else float(sign > 0)
    events = np.ogrid[: people[0] + 1, : people[1] + 1]
    region = is_rejected(events[0], people[0], events[1], people[1], question, alpha)
    power = binom.pmf(events[0][:, 0], people[0], p1) @ region @ binom.pmf(events[1][0], people[1], p2)
    assert 0.785 <= power <= 0.815 if np.isfinite(size) else power < 0.8


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("method", ["auto", "permutation", "asymptotic"])
@pytest.mark.parametrize("disparity", ["difference", "ratio", "odds_ratio"])
@pytest.mark.parametrize("people", [(10, 2000), (57, 10_751), (2000, 10), (93, 300)])
@pytest.mark.parametrize("p2", [0.0, 0.005, 0.3])
def test_a_size_is_found_where_equal_rates_are_hardly_ever_rejected(people, p2, disparity, method, alternative):
    # For 10 against 2,000 none of whom is selected, the size was 0.
    question, sign = Question(disparity, alternative, None, method), -1 if alternative == "less" else 1
    asked = {"alpha": 0.05, "power": 0.8, "direction": "up" if sign > 0 else "down"}
    (size,) = detectable_rates([TwoRates(p2, *people)], question, **asked)
    if disparity != "difference" and p2 == 0:
        assert np.isnan(size)
    elif np.isinf(size):
        assert comparison_power(*people, float(sign > 0), p2, question, 0.05)[0] < 0.8
    else:
        odds = p2 / (1 - p2) * size**sign
        moved = {"difference": p2 + sign * size, "ratio": p2 * size**sign, "odds_ratio": odds / (1 + odds)}
        assert comparison_power(*people, moved[disparity], p2, question, 0.05)[0] == pytest.approx(0.8, abs=0.015)


def test_where_only_the_exact_test_has_the_power_its_size_is_named():
    # 56 points less: no disparity at all by normal approximation, and a power of .91.
    people, p2, alpha = (10, 300), 0.56, 0.05 / 100
    assert np.isinf(size_of(p2, *people, alpha=alpha))
    assert power_at(*people, 0.0, p2, alpha) > 0.8
    size = size_of(p2, *people, method="auto", alpha=alpha)
    assert power_at(*people, p2 - size, p2, alpha) == pytest.approx(0.8, abs=0.015)


def test_ratios_and_disparities_to_everyone_are_found_with_the_power_too():
    people, p2, alpha = (40, 400), 0.2, 0.01
    ratio = size_of(p2, *people, "ratio", alpha=alpha, method="exact")
    reached = [power_at(*people, p1, p2, alpha) for p1 in (p2 * ratio, p2 / ratio) if p1 <= 1]
    assert min(reached) == pytest.approx(0.8, abs=0.015)
    share = 40 / 440
    overall = size_of(p2, *people, share=share, alpha=alpha, method="exact")
    assert power_at(*people, p2 + overall / (1 - share), p2, alpha) == pytest.approx(0.8, abs=0.015)


def test_the_power_is_that_of_the_test_that_is_run():
    # Fisher's test needs more than Boschloo's, and that more than the score test in groups of one size.
    sizes = [size_of(0.3, 60, 60, method=method) for method in ("permutation", "exact", "bootstrap")]
    assert sizes[0] > sizes[1] > sizes[2]
    power, _ = comparison_power(60, 60, 0.3 + sizes[0], 0.3, Question(method="permutation"), 0.05)
    assert power == pytest.approx(0.8, abs=0.005)


def test_among_very_many_people_the_normal_approximation_is_taken():
    people = (0.4, 10**6, 10**6)
    exact, normal = (size_of(*people, method=method) for method in ("auto", None))
    assert exact == normal


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 400])
@pytest.mark.parametrize("people", [(2, 4), (1, 30), (15, 40), (12, 900), (60, 120), (150, 1500), (400, 400)])
def test_the_raised_level_that_is_found_fast_is_near_the_certified_one(people, alpha):
    level = nearly_boschloos_level(*people, alpha, "two-sided")
    assert level == pytest.approx(boschloos_level(*people, alpha, "two-sided"), rel=0.1)


@pytest.mark.parametrize(
    ("people", "p2", "alpha", "alternative", "sign"),
    [
        ((27, 938), 0.35, 0.01, "two-sided", -1),
        ((14, 2720), 0.2, 0.0083, "greater", 1),
    ],
)
def test_a_small_group_beside_a_far_larger_one_has_the_power(people, p2, alpha, alternative, sign):
    # P-values hardly change with the number of events: a level 3% too small leaves out whole columns of outcomes.
    question = Question(alternative=alternative)
    (size,) = detectable_rates(
        [TwoRates(p2, *people)], question, alpha=alpha, power=0.8, direction="up" if sign > 0 else "down"
    )
    assert comparison_power(*people, p2 + sign * size, p2, question, alpha)[0] == pytest.approx(0.8, abs=0.01)


def test_too_few_people_could_have_shown_nothing():
    assert np.isinf(size_of(0.5, 3, 1000, alpha=1e-4))


def test_a_share_of_everyone_shrinks_what_is_shown():
    rest = size_of(0.3, 200, 800)
    overall = size_of(0.3, 200, 800, share=0.2)
    assert overall == pytest.approx(0.8 * rest)
    ratio = size_of(0.3, 200, 800, "ratio", share=0.2)
    assert 1 < ratio < size_of(0.3, 200, 800, "ratio")


def test_more_people_show_less():
    sizes = [size_of(0.4, n, n) for n in (50, 500, 5000)]
    assert (np.diff(sizes) < 0).all()


def test_estimates_are_found_at_both_quantiles_from_the_edge():
    effect = NormalIndPower().solve_power(nobs1=100, ratio=1, alpha=0.01, power=0.8)
    (size,) = detectable_estimates(np.sqrt(2 / 100), Question(), alpha=0.01, power=0.8)
    assert size == pytest.approx(effect, rel=1e-3)
    (beyond,) = detectable_estimates(0.1, Question(margin_bounds=(-0.2, 0.2)), alpha=0.05, power=0.8)
    assert beyond == pytest.approx(0.2 + 0.1 * (norm.isf(0.025) + norm.isf(0.2)))
    question = Question("ratio", margin_bounds=(0.8, 1.25))
    (ratio,) = detectable_estimates(0.1, question, alpha=0.05, power=0.8)
    assert ratio == pytest.approx(1.25 * np.exp(0.1 * (norm.isf(0.025) + norm.isf(0.2))))


def test_no_error_is_no_knowledge():
    assert np.isnan(detectable_estimates([0.0, np.nan], Question(), alpha=0.05, power=0.8)).all()


def test_a_direction_can_be_asked_for():
    up, down = (size_of(0.05, 400, 400, alpha=0.1, direction=way) for way in ("up", "down"))
    assert down < up == size_of(0.05, 400, 400, alpha=0.1)


def test_no_ratio_to_zero_is_known():
    assert np.isnan(size_of(0.0, 100, 100, "ratio"))


QUESTIONS = (
    Question(), Question(method="asymptotic"), Question(alternative="greater"), Question("ratio", "less"),
    Question(margin_bounds=(-0.05, 0.05)),
    # These ask for more people: of fewer no equivalence could be shown.
    Question("ratio", margin_bounds=(0.8, 1.25)), Question("difference", "greater", (-0.05, 0.05)),
    Question("difference", "equivalence", (-0.35, 0.35)),
)  # fmt: skip


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 50])
@pytest.mark.parametrize(("question", "people"), [
    *((question, (70, 80)) for question in QUESTIONS[:5]),
    *(pytest.param(question, (120, 150), marks=pytest.mark.slow) for question in QUESTIONS),
])  # fmt: skip
def test_at_an_exact_size_every_kind_of_test_has_the_power_that_is_named(question, people, alpha):
    table = TwoRates(0.4, *people)
    only = {"greater": [1], "less": [-1]}.get(question.alternative, [1, -1])
    for sign in only:
        way = "up" if sign > 0 else "down"
        common = {"alpha": alpha, "power": 0.8, "direction": way}
        (size,) = detectable_rates([table], question, accuracy="exact", **common)
        p1 = 0.4 + sign * size if question.disparity == "difference" else 0.4 * size**sign
        assert comparison_power(*people, p1, 0.4, question, alpha)[0] == pytest.approx(0.8, abs=1e-5)
        # By normal approximation it was .46 to .96 where only the standard error was looked at.
        (quick,) = detectable_rates([table], question, **common)
        p1 = 0.4 + sign * quick if question.disparity == "difference" else 0.4 * quick**sign
        assert comparison_power(*people, p1, 0.4, question, alpha)[0] == pytest.approx(0.8, abs=0.06)


def test_a_margin_to_everyone_is_farther_from_the_rest():
    question = Question(margin_bounds=(-0.05, 0.05))
    common = {"alpha": 0.05, "power": 0.8, "accuracy": "exact"}
    (size,) = detectable_rates([TwoRates(0.4, 20, 60, 0.25)], question, direction="up", **common)
    power, _ = comparison_power(20, 60, 0.4 + size / 0.75, 0.4, question, 0.05, share=0.25)
    assert power == pytest.approx(0.8, abs=1e-5)


def test_a_function_of_a_rate_has_the_power_of_its_rate():
    jaccard, f1 = (
        detectable_rates([TwoRates(0.4, 120, 150, 0.0, value)], Question(), alpha=0.05, power=0.8, direction="up")[0]
        for value in (lambda p: p, f1_of_jaccard)
    )
    assert f1 == pytest.approx(f1_of_jaccard(0.4 + jaccard) - f1_of_jaccard(0.4))


@pytest.mark.parametrize("question", [
    Question("difference", "equivalence", (-0.2, 0.2)), Question("ratio", "equivalence", (0.8, 1.25)),
    Question("difference", "less"),
])  # fmt: skip
def test_estimates_are_certified_or_found_one_way_with_the_power_that_is_named(question):
    (size,) = detectable_estimates(0.05, question, alpha=0.05, power=0.8)
    at = np.log(size) if question.disparity == "ratio" else size
    at = -at if question.alternative == "less" else at
    distances = [(at - value, side) for value, side in values_tested(question)]
    assert estimate_power(distances, 0.05, 0.05, question.alternative) == pytest.approx(0.8, abs=1e-5)
    assert np.isinf(
        detectable_estimates(10.0, Question("difference", "equivalence", (-0.2, 0.2)), alpha=0.05, power=0.8)
    )
