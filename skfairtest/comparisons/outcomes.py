"""Outcomes that are numbers (columns, or a user's function of labels and predictions), and sums over people."""

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from skfairtest import readers
from skfairtest._utils.base import check_seed
from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import name_of
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.core import Design, Result
from skfairtest.comparisons.evaluation import masks_of
from skfairtest.comparisons.measure import FEW_PEOPLE, check_columns, check_numbers, positive_for
from skfairtest.comparisons.people import GroupsTest, Inputs
from skfairtest.comparisons.rates import scale_of
from skfairtest.comparisons.settings import Settings, check_settings
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.sums import MeanSums, RateSums, Sums
from skfairtest.metrics import CRITERIA, RATES, SCORES, BuiltIn, Calibration, Context, Mean, Metric, Rate, Share
from skfairtest.readers import Column, as_floats, is_fraction, read_column
from skfairtest.tables import Sample

#: Numbers of this size and above count as infinite.
LARGEST = 1e307


def numbers(column: Column, where: str, instead: str = "pass numbers") -> Floats:
    """A column's values as floats."""
    strange = next((level for level in column.levels if not isinstance(level, Real | Decimal)), None)
    if strange is not None:
        raise ParameterError(f"{where} holds {strange!r}, which is not a number: {instead}")
    levels = as_floats(column.levels)
    # Differences and sums of two must be finite as well.
    if not np.abs(levels).max() < LARGEST:
        raise ParameterError(
            f"{where} holds infinite values: replace them, or leave these people out of every argument"
        )
    return np.asarray(levels[column.codes])


def predicted_columns(y_true: Any, y_pred: Any, y_score: Any) -> dict[str, Column]:
    """True values, if any, and predictions (or scores in their place), as columns."""
    if y_score is not None:
        raise ParameterError("y_pred and y_score are both given: pass the predictions or, in their place, scores")
    given = {"y_true": y_true, "y_pred": y_pred}
    return {name: read_column(data, name, name=name) for name, data in given.items() if data is not None}


