import json
from pathlib import Path

import pytest
from statsmodels.stats.proportion import power_proportions_2indep

from skfairtest.inference.power_designs import estimate_power, hanley_mcneil, normal_power
from skfairtest.inference.rates import Question

GOLDEN = json.loads((Path(__file__).parent / "golden" / "power.json").read_text())


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
