"""A kind of test that the package does not have, in one class: everything else is there already."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from skfairtest.comparisons.contrasts import disparity_bounds
from skfairtest.comparisons.core import Comparison, Estimate, Evidence, Measured, NullDistribution
from skfairtest.comparisons.detectable import minimum_detectable
from skfairtest.comparisons.family import decide
from skfairtest.comparisons.frames import COMPARISON_COLUMNS, comparisons_frame
from skfairtest.comparisons.null_histogram import null_histogram_of
from skfairtest.comparisons.settings import check_settings
from skfairtest.inference.rate_draws import Contrast

SETTINGS = check_settings(method="asymptotic", adjust="holm")


@dataclass(frozen=True)
class PairedNull(NullDistribution):
    """Two models on the same people: the mean of each person's difference is normal."""

    mean: float
    spread: float

    def limits(self, critical, bounds):
        return self.mean - critical[0] * self.spread, self.mean + critical[1] * self.spread

    def error(self, estimate):
        return self.spread


def compare(name, first, second):
    """Compare the mistakes that two models make with the same people."""
    gaps = np.asarray(first, dtype=float) - second
    mean, spread = gaps.mean(), gaps.std(ddof=1) / np.sqrt(len(gaps))
    z = mean / spread
    values = np.mean(first), np.mean(second)
    bounds = disparity_bounds((0.0, 1.0), "difference")
    estimate = Estimate(name, "old", "new", None, Contrast(0, 1), len(gaps), len(gaps), *values, mean, bounds)
    evidence = Evidence(np.log(2) + norm.logsf(abs(z)), "asymptotic", z, spread, abs(z))
    return Comparison(estimate, PairedNull(SETTINGS.question, mean, spread), evidence)


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    people = [(rng.random(400) < 0.3, rng.random(400) < share) for share in (0.1, 0.3, 0.29)]
    comparisons = [compare(f"zero_one_loss of {name}", *pair) for name, pair in zip("abc", people, strict=True)]
    measured = Measured(SETTINGS, tuple(comparisons), (), {c.estimate.metric: 0 for c in comparisons})
    return decide([measured], SETTINGS)[0]


def test_it_is_adjusted_and_decided(result):
    p = np.exp([finding.evidence.log_p for finding in result.findings])
    order = np.argsort(p)
    expected = np.empty(3)
    expected[order] = np.minimum(1, np.maximum.accumulate(p[order] * [3, 2, 1]))
    assert np.exp([finding.log_p_adjusted for finding in result.findings]) == pytest.approx(expected)
    assert result.leading is result.findings[0]
    assert result.verdict.concern
    assert result.verdict.n_hypotheses == 3


def test_it_has_intervals_that_agree_with_the_test(result):
    z = norm.isf(0.025 / 3)
    first = result.findings[0]
    assert first.interval == pytest.approx(
        (first.null.mean - z * first.null.spread, first.null.mean + z * first.null.spread)
    )
    assert [finding.interval[0] <= 0 <= finding.interval[1] for finding in result.findings[1:]] == [True, True]


def test_it_has_frames_a_picture_and_a_detectable_size(result):
    frame = comparisons_frame(result.findings)
    assert list(frame) == COMPARISON_COLUMNS
    assert frame["concern"].tolist() == [True, False, False]
    picture = null_histogram_of(result.leading)
    assert picture.kind == "normal"
    assert sum(picture.extreme) == pytest.approx(picture.p_value, rel=1e-6)
    (sizes,) = minimum_detectable([result])
    errors = np.array([finding.null.spread for finding in result.findings])
    assert sizes == pytest.approx((norm.isf(0.05 / 6) + norm.isf(0.2)) * errors, rel=1e-3)
    assert isinstance(frame, pd.DataFrame)
