"""What scorers, frames and audited models are given: parameters of tests, and one value for each person."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError, brief
from skfairtest.readers.levels import listed


def check_test_params(params: Any, test: type[Any], taken: Mapping[str, str]) -> None:
    """Check that parameters are those of a test, and not `taken`, which says of each what to do instead.

    Raises
    ------
    ValueError
        If a name is unknown, or taken.
    """
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
