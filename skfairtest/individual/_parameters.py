"""Which values the parameters of the test may have, and what they mean for the people tested."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.base import check_seed
from skfairtest._utils.checks import check_choice, check_running, is_integer, is_number
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.individual._audited import derived_values
from skfairtest.individual.flow.quadratic import Ranges
from skfairtest.individual.models.features import Features
from skfairtest.individual.report import STATISTICS
from skfairtest.readers.levels import listed

#: Statistics of the difference that every person makes, not of their ratio.
OF_MEANS = ("ratio_of_means", "error_rate_ratio")
SOLVERS = ("implicit", "euler", "RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
#: Steps and their size where the caller says none: the same time, that of the paper.
STEPS = {"implicit": (25, 0.2)}
PAPERS_STEPS = (500, 0.01)
#: Candidates of a search where the caller says no number of steps.
CANDIDATES = 64
#: Folds of ``cross_fit=True``.
FOLDS = 5
#: A column of so few values, each of so many people on average, has levels.
MOST_LEVELS, PEOPLE_PER_LEVEL = 20, 5


def check_parameters(test: Any) -> None:
    """Check every parameter that can be checked without people.

    Raises
    ------
    ValueError
        If a value is not one of those allowed.
    """
    check_choice("statistic", test.statistic, ("auto", *STATISTICS))
    check_choice("solver", test.solver, SOLVERS)
    if not is_number(test.min_plausibility) or not 0 <= test.min_plausibility < 1:
        raise ParameterError(
            "min_plausibility must be a number from 0 (nobody is kept back) to below 1; found "
            f"{test.min_plausibility!r}"
        )
    positive = {"tolerance": True, "regularization": False, "step_size": True, "step_decay": False}
    for name, above in positive.items():
        value = getattr(test, name)
        if name == "step_size" and value is None:
            continue
        if not is_number(value) or not np.isfinite(value) or not (value > 0 if above else value >= 0):
            bound = "above 0" if above else "of at least 0"
            raise ParameterError(f"{name} must be a finite number {bound}; found {value!r}")
    if test.n_steps is not None and (not is_integer(test.n_steps) or test.n_steps < 1):
        raise ParameterError(f"n_steps must be an integer of at least 1, or None; found {test.n_steps!r}")
    folds = test.cross_fit
    if not isinstance(folds, bool) and (not is_integer(folds) or folds < 2):
        raise ParameterError(
            f"cross_fit must be True ({FOLDS} folds), False, or a number of folds, at least 2; found {folds!r}"
        )
    if not isinstance(test.require_trace, bool):
        raise ParameterError(f"require_trace must be True or False; found {test.require_trace!r}")
    check_running(test.confidence_level, test.n_jobs, test.verbose)
    check_seed(test.random_state)


def n_folds(cross_fit: bool | int) -> int:
    """Return the number of folds; 1: the metric is learned from the people tested."""
    return (FOLDS if cross_fit else 1) if isinstance(cross_fit, bool) else int(cross_fit)


def steps_of(test: Any) -> Floats:
    """Return the sizes of the steps."""
    number, size = STEPS.get(test.solver, PAPERS_STEPS)
    number = number if test.n_steps is None else test.n_steps
    size = size if test.step_size is None else test.step_size
    steps: Floats = size / np.arange(1.0, number + 1) ** test.step_decay
    return steps


def derived_of(given: Any, features: Features) -> dict[int, Callable[[Any], Any]]:
    """Read `derived`: functions by the position of the column that they compute.

    Raises
    ------
    ValueError
        If a column does not exist or is a category, or its function is none, or does not return the column.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(callable(function) for function in given.values()):
        raise ParameterError(
            "derived must map columns of X to functions of a table like X, such as "
            f"{{'rate': lambda X: X['a'] / X['b']}}; found {given!r}"
        )
    found: dict[int, Callable[[Any], Any]] = {}
    for name, function in given.items():
        columns = features.columns_of(name, "derived")
        if len(columns) > 1:
            raise ParameterError(f"derived[{name!r}] is a category: derived columns are numbers")
        values = features.values[:, columns[0]]
        again = derived_values(features.names[columns[0]], function, features.as_input(features.values), len(features))
        wrong = ~np.isclose(again, values, rtol=1e-6, atol=1e-6 * spread_of(values[:, None])[0])
        if wrong.any():
            raise ParameterError(
                f"derived[{name!r}] does not return this column of X: for {int(wrong.sum()):,} of {len(values):,} "
                f"people it differs, for instance {again[wrong][0]:g} for {values[wrong][0]:g}"
            )
        found[columns[0]] = function
    return found


