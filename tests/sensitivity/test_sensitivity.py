"""How far verdicts survive: against every relabelling of small data, and what is refused."""

import pickle
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binom, nchypergeom_fisher, norm

from skfairtest import FairnessTest, LabelledFairnessTest, SensitivityDisplay
from skfairtest.datasets import load_compas
from skfairtest.inference.rates import Pair, Question, Scale, answer
from skfairtest.metrics import RATES
from skfairtest.metrics.rates import CELLS

ORDER = [(1, 1), (1, 0), (0, 1), (0, 0)]


def fitted(cells, **params):
    counts = {(*cell, group): n for group, of in cells.items() for cell, n in zip(ORDER, of, strict=True) if n}
    rows = np.array([key for key, n in counts.items() for _ in range(n)], dtype=object)
    return FairnessTest.from_predictions(
        rows[:, 0].astype(int), rows[:, 1].astype(int), sensitive_features={"g": rows[:, 2]}, **params
    )


def relabelled(cells, most):
    """The cells of a group after up to so many labels have been turned over."""
    for a, b, c, d in product(*(range(min(most, n) + 1) for n in cells)):
        if a + b + c + d <= most:
            yield cells[0] - a + c, cells[1] - b + d, cells[2] - c + a, cells[3] - d + b


DESIGNS = {
    "two groups, a difference": ({"a": (9, 1, 2, 6), "b": (2, 8, 3, 5)}, {"metric": "true_positive_rate"}),
    "two groups, none": ({"a": (6, 3, 3, 6), "b": (5, 4, 4, 5)}, {"metric": "accuracy"}),
    "three groups, Holm": (
        {"a": (9, 0, 2, 4), "b": (1, 9, 3, 4), "c": (5, 5, 2, 4)}, {"metric": "true_positive_rate"},
    ),
    "three groups, each against the rest": (
        {"a": (9, 0, 2, 4), "b": (3, 7, 3, 4), "c": (4, 5, 2, 4)}, {"metric": "precision", "compare": "to_rest"},
    ),
    "two rates": ({"a": (8, 1, 6, 2), "b": (3, 7, 2, 7)}, {"metric": "equalized_odds", "adjust": "bonferroni"}),
}  # fmt: skip


@pytest.mark.parametrize("design", list(DESIGNS))
@pytest.mark.parametrize("where", ["one group", "every group"])
def test_adjusted_verdicts_are_those_of_every_relabelling(design, where, thorough):
    """What may turn turns in no relabelling that is said to leave the verdict; of one comparison the ends are met."""
    cells, params = DESIGNS[design]
    params = params | {"method": "asymptotic"}  # the same search, and many fits
    test, k = fitted(cells, **params), 1
    share = k / max(map(sum, cells.values()))
    share = max(share, *(k / sum(of) for of in cells.values()))
    found = test.sensitivity("label_noise", at=share)
    rows = found.frame[found.frame["within"] == where].reset_index(drop=True)
    budgets = {group: int(share * sum(of) + 1e-9) for group, of in cells.items()}
    if not thorough and where == "every group" and len(cells) > 2:
        budgets = {group: budgets[group] if group in "ab" else 0 for group in cells}
    turned = [set(relabelled(of, budgets[group])) for group, of in cells.items()]
    if where == "one group":
        others = [
            tuple(one if place == number else tuple(cells.values())[place] for place in range(len(cells)))
            for number, ways in enumerate(turned)
            for one in ways
        ]
    else:
        others = list(product(*turned))
    seen = [fitted(dict(zip(cells, way, strict=True)), **params) for way in others]
    p = np.array([one.comparisons_["p_value"] for one in seen])
    adjusted = np.array([one.comparisons_["p_value_adjusted"] for one in seen])
    for values, name in ((p, "p_value"), (adjusted, "p_value_adjusted")):
        assert (values >= rows[f"{name}_low"].to_numpy() - 1e-12).all()
        assert (values <= rows[f"{name}_high"].to_numpy() + 1e-12).all()
    if len(rows) == 1:
        np.testing.assert_allclose([p.min(), p.max()], rows[["p_value_low", "p_value_high"]].to_numpy()[0])
    turns = np.array([one.concern_ is not test.concern_ for one in seen])
    if found.survives[where] >= share:
        assert not turns.any()
    elif len(rows) == 1:
        assert turns.any()


