"""What crossed groups are compared with: everyone else, each other, or the rest of each of their parent groups."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.base import clone

from skfairtest import DisparityDisplay, FairnessAudit, FairnessTest
from skfairtest.audit._questions import how_many
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rate_draws import Contrast, RateTable, pair_of, pairwise_permutations
from skfairtest.inference.unconditional import unconditional_log_p

pytestmark = pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")

SAME = ["n_group", "n_other", "value_group", "value_other", "disparity", "standard_error", "statistic", "p_value"]
CHOICES = ["to_rest", "between_groups", "to_parents"]


@pytest.fixture(scope="module")
def people():
    """240 people with a race of three values, a sex and an age of two, in clusters of two, with weights."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "race": np.repeat(["a", "b", "c"], 80),
            "sex": np.tile(np.repeat(["f", "m"], [24, 56]), 3),
            "age": np.tile(["old", "old", "young", "young"], 60),
        }
    )
    true = (rng.random(240) < 0.5).astype(int)
    lift = np.where((frame["race"] == "a") & (frame["sex"] == "f"), 0.35, 0.0)
    score = 0.4 * true + 0.6 * rng.random(240) + lift
    return {
        "groups": frame,
        "y_true": true,
        "y_pred": (score > 0.5).astype(int),
        "score": score,
        "weight": rng.integers(1, 4, 240),
        "cluster": np.arange(240) // 2,
        "town": rng.choice(["x", "y"], 240),
    }


def audit(people, features=("race", "sex"), y_pred="y_pred", **params):
    """Audit the people by some features."""
    given = {name: params.pop(name) for name in ("sample_weight", "clusters", "control_features") if name in params}
    return FairnessAudit.from_predictions(
        people["y_true"], people[y_pred], sensitive_features=people["groups"][list(features)], **given, **params
    )


@pytest.fixture(scope="module")
def selections(people):
    """Audit the selection rates of the people, once by the same features and comparisons."""

    @cache
    def fitted(features=("race", "sex"), compare="to_rest"):
        return audit(people, features, metrics="selection_rate", compare_intersections=compare)

    return fitted


def crossed(found):
    """Keep the comparisons of crossings."""
    return found.comparisons_[found.comparisons_["feature"].str.contains(" x ")]


def parents_of(row, names):
    """Read from the label of a rest what its parent group is."""
    text = row["other"].removeprefix("rest of ")
    shared = dict(part.split(" = ") for part in text.split(", "))
    assert set(shared) < set(names)
    return shared


def of_two_groups(people, row, metric, y_pred, given, **params):
    """Test a crossing against the rest of its parent as two groups, with nobody else there."""
    features = row["feature"].split(" x ")
    shared = parents_of(row, features)
    inside = np.logical_and.reduce([people["groups"][name] == value for name, value in shared.items()])
    own = np.logical_and.reduce([people["groups"][f] == g for f, g in zip(features, row["group"], strict=True)])
    rows = FairnessTest.from_predictions(
        people["y_true"][inside],
        people[y_pred][inside],
        sensitive_features=np.where(own, "1 group", "2 rest")[inside],
        metric=metric,
        **{name: column[inside] for name, column in given.items()},
        **params,
    ).comparisons_
    there = rows["stratum"].isna() if row["stratum"] is None else rows["stratum"] == row["stratum"]
    return rows[there].iloc[0]


# What is compared ---------------------------------------------------------------------------


@pytest.mark.parametrize("compare", ["to_rest", "between_groups"])
def test_crossings_are_compared_as_a_test_of_the_crossed_groups_compares_them(people, compare):
    found = crossed(audit(people, metrics=["selection_rate", "precision"], compare_intersections=compare))
    test = FairnessTest.from_predictions(
        people["y_true"],
        people["y_pred"],
        sensitive_features=people["groups"][["race", "sex"]],
        metric=["selection_rate", "precision"],
        compare=compare,
    )
    same = ["metric", "group", "other", *SAME]
    pd.testing.assert_frame_equal(found[same].reset_index(drop=True), test.comparisons_[same])
    assert len(found) == 2 * {"to_rest": 6, "between_groups": 15}[compare]


