"""Fisher's exact test of two groups, against SciPy and against exact rational arithmetic."""

from fractions import Fraction
from math import comb, exp, log

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact, norm

from skfairtest.inference.conditional import (
    conditional_log_p,
    support,
)

ALTERNATIVES = ("two-sided", "greater", "less")
REPEATABLE = settings(max_examples=3 * settings.default.max_examples, deadline=None)


@st.composite
def tables(draw, largest=80):
    """x1, d1, x2, d2 with the ends and empty margins drawn often."""
    counts = []
    for _ in range(2):
        d = draw(st.one_of(st.integers(0, 3), st.integers(0, largest)))
        counts += [draw(st.one_of(st.sampled_from([0, d]), st.integers(0, d))), d]
    assume(counts[1] + counts[3] > 0)
    return tuple(counts)


def log_of(value):
    """Natural logarithm of a Fraction of any size."""
    shift = value.denominator.bit_length() - value.numerator.bit_length() + 80
    return log((value.numerator << shift) // value.denominator) - shift * log(2)


def exact_p(x1, d1, x2, d2, chosen):
    """Conditional probability of the outcomes x for which `chosen(x, weight)` holds, in integers."""
    m = x1 + x2
    low, high = max(0, m - d2), min(d1, m)
    weights = {x: comb(d1, x) * comb(d2, m - x) for x in range(low, high + 1)}
    return Fraction(sum(w for x, w in weights.items() if chosen(x, w)), comb(d1 + d2, m))


def exact_fisher(x1, d1, x2, d2, alternative):
    observed = comb(d1, x1) * comb(d2, x2)
    chosen = {
        "two-sided": lambda x, w: w * 10**7 <= observed * (10**7 + 1),  # R's and SciPy's tolerance
        "greater": lambda x, w: x >= x1,
        "less": lambda x, w: x <= x1,
    }[alternative]
    return exact_p(x1, d1, x2, d2, chosen)


@REPEATABLE
@given(tables(largest=400), st.sampled_from(ALTERNATIVES))
@example((0, 1, 1, 1), "two-sided")  # one person in a group
@example((1, 1, 0, 0), "greater")  # nobody in the other
@example((0, 10, 0, 20), "two-sided")  # no event at all
@example((10, 10, 20, 20), "less")  # nothing but events
@example((10, 10, 0, 20), "two-sided")  # complete separation
@example((5, 10, 5, 10), "two-sided")  # the observed table is the mode
def test_the_p_value_is_the_exact_fraction_and_scipys(table, alternative):
    expected = log_of(exact_fisher(*table, alternative))
    assert conditional_log_p(*table, alternative) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    x1, d1, x2, d2 = table
    scipy = fisher_exact([[x1, d1 - x1], [x2, d2 - x2]], alternative=alternative).pvalue
    assert exp(conditional_log_p(*table, alternative)) == pytest.approx(scipy, rel=1e-10, abs=0)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    ("table", "magnitude"),
    [
        ((90, 100, 10, 100), -30),
        ((170, 200, 30, 200), -45),
        ((190, 200, 12, 200), -80),
        ((480, 500, 15, 600), -240),
        ((1000, 1000, 0, 1000), -600),  # far below the smallest float, about 1e-308
        ((1990, 2000, 9, 3000), -1300),
        ((29, 30, 40, 5000), -50),
        ((805, 1795, 349, 1488), -37),  # ProPublica (2016): false positives of black and of white defendants
    ],
)
def test_far_tails_equal_exact_integers(table, magnitude, alternative):
    expected = log_of(exact_fisher(*table, alternative))
    assert conditional_log_p(*table, alternative) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    if alternative != "less":
        assert expected / log(10) < magnitude


def test_the_tea_lady_is_fishers_own_example():
    # Fisher (1935), The Design of Experiments: 3 of 4 cups right, one-sided 17/70; Agresti (2002), table 3.8:
    # two-sided 34/70.
    assert exp(conditional_log_p(3, 4, 1, 4, "greater")) == pytest.approx(17 / 70, rel=1e-13)
    assert exp(conditional_log_p(3, 4, 1, 4)) == pytest.approx(34 / 70, rel=1e-13)


def test_a_log_p_value_is_never_positive_nor_undefined():
    for d1, d2 in [(1, 1), (3, 8), (12, 5)]:
        for x1 in range(d1 + 1):
            for x2 in range(d2 + 1):
                for alternative in ALTERNATIVES:
                    assert -np.inf < conditional_log_p(x1, d1, x2, d2, alternative) <= 0.0


def test_millions_of_people_keep_the_tail():
    # The normal approximation to the hypergeometric tail, with continuity correction, is accurate to order 1/sd here.
    x1, d1, x2, d2 = 503_000, 1_000_000, 500_000, 1_000_000
    m, people = x1 + x2, d1 + d2
    deviation = np.sqrt(m / people * (1 - m / people) * d1 * d2 / (people - 1))
    z = (x1 - 0.5 - m / 2) / deviation
    assert conditional_log_p(x1, d1, x2, d2, "greater") == pytest.approx(norm.logsf(z), rel=1e-4)
    assert conditional_log_p(x1, d1, x2, d2) == pytest.approx(norm.logsf(z) + log(2), rel=1e-4)


def test_the_support_holds_every_possible_split_of_the_events():
    assert support(5, 3, 0) == (0, 0)
    assert support(5, 3, 4) == (1, 4)
    assert support(5, 3, 8) == (5, 5)
    assert support(0, 3, 2) == (0, 0)
