"""People whose group is not known: left out and counted, a group of their own, or bounds over all groups."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest import FairnessAudit, FairnessTest, Rate

pytestmark = pytest.mark.filterwarnings("ignore:.*ratio is undefined", "ignore:.*fewer than 2 people")

N = 60
RNG = np.random.default_rng(5)
SEX = RNG.choice(["f", "m"], N)
Y = RNG.integers(0, 2, N)
PRED = (RNG.random(N) < np.where(SEX == "m", 0.6, 0.4)).astype(int)
GONE = np.zeros(N, dtype=bool)
GONE[[3, 17, 18, 44]] = True
CONTAINERS = {
    "list with None": lambda values: [None if gone else value for value, gone in zip(values, GONE, strict=True)],
    "object with nan": lambda values: np.where(GONE, np.nan, values.astype(object)),
    "pandas": lambda values: pd.Series(values).mask(GONE),
    "pandas with NA": lambda values: pd.Series(values, dtype="string").mask(GONE, pd.NA),
    "categorical": lambda values: pd.Series(values).mask(GONE).astype("category"),
    "polars": lambda values: pl.Series([None if g else v for v, g in zip(values, GONE, strict=True)]),
    "pyarrow": lambda values: pa.chunked_array(
        [[None if g else v for v, g in zip(values.tolist(), GONE, strict=True)]]
    ),
    "masked": lambda values: np.ma.array(values, mask=GONE),
}


def run(sex, missing="raise", *, y=Y, y_pred=PRED, **params):
    params = {"metric": "selection_rate"} | params
    return FairnessTest.from_predictions(y, y_pred, sensitive_features={"sex": sex}, missing=missing, **params)


HOLED = CONTAINERS["list with None"](SEX)


# Left out, a group of their own ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("missing", ["exclude", "group", "bounds"])
def test_missing_values_of_any_container_are_the_same(container, missing):
    found, expected = run(CONTAINERS[container](SEX), missing), run(HOLED, missing)
    for name in ("comparisons_", "by_group_", "excluded_"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(expected, name))
    assert (found.p_value_, found.n_unknown_) == (expected.p_value_, 4)


def test_excluded_people_are_left_out_of_everything_and_counted():
    test, known = run(HOLED, "exclude"), run(SEX[~GONE], y=Y[~GONE], y_pred=PRED[~GONE])
    pd.testing.assert_frame_equal(test.comparisons_, known.comparisons_)
    pd.testing.assert_frame_equal(test.by_group_, known.by_group_)
    assert (test.n_samples_, test.n_unknown_, known.n_unknown_) == (56, 4, 0)
    (row,) = test.excluded_.to_dict("records")
    assert (row["reason"], row["n"]) == ("sex is missing: left out (missing='exclude')", 4)
    assert FairnessTest.from_json(test.to_json()).n_unknown_ == 4


@pytest.mark.parametrize("metric", ["selection_rate", "accuracy", "mean_squared_error"])
def test_a_group_of_their_own_is_that_of_people_who_have_another_name(metric):
    named = np.where(GONE, "unknown", SEX)
    test, expected = run(HOLED, "group", metric=metric, random_state=0), run(named, metric=metric, random_state=0)
    pd.testing.assert_frame_equal(test.comparisons_, expected.comparisons_)
    assert test.n_unknown_ == 4


def test_the_name_of_unknown_people_is_nobody_elses():
    names = np.where(np.arange(N) % 3 == 0, "Unknown", np.where(np.arange(N) % 3 == 1, "(unknown)", "x"))
    assert run(CONTAINERS["list with None"](names), "group").groups_ == ["((unknown))", "(unknown)", "Unknown", "x"]


@pytest.mark.parametrize("missing", ["raise", "exclude", "group", "bounds"])
def test_where_nobody_is_unknown_the_parameter_changes_nothing(missing):
    test, expected = run(SEX, missing), run(SEX)
    pd.testing.assert_frame_equal(test.comparisons_, expected.comparisons_)
    assert test.n_unknown_ == 0
    assert not len(test.excluded_)
    if missing == "bounds":
        assert test.p_value_bounds_ == (test.p_value_, test.p_value_)
        assert test.disparity_bounds_ == (test.disparity_, test.disparity_)


# Bounds ---------------------------------------------------------------------------------------------------------------


def test_bounds_are_those_of_all_ways_to_fill_in_the_groups():
    test = run(HOLED, "bounds")
    every = []
    for code in range(2 ** int(GONE.sum())):
        filled = SEX.copy()
        filled[GONE] = np.array(["f", "m"])[[code >> place & 1 for place in range(int(GONE.sum()))]]
        every.append(run(filled))
    assert test.p_value_bounds_ == pytest.approx((min(t.p_value_ for t in every), max(t.p_value_ for t in every)))
    assert test.p_value_ == test.p_value_bounds_[1]
    assert test.disparity_bounds_ == pytest.approx((min(t.disparity_ for t in every), max(t.disparity_ for t in every)))
    low, high = test.confidence_interval_
    assert low == pytest.approx(min(0, *(t.confidence_interval_[0] for t in every)))
    assert high == pytest.approx(max(0, *(t.confidence_interval_[1] for t in every)))
    assert test.bounds_["attained"].all()
    again = FairnessTest.from_json(test.to_json())
    assert tuple(again.p_value_bounds_) == test.p_value_bounds_
    assert again.bounds_["n_unknown"].iloc[0] == 4


def test_a_condition_is_met_by_people_of_unknown_group_too():
    miss = Rate("miss_rate", event="~y_pred", given="y_true")
    (row,) = run(HOLED, "bounds", metric=miss).bounds_.to_dict("records")
    assert row["n_unknown"] == int(Y[GONE].sum())
    assert row["n_unknown_event"] == int((Y[GONE] & ~PRED[GONE].astype(bool)).sum())


@pytest.mark.filterwarnings("ignore:.*fewer than 2 people", "ignore:.*meets the condition")
@pytest.mark.parametrize(
    ("known", "unknown", "params", "hypotheses"),
    [
        ([("a", 14, 20), ("b", 6, 20), ("c", 1, 1)], [1], {}, 3),
        ([("a", 14, 20), ("b", 6, 20), ("c", 1, 1)], [], {}, 1),
        ([("a", 14, 20), ("b", 6, 20), ("c", 1, 1), ("d", 0, 1)], [1], {}, 3),  # one more person makes one more group
        ([("a", 14, 20), ("b", 6, 20), ("c", 1, 1), ("d", 0, 1)], [1, 0], {}, 6),
        ([("a", 14, 20), ("b", 6, 20), ("c", 1, 1)], [1], {"compare": "to_rest"}, 3),
        ([("a", 14, 20), ("b", 6, 20), ("c", 1, 1)], [1], {"reference_group": "b"}, 2),
        ([("a", 14, 20), ("b", 6, 20), ("c", 1, 1)], [1], {"adjust": "fdr_bh"}, 3),
    ],
)
def test_the_family_is_the_largest_that_an_assignment_makes(known, unknown, params, hypotheses):
    def run_of(places, **more):
        rows = [(group, int(i < x)) for group, x, n in known for i in range(n)]
        rows += list(zip(places, unknown, strict=True))
        group, selected = (np.array(column, dtype=object) for column in zip(*rows, strict=True))
        return FairnessTest.from_predictions(
            None, selected.astype(int), sensitive_features=group, metric="selection_rate", **params, **more
        )

    test = run_of([None] * len(unknown), missing="bounds")
    each = [run_of(places) for places in product([name for name, _, _ in known], repeat=len(unknown))]
    assert max(one.p_value_ for one in each) <= test.p_value_ * (1 + 1e-9)
    assert test.p_value_ == pytest.approx(min(1, hypotheses * test.comparisons_["p_value"].min()), rel=1e-9)


def test_people_without_a_group_may_be_the_first_who_meet_a_condition():
    # Of the four people of c nobody is truly positive; the one of unknown group is.
    group = np.array([*"a" * 40, *"b" * 40, *"c" * 4, None], dtype=object)
    y = np.r_[np.ones(80), np.zeros(4), 1]
    y_pred = np.r_[np.arange(40) < 28, np.arange(40) < 12, np.zeros(4), 1]
    with pytest.warns(UndefinedMetricWarning):
        test = FairnessTest.from_predictions(
            y, y_pred, sensitive_features=group, metric="true_positive_rate", missing="bounds"
        )
    assert test.p_value_ == pytest.approx(3 * test.comparisons_["p_value"][0])


def test_a_group_at_an_intersection_that_nobody_is_known_to_be_in_counts():
    sex, race = np.repeat(["f", "f", "m"], [20, 20, 20]).astype(object), np.repeat(["a", "b", "a"], 20).astype(object)
    y_pred = np.r_[np.arange(20) < 15, np.arange(20) < 4, np.arange(20) < 9, 1, 0]
    asked = {"metric": "selection_rate", "missing": "bounds"}
    for known, more in ((["m", "m"], 3), (["f", "f"], 0), (["m"], 0)):
        n = 60 + len(known)
        features = {"sex": np.r_[sex, known], "race": np.r_[race, [None] * len(known)]}
        test = FairnessTest.from_predictions(None, y_pred[:n], sensitive_features=features, **asked)
        found = test.comparisons_["p_value"].min() * (3 + more)
        assert test.p_value_ == pytest.approx(found)


# Of crossed groups, beside every way to fill in what is not known -----------------------------------------------------

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


# Audits ---------------------------------------------------------------------------------------------------------------


def audit(missing, **params):
    race = np.where(np.arange(N) % 2 == 0, "a", "b").astype(object)
    race[5:8] = None
    return FairnessAudit.from_predictions(
        Y, PRED, sensitive_features={"sex": HOLED, "race": race}, missing=missing, metrics="selection_rate", **params
    ), race


def test_an_audit_leaves_out_only_those_of_whom_its_own_features_are_missing():
    found, race = audit("exclude")
    of_race = found.comparisons_[found.comparisons_["feature"] == "race"].iloc[0]
    known = race != np.array(None)
    single = FairnessTest.from_predictions(
        Y[known], PRED[known], sensitive_features=race[known], metric="selection_rate"
    )
    assert of_race["p_value"] == single.p_value_
    assert found.excluded_[["feature", "n"]].to_numpy().tolist() == [["sex", 4], ["race", 3], ["sex x race", 7]]
    assert found.n_samples_ == N


def test_the_p_values_of_an_audit_hold_whatever_the_groups_are():
    found, _ = audit("bounds", intersections=False)
    sex = run(HOLED, "bounds")
    (row,) = found.comparisons_[found.comparisons_["feature"] == "sex"].to_dict("records")
    assert row["p_value"] == sex.p_value_
