"""Each group's value of a metric, with its interval and the number of people it is based on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import label
from skfairtest.displays._drawings import axes, draw_panel, height_of, styled, width_of
from skfairtest.displays._tested import FittedDisplay, Part, finish, fitted_name, parts_of, titled
from skfairtest.report.cells import value_axis, value_factor
from skfairtest.report.plots import Panel
from skfairtest.report.sentences import metric_title


@dataclass(kw_only=True, eq=False, repr=False)
class GroupMetricDisplay(FittedDisplay):
    """Values of a metric by group, each with its interval and the number of people it is based on.

    Values based on fewer than ten people are hollow. Intervals are pointwise: two groups can differ significantly
    although their intervals overlap. `DisparityDisplay` shows the differences.

    Parameters
    ----------
    labels : list of str
        What each row is called.
    value, ci_low, ci_high : ndarray of shape (n_rows,)
        Values and their limits.
    n_effective : ndarray of int, shape (n_rows,)
        Number of people that each value is based on.
    small : ndarray of bool, shape (n_rows,)
        Which of them are few.
    reference : float, optional
        Everybody's value.
    factor : float, default=1.0
        What numbers on the axis are multiplied by: 100 where they are percentages.
    xlabel : str, default="value"
        What is on the axis.
    metric_name : str, default=""
        The metric in words, if there is one: the title of the drawing.
    estimator_name : str, optional
        What the title says beside it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    DisparityDisplay : Disparities between groups.
    FairnessTest : The test.

    Examples
    --------
    >>> from skfairtest import FairnessTest, GroupMetricDisplay
    >>> test = FairnessTest.from_predictions(
    ...     None,
    ...     [1, 0, 0, 1] * 20 + [1, 0, 0, 0] * 20,
    ...     sensitive_features=["a"] * 80 + ["b"] * 80,
    ...     metric="selection_rate",
    ... )
    >>> display = GroupMetricDisplay.from_test(test)
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['a (n = 80)', 'b (n = 80)']
    """

    labels: list[str]
    value: NDArray[np.float64]
    ci_low: NDArray[np.float64]
    ci_high: NDArray[np.float64]
    n_effective: NDArray[np.int64]
    small: NDArray[np.bool_]
    reference: float | None = None
    factor: float = 1.0
    xlabel: str = "value"
    metric_name: str = ""
    estimator_name: str | None = None

    @classmethod
    def _read(cls, test: Any, name: str | None) -> Self:
        parts = parts_of(test)
        rows = [(part, row) for part in parts for row in part.by_group.to_dict("records")]
        metrics = list(dict.fromkeys(row["metric"] for _, row in rows))
        if not metrics:
            raise ParameterError("test looks at all groups at once, so there are no values by group to draw")
        several = len(metrics) > 1
        value, low, high = (np.array([float(row[c]) for _, row in rows]) for c in ("value", "ci_low", "ci_high"))
        units = dict.fromkeys(value_axis(part.setup, row["metric"]) for part, row in rows)
        told = next(iter(units)) if len(units) == 1 else "value"
        return cls(
            labels=[_row_name(row, several=several, feature=part.feature) for part, row in rows],
            value=value,
            ci_low=low,
            ci_high=high,
            n_effective=np.array([row["n_effective"] for _, row in rows], dtype=np.int64),
            small=np.array([row["small"] for _, row in rows], dtype=bool),
            reference=None if several or len(parts) > 1 else _everybody(parts[0]),
            factor=value_factor(parts[0].setup, metrics[0]) if len(units) == 1 else 1.0,
            xlabel=f"{told}\npointwise {100 * (1 - parts[0].setup.alpha):g}% intervals",
            metric_name="" if several else metric_title(metrics[0]),
            estimator_name=name,
        )

    @styled
    def plot(self, *, ax: Any = None, name: str | None = None, max_rows: int = 40, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on.
        name : str, optional
            Title of the drawing.
        max_rows : int, default=40
            Maximum number of rows to draw: those with the most people.
        **kwargs
            Properties of the axes, as ``matplotlib.axes.Axes.set`` takes them.

        Returns
        -------
        GroupMetricDisplay
            This display.
        """
        total = len(self.labels)
        rows = np.arange(total)
        xlabel = self.xlabel
        if total > max_rows:
            rows = np.sort(np.argsort(-self.n_effective, kind="stable")[:max_rows])
            xlabel += f"\nthe {max_rows} largest of {total:,} groups"
        labels = [f"{self.labels[i]} (n = {self.n_effective[i]:,})" for i in rows]
        self.figure_, self.ax_ = axes(ax, type(self).__name__, (width_of(labels), height_of(len(rows))))
        kinds = np.where(self.small[rows], "few", "other")
        columns = [column[rows] for column in (self.value, self.ci_low, self.ci_high)]
        panel = Panel.of(columns, kinds, factor=self.factor, everyone=self.reference, axis=xlabel)
        draw_panel(self.ax_, labels, panel)
        finish(self.ax_, titled(self.metric_name, self.estimator_name if name is None else name), **kwargs)
        return self


def _row_name(row: Any, *, several: bool, feature: str) -> str:
    pieces, joints = [label(row["group"])], []
    if row["stratum"] is not None:
        pieces.append(label(row["stratum"]))
        joints.append(" in ")
    return fitted_name(pieces, joints, 42, prefix=[metric_title(row["metric"]) if several else "", feature])


def _everybody(part: Part) -> float | None:
    """Return everybody's share, if values are shares of people without weights."""
    setup, table = part.setup, part.by_group
    metric = table["metric"].iloc[0]
    if metric not in setup.sentences or metric in setup.functions or setup.people or setup.controls:
        return None
    weights = table["n_effective"].to_numpy(dtype=float)
    return float(np.nansum(weights * table["value"].to_numpy(dtype=float)) / weights.sum())