def test_the_share_survived_is_the_last_one_before_the_verdict_turns():
    cells, params = DESIGNS["two groups, a difference"]
    test = fitted(cells, **params)
    found = test.sensitivity("label_noise", at=np.arange(19) / 18)
    frame = found.frame
    for where in ("one group", "every group"):
        rows = frame[frame["within"] == where]
        assert found.survives[where] == rows["share"][~rows["turns"].to_numpy()].max()
        assert (np.diff(rows["turns"].astype(int)) >= 0).all()
    assert found.survives["every group"] <= found.survives["one group"]
    assert (
        "Significant disparity. The verdict survives up to 22.2% wrong labels in one group and 5.5%" in found.sentence
    )


def test_at_no_share_everything_is_as_it_was_found():
    compas = load_compas()
    test = FairnessTest.from_predictions(
        compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features["race"], metric="precision"
    )
    frame = test.sensitivity("label_noise", at=0).frame
    rows = frame[frame["within"] == "every group"].reset_index(drop=True)
    for end in ("low", "high"):
        for name in ("disparity", "p_value", "p_value_adjusted"):
            np.testing.assert_array_equal(rows[f"{name}_{end}"], test.comparisons_[name])
    assert not rows["turns"].any()


def people_of_unknown_group(**params):
    compas = load_compas()
    race = compas.sensitive_features["race"].to_numpy().astype(object)
    two = np.isin(race, ["African-American", "Caucasian"])
    race = race[two]
    race[::20] = None
    return FairnessTest.from_predictions(
        compas.y_true[two], compas.y_pred[two], sensitive_features={"race": race}, metric="accuracy", **params
    )


def test_missing_groups_reach_from_excluding_people_to_all_assignments():
    excluded, bounds = (people_of_unknown_group(missing=missing) for missing in ("exclude", "bounds"))
    frame = excluded.sensitivity("missing_groups", at=[0, 0.5, 1]).frame
    assert frame.loc[0, ["p_value_low", "p_value_high"]].tolist() == [excluded.p_value_] * 2
    assert frame.loc[2, ["disparity_low", "disparity_high"]].tolist() == pytest.approx(bounds.disparity_bounds_)
    assert (np.diff(frame["disparity_high"]) > 0).all()
    again = bounds.sensitivity("missing_groups", at=[0, 0.5, 1]).frame
    assert again[list(frame)[:-1]].equals(frame[list(frame)[:-1]])


def unknown_of(known, unknown, **params):
    """A test of selection rates of people by group and outcome, of whom some have no group."""
    rows = [*known, *((None, event) for event in unknown)]
    groups, selected = zip(*rows, strict=True)
    return FairnessTest.from_predictions(
        None, selected, sensitive_features={"g": np.array(groups, dtype=object)}, metric="selection_rate", **params
    )


def people(**rates):
    return [(group, int(i < x)) for group, (x, n) in rates.items() for i in range(n)]


@pytest.mark.parametrize(
    ("known", "unknown", "survives", "turned", "p"),
    [
        (people(a=(1, 30), b=(7, 30)), [1, 0], 0.0, 0.5, 0.0722),
        (people(a=(2, 20), b=(11, 22)), [1] * 5 + [0] * 5, 0.3, 0.4, 0.0935),
    ],
)
def test_some_of_the_people_of_unknown_group_turn_a_verdict(known, unknown, survives, turned, p):
    test = unknown_of(known, unknown, missing="exclude")
    found = test.sensitivity("missing_groups", at=[survives, turned])
    assert found.survives == {"every group": survives}
    assert found.frame["turns"].tolist() == [False, True]
    assert found.frame["p_value_high"].iloc[1] == pytest.approx(p, abs=5e-5)


