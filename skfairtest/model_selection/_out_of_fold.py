"""Predictions for every person from a model that was not trained on this person.

One model per fold is combined into an object that a test uses like a single fitted model. The test calls it on the
training data, and the prediction for each person comes from the model of the fold that left this person out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import (
    _safe_indexing,  # documented, though private: the only one that takes rows of every container of scikit-learn's
    check_random_state,
    get_tags,
    indexable,
)
from sklearn.utils.metaestimators import available_if

from skfairtest.model_selection._check_lengths import lengths_of
from skfairtest.readers import ask, classes_of

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
            raise ValueError(
                f"{method} has different numbers of columns in different folds ({_widths(shapes)}), which cannot be "
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


def _widths(shapes: set[tuple[int, ...]]) -> str:
    return ", ".join(str(width) for width in sorted(shape[0] if shape else 1 for shape in shapes))


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
