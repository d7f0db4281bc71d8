"""Folds stratified on label and group: even shares, whatever holds the data, inside scikit-learn's tools."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate

from skfairtest import SensitiveStratifiedKFold

few_people = pytest.mark.filterwarnings("ignore:.*have fewer people than n_splits:UserWarning")
MODEL = LogisticRegression()


def people(n=120, seed=0):
    """Features, a label and two sensitive columns, all in one frame; cells of at least five people."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.normal(size=n), "score": rng.normal(size=n), "female": rng.integers(0, 2, n)})
    y = (X["score"] + rng.normal(size=n) > 0).astype(int)
    race = pd.Series(np.where(rng.random(n) < 0.2, "Other", "Many"), name="race")
    return X, y, race


def who_is_tested(folds, *args, **params):
    """The people each fold tests on, as lists."""
    return [test.tolist() for _, test in folds.split(*args, **params)]


def spread(folds, values, k):
    """Most people in a fold minus fewest, of each value."""
    counts = {value: [0] * k for value in values}
    for fold, value in zip(folds, values, strict=True):
        counts[value][fold] += 1
    return {value: max(sizes) - min(sizes) for value, sizes in counts.items()}


# Few labels and groups among many people, many among few, and everything between.
cells = st.integers(1, 7).flatmap(
    lambda n_groups: st.lists(st.tuples(st.integers(0, n_groups), st.integers(0, 5)), min_size=10, max_size=80)
)


@few_people
@settings(deadline=None)
@given(cells, st.integers(2, 10), st.none() | st.integers(0, 5))
def test_folds_partition_people_and_differ_by_one_person_in_a_cell_and_by_the_number_of_labels_in_a_group(
    people, k, seed
):
    group, label = np.array(people).T
    folds = np.empty(len(people), dtype=int)
    splitter = SensitiveStratifiedKFold(k, shuffle=seed is not None, random_state=seed)
    pairs = list(splitter.split(None, label, sensitive_features=group))
    assert len(pairs) == k == splitter.get_n_splits()
    for number, (train, test) in enumerate(pairs):
        folds[test] = number
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(len(people)))
    assert set(folds) == set(range(k))
    assert sum(len(test) for _, test in pairs) == len(people)
    for values in (list(zip(group, label, strict=True)), label.tolist(), [0] * len(folds)):
        assert max(spread(folds, values, k).values()) <= 1
    assert max(spread(folds, group.tolist(), k).values()) <= len(set(label))


@pytest.mark.parametrize(
    "put",
    [pd.DataFrame, pl.DataFrame, pa.table, dict, lambda columns: np.array(list(columns.values()), dtype=object).T],
)
def test_several_columns_are_stratified_on_their_crossing(put):
    X, y, race = people(200)
    both = {"race": race.tolist(), "female": X["female"].tolist()}
    crossed = [f"{one}-{other}" for one, other in zip(*both.values(), strict=True)]
    folds = SensitiveStratifiedKFold(3)
    expected = who_is_tested(folds, X, y, sensitive_features=crossed)
    assert who_is_tested(folds, X, y, sensitive_features=put(both)) == expected


def test_without_labels_the_groups_alone_are_stratified():
    group = ["a"] * 9 + ["b"] * 3
    folds = who_is_tested(SensitiveStratifiedKFold(3), np.zeros(12), None, sensitive_features=group)
    assert folds == [[0, 1, 2, 9], [3, 4, 5, 10], [6, 7, 8, 11]]


def test_a_seed_repeats_the_folds_and_shuffling_deals_other_people():
    X, y, race = people()
    shuffled = partial(SensitiveStratifiedKFold, 4, shuffle=True)
    first = who_is_tested(shuffled(random_state=1), X, y, sensitive_features=race)
    assert who_is_tested(shuffled(random_state=1), X, y, sensitive_features=race) == first
    for other in (SensitiveStratifiedKFold(4), *(shuffled(random_state=s) for s in (2, np.random.RandomState(2)))):
        folds = who_is_tested(other, X, y, sensitive_features=race)
        assert folds != first
        assert [len(test) for test in folds] == [len(test) for test in first]


def test_small_cells_are_named_smallest_first_with_what_it_means():
    label = [0, 1] * 10 + [0, 1, 1, 0]
    group = ["many"] * 20 + ["few", "few", "few", "one"]
    with pytest.warns(UserWarning, match="fewer people") as caught:
        SensitiveStratifiedKFold(5).split(None, label, sensitive_features=pd.Series(group, name="origin"))
    assert [str(warning.message) for warning in caught] == [
        "3 of 5 combinations of group and label have fewer people than n_splits=5, so some folds test none of them: "
        "origin='few' and y=0 (1 person); origin='one' and y=0 (1 person); origin='few' and y=1 (2 people). Rates of "
        "these people are undefined in such folds; use fewer folds, or merge small groups."
    ]
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=r"^9 of 9 .*; sensitive_feature_0=4 \(1 person\), and 4 more\."):
        SensitiveStratifiedKFold(3).split(None, None, sensitive_features=list(range(9)))


NO_COLUMN = "sensitive_features='sex': X has no column 'sex' here; its columns are 'a'"


