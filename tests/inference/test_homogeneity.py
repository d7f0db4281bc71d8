"""Tests that strata share one disparity, against enumeration, published figures and their size."""

import json
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from skfairtest.inference import homogeneity
from skfairtest.inference.conditional import Strata
from skfairtest.inference.homogeneity import breslow_day, cochran_q, score_homogeneity, zelen
from skfairtest.inference.score import score_at

GOLDEN = json.loads((Path(__file__).parent / "golden" / "strata.json").read_text(encoding="utf-8"))


def counts_of(name):
    return [np.array(GOLDEN[name][column]) for column in ("x1", "d1", "x2", "d2")]


@st.composite
def strata(draw, most=4, largest=6):
    counts = []
    for _ in range(draw(st.integers(1, most))):
        d1, d2 = draw(st.integers(1, largest)), draw(st.integers(1, largest))
        counts.append((draw(st.integers(0, d1)), d1, draw(st.integers(0, d2)), d2))
    return tuple(np.array(column) for column in zip(*counts, strict=True))


def every_table(x1, d1, x2, d2):
    """All outcomes with the margins and the sum of the data, and how many ways lead to each."""
    m = (x1 + x2).tolist()
    each = [range(max(0, t - b), min(a, t) + 1) for a, b, t in zip(d1.tolist(), d2.tolist(), m, strict=True)]
    for table in product(*each):
        if sum(table) == x1.sum():
            ways = 1
            for x, a, b, t in zip(table, d1.tolist(), d2.tolist(), m, strict=True):
                ways *= comb(a, x) * comb(b, t - x)
            yield table, ways


@settings(deadline=None)
@given(strata())
def test_zelens_p_value_is_that_of_all_tables(counts):
    tables = dict(every_table(*counts))
    seen = tables[tuple(counts[0].tolist())]
    expected = sum(ways for ways in tables.values() if ways * 10**7 <= seen * (10**7 + 1)) / sum(tables.values())
    error = np.sqrt(expected * (1 - expected) / homogeneity.N_SAMPLED)
    assert zelen(*counts) == pytest.approx(expected, abs=5 * error + 1 / homogeneity.N_SAMPLED)


@settings(deadline=None)
@given(strata(), st.randoms(use_true_random=False))
def test_neither_the_order_of_strata_nor_of_groups_matters(counts, random):
    order = list(range(len(counts[0])))
    random.shuffle(order)
    x1, d1, x2, d2 = (column[order] for column in counts)
    first, second = breslow_day(*counts), breslow_day(x2, d2, x1, d1)
    assert second.p_value == pytest.approx(first.p_value, nan_ok=True, abs=0.025)  # 5 errors of 9,999 tables
    assert second.statistic == pytest.approx(first.statistic, nan_ok=True, abs=1e-9)


def test_zelens_p_value_has_its_size(thorough):
    """Given the sums, the p-value is at most its level in no more than that share of all tables."""
    d1, d2, m = (
        np.array(n) for n in (((7, 5, 6), (6, 8, 4), (6, 5, 4)) if thorough else ((4, 3, 4), (3, 5, 3), (3, 3, 2)))
    )
    each = [range(max(0, t - b), min(a, t) + 1) for a, b, t in zip(d1, d2, m, strict=True)]
    by_sum = {}
    for table in product(*each):
        x1 = np.array(table)
        ways = np.prod([comb(a, x) * comb(b, t - x) for x, a, b, t in zip(table, d1, d2, m, strict=True)])
        by_sum.setdefault(sum(table), []).append((zelen(x1, d1, m - x1, d2), float(ways)))
    for tables in by_sum.values():
        p, ways = np.array(tables).T
        for level in p:  # whose tables, sampled once for all of them, have an error
            error = np.sqrt(level * (1 - level) / homogeneity.N_SAMPLED)
            assert ways[p <= level].sum() / ways.sum() <= level + 5 * error


