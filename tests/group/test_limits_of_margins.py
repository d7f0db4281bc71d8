"""Margins of disparities to everyone, where the group is part of everyone; settings that must not be ignored."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import FairnessTest, Rate

RATE = {"metric": "selection_rate"}


@pytest.mark.parametrize(
    "sizes", [(60, 40), *(pytest.param(n, marks=pytest.mark.slow) for n in [(700, 300), (500, 500), (950, 50)])]
)
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_a_wider_margin_is_never_harder_to_certify(selected, sizes, disparity):
    table = selected({name: (int(0.4 * n), n) for name, n in zip("ab", sizes, strict=True)})
    margins = [0.02, 0.05, 0.1, 0.3, 0.6, 0.9] if disparity == "difference" else [0.95, 0.9, 0.72, 0.7, 0.5, 0.3, 0.05]
    p_values = [
        FairnessTest.from_table(
            table, compare="to_overall", disparity=disparity, margin=margin, alternative="equivalence", **RATE
        ).p_value_
        for margin in margins
    ]
    assert (np.diff(p_values) <= 1e-7).all()
    assert p_values[-1] < 0.01


def test_at_the_very_end_only_data_from_there_are_consistent_with_it(selected):
    # Two groups of 50: the ratio to everyone cannot exceed 2, reached when nobody of the other group is selected.
    params = {"compare": "to_overall", "disparity": "ratio", "margin": 0.5, "alternative": "equivalence", **RATE}
    assert FairnessTest.from_table(selected({"a": (20, 50), "b": (0, 50)}), **params).p_value_ == 1
    assert FairnessTest.from_table(selected({"a": (20, 50), "b": (20, 50)}), **params).p_value_ < 0.01


def test_the_statistic_is_a_number_where_the_edge_is_out_of_reach(selected):
    table = selected({"a": (380, 950), "b": (20, 50)})
    for alternative in ("two-sided", "equivalence"):
        rows = FairnessTest.from_table(
            table, compare="to_overall", margin=0.1, alternative=alternative, **RATE
        ).comparisons_
        assert np.isfinite(rows[["statistic", "standard_error"]]).all(axis=None)


def test_processes_change_nothing(compas):
    frames = [
        FairnessTest.from_predictions(
            compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features["race"], n_jobs=n_jobs
        ).comparisons_
        for n_jobs in (None, 2)
    ]
    pd.testing.assert_frame_equal(*frames, check_exact=True)


@pytest.mark.parametrize("n_jobs", ["x", 0, 1.5, True])
def test_n_jobs_is_an_integer(selected, n_jobs):
    with pytest.raises(ValueError, match="n_jobs"):
        FairnessTest.from_table(selected({"a": (2, 5), "b": (3, 5)}), n_jobs=n_jobs, **RATE)


def test_numpy_numbers_are_numbers(selected):
    test = FairnessTest.from_table(
        selected({"a": (2, 5), "b": (3, 5)}), confidence_level=np.float32(0.9), margin=np.float64(0.1), **RATE
    )
    assert not test.rejected_


def test_more_comparisons_than_anybody_can_read_are_refused_with_a_way_out():
    rng = np.random.default_rng(0)
    features = {name: rng.integers(0, 15, 20_000) for name in "xyz"}
    y_pred = rng.integers(0, 2, 20_000)
    with pytest.raises(ValueError, match=r"x x y x z.*comparisons.*to_rest"):
        FairnessTest.from_predictions(None, y_pred, sensitive_features=features, **RATE)


def test_a_warning_points_at_the_line_that_asked(selected):
    with pytest.warns(UserWarning, match="left out") as caught:
        FairnessTest.from_table(selected({"a": (2, 5), "b": (3, 5), "c": (1, 1)}), **RATE)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("value", "slope"),
    [
        (lambda r: r**2, None),
        (None, lambda r: 2 * r),
        (lambda r: 1 - r, lambda r: -np.ones_like(r)),
        (lambda r: r / (1.0001 - r), lambda r: r),
        (lambda r: 0.5, lambda r: r),
    ],
)
def test_a_function_of_a_rate_must_be_one_that_the_test_holds_for(value, slope):
    with pytest.raises(ValueError, match=r"^value .*of rate 'odds'"):
        Rate("odds", "y_pred", value=value, slope=slope)


def test_a_function_of_a_rate_is_not_called_a_share(compas):
    own = Rate("squared", "y_pred", "y_true", "are found", "the positive", lambda r: r**2, lambda r: 2 * r)
    for metric in (own, {"my_f1": "f1"}):
        test = FairnessTest.from_predictions(
            compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features["sex"], metric=metric
        )
        name = test.comparisons_["metric"].iloc[0]
        assert f"{name} was " in str(test).lower()
        assert "% of" not in str(test).splitlines()[1]


def test_one_table_of_predictions_is_refused_by_the_name_that_was_used():
    with pytest.raises(ValueError, match="y_pred is a table"):
        FairnessTest.from_predictions([0, 1], pd.DataFrame({"p": [0, 1], "q": [1, 0]}), sensitive_features=["a", "b"])