def test_the_rest_is_what_crossings_are_compared_with_where_nothing_else_is_asked(people, selections):
    rest = selections().comparisons_
    pd.testing.assert_frame_equal(audit(people, metrics="selection_rate").comparisons_, rest)


def test_each_crossing_is_compared_with_the_rest_of_each_parent(selections):
    found = crossed(selections(compare="to_parents"))
    assert found[["group", "other"]].head(4).to_numpy().tolist() == [
        [("a", "f"), "rest of race = a"],
        [("a", "f"), "rest of sex = f"],
        [("a", "m"), "rest of race = a"],
        [("a", "m"), "rest of sex = m"],
    ]
    assert len(found) == 6 * 2
    # Women of race a: 24, against 56 men of race a, and against 24 women of each other race.
    assert found[["n_group", "n_other"]].head(2).to_numpy().tolist() == [[24, 56], [24, 48]]


def test_three_features_have_parents_of_two_and_two_features_of_one(people):
    found = audit(
        people, ("race", "sex", "age"), metrics="selection_rate", compare_intersections="to_parents"
    ).comparisons_
    others = found[found["feature"] == "race x sex x age"]["other"].head(3)
    assert others.tolist() == ["rest of race = a, sex = f", "rest of race = a, age = old", "rest of sex = f, age = old"]
    assert (found["feature"] == "race x sex x age").sum() == 12 * 3
    assert found[found["feature"] == "sex x age"]["other"].unique().tolist() == [
        "rest of sex = f", "rest of age = old", "rest of age = young", "rest of sex = m",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "y_pred", "given", "params"),
    [
        ("selection_rate", "y_pred", {}, {}),
        pytest.param("precision", "y_pred", {}, {"disparity": "ratio", "margin": 0.8}, marks=pytest.mark.slow),
        ("f1", "y_pred", {}, {"method": "asymptotic"}),
        pytest.param("accuracy", "y_pred", {"control_features": "town"}, {}, marks=pytest.mark.slow),
        ("selection_rate", "y_pred", {"sample_weight": "weight"}, {"method": "asymptotic"}),
        ("mean_squared_error", "score", {}, {"method": "asymptotic"}),
        ("mean_squared_error", "score", {"clusters": "cluster"}, {"method": "asymptotic"}),
        ("mean_prediction", "score", {"control_features": "town", "sample_weight": "weight"}, {"method": "asymptotic"}),
    ],
)
def test_a_comparison_with_a_parent_is_that_of_two_groups_of_its_people(people, metric, y_pred, given, params):
    given = {name: people[column] for name, column in given.items()}
    three = metric == "mean_squared_error" and not given
    names = ("race", "sex", "age") if three else ("sex", "age") if given else ("race", "sex")
    results = crossed(
        audit(people, names, y_pred, metrics=metric, compare_intersections="to_parents", **given, **params)
    )
    for row in results.iloc[[0, 3, -2]].to_dict("records"):
        expected = of_two_groups(people, row, metric, y_pred, given, **params)
        assert [row[name] for name in SAME] == pytest.approx([expected[name] for name in SAME], rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("method", ["permutation", "bootstrap"])
@pytest.mark.parametrize("metric", ["selection_rate", "mean_squared_error"])
def test_resampled_p_values_are_those_of_two_groups(people, metric, method):
    params = {"method": method, "n_resamples": 999, "random_state": 0}
    y_pred = "score" if "error" in metric else "y_pred"
    found = crossed(audit(people, y_pred=y_pred, metrics=metric, compare_intersections="to_parents", **params))
    for row in found.iloc[[1, 4]].to_dict("records"):
        expected = of_two_groups(people, row, metric, y_pred, {}, **params)
        assert row["method"] == expected["method"] == method
        assert row["statistic"] == pytest.approx(expected["statistic"], rel=1e-9)
        # Twice 999 other resamples: three Monte-Carlo errors of a difference.
        p = expected["p_value"]
        assert row["p_value"] == pytest.approx(p, abs=3 * np.sqrt(2 * p * (1 - p) / 999) + 0.01)


def test_a_function_that_fails_in_a_rest_alone_names_the_rest(people):
    def fragile(y_true, y_pred):
        if len(y_true) == 48:  # women of two races
            raise KeyError("two races")
        return float(np.mean(y_pred))

    with pytest.raises(ValueError, match=r"the rest of sex = f, everyone but \('a', 'f'\): fragile raises KeyError"):
        audit(people, metrics=fragile, compare_intersections="to_parents", n_resamples=99, random_state=0)


# One mechanism ------------------------------------------------------------------------------


def test_a_group_is_compared_with_a_set_of_others():
    sets = [Contrast(1, 3), Contrast(1, None), Contrast(1, None, among=(0, 1, 3)), Contrast(1, None, among=(1, 2))]
    assert [contrast.others(4) for contrast in sets] == [[3], [0, 2, 3], [0, 3], [2]]


def test_counts_and_permutations_see_the_groups_of_the_parent_alone():
    counts = np.array([[[5, 3], [2, 7], [4, 4], [9, 1]], [[3, 3], [1, 2], [6, 2], [0, 5]]])
    table = RateTable(counts, np.array([True, False]), np.array([True, True]), ((0, 1),))
    contrast = Contrast(1, None, among=(0, 1, 3))
    pair = pair_of(table.events(counts), table.denominators(counts), contrast)
    assert (pair.x1.tolist(), pair.x2.tolist(), pair.d2.tolist()) == ([2, 1], [5 + 9, 3 + 0], [8 + 10, 6 + 5])
    np.testing.assert_array_equal(table.only(contrast).counts, [[[2, 7], [14, 4]], [[1, 2], [3, 8]]])
    # Group 2 is not in it: with whatever counts, labels permuted between the two sides are the same.
    other = counts.copy()
    other[:, 2] = 50
    changed = RateTable(other, table.event, table.given, table.blocks)
    arguments = ([contrast], Scale(), "score", 50, [np.random.SeedSequence(0)])
    np.testing.assert_array_equal(pairwise_permutations(table, *arguments), pairwise_permutations(changed, *arguments))


# What is left out ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:sensitive_features. .* left out of comparisons:UserWarning")
def test_a_parent_with_nobody_else_is_listed_with_the_reason(people):
    groups = people["groups"]
    groups = groups.assign(sex=np.where(groups["race"] == "c", "m", groups["sex"]))
    groups.loc[0, ["race", "sex"]] = "d", "m"
    groups.loc[1, ["race", "sex"]] = "d", "f"
    groups.loc[2:4, ["race", "sex"]] = "d", "f"
    found = audit(
        {**people, "groups": groups}, metrics=["selection_rate", "precision"], compare_intersections="to_parents"
    )
    left = found.excluded_[found.excluded_["feature"] == "race x sex"][["group", "other", "reason", "comparisons"]]
    assert left.to_numpy().tolist() == [
        [("d", "m"), None, "fewer than 2 people: not compared", 4],
        [("c", "m"), "rest of race = c", "no one else has race = c", 2],
        [("d", "f"), "rest of race = d", "only one other person has race = d", 2],
    ]
    # One person is compared with nobody, and is one of the men that others are compared with.
    men = crossed(found).query("other == 'rest of sex = m' and metric == 'selection_rate'")
    assert set(men["n_group"] + men["n_other"]) == {(groups["sex"] == "m").sum()}
    assert "no one else has race = c" in str(found)


def test_it_is_warned_of_rests_without_people(people):
    groups = people["groups"].assign(sex=np.where(people["groups"]["race"] == "c", "m", people["groups"]["sex"]))
    with pytest.warns(UserWarning, match="rest of race = c left out of comparisons, having fewer than 2 people"):
        audit({**people, "groups": groups}, metrics="selection_rate", compare_intersections="to_parents")


def test_where_no_parent_has_anybody_else_single_features_are_audited(people):
    twins = people["groups"][["sex"]].assign(gender=people["groups"]["sex"].str.upper())
    with pytest.warns(UserWarning, match="left out of comparisons"):
        found = FairnessAudit.from_predictions(
            None, people["y_pred"], sensitive_features=twins, compare_intersections="to_parents"
        )
    assert found.comparisons_["feature"].tolist() == ["sex", "gender"]
    assert "No comparison is defined" in found.to_text(details=True)
    assert FairnessAudit.from_json(found.to_json()).to_json() == found.to_json()


def test_a_rate_undefined_in_a_rest_names_the_rest(people):
    # Nobody but women of race a is predicted positive: precision is defined for these alone.
    y_pred = ((people["groups"]["race"] == "a") & (people["groups"]["sex"] == "f")).to_numpy().astype(int)
    with pytest.warns(UserWarning, match="undefined|left out"):
        found = audit(
            {**people, "y_pred": y_pred}, metrics=["selection_rate", "precision"], compare_intersections="to_parents"
        )
    left = found.excluded_.query("feature == 'race x sex' and metric == 'precision' and other.notna()")
    assert left[["group", "other"]].to_numpy().tolist() == [
        [("a", "f"), "rest of race = a"],
        [("a", "f"), "rest of sex = f"],
    ]


# How it is told -----------------------------------------------------------------------------


def test_reports_name_the_rest_of_the_parent(selections):
    found = selections(compare="to_parents")
    sentence = crossed(found)["sentence"].iloc[0]
    assert sentence.startswith("People with race = a and sex = f were predicted positive ")
    assert "often than others with race = a: " in sentence
    for report in (found.to_text(details=True), found.to_html(), found.to_markdown(details=True)):
        assert "rest of race = a" in report
        assert "each of its parent groups (the people who share all its features but one)" in report
    names = [text.get_text() for text in DisparityDisplay.from_test(found).ax_.get_yticklabels()]
    assert any("against rest of sex = f" in name for name in names)


def test_names_that_would_move_the_cursor_are_escaped_in_the_label(people):
    groups = people["groups"].assign(race=people["groups"]["race"].replace({"a": "a\x1b[31m"}))
    found = audit({**people, "groups": groups}, metrics="selection_rate", compare_intersections="to_parents")
    assert "rest of race = a\\x1b[31m" in set(crossed(found)["other"])
    assert "\x1b" not in str(found)


# Parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["to_overall", "to_reference", "parents", None, True, ["to_rest"]])
def test_another_comparison_of_intersections_is_refused(people, value):
    expected = r"compare_intersections must be one of 'to_rest', 'between_groups', 'to_parents'; found "
    with pytest.raises(ValueError, match=expected):
        audit(people, compare_intersections=value)


def test_the_parameter_is_cloned_and_set():
    model = FairnessAudit(compare_intersections="to_parents")
    assert clone(model).compare_intersections == "to_parents"
    assert model.set_params(compare_intersections="between_groups").get_params()["compare_intersections"] == (
        "between_groups"
    )


def test_pairs_that_are_too_many_are_refused_with_the_parameter_that_makes_fewer():
    groups = {"x": np.repeat(np.arange(15), 60), "y": np.tile(np.repeat(np.arange(15), 4), 15)}
    metrics = ["selection_rate", "accuracy", "precision", "f1"]
    params = {"sensitive_features": groups, "metrics": metrics, "compare_intersections": "between_groups"}
    labels = np.arange(900) % 2
    with pytest.raises(ValueError, match="use compare_intersections='to_rest' or 'to_parents'"):
        FairnessAudit.from_predictions(labels, labels, **params)


@pytest.mark.slow
def test_as_many_resamples_are_drawn_as_so_many_comparisons_take(people):
    # Crossings of 3, 2 and 2 groups, by two or three features.
    expected = {"to_rest": 28, "between_groups": 15 + 15 + 6 + 66, "to_parents": 2 * 16 + 3 * 12}
    for compare, n in expected.items():
        groups = [(6, 2), (6, 2), (4, 2), (12, 3)]
        assert sum(how_many(n_groups, n_features, compare) for n_groups, n_features in groups) == n
        found = audit(people, ("race", "sex", "age"), metrics="selection_rate", compare_intersections=compare)
        assert len(crossed(found)) == n


# Validity -----------------------------------------------------------------------------------

LEVEL = 0.05


def p_values(d1, d2):
    """Exact two-sided p-values of all outcomes, (d1 + 1, d2 + 1)."""
    x1, x2 = np.indices((d1 + 1, d2 + 1)).reshape(2, -1)
    log_p = unconditional_log_p(x1, np.full(len(x1), d1), x2, np.full(len(x2), d2))
    return np.exp(log_p).reshape(d1 + 1, d2 + 1)


def size(p, first, second):
    """Probability of a rejection from the distributions of both sides' events."""
    return float(first @ (p <= LEVEL * (1 + 1e-12)) @ second)


def events(*groups):
    """Distribution of the number of events among groups of (people, rate) with fixed sizes."""
    found = np.ones(1)
    for n, rate in groups:
        found = np.convolve(found, binom.pmf(np.arange(n + 1), n, rate))
    return found


def test_against_a_rest_of_fixed_composition_the_size_may_exceed_the_level():
    """The limit that the documentation states: six people against 64 who always and 96 who never show the event.

    The rest's rate is .4 and so is the group's, but the rest's events are always 64.
    """
    p = np.exp([unconditional_log_p(x1, 6, 64, 160) for x1 in range(7)])
    own = binom.pmf(np.arange(7), 6, 0.4)
    found = float(own[p <= LEVEL].sum())
    # No event, or five and more: .6^6 + 6 (.4^5) (.6) + .4^6.
    assert found == pytest.approx(0.6**6 + 6 * 0.4**5 * 0.6 + 0.4**6)
    assert round(found, 4) == 0.0876
    rest = events((64, 1.0), (96, 0.0))
    assert rest[64] == pytest.approx(1)


def test_against_a_rest_that_is_a_random_sample_the_size_keeps_the_level():
    """The same people where the 160 are a random sample of always and never: their events are binomial."""
    p = p_values(6, 40)
    for rate in np.linspace(0.01, 0.99, 99):
        assert size(p, events((6, rate)), events((40, rate))) <= LEVEL


@pytest.mark.parametrize("compare", ["between_groups", "to_parents"])
def test_between_single_groups_the_size_keeps_the_level_whatever_others_do(compare):
    """Black women and men, 4 and 6, by all outcomes; white women are always and white men never selected."""
    n = {("b", "f"): 4, ("b", "m"): 6, ("w", "f"): 30, ("w", "m"): 40}
    groups = pd.DataFrame([key for key, count in n.items() for _ in range(count)], columns=["race", "sex"])
    p = p_values(4, 6)
    for x1, x2 in [(0, 6), (4, 0), (4, 1), (2, 1)]:
        selected = np.r_[np.arange(4) < x1, np.arange(6) < x2, np.ones(30), np.zeros(40)].astype(int)
        found = FairnessAudit.from_predictions(
            None, selected, sensitive_features=groups, compare_intersections=compare, pos_label=1
        ).comparisons_
        other = ("b", "m") if compare == "between_groups" else "rest of race = b"
        rows = [r for r in found.to_dict("records") if (r["group"], r["other"]) == (("b", "f"), other)]
        assert [row["p_value"] for row in rows] == pytest.approx([p[x1, x2]])
    sizes = [size(p, events((4, rate)), events((6, rate))) for rate in np.linspace(0.01, 0.99, 99)]
    assert 0.01 < max(sizes) <= LEVEL


def test_a_rest_of_several_groups_is_told_where_false_concerns_are_promised_to_be_rare(selections):
    promise, assumed = "report even one false positive", "take the people in these as a random sample"
    binary = ("sex", "age")
    told = {
        # Races are compared with each other; their crossings with what was asked for.
        (("race", "sex"), "to_rest"): True,
        (("race", "sex"), "between_groups"): False,
        (("race", "sex"), "to_parents"): True,
        (binary, "to_rest"): True,
        # The rest of a parent is one group: the other sex, or the other age.
        (binary, "to_parents"): False,
    }
    for (features, compare), expected in told.items():
        found = selections(features, compare)
        assert promise in found.to_text(details=True)
        assert (assumed in found.to_text(details=True)) == expected
        assert ("Hoeffding" in found.to_markdown()) == expected


def test_single_features_against_everyone_else_are_told_alike(people):
    for compare in ("to_rest", "to_overall"):
        found = audit(people, ("race",), metrics="selection_rate", compare=compare)
        assert "in these as a random sample" in found.to_text(details=True)
    alone = audit(people, ("sex",), metrics="selection_rate", compare="to_rest")
    assert "in these as a random sample" not in alone.to_text(details=True)
