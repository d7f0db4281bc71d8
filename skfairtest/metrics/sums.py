"""Means and ratios of sums of people's amounts: functions like scikit-learn's, tested at the cost of a rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import name_of
from skfairtest._utils.typing import Floats
from skfairtest.metrics.functionals import ALIKE, Functional, Mean, kish, over_kurtosis, ratio_of
from skfairtest.metrics.score_metric import Context
from skfairtest.metrics.scores import ANY, BuiltIn, OfMean
from skfairtest.readers.numbers import LARGEST_NUMBER


class Ratio(Functional):
    """The sum of one amount over the sum of another, with the delta method's error."""

    def __init__(self, numerator: Floats, denominator: Floats) -> None:
        self.numerator, self.denominator_of = numerator, denominator

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the ratio and each cell's deviation from it, over the denominators' sum."""
        total = masses @ self.denominator_of
        ratio = ratio_of(masses @ self.numerator, np.where(total > 0, total, np.nan))
        expected = ratio[..., None] * self.denominator_of
        deviation = self.numerator - expected
        rounded = np.abs(deviation) <= ALIKE * (np.abs(self.numerator) + np.abs(expected))
        return ratio, masses * ratio_of(np.where(rounded, 0.0, deviation), total[..., None])

    def base(self, masses: Floats) -> Floats:
        """Return each cell's part of the denominators' sum."""
        return np.asarray(masses * self.denominator_of)

    def effective(self, counts: Floats) -> Floats:
        """Return the number of people of one denominator that these are worth (Kish 1965)."""
        return kish(self.base(counts), counts)

    def informative(self, counts: Floats) -> Floats:
        """The people over the kurtosis of their parts less one."""
        each, times = self.sampled(self.parts(counts)[1], counts)
        each = ratio_of(each, np.abs(each).max(axis=-1, initial=0.0, keepdims=True))
        return over_kurtosis(*((times * each**power).sum(axis=-1) for power in (0, 2, 4)))


@dataclass(frozen=True, kw_only=True)
class _OfAmounts:
    """The common base of `MeanOf` and `RatioOfSums`."""

    #: The parameters that are functions, and the functional of their amounts.
    roles: ClassVar[tuple[str, ...]]
    functional: ClassVar[type[Functional]]

    name: str = ""
    response: str | tuple[str, ...] = "predict"
    describes: str = ""

    def __post_init__(self) -> None:
        for role in self.roles:
            if not callable(getattr(self, role)):
                raise ParameterError(
                    f"{role} of {type(self).__name__} must be a function of y_true and y_pred that returns one number "
                    f"for each person; found {brief(getattr(self, role))}"
                )

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
        """Return the value for one group of people; NaN if it divides by 0."""
        amounts = [self._amounts(role, y_true, y_pred) for role in self.roles]
        weight = np.ones(len(amounts[0])) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return float(self.functional(*amounts).values(weight))

    @property
    def __name__(self) -> str:
        """The name in results."""
        return str(self.name or "_per_".join(name_of(getattr(self, role)) for role in self.roles))

    def _amounts(self, role: str, y_true: Any, y_pred: Any) -> Floats:
        """Evaluate one function, and check what it returns."""
        y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
        whose = f"{role} of {self.__name__!r}"
        try:
            amounts: NDArray[Any] = np.asarray(getattr(self, role)(y_true, y_pred))
        except Exception as error:
            raise ParameterError(f"{whose} raises {type(error).__name__}: {error}") from error
        if amounts.shape != y_true.shape[:1] or amounts.dtype.kind not in "biuf":
            raise ParameterError(
                f"{whose} must return one number for each of the {len(y_true)} values of y_true and y_pred that it is "
                f"given; found {amounts.dtype} of shape {amounts.shape}"
            )
        amounts = amounts.astype(float)
        wrong = amounts[~(np.abs(amounts) <= LARGEST_NUMBER)]
        if len(wrong):
            raise ParameterError(f"{whose} must be finite and at most {LARGEST_NUMBER:g}; found {wrong[0]:g}")
        if role == "denominator" and len(amounts) and amounts.min() < 0:
            raise ParameterError(f"{whose} must be at least 0; found {amounts.min():g}")
        return amounts

    def _of(self, role: str, context: Context) -> Floats:
        return self._amounts(role, *(context.columns[name].values for name in self._columns()))

    def _columns(self) -> tuple[str, str]:
        return "y_true", "y_pred" if self.response == "predict" else "y_score"

    def _declared(self, evaluate: Callable[[Context], Functional], undefined: str = "") -> BuiltIn:
        return BuiltIn(
            self.__name__, evaluate, response=self.response, describes=self.describes, columns=self._columns(),
            positive="unread", undefined=undefined,
        )  # fmt: skip


@dataclass(frozen=True)
class MeanOf(_OfAmounts):
    """The mean of one amount per person: net benefit, cost, profit.

    Null hypothesis of its test: the mean is the same in the compared groups. Labels are permuted and the difference
    is studentized by Welch's error in every resample (DiCiccio et al. 2020, section 3), or it is a rate with an exact
    test if all amounts are 0 or 1 and all values are labels. People may have weights and come in clusters.

    Parameters
    ----------
    value : callable
        ``value(y_true, y_pred)`` returns one number for each person, shape (n,). It is called with distinct pairs of
        values, so it must not depend on other people.
    name : str, optional
        Its name in results; that of the function by default.
    response : {"predict", "predict_proba", "decision_function"} or tuple of these, default="predict"
        The method of an estimator whose output is the second argument; scores are `y_score` in ``from_predictions``.
    describes : str, optional
        The amount in plain words, for sentences: "the mean net benefit".

    Raises
    ------
    ValueError
        If `value` is not a function, or returns anything but one finite number for each person.

    References
    ----------
    A. Vickers, E. Elkin (2006), Decision Curve Analysis, Medical Decision Making 26, 565-574 (net benefit).

    Examples
    --------
    Net benefit if a false alarm is a third as bad as a missed case:

    >>> import skfairtest
    >>> def net_benefit(y_true, y_pred):
    ...     return y_pred * (y_true - (1 - y_true) / 3)
    >>> mean_benefit = skfairtest.MeanOf(net_benefit)
    >>> round(mean_benefit([1, 1, 0, 0], [1, 0, 1, 0]), 3)
    0.167
    >>> test = skfairtest.FairnessTest.from_predictions(
    ...     [1, 1, 0, 0, 1, 0, 0, 0] * 30,
    ...     [1, 0, 1, 0, 1, 0, 0, 1] * 30,
    ...     sensitive_features=list("aaaabbbb") * 30,
    ...     metric=mean_benefit,
    ...     random_state=0,
    ... )
    >>> round(test.disparity_, 3), test.variance_
    (0.0, 'welch')
    """

    roles = ("value",)
    functional = Mean

    value: Callable[..., Any]

    def metric(self) -> BuiltIn:
        """The metric as a test evaluates it.

        Returns
        -------
        BuiltIn
            The metric of the sums.
        """
        return self._declared(OfMean(partial(self._of, "value"), ANY))


@dataclass(frozen=True)
class RatioOfSums(_OfAmounts):
    """The sum of one amount over the sum of another: loss ratio, word error rate, actual over expected.

    Null hypothesis of its test: the ratio is the same in the compared groups. Labels are permuted and the difference
    is studentized by the delta method's error in every resample (DiCiccio et al. 2020, section 3): exact if the groups
    have the same distribution, and asymptotically valid if only the ratio is equal. A result warns if few people carry
    the sums. People may have weights and come in clusters.

    Parameters
    ----------
    numerator, denominator : callable
        Each is called as ``f(y_true, y_pred)`` and returns one number for each person, shape (n,); denominators are at
        least 0. They are called with distinct pairs of values, so they must not depend on other people.
    name : str, optional
        Its name in results; ``"numerator_per_denominator"`` from the names of the functions by default.
    response : {"predict", "predict_proba", "decision_function"} or tuple of these, default="predict"
        The method of an estimator whose output is the second argument; scores are `y_score` in ``from_predictions``.
    describes : str, optional
        The ratio in plain words, for sentences: "losses per premium".

    Raises
    ------
    ValueError
        If an argument is not a function, or does not return one finite number for each person, or a denominator is
        negative.

    References
    ----------
    W. Cochran (1977), Sampling Techniques, section 2.11 (the error of a ratio of sums, equation 2.46).

    Examples
    --------
    Weighted absolute percentage error, the sum of errors over the sum of true values:

    >>> import numpy as np
    >>> import skfairtest
    >>> wape = skfairtest.RatioOfSums(
    ...     lambda y_true, y_pred: np.abs(y_true - y_pred),
    ...     lambda y_true, y_pred: y_true,
    ...     name="wape",
    ... )
    >>> wape([100, 300], [110, 290])
    0.05
    >>> rng = np.random.default_rng(0)
    >>> sales = rng.gamma(2, 50, 400)
    >>> test = skfairtest.FairnessTest.from_predictions(
    ...     sales,
    ...     sales * rng.normal(1, np.repeat([0.1, 0.2], 200)),
    ...     sensitive_features=["north"] * 200 + ["south"] * 200,
    ...     metric=wape,
    ...     random_state=0,
    ... )
    >>> test.p_value_, test.variance_
    (0.0001, 'delta')
    """

    roles = ("numerator", "denominator")
    functional = Ratio

    numerator: Callable[..., Any]
    denominator: Callable[..., Any]

    def metric(self) -> BuiltIn:
        """The metric as a test evaluates it.

        Returns
        -------
        BuiltIn
            The metric of the sums.
        """
        return self._declared(self._ratio, "the denominators add up to 0")

    def _ratio(self, context: Context) -> Functional:
        return Ratio(*(self._of(role, context) for role in self.roles))
