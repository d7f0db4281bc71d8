"""AUC and DeLong's variance: against all pairs, scikit-learn and published figures."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from skfairtest.inference.draws import memberships, resampled_counts
from skfairtest.metrics import functionals
from skfairtest.metrics.functionals import Auc

GOLDEN = json.loads((Path(__file__).parent / "golden" / "delong.json").read_text(encoding="utf-8"))


def sample_variance(values):
    mean = sum(values) / Fraction(len(values))
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1) if len(values) > 1 else Fraction(0)


def by_pairs(truth, score):
    """AUC and variance from the definition, in fractions."""
    positives, negatives = score[truth], score[~truth]
    if len(positives) == 0 or len(negatives) == 0:
        return np.nan, np.nan
    wins = [[Fraction(int(p > q) * 2 + int(p == q), 2) for q in negatives] for p in positives]
    v10 = [sum(row) / len(negatives) for row in wins]
    v01 = [sum(column) / len(positives) for column in zip(*wins, strict=True)]
    variance = sample_variance(v10) / len(v10) + sample_variance(v01) / len(v01)
    return float(sum(v10) / len(v10)), float(variance)


def check(found, wanted, **tolerance):
    np.testing.assert_allclose(found, wanted, **{"rtol": 1e-12, "atol": 1e-30, **tolerance})


@st.composite
def people(draw, values):
    """Truth and scores, and a generator of counts."""
    score = np.array(draw(st.lists(values, max_size=20)), dtype=float)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.random(len(score)) < 0.5, score, rng


@pytest.mark.parametrize("values", [st.integers(0, 6), st.floats(-1, 1)], ids=["ties", "continuous"])
def test_against_all_pairs(values):
    @settings(max_examples=2 * settings.default.max_examples, deadline=None)
    @given(people(values))
    def test(example):
        truth, score, rng = example
        counts = rng.integers(0, 4, (3, len(score)))
        each = [by_pairs(np.repeat(truth, row), np.repeat(score, row)) for row in counts]
        check(Auc(truth, score).moments(counts), np.array(each).reshape(-1, 2).T)

    test()


def test_published_example():
    golden = GOLDEN["asah_wfns"]
    truth, score = np.repeat([True, False], len(golden["grade"])), np.tile(golden["grade"], 2)
    counts = np.r_[golden["poor"], golden["good"]]
    auc, variance = Auc(truth, score).moments(counts)
    check((auc, variance), (golden["auc"], golden["variance"]))
    check(auc + norm.ppf([0.025, 0.975]) * variance**0.5, golden["limits"])
    each = Auc(np.repeat(truth, counts), np.repeat(score, counts))
    check(each.moments(np.ones(counts.sum())), (golden["auc"], golden["variance"]))


def sample(decimals):
    rng = np.random.default_rng(1)
    truth = np.arange(380) < 150
    score = (rng.normal(size=380) + 0.5 * truth).round(decimals)
    tables = memberships(380, 126, 9, rng), resampled_counts(380, 9, rng), rng.exponential(size=(9, 380))
    return truth, score, tables


@pytest.mark.parametrize("decimals", [0, 1, 17])
def test_chunks_do_not_show_and_a_row_does_not_know_its_neighbours(decimals, monkeypatch):
    truth, score, tables = sample(decimals)
    functional = Auc(truth, score)
    whole = [array for table in tables for array in (*functional.parts(table), *functional.moments(table))]
    monkeypatch.setattr(functionals, "CHUNK", 50)
    parts = [array for table in tables for array in (*functional.parts(table), *functional.moments(table))]
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("positives", "negatives", "auc"),
    [([2.0] * 7 + [3.0], [1.0] * 5, 1.0), ([0.1, 0.2, 0.3], [0.4, 0.5], 0.0), ([0.7] * 9, [0.7] * 4, 0.5)],
)
def test_perfect_and_constant_scores_have_no_variance(positives, negatives, auc):
    functional = Auc(np.arange(len(positives) + len(negatives)) < len(positives), np.array(positives + negatives))
    rng = np.random.default_rng(2)
    counts = rng.integers(1, 9, (50, len(functional.positive) + len(functional.negative)))
    for table in (counts, counts * 10**7, rng.exponential(size=counts.shape)):
        value, parts = functional.parts(table)
        np.testing.assert_array_equal(value, auc)
        np.testing.assert_array_equal(parts, 0.0)
    for table in (counts, counts * 10**7):
        np.testing.assert_array_equal(functional.moments(table)[1], 0.0)


@pytest.mark.parametrize(("n_pos", "n_neg"), [(0, 0), (0, 3), (3, 0)])
def test_nobody_in_a_class(n_pos, n_neg):
    functional = Auc(np.arange(n_pos + n_neg) < n_pos, np.arange(n_pos + n_neg))
    for rows in (2, 0):
        value, variance = functional.moments(np.ones((rows, n_pos + n_neg)))
        assert value.shape == variance.shape == (rows,)
        assert np.isnan(value).all()


@pytest.mark.parametrize(
    ("table", "variance"),
    [([1, 0, 0, 0, 1, 0], 0.0), ([1, 0, 0, 1, 1, 1], 1 / 9), ([1, 1, 1, 0, 1, 0], 1 / 9)],
)
def test_one_person_adds_no_variance(table, variance):
    # 2.5 against 1, 2, 3: placements 1, 1, 0, of variance 1/3; 2.5, 1.5 and 0.5 against 2: 1, 0, 0.
    functional = Auc(np.arange(6) < 3, np.array([2.5, 1.5, 0.5, 1.0, 2.0, 3.0]))
    assert functional.moments(np.array(table))[1] == pytest.approx(variance, rel=1e-14)


@pytest.mark.parametrize("decimals", [0, 1, 17])
def test_parts_are_the_derivatives_of_the_auc(decimals):
    truth, score, (_, _, weights) = sample(decimals)
    functional = Auc(truth, score)
    value, parts = functional.parts(weights)
    pos, neg = weights[:, truth], weights[:, ~truth]
    wins = np.sign(score[truth][:, None] - score[~truth]) / 2 + 0.5
    expected = np.einsum("bi,ij,bj->b", pos, wins, neg) / (pos.sum(axis=1) * neg.sum(axis=1))
    check(value, expected)
    v10, v01 = neg @ wins.T / neg.sum(axis=1, keepdims=True), pos @ wins / pos.sum(axis=1, keepdims=True)
    for which, own, placements in ((truth, pos, v10), (~truth, neg, v01)):
        wanted = own * (placements - expected[:, None]) / own.sum(axis=1, keepdims=True)
        check(parts[:, which], wanted, rtol=1e-9, atol=1e-15)
