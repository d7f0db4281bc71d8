"""Tables in files, added up, and prepared for being shared."""

import datetime
import json
import multiprocessing
import os
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairtest import CountTable, FairnessTest
from skfairtest.datasets import load_berkeley
from skfairtest.tables import count_table

LABELS = st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | st.text(max_size=5) | st.dates()


def counted(counts, **columns):
    names = ("sex", "hired")
    return CountTable.from_counts(counts, names=names, y_pred="hired", sensitive_features="sex", **columns)


HIRED = {("f", 0): 80, ("f", 1): 20, ("m", 0): 50, ("m", 1): 50, ("x", 1): 3}


# Files ---------------------------------------------------------------------------------------


@settings(deadline=None)
@given(groups=st.lists(LABELS, min_size=1, max_size=4), counts=st.lists(st.integers(1, 2**40), min_size=4, max_size=4))
def test_what_is_saved_is_what_is_loaded(groups, counts, tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "table.json"
    table = CountTable.from_counts(
        {"group": groups, "label": ["no", "yes", "no", "yes"][: len(groups)], "count": counts[: len(groups)]},
        y_true="label",
        sensitive_features="group",
    )
    table.save(path)
    again = CountTable.load(path)
    assert again == table
    assert [list(map(type, key)) for key in again.groups] == [list(map(type, key)) for key in table.groups]


@pytest.mark.filterwarnings("ignore:sensitive_features. values of column 'when' differ only by")
@pytest.mark.parametrize(
    "labels",
    [
        pd.DatetimeIndex([pd.Timestamp("2020-01-01"), pd.Timestamp("2021-05-05T12:00:00.000000001")]),
        pd.to_timedelta(["1 days", "2 hours"]),
        [datetime.datetime(2020, 1, 1, 3), datetime.datetime(2021, 1, 1)],
        [Decimal("1.10"), Decimal("2")],
        [1, "1"],
        [-0.0, 5e-324],
    ],
)
def test_types_of_labels_are_kept(labels, tmp_path):
    table = CountTable.from_predictions(y_pred=[0, 1], sensitive_features={"when": labels})
    table.save(tmp_path / "t.json")
    again = CountTable.load(tmp_path / "t.json")
    assert again == table
    assert [type(key[0]) for key in again.groups] == [type(key[0]) for key in table.groups]


def test_strata_weights_bins_and_what_was_left_out_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "g": rng.choice(list("ab"), 500),
            "h": rng.integers(0, 2, 500),
            "s": rng.random(500),
            "y": rng.integers(0, 2, 500),
            "w": rng.random(500),
        }
    )
    table = CountTable.from_frame(
        frame, y_true="y", y_score="s", score_bins=[0.2, 0.7], sensitive_features="g", control_features="h",
        sample_weight="w",
    )  # fmt: skip
    for made in (table, table.suppress(1), counted(HIRED).suppress(10)):
        made.save(tmp_path / "t.json")
        assert CountTable.load(tmp_path / "t.json") == made


def test_features_may_be_called_as_columns_of_the_file(tmp_path):
    names = ["sex", "sex (code)", "weight"]
    table = CountTable.from_counts(
        {("f", 1, 70, 0): 3, ("m", 0, 70, 1): 4, ("m", 1, 80, 0): 5},
        names=[*names, "hired"], y_pred="hired", sensitive_features=names,
    )  # fmt: skip
    table.save(tmp_path / "t.json")
    assert CountTable.load(tmp_path / "t.json") == table


def test_a_feature_of_a_weighted_table_is_not_called_weight():
    frame = pd.DataFrame({"weight": ["light", "heavy"] * 3, "hired": [0, 1, 1] * 2, "w": 1.5})
    with pytest.raises(ValueError, match="sensitive_features: a feature is named 'weight'"):
        CountTable.from_frame(frame, y_pred="hired", sensitive_features="weight", sample_weight="w")
    assert CountTable.from_frame(frame, y_pred="hired", sensitive_features="weight").n_samples == 6


def test_a_group_that_every_day_left_out_is_listed_once():
    day = counted(HIRED).suppress(10)
    assert day.suppressed
    assert (day + day).suppressed == day.suppressed


def test_a_file_of_a_later_version_says_so(tmp_path):
    path = tmp_path / "t.json"
    counted(HIRED).save(path)
    later = {**json.loads(path.read_text()), "version": count_table.VERSION + 1}
    path.write_text(json.dumps(later))
    with pytest.raises(ValueError, match=r"t\.json.*its format is version 2; this version of skfairtest reads 1"):
        CountTable.load(path)


