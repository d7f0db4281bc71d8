"""`disparity="odds_ratio"`: Fisher's test with its exact limits, Mantel and Haenszel's over strata, margins."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact, nchypergeom_fisher
from scipy.stats.contingency import odds_ratio
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest import FairnessTest, power
from skfairtest.datasets import load_berkeley, load_compas
from skfairtest.inference.odds_ratio import mantel_haenszel_odds_ratio

BERKELEY = load_berkeley()


def compared(x1, d1, x2, d2, **params):
    y = np.repeat([1, 0, 1, 0], [x1, d1 - x1, x2, d2 - x2])
    params = {"metric": "selection_rate", "disparity": "odds_ratio", **params}
    return FairnessTest(**params).fit(y, sensitive_features=np.repeat(["a", "b"], [d1, d2]))


def strata(**params):
    y = np.asarray(BERKELEY.y_true)
    groups = {"sensitive_features": BERKELEY.sensitive_features, "control_features": BERKELEY.control_features}
    return FairnessTest.from_predictions(y, y, metric="selection_rate", disparity="odds_ratio", **groups, **params)


TABLES = [(8, 10, 1, 6), (2, 10, 15, 25), (141, 340, 1854, 3623), (0, 10, 3, 12), (40, 40, 30, 50)]


@pytest.mark.parametrize("table", TABLES)
def test_fishers_test_with_its_exact_limits(table):
    x1, d1, x2, d2 = table
    counts = [[x1, d1 - x1], [x2, d2 - x2]]
    test, theirs = compared(*table), odds_ratio(counts)
    assert test.p_value_ == pytest.approx(fisher_exact(counts).pvalue)
    assert test.disparity_ == pytest.approx(theirs.statistic, rel=1e-6)
    assert test.confidence_interval_ == pytest.approx(tuple(theirs.confidence_interval(0.95)), rel=1e-6)
    assert (test.method_, test.comparisons_["method"][0]) == ("exact", "exact conditional")


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("table", TABLES)
def test_one_sided_tests_and_limits(table, alternative):
    x1, d1, x2, d2 = table
    counts = [[x1, d1 - x1], [x2, d2 - x2]]
    test = compared(*table, alternative=alternative)
    assert test.p_value_ == pytest.approx(fisher_exact(counts, alternative).pvalue)
    limits = odds_ratio(counts).confidence_interval(0.95, alternative)
    assert test.confidence_interval_ == pytest.approx(tuple(limits), rel=1e-6)


@st.composite
def tables(draw):
    d1, d2 = draw(st.integers(2, 15)), draw(st.integers(2, 15))
    x1, x2 = draw(st.integers(0, d1)), draw(st.integers(0, d2))
    assume(0 < x1 + x2 < d1 + d2)
    return x1, d1, x2, d2


@settings(deadline=None)
@given(tables(), st.sampled_from([0.3, 0.5, 0.8]))
def test_margins_are_tested_by_the_noncentral_distribution(table, margin):
    x1, d1, x2, d2 = table
    above, below = (nchypergeom_fisher(d1 + d2, x1 + x2, d1, edge) for edge in (1 / margin, margin))
    greater, less = above.sf(x1 - 1), below.cdf(x1)
    assert compared(*table, margin=margin, alternative="greater").p_value_ == pytest.approx(greater, rel=1e-6)
    assert compared(*table, margin=margin, alternative="less").p_value_ == pytest.approx(less, rel=1e-6)
    assert compared(*table, margin=margin).p_value_ == pytest.approx(min(1, 2 * min(greater, less)), rel=1e-6)
    certified = max(below.sf(x1 - 1), above.cdf(x1))
    assert compared(*table, margin=margin, alternative="equivalence").p_value_ == pytest.approx(certified, rel=1e-6)


@settings(deadline=None)
@given(tables())
def test_swapped_groups_and_complements_say_the_same(table):
    x1, d1, x2, d2 = table
    test = compared(*table)
    for other in (compared(x2, d2, x1, d1), compared(d1 - x1, d1, d2 - x2, d2)):
        assert other.p_value_ == pytest.approx(test.p_value_)
        with np.errstate(divide="ignore"):
            assert other.disparity_ == pytest.approx(float(1 / np.float64(test.disparity_)), rel=1e-6)


def test_strata_have_mantel_and_haenszels():
    test = strata()
    pooled = test.comparisons_.iloc[0]
    n, value = (test.by_group_[column].unstack("sex") for column in ("n", "value"))
    events = (n * value).round()
    counts = [frame[sex].to_numpy() for sex in ("Female", "Male") for frame in (events, n)]
    estimate, error, low, high = mantel_haenszel_odds_ratio(*counts, 1.959964)
    assert pooled["disparity"] == pytest.approx(estimate)
    assert (pooled["ci_low"], pooled["ci_high"]) == pytest.approx((low, high), rel=1e-6)
    assert pooled["standard_error"] == pytest.approx(error)
    assert pooled["p_value"] == pytest.approx(strata_difference(), rel=1e-9)  # the same convolution


def strata_difference():
    y = np.asarray(BERKELEY.y_true)
    groups = {"sensitive_features": BERKELEY.sensitive_features, "control_features": BERKELEY.control_features}
    return FairnessTest.from_predictions(y, y, metric="selection_rate", **groups).comparisons_["p_value"][0]


def test_berkeleys_odds_ratios_are_not_homogeneous():
    (row,) = strata().homogeneity_.to_dict("records")
    assert (row["method"], row["stratum"], row["df"]) == ("sampled conditional", "A", 5)
    assert row["statistic"] == pytest.approx(18.8255, abs=5e-5)  # Breslow and Day's; Tarone's correction is 5e-7 here
    assert row["p_value"] == pytest.approx(0.00126, abs=3 * np.sqrt(0.00126 / 9999))  # enumerated


def test_asymptotic_tests_are_not_enumerated():
    exact, normal = compared(141, 340, 1854, 3623, margin=0.9), compared(
        141, 340, 1854, 3623, margin=0.9, method="asymptotic"
    )  # fmt: skip
    assert (exact.method_, normal.method_) == ("exact", "asymptotic")
    assert normal.p_value_ == pytest.approx(exact.p_value_, rel=0.2)


def test_coverage_of_exact_limits():
    """Enumerated: 12 against 9 people at a rate of .3 among the latter, for five odds ratios."""
    from scipy.stats import binom

    from skfairtest.inference.odds_ratio import conditional_limits

    limits = {}
    for x1 in range(13):
        for x2 in range(10):
            limits[x1, x2] = conditional_limits(*(np.array([v]) for v in (x1, 12, x2, 9)), 0.025, 0.025)
    for truth in (0.2, 0.5, 1.0, 2.0, 5.0):
        odds = truth * 0.3 / 0.7
        covered = sum(
            binom.pmf(x1, 12, odds / (1 + odds)) * binom.pmf(x2, 9, 0.3)
            for (x1, x2), (low, high) in limits.items()
            if low <= truth <= high
        )
        assert covered >= 0.95


def test_rates_of_zero_or_one_on_both_sides_have_none():
    for counts in ((0, 10, 0, 12), (10, 10, 12, 12)):
        with pytest.warns(UndefinedMetricWarning, match="both values are 0 or 1: their odds ratio is undefined"):
            test = compared(*counts)
        assert np.isnan(test.disparity_)
        assert (test.p_value_, test.confidence_interval_) == (1.0, (0.0, np.inf))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"metric": "f1"}, "f1 is a function of one"),
        ({"metric": "roc_auc"}, "roc_auc, which is no rate"),
        ({"compare": "to_overall"}, "use compare='to_rest'"),
        ({"method": "bootstrap"}, "is not bootstrapped"),
        ({"margin": 1.5}, "margin of a ratio"),
    ],
)
def test_what_has_no_odds_ratio_is_refused(params, message):
    compas = load_compas()
    params = {"metric": "selection_rate", "disparity": "odds_ratio"} | params
    with pytest.raises(ValueError, match=message):
        FairnessTest.from_predictions(
            compas.y_true,
            compas.y_pred,
            y_score=compas.decile_score,
            sensitive_features=compas.sensitive_features["sex"],
            **params,
        )


def test_weighted_people_have_none():
    with pytest.raises(ValueError, match="people with weights or in clusters"):
        FairnessTest(metric="selection_rate", disparity="odds_ratio").fit(
            [0, 1, 0, 1], sensitive_features=list("aabb"), sample_weight=[1, 2, 1, 1]
        )


def test_power_without_data_knows_none():
    with pytest.raises(ValueError, match="has no power without data"):
        power(n_per_group=(50, 50), metric="selection_rate", rates=(0.3, 0.5), disparity="odds_ratio")
