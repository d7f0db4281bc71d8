"""What is known of each group: its value of a metric, or its calibration curve, with intervals or bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betaincinv

from skfairtest._utils.checks import check_probability, is_integer
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import label
from skfairtest._utils.typing import Floats
from skfairtest.displays._drawings import Panel, axes, draw_panel, height_of, legend_below, styled, width_of
from skfairtest.displays._tested import (
    FittedDisplay,
    Part,
    finish,
    fitted_name,
    parts_of,
    titled,
    value_axis,
    value_factor,
)
from skfairtest.readers import (
    as_numbers,
    check_classes,
    check_rows,
    classes_of,
    one_column,
    read_column,
    resolve_pos_label,
    scores,
)
from skfairtest.report.draw import BLUE, GREY, ORANGE, curve
from skfairtest.report.sentences import metric_title
from skfairtest.tables import Sample


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
        panel = Panel(columns=columns, kinds=kinds, factor=self.factor, everyone=self.reference, axis=xlabel)
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


#: Colours and marks of groups, which differ without colour too.
COLOURS, MARKS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9"), "osD^vX"


@dataclass(kw_only=True, eq=False, repr=False)
class CalibrationDisplay:
    """The share of truly positive people against the score, by group, with simultaneous intervals.

    In each group, people are divided by score into bins of about equal size; people with the same score are in the same
    bin. With a probability of at least `confidence_level`, all intervals of all groups contain their bins' expected
    shares: an interval that does not contain the diagonal is evidence that the group's scores are not calibrated. The
    tests, which need no bins, are ``metric="calibration_within_groups"`` and ``"kuiper_calibration"`` of
    `FairnessTest`.

    Parameters
    ----------
    bins : DataFrame
        One row per bin: ``group``, ``n``, ``score`` (mean), ``share`` of truly positive people, ``ci_low`` and
        ``ci_high``.
    confidence_level : float, default=0.95
        Of all intervals together.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    FairnessTest : Its metrics ``kuiper_calibration`` and ``calibration_within_groups``.

    Notes
    -----
    The intervals are Clopper and Pearson's at the Bonferroni level. People in a bin differ in their probabilities, so
    their number of events varies less than a binomial one, and the binomial limits still hold (Hoeffding 1956).

    References
    ----------
    W. Hoeffding (1956). On the distribution of the number of successes in independent trials. Annals of Mathematical
    Statistics 27, 713-721.

    Examples
    --------
    >>> from skfairtest import CalibrationDisplay
    >>> from skfairtest.datasets import load_compas
    >>> compas = load_compas()
    >>> display = CalibrationDisplay.from_predictions(
    ...     compas.y_true,
    ...     compas.decile_score / 10,
    ...     sensitive_features=compas.sensitive_features["sex"],
    ...     n_bins=3,
    ... )
    >>> display.bins["share"].round(2).tolist()
    [0.19, 0.35, 0.55, 0.3, 0.51, 0.69]
    """

    bins: pd.DataFrame
    confidence_level: float = 0.95

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sensitive_features: Any = None, n_bins: int = 10,
        confidence_level: float = 0.95, pos_label: Any = None, predict_params: dict[str, Any] | None = None,
        ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw the probabilities of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            A model with ``predict_proba``.
        X, y : array-like
            Features and true labels.
        sensitive_features, n_bins, confidence_level, pos_label : object
            As of `from_predictions`.
        predict_params : dict, optional
            Further arguments of ``predict_proba``.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.

        Returns
        -------
        CalibrationDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable; the message names it, what was found and what to do.
        """
        check_rows(X, y=y, sensitive_features=sensitive_features)
        y_score = scores(
            estimator, X, ("predict_proba",), metric=cls.__name__, pos_label=pos_label, y_true=y,
            sensitive_features=sensitive_features, predict_params=predict_params,
        )  # fmt: skip
        check_classes(read_column(one_column(y), "y_true").levels, classes_of(estimator), pos_label)
        return cls.from_predictions(
            y, y_score, sensitive_features=sensitive_features, n_bins=n_bins, confidence_level=confidence_level,
            pos_label=pos_label, ax=ax,
        )  # fmt: skip

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_score: Any, *, sensitive_features: Any = None, n_bins: int = 10,
        confidence_level: float = 0.95, pos_label: Any = None, ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_score : array-like of shape (n_samples,)
            Probabilities of the positive label.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples (several are crossed).
        n_bins : int, default=10
            Maximum number of bins per group.
        confidence_level : float, default=0.95
            Of all intervals together.
        pos_label : label, optional
            As in `FairnessTest`.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.

        Returns
        -------
        CalibrationDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable; the message names it, what was found and what to do.
        """
        check_probability("confidence_level", confidence_level)
        if not is_integer(n_bins) or n_bins < 1:
            raise ParameterError(f"n_bins must be an integer of at least 1; found {brief(n_bins)}")
        if sensitive_features is None:
            raise ParameterError("sensitive_features is missing: the groups to compare, one value per person")
        if y_score is None:
            raise ParameterError("y_score is missing: the predicted probabilities of the positive label")
        sample = Sample.from_predictions(
            one_column(y_true), y_score=one_column(y_score), sensitive_features=sensitive_features
        )
        score = as_numbers(sample.columns["y_score"])
        if score is None or score.min() < 0 or score.max() > 1:
            raise ParameterError("y_score must hold probabilities of the positive label, between 0 and 1")
        column = sample.labels_of("y_true")
        positive = resolve_pos_label(column.levels, pos_label)
        truth = np.array([bool(level == positive) for level in column.levels])[column.codes]
        rows = []
        for code, name in enumerate(sample.group_labels):
            inside = sample.group_codes == code
            rows += [(name, *bin_) for bin_ in _binned(score[inside], truth[inside], int(n_bins))]
        bins = pd.DataFrame(rows, columns=["group", "n", "score", "share"])
        events, error = (bins["n"] * bins["share"]).round(), (1 - confidence_level) / 2 / len(bins)
        bins["ci_low"], bins["ci_high"] = _limits(events.to_numpy(), bins["n"].to_numpy(dtype=float), error)
        return cls(bins=bins, confidence_level=float(confidence_level)).plot(ax=ax)

    @styled
    def plot(self, *, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on.

        Returns
        -------
        CalibrationDisplay
            This display.
        """
        self.figure_, self.ax_ = axes(ax, type(self).__name__)
        ax = self.ax_
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--", zorder=1, label="calibrated")
        for number, group in enumerate(dict.fromkeys(self.bins["group"])):
            own = self.bins[[name == group for name in self.bins["group"]]]
            colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
            band = own["ci_low"], own["ci_high"]
            style = {"color": colour, "marker": mark, "markersize": 4.5, "label": fitted_name([label(group)], [], 30)}
            curve(ax, own["score"], own["share"], band, **style)
        bands = f"bands: {100 * self.confidence_level:.3g}% for all groups and bins together"
        ax.set(xlabel=f"score ({bands})", ylabel="share of truly positive people", xlim=(0, 1), ylim=(0, 1))
        legend_below(ax)
        finish(ax)
        return self


def _binned(score: Floats, truth: Any, n_bins: int) -> list[tuple[int, float, float]]:
    """Return people, mean score and share of events of bins of about equal size."""
    _, place, people = np.unique(score, return_inverse=True, return_counts=True)
    bins = ((np.cumsum(people) - people) * n_bins // len(score))[place.reshape(-1)]
    chosen = [bins == one for one in np.unique(bins)]
    return [(int(one.sum()), float(score[one].mean()), float(truth[one].mean())) for one in chosen]


def _limits(events: Floats, people: Floats, error: float) -> tuple[Floats, Floats]:
    """Return Clopper and Pearson's limits, each with an error."""
    with np.errstate(invalid="ignore"):
        low = np.where(events > 0, betaincinv(np.maximum(events, 1), people - events + 1, error), 0.0)
        above = betaincinv(events + 1, np.maximum(people - events, 1), 1 - error)
    return low, np.where(events < people, above, 1.0)
