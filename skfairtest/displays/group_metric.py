"""The value of a metric in each group, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import shorten
from skfairtest.audit.record import AuditPart
from skfairtest.displays import base
from skfairtest.displays.base import GroupDisplay, canvas, finish, parts_of
from skfairtest.report.cells import records
from skfairtest.report.draw import GREY
from skfairtest.report.sentences import metric_title


@dataclass(kw_only=True, eq=False, repr=False)
class GroupMetricDisplay(GroupDisplay):
    """Values of a metric by group, with intervals and numbers of people.

    Values based on fewer than ten people are hollow. Intervals are pointwise: groups whose intervals overlap can differ
    significantly. `DisparityDisplay` shows differences.

    Parameters
    ----------
    labels : list of str
        What each row is called.
    value, ci_low, ci_high : ndarray of shape (n_rows,)
        Values and their limits.
    n_effective : ndarray of int, shape (n_rows,)
        People behind each value.
    small : ndarray of bool, shape (n_rows,)
        Which of them are few.
    reference : float, optional
        The value of all people.
    factor : float, default=1.0
        Multiplies numbers on the axis: 100 for percentages.
    xlabel : str, default="value"
        What is on the axis.
    metric_name : str, default=""
        The metric in words, as the title.
    estimator_name : str, optional
        The model, in the title.

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
        rows = [(part, row) for part in parts for row in records(part.by_group)]
        if not rows:
            raise ParameterError("test looks at all groups at once, so there are no values by group to draw")
        labels, metric_name = base.named_rows(
            [part.feature for part, _ in rows],
            [metric_title(row["metric"]) for _, row in rows],
            [base.stratified(row["group"], row["stratum"]) for _, row in rows],
        )
        value, low, high = (np.array([float(row[c]) for _, row in rows]) for c in ("value", "ci_low", "ci_high"))
        units = {
            "in the metric's unit"
            if not part.setup.is_share(row["metric"])
            else "% of people"
            if part.setup.is_event(row["metric"])
            else "value from 0 to 1"
            for part, row in rows
        }
        unit = units.pop() if len(units) == 1 else "value"
        return cls(
            labels=labels,
            value=value,
            ci_low=low,
            ci_high=high,
            metric_name=metric_name,
            estimator_name=name,
            n_effective=np.array([row["n_effective"] for _, row in rows], dtype=np.int64),
            small=np.array([row["small"] for _, row in rows], dtype=bool),
            reference=_everybody(parts[0]) if metric_name and len(parts) == 1 else None,
            factor=100.0 if unit == "% of people" else 1.0,
            xlabel=f"{unit}\npointwise {100 * (1 - parts[0].setup.alpha):g}% intervals",
        )

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
        total, rows, xlabel = len(self.labels), np.arange(len(self.labels)), self.xlabel
        if total > max_rows:
            rows = np.sort(np.argsort(-self.n_effective, kind="stable")[:max_rows])
            xlabel += f"\nthe {max_rows} largest of {total:,} groups"
        widest = base.WIDE if ax is None else base.NARROW
        labels = [f"{shorten(self.labels[i], widest - 12)} (n = {self.n_effective[i]:,})" for i in rows]
        columns = self.factor * np.stack([self.value, self.ci_low, self.ci_high])[:, rows]
        everyone = self.factor * (np.nan if self.reference is None else self.reference)
        with canvas(self, ax, base.rows_size(labels)) as self.ax_:
            ax = self.ax_
            kinds = np.where(self.small[rows], "few", "other")
            base.intervals(ax, labels, columns, kinds, {"few": "few people"}, also=[everyone])
            if np.isfinite(everyone):
                ax.axvline(everyone, color=GREY, linewidth=1, linestyle="--", zorder=1, label="everybody")
            ax.set_xlabel(xlabel)
            finish(ax, self.metric_name, self.estimator_name if name is None else name, **kwargs)
        return self


def _everybody(part: AuditPart) -> float | None:
    """Return the share among all people, if values are shares without weights."""
    setup, table = part.setup, part.by_group
    metric = table["metric"].iloc[0]
    if metric not in setup.sentences or metric in setup.functions or setup.people or setup.controls:
        return None
    weights = table["n_effective"].to_numpy(dtype=float)
    return float(np.nansum(weights * table["value"].to_numpy(dtype=float)) / weights.sum())