#: People of two groups that are compared, of a third one with one person, and without a group.
MISSING = {
    "one event": (people(a=(7, 10), b=(1, 9)), [1, 0], {}),
    "three groups": (people(a=(7, 9), b=(2, 9), c=(3, 6)), [1, 0, 0], {}),
    "a group of one person": (people(a=(9, 10), b=(1, 9), c=(1, 1)), [1, 0, 0], {}),
    "a group of one person, to the rest": (people(a=(9, 10), b=(1, 9), c=(1, 1)), [0, 0], {"compare": "to_rest"}),
    "asymptotic": (people(a=(7, 10), b=(3, 9)), [1, 1, 0], {"method": "asymptotic"}),
    "no disparity": (people(a=(6, 10), b=(3, 9)), [1, 1, 0, 0], {"alternative": "greater", "reference_group": "b"}),
}


@pytest.mark.filterwarnings("ignore:.*fewer than 2 people")
@pytest.mark.parametrize("case", MISSING)
def test_missing_groups_are_every_assignment_of_every_subset(case):
    known, unknown, params = MISSING[case]
    excluded, bounds = (unknown_of(known, unknown, missing=how, **params) for how in ("exclude", "bounds"))
    n, groups = len(unknown), sorted({group for group, _ in known})
    found = excluded.sensitivity("missing_groups", at=np.arange(n + 1) / n)
    turns = []
    for size in range(n + 1):
        rows = found.frame[found.frame["share"] == size / n]
        by_pair = {(row.group, row.other): row for row in rows.itertuples()}
        each = [
            unknown_of([*known, *zip(places, (unknown[i] for i in chosen), strict=True)], [], **params)
            for chosen in combinations(range(n), size)
            for places in product(groups, repeat=size)
        ]
        p = {pair: [] for pair in by_pair}
        for row in (row for test in each for row in test.comparisons_.itertuples()):
            if (row.group, row.other) in p:
                p[row.group, row.other].append(row.p_value)
                assert row.p_value_adjusted <= by_pair[row.group, row.other].p_value_adjusted_high * (1 + 1e-9)
        for pair, values in p.items():
            ends = [by_pair[pair].p_value_low, by_pair[pair].p_value_high]
            assert ends == pytest.approx([min(values), max(values)], rel=1e-6)
        turns.append(any(test.concern_ is not excluded.concern_ for test in each))
    assert max(test.p_value_ for test in each) <= bounds.p_value_ * (1 + 1e-9)
    if not bounds.concern_ and excluded.concern_ and len(bounds.comparisons_) == 1:
        assert turns[-1] or len(groups) > 2
    last = found.frame[found.frame["share"] == 1]
    np.testing.assert_array_equal(last["p_value_high"], bounds.comparisons_["p_value"])
    np.testing.assert_array_equal(last["p_value_adjusted_high"], bounds.comparisons_["p_value_adjusted"])
    survived = round(found.survives["every group"] * n)
    assert not any(turns[: survived + 1])
    if len(by_pair) == 1 and len(groups) == 2:
        assert survived == n or turns[survived + 1]


@pytest.mark.parametrize(
    ("to", "params", "says"),
    [
        ("noise", {}, "to must be one of 'label_noise'"),
        ("label_noise", {"metric": "selection_rate"}, "which selection_rate does not read"),
        ("label_noise", {"metric": "mean_squared_error"}, "not for metric='mean_squared_error'"),
        ("label_noise", {"metric": "accuracy", "method": "permutation"}, "not for method='permutation'"),
        ("label_noise", {"metric": "accuracy", "adjust": "max_t"}, "not for adjust='max_t'"),
        ("label_noise", {"metric": "accuracy", "compare": "to_overall"}, "not for compare='to_overall'"),
        ("label_noise", {"metric": "recall", "disparity": "odds_ratio"}, "no bounds of disparity='odds_ratio'"),
        ("missing_groups", {"metric": "recall"}, "needs people of whom a sensitive feature is missing"),
    ],
)
def test_what_has_no_such_analysis_is_refused(to, params, says):
    test = fitted({"a": (9, 1, 2, 6), "b": (2, 8, 3, 5)}, random_state=0, **params)
    with pytest.raises(ValueError, match=says):
        test.sensitivity(to)


