"""The stored figures of tests with probabilities of groups, and that a broken bound is noticed."""

import json

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import uncertain_groups

STORED = json.loads(uncertain_groups.RESULTS.read_text(encoding="utf-8"))["cells"]


def test_stored_figures_keep_their_bounds_where_the_assumption_holds():
    assert list(uncertain_groups.broken(STORED)) == []
    assert {cell["world"] for cell in STORED} == set(uncertain_groups.WORLDS)
    assert {cell["estimate"] for cell in STORED} == set(uncertain_groups.ESTIMATES)
    assert all(cell["repetitions"] >= 400 for cell in STORED)


def test_stored_figures_show_what_happens_where_the_assumption_fails():
    wrong = [cell for cell in STORED if not cell["assumption_holds"] and cell["true_disparity"]]
    assert len(wrong) >= 6
    assert min(abs(cell["bias"]) for cell in wrong) > 0.05
    assert min(cell["coverage"] for cell in wrong) < 0.1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bias": 0.2}, "bias 0.2"),
        ({"true_disparity": 0.0, "rejected": 0.5}, "size 0.5"),
        ({"coverage": 0.8}, "coverage 0.8"),
    ],
)
def test_a_broken_bound_is_named(change, said):
    cell = next(cell for cell in STORED if cell["assumption_holds"])
    (found,) = uncertain_groups.broken([cell | change])
    assert found.endswith(said)
    assert list(uncertain_groups.broken([cell | change | {"assumption_holds": False}])) == []


def test_a_cell_is_simulated_again_as_it_is_stored():
    cell = next(one for one in STORED if one["people"] == 500 and one["estimate"] == "weighted")
    few = uncertain_groups.simulated(cell["world"], 500, "weighted", 3)
    assert few["true_disparity"] == cell["true_disparity"]
    assert abs(few["bias"]) < 0.2
