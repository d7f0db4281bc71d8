"""The distribution of a statistic under the null hypothesis, small enough to be drawn, and to be kept in a record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from skfairtest.report._schema import array, between, one_of, record, text


@dataclass(frozen=True)
class NullHistogram:
    """What could have been seen by chance, beside what was seen.

    Parameters
    ----------
    kind : {"enumerated", "drawn", "normal"}
        Whether every outcome was counted, resamples were drawn, or the normal distribution stands for both.
    statistic : str
        What is on the axis, such as "difference".
    low, high : tuple of float
        Ends of the bins; they are equal where a bin is a single outcome.
    mass : tuple of float
        Probability of each bin.
    extreme : tuple of float
        The part of it that is at least as extreme as the data.
    observed : float
        What was seen.
    p_value : float
        P-value of the comparison, not adjusted for the number of comparisons.
    note : str
        One sentence: what the distribution is, and how it relates to the p-value.
    """

    kind: str
    statistic: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    mass: tuple[float, ...]
    extreme: tuple[float, ...]
    observed: float
    p_value: float
    note: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON has; an infinite statistic is the text "inf" or "-inf"."""
        data = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}
        if math.isinf(self.observed):
            data["observed"] = str(self.observed)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the histogram that `to_dict` wrote.

        Raises
        ------
        ValueError
            If something is missing, or is not what it should be.
        """
        found = FIELDS(data, "")
        lengths = {name: len(found[name]) for name in ("low", "high", "mass", "extreme")}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"low, high, mass and extreme must be of one length; found {list(lengths.values())}")
        return cls(**found)


_SHARES = array(between(0, 1 + 1e-9))
_ENDS = array(between())
FIELDS = record(
    {
        "kind": one_of("enumerated", "drawn", "normal"),
        "statistic": text,
        "low": _ENDS,
        "high": _ENDS,
        "mass": _SHARES,
        "extreme": _SHARES,
        "observed": between(infinite=True),
        "p_value": between(0, 1),
        "note": text,
    }
)