@pytest.mark.parametrize("at", ["few", [], [0.2, 1.5], -0.1, [np.nan]])
def test_shares_are_numbers_between_0_and_1(at):
    with pytest.raises(ValueError, match="at must be one or several numbers between 0 and 1"):
        fitted({"a": (9, 1, 2, 6), "b": (2, 8, 3, 5)}, metric="recall").sensitivity("label_noise", at=at)


def test_a_test_with_strata_has_no_completed_tables():
    compas = load_compas()
    test = FairnessTest.from_predictions(
        compas.y_true,
        compas.y_pred,
        sensitive_features=compas.sensitive_features["sex"],
        control_features=compas.sensitive_features["age_cat"],
        metric="recall",
    )
    with pytest.raises(ValueError, match="averages over strata of control_features"):
        test.sensitivity("label_noise")


def test_where_few_people_have_a_label_there_are_no_counts_to_relabel():
    decided = np.tile([0, 1], 50)
    test = LabelledFairnessTest.from_predictions(
        np.where(np.arange(100) < 60, decided, np.nan), decided, sensitive_features=np.repeat(["a", "b"], [40, 60]),
        y_judge=decided, label_probability=np.full(100, 0.6), metric="accuracy",
    )  # fmt: skip
    with pytest.raises(ValueError, match="not for people whose labels or groups are not all known"):
        test.sensitivity("label_noise")


def test_a_display_draws_both_ends_of_the_comparison_asked_for():
    cells, params = DESIGNS["three groups, Holm"]
    found = fitted(cells, **params).sensitivity("label_noise", at=[0, 0.05, 0.1])
    display = SensitivityDisplay.from_sensitivity(found, comparison=1)
    assert display.ax_.get_title() == "True positive rate: a against c"
    lines = [line.get_ydata() for line in display.ax_.get_lines() if len(line.get_xdata()) == 3]
    rows = found.frame[(found.frame["group"] == "a") & (found.frame["other"] == "c")]
    for line, (where, end) in zip(lines, product(("one group", "every group"), ("low", "high")), strict=False):
        np.testing.assert_allclose(line, rows.loc[rows["within"] == where, f"disparity_{end}"])
    again = SensitivityDisplay.from_sensitivity(found, ax=display.ax_)
    assert again.ax_ is display.ax_
    with pytest.raises(ValueError, match="comparison must be a number from 0 to 2; found 7"):
        SensitivityDisplay.from_sensitivity(found, comparison=7)
    with pytest.raises(ValueError, match="found must be a Sensitivity"):
        SensitivityDisplay.from_sensitivity(3)


def test_a_copy_has_the_analysis_and_a_test_from_json_says_that_it_has_none():
    cells, params = DESIGNS["two rates"]
    test = fitted(cells, **params)
    found, again = (one.sensitivity("label_noise", at=0.1) for one in (test, pickle.loads(pickle.dumps(test))))
    assert again.frame.equals(found.frame)
    with pytest.raises(ValueError, match="read from JSON, which holds no counts"):
        FairnessTest.from_json(test.to_json()).sensitivity("label_noise")


def strata_of(cells, **params):
    """A test of selection rates of groups "a" and "b": events and people of both, in each stratum."""
    rows = [
        (place, group, int(i < events))
        for place, (x1, d1, x2, d2) in enumerate(cells)
        for group, events, people in (("a", x1, d1), ("b", x2, d2))
        for i in range(people)
    ]
    stratum, group, selected = zip(*rows, strict=True)
    return FairnessTest.from_predictions(
        None,
        selected,
        sensitive_features={"g": group},
        control_features={"c": stratum} if len(cells) > 1 else None,
        metric="selection_rate",
        **params,
    )


