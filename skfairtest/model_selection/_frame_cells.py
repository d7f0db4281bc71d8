"""Tests behind a frame of metrics: one cell is one metric among the people with one combination of control features.

The values tested are the values shown. A metric that is known by name has that name's test, which is exact for rates;
another function is tested on the labels, and on the rows of the people if it wants more than labels or if its values
differ from those that the frame shows.
"""

import copy
import inspect
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from operator import call
from typing import Any, Self

import numpy as np
import pandas as pd
from fairlearn.metrics import count
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import label
from skfairtest._utils.typing import Positions
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.engine import check_question, compare, extreme_of, simultaneous
from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.frames import comparisons_frame
from skfairtest.comparisons.settings import check_settings
from skfairtest.group import FairnessTest
from skfairtest.inference.multiplicity import Extreme
from skfairtest.metrics import BuiltIn, Rate, resolve_metrics
from skfairtest.metrics.score_metric import parameters_of
from skfairtest.readers import (
    Column,
    check_codings,
    check_labels,
    check_vocabularies,
    read_column,
    read_values,
    resolve_pos_label,
    sort_levels,
)
from skfairtest.tables import Sample
from skfairtest.tables.rows import CELL_NAMES, Key


@dataclass(frozen=True)
class KnownMetric:
    """A function that computes a built-in metric.

    Parameters
    ----------
    function : callable
        The function, without its arguments about labels. The metric itself holds functions, which do not pickle.
    reads : frozenset of str
        Columns that it needs.
    asks : bool
        Whether it needs the positive label.
    pos_label : object
        The label that the function treats as positive; None where the function infers it from the labels.
    """

    function: Callable[..., Any]
    reads: frozenset[str]
    asks: bool
    pos_label: Any


@dataclass(frozen=True)
class MetricOf:
    """One metric of a frame.

    Parameters
    ----------
    name : object
        What the frame calls it.
    function : callable or None
        What computes it; None if everything was computed before it was dropped.
    params : mapping of str to ndarray
        Its sample parameters.
    """

    name: Any
    function: Callable[..., Any] | None = field(repr=False)
    params: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)

    @cached_property
    def known(self) -> KnownMetric | None:
        """The equivalent built-in metric, if any; weights are the only sample parameter it may have."""
        return _known_metric(self.function) if set(self.params) <= {"sample_weight"} else None

    @property
    def counts_people(self) -> bool:
        """Whether it is the size of a group."""
        return self.function is count


def _known_metric(function: Callable[..., Any] | None) -> KnownMetric | None:
    if function is None:
        return None
    known, positive = function, None
    if isinstance(function, partial):
        others = dict(function.keywords)
        positive = others.pop("pos_label", None)
        known = partial(function.func, *function.args, **others) if others or function.args else function.func
    try:
        found = resolve_metrics(known)
    except ValueError:  # it needs another argument
        return None
    metric = found[0]
    if len(found) > 1 or not isinstance(metric, Rate | BuiltIn) or metric.disparity is not None:
        return None  # a ratio of groups is no metric of one group
    if positive is None:
        signature = inspect.signature(function).parameters
        positive = signature["pos_label"].default if "pos_label" in signature else None
    return KnownMetric(known, metric.reads, metric.needs_pos_label, positive)


# Functions as a test calls them ----------------------------------------------------------------


def of_labels(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of labels and predictions whose signature shows only whether it takes weights."""
    if "sample_weight" not in parameters_of(function):
        return partial(call, function)
    return lambda y_true, y_pred, sample_weight=None: function(y_true, y_pred, sample_weight=sample_weight)


@dataclass(frozen=True)
class OfRows:
    """A function of people as a function of their row numbers.

    In this way, whatever a MetricFrame can evaluate, with any sample parameters and predictions of any shape, becomes a
    metric of one number per person, the row number. Rows that occur twice in a resample are passed twice.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred, **params)``.
    y_true, y_pred : ndarray of shape (n, ...)
        Of everybody.
    params : mapping of str to ndarray of shape (n,)
        Of everybody.
    """

    function: Callable[..., Any]
    y_true: NDArray[Any] = field(repr=False)
    y_pred: NDArray[Any] = field(repr=False)
    params: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)

    def __call__(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Any:
        """Evaluate the function for the rows whose numbers are passed as predictions."""
        rows = np.asarray(y_pred).astype(np.intp)
        params = {name: values[rows] for name, values in self.params.items()}
        return self.function(self.y_true[rows], self.y_pred[rows], **params)


def as_evaluated(values: Any) -> NDArray[Any]:
    """Return the values of everybody as MetricFrame reads them, a copy: superfluous dimensions are dropped."""
    array = np.array(values)
    return np.squeeze(array) if array.size > 1 else array.reshape(array.size)


def stacked(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values of everybody as MetricFrame passes them to a function: objects in the dtype that fits all."""
    return values if values.dtype.kind in "biufc" else np.stack(list(pd.Series(list(values))))


