"""The stored comparisons of intervals and tests are complete, without a contradiction, and one would be seen."""

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import contradictions


def test_stored_comparisons_of_every_kind_have_no_contradiction_and_their_coverage_is_as_it_is_said():
    found = json.loads(contradictions.RESULTS.read_text(encoding="utf-8"))
    assert found["seed"] == contradictions.SEED
    assert [kind["kind"] for kind in found["kinds"]] == list(contradictions.KINDS)
    for kind in found["kinds"]:
        assert kind["contradictions"] == 0
        assert kind["comparisons"] >= contradictions.TABLES
    assert sum(kind["rejected"] for kind in found["kinds"]) > 5000
    for cell in found["coverage"]["two_groups"]:
        assert cell["after"] > cell["before"] - 0.005
        assert cell["falls_by"] < 0.015
    for cell in found["coverage"]["families"]:
        assert cell["after"] > 0.9


@pytest.mark.parametrize(
    ("p", "low", "high", "params", "wrong"),
    [
        (0.04, -0.1, 0.3, {}, 1),
        (0.04, 0.0, 0.3, {}, 0),
        (0.06, 0.01, 0.3, {}, 1),
        (0.06, 0.0, 0.3, {}, 0),
        (0.04, -0.2, 1.0, {"alternative": "greater"}, 1),
        (0.04, 0.05, 0.3, {"margin": 0.1}, 1),
        (0.04, 0.9, 1.2, {"disparity": "ratio"}, 1),
        (0.06, -0.05, 0.05, {"alternative": "equivalence", "margin": 0.1}, 1),
        (0.06, -0.05, 0.1, {"alternative": "equivalence", "margin": 0.1}, 0),
        (0.04, -0.1, 0.3, {"adjust": None}, 0),
    ],
)
def test_a_contradiction_is_counted(p, low, high, params, wrong):
    frame = pd.DataFrame({"p_value": [0.5], "p_value_adjusted": [p], "ci_low": [low], "ci_high": [high]})
    assert contradictions.judged(frame, params)[2] == wrong


def test_intervals_of_two_groups_are_counted_before_and_after_they_are_cut():
    tables = np.array([[0.04, -0.01, 0.3, 0.2]])
    np.testing.assert_array_equal(contradictions.missed(tables, np.array([True]), 0.0), [[False], [True]])
    np.testing.assert_array_equal(contradictions.missed(tables, np.array([True]), -0.005), [[False], [True]])
    np.testing.assert_array_equal(contradictions.missed(tables, np.array([False]), 0.0), [[False], [False]])
