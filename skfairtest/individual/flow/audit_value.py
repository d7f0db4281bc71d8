"""The audit value of individual fairness: by how much people's losses grow at their unfair examples, and its test.

The null hypothesis is that the audit value is at most the tolerance. With ``before`` and ``after`` the losses of n
people at x and at their unfair examples (Maity et al. 2021):

``loss_ratio``
    S = mean of r = after / before, with 0 / 0 = 1; V the standard deviation of r (equations 3.5 to 3.10).
``ratio_of_means``
    S = A / B, the means of after and before; with 0-1 losses the ratio of error rates (equations 3.11, 3.12, appendix
    C). By the delta method V = sqrt(A^2 V_22 + B^2 V_11 - 2 A B V_12) / B^2, the standard deviation of
    (after - S before) / B.

T = S - z_{1 - alpha} V / sqrt(n), p = 1 - Phi(sqrt(n) (S - tolerance) / V). Standard deviations divide by n (ddof = 0),
as in the published code.

**All people alike.** If V = 0, the formulas give p = 0 as soon as S is above the tolerance, even for two people. By
Markov's inequality m people all have a ratio of S or more with probability at most (tolerance / S)^m if the mean of the
non-negative ratios is at most the tolerance. So p = min(1, (tolerance / S)^m), T = S alpha^(1/m), and the interval
reaches from S (alpha / 2)^(1/m) to S; m is n, and for ``ratio_of_means`` the people who have a loss before. That holds
at any n for ``loss_ratio``, and for ``ratio_of_means`` of 0-1 losses; elsewhere it is a convention that is more
cautious than the formulas.

**Small samples.** A long right tail of ratios makes the test conservative, a long left tail makes it reject too often
(`attained_level`), and ``ratio_of_means`` of skewed losses rejects too often with either. With 0-1 losses the delta
method is valid, but has little power if few people are misclassified. Fieller's statistic, mean(after - tolerance
before) over its standard error, has more power there; with skewed losses either of the two can be worse, so the paper's
delta method is used. ``python -m benchmarks.individual`` measures size, power and coverage.

References
----------
S. Maity, S. Xue, M. Yurochkin, Y. Sun (2021). Statistical inference for individual fairness. ICLR.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from scipy.stats import t as student

from skfairtest._utils.checks import check_choice
from skfairtest._utils.typing import Floats

STATISTICS = ("loss_ratio", "ratio_of_means")

#: A standard deviation below this share of the estimate is the rounding error of 0: losses that are differences of much
#: larger numbers, as of a person whom a linear model predicts almost exactly, have few digits left.
_ZERO = 1e-9


class UndefinedAuditValueError(ValueError):
    """The audit value is not defined for these losses.

    Parameters
    ----------
    people : int
        How many people make it undefined. reason : str The reason.
    """

    def __init__(self, people: int, reason: str) -> None:
        super().__init__(people, reason)  # both, for the way back from another process
        self.people = people
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.people} people {self.reason}"


class InfiniteRatioError(UndefinedAuditValueError):
    """People have a loss at their unfair examples and none before: their ratios are infinite. Means of both are not."""


class NoLossError(UndefinedAuditValueError):
    """Nobody has a loss before: there is nothing to divide by."""


class InfiniteLossError(UndefinedAuditValueError):
    """People have an infinite, negative or undefined loss."""


@dataclass(frozen=True)
class AuditValue:
    """An audit value, its uncertainty, and the test of the null hypothesis that it is at most the tolerance.

    Parameters
    ----------
    estimate : float
        S.
    standard_error : float
        V / sqrt(n), with ddof = 0.
    lower_bound : float
        T, the one-sided lower confidence limit: above the tolerance where p < 1 - confidence_level.
    interval : tuple of float
        Two-sided confidence interval.
    p_value : float
        Of the one-sided test.
    """

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

    Parameters
    ----------
    statistic : str
        ``"loss_ratio"`` or ``"ratio_of_means"``.
    before, after : array-like, shape (n,)
        Losses, not below 0, of at least two people: at x and at their unfair examples.
    tolerance : float
        Largest audit value that is fair, above 0.
    confidence_level : float
        Of the lower bound and of the interval.

    Returns
    -------
    AuditValue
        The estimate and its test.

    Raises
    ------
    InfiniteRatioError
        If the statistic is a mean of ratios and somebody's ratio is infinite.
    NoLossError
        If the statistic is the ratio of means and nobody has a loss before.
    InfiniteLossError
        If a loss is not a finite number that is at least 0.
    ValueError
        If there are fewer than two people, or the statistic is unknown.

    Examples
    --------
    >>> found = audit_value(
    ...     "loss_ratio", [1, 1, 2, 2], [2, 1, 6, 4], tolerance=1.25, confidence_level=0.95
    ... )
    >>> print(found.estimate, round(found.lower_bound, 4), round(found.p_value, 4))
    2.0 1.4185 0.0169
    """
    before, after = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    n = len(before)
    check_choice("statistic", statistic, STATISTICS)
    if n < 2:
        raise ValueError(f"an audit value needs the losses of at least 2 people, found {n}")
    unusable = ~(np.isfinite(before) & np.isfinite(after) & (before >= 0) & (after >= 0))
    if unusable.any():
        raise InfiniteLossError(int(unusable.sum()), "have a loss that is not a finite number of at least 0")
    if statistic == "ratio_of_means":
        return _ratio_of_means(before, after, tolerance, confidence_level)
    values = ratios(before, after)
    infinite = np.isinf(values)
    if infinite.any():
        raise InfiniteRatioError(
            int(infinite.sum()), "have a loss at their unfair examples and none before, or hardly any"
        )
    return _not_negative(_inferred(*_moments(values), n, n, tolerance, confidence_level))


