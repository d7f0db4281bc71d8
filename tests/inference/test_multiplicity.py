"""Adjusted p-values against R's, statsmodels' and their own definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from skfairtest.inference.multiplicity import (
    ADJUSTMENTS,
    FAMILYWISE,
    bonferroni,
    fdr_bh,
    fdr_by,
    holm,
    unadjusted,
)

NAMED = {name: function for name, function in ADJUSTMENTS.items() if name}
# R: p <- c(0.01, 0.02, 0.03, 0.04, 0.05); p.adjust(p, "holm") and so on; by hand: 5 x .01, 4 x .02, 3 x .03, ...;
# "BY" is "BH" times 1 + 1/2 + 1/3 + 1/4 + 1/5 = 137/60.
P = np.array([0.01, 0.02, 0.03, 0.04, 0.05])
R = {
    "holm": [0.05, 0.08, 0.09, 0.09, 0.09],
    "bonferroni": [0.05, 0.10, 0.15, 0.20, 0.25],
    "fdr_bh": [0.05, 0.05, 0.05, 0.05, 0.05],
    "fdr_by": [0.05 * 137 / 60] * 5,
}
FAMILIES = st.lists(st.floats(1e-300, 1.0), min_size=1, max_size=12)
REPEATABLE = settings(max_examples=2 * settings.default.max_examples, deadline=None, derandomize=True, database=None)


@pytest.mark.parametrize("name", NAMED)
def test_adjusted_p_values_are_those_that_r_prints(name):
    np.testing.assert_allclose(np.exp(NAMED[name](np.log(P))), R[name], rtol=1e-12)


@settings(REPEATABLE, max_examples=settings.default.max_examples)
@given(FAMILIES, st.sampled_from(list(NAMED)))
def test_adjusted_p_values_equal_statsmodels(p, name):
    expected = multipletests(p, method=name)[1]
    np.testing.assert_allclose(np.exp(NAMED[name](np.log(p))), expected, rtol=1e-10)


@REPEATABLE
@given(FAMILIES, st.sampled_from(list(NAMED)), st.randoms(use_true_random=False))
def test_the_order_of_the_family_does_not_matter(p, name, random):
    order = list(range(len(p)))
    random.shuffle(order)
    log_p = np.log(p)
    np.testing.assert_allclose(NAMED[name](log_p)[order], NAMED[name](log_p[order]), atol=1e-12)


@REPEATABLE
@given(FAMILIES)
def test_no_adjustment_makes_a_p_value_smaller_or_larger_than_one(p):
    log_p = np.log(p)
    for name, function in NAMED.items():
        assert (function(log_p) >= log_p - 1e-12).all(), name
        assert (function(log_p) <= 0).all(), name
    assert (holm(log_p) <= bonferroni(log_p) + 1e-12).all()
    assert (fdr_bh(log_p) <= holm(log_p) + 1e-12).all()
    assert (fdr_bh(log_p) <= fdr_by(log_p) + 1e-12).all()


@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_one_question_needs_no_adjustment(name):
    np.testing.assert_allclose(ADJUSTMENTS[name](np.array([-3.0])), [-3.0], atol=1e-14)


@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_no_question_has_no_answer(name):
    assert ADJUSTMENTS[name](np.array([])).shape == (0,)


def test_p_values_below_the_smallest_float_are_adjusted_on_their_logarithms():
    log_p = np.array([-5000.0, -4000.0, -1.0])
    np.testing.assert_allclose(holm(log_p), [-5000 + np.log(3), -4000 + np.log(2), -1], rtol=1e-15)
    np.testing.assert_allclose(fdr_bh(log_p), [-5000 + np.log(3), -4000 + np.log(1.5), -1], rtol=1e-15)


def test_equal_p_values_stay_equal():
    log_p = np.log([0.03, 0.01, 0.03, 0.01])
    for function in NAMED.values():
        adjusted = function(log_p)
        assert adjusted[0] == adjusted[2]
        assert adjusted[1] == adjusted[3]


def test_without_adjustment_nothing_changes_and_the_input_is_not_shared():
    log_p = np.array([-1.0, -2.0])
    out = unadjusted(log_p)
    out[0] = 5.0
    assert log_p[0] == -1.0


def test_false_discovery_rules_are_not_familywise():
    assert {"holm", "bonferroni", "max_t"} == FAMILYWISE
