"""Mid-p inference for odds ratios: half the probability of the data, where it is allowed, and what reports call it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact, hypergeom

from skfairtest import CountTable, FairnessTest
from skfairtest.datasets import load_berkeley
from skfairtest.inference.odds_ratio import conditional_limits, mid_log_p


def table(x1, d1, x2, d2):
    return CountTable(
        np.array([[[x1, d1 - x1], [x2, d2 - x2]]]), groups=[("a",), ("b",)], cells=[(1,), (0,)],
        cell_names=["y_pred"], sensitive_names=["g"],
    )  # fmt: skip


def run(counts, **params):
    given = {"metric": "selection_rate", "disparity": "odds_ratio", "method": "mid-p"} | params
    return FairnessTest.from_table(table(*counts), **given)


@settings(deadline=None)
@given(st.data())
def test_the_p_value_is_fishers_less_half_the_probability_of_the_data(data):
    d1, d2 = data.draw(st.integers(2, 30)), data.draw(st.integers(2, 30))
    x1, x2 = data.draw(st.integers(0, d1)), data.draw(st.integers(0, d2))
    if x1 + x2 in (0, d1 + d2):  # no choice
        return
    own = hypergeom.pmf(x1, d1 + d2, d1, x1 + x2)
    for alternative in ("two-sided", "greater", "less"):
        fisher = fisher_exact([[x1, d1 - x1], [x2, d2 - x2]], alternative).pvalue
        found = run((x1, d1, x2, d2), alternative=alternative)
        assert found.p_value_ == pytest.approx(fisher - own / 2)
        assert found.method_ == "mid-p"
    assert np.exp(mid_log_p(*map(np.atleast_1d, (x1, d1, x2, d2)), np.log(fisher))) == pytest.approx(fisher - own / 2)


def test_published_mid_p_value():
    # Agresti (2007), An Introduction to Categorical Data Analysis, section 2.6: Fisher's tea taster, .014 + .229 / 2.
    assert run((3, 4, 1, 4), alternative="greater").p_value_ == pytest.approx(0.129, abs=5e-4)


def test_limits_are_those_of_half_the_data_and_within_the_exact_ones():
    counts = (8, 20, 3, 25)
    mid, exact = run(counts), run(counts, method="exact")
    arrays = tuple(np.array([n]) for n in counts)
    assert mid.confidence_interval_ == pytest.approx(conditional_limits(*arrays, 0.025, 0.025, mid=True))
    assert exact.confidence_interval_[0] < mid.confidence_interval_[0]
    assert mid.confidence_interval_[1] < exact.confidence_interval_[1]
    assert mid.disparity_ == exact.disparity_
    assert mid.p_value_ < exact.p_value_


def test_several_strata_have_the_mid_p_value_of_their_sum():
    berkeley = load_berkeley(as_table=True)
    asked = {"metric": "selection_rate", "disparity": "odds_ratio"}
    mid = FairnessTest.from_table(berkeley, method="mid-p", **asked)
    exact = FairnessTest.from_table(berkeley, method="exact", **asked)
    assert mid.confidence_interval_ == exact.confidence_interval_  # over strata those of Robins, Breslow and Greenland
    pooled = [test.comparisons_.query("stratum.isna()")["p_value"].item() for test in (mid, exact)]
    assert 0 < pooled[1] - pooled[0] < 0.05
    within = [test.comparisons_.query("stratum.notna()")["p_value"] for test in (mid, exact)]
    assert (within[0] < within[1]).all()


def test_totals_without_a_choice_say_nothing():
    assert mid_log_p(*(np.array([n]) for n in (4, 4, 6, 6)), 0.0) == 0.0


def test_reports_say_that_it_is_approximate():
    from skfairtest import FairnessAudit

    audit = FairnessAudit.from_table(
        table(8, 20, 3, 25), metrics="selection_rate", disparity="odds_ratio", method="mid-p"
    )
    assert "neither the level of the test nor the coverage of its limits is guaranteed" in audit.to_text(details=True)
    assert "Lydersen" in audit.to_text(details=True)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"disparity": "difference"}, r"method='mid-p' tests that the odds ratio is 1 .*found disparity='difference'"),
        ({"margin": 0.8}, r"found margin=0\.8: use margin=None, or method='exact'"),
        ({"variance": "delta"}, r"method='mid-p' is one specific test, which variance='delta' would change"),
        ({"missing": "bounds"}, r"missing='bounds' looks at the enumerated or asymptotic test"),
        ({"metric": "f1"}, r"table has no y_true"),
        (
            {"metric": {"a": "selection_rate", "b": "disparate_impact"}},
            r"method='mid-p' is of disparity='odds_ratio', and .* compared by its ratio",
        ),
    ],
)
def test_what_it_is_not_for(params, said):
    with pytest.raises(ValueError, match=said):
        run((8, 20, 3, 25), **params)
