"""Margins, equivalence, directions and what rates are compared with, against the distributions they are built on."""

import re
import warnings

import numpy as np
import pytest
from scipy.stats import boschloo_exact, norm

from skfairtest import FairnessTest
from skfairtest.datasets import load_compas
from skfairtest.inference.intervals import miettinen_nurminen
from skfairtest.inference.margin import margin_log_p
from skfairtest.inference.unconditional import unconditional_log_p

RATE = {"metric": "selection_rate"}


COUNTS = (14, 40, 31, 60)


GROUPS = {"a": COUNTS[:2], "b": COUNTS[2:]}


def p(log_p):
    """P-value of a logarithm."""
    return float(np.exp(log_p))


# Directions -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_p_value_is_boschloos_and_one_sided_that_of_scipy(selected, alternative):
    x1, d1, x2, d2 = COUNTS
    test = FairnessTest.from_table(selected(GROUPS), alternative=alternative, **RATE)
    assert test.p_value_ == pytest.approx(p(unconditional_log_p(*COUNTS, alternative)), rel=1e-12)
    assert test.method_ == "exact"
    assert test.disparity_ == pytest.approx(14 / 40 - 31 / 60)
    if alternative != "two-sided":  # SciPy's columns are the groups: "greater" means p1 > p2 of the first row
        scipy = boschloo_exact([[x1, x2], [d1 - x1, d2 - x2]], alternative=alternative, n=128)
        assert test.p_value_ == pytest.approx(scipy.pvalue, rel=1e-4)
    pooled = 45 / 100
    (row,) = test.comparisons_.itertuples()
    assert row.standard_error == pytest.approx(np.sqrt(pooled * (1 - pooled) * (1 / 40 + 1 / 60)))
    assert row.statistic == pytest.approx(row.disparity / row.standard_error)


# Margins --------------------------------------------------------------------------------------------------------------


def margin_p(alternative, lower, upper, disparity):
    """The contract's combination of the two one-sided margin tests."""
    above = p(margin_log_p(*COUNTS, upper, "greater", disparity))
    below = p(margin_log_p(*COUNTS, lower, "less", disparity))
    return {
        "greater": above,
        "less": below,
        "two-sided": min(1.0, 2 * min(above, below)),
        "equivalence": max(
            p(margin_log_p(*COUNTS, lower, "greater", disparity)), p(margin_log_p(*COUNTS, upper, "less", disparity))
        ),
    }[alternative]


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided", "equivalence"])
@pytest.mark.parametrize(
    ("disparity", "margin", "edges"), [("difference", 0.05, (-0.05, 0.05)), ("ratio", 0.8, (0.8, 1.25))]
)
def test_margins_are_tested_at_their_edges(selected, alternative, disparity, margin, edges):
    test = FairnessTest.from_table(
        selected(GROUPS), alternative=alternative, disparity=disparity, margin=margin, **RATE
    )
    assert test.p_value_ == pytest.approx(margin_p(alternative, *edges, disparity), rel=1e-9)
    assert set(test.comparisons_["method"]) == {"exact unconditional"}


def test_beyond_the_cap_margins_are_asymptotic_and_say_so(selected):
    table = selected({"a": (15_000, 50_000), "b": (15_100, 50_000)})
    test = FairnessTest.from_table(table, margin=0.02, alternative="equivalence", **RATE)
    assert set(test.comparisons_["method"]) == {"asymptotic"}
    assert test.method_ == "asymptotic"
    with pytest.raises(ValueError, match=r"method='exact' cannot enumerate a margin's test.*method='auto'"):
        FairnessTest.from_table(table, margin=0.02, method="exact", **RATE)


@pytest.mark.parametrize(
    "sizes", [(60, 40), *(pytest.param(n, marks=pytest.mark.slow) for n in [(700, 300), (950, 50)])]
)
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_a_wider_margin_is_never_harder_to_certify(selected, sizes, disparity):
    table = selected({name: (int(0.4 * n), n) for name, n in zip("ab", sizes, strict=True)})
    margins = [0.02, 0.1, 0.3, 0.9] if disparity == "difference" else [0.95, 0.72, 0.7, 0.05]
    p_values = [
        FairnessTest.from_table(
            table, compare="to_overall", disparity=disparity, margin=margin, alternative="equivalence", **RATE
        ).p_value_
        for margin in margins
    ]
    assert (np.diff(p_values) <= 1e-7).all()
    assert p_values[-1] < 0.01


# Equivalence ----------------------------------------------------------------------------------------------------------


