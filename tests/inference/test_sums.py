"""Subgroups tested by their sums: against Fisher's and Welch's tests, and discrete Holm by enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact, hypergeom, ttest_ind

from skfairtest.inference.conditional import stratified_log_p
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.multiplicity import holm, tarone_holm
from skfairtest.inference.sums import MeanSums, RateSums

ALTERNATIVES = ["two-sided", "greater", "less"]
RNG = np.random.default_rng(11)


def rates(n, strata):
    d1, d2 = RNG.integers(0, 30, (n, strata)), RNG.integers(1, 200, (n, strata))
    x1, x2 = RNG.binomial(d1, 0.4), RNG.binomial(d2, 0.2)
    return np.stack([x1, d1], axis=2).astype(float), np.stack([x2, d2], axis=2).astype(float)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_a_rate_has_fishers_p_value_and_none_is_below_the_smallest(alternative, thorough):
    own, rest = rates(200 if thorough else 40, 1)
    log_p, smallest = RateSums(Scale()).log_p(own, rest, alternative)
    for (x1, d1), (x2, d2), found, least in zip(own[:, 0], rest[:, 0], np.exp(log_p), np.exp(smallest), strict=True):
        table = [[x1, d1 - x1], [x2, d2 - x2]]
        assert found == pytest.approx(fisher_exact(table, alternative).pvalue if d1 else 1.0, rel=1e-9)
        total = int(x1 + x2)
        ends = (max(0, total - int(d2)), min(int(d1), total))
        attainable = [
            fisher_exact([[x, d1 - x], [total - x, d2 - total + x]], alternative).pvalue
            for x in range(ends[0], ends[1] + 1)
        ]
        assert least <= min(attainable) * (1 + 1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_a_rate_in_strata_has_the_exact_stratified_p_value(alternative):
    own, rest = rates(20, 3)
    log_p, smallest = RateSums(Scale()).log_p(own, rest, alternative)
    for first, second, found in zip(own.astype(int), rest.astype(int), log_p, strict=True):
        some = (first[:, 1] > 0) & (second[:, 1] > 0)
        assert found == pytest.approx(
            stratified_log_p(first[some, 0], first[some, 1], second[some, 0], second[some, 1], alternative)
        )
    assert (smallest <= log_p + 1e-9).all()


def test_scores_are_standardized_given_the_totals():
    """By the moments of scipy's hypergeometric distribution."""
    own, rest = rates(50, 2)
    scores = RateSums(Scale()).scores(own, rest)
    for first, second, z in zip(own, rest, scores, strict=True):
        kept = [(x1, d1, x2, d2) for (x1, d1), (x2, d2) in zip(first, second, strict=True) if d1]
        laws = [hypergeom(d1 + d2, x1 + x2, d1) for x1, d1, x2, d2 in kept]
        variance = sum(law.var() for law in laws)
        expected = (sum(k[0] for k in kept) - sum(law.mean() for law in laws)) / np.sqrt(variance) if variance else 0.0
        assert z == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_a_mean_has_welchs_p_value_and_interval(alternative):
    groups = [(RNG.lognormal(size=RNG.integers(5, 40)), RNG.normal(1, 3, size=200)) for _ in range(20)]
    sides = [np.array([[[len(z), z.sum(), (z * z).sum()]] for z in side]) for side in zip(*groups, strict=True)]
    sums = MeanSums(0.0)
    log_p, smallest = sums.log_p(*sides, alternative)
    assert (smallest == -np.inf).all()
    for row, (first, second) in enumerate(groups):
        test = ttest_ind(first, second, equal_var=False, alternative=alternative)
        assert np.exp(log_p[row]) == pytest.approx(test.pvalue, rel=1e-9)
        assert sums.scores(*sides)[row] == pytest.approx(test.statistic)
        interval = test.confidence_interval(0.99)
        assert sums.limits(sides[0][row], sides[1][row], alternative, 0.01) == pytest.approx(tuple(interval))


def test_people_who_are_all_alike_are_no_evidence_of_a_mean():
    own, rest = np.array([[[5.0, 5.0, 5.0]]]), np.array([[[9.0, 0.0, 0.0]]])
    assert MeanSums(0.0).log_p(own, rest, "two-sided")[0] == 0.0


def test_values_are_averaged_over_strata_that_have_both_sides():
    own = np.array([[[3.0, 10.0], [1.0, 5.0], [2.0, 2.0]]])
    rest = np.array([[[4.0, 40.0], [0.0, 5.0], [0.0, 0.0]]])
    weights = np.array([10 * 40 / 50, 5 * 5 / 10])
    first, second = RateSums(Scale()).values(own, rest)
    assert first[0] == pytest.approx((weights * [0.3, 0.2]).sum() / weights.sum())
    assert second[0] == pytest.approx((weights * [0.1, 0.0]).sum() / weights.sum())


# Multiplicity that knows which p-values there can be ------------------------------------------------------------------


def p_values(d1, d2, m):
    """Every outcome of a table with its probability and Fisher's p-value, and the smallest p-value."""
    low, high = max(0, m - d2), min(d1, m)
    pmf = hypergeom(d1 + d2, m, d1).pmf(np.arange(low, high + 1))
    p = [pmf[pmf <= one * (1 + 1e-7)].sum() for one in pmf]
    return list(zip(pmf, p, strict=True)), min(p)


def false_positives(tables, level):
    """Enumerate the probability that any of some independent true hypotheses is rejected."""
    outcomes, smallest = zip(*(p_values(*table) for table in tables), strict=True)
    out = 0.0
    for several in product(*outcomes):
        log_p = np.log([min(p, 1.0) for _, p in several])
        if (tarone_holm(log_p, np.log(smallest)) <= np.log(level) + 1e-12).any():
            out += float(np.prod([pmf for pmf, _ in several]))
    return out


@pytest.mark.parametrize("level", [0.01, 0.05, 0.1])
def test_discrete_holm_controls_the_familywise_error_by_enumeration(level):
    families = [
        [(5, 9, 6), (3, 4, 2), (8, 8, 7), (2, 9, 3)],
        [(12, 12, 10), (1, 20, 4), (1, 20, 4)],
        [(6, 6, 6)] * 4,
    ]
    for tables in families:
        assert false_positives(tables, level) <= level + 1e-12


def tarone(p, smallest, level):
    """Tarone's single step: the smallest K such that at most K hypotheses can have a p-value of level / K."""
    K = next(k for k in range(1, len(p) + 1) if (smallest <= level / k).sum() <= k)
    return (smallest <= level / K) & (p <= level / K)


FAMILY = st.lists(st.tuples(st.floats(1e-6, 1.0), st.floats(1e-3, 1.0)), min_size=1, max_size=8)


@given(FAMILY, st.sampled_from([0.01, 0.05, 0.2]))
def test_discrete_holm_rejects_what_tarone_and_holm_reject(family, level):
    p = np.array([one for one, _ in family])
    smallest = p * [share for _, share in family]
    found = np.exp(tarone_holm(np.log(p), np.log(smallest)))
    assert (found <= np.exp(holm(np.log(p))) * (1 + 1e-9)).all()
    assert (found[tarone(p, smallest, level)] <= level * (1 + 1e-9)).all()
    assert (found >= p * (1 - 1e-12)).all()


def test_discrete_holm_is_holm_where_any_p_value_can_be_small():
    p = np.log([0.2, 0.001, 0.03, 0.03])
    np.testing.assert_allclose(tarone_holm(p, np.full(4, -np.inf)), holm(p))
