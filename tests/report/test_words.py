"""Names and numbers in words."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from skfairtest import FairnessAudit
from skfairtest._utils.text import label, printable
from skfairtest.datasets import load_compas
from skfairtest.report.cells import by_p_value, comparisons_table
from skfairtest.report.sentences import (
    Setup,
    finding_sentence,
    null_sentence,
    number,
    points,
    result_sentence,
    verdict_sentence,
)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a", "a"),
        ("", "''"),
        (" a", "' a'"),
        ("a b", "a b"),
        ("a\nb", "a\\nb"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\u202eb", "a\\u202eb"),
        (("a", 1, True), "a, 1, True"),
        (None, ""),
        (float("nan"), ""),
        (1.5, "1.5"),
        ("[red]x[/red]", "[red]x[/red]"),
    ],
)
def test_a_name_takes_one_line_and_can_be_seen(name, shown):
    assert label(name) == shown


def test_no_minus_sign_before_nothing():
    assert points(-0.0001) == "0.0"
    assert points(-0.01) == "-1.0"


def test_names_of_features_and_metrics_are_data_in_every_sentence():
    evil = "a\x1b[31m"
    facts = Setup(features=evil, controls=evil, sentences={})
    row = {
        "metric": evil, "group": (evil, "b"), "other": evil, "stratum": None, "value_group": 0.5, "value_other": 0.25,
        "disparity": 0.25, "ci_low": 0.0, "ci_high": 0.5, "p_value": 0.1, "p_value_adjusted": 0.2,
    }  # fmt: skip
    for sentence in [
        null_sentence(facts, evil),
        finding_sentence(facts, row),
        verdict_sentence(facts, concern=True, p_value=0.1, n_comparisons=1),
        verdict_sentence(facts, concern=False, p_value=0.1, n_comparisons=1),
    ]:
        assert sentence.isprintable()
        assert "a\\x1b[31m" in sentence


def test_a_group_of_several_features_is_bracketed_in_a_sentence():
    row = {
        "metric": "r", "group": ("x", "f"), "other": ("x", "m"), "stratum": None, "value_group": 0.5,
        "value_other": 0.25, "disparity": 0.25, "ci_low": 0.0, "ci_high": 0.5, "p_value": 0.1, "p_value_adjusted": 0.2,
    }  # fmt: skip
    facts = Setup(sentences={"r": ("are called", "people")})
    assert finding_sentence(facts, row).startswith("Among people, 50.0% of (x, f) were called, versus 25.0% of (x, m):")


def test_the_null_of_all_pairs_says_any_two_groups():
    facts = Setup(features="sex", sentences={"r": ("are called", "people")})
    assert null_sentence(facts, "r") == "r: among people, the share who are called is the same in any two groups of sex"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (45720, "45,720"), (999_999, "999,999"), (-12345.6, "-12,346"), (9999, "9999"), (9999.6, "10,000"),
        (1e6, "1.000e+06"), (1234.56, "1235"),
    ],
)  # fmt: skip
def test_large_numbers_are_whole_with_separators(value, written):
    assert number(value) == written


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", True),  # Persian: two parts of a word
        ("\U0001f469\u200d\U0001f469\u200d\U0001f466", True),  # a family
        ("\U0001f469\U0001f3fd\u200d\U0001f4bb", True),  # with the colour of a skin
        ("\u0915\u094d\u200d\u0937", True),  # Devanagari, after a sign
        ("a\u200db", False),
        ("\u200d\U0001f469", False),
        ("\u0645\u200c", False),
        ("\u0645\u200c\u200c\u0645", False),
        ("\u0645\u200e\u0645", False),
    ],
)
def test_joiners_stay_where_words_and_pictures_need_them(name, kept):
    assert (label(name) == name) is kept
    assert ("\\u200" in label(name)) is not kept
    assert ("\\u200" in printable(name)) is not kept


def told(size, low, high, **params):
    row = {
        "metric": "r", "group": "f", "other": "m", "stratum": None, "value_group": 0.5 + size, "value_other": 0.5,
        "disparity": size, "ci_low": low, "ci_high": high, "p_value": 0.1, "p_value_adjusted": 0.2,
        "minimum_detectable": np.nan, "concern": True,
    }  # fmt: skip
    facts = Setup(sentences={"r": ("are called", "people")}, **params)
    return result_sentence(facts, row).split(": ", 1)[1].partition(", adjusted p = 0.200")[0]


@pytest.mark.parametrize(
    ("disparity", "low", "high", "said"),
    [
        (-0.123, -0.196, -0.049, "12.3 points less (interval: 4.9 to 19.6 less)"),
        (0.123, 0.049, 0.196, "12.3 points more (interval: 4.9 to 19.6 more)"),
        (-0.021, -0.065, 0.023, "2.1 points less (interval: 6.5 less to 2.3 more)"),
        (0.0001, -0.047, 0.046, "less than 0.1 points apart (interval: 4.7 less to 4.6 more)"),
        (0.0, -0.047, 0.046, "no difference (interval: 4.7 less to 4.6 more)"),
        (0.02, 0.0, 0.04, "2.0 points more (interval: 0.0 to 4.0 more)"),
        (-0.02, -0.04, -0.0001, "2.0 points less (interval: 0.0 to 4.0 less)"),
        (0.0001, -0.0001, 0.0002, "less than 0.1 points apart (interval: 0.0 to 0.0)"),
        (0.02, np.nan, np.nan, "2.0 points more (no interval)"),
    ],
)
def test_the_interval_is_told_the_same_way_as_the_difference(disparity, low, high, said):
    assert told(disparity, low, high) == said


def test_values_are_higher_and_lower_and_ratios_are_times():
    assert told(-30, -45720, 2, descriptions={"r": "the cost"}) == "30 lower (interval: 45,720 lower to 2 higher)"
    assert told(0.8, 0.7, 0.9, disparity="ratio") == "0.80 times as much (interval: 0.70 to 0.90 times)"


def comparisons(**columns):
    n = len(columns["p_value"])
    plain = {
        "metric": ["r"] * n, "statistic": [0.0] * n, "p_value_adjusted": columns["p_value"], "stratum": [None] * n,
        "disparity": [0.0] * n,
    }  # fmt: skip
    return pd.DataFrame({**plain, **columns})


def test_the_smallest_p_value_comes_first_in_a_stratum_or_not():
    frame = comparisons(p_value=[0.3, 0.1, 0.2], stratum=[None, "x", None])
    assert by_p_value(Setup(), frame).index.tolist() == [1, 2, 0]


def test_ties_go_to_what_is_farther_from_equality_and_under_a_margin_not_to_the_statistic():
    frame = comparisons(p_value=[0.2] * 3, statistic=[9.0, 1.0, 2.0], disparity=[0.01, -0.3, 0.2])
    assert by_p_value(Setup(), frame).index.tolist() == [0, 2, 1]
    assert by_p_value(Setup(margin_bounds=(-0.1, 0.1)), frame).index.tolist() == [1, 2, 0]
    ratios = comparisons(p_value=[0.2] * 3, disparity=[1.5, 0.5, np.nan])
    assert by_p_value(Setup(disparity="ratio", margin_bounds=(0.8, 1.25)), ratios).index.tolist() == [1, 0, 2]
    adjusted = comparisons(p_value=[0.2] * 2, p_value_adjusted=[0.6, 0.4], disparity=[0.5, 0.1])
    assert by_p_value(Setup(), adjusted).index.tolist() == [1, 0]


def shown(text):
    """Return the numbers of a text, without separators."""
    return [Decimal(found.replace(",", "")) for found in re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?", text)]


@pytest.mark.parametrize("kind", ["share", "function", "value"])
def test_the_difference_shown_is_nearly_always_that_of_the_values_shown(kind):
    """A reader subtracts: in sentences and in tables alike, whatever the counts are. The others are as near."""
    rng = np.random.default_rng(0)
    setup = {
        "share": Setup(sentences={"r": ("are called", "people")}),
        "function": Setup(sentences={"r": ("are called", "people")}, functions=frozenset("r")),
        "value": Setup(descriptions={"r": "the cost"}),
    }[kind]
    rows, n_rounded = [], 0
    for _ in range(400):
        n, scale = rng.integers(1, 5000, 2), 1 if kind != "value" else 10 ** rng.uniform(-3, 6)
        a, b = (scale * rng.integers(0, n + 1) / n).tolist()
        row = {
            "metric": "r", "group": "f", "other": "m", "stratum": None, "n_group": 1, "n_other": 1, "value_group": a,
            "value_other": b, "disparity": a - b, "ci_low": a - b, "ci_high": a - b, "p_value": 0.5, "method": "exact",
            "p_value_adjusted": 0.5, "concern": False, "minimum_detectable": np.nan,
        }  # fmt: skip
        rows.append(row)
        first, second, difference, *_ = shown(finding_sentence(setup, row))
        rounded = (100 if kind == "function" else 1) * (first - second) != difference
        n_rounded += rounded
        assert float(difference) == pytest.approx((1 if kind == "value" else 100) * (a - b), rel=0.05, abs=0.05)
        said = result_sentence(setup, row).partition(" versus ")[2]
        if not rounded and "less than" not in said and a != b:
            assert shown(said)[1] == abs(difference)
    assert n_rounded < 40
    table = comparisons_table(setup, pd.DataFrame(rows), "")
    heads = [column.head for column in table.columns]
    marked = 0
    for cells in table.rows:
        unit = "" if kind == "value" else " (points)"
        first, second, difference = (cells[heads.index(head)] for head in ("value", "against", f"difference{unit}"))
        (a,), (b,), (gap, *_) = map(shown, (first, second, difference))
        marked += (100 if kind == "function" else 1) * (a - b) != gap
        assert first.endswith("%") is (kind == "share")
    assert marked < 40


def test_a_reader_who_subtracts_the_case_of_the_issue():
    row = {
        "metric": "r", "group": "f", "other": "m", "stratum": None, "value_group": 0.44841, "value_other": 0.23454,
        "disparity": 0.21387, "ci_low": 0.1768, "ci_high": 0.25, "p_value": 0.1, "p_value_adjusted": 0.2,
    }  # fmt: skip
    facts = Setup(sentences={"r": ("are called", "people")})
    assert "44.84% of f were called, versus 23.45% of m" in finding_sentence(facts, row)
    assert "a difference of 21.39 points (interval 17.68 to 25.00)" in finding_sentence(facts, row)
    row |= {"value_group": 0.449, "value_other": 0.235, "disparity": 0.214}
    assert "44.9% of f were called, versus 23.5% of m" in finding_sentence(facts, row)


@pytest.fixture(scope="module")
def odds():
    compas = load_compas()
    return FairnessAudit.from_predictions(
        compas.y_true,
        compas.y_pred,
        sensitive_features=compas.sensitive_features[["sex", "race"]],
        metrics=["selection_rate"],
        disparity="odds_ratio",
        compare="to_highest",
        random_state=0,
    )


def test_odds_ratios_are_called_so_and_written_without_points(odds):
    text = odds.to_text(details=True)
    assert re.search(r"Native American people: 21\.0% versus 66\.7%, an odds ratio of 0\.\d+ \(", text)
    assert "odds_ratio of" not in text
    assert "the odds of value divided by those of against" in text
    assert " points" not in text.split("At a glance")[1].split("All groupings")[0]


def test_the_grid_says_which_group_is_the_best(odds):
    grid = str(odds).split("At a glance")[1].split("Findings")[0]
    assert "from the group with the highest value, as a ratio" in grid
    assert len(re.findall(r" highest$", grid, re.MULTILINE)) == 2
