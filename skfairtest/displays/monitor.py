"""Evidence and confidence sequence of a stream over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import label
from skfairtest.displays._drawings import axes, legend_below, literal, plain_log, plain_ticks, styled
from skfairtest.displays._tested import check_test, finish
from skfairtest.report.draw import BLUE, GREY, ORANGE, PALE
from skfairtest.report.sentences import metric_title
from skfairtest.sequential.fairness import SequentialFairnessTest

#: Looks whose times are written below the axis, and columns that a time has.
MOST_TIMES, WIDEST_TIME = 5, 12


@dataclass(kw_only=True, eq=False, repr=False)
class MonitorDisplay:
    """Evidence about a stream at every look that compared groups, above the confidence sequence of one pair of groups.

    Where the evidence of a pair crosses the dashed line its disparity is significant. The band is the confidence
    sequence: if the disparity is constant, it lies within the band at all looks together with probability at least
    one minus the level.

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
        Whether the metric is a share, whose differences are percentage points.

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

    @styled
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
        if ax is None:
            self.figure_, only = axes(None, type(self).__name__, (7.0, 5.2))
            only.remove()
            self.axes_ = self.figure_.subplots(2, 1, sharex=True)
        else:
            self.axes_ = np.asarray(ax, dtype=object).reshape(-1)
            if len(self.axes_) != 2:
                raise ParameterError(f"ax must be two axes, one above the other; found {len(self.axes_)}")
            self.figure_ = self.axes_[0].figure
        metric, group, other = self.pair
        title = f"{metric_title(metric)}: {label(group)} minus {label(other)}" if name is None else name
        self._evidence(self.axes_[0])
        self._sequence(self.axes_[1])
        finish(self.axes_[0], title, **kwargs)
        finish(self.axes_[1])
        return self

    def _own(self) -> pd.DataFrame:
        keys = zip(self.wealth["metric"], self.wealth["group"], self.wealth["other"], strict=True)
        return self.wealth[[key == self.pair for key in keys]]

    def _evidence(self, ax: Any) -> None:
        for _, rows in self.wealth.groupby(["metric", "group", "other"], sort=False):
            ax.plot(rows["look"], rows["e_value_adjusted"], color=PALE, linewidth=1.2)
        own = self._own()
        ax.plot(own["look"], own["e_value_adjusted"], color=BLUE, label="evidence (e-value, adjusted)")
        ax.axhline(
            1 / self.alpha, color=GREY, linestyle="--", linewidth=1.2, label=f"significant from {1 / self.alpha:g}"
        )
        ax.set_yscale("log")
        if self.rejected_at is not None:
            at = own[own["look"] == self.rejected_at]
            ax.plot(
                at["look"], at["e_value_adjusted"], "D", color=ORANGE, markersize=7, label="significant disparity",
                linestyle="none",
            )  # fmt: skip
        plain_log(ax.yaxis)
        ax.set_ylabel("evidence")

    def _sequence(self, ax: Any) -> None:
        own, factor = self._own(), 100 if self.share else 1
        ax.fill_between(
            own["look"], factor * own["ci_low"], factor * own["ci_high"], color=PALE, step="post", linewidth=0,
            label=f"{100 * (1 - self.alpha):g}% confidence sequence",
        )  # fmt: skip
        ax.plot(own["look"], factor * own["disparity"], color=BLUE, linestyle="-.", label="difference so far")
        for edge in sorted({-self.margin, self.margin}):
            ax.axhline(factor * edge, color=GREY, linewidth=1.0, linestyle=":" if self.margin else "-")
        shown = own["disparity"].abs().max()
        reach = 1.1 * factor * max(2.5 * float(shown) if np.isfinite(shown) else 0.0, self.margin, 0.02)
        ax.set_ylim(-reach, reach)
        ax.set_ylabel("difference (points)" if self.share else "difference")
        self._times(ax, own)
        legend_below(ax, 2, also=self.axes_[0])

    def _times(self, ax: Any, own: pd.DataFrame) -> None:
        """Write when looks were, where that is known."""
        if own["time"].isna().all():
            ax.set_xlabel("look")
            plain_ticks(ax, ax.xaxis)
            return
        step = -(-len(own) // MOST_TIMES)
        ticks: Sequence[Any] = own["look"].tolist()[::step]
        ax.set_xticks(ticks)
        names = [label("" if time is None else time)[:WIDEST_TIME] for time in own["time"].tolist()[::step]]
        for written in ax.set_xticklabels(names):
            literal(written)
