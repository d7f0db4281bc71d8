"""Corrected rates: exact without errors and for expected counts, and intervals that cover."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from skfairtest.inference.misclassified import Corrected
from skfairtest.metrics import RATES
from skfairtest.metrics.rates import CELLS

RATES_OF_TRUTH = ["true_positive_rate", "false_positive_rate", "precision", "accuracy", "jaccard"]


def recorded(true, positive, negative):
    """Shares of the four recorded cells, from those of the true ones."""
    a, b, c, d = true
    return np.array(
        [
            (1 - negative) * a + positive * c,
            (1 - negative) * b + positive * d,
            negative * a + (1 - positive) * c,
            negative * b + (1 - positive) * d,
        ]
    )


@pytest.mark.parametrize("name", RATES_OF_TRUTH)
@pytest.mark.parametrize("errors", [(0.0, 0.0), (0.1, 0.2), (0.3, 0.05)])
def test_expected_counts_are_turned_back_into_the_true_rate(name, errors):
    true = np.array([300, 150, 100, 450])
    event, given = RATES[name].masks(CELLS)
    found = Corrected.of(recorded(true, *errors), event, given, errors, 1.96)
    assert found.value == pytest.approx(true[event].sum() / true[given].sum())
    assert 0 <= found.low < found.value < found.high <= 1


def test_without_errors_limits_are_about_wilsons():
    event, given = RATES["true_positive_rate"].masks(CELLS)
    found = Corrected.of(np.array([300, 100, 100, 500]), event, given, (0.0, 0.0), 1.96)
    assert (found.low, found.high) == pytest.approx(proportion_confint(300, 400, method="wilson"), abs=0.003)


def test_where_errors_explain_every_positive_label_nothing_is_known():
    event, given = RATES["true_positive_rate"].masks(CELLS)
    found = Corrected.of(np.array([1, 1, 40, 60]), event, given, (0.2, 0.0), 1.96)
    assert np.isnan([found.value, found.low, found.high]).all()


@pytest.mark.parametrize("name", RATES_OF_TRUTH)
def test_intervals_cover_the_true_rate(name, thorough):
    """95% intervals, of 60 people to 2,000; with 4 standard errors of the simulation, and a point of approximation."""
    rng, n = np.random.default_rng(20261125), 4000 if thorough else 300
    event, given = RATES[name].masks(CELLS)
    for people, true, errors in [
        (2000, [0.3, 0.2, 0.1, 0.4], (0.05, 0.1)),
        (200, [0.3, 0.2, 0.1, 0.4], (0.1, 0.2)),
        (60, [0.3, 0.1, 0.2, 0.4], (0.02, 0.05)),
    ]:
        value = np.array(true)[event].sum() / np.array(true)[given].sum()
        drawn = rng.multinomial(people, recorded(true, *errors), n)
        found = [Corrected.of(cells, event, given, errors, 1.959964) for cells in drawn]
        covered = np.mean([one.low <= value <= one.high for one in found])
        assert covered >= 0.95 - 0.012 - 4 * np.sqrt(0.95 * 0.05 / n)