@pytest.mark.parametrize(
    ("params", "given", "message"),
    [
        ({}, {"sensitive_features": None}, "features is missing.*SensitiveStratifiedKFold.sensitive_features='sex'"),
        ({}, {"y": [0.5, 1.5, 2.0, 3.0]}, r"y is continuous \(it holds 0.5\).*split\(X, None.*KFold"),
        ({}, {"y": [0, 1, None, 1]}, "y has 1 missing value among 4"),
        ({}, {"y": [[0, 1]] * 4}, "y must have one dimension"),
        ({}, {"y": [0, 1, 1]}, "X and y have different lengths, 4 and 3"),
        ({}, {"sensitive_features": list("fmf")}, "X and sensitive_features have different lengths, 4 and 3"),
        ({}, {"sensitive_features": ["f", "m", None, "m"]}, "1 missing value among 4"),
        ({}, {"sensitive_features": "sex"}, "sensitive_features is the string 'sex'"),
        ({}, {"sensitive_features": {"sex": ["f", "m"], "race": ["a"]}}, "columns of different lengths"),
        ({}, {"sensitive_features": pd.Series(list("fmfm"), index=[3, 2, 1, 0])}, "same labels in another order"),
        ({}, {"groups": list("fmfm")}, "groups are people who must stay together.*sensitive_features="),
        ({"n_splits": 5}, {}, "n_splits=5 is more than the number of people, n_samples=4"),
        ({}, {"X": None, "y": None, "sensitive_features": list(range(201))}, "201 different numbers"),
        ({"sensitive_features": "a"}, {}, "sensitive_features are already named as columns of X .'a'"),
        ({"sensitive_features": "sex"}, {"sensitive_features": None}, NO_COLUMN),
        (
            {"sensitive_features": "sex"},
            {"X": np.zeros((4, 1)), "sensitive_features": None},
            "sensitive_features='sex': X .ndarray. has no column names here",
        ),
        ({"sensitive_features": np.array(["f"])}, {}, "must be the name of a column of X, or a list.*found ndarray"),
        ({"n_splits": 1}, {}, "n_splits=2 or more"),
        ({"n_splits": 2.5}, {}, "Integral"),
        ({"random_state": 0}, {}, "shuffle"),
    ],
)
def test_what_cannot_be_split_is_refused_before_the_first_fold(params, given, message):
    people = {"X": pd.DataFrame({"a": range(4)}), "y": [0, 1, 0, 1], "sensitive_features": list("fmfm")}
    with pytest.raises(ValueError, match=f"(?s){message}"):
        SensitiveStratifiedKFold(**{"n_splits": 2} | params).split(**people | given)


def folds_of(cv, X, y, model=MODEL, **params):
    """The people that scikit-learn's cross-validation tests on."""
    found = cross_validate(model, X, y, cv=cv, params=params, error_score="raise", return_indices=True)
    return [test.tolist() for test in found["indices"]["test"]]


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("put", [pl.Series, list])
def test_groups_are_routed_through_a_nested_search_without_asking_for_them(put):
    X, y, race = people()
    search = GridSearchCV(MODEL, {"C": [0.1, 1]}, cv=SensitiveStratifiedKFold(2))
    folds = SensitiveStratifiedKFold(3)
    expected = who_is_tested(folds, X, y, sensitive_features=race)
    assert folds_of(folds, X, y, search, sensitive_features=put(race.tolist())) == expected
    renamed = SensitiveStratifiedKFold(3).set_split_request(sensitive_features="origin")
    assert folds_of(renamed, X, y, origin=race) == expected
    named = SensitiveStratifiedKFold(3, sensitive_features="female")  # leaves routed groups to others
    assert folds_of(named, X, y, search, sensitive_features=race) == who_is_tested(named, X, y)


@pytest.mark.parametrize("with_groups", [False, True])
@pytest.mark.parametrize("search", [False, True])
def test_with_routing_off_the_message_says_what_to_type(search, with_groups):
    X, y, race = people()
    given = {"sensitive_features": race} if with_groups else {}
    folds = SensitiveStratifiedKFold()
    use = partial(GridSearchCV(MODEL, {"C": [1]}, cv=folds).fit, X, y, **given)
    if not search:
        use = partial(cross_validate, MODEL, X, y, cv=folds, params=given)
    with pytest.raises(ValueError, match=r"enable_metadata_routing=True.*params={'sensitive_features'"):
        use()


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda race: {}, ValueError, "sensitive_features is missing"),
        (lambda race: {"sensitive_features": race[:50]}, ValueError, "features have different lengths, 120 and 50"),
        # scikit-learn hands a mapping over whole, and refuses its own groups in its own words.
        (lambda race: {"sensitive_features": {"race": race.tolist()}}, ValueError, "different lengths, 80 and 120"),
        (lambda race: {"groups": race}, (TypeError, UnsetMetadataPassedError), "groups"),
    ],
)
def test_groups_that_do_not_reach_the_folds_are_missed(given, error, message):
    X, y, race = people()
    search = GridSearchCV(MODEL, {"C": [1]}, cv=SensitiveStratifiedKFold(2))
    with pytest.raises(error, match=message):
        cross_validate(search, X, y, cv=SensitiveStratifiedKFold(3), params=given(race), error_score="raise")
