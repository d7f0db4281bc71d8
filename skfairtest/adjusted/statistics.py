"""Does an outcome differ between two groups among people with the same covariates (generalised covariance measure).

What covariates predict is taken from the outcome Y and from the indicator D of the first group:
e = Y - E(Y | X) and x = D - E(D | X). Where the outcome's mean given the
covariates is the same in both groups, the products e x have the mean 0, and their studentized mean
is normal in large samples, although both predictions have errors: only the product of these has to vanish faster than
1 / sqrt(n) (Shah and Peters 2020, theorem 6).

With few people predictions also vary with the people they are learned from: the product e x of person i contains w_ij
eps_j xi_i and w_ij eps_i xi_j for each person j that i is predicted from. Here eps and xi are the errors around both
expectations, and w_ij is how much j affects the prediction of i. Weights are about symmetric, so that these numbers
come in equal pairs, whose sum has twice the variance that they have one by one. The studentized mean is therefore
divided by the root of 1 + (v + u) / (1 + v + u), with the variances v and u of both predictions as shares of those of
the errors. For least squares with p columns and n people v is p / n, and so is (out - in) / (out + in), out of the mean
squared residuals of new people and of those the model was fitted to; for models that shrink this is an upper bound
(compare Cattaneo, Jansson and Newey 2018). It vanishes with many people.

References
----------
R. D. Shah and J. Peters (2020). Annals of Statistics 48, 1514-1538. P. M. Robinson (1988). Econometrica 56, 931-954. M.
D. Cattaneo, M. Jansson and W. K. Newey (2018). Econometric Theory 34, 277-301. V. Chernozhukov et al. (2018).
Econometrics Journal 21, C1-C68. Section 4.1.
"""

from dataclasses import dataclass

import numpy as np

from skfairtest._utils.typing import Floats, Positions


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
    """What covariates leave of an outcome and of the indicator of a group, for the people of one comparison.

    Parameters
    ----------
    outcome, group : ndarray of shape (n,)
        Residuals of people whom neither prediction has been fitted to.
    units : ndarray of shape (n,) or None
        The number of the cluster of each person, from 0 on; None: people are independent.
    varying : float
        The variances of both predictions, each as a share of that of the errors, added up.

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
        """The effect in the partially linear model, sum(e x) / sum(x^2) (Robinson 1988).

        It is the difference of the groups given the covariates, averaged with the weights
        P(D = 1 | X) P(D = 0 | X): most where both groups are found.
        """
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
        """Return the coefficients whose statistic is no larger than one value, and no smaller than minus another.

        They are infinite where covariates say nearly always which group people are in.

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
