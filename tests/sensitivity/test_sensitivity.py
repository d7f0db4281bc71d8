"""How far verdicts survive: against every assignment of small data, published bounds, and what is refused."""

import pickle
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binom, nchypergeom_fisher, norm

from skfairtest import FairnessTest, LabelledFairnessTest
from skfairtest.datasets import load_compas
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rates import Pair, Question, answer

ORDER = [(1, 1), (1, 0), (0, 1), (0, 0)]


def fitted(cells, **params):
    counts = {(*cell, group): n for group, of in cells.items() for cell, n in zip(ORDER, of, strict=True) if n}
    rows = np.array([key for key, n in counts.items() for _ in range(n)], dtype=object)
    return FairnessTest.from_predictions(
        rows[:, 0].astype(int), rows[:, 1].astype(int), sensitive_features={"g": rows[:, 2]}, **params
    )


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
    assert found.survives == survives
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
    survived = round(found.survives * n)
    assert not any(turns[: survived + 1])
    if len(by_pair) == 1 and len(groups) == 2:
        assert survived == n or turns[survived + 1]


@pytest.mark.parametrize(
    ("to", "params", "says"),
    [
        ("label_noise", {}, "to must be one of 'missing_groups', 'confounding'"),
        ("confounding", {"metric": "mean_squared_error"}, "not for metric='mean_squared_error'"),
        ("confounding", {"metric": "accuracy", "method": "permutation"}, "not for method='permutation'"),
        ("confounding", {"metric": "accuracy", "compare": "to_overall"}, "not for compare='to_overall'"),
        ("missing_groups", {"metric": "recall"}, "needs people whose sensitive feature is missing"),
    ],
)
def test_what_has_no_such_analysis_is_refused(to, params, says):
    test = fitted({"a": (9, 1, 2, 6), "b": (2, 8, 3, 5)}, random_state=0, **params)
    with pytest.raises(ValueError, match=says):
        test.sensitivity(to)


@pytest.mark.parametrize("at", ["few", [], [0.2, 1.5], -0.1, [np.nan], 10**400])
def test_shares_are_numbers_between_0_and_1(at):
    with pytest.raises(ValueError, match="at must be one or several numbers between 0 and 1"):
        people_of_unknown_group(missing="exclude").sensitivity("missing_groups", at=at)
    with pytest.raises(ValueError, match="at must be one or several numbers from 1 on"):
        people_of_unknown_group(missing="exclude").sensitivity("confounding", at=0.5)


def test_where_few_people_have_a_label_there_are_no_counts_to_relabel():
    decided = np.tile([0, 1], 50)
    test = LabelledFairnessTest.from_predictions(
        np.where(np.arange(100) < 60, decided, np.nan), decided, sensitive_features=np.repeat(["a", "b"], [40, 60]),
        y_judge=decided, label_probability=np.full(100, 0.6), metric="accuracy",
    )  # fmt: skip
    with pytest.raises(ValueError, match="not for people whose labels or groups are not all known"):
        test.sensitivity("confounding")


def test_a_copy_has_the_analysis_and_a_test_from_json_says_that_it_has_none():
    test = fitted({"a": (8, 1, 6, 2), "b": (3, 7, 2, 7)}, metric="equalized_odds", adjust="bonferroni")
    found, again = (one.sensitivity("confounding", at=1.5) for one in (test, pickle.loads(pickle.dumps(test))))
    assert again.frame.equals(found.frame)
    with pytest.raises(ValueError, match="read from JSON, which holds no counts"):
        FairnessTest.from_json(test.to_json()).sensitivity("confounding")


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
    assert clear.sensitivity("confounding").survives > 1.5
    found = none.sensitivity("confounding", at=[1, 1.5, 5])
    assert found.frame["turns"].tolist() == [False, False, True]
    assert found.frame["p_value_high"].eq(1).all()
    assert "changes the odds of being in a group by a factor of" in found.sentence


LABELED = {"a": (9, 3, 2, 6), "b": (4, 8, 3, 5)}


def test_margins_have_no_bounds_of_confounding():
    test = fitted(LABELED, metric="recall", margin=0.05)
    with pytest.raises(ValueError, match="margin: to='confounding'"):
        test.sensitivity("confounding")