def test_a_flipped_bit_gives_no_other_table(tmp_path):
    path, table = tmp_path / "t.json", counted(HIRED)
    table.save(path)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            assert CountTable.load(path) == table
        except ValueError:
            continue


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-30],
        lambda text: text.replace('"counts": [80', '"counts": [81'),
        lambda text: text.replace('"checksum"', '"checksun"'),
        lambda text: "{}",
        lambda text: "[]",
        lambda text: text.replace('"counts": [', '"counts": [-'),
        lambda text: text.replace('"counts": [', '"counts": [7, '),
        lambda text: text.replace('"codes": [[', '"codes": [[9, '),
        lambda text: text.replace('["str", "f"]', '["shoe", "f"]'),
        lambda text: text.replace('"weights": null', '"weights": [[1.0, 1.0]]'),
    ],
)
def test_a_damaged_file_is_no_table(damage, tmp_path):
    path = tmp_path / "t.json"
    counted(HIRED).save(path)
    path.write_text(damage(path.read_text()))
    with pytest.raises(ValueError, match=r"t\.json' holds no table of counts"):
        CountTable.load(path)


def test_paths_have_to_say_which_form(tmp_path):
    for call in (counted(HIRED).save, CountTable.load):
        with pytest.raises(ValueError, match=r"path must end in \.json; found .*Write other formats by to_frame"):
            call(tmp_path / "table.csv")
    with pytest.raises(FileNotFoundError):
        CountTable.load(tmp_path / "missing.json")


def test_labels_of_unknown_types_are_refused_and_leave_no_file(tmp_path):
    table = CountTable.from_predictions(y_pred=[0, 1], sensitive_features={"g": [frozenset("a"), frozenset("b")]})
    with pytest.raises(ValueError, match="is of type frozenset, which files cannot hold"):
        table.save(tmp_path / "t.json")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_all_at_once(tmp_path, monkeypatch):
    path = tmp_path / "t.json"
    before = counted(HIRED)
    before.save(path)
    monkeypatch.setattr(os, "replace", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        load_berkeley(as_table=True).save(path)
    assert CountTable.load(path) == before
    assert os.listdir(tmp_path) == ["t.json"]


@pytest.mark.slow  # starts a process; that they are pickled is tested in test_count_table.py
def test_tables_reach_other_processes():
    table = counted(HIRED)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(CountTable.suppress, (table, 10)) == table.suppress(10)


# Adding -----------------------------------------------------------------------------------


def test_tables_of_other_columns_do_not_add():
    with pytest.raises(ValueError, match="same columns; control_names"):
        counted(HIRED) + load_berkeley(as_table=True)
    assert counted(HIRED).__add__(3) is NotImplemented


def test_tables_with_and_without_weights_do_not_add():
    frame = pd.DataFrame({"sex": list("fm"), "hired": [0, 1], "w": [1.0, 2.0]})
    asked = {"y_pred": "hired", "sensitive_features": "sex"}
    weighted, plain = (CountTable.from_frame(frame, sample_weight=w, **asked) for w in ("w", None))
    with pytest.raises(ValueError, match="only one of them has weights"):
        weighted + plain
    twice = weighted + weighted
    np.testing.assert_array_equal(twice.weights, 2 * weighted.weights)
    assert list(weighted.to_frame()) == ["sex", "y_pred", "count", "weight", "squared_weight"]


# Sharing -------------------------------------------------------------------------------------


def test_small_groups_are_left_out_and_listed():
    shared = counted(HIRED).suppress(10)
    assert shared.groups == (("f",), ("m",))
    assert shared.suppressed == (("x", None, 10),)
    test = FairnessTest.from_table(shared, metric="selection_rate")
    (left_out,) = test.excluded_.to_dict("records")
    assert left_out["group"] == "x"
    assert left_out["reason"] == "fewer than 10 people: left out of the table before"
    pair = FairnessTest.from_table(counted({k: n for k, n in HIRED.items() if k[0] != "x"}), metric="selection_rate")
    assert test.p_value_ == pair.p_value_


def test_small_groups_are_merged():
    counts = {("f", 0): 80, ("f", 1): 20, ("x", 1): 10, ("y", 1): 9, ("m", 0): 40, ("m", 1): 15}
    shared = counted(counts).suppress(11, small="merge")
    assert shared.groups == (("(other)",), ("f",), ("m",))
    assert shared.counts[0].tolist() == [[0, 19], [80, 20], [40, 15]]
    assert shared.suppressed == ()
    # Too few even together: left out, under the name that they share.
    few = counted({("f", 0): 80, ("f", 1): 20, ("x", 1): 2, ("y", 0): 3, ("m", 0): 40}).suppress(13, small="merge")
    assert few.suppressed == (("(other)", None, 13),)


def test_small_groups_of_one_stratum_are_left_out_of_it():
    data = {
        "sex": ["f", "m", "f", "m"], "town": ["A", "A", "B", "B"], "hired": [1, 1, 1, 1], "count": [30, 40, 3, 50],
    }  # fmt: skip
    table = CountTable.from_counts(data, y_pred="hired", sensitive_features="sex", control_features="town")
    shared = table.suppress(10)
    assert shared.suppressed == (("f", "B", 10),)
    assert shared.n_samples == 120


def test_small_cells_of_large_groups_are_refused():
    with pytest.raises(ValueError, match=r"minimum_cell=10: 1 cells of the table have fewer people, such as \(1,\) of"):
        counted({("f", 0): 80, ("f", 1): 4, ("m", 0): 50, ("m", 1): 50}).suppress(10)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"minimum_cell": 0}, "whole number of people"),
        ({"minimum_cell": True}, "whole number of people"),
        ({"minimum_cell": 10, "small": "hide"}, "small"),
        ({"minimum_cell": 1000}, "no group has that many people"),
    ],
)
def test_what_suppress_cannot_do(asked, message):
    with pytest.raises(ValueError, match=message):
        counted(HIRED).suppress(**asked)


