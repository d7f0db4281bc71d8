import numpy as np
import pytest

from skfairtest.inference.power import smallest_distances, smallest_size
from skfairtest.inference.power_designs import Computed


def test_a_size_is_the_smallest_from_which_power_stays():
    # A saw-tooth: 40 and 42 to 44 have the power, 45 has not, 46 onwards have.
    teeth = {40: 0.81, 42: 0.82, 43: 0.82, 44: 0.83, 45: 0.79}
    power = {n: teeth.get(n, 0.9 if n >= 46 else 0.7) for n in range(1, 200)}
    assert smallest_size(lambda n: Computed(power[n], "exact"), 0.8) == 46
    assert smallest_size(lambda n: Computed(float(n >= 70_000_000), "normal"), 0.8) == 70_000_000
    assert smallest_size(lambda n: Computed(0.5, "normal"), 0.8) == -1


def test_distances_are_found_or_there_are_none():
    found = smallest_distances(lambda v: v, 0.8, np.array([1.0, 0.9, 0.7, 0.0]))
    assert found[:2] == pytest.approx(0.8, abs=1e-9)
    assert np.isnan(found[2:]).all()
    assert smallest_distances(lambda v: 0.9 + 0 * v, 0.8, np.ones(1)) == pytest.approx(0, abs=1e-9)


def test_a_simulated_power_that_goes_up_in_steps_is_found_where_it_reaches_the_one_wanted():
    (found,) = smallest_distances(lambda v: np.floor(v * 50) / 50, 0.81, np.ones(1))
    assert found == pytest.approx(0.82, abs=1e-6)
    assert np.floor(found * 50) / 50 >= 0.81
