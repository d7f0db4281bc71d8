"""The benchmark of calibration: its p-values are those of tests, and its figures are within the bounds."""

import json

import numpy as np
import pytest

from skfairtest import FairnessTest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import calibration


@pytest.mark.parametrize(
    ("question", "metric"), [("between", "kuiper_calibration"), ("within", "calibration_within_groups")]
)
def test_p_values_are_those_of_a_fairness_test(question, metric):
    score, outcome, group = calibration.draw(600, "half the slope", np.random.default_rng(1))
    p = calibration.QUESTIONS[question](score, outcome, group, np.random.default_rng(0))["kuiper"]
    test = FairnessTest.from_predictions(
        outcome.astype(int), score, sensitive_features=group, metric=metric, n_resamples=999, random_state=0
    )
    found = test.comparisons_.set_index("group")["p_value"]
    mine = found.loc[1] if question == "within" else found.iloc[0]
    assert mine == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / calibration.RESAMPLES) + 0.01)


def test_curves_other_than_the_diagonal_have_the_right_mean_or_a_bad_decile():
    share = calibration.SECOND.ppf((np.arange(100_000) + 0.5) / 100_000)
    for curve in ("calibrated", "half the slope", "wrong shape"):
        assert calibration.CURVES[curve](share).mean() == pytest.approx(share.mean(), abs=2e-3)
    moved = calibration.CURVES["one bad decile"](share) != share
    assert moved.mean() == pytest.approx(0.1, abs=1e-3)


def test_committed_figures_are_of_these_designs_and_within_the_bounds():
    rows = json.loads(calibration.RESULTS.read_text())["rows"]
    assert [(row["people"], row["curve"], row["question"]) for row in rows] == list(calibration.designs())
    assert all(row["data_sets"] == calibration.PEOPLE[row["people"]] for row in rows)
    assert list(calibration.broken(rows)) == []