#: Names that a table of counts has a use for; MetricFrame lets features have them.
TAKEN = (*CELL_NAMES, "count")


def read_features_of(features: Any, names: Sequence[str] | None, parameter: str) -> tuple[Column, ...]:
    """Read features from every container that MetricFrame takes, row by row as it does.

    Parameters
    ----------
    features : Series, DataFrame, dict, list or array; None
        As MetricFrame was given them. A frame of another library has no names there.
    names : sequence of str or None
        What MetricFrame calls them.
    parameter : str
        The caller's name of `features`, for error messages.

    Returns
    -------
    tuple of Column
        One per name.

    Raises
    ------
    ValueError
        If values are missing.
    """
    if not names:
        return ()
    columns: list[Any]
    if isinstance(features, dict):
        features = pd.DataFrame.from_dict(features)
    if isinstance(features, pd.DataFrame):
        columns = [features.iloc[:, place] for place in range(features.shape[1])]
    elif isinstance(features, pd.Series):
        columns = [features]
    else:
        array = features if isinstance(features, np.ndarray) else np.asarray(features, dtype=object)
        array = np.squeeze(array) if array.size > 1 else array.reshape(-1)
        columns = [array] if array.ndim == 1 else list(array.T)
    # People are paired by their places: an index, which may order them otherwise, says nothing here.
    bare = [column.reset_index(drop=True) if isinstance(column, pd.Series) else column for column in columns]
    told_apart = [f"feature {name}" if name in TAKEN else name for name in names]
    return tuple(read_column(column, parameter, name=name) for column, name in zip(bare, told_apart, strict=True))


def check_labels_of(functions: Iterable[Callable[..., Any]], **values: NDArray[Any]) -> None:
    """Check that labels which a function compares are of one vocabulary."""
    if any(known is None or known.reads >= set(LABELS) for known in map(_known_metric, functions)):
        labels = {name: read_labels(its, name) for name, its in values.items()}
        held = {name: column.levels for name, column in labels.items() if column is not None}
        check_vocabularies(held)
        check_codings(held)


def read_labels(values: NDArray[Any], name: str) -> Column | None:
    """Return labels that can be counted; None for scores, numbers of many values, and several values per person."""
    if values.ndim != 1:
        return None
    try:
        column = read_values(values, name)
        if not isinstance(column, Column):
            return None
        check_labels(column, name)
    except ValueError:
        return None
    return replace(column, index=None)


def positive_of(columns: Sequence[Column], asked: Any) -> Any:
    """Return the label that scikit-learn's and fairlearn's functions treat as positive.

    Raises
    ------
    ValueError
        If it is not known.
    """
    if asked is not None:
        return asked
    labels = sort_levels(dict.fromkeys(level for column in columns for level in column.levels))
    return resolve_pos_label(labels, labels[1] if len(labels) == 2 else None)


METHODS = ("between_groups", "to_overall")
DISPARITIES = ("difference", "ratio")
#: What the frame says of every test.
OF_THE_FRAME = {
    "estimator": "a frame takes predictions, not a model",
    "metric": "pass metrics to the frame instead",
    "compare": "use method= of difference_test() and the others",
    "reference_group": "groups are compared with each other, or with everybody",
    "disparity": "use difference_test() or ratio_test()",
    "random_state": "the frame's random_state seeds the tests too",
    "pos_label": "it is a parameter of the metric: use functools.partial(metric, pos_label=...)",
}
#: The tests whose p-values the frame's own display has.
SHOWN = ("between_groups", "difference")
#: Resamples at least of a function that is not known: each costs up to a hundred evaluations.
FEW_RESAMPLES = 199
#: Values are the same if they agree to so many digits; those of single precision do to six.
PRECISION = 1e-5
#: What the frame shows of one metric: per combination of control features, the value of every group.
Shown = Mapping[Key, Mapping[Key, Any]]

#: Columns of labels, one of which may be the positive one.
LABELS = ("y_true", "y_pred")


