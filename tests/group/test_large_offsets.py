"""A test of means does not depend on the zero of its scale."""

import numpy as np
import pytest

from skfairtest import AdjustedFairnessTest, CorrelationFairnessTest, FairnessTest, PairedFairnessTest

N = 240
GROUP = np.repeat(["a", "b"], [90, 150])
STRATUM = np.tile(["p", "q"], N // 2)
RNG = np.random.default_rng(7)
# Multiples of 1/64, which all sums with the offsets represent exactly.
VALUE, OTHER, COVARIATE = np.round(64 * RNG.normal(size=(3, N)) * 0.3) / 64
VALUE = VALUE + (GROUP == "a") / 8


def means(offset, **params):
    return FairnessTest.from_predictions(
        None,
        VALUE + offset,
        sensitive_features=GROUP,
        metric="mean_prediction",
        random_state=0,
        n_resamples=99,
        **params,
    )


CASES = {
    "means": means,
    "by t": lambda at: means(at, method="asymptotic"),
    "bootstrap": lambda at: means(at, method="bootstrap"),
    "strata": lambda at: means(at, control_features=STRATUM),
    "weights": lambda at: means(at, sample_weight=1.0 + np.arange(N) % 3),
    "clusters": lambda at: means(at, clusters=np.arange(N) // 3),
    "margin": lambda at: means(at, alternative="equivalence", margin=0.3),
    "residuals": lambda at: FairnessTest.from_predictions(
        OTHER + at, VALUE + at, sensitive_features=GROUP, metric="mean_residual", random_state=0, n_resamples=99
    ),
    "two models": lambda at: PairedFairnessTest.from_predictions(
        None, OTHER + at, VALUE + at, sensitive_features=GROUP, metric="mean_prediction", random_state=0, n_resamples=99
    ),
    "correlation": lambda at: CorrelationFairnessTest.from_predictions(
        None, VALUE + at, of="prediction", sensitive_features=COVARIATE + at, random_state=0, n_resamples=99
    ),
}


@pytest.mark.parametrize("offset", [1e6, 1e11, 1e12])
@pytest.mark.parametrize("name", CASES)
def test_a_common_offset_changes_nothing(name, offset):
    test, moved = CASES[name](0.0), CASES[name](offset)
    assert moved.p_value_ == pytest.approx(test.p_value_, rel=1e-2)
    assert moved.confidence_interval_ == pytest.approx(test.confidence_interval_, abs=1e-3)
    assert moved.comparisons_["standard_error"].to_numpy() == pytest.approx(
        test.comparisons_["standard_error"].to_numpy(), rel=1e-2
    )


def test_a_covariate_far_from_zero_is_adjusted_for():
    test, moved = (
        AdjustedFairnessTest.from_predictions(
            None,
            VALUE + 2 * COVARIATE,
            of="prediction",
            sensitive_features=GROUP,
            covariates=COVARIATE[:, None] + at,
            random_state=0,
        )
        for at in (0.0, 1e12)
    )
    assert moved.p_value_ == pytest.approx(test.p_value_, rel=0.05)
    assert moved.disparity_ == pytest.approx(test.disparity_, abs=1e-3)


def test_equal_means_far_from_zero_are_no_evidence():
    test = FairnessTest.from_predictions(
        None, np.tile([0.1, 0.3], N // 2) + 1e9, sensitive_features=np.repeat(["a", "b"], N // 2),
        metric="mean_prediction", method="asymptotic",
    )  # fmt: skip
    assert test.p_value_ == pytest.approx(1.0)
