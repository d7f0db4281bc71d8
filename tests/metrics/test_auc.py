"""AUC and DeLong's variance: against all pairs, scikit-learn and published figures."""

import json
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from skfairtest.inference.draws import memberships, resampled_counts
from skfairtest.metrics import auc as module
from skfairtest.metrics.auc import RankedScores, table_moments

GOLDEN = json.loads((Path(__file__).parent / "golden" / "delong.json").read_text(encoding="utf-8"))


def sample_variance(values):
    mean = sum(values) / Fraction(len(values))
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1) if len(values) > 1 else Fraction(0)


def by_pairs(positives, negatives):
    """AUC and variance from the definition, in fractions."""
    if len(positives) == 0 or len(negatives) == 0:
        return np.nan, np.nan
    wins = [[Fraction(int(p > q) * 2 + int(p == q), 2) for q in negatives] for p in positives]
    v10 = [sum(row) / len(negatives) for row in wins]
    v01 = [sum(column) / len(positives) for column in zip(*wins, strict=True)]
    variance = sample_variance(v10) / len(v10) + sample_variance(v01) / len(v01)
    return float(sum(v10) / len(v10)), float(variance)


def one_by_one(positives, negatives, positive_counts, negative_counts):
    """The same for rows of counts of sorted people."""
    pairs = [
        by_pairs(np.repeat(positives, pos), np.repeat(negatives, neg))
        for pos, neg in zip(positive_counts, negative_counts, strict=True)
    ]
    return np.array(pairs).reshape(-1, 2).T


def check(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=0)


@st.composite
def people(draw, values):
    """Scores of both classes, and seeds for rows."""
    scores = [draw(st.lists(values, max_size=12)) for _ in range(2)]
    return *(np.array(s, dtype=float) for s in scores), np.random.default_rng(draw(st.integers(0, 2**32)))


TIED, CONTINUOUS = st.integers(0, 6), st.floats(-1, 1)


@pytest.mark.parametrize("values", [TIED, CONTINUOUS], ids=["ties", "continuous"])
def test_against_all_pairs(values):
    @settings(max_examples=2 * settings.default.max_examples, deadline=None)
    @given(people(values))
    def test(example):
        positives, negatives, rng = example
        scores = RankedScores(positives, negatives)
        positives, negatives = positives[scores.positive_order], negatives[scores.negative_order]
        pos, neg = (rng.integers(0, 2, (3, len(s)), dtype=np.uint8) for s in (positives, negatives))
        auc1, variance1, auc2, variance2 = scores.split(pos, neg)
        check((auc1, variance1), one_by_one(positives, negatives, pos, neg))
        check((auc2, variance2), one_by_one(positives, negatives, 1 - pos, 1 - neg))
        pos, neg = (rng.integers(0, 4, (3, len(s))) for s in (positives, negatives))
        check(scores.moments(pos, neg), one_by_one(positives, negatives, pos, neg))

    test()


@settings(deadline=None)
@given(people(TIED))
def test_a_table_is_its_rows(example):
    positives, negatives, rng = example
    cells = np.unique(np.concatenate([positives, negatives]))
    scores = RankedScores(cells, cells)
    pos, neg = (rng.integers(0, 4, (2, 3, len(cells))) for _ in range(2))
    found = table_moments(pos, neg)
    assert found[0].shape == (2, 3)
    rows = scores.moments(pos.reshape(6, -1), neg.reshape(6, -1))
    for table, row in zip(found, rows, strict=True):
        np.testing.assert_allclose(table.ravel(), row, rtol=1e-12, atol=1e-17)


def test_published_example():
    golden = GOLDEN["asah_wfns"]
    auc, variance = table_moments(golden["poor"], golden["good"])
    assert auc == pytest.approx(golden["auc"], rel=1e-14)
    assert variance == pytest.approx(golden["variance"], rel=1e-13)
    limits = auc + norm.ppf([0.025, 0.975]) * variance**0.5
    assert limits == pytest.approx(golden["limits"], rel=1e-13)
    positives, negatives = (np.repeat(golden["grade"], golden[outcome]) for outcome in ("poor", "good"))
    everyone = [np.ones((1, len(scores)), dtype=int) for scores in (positives, negatives)]
    check(RankedScores(positives, negatives).moments(*everyone), [[golden["auc"]], [golden["variance"]]])


def test_worked_by_hand():
    # V10 of 2, 3, 5: 1/2, 3/4, 1 (of 1, 2, 2, 4: one below and two tied, three, four).
    # V01 of 1, 2, 2, 4: 1, 5/6, 5/6, 1/3.
    auc, variance = RankedScores([2, 3, 5], [1, 2, 2, 4]).moments(np.ones((1, 3), int), np.ones((1, 4), int))
    assert auc[0] == 3 / 4
    assert variance[0] == pytest.approx(float(Fraction(1, 16) / 3 + Fraction(9, 108) / 4), rel=1e-15)


