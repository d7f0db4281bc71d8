"""The change of a metric from one model to another, on the same samples."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats, Moments
from skfairtest.metrics.auc import combined_split
from skfairtest.metrics.functionals import (
    Auc,
    Evaluated,
    Functional,
    Mean,
    Members,
    Share,
    correction,
    per_person,
    ratio_of,
)
from skfairtest.metrics.omnibus import Omnibus
from skfairtest.metrics.rates import Rate
from skfairtest.metrics.resolve import Metric
from skfairtest.metrics.score_metric import Context, ScoreMetric, shared_codes
from skfairtest.metrics.scores import BuiltIn

#: The models, as columns are called after them.
MODELS = ("a", "b")


class Combined(Functional):
    """The value of a metric under model B, plus or minus that under model A, on the same samples.

    Each sample's part of the error is the sum or difference of its parts under both models, so that their squares have
    the covariance of the models in them (for areas under the ROC curve DeLong's of two curves).
    """

    def __init__(self, of_b: Functional, of_a: Functional, sign: int = -1) -> None:
        self.of_b, self.of_a, self.sign = of_b, of_a, sign
        if sign < 0 and isinstance(of_b, Mean) and isinstance(of_a, Mean):
            self.of_b, self.of_a = of_b.less(of_b.origin), of_a.less(of_b.origin)
        low, high = of_b.bounds
        self.bounds = (low - high, high - low) if sign < 0 else (2 * low, 2 * high)
        self.error, self.is_mean = of_b.error, of_b.is_mean or isinstance(of_b, Share)

    def values(self, masses: Floats) -> Floats:
        """Return the combined value."""
        return self.of_b.values(masses) + self.sign * self.of_a.values(masses)

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the combined value and parts, around the values of these samples whatever those of all are."""
        (value_b, parts_b), (value_a, parts_a) = self.of_b.parts(masses), self.of_a.parts(masses)
        return value_b + self.sign * value_a, parts_b + self.sign * parts_a

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the combined value and its variance; DeLong's corrects both classes for their sizes."""
        value, parts = self.parts(counts)
        squares = parts * per_person(parts, counts)
        if isinstance(self.of_b, Auc):
            classes = [self.of_b.positive, self.of_b.negative]
            variances = [squares[..., own].sum(axis=-1) * correction(counts[..., own]) for own in classes]
            return value, np.asarray(variances[0] + variances[1])
        return value, squares.sum(axis=-1) * correction(counts)

    def split(self, members: Members) -> Moments | None:
        """Return both sides of areas, by places among everybody's scores, which are sorted once."""
        of_b, of_a = self.of_b, self.of_a
        if not (isinstance(of_b, Auc) and isinstance(of_a, Auc)):
            return None
        classes = (members[:, own] for own in (of_b.positive, of_b.negative))
        v1, q1, v2, q2 = combined_split((of_b.ranked, of_a.ranked), self.sign, *classes)
        return Moments(v1, q1, v2, q2, np.zeros_like(v1))

    def effective(self, counts: Floats) -> Floats:
        """The smaller of the two denominators."""
        return np.minimum(self.of_b.effective(counts), self.of_a.effective(counts))

    def base(self, masses: Floats) -> Floats:
        """Return the average of what both values are divided by."""
        return np.asarray((self.of_b.base(masses) + self.of_a.base(masses)) / 2)

    def informative(self, counts: Floats) -> Floats:
        """The number of samples on which the error rests: the squared sum of squared parts over that of fourth powers.

        Of a rate these are about as many as the models judge differently.
        """
        each = per_person(self.parts(counts)[1], counts)
        squares, fourth = (counts * each**2).sum(axis=-1), (counts * each**4).sum(axis=-1)
        return np.where(squares > 0, ratio_of(squares**2, np.maximum(fourth, 1e-300)), 0.0)


@dataclass(frozen=True)
class Paired(BuiltIn):
    """The change of a metric from model A to model B.

    Parameters
    ----------
    of : Rate or ScoreMetric
        The metric.
    """

    of: Any = None

    def context(self, context: Context, model: str) -> Context:
        """The columns of one model that the metric reads."""
        names = {name: _column(name, model) for name in self.of.reads}
        return Context({name: context.columns[column] for name, column in names.items()}, context.pos_label)

    def masks(self, context: Context, model: str) -> tuple[Booleans, Booleans]:
        """Masks of the kinds in a rate's numerator and denominator under one model."""
        own = self.context(context, model)
        positive = {name: cells.is_label(context.pos_label) for name, cells in own.columns.items()}
        event, given = self.of.masks(positive, shared_codes(own.columns))
        return event, given

    def of_model(self, context: Context, model: str) -> Functional:
        """Return the metric of one model."""
        if isinstance(self.of, Rate):
            return Share(*self.masks(context, model), self.of.value, self.of.slope)
        return self.of.functional(self.context(context, model))  # type: ignore[no-any-return]

    @property
    def is_change(self) -> bool:
        """Whether it is the mean of a difference of events among those who meet a condition that no model decides."""
        return isinstance(self.of, Rate) and self.of.value is None and "y_pred" not in self.of.condition_reads

    @property
    def takes_weights(self) -> bool:
        """Whether samples may count more or less than one."""
        return isinstance(self.of, Rate) or bool(self.of.takes_weights)

    def functional(self, context: Context, sign: int = -1) -> Functional:
        """Return the change as a function of counts; with a sign of 1 the sum of both models' values."""
        of_b, of_a = (self.of_model(context, model) for model in ("b", "a"))
        combined = Combined(of_b, of_a, sign)
        if type(of_b) is Evaluated:
            return Evaluated(combined.values, None, self.bounds)
        return combined

    def check(self, context: Context, masses: Floats) -> None:
        """Refuse samples of which somebody's function has no value under either model."""
        if isinstance(self.of, ScoreMetric):
            for model in MODELS:
                self.of.check(self.context(context, model), masses)


def _column(name: str, model: str) -> str:
    return name if name == "y_true" else f"{name}_{model}"


def paired(metric: Metric) -> Paired:
    """Return the change of a metric from model A to model B.

    Raises
    ------
    ParameterError
        If it has no value of each group, or reads nothing that a model says.

    Examples
    --------
    >>> from skfairtest.metrics import resolve_metrics
    >>> change = paired(resolve_metrics("true_positive_rate")[0])
    >>> sorted(change.reads), change.bounds, change.is_change
    (['y_pred_a', 'y_pred_b', 'y_true'], (-1.0, 1.0), True)
    """
    if isinstance(metric, Omnibus):
        raise ParameterError(
            f"metric={metric.name!r} looks at all groups at once and has no value of each, whose change could be "
            "compared: name a rate or another metric of each group"
        )
    if metric.disparity not in (None, "difference"):
        raise ParameterError(
            f"metric={metric.name!r} is compared by the {metric.disparity}, and two models by differences alone: name "
            "the metric without it"
        )
    if not metric.reads - {"y_true"}:
        raise ParameterError(f"metric={metric.name!r} reads nothing that a model says, and is the same for both models")
    columns = tuple(
        dict.fromkeys(_column(name, model) for name in sorted(metric.reads, reverse=True) for model in MODELS)
    )
    low, high = (0.0, 1.0) if isinstance(metric, Rate) else metric.bounds
    positive = metric.positive if isinstance(metric, BuiltIn) else "always" if metric.needs_pos_label else "never"
    return Paired(
        metric.name,
        described,
        bounds=(low - high, high - low),
        within=None if isinstance(metric, Rate) else metric.within,
        describes=f"the change of {described(metric)} from model A to model B",
        columns=columns,
        positive=positive,
        undefined=getattr(metric, "undefined", ""),
        power=getattr(metric, "power", 1),
        of=metric,
    )


def described(metric: Metric) -> str:
    """Say what a metric is, in words."""
    name = f"the {metric.name.replace('_', ' ')}" if metric.name.isidentifier() else metric.name
    return getattr(metric, "describes", "") or name