# Scores in bins ------------------------------------------------------------------------------


def scored(scores, edges=(0.25, 0.5), groups="ab"):
    frame = pd.DataFrame({"s": scores, "g": (list(groups) * len(scores))[: len(scores)], "y": 0})
    return CountTable.from_frame(frame, y_true="y", y_score="s", score_bins=list(edges), sensitive_features="g")


def test_tables_with_the_same_edges_add_and_bins_have_the_mean_of_all():
    first, second = scored([0.0, 0.125, 0.375, 0.75]), scored([0.125, 0.25, 0.25, 0.5, 1.0])
    both = first + second
    assert both == second + first
    everybody = scored([0.0, 0.125, 0.375, 0.75, 0.125, 0.25, 0.25, 0.5, 1.0], groups="ababababa")
    assert np.array_equal(both.counts, everybody.counts)
    np.testing.assert_allclose(both.score_bins.values, everybody.score_bins.values, rtol=1e-15)
    with pytest.raises(ValueError, match="score_bins differ between the tables to add"):
        first + scored([0.1, 0.9], edges=(0.3,))


@settings(deadline=None)  # the engine starts with the first example
@given(parts=st.lists(st.lists(st.integers(0, 64), min_size=2, max_size=20), min_size=2, max_size=4))
def test_days_add_in_any_order(parts):
    days = [scored(np.array(day) / 64) for day in parts]
    forwards, backwards = days[0].merge(*days[1:]), days[-1].merge(*days[-2::-1])
    assert np.array_equal(forwards.counts, backwards.counts)
    np.testing.assert_allclose(forwards.score_bins.values, backwards.score_bins.values, rtol=1e-12)
    everybody = scored(np.concatenate([np.array(day) / 64 for day in parts]))
    people = np.concatenate([np.array(day) for day in parts])
    for place, (low, high) in enumerate([(0, 16), (16, 32), (32, 65)]):
        inside = people[(people >= low) & (people < high)]
        if len(inside):
            assert forwards.score_bins.values[place] == pytest.approx(inside.mean() / 64)
    assert everybody.score_bins.fits(forwards.score_bins)


def test_a_table_to_be_shared_tells_nobodys_score():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"s": rng.random(400), "g": rng.choice(list("ab"), 400), "y": 0})
    for scores, bins in (("s", 4), ("s", [0.5]), ("t", 4)):
        frame["t"] = frame["s"] * 300 - 40
        table = CountTable.from_frame(frame, y_true="y", y_score=scores, score_bins=bins, sensitive_features="g")
        shared = table.suppress(10)
        for name in ("low", "high"):
            assert not np.isin(getattr(shared.score_bins, name), frame[scores]).any()
        assert (shared.score_bins.low <= table.score_bins.low).all()
        assert (shared.score_bins.high >= table.score_bins.high).all()
        asked = {"metric": "mean_prediction", "method": "asymptotic"}
        told, known = (FairnessTest.from_table(made, **asked) for made in (shared, table))
        assert told.p_value_ == known.p_value_
        assert told.binning_error_ >= known.binning_error_ > 0
