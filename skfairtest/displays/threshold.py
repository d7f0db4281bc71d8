"""How the disparity of a rate depends on the threshold of the score, and where equality is rejected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skfairtest import readers
from skfairtest._utils.checks import check_choice, check_probability, finite_numbers, is_integer
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import pluralize, shorten
from skfairtest.comparisons.rates import scale_of
from skfairtest.displays.base import canvas, finish, fitted, plain_ticks
from skfairtest.inference.rates import Pair
from skfairtest.inference.thresholds import cell_counts, chosen_thresholds, curve
from skfairtest.metrics import CELLS, Rate, resolve_metrics
from skfairtest.report import draw
from skfairtest.report.draw import GREY, ORANGE, PALE
from skfairtest.report.sentences import metric_title
from skfairtest.tables import Sample

METHODS = ("auto", "exact", "asymptotic")


@dataclass(kw_only=True, eq=False, repr=False)
class ThresholdDisplay:
    """Disparity of a rate between two groups against the decision threshold, and where equality is rejected.

    Null hypothesis at each threshold: if scores from the threshold on are positive predictions, the event is equally
    probable in both groups among people who meet the rate's condition. The test is that of `FairnessTest` with one
    comparison. The grey band holds disparities at which equality is not rejected, given the number of events in both
    groups; diamonds mark where the line leaves it. Tests and intervals are pointwise, valid at a threshold chosen
    beforehand: searching for one without rejection is multiple testing.

    Parameters
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        A prediction is positive if its score is at or above the threshold.
    disparity, ci_low, ci_high : ndarray of shape (n_thresholds,)
        Differences of the rate and their limits; NaN if a group has no one who meets the condition.
    kept_low, kept_high : ndarray of shape (n_thresholds,)
        Smallest and largest differences not rejected.
    rejected : ndarray of bool, shape (n_thresholds,)
        Where the difference is rejected.
    confidence_level : float, default=0.95
        Of the intervals; one minus it is the level of the tests.
    method : {"exact", "asymptotic"}, default="exact"
        Of the tests.
    metric_name : str, default="rate"
        What the rate is.
    comparison : str, default=""
        What was compared.
    estimator_name : str, optional
        What the line is called in a legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.
    line_ : matplotlib Line2D
        The disparity.
    kept_ : matplotlib PolyCollection
        What is not rejected.

    See Also
    --------
    FairnessTest : The test at one threshold.

    Notes
    -----
    The bounds of the exact test's rejection region are accurate to one part in 100,000 of the level.

    References
    ----------
    C. DiCiccio et al. (2020), Evaluating Fairness Using Permutation Tests, KDD, figure 2. R. D. Boschloo (1970),
    Statistica Neerlandica 24, 1-35.

    Examples
    --------
    >>> from skfairtest import ThresholdDisplay
    >>> from skfairtest.datasets import load_compas
    >>> compas = load_compas()
    >>> display = ThresholdDisplay.from_predictions(
    ...     compas.y_true,
    ...     compas.decile_score,
    ...     sensitive_features=compas.sensitive_features["sex"],
    ...     metric="false_positive_rate",
    ... )
    >>> display.thresholds.tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
    >>> display.thresholds[display.rejected].tolist()
    [7.0, 8.0, 9.0]
    """

    thresholds: NDArray[np.float64]
    disparity: NDArray[np.float64]
    ci_low: NDArray[np.float64]
    ci_high: NDArray[np.float64]
    kept_low: NDArray[np.float64]
    kept_high: NDArray[np.float64]
    rejected: NDArray[np.bool_]
    confidence_level: float = 0.95
    method: str = "exact"
    metric_name: str = "rate"
    comparison: str = ""
    estimator_name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        metric: Any = "selection_rate",
        pos_label: Any = None,
        predict_params: dict[str, Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the scores of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            A model with ``predict_proba`` or ``decision_function``.
        X, y : array-like
            Features and true labels; `y` may be None if the rate needs none.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples (several are crossed).
        metric : str or Rate, default="selection_rate"
            A rate, or a criterion of one rate.
        pos_label : label, optional
            As in `FairnessTest`.
        predict_params : dict, optional
            Further arguments of the method that gives the scores.
        name : str, optional
            What the line is called in the legend; by default the class of the estimator.
        **kwargs
            Further arguments of `from_predictions`.

        Returns
        -------
        ThresholdDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable; the message names it, what was found and what to do.
        """
        readers.check_rows(X, y=y, sensitive_features=sensitive_features)
        y_score = readers.scores(
            estimator,
            X,
            ("predict_proba", "decision_function"),
            metric=cls.__name__,
            pos_label=pos_label,
            y_true=y,
            sensitive_features=sensitive_features,
            predict_params=predict_params,
        )
        if y is not None and "y_true" in _rate_of(metric).reads:
            y, pos_label = (
                _truths(readers.read_column(readers.one_column(y), "y_true"), pos_label, readers.classes_of(estimator)),
                True,
            )
        name = type(estimator).__name__ if name is None else name
        given = {"sensitive_features": sensitive_features, "metric": metric, "pos_label": pos_label, "name": name}
        return cls.from_predictions(y, y_score, **given, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sensitive_features: Any = None,
        metric: Any = "selection_rate",
        group: Any = None,
        other: Any = None,
        thresholds: Any = 100,
        confidence_level: float = 0.95,
        method: str = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or None
            True labels; None if the rate needs none.
        y_score : array-like of shape (n_samples,)
            Scores of the positive label.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples (several are crossed).
        metric : str or Rate, default="selection_rate"
            A rate, or a criterion of one rate.
        group, other : label or tuple of labels, optional
            The groups to compare; `group` alone is compared with everyone else. By default the two groups, or the
            largest of several with everyone else.
        thresholds : int or array-like, default=100
            Thresholds, or their maximum number: then the compared people's scores, or quantiles of them if there are
            more.
        confidence_level : float, default=0.95
            Of the intervals; one minus it is the level of the tests.
        method : {"auto", "exact", "asymptotic"}, default="auto"
            As in `FairnessTest`; "auto" is "asymptotic" if exact tests would take long.
        pos_label : label, optional
            As in `FairnessTest`.
        name : str, optional
            What the line is called in the legend.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **kwargs
            Further arguments of the line.

        Returns
        -------
        ThresholdDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable; the message names it, what was found and what to do.
        """
        rate = _rate_of(metric)
        check_choice("method", method, METHODS)
        check_probability("confidence_level", confidence_level)
        if sensitive_features is None:
            raise ParameterError("sensitive_features is missing: the groups to compare, one value per person")
        if y_true is None and "y_true" in rate.reads:
            raise ParameterError(
                f"y_true is missing: {rate.name} needs the true labels; metric='selection_rate' does not"
            )
        if y_score is None:
            raise ParameterError("y_score is missing: probabilities or decision values of the positive label")
        y_true, y_score = readers.one_column(y_true), readers.one_column(y_score)
        sample = Sample.from_predictions(y_true, y_score=y_score, sensitive_features=sensitive_features)
        score = sample.columns["y_score"].numbers
        if score is None:
            raise ParameterError("y_score must hold numbers: probabilities or decision values of the positive label")
        truths = np.zeros(len(score), dtype=bool)
        if "y_true" in rate.reads:
            truths = _truths(sample.labels_of("y_true"), pos_label)
        first, second, comparison = _sides(sample, group, other)
        if is_integer(thresholds) and thresholds > 0:
            at = chosen_thresholds(score[first | second], int(thresholds))
        else:
            at = np.unique(finite_numbers(thresholds))
        if not len(at):
            raise ParameterError(f"thresholds must be finite numbers, or how many; found {brief(thresholds)}")
        event, given = rate.masks(CELLS)
        cells = [cell_counts(score[side], truths[side], at) for side in (first, second)]
        pair = Pair(*(each[:, which].sum(axis=1) for each in cells for which in (event, given)))
        found = curve(pair, scale_of(rate), 1 - float(confidence_level), method)
        return cls(
            thresholds=at,
            disparity=found.disparity,
            ci_low=found.low,
            ci_high=found.high,
            kept_low=found.kept_low,
            kept_high=found.kept_high,
            rejected=found.rejected,
            confidence_level=float(confidence_level),
            method=found.method,
            metric_name=rate.name,
            comparison=comparison,
            estimator_name=name,
        ).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, name: str | None = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on.
        name : str, optional
            What the line is called.
        **kwargs
            Further arguments of the line.

        Returns
        -------
        ThresholdDisplay
            This display.
        """
        x, disparity, low, high = self.thresholds, *(100 * each for each in (self.disparity, self.ci_low, self.ci_high))
        level, test = 100 * self.confidence_level, "exact test" if self.method == "exact" else "score test"
        name = self.estimator_name if name is None else name
        shown, undefined = shorten(name, 30) if name else "disparity", int(np.isnan(disparity).sum())
        if undefined:
            shown += f" (undefined at {pluralize(undefined, 'threshold')})"
        band = {"facecolor": PALE, "edgecolor": draw.BAR, "hatch": "....", "linewidth": 0.0, "zorder": 1}
        band["label"] = f"not significant ({test}, {100 - level:.3g}%)"
        with canvas(self, ax) as self.ax_:
            ax = self.ax_
            self.kept_ = ax.fill_between(x, 100 * self.kept_low, 100 * self.kept_high, **band)
            ax.axhline(0, color=GREY, linewidth=1, zorder=1.5)
            style = {"label": shown, "said": f"{level:.3g}% interval", **kwargs}
            self.line_ = draw.curve(ax, x, disparity, (low, high), **style)
            if self.rejected.any():
                mark = {"color": ORANGE, "markersize": 4.5, "zorder": 4, "label": "significant"}
                ax.plot(x[self.rejected], disparity[self.rejected], "D", **mark)
            unit = "\n".join(filter(None, ("difference in percentage points", self.comparison)))
            ax.set(xlabel="threshold of the score (each by itself)", ylabel=unit)
            plain_ticks(ax.yaxis)
            finish(ax, metric_title(self.metric_name))
        return self


def _rate_of(metric: Any) -> Rate:
    found = resolve_metrics(metric)
    named = ", ".join(repr(each.name) for each in found)
    if len(found) > 1:
        raise ParameterError(
            f"metric={brief(metric)} stands for several metrics, but a drawing shows one: choose one of {named}"
        )
    if not isinstance(found[0], Rate):
        raise ParameterError(
            f"metric={named} is not a rate, and does not depend on a threshold: use a rate, such as "
            "'false_positive_rate'"
        )
    return found[0]


def _truths(column: readers.Column, pos_label: Any, classes: Any = None) -> NDArray[np.bool_]:
    readers.check_classes(column.levels, classes, pos_label)
    positive = readers.resolve_pos_label(column.levels, pos_label, classes)
    return np.array([bool(level == positive) for level in column.levels], dtype=bool)[column.codes]


def _sides(sample: Sample, group: Any, other: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_], str]:
    labels = sample.group_labels
    listed = ", ".join(map(repr, labels))
    if group is None and other is None:
        # Of several the largest, whatever its scores are: a group that the scores choose would need an adjustment.
        largest = labels[int(np.argmax(np.bincount(sample.group_codes, minlength=len(labels))))]
        group, other = labels if len(labels) == 2 else (largest, None)
    group, other = (tuple(side) if isinstance(side, list) else side for side in (group, other))
    for name, side in (("group", group), ("other", other)):
        if side not in labels and not (name == "other" and side is None):
            raise ParameterError(f"{name}={side!r} is not a group; the groups are {listed}")
    if group == other:
        raise ParameterError(f"group and other are both {group!r}: pass two different groups")
    first = sample.group_codes == labels.index(group)
    second = ~first if other is None else sample.group_codes == labels.index(other)
    if not second.any():
        raise ParameterError(f"sensitive_features holds one group only, {listed}: nothing can be compared")
    return first, second, fitted("{} against {}", group, "rest" if other is None else other, width=40)
