"""Columns that tables of several kinds have, and how their numbers are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from skfairtest.report.document import Column
from skfairtest.report.sentences import Setup, metric_title, number, p_text

#: A metric by its title, and by its name.
METRIC = Column("metric", "name", shows=lambda row: metric_title(row["metric"]))
NAME = Column("metric", "name", shows="metric")
GROUP, COMPARED_WITH = Column("group", "name", shows="group"), Column("compared with", "name", shows="other")
STRATUM, REASON = Column("stratum", "name", shows="stratum"), Column("reason", "word", shows="reason")
P = Column("p", shows=lambda row: p_text(row["p_value"]))
ADJUSTED_P = Column("adjusted p", shows=lambda row: p_text(row["p_value_adjusted"]))
VERDICT = Column("verdict", "mark", shows=lambda row: "significant" if row["concern"] else "")


def number_text(value: float) -> str:
    """Write a value or a disparity with four decimals.

    Examples
    --------
    >>> (
    ...     number_text(0.35),
    ...     number_text(-0.00001),
    ...     number_text(float("nan")),
    ...     number_text(float("-inf")),
    ... )
    ('0.3500', '0.0000', 'undefined', '-inf')
    """
    if np.isnan(value):
        return "undefined"
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{round(value, 4) + 0.0:.4f}"  # + 0.0: no minus sign before 0


def span(write: Callable[[float], str], low: float, high: float) -> str:
    """Write an interval; nothing where it is undefined."""
    return "" if np.isnan(low) or np.isnan(high) else f"{write(low)} to {write(high)}"


def numbers(setup: Setup, **fields: str) -> Iterator[Column]:
    """Yield a column for each field that holds values of a metric; shares have four decimals."""

    def written(name: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: (number_text if setup.is_share(row["metric"]) else number)(row[name])

    yield from (Column(head, shows=written(name)) for head, name in fields.items())


def interval(write: Callable[[float], str], head: str = "interval", under: str | None = "") -> Column:
    """Return the column of an interval, of whose ends both are known or none."""
    return Column(head, under=under, shows=lambda row: span(write, row["ci_low"], row["ci_high"]))
