"""The null distribution of a correlation, and the comparisons of a test: each feature, over all strata and in each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from skfairtest._utils.typing import Floats
from skfairtest.comparisons.core import Comparison, DrawnNull, Estimate, Exclusion, Measured
from skfairtest.comparisons.evidence import evidence_of_draws
from skfairtest.comparisons.measure import undefined_draws
from skfairtest.comparisons.resample import resample
from skfairtest.comparisons.settings import Settings
from skfairtest.correlation.statistics import (
    E_CONSTANT,
    KEPT,
    SMALLEST_STRATUM,
    TOO_FEW,
    X_CONSTANT,
    Pairs,
    correlation_limits,
    estimate,
    permuted,
)
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.sequential import sequential_p

#: Columns of frames, and what they are called in a test of groups.
COLUMNS = {
    "feature": "metric", "correlation": "disparity", "ci_low": "ci_low", "ci_high": "ci_high", "stratum": "stratum",
    "n": "n_group",
    **{name: name for name in ("standard_error", "statistic", "method", "p_value", "p_value_adjusted", "concern")},
}  # fmt: skip
EXCLUDED_COLUMNS = {"feature": "metric", "stratum": "stratum", "reason": "reason", "n": "n"}
REASONS = {
    TOO_FEW: f"fewer than {SMALLEST_STRATUM} people",
    X_CONSTANT: "the feature is the same for everybody",
    E_CONSTANT: "the outcome is the same for everybody",
}


@dataclass(frozen=True)
class CorrelationNull(DrawnNull):
    """The distribution of a correlation when the outcome is permuted.

    `variance` holds the coefficients of the correlation's variance as a function of the true correlation (see
    `Estimates`).
    """

    correlation: float
    variance: Floats

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Invert the test with the variance at each correlation; a function has no interval."""
        return correlation_limits(self.correlation, self.variance, *critical) if self.studentized else (np.nan, np.nan)


def measure_correlations(
    pairs: Pairs,
    features: list[str],
    strata: list[Any],
    correlation: Any,
    settings: Settings,
    seed: np.random.SeedSequence,
    what: str,
) -> list[Comparison]:
    """Test every feature: over all strata, then within each of them; `what` is used in messages."""
    question, side = settings.question, settings.question.alternative
    found = estimate(pairs, correlation)
    places = np.argwhere(~np.isnan(found.statistic)).tolist()

    def done(parts: list[Floats]) -> bool:
        drawn = np.concatenate(parts)
        return all(sequential_p(drawn[:, i, j], float(found.statistic[i, j]), side) is not None for i, j in places)

    draw = partial(permuted, pairs, correlation)
    drawn = np.concatenate(resample(draw, settings, seed, what=what, done=done))
    comparisons = []
    for place, feature in product(range(drawn.shape[2]), range(len(features))):
        kept = np.flatnonzero(pairs.left_out[feature] == KEPT)
        kept = kept[kept == place - 1] if place else kept
        if not len(kept):
            continue
        n, at = int(pairs.sizes[kept].sum()), (feature, place)
        value, error, statistic = (float(a[at]) for a in (found.correlation, found.standard_error, found.statistic))
        stratum, contrast = (
            (strata[place - 1], Contrast(0, None, stratum=place - 1)) if place else (None, Contrast(0, None))
        )
        studentized = not callable(correlation)
        null = CorrelationNull(question, value, found.variance[at], studentized=studentized, freedom=n - 1 - len(kept))
        freedom = null.freedom if studentized else None
        comparisons.append(
            Comparison(
                Estimate(features[feature], None, None, stratum, contrast, n, n, np.nan, np.nan, value, (-1.0, 1.0)),
                null,
                evidence_of_draws(drawn[:, feature, place], statistic, side, settings, "permutation", error, freedom),
            )
        )
    return comparisons


def measured_correlations(
    comparisons: list[Comparison], pairs: Pairs, features: list[str], strata: list[Any], settings: Settings
) -> Measured:
    """Combine the comparisons with the strata that were left out, and with permutations that left one undefined."""
    excluded = [
        Exclusion(
            features[i], None, None, strata[j], REASONS[int(pairs.left_out[i, j])], n := int(pairs.sizes[j]), n, 0
        )
        for i, j in np.argwhere(pairs.left_out != KEPT).tolist()
    ]
    excluded += [exclusion for comparison in comparisons for exclusion in undefined_draws(comparison)]
    return Measured(settings, tuple(comparisons), tuple(excluded), dict.fromkeys(features, 0))
