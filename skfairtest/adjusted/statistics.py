"""Test of an outcome given covariates between two groups: the generalised covariance measure.

With the residuals e = Y - E(Y | X) of the outcome and x = D - E(D | X) of the first group's indicator, the products e x
have the mean 0 under the null hypothesis, and their studentized mean is normal in large samples, although both
predictions have errors: only the product of these has to vanish faster than 1 / sqrt(n) (Shah and Peters 2020, theorem
6).

With few people, predictions also vary with the people they are learned from: the product e x of person i contains w_ij
eps_j xi_i and w_ij eps_i xi_j for each person j that i is predicted from, with the errors eps and xi around both
expectations. Weights w are about symmetric, so that these numbers come in equal pairs, whose sum has twice the
variance. The studentized mean is therefore divided by the root of 1 + (v + u) / (1 + v + u), with the variances v and u
of both predictions as shares of those of the errors. For least squares with p columns v is p / n, and so is (out - in)
/ (out + in), out of the mean squared residuals of new people and of those the model was fitted to; for models that
shrink this is an upper bound (compare Cattaneo, Jansson and Newey 2018).

An omitted variable Z moves the coefficient of the group by at most

    S sqrt(R2_Y R2_D / (1 - R2_D)),

with S the residual standard deviation of the outcome, given covariates and group, divided by that of the group given
the covariates; R2_Y and R2_D are the shares of these that Z explains (Cinelli and Hazlett 2020, equation 10;
Chernozhukov et al. 2022 for partially linear models). Z is taken to explain k times as much as the strongest measured
covariate (Cinelli and Hazlett 2020, section 4.4), by the models' out-of-fold loss with and without it.

References
----------
R. D. Shah and J. Peters (2020). Annals of Statistics 48, 1514-1538. P. M. Robinson (1988). Econometrica 56, 931-954. M.
D. Cattaneo, M. Jansson and W. K. Newey (2018). Econometric Theory 34, 277-301. V. Chernozhukov et al. (2018).
Econometrics Journal 21, C1-C68. Section 4.1. C. Cinelli and C. Hazlett (2020). JRSS B 82, 39-67. V.
Chernozhukov, C. Cinelli, W. Newey, A. Sharma and V. Syrgkanis (2022). arXiv 2112.13398.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skfairtest._utils.typing import Floats, Positions
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.unknown import PValueBounds


def studentized_mean(products: Floats) -> float:
    """Return the mean of independent numbers divided by its standard error; NaN where all are 0.

    The generalised covariance measure of Shah and Peters (2020), equation 3, if they are products of residuals.

    Examples
    --------
    >>> import numpy as np
    >>> round(studentized_mean(np.array([1.0, 2.0, 3.0, 2.0])), 4)
    5.6569
    """
    mean, spread = float(products.mean()), float(products.std())
    if spread <= 1e-14 * max(abs(mean), np.finfo(float).tiny):
        return float("nan") if not mean else float(np.sign(mean)) * np.inf
    return float(np.sqrt(len(products)) * mean / spread)


def variance_of_predictions(new: float, seen: float) -> float:
    """Return the variance of predictions over the people they are learned from, as a share of that of the errors.

    Examples
    --------
    Least squares with 20 columns of 100 people: errors of 1.2 and 0.8 times the variance.

    >>> round(variance_of_predictions(1.2, 0.8), 9)
    0.2
    """
    return max(0.0, (new - seen) / (new + seen)) if new + seen > 0 else 0.0


@dataclass(frozen=True)
class Residuals:
    """The residuals of an outcome and of a group's indicator, given covariates, for the people of one comparison.

    `units` numbers each person's cluster from 0; None: people are independent. `varying` is the sum of the variances of
    both predictions, as shares of those of the errors.

    Examples
    --------
    >>> import numpy as np
    >>> outcome, group = np.array([1.0, -1.0, 2.0, -1.0]), np.array([0.5, -0.5, 0.4, -0.6])
    >>> of_truth, of_few = Residuals(outcome, group), Residuals(outcome, group, varying=0.25)
    >>> round(of_few.standard_error / of_truth.standard_error, 9) == round(1.2**0.5, 9)
    True
    """

    outcome: Floats
    group: Floats
    units: Positions | None = None
    varying: float = 0.0

    @property
    def inflation(self) -> float:
        """By how much standard errors are larger than those of the products one by one."""
        return float(np.sqrt(1 + self.varying / (1 + self.varying)))

    def sums(self) -> Floats:
        """Return the products of both residuals, summed up in clusters."""
        return self._of_units(self.outcome * self.group)

    def _of_units(self, values: Floats) -> Floats:
        return values if self.units is None else np.asarray(np.bincount(self.units, values), dtype=float)

    @property
    def squares(self) -> Floats:
        """Squared residuals of the group, summed up in clusters."""
        return self._of_units(self.group**2)

    @property
    def coefficient(self) -> float:
        """The effect in the partially linear model, sum(e x) / sum(x^2) (Robinson 1988)."""
        return float((self.outcome @ self.group) / (self.group @ self.group))

    @property
    def standard_error(self) -> float:
        """Standard error of the coefficient (Chernozhukov et al. 2018, theorem 4.1)."""
        rest = self.sums() - self.coefficient * self.squares
        return float(np.sqrt(len(rest)) * rest.std() / self.squares.sum()) * self.inflation

    def statistic(self, coefficient: float = 0.0) -> float:
        """Return the studentized mean of the products that are left of a coefficient."""
        return studentized_mean(self.sums() - coefficient * self.squares) / self.inflation

    def limits(self, below: float, above: float) -> tuple[float, float]:
        """The coefficients at which the statistic is one value and minus another; infinite if they do not exist.

        Examples
        --------
        >>> import numpy as np
        >>> residuals = Residuals(
        ...     np.array([1.0, -1.0, 2.0, -1.0]), np.array([0.5, -0.5, 0.4, -0.6])
        ... )
        >>> low, high = residuals.limits(1.0, 1.0)
        >>> round(residuals.statistic(low), 9), round(residuals.statistic(high), 9)
        (1.0, -1.0)
        """
        products, squares = self.sums(), self.squares
        n, mean, square = len(products), float(products.mean()), float(squares.mean())
        covariance = np.cov(products, squares, ddof=0) / n

        def limit(critical: float, sign: int) -> float:
            if np.isinf(critical):
                return sign * np.inf
            critical *= self.inflation
            # (mean - b square)^2 = critical^2 times the variance of the difference, a quadratic equation in b.
            a = square**2 - critical**2 * covariance[1, 1]
            half = mean * square - critical**2 * covariance[0, 1]
            c = mean**2 - critical**2 * covariance[0, 0]
            root = half**2 - a * c
            if a <= 0 or root < 0:
                return sign * np.inf
            return float((half + sign * np.sqrt(root)) / a)

        return limit(below, -1), limit(above, 1)

    @property
    def spread(self) -> float:
        """Standard deviation of what covariates and group leave of the outcome, by that of the group's residuals."""
        rest = self.outcome - self.coefficient * self.group
        return float(np.sqrt((rest**2).mean() / (self.group**2).mean()))

    @property
    def robustness(self) -> float:
        """The share of both outcome and group, of what is left, that has to be explained to leave no disparity.

        Cinelli and Hazlett (2020), equation 19.
        """
        f = abs(self.coefficient) / self.spread
        return float((np.sqrt(f**4 + 4 * f**2) - f**2) / 2)

    def confounded(self, factor: float, alternative: str) -> tuple[PValueBounds, tuple[float, float]]:
        """P-values and coefficients that confounders may leave which move the coefficient by up to `factor` spreads."""
        bias = self.spread * factor if factor else 0.0
        if np.isinf(bias):
            ends = [-np.inf, 0.0]
        else:
            ends = [normal_log_p(self.statistic(end), alternative) for end in (-bias, bias)]
        hidden = abs(self.coefficient) <= bias and alternative == "two-sided"
        found = PValueBounds(min(ends), 0.0 if hidden else max(ends), "gcm", None, attained=True)
        return found, (self.coefficient - bias, self.coefficient + bias)


