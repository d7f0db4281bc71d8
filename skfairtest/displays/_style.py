"""How displays look: colours, fonts, axes. The style applies to displays only, whatever matplotlib's settings are.

The colours are those of reports, whose style sheet has variables of the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

#: Colours of Okabe and Ito, which colour-blind readers tell apart; their greys differ as well.
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#57606a"
#: Text; what is tolerated, or likely, behind other things; bars of what chance does.
INK, PALE, BAR = "#1b1f24", "#d9dde2", "#9a9fa6"

#: Settings of matplotlib, over its defaults.
STYLE = {
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlepad": 8,
    "axes.labelsize": 9.5,
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "hatch.linewidth": 0.8,
}

P = ParamSpec("P")
R = TypeVar("R")


def styled(plot: Callable[P, R]) -> Callable[P, R]:
    """Draw in this style; afterwards all settings are restored."""

    @wraps(plot)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            from matplotlib import style
        except ImportError:  # said in more words by the one who needs it
            return plot(*args, **kwargs)
        with style.context(["default", STYLE]):
            return plot(*args, **kwargs)

    return drawn


def dress(ax: Any) -> None:
    """Give axes that the user made the fonts and the frame of this style."""
    ax.spines[["top", "right"]].set_visible(False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_size(STYLE["axes.labelsize"])
        axis.set_tick_params(labelsize=STYLE["xtick.labelsize"])
    ax.title.set_size(STYLE["axes.titlesize"])


def ink_of(ax: Any) -> Any:
    """Return the colour of text on axes, which may be the user's, and dark."""
    return ax.xaxis.label.get_color()
