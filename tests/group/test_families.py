"""What counts as one hypothesis, and which hypotheses follow from others."""

from collections import Counter

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from skfairtest import FairnessAudit, FairnessTest, Rate, ScoreMetric, minimum_detectable_disparity, power
from skfairtest.comparisons import rates
from skfairtest.inference import rates as inference_rates

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


def test_the_p_value_of_two_groups_is_that_of_an_independent_search():
    from scipy.stats import binom, hypergeom

    x1, d1, x2, d2 = 12, 40, 24, 45
    fisher = np.empty((d1 + 1, d2 + 1))
    for total in range(d1 + d2 + 1):
        a = np.arange(max(0, total - d2), min(d1, total) + 1)
        mass = hypergeom.pmf(a, d1 + d2, d1, total)
        fisher[a, total - a] = [mass[mass <= own * (1 + 1e-7)].sum() for own in mass]
    extreme = fisher <= fisher[x1, x2] * (1 + 1e-7)
    tails = [
        binom.pmf(np.arange(d1 + 1), d1, p) @ extreme @ binom.pmf(np.arange(d2 + 1), d2, p)
        for p in np.linspace(0.001, 0.999, 2000)
    ]
    assert max(tails) == pytest.approx(0.03706, abs=1e-5)


@pytest.mark.parametrize("compare", TO_OTHERS)
def test_power_of_two_groups_is_that_of_one_question(compare):
    # Counted twice, the power was .548.
    given = {"metric": "selection_rate", "rates": (0.3, 0.55), "n_per_group": (40, 45)}
    assert power(compare=compare, **given) == pytest.approx(power(**given)) == pytest.approx(0.637, abs=5e-4)


def test_the_disparity_that_a_fitted_test_could_have_found_allows_for_one_question(selected):
    pair, rest = (FairnessTest.from_table(selected(TWO), compare=c, **RATE) for c in ("between_groups", "to_rest"))
    assert minimum_detectable_disparity(rest) == pytest.approx(minimum_detectable_disparity(pair))


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


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_the_disparity_shown_does_not_make_another_question_of_an_exact_test(confused, disparity):
    test = FairnessTest.from_table(
        confused(CONFUSED), metric=["recall", "false_negative_rate"], disparity=disparity
    ).comparisons_
    np.testing.assert_array_equal(test["p_value_adjusted"], test["p_value"])


def test_of_several_labels_right_and_wrong_is_one_question():
    rng = np.random.default_rng(3)
    y, predicted = rng.choice(list("xyz"), (2, 150))
    test = FairnessTest.from_predictions(
        y, predicted, sensitive_features=rng.choice(list("ab"), 150), metric=["accuracy", "zero_one_loss"]
    )
    np.testing.assert_array_equal(test.comparisons_["p_value_adjusted"], test.comparisons_["p_value"])


def test_rates_whose_counts_are_equal_by_chance_are_two_questions(confused):
    # Nobody is missed: of those predicted positive or truly so, all are predicted positive.
    nobody_missed = {"a": (30, 10, 0, 20), "b": (25, 4, 0, 34)}
    rows = FairnessTest.from_table(confused(nobody_missed), metric=["precision", "jaccard"]).comparisons_
    assert rows["p_value"][0] == pytest.approx(rows["p_value"][1])
    np.testing.assert_allclose(rows["p_value_adjusted"], 2 * rows["p_value"].max(), rtol=1e-9)


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


@pytest.mark.parametrize("people_differ", ["weights", "clusters", "drawn", "own"])
def test_sampled_rates_of_complementary_events_are_one_question(people_differ):
    y, score, params = people(300)
    rng = np.random.default_rng(4)
    extra = {
        "weights": {"sample_weight": rng.uniform(0.5, 2, 300)},
        "clusters": {"clusters": np.arange(300)},
        "drawn": {"method": "permutation"},
        "own": {"variance": "jackknife"},
    }[people_differ]
    test = FairnessTest.from_predictions(
        y, (score > 0.5).astype(int), metric=["recall", "false_negative_rate"], compare="to_rest", **extra, **params
    )
    rows = test.comparisons_
    assert len(rows) == 4
    assert (rows["p_value"] == rows["p_value"][0]).all()
    assert (rows["p_value_adjusted"] == rows["p_value"]).all()
    assert rows["statistic"].tolist() == (rows["statistic"][0] * np.array([1, -1, -1, 1])).tolist()


