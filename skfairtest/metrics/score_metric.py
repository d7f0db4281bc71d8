"""Metrics that are not rates: metrics of scores and of numbers, and any function that a user writes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.typing import Floats, Positions
from skfairtest.metrics.functionals import Evaluated, Functional
from skfairtest.metrics.rates import Summary
from skfairtest.readers import Column, Numbers
from skfairtest.tables.rows import check_rows_of

#: Tables of at most this many kinds are remembered, and how many of them.
FEW, REMEMBERED = 256, 25_000
RESPONSES = ("predict", "predict_proba", "decision_function")


@dataclass(frozen=True)
class Context:
    """Kinds of people, and which label counts as positive."""

    columns: Mapping[str, Column | Numbers]
    pos_label: Any


def shared_codes(columns: Mapping[str, Any]) -> dict[str, Positions]:
    """Return the labels of several columns as codes that are the same for the same label."""
    place: dict[Any, int] = {}
    for cells in columns.values():
        for label in cells.levels:
            place.setdefault(label, len(place))
    return {
        name: np.array([place[label] for label in cells.levels], dtype=np.intp)[cells.codes]
        for name, cells in columns.items()
    }


def parameters_of(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of the parameters that a function says it takes."""
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled code may have no signature
        return frozenset()
    return frozenset(name for name, p in found.items() if p.kind is not p.VAR_KEYWORD)


@dataclass(frozen=True)
class ScoreMetric:
    """A metric of scores, of numbers, or of anything else that can be computed for a group of people.

    Null hypothesis of its test: the metric has the same value in the compared groups. It is tested by permuting
    labels and studentizing every resample (DiCiccio et al. 2020), which is exact if the groups have the same
    distribution and asymptotically valid if only the metric is equal.

    Parameters
    ----------
    name : str
        Its name in results.
    evaluate : callable
        ``evaluate(y_true, y_pred)`` or ``evaluate(y_true, y_pred, sample_weight=...)`` for one group of people, like
        scikit-learn's metrics; or ``evaluate(y_true, y_pred, counts)`` for kinds of people, which is much faster:
        `y_true` and `y_pred` have shape (K,), `counts` (..., K), and the result (...,). If it has a parameter
        ``sample_weight``, it is evaluated on the few distinct rows, not on all people.
    variance : callable, optional
        Variance of the value, called as `evaluate` with ``counts``. None: jackknife or bootstrap.
    response : {"predict", "predict_proba", "decision_function"} or tuple of these, default="predict"
        The method of an estimator that is called: the first that it has. Scores reach `evaluate` as its second
        argument.
    within : {None, "y_true", "y_pred"}, default=None
        The column within whose levels labels are permuted.
    bounds : tuple of float, default=(-inf, inf)
        The smallest and largest possible value.
    describes : str
        The metric in plain words, for sentences: "the mean cost of a decision".
    disparity : {"difference", "ratio"}, optional
        How its values are compared, if that is part of its meaning. None: by the test's `disparity`.
    summary : Summary, optional
        How a function of fairlearn summarises the disparities; set when one is recognised.

    Raises
    ------
    ValueError
        If a parameter is not one of these.

    References
    ----------
    C. DiCiccio et al. (2020), Evaluating Fairness Using Permutation Tests, KDD, sections 2 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> import skfairtest
    >>> def cost(y_true, y_pred, counts):
    ...     price = np.where(y_true > y_pred, 5.0, 1.0) * (y_true != y_pred)
    ...     return counts @ price / counts.sum(axis=-1)
    >>> test = skfairtest.FairnessTest.from_predictions(
    ...     [1, 1, 1, 1, 0, 0, 0, 0, 1, 0] * 20,
    ...     [1, 1, 0, 1, 0, 1, 0, 0, 0, 0] * 20,
    ...     sensitive_features=list("aabbaabbab") * 20,
    ...     metric=skfairtest.ScoreMetric("cost", cost),
    ...     random_state=0,
    ... )
    >>> round(test.disparity_, 2), test.method_, test.variance_
    (0.2, 'permutation', 'jackknife')
    """

    #: Where labels may be permuted.
    places: ClassVar[tuple[str | None, ...]] = (None, "y_true", "y_pred")

    name: str
    evaluate: Callable[..., Any] = field(repr=False)
    variance: Callable[..., Any] | None = field(default=None, repr=False)
    response: str | tuple[str, ...] = "predict"
    within: str | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)
    describes: str = ""
    disparity: str | None = None
    summary: Summary | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ParameterError(f"name of a metric must be text, found {self.name!r}")
        for role in ("evaluate", "variance"):
            found = getattr(self, role)
            if not callable(found) and (found is not None or role == "evaluate"):
                raise ParameterError(f"{role} of metric {self.name!r} must be a function; found {brief(found)}")
        for response in self.responses:
            if response not in RESPONSES:
                raise ParameterError(
                    f"response of metric {self.name!r} must be one of {', '.join(map(repr, RESPONSES))}, or several of "
                    f"these; found {response!r}"
                )
        if self.within not in self.places:
            raise ParameterError(
                f"within of metric {self.name!r} must be None, 'y_true' or 'y_pred'; found {self.within!r}"
            )

    def __str__(self) -> str:
        """Return the name, and the metric in words."""
        return f"{self.name}: {self.describes}" if self.describes else self.name

    @property
    def responses(self) -> tuple[str, ...]:
        """The methods of an estimator that may be called, in this order."""
        return (self.response,) if isinstance(self.response, str) else tuple(self.response)

    @property
    def scores(self) -> str:
        """Its second argument: the column of predictions or of scores."""
        return "y_pred" if self.responses == ("predict",) else "y_score"

    @property
    def reads(self) -> frozenset[str]:
        """Which columns it needs."""
        return frozenset({"y_true", self.scores})

    @property
    def needs_pos_label(self) -> bool:
        """Whether it needs to know the positive label."""
        return False

    @property
    def slow(self) -> bool:
        """Whether it is evaluated one table at a time, in Python."""
        return "counts" not in parameters_of(self.evaluate)

    @property
    def sort_by(self) -> tuple[str, ...]:
        """Columns by which people are sorted for its evaluation."""
        return (self.within,) if self.within is not None else ()

    @property
    def takes_weights(self) -> bool:
        """Whether people may have weights."""
        return bool({"counts", "sample_weight"} & parameters_of(self.evaluate))

    def functional(self, context: Context) -> Functional:
        """Return the metric of these kinds of people as a function of their counts.

        Parameters
        ----------
        context : Context
            The kinds' values.

        Returns
        -------
        Functional
            What a test evaluates for many tables of counts.
        """
        truth, scores = context.columns["y_true"].values, context.columns[self.scores].values
        if not self.slow:
            variance = self.variance

            def own(function: Callable[..., Any], counts: Floats) -> Floats:
                try:
                    values = function(truth, scores, counts)
                except Warning:  # raised as an error: undefined in the tables that it is about
                    if counts.ndim == 1:
                        return np.array(np.nan)
                    return np.array([own(function, table) for table in counts])
                found = np.asarray(values, dtype=float)
                if np.ma.is_masked(values):
                    raise MetricError(f"{self.name} returns masked values, not one number for each table")
                if found.shape != counts.shape[:-1]:
                    raise ParameterError(
                        f"evaluate of metric {self.name!r}, a function of counts of shape {counts.shape}, must return "
                        f"an array of shape {counts.shape[:-1]}; found {found.shape}"
                    )
                return found

            return Evaluated(
                partial(own, self.evaluate),
                None if variance is None else partial(own, variance),
                self.bounds,
            )
        weighted = "sample_weight" in parameters_of(self.evaluate)
        return Evaluated(OfRows(self.name, self.evaluate, partial(_pairs, truth, scores), weighted), None, self.bounds)

    def check(self, context: Context, masses: Floats) -> None:
        """Evaluate the metric for some people, with an error that explains a failure.

        Parameters
        ----------
        context : Context
            The kinds' values.
        masses : ndarray of shape (K,)
            How much of each kind there is.

        Raises
        ------
        MetricError
            If the function raises, or returns anything but one number.
        """
        functional = self.functional(context)
        if isinstance(functional, Evaluated) and isinstance(functional.evaluate, OfRows):
            functional = Evaluated(replace(functional.evaluate, undefined=(), seen={}))
        if np.isnan(functional.values(np.asarray(masses, dtype=float)[None])[0]):
            raise MetricError(f"{self.name} returns NaN")