def ranges_of(given: Any, features: Features, derived: tuple[int, ...] = ()) -> Ranges:
    """Read `feature_ranges`.

    Parameters
    ----------
    given : {"observed", "free"} or mapping
        Names or positions of features to (low, high), "free" or "frozen"; tuples of names or positions to "one_hot";
        features that are not named are as observed.
    features : Features
        The people.
    derived : tuple of int
        Columns that follow others.

    Raises
    ------
    ValueError
        If a feature or a range does not exist, a person starts outside of it, or it follows others.
    """
    d = len(features.names)
    low, high, frozen = np.full(d, -np.inf), np.full(d, np.inf), np.zeros(d, dtype=bool)
    if isinstance(given, str) and given == "free":
        return Ranges(low, high, frozen, features.blocks, derived=derived)
    if isinstance(given, str) and given == "observed":
        given = {}
    if not isinstance(given, Mapping):
        raise ParameterError(
            "feature_ranges must be 'observed', 'free', or map features to (low, high), 'free' or 'frozen', or tuples "
            f"of features to 'one_hot'; found {given!r}"
        )
    keys = {key: key if isinstance(key, tuple) else (key,) for key in given}
    categories = {name: columns for name, columns in features.groups if len(columns) > 1 and name in keys}
    numbers = [name for key, names in keys.items() for name in names if key not in categories]
    places = iter(named := features.positions(numbers, "feature_ranges"))
    if set(named) & set(derived):
        both = [features.names[column] for column in named if column in derived]
        raise ParameterError(f"feature_ranges: {listed(both)} follows other columns (derived), and has no range")
    blocks: list[tuple[int, ...]] = []
    for key, names in keys.items():
        where, value = f"feature_ranges[{key!r}]", given[key]
        if key in categories:
            if not (isinstance(value, str) and value == "frozen"):
                raise ParameterError(
                    f"{where} is a category: the only setting it can have is 'frozen'; found {value!r}"
                )
            frozen[list(categories[key])] = True
            continue
        if isinstance(key, tuple) != (isinstance(value, str) and value == "one_hot"):
            raise ParameterError(
                f"{where} is {value!r}: several features in a tuple are the indicators of one category, 'one_hot'; one "
                "feature has (low, high), or is 'free' or 'frozen'"
            )
        columns = tuple(islice(places, len(names)))
        if isinstance(key, tuple):
            _check_block(features.values[:, columns], where)
            blocks.append(columns)
        elif isinstance(value, str) and value == "frozen":
            frozen[columns] = True
        elif not (isinstance(value, str) and value == "free"):
            low[columns], high[columns] = _limits(value, features.values[:, columns[0]], where)
    known = [block for block in features.blocks if not frozen[block[0]]]
    rest = np.setdiff1d(np.arange(d), [*named, *derived, *(column for block in features.blocks for column in block)])
    found = [*known, *choices(features.values, rest)]
    levels = {}
    for column in np.setdiff1d(rest, [column for block in found for column in block]).tolist():
        values = np.unique(features.values[:, column])
        if len(values) <= min(MOST_LEVELS, len(features) / PEOPLE_PER_LEVEL):
            levels[column] = values
        else:
            low[column], high[column] = values[0], values[-1]
    return Ranges(low, high, frozen, (*blocks, *found), levels, derived)


