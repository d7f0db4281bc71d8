"""A test of means does not depend on the zero of its scale."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import (
    AdjustedFairnessTest,
    CorrelationFairnessTest,
    CountTable,
    FairnessTest,
    PairedFairnessTest,
    SubgroupScan,
)

N = 240
GROUP = np.repeat(["a", "b"], [90, 150])
THREE, STRATUM = np.array(["a", "b", "c"])[np.arange(N) % 3], np.tile(["p", "q"], N // 2)
RNG = np.random.default_rng(7)
VALUE, OTHER, COVARIATE = RNG.normal(size=(3, N)) * 0.3
VALUE = VALUE + (GROUP == "a") / 8
COVARIATE = COVARIATE + VALUE
CLUSTERS, WEIGHTS = np.arange(N) // 3, 1.0 + np.arange(N) % 3 + 0.37 * (np.arange(N) % 5)
DRAWN = {"random_state": 0, "n_resamples": 99}


def means(**params):
    fixed = {"sensitive_features": GROUP, "metric": "mean_prediction"} | DRAWN
    return lambda value, other, covariate: FairnessTest.from_predictions(None, value, **(fixed | params))


def of_errors(metric):
    return lambda value, other, covariate: FairnessTest.from_predictions(
        other, value, sensitive_features=GROUP, metric=metric, **DRAWN
    )


def of_models(**params):
    return lambda value, other, covariate: PairedFairnessTest.from_predictions(
        None, other, value, sensitive_features=GROUP, metric="mean_prediction", **DRAWN, **params
    )


def correlation(**params):
    return lambda value, other, covariate: CorrelationFairnessTest.from_predictions(
        None, value, of="prediction", sensitive_features=covariate, **DRAWN, **params
    )


def adjusted(of, columns):
    return lambda value, other, covariate: AdjustedFairnessTest.from_predictions(
        other, value, of=of, sensitive_features=GROUP, random_state=0,
        covariates=np.stack([covariate, other][:columns], axis=1),
    )  # fmt: skip


def whole(numbers):
    """Whole numbers, at most a few hundred apart, are labels of a table."""
    return np.round(8 * (numbers - numbers.min())) + np.round(numbers.min())


CASES = {
    "means": means(),
    "by t": means(method="asymptotic"),
    "bootstrap": means(method="bootstrap"),
    "bootstrap variance": means(variance="bootstrap"),
    "strata": means(control_features=STRATUM),
    "weights": means(sample_weight=WEIGHTS),
    "weights in strata": means(sample_weight=WEIGHTS, control_features=STRATUM, method="asymptotic"),
    "clusters": means(clusters=CLUSTERS),
    "whole clusters": means(clusters=np.r_[CLUSTERS[:90], 100 + CLUSTERS[90:]], sample_weight=WEIGHTS),
    "margin": means(alternative="equivalence", margin=0.3),
    "overall": means(sensitive_features=THREE, compare="to_overall"),
    "residuals": of_errors("mean_residual"),
    "errors": of_errors("mean_absolute_error"),
    "two models": of_models(),
    "two models, weights": of_models(sample_weight=WEIGHTS),
    "two models, clusters": of_models(clusters=CLUSTERS),
    "correlation": correlation(),
    "correlation in strata": correlation(control_features=STRATUM),
    "ranks": correlation(correlation="spearman"),
    "adjusted": adjusted("prediction", 1),
    "adjusted for two": adjusted("prediction", 2),
    "adjusted residuals": adjusted("residual", 1),
    "scan": lambda value, other, covariate: SubgroupScan.from_predictions(
        None, value, sensitive_features=pd.DataFrame({"sex": GROUP, "race": THREE}), metric="mean_prediction", **DRAWN
    ),
    "table": lambda value, other, covariate: FairnessTest.from_table(
        CountTable.from_predictions(None, whole(value), sensitive_features=GROUP), metric="mean_prediction", **DRAWN
    ),
}


@pytest.mark.parametrize("offset", [1e6, -1e11, 1e15])
@pytest.mark.parametrize("name", CASES)
def test_a_common_offset_changes_nothing(name, offset):
    """The numbers are those that floats far from 0 hold: subtracting the offset from these is exact."""
    far = VALUE + offset, OTHER + offset, COVARIATE + offset
    test, moved = CASES[name](*(numbers - offset for numbers in far)), CASES[name](*far)
    assert moved.p_value_ == pytest.approx(test.p_value_, rel=1e-9)
    assert moved.disparity_ == pytest.approx(test.disparity_, rel=1e-9)
    assert moved.confidence_interval_ == pytest.approx(test.confidence_interval_, rel=1e-9)
    names = [name for name in ("standard_error", "statistic", "p_value", "ci_high") if name in test.comparisons_]
    assert moved.comparisons_[names].to_numpy(float) == pytest.approx(
        test.comparisons_[names].to_numpy(float), rel=1e-9, nan_ok=True
    )


def test_values_are_shown_where_they_lie():
    test = means()(VALUE + 1e9, None, None)
    assert test.comparisons_.loc[0, ["value_group", "value_other"]].tolist() == pytest.approx([1e9, 1e9])
    assert test.by_group_["value"].tolist() == pytest.approx([1e9, 1e9])
    test = adjusted("prediction", 1)(VALUE + 1e9, VALUE, COVARIATE)
    assert test.comparisons_.loc[0, ["value_group", "value_other"]].tolist() == pytest.approx([1e9, 1e9])


def test_equal_means_far_from_zero_are_no_evidence():
    test = FairnessTest.from_predictions(
        None, np.tile([0.1, 0.3], N // 2) + 1e9, sensitive_features=np.repeat(["a", "b"], N // 2),
        metric="mean_prediction", method="asymptotic",
    )  # fmt: skip
    assert test.p_value_ == pytest.approx(1.0)
