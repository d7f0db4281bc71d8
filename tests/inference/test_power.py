"""Power: of enumerated designs, of estimates and by normal approximation, against R, statsmodels and enumeration."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.power import TTestIndPower
from statsmodels.stats.proportion import power_proportions_2indep

from skfairtest.inference import power
from skfairtest.inference.power import (
    comparison_power,
    estimates_power,
    rate_power,
    smallest_distances,
    smallest_size,
)
from skfairtest.inference.power_designs import (
    Computed,
    Design,
    denominators,
    estimate_power,
    hanley_mcneil,
    normal_power,
)
from skfairtest.inference.rates import Question

GOLDEN = json.loads((Path(__file__).parent / "golden" / "power.json").read_text())


def whole_average(n, share, p):
    """Average over all denominators with no node left out."""
    first, second = (binom.pmf(np.arange(m + 1), m, s) for m, s in zip(n, share, strict=True))
    total = 0.0
    for a, b in product(range(1, n[0] + 1), range(1, n[1] + 1)):
        if first[a] * second[b] > 1e-7:
            total += first[a] * second[b] * comparison_power(a, b, *p, Question(), 0.05)[0]
    return total


@pytest.mark.slow
def test_power_is_averaged_over_denominators_and_lower_than_at_their_means():
    design = Design((80, 80), (0.3, 0.2), ((0.5, 0.9),), Question(), ((0, 1),), False, 0.05)
    averaged = rate_power(design)
    assert averaged.method == "averaged"
    assert averaged.value == pytest.approx(whole_average((80, 80), (0.3, 0.2), (0.5, 0.9)), abs=2e-3)
    assert averaged.value < comparison_power(24, 16, 0.5, 0.9, Question(), 0.05)[0]


@pytest.mark.slow
def test_two_groups_are_the_same_simulated_as_enumerated():
    rates = ((0.4, 0.7), (0.1, 0.3))
    design = Design((120, 90), (0.4, 0.3), rates, Question(), ((0, 1),), False, 0.05)
    simulated = power._simulated(design, 20_000)
    assert simulated.value == pytest.approx(rate_power(design).value, abs=4 * simulated.error + 0.004)


@pytest.mark.slow
def test_both_rates_of_two_groups_must_be_certified_for_equivalence():
    question = Question("difference", "equivalence", (-0.3, 0.3))
    one = Design((100, 100), (1.0, 1.0), ((0.5, 0.5),), question, ((0, 1),), False, 0.05)
    alone = rate_power(one).value
    design = Design((200, 200), (0.5, 0.5), ((0.5, 0.5),) * 2, question, ((0, 1),), False, 0.05)
    assert rate_power(design).value == pytest.approx(alone**2, abs=0.02)


@pytest.mark.parametrize(("n", "share"), [(50, 0.3), (1000, 0.05), (100_000, 0.5)])
@pytest.mark.parametrize("spacing", [0.2, 0.5, 1.0])
def test_nodes_average_cubics_exactly(n, share, spacing):
    nodes, weights = denominators(n, share, spacing)
    mean, spread = n * share, np.sqrt(n * share * (1 - share))
    z = (nodes - mean) / spread
    assert weights.sum() == pytest.approx(1)
    assert weights @ z == pytest.approx(0, abs=2e-3)
    assert weights @ z**2 == pytest.approx(1, abs=5e-3)
    assert weights @ z**3 == pytest.approx((1 - 2 * share) / spread, abs=2e-2)


def test_power_of_means_is_that_of_r_and_of_statsmodels():
    case = GOLDEN["power_t_test"]["power"]
    question = Question()
    design = Design((20, 20), (1.0, 1.0), (((1.0, 1.0), (0.0, 1.0)),), question, ((0, 1),), False, 0.05)
    assert estimates_power(design).value == pytest.approx(case["value"], abs=1e-6)
    unequal = Design((30, 30), (1.0, 1.0), (((0.6, 1.0), (0.0, 1.0)),), question, ((0, 1),), False, 0.01)
    theirs = TTestIndPower().power(0.6, 30, 0.01)
    # The integral over the distribution of the pooled variance, with 30 digits by mpmath.
    exact = 0.375130366912756519
    assert estimates_power(unequal).value == pytest.approx(exact, abs=1e-9)
    # With SciPy 1.11 statsmodels is 3e-9 away from it.
    assert theirs == pytest.approx(exact, abs=1e-8)


def test_normal_power_is_rs():
    power = GOLDEN["power_prop_test"]["power"]
    found = normal_power(power["p1"], power["n"], power["p2"], power["n"], Question(), 0.05)
    assert found == pytest.approx(power["value"], abs=5e-4)
    size = GOLDEN["power_prop_test"]["size"]
    at = [normal_power(0.5, n, 0.75, n, Question(), 0.05) for n in (size["value"] - 0.05, size["value"] + 0.05)]
    assert at[0] < size["power"] < at[1]
    p2 = GOLDEN["power_prop_test"]["p2"]
    assert normal_power(0.5, 50, p2["value"], 50, Question(), 0.05) == pytest.approx(p2["power"], abs=1e-4)


@pytest.mark.parametrize(("p1", "p2", "n1", "n2"), [(0.3, 0.5, 93, 93), (0.1, 0.3, 200, 50)])
def test_normal_power_is_that_of_statsmodels(p1, p2, n1, n2):
    # Its standard error under the null hypothesis weighs the groups equally, which is ours for equal sizes only.
    theirs = power_proportions_2indep(p1 - p2, p2, n1, ratio=n2 / n1, alpha=0.05).power
    assert normal_power(p1, n1, p2, n2, Question(), 0.05) == pytest.approx(theirs, abs=1e-3 if n1 == n2 else 0.05)


def test_hanley_and_mcneils_standard_error_is_that_of_their_formula():
    area, n1, n0 = 0.7, 30.0, 70.0
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (area * (1 - area) + (n1 - 1) * (q1 - area**2) + (n0 - 1) * (q2 - area**2)) / (n1 * n0)
    assert float(hanley_mcneil(area, n1, n0)) == pytest.approx(variance**0.5)


def test_estimate_power_with_certain_estimates():
    assert estimate_power([(0.1, "greater")], 0.0, 0.05, "greater") == 1.0
    assert estimate_power([(-0.1, "greater")], 0.0, 0.05, "greater") == 0.0


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