@pytest.mark.parametrize(("method", "tests"), [("permutation", 1), ("asymptotic", 1), ("bootstrap", 2)])
def test_ratios_of_weighted_rates_of_complementary_events_are_one_test_where_they_have_one_statistic(method, tests):
    # At equality the statistic is that of the difference; bootstrap samples are of each ratio.
    y, score, params = people(300)
    rows = FairnessTest.from_predictions(
        y, (score > 0.5).astype(int), metric=["recall", "false_negative_rate"], disparity="ratio",
        sample_weight=np.random.default_rng(4).uniform(0.5, 2, 300), method=method, **params,
    ).comparisons_  # fmt: skip
    if tests == 2:
        expected = multipletests(rows["p_value"], method="holm")[1]
    else:
        expected = rows["p_value"]
        assert rows["p_value"][0] == pytest.approx(rows["p_value"][1], rel=1e-9)
    np.testing.assert_allclose(rows["p_value_adjusted"], expected, rtol=1e-9)


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


def test_a_metric_that_is_asked_about_one_function_is_one_question_with_sides_swapped_only():
    y, score, params = people(80)
    cost = ScoreMetric("cost", lambda y_true, y_pred, counts: counts @ np.abs(y_true - y_pred) / counts.sum(axis=-1))
    rows = FairnessTest.from_predictions(
        y, (score > 0.5).astype(int), metric=[cost, "accuracy"], compare="to_rest", **params
    ).comparisons_
    costs = rows[rows["metric"] == "cost"]
    assert costs["p_value"].nunique() == costs["p_value_adjusted"].nunique() == 1
    one_each = rows.drop_duplicates("metric")
    np.testing.assert_allclose(
        one_each["p_value_adjusted"], multipletests(one_each["p_value"], method="holm")[1], rtol=1e-9
    )


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


def test_an_audit_of_scores_shows_one_adjusted_p_value_for_one_question():
    y, score, params = people(150)
    group = params.pop("sensitive_features")
    audit = FairnessAudit.from_predictions(
        y, None, y_score=score, metrics=["roc_auc", "brier_score"], compare="to_rest",
        sensitive_features={"sex": group, "department": np.where(group == "a", "x", "y")}, **params,
    )  # fmt: skip
    for _, rows in audit.comparisons_.groupby("metric"):
        assert len(rows) == 6
        assert rows["p_value_adjusted"].nunique() == 1
    smallest = audit.comparisons_.groupby("metric")["p_value"].max().min()
    assert audit.p_value_ == pytest.approx(min(1, 2 * smallest))


def test_an_audit_counts_a_level_against_the_rest_and_the_other_level_once():
    # "young" is one group of age and all of its people are of sex "f", so the crossing "f, young" is "young".
    rng = np.random.default_rng(6)
    age = np.repeat(["young", "old"], [60, 140])
    sex = np.where(age == "young", "f", rng.choice(["f", "m"], 200))
    decided = rng.integers(0, 2, 200)
    audit = FairnessAudit.from_predictions(None, decided, sensitive_features={"age": age, "sex": sex})
    rows = audit.comparisons_.set_index(["feature", "group"])
    # By age, by sex, and three crossed groups, of which "young, f" is young and "old, m" is everybody who is "m".
    assert len(rows) == 5
    expected = multipletests(audit.comparisons_["p_value"][[0, 1, 2]], method="holm")[1]
    assert rows["p_value"].iloc[0] == pytest.approx(rows.loc[("age x sex", ("young", "f")), "p_value"])
    assert rows["p_value"].iloc[1] == pytest.approx(rows.loc[("age x sex", ("old", "m")), "p_value"])
    np.testing.assert_allclose(audit.comparisons_["p_value_adjusted"][:3], expected, rtol=1e-9)


def test_what_an_audit_could_have_found_is_at_the_level_of_distinct_questions():
    rng = np.random.default_rng(6)
    decided, group = rng.integers(0, 2, 200), rng.choice(list("ab"), 200)
    sizes = [
        FairnessAudit.from_predictions(None, decided, sensitive_features={"sex": group}, compare=compare)
        .comparisons_["minimum_detectable"]
        .iloc[0]
        for compare in ("between_groups", "to_rest")
    ]
    assert sizes[0] == sizes[1]


def test_a_pooled_comparison_over_one_stratum_is_that_of_the_stratum(confused):
    table = confused({("x", "a"): CONFUSED["a"], ("x", "b"): CONFUSED["b"]}, strata=True)
    audit = FairnessAudit.from_table(table, metrics="accuracy").comparisons_
    assert len(audit) == 2
    np.testing.assert_array_equal(audit["p_value_adjusted"], audit["p_value"])