class MetricError(ValueError):
    """A metric that raises, or does not return one number."""


def _pairs(y_true: NDArray[Any], y_pred: NDArray[Any], rows: Positions) -> tuple[Any, Any, dict[str, Any]]:
    return y_true[rows], y_pred[rows], {}


@dataclass(frozen=True)
class OfRows:
    """A function of people's rows as a function of counts: of the distinct rows with weights, or of all rows."""

    name: str
    function: Callable[..., Any]
    #: Labels, predictions and further arguments of people at these positions in a table of counts.
    arguments: Callable[..., tuple[Any, Any, dict[str, Any]]]
    weighted: bool
    n_dim: int = 1
    #: Exceptions that leave it undefined; others are errors.
    undefined: type[Exception] | tuple[()] = Exception
    seen: dict[bytes, float] = field(default_factory=dict, repr=False)

    def __call__(self, masses: Floats) -> Floats:
        """Evaluate the function for each table of masses."""
        shape = masses.shape[masses.ndim - self.n_dim :]
        values = []
        for table in np.ascontiguousarray(masses, dtype=float).reshape(-1, *shape):
            key = table.tobytes() if table.size <= FEW else b""
            value = self.seen.get(key)
            if value is None:
                value = self._one(table)
                if key:
                    if len(self.seen) >= REMEMBERED:
                        self.seen.clear()
                    self.seen[key] = value
            values.append(value)
        return np.array(values, dtype=float).reshape(masses.shape[: masses.ndim - self.n_dim])

    def _one(self, table: Floats) -> float:
        places, weights = np.nonzero(table), {}
        mass = table[places]
        if not len(mass):
            return float("nan")
        if not (mass == 1).all() and self.weighted:
            weights = {"sample_weight": mass}
        elif not (mass == 1).all():
            check_rows_of(int(mass.sum()))
            places = tuple(axis.repeat(mass.astype(np.int64)) for axis in places)
        y_true, y_pred, further = self.arguments(*places)
        try:
            value = self.function(y_true, y_pred, **further, **weights)
        except self.undefined:
            return float("nan")
        except Exception as error:
            raise MetricError(f"{self.name} raises {type(error).__name__}: {error}") from error
        return scalar_of(value, self.name)


def scalar_of(found: Any, name: str) -> float:
    """Return a metric's value as a float."""
    array = np.asarray(found)
    if array.ndim != 0 or array.dtype.kind not in "biuf" or np.ma.is_masked(found):
        what = (
            f"an array of shape {array.shape}"
            if array.ndim
            else "a masked value"
            if np.ma.is_masked(found)
            else repr(found)
        )
        raise MetricError(f"{name} returns {what}, not one number")
    return float(array)
