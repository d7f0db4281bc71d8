"""How far a disparity could be otherwise, against the amount by which an assumption fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import label
from skfairtest.displays._drawings import BLUE, GREY, ORANGE, axes, draw_curve, legend_below, styled
from skfairtest.displays._tested import finish, fitted_name
from skfairtest.report.sentences import metric_title
from skfairtest.sensitivity.result import Sensitivity


@dataclass(kw_only=True, eq=False, repr=False)
class SensitivityDisplay:
    """The smallest and the largest disparity of a comparison, over a grid of wrong labels, missing groups, confounders.

    A dashed line marks the largest amount with which the verdict of the whole test survives.

    Parameters
    ----------
    frame : DataFrame
        The rows of one comparison in the `frame` of a `Sensitivity`.
    parameter : str
        Which column has the amounts.
    survives : dict of str to float
        The largest amounts with which the verdict survives.
    equality : float, default=0.0
        The disparity of equal values.
    xlabel : str, default="amount"
        What is on the axis of amounts.
    ylabel : str, default="disparity"
        What is on the axis of disparities.
    comparison_name : str, default=""
        The title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    FairnessTest.sensitivity : The analysis.

    Examples
    --------
    >>> from skfairtest import FairnessTest, SensitivityDisplay
    >>> from skfairtest.datasets import load_compas
    >>> compas = load_compas()
    >>> test = FairnessTest.from_predictions(
    ...     compas.y_true,
    ...     compas.y_pred,
    ...     sensitive_features=compas.sensitive_features["sex"],
    ...     metric="accuracy",
    ... )
    >>> display = SensitivityDisplay.from_sensitivity(
    ...     test.sensitivity("label_noise", at=[0, 0.02, 0.04])
    ... )
    >>> display.ax_.get_title()
    'Accuracy: Female against Male'
    """

    frame: pd.DataFrame
    parameter: str
    survives: dict[str, float]
    equality: float = 0.0
    xlabel: str = "amount"
    ylabel: str = "disparity"
    comparison_name: str = ""

    @classmethod
    def from_sensitivity(cls, found: Sensitivity, *, comparison: int | None = None, ax: Any = None) -> Self:
        """Draw one comparison of a sensitivity analysis.

        Parameters
        ----------
        found : Sensitivity
            What `sensitivity` of a fitted test returned.
        comparison : int, optional
            Which of its comparisons, in the order of the frame; by default the one with the smallest p-value.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.

        Returns
        -------
        SensitivityDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If it is no sensitivity analysis, or has no such comparison.
        """
        if not isinstance(found, Sensitivity):
            raise ParameterError(
                f"found must be a Sensitivity, found {type(found).__name__}: see FairnessTest.sensitivity"
            )
        parameter = found.violation.parameter
        keys = [name for name in ("metric", "group", "other", "stratum") if name in found.frame]
        number = found.frame.groupby(keys, sort=False, dropna=False).ngroup()
        if comparison is None:
            comparison = int(number.iloc[int(found.frame["p_value_high"].argmin())])
        rows = found.frame[number == comparison]
        if not len(rows):
            raise ParameterError(f"comparison must be a number from 0 to {number.max()}; found {brief(comparison)}")
        first = rows.iloc[0]
        sides = [label(first["group"]), label(first["other"])]
        name = fitted_name(sides, [" against "], prefix=[metric_title(first["metric"])] if "metric" in keys else [])
        return cls(
            frame=rows,
            parameter=parameter,
            survives=dict(found.survives),
            equality=found.equality,
            xlabel=found.violation.axis,
            ylabel=found.disparity,
            comparison_name=name,
        ).plot(ax=ax)

    @styled
    def plot(self, *, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on.

        Returns
        -------
        SensitivityDisplay
            This display.
        """
        self.figure_, self.ax_ = axes(ax, type(self).__name__)
        several = "within" in self.frame
        wheres = list(dict.fromkeys(self.frame["within"])) if several else [""]
        self.ax_.axhline(self.equality, color=GREY, linewidth=1, zorder=1)
        for number, where in enumerate(wheres):
            rows = self.frame[self.frame["within"] == where] if several else self.frame
            amounts, (low, high) = rows[self.parameter], (rows["disparity_low"], rows["disparity_high"])
            colour = (ORANGE, BLUE)[number] if several else BLUE
            for ends in (low, high):
                line = draw_curve(self.ax_, amounts, ends, color=colour)
            line.set_label(f"ends, in {where}" if several else "smallest and largest disparity")
            self.ax_.fill_between(amounts, low, high, color=colour, alpha=0.12, linewidth=0)
        for number, amount in enumerate(self.survives.values()):
            if np.isfinite(amount) and amount <= self.frame[self.parameter].max():
                colour = (ORANGE, BLUE)[number] if several else BLUE
                self.ax_.axvline(amount, color=colour, linewidth=1.2, linestyle="--")
        self.ax_.set(xlabel=self.xlabel, ylabel=self.ylabel)
        legend_below(self.ax_)
        finish(self.ax_, self.comparison_name)
        return self