# All pairs of groups are tied -----------------------------------------------------------------------------------------


def stepped_down(p, factors):
    """Adjust by factors of the ordered p-values, without the package."""
    order = np.argsort(p, kind="stable")
    adjusted = np.minimum(1, np.maximum.accumulate(np.asarray(p)[order] * factors))
    out = np.empty(len(adjusted))
    out[order] = adjusted
    return out


@pytest.mark.parametrize(
    ("groups", "factors"),
    # Shaffer 1986, table 1.
    [(3, [3, 1, 1]), (4, [6, 3, 3, 3, 2, 1]), (5, [10, 6, 6, 6, 6, 4, 4, 3, 2, 1])],
)
def test_all_pairs_have_the_published_factors(selected, groups, factors):
    counts = {"a": (5, 50), "b": (24, 60), "c": (45, 90), "d": (16, 40), "e": (30, 45)}
    table = selected(dict(list(counts.items())[:groups]))
    test = FairnessTest.from_table(table, **RATE)
    rows = test.comparisons_
    assert test.adjust_ == "shaffer"
    np.testing.assert_allclose(rows["p_value_adjusted"], stepped_down(rows["p_value"], factors), rtol=1e-12)
    holm = FairnessTest.from_table(table, adjust="holm", **RATE)
    assert holm.adjust_ == "holm"
    assert test.p_value_ == holm.p_value_
    assert test.confidence_interval_ == holm.confidence_interval_
    assert (rows["p_value_adjusted"] <= holm.comparisons_["p_value_adjusted"]).all()
    assert (rows["p_value_adjusted"] < holm.comparisons_["p_value_adjusted"]).any()
    assert "Shaffer" in str(test)


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
    test = FairnessTest.from_table(confused(THREE), metric=["recall", "false_positive_rate"])
    rows = test.comparisons_
    assert test.adjust_ == "shaffer"
    # Of three pairs of one rate all can be equal, or one: a rejection takes two from the factor, the next none.
    left, factors = {"true_positive_rate": [3, 1, 1, 0], "false_positive_rate": [3, 1, 1, 0]}, []
    for metric in rows.sort_values("p_value", kind="stable")["metric"]:
        factors.append(sum(most[0] for most in left.values()))
        left[metric].pop(0)
    np.testing.assert_allclose(rows["p_value_adjusted"], stepped_down(rows["p_value"], factors), rtol=1e-12)
    # The complement of one of them changes nothing.
    more = FairnessTest.from_table(confused(THREE), metric=["recall", "false_positive_rate", "false_negative_rate"])
    again = more.comparisons_["p_value_adjusted"].to_numpy()
    np.testing.assert_allclose(again, rows["p_value_adjusted"].to_numpy()[[0, 1, 2, 3, 4, 5, 0, 1, 2]], rtol=1e-12)


def test_other_metrics_are_tied_too():
    y, score, params = people(300, "abc")
    test = FairnessTest.from_predictions(y, score, metric="roc_auc", **params)
    rows = test.comparisons_
    assert test.adjust_ == "shaffer"
    np.testing.assert_allclose(rows["p_value_adjusted"], stepped_down(rows["p_value"], [3, 1, 1]), rtol=1e-12)


def test_a_group_without_a_value_leaves_the_pairs_of_the_others_tied(confused):
    # Nobody in "d" is truly positive: its three comparisons are excluded.
    table = confused({**THREE, "d": (12, 5, 0, 0)})
    with pytest.warns(UserWarning, match="undefined"):
        test = FairnessTest.from_table(table, metric="recall")
    rows = test.comparisons_
    assert len(rows) == 3
    assert test.adjust_ == "shaffer"
    np.testing.assert_allclose(rows["p_value_adjusted"], stepped_down(rows["p_value"], [3, 1, 1]), rtol=1e-12)


