"""What scikit-learn's tools pass: whether it has a value for everybody, and what to say where it has not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError

__all__ = ["check_people", "lengths_of"]


def check_people(people: Any, passed: dict[str, Any]) -> None:
    """Check that what was passed has one value for each person.

    Parameters
    ----------
    people : array-like
        Labels, or what is predicted from.
    passed : dict
        Groups, strata, clusters and weights by the names of their parameters; None is passed over.

    Raises
    ------
    ValueError
        If a length differs: a search passes to every fold unsliced what is not as long as X, or is a dict.
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
                "Searches and cross-validation hand a dict to every fold unsliced: pass a DataFrame, as in "
                f"{name}=pandas.DataFrame({name})."
            )
        else:
            why = (
                "Searches and cross-validation pass to every fold, unsliced, what does not have one value for "
                f"each row of X: check its length against that of X. Called by hand, pass {name} of the people scored."
            )
        raise ParameterError(f"{name} has {wrong[0]:,} values for {n:,} people. {why}")


def lengths_of(values: Any) -> list[int]:
    """Return how many people values are of: one number, or that of each column of a mapping; none if of nobody.

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
