"""How far a verdict given covariates survives a confounder that was not measured (omitted-variable bias).

A variable Z that was left out moves the coefficient of the group by at most

    S sqrt(R2_Y R2_D / (1 - R2_D)),

where S is the standard deviation of what covariates and group leave of the outcome, divided by that of what covariates
leave of the group; R2_Y is the share that Z explains of the former, and R2_D that of the latter (Cinelli and Hazlett
2020, equation 10; Chernozhukov et al. 2022 of partially linear models, which learn any curves). How large these shares
may be is told by the covariates that were measured: Z is taken to explain k times as much as the strongest of them
(Cinelli and Hazlett 2020, section 4.4), by the loss out of fold of the models that adjust, with and without it.

References
----------
C. Cinelli and C. Hazlett (2020). Making sense of sensitivity: extending omitted variable bias. Journal of the Royal
Statistical Society B 82, 39-67.
V. Chernozhukov, C. Cinelli, W. Newey, A. Sharma and V. Syrgkanis (2022). Long story short: omitted variable bias in
causal machine learning. arXiv 2112.13398.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skfairtest._utils.typing import Floats
from skfairtest.adjusted.statistics import Residuals
from skfairtest.comparisons.core import Result
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.score import studentize
from skfairtest.inference.unknown import PValueBounds
from skfairtest.sensitivity.analysis import Sensitivity, analysed


@dataclass(frozen=True)
class Strength:
    """What a covariate explains of the outcome given the group, and of the group, beyond all other covariates.

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
    """What a covariate explains: by how much the loss out of fold is larger without it.

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


@dataclass(frozen=True)
class Omitted:
    """What the bias of one comparison follows from: moments of the products of residuals, and measured covariates."""

    coefficient: float
    means: Floats
    covariance: Floats
    n: int
    inflation: float
    spread: float
    covariates: tuple[Strength, ...]

    @classmethod
    def of(cls, residuals: Residuals, covariates: list[Strength]) -> Self:
        """Take the moments of residuals."""
        products, squares = residuals.sums(), residuals.squares
        rest = residuals.outcome - residuals.coefficient * residuals.group
        return cls(
            residuals.coefficient,
            np.array([products.mean(), squares.mean()]),
            np.cov(products, squares, ddof=0),
            len(products),
            residuals.inflation,
            float(np.sqrt((rest**2).mean() / (residuals.group**2).mean())),
            tuple(covariates),
        )

    @property
    def robustness(self) -> float:
        """The share of both outcome and group, of what is left, that has to be explained to leave no disparity.

        Cinelli and Hazlett (2020), equation 19.
        """
        f = abs(self.coefficient) / self.spread
        return float((np.sqrt(f**4 + 4 * f**2) - f**2) / 2)

    def confounder(self, k: float) -> Strength:
        """A confounder k times as strong as the covariate whose omission would move the coefficient most."""
        return max((one.times(k) for one in self.covariates), key=lambda one: one.factor)

    def bias(self, k: float) -> float:
        """By how much that moves the coefficient at most."""
        return self.spread * self.confounder(k).factor if k else 0.0

    def log_p(self, coefficient: float, alternative: str) -> float:
        """P-value of the hypothesis that the group's coefficient is this one."""
        if np.isinf(coefficient):
            return 0.0 if alternative == ("greater" if coefficient > 0 else "less") else -np.inf
        direction = np.array([1.0, -coefficient])
        error = np.sqrt(direction @ self.covariance @ direction / self.n) * self.inflation
        return normal_log_p(float(studentize(direction @ self.means, error)), alternative)

    def bounds(self, k: float, alternative: str) -> tuple[PValueBounds, tuple[float, float]]:
        """P-values and disparities that a confounder up to k times as strong may leave."""
        bias = self.bias(k)
        ends = [self.log_p(end, alternative) for end in (-bias, bias)]
        hidden = abs(self.coefficient) <= bias and alternative == "two-sided"
        found = PValueBounds(min(ends), 0.0 if hidden else max(ends), "gcm", None, attained=True)
        return found, (self.coefficient - bias, self.coefficient + bias)


def omitted_variable(base: Result, omitted: Sequence[Omitted | None], at: Any) -> Sensitivity:
    """Analyse how far a verdict survives a confounder."""
    question = base.settings.question

    def bounds(place: int, amount: float) -> tuple[PValueBounds, tuple[float, float]]:
        known, one = omitted[place], base.tested[place].in_family
        if known is None or amount == 0:
            log_p, disparity = one.log_p, one.disparity
            return PValueBounds(log_p, log_p, "gcm", None, attained=True), (disparity, disparity)
        return known.bounds(amount, question.alternative)

    found = analysed(base, "omitted_variable", at, bounds, np.linspace(0, 20, 2001))
    amounts, n = found.frame["strength"], len(omitted)
    each = [(omitted[place % n], amount) for place, amount in enumerate(amounts)]
    confounders = [None if known is None else known.confounder(amount) for known, amount in each]
    columns: dict[str, list[Any]] = {
        "confounder": [one and one.name for one in confounders],
        "outcome_explained": [one.outcome if one else np.nan for one in confounders],
        "group_explained": [one.group if one else np.nan for one in confounders],
        "robustness_value": [known.robustness if known else np.nan for known, _ in each],
    }
    for name, values in columns.items():
        found.frame.insert(list(found.frame).index("disparity_low"), name, values)
    del found.frame["metric"]  # there is one outcome
    return found
