"""The table of adverse impact: published numbers, counts by hand, and who is shown without being compared."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from skfairtest import FairnessTest, impact_table
from skfairtest._utils.errors import GroupsMissing, NothingDefined, ParameterError
from skfairtest.audit.impact import COLUMNS, Category, flips_of_test, impact_frame

GOLDEN = json.loads(Path(__file__).with_name("golden").joinpath("impact.json").read_text(encoding="utf-8"))["tables"]


def pair(x, n, top, m, **params):
    """Compare two categories; return the row of the first."""
    return impact_frame("sex", [Category("f", n, x), Category("m", m, top)], **params).iloc[0]


def decisions(counts):
    """Return people's decisions and categories of (category, selected, n)."""
    rows = [(name, int(place < x)) for name, x, n in counts for place in range(n)]
    return [row[1] for row in rows], [row[0] for row in rows]


@pytest.mark.parametrize("published", GOLDEN, ids=lambda published: "-".join(map(str, published["counts"])))
def test_published_numbers(published):
    row = pair(*published["counts"], smallest_share=0)
    checked = {name: said for name, said in published.items() if name in COLUMNS}
    x, n, top, m = published["counts"]
    found = dict(row) | {"p_value_fisher": fisher_exact([[x, n - x], [top, m - top]]).pvalue}
    found["p_value_asymptotic"] = pair(*published["counts"], smallest_share=0, method="asymptotic")["p_value"]
    checked |= {name: said for name, said in published.items() if name in ("p_value_fisher", "p_value_asymptotic")}
    assert checked
    for name, said in checked.items():
        digits = len(said.split(".")[1])
        assert f"{found[name]:.{digits}f}" == said, name


@pytest.mark.parametrize("unknown", [188, 307, 494])
def test_the_published_table_of_new_york_counts_small_and_unknown_categories(unknown):
    """SolasAI's notebook on New York's audits: 37 of 100 in a category of 1%, and three numbers of unknown people."""
    two = [Category("f", 4824, 2375), Category("m", 4869, 2465)]
    found = impact_frame("x", [*two, Category("native", 100, 37), Category(None, unknown, 0, unknown=True)])
    native, lost = found.iloc[2], found.iloc[3]
    assert (native["rate"], native["compared"], native["n"]) == (0.37, False, 100)
    assert (lost["n"], lost["compared"]) == (unknown, False)
    assert np.isnan(lost["share"])
    assert found["share"].sum() == pytest.approx(1)  # of the people whose category is known
    assert f"{found.loc[0, 'ratio']:.6f}" == "0.972477"


def test_the_test_is_that_of_the_highest_of_all():
    counts = [("a", 30, 100), ("b", 44, 90), ("c", 20, 70)]
    y_pred, groups = decisions(counts)
    table = impact_table(y_pred, sensitive_features={"g": groups}).set_index("category")
    test = FairnessTest.from_predictions(
        None,
        y_pred,
        sensitive_features={"g": groups},
        metric="selection_rate",
        compare="to_highest",
        disparity="ratio",
    ).comparisons_.set_index("group")
    assert list(table.index[table["highest"]]) == ["b"] == list(test["other"].unique())
    pairs = {"ratio": "disparity"} | {name: name for name in ("ci_low", "ci_high", "p_value", "p_value_adjusted")}
    for name, source in pairs.items():
        np.testing.assert_array_equal(table.loc[["a", "c"], name], test.loc[["a", "c"], source])


@settings(deadline=None)
@given(st.data())
def test_four_fifths_by_whole_numbers(data):
    """What has to change is found by trying every number of changed decisions, with fractions."""
    n, m = data.draw(st.integers(2, 40)), data.draw(st.integers(2, 40))
    top = data.draw(st.integers(1, m))
    x = data.draw(st.integers(0, int(n * Fraction(top, m))))
    row = pair(x, n, top, m)
    highest = Fraction(top, m)
    below = [Fraction(selected, n) < Fraction(4, 5) * highest for selected in range(n + 1)]
    if row["highest"]:
        assert Fraction(x, n) == highest
        return
    assert row["below_four_fifths"] == below[x]
    assert row["to_four_fifths"] == min(k for k in range(n + 1) if x + k <= n and not below[x + k])
    changed = [abs(selected - x) for selected in range(n + 1) if below[selected] != below[x]]
    assert row["flips_four_fifths"] == min(changed)


