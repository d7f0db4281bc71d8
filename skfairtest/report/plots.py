"""Drawings as data: intervals in rows, and bars. Displays draw them on axes, and a page at any width, in its letters.

Places on a page are percentages: across, of the width of a panel; of bars, upwards, of its height.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest.report.scales import Scale

#: Inches on paper: of a row, and of what stands above and below the rows of a panel.
ROW, HEAD, AXIS = 0.22, 0.3, 0.45

Tick = tuple[float, str]


@dataclass(frozen=True)
class Mark:
    """An estimate with its interval.

    Parameters
    ----------
    kind : {"significant", "other", "few"}
        What it looks like: a diamond, a circle, a hollow circle.
    value, low, high : float
        The estimate, which may be undefined, and the ends of the interval.
    start : float
        Where the estimate moved from: a hollow circle, the other end of a dumbbell.
    """

    kind: str
    value: float
    low: float = math.nan
    high: float = math.nan
    start: float = math.nan

    @classmethod
    def moved(cls, start: ArrayLike, value: ArrayLike) -> list[NDArray[np.float64]]:
        """Return the columns of dumbbells for `Panel.of`: lines from `start` to `value`."""
        both = np.asarray([start, value], dtype=float)
        return [both[1], both.min(axis=0), both.max(axis=0), both[0]]


@dataclass(frozen=True)
class Spot:
    """Where a mark is on a page.

    Parameters
    ----------
    kind : {"significant", "other", "few", "undefined"}
        What it looks like; or a word where there is no estimate.
    line : (float, float), optional
        The ends of the interval.
    at : float, optional
        The estimate, if it lies on the scale.
    beyond : tuple of {"left", "right"}
        Where something lies beyond the scale.
    start : float, optional
        Where the estimate moved from.
    """

    kind: str
    line: tuple[float, float] | None = None
    at: float | None = None
    beyond: tuple[str, ...] = ()
    start: float | None = None


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Marks on one scale, which pages and displays draw.

    Parameters
    ----------
    marks : tuple of Mark
        One for each row.
    scale : Scale
        Where numbers lie.
    title, name : str
        What is drawn, and what it is called in code, if that is something else.
    axis : str
        What the axis says; empty if the panel below has the same axis.
    most : int
        About how many numbers a page writes on the axis.
    equality : float, optional
        The disparity of equal groups.
    everyone : float, optional
        The value of everyone.
    tolerated : (float, float), optional
        The ends of a band.
    """

    marks: tuple[Mark, ...]
    scale: Scale
    title: str = ""
    name: str = ""
    axis: str = ""
    most: int = 0
    equality: float | None = None
    everyone: float | None = None
    tolerated: tuple[float, float] | None = None

    @classmethod
    def of(
        cls, columns: Iterable[ArrayLike], kinds: Iterable[str], *, scale: Scale | None = None, log: bool = False,
        factor: float = 1.0, **said: Any,
    ) -> Self:  # fmt: skip
        """Make a panel of estimates and limits, by default on a scale with room for all; `said` are other fields."""
        ends = [np.atleast_1d(np.asarray(column, dtype=float)) for column in columns]
        lines = [said.get("equality"), said.get("everyone"), *(said.get("tolerated") or ())]
        also = [line for line in lines if line is not None]
        marks = tuple(
            Mark(kind, *each) for kind, *each in zip(map(str, kinds), *(end.tolist() for end in ends), strict=True)
        )
        return cls(marks=marks, scale=scale or Scale.around(ends, also, log=log, factor=factor), **said)

    def place(self, value: float) -> float:
        """The place of a number, in hundredths of a percent: finer than any screen, and alike on all machines."""
        return round(self.scale.place(value), 2) + 0.0

    @property
    def ticks(self) -> list[Tick]:
        """Numbers on the axis, and where."""
        return [(round(place, 2) + 0.0, text) for place, text in self.scale.ticks(self.most)] if self.most else []

    @property
    def band(self) -> tuple[float, float] | None:
        """Where the band is, if it has two ends."""
        low, high = self.tolerated or (math.nan, math.nan)
        return (self.place(low), self.place(high)) if math.isfinite(low) and math.isfinite(high) else None

    @cached_property
    def spots(self) -> list[Spot]:
        """Where marks are.

        Examples
        --------
        >>> Panel.of([[0.5], [0.25], [float("inf")]], ["other"], scale=Scale(0, 1)).spots
        [Spot(kind='other', line=(25.0, 100.0), at=50.0, beyond=('right',), start=None)]
        """
        return list(map(self._spot, self.marks))

    def _spot(self, mark: Mark) -> Spot:
        at, *ends = places = [self.scale.place(value) for value in (mark.value, mark.low, mark.high)]
        if math.isnan(at):
            return Spot("undefined")
        known = not np.isnan(ends).any()
        first, last = (round(float(np.clip(end, 0, 100)), 2) + 0.0 for end in ends) if known else (0.0, 0.0)
        sides = {"left": any(place < -1e-9 for place in places), "right": any(place > 100 + 1e-9 for place in places)}
        beyond = tuple(side for side, is_beyond in sides.items() if is_beyond)
        return Spot(
            mark.kind, (first, last) if known else None, self.place(mark.value) if 0 <= at <= 100 else None, beyond,
            None if math.isnan(mark.start) else self.place(mark.start),
        )  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """Panels side by side, whose rows have these names."""

    names: tuple[str, ...]
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Forest:
    """Intervals in rows.

    Parameters
    ----------
    title, description : str
        What it is called, and what there is to see for somebody who does not see it.
    rows : tuple of Rows
        From top to bottom.
    """

    title: str
    description: str
    rows: tuple[Rows, ...]

    @property
    def columns(self) -> int:
        """How many panels are side by side."""
        return max(len(rows.panels) for rows in self.rows)

    @property
    def height(self) -> float:
        """The inches that it takes on paper."""
        return sum(HEAD + ROW * len(rows.names) + (AXIS if rows.panels[0].axis else 0.1) for rows in self.rows)


@dataclass(frozen=True)
class Bar:
    """A bar from `left`, so wide and high; the lowest part of it, `extreme`, is hatched."""

    left: float
    width: float
    height: float
    extreme: float


@dataclass(frozen=True)
class Bars:
    """A histogram with the place of what was seen.

    Parameters
    ----------
    title, description : str
        As of `Forest`.
    bars : tuple of Bar
        From left to right.
    observed : float, optional
        Where the data lie; None if that is infinitely far.
    ticks, levels : tuple of (float, str)
        Numbers on both axes.
    axis, levels_axis : str
        What the axes say.
    """

    title: str
    description: str
    bars: tuple[Bar, ...]
    observed: float | None
    ticks: tuple[Tick, ...]
    levels: tuple[Tick, ...]
    axis: str
    levels_axis: str = "probability"
    height: float = 3.0
