"""Breaking points beside every change tested anew: the stored tables, and a few more."""

import json

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks.breaking_points import RESULTS, SEED, differences_of, drawn, remembered, table_of, verdict_of
from skfairtest import FairnessTest
from skfairtest.metrics.rates import RATES


def test_five_thousand_tables_of_all_kinds_were_tried_and_none_differed():
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert (found["tables"], found["differing"], found["seed"]) == (5000, [], SEED)
    asked = found["asked"]
    assert asked["two groups"] + asked["several groups"] == 5000
    assert min(asked[name] for name in RATES) > 200
    assert min(asked[name] for name in ("ratio", "odds ratio", "margin, equivalence", "one-sided", "asymptotic")) > 200
    assert asked["several groups with Holm's or Shaffer's adjustment"] > 1000


@pytest.mark.parametrize("numbers", [range(6), pytest.param(range(6, 200), marks=pytest.mark.slow)])
def test_breaking_points_are_those_of_every_change_tested_anew(numbers):
    with remembered():
        found = [differences_of(*drawn(np.random.default_rng([SEED + 1, number]))) for number in numbers]
    assert sum(wrong is not None for wrong in found) > len(found) / 2
    assert not any(found)


@pytest.mark.filterwarnings("ignore")
def test_verdicts_without_intervals_are_those_of_the_test_itself():
    for number in range(12):
        counts, params = drawn(np.random.default_rng([SEED + 2, number]))
        try:
            test = FairnessTest.from_table(table_of(counts), **params)
        except ValueError:  # nothing is defined
            continue
        with remembered():
            assert verdict_of(counts, params) == test.concern_