@pytest.mark.parametrize(
    ("x", "n", "top", "m"), [(2, 10, 15, 25), (9, 40, 20, 40), (1, 3, 2, 3), (0, 12, 9, 12), (14, 30, 15, 30)]
)
def test_flips_of_the_test_by_brute_force(x, n, top, m):
    def significant(selected):
        y_pred, groups = decisions([("f", selected, n), ("m", top, m)])
        test = FairnessTest.from_predictions(
            None, y_pred, sensitive_features=groups, metric="selection_rate", disparity="ratio"
        )
        return test.p_value_ <= 0.05

    now = significant(x)
    changes = range(1, (top * n // m if now else n) - x + 1) if now else range(1, x + 1)
    found = next((k for k in changes if significant(x + k if now else x - k) != now), None)
    assert flips_of_test(x, n, top, m, 0.05) is pd.NA if found is None else flips_of_test(x, n, top, m, 0.05) == found


def test_small_categories_are_shown_and_neither_compared_nor_part_of_the_pool():
    y_pred, groups = decisions([("f", 100, 200), ("m", 120, 200), ("x", 5, 5)])
    found = impact_table(y_pred, sensitive_features={"g": groups}).set_index("category")
    assert list(found["compared"]) == [True, True, False]
    assert found.loc["x", ["n", "selected", "rate"]].tolist() == [5, 5, 1.0]
    assert found.loc["x", ["ratio", "p_value", "shortfall_pool"]].isna().all()
    assert found.loc["f", "shortfall_pool"] == 200 * 220 / 400 - 100
    assert found["share"].sum() == pytest.approx(1)
    everyone = impact_table(y_pred, sensitive_features={"g": groups}, smallest_share=0.01)
    assert everyone["compared"].all()
    assert everyone.set_index("category").loc["x", "highest"]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=["None", "nan", "NA"])
def test_the_unknown_are_counted_shown_and_not_compared(missing):
    y_pred, groups = decisions([("f", 10, 40), ("m", 25, 50), (missing, 3, 9)])
    sites = ["north", "south"] * 49 + ["north"]
    found = impact_table(y_pred, sensitive_features=pd.DataFrame({"sex": groups, "site": sites}))
    known = impact_table(y_pred[:90], sensitive_features={"sex": groups[:90]})
    sex = found[found["feature"] == "sex"].reset_index(drop=True)
    pd.testing.assert_frame_equal(sex.iloc[:2], known)
    assert sex["category"].iloc[2] is None
    assert sex.loc[2, ["n", "selected", "compared"]].tolist() == [9, 3, False]
    assert np.isnan(sex.loc[2, "share"])
    crossed = found[found["feature"] == "sex x site"]
    assert list(crossed["category"]) == [("f", "north"), ("f", "south"), ("m", "north"), ("m", "south"), None]
    for feature, part in found.groupby("feature"):
        assert part["n"].sum() == 99, feature
        assert part["selected"].sum() == 38, feature


def test_a_group_called_unknown_is_a_group():
    y_pred, groups = decisions([("f", 10, 40), ("m", 25, 50), ("unknown", 3, 9)])
    assert impact_table(y_pred, sensitive_features=groups)["compared"].all()


def test_scoring_rates_are_shares_above_the_median_of_all_scores():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 20, 300).astype(float)
    groups = np.where(np.arange(300) < 120, "f", np.where(np.arange(300) < 290, "m", None))
    found = impact_table(y_score=scores, sensitive_features={"g": groups})
    above = (scores > np.median(scores)).astype(int)
    pd.testing.assert_frame_equal(found, impact_table(above, sensitive_features={"g": groups}))
    assert found["selected"].sum() == above.sum() < 150


def test_the_order_of_people_and_their_container_change_nothing():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 80), "race": rng.choice(["a", "b", None], 80)})
    y_pred = pd.Series(rng.integers(0, 2, 80))
    order = rng.permutation(80)
    found = impact_table(y_pred, sensitive_features=frame)
    pd.testing.assert_frame_equal(found, impact_table(y_pred[order], sensitive_features=frame.loc[order]))
    columns = {name: frame[name].tolist() for name in frame}
    pd.testing.assert_frame_equal(found, impact_table(y_pred.tolist(), sensitive_features=columns))


def test_a_crossing_that_cannot_be_compared_is_shown_with_the_reason():
    y_pred, sex = decisions([("f", 1, 2), ("m", 1, 2)])
    with pytest.warns(UserWarning, match="sensitive_features: sex x race: rates can be compared"):
        found = impact_table(y_pred, sensitive_features={"sex": sex, "race": list("abba")})
    assert list(found.loc[found["feature"] == "sex x race", "compared"]) == [False] * 4
    assert list(found.columns) == COLUMNS


def test_nobody_selected():
    with pytest.raises(NothingDefined, match="nobody was selected in any category that can be compared"):
        impact_table([0] * 8, sensitive_features=list("ffffmmmm"), pos_label=1)


def test_one_category():
    with pytest.raises(GroupsMissing, match="at least two categories"):
        impact_table([0, 1] * 4, sensitive_features=["f"] * 8)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "y_pred .* or y_score .* is needed, not both; found neither"),
        ({"y_pred": [0, 1, 1, 0], "y_score": [0.1, 0.2, 0.3, 0.4]}, "found both"),
        ({"y_score": [0.1, 0.2, 0.3, 0.4], "pos_label": 1}, "pos_label=1 is a label in y_pred"),
        ({"y_score": ["a", "b", "c", "d"]}, "y_score must be numbers"),
        ({"y_pred": [0.1, 0.2, 0.3, 0.4]}, "y_pred looks like scores"),
        ({"y_pred": ["yes", "no", "no", "yes"]}, "pos_label is needed"),
        ({"y_pred": [0, 1, 1, 0], "smallest_share": 1}, "smallest_share must be at least 0 and below 1; found 1"),
        ({"y_pred": [0, 1, 1]}, "different lengths"),
    ],
    ids=lambda value: None if isinstance(value, str) else ", ".join(value) or "nothing",
)
def test_what_is_refused_and_why(asked, message):
    with pytest.raises(ParameterError, match=message):
        impact_table(**asked, sensitive_features=list("ffmm"))
