"""The stored simulation of few labels and a judge keeps what is promised, and what breaks it is named."""

import json

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import labelled

STORED = json.loads(labelled.RESULTS.read_text(encoding="utf-8"))["cells"]


def test_sizes_coverages_widths_and_powers_are_what_is_promised():
    assert list(labelled.broken(STORED)) == []
    random = [cell for cell in STORED if cell["labels_drawn"] == "at random"]
    assert {cell["judge"] for cell in random} == set(labelled.JUDGES)
    assert {(cell["labels"], cell["rate"]) for cell in random if cell["judge"] == "good"} >= {(40, 0.1), (100, 0.1)}
    assert min(cell["data_sets"] for cell in STORED if cell["labels"] == 20 and cell in random) >= 2000


def test_prediction_powered_inference_misses_more_where_labels_are_few():
    few = [cell for cell in STORED if cell["labels"] == 20 and cell["judge"] == "good"]
    assert min(cell["coverage_ppi"] for cell in few) < 0.85
    assert min(cell["coverage"] for cell in few) > 0.93


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"size": 0.2}, "size 0.2"),
        ({"coverage": 0.8}, "coverage 0.8"),
        ({"coverage_of_difference": 0.8}, "coverage_of_difference 0.8"),
        ({"width": 0.4}, "of labels alone"),
    ],
)
def test_a_broken_promise_is_named(change, says):
    cell = next(
        one for one in STORED if one["judge"] == "good" and (one["labels"], one["rate"]) == (40, 0.1)
        and one["labels_drawn"] == "at random"
    )  # fmt: skip
    (found,) = labelled.broken([cell | change])
    assert says in found


def test_a_cell_is_simulated_again():
    found = labelled.simulated("good", "by plan", 0.3, 20, 5)
    assert set(found) == set(STORED[0])
    assert found["width"] > 0
