"""Drawings as data: scales, intervals in rows, bars, and null distributions.

Scales of drawings, on pages and in displays alike: their ends, their ticks, and how ticks and rows are written.

Drawings as data: intervals in rows, and bars. Displays draw them on axes, and a page at any width, in its letters.

Places on a page are percentages: across, of the width of a panel; of bars, upwards, of its height.

The distribution of a statistic under the null hypothesis, small enough to be drawn, and to be kept in a record.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest._utils.text import display_width, shorten
from skfairtest._utils.typing import Floats
from skfairtest.report.record import Recorded
from skfairtest.report.sentences import number, points

#: Columns that a row's label has at the most.
WIDEST = 56
#: Steps between ticks, times a power of ten.
ROUND = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Scale(Recorded):
    """Where numbers lie between two ends.

    Parameters
    ----------
    low, high : float
        The ends.
    log : bool
        Whether equal distances are equal ratios.
    factor : float
        What ticks are multiplied by: 100 where shares are written as percentages.
    """

    low: float
    high: float
    log: bool = False
    factor: float = 1.0

    @classmethod
    def around(
        cls, values: Sequence[ArrayLike], also: Sequence[float] = (), *, log: bool = False, factor: float = 1.0
    ) -> Self:
        """Return a scale on which everything finite has its place, with a margin on both sides."""
        ends = np.concatenate([*(np.ravel(np.asarray(v, dtype=float)) for v in values), np.asarray(also, dtype=float)])
        ends = ends[np.isfinite(ends) & (ends > 0)] if log else ends[np.isfinite(ends)]
        if log:
            ends = np.log(ends)
        low, high = (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 1.0)
        margin = 0.06 * (high - low) or 0.5 * (abs(high) or 1.0)
        low, high = low - margin, high + margin
        return cls(float(np.exp(low)), float(np.exp(high)), log, factor) if log else cls(low, high, log, factor)

    def place(self, value: float) -> float:
        """The place of a number, as a percentage of the way: below 0 and above 100 it is off the scale."""
        if not self.log:
            return 100 * (value - self.low) / (self.high - self.low)
        with np.errstate(divide="ignore"):
            at = np.log(np.float64(value) / self.low)
        return float(100 * at / np.log(self.high / self.low))

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return the places of about so many round numbers, and how they are written.

        Examples
        --------
        >>> Scale(0.0, 0.5, factor=100).ticks(3)
        [(0.0, '0'), (40.0, '20'), (80.0, '40')]
        >>> [text for _, text in Scale(0.5, 2.2, log=True).ticks(5)]
        ['0.6', '0.8', '1', '1.2', '1.5', '2']
        """
        from matplotlib.ticker import LogLocator, MaxNLocator

        if self.log:
            found = LogLocator(subs=log_subs(self.low, self.high)).tick_values(self.low, self.high)
            inside = [float(tick) for tick in found if self.low <= tick <= self.high]
            return [(self.place(tick), f"{tick:g}") for tick in inside]
        low, high = self.factor * self.low, self.factor * self.high
        found = MaxNLocator(most, steps=ROUND).tick_values(low, high)
        inside = [float(tick) for tick in found if low <= tick <= high]
        return [(self.place(tick / self.factor), tick_text(tick, inside)) for tick in inside]


def log_subs(low: float, high: float) -> tuple[float, ...]:
    """Return the round numbers that have a tick on a logarithmic scale, which may span less than a power of ten."""
    spans = ((10, (1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)), (100, (1.0, 2.0, 5.0)), (1000, (1.0, 3.0)))
    return next((subs for span, subs in spans if high < span * low), (1.0,))


