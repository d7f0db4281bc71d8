"""The record of impact tables: what reports of an audit say of rates of selection beside the highest one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pandas as pd

from skfairtest.report import plain

_NULL, _SHARE = plain.one_of(None), plain.between(0, 1, null=True)
_COUNT, _TRUTH = plain.either(_NULL, plain.count), plain.either(_NULL, plain.truth)
#: What is said of a category beside its name, as `impact_table` has it.
FIELDS: dict[str, plain.Reader] = {
    "n": plain.count, "share": _SHARE, "selected": plain.count, "rate": _SHARE, "compared": plain.truth,
    "highest": plain.truth, "ratio": plain.real, "ci_low": plain.real, "ci_high": plain.real, "p_value": _SHARE,
    "p_value_adjusted": _SHARE, "significant": _TRUTH, "below_four_fifths": _TRUTH,
    "standard_deviations": plain.real, "shortfall_pool": plain.real, "shortfall_highest": plain.real,
    "to_four_fifths": _COUNT, "flips_four_fifths": _COUNT, "flips_test": _COUNT,
    "method": plain.either(_NULL, plain.text),
}  # fmt: skip
COLUMNS = ["feature", "category", *FIELDS]
_KINDS = {
    "int64": ["n", "selected"], "bool": ["compared", "highest"], "boolean": ["significant", "below_four_fifths"],
    "Int64": ["to_four_fifths", "flips_four_fifths", "flips_test"], "object": ["feature", "category", "method"],
}  # fmt: skip


def framed(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows of an impact table as a frame; the names of categories are kept as they are."""
    frame = pd.DataFrame(rows, dtype=object).reindex(columns=COLUMNS)
    frame["method"] = frame["method"].where(frame["method"].notna(), None)
    kinds = {name: kind for kind, names in _KINDS.items() for name in names}
    return frame.astype({name: kinds.get(name, "float64") for name in COLUMNS})


@dataclass(frozen=True, eq=False)
class ImpactPart(plain.Declared):
    """The table of one feature, or of the intersections of several.

    Parameters
    ----------
    sensitive : tuple of str
        Names of the features.
    rows : tuple of mapping
        A row for each category: its name (``category``; None: not known) and `FIELDS`.
    """

    sensitive: Annotated[tuple[str, ...], plain.array(plain.text, least=1)]
    rows: Annotated[tuple[Mapping[str, Any], ...], plain.array(plain.anything, least=1)]

    @property
    def feature(self) -> str:
        """The name of what divides people: "race", "race x sex"."""
        return " x ".join(self.sensitive)


def _part(value: Any, place: str) -> ImpactPart:
    """Read a table, whose features say how long the names of categories are."""
    features = plain.record({"sensitive": plain.array(plain.text, least=1)})(value, place)["sensitive"]
    named = plain.array(plain.scalar, len(features)) if len(features) > 1 else plain.scalar
    rows = plain.record(
        {"rows": plain.array(plain.record({"category": plain.either(_NULL, named), **FIELDS}), least=1)}
    )(value, place)["rows"]
    return ImpactPart(features, rows)


@dataclass(frozen=True, eq=False)
class ImpactRecord(plain.Declared):
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

    scoring: Annotated[bool, plain.truth]
    smallest_share: Annotated[float, plain.between(0, 1)]
    not_compared: Annotated[tuple[str, ...], plain.array(plain.text)]
    tables: Annotated[tuple[ImpactPart, ...], plain.array(_part, least=1)]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> ImpactRecord:
        """Return the record of plain values, as JSON has them."""
        return cls(**plain.record(plain.readers_of(cls))(given, "impact"))

    @property
    def frame(self) -> pd.DataFrame:
        """All tables in one frame, as `impact_table` returns it."""
        return framed([{"feature": part.feature, **row} for part in self.tables for row in part.rows])
