"""The hash of the people that are tested."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from skfairtest import CountTable
from skfairtest.audit.provenance import data_hash
from skfairtest.tables import Sample

#: The hash of COMPAS by race, sex and age: another one would part all records from their data.
COMPAS = "sha256:0c0640a4cff9a57294d4ac6053dbffb507410d524c501e115ca160e068e93fe1"


def hash_of(y_true, y_pred, **given):
    return data_hash(Sample.from_predictions(y_true, y_pred, **given))


@pytest.fixture
def people():
    random = np.random.default_rng(0)
    n = 400
    return pd.DataFrame(
        {
            "y_true": random.integers(0, 2, n),
            "y_pred": random.integers(0, 2, n),
            "y_score": random.random(n),
            "sex": random.choice(["f", "m"], n),
            "age": random.choice([20, 40, 60], n),
            "site": random.choice(["a", "b"], n),
            "weight": random.random(n) + 0.5,
            "cluster": random.integers(0, 50, n),
        }
    )


def hash_all(people):
    return hash_of(
        people["y_true"],
        people["y_pred"],
        y_score=people["y_score"],
        sensitive_features=people[["sex", "age"]],
        control_features=people[["site"]],
        sample_weight=people["weight"],
        clusters=people["cluster"],
    )


def test_it_is_the_published_one(compas, compas_table):
    rows = hash_of(compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features)
    counted = data_hash(Sample.from_table(compas_table.marginal(["y_true", "y_pred"])))
    assert rows == counted == COMPAS


def test_the_order_of_rows_and_of_features_makes_no_difference(people):
    shuffled = people.sample(frac=1, random_state=1)
    assert hash_all(shuffled) == hash_all(people)
    turned = people[["cluster", "age", "sex", "site", "weight", "y_pred", "y_true", "y_score"]]
    assert hash_all(turned) == hash_all(people)
    one, other = (
        hash_of(None, people["y_pred"], sensitive_features=people[names]) for names in (["sex", "age"], ["age", "sex"])
    )
    assert one == other


def test_the_container_makes_no_difference(people):
    frames = [people, pl.from_pandas(people), people.astype({"sex": "category", "age": float})]
    frames.append({name: people[name].tolist() for name in people})
    found = {
        hash_of(
            frame["y_true"],
            frame["y_pred"],
            y_score=frame["y_score"],
            sensitive_features={"sex": frame["sex"], "age": frame["age"]},
        )
        for frame in frames
    }
    assert len(found) == 1


def test_rows_and_the_table_that_counts_them_have_one_hash(people):
    given = {"sensitive_features": people[["sex", "age"]], "control_features": people[["site"]]}
    table = CountTable.from_predictions(people["y_true"], people["y_pred"], **given)
    assert data_hash(Sample.from_table(table)) == hash_of(people["y_true"], people["y_pred"], **given)


@pytest.mark.parametrize("column", ["y_true", "y_pred", "y_score", "sex", "age", "site", "weight", "cluster"])
def test_any_changed_value_changes_it(people, column):
    changed = people.copy()
    value = changed.loc[7, column]
    other = value + 1 if column in ("weight", "cluster") else changed[column][changed[column] != value].iloc[0]
    changed.loc[7, column] = other
    assert hash_all(changed) != hash_all(people)


def test_the_names_of_features_and_their_parts_are_hashed(people):
    hashes = {
        hash_of(None, people["y_pred"], sensitive_features={"sex": people["sex"]}),
        hash_of(None, people["y_pred"], sensitive_features={"gender": people["sex"]}),
        hash_of(people["y_pred"], people["y_pred"], sensitive_features={"sex": people["sex"]}),
        hash_of(
            None, people["y_pred"], sensitive_features={"sex": people["sex"]}, control_features={"s": people["sex"]}
        ),
    }
    assert len(hashes) == 4


def test_equal_numbers_are_one_value_and_text_is_another():
    same = {
        hash_of(None, values, sensitive_features=["f", "m", "m"])
        for values in ([1, 0, 1], [1.0, -0.0, 1.0], [True, False, True], np.array([1, 0, 1], dtype=np.uint8))
    }
    assert len(same) == 1
    assert hash_of(None, ["1", "0", "1"], sensitive_features=["f", "m", "m"]) not in same


def test_whole_numbers_that_no_float_equals_stay_apart():
    one, other = (hash_of(None, [1, 0], sensitive_features=[2**60, 2**60 + more]) for more in (1, 2))
    assert one != other


def test_it_is_of_a_fixed_length_and_holds_no_name():
    found = hash_of(None, [1, 0], sensitive_features={"secret": ["Anna", "Bert"]})
    assert re.fullmatch("sha256:[0-9a-f]{64}", found)


ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=8)


@settings(suppress_health_check=[HealthCheck.too_slow])  # of a busy machine
@given(ROWS, ROWS)
def test_two_data_sets_have_one_hash_only_if_they_are_the_same_rows(one, other):
    assume(sorted(one) != sorted(other))
    hashes = {
        hash_of([t for _, _, t in rows], [p for _, p, _ in rows], sensitive_features=[g for g, _, _ in rows])
        for rows in (one, sorted(one), one[::-1], other)
    }
    assert len(hashes) == 2
