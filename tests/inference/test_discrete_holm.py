"""Discrete Holm against its definition with SciPy's Fisher test, and its familywise error by enumeration."""

from functools import cache
from itertools import combinations, product
from math import comb, factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from skfairtest.inference.conditional import attainable, conditional_log_p, largest_attainable
from skfairtest.inference.multiplicity import Equality, discrete_holm, discrete_holm_rejects, holm, shaffer

ALPHA = 0.05
RATES = np.linspace(0.05, 0.95, 10)
SIDES = ("two-sided", "greater", "less")


@cache
def fisher(x1, d1, x2, d2, alternative="two-sided"):
    return float(fisher_exact([[x1, d1 - x1], [x2, d2 - x2]], alternative).pvalue)


@cache
def possible(d1, d2, m, alternative="two-sided"):
    """The p-values of all tables with these margins."""
    tables = [(x, m - x) for x in range(max(0, m - d2), min(d1, m) + 1)]
    return sorted({fisher(x1, d1, x2, d2, alternative) for x1, x2 in tables})


def defined(tables, alternative="two-sided"):
    """Adjusted p-values by the definition, of hypotheses that do not follow from each other."""
    p = [fisher(*table, alternative) for table in tables]
    sets = [possible(d1, d2, x1 + x2, alternative) for x1, d1, x2, d2 in tables]
    adjusted, largest, left = [0.0] * len(p), 0.0, sorted(range(len(p)), key=p.__getitem__)
    while left:
        now = p[left[0]]
        total = sum(max((value for value in sets[i] if value <= now * (1 + 1e-9)), default=0.0) for i in left)
        largest = max(largest, min(1.0, total))
        adjusted[left.pop(0)] = largest
    return adjusted


def adjusted(tables, hypotheses=None, alternative="two-sided"):
    """The adjusted p-values of the package."""
    x1, d1, x2, d2 = np.array(tables).T
    values = [
        attainable(a, b, c, alternative) for a, b, c in zip(*(v.tolist() for v in (d1, d2, x1 + x2)), strict=True)
    ]
    return np.exp(
        discrete_holm(conditional_log_p(x1, d1, x2, d2, alternative), values, hypotheses or [None] * len(tables))
    )


@st.composite
def families(draw):
    sizes = st.integers(1, 25)
    tables = []
    for _ in range(draw(st.integers(1, 9))):
        d1, d2 = draw(sizes), draw(sizes)
        tables.append((draw(st.integers(0, d1)), d1, draw(st.integers(0, d2)), d2))
    return tables


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("margins", [(3, 3, 2), (10, 4, 5), (1, 20, 1), (8, 8, 8), (5, 9, 0), (5, 9, 14), (30, 70, 12)])
def test_attainable_p_values_are_those_of_all_tables(margins, alternative):
    values = attainable(*margins, alternative)
    assert values[0] == -np.inf
    expected = possible(*margins, alternative)
    for value in expected:
        assert np.abs(np.exp(values) - value).min() < 1e-9 * max(value, 1e-3)
        assert np.exp(largest_attainable(values, np.log(value))) == pytest.approx(value, rel=1e-7)
    below = np.log(expected[0]) - 0.01
    assert largest_attainable(values, np.array([below])) == -np.inf


@pytest.mark.parametrize("margins", [(3_000, 2_000, 1_500), (100_000, 80_000, 90_000), (10**9, 10**9, 10**9)])
def test_of_large_tables_nothing_counts_with_more_than_its_p_value(margins):
    d1, d2, m = margins
    spread = np.sqrt(m * (d1 / (d1 + d2)) * (d2 / (d1 + d2)) * (1 - m / (d1 + d2)))
    x = (m * d1 / (d1 + d2) - spread * np.array([0.0, 1.5, 3.0, 4.5, 20.0])).astype(np.int64)
    log_p = conditional_log_p(x, np.full(5, d1), m - x, np.full(5, d2))
    # Each p-value can be attained; one a little smaller is the largest of the attainable ones below, or itself.
    np.testing.assert_allclose(largest_attainable(attainable(*margins), log_p), log_p, atol=1e-7)
    lower = largest_attainable(attainable(*margins), log_p - 1e-6)
    assert (lower <= log_p - 1e-6).all()
    assert (lower > log_p - 0.5).all()


@given(families(), st.sampled_from(SIDES))
def test_adjusted_p_values_follow_the_definition(tables, alternative):
    np.testing.assert_allclose(
        adjusted(tables, alternative=alternative), defined(tables, alternative), rtol=1e-6, atol=1e-12
    )


