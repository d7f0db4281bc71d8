"""Evidence and confidence sequence of a stream over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import label
from skfairtest.displays.base import canvas, check_test, finish, plain_ticks
from skfairtest.report.draw import BLUE, GREY, ORANGE, PALE
from skfairtest.report.sentences import metric_title
from skfairtest.sequential.fairness import SequentialFairnessTest

#: Looks whose times are written below the axis, and columns that a time has.
MOST_TIMES, WIDEST_TIME = 5, 12


@dataclass(kw_only=True, eq=False, repr=False)
class MonitorDisplay:
    """Evidence about a stream at every look that compared groups, above the confidence sequence of one pair of groups.

    A pair whose evidence crosses the dashed line differs significantly. The band is the confidence sequence: it
    contains a constant disparity at all looks jointly with probability at least one minus the level.

    Parameters
    ----------
    wealth : DataFrame
        Every look at every pair, as in ``SequentialFairnessTest.wealth_``.
    pair : tuple
        Metric, group and other whose confidence sequence is drawn.
    alpha, margin : float
        Of the test.
    rejected_at : int, optional
        The look at which the pair was significant.
    share : bool, default=True
        Whether differences of the metric are percentage points.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes, shape (2,)
        Evidence, and the confidence sequence.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    SequentialFairnessTest : The test; its ``wealth_`` holds what is drawn.

    Examples
    --------
    >>> from skfairtest import MonitorDisplay, SequentialFairnessTest
    >>> test = SequentialFairnessTest()
    >>> for week in range(5):
    ...     test = test.partial_fit(
    ...         y_pred=[1, 1, 0, 0, 0, 1], sensitive_features=list("aaabbb")
    ...     )
    >>> display = MonitorDisplay.from_test(test)
    >>> display.pair
    ('selection_rate', 'a', 'b')
    """

    wealth: pd.DataFrame
    pair: tuple[str, Any, Any]
    alpha: float = 0.05
    margin: float = 0.0
    rejected_at: int | None = None
    share: bool = True

    @classmethod
    def from_test(
        cls, test: SequentialFairnessTest, *, pair: tuple[Any, ...] | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw a test that has taken in batches.

        Parameters
        ----------
        test : SequentialFairnessTest
            The test.
        pair : tuple, optional
            Metric, group and other whose confidence sequence is drawn; by default those with the strongest evidence.
        ax : sequence of two matplotlib Axes, optional
            What to draw on.
        **kwargs
            Further arguments of `plot`.

        Returns
        -------
        MonitorDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If it is no such test, has compared no groups yet, or has no such pair.
        NotFittedError
            If no batch was taken in.
        """
        check_test(test, (SequentialFairnessTest,))
        found = test.comparisons_
        if not len(test.wealth_):
            raise ParameterError("test has not compared any groups yet: there is nothing to draw")
        if pair is None:
            rows = found.sort_values(["p_value_adjusted", "p_value"], kind="stable").head(1)
        else:
            known = [(row.metric, row.group, row.other) for row in found.itertuples()]
            rows = found[[each == tuple(pair) for each in known]]
            if not len(rows):
                raise ParameterError(f"pair={brief(pair)} is not among those of the test, such as {known[0]!r}")
        row = rows.iloc[0]
        display = cls(
            wealth=test.wealth_,
            pair=(row["metric"], row["group"], row["other"]),
            alpha=test.alpha,
            margin=test.margin,
            rejected_at=None if pd.isna(row["rejected_at"]) else int(row["rejected_at"]),
            share=test._setup().is_share(row["metric"]),
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, name: str | None = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, optional
            What to draw on.
        name : str, optional
            Title of the drawing; by default the pair.
        **kwargs
            Properties of the upper axes, as ``matplotlib.axes.Axes.set`` takes them.

        Returns
        -------
        MonitorDisplay
            This display.
        """
        if ax is not None and np.size(ax) != 2:
            raise ParameterError(f"ax must be two axes, one above the other; found {np.size(ax)}")
        (metric, group, other), factor = self.pair, 100 if self.share else 1
        keys = zip(self.wealth["metric"], self.wealth["group"], self.wealth["other"], strict=True)
        own = self.wealth[[key == self.pair for key in keys]]
        look, level = own["look"], f"{100 * (1 - self.alpha):g}%"
        with canvas(self, ax, (7.0, 5.2), panels=2) as axes:
            self.axes_ = evidence, sequence = np.ravel(axes)
            for _, rows in self.wealth.groupby(["metric", "group", "other"], sort=False):
                evidence.plot(rows["look"], rows["e_value_adjusted"], color=PALE, linewidth=1.2)
            evidence.plot(look, own["e_value_adjusted"], color=BLUE, label="evidence (e-value, adjusted)")
            line = {"color": GREY, "linestyle": "--", "linewidth": 1.2, "label": f"significant from {1 / self.alpha:g}"}
            evidence.axhline(1 / self.alpha, **line)
            if self.rejected_at is not None:
                at, mark = own[look == self.rejected_at], {"color": ORANGE, "markersize": 7, "linestyle": "none"}
                evidence.plot(at["look"], at["e_value_adjusted"], "D", label="significant disparity", **mark)
            evidence.set(yscale="log", ylabel="evidence")
            plain_ticks(evidence.yaxis)
            low, high, middle = (factor * own[name] for name in ("ci_low", "ci_high", "disparity"))
            band = {"color": PALE, "step": "post", "linewidth": 0, "label": f"{level} confidence sequence"}
            sequence.fill_between(look, low, high, **band)
            sequence.plot(look, middle, color=BLUE, linestyle="-.", label="difference so far")
            for edge in sorted({-self.margin, self.margin}):
                sequence.axhline(factor * edge, color=GREY, linewidth=1.0, linestyle=":" if self.margin else "-")
            reach = 1.1 * max(2.5 * middle.abs().max(), factor * self.margin, factor * 0.02)
            sequence.set(ylim=(-reach, reach), ylabel="difference (points)" if self.share else "difference")
            if own["time"].isna().all():
                sequence.set_xlabel("look")
                plain_ticks(sequence.xaxis)
            else:
                some = own.iloc[:: -(-len(own) // MOST_TIMES)]
                names = [label("" if time is None else time)[:WIDEST_TIME] for time in some["time"]]
                sequence.set_xticks(some["look"], names)
            title = f"{metric_title(metric)}: {label(group)} minus {label(other)}" if name is None else name
            finish(evidence, title, legend=False, **kwargs)
            finish(sequence, also=evidence)
        return self
