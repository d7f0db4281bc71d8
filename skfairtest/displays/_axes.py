"""Axes to draw on, and the colours of every drawing: those of Okabe and Ito, which colour-blind readers tell apart."""

from __future__ import annotations

from typing import Any

#: Findings, limits, and what is tolerated; their greys differ as well.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#595959"


def axes(ax: Any, who: str) -> tuple[Any, Any]:
    """Return figure and axes, new ones if there are none yet.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f'{who} draws with matplotlib: python -m pip install "skfairtest[report]"') from error
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    return ax.figure, ax


def plain_log(axis: Any) -> None:
    """Put round numbers, written as such, on a logarithmic axis that may span less than a power of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter

    low, high = sorted(axis.get_view_interval())
    subs = (1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 7.0) if high < 10 * low else (1.0, 2.0, 5.0) if high < 100 * low else (1.0,)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
