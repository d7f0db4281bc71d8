"""Predictions for every person from a model that was not trained on this person."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, StratifiedGroupKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import (
    _safe_indexing,  # documented, though private: the only one that takes rows of every container of scikit-learn's
    check_random_state,
    get_tags,
    indexable,
)
from sklearn.utils.metadata_routing import get_routing_for_object

from skfairtest._utils.errors import ParameterError, brief, held_back
from skfairtest.model_selection.splitter import SensitiveStratifiedKFold, crossing
from skfairtest.readers import Column, ask, classes_of, read_column
from skfairtest.readers.levels import listed


def check_test_params(params: Any, test: type[Any], taken: Mapping[str, str]) -> None:
    """Check that parameters are those of a test, and not `taken`, which says of each what to do instead."""
    if not isinstance(params, Mapping):
        raise ParameterError(
            f"test_params must be a dict of parameters of {test.__name__}, such as {{'confidence_level': 0.9}}; found "
            f"{brief(params)}"
        )
    known = sorted(set(test().get_params(deep=False)) - set(taken))
    for name in params:
        if name in taken:
            raise ParameterError(f"test_params cannot set {name}: {taken[name]}")
    unknown = [name for name in params if name not in known]
    if unknown:
        raise ParameterError(f"test_params: {test.__name__} has no {listed(unknown)}; there are {', '.join(known)}")


def check_people(people: Any, passed: Mapping[str, Any]) -> None:
    """Check that what was passed has one value for each person."""
    n = next(iter(lengths_of(people)), None)
    if n is None:  # not even people: a test refuses it by its name
        return
    for name, values in passed.items():
        wrong = [length for length in lengths_of(values) if length != n]
        if not wrong:
            continue
        if isinstance(values, dict):
            why = (
                "Searches and cross-validation pass a dict to every fold without slicing it: pass a DataFrame, as in "
                f"{name}=pandas.DataFrame({name})."
            )
        else:
            why = (
                "Searches and cross-validation slice only values with one entry per row of X and pass all others "
                "whole to every fold: check that its length is that of X. If you call the scorer yourself, pass "
                f"{name} of the people scored."
            )
        raise ParameterError(f"{name} has {wrong[0]:,} values for {n:,} people. {why}")


def lengths_of(values: Any) -> list[int]:
    """Return the number of people in some values: one number, or one per column of a mapping; none if there are none.

    Examples
    --------
    >>> (
    ...     lengths_of({"sex": ["f", "m"], "age": [31, 44]}),
    ...     lengths_of({0: 1.0, 1: 2.0}),
    ...     lengths_of("balanced"),
    ... )
    ([2, 2], [], [])
    """
    if isinstance(values, str | bytes):
        return []
    if isinstance(values, Mapping):
        return [length for column in values.values() for length in lengths_of(column)]
    shape = getattr(values, "shape", None)  # sparse matrices have no length
    if shape is None and hasattr(values, "__array__"):
        shape = np.asarray(values).shape
    if shape is not None:
        return [int(shape[0])] if shape else []
    return [len(values)] if hasattr(values, "__len__") else []


Rows = NDArray[np.intp]


def partition(
    cv: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    groups: Sequence[Column],
    clusters: Column | None,
    stratified: bool,
) -> list[tuple[Rows, Rows]]:
    """Split people into folds."""
    lengths = lengths_of(X)
    if not lengths:
        raise ParameterError(f"X must have a row for each person; found {brief(X)}.")
    if isinstance(cv, bool | bytes):  # bytes can be split, too
        raise ParameterError(f"cv must be a number of folds, a splitter or a list of (train, test); found {brief(cv)}.")
    splitter = 5 if cv is None else int(cv) if isinstance(cv, Integral) else cv
    if isinstance(splitter, int) and clusters is not None:
        if splitter > len(clusters.levels):
            raise ParameterError(f"cv={cv} folds of {len(clusters.levels)} clusters: every fold needs at least one.")
        if stratified:  # strata are labels of groups, as in SensitiveStratifiedKFold
            y = crossing([read_column(y, "y"), *groups])
        splitter = StratifiedGroupKFold(splitter) if stratified else GroupKFold(splitter)
    elif isinstance(splitter, int) and stratified and groups:
        splitter = SensitiveStratifiedKFold(splitter)
    splitter = check_cv(splitter, y, classifier=stratified)
    if clusters is None and isinstance(splitter, GroupKFold | StratifiedGroupKFold | LeaveOneGroupOut):
        raise ParameterError(
            f"cv={brief(cv)} keeps clusters together, but none were passed: pass clusters, or an integer cv."
        )
    offered = {"sensitive_features": sensitive_features, "groups": None if clusters is None else clusters.codes}
    if hasattr(splitter, "get_metadata_routing"):
        requests = get_routing_for_object(splitter).split.requests
        taken = {name for name in offered if requests.get(name) is True}
    else:
        taken = set(inspect.signature(splitter.split).parameters)
    passed = {name: data for name, data in offered.items() if data is not None and name in taken}
    with held_back():  # that a label of a group is missing from some folds is no harm to tests of all folds together
        splits = list(splitter.split(X, y, **passed))
    people = np.arange(lengths[0])  # negative positions and masks stand for people too
    found = [(people[train if len(train) else []], people[test if len(test) else []]) for train, test in splits]
    name = " ".join(repr(cv).split())
    name = name if len(name) <= 120 else f"{type(cv).__name__}(...)"
    if not np.array_equal(np.sort(np.concatenate([[], *(test for _, test in found)])), people):
        raise ParameterError(
            f"cv={name} does not test each of {lengths[0]:,} people exactly once, without which the test is not "
            "valid: use an integer, KFold, or another splitter that partitions."
        )
    for number, (train, test) in enumerate(found):
        seen = np.intersect1d(train, test).size
        divided = 0 if clusters is None else np.intersect1d(clusters.codes[train], clusters.codes[test]).size
        for what, wrong in {
            "trains on no one": not train.size,
            "tests no one": not test.size,
            f"tests {seen:,} of the people it trains on": seen,
            f"divides {divided:,} clusters between training and test": divided,
        }.items():
            if wrong:
                raise ParameterError(
                    f"cv={name}: fold {number} {what}, and only predictions for people who are new to a model show "
                    "how good it is: use an integer, KFold, or GroupKFold() with clusters."
                )
    return found


def takes_groups(estimator: Any, function: Any) -> bool:
    """Whether a method has the parameter sensitive_features, which fairlearn's reductions hide in ``**kwargs``."""
    if "sensitive_features" in inspect.signature(function).parameters:
        return True
    from fairlearn.reductions import ExponentiatedGradient, GridSearch

    return isinstance(estimator, ExponentiatedGradient | GridSearch) and function.__name__ == "fit"


