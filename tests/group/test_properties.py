"""Random tables, empty cells, single groups, names in every script: a result or a documented ValueError."""

import warnings

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest import CountTable, FairnessTest
from skfairtest.metrics import CRITERIA, RATES

REPEATABLE = settings(
    max_examples=2 * settings.default.max_examples,
    suppress_health_check=[HealthCheck.too_slow],
)

names = st.one_of(
    st.text(max_size=8),
    st.integers(-5, 5),
    st.booleans(),
    st.floats(-3, 3),
    st.sampled_from(
        ["NA", "None", "nan", "[bold]x[/bold]", "\x1b[31m", "a\nb", "Ünïcödé", "日本", "😀", "overall", "rest"]
    ),
)
#: TN, FP, FN, TP of a group: anybody, few cells, hardly anybody.
counts = st.one_of(
    st.tuples(*[st.integers(1, 12)] * 4),
    st.tuples(*[st.sampled_from([0, 1, 5])] * 4),
    st.sampled_from([(0, 0, 0, 0), (0, 0, 0, 1), (9, 0, 0, 0)]),
)


@st.composite
def tables(draw, strata=False):
    """Counts by group (and stratum) and confusion-matrix cell; None if there is nobody."""
    groups = draw(st.lists(names, min_size=draw(st.sampled_from([1, 2, 2, 3])), max_size=4, unique=True))
    levels = draw(st.lists(names, min_size=1, max_size=2, unique=True)) if strata else [None]
    rows = {}
    for level in levels:
        for group in groups:
            for cell, number in zip([(0, 0), (0, 1), (1, 0), (1, 1)], draw(counts), strict=True):
                rows[(level, group, *cell)] = number
    if not sum(rows.values()):
        return None
    return CountTable.from_counts(
        rows,
        names=("s", "g", "t", "p"),
        y_true="t",
        y_pred="p",
        sensitive_features="g",
        control_features="s" if strata else None,
    )


@st.composite
def questions(draw):
    """Parameters that go together."""
    params = {
        "metric": draw(st.sampled_from([*RATES, *CRITERIA])),
        "compare": draw(st.sampled_from(["between_groups", "to_overall", "to_rest"])),
        "disparity": draw(st.sampled_from(["difference", "ratio"])),
        "adjust": draw(st.sampled_from(["auto", "holm", "bonferroni", "fdr_bh", None])),
        "method": draw(st.sampled_from(["auto", "auto", "exact", "asymptotic", "permutation", "bootstrap"])),
        "alternative": draw(st.sampled_from(["two-sided", "two-sided", "greater", "less"])),
        "confidence_level": draw(st.sampled_from([0.5, 0.95, 0.999])),
        "n_resamples": 49,
        "random_state": 0,
    }
    if params["method"] == "permutation":
        params["variance"] = draw(st.sampled_from(["auto", "score", "delta", None]))
        params["within"] = draw(st.sampled_from(["auto", None, "y_true", "y_pred"]))
    else:
        params["margin"] = draw(st.sampled_from([None, None, 0.1])) if params["disparity"] == "difference" else None
    return params


#: What the documentation says may be wrong with such tables and questions.
DOCUMENTED = (
    "holds one group only",
    "at least two groups of 2 or more people",
    "no comparison is defined",
    "needs a direction",
    "method='exact' with a margin has no test",
)


def documented(error):
    """Whether the documentation says so."""
    return any(known in str(error) for known in DOCUMENTED)