def test_three_groups_of_which_one_is_far_are_not_certified(selected, thorough):
    # The issue's own example: .30, .305 and .60 of 2,000 each, margin .05.
    n, margin = (2000, 0.05) if thorough else (200, 0.2)
    table = selected({"a": (int(0.3 * n), n), "b": (int(0.305 * n), n), "c": (int(0.6 * n), n)})
    test = FairnessTest.from_table(table, margin=margin, alternative="equivalence", **RATE)
    assert test.p_value_ == test.comparisons_["p_value"].max()
    assert test.p_value_ > (0.99 if thorough else 0.95)
    assert not test.rejected_
    assert test.concern_
    assert abs(test.disparity_) == pytest.approx(0.3)
    rows = test.comparisons_.set_index(["group", "other"])
    assert not rows.loc[("a", "b"), "concern"]  # this pair is certified
    assert rows.loc[("a", "c"), "concern"]
    assert rows.loc[("b", "c"), "concern"]
    assert "Not certified" in str(test)


@pytest.mark.parametrize(
    ("disparity", "margin", "edges"), [("difference", 0.1, (-0.1, 0.1)), ("ratio", 0.8, (0.8, 1.25))]
)
def test_the_equivalence_interval_is_the_one_that_the_test_inverts(selected, disparity, margin, edges):
    counts = (300, 1000, 320, 1000)
    test = FairnessTest.from_table(
        selected({"a": counts[:2], "b": counts[2:]}), margin=margin, alternative="equivalence", disparity=disparity,
        method="asymptotic", **RATE,
    )  # fmt: skip
    expected = tuple(float(end) for end in miettinen_nurminen(*counts, norm.isf(0.05), disparity))
    assert test.equivalence_interval_ == pytest.approx(expected, rel=1e-9)
    inside = edges[0] < expected[0] and expected[1] < edges[1]
    assert test.rejected_ is inside
    # Two-sided, at the full level, the interval is the wider one.
    low, high = test.confidence_interval_
    assert low < expected[0] < expected[1] < high


@pytest.mark.parametrize(
    ("disparity", "margin", "edge", "way"),
    [
        ("difference", (-0.1, None), -0.1, "greater"),
        ("difference", [None, 0.1], 0.1, "less"),
        ("ratio", (0.8, None), 0.8, "greater"),
        ("ratio", (None, 1.25), 1.25, "less"),
    ],
)
def test_a_margin_with_one_end_is_tested_at_that_end_and_certifies_what_it_says(selected, disparity, margin, edge, way):
    params = {"margin": margin, "alternative": "equivalence", "disparity": disparity, **RATE}
    test = FairnessTest.from_table(selected(GROUPS), **params)
    assert test.p_value_ == pytest.approx(p(margin_log_p(*COUNTS, edge, way, disparity)), rel=1e-12)
    assert test.concern_ is not test.rejected_
    low, high = test.equivalence_interval_
    assert test.rejected_ is bool(low > edge if way == "greater" else high < edge)
    swapped = FairnessTest.from_table(
        selected({"a": GROUPS["b"], "b": GROUPS["a"]}),
        **{**params, "margin": tuple(end and (1 / end if disparity == "ratio" else -end) for end in margin[::-1])},
    )
    assert swapped.p_value_ == pytest.approx(test.p_value_, rel=1e-6)
    bound = "is at least" if way == "greater" else "is at most"
    verdict = "Certified at 95%" if test.rejected_ else "Not certified"
    assert re.match(f"{verdict}.* {bound}", test.to_text().splitlines()[0])
    for page in (test.to_html(), test.to_markdown(), test.to_json()):
        assert "inf " not in page


def test_a_margin_with_one_end_must_be_shown_by_every_group_and_is_one_hypothesis_for_each(selected):
    groups = {"a": (300, 1000), "b": (305, 1000), "c": (270, 1000)}
    params = {"margin": (-0.05, None), "alternative": "equivalence", "method": "asymptotic", **RATE}
    test = FairnessTest.from_table(selected(groups), compare="to_reference", reference_group="b", **params)
    shown = dict(zip(test.comparisons_["group"], test.comparisons_["concern"], strict=True))
    assert shown == {"a": False, "c": True}
    assert test.p_value_ == test.comparisons_["p_value"].max()
    # Two questions, also of two groups: "a is not far below the rest", and "b is not far below the rest".
    both = FairnessTest.from_table(selected({"a": (300, 1000), "b": (350, 1000)}), compare="to_rest", **params)
    assert both.comparisons_["concern"].tolist() == [True, False]


def test_a_margin_of_nothing_tests_equality(selected):
    table = selected(GROUPS)
    plain = FairnessTest.from_table(table, **RATE)
    assert FairnessTest.from_table(table, margin=0, **RATE).p_value_ == plain.p_value_
    assert FairnessTest.from_table(table, margin=1, disparity="ratio", **RATE).p_value_ == plain.p_value_