def test_rosenbaums_bounds_of_hammonds_pairs():
    """Rosenbaum (2002), table 4.1: of 122 pairs in which one died of lung cancer, 110 times the smoker.

    The upper bounds of the one-sided p-value with gamma 4, 5 and 6 are .0036, .03 and .1: normal ones, of a deviate
    with two decimals. Ours are exact.
    """
    for gamma, published, digits in ((4, 0.0036, 4), (5, 0.03, 2), (6, 0.1, 1)):
        p = gamma / (1 + gamma)
        deviate = (109.5 - 122 * p) / np.sqrt(122 * p * (1 - p))
        assert round(norm.sf(round(deviate, 2)), digits) == published
        pairs = Pair(*np.array([(1, 1, 0, 1)] * 110 + [(0, 1, 1, 1)] * 12).T)
        found = answer(pairs, Scale(), Question("odds_ratio", "greater", (1 / gamma, gamma)))
        assert np.exp(found.log_p) == pytest.approx(binom.sf(109, 122, p))


@pytest.mark.parametrize("gamma", [1.3, 2.0, 4.0])
def test_confounding_bounds_are_tails_of_noncentral_hypergeometric_distributions(gamma):
    strata = [(8, 12, 3, 10), (5, 9, 2, 8)]
    one = strata_of(strata[:1], alternative="greater", reference_group="b")
    row = one.sensitivity("confounding", at=gamma).frame.iloc[0]
    for odds, end in ((gamma, "high"), (1 / gamma, "low")):
        x1, d1, x2, d2 = strata[0]
        tail = nchypergeom_fisher.sf(x1 - 1, d1 + d2, x1 + x2, d1, odds)
        # The unconditional test of the fit may have a smaller p-value.
        assert row[f"p_value_{end}"] == pytest.approx(tail if end == "high" else min(tail, one.p_value_))
    both = strata_of(strata, alternative="greater", reference_group="b").sensitivity("confounding", at=gamma)
    row = both.frame[both.frame["stratum"].isna()].iloc[0]
    for odds, end in ((gamma, "high"), (1 / gamma, "low")):
        first, second = (
            nchypergeom_fisher.pmf(np.arange(d1 + 1), d1 + d2, x1 + x2, d1, odds) for x1, d1, x2, d2 in strata
        )
        assert row[f"p_value_{end}"] == pytest.approx(np.convolve(first, second)[13:].sum())
    assert row["disparity_high"] / row["disparity_low"] == pytest.approx(gamma**2)


def test_confounding_hides_and_makes_disparities():
    clear, none = strata_of([(30, 40, 12, 40)]), strata_of([(20, 40, 20, 40)])
    assert clear.sensitivity("confounding").survives["every group"] > 1.5
    found = none.sensitivity("confounding", at=[1, 1.5, 5])
    assert found.frame["turns"].tolist() == [False, False, True]
    assert found.frame["p_value_high"].eq(1).all()
    assert "changes the odds of being in a group by a factor of" in found.sentence


LABELED = {"a": (9, 3, 2, 6), "b": (4, 8, 3, 5)}
WITHOUT = ([1] * 3 + [0] * 4 + [1] * 2 + [0] * 5, {"g": ["a"] * 7 + ["b"] * 7})


@pytest.mark.parametrize("metric", ["true_positive_rate", "false_positive_rate", "precision"])
def test_selection_bounds_are_those_of_all_labels_that_people_without_may_have(metric):
    test = fitted(LABELED, metric=metric, method="asymptotic")
    params = {"y_pred": WITHOUT[0], "sensitive_features": WITHOUT[1]}
    for share, at in (((0, 1), np.inf), ((0.2, 0.6), np.inf)):
        row = test.sensitivity("selection", at=at, positive_share=share, **params).frame.iloc[0]
        seen = []
        for labels in product(
            *(range(int(np.floor(share[0] * n)), int(np.ceil(share[1] * n)) + 1) for n in (3, 4, 2, 5))
        ):
            cells = {
                group: (of[0] + k, of[1] + m, of[2] + n - k, of[3] + people - m)
                for (group, of), (k, m), (n, people) in zip(
                    LABELED.items(), (labels[:2], labels[2:]), ((3, 4), (2, 5)), strict=True
                )
            }
            seen.append(relabelled_statistic(cells, metric))
        p, disparity = np.array(seen).T
        np.testing.assert_allclose(
            row[["disparity_low", "disparity_high"]].tolist(), [disparity.min(), disparity.max()]
        )
        np.testing.assert_allclose(row["p_value_low"], p.min())
        assert row["p_value_high"] >= p.max() - 1e-12


