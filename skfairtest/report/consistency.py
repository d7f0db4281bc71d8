"""A record is rebuilt from its facts, and must be the document that was given.

Whatever follows from other fields is computed again and compared with what was read, number for number within rounding.
What cannot be computed from a record, such as a sampled p-value, is compared with what it cannot be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

#: Relative rounding errors of stored numbers; a p-value so near the level may lie on either side of it.
ROUNDING = 1e-9
#: A p-value is implausible beside a statistic that is so many times, and so much, farther out than its own quantile.
TIMES, BEYOND = 3.0, 3.0
#: However far out a statistic is, few resamples or clusters may leave its p-value at this one, and few people at 1.
LARGEST_P, FEW = 0.7, 10


def at_most(p: float, level: float) -> bool:
    """Whether a p-value is at most a level; rounding does not decide between equal ones."""
    return p <= level * (1 + 1e-12)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(given: Any, due: Any, *, least: float = 1e-12) -> bool:
    """Whether two values are the same but for rounding, to which everything below `least` is due."""
    if _is_number(given) and _is_number(due):
        return math.isclose(given, due, rel_tol=ROUNDING, abs_tol=least) or (math.isnan(given) and math.isnan(due))
    return type(given) is type(due) and bool(given == due)


def _shown(value: Any) -> str:
    """Write a field's value; a number without its rounding errors."""
    return f"{value:.12g}" if isinstance(value, float) else f"{value!r:.60}"


def differences(given: Any, due: Any, place: str = "", *, without: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield a sentence for each place in which a document is not what was rebuilt from its facts.

    Parameters
    ----------
    given, due : object
        What was read, and what was rebuilt, as JSON has them. What was rebuilt has nothing to say about other keys.
    place : str
        Where both stand.
    without : frozenset of str
        Keys that are not compared.

    Yields
    ------
    str
        Which field says what, and what follows from the others.

    Examples
    --------
    >>> list(differences({"rows": [{"n": 3}]}, {"rows": [{"n": 4}]}))
    ['rows[0].n is 3, and must be 4: that follows from the rest of the record']
    """
    if isinstance(given, dict) and isinstance(due, dict):
        for name in (name for name in due if name not in without):
            yield from differences(given.get(name), due[name], f"{place}.{name}".lstrip("."), without=without)
    elif isinstance(given, list) and isinstance(due, list) and len(given) == len(due):
        for i, (one, other) in enumerate(zip(given, due, strict=True)):
            yield from differences(one, other, f"{place}[{i}]", without=without)
    elif not same(given, due, least=1e-300 if "p_value" in place.rpartition(".")[2] else 1e-12):
        yield f"{place} is {_shown(given)}, and must be {_shown(due)}: that follows from the rest of the record"


def implausible(row: Mapping[str, Any], estimate: str, *, equality: bool = True) -> Iterator[str]:
    """Yield a sentence for each number of a row that cannot be beside the others.

    Parameters
    ----------
    row : mapping
        A row with ``ci_low`` and ``ci_high``; where it is a comparison, with ``p_value``, ``p_value_adjusted`` and
        ``statistic``.
    estimate : str
        The column of which these are limits.
    equality : bool
        Whether the statistic is in standard errors from equality.

    Yields
    ------
    str
        Which number, and beside which.
    """
    low, value, high = (float(row[name]) for name in ("ci_low", estimate, "ci_high"))
    slack = ROUNDING * max(1.0, abs(value)) if math.isfinite(value) else 0.0
    if low > high or math.isnan(low) != math.isnan(high):
        yield f"ci_low is {_shown(low)}, and ci_high {_shown(high)}: the lower limit must come first"
    elif value < low - slack or value > high + slack:
        yield f"{estimate} is {_shown(value)}, and must lie in its interval, {_shown(low)} to {_shown(high)}"
    if "p_value_adjusted" not in row:
        return
    p, adjusted = float(row["p_value"]), float(row["p_value_adjusted"])
    if adjusted < p * (1 - ROUNDING):
        yield f"p_value_adjusted is {_shown(adjusted)}, and must be at least p_value, {_shown(p)}"
    statistic = abs(float(row.get("statistic", math.nan)))
    if equality and not math.isnan(statistic) and not math.isnan(p):
        quantile, few = _quantile(p), min(row.get("n_group", FEW), row.get("n_other", FEW)) < FEW
        if (
            p > LARGEST_P and not few and statistic > TIMES * quantile + BEYOND
        ) or quantile > TIMES * statistic + BEYOND:
            yield f"p_value is {_shown(p)}, which is implausible beside a statistic of {_shown(row['statistic'])}"


def _quantile(p: float) -> float:
    """The standard errors from zero at which a two-sided normal p-value is so large."""
    from statistics import NormalDist

    return -NormalDist().inv_cdf(p / 2) if p > 1e-300 else math.sqrt(-2 * math.log(1e-300))
