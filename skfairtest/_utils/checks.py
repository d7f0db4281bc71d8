"""Checks of parameters that every test has."""

import sys
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, TypeGuard

import numpy as np

from skfairtest._utils.errors import ParameterError, brief, meant_value
from skfairtest._utils.typing import Floats


def is_number(value: object) -> bool:
    """Whether a value is a real number, Python's or NumPy's, that a float can hold, and no boolean."""
    if isinstance(value, float | np.floating):
        return True
    return is_integer(value) and abs(value) <= sys.float_info.max


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, Python's or NumPy's, and neither a boolean nor a duration."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value holds others, one after the other, and is not text."""
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


def finite_numbers(values: Any) -> Floats:
    """Return values as an array of one dimension; an empty one if they are none, or not finite numbers."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.zeros(0)
    return array if array.ndim == 1 and np.isfinite(array).all() else np.zeros(0)


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    """Check that a parameter is one of its choices, texts or None.

    Examples
    --------
    >>> check_choice("method", "auto", ("auto", "exact"))
    """
    choices = tuple(choices)
    if not isinstance(value, str | None) or value not in choices:
        near = meant_value(value, choices)
        instead = f"; did you mean {near}?" if near else ""
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}; found {brief(value)}{instead}")


def check_number(
    name: str,
    value: Any,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    whole: bool = False,
    bounds: str = "[)",
    optional: bool = False,
) -> None:
    """Check that a parameter is a number, or a whole one, in a range; a bracket is a bound that belongs to the range.

    Examples
    --------
    >>> check_number("margin", 0.1, 0, 1)
    >>> check_number("n_folds", 1, 2, whole=True)
    Traceback (most recent call last):
    skfairtest._utils.errors.ParameterError: n_folds must be an integer of at least 2; found 1
    """
    if optional and value is None:
        return
    if is_integer(value) if whole else is_number(value):
        above = low < value if bounds[0] == "(" else low <= value
        if above and (value < high if bounds[1] == ")" else value <= high):
            return
    if bounds == "()" and high < np.inf:
        ranges = f" between {low:g} and {high:g}"
    else:
        ends = [(low, {"[": "of at least", "(": "above"}), (high, {"]": "at most", ")": "below"})]
        ranges = " and".join(
            f" {words[bound]} {end:,.10g}" for (end, words), bound in zip(ends, bounds, strict=True) if np.isfinite(end)
        )
    kind = "an integer" if whole else "a number"
    raise ParameterError(f"{name} must be {kind}{ranges}{', or None' if optional else ''}; found {brief(value)}")


def check_probability(name: str, value: Any) -> None:
    """Check that a level or a power lies between 0 and 1, and is neither.

    Examples
    --------
    >>> check_probability("alpha", 0.05)
    """
    check_number(name, value, 0, 1, bounds="()")


def check_running(confidence_level: Any, n_jobs: Any, verbose: Any) -> None:
    """Check what every test has: its level, processes, and whether it shows how far it is."""
    if n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise ParameterError(f"n_jobs must be an integer other than 0, or None; found {brief(n_jobs)}")
    check_probability("confidence_level", confidence_level)
    check_number("verbose", int(verbose) if isinstance(verbose, bool) else verbose, 0, whole=True)


def origin(values: Floats) -> float:
    """Return the smallest value if all lie far from 0 compared with their spread, else 0; subtracting it is exact.

    Examples
    --------
    >>> origin(np.array([1e9 + 1, 1e9])), origin(np.array([1.0, 2.0]))
    (1000000000.0, 0.0)
    """
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    return float(low) if high - low < min(abs(low), abs(high)) / 1024 else 0.0
