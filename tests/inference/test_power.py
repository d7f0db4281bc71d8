from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from skfairtest.inference import power
from skfairtest.inference.power import comparison_power, rate_power
from skfairtest.inference.power_designs import Design
from skfairtest.inference.rates import Question


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