# What groups are compared with ----------------------------------------------------------------------------------------

THREE = {"a": (5, 50), "b": (24, 60), "c": (45, 90)}


def test_to_rest_compares_with_everyone_else(selected):
    test = FairnessTest.from_table(selected(THREE), compare="to_rest", **RATE)
    first = test.comparisons_.iloc[0]
    assert (first["group"], first["other"], first["n_group"], first["n_other"]) == ("a", "rest", 50, 150)
    assert first["value_other"] == pytest.approx((24 + 45) / 150)
    assert first["disparity"] == pytest.approx(5 / 50 - 69 / 150)
    assert first["p_value"] == pytest.approx(p(unconditional_log_p(5, 50, 69, 150)), rel=1e-12)


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_to_overall_shows_the_overall_value_and_has_the_p_value_of_to_rest(selected, disparity):
    params = {"disparity": disparity, **RATE}
    overall = FairnessTest.from_table(selected(THREE), compare="to_overall", **params)
    rest = FairnessTest.from_table(selected(THREE), compare="to_rest", **params)
    np.testing.assert_array_equal(overall.comparisons_["p_value"], rest.comparisons_["p_value"])
    np.testing.assert_array_equal(overall.comparisons_["concern"], rest.comparisons_["concern"])
    assert set(overall.comparisons_["other"]) == {"overall"}
    assert (overall.comparisons_["n_other"] == 200).all()
    np.testing.assert_allclose(overall.comparisons_["value_other"], 74 / 200)
    null = 1.0 if disparity == "ratio" else 0.0
    for name in ("ci_low", "ci_high"):  # the same comparison on another scale: limits on the same side of the null
        assert ((overall.comparisons_[name] > null) == (rest.comparisons_[name] > null)).all()


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_to_overall_in_strata_the_disparity_has_the_sign_of_what_was_tested(confused, disparity):
    # Two groups cannot both lie below the two of them together.
    table = confused(
        {("x", "a"): (26, 9, 5, 15), ("x", "b"): (30, 30, 18, 9), ("y", "a"): (6, 8, 20, 29), ("y", "b"): (5, 4, 1, 1)},
        strata=True,
    )
    rows = FairnessTest.from_table(table, compare="to_overall", disparity=disparity, **RATE).comparisons_
    above = rows["disparity"] > (1 if disparity == "ratio" else 0)
    assert (above == (rows["statistic"] > 0)).all()


@pytest.mark.parametrize("groups", [[0, 1], [False, True], [np.int64(0), np.int64(1)]])
def test_a_reference_that_is_0_or_false_is_a_reference(groups):
    test = FairnessTest.from_predictions(
        None, [0, 1, 1, 1] * 3, sensitive_features=[groups[0], groups[0], groups[1], groups[1]] * 3,
        compare="to_reference", reference_group=groups[0], **RATE,
    )  # fmt: skip
    assert list(test.comparisons_["other"]) == [groups[0]]


# Ratio and difference, intervals and p-values -------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "asymptotic", "permutation"])
@pytest.mark.parametrize("metric", ["selection_rate", "f1", "equalized_odds"])
def test_a_ratio_has_the_p_value_of_the_difference(confused, metric, method):
    table = confused({"a": (30, 10, 8, 20), "b": (25, 14, 12, 14), "c": (40, 20, 9, 30)})
    params = {"metric": metric, "method": method, "random_state": 0, "n_resamples": 499}
    difference = FairnessTest.from_table(table, **params)
    ratio = FairnessTest.from_table(table, disparity="ratio", **params)
    np.testing.assert_array_equal(ratio.comparisons_["p_value"], difference.comparisons_["p_value"])
    assert ((ratio.comparisons_["disparity"] > 1) == (difference.comparisons_["disparity"] > 0)).all()


def test_by_group_has_wilson_limits(selected):
    # Wilson for 0 of 10: (0, 0.2775), Newcombe (1998), Statistics in Medicine 17, 857-872, method 3.
    test = FairnessTest.from_table(selected({"a": (0, 10), "b": (81, 263)}), **RATE)
    by_group = test.by_group_
    assert tuple(by_group.loc["a", ["ci_low", "ci_high"]]) == pytest.approx((0.0, 0.2775), abs=5e-5)
    # 81 of 263: .2553 to .3662, the same paper, table I.
    assert tuple(by_group.loc["b", ["ci_low", "ci_high"]]) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert by_group["small"].tolist() == [False, False]
    assert FairnessTest.from_table(selected({"a": (0, 9), "b": (81, 263)}), **RATE).by_group_["small"].tolist() == [
        True,
        False,
    ]
    assert by_group.loc["b", "standard_error"] == pytest.approx(np.sqrt(81 / 263 * 182 / 263 / 263))


