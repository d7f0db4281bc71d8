"""Shapes that displays and pages draw: the distribution of a statistic, and curves."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skfairtest.report.record import Recorded
from skfairtest.report.report import Figure, values_of
from skfairtest.report.sentences import number, points

#: Colours of Okabe and Ito, which colour-blind readers tell apart; their greys differ as well.
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#57606a"
#: Text; what is tolerated, or likely, behind other things; bars of what chance does.
INK, PALE, BAR = "#1b1f24", "#d9dde2", "#9a9fa6"

#: Settings of matplotlib, over its defaults.
STYLE = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), INK),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), GREY),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    **dict.fromkeys(("axes.labelsize", "xtick.labelsize", "ytick.labelsize"), 9.5),
    "axes.titlesize": 11, "axes.titleweight": "bold", "legend.fontsize": 9,
}  # fmt: skip
#: Points of a curve that are marked.
FEW = 20


def scale_ends(values: Sequence[ArrayLike], *, log: bool = False) -> tuple[float, float]:
    """The ends of a scale on which everything finite has its place, with a margin on both sides."""
    ends = np.concatenate([np.ravel(np.asarray(each, dtype=float)) for each in values])
    ends = ends[np.isfinite(ends) & (ends > 0)] if log else ends[np.isfinite(ends)]
    low, high = np.quantile(np.log(ends) if log else ends, [0, 1]) if len(ends) else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.5 * (abs(high) or 1.0)
    low, high = np.exp([low - margin, high + margin]) if log else [low - margin, high + margin]
    return float(low), float(high)


@dataclass(frozen=True)
class NullHistogram(Recorded):
    """What could have been seen by chance, beside what was seen."""

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
    def columns(self) -> dict[str, tuple[float, ...]]:
        """The arguments of `histogram`: numbers on the axis, on which everything likely has its place."""
        low, high, mass = (np.asarray(each, dtype=float) for each in (self.low, self.high, self.mass))
        gaps = np.diff(np.unique(low))
        width = np.where(low == high, 0.8 * gaps.min() if len(gaps) else 1.0, high - low)
        # Bars below a thousandth of the highest are not to be seen.
        left, likely = np.where(low == high, low - width / 2, low), mass > 1e-3 * mass.max(initial=0.0)
        ends = scale_ends([left[likely], (left + width)[likely], self.observed])
        scaled = {"left": left, "width": width, "observed": [self.observed], "ends": ends}
        numbers = {name: self.factor * np.asarray(each) for name, each in scaled.items()}
        return values_of({**numbers, "mass": self.mass, "extreme": self.extreme})


def histogram(
    ax: Any, left: Sequence[float], width: Sequence[float], mass: Sequence[float], extreme: Sequence[float],
    observed: Sequence[float], ends: Sequence[float], *, seen: str = "data",
) -> None:  # fmt: skip
    """Draw what chance does, the part of it that is at least as extreme as the data, and the data."""
    start, whole, hatched = (np.asarray(each, dtype=float) for each in (left, mass, extreme))
    ends_of_bars = (start, start + np.asarray(width, dtype=float)), (hatched, hatched), (whole, whole)
    x, low, high = (np.column_stack([*pair, np.full(len(start), np.nan)]).ravel() for pair in ends_of_bars)
    ax.fill_between(x, low, high, color=BAR, label="chance alone", linewidth=0.0)  # all bars at once: twice as fast
    if hatched.any():
        shown = {"facecolor": ORANGE, "hatch": "////", "edgecolor": ax.get_facecolor(), "label": "at least as extreme"}
        ax.fill_between(x, 0.0, low, where=low > 0, linewidth=0.3, **shown)
    if np.isfinite(observed[0]):
        ax.axvline(observed[0], color=ax.xaxis.label.get_color(), linewidth=1.4, linestyle="--", label=seen)
    ax.set_xlim(*ends)
    ax.set_ylim(0, 1.05 * float(whole.max()) if len(whole) and whole.max() > 0 else 1.0)


def curve(ax: Any, x: Any, y: Any, band: tuple[Any, Any] | None = None, **style: Any) -> Any:
    """Draw a curve, its points marked where they are few, and a band behind it; return the line."""
    said, few = style.pop("said", None), {"marker": "o", "markersize": 4} if len(x) <= FEW else {}
    (line,) = ax.plot(x, y, **{"color": BLUE, "zorder": 3, **few, **style})
    if band is not None:
        ax.fill_between(x, *band, color=line.get_color(), alpha=0.2, linewidth=0, zorder=2, label=said)
    return line


def _monitored(ax: Any, x: Any, y: Any, low: Any, high: Any) -> None:
    curve(ax, x, y, (low, high))
    ax.axhline(0.0, color=GREY, linewidth=1, zorder=1)


_SHAPES: dict[str, Any] = {"histogram": histogram, "curve": _monitored}
#: Colours of a page, which has a dark one.
_PAGE = {INK: "currentColor", GREY: "var(--grey)", BAR: "var(--bar)", ORANGE: "var(--orange)", BLUE: "var(--blue)"}


def svg(figure: Figure) -> str:
    """Draw a figure for a page: the same text for the same figure, in the colours of the page."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    settings = {"svg.hashsalt": f"skfairtest {figure.title}", "svg.fonttype": "none", "text.parse_math": False}
    style: Any = {**matplotlib.rcParamsDefault, **STYLE, **settings}
    with matplotlib.rc_context(style), io.StringIO() as file:
        canvas = Canvas(figsize=(6.4, 2.9), layout="constrained")
        ax = canvas.subplots()
        ax.set_facecolor("none")
        _SHAPES[figure.shape](ax, **figure.columns)
        ax.set_xlabel(figure.x)
        ax.set_title(figure.y, loc="left", fontsize=STYLE["axes.labelsize"], fontweight="normal")
        canvas.savefig(file, format="svg", transparent=True, metadata={"Date": None})
        drawn = file.getvalue()
    drawn = re.sub(r"(?s)<metadata>.*?</metadata>|(?<=<g) id=\"[^\"]*\"", "", drawn[drawn.index("<svg") :])
    for colour, name in _PAGE.items():
        drawn = drawn.replace(colour, name)
    return drawn
