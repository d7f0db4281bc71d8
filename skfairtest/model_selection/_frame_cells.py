"""Tests behind a frame of metrics: one cell is one metric among the people of one combination of control features.

What is tested is what is shown. A metric that is known by name takes the path of its name, which is exact for rates;
its values are compared with those that the frame shows, and where they are not the same the function itself is tested,
on the few different kinds of people where labels tell all, and on rows otherwise.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.stacklevel import warn
from skfairtest._utils.text import label
from skfairtest.comparisons.settings import check_settings
from skfairtest.group import FairnessTest
from skfairtest.group.extreme import Extreme, extreme_disparity
from skfairtest.model_selection._frame_metrics import KnownMetric, MetricOf, OfRows, of_kinds, stacked
from skfairtest.model_selection._frame_people import Counted, Features, Key, Listed, positive_of, read_labels
from skfairtest.readers import Column

__all__ = ["DISPARITIES", "METHODS", "Cell", "Cells", "check_test_params"]

METHODS = ("between_groups", "to_overall")
DISPARITIES = ("difference", "ratio")
#: What the frame says of every test.
OF_THE_FRAME = {
    "estimator": "a frame is of predictions",
    "metric": "the metrics are the frame's",
    "compare": "use method= of difference_test() and the others",
    "reference_group": "groups are compared with each other, or with everybody",
    "disparity": "use difference_test() or ratio_test()",
    "random_state": "the frame's random_state seeds the tests too",
    "pos_label": "it is the metric's: use functools.partial(metric, pos_label=...)",
}
#: Resamples at least of a function that is not known: each costs up to a hundred evaluations.
FEW_RESAMPLES = 199
#: Values are the same if they agree to so many digits; those of single precision do to six.
PRECISION = 1e-5
#: What the frame shows of one metric: per combination of control features, the value of every group.
Shown = Mapping[Key, Mapping[Key, Any]]


def check_test_params(test_params: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return checked parameters of the tests, and what is wrong with them where one of the disparities is tested.

    Raises
    ------
    ValueError
        If a name is unknown or the frame's, or a value is not allowed.
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
    """The answer of one test; a reason where there is none, or where groups were left out."""

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
    def of(cls, test: FairnessTest) -> Cell:
        """Take what a frame shows from a fitted test."""
        rows = test.comparisons_
        leading = rows.iloc[test._leading]
        certain = rows[rows[["ci_low", "ci_high"]].notna().all(axis=1)]
        left_out = test.excluded_[test.excluded_["comparisons"] > 0]
        reasons = dict.fromkeys(
            f"{label(group)}: {reason}" for group, reason in zip(left_out["group"], left_out["reason"], strict=True)
        )
        return cls(
            f"left out: {'; '.join(reasons)}" if reasons else "",
            extreme_disparity(certain, test.disparity),
            leading["group"],
            leading["other"],
            test.disparity_,
            test.statistic_,
            test.p_value_,
            test.concern_,
            leading["method"],
            rows.drop(columns="stratum"),
        )


class Cells:
    """All tests of a frame, each made when it is first asked for.

    People are counted here, once; they are kept one by one only if a metric needs them.

    Parameters
    ----------
    metrics : sequence of MetricOf
        In the order of the frame.
    features : Features or str
        Groups and strata; or why there are none.
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
        features: Features | str,
        y_true: NDArray[Any],
        y_pred: NDArray[Any],
        *,
        levels: Sequence[Key],
        shown: Sequence[Shown],
        params: Mapping[str, Any],
        seed: Any,
    ) -> None:
        self.metrics, self.levels, self.shown = list(metrics), list(levels), list(shown)
        self.params, self.seed = dict(params), seed
        self.problem = features if isinstance(features, str) else ""
        self.counted: Counted | None = None
        self.listed: Listed | None = None
        self._made: dict[tuple[int, Key, str, str], Cell] = {}
        self._unsaid: dict[tuple[int, Key, str, str], list[tuple[str, type[Warning]]]] = {}
        if isinstance(features, str):
            return
        read = {name: read_labels(values, name) for name, values in (("y_true", y_true), ("y_pred", y_pred))}
        labels = {name: column for name, column in read.items() if column is not None}
        if labels:
            self.counted = Counted.from_people(features, labels)
        if any(not self._suffice(metric, labels) for metric in self.metrics):
            self.listed = Listed(features, y_true, y_pred)

    @staticmethod
    def _suffice(metric: MetricOf, labels: Mapping[str, Column]) -> bool:
        """Whether counts of labels are all that a metric's test needs."""
        if metric.counts_people:
            return True
        return metric.known is not None and not metric.params and metric.known.reads <= set(labels)

    def cell(self, number: int, level: Key, method: str, disparity: str) -> Cell:
        """Return the answer for one metric and one combination of control features."""
        key = (number, level, method, disparity)
        if key not in self._made:
            self._made[key] = self._make(number, level, method, disparity)
        for message, category in self._unsaid.pop(key, ()):
            warn(message, category)
        return self._made[key]

    def shown_cell(self, number: int, level: Key) -> Cell:
        """Return the answer on differences for a frame that shows itself; what warns is said to who asks for it."""
        key = (number, level, "between_groups", "difference")
        if key not in self._made:
            with warnings.catch_warnings(record=True) as unsaid:
                warnings.simplefilter("always")
                self._made[key] = self._make(*key)
            self._unsaid[key] = [(str(said.message), said.category) for said in unsaid]
        return self._made[key]

    def is_quick(self, number: int, level: Key) -> bool:
        """Whether a test of differences has been made, or does without calling a function for every resample."""
        metric = self.metrics[number]
        made = (number, level, "between_groups", "difference") in self._made
        return made or metric.known is not None or bool(self.problem) or metric.counts_people

    def _make(self, number: int, level: Key, method: str, disparity: str) -> Cell:
        metric, shown = self.metrics[number], self.shown[number].get(level, {})
        reason = self.problem or _why_not(metric, shown.values())
        if reason:
            return Cell(reason)
        common = {"compare": method, "disparity": disparity, **self.params}
        reason = "the values shown cannot be computed again from counts of labels"
        few = {"n_resamples": self._enough(len(shown), method), **self.params}
        for way, fit in self._ways(metric, level, few):
            try:
                test = fit(**common, random_state=copy.deepcopy(self.seed))
            except ValueError as error:
                reason = str(error)
                if way == "kinds":  # a function may want all the people
                    continue
                break
            if way == "rows" or _agree(test, shown):
                return Cell.of(test)
        return Cell(reason)

    def _enough(self, groups: int, method: str) -> int:
        """Return as few resamples as leave the smallest adjusted p-value at half the level."""
        comparisons = groups * (groups - 1) // 2 if method == "between_groups" else groups
        alpha = 1 - self.params.get("confidence_level", FairnessTest().confidence_level)
        return max(FEW_RESAMPLES, int(np.ceil(2 * comparisons / alpha)))

    def _ways(
        self, metric: MetricOf, level: Key, few: Mapping[str, Any]
    ) -> Iterator[tuple[str, Callable[..., FairnessTest]]]:
        """Yield the ways in which a metric can be tested, the best first; that by rows is what is shown in any case."""
        name = str(metric.name)
        known = self._known(metric, level)
        if known is not None:
            yield "known", known
        function = metric.function
        assert function is not None  # where it was left behind all tests had been made
        if not metric.params and self.counted is not None and set(self.counted.cells) == {"y_true", "y_pred"}:
            yield "kinds", partial(self.counted.fit, level, metric={name: of_kinds(function)}, **few)
        if self.listed is not None:
            rows = OfRows(
                function,
                stacked(self.listed.y_true),
                stacked(self.listed.y_pred),
                {param: stacked(values) for param, values in metric.params.items()},
            )
            number = np.arange(len(rows.y_true))
            yield "rows", partial(self.listed.fit, level, np.zeros_like(number), number, metric={name: rows}, **few)

    def _known(self, metric: MetricOf, level: Key) -> Callable[..., FairnessTest] | None:
        """Return the test of a metric that is known; None where its labels are none, or nobody is positive."""
        known = metric.known
        if known is None:
            return None
        name = {str(metric.name): known.function}
        if self.counted is not None and not metric.params and known.reads <= set(self.counted.cells):
            recode = self._recode(known, [column for key, column in self.counted.cells.items() if key in known.reads])
            if known.asks and recode is None:
                return None
            return partial(self.counted.fit, level, recode, metric=name)
        if self.listed is None:
            return None
        arrays = {"y_true": self.listed.y_true, "y_pred": self.listed.y_pred}
        if any(values.ndim != 1 for values in arrays.values()):
            return None
        if known.asks:
            columns = {key: read_labels(arrays[key], key) for key in arrays if key in known.reads}
            labels = [column for column in columns.values() if column is not None]
            recode = self._recode(known, labels)
            if len(labels) < len(columns) or recode is None:
                return None
            for key, column in zip(columns, labels, strict=True):
                arrays[key] = np.array([recode(label) for label in column.levels])[column.codes]
        weight = metric.params.get("sample_weight")
        return partial(self.listed.fit, level, arrays["y_true"], arrays["y_pred"], weight, metric=name)

    @staticmethod
    def _recode(known: KnownMetric, columns: Sequence[Column]) -> Callable[[Any], int] | None:
        """Return what makes the positive label 1 and others 0, where the metric asks and it is settled."""
        if not known.asks:
            return None
        try:
            positive = positive_of(columns, known.pos_label)
        except ValueError:
            return None
        return lambda label: int(label == positive)

    def make_all(self, number: int) -> None:
        """Make all tests of one metric."""
        for level, method, disparity in product(self.levels, METHODS, DISPARITIES):
            self.cell(number, level, method, disparity)

    def __getstate__(self) -> dict[str, Any]:
        """Make the tests of functions that cannot be pickled, and leave these behind with the people they need."""
        metrics = list(self.metrics)
        for number, metric in enumerate(metrics):
            if not _pickles(metric.function):
                self.make_all(number)
                metrics[number] = replace(metric, function=None, params={})
        people = self.counted.cells if self.counted is not None else {}
        alone = all(metric.function is None or self._suffice(metric, people) for metric in metrics)
        return {**self.__dict__, "metrics": metrics, "listed": None if alone else self.listed}

    def __deepcopy__(self, memo: dict[int, Any]) -> Cells:
        """Return the tests themselves: they answer the same for every copy of their frame."""
        return self


def _why_not(metric: MetricOf, values: Any) -> str:
    """Say why a metric has no test, whoever the people are."""
    if metric.counts_people:
        return "the size of a group is no average over its people: there is nothing to test"
    for value in values:
        if not np.isscalar(value):
            shape = getattr(value, "shape", None)
            what = f"an array of shape {shape}" if shape is not None else type(value).__name__
            return f"the metric returns {what}, not one number"
    return ""


def _agree(test: FairnessTest, shown: Mapping[Key, Any]) -> bool:
    """Whether a test has measured what is shown, in every group where both are defined."""
    assert test.by_group_ is not None  # only metrics of all groups at once have no values by group
    for key, value in test.by_group_["value"].items():
        other = shown.get(key if isinstance(key, tuple) else (key,), np.nan)
        if not (np.isnan(value) or pd.isna(other) or np.isclose(value, float(other), rtol=PRECISION, atol=1e-12)):
            return False
    return True


def _pickles(function: Any) -> bool:
    try:
        pickle.dumps(function)
    except Exception:  # whatever an object's own methods raise
        return False
    return True
