"""Whether a disparity is the same in every stratum, as reports say it."""

import numpy as np
import pytest

from skfairtest import FairnessTest
from skfairtest.datasets import load_berkeley

BERKELEY = load_berkeley()
PEOPLE = {"sensitive_features": BERKELEY.sensitive_features, "control_features": BERKELEY.control_features}


def test_the_stratum_that_drives_it_is_named_and_an_average_hides_opposite_signs():
    """Freedman, Pisani and Purves, table 2: women are admitted more often in A, B, D and F."""
    test = FairnessTest.from_predictions(None, BERKELEY.y_pred, metric="selection_rate", **PEOPLE)
    (row,) = test.homogeneity_.to_dict("records")
    for text in (str(test), test._repr_html_()):
        assert "Is the disparity the same in every department?" in text
        assert "The disparity differs over department by more than chance explains" in text
        assert (
            f"A is farthest from the disparity that all would share, by {row['distance']:.1f} standard errors" in text
        )
        assert "hides opposite signs" in text


def test_what_was_not_detected_is_not_called_the_same():
    rest = np.asarray(BERKELEY.control_features["department"] != "A")
    people = {name: columns[rest].reset_index(drop=True) for name, columns in PEOPLE.items()}
    test = FairnessTest.from_predictions(
        None, np.asarray(BERKELEY.y_pred)[rest], metric="selection_rate", disparity="odds_ratio", method="asymptotic",
        **people,
    )  # fmt: skip
    # Breslow-Day without department A: 2.5582, p = .634.
    assert test.homogeneity_["statistic"].iloc[0] == pytest.approx(2.5582, abs=5e-5)
    p = test.homogeneity_["p_value"].iloc[0]
    assert p == pytest.approx(0.634, abs=0.005)
    assert f"was detected in 1 disparity over department (p = {p:.3f})" in str(test)
    assert "opposite signs" not in str(test)


def test_without_strata_there_is_no_such_section():
    test = FairnessTest.from_predictions(
        None, BERKELEY.y_pred, metric="selection_rate", sensitive_features=BERKELEY.sensitive_features
    )
    assert "Is the disparity the same" not in str(test)
