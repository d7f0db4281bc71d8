"""Predictions for every person from a model that was not trained on this person.

One model per fold is combined into an object that a test uses like a single fitted model. The test calls it on the
training data, and the prediction for each person comes from the model of the fold that left this person out.
`cross_val_predict` does so too, but hands the groups to no method that predicts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, StratifiedGroupKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import (
    _safe_indexing,  # documented, though private: the only one that takes rows of every container of scikit-learn's
    check_random_state,
    get_tags,
    indexable,
)
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.metaestimators import available_if

from skfairtest._utils.errors import ParameterError, brief, held_back
from skfairtest.model_selection.splitter import SensitiveStratifiedKFold
from skfairtest.readers import Column, ask, classes_of, read_column


def check_people(people: Any, passed: dict[str, Any]) -> None:
    """Check that what was passed has one value for each person.

    Parameters
    ----------
    people : array-like
        Labels, or what is predicted from.
    passed : dict
        Groups, strata, clusters and weights by the names of their parameters; None is ignored.

    Raises
    ------
    ValueError
        If a length differs: a search does not slice a value that is not as long as X, or is a dict, but passes all of
        it to every fold.
    """
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


Places = NDArray[np.intp]

#: Characters of a splitter's name that a message shows; lists of splits are longer.
_SHOWN = 120


def partition(
    cv: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    groups: Sequence[Column],
    clusters: Column | None,
    stratified: bool,
) -> list[tuple[Places, Places]]:
    """Split people into folds.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test), or None
        None means 5. With an integer, folds are stratified on request, and clusters stay together.
    X, y : array-like of n rows
        The people.
    sensitive_features : array-like
        For splitters that need it.
    groups : sequence of Column
        With an integer `cv`, folds are stratified on these together with the label; empty: on the label alone.
    clusters : Column or None
        Clusters, none of which is split between training and test.
    stratified : bool
        Whether `y` are labels.

    Returns
    -------
    list of (ndarray, ndarray)
        Positions of the people to train on and to test on.

    Raises
    ------
    ValueError
        If somebody is not tested exactly once, or is also in the training part, or people of the same cluster are.
    """
    lengths = lengths_of(X)
    if not lengths:
        raise ParameterError(f"X must have a row for each person; found {brief(X)}.")
    if isinstance(cv, bool | bytes):  # bytes can be split, too
        raise ParameterError(f"cv must be a number of folds, a splitter or a list of (train, test); found {brief(cv)}.")
    if cv is None or isinstance(cv, Integral):
        n_folds = 5 if cv is None else int(cv)
        kept = f"n_samples={lengths[0]} people" if clusters is None else f"{len(clusters.levels)} clusters"
        if n_folds > (lengths[0] if clusters is None else len(clusters.levels)):
            raise ParameterError(f"cv={n_folds} folds of {kept}: every fold needs at least one of them to test.")
        if clusters is not None and stratified:
            # Strata are labels of groups, as in SensitiveStratifiedKFold.
            codes = [column.codes for column in (read_column(y, "y"), *groups)]
            y = np.unique(np.stack(codes), axis=1, return_inverse=True)[1].reshape(-1)
            splitter = StratifiedGroupKFold(n_folds)
        elif clusters is not None:
            splitter = GroupKFold(n_folds)
        else:
            splitter = (
                SensitiveStratifiedKFold(n_folds)
                if stratified and groups
                else check_cv(n_folds, y, classifier=stratified)
            )
    else:
        splitter = check_cv(cv)
        if clusters is None and isinstance(splitter, GroupKFold | StratifiedGroupKFold | LeaveOneGroupOut):
            raise ParameterError(
                f"cv={brief(cv)} keeps clusters together, but none were passed: pass clusters, or an integer cv."
            )
    offered = {"sensitive_features": sensitive_features, "groups": None if clusters is None else clusters.codes}
    asked = {name: data for name, data in offered.items() if data is not None and _asks_for(splitter, name)}
    with held_back():  # that a label of a group is missing from some folds is no harm to tests of all folds together
        splits = list(splitter.split(X, y, **asked))
    everybody = np.arange(lengths[0])  # places counted from the end, and masks, are people like any other
    found = [(everybody[train if len(train) else []], everybody[test if len(test) else []]) for train, test in splits]
    _check(found, cv, lengths[0], clusters)
    return found


def _asks_for(splitter: Any, name: str) -> bool:
    if hasattr(splitter, "get_metadata_routing"):
        return get_routing_for_object(splitter).split.requests.get(name) is True
    return name in inspect.signature(splitter.split).parameters


def _check(splits: Sequence[tuple[Places, Places]], cv: Any, n_people: int, clusters: Column | None) -> None:
    tested = np.sort(np.concatenate([np.empty(0, dtype=np.intp), *(test for _, test in splits)]))
    if not np.array_equal(tested, np.arange(n_people)):
        raise ParameterError(
            f"cv={_name(cv)} does not test each of {n_people:,} people exactly once, without which the test is not "
            "valid: use an integer, KFold, or another splitter that partitions."
        )
    for number, (train, test) in enumerate(splits):
        if not train.size:
            raise ParameterError(
                f"cv={brief(cv)}: fold {number} trains on nobody: use an integer, KFold, or another splitter."
            )
        seen = np.intersect1d(train, test).size
        if seen:
            raise ParameterError(
                f"cv={_name(cv)}: fold {number} tests {seen:,} of the people it trains on; predictions for them would "
                "make the model look better than it is."
            )
        divided = 0 if clusters is None else np.intersect1d(clusters.codes[train], clusters.codes[test]).size
        if divided:
            raise ParameterError(
                f"cv={_name(cv)}: fold {number} divides {divided:,} clusters between training and test; predictions "
                "for people whose cluster was trained on would make the model look better than it is: use an integer "
                "or GroupKFold()."
            )


def _name(cv: Any) -> str:
    described = " ".join(repr(cv).split())
    return described if len(described) <= _SHOWN else f"{type(cv).__name__}(...)"


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


def has_keywords(parameters: Any) -> bool:
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())


Rows = NDArray[np.intp]


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


def rows_of_each(params: Mapping[str, Any], rows: Rows, n_people: int) -> dict[str, Any]:
    """Return rows of the parameters that have one value per person, and the others unchanged.

    Examples
    --------
    >>> rows_of_each(
    ...     {"sample_weight": [1, 2, 3], "class_weight": {0: 1, 1: 2}}, np.array([1]), 3
    ... )
    {'sample_weight': [2], 'class_weight': {0: 1, 1: 2}}
    """
    return {
        name: rows_of(value, rows) if set(lengths_of(value)) == {n_people} else value for name, value in params.items()
    }


def training_rows(estimator: Any, X: Any, rows: Rows, train: Rows) -> Any:
    """Return rows of X; for a precomputed kernel, in the columns of the people trained on."""
    part = rows_of(X, rows)
    pairwise = hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).input_tags.pairwise
    return part[:, train] if pairwise else part


class Fold(NamedTuple):
    """A model, the people it was trained on, and the people it was not.

    Parameters
    ----------
    model : object
        A fitted estimator.
    train, test : ndarray
        Positions of people.
    """

    model: Any
    train: Rows
    test: Rows


def _every_model_has(method: str) -> Callable[[OutOfFold], bool]:
    return lambda self: all(hasattr(fold.model, method) for fold in self.folds)


class OutOfFold:
    """The models of all folds, as one fitted model for the people in the training data.

    Parameters
    ----------
    folds : sequence of Fold
        Everybody is in the test part of exactly one.
    classes : tuple or None
        The labels of the whole data, in the order of the columns of scores.
    """

    def __init__(self, folds: Sequence[Fold], classes: tuple[Any, ...] | None) -> None:
        self.folds = folds
        self.classes_ = classes

    def predict(self, X: Any, *, sensitive_features: Any, random_state: int | None = None) -> NDArray[Any]:
        """Predict for everybody in the training data, each with the model that was not trained on this person."""
        return self._pooled("predict", X, sensitive_features, random_state)

    @available_if(_every_model_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, sensitive_features: Any, random_state: int | None = None) -> NDArray[Any]:
        """Return probabilities of the classes in the same way."""
        self._check_classes("predict_proba")
        return self._pooled("predict_proba", X, sensitive_features, random_state)

    @available_if(_every_model_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, *, sensitive_features: Any, random_state: int | None = None) -> NDArray[Any]:
        """Return scores of the classes in the same way."""
        self._check_classes("decision_function")
        return self._pooled("decision_function", X, sensitive_features, random_state)

    def _pooled(self, method: str, X: Any, sensitive_features: Any, random_state: int | None) -> NDArray[Any]:
        # One seed for all folds would draw the same luck for the first person of each, and so on.
        seeds: list[int | None] = [None] * len(self.folds)
        if random_state is not None:
            seeds = check_random_state(random_state).randint(2**31 - 1, size=len(self.folds)).tolist()
        parts = [
            _answers(fold, method, X, sensitive_features, seed) for fold, seed in zip(self.folds, seeds, strict=True)
        ]
        shapes = {part.shape[1:] for part in parts}
        if len(shapes) > 1:
            widths = ", ".join(map(str, sorted(shape[0] if shape else 1 for shape in shapes)))
            raise ValueError(
                f"{method} has different numbers of columns in different folds ({widths}), which cannot be "
                "combined: use folds that are stratified on the labels, such as an integer cv."
            )
        order = np.argsort(np.concatenate([fold.test for fold in self.folds]))
        pooled: NDArray[Any] = np.concatenate(parts)[order]
        return pooled

    def _check_classes(self, method: str) -> None:
        for number, fold in enumerate(self.folds):
            found = classes_of(fold.model)
            if found is not None and found != self.classes_:
                missing = [label for label in self.classes_ or () if label not in found]
                raise ValueError(
                    f"the model of fold {number} was trained on nobody with label {missing}, so its {method} has no "
                    "score for it: use folds that are stratified on the labels (an integer cv), or merge labels "
                    "that few people have."
                )


def _answers(fold: Fold, method: str, X: Any, sensitive_features: Any, seed: int | None) -> NDArray[Any]:
    part = ask(
        fold.model,
        method,
        training_rows(fold.model, X, fold.test, fold.train),
        sensitive_features=rows_of(sensitive_features, fold.test),
        random_state=seed,
    )
    if len(part) != len(fold.test):
        raise ValueError(
            f"{type(fold.model).__name__}.{method} returned {len(part):,} values for {len(fold.test):,} people: it "
            "must return one value per row of X, in their order."
        )
    return part
