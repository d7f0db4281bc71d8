"""Who is trained on and who is tested in each fold: everybody once, by a model that saw nobody of their cluster."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils.metadata_routing import get_routing_for_object

from skfairtest._utils.errors import ParameterError
from skfairtest.model_selection._check_lengths import lengths_of
from skfairtest.model_selection.splitter import SensitiveStratifiedKFold
from skfairtest.readers import Column, read_column

Rows = NDArray[np.intp]

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
) -> list[tuple[Rows, Rows]]:
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
        raise ParameterError(f"X must have a row for each person; found {X!r}.")
    n_people = lengths[0]
    if cv is None or (isinstance(cv, Integral) and not isinstance(cv, bool)):
        n_folds = 5 if cv is None else int(cv)
        if n_people < n_folds:
            raise ParameterError(
                f"cv={n_folds} folds of n_samples={n_people} people: every fold needs at least one person to test."
            )
        splits = _of_integer(n_folds, X, y, sensitive_features, groups, clusters, stratified)
    else:
        if isinstance(cv, bool | bytes):  # bytes can be split, too
            raise ParameterError(f"cv must be a number of folds, a splitter or a list of (train, test); found {cv!r}.")
        splitter = check_cv(cv)
        if clusters is None and isinstance(splitter, GroupKFold | StratifiedGroupKFold | LeaveOneGroupOut):
            raise ParameterError(
                f"cv={cv!r} keeps clusters together, but none were passed: pass clusters, or an integer cv."
            )
        offered = {"sensitive_features": sensitive_features, "groups": None if clusters is None else clusters.codes}
        asked = {name: data for name, data in offered.items() if data is not None and _asks_for(splitter, name)}
        splits = splitter.split(X, y, **asked)
    everybody = np.arange(n_people)  # places counted from the end, and masks, are people like any other
    found = [(_places(train, everybody), _places(test, everybody)) for train, test in splits]
    _check(found, cv, n_people, clusters)
    return found


def _of_integer(
    n_folds: int,
    X: Any,
    y: Any,
    sensitive_features: Any,
    groups: Sequence[Column],
    clusters: Column | None,
    stratified: bool,
) -> Iterable[tuple[Rows, Rows]]:
    if clusters is not None and len(clusters.levels) < n_folds:
        raise ParameterError(
            f"cv={n_folds} folds are more than the {len(clusters.levels)} clusters, which are kept together: use at "
            "most that many folds."
        )
    if not stratified:
        splitter = KFold(n_folds) if clusters is None else GroupKFold(n_folds)
        return list(splitter.split(X, groups=None if clusters is None else clusters.codes))
    with warnings.catch_warnings():
        # That a stratum is missing from some folds is no harm to tests of all folds together.
        warnings.filterwarnings("ignore", "The least populated class in y|.* fewer people than n_splits", UserWarning)
        if clusters is not None:
            codes = [column.codes for column in (read_column(y, "y"), *groups)]
            strata = np.unique(np.stack(codes), axis=1, return_inverse=True)[1].reshape(-1)
            return list(StratifiedGroupKFold(n_folds).split(X, strata, groups=clusters.codes))
        if groups:
            return list(SensitiveStratifiedKFold(n_folds).split(X, y, sensitive_features=sensitive_features))
    return list(StratifiedKFold(n_folds).split(X, y))


def _places(rows: Any, everybody: Rows) -> Rows:
    places = np.asarray(rows)
    people: Rows = everybody[places if places.size else places.astype(np.intp)]
    return people


def _asks_for(splitter: Any, name: str) -> bool:
    if hasattr(splitter, "get_metadata_routing"):
        return get_routing_for_object(splitter).split.requests.get(name) is True
    return name in inspect.signature(splitter.split).parameters


def _check(splits: Sequence[tuple[Rows, Rows]], cv: Any, n_people: int, clusters: Column | None) -> None:
    tested = np.sort(np.concatenate([np.empty(0, dtype=np.intp), *(test for _, test in splits)]))
    if not np.array_equal(tested, np.arange(n_people)):
        raise ParameterError(
            f"cv={_name(cv)} does not test each of {n_people:,} people exactly once, without which the test is not "
            "valid: use an integer, KFold, or another splitter that partitions."
        )
    for number, (train, test) in enumerate(splits):
        if not train.size:
            raise ParameterError(
                f"cv={cv!r}: fold {number} trains on nobody: use an integer, KFold, or another splitter."
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