@pytest.mark.parametrize("decimals", [0, 2, 17])
def test_scikit_learn_agrees(decimals):
    rng = np.random.default_rng(0)
    y, g = rng.integers(0, 2, 3000), rng.integers(0, 2, 3000)
    s = (rng.normal(size=3000) + y).round(decimals)
    scores = RankedScores(s[y == 1], s[y == 0])
    sides = (g[y == c][order].astype(np.uint8) for c, order in ((1, scores.positive_order), (0, scores.negative_order)))
    auc1, _, auc2, _ = scores.split(*(side[None] for side in sides))
    assert auc1[0] == pytest.approx(roc_auc_score(y[g == 1], s[g == 1]), rel=1e-13)
    assert auc2[0] == pytest.approx(roc_auc_score(y[g == 0], s[g == 0]), rel=1e-13)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks so small that a few hundred people need many, and levels with more people than a block."""
    monkeypatch.setattr(module, "COLUMNS", 16)
    monkeypatch.setattr(module, "TILE", 64)
    monkeypatch.setattr(module, "CHUNK", 50)


@pytest.fixture
def python_integers(monkeypatch):
    """Sums as if they did not fit in int64."""
    monkeypatch.setattr(module, "MOST_PAIRS", 0)


def sample(decimals, shift=0.0):
    rng = np.random.default_rng(1)
    scores = (rng.normal(size=150) + shift).round(decimals), rng.normal(size=230).round(decimals)
    rows = [memberships(n, n // 3, 9, rng) for n in (150, 230)]
    counts = [resampled_counts(n, 9, rng) for n in (150, 230)]
    weights = [rng.exponential(size=(9, n)) for n in (150, 230)]
    return scores, rows, counts, weights


@pytest.mark.parametrize("how", ["small_blocks", "python_integers"])
@pytest.mark.parametrize(("decimals", "shift"), [(0, 0.0), (1, 0.5), (17, 0.5), (17, 9.0), (17, -9.0), (-3, 0.0)])
def test_blocks_do_not_show(decimals, shift, how, request):
    scores, rows, counts, weights = sample(decimals, shift)

    def results():
        ranked = RankedScores(*scores)
        return (
            np.array(ranked.split(*rows)),
            np.array(ranked.moments(*counts)),
            np.array(ranked.moments(*(5000 * c.astype(np.int64) for c in counts))),
            *ranked.contributions(*weights),
            *table_moments(counts[0][:, :99], counts[1][:, :99]),
        )

    whole = results()
    request.getfixturevalue(how)
    for one, other in zip(whole, results(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("decimals", [0, 1, 17])
def test_a_row_does_not_know_its_neighbours(decimals, small_blocks):
    scores, rows, counts, weights = sample(decimals)
    ranked = RankedScores(*scores)
    for method, matrices in ((ranked.split, rows), (ranked.moments, counts), (ranked.contributions, weights)):
        together = method(*matrices)
        for i in range(9):
            for one, all_rows in zip(method(*(m[i : i + 1] for m in matrices)), together, strict=True):
                np.testing.assert_array_equal(one[0], all_rows[i])


@pytest.mark.parametrize("decimals", [0, 1, 17])
def test_both_sides_are_two_weightings(decimals):
    scores, rows, _, _ = sample(decimals)
    ranked = RankedScores(*scores)
    sides = ranked.moments(*rows) + ranked.moments(*(1 - r for r in rows))
    np.testing.assert_array_equal(ranked.split(*rows), sides)


@pytest.mark.parametrize("decimals", [0, 1, 17])
def test_counts_of_any_size(decimals):
    (positives, negatives), _, counts, _ = sample(decimals)
    ranked = RankedScores(positives, negatives)
    auc, variance = ranked.moments(*counts)
    n_pos, n_neg = 150, 230
    for times in (1000, 10**6):
        many_auc, many_variance = ranked.moments(*(times * c.astype(np.int64) for c in counts))
        np.testing.assert_array_equal(many_auc, auc)
        # The sums of squares are times as large: only ddof and the division by n change.
        between = variance * (min(n_pos, n_neg) - 1) / min(n_pos, n_neg), variance
        assert (many_variance * times >= between[0] * (1 - 1e-12)).all()
        assert (many_variance * times <= between[1]).all()


@pytest.mark.parametrize(
    ("positives", "negatives", "auc"),
    [([2.0] * 7 + [3.0], [1.0] * 5, 1.0), ([0.1, 0.2, 0.3], [0.4, 0.5], 0.0), ([0.7] * 9, [0.7] * 4, 0.5)],
)
def test_perfect_and_constant_scores_have_no_variance(positives, negatives, auc):
    ranked = RankedScores(positives, negatives)
    rng = np.random.default_rng(2)
    counts = [rng.integers(1, 9, (50, len(s))) for s in (positives, negatives)]
    for found, variance in (
        ranked.moments(*counts),
        ranked.moments(*(c * 10**7 for c in counts)),
        table_moments(*(np.array([c[0].sum()]) for c in counts)) if auc == 0.5 else ranked.moments(*counts),
    ):
        np.testing.assert_array_equal(found, auc)
        np.testing.assert_array_equal(variance, 0.0)
    found, *parts = ranked.contributions(*(rng.exponential(size=c.shape) for c in counts))
    np.testing.assert_array_equal(found, auc)
    for part in parts:
        np.testing.assert_array_equal(part, 0.0)


def test_an_absent_class_is_undefined():
    ranked = RankedScores([0.3, 0.1], [0.2, 0.4, 0.5])
    pos, neg = np.array([[0, 0], [1, 1], [1, 0]], np.uint8), np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1]], np.uint8)
    auc1, variance1, auc2, variance2 = ranked.split(pos, neg)
    for values, missing in ((auc1, [1, 1, 0]), (variance1, [1, 1, 0]), (auc2, [0, 1, 1]), (variance2, [0, 1, 1])):
        assert np.isnan(values).tolist() == [bool(m) for m in missing]
    auc, positive_part, negative_part = ranked.contributions(pos.astype(float), neg.astype(float))
    assert np.isnan(auc).tolist() == [True, True, False]
    assert np.isnan(positive_part[:2]).all()
    assert np.isnan(negative_part[:2]).all()
    for values in table_moments([[0, 0], [3, 1], [2, 1]], [[1, 1], [0, 0], [1, 1]]):
        assert np.isnan(values).tolist() == [True, True, False]


@pytest.mark.parametrize(("n_pos", "n_neg"), [(0, 0), (0, 3), (3, 0)])
def test_nobody_in_a_class(n_pos, n_neg):
    ranked = RankedScores(np.arange(n_pos), np.arange(n_neg))
    ones = [np.ones((2, n), dtype=np.uint8) for n in (n_pos, n_neg)]
    for values in (
        *ranked.split(*ones),
        *ranked.moments(*ones),
        ranked.contributions(*(o.astype(float) for o in ones))[0],
    ):
        assert values.shape == (2,)
        assert np.isnan(values).all()


def test_no_rows():
    ranked = RankedScores([1.0, 2.0], [0.0])
    none = [np.zeros((0, n), dtype=np.uint8) for n in (2, 1)]
    assert [values.shape for values in ranked.split(*none)] == [(0,)] * 4
    assert [values.shape for values in ranked.moments(*none)] == [(0,)] * 2
    assert [values.shape for values in ranked.contributions(*(n.astype(float) for n in none))] == [(0,), (0, 2), (0, 1)]


@pytest.mark.parametrize(
    ("pos", "neg", "variance"),
    [([1, 0, 0], [0, 1, 0], 0.0), ([1, 0, 0], [1, 1, 1], 1 / 9), ([1, 1, 1], [0, 1, 0], 1 / 9)],
)
def test_one_person_adds_no_variance(pos, neg, variance):
    # 2.5 against 1, 2, 3: placements 1, 1, 0; 2 against 0.5, 2.5, 3.5: 0, 1, 1.
    ranked = RankedScores([0.5, 2.5, 3.5] if sum(pos) == 3 else [2.5, 7.0, 8.0], [1.0, 2.0, 3.0])
    _, found = ranked.moments(np.array([pos]), np.array([neg]))
    assert found[0] == pytest.approx(variance, rel=1e-14)
    cells = np.array([0.5, 1.0, 2.0, 2.5, 3.0, 3.5])
    table = [np.isin(cells, np.repeat(s, n)) for s, n in ((ranked._positives, pos), (ranked._negatives, neg))]
    assert table_moments(*table)[1] == pytest.approx(variance, rel=1e-14)


@pytest.mark.parametrize("decimals", [0, 1, 17])
def test_contributions_are_the_derivatives_of_the_auc(decimals):
    (positives, negatives), _, _, (pos, neg) = sample(decimals)
    ranked = RankedScores(positives, negatives)
    auc, positive_part, negative_part = ranked.contributions(pos, neg)
    wins = (ranked._positives[:, None] > ranked._negatives) + 0.5 * (ranked._positives[:, None] == ranked._negatives)
    value = np.einsum("bi,ij,bj->b", pos, wins, neg) / (pos.sum(axis=1) * neg.sum(axis=1))
    np.testing.assert_allclose(auc, value, rtol=1e-13)
    v10 = neg @ wins.T / neg.sum(axis=1, keepdims=True)
    v01 = pos @ wins / pos.sum(axis=1, keepdims=True)
    for part, weights, placements in ((positive_part, pos, v10), (negative_part, neg, v01)):
        wanted = weights * (placements - value[:, None]) / weights.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(part, wanted, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(part.sum(axis=1), 0, atol=1e-13)
    # With equal weights the sum of squares is DeLong's variance but for ddof.
    ones = np.ones((1, 150)), np.ones((1, 230))
    _, *parts = ranked.contributions(*ones)
    squares = [(part**2).sum() * n / (n - 1) for part, n in zip(parts, (150, 230), strict=True)]
    assert sum(squares) == pytest.approx(ranked.moments(*(o.astype(int) for o in ones))[1][0], rel=1e-12)


def test_memory_does_not_grow_with_people_and_rows():
    rng = np.random.default_rng(3)
    n, b = 150_000, 32
    ranked = RankedScores(rng.normal(size=n), rng.normal(size=n).round(3))
    rows = [memberships(n, n // 2, b, rng) for _ in range(2)]
    tracemalloc.start()
    try:
        ranked.split(*rows)
        ranked.moments(*rows)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
