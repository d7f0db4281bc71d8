"""Scales of drawings, on pages and in displays alike: their ends, their ticks, and how ticks and rows are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from skfairtest._utils.text import display_width, shorten

#: Columns that a row's label has at the most.
WIDEST = 56
#: Steps between ticks, times a power of ten.
ROUND = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Scale:
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