@given(families(), st.randoms(use_true_random=False))
def test_it_is_between_the_p_value_and_holms_adjustment_in_any_order(tables, random):
    log_p = conditional_log_p(*np.array(tables).T)
    found = adjusted(tables)
    assert (found >= np.exp(log_p) * (1 - 1e-9)).all()
    assert (found <= np.exp(holm(log_p)) * (1 + 1e-9)).all()
    assert (np.diff(found[np.argsort(log_p, kind="stable")]) >= -1e-12).all()
    order = list(range(len(tables)))
    random.shuffle(order)
    np.testing.assert_allclose(adjusted([tables[i] for i in order]), found[order], rtol=1e-9)


@given(st.lists(st.floats(1e-300, 1.0), min_size=6, max_size=6))
def test_if_any_p_value_can_be_attained_it_is_shaffers(p):
    pairs = [Equality("rate", frozenset(pair)) for pair in combinations(range(4), 2)]
    anything = [np.zeros(0)] * 6
    np.testing.assert_allclose(discrete_holm(np.log(p), anything, pairs), shaffer(np.log(p), pairs), atol=1e-12)
    np.testing.assert_allclose(discrete_holm(np.log(p), anything, [None] * 6), holm(np.log(p)), atol=1e-12)


@pytest.mark.parametrize("alternative", SIDES)
def test_whether_many_families_have_a_rejection(alternative):
    rng = np.random.default_rng(0)
    d1, d2 = rng.integers(0, 30, (2, 60, 6))
    x1, x2 = rng.binomial(d1, 0.2), rng.binomial(d2, 0.1 + 0.2 * rng.random((60, 1)))
    if alternative == "greater":
        x1, d1, x2, d2 = x2, d2, x1, d1
    for others in (np.zeros(0), np.log([0.03, 0.2])):
        found = discrete_holm_rejects((x1, d1, x2, d2), alternative, ALPHA, others)
        for row in range(60):
            tables = [
                table
                for table in zip(*(a[row].tolist() for a in (x1, d1, x2, d2)), strict=True)
                if table[1] and table[3]
            ]
            log_p = [conditional_log_p(*table, alternative) for table in tables] + others.tolist()
            values = [attainable(a, b, x + y, alternative) for x, a, y, b in tables] + [np.zeros(0)] * len(others)
            smallest = discrete_holm(np.array(log_p), values, [None] * len(log_p)).min()
            assert found[row] == (smallest <= np.log(ALPHA) + 1e-12), row
        assert 0 < found.sum() < 60


# Familywise error ---------------------------------------------------------------------------


def family(kind, groups):
    """Both sides of each comparison, as groups."""
    if kind == "pairs":
        return [((a,), (b,)) for a, b in combinations(range(groups), 2)]
    if kind == "reference":
        return [((a,), (groups - 1,)) for a in range(groups - 1)]
    return [((a,), tuple(b for b in range(groups) if b != a)) for a in range(groups)]


@pytest.mark.parametrize(
    ("kind", "people", "largest"),
    [
        ("pairs", (3, 4, 6, 8), 0.033),
        pytest.param("pairs", (2, 5, 8, 10), 0.040, marks=pytest.mark.slow),
        pytest.param("reference", (2, 2, 2, 2, 2, 2, 12), 0.041, marks=pytest.mark.slow),
        pytest.param("rest", (2, 2, 2, 3, 3, 4), 0.045, marks=pytest.mark.slow),
    ],
)
def test_size_of_overlapping_comparisons_by_enumeration(kind, people, largest):
    """Comparisons that share groups have no common conditional distribution: all outcomes, equal and unequal rates."""
    sides = family(kind, len(people))
    hypotheses = [Equality("rate", frozenset(pair)) for pair in sides]
    outcomes = np.array(list(product(*(range(n + 1) for n in people))))
    d = np.array([[sum(people[g] for g in side) for side in pair] for pair in sides])
    rejected = np.zeros((len(outcomes), len(sides)), dtype=bool)
    for row, x in enumerate(outcomes.tolist()):
        tables = [
            (sum(x[g] for g in first), d1, sum(x[g] for g in second), d2)
            for (first, second), (d1, d2) in zip(sides, d.tolist(), strict=True)
        ]
        rejected[row] = adjusted(tables, hypotheses) <= ALPHA
    rng, worst = np.random.default_rng(0), 0.0
    truths = [(rate,) * len(people) for rate in RATES]
    truths += [tuple(rng.choice(rng.choice(RATES, 2), len(people))) for _ in range(150)]
    for truth in truths:
        mass = np.ones(len(outcomes))
        for group, (n, rate) in enumerate(zip(people, truth, strict=True)):
            x = outcomes[:, group]
            mass *= np.array([comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)])[x]
        expected = [[np.average([truth[g] for g in s], weights=[people[g] for g in s]) for s in pair] for pair in sides]
        true = np.isclose(*np.array(expected).T)
        worst = max(worst, float(mass @ rejected[:, true].any(axis=1)))
    assert 0.3 * largest < worst <= largest < ALPHA