@dataclass(frozen=True)
class Strength:
    """The shares of outcome (given the group) and group that a covariate explains beyond the others.

    Examples
    --------
    >>> confounder = Strength("grade", 0.1, 0.05).times(1.0)
    >>> round(confounder.outcome, 4), round(confounder.group, 4)
    (0.1235, 0.0526)
    """

    name: str
    outcome: float
    group: float

    def times(self, k: float) -> Strength:
        """A confounder k times as strong, which is unrelated to the covariate given the others.

        Cinelli and Hazlett (2020), equations 54 and 57 of their appendix.
        """
        most = 1 - 1e-12
        shared = self.group / (1 - self.group) if self.group < 1 else np.inf
        group = k * shared
        if group >= most or k * self.group >= most:
            return Strength(self.name, 1.0, 1.0)
        both = k * self.group**2 / ((1 - k * self.group) * (1 - self.group))
        if both >= most or self.outcome >= most:
            return Strength(self.name, 1.0, group)
        times = (np.sqrt(k) + np.sqrt(both)) / np.sqrt(1 - both)
        return Strength(self.name, min(1.0, float(times**2 * self.outcome / (1 - self.outcome))), group)

    @property
    def factor(self) -> float:
        """By how many S it moves the coefficient."""
        return float(np.sqrt(self.outcome * self.group / (1 - self.group))) if self.group < 1 else np.inf


def strength_of(name: str, full: Residuals, short: Residuals) -> Strength:
    """The strength of a covariate: the increase in out-of-fold loss without it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, group, noise = rng.normal(size=(3, 5000))
    >>> found = strength_of("x", Residuals(noise, group), Residuals(x + noise, x + group))
    >>> round(found.outcome, 1), round(found.group, 1)
    (0.3, 0.5)
    """
    parts = [(each.outcome - each.coefficient * each.group, each.group) for each in (full, short)]
    shares = []
    for left, left_without in zip(*parts, strict=True):
        learned, size = left_without - left, float((left_without**2).mean())
        # What was learned, at the scale at which it saves most: flexible models overshoot what is weak.
        square = float((learned**2).mean()) * size
        shares.append(max(0.0, float((learned * left_without).mean())) ** 2 / square if square > 0 else 0.0)
    return Strength(name, *(min(1.0, share) for share in shares))


def strongest(covariates: Sequence[Strength], k: float) -> Strength:
    """A confounder k times as strong as the covariate whose omission would move the coefficient most."""
    return max((one.times(k) for one in covariates), key=lambda one: one.factor)