def widened(found: AuditValue, variance: float, degrees: int, confidence_level: float) -> AuditValue:
    """Return an audit value whose interval has a second part, such as the uncertainty of a metric that was learned.

    On the logarithmic scale the variances of both parts add up; quantiles are those of Student's t with Satterthwaite's
    degrees of freedom. No limit becomes narrower. The test is about the metric that was learned, and stays.

    Parameters
    ----------
    found : AuditValue
        With the first part.
    variance : float
        The second part: a variance of the logarithm of the estimate.
    degrees : int
        Its degrees of freedom.
    confidence_level : float
        Of the interval.

    Examples
    --------
    >>> value = AuditValue(2.0, 0.1, 1.84, (1.8, 2.2), 1e-14)
    >>> print([round(limit, 3) for limit in widened(value, 0.01, 9, 0.95).interval])
    [1.574, 2.542]
    """
    if not variance > 0 or not found.estimate > 0:
        return found
    total = (found.standard_error / found.estimate) ** 2 + variance
    quantile = student(degrees * (total / variance) ** 2).isf((1 - confidence_level) / 2)
    reach = float(np.exp(quantile * np.sqrt(total)))
    low, high = found.interval
    return replace(found, interval=(min(low, found.estimate / reach), max(high, found.estimate * reach)))


def attained_level(statistic: str, before: ArrayLike, after: ArrayLike, confidence_level: float) -> float:
    """Estimate the actual rejection rate at the boundary of the null hypothesis, from the skewness of the losses.

    By the first term of the Edgeworth expansion of a studentized mean (Hall 1992, section 2.6),
    alpha - phi(z) (2 z^2 + 1) skewness / (6 sqrt(n)): above alpha where a few people are harmed much less than the
    others, below it where a few are harmed much more.

    Parameters
    ----------
    statistic, before, after, confidence_level
        As of `audit_value`, which has found them to be defined.

    Returns
    -------
    float
        Between 0 and 1; alpha if everybody is the same.

    References
    ----------
    P. Hall (1992). The bootstrap and Edgeworth expansion. Springer.

    Examples
    --------
    >>> round(attained_level("loss_ratio", [1] * 10, [1] + [2] * 9, 0.95), 3)
    0.143
    """
    before, after = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    alpha = 1 - confidence_level
    values = _each(statistic, before, after)
    mean, sd = _moments(values)
    if sd <= _ZERO * max(abs(mean), 1.0):
        return alpha
    z = float(-ndtri(alpha))
    skewness = float((((values - mean) / sd) ** 3).mean())
    density = float(np.exp(-z * z / 2) / np.sqrt(2 * np.pi))
    return float(np.clip(alpha - density * (2 * z * z + 1) * skewness / (6 * np.sqrt(len(values))), 0.0, 1.0))


def _each(statistic: str, before: Floats, after: Floats) -> Floats:
    """Return each person's first-order contribution to a statistic, up to a constant."""
    if statistic == "ratio_of_means":
        base = _moments(before)[0]
        values: Floats = after / base - _moments(after)[0] / base * (before / base)
        return values
    return ratios(before, after)


def _ratio_of_means(before: Floats, after: Floats, tolerance: float, confidence_level: float) -> AuditValue:
    base, moved = _moments(before)[0], _moments(after)[0]
    if base == 0:
        raise NoLossError(len(before), "have no loss before they are moved")
    estimate = moved / base
    sd = _moments(_each("ratio_of_means", before, after))[1]
    return _not_negative(_inferred(estimate, sd, len(before), int((before > 0).sum()), tolerance, confidence_level))


def _not_negative(found: AuditValue) -> AuditValue:
    """Cut off limits of ratios at 0, because no ratio is negative."""
    low, high = found.interval
    return replace(found, lower_bound=max(found.lower_bound, 0.0), interval=(max(low, 0.0), high))


def _moments(values: Floats) -> tuple[float, float]:
    """Return mean and standard deviation, ddof = 0; a power of two keeps squares of large ratios from overflowing."""
    scale = float(2.0 ** np.frexp(np.abs(values).max() / 2)[1])
    scaled = values / scale
    return scale * float(scaled.mean()), scale * float(scaled.std())


def _inferred(
    estimate: float, sd: float, n: int, exposed: int, tolerance: float, confidence_level: float
) -> AuditValue:
    """Normal inference, or Markov's for `exposed` people if all people are the same."""
    alpha = 1 - confidence_level
    if sd <= _ZERO * abs(estimate):
        with np.errstate(divide="ignore"):
            p = min(1.0, float(np.float64(tolerance / estimate) ** exposed)) if estimate else 1.0
        low, bound = (estimate * level ** (1 / exposed) for level in (alpha / 2, alpha))
        return AuditValue(estimate, 0.0, bound, (low, estimate), p)
    error = float(sd / np.sqrt(n))
    reach = float(-ndtri(alpha / 2)) * error
    bound = lower_bound(estimate, sd, n, float(-ndtri(alpha)))
    p = float(ndtr((tolerance - estimate) / error))
    return AuditValue(estimate, error, bound, (estimate - reach, estimate + reach), p)