@pytest.mark.parametrize("name", GOLDEN)
def test_published_figures(name):
    study, found = GOLDEN[name], breslow_day(*counts_of(name))
    if "tarone" in study:
        assert found.statistic == pytest.approx(study["tarone"], abs=5e-4)
        assert chi2.sf(found.statistic, found.df) == pytest.approx(study["tarone_p"], abs=5e-7)
    if "breslow_day" in study:
        uncorrected = float((found.distances**2).sum())
        assert uncorrected == pytest.approx(study["breslow_day"], abs=5e-5)
        assert chi2.sf(uncorrected, found.df) == pytest.approx(study["breslow_day_p"], rel=0.02)
    if "cochran_mantel_haenszel" in study:
        strata, observed = Strata.of(*counts_of(name)), counts_of(name)[0].sum()
        first, masses, _ = strata.distribution(0.0, direct=True)
        sums = first + np.arange(len(masses))
        mean, square = (sums**power @ masses / masses.sum() for power in (1, 2))
        statistic = (observed - mean) ** 2 / (square - mean**2)
        assert statistic == pytest.approx(study["cochran_mantel_haenszel"], abs=5e-4)
    if "zelen_p" in study:
        error = np.sqrt(study["zelen_p"] * (1 - study["zelen_p"]) / homogeneity.N_SAMPLED)
        assert zelen(*counts_of(name)) == pytest.approx(study["zelen_p"], abs=4 * error + 1 / homogeneity.N_SAMPLED)


@pytest.mark.parametrize(("people", "p", "method"), [(1000, 0.0, "asymptotic"), (50, 1e-4, "sampled conditional")])
def test_a_stratum_far_from_all_others_has_a_tiny_p_value(people, p, method):
    first, second = np.array([9, 1, 5]) * people // 10, np.array([1, 9, 5]) * people // 10
    found = breslow_day(first, np.full(3, people), second, np.full(3, people))
    assert found.p_value == pytest.approx(p, abs=1e-12)
    assert found.method == method


@pytest.mark.parametrize("n_strata", [4, 40])
def test_in_large_strata_both_p_values_agree(n_strata):
    rng, size = np.random.default_rng(4), np.full(n_strata, 300)
    counts = rng.binomial(size, 0.4), size, rng.binomial(size, 0.5), size
    found = breslow_day(*counts)
    assert found.method == "asymptotic"
    assert found.p_value == pytest.approx(zelen(*counts), abs=0.05)


@settings(deadline=None, max_examples=20)
@given(strata())
def test_sampled_tables_have_the_margins_and_the_sum(counts):
    """How often each table is sampled, against how many ways lead to it: Pearson's statistic."""
    tables = list(every_table(*counts))
    x1, d1, x2, d2 = counts
    m = (x1 + x2).tolist()
    logs, places = [], []
    for a, b, t in zip(d1.tolist(), d2.tolist(), m, strict=True):
        ways = [comb(a, x) * comb(b, t - x) for x in range(max(0, t - b), min(a, t) + 1)]
        logs.append(np.log(np.array(ways) / sum(ways)))
        places.append(max(0, t - b))
    drawn = np.sort(homogeneity._sampled(logs, int(x1.sum()) - sum(places), homogeneity.N_SAMPLED))
    seen = np.array([sum(of[x - at] for of, x, at in zip(logs, table, places, strict=True)) for table, _ in tables])
    share = np.array([ways for _, ways in tables]) / sum(ways for _, ways in tables)
    for level in np.unique(seen.round(9)):
        expected = min(1.0, share[seen <= level + 1e-7].sum())
        error = np.sqrt(expected * (1 - expected) / len(drawn))
        assert np.searchsorted(drawn, level + 1e-7) / len(drawn) == pytest.approx(expected, abs=5 * error + 1e-9)


def test_matched_pairs_cannot_differ_in_their_odds_ratios():
    """Given how many have the event in group 1 alone, all tables of 120 pairs are equally probable."""
    x1, one = np.tile([0, 1], 60), np.ones(120, dtype=int)
    assert breslow_day(x1, one, 1 - x1, one).p_value == 1


