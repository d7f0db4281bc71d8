"""Names and numbers in words."""

import pytest

from skfairtest.report.words import Facts, finding_sentence, label, null_sentence, points, verdict_sentence


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
    facts = Facts(features=evil, controls=evil, words={})
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
    facts = Facts(words={"r": ("are called", "people")})
    assert finding_sentence(facts, row).startswith(
        "Among people, 50.0 % of (x, f) against 25.0 % of (x, m) are called:"
    )


def test_the_null_of_all_pairs_says_any_two_groups():
    facts = Facts(features="sex", words={"r": ("are called", "people")})
    assert null_sentence(facts, "r") == "r: among people, the share who are called is the same in any two groups of sex"
