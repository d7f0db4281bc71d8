"""Bounds over people of unknown group of whom something is known, beside every way to fill in what is not."""

from itertools import product

import numpy as np
import pytest

from skfairtest import FairnessAudit, FairnessTest

pytestmark = pytest.mark.filterwarnings("ignore:.*ratio is undefined", "ignore:.*fewer than 2 people")
#: Sex, race, positive, and how many there are. Nobody of f and c is known; nothing, or one feature, is known of some.
PEOPLE = [
    ("f", "a", 1, 2), ("f", "a", 0, 5), ("f", "b", 1, 4), ("f", "b", 0, 2), ("m", "a", 1, 3), ("m", "a", 0, 3),
    ("m", "b", 1, 1), ("m", "b", 0, 6), ("m", "c", 1, 2), ("m", "c", 0, 2), ("m", None, 0, 1), (None, "a", 1, 1),
    (None, None, 1, 1),
]  # fmt: skip
NO_EVENTS = [(sex, race, int(sex is None), n) for sex, race, _, n in PEOPLE]


def columns(people):
    rows = [row[:3] for row in people for _ in range(row[3])]
    sex, race, y_pred = (np.array(column, dtype=object) for column in zip(*rows, strict=True))
    return sex, race, y_pred.astype(int)


def filled(people):
    """Yield every way to fill in sex and race with values that somebody has."""
    sex, race, y_pred = columns(people)
    holes = [(column, place) for column in (sex, race) for place in np.flatnonzero(column == np.array(None))]
    for values in product(*(("f", "m") if column is sex else ("a", "b", "c") for column, _ in holes)):
        for (column, place), value in zip(holes, values, strict=True):
            column[place] = value
        yield sex.copy(), race.copy(), y_pred


def rows_of(sex, race, y_pred, **params):
    features = {"sex": sex, "race": race}
    test = FairnessTest.from_predictions(
        None, y_pred, sensitive_features=features, metric="selection_rate", adjust=None, **params
    )
    return test, {(row["group"], row["other"]): row for row in test.comparisons_.to_dict("records")}


@pytest.mark.parametrize(
    ("people", "params"),
    [
        (PEOPLE[:-1], {}),  # six ways
        (PEOPLE[:-1], {"compare": "to_rest", "disparity": "ratio", "method": "asymptotic"}),
        (NO_EVENTS[:-1], {"compare": "to_reference", "reference_group": ("m", "a"), "disparity": "ratio"}),
        *(
            pytest.param(people, params, marks=pytest.mark.slow)  # 36 ways of each
            for people, params in [
                (PEOPLE, {}),
                (PEOPLE, {"compare": "to_rest"}),
                (PEOPLE, {"compare": "to_reference", "reference_group": ("m", "a"), "disparity": "odds_ratio"}),
                (PEOPLE, {"compare": "to_overall", "disparity": "ratio", "method": "asymptotic"}),
                (PEOPLE, {"compare": "to_rest", "alternative": "less", "disparity": "ratio"}),
                (PEOPLE, {"margin": 0.1}),
                (NO_EVENTS, {"disparity": "odds_ratio", "method": "asymptotic", "margin": 0.8}),
                (
                    NO_EVENTS,
                    {"disparity": "ratio", "method": "asymptotic", "margin": 0.8, "alternative": "equivalence"},
                ),
            ]
        ),
    ],
)
def test_bounds_are_those_of_every_way_to_fill_in_what_is_not_known(people, params):
    test, rows = rows_of(*columns(people), missing="bounds", **params)
    assert test.bounds_["attained"].all()
    bounds = {(row["group"], row["other"]): row for row in test.bounds_.to_dict("records")}
    found = {pair: [] for pair in rows}
    for values in filled(people):
        for pair, row in rows_of(*values, **params)[1].items():
            if pair in found:  # not of a group to which only these people may belong
                found[pair].append([row[name] for name in ("p_value", "disparity", "ci_low", "ci_high")])
    for pair, each in found.items():
        p, disparity, low, high = np.array(each).T
        own, row = bounds[pair], rows[pair]
        assert [own["p_value_low"], own["p_value_high"]] == pytest.approx([p.min(), p.max()], rel=1e-6)
        assert row["p_value"] == own["p_value_high"]
        defined = disparity[~np.isnan(disparity)]
        ends = [defined.min(), defined.max()] if len(defined) else [np.nan, np.nan]
        assert [own["disparity_low"], own["disparity_high"]] == pytest.approx(ends, rel=1e-6, nan_ok=True)
        assert row["ci_low"] <= low.min() + 1e-9
        assert row["ci_high"] >= high.max() - 1e-9


def test_men_of_unknown_race_change_nothing_between_groups_of_women():
    women = [
        ("f", "a", 1, 20),
        ("f", "a", 0, 20),
        ("f", "b", 1, 5),
        ("f", "b", 0, 35),
        ("m", "a", 1, 9),
        ("m", "b", 0, 9),
    ]
    test, rows = rows_of(*columns([*women, ("m", None, 1, 5), ("m", None, 0, 5)]), missing="bounds")
    of_known = rows_of(*columns(women))[1]
    pair = (("f", "a"), ("f", "b"))
    assert rows[pair]["p_value"] == of_known[pair]["p_value"]
    unknown = dict(zip(rows, test.bounds_["n_unknown"], strict=True))
    assert [unknown[pair], unknown[("f", "a"), ("m", "b")], unknown[("m", "a"), ("m", "b")]] == [0, 10, 10]


@pytest.mark.slow  # 37 audits
def test_the_rest_of_a_parent_group_has_bounds_of_those_who_may_be_in_it():
    sex, race, y_pred = columns(PEOPLE)
    asked = {"metrics": "selection_rate", "compare_intersections": "to_parents", "adjust": None}
    keys = ["feature", "group", "other"]
    test = FairnessAudit.from_predictions(
        None, y_pred, sensitive_features={"sex": sex, "race": race}, missing="bounds", **asked
    )
    largest = dict.fromkeys(test.comparisons_.set_index(keys).index, 0.0)
    for sex, race, y_pred in filled(PEOPLE):
        audit = FairnessAudit.from_predictions(None, y_pred, sensitive_features={"sex": sex, "race": race}, **asked)
        for key, p in audit.comparisons_.set_index(keys)["p_value"].items():
            if key in largest:
                largest[key] = max(largest[key], p)
    assert test.comparisons_.set_index(keys)["p_value"].to_dict() == pytest.approx(largest, rel=1e-6)
