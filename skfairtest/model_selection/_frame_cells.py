"""Tests behind a frame of metrics: one cell is one metric among the people with one combination of control features.

A metric that is known by name has that name's test; another function is tested on the labels, or on rows of people if
it needs more.
"""

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from operator import call
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from fairlearn.metrics import MetricFrame, count
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import label
from skfairtest._utils.typing import Positions
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.engine import extreme_of, simultaneous
from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.frames import comparisons_columns, frame_of
from skfairtest.comparisons.people import Inputs
from skfairtest.comparisons.settings import check_settings
from skfairtest.group import FairnessTest
from skfairtest.group.fairness import result_of
from skfairtest.metrics import BuiltIn, Metric, Rate, resolve_metrics
from skfairtest.metrics.score_metric import parameters_of
from skfairtest.model_selection._out_of_fold import check_test_params
from skfairtest.readers import (
    Column,
    check_labels,
    check_vocabularies,
    read_values,
    resolve_pos_label,
    sort_levels,
)
from skfairtest.tables.rows import CELL_NAMES, Key

METHODS = ("between_groups", "to_overall")
DISPARITIES = ("difference", "ratio")
#: Columns of labels, one of which may be the positive one.
LABELS = ("y_true", "y_pred")
#: What the frame says of every test.
OF_THE_FRAME = {
    "estimator": "a frame takes predictions, not a model",
    "metric": "pass metrics to the frame instead",
    "compare": "use method= of difference_test() and the others",
    "reference_group": "groups are compared with each other, or with everyone",
    "disparity": "use difference_test() or ratio_test()",
    "random_state": "the frame's random_state seeds the tests too",
    "pos_label": "it is a parameter of the metric: use functools.partial(metric, pos_label=...)",
    "prediction_threshold": "pass y_pred=y_score >= threshold",
    "response": "a frame takes predictions, not a model",
}
#: Resamples at least of a function that is not known: each costs up to a hundred evaluations.
FEW_RESAMPLES = 199
#: Values are the same if they agree to this many digits; those of single precision do to six.
PRECISION = 1e-5
#: The columns of a test of a disparity, as they are where there is no test.
UNTESTED: dict[str, Any] = {
    **dict.fromkeys(("value", "ci_low", "ci_high"), np.nan),
    **dict.fromkeys(("group", "other")),
    **dict.fromkeys(("disparity", "statistic"), np.nan),
    **dict.fromkeys(("method", "reason"), ""),
    "p_value": np.nan,
    "concern": None,
}


def check_params(test_params: Any) -> dict[str, str]:
    """Check parameters of the tests; return what is wrong with them for one of the disparities."""
    check_test_params(test_params, FairnessTest, OF_THE_FRAME)
    wrong = {}
    for disparity in DISPARITIES:
        try:
            check_settings(**test_params, disparity=disparity, shares=False)
        except ValueError as error:
            wrong[disparity] = f"test_params: {error}"
    if len(wrong) == len(DISPARITIES):
        raise ParameterError(wrong["difference"])
    return wrong


def known_metric(function: Any) -> tuple[Callable[..., Any], Metric, Any] | None:
    """Return the built-in metric that a function computes, and its positive label; None if there is none."""
    known, positive = function, None
    if isinstance(function, partial):
        others = dict(function.keywords)
        positive = others.pop("pos_label", None)
        known = partial(function.func, *function.args, **others) if others or function.args else function.func
    try:
        metric, *further = resolve_metrics(known)
    except ValueError:  # it needs another argument
        return None
    if further or not isinstance(metric, Rate | BuiltIn) or metric.disparity is not None:
        return None  # a ratio of groups is not a metric of one group
    default = inspect.signature(function).parameters.get("pos_label")
    return known, metric, default.default if positive is None and default is not None else positive


# Functions as a test calls them ----------------------------------------------------------------