def fit(table, params):
    """Fit, or return None where the error is one of the documented ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.filterwarnings("ignore", message="sensitive_features: .* left out of comparisons")
        warnings.filterwarnings("ignore", message="n_resamples=49 cannot reject")
        try:
            return FairnessTest.from_table(table, **params)
        except ValueError as error:
            if not documented(error):
                raise
            return None


def check(test, table, params):
    """Check what is true of every result."""
    rows, alpha = test.comparisons_, 1 - params["confidence_level"]
    for p in (rows["p_value"], rows["p_value_adjusted"], pd.Series([test.p_value_])):
        assert ((p > 0) & (p <= 1)).all()
    assert (rows["p_value_adjusted"] >= rows["p_value"] * (1 - 1e-9)).all()
    np.testing.assert_array_equal(rows["concern"], rows["p_value_adjusted"] <= alpha)
    assert test.rejected_ == test.concern_ == (test.p_value_ <= alpha)
    low, high = test.p_value_interval_
    assert 0 <= low <= test.p_value_ * (1 + 1e-9)
    assert test.p_value_ <= high + (1 - test.p_value_) * 0.2 / (1 + test.n_resamples_) + 1e-9
    # An undefined ratio keeps its place, and is not evidence.
    undefined = rows["method"].str.startswith("undefined: ")
    assert (undefined == rows["disparity"].isna()).all()
    assert (rows.loc[undefined, ["p_value", "p_value_adjusted"]] == 1).all(axis=None)
    assert (rows.loc[undefined, ["ci_low", "ci_high"]] == [0, np.inf]).all(axis=None)
    assert not undefined.any() or params["disparity"] != "difference"
    assert not rows[["value_group", "value_other", "ci_low", "ci_high"]].isna().any().any()
    rows = rows[~undefined]
    # A margin that no pair of rates can exceed (against everyone, of whom the group is most) has no statistic.
    assert rows["statistic"].notna().all() or (params.get("margin") and params["compare"] == "to_overall")
    if params["method"] != "bootstrap":  # whose limits follow skewed draws, one-sided at 50% past the estimate
        assert (rows["ci_low"] <= rows["disparity"] + 1e-9).all()
        assert (rows["disparity"] <= rows["ci_high"] + 1e-9).all()
    by_group = test.by_group_
    assert by_group["n"].sum() == table.n_samples * test.comparisons_["metric"].nunique() or not test.excluded_.empty
    np.testing.assert_array_equal(by_group["value"].isna(), by_group["n_effective"] == 0)
    defined = by_group["n_effective"] > 0
    assert by_group.loc[defined, "value"].between(0, 1).all()
    assert (by_group.loc[defined, "ci_low"] <= by_group.loc[defined, "value"] + 1e-9).all()
    assert (by_group.loc[defined, "value"] <= by_group.loc[defined, "ci_high"] + 1e-9).all()
    # Names cannot move the cursor or break a line.
    assert all(line.isprintable() for line in str(test).split("\n"))
    test.to_frame().to_csv(index=False)


@REPEATABLE
@given(tables(), questions())
def test_every_table_has_a_result_or_a_documented_error(table, params):
    if table is not None:
        test = fit(table, params)
        if test is not None:
            check(test, table, params)


@settings(REPEATABLE, max_examples=settings.default.max_examples)
@given(tables(strata=True), questions())
def test_every_stratified_table_has_a_result_or_a_documented_error(table, params):
    if table is not None:
        test = fit(table, params)
        if test is not None:
            check(test, table, params)
            # Design, section 6: nothing is left out silently.
            groups = {group for group, n in zip(test.groups_, table.counts.sum(axis=(0, 2)), strict=True) if n}
            seen = {*test.comparisons_["group"], *test.comparisons_["other"], *test.excluded_["group"]}
            assert groups <= seen


@REPEATABLE
@given(st.lists(names, min_size=1, max_size=25), st.data())
def test_any_names_of_groups_can_be_told_apart(groups, data):
    y_pred = data.draw(st.lists(st.integers(0, 1), min_size=len(groups), max_size=len(groups)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            test = FairnessTest.from_predictions(None, y_pred, sensitive_features=groups, metric="selection_rate")
        except ValueError as error:
            if not documented(error):
                raise
            return
    # 1, 1.0 and True are one group, as everywhere in Python.
    assert test.n_samples_ == len(groups)
    assert set(test.groups_) == set(groups)
    assert test.by_group_["n"].tolist() == [groups.count(group) for group in test.groups_]
    for row in test.comparisons_.itertuples():
        assert test.groups_.index(row.group) < test.groups_.index(row.other)
