import pytest

from skfairtest.inference.power_designs import Computed
from skfairtest.inference.power_search import smallest_disparity, smallest_size


def test_a_size_is_the_smallest_from_which_power_stays():
    # A saw-tooth: 40 and 42 to 44 have the power, 45 has not, 46 onwards have.
    teeth = {40: 0.81, 42: 0.82, 43: 0.82, 44: 0.83, 45: 0.79}
    power = {n: teeth.get(n, 0.9 if n >= 46 else 0.7) for n in range(1, 200)}
    for start in (2, 40, 43, 60):
        assert smallest_size(lambda n: Computed(power[n], "exact"), 0.8, start) == 46


def test_a_disparity_is_found_by_bisection_or_not_at_all():
    assert smallest_disparity(lambda v: v, 0.8, 0.0, 1.0) == pytest.approx(0.8, abs=1e-6)
    assert smallest_disparity(lambda v: v / 2, 0.8, 0.0, 1.0) is None
