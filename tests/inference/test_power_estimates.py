import json
from pathlib import Path

import pytest
from statsmodels.stats.power import TTestIndPower

from skfairtest.inference.power import estimates_power
from skfairtest.inference.power_designs import Design
from skfairtest.inference.rates import Question

GOLDEN = json.loads((Path(__file__).parent / "golden" / "power.json").read_text())


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
