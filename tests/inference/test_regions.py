import numpy as np
import pytest
from scipy.stats import fisher_exact

from skfairtest.inference.regions import (
    conditional_p_values,
    conditional_region,
    probability_of,
    unconditional_region,
)
from skfairtest.inference.unconditional import unconditional_log_p

DESIGNS = [(3, 4), (7, 7), (5, 20), (12, 9)]


@pytest.mark.parametrize(("d1", "d2"), DESIGNS)
def test_conditional_p_values_of_all_outcomes_are_fishers(d1, d2):
    ours = conditional_p_values(d1, d2)
    for x1 in range(d1 + 1):
        for x2 in range(d2 + 1):
            theirs = fisher_exact([[x1, d1 - x1], [x2, d2 - x2]]).pvalue
            assert ours[x1, x2] == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(("d1", "d2"), DESIGNS)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_unconditional_region_holds_the_outcomes_that_the_test_rejects(d1, d2, alpha):
    region = unconditional_region(d1, d2, alpha)
    for x1 in range(d1 + 1):
        for x2 in range(d2 + 1):
            p = np.exp(unconditional_log_p(x1, d1, x2, d2))
            if abs(p - alpha) > 1e-4 * alpha:  # the two certificates differ by less than this
                assert region[x1, x2] == (p <= alpha)


@pytest.mark.parametrize(("d1", "d2"), DESIGNS)
def test_unconditional_region_contains_fishers_and_keeps_the_level(d1, d2):
    region = unconditional_region(d1, d2)
    assert (region >= conditional_region(d1, d2)).all()
    sizes = [probability_of(region, p, p) for p in np.linspace(0, 1, 501)]
    assert max(sizes) <= 0.05 + 1e-12


def test_power_equals_the_published_figures():
    # 93 people per group, .3 against .5: Fisher's test .7511, Boschloo's .7906, by enumeration.
    assert probability_of(conditional_region(93, 93), 0.3, 0.5) == pytest.approx(0.7511, abs=5e-5)
    assert probability_of(unconditional_region(93, 93), 0.3, 0.5) == pytest.approx(0.7906, abs=5e-5)


def test_certain_rates_hit_a_region_always_or_never():
    region = conditional_region(10, 10)
    assert probability_of(region, 0.0, 1.0) == 1.0
    assert probability_of(region, 0.0, 0.0) == 0.0