def test_one_stratum_has_no_other_to_differ_from():
    found = breslow_day(*(np.array([v]) for v in (3, 10, 5, 12)))
    assert (found.df, found.statistic) == (0, pytest.approx(0, abs=1e-12))
    assert np.isnan(found.p_value)


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("name", GOLDEN)
def test_the_shared_disparity_is_where_the_scores_are_smallest(name, disparity):
    counts = counts_of(name)
    found = score_homogeneity(*counts, disparity)
    around = found.common * np.array([0.97, 0.99, 1.01, 1.03]) + (0 if disparity == "ratio" else 1e-3)
    for shared in around:
        assert (score_at(*counts, shared, disparity)[0] ** 2).sum() >= found.statistic - 1e-9
    assert found.p_value == chi2.sf(found.statistic, len(counts[0]) - 1)


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_equal_disparities_have_no_distance(disparity):
    rates = ((0.3, 0.2), (0.4, 0.3)) if disparity == "difference" else ((0.3, 0.2), (0.6, 0.4))
    x1, x2 = (np.array([round(1000 * stratum[side]) for stratum in rates]) for side in (0, 1))
    found = score_homogeneity(x1, np.array([1000] * 2), x2, np.array([1000] * 2), disparity)
    assert found.statistic == pytest.approx(0, abs=1e-6)
    assert found.common == pytest.approx(0.1 if disparity == "difference" else 1.5, rel=1e-4)


@pytest.mark.parametrize("disparity", ["difference", "ratio", "odds_ratio"])
def test_size_under_a_shared_disparity(disparity, thorough):
    """2,000 or 40 samples of four strata of 60 against 90: at the nominal 5%, the level and three standard errors."""
    n = 2000 if thorough else 40
    rng = np.random.default_rng(20)
    d1, d2 = np.full(4, 60), np.full(4, 90)
    base = np.array([0.2, 0.3, 0.4, 0.5])
    odds = 1.5 * base / (1 - base)
    raised = {"difference": base + 0.1, "ratio": 1.3 * base, "odds_ratio": odds / (1 + odds)}[disparity]
    x1, x2 = rng.binomial(d1, raised, (n, 4)), rng.binomial(d2, base, (n, 4))
    test = breslow_day if disparity == "odds_ratio" else score_homogeneity
    extra = {} if disparity == "odds_ratio" else {"disparity": disparity}
    p = np.array([test(a, d1, b, d2, **extra).p_value for a, b in zip(x1, x2, strict=True)])
    assert (p <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)
    assert (p <= 0.05).mean() >= 0.05 - 3 * np.sqrt(0.05 * 0.95 / n)


def test_cochrans_q_without_any_variance_is_undefined():
    found = cochran_q(np.array([0.1, np.nan]), np.array([0.0, np.nan]))
    assert found.df == 0
    assert np.isnan(found.p_value)


#: Sizes of the groups in every stratum, and how many strata.
SMALL_STRATA = {
    "1 + 3": (1, 3, 60), "2 + 2": (2, 2, 60), "3 + 3": (3, 3, 60), "60 + 90": (60, 90, 4),
    # Where squared distances in exact standard errors have no chi-square distribution: .115 at 5%.
    "1 + 5 to 50": (1, np.random.default_rng(3).integers(5, 51, 60), 60),
}  # fmt: skip


@pytest.mark.slow  # 200 data sets of a test that samples
@pytest.mark.parametrize("name", SMALL_STRATA)
def test_size_of_equal_odds_ratios(name):
    """Odds ratios of 1.5, rates of .2 to .8 or a tenth of that: at the nominal 5%, at most 5% and three errors."""
    first, second, n_strata = SMALL_STRATA[name]
    rng = np.random.default_rng(12)
    d1, d2, base = np.full(n_strata, first), np.full(n_strata, second), rng.uniform(0.2, 0.8, n_strata)
    base = base / 10 if np.ndim(second) else base
    odds = 1.5 * base / (1 - base)
    x1, x2 = rng.binomial(d1, odds / (1 + odds), (200, n_strata)), rng.binomial(d2, base, (200, n_strata))
    p = np.array([zelen(a, d1, b, d2) for a, b in zip(x1, x2, strict=True)])
    assert (p <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
