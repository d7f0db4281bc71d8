"""Differences of means in standard deviations, and decomposition into composition and treatment at equal conditions.

A standardized difference (Cohen 1988, section 2.2) of `edge` means first - second - edge * s = 0, with the pooled
standard deviation s; the edges not rejected are the interval (Fieller 1954). At 0 the statistic is Welch's.

With standard shares w_s of the strata, the difference is sum w_s (r_1s - r_2s), different treatment, plus composition:
what the groups' own shares add (Kitagawa 1955; Oaxaca 1973 and Blinder 1973 take one group's shares as the standard).
People in strata without the other group form a separate part (Nopo 2008).

References
----------
E. M. Kitagawa (1955). Journal of the American Statistical Association 50, 1168-1194. R. Oaxaca (1973). International
Economic Review 14, 693-709. A. S. Blinder (1973). Journal of Human Resources 8, 436-455. H. Nopo (2008). Review of
Economics and Statistics 90, 290-299.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.typing import Floats, Moments

#: A variance below this share of the largest square is a rounding error of 0.
ROUNDING = 1e-24


def standardized_moments(values: Floats, counts: Floats) -> Moments:
    """The difference of two means, the pooled standard deviation (ddof 2), and their variances and covariance."""
    counts = np.asarray(counts, dtype=float)
    n = counts.sum(axis=1)
    unit = float(np.abs(values).max()) or 1.0
    values = values / unit
    mean = counts @ values / n
    deviation = values - mean[:, None]
    second, third, fourth = ((counts * deviation**power).sum(axis=1) / n for power in (2, 3, 4))
    share = (n - 1) / (n.sum() - 2)
    each = second * n / (n - 1)
    pooled = share @ each
    pooled *= pooled > ROUNDING
    with np.errstate(divide="ignore", invalid="ignore"):
        of_variance = float((share**2 * (fourth - second**2) / n).sum())
        covariance = float(share[0] * third[0] / n[0] - share[1] * third[1] / n[1])
        spread = np.sqrt(pooled)
        return Moments(
            np.asarray(mean[0] - mean[1]),
            np.asarray((each / n).sum()),
            np.asarray(spread),
            np.asarray(of_variance / (4 * pooled)),
            np.asarray(covariance / (2 * spread)),
        )


def standardized_difference(moments: Moments) -> tuple[float, float]:
    """The standardized difference and its standard error; NaN if all people of both groups are alike.

    Examples
    --------
    Borenstein et al. (2009), Introduction to Meta-Analysis, chapter 4: means 103 and 100, standard deviations 5.5 and
    4.5, 50 people in each group.

    >>> import numpy as np
    >>> moments = Moments(*map(np.array, (3.0, 1.01, 5.0249, 0.1262, 0.0)))
    >>> d, error = standardized_difference(moments)
    >>> print(f"{d:.4f} {error:.4f}")
    0.5970 0.2044
    """
    difference, welch, spread, of_spread, covariance = (float(part) for part in moments)
    if not spread > 0:
        return np.nan, np.nan
    d = difference / spread
    return d, float(np.sqrt(max(0.0, welch + d**2 * of_spread - 2 * d * covariance))) / spread


def standardized_limits(moments: Moments, critical: tuple[float, float]) -> tuple[float, float]:
    """The standardized differences not rejected at critical values below and above the estimate."""
    return -_upper(moments._replace(first=-moments.first, covariance=-moments.covariance), critical[0]), _upper(
        moments, critical[1]
    )


def _upper(moments: Moments, critical: float) -> float:
    difference, welch, spread, of_spread, covariance = (float(part) for part in moments)
    if not spread > 0:
        return np.nan
    # (difference - edge * spread)**2 = critical**2 * (welch + edge**2 * of_spread - 2 * edge * covariance)
    square = spread**2 - critical**2 * of_spread
    if not (np.isfinite(critical) and square > 0):
        return np.inf
    linear = difference * spread - critical**2 * covariance
    root = linear**2 - square * (difference**2 - critical**2 * welch)
    return float((linear + np.sqrt(max(root, 0.0))) / square)


#: The standard distribution: the average of both groups, that of all people, or that of one group.
STANDARDS = ("average", "pooled", "group", "other")
#: Step of derivatives, which the imaginary part of an analytic function gives without a rounding error.
STEP = 1e-30


def _parts(share: NDArray[Any], value: NDArray[Any], people: Floats, standard: str) -> NDArray[Any]:
    """Difference, composition, treatment, the part without counterpart; then the middle two by stratum."""
    both = ((people > 0).all(axis=0)).astype(float)
    own = share * both / (share * both).sum(axis=1, keepdims=True)
    total = people.sum(axis=1)
    pooled = (total[:, None] * share * both).sum(axis=0)
    weight = {"average": own.mean(axis=0), "pooled": pooled / pooled.sum(), "group": own[0], "other": own[1]}[standard]
    treatment = weight * (value[0] - value[1])
    # Shares add up to 1, so that any level may be taken from the values: their average shows who gains by composition.
    level = (weight * value.mean(axis=0)).sum()
    composition = (own[0] - weight) * (value[0] - level) + (weight - own[1]) * (value[1] - level)
    difference = (share * value).sum(axis=1)
    matched = composition.sum() + treatment.sum()
    whole = difference[0] - difference[1]
    return np.concatenate([[whole, composition.sum(), treatment.sum(), whole - matched], composition, treatment])


def decompose(people: Floats, value: Floats, variance: Floats, standard: str) -> tuple[Floats, Floats]:
    """Decompose a difference of two groups, and give standard errors by the delta method.

    Both results have shape (4 + 2 * S,): difference, composition, treatment, the part without counterpart, then
    composition and treatment by stratum.
    """
    occupied = people > 0
    total = people.sum(axis=1)
    share, value = people / total[:, None], np.where(occupied, value, 0.0)
    evaluate = partial(_parts, people=people, standard=standard)
    slopes = []
    for place in np.ndindex(people.shape):
        moved = np.zeros(people.shape, dtype=complex)
        moved[place] = STEP * 1j
        slopes.append([evaluate(share + moved, value).imag, evaluate(share, value + moved).imag])
    by_share, by_value = np.array(slopes).reshape(*people.shape, 2, -1).transpose(2, 0, 1, 3) / STEP
    mean = (share[..., None] * by_share).sum(axis=1)
    squares = ((share[..., None] * by_share**2).sum(axis=1) - mean**2) / total[:, None]
    squares += (np.where(occupied, variance, 0.0)[..., None] * by_value**2).sum(axis=1)
    return evaluate(share, value), np.sqrt(np.maximum(squares.sum(axis=0), 0.0))
