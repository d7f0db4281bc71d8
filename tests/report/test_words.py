"""Names and numbers in words."""

import numpy as np
import pandas as pd
import pytest

from skfairtest._utils.text import label, printable
from skfairtest.report.cells import by_p_value, comparisons_table
from skfairtest.report.sentences import (
    Setup,
    finding_sentence,
    null_sentence,
    number,
    points,
    verdict_sentence,
    written,
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
    assert points(-0.0) == points(-1e-15) == "0.0"
    assert points(-0.01) == "-1.0"


def test_names_of_features_and_metrics_are_data_in_every_sentence():
    evil = "a\x1b[31m"
    facts = Setup(features=evil, controls=evil, sentences={})
    row = {
        "metric": evil, "group": (evil, "b"), "other": evil, "stratum": None, "value_group": 0.5, "value_other": 0.25,
        "disparity": 0.25, "ci_low": 0.0, "ci_high": 0.5, "p_value": 0.1, "p_value_adjusted": 0.2,
        "concern": True,
    }  # fmt: skip
    for sentence in [
        null_sentence(facts, evil),
        finding_sentence(facts, row),
        verdict_sentence(facts, pd.DataFrame([row]), 0.1, concern=True),
        verdict_sentence(facts, pd.DataFrame([row]), 0.1, concern=False),
    ]:
        assert sentence.isprintable()
        assert "a\\x1b[31m" in sentence


def test_a_group_of_several_features_is_bracketed_in_a_sentence():
    row = {
        "metric": "r", "group": ("x", "f"), "other": ("x", "m"), "stratum": None, "value_group": 0.5,
        "value_other": 0.25, "disparity": 0.25, "ci_low": 0.0, "ci_high": 0.5, "p_value": 0.1, "p_value_adjusted": 0.2,
        "concern": True,
    }  # fmt: skip
    facts = Setup(sentences={"r": ("are called", "people")})
    assert finding_sentence(facts, row).startswith(
        "Among people, (x, f) were called more often than (x, m): 50.0% versus"
    )


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


def test_ties_go_to_what_is_farther_from_equality():
    frame = comparisons(p_value=[0.2] * 3, statistic=[9.0, 1.0, 2.0], disparity=[0.01, -0.3, 0.2])
    assert by_p_value(Setup(), frame).index.tolist() == [1, 2, 0]
    ratios = comparisons(p_value=[0.2] * 3, disparity=[1.5, 0.5, np.nan])
    assert by_p_value(Setup(disparity="ratio", margin_bounds=(0.8, 1.25)), ratios).index.tolist() == [1, 0, 2]
    adjusted = comparisons(p_value=[0.2] * 2, p_value_adjusted=[0.6, 0.4], disparity=[0.5, 0.1])
    assert by_p_value(Setup(), adjusted).index.tolist() == [1, 0]


@pytest.mark.parametrize("gap", [1e-3, 1e-4, 1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("kind", ["difference", "ratio", "value"])
def test_no_gap_that_is_not_0_is_written_as_0(gap, kind):
    """Of very many people tiny gaps are significant: decimals grow until they are seen."""
    described = (
        {"descriptions": {"r": "the cost"}} if kind == "value" else {"sentences": {"r": ("are called", "people")}}
    )
    setup = Setup(**described, disparity="ratio" if kind == "ratio" else "difference")
    a, b = 0.5 + gap, 0.5
    disparity = a / b if kind == "ratio" else a - b
    row = {
        "metric": "r", "group": "f", "other": "m", "stratum": None, "n_group": 1, "n_other": 1, "value_group": a,
        "value_other": b, "disparity": disparity, "ci_low": disparity, "ci_high": disparity, "p_value": 0.01,
        "p_value_adjusted": 0.01, "concern": True, "method": "exact",
    }  # fmt: skip
    shown = written(setup, row).disparity(disparity)
    assert float(shown) != (1 if kind == "ratio" else 0)
    assert shown in finding_sentence(setup, row)
    table = comparisons_table(setup, pd.DataFrame([row]), "")
    assert any(str(cell).startswith(shown) for cell in table.rows[0])