@pytest.mark.parametrize(("people", "totals"), [((6, 9), (3, 2, 2, 3, 2, 3)), ((5, 12), (1, 4, 1, 5, 6))])
def test_size_of_the_classes_of_two_groups_given_both_margins(people, totals):
    """Each class against the rest: all tables with these margins, of true classes any, and only some."""
    (first, second), rejections, true_ones = people, [], (range(len(totals)), range(2), range(1, 4))
    assert sum(totals) == sum(people)
    for x in product(*(range(m + 1) for m in totals)):
        if sum(x) == first:
            tables = [(a, first, m - a, second) for a, m in zip(x, totals, strict=True)]
            ways = prod(comb(m, a) for a, m in zip(x, totals, strict=True))
            rejections.append((ways, adjusted(tables) <= ALPHA))
    weights, rejected = np.array([w for w, _ in rejections], dtype=float), np.array([r for _, r in rejections])
    for true in true_ones:
        assert weights @ rejected[:, list(true)].any(axis=1) / weights.sum() <= ALPHA


@pytest.mark.slow
def test_size_of_six_rates_of_two_groups_by_enumeration():
    """Rates of true and predicted labels, of which no common margins can be given: all tables of two groups."""
    people = (4, 6)
    # Cells: true positives, false negatives, false positives, true negatives.
    rates = [
        ((0, 2), (0, 1, 2, 3)),
        ((0,), (0, 1)),
        ((2,), (2, 3)),
        ((0,), (0, 2)),
        ((3,), (1, 3)),
        ((0, 3), (0, 1, 2, 3)),
    ]
    tables = [[c for c in product(range(n + 1), repeat=4) if sum(c) == n] for n in people]
    rejects = np.zeros((len(tables[0]), len(tables[1]), len(rates)), dtype=bool)
    for i, a in enumerate(tables[0]):
        for j, b in enumerate(tables[1]):
            counts = [[sum(c[k] for k in cells) for c in (a, b) for cells in rate] for rate in rates]
            kept = [place for place, (_, d1, _, d2) in enumerate(counts) if d1 and d2]
            rejects[i, j, kept] = adjusted([counts[place] for place in kept]) <= ALPHA
    # Equal groups; equal rates of decisions among unequal base rates (separation); equal decisions, unrelated to truth.
    for first, second in [
        ((0.25, 0.25, 0.25, 0.25), (0.25, 0.25, 0.25, 0.25)),
        ((0.4, 0.1, 0.2, 0.3), (0.4, 0.1, 0.2, 0.3)),
        ((0.05, 0.05, 0.1, 0.8), (0.05, 0.05, 0.1, 0.8)),
        ((0.8 * 0.2, 0.2 * 0.2, 0.3 * 0.8, 0.7 * 0.8), (0.8 * 0.7, 0.2 * 0.7, 0.3 * 0.3, 0.7 * 0.3)),
        ((0.5 * 0.1, 0.5 * 0.1, 0.5 * 0.9, 0.5 * 0.9), (0.5 * 0.8, 0.5 * 0.8, 0.5 * 0.2, 0.5 * 0.2)),
    ]:
        mass = [
            [
                factorial(n) / prod(map(factorial, c)) * prod(p**k for p, k in zip(probability, c, strict=True))
                for c in own
            ]
            for n, own, probability in zip(people, tables, (first, second), strict=True)
        ]
        values = [[sum(q[k] for k in e) / sum(q[k] for k in g) for q in (first, second)] for e, g in rates]
        true = [place for place, (a, b) in enumerate(values) if abs(a - b) < 1e-12]
        assert true
        assert np.einsum("i,j,ij->", *map(np.array, mass), rejects[:, :, true].any(axis=2).astype(float)) <= ALPHA
