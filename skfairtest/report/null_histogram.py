"""The distribution of a statistic under the null hypothesis, small enough to be drawn, and to be kept in a record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Self

from skfairtest.report._schema import array, between, one_of, readers_of, record, text


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

    kind: Annotated[str, one_of("enumerated", "drawn", "normal")]
    statistic: Annotated[str, text]
    low: Annotated[tuple[float, ...], array(between())]
    high: Annotated[tuple[float, ...], array(between())]
    mass: Annotated[tuple[float, ...], array(between(0, 1 + 1e-9))]
    extreme: Annotated[tuple[float, ...], array(between(0, 1 + 1e-9))]
    observed: Annotated[float, between(infinite=True)]
    p_value: Annotated[float, between(0, 1)]
    note: Annotated[str, text]

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
        found = record(readers_of(cls))(data, "")
        lengths = {name: len(found[name]) for name in ("low", "high", "mass", "extreme")}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"low, high, mass and extreme must be of one length; found {list(lengths.values())}")
        return cls(**found)