def tick_text(value: float, ticks: ArrayLike) -> str:
    """Write a tick so that it is told from the others, and needs no factor or offset beside the axis.

    Examples
    --------
    >>> [tick_text(tick, [0, 0.25, 0.5]) for tick in (0, 0.25, 0.5)]
    ['0.00', '0.25', '0.50']
    >>> [tick_text(tick, [-1e7, 0, 1e7]) for tick in (-1e7, 0, 1e7)]
    ['−1e7', '0', '1e7']
    """
    places = np.unique(np.append(np.asarray(ticks, dtype=float), value))
    largest = float(np.abs(places).max())
    step = float(np.diff(places).min()) if len(places) > 1 else largest
    if value == 0 and not 1e-3 <= largest < 1e5:
        return "0"
    fixed = largest == 0 or 1e-3 <= largest < 1e5
    scale = 1.0 if fixed else 10.0 ** np.floor(np.log10(abs(value)))
    digits = next((d for d in range(13) if abs(round(step / scale, d) * scale - step) <= 1e-6 * step), 13)
    if fixed:
        text = f"{value + 0.0:.{digits}f}"
    else:
        mantissa, exponent = f"{value:.{digits}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", "\N{MINUS SIGN}")


def joined(pieces: Sequence[str], joints: Sequence[str], width: int = WIDEST) -> str:
    """Join the pieces of a name, `joints` between them: long ones are cut so far that short ones need not be.

    Examples
    --------
    >>> joined(["African-American", "Asian"], [" against "], 24)
    'Afric…ican against Asian'
    """
    room, left = width - sum(map(display_width, joints)), len(pieces)
    cut: dict[int, str] = {}
    for place in sorted(range(len(pieces)), key=lambda i: display_width(pieces[i])):
        cut[place] = shorten(pieces[place], max(room // left, 6))
        room, left = room - display_width(cut[place]), left - 1
    return cut[0] + "".join(joint + cut[place] for place, joint in enumerate(joints, 1))


#: Inches on paper: of a row, and of what stands above and below the rows of a panel.
ROW, HEAD, AXIS = 0.22, 0.3, 0.45

Tick = tuple[float, str]


@dataclass(frozen=True)
class Mark(Recorded):
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
class Panel(Recorded):
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
    meanings : (str, str)
        What diamonds and circles are, where there is a line of equality.
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
    meanings: tuple[str, str] = ("significant", "not significant")

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
        if self.tolerated is None or np.isnan(self.tolerated).any():
            return None
        low, high = np.clip(self.tolerated, self.scale.low, self.scale.high)
        return self.place(float(low)), self.place(float(high))

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
class Rows(Recorded):
    """Panels side by side, whose rows have these names."""

    names: tuple[str, ...]
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Forest(Recorded):
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
class Bar(Recorded):
    """A bar from `left`, so wide and high; the lowest part of it, `extreme`, is hatched."""

    left: float
    width: float
    height: float
    extreme: float


@dataclass(frozen=True)
class Bars(Recorded):
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


#: Bars below this share of the highest are not to be seen.
LOWEST = 1e-3


@dataclass(frozen=True)
class NullHistogram(Recorded):
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

    @property
    def factor(self) -> float:
        """What the numbers on the axis are multiplied by: 100 where differences of shares are written as points."""
        # Only counts of people are enumerated.
        return 100.0 if self.kind == "enumerated" and self.statistic.startswith("difference") else 1.0

    @property
    def axis(self) -> str:
        """What is on the axis, with its unit where that is not the statistic's own."""
        if self.statistic.startswith("studentized "):
            return f"{self.statistic} (in standard errors)"
        return f"{self.statistic}, in percentage points" if self.factor == 100 else self.statistic

    @property
    def observed_text(self) -> str:
        """What was seen, as a text with its unit."""
        return f"{points(self.observed)} points" if self.factor == 100 else number(self.observed)

    @property
    def bars(self) -> tuple[Floats, Floats]:
        """The left ends and the widths of its bars; a single outcome has a bar that does not touch the next one."""
        low, high = np.asarray(self.low, dtype=float), np.asarray(self.high, dtype=float)
        single = low == high
        gaps = np.diff(np.unique(low))
        atom = 0.8 * float(gaps.min()) if single.any() and len(gaps) else 1.0 if not len(gaps) else 0.0
        return np.where(single, low - atom / 2, low), np.where(single, atom, high - low)

    @property
    def scale(self) -> Scale:
        """The scale on which everything that is to be seen has its place."""
        (left, width), mass = self.bars, np.asarray(self.mass)
        likely = mass > LOWEST * mass.max() if len(mass) else np.zeros(0, dtype=bool)
        return Scale.around([left[likely], (left + width)[likely]], (self.observed,), factor=self.factor)