@pytest.mark.parametrize(
    ("params", "warned"),
    [
        ({}, False),
        ({"disparity": "odds_ratio", "margin": 0.8}, False),
        ({"disparity": "odds_ratio", "margin": 0.8, "method": "asymptotic"}, False),
        ({"sample_weight": [1] * 17 + [2]}, True),
        ({"clusters": [i // 2 for i in range(18)]}, True),
        ({"metric": "f1"}, True),
    ],
)
def test_margins_over_strata_of_few_people_hold_the_level_or_have_a_caution(params, warned):
    """4 of 4 against 0 of 6, and 4 of 5 against 0 of 3: about 1e-4 is possible, where p was 1.6e-22."""
    groups, strata = np.repeat(["a", "b", "a", "b"], [4, 6, 5, 3]), np.repeat([0, 1], [10, 8])
    selected = np.repeat([1, 0, 1, 0], [4, 6, 4, 4])
    known = {"sensitive_features": groups, "control_features": strata, "alternative": "greater"}
    params = {"metric": "selection_rate", "margin": 0.1, **known, **params}
    y_true = np.ones(18, dtype=int) if params["metric"] == "f1" else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        test = FairnessTest.from_predictions(y_true, selected, **params)
    assert 1e-4 < test.p_value_ < 0.05
    assert [str(one.message).count("over strata of few people") for one in caught] == [1] * warned


# Against the group that is best in the data, which the data chose -----------------------------------------------------

COMPAS = load_compas()


def of_compas(**params):
    params = {"metric": "selection_rate", "compare": "to_highest"} | params
    return FairnessTest.from_predictions(
        COMPAS.y_true, COMPAS.y_pred, sensitive_features=COMPAS.sensitive_features["race"], **params
    )


def of_counts(events, people, **params):
    groups = np.repeat([f"g{place}" for place in range(len(people))], people)
    y = np.concatenate([np.repeat([1, 0], [x, n - x]) for x, n in zip(events, people, strict=True)])
    return FairnessTest(**({"metric": "selection_rate", "compare": "to_highest"} | params)).fit(
        y, sensitive_features=groups
    )


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("compare", ["to_highest", "to_lowest"])
def test_rows_are_those_of_all_pairs_with_the_best_group(compare, disparity):
    test, pairs = (of_compas(compare=each, disparity=disparity) for each in (compare, "between_groups"))
    value = test.by_group_["value"]
    best = value.idxmax() if compare == "to_highest" else value.idxmin()
    rows = test.comparisons_.set_index("group")
    assert set(rows["other"]) == {best}
    assert set(rows.index) == set(test.groups_) - {best}
    for pair in pairs.comparisons_.itertuples():
        if best in (pair.group, pair.other):
            row = rows.loc[pair.group if pair.other == best else pair.other]
            assert row["p_value"] == pytest.approx(pair.p_value)
            assert row["p_value_adjusted"] == pytest.approx(pair.p_value_adjusted)
    assert test.p_value_ == rows["p_value_adjusted"].min()
    assert test.disparity_ in set(rows["disparity"])


def test_an_interval_covers_the_disparity_to_whichever_group_is_best():
    test, pairs = of_compas(), of_compas(compare="between_groups").comparisons_
    for row in test.comparisons_.itertuples():
        own = [(p.ci_low, p.ci_high) for p in pairs.itertuples() if p.group == row.group]
        own += [(-p.ci_high, -p.ci_low) for p in pairs.itertuples() if p.other == row.group]
        to_best = [(p.ci_low, p.ci_high) for p in pairs.itertuples() if (p.group, p.other) == (row.group, row.other)]
        to_best += [(-p.ci_high, -p.ci_low) for p in pairs.itertuples() if (p.other, p.group) == (row.group, row.other)]
        assert row.ci_low == pytest.approx(min(low for low, _ in own))
        assert row.ci_high == pytest.approx(to_best[0][1])


def test_two_groups_are_one_pair_and_of_equal_groups_the_larger_one_is_the_best():
    assert set(of_counts([5, 10, 2], [10, 20, 20]).comparisons_["other"]) == {"g1"}
    test, pair = of_counts([9, 20], [30, 30]), of_counts([9, 20], [30, 30], compare="between_groups")
    assert test.p_value_ == pytest.approx(pair.p_value_)
    assert test.disparity_ == pytest.approx(-11 / 30)