def relabelled_statistic(cells, metric):
    event, given = RATES[metric].masks(CELLS)
    x1, d1, x2, d2 = (np.array([np.array(of)[mask].sum()]) for of in cells.values() for mask in (event, given))
    log_p = answer(Pair(x1, d1, x2, d2), Scale(), Question(method="asymptotic")).log_p
    return np.exp(log_p), float(x1[0] / d1[0] - x2[0] / d2[0])


def test_with_the_factor_1_people_without_labels_are_as_those_of_their_group():
    test = fitted({"a": (6, 4, 4, 6), "b": (3, 7, 7, 3)}, metric="accuracy")
    y_pred, groups = [1] * 10 + [0] * 10, {"g": ["a"] * 10 + ["b"] * 10}
    frame = test.sensitivity("selection", at=[1, 2], y_pred=y_pred, sensitive_features=groups).frame
    # Five of ten people predicted positive are, of "a", and five of ten predicted negative are not, of "b".
    assert frame.loc[0, ["disparity_low", "disparity_high"]].tolist() == pytest.approx([17 / 30 - 11 / 30] * 2)
    assert frame.loc[1, "disparity_low"] < frame.loc[0, "disparity_low"]


def test_known_error_rates_correct_values_and_verdict():
    compas = load_compas()
    race = compas.sensitive_features["race"].to_numpy()
    two = np.isin(race, ["African-American", "Caucasian"])
    test = FairnessTest.from_predictions(
        compas.y_true[two], compas.y_pred[two], sensitive_features={"race": race[two]}, metric="equalized_odds"
    )
    plain = test.sensitivity("label_noise", error_rates=(0, 0)).frame
    np.testing.assert_allclose(plain["disparity"], test.comparisons_["disparity"])
    np.testing.assert_allclose(plain[["ci_low", "ci_high"]], test.comparisons_[["ci_low", "ci_high"]], atol=1e-3)
    # If only white people's labels missed reoffenders, their false positives would be fewer still.
    found = test.sensitivity("label_noise", error_rates={"African-American": (0, 0), "Caucasian": (0, 0.3)})
    assert found.frame["value_other"][1] < plain["value_other"][1]
    assert found.sentence.startswith("Significant disparity, corrected")


@pytest.mark.parametrize(
    ("to", "params", "says"),
    [
        ("selection", {}, "y_pred is missing: to='selection' needs"),
        ("selection", {"y_pred": [1], "sensitive_features": {"g": ["z"]}}, "hold 'z', which is no group"),
        ("selection", {"y_pred": ["yes"], "sensitive_features": {"g": ["a"]}}, "y_pred of people without labels holds"),
        (
            "selection",
            {"y_pred": [1], "sensitive_features": {"g": ["a"]}, "positive_share": (0.5, 0.2)},
            "positive_share must be two numbers",
        ),
        ("label_noise", {"y_pred": [1]}, "y_pred is not for to='label_noise', which takes error_rates"),
        ("label_noise", {"error_rates": (0.6, 0.5)}, "error_rates must be two probabilities"),
        ("label_noise", {"error_rates": {"a": (0, 0.1)}}, "error_rates has none of group 'b'"),
        ("label_noise", {"error_rates": (0, 0.1), "at": 0.1}, "at is not for error_rates"),
        ("confounding", {"at": 0.5}, "at must be one or several numbers from 1 on"),
        ("label_noise", {"at": 10**400}, "at must be one or several numbers between 0 and 1"),
        ("missing_groups", {"positive_share": (0, 1)}, "positive_share is not for to='missing_groups'"),
    ],
)
def test_what_is_not_for_an_analysis_is_refused(to, params, says):
    with pytest.raises(ValueError, match=says):
        fitted(LABELED, metric="recall").sensitivity(to, **params)


def test_margins_have_no_bounds_of_confounding():
    test = fitted(LABELED, metric="recall", margin=0.05)
    with pytest.raises(ValueError, match="margin: to='confounding'"):
        test.sensitivity("confounding")
