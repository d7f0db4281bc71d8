"""Drawings as data: intervals in rows, and bars. A page writes them at any width, in the letters of the page.

Places are percentages: across, of the width of a panel; of bars, upwards, of its height.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Bar", "Bars", "Forest", "Mark", "Panel", "Rows", "Tick"]

#: Inches on paper: of a row, and of what stands above and below the rows of a panel.
ROW, HEAD, AXIS = 0.22, 0.3, 0.45

Tick = tuple[float, str]


@dataclass(frozen=True)
class Mark:
    """An estimate with its interval.

    Parameters
    ----------
    kind : {"significant", "other", "few", "undefined"}
        What it looks like: a diamond, a circle, a hollow circle; or a word where there is no estimate.
    line : (float, float), optional
        The ends of the interval.
    at : float, optional
        The estimate, if it lies on the scale.
    beyond : tuple of {"left", "right"}
        Where something lies beyond the scale.
    """

    kind: str
    line: tuple[float, float] | None = None
    at: float | None = None
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    """Marks on one scale.

    Parameters
    ----------
    title, name : str
        What is drawn, and what it is called in code, if that is something else.
    marks : tuple of Mark
        One for each row.
    ticks : tuple of (float, str)
        Numbers on the axis.
    axis : str
        What the axis says; empty if the panel below has the same axis.
    equality : float, optional
        Where the disparity of equal groups lies.
    everyone : float, optional
        Where the value of everyone lies.
    tolerated : (float, float), optional
        The ends of a band.
    """

    title: str
    name: str
    marks: tuple[Mark, ...]
    ticks: tuple[Tick, ...] = ()
    axis: str = ""
    equality: float | None = None
    everyone: float | None = None
    tolerated: tuple[float, float] | None = None


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
