"""How far verdicts survive: against every relabelling of small data, and what is refused."""

import pickle
from itertools import product

import numpy as np
import pytest

from skfairtest import FairnessTest, SensitivityDisplay
from skfairtest.datasets import load_compas

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