def groups_of_fit(estimator: Any) -> str | None:
    """Return the name under which `fit` takes the groups, also in a pipeline's last step; None if it takes none."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = groups_of_fit(last)
        return None if inner is None else f"{name}__{inner}"
    return "sensitive_features" if takes_groups(estimator, estimator.fit) else None


def fitted(model: Any, X: Any, y: Any, params: Mapping[str, Any]) -> Any:
    """Fit a model; if a model inside it lacks the groups, raise an error that says how to pass them."""
    try:
        return model.fit(X, y, **params)
    except TypeError as error:
        if "sensitive_features" not in str(error):
            raise
        name = type(model).__name__
        raise ParameterError(
            f"estimator={name}(): a model inside needs sensitive_features in training, but {name}.fit does not pass "
            f"them on ({error}). Without routing, pass them to its step, as in fit(..., "
            "step__sensitive_features=groups). With routing enabled, it needs "
            "set_fit_request(sensitive_features=True) and a signature that names them: class "
            "Reduction(ExponentiatedGradient) with def fit(self, X, y, *, sensitive_features)."
        ) from error


def rows_of(data: Any, rows: Rows) -> Any:
    """Return some rows of a frame, array, sparse matrix, list or mapping of columns.

    Examples
    --------
    >>> rows_of({"sex": ["f", "m", "m"]}, np.array([2, 0]))
    {'sex': ['m', 'f']}
    """
    if isinstance(data, Mapping):
        return {name: rows_of(column, rows) for name, column in data.items()}
    if type(data).__module__.startswith("pyarrow"):  # scikit-learn 1.6 takes no rows of these
        return data.take(rows)
    return _safe_indexing(indexable(data)[0], rows)


class OutOfFold:
    """The models of all folds as one fitted model of the training data, with the methods that all of them have."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        splits: Sequence[tuple[Rows, Rows]],
        params: Mapping[str, Any],
        classes: tuple[Any, ...] | None,
    ) -> None:
        self.splits, self.classes_, self.models = splits, classes, []
        n_people = lengths_of(X)
        for train, _ in splits:
            given = {
                name: rows_of(value, train) if {*lengths_of(value)} == {*n_people} else value
                for name, value in params.items()
            }
            self.models.append(
                fitted(clone(estimator), _in_kernel(estimator, X, train, train), rows_of(y, train), given)
            )
        for method in ("predict", "predict_proba", "decision_function"):
            if all(hasattr(model, method) for model in self.models):
                setattr(self, method, partial(self._pooled, method))

    def _pooled(self, method: str, X: Any, *, sensitive_features: Any, random_state: int | None = None) -> NDArray[Any]:
        """Return a method's outputs for each person, from the model not trained on this person."""
        # One seed for all folds would draw the same luck for the first person of each, and so on.
        seeds: list[int | None] = [None] * len(self.splits)
        if random_state is not None:
            seeds = check_random_state(random_state).randint(2**31 - 1, size=len(self.splits)).tolist()
        parts = []
        for number, (model, (train, test), seed) in enumerate(zip(self.models, self.splits, seeds, strict=True)):
            classes = classes_of(model)
            if method != "predict" and classes is not None and classes != self.classes_:
                missing = [label for label in self.classes_ or () if label not in classes]
                raise ValueError(
                    f"the model of fold {number} was trained on no one with label {missing}, so its {method} has no "
                    "score for it: use folds that are stratified on the labels (an integer cv), or merge labels "
                    "that few people have."
                )
            groups = rows_of(sensitive_features, test)
            part = ask(model, method, _in_kernel(model, X, test, train), sensitive_features=groups, random_state=seed)
            if len(part) != len(test):
                raise ValueError(
                    f"{type(model).__name__}.{method} returned {len(part):,} values for {len(test):,} people: it "
                    "must return one value per row of X, in their order."
                )
            parts.append(part)
        order = np.argsort(np.concatenate([test for _, test in self.splits]))
        pooled: NDArray[Any] = np.concatenate(parts)[order]
        return pooled


def _in_kernel(estimator: Any, X: Any, rows: Rows, train: Rows) -> Any:
    """Return rows of X; for a precomputed kernel, in the columns of the people trained on."""
    part = rows_of(X, rows)
    pairwise = hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).input_tags.pairwise
    return part[:, train] if pairwise else part
