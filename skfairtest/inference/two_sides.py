"""Moments of two sides: averages over strata, the statistic, studentized limits, and critical values."""

from collections.abc import Sequence

import numpy as np

from skfairtest._utils.typing import Floats, Moments
from skfairtest.inference.resampling import critical_value, reference_quantiles
from skfairtest.inference.score import studentize, without_rounding

#: So many draws have to lie beyond a critical value.
FEW_BEYOND = 5


def pooled(moments: Moments, weights: Floats) -> Moments:
    """Both sides' averages over the strata in which both are defined, with their variances; (..., S) -> (...,)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        defined = ~np.isnan(moments.first + moments.second + moments.first_variance + moments.second_variance)
        share = np.where(defined, weights, 0.0)
        share = share / share.sum(axis=-1, keepdims=True)
        first, v1, second, v2, covariance = (
            np.where(share > 0, share**power * np.where(share > 0, part, 0.0), 0.0).sum(axis=-1)
            for part, power in zip(moments, (1, 2, 1, 2, 2), strict=True)
        )
    none = ~defined.any(axis=-1)
    return Moments(np.where(none, np.nan, first), v1, np.where(none, np.nan, second), v2, covariance)


def distance(moments: Moments, disparity: str) -> tuple[Floats, Floats]:
    """The difference, or the log ratio, and its standard error."""
    first, v1, second, v2, covariance = moments
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if disparity == "ratio":
            negative = (first < 0) | (second < 0)
            found = np.where(negative, np.nan, np.log(np.abs(first)) - np.log(np.abs(second)))
            variance = v1 / first**2 + v2 / second**2 - 2 * covariance / (first * second)
        else:
            variance = v1 + v2 - 2 * covariance
            found = without_rounding(first - second, np.maximum(np.abs(first), np.abs(second)), variance)
        error = np.sqrt(np.maximum(variance, 0.0))
    # An infinite logarithm has no error: tests and intervals of ratios are those of `linear_form`.
    return found, np.where(np.isfinite(found), error, np.nan)


def statistic(moments: Moments, weights: Floats, *, studentized: bool = True) -> Floats:
    """The difference of strata's averages, over its standard error if `studentized`."""
    found, error = distance(pooled(moments, weights), "difference")
    return studentize(found, error) if studentized else found


def columns(moments: Sequence[Moments]) -> Moments:
    """Put strata beside each other: arrays (B,) become (B, S)."""
    return Moments(*(np.stack(arrays, axis=-1) for arrays in zip(*moments, strict=True)))


def only(moments: Moments, strata: Sequence[int]) -> Moments:
    """The moments of some strata."""
    return Moments(*(array[..., list(strata)] for array in moments))


def welch_freedom(variances: Floats, people: Floats) -> float:
    """Satterthwaite's degrees of freedom of a sum of variances; infinite if it is 0.

    Examples
    --------
    >>> round(welch_freedom(np.array([1.0, 1.0]), np.array([11.0, 11.0])), 6)
    20.0
    """
    total = float(variances.sum())
    if not 0 < total < np.inf:
        return np.inf
    return float(1 / ((variances / total) ** 2 / np.maximum(people - 1, 1.0)).sum())


def limits(
    estimate: float, error: float, ends: tuple[float, float], critical: tuple[float, float]
) -> tuple[float, float]:
    """Studentized limits; the bounds without a standard error."""
    low, high = critical
    if not np.isfinite(estimate) or not error > 0:
        return ends
    below = -np.inf if np.isinf(low) else estimate - low * error
    above = np.inf if np.isinf(high) else estimate + high * error
    return max(ends[0], float(below)), min(ends[1], float(above))


def critical_values(
    drawn: Floats | None,
    alternative: str,
    error: float,
    *,
    studentized: bool = True,
    freedom: float = np.inf,
    skewness: float = 0.0,
) -> tuple[float, float]:
    """The critical values below and above an estimate, at least the quantiles of t and of Hall's transformation."""
    each = error if alternative in ("greater", "less") else error / 2
    ends = reference_quantiles(each, freedom, skewness) if studentized else (np.inf, np.inf)
    drawn_z = None if drawn is None else critical_value(drawn, alternative, error, FEW_BEYOND)
    if drawn_z is not None:
        ends = (max(ends[0], drawn_z), max(ends[1], drawn_z)) if studentized else (drawn_z, drawn_z)
    return (np.inf if alternative == "less" else ends[0]), (np.inf if alternative == "greater" else ends[1])