def test_averages_over_different_strata_are_not_tied(confused):
    rng = np.random.default_rng(2)
    cells = {(s, g): tuple(int(v) for v in rng.integers(8, 40, 4)) for s in "xy" for g in "abc"}
    everywhere = FairnessTest.from_table(confused(cells, strata=True), metric="accuracy")
    pooled = everywhere.comparisons_[everywhere.comparisons_["stratum"].isna()]
    np.testing.assert_allclose(pooled["p_value_adjusted"], stepped_down(pooled["p_value"], [3, 1, 1]), rtol=1e-12)
    # Each stratum is tied in itself: six comparisons, of which each stratum's first rejection takes two.
    strata = everywhere.comparisons_[everywhere.comparisons_["stratum"].notna()]
    left, factors = {s: [3, 1, 1, 0] for s in "xy"}, []
    for stratum in strata.sort_values("p_value", kind="stable")["stratum"]:
        factors.append(sum(most[0] for most in left.values()))
        left[stratum].pop(0)
    np.testing.assert_allclose(strata["p_value_adjusted"], stepped_down(strata["p_value"], factors), rtol=1e-12)
    # Without "c" in "y", a and b are compared in both strata and c in one: equality is not transitive.
    del cells[("y", "c")]
    partly = FairnessTest.from_table(confused(cells, strata=True), metric="accuracy")
    pooled = partly.comparisons_[partly.comparisons_["stratum"].isna()]
    assert len(pooled) == 3
    np.testing.assert_allclose(
        pooled["p_value_adjusted"], multipletests(pooled["p_value"], method="holm")[1], rtol=1e-12
    )


def test_an_audit_ties_the_pairs_of_each_feature(confused):
    rng = np.random.default_rng(8)
    race, sex, decided = rng.choice(list("wxyz"), 400), rng.choice(list("fm"), 400), rng.integers(0, 2, 400)
    audit = FairnessAudit.from_predictions(
        None, decided, sensitive_features={"race": race, "sex": sex}, intersections=False
    )
    rows = audit.comparisons_
    left, factors = {"race": [6, 3, 3, 3, 2, 1, 0], "sex": [1, 0]}, []
    for feature in rows.sort_values("p_value", kind="stable")["feature"]:
        factors.append(sum(most[0] for most in left.values()))
        left[feature].pop(0)
    np.testing.assert_allclose(rows["p_value_adjusted"], stepped_down(rows["p_value"], factors), rtol=1e-12)
    assert audit.record_.setup.adjust == "shaffer"
    assert "Shaffer" in audit.to_markdown()
    assert type(audit).from_json(audit.to_json()).record_.setup.adjust == "shaffer"
    plain = FairnessAudit.from_predictions(
        None, decided, sensitive_features={"race": race, "sex": sex}, intersections=False, adjust="holm"
    )
    assert plain.record_.setup.adjust == "holm"
    np.testing.assert_allclose(
        plain.comparisons_["p_value_adjusted"], multipletests(rows["p_value"], method="holm")[1], rtol=1e-12
    )


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


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("people_differ", ["weights", "clusters"])
def test_intervals_of_two_rows_of_one_hypothesis_mirror_each_other(disparity, people_differ):
    y, score, params = people(300)
    extra = {
        "weights": {"sample_weight": np.random.default_rng(4).uniform(0.5, 2, 300)},
        "clusters": {"clusters": np.arange(300) // 3},
    }[people_differ]
    for metric in ("recall", "mean_prediction"):
        rows = FairnessTest.from_predictions(
            y, (score > 0.5).astype(int) if metric == "recall" else score, metric=metric, compare="to_rest",
            disparity=disparity, **extra, **params,
        ).comparisons_  # fmt: skip
        low, high = rows["ci_low"].to_numpy(), rows["ci_high"].to_numpy()
        mirrored = (1 / high[1], 1 / low[1]) if disparity == "ratio" else (-high[1], -low[1])
        assert (low[0], high[0]) == pytest.approx(mirrored, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_values_and_errors_of_all_pairs_are_computed_at_once(monkeypatch, disparity):
    rng = np.random.default_rng(0)
    y_true, y_pred = rng.integers(0, 2, (2, 2_000))
    group = rng.integers(0, 12, 2_000)
    calls = Counter()

    def fit(kept):
        return FairnessTest.from_predictions(
            y_true[kept], y_pred[kept], sensitive_features=group[kept], metric="recall", disparity=disparity
        ).comparisons_.set_index(["group", "other"])

    for module, name in ((rates, "values"), (inference_rates, "statistic")):
        counted = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, f=counted, n=name: calls.update([n]) or f(*a))
    together = fit(group >= 0)
    assert calls == {"values": 1, "statistic": 1}
    monkeypatch.undo()
    columns = ["value_group", "value_other", "disparity", "standard_error", "statistic", "p_value"]
    for pair in ((0, 1), (3, 11)):
        alone = fit(np.isin(group, pair))
        assert together.loc[pair, columns].tolist() == pytest.approx(alone.loc[pair, columns].tolist(), rel=1e-9)