def choices(values: Floats, columns: NDArray[np.intp]) -> list[tuple[int, ...]]:
    """Return the blocks of neighbouring columns of zeros and ones that sum to 1 for everybody.

    Examples
    --------
    >>> values = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> choices(values, np.arange(4))
    [(0, 1, 2)]
    """
    blocks: list[tuple[int, ...]] = []
    run: list[int] = []
    total = np.zeros(len(values))
    for column in columns.tolist():
        indicates = np.isin(values[:, column], (0.0, 1.0)).all() and (not run or run[-1] == column - 1)
        if not indicates or (total + values[:, column] > 1).any():
            run, total = [], np.zeros(len(values))
        if np.isin(values[:, column], (0.0, 1.0)).all():
            run, total = [*run, column], total + values[:, column]
            if len(run) > 1 and (total == 1).all():
                blocks.append(tuple(run))
                run, total = [], np.zeros(len(values))
    return blocks


def _limits(value: Any, column: Floats, where: str) -> tuple[float, float]:
    try:
        low, high = (float(limit) for limit in value)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{where} must be (low, high), 'free', 'frozen', or for a tuple of features 'one_hot'; found {value!r}"
        ) from None
    if not low < high:
        raise ParameterError(f"{where}: the lower limit {low:g} is not below the upper limit {high:g}")
    outside = (column < low) | (column > high)
    if outside.any():
        raise ParameterError(
            f"{where} is from {low:g} to {high:g}, and {int(outside.sum()):,} of {len(column):,} people start outside, "
            f"for instance at {column[outside][0]:g}: widen the range, or test the people inside"
        )
    return low, high


def _check_block(values: Floats, where: str) -> None:
    if values.shape[1] < 2:
        raise ParameterError(f"{where}: a block of categories has at least two columns")
    wrong = (values < 0).any(axis=1) | ~np.isclose(values.sum(axis=1), 1.0)
    if wrong.any():
        raise ParameterError(
            f"{where}: the columns of a block are shares that sum to 1, which is not so for {int(wrong.sum()):,} of "
            f"{len(values):,} people: name all columns of the category, before any scaling"
        )


def spread_of(values: Floats) -> Floats:
    """Return the standard deviations (divisor n) of columns; exactly 0 for a constant column."""
    return np.where(np.ptp(values, axis=0) > 0, values.std(axis=0), 0.0)


def scale_of(given: Any, features: Features, ranges: Ranges) -> Floats | None:
    """Read `feature_scale`: the size of one unit of the audit in each feature.

    Parameters
    ----------
    given : {None, "std"}, mapping or array-like
        None: the units of X. "std": the standard deviations (divisor n) of the people tested; for the columns of a
        choice, the square roots of its shares, which give every contrast between its categories a standard deviation of
        1, however they are encoded: the chi-squared distance of correspondence analysis. Constant columns keep their
        units.
    features : Features
        The people.
    ranges : Ranges
        Which columns are blocks.

    Raises
    ------
    ValueError
        If it is none of these, or a number is not above 0.
    """
    if given is None:
        return None
    scale = np.ones(len(features.names))
    if isinstance(given, str) and given == "std":
        spread = spread_of(features.values)
        scale = np.where(spread > 0, spread, 1.0)
        for block in ranges.blocks:
            share = features.values[:, block].mean(axis=0)
            scale[list(block)] = np.where(share > 0, np.sqrt(share), 1.0)
        return scale
    if isinstance(given, str):
        raise ParameterError(f"feature_scale must be None, 'std', numbers, or a mapping of features; found {given!r}")
    if isinstance(given, Mapping):
        numbers = _numbers(list(given.values()))
        numbers = numbers if numbers.shape == (len(given),) else np.full(len(given), np.nan)
        for name, number in zip(given, numbers.tolist(), strict=True):
            scale[list(features.columns_of(name, "feature_scale"))] = number
    else:
        scale = _numbers(given)
    if scale.shape != (len(features.names),) or not np.isfinite(scale).all() or not (scale > 0).all():
        raise ParameterError(
            f"feature_scale must hold one finite number above 0 for each of the {len(features.names)} features; found "
            f"{given!r}"
        )
    return scale


def _numbers(given: Any) -> Floats:
    """Return an array of floats; if these are not numbers, an array whose shape is refused."""
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.full((1, 1), np.nan)
