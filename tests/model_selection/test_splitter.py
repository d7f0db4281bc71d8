"""Folds stratified on label and group: even shares, whatever holds the data, inside scikit-learn's tools."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_validate,
    learning_curve,
)

from skfairtest import SensitiveStratifiedKFold

repeatable = settings(deadline=None)
few_people = pytest.mark.filterwarnings("ignore:.*have fewer people than n_splits:UserWarning")


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
    return {value: max(found) - min(found) for value, found in counts.items()}


# Few labels and groups among many people, many among few, and everything between.
cells = st.integers(1, 7).flatmap(
    lambda n_groups: st.lists(st.tuples(st.integers(0, n_groups), st.integers(0, 5)), min_size=10, max_size=80)
)


@few_people
@repeatable
@given(cells, st.integers(2, 10), st.none() | st.integers(0, 5))
def test_folds_differ_by_one_person_in_a_label_of_a_group_and_by_the_number_of_labels_in_a_group(people, k, seed):
    group, label = np.array(people).T
    folds = np.empty(len(people), dtype=int)
    splitter = SensitiveStratifiedKFold(k, shuffle=seed is not None, random_state=seed)
    for number, (_, test) in enumerate(splitter.split(None, label, sensitive_features=group)):
        folds[test] = number
    assert set(folds) == set(range(k))
    for values in (list(zip(group, label, strict=True)), label.tolist(), [0] * len(folds)):
        assert max(spread(folds, values, k).values()) <= 1
    assert max(spread(folds, group.tolist(), k).values()) <= len(set(label))


@few_people
@repeatable
@given(cells, st.integers(2, 5), st.booleans())
def test_each_person_is_tested_once_and_trained_on_otherwise(found, k, shuffle):
    group, label = np.array(found).T
    folds = SensitiveStratifiedKFold(k, shuffle=shuffle, random_state=0 if shuffle else None)
    pairs = list(folds.split(None, label, sensitive_features=group))
    assert len(pairs) == k == folds.get_n_splits()
    for train, test in pairs:
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(len(found)))
    assert sorted(person for _, test in pairs for person in test.tolist()) == list(range(len(found)))


@few_people
@repeatable
@given(cells, st.permutations(range(8)), st.permutations(range(6)))
def test_renaming_groups_and_labels_changes_no_fold(found, groups, labels):
    group, label = np.array(found).T
    folds = SensitiveStratifiedKFold(4, shuffle=True, random_state=3)
    renamed_group = [f"group {groups[code]}" for code in group]
    renamed_label = [f"label {labels[code]}" for code in label]
    X = np.zeros((len(found), 1))
    expected = who_is_tested(folds, X, label, sensitive_features=group)
    assert who_is_tested(folds, X, renamed_label, sensitive_features=renamed_group) == expected


CONTAINERS = {
    "list": list,
    "array": np.array,
    "pandas": pd.Series,
    "categorical": lambda values: pd.Series(values, dtype="category"),
    "polars": pl.Series,
    "arrow": pa.array,
}


@pytest.mark.parametrize("put", CONTAINERS.values(), ids=CONTAINERS)
def test_the_container_changes_no_fold(put):
    X, y, race = people()
    folds = SensitiveStratifiedKFold(5)
    expected = who_is_tested(folds, X, y, sensitive_features=race)
    assert who_is_tested(folds, X, put(y.tolist()), sensitive_features=put(race.tolist())) == expected


@pytest.mark.parametrize(
    "put",
    [pd.DataFrame, pl.DataFrame, pa.table, dict, lambda columns: np.array(list(columns.values()), dtype=object).T],
)
def test_several_columns_are_stratified_on_their_crossing(put):
    X, y, race = people(200)
    both = {"race": race.tolist(), "female": X["female"].tolist()}
    crossed = [f"{one}-{other}" for one, other in zip(*both.values(), strict=True)]
    folds = SensitiveStratifiedKFold(3)
    assert who_is_tested(folds, X, y, sensitive_features=put(both)) == who_is_tested(
        folds, X, y, sensitive_features=crossed
    )


@pytest.mark.parametrize("put", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("names", ["race", ["race", "female"], ("female",)])
def test_columns_of_X_are_found_by_their_names(put, names):
    X, y, race = people(200)
    columns = {**{name: X[name].tolist() for name in X}, "race": race.tolist()}
    groups = {name: columns[name] for name in ([names] if isinstance(names, str) else names)}
    named = who_is_tested(SensitiveStratifiedKFold(3, sensitive_features=names), put(columns), y.tolist())
    assert named == who_is_tested(SensitiveStratifiedKFold(3), None, y, sensitive_features=groups)


def test_without_labels_the_groups_alone_are_stratified():
    group = ["a"] * 9 + ["b"] * 3
    found = who_is_tested(SensitiveStratifiedKFold(3), np.zeros(12), None, sensitive_features=group)
    assert found == [[0, 1, 2, 9], [3, 4, 5, 10], [6, 7, 8, 11]]


def test_a_seed_repeats_the_folds_and_shuffling_deals_other_people():
    X, y, race = people()
    shuffled = SensitiveStratifiedKFold(4, shuffle=True, random_state=1)
    first = who_is_tested(shuffled, X, y, sensitive_features=race)
    assert who_is_tested(shuffled, X, y, sensitive_features=race) == first
    for other in (
        SensitiveStratifiedKFold(4),
        SensitiveStratifiedKFold(4, shuffle=True, random_state=2),
        SensitiveStratifiedKFold(4, shuffle=True, random_state=np.random.RandomState(2)),
    ):
        found = who_is_tested(other, X, y, sensitive_features=race)
        assert found != first
        assert [len(test) for test in found] == [len(test) for test in first]


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


def test_many_small_cells_are_counted_and_few_are_named():
    with pytest.warns(UserWarning, match=r"^9 of 9 groups have .*; sensitive_feature_0=4 \(1 person\), and 4 more\."):
        SensitiveStratifiedKFold(3).split(None, None, sensitive_features=list(range(9)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"sensitive_features": None},
            "sensitive_features is missing.*SensitiveStratifiedKFold.sensitive_features='sex'",
        ),
        ({"y": [0.5, 1.5, 2.0, 3.0]}, r"y is continuous \(it holds 0.5\).*split\(X, None.*KFold"),
        ({"y": [0, 1, None, 1]}, "y has 1 missing value among 4"),
        ({"y": [[0, 1]] * 4}, "y must have one dimension"),
        ({"y": [0, 1, 1]}, "X and y have different lengths, 4 and 3"),
        ({"sensitive_features": ["f", "m", "f"]}, "X and sensitive_features have different lengths, 4 and 3"),
        ({"sensitive_features": ["f", "m", None, "m"]}, "1 missing value among 4"),
        ({"sensitive_features": "sex"}, "sensitive_features is the string 'sex'"),
        ({"sensitive_features": {"sex": ["f", "m"], "race": ["a"]}}, "columns of different lengths"),
        ({"sensitive_features": pd.Series(["f", "m", "f", "m"], index=[3, 2, 1, 0])}, "same labels in another order"),
        ({"groups": ["f", "m", "f", "m"]}, "groups are people who must stay together.*sensitive_features="),
    ],
)
def test_bad_input_is_refused_before_the_first_fold(arguments, message):
    given = {"X": pd.DataFrame({"a": range(4)}), "y": [0, 1, 0, 1], "sensitive_features": ["f", "m", "f", "m"]}
    with pytest.raises(ValueError, match=f"(?s){message}"):
        SensitiveStratifiedKFold(2).split(**(given | arguments))


def test_more_folds_than_people_are_refused():
    with pytest.raises(ValueError, match="n_splits=5 is more than the number of people, n_samples=4"):
        SensitiveStratifiedKFold().split(None, [0, 1, 0, 1], sensitive_features=["f", "m", "f", "m"])


def test_too_many_groups_look_like_a_continuous_feature():
    with pytest.raises(ValueError, match="201 different numbers"):
        SensitiveStratifiedKFold().split(None, None, sensitive_features=list(range(201)))


def test_groups_and_names_of_columns_together_are_refused():
    X, y, race = people()
    with pytest.raises(ValueError, match=r"sensitive_features are already named as columns of X .'female'"):
        SensitiveStratifiedKFold(sensitive_features="female").split(X, y, sensitive_features=race)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame({"age": [1, 2]}), "sensitive_features='sex': X has no column 'sex' here; its columns are 'age'"),
        (np.zeros((2, 1)), "sensitive_features='sex' names a column, but X .ndarray. has no column names here"),
    ],
)
def test_a_column_that_X_has_lost_is_named(X, message):
    with pytest.raises(ValueError, match=message):
        SensitiveStratifiedKFold(2, sensitive_features="sex").split(X, [0, 1])


def test_the_groups_themselves_are_no_parameter():
    with pytest.raises(ValueError, match=r"must be the name of a column of X, or a list of names.*found ndarray"):
        SensitiveStratifiedKFold(sensitive_features=np.array(["f", "m"]))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_splits": 1}, "n_splits=2 or more"),
        ({"n_splits": 2.5}, "Integral"),
        ({"random_state": 0}, "shuffle"),
    ],
)
def test_settings_are_checked_as_by_other_splitters(params, message):
    with pytest.raises(ValueError, match=message):
        SensitiveStratifiedKFold(**params)


def test_it_shows_clones_and_pickles_like_other_splitters():
    X, y, _ = people()
    folds = SensitiveStratifiedKFold(3, shuffle=True, random_state=4, sensitive_features=["female"])
    assert " ".join(repr(folds).split()) == (
        "SensitiveStratifiedKFold(n_splits=3, random_state=4, sensitive_features=['female'], shuffle=True)"
    )
    inside = clone(GridSearchCV(DummyClassifier(), {}, cv=folds)).cv
    for other in (pickle.loads(pickle.dumps(folds)), inside):
        assert who_is_tested(other, X, y) == who_is_tested(folds, X, y)


MODEL = LogisticRegression()


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("put", [pd.Series, np.array, pl.Series, list])
def test_groups_are_routed_through_a_nested_search_without_asking_for_them(put):
    X, y, race = people()
    search = GridSearchCV(MODEL, {"C": [0.1, 1]}, cv=SensitiveStratifiedKFold(2))
    params = {"sensitive_features": put(race.tolist())}
    splitter = SensitiveStratifiedKFold(3)
    found = cross_validate(
        search, X, y, cv=splitter, params=params, n_jobs=2, error_score="raise", return_indices=True
    )["indices"]["test"]
    assert [test.tolist() for test in found] == who_is_tested(splitter, X, y, sensitive_features=race)


def test_named_columns_need_no_routing_in_a_nested_search():
    X, y, race = people()
    X["race"] = pd.Categorical(race).codes
    splitter = SensitiveStratifiedKFold(3, sensitive_features=["race", "female"])
    search = GridSearchCV(MODEL, {"C": [0.1, 1]}, cv=SensitiveStratifiedKFold(2, sensitive_features="race"))
    found = cross_validate(search, X, y, cv=splitter, n_jobs=2, error_score="raise", return_indices=True)
    expected = who_is_tested(SensitiveStratifiedKFold(3), X, y, sensitive_features=X[["race", "female"]])
    assert [test.tolist() for test in found["indices"]["test"]] == expected


@pytest.mark.usefixtures("routing")
def test_named_columns_leave_routed_groups_to_others():
    X, y, race = people()
    search = GridSearchCV(MODEL, {"C": [1]}, cv=SensitiveStratifiedKFold(2))
    named = SensitiveStratifiedKFold(3, sensitive_features="female")
    found = cross_validate(
        search, X, y, cv=named, params={"sensitive_features": race}, error_score="raise", return_indices=True
    )
    assert [test.tolist() for test in found["indices"]["test"]] == who_is_tested(named, X, y)


@pytest.mark.usefixtures("routing")
def test_groups_may_be_routed_under_another_name():
    X, y, race = people()
    splitter = SensitiveStratifiedKFold(3).set_split_request(sensitive_features="origin")
    found = cross_validate(MODEL, X, y, cv=splitter, params={"origin": race}, return_indices=True)["indices"]["test"]
    assert [test.tolist() for test in found] == who_is_tested(
        SensitiveStratifiedKFold(3), X, y, sensitive_features=race
    )


@pytest.mark.parametrize("wrap", [CalibratedClassifierCV, TunedThresholdClassifierCV], ids=lambda wrap: wrap.__name__)
def test_other_users_of_folds_take_it_either_way(wrap):
    X, y, race = people()
    wrap = partial(wrap, **({"thresholds": 20} if wrap is TunedThresholdClassifierCV else {}))
    named = wrap(MODEL, cv=SensitiveStratifiedKFold(3, sensitive_features="female")).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = wrap(MODEL, cv=SensitiveStratifiedKFold(3)).fit(X, y, sensitive_features=X["female"])
        of_another = wrap(MODEL, cv=SensitiveStratifiedKFold(3)).fit(X, y, sensitive_features=race)
    assert routed.predict_proba(X) == pytest.approx(named.predict_proba(X))
    assert of_another.classes_.tolist() == [0, 1]


def test_a_learning_curve_counts_the_folds():
    X, y, _ = people()
    sizes, _, scores = learning_curve(MODEL, X, y, cv=SensitiveStratifiedKFold(3, sensitive_features="female"))
    assert scores.shape == (len(sizes), 3)


@pytest.mark.parametrize(
    "use",
    [
        lambda X, y, race: cross_validate(MODEL, X, y, cv=SensitiveStratifiedKFold()),
        lambda X, y, race: cross_validate(
            MODEL, X, y, cv=SensitiveStratifiedKFold(), params={"sensitive_features": race}
        ),
        lambda X, y, race: GridSearchCV(MODEL, {"C": [1]}, cv=SensitiveStratifiedKFold()).fit(X, y),
        lambda X, y, race: GridSearchCV(MODEL, {"C": [1]}, cv=SensitiveStratifiedKFold()).fit(
            X, y, sensitive_features=race
        ),
    ],
    ids=["cross_validate", "cross_validate with params", "search", "search with groups"],
)
def test_with_routing_off_the_message_says_what_to_type(use):
    with pytest.raises(ValueError, match=r"enable_metadata_routing=True.*params={'sensitive_features'"):
        use(*people())


@pytest.mark.usefixtures("routing")
def test_groups_that_nobody_handed_over_are_missed():
    X, y, _ = people()
    with pytest.raises(ValueError, match="sensitive_features is missing"):
        cross_validate(MODEL, X, y, cv=SensitiveStratifiedKFold())


@pytest.mark.usefixtures("routing")
def test_groups_of_the_wrong_length_are_noticed_in_a_search():
    X, y, race = people()
    with pytest.raises(ValueError, match="X and sensitive_features have different lengths, 120 and 50"):
        cross_validate(MODEL, X, y, cv=SensitiveStratifiedKFold(), params={"sensitive_features": race[:50]})


@pytest.mark.usefixtures("routing")
def test_a_mapping_is_not_cut_to_the_fold_by_scikit_learn_and_the_message_shows_it():
    X, y, race = people()
    search = GridSearchCV(MODEL, {"C": [1]}, cv=SensitiveStratifiedKFold(2))
    with pytest.raises(ValueError, match="X and sensitive_features have different lengths, 80 and 120"):
        cross_validate(
            search,
            X,
            y,
            cv=SensitiveStratifiedKFold(3),
            params={"sensitive_features": {"race": race.tolist()}},
            error_score="raise",
        )


@pytest.mark.usefixtures("routing")
def test_scikit_learns_groups_are_not_for_this_splitter():
    # scikit-learn refuses first, and says so in its own words.
    X, y, race = people()
    with pytest.raises((TypeError, UnsetMetadataPassedError), match="groups"):
        cross_validate(MODEL, X, y, cv=SensitiveStratifiedKFold(), params={"groups": race})
