"""The table of adverse impact: rates of selection by category, and what employers and auditors compute of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.batches import batches
from skfairtest._utils.checks import is_number
from skfairtest._utils.errors import GroupsMissing, ParameterError
from skfairtest._utils.typing import Booleans, Integers
from skfairtest.group.fairness import FairnessTest
from skfairtest.inference.rates import Pair, equalities
from skfairtest.tables import CountTable

__all__ = ["COLUMNS", "FOUR_FIFTHS", "Category", "impact_frame"]

#: The ratio to the highest rate from which on a rate is taken to be near enough to it, by a rule of thumb.
FOUR_FIFTHS = 0.8
COLUMNS = [
    "feature", "category", "n", "share", "selected", "rate", "compared", "highest", "ratio", "ci_low", "ci_high",
    "p_value", "p_value_adjusted", "significant", "below_four_fifths", "standard_deviations", "shortfall_pool",
    "shortfall_highest", "to_four_fifths", "flips_four_fifths", "flips_test", "method",
]  # fmt: skip


@dataclass(frozen=True)
class Category:
    """People of one category, and how many of them were selected; `unknown`: whose category is not known."""

    name: Any
    n: int
    selected: int
    unknown: bool = False


def impact_frame(
    feature: str,
    categories: Sequence[Category],
    *,
    smallest_share: float = 0.02,
    confidence_level: float = 0.95,
    method: str = "auto",
) -> pd.DataFrame:
    """Compare each category's rate of selection with the highest one.

    Parameters
    ----------
    feature : str
        What divides people into categories.
    categories : sequence of Category
        All of them; the people of an unknown category are counted and not compared.
    smallest_share : float, default=0.02
        Categories with a smaller share of the people whose category is known are shown and not compared.
    confidence_level : float, default=0.95
        Of the intervals, which hold for all pairs of compared categories together.
    method : {"auto", "exact", "asymptotic"}
        As in `FairnessTest`.

    Returns
    -------
    DataFrame
        A row for each category, in the order given; see `FairnessAudit.impact_table` for its columns.

    Raises
    ------
    GroupsMissing
        If fewer than two categories can be compared.
    """
    if not is_number(smallest_share) or not 0 <= smallest_share < 1:
        raise ParameterError(f"smallest_share must be at least 0 and below 1; found {smallest_share!r}")
    known = sum(one.n for one in categories if not one.unknown)
    compared = [one for one in categories if not one.unknown and one.n >= max(2, smallest_share * known)]
    if len(compared) < 2:
        raise GroupsMissing(
            f"{feature}: rates are compared of at least two categories with {100 * smallest_share:g} % of the people; "
            f"found {', '.join(f'{one.name!r} ({one.n:,})' for one in compared) or 'none'}"
        )
    if not any(one.selected for one in compared):
        raise ParameterError(f"{feature}: nobody was selected in any category, so that no rates can be compared")
    table = CountTable(
        np.array([[[one.selected, one.n - one.selected] for one in compared]]),
        groups=[(place,) for place in range(len(compared))],
        cells=[(1,), (0,)],
        cell_names=["y_pred"],
        sensitive_names=[feature],
    )
    asked = {"metric": "selection_rate", "compare": "to_highest", "disparity": "ratio"}
    test = FairnessTest.from_table(table, **asked, confidence_level=confidence_level, method=method)
    tests = test.comparisons_.set_index("group")
    highest = compared[tests["other"].iloc[0]]
    place = {id(one): number for number, one in enumerate(compared)}
    pool = sum(one.selected for one in compared) / sum(one.n for one in compared)
    alpha = 1 - confidence_level
    rows = []
    for one in categories:
        row = {
            "feature": feature, "category": one.name, "n": one.n, "selected": one.selected,
            "share": np.nan if one.unknown or not known else one.n / known,
            "rate": one.selected / one.n if one.n else np.nan,
            "compared": id(one) in place, "highest": one is highest,
        }  # fmt: skip
        if id(one) in place:
            row["shortfall_pool"] = one.n * pool - one.selected
        if one is highest:
            row |= {"ratio": 1.0}
        elif id(one) in place:
            row |= _beside_highest(one, highest, tests.loc[[place[id(one)]]].iloc[0], alpha)
        rows.append(row)
    frame = pd.DataFrame(rows).reindex(columns=COLUMNS)
    whole = ["to_four_fifths", "flips_four_fifths", "flips_test"]
    return frame.astype(dict.fromkeys(whole, "Int64") | dict.fromkeys(["significant", "below_four_fifths"], "boolean"))


def _beside_highest(one: Category, highest: Category, found: pd.Series, alpha: float) -> dict[str, Any]:
    """Compare a category with the one whose rate is the highest."""
    x, n, top, m = one.selected, one.n, highest.selected, highest.n
    return {
        "ratio": found["disparity"],
        "ci_low": found["ci_low"],
        "ci_high": found["ci_high"],
        "p_value": found["p_value"],
        "p_value_adjusted": found["p_value_adjusted"],
        "significant": bool(found["concern"]),
        # Fractions are compared as whole numbers.
        "below_four_fifths": 5 * x * m < 4 * top * n,
        "standard_deviations": found["statistic"],
        "shortfall_highest": n * top / m - x,
        "to_four_fifths": _to_four_fifths(x, n, top, m),
        "flips_four_fifths": _flips_four_fifths(x, n, top, m),
        "flips_test": flips_of_test(x, n, top, m, alpha),
        "method": found["method"],
    }


def _to_four_fifths(x: int, n: int, top: int, m: int) -> int:
    """Return how many more have to be selected for a rate of four fifths of the highest."""
    return max(0, -((5 * x * m - 4 * top * n) // (5 * m)))


def _flips_four_fifths(x: int, n: int, top: int, m: int) -> int:
    """Return after how many changed decisions on this category the ratio lies on the other side of four fifths."""
    if 5 * x * m < 4 * top * n:
        return _to_four_fifths(x, n, top, m)
    return (5 * x * m - 4 * top * n) // (5 * m) + 1


def flips_of_test(x: int, n: int, top: int, m: int, alpha: float) -> Any:
    """Return after how many changed decisions on a category the exact test of this pair alone says the opposite.

    Parameters
    ----------
    x, n : int
        How many of the category were selected, and how many there are.
    top, m : int
        The same of the category with the highest rate.
    alpha : float
        Level of the test.

    Returns
    -------
    int or NA
        People of the category more who are selected where the test is significant, up to the highest rate, and fewer
        where it is not. NA if it says the same however many they are.

    Examples
    --------
    >>> flips_of_test(2, 10, 15, 25, 0.05), flips_of_test(9, 40, 20, 40, 0.05)
    (1, 3)
    """

    def significant(events: Integers) -> Booleans:
        d1, x2, d2 = (np.array([value]) for value in (n, top, m))
        found = equalities([Pair(event, d1, x2, d2) for event in events[:, None]], "two-sided")
        return np.array([log_p <= np.log(alpha) + 1e-12 for log_p, _ in found])

    now = bool(significant(np.array([x]))[0])
    others = np.arange(x + 1, min(n, top * n // m) + 1) if now else np.arange(x - 1, -1, -1)
    for rows in batches(len(others), 32):
        changed = np.flatnonzero(significant(others[rows]) != now)
        if len(changed):
            return rows.start + int(changed[0]) + 1
    return pd.NA
