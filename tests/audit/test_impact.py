"""The table of adverse impact: published numbers, counts by hand, and who is shown without being compared."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare, fisher_exact, multinomial

from skfairtest import FairnessTest, impact_table
from skfairtest._utils.errors import GroupsMissing, NothingDefined, ParameterError
from skfairtest.audit.impact import COLUMNS, flips_of_test, tables_of
from skfairtest.audit.impact_report import impact_reading
from skfairtest.readers import Column
from skfairtest.tables import Sample

GOLDEN = json.loads(Path(__file__).with_name("golden").joinpath("impact.json").read_text(encoding="utf-8"))["tables"]


def table_of(*counts, **params):
    """Compare categories of (name, selected, people); None is the unknown one."""
    names = [name for name, *_ in counts if name is not None]
    codes = np.repeat([names.index(name) if name is not None else -1 for name, *_ in counts], 2)
    chosen = Column("y_pred", (False, True), np.tile([1, 0], len(counts)))
    people = Sample({"y_pred": chosen}, (), counts=np.array([each for _, x, n in counts for each in (x, n - x)]))
    ((frame,), reasons) = tables_of([Column("sex", tuple(names), codes)], people, intersections=False, **params)
    assert not reasons
    return frame


def pair(x, n, top, m, **params):
    """Compare two categories; return the row of the first."""
    return table_of(("f", x, n), ("m", top, m), **params).iloc[0]


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
    found = table_of(("f", 2375, 4824), ("m", 2465, 4869), ("native", 37, 100), (None, 0, unknown))
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


@pytest.mark.parametrize(("x", "change"), [(10**10 - 10**6, 1), (10**10 - 10**4, -1)])
def test_flips_of_billions_turn_the_test(x, change):
    n = 2 * 10**10
    flips = flips_of_test(x, n, 10**10, n, 0.05)
    frames = [table_of(("f", x + change * k, n), ("m", 10**10, n)) for k in (flips - 1, flips)]
    assert [frame["significant"][0] for frame in frames] == [change == 1, change == -1]


def test_small_categories_are_shown_and_neither_compared_nor_part_of_the_pool():
    y_pred, groups = decisions([("f", 100, 200), ("m", 120, 200), ("x", 5, 5)])
    found = impact_table(y_pred, sensitive_features={"g": groups}).set_index("category")
    assert list(found["compared"]) == [True, True, False]
    assert found.loc["x", ["n", "selected", "rate"]].tolist() == [5, 5, 1.0]
    assert found.loc["x", ["ratio", "p_value", "shortfall_pool"]].isna().all()
    assert found.loc["f", "shortfall_pool"] == pytest.approx(200 * 220 / 400 - 100)
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
    with pytest.raises(NothingDefined, match="no one was selected in the categories that can be compared"):
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


def lists(wins, per_list=None):
    """Return decisions, categories and lists: each list has one candidate of each category, of whom one wins."""
    winners = np.repeat(np.arange(len(wins)), wins)
    n = len(winners)
    y_pred = (winners[:, None] == np.arange(len(wins))).astype(int).ravel()
    return y_pred, np.tile([f"g{k}" for k in range(len(wins))], n), np.repeat(np.arange(n), len(wins))


#: How often GPT ranked the resume of each of eight groups first in lists of eight (Bloomberg 2024).
RANKED_FIRST = [
    ((98, 148, 106, 130, 103, 181, 96, 138), "1.3e-08"),
    ((146, 172, 76, 100, 124, 129, 121, 132), "8.5e-08"),
    ((122, 140, 125, 121, 116, 139, 104, 133), "3.1e-01"),
    ((124, 129, 121, 110, 132, 121, 119, 144), "5.7e-01"),
    ((122, 129, 103, 120, 114, 147, 143, 122), "1.1e-01"),
    ((139, 132, 102, 113, 132, 120, 130, 132), "2.9e-01"),
    ((124, 133, 120, 125, 113, 137, 115, 133), "7.4e-01"),
    ((136, 107, 121, 117, 130, 140, 111, 138), "2.4e-01"),
]


@pytest.mark.parametrize(
    ("wins", "chi_square"), RANKED_FIRST, ids=lambda value: value if isinstance(value, str) else ""
)
def test_published_lists_are_significant_where_chance_does_not_explain_them(wins, chi_square):
    """The pairs within lists agree with chi-square in all rows; four fifths is broken in nearly every one."""
    p = chisquare(wins).pvalue
    assert f"{p:.1e}" == chi_square
    y_pred, groups, within = lists(np.array(wins))
    table = impact_table(y_pred, sensitive_features={"group": groups}, strata=within).set_index("category")
    assert table["significant"].fillna(False).any() == (p < 1e-6)
    assert table["below_four_fifths"].fillna(False).any() == (min(wins) / max(wins) < 0.8)
    assert set(table["method"].dropna()) == {"exact conditional"}
    low, high = min(wins), max(wins)
    row = table.loc[f"g{wins.index(low)}"]
    # In lists that one of two candidates wins, the test is McNemar's, and the statistic its square root.
    assert row["p_value"] == pytest.approx(binomtest(low, low + high).pvalue, rel=1e-9)
    assert row["standard_deviations"] == pytest.approx((low - high) / np.sqrt(low + high))
    assert (row["ratio"], row["to_four_fifths"]) == (pytest.approx(low / high), max(0, -(-4 * high // 5) - low))


@pytest.mark.parametrize(
    ("k", "n", "independent"), [(2, 20, 0.115), pytest.param(2, 60, 0.155, marks=pytest.mark.slow), (3, 8, 0.0846),
                                pytest.param(3, 12, 0.0984, marks=pytest.mark.slow)],
)  # fmt: skip
def test_the_level_over_all_outcomes_of_fair_lists_holds_within_them(k, n, independent):
    """Enumerated: one of k candidates wins each of n lists; who competes is not independent."""
    known = {}

    def rejects(wins):
        y_pred, groups, within = lists(np.array(wins))
        tables = (impact_table(y_pred, sensitive_features={"g": groups}, strata=s) for s in (None, within))
        return [table["significant"].fillna(False).any() for table in tables]

    level = np.zeros(2)
    for first in itertools.product(range(n + 1), repeat=k - 1):
        if sum(first) <= n:
            wins = tuple(sorted((*first, n - sum(first))))
            known.setdefault(wins, rejects(wins))
            level += multinomial(n, np.full(k, 1 / k)).pmf([*first, n - sum(first)]) * np.array(known[wins])
    assert level[0] == pytest.approx(independent, abs=0.001)
    assert level[1] <= 0.05


def test_strata_and_clusters_have_the_numbers_of_the_test():
    rng = np.random.default_rng(3)
    n = 400
    frame = pd.DataFrame({"job": rng.choice(["a", "b", "c"], n), "group": rng.choice(["f", "m"], n)})
    y_pred = (rng.random(n) < frame["job"].map({"a": 0.2, "b": 0.5, "c": 0.8})).astype(int)
    team = frame["job"] + (np.arange(n) // 5).astype(str)
    for more in ({"strata": frame["job"]}, {"clusters": team}, {"strata": frame["job"], "clusters": team}):
        row = impact_table(y_pred, sensitive_features=frame[["group"]], **more).query("~highest").iloc[0]
        asked = {"control_features": more.get("strata"), "clusters": more.get("clusters"), "random_state": 0}
        test = FairnessTest.from_predictions(
            None, y_pred, sensitive_features=frame["group"], metric="selection_rate", disparity="ratio", **asked
        )
        pooled = test.comparisons_.iloc[0]
        turned = pooled["group"] != row["category"]
        expected = [1 / pooled["disparity"], 1 / pooled["ci_high"], 1 / pooled["ci_low"]] if turned else pooled
        expected = expected if turned else [pooled["disparity"], pooled["ci_low"], pooled["ci_high"]]
        np.testing.assert_allclose(row[["ratio", "ci_low", "ci_high"]].astype(float), expected, rtol=1e-6)
        assert row["method"] == pooled["method"]
        assert row["p_value"] == pytest.approx(pooled["p_value"], rel=1e-6 if "clusters" not in more else 0.2)
        assert row["flips_test"] is pd.NA


def test_shortfalls_are_added_over_strata():
    y_pred, groups, job = [], [], []
    for stratum, counts in {"a": [("f", 10, 40), ("m", 30, 60)], "b": [("f", 40, 50), ("m", 18, 20)]}.items():
        chosen, who = decisions(counts)
        y_pred, groups, job = y_pred + chosen, groups + who, job + [stratum] * len(who)
    row = impact_table(y_pred, sensitive_features={"sex": groups}, strata={"job": job}).set_index("category").loc["f"]
    a, b = 10 * 60 / 100 + 40 * 20 / 70, 30 * 40 / 100 + 18 * 50 / 70  # Mantel and Haenszel
    assert row["ratio"] == pytest.approx(a / b)
    assert row["shortfall_pool"] == pytest.approx(40 * 40 / 100 - 10 + 50 * 58 / 70 - 40)
    assert row["shortfall_highest"] == pytest.approx(90 * (b - a) / (40 * 60 / 100 + 50 * 20 / 70))
    more = row["to_four_fifths"]
    assert more == 5  # of job a, where a selection weighs more
    assert a + (more - 1) * 0.6 < 0.8 * b <= a + more * 0.6


def test_a_category_that_meets_the_highest_in_no_stratum_is_not_compared():
    y_pred, groups = decisions([("a", 5, 20), ("b", 9, 20), ("c", 15, 20)])
    within = np.array(["x"] * 10 + ["y"] * 30 + ["z"] * 20)  # c is alone in z
    table = impact_table(y_pred, sensitive_features={"g": groups}, strata=within).set_index("category", drop=False)
    assert table["highest"].to_dict() == {"a": False, "b": False, "c": True}
    assert table.loc[["a", "b"], "compared"].tolist() == [False, False]
    assert table.loc[["a", "b"], "ratio"].isna().all()
    assert impact_reading(table.loc["a"]) == "in no stratum with the highest"