def of_labels(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of labels and predictions whose signature shows only whether it takes weights."""
    if "sample_weight" not in parameters_of(function):
        return partial(call, function)
    return lambda y_true, y_pred, sample_weight=None: function(y_true, y_pred, sample_weight=sample_weight)


def of_rows(function: Callable[..., Any], y_true: Any, y_pred: Any, params: Mapping[str, Any]) -> Callable[..., Any]:
    """Turn a function of people into one of row numbers, so that whatever a MetricFrame evaluates is a metric."""

    def of_numbers(y_true_: NDArray[Any], y_pred_: NDArray[Any]) -> Any:
        rows = np.asarray(y_pred_).astype(np.intp)
        return function(y_true[rows], y_pred[rows], **{name: values[rows] for name, values in params.items()})

    return of_numbers


def as_evaluated(name: str, values: Any) -> NDArray[Any]:
    """Return a copy of the values as MetricFrame reads them: superfluous dimensions are dropped."""
    try:
        array = np.array(values)
    except ValueError as error:
        raise ParameterError(f"{name} must hold one value per person: {error}") from error
    return np.squeeze(array) if array.size > 1 else array.reshape(array.size)


def stacked(values: NDArray[Any]) -> NDArray[Any]:
    """Return all people's values as MetricFrame passes them to a function: objects in the dtype that fits all."""
    return values if values.dtype.kind in "biufc" else np.stack(list(pd.Series(list(values))))


def check_labels_of(functions: Iterable[Callable[..., Any]], **values: NDArray[Any]) -> None:
    """Check that a function's true and predicted labels share values; scores and other values are not labels."""
    if all(known is not None and not known[1].reads >= set(LABELS) for known in map(known_metric, functions)):
        return
    labels = {}
    for name, column in values.items():
        with suppress(ValueError):
            read = read_values(column, name)
            if isinstance(read, Column):
                check_labels(read, name)
                labels[name] = read.levels
    check_vocabularies(labels, all_classes=True)


def keys_of(index: pd.Index) -> list[Key]:
    """Return the labels of an index as tuples; a label of one level may be a tuple itself."""
    return [(label,) for label in index] if index.nlevels == 1 else list(index)


def people_of(
    n: int, sensitive_features: Any, control_features: Any
) -> tuple[dict[Key, Positions], dict[str, NDArray[np.object_]]]:
    """Return the rows of each combination of control features, and each person's groups, as MetricFrame shows them."""
    frame = MetricFrame(
        metrics=lambda y_true, y_pred: y_pred,
        y_true=np.zeros(n),
        y_pred=np.arange(n),
        sensitive_features=sensitive_features,
        control_features=control_features,
    )
    n_control = len(frame.control_levels or ())
    columns = [np.full(n, None, dtype=object) for _ in frame.sensitive_levels]
    for key, rows in zip(keys_of(frame.by_group.index), frame.by_group, strict=True):
        for column, group in zip(columns, key[n_control:], strict=True):
            for row in rows if isinstance(rows, np.ndarray) else ():  # else a combination without people
                column[row] = group
    # MetricFrame lets features have the names of columns of labels.
    names = [f"feature {name}" if name in (*CELL_NAMES, "count") else name for name in frame.sensitive_levels]
    levels = zip(keys_of(frame.overall.index), frame.overall, strict=True) if n_control else [((), frame.overall)]
    people = {level: rows for level, rows in levels if isinstance(rows, np.ndarray)}
    return people, dict(zip(names, columns, strict=True))


class Cell(NamedTuple):
    """The result of one test: a row of `difference_test`, and all comparisons behind it."""

    row: dict[str, Any]
    comparisons: pd.DataFrame | None = None

    @classmethod
    def of(cls, result: Result) -> Self:
        """Take what a frame shows from a test's results."""
        verdict, leading = result.verdict, result.leading
        certain = [one for one in simultaneous(result).comparisons if not np.isnan(one.interval).any()]
        extreme = extreme_of(certain, result.settings.question.disparity)
        left_out = [one for one in result.excluded if one.comparisons > 0]
        reasons = dict.fromkeys(f"{label(one.group)}: {one.reason}" for one in left_out)
        row = UNTESTED | {
            "value": extreme.value,
            "ci_low": extreme.low,
            "ci_high": extreme.high,
            "group": leading.group,
            "other": leading.other,
            "disparity": float(leading.disparity),
            "statistic": float(leading.statistic),
            "method": leading.method,
            "reason": f"left out: {'; '.join(reasons)}" if reasons else "",
            "p_value": p_of(verdict.log_p),
            "concern": verdict.concern,
        }
        return cls(row, frame_of(comparisons_columns(result.comparisons)).drop(columns="stratum"))


@dataclass
class Cells:
    """All tests of a frame; each runs when its result is first needed."""

    #: Each metric's function and the people's further values that it takes.
    metrics: Mapping[Any, tuple[Callable[..., Any], Mapping[str, NDArray[Any]]]]
    labels: Mapping[str, NDArray[Any]]
    #: The rows of people with each combination of control features, and all people's groups.
    people: Mapping[Key, Positions]
    features: Mapping[str, NDArray[np.object_]]
    levels: Sequence[Key]
    by_group: pd.DataFrame
    params: Mapping[str, Any]
    seed: Any
    made: dict[tuple[Any, Key, str, str], Cell] = field(default_factory=dict)

    def cell(self, name: Any, level: Key, method: str = METHODS[0], disparity: str = DISPARITIES[0]) -> Cell:
        """Return the result for one metric and one combination of control features."""
        key = (name, level, method, disparity)
        if key not in self.made:
            made = self._make(*key)
            self.made[key] = Cell(UNTESTED | {"reason": made}) if isinstance(made, str) else Cell.of(made)
        return self.made[key]

    def quick(self, name: Any) -> bool:
        """Whether a test needs no function call for every resample."""
        function, params = self.metrics[name]
        return function is count or (set(params) <= {"sample_weight"} and known_metric(function) is not None)

    def _make(self, name: Any, level: Key, method: str, disparity: str) -> Result | str:
        """Return the results of a test, or why there are none."""
        values = zip(keys_of(self.by_group.index), self.by_group[name], strict=True)
        shown = {key[len(level) :]: value for key, value in values if key[: len(level)] == level}
        if self.metrics[name][0] is count:
            return "the size of a group is not an average over its people: there is nothing to test"
        for value in shown.values():
            if not np.isscalar(value):
                found = f"an array of shape {value.shape}" if hasattr(value, "shape") else type(value).__name__
                return f"the metric returns {found}, not one number"
        if level not in self.people:
            return "no people"
        rows = self.people[level]
        comparisons = len(shown) * (len(shown) - 1) // 2 if method == "between_groups" else len(shown)
        alpha = 1 - self.params.get("confidence_level", FairnessTest().confidence_level)
        # Enough for the smallest adjusted p-value to reach half the level.
        enough = {"n_resamples": max(FEW_RESAMPLES, int(np.ceil(2 * comparisons / alpha)))}
        reason = ""
        for way, function, y_true, y_pred, weight in self._ways(name, rows):
            test = FairnessTest(
                **{**({} if way == "name" else enough), **self.params},
                metric={str(name): function},
                compare=method,
                disparity=disparity,
                random_state=copy.deepcopy(self.seed),
            )
            groups = {feature: values[rows] for feature, values in self.features.items()}
            try:
                result = result_of(test, Inputs(y_pred, y_true, {"sensitive_features": groups, **weight}))
            except ValueError as error:
                reason = str(error)
                if way == "name":  # others may want all the people
                    break
                continue
            if way == "rows" or _agree(result, shown):
                return result
        return reason

    def _ways(self, name: Any, rows: Positions) -> Iterator[tuple[str, Callable[..., Any], Any, Any, dict[str, Any]]]:
        """Yield the ways in which a metric can be tested, best first; the last, by rows, agrees with the frame."""
        function, params = self.metrics[name]
        y_true, y_pred = (values[rows] for values in self.labels.values())
        params = {param: values[rows] for param, values in params.items()}
        if set(params) <= {"sample_weight"} and (known := known_metric(function)) is not None:
            of_name, metric, positive = known
            columns = self._as_read(metric, positive)
            if columns is not None:
                read = {key: values[rows] for key, values in columns.items()}
                yield "name", of_name, read.get("y_true"), read["y_pred"], params
        if not params:
            yield "labels", of_labels(function), y_true, y_pred, {}
        params = {param: stacked(values) for param, values in params.items()}
        numbers = np.arange(len(rows))
        yield "rows", of_rows(function, stacked(y_true), stacked(y_pred), params), 0 * numbers, numbers, {}

    def _as_read(self, metric: Metric, positive: Any) -> dict[str, NDArray[Any]] | None:
        """Return true labels and predictions as a known metric reads them; None where it cannot."""
        columns = {name: values for name, values in self.labels.items() if name in metric.reads or name == "y_pred"}
        if any(values.ndim > 1 for values in columns.values()):
            return None
        read = [name for name in columns if name in metric.reads and metric.needs_pos_label]
        if positive is None and read:
            labels = sort_levels(dict.fromkeys(level for name in read for level in columns[name].tolist()))
            try:
                positive = resolve_pos_label(labels, labels[1] if len(labels) == 2 else None)
            except ValueError:
                return None
        return columns | {name: (columns[name].astype(object) == positive).astype(int) for name in read}


def _agree(result: Result, shown: Mapping[Key, Any]) -> bool:
    """Whether a test's values are those shown, in every group where both are defined."""
    (measured,) = result.by_metric.values()
    assert result.sample is not None
    tested = dict(zip(result.sample.groups, measured.value[0].tolist(), strict=True))
    both = np.array([(value, float(shown[key])) for key, value in tested.items() if pd.notna(shown.get(key, np.nan))])
    value, other = both.reshape(-1, 2).T
    return bool(np.allclose(np.where(np.isnan(value), other, value), other, rtol=PRECISION, atol=1e-12))
