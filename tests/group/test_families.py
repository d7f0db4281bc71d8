"""The verdict: what counts as one hypothesis, which follow from others, what is adjusted, and which row decides."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy.stats import fisher_exact
from sklearn.exceptions import UndefinedMetricWarning
from statsmodels.stats.multitest import multipletests

from skfairtest import (
    CountTable,
    FairnessAudit,
    FairnessTest,
    Rate,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*their (odds )?ratio is undefined")

RATE = {"metric": "selection_rate"}


#: Twelve of 40 and 24 of 45: Boschloo's p-value is .0371, which SciPy's search over the common rate confirms below.
TWO = {"a": (12, 40), "b": (24, 45)}


FOUR = {"a": (5, 50), "b": (24, 60), "c": (45, 90), "d": (16, 40)}


TO_OTHERS = ["to_rest", "to_overall"]
CONFUSED = {"a": (30, 10, 8, 20), "b": (25, 14, 12, 14)}
THREE = {"a": (30, 10, 8, 20), "b": (25, 14, 12, 14), "c": (41, 22, 9, 30)}
SAME = [
    ("true_positive_rate", "false_negative_rate"),
    ("false_positive_rate", "true_negative_rate"),
    ("accuracy", "zero_one_loss"),
    ("precision", "false_discovery_rate"),
    ("negative_predictive_value", "false_omission_rate"),
    ("jaccard", "f1"),
    ("false_negative_rate", Rate("miss_rate", event=lambda y_pred: ~y_pred, given=lambda y_true: y_true)),
    ("accuracy", Rate("wrong", event="y_true ^ y_pred")),
]


def people(n=200, groups="ab", seed=0):
    rng = np.random.default_rng(seed)
    group = rng.choice(list(groups), n)
    y = rng.integers(0, 2, n)
    score = 1 / (1 + np.exp(-rng.normal(size=n) - 0.6 * y * (group == "a")))
    return y, score, {"sensitive_features": group, "random_state": 1, "n_resamples": 199}


# One hypothesis counts once -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compare", TO_OTHERS)
def test_two_groups_against_everyone_else_are_one_question(selected, compare):
    table = selected(TWO)
    pair = FairnessTest.from_table(table, **RATE)
    test = FairnessTest.from_table(table, compare=compare, **RATE)
    assert test.p_value_ == pair.p_value_ == pytest.approx(0.0371, abs=5e-5)
    rows = test.comparisons_
    assert (rows["p_value"] == rows["p_value"][0]).all()
    assert (rows["p_value_adjusted"] == rows["p_value"]).all()
    assert rows["statistic"][0] == -rows["statistic"][1]
    # One question has an interval at the whole level, which leaves 0 out as its p-value says.
    assert (rows["ci_low"][0], rows["ci_high"][0]) < (0, 0)
    if compare == "to_rest":
        assert test.confidence_interval_ == pytest.approx(pair.confidence_interval_)


@pytest.mark.parametrize(("one", "other"), SAME)
@pytest.mark.parametrize("adjust", ["auto", "holm", "bonferroni", "fdr_bh"])
def test_rates_that_are_equal_at_the_same_time_count_once_in_every_adjustment(confused, one, other, adjust):
    params = {"adjust": adjust, "n_resamples": 199, "random_state": 0}
    extra = "selection_rate"
    alone = FairnessTest.from_table(confused(CONFUSED), metric=[one, extra], **params).comparisons_
    both = FairnessTest.from_table(confused(CONFUSED), metric=[one, extra, other], **params).comparisons_
    np.testing.assert_array_equal(both["p_value"], alone["p_value"][[0, 1, 0]])
    np.testing.assert_allclose(both["p_value_adjusted"], alone["p_value_adjusted"][[0, 1, 0]], rtol=1e-12)
    # The level of simultaneous intervals is divided by two questions, not by three.
    np.testing.assert_allclose(both[["ci_low", "ci_high"]][:2], alone[["ci_low", "ci_high"]], rtol=1e-12)


@pytest.mark.parametrize(
    ("compare", "asked"),
    [("to_rest", {"alternative": "greater"}), ("to_rest", {"alternative": "less"}), ("to_overall", {"margin": 0.05})],
)
def test_one_sided_questions_and_margins_to_everyone_count_row_by_row(selected, compare, asked):
    rows = FairnessTest.from_table(selected(TWO), compare=compare, **asked, **RATE).comparisons_
    np.testing.assert_allclose(rows["p_value_adjusted"], multipletests(rows["p_value"], method="holm")[1], rtol=1e-12)
    assert rows["p_value_adjusted"].min() == pytest.approx(min(1, 2 * rows["p_value"].min()))


def test_a_third_group_makes_the_rest_another_set_of_people(selected):
    rows = FairnessTest.from_table(selected({**TWO, "c": (5, 9)}), compare="to_rest", **RATE).comparisons_
    np.testing.assert_allclose(rows["p_value_adjusted"], multipletests(rows["p_value"], method="holm")[1], rtol=1e-12)
    with pytest.warns(UserWarning, match="left out"):
        lonely = FairnessTest.from_table(selected({**TWO, "c": (1, 1)}), compare="to_rest", **RATE).comparisons_
    assert lonely["p_value_adjusted"].min() == pytest.approx(2 * lonely["p_value"].min())


@pytest.mark.parametrize("compare", TO_OTHERS)
@pytest.mark.parametrize(("metric", "n_resamples"), [("roc_auc", 199), ("mean_squared_error", "adaptive")])
def test_a_sampled_question_is_drawn_once_for_both_its_rows(compare, metric, n_resamples):
    y, score, params = people()
    test = FairnessTest.from_predictions(
        y, score, metric=metric, compare=compare, method="permutation", **{**params, "n_resamples": n_resamples}
    )
    rows = test.comparisons_
    assert (rows["p_value_adjusted"] == rows["p_value"][0]).all()
    assert (rows["p_value"] == rows["p_value"][0]).all()
    assert rows["statistic"][0] == -rows["statistic"][1]
    np.testing.assert_array_equal(test.null_distribution_[:, 0], -test.null_distribution_[:, 1])
    pair = FairnessTest.from_predictions(
        y, score, metric=metric, method="permutation", **{**params, "n_resamples": n_resamples}
    )
    assert test.p_value_ == pair.p_value_
    assert test.p_value_interval_ == pair.p_value_interval_


@pytest.mark.parametrize(("compare", "tests"), [("to_rest", 1), ("to_overall", 2)])
def test_two_rows_of_a_bootstrap_are_one_question_unless_everyone_is_resampled(compare, tests):
    # Against everyone the resampled denominators of both groups are part of each statistic: two different tests.
    y, score, params = people(300)
    rows = FairnessTest.from_predictions(
        y, (score > 0.5).astype(int), metric="recall", compare=compare, method="bootstrap", **params
    ).comparisons_
    assert rows["p_value"].nunique() == tests
    expected = rows["p_value"] if tests == 1 else multipletests(rows["p_value"], method="holm")[1]
    np.testing.assert_allclose(rows["p_value_adjusted"], expected, rtol=1e-9)


def test_an_audit_counts_groupings_of_the_same_people_once():
    # Everybody of a department is of one sex: by sex, by department and crossed, the groups are the same people.
    y, score, params = people(200)
    group = params.pop("sensitive_features")
    decided = (score > 0.55).astype(int)
    features = {"sex": group, "department": np.where(group == "a", "x", "y")}
    metrics = ["selection_rate", "false_negative_rate", "true_positive_rate"]
    audit = FairnessAudit.from_predictions(y, decided, sensitive_features=features, metrics=metrics)
    alone = FairnessTest.from_predictions(y, decided, sensitive_features=group, metric=metrics[:2])
    assert len(audit.comparisons_) == 3 * (1 + 1 + 2)
    expected = alone.comparisons_.set_index("metric")["p_value_adjusted"]
    expected["true_positive_rate"] = expected["false_negative_rate"]
    np.testing.assert_allclose(
        audit.comparisons_["p_value_adjusted"], expected[audit.comparisons_["metric"]].to_numpy(), rtol=1e-9
    )
    assert audit.comparisons_.groupby("metric")["p_value_adjusted"].nunique().eq(1).all()
    assert audit.p_value_ == pytest.approx(alone.p_value_)


@pytest.mark.parametrize(("disparity", "margin"), [("difference", 0.05), ("ratio", 0.8), ("odds_ratio", 0.8)])
def test_a_margin_for_swapped_sides_is_one_hypothesis(selected, disparity, margin):
    table = selected({"a": (4, 40), "b": (12, 40), "c": (13, 36)})
    best, pairs = (
        FairnessTest.from_table(table, compare=compare, disparity=disparity, margin=margin, **RATE)
        for compare in ("to_highest", "between_groups")
    )
    assert best.p_value_ == pytest.approx(pairs.p_value_, rel=1e-9)
    assert best.p_value_ == pytest.approx(3 * best.comparisons_["p_value"].min())
    assert best.adjust_ == pairs.adjust_ == "holm"  # that two pairs are within a margin does not imply a third


# All pairs of groups are tied -----------------------------------------------------------------------------------------


def stepped_down(p, factors):
    """Adjust by factors of the ordered p-values, without the package."""
    order = np.argsort(p, kind="stable")
    adjusted = np.minimum(1, np.maximum.accumulate(np.asarray(p)[order] * factors))
    out = np.empty(len(adjusted))
    out[order] = adjusted
    return out


def tied_in_parts(rows, column, factors):
    """Adjust where the hypotheses of each part are tied: a rejection takes the next factor of its part."""
    left, used = {name: list(numbers) for name, numbers in factors.items()}, []
    for name in rows.sort_values("p_value", kind="stable")[column]:
        used.append(sum(most[0] for most in left.values()))
        left[name].pop(0)
    return stepped_down(rows["p_value"], used)


@pytest.mark.parametrize(
    ("groups", "factors"),
    # Shaffer 1986, table 1.
    [(3, [3, 1, 1]), (4, [6, 3, 3, 3, 2, 1]), (5, [10, 6, 6, 6, 6, 4, 4, 3, 2, 1])],
)
def test_all_pairs_have_the_published_factors(selected, groups, factors):
    counts = {"a": (5, 50), "b": (24, 60), "c": (45, 90), "d": (16, 40), "e": (30, 45)}
    table = selected(dict(list(counts.items())[:groups]))
    test = FairnessTest.from_table(table, method="asymptotic", **RATE)
    rows = test.comparisons_
    assert test.adjust_ == "shaffer"
    np.testing.assert_allclose(rows["p_value_adjusted"], stepped_down(rows["p_value"], factors), rtol=1e-12)
    holm = FairnessTest.from_table(table, method="asymptotic", adjust="holm", **RATE)
    assert holm.adjust_ == "holm"
    assert test.p_value_ == holm.p_value_
    assert test.confidence_interval_ == holm.confidence_interval_
    assert (rows["p_value_adjusted"] <= holm.comparisons_["p_value_adjusted"]).all()
    assert (rows["p_value_adjusted"] < holm.comparisons_["p_value_adjusted"]).any()


@pytest.mark.parametrize(
    ("asked", "groups"),
    [
        ({}, 2),
        ({"compare": "to_rest"}, 4),
        ({"compare": "to_overall"}, 4),
        ({"compare": "to_reference", "reference_group": "b"}, 4),
        ({"margin": 0.02}, 4),
        ({"alternative": "equivalence", "margin": 0.2}, 4),
    ],
)
def test_what_is_not_tied_is_adjusted_by_holm(selected, asked, groups):
    test = FairnessTest.from_table(selected(dict(list(FOUR.items())[:groups])), **asked, **RATE, method="asymptotic")
    rows = test.comparisons_
    assert test.adjust_ == "holm"
    np.testing.assert_allclose(rows["p_value_adjusted"], multipletests(rows["p_value"], method="holm")[1], rtol=1e-12)


def test_rates_are_tied_each_by_itself(confused):
    test = FairnessTest.from_table(confused(THREE), metric=["recall", "false_positive_rate"], method="asymptotic")
    rows = test.comparisons_
    assert test.adjust_ == "shaffer"
    # Of three pairs of one rate all can be equal, or one: a rejection takes two from the factor, the next none.
    expected = tied_in_parts(rows, "metric", dict.fromkeys(set(rows["metric"]), (3, 1, 1, 0)))
    np.testing.assert_allclose(rows["p_value_adjusted"], expected, rtol=1e-12)
    # The complement of one of them changes nothing.
    three = ["recall", "false_positive_rate", "false_negative_rate"]
    more = FairnessTest.from_table(confused(THREE), metric=three, method="asymptotic")
    again = more.comparisons_["p_value_adjusted"].to_numpy()
    np.testing.assert_allclose(again, rows["p_value_adjusted"].to_numpy()[[0, 1, 2, 3, 4, 5, 0, 1, 2]], rtol=1e-12)


def test_averages_over_different_strata_are_not_tied(confused):
    rng = np.random.default_rng(2)
    cells = {(s, g): tuple(int(v) for v in rng.integers(8, 40, 4)) for s in "xy" for g in "abc"}
    everywhere = FairnessTest.from_table(confused(cells, strata=True), metric="accuracy", method="asymptotic")
    pooled = everywhere.comparisons_[everywhere.comparisons_["stratum"].isna()]
    np.testing.assert_allclose(pooled["p_value_adjusted"], stepped_down(pooled["p_value"], [3, 1, 1]), rtol=1e-12)
    # Each stratum is tied in itself: six comparisons, of which each stratum's first rejection takes two.
    strata = everywhere.comparisons_[everywhere.comparisons_["stratum"].notna()]
    expected = tied_in_parts(strata, "stratum", dict.fromkeys("xy", (3, 1, 1, 0)))
    np.testing.assert_allclose(strata["p_value_adjusted"], expected, rtol=1e-12)
    # Without "c" in "y", a and b are compared in both strata and c in one: equality is not transitive.
    del cells[("y", "c")]
    partly = FairnessTest.from_table(confused(cells, strata=True), metric="accuracy", method="asymptotic")
    pooled = partly.comparisons_[partly.comparisons_["stratum"].isna()]
    assert len(pooled) == 3
    np.testing.assert_allclose(
        pooled["p_value_adjusted"], multipletests(pooled["p_value"], method="holm")[1], rtol=1e-12
    )


def test_an_audit_ties_the_pairs_of_each_feature(confused):
    rng = np.random.default_rng(8)
    race, sex, decided = rng.choice(list("wxyz"), 400), rng.choice(list("fm"), 400), rng.integers(0, 2, 400)
    audit = FairnessAudit.from_predictions(
        None, decided, sensitive_features={"race": race, "sex": sex}, intersections=False, method="asymptotic"
    )
    rows = audit.comparisons_
    expected = tied_in_parts(rows, "feature", {"race": [6, 3, 3, 3, 2, 1, 0], "sex": [1, 0]})
    np.testing.assert_allclose(rows["p_value_adjusted"], expected, rtol=1e-12)
    assert audit.record_.setup.adjust == "shaffer"
    assert type(audit).from_json(audit.to_json()).record_.setup.adjust == "shaffer"


def test_intervals_stay_at_the_level_over_the_number_of_questions(selected):
    groups = {"a": (30, 100), "b": (45, 100), "c": (50, 100)}
    rows = FairnessTest.from_table(selected(groups), **RATE).comparisons_
    for row in rows.itertuples():
        pair = selected({group: groups[group] for group in (row.group, row.other)})
        alone = FairnessTest.from_table(pair, confidence_level=1 - 0.05 / 3, **RATE)
        low, high = alone.confidence_interval_
        if row.p_value_adjusted <= 0.05:  # Holm rejects more than a single step, and cuts the interval at equality
            low, high = (max(low, 0), high) if row.disparity > 0 else (low, min(high, 0))
        assert (row.ci_low, row.ci_high) == pytest.approx((low, high))


# How many hypotheses there are depends on who is compared: an undefined ratio keeps its place -------------------------

RATIOS = ("ratio", "odds_ratio")


#: A reference, one group with one event, and others without any.
RARE = [("r", 0, 1000), ("g0", 1, 50), *((f"g{i}", 0, 50) for i in range(1, 12))]


def table_of(rows):
    return CountTable(
        np.array([[[x, d - x] for _, x, d in rows]]), groups=[(name,) for name, *_ in rows], cells=[(1,), (0,)],
        cell_names=["y_pred"], sensitive_names=["g"],
    )  # fmt: skip


def run(rows, **params):
    return FairnessTest.from_table(table_of(rows), **({"metric": "selection_rate"} | params))


def counted(rows):
    events = np.concatenate([np.arange(d) < x for _, x, d in rows]).astype(int)
    return events, np.repeat([name for name, *_ in rows], [d for *_, d in rows])


@pytest.mark.parametrize("disparity", RATIOS)
def test_an_undefined_ratio_is_a_row_with_p_of_1_and_the_reason(disparity):
    with pytest.warns(UndefinedMetricWarning, match=r"g1 against r: both values are 0.* and 10 more: their .*p = 1"):
        test = run(RARE, compare="to_reference", reference_group="r", disparity=disparity)
    assert len(test.comparisons_) == 12
    assert test.excluded_.empty
    row = test.comparisons_.set_index("group").loc["g1"]
    assert (row["p_value"], row["p_value_adjusted"], row["concern"]) == (1.0, 1.0, False)
    assert (row["ci_low"], row["ci_high"]) == (0.0, np.inf)
    assert row[["disparity", "statistic", "standard_error"]].isna().all()
    assert row["method"].startswith("undefined: both values are 0")
    # Boschloo's p-value of 0 of 1,000 against 1 of 50, or Fisher's, 50 / 1,050, times twelve.
    own = test.comparisons_.set_index("group").loc["g0", "p_value"]
    assert test.p_value_ == pytest.approx(12 * own)
    if disparity == "odds_ratio":
        assert own == pytest.approx(50 / 1050)
    else:
        assert test.p_value_ == run(RARE, compare="to_reference", reference_group="r").p_value_
    assert test.method_ == "exact"
    assert len(FairnessTest.from_json(test.to_json()).comparisons_) == 12


@pytest.mark.parametrize("disparity", RATIOS)
@pytest.mark.parametrize("compare", ["between_groups", "to_rest", "to_highest"])
@pytest.mark.parametrize("adjust", ["auto", "holm", "bonferroni", "fdr_bh"])
def test_a_difference_and_a_ratio_have_as_many_hypotheses(disparity, compare, adjust):
    rows = RARE[:5]
    test, plain = (run(rows, compare=compare, adjust=adjust, disparity=d) for d in (disparity, "difference"))
    assert len(test.comparisons_) == len(plain.comparisons_)
    for found in (test, plain):
        leading = found.comparisons_["p_value_adjusted"].min() / found.comparisons_["p_value"].min()
        assert leading == pytest.approx({"between_groups": 10, "to_highest": 10, "to_rest": 5}[compare])


@pytest.mark.parametrize("method", ["auto", "asymptotic", "bootstrap"])
@pytest.mark.parametrize("kind", ["weights", "losses", "clusters", "strata"])
@pytest.mark.filterwarnings("ignore:.*rests on few", "ignore:.*depends on a few", "ignore:.*cannot reject")
def test_undefined_ratios_of_weighted_people_losses_clusters_and_strata_keep_their_place(kind, method):
    events, group = counted([("r", 0, 40), ("a", 4, 12), ("b", 0, 12), ("c", 0, 12)])
    given = {"y_true": None, "y_pred": events, "metric": "selection_rate", "sensitive_features": group}
    given |= {
        "weights": {"sample_weight": np.linspace(0.5, 2, len(events))},
        "losses": {"y_true": 1.5 * events, "y_pred": np.zeros(len(events)), "metric": "mean_absolute_error"},
        "clusters": {"clusters": np.arange(len(events)) // 2},
        "strata": {"control_features": np.arange(len(events)) % 2},
    }[kind]
    test = FairnessTest.from_predictions(
        **given, disparity="ratio", adjust="bonferroni", method=method, n_resamples=99, random_state=0
    )
    assert len(test.comparisons_) == (18 if kind == "strata" else 6)  # in both strata, too
    rows = test.comparisons_[test.comparisons_["stratum"].isna()]
    assert len(rows) == 6
    undefined = rows[rows["disparity"].isna()]
    assert len(undefined) == 3
    assert (undefined[["p_value", "p_value_adjusted"]] == 1).all(axis=None)
    assert ((undefined["ci_low"] == 0) & np.isposinf(undefined["ci_high"])).all()
    assert rows["p_value_adjusted"].min() == pytest.approx(min(1, 6 * rows["p_value"].min()))
    assert test.n_resamples_ == (0 if method == "asymptotic" or (kind, method) == ("strata", "auto") else 99)


def test_without_any_event_nothing_is_significant_and_equivalence_is_not_certified():
    rows = [("a", 0, 30), ("b", 0, 40)]
    test = run(rows, disparity="ratio")
    assert (test.p_value_, test.concern_, test.method_) == (1.0, False, "undefined")
    assert np.isnan(test.disparity_)
    for disparity, method in (("ratio", "auto"), ("ratio", "asymptotic"), ("odds_ratio", "auto")):
        for alternative in ("two-sided", "greater", "less", "equivalence"):
            margin = run(rows, disparity=disparity, margin=0.8, alternative=alternative, method=method)
            assert margin.p_value_ == 1
            assert margin.concern_ is (alternative == "equivalence")
    # An undefined pair stands in the way of the certificate for all pairs.
    rows = [("a", 0, 30), ("b", 0, 40), ("c", 1000, 2000), ("d", 1000, 2000)]
    assert run(rows, disparity="ratio", margin=0.8, alternative="equivalence").concern_


# Which comparison sets the p-value, and when that is significant ------------------------------------------------------

CONTRACT = [
    "metric", "group", "other", "disparity", "ci_low", "ci_high", "stratum", "n_group", "n_other", "value_group",
    "value_other", "standard_error", "statistic", "method", "p_value", "p_value_adjusted", "concern",
]  # fmt: skip


def test_the_frames_have_the_columns_of_the_contract(confused):
    table = confused({"a": (30, 10, 8, 20), "b": (25, 14, 12, 14)})
    test = FairnessTest.from_table(table)
    assert list(test.comparisons_.columns) == list(test.to_frame().columns) == CONTRACT
    assert list(test.by_group_.columns) == [
        "n", "n_effective", "value", "standard_error", "ci_low", "ci_high", "small",
    ]  # fmt: skip
    assert test.by_group_.index.names == ["metric", "group"]
    assert {"metric", "group", "stratum", "reason", "n", "n_effective"} <= set(test.excluded_.columns)
    assert test.excluded_.empty
    assert test.comparisons_["concern"].dtype == bool
    assert test.by_group_["small"].dtype == bool


@pytest.mark.parametrize("adjust", ["bonferroni", "holm", "fdr_bh"])
def test_adjustments_are_those_of_statsmodels(selected, adjust):
    rows = FairnessTest.from_table(selected(FOUR), adjust=adjust, **RATE).comparisons_
    np.testing.assert_allclose(rows["p_value_adjusted"], multipletests(rows["p_value"], method=adjust)[1], rtol=1e-12)
    np.testing.assert_array_equal(rows["concern"], rows["p_value_adjusted"] <= 0.05)


@pytest.mark.parametrize("adjust", ["fdr_bh", None])
def test_what_is_not_familywise_still_has_holms_global_p_value(selected, adjust):
    test = FairnessTest.from_table(selected(FOUR), adjust=adjust, **RATE)
    holm = FairnessTest.from_table(selected(FOUR), adjust="holm", **RATE)
    assert test.p_value_ == holm.p_value_
    assert (test.statistic_, test.disparity_) == (holm.statistic_, holm.disparity_)
    if adjust is None:
        np.testing.assert_array_equal(test.comparisons_["p_value_adjusted"], test.comparisons_["p_value"])


def test_a_p_value_exactly_at_the_level_is_a_rejection(selected):
    # 1/20 by permutation with 19 resamples, none of which is as extreme.
    test = FairnessTest.from_table(
        selected({"a": (0, 50), "b": (50, 50)}), method="permutation", n_resamples=19, random_state=0, **RATE
    )
    assert test.p_value_ == pytest.approx(0.05)
    assert test.rejected_


def test_strata_are_a_family_of_their_own(confused):
    rng = np.random.default_rng(2)
    groups = {(s, g): tuple(int(v) for v in rng.integers(3, 15, 4)) for s in "xyz" for g in "ab"}
    test = FairnessTest.from_table(confused(groups, strata=True), metric=["accuracy", "precision"], adjust="holm")
    rows = test.comparisons_
    pooled = rows["stratum"].isna()
    for family in (rows[pooled], rows[~pooled]):
        expected = multipletests(family["p_value"], method="holm")[1]
        np.testing.assert_allclose(family["p_value_adjusted"], expected, rtol=1e-12)
    assert (pooled.sum(), (~pooled).sum()) == (2, 6)
    assert test.p_value_ == rows.loc[pooled, "p_value_adjusted"].min()
    assert test.disparity_ in list(rows.loc[pooled, "disparity"])


# Discrete Holm ------------------------------------------------------------------------------------------------------


def adjusted_by_definition(rows):
    """The sum over what is left of the largest Fisher p-value that each table allows, with a running maximum."""
    p, sets = [], []
    for _, x1, d1, x2, d2 in rows:
        every = [
            fisher_exact([[x, d1 - x], [x1 + x2 - x, d2 - (x1 + x2 - x)]]).pvalue
            for x in range(max(0, x1 + x2 - d2), min(d1, x1 + x2) + 1)
        ]
        sets.append(np.array(every))
        p.append(fisher_exact([[x1, d1 - x1], [x2, d2 - x2]]).pvalue)
    left, largest, out = list(np.argsort(p, kind="stable")), 0.0, np.zeros(len(p))
    while left:
        now = p[left[0]] * (1 + 1e-9)
        largest = max(largest, min(1.0, sum(own[own <= now].max(initial=0.0) for own in (sets[i] for i in left))))
        out[left.pop(0)] = largest
    return out


SEVEN = {"a": (1, 12), "b": (9, 14), "c": (3, 30), "d": (2, 9), "e": (0, 6), "f": (6, 25), "z": (3, 60)}


@pytest.mark.parametrize("disparity", ["difference", "ratio", "odds_ratio"])
def test_hypotheses_are_adjusted_by_discrete_holm(selected, disparity):
    table, asked = selected(SEVEN), RATE | {"compare": "to_reference", "reference_group": "z", "disparity": disparity}
    test = FairnessTest.from_table(table, adjust="discrete_holm", **asked)
    rows = test.comparisons_.sort_values("group")
    assert test.adjust_ == "discrete_holm"
    expected = adjusted_by_definition([(name, *SEVEN[name], *SEVEN["z"]) for name in "abcdef"])
    np.testing.assert_allclose(rows["p_value_adjusted"], expected, rtol=1e-9)
    # What is shown beside it is the comparison's own exact test, which is not smaller by adjustment.
    holm = FairnessTest.from_table(table, adjust="holm", **asked)
    np.testing.assert_array_equal(rows["p_value"], holm.comparisons_.sort_values("group")["p_value"])
    assert (rows["p_value_adjusted"] >= rows["p_value"] * (1 - 1e-9)).all()
    assert test.p_value_ == rows["p_value_adjusted"].min()
    assert "adjusted by" not in test.method_
    assert type(test).from_json(test.to_json()).adjust_ == "discrete_holm"


def test_its_rule_is_the_number_of_hypotheses_whatever_the_outcomes(selected, confused):
    # Pairs that share a group have margins that tell where the events are.
    pairs = RATE | {"compare": "to_reference", "reference_group": "z"}
    assert FairnessTest.from_table(selected(SEVEN), **pairs).adjust_ == "holm"
    asked = RATE | {"compare": "to_rest"}
    assert FairnessTest.from_table(selected(SEVEN), **asked).adjust_ == "discrete_holm"
    five = dict(list(SEVEN.items())[2:])
    assert FairnessTest.from_table(selected(five), **asked).adjust_ == "holm"
    assert FairnessTest.from_table(selected(five), adjust="discrete_holm", **asked).adjust_ == "discrete_holm"
    for exact in ({"method": "asymptotic"}, {"method": "permutation", "n_resamples": 199}, {"margin": 0.01}):
        assert FairnessTest.from_table(selected(SEVEN), **asked, **exact).adjust_ == "holm"
    # Without predicted positives precision is undefined: of seven groups' hypotheses, four are left.
    cells = dict.fromkeys("abcz", (5, 4, 6, 7)) | dict.fromkeys("def", (4, 0, 7, 0))
    with pytest.warns(UndefinedMetricWarning, match="precision of d is undefined"):
        test = FairnessTest.from_table(confused(cells), metric="precision", compare="to_rest")
    assert len(test.comparisons_) == 4
    assert test.adjust_ == "discrete_holm"


def test_resampled_hypotheses_count_with_their_p_value_in_a_mixed_family():
    rng = np.random.default_rng(1)
    group, truth = rng.choice(list("abcd"), 240), rng.integers(0, 2, 240)
    decided = (rng.random(240) < np.where(group == "a", 0.45, 0.15)).astype(int)
    test = FairnessTest.from_predictions(
        truth, decided, sensitive_features=group, metric=["selection_rate", "brier_score"],
        y_score=rng.random(240), compare="to_rest", n_resamples=199, random_state=0, adjust="discrete_holm",
    )  # fmt: skip
    rows = test.comparisons_
    leading = rows.loc[rows["p_value_adjusted"].idxmin()]
    events = rows["metric"] == "selection_rate"
    counts = [(r.group, *(int(decided[m].sum()), int(m.sum()), int(decided[~m].sum()), int((~m).sum())))
              for r in rows[events].itertuples() for m in [group == r.group]]  # fmt: skip
    smallest = min(fisher_exact([[x, d - x], [y, e - y]]).pvalue for _, x, d, y, e in counts)
    alone = adjusted_by_definition(counts)
    # At the smallest p-value the four resampled hypotheses add four times that value.
    assert test.p_value_ == pytest.approx(alone.min() + 4 * smallest, rel=1e-6)
    assert leading["metric"] == "selection_rate"


def test_where_only_discrete_holm_rejects_the_interval_ends_at_equality(selected):
    groups = {"a": (10, 50)} | dict.fromkeys("bcdef", (1, 50))
    rows = FairnessTest.from_table(selected(groups), adjust="discrete_holm", **RATE).comparisons_
    holm = FairnessTest.from_table(selected(groups), adjust="holm", **RATE).comparisons_
    new = (rows["concern"] & ~holm["concern"]).to_numpy()
    assert new.sum() == 5
    assert ((holm.loc[new, "ci_low"] < 0) & (holm.loc[new, "ci_high"] > 0)).all()
    assert ((rows.loc[new, "ci_low"] == 0) | (rows.loc[new, "ci_high"] == 0)).all()
    same = ["ci_low", "ci_high"]
    np.testing.assert_array_equal(rows.loc[~new, same], holm.loc[~new, same])


def test_a_breaking_point_reverses_the_verdict_of_discrete_holm():
    rng = np.random.default_rng(5)
    group = np.repeat(list("abcd"), [9, 11, 14, 12])
    for chance, significant in ((0.75, True), (0.3, False)):
        decided = (rng.random(46) < np.where(group == "a", chance, 0.2)).astype(int)

        def verdict(labels, group=group):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return FairnessTest.from_predictions(
                    None, labels, sensitive_features=group, adjust="discrete_holm", **RATE
                )

        test = verdict(decided)
        assert (test.adjust_, test.concern_) == ("discrete_holm", significant)
        (found,) = test.breaking_point_.itertuples()
        fewest = None
        for n in range(1, 15):
            for name, label in product("abcd", (0, 1)):
                at = np.flatnonzero((group == name) & (decided == label))[:n]
                changed = decided.copy()
                changed[at] = 1 - label
                if len(at) == n and verdict(changed).concern_ != significant:
                    fewest = fewest or n
            if fewest:
                break
        assert found.n_changed == fewest