def check_test_params(test_params: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return checked parameters of the tests, and what is wrong with them for one of the disparities.

    Raises
    ------
    ValueError
        If a name is unknown or decided by the frame, or a value is not allowed.
    """
    if test_params is None:
        return {}, {}
    if not isinstance(test_params, Mapping):
        raise ParameterError(
            "test_params must be a dict of parameters of FairnessTest, such as {'confidence_level': 0.9}; found "
            f"{type(test_params).__name__}"
        )
    params = dict(test_params)
    known = FairnessTest().get_params()
    for name in params:
        if name in OF_THE_FRAME:
            raise ParameterError(f"test_params cannot set {name}: {OF_THE_FRAME[name]}")
        if name not in known:
            allowed = ", ".join(sorted(set(known) - set(OF_THE_FRAME)))
            raise ParameterError(f"test_params has no {name!r}; there are {allowed}")
    settings = {name: value for name, value in {**known, **params}.items() if name not in OF_THE_FRAME}
    wrong = {}
    for disparity in DISPARITIES:
        try:
            check_settings(disparity=disparity, unit=False, **settings)
        except ValueError as error:
            wrong[disparity] = f"test_params: {error}"
    if len(wrong) == len(DISPARITIES):
        raise ParameterError(wrong["difference"])
    return params, wrong


@dataclass(frozen=True)
class Cell:
    """The result of one test; a reason if there is none, or if groups were left out."""

    reason: str = ""
    extreme: Extreme = field(default=Extreme(np.nan, np.nan, np.nan))
    group: Any = None
    other: Any = None
    disparity: float = np.nan
    statistic: float = np.nan
    p_value: float = np.nan
    concern: bool | None = None
    method: str = ""
    comparisons: pd.DataFrame | None = field(default=None, repr=False)

    @classmethod
    def of(cls, result: Result) -> Self:
        """Take what a frame shows from a test's results."""
        verdict, leading = result.verdict, result.leading
        certain = [finding for finding in simultaneous(result).findings if not np.isnan(finding.interval).any()]
        left_out = [one for one in result.measured.excluded if one.comparisons > 0]
        reasons = dict.fromkeys(f"{label(one.group)}: {one.reason}" for one in left_out)
        return cls(
            f"left out: {'; '.join(reasons)}" if reasons else "",
            extreme_of(certain, result.measured.settings.question.disparity),
            leading.estimate.group,
            leading.estimate.other,
            float(leading.estimate.disparity),
            float(leading.evidence.statistic),
            p_of(verdict.log_p),
            verdict.concern,
            leading.evidence.method,
            comparisons_frame(result.findings).drop(columns="stratum"),
        )


class Cells:
    """All tests of a frame; each runs when its result is first needed.

    Parameters
    ----------
    metrics : sequence of MetricOf
        In the order of the frame.
    people : Sample or str
        Groups and strata; or the reason why there are none.
    y_true, y_pred : ndarray of shape (n, ...)
        As MetricFrame evaluates them.
    levels : sequence of tuple
        Combinations of control features; one empty tuple without any.
    shown : sequence of mapping
        Per metric, what the frame shows.
    params : mapping
        Parameters of the tests.
    seed : int, RandomState, Generator or None
        Their source of randomness, the same for all of them.
    """

    def __init__(
        self,
        metrics: Sequence[MetricOf],
        people: Sample | str,
        y_true: NDArray[Any],
        y_pred: NDArray[Any],
        *,
        levels: Sequence[Key],
        shown: Sequence[Shown],
        params: Mapping[str, Any],
        seed: Any,
    ) -> None:
        self.metrics, self.levels, self.shown = list(metrics), list(levels), list(shown)
        self.params, self.seed, self.people = dict(params), seed, people
        self.evaluated = {"y_true": y_true, "y_pred": y_pred}
        self.labels = {name: read_labels(values, name) for name, values in self.evaluated.items()}
        self._made: dict[tuple[int, Key, str, str], Cell] = {}

    def cell(self, number: int, level: Key, method: str, disparity: str) -> Cell:
        """Return the result for one metric and one combination of control features."""
        key = (number, level, method, disparity)
        if key not in self._made:
            self._made[key] = self._make(*key)
        return self._made[key]

    def is_quick(self, number: int, level: Key) -> bool:
        """Whether a test of differences has run already, or needs no function call for every resample."""
        metric = self.metrics[number]
        made = (number, level, *SHOWN) in self._made
        return made or metric.known is not None or isinstance(self.people, str) or metric.counts_people

    def _make(self, number: int, level: Key, method: str, disparity: str) -> Cell:
        metric, shown = self.metrics[number], self.shown[number].get(level, {})
        reason = self.people if isinstance(self.people, str) else _why_not(metric, shown.values())
        if reason:
            return Cell(reason)
        assert isinstance(self.people, Sample)
        try:
            people, rows = self.people.within(level)
        except ValueError as error:
            return Cell(str(error))
        comparisons = len(shown) * (len(shown) - 1) // 2 if method == "between_groups" else len(shown)
        alpha = 1 - self.params.get("confidence_level", FairnessTest().confidence_level)
        # Enough for the smallest adjusted p-value to reach half the level.
        enough = {"n_resamples": max(FEW_RESAMPLES, int(np.ceil(2 * comparisons / alpha)))}
        params = {**self.params, "compare": method, "disparity": disparity, "random_state": copy.deepcopy(self.seed)}
        known = None if metric.known is None else metric.known.function
        for tested, columns in self._ways(metric, rows):
            try:
                sample = Sample.from_predictions(**columns, sensitive_features=list(people.sensitive))
                few = enough if tested is not known else {}
                settings, metrics = check_question({str(metric.name): tested}, few | params)
                result = compare(sample, metrics, settings, random_state=params["random_state"])
            except ValueError as error:
                reason = str(error)
                if tested is known:  # others may want all the people
                    break
                continue
            if isinstance(tested, OfRows) or _agree(result, shown):
                return Cell.of(result)
        return Cell(reason)

    def _ways(self, metric: MetricOf, rows: Positions) -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
        """Yield the ways in which a metric can be tested, the best first: the function, and the columns that it reads.

        The last one, by rows, always agrees with the values shown.
        """
        chosen = {name: values[rows] for name, values in self.evaluated.items()}
        if metric.known is not None and (columns := self._columns_of(metric.known)) is not None:
            columns |= {name: values for name, values in metric.params.items() if name == "sample_weight"}
            yield metric.known.function, {name: values[rows] for name, values in columns.items()}
        function = metric.function
        assert function is not None  # where it was left behind all tests had been made
        if not metric.params and None not in self.labels.values():
            yield of_labels(function), chosen
        params = {param: stacked(values[rows]) for param, values in metric.params.items()}
        number = np.arange(len(rows))
        yield (
            OfRows(function, stacked(chosen["y_true"]), stacked(chosen["y_pred"]), params),
            {"y_true": np.zeros_like(number), "y_pred": number},
        )

    def _columns_of(self, known: KnownMetric) -> dict[str, Any] | None:
        """Return the columns that a known metric reads, the positive label as 1; None if it has no positive label."""
        columns = dict(self.evaluated)
        if any(values.ndim != 1 for values in columns.values()):
            return None
        if known.asks:
            labels = {name: self.labels[name] for name in LABELS if name in known.reads}
            try:
                positive = positive_of([column for column in labels.values() if column is not None], known.pos_label)
            except ValueError:
                return None
            for name, column in labels.items():
                if column is None:
                    return None
                columns[name] = np.array([int(level == positive) for level in column.levels])[column.codes]
        if "y_score" in known.reads:
            columns["y_score"] = columns.pop("y_pred")
        return {name: values for name, values in columns.items() if name in known.reads}

    def __getstate__(self) -> dict[str, Any]:
        """Run the tests of functions that cannot be pickled, and drop these functions."""
        metrics = list(self.metrics)
        for number, metric in enumerate(metrics):
            if not _pickles(metric.function):
                for key in product(self.levels, METHODS, DISPARITIES):
                    self.cell(number, *key)
                metrics[number] = replace(metric, function=None, params={})
        return {**self.__dict__, "metrics": metrics}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the tests themselves: their results are the same for every copy of their frame."""
        return self


def _why_not(metric: MetricOf, values: Any) -> str:
    """Return why a metric has no test, whatever the people."""
    if metric.counts_people:
        return "the size of a group is not an average over its people: there is nothing to test"
    for value in values:
        if not np.isscalar(value):
            shape = getattr(value, "shape", None)
            what = f"an array of shape {shape}" if shape is not None else type(value).__name__
            return f"the metric returns {what}, not one number"
    return ""


def _agree(result: Result, shown: Mapping[Key, Any]) -> bool:
    """Whether a test's values are those shown, in every group where both are defined."""
    (found,) = result.measured.by_metric.values()
    assert found.values is not None  # only metrics of all groups at once have no values by group
    assert result.measured.sample is not None
    for key, value in zip(result.measured.sample.groups, found.values.value[0].tolist(), strict=True):
        other = shown.get(key, np.nan)
        if not (np.isnan(value) or pd.isna(other) or np.isclose(value, float(other), rtol=PRECISION, atol=1e-12)):
            return False
    return True


def _pickles(function: Any) -> bool:
    try:
        pickle.dumps(function)
    except Exception:  # whatever an object's own methods raise
        return False
    return True