def _own_outcome(function: Any, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
    """A user's function of true and predicted values, as one finite number per person."""
    name = name_of(function)
    try:
        values = function(y_true.copy(), y_pred.copy())
        # A masked value is none.
        e = np.asarray(values.astype(float).filled(np.nan) if np.ma.is_masked(values) and np.ndim(values) else values)
    except Exception as error:
        raise ParameterError(f"of={name} raised {type(error).__name__}: {error}") from error
    if e.shape != y_pred.shape or e.dtype.kind not in "biuf":
        raise ParameterError(
            f"of={name} must return one number per person, of shape {y_pred.shape}; found {e.dtype} of shape {e.shape}"
        )
    e = e.astype(float)
    bad = int((~(np.abs(e) < LARGEST)).sum())
    if bad:
        raise ParameterError(f"of={name} returned {bad:,} values among {len(e):,} that are NaN or infinite")
    return e


#: What each outcome is called.
OUTCOMES = {
    "prediction": "predictions",
    "score": "scores",
    "residual": "residuals (true minus predicted)",
    "absolute_error": "absolute errors",
}


class OutcomeTest(GroupsTest):
    """A test of one outcome of each person: the prediction, the score, the error, or a function of labels."""

    _of: ClassVar[str] = "of"
    #: Outcomes that have a name, and the method of the test.
    _outcomes: ClassVar[tuple[str, ...]]
    _method: ClassVar[str]
    of: Any
    alternative: str

    def __sklearn_tags__(self) -> Tags:
        """Declare whether true values are required."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_truth
        return tags

    @property
    def _needs_truth(self) -> bool:
        return callable(self.of) or self.of not in ("prediction", "score")

    @property
    def _responses(self) -> tuple[str, ...]:
        """The methods whose scores stand in place of predictions."""
        return ("predict_proba", "decision_function") if self.of == "score" else ()

    def _check(self) -> tuple[Settings, None]:
        check_seed(self.random_state)
        if not callable(self.of):
            check_choice("of", self.of, self._outcomes)
        check_choice("alternative", self.alternative, ("two-sided", "greater", "less"))
        return check_settings(**{**self.get_params(), "method": self._method}), None

    def _ask(self, estimator: Any, inputs: Inputs, metrics: Any, needed: Any, common: Any) -> tuple[Any, Any]:
        if not self._responses:
            return readers.predict(estimator, inputs.X, **common), None
        known = {"metric": "of", "pos_label": self.pos_label, "y_true": inputs.y, **common}
        return readers.scores(estimator, inputs.X, self._responses, **known), None

    def _values(self, columns: Any) -> Floats:
        """The outcome of each person; labels are kept."""
        y_true, classes = columns.get("y_true"), readers.classes_of(self.estimator) or ()
        if y_true is None and self._needs_truth:
            raise ParameterError(f"y is missing: of={name_of(self.of)} needs the true values; of='prediction' does not")
        readers.check_classes(() if y_true is None else y_true.levels, classes or None, self.pos_label)
        used = [column for name, column in columns.items() if name == "y_pred" or self._needs_truth]
        labels = [column for column in used if column.name == "y_true" or not self._responses]
        levels = {level for column in labels for level in column.levels}
        strange = levels.difference(classes) if len(classes) == 2 else ()
        if strange:
            raise ParameterError(
                f"y_true holds {brief(min(strange, key=str))}, which is neither of the estimator's classes "
                f"{classes[0]!r} and {classes[1]!r}"
            )
        if len(used) == 2 and len(used[0]) >= FEW_PEOPLE and all(len(column.levels) == 2 for column in used):
            readers.check_vocabularies({column.name: column.levels for column in used}, all_classes=True)
        pos_label, number = self.pos_label, next(filter(is_fraction, levels), None)
        if pos_label is not None and number is not None:
            raise ParameterError(f"pos_label={brief(pos_label)} is a label, and {number:g} is not: leave pos_label out")
        labelled = pos_label is not None
        # A function of several classes reads their labels as they are.
        if not labelled and not (callable(self.of) and len(classes) > 2):
            labelled = (
                bool(classes)
                or any(column.categorical or isinstance(column.levels[0], bool) for column in labels)
                or levels <= {0, 1}
                or levels <= {-1, 1}
            )
        if labelled and (levels or classes):
            pos_label = readers.resolve_pos_label(levels or classes, pos_label, classes or None)
        others = readers.other_labels(readers.sort_levels(levels or classes), pos_label)
        self.pos_label_, self.negative_labels_ = pos_label, others
        values: list[Floats] = []
        for column in used:
            if labelled and column.name in [label.name for label in labels]:
                values.append(np.array([float(level == pos_label) for level in column.levels])[column.codes])
            else:
                values.append(column.values if len(classes) > 2 else numbers(column, column.name))
        if callable(self.of):
            return _own_outcome(self.of, *values)
        if not self._needs_truth:
            return values[0]
        left = values[0] - values[1]
        return left if self.of == "residual" else np.abs(left)

    def _store(self, result: Result, sample: Sample, method: str) -> None:
        self._set_verdict(result)
        self._outcome = OUTCOMES[self.of] if isinstance(self.of, str) else f"values of {name_of(self.of)}"
        self.method_, self.n_samples_ = method, sample.n_samples
        self._keep_parameters()


@dataclass(frozen=True, eq=False)
class Measure:
    """A metric as each row's contribution to its sums (n_rows, K), and how these are tested."""

    metric: Metric
    sums: Sums
    rows: Floats


def measure_of(design: Design, metric: Metric) -> Measure:
    """The sums of a rate or of a mean, and the contribution of each row of people."""
    sample = design.sample
    check_columns(sample, [metric], design.settings)
    if isinstance(metric, Rate):
        columns = {name: sample.labels_of(name) for name in sorted(metric.reads)}
        event, given = masks_of(metric, columns, design.pos_label)
        return Measure(metric, RateSums(scale_of(metric)), np.stack([event, given], axis=1).astype(float))
    if not isinstance(metric, BuiltIn):
        raise _cannot_be_scanned(metric)
    check_numbers(design, metric)
    context = Context({name: sample.columns[name] for name in metric.reads}, positive_for(design, metric))
    functional = metric.functional(context)
    if type(functional) is Share and functional.value is None and set(np.unique(functional.given)) <= {0.0, 1.0}:
        return Measure(metric, RateSums(Scale()), np.stack([functional.event, functional.given], axis=1))
    if type(functional) is not Mean:
        raise _cannot_be_scanned(metric)
    z = _without_noise(functional.z + functional.centre)
    if set(np.unique(z + functional.origin)) <= {0.0, 1.0}:
        return Measure(metric, RateSums(Scale()), np.stack([z + functional.origin, np.ones(len(z))], axis=1))
    values, place = np.unique(z, return_inverse=True)
    counts = np.bincount(place.reshape(-1), sample.counts)
    centre = float((values * counts).sum() / counts.sum())
    z = z - centre
    return Measure(metric, MeanSums(centre + functional.origin), np.stack([np.ones(len(z)), z, z * z], axis=1))


def _without_noise(z: Floats) -> Floats:
    """Round away the rounding error of centring, which depends on the number of rows."""
    unit = 2.0 ** (np.frexp(np.abs(z).max(initial=0.0))[1] - 44)
    return np.asarray(np.round(z / unit) * unit)


def means() -> list[str]:
    """The names of the metrics that are means over people."""
    columns = {"y_true": [0, 1], "y_pred": [0, 1], "y_score": [0.25, 0.5]}
    context = Context({name: read_column(values, name) for name, values in columns.items()}, 1)
    return [name for name, declared in SCORES.items() if type(declared.functional(context)) is Mean]


def _cannot_be_scanned(metric: Metric) -> ParameterError:
    if isinstance(metric, Calibration):
        return ParameterError(
            f"metric: {metric.name!r} follows the whole curve of a group's scores, which is not a sum over its people. "
            "A scan compares calibration by metric='mean_residual': within intervals of scores if they are one of "
            "features and compare='in_context', or within equal scores if they are control_features; test "
            f"{metric.name!r} for groups that you name, with FairnessTest"
        )
    return ParameterError(
        f"metric: {metric.name!r} is neither a rate nor a mean of one value per person, so sums over subgroups cannot "
        f"be made. A scan takes the rates {', '.join(RATES)}, the criteria {', '.join(CRITERIA)}, rates of your own "
        f"(skfairtest.Rate) and the means {', '.join(means())}; test {metric.name!r} for groups that you name, with "
        "FairnessTest"
    )
