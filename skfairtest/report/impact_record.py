"""The record of impact tables: what reports of an audit say of rates of selection beside the highest one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd

from skfairtest.report._schema import (
    Reader,
    array,
    between,
    count,
    either,
    number,
    one_of,
    readers_of,
    record,
    scalar,
    text,
    truth,
)

__all__ = ["COLUMNS", "ImpactPart", "ImpactRecord", "framed", "impact_contradictions"]

_NULL, _SHARE = one_of(None), between(0, 1, null=True)
_COUNT, _TRUTH = either(_NULL, count), either(_NULL, truth)
#: What is said of a category beside its name, as `impact_table` has it.
FIELDS: dict[str, Reader] = {
    "n": count, "share": _SHARE, "selected": count, "rate": _SHARE, "compared": truth, "highest": truth,
    "ratio": number, "ci_low": number, "ci_high": number, "p_value": _SHARE, "p_value_adjusted": _SHARE,
    "significant": _TRUTH, "below_four_fifths": _TRUTH, "standard_deviations": number, "shortfall_pool": number,
    "shortfall_highest": number, "to_four_fifths": _COUNT, "flips_four_fifths": _COUNT, "flips_test": _COUNT,
    "method": either(_NULL, text),
}  # fmt: skip
COLUMNS = ["feature", "category", *FIELDS]
_KINDS = {
    "int64": ["n", "selected"],
    "bool": ["compared", "highest"],
    "boolean": ["significant", "below_four_fifths"],
    "Int64": ["to_four_fifths", "flips_four_fifths", "flips_test"],
    "object": ["feature", "category", "method"],
}
#: Relative rounding errors of stored numbers.
ROUNDING = 1e-9


def framed(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows of an impact table as a frame; the names of categories are kept as they are."""
    frame = pd.DataFrame(rows, dtype=object).reindex(columns=COLUMNS)
    frame["method"] = frame["method"].where(frame["method"].notna(), None)
    kinds = {name: kind for kind, names in _KINDS.items() for name in names}
    return frame.astype({name: kinds.get(name, "float64") for name in COLUMNS})


@dataclass(frozen=True, eq=False)
class ImpactPart:
    """The table of one feature, or of several crossed.

    Parameters
    ----------
    sensitive : tuple of str
        Names of the features.
    rows : tuple of mapping
        A row for each category: its name (``category``; None: not known) and `FIELDS`.
    """

    sensitive: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]

    @property
    def feature(self) -> str:
        """The name of what divides people: "race", "race x sex"."""
        return " x ".join(self.sensitive)


def _part(value: Any, place: str) -> ImpactPart:
    """Read a table, whose features say how long the names of categories are."""
    features = record({"sensitive": array(text, least=1)})(value, place)["sensitive"]
    named = array(scalar, len(features)) if len(features) > 1 else scalar
    rows = record({"rows": array(record({"category": either(_NULL, named), **FIELDS}), least=1)})(value, place)["rows"]
    return ImpactPart(features, rows)


@dataclass(frozen=True, eq=False)
class ImpactRecord:
    """The impact tables of an audit.

    Parameters
    ----------
    scoring : bool
        Whether rates are of scores above the median, and not of decisions.
    smallest_share : float
        Categories with a smaller share of the people are not compared.
    not_compared : tuple of str
        Why features or crossings were not compared.
    tables : tuple of ImpactPart
        A table for each feature and each crossing.
    """

    scoring: Annotated[bool, truth]
    smallest_share: Annotated[float, between(0, 1)]
    not_compared: Annotated[tuple[str, ...], array(text)]
    tables: Annotated[tuple[ImpactPart, ...], array(_part, least=1)]

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> ImpactRecord:
        """Return the record of plain values, as JSON has them."""
        return cls(**record(readers_of(cls))(plain, "impact"))

    @property
    def frame(self) -> pd.DataFrame:
        """All tables in one frame, as `impact_table` returns it."""
        return framed([{"feature": part.feature, **row} for part in self.tables for row in part.rows])

    def plain(self) -> dict[str, Any]:
        """Return what reads as this record."""
        return {
            "scoring": self.scoring,
            "smallest_share": self.smallest_share,
            "not_compared": list(self.not_compared),
            "tables": [{"sensitive": list(part.sensitive), "rows": list(part.rows)} for part in self.tables],
        }


def impact_contradictions(impact: ImpactRecord, alpha: float, n_samples: int) -> Iterator[str]:
    """Yield a sentence for each field of impact tables that contradicts others."""
    for i, part in enumerate(impact.tables):
        place = f"tables[{i}]"
        people = sum(row["n"] for row in part.rows)
        if people != n_samples:
            yield f"{place}.rows hold {people} people, and verdict.n_samples is {n_samples}"
        for j, row in enumerate(part.rows):
            if row["selected"] > row["n"]:
                yield f"{place}.rows[{j}].selected is {row['selected']}, and must be at most n, {row['n']}"
                return
        compared = [row for row in part.rows if row["compared"]]
        highest = [row for row in compared if row["highest"]]
        if len(highest) != bool(compared) or sum(row["highest"] for row in part.rows) != len(highest):
            yield f"{place}.rows have {len(highest)} with highest true, and must have {int(bool(compared))}"
            continue
        for j, row in enumerate(part.rows):
            yield from (f"{place}.rows[{j}].{said}" for said in _row(row, highest[0] if highest else row, alpha))


def _row(row: Mapping[str, Any], best: Mapping[str, Any], alpha: float) -> Iterator[str]:
    """Compare a row with what follows from its counts and those of the highest rate."""
    x, n, top, m = row["selected"], row["n"], best["selected"], best["n"]
    due: dict[str, Any] = {"rate": x / n if n else math.nan}
    beside = bool(row["compared"] and not row["highest"] and top)
    due |= {
        "ratio": x * m / (n * top) if beside and n else 1.0 if row["highest"] else math.nan,
        "shortfall_highest": (n * top - x * m) / m if beside else math.nan,
        "below_four_fifths": 5 * x * m < 4 * top * n if beside else None,
    }
    for name, value in due.items():
        found = row[name]
        if isinstance(value, float) and isinstance(found, float):
            same = bool(np.isclose(found, value, rtol=ROUNDING, atol=ROUNDING, equal_nan=True))
        else:
            same = found is value
        if not same:
            yield f"{name} is {found!r:.60}, and must be {value!r:.60}"
    p, adjusted = row["p_value"], row["p_value_adjusted"]
    if beside and not p <= adjusted * (1 + ROUNDING):
        yield f"p_value_adjusted is {adjusted:.12g}, and must be at least p_value, {p:.12g}"
    if beside and abs(adjusted - alpha) > ROUNDING and row["significant"] is not (adjusted <= alpha):
        yield f"significant is {row['significant']}, and p_value_adjusted is {adjusted:.12g} at level {alpha:.12g}"
    if not beside and row["significant"] is not None:
        yield f"significant is {row['significant']} of a category that is compared with none"
