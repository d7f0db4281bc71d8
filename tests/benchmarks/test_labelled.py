"""The stored simulation of few labels and a judge keeps what is promised, and what breaks it is named."""

import json

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import labelled, labelled_exact
from skfairtest import LabelledFairnessTest, Rate

STORED = json.loads(labelled.RESULTS.read_text(encoding="utf-8"))["cells"]


def test_sizes_coverages_widths_and_powers_are_what_is_promised():
    assert list(labelled.broken(STORED)) == []
    random = [cell for cell in STORED if cell["labels_drawn"] == "at random"]
    assert {cell["judge"] for cell in random} == set(labelled.JUDGES)
    assert {(cell["labels"], cell["rate"]) for cell in random if cell["judge"] == "good"} >= {(40, 0.1), (100, 0.1)}
    assert {(cell["labels_drawn"], cell["labels"]) for cell in STORED} == {
        (how, n) for how in labelled.DRAWN for n in labelled.LABELS
    }
    assert min(cell["data_sets"] for cell in STORED) >= labelled.DATA_SETS


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


@pytest.mark.parametrize("how", labelled.DRAWN)
def test_what_is_simulated_is_what_the_test_says(how):
    """The same people, and the rates in bins, verdicts and limits that the benchmark computes of them."""
    people, rates = [], []
    for group, rate in enumerate((0.1, 0.4)):
        rng = np.random.default_rng([3, group])
        y, score = labelled.person("good", group, rate, rng)
        known, probability = labelled.drawn(how, score, 40, rng)
        people.append((np.where(known, y, np.nan), score, np.full(len(y), group), probability))
        rates.append(labelled.data_set("good", how, group, rate, 40, np.random.default_rng([3, group]))[0])
    y_true, judge, group, probability = zip(*people, strict=True)
    drawn = {"labelled": "at_random"} if how == "at random" else {"label_probability": np.concatenate(probability)}
    test = LabelledFairnessTest.from_predictions(
        np.concatenate(y_true), np.ones(2 * labelled.PEOPLE), sensitive_features=np.concatenate(group),
        y_judge=np.concatenate(judge), metric=Rate("share", event="y_true"), **drawn,
    )  # fmt: skip
    sides = labelled.LabelledRate.stacked(*([rate] for rate in rates))
    assert test.statistic_ == pytest.approx(float(labelled.disparity_statistic(sides, 0.0, "difference")[0]))
    limits = labelled.disparity_limits(sides, "difference", labelled.Z)[:, 0]
    assert test.confidence_interval_ == pytest.approx(tuple(limits))
    assert test.rejected_ == labelled.rejected(sides)[0]


def test_exact_tests_never_exceed_the_level_and_enumerated_figures_are_computed_again():
    stored = json.loads(labelled_exact.RESULTS.read_text(encoding="utf-8"))["cells"]
    for test in ("largest over rates", "of likely rates", "labels alone"):
        assert max(cell[test]["size"] for cell in stored) <= 0.05
    assert max(cell["test"]["size"] for cell in stored) <= 0.057
    assert min(cell["test"]["power"] - cell["labels alone"]["power"] for cell in stored) >= 0
    place = next(place for place, cell in enumerate(stored) if cell["labels"] == [[10], [5, 5]])
    assert labelled_exact.enumerated(stored[place]["judge"], tuple(stored[place]["rates"]), 10) == stored[place]
