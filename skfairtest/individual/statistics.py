"""The audit value of individual fairness: by how much people's losses grow at their unfair examples, and its test.

Null hypothesis: the audit value is at most the tolerance. With ``before`` and ``after`` the losses of n people at x and
at their unfair examples (Maity et al. 2021, ICLR):

``loss_ratio`` S = mean of r = after / before, with 0 / 0 = 1; V the standard deviation of r (equations 3.5 to 3.10).
``ratio_of_means`` S = A / B, the means of after and before (equations 3.11, 3.12, appendix C). By the delta method V =
sqrt(A^2 V_22 + B^2 V_11 - 2 A B V_12) / B^2, the standard deviation of (after - S before) / B.

T = S - z_{1 - alpha} V / sqrt(n), p = 1 - Phi(sqrt(n) (S - tolerance) / V), with ddof = 0 as in the published code. If
V = 0, Markov's inequality bounds the probability that m people all have a ratio of S or more: p = min(1, (tolerance /
S)^m), T = S alpha^(1/m).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import norm
from scipy.stats import t as student

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import pluralize
from skfairtest._utils.typing import Floats
from skfairtest.report.record import Recorded

#: A standard deviation below this share of the estimate is the rounding error of 0: losses that are differences of much
#: larger numbers, as of a person whom a linear model predicts almost exactly, have few digits left.
_ZERO = 1e-9
#: Statistics of the difference that every person makes, not of their ratio.
OF_MEANS = ("ratio_of_means", "error_rate_ratio")


@dataclass(frozen=True)
class AuditValue:
    """An audit value, its uncertainty, and the test of the null hypothesis that it is at most the tolerance."""

    estimate: float
    standard_error: float
    lower_bound: float
    interval: tuple[float, float]
    p_value: float


def ratios(before: ArrayLike, after: ArrayLike) -> Floats:
    """Divide after by before for each person: 1 where both are 0, infinite where only `before` is.

    Examples
    --------
    >>> print(ratios([1.0, 0.0, 0.0], [3.0, 0.0, 2.0]))
    [ 3.  1. inf]
    """
    before, after = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(before == after, 1.0, after / before)


def lower_bound(mean: float, sd: float, n: int, z: float) -> float:
    """Return mean - z sd / sqrt(n), the statistic T_n of equation 3.10.

    Examples
    --------
    >>> lower_bound(2.0, 0.5, 100, 1.645)
    1.91775
    """
    return float(mean - z * sd / np.sqrt(n))


def audit_value(
    statistic: str, before: ArrayLike, after: ArrayLike, *, tolerance: float, confidence_level: float
) -> AuditValue:
    """Estimate an audit value, and test the null hypothesis that it is at most the tolerance.

    Examples
    --------
    >>> found = audit_value(
    ...     "loss_ratio", [1, 1, 2, 2], [2, 1, 6, 4], tolerance=1.25, confidence_level=0.95
    ... )
    >>> print(found.estimate, round(found.lower_bound, 4), round(found.p_value, 4))
    2.0 1.4185 0.0169
    """
    before, after = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    n, alpha = len(before), 1 - confidence_level
    unusable = ~(np.isfinite(before) & np.isfinite(after) & (before >= 0) & (after >= 0))
    if unusable.any():
        raise ParameterError(
            f"statistic={statistic!r} is not defined: {int(unusable.sum()):,} of {n:,} people have a loss that is not "
            "a finite number of at least 0. Use smaller or fewer steps, or feature_ranges that end"
        )
    if statistic in OF_MEANS:
        base, exposed = _moments(before)[0], int((before > 0).sum())
        if base == 0:
            raise ParameterError(
                f"statistic={statistic!r} is not defined: the model makes no errors on the people tested. Use "
                "'loss_ratio', or test more people"
            )
        estimate = _moments(after)[0] / base
        sd = _moments(after / base - estimate * (before / base))[1]
    else:
        values, exposed = ratios(before, after), n
        if infinite := int(np.isinf(values).sum()):
            raise ParameterError(
                f"statistic={statistic!r} is not defined: {infinite:,} of {n:,} people have a loss at their unfair "
                "examples and none before, or hardly any. No one is dropped; use statistic='ratio_of_means', or a loss "
                "that is never 0"
            )
        estimate, sd = _moments(values)
    if sd <= _ZERO * abs(estimate):
        with np.errstate(divide="ignore"):
            p = min(1.0, float(np.float64(tolerance / estimate) ** exposed)) if estimate else 1.0
        low, bound = (estimate * level ** (1 / exposed) for level in (alpha / 2, alpha))
        return AuditValue(estimate, 0.0, bound, (low, estimate), p)
    error = float(sd / np.sqrt(n))
    reach, bound = float(-ndtri(alpha / 2)) * error, max(lower_bound(estimate, sd, n, float(-ndtri(alpha))), 0.0)
    interval = (max(estimate - reach, 0.0), estimate + reach)  # no ratio is negative
    return AuditValue(estimate, error, bound, interval, float(ndtr((tolerance - estimate) / error)))


def _moments(values: Floats) -> tuple[float, float]:
    """Return mean and standard deviation, ddof = 0; a power of two keeps squares of large ratios from overflowing."""
    scale = float(2.0 ** np.frexp(np.abs(values).max() / 2)[1])
    scaled = values / scale
    return scale * float(scaled.mean()), scale * float(scaled.std())


def widened(found: AuditValue, variance: float, degrees: int, confidence_level: float) -> AuditValue:
    """An audit value whose interval has a second part, such as the uncertainty of a metric that was learned.

    Zou and Donner (2008), Statistics in Medicine 27.

    Examples
    --------
    >>> value = AuditValue(2.0, 0.1, 1.84, (1.8, 2.2), 1e-14)
    >>> print([round(limit, 3) for limit in widened(value, 0.01, 9, 0.95).interval])
    [1.568, 2.538]
    """
    if not variance > 0 or not found.estimate > 0:
        return found
    total = (found.standard_error / found.estimate) ** 2 + variance
    tail = (1 - confidence_level) / 2
    quantile = student(degrees * (total / variance) ** 2).isf(tail)
    with np.errstate(divide="ignore"):  # a lower limit of 0
        logs = np.log(np.divide(found.interval, found.estimate))
    low, high = np.exp([-1, 1] * np.hypot(quantile / -ndtri(tail) * logs, quantile * np.sqrt(variance)))
    return replace(found, interval=(float(found.estimate * low), float(found.estimate * high)))


#: A test whose size is this multiple of its level is doubtful, unless its p-value is far from the level.
TOO_OFTEN, FAR = 1.3, 5
#: Fewer people than this, and the normal approximation is doubtful.
FEW = 30
#: The farthest a point may leave the range of a feature, in lengths of that range.
FARTHEST = 10
#: Of a test that nothing was tested with.
NOTHING = AuditValue(np.nan, np.nan, np.nan, (np.nan, np.nan), np.nan)
#: A loss below this share of the mean loss is next to nothing.
TINY = 1e-6


@dataclass(frozen=True)
class SequentialStatistic(Recorded):
    """A statistic of losses, or of errors, at any time of the flow."""

    statistic: str
    values: Floats
    checkpoints: NDArray[np.intp]
    times: Floats
    tolerance: float
    confidence_level: float
    variance: float = 0.0
    degrees: int = 0

    def path(self) -> pd.DataFrame:
        """Return the statistic at every checkpoint; NaN where it is not defined."""
        rows = []
        for place, (step, time) in enumerate(zip(self.checkpoints, self.times, strict=True), 1):
            try:
                there = self.at(place)
                row = (there.estimate, there.standard_error, there.lower_bound)
            except ParameterError:
                row = (np.nan, np.nan, np.nan)
            rows.append((int(step), float(time), *row))
        return pd.DataFrame(rows, columns=["n_steps", "time", "statistic", "standard_error", "lower_bound"])

    def at(self, place: int) -> AuditValue:
        """Test the statistic at a checkpoint, counted from 1; -1 is the end."""
        before, after = self.values[:, 0], self.values[:, place]
        level = self.confidence_level
        found = audit_value(self.statistic, before, after, tolerance=self.tolerance, confidence_level=level)
        return widened(found, self.variance, self.degrees, level)


def choose(statistic: str, loss: Any, way: str, before: Floats) -> tuple[str, str]:
    """Return the statistic that is tested, and the reason for choosing it."""
    infinite, unknown = "", ""
    if loss.power == 1 or (loss.power == 2 and way == "search"):
        infinite = "errors near 0 grow by as much as others, so that their ratios have no finite mean"
    elif loss.kind is None or way == "callable":
        unknown = "it is not known how small losses grow"
    elif tiny := int((before < TINY * before.mean()).sum()):
        unknown = (
            f"{tiny:,} of {pluralize(len(before), 'person', 'people')} have less than a millionth of the mean loss, "
            "and a mean of ratios would depend on them"
        )
    if statistic == "loss_ratio" and infinite:
        raise ParameterError(f"statistic='loss_ratio' is not defined: {infinite}. Use 'ratio_of_means'")
    if statistic != "auto":
        return statistic, "as asked for"
    if infinite or unknown:
        return "ratio_of_means", infinite or unknown
    return "loss_ratio", "the paper's choice; no loss is close to zero, and losses grow along the paths"


def attained_level(values: Floats, alpha: float) -> float:
    """Estimate how often a test of a mean rejects at its null, by the first term of the Edgeworth expansion.

    Examples
    --------
    >>> round(attained_level(np.array([1.0] + [2.0] * 9), 0.05), 3)
    0.143
    """
    mean, sd, z = values.mean(), values.std(), float(ndtri(alpha))
    skewness = (((values - mean) / sd) ** 3).mean() if sd > _ZERO * max(abs(mean), 1.0) else 0.0
    return float(alpha - norm.pdf(z) * (2 * z * z + 1) * skewness / (6 * np.sqrt(len(values))))


def doubts_about(statistic: str, losses: Floats, p_value: float, alpha: float, farthest: float) -> tuple[str, ...]:
    """Return sentences that say why a result is doubtful."""
    before, after, n = losses[:, 0], losses[:, -1], len(losses)
    grown = ratios(before, after)
    level = attained_level(
        after * before.mean() - after.mean() * before if statistic == "ratio_of_means" else grown, alpha
    )
    largest, tiny = np.sort(grown)[-max(1, n // 100) :].sum(), grown[before < TINY * before.mean()].sum()
    doubts = [
        (
            np.array_equal(before, after),
            "no person's loss changed: the model predicts the same wherever people are moved. Perhaps it does not use "
            "the directions that the fair metric leaves free, or the steps are too short",
        ),
        (
            statistic == "loss_ratio" and n >= FEW and max(largest, tiny) > 0.5 * grown.sum(),
            "the mean of loss ratios depends on few people, or on losses close to zero: they have more than half of "
            "the sum of all ratios. statistic='ratio_of_means' does not",
        ),
        (
            level > TOO_OFTEN * alpha and alpha / FAR < p_value <= alpha,
            f"p_value_={p_value:.3g} is too close to the level of {alpha:.3g} to be reliable: a few people are harmed "
            f"much less than the others, and with {n:,} people the test then rejects about {100 * level:.1f}% of "
            "models at the tolerance. Test more people",
        ),
        (n < FEW, f"X has {n} people: the normal approximation of this test needs at least {FEW}"),
        (
            farthest > FARTHEST,
            f"unfair examples lie outside the observed range of a feature, by up to {farthest:.3g} times that range: "
            "predictions there are unlike any person's in the data. Use feature_ranges, or smaller or fewer steps",
        ),
    ]
    return tuple(doubt for holds, doubt in doubts if holds)
