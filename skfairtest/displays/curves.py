"""Curves: the smallest detectable disparity, the disparity by threshold, and the evidence of a stream."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest import readers
from skfairtest._utils.checks import check_choice, check_probability, finite_numbers, is_integer, is_number
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import label, pluralize, shorten
from skfairtest._utils.typing import Booleans, Floats
from skfairtest.comparisons.null_histogram import detectable_sizes
from skfairtest.comparisons.rates import scale_of
from skfairtest.displays.base import GroupDisplay, canvas, check_test, finish, model_name, plain_ticks
from skfairtest.inference import thresholds as inference
from skfairtest.inference.detectable import TwoRates, detectable_rates
from skfairtest.inference.rates import Pair, Question
from skfairtest.metrics import CELLS, Rate, resolve_metrics
from skfairtest.planning.plan import read_proportions
from skfairtest.planning.power import supposed_of
from skfairtest.report.draw import BAR, BLUE, GREY, ORANGE, PALE, curve
from skfairtest.report.sentences import DETECTION_POWER, metric_title, points, ratio
from skfairtest.sequential.fairness import SequentialFairnessTest
from skfairtest.tables import Sample

DISPARITIES = ("difference", "ratio")
#: Sizes at which the line is computed if none are given.
SIZES = 80
METHODS = ("auto", "exact", "asymptotic")
#: Looks whose times are written below the axis, and columns that a time has.
MOST_TIMES, WIDEST_TIME = 5, 12


@dataclass(kw_only=True, eq=False, repr=False)
class PowerDisplay(GroupDisplay):
    """The smallest disparity that can be detected, against the number of people tested.

    A disparity on the line is detected with the given probability, larger ones more often. The line depends on the
    design, not on the observed disparity: it is not "observed power".

    Parameters
    ----------
    n_samples : ndarray of shape (n_sizes,)
        Numbers of people in both groups that are compared.
    detectable : ndarray of shape (n_sizes,)
        Smallest detectable absolute differences, or ratios of the larger value to the smaller; NaN if there is none.
    power : float, default=0.8
        Probability of finding it.
    alpha : float, default=0.05
        Level of one comparison.
    disparity : {"difference", "ratio"}, default="difference"
        What is compared.
    metric_name : str, default="rate"
        Whose disparity.
    fitted : tuple of float, optional
        People of a fitted test, the disparity that it would find, and the one that it saw.
    estimator_name : str, optional
        What the line is called in a legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.
    line_ : matplotlib Line2D
        The smallest disparity.

    See Also
    --------
    minimum_detectable_disparity : One point of the line, for the exact test.
    required_sample_size : How many people a given disparity needs.

    Notes
    -----
    The line is the normal approximation of the score test; in small groups the exact test needs slightly larger
    disparities. If both directions are possible, the larger disparity is drawn. The paper draws the smallest difference
    rejected in the data, with a power of about one half.

    References
    ----------
    C. DiCiccio et al. (2020), Evaluating Fairness Using Permutation Tests, KDD, figure 3. J. L. Fleiss, B. Levin and
    M. C. Paik (2003), Statistical Methods for Rates and Proportions, section 4.2.

    Examples
    --------
    >>> from skfairtest import PowerDisplay
    >>> display = PowerDisplay.from_rates(0.3, n_samples=[186, 18600])
    >>> display.detectable.round(3)
    array([0.2  , 0.019])
    """

    n_samples: Floats
    detectable: Floats
    power: float = DETECTION_POWER
    alpha: float = 0.05
    disparity: str = "difference"
    metric_name: str = "rate"
    fitted: tuple[float, float, float] | None = None
    estimator_name: str | None = None

    @classmethod
    def from_test(
        cls,
        test: Any,
        *,
        power: float = DETECTION_POWER,
        n_samples: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what the strongest comparison would detect among more or fewer people.

        Parameters
        ----------
        test : FairnessTest
            A fitted test without control features. The baseline is the other side's value; shares of groups, and of
            people who meet the rate's condition, stay the same. The level is divided by the number of hypotheses, as by
            Holm's method; discrete Holm often detects more.
        power : float, default=0.8
            Probability of finding a disparity.
        n_samples : array-like of shape (n_sizes,), optional
            Numbers of people; by default from a tenth to ten times of those tested.
        name : str, optional
            What the line is called in the legend; by default the class of the estimator.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **kwargs
            Further arguments of the line.

        Returns
        -------
        PowerDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If it is not a test whose power is known.
        NotFittedError
            If it is not fitted.
        """
        check_probability("power", power)
        supposed = supposed_of(test)
        question, row = supposed.question, test.comparisons_.iloc[test._leading]
        if question.alternative == "equivalence":
            raise ParameterError(
                "alternative='equivalence' looks for the largest disparity that can be shown to be tolerable, not the "
                "smallest that is detected: see minimum_detectable_disparity"
            )
        overall = test._setup.compare == "to_overall"
        people = float(row["n_other"] if overall else row["n_group"] + row["n_other"])
        sizes = _sizes(n_samples, np.geomspace(max(10.0, people / 10), 10 * people, SIZES))
        seen = np.float64(row["disparity"])
        with np.errstate(divide="ignore"):
            seen = abs(seen) if question.disparity == "difference" else max(seen, 1 / seen)
        direction = {"greater": "up", "less": "down"}.get(question.alternative, "farther")
        among = [supposed.among(times) for times in np.append(sizes, people) / people]
        found = _checked(detectable_sizes(among, power, direction=direction, accuracy="normal"), power)
        return cls(
            n_samples=sizes,
            detectable=found[:-1],
            power=float(power),
            alpha=supposed.level,
            disparity="ratio" if question.disparity == "ratio" else "difference",
            metric_name=str(row["metric"]),
            fitted=(people, float(found[-1]), float(seen)),
            estimator_name=model_name(test) if name is None else name,
        ).plot(ax=ax, **kwargs)

    @classmethod
    def from_rates(
        cls,
        baseline: float,
        *,
        shares: Sequence[float] = (0.5, 0.5),
        base_rates: Any = 1.0,
        n_samples: Any = None,
        alpha: float = 0.05,
        power: float = DETECTION_POWER,
        disparity: str = "difference",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what could be detected between two groups, before any data are collected.

        Parameters
        ----------
        baseline : float
            The rate of the second group.
        shares : (float, float), default=(0.5, 0.5)
            Proportions of the two groups.
        base_rates : float or (float, float), default=1.0
            Share of each group who meet the rate's condition.
        n_samples : array-like of shape (n_sizes,), optional
            Numbers of people in both groups; by default 100 to 100,000.
        alpha : float, default=0.05
            Level of the test.
        power : float, default=0.8
            Probability of finding a disparity.
        disparity : {"difference", "ratio"}, default="difference"
            What is compared.
        name : str, optional
            What the line is called in the legend.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **kwargs
            Further arguments of the line.

        Returns
        -------
        PowerDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If a parameter is not usable; the message names it, what was found and what to do.
        """
        if not is_number(baseline) or not 0 <= baseline <= 1:
            raise ParameterError(f"baseline must be a rate between 0 and 1; found {brief(baseline)}")
        check_probability("alpha", alpha)
        check_probability("power", power)
        check_choice("disparity", disparity, DISPARITIES)
        met = finite_numbers([base_rates] * 2 if is_number(base_rates) else base_rates)
        if len(met) != 2 or met.min() <= 0 or met.max() > 1:
            raise ParameterError(f"base_rates must be one or two numbers above 0 and at most 1; found {base_rates!r}")
        sizes, parts = _sizes(n_samples, np.geomspace(100, 100_000, SIZES)), np.array(read_proportions(shares, 2))
        tables = [TwoRates(baseline, *(n * parts / parts.sum() * met)) for n in sizes]
        found = detectable_rates(tables, Question(disparity), alpha=alpha, power=power, accuracy="normal")
        return cls(
            n_samples=sizes,
            detectable=_checked(found, power),
            power=float(power),
            alpha=float(alpha),
            disparity=disparity,
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
        PowerDisplay
            This display.
        """
        name, found = self.estimator_name if name is None else name, f"found with probability {self.power:g}"
        factor, size = (100.0, "{} points") if self.disparity == "difference" else (1.0, "{}")
        write = points if self.disparity == "difference" else ratio
        unit = "\nin percentage points" * (factor == 100)
        with canvas(self, ax) as self.ax_:
            ax = self.ax_
            style = {"label": f"{shorten(name, 30)}: {found}" if name else found, **kwargs}
            self.line_ = curve(ax, self.n_samples, factor * self.detectable, **style)
            if self.fitted is not None:
                people, detectable, seen = self.fitted
                if np.isfinite(detectable):
                    told = f"{int(people):,} people: {size.format(write(detectable))}"
                    ax.plot([people], [factor * detectable], "D", color=ORANGE, label=told, zorder=3)
                if np.isfinite(seen) and seen > 0:
                    told = f"observed: {size.format(write(seen))}"
                    ax.axhline(factor * seen, color=GREY, linestyle=":", label=told)
            ax.set(
                xscale="log",
                yscale="log",
                xlabel=f"people in both groups\n(level {self.alpha:.3g}, normal approximation)",
                ylabel=f"smallest {self.disparity} detected{unit}",
            )
            plain_ticks(ax.xaxis, "{x:,.0f}")
            plain_ticks(ax.yaxis)
            finish(ax, metric_title(self.metric_name))
        return self


def _checked(found: Floats, power: float) -> Floats:
    """Return the smallest disparities, NaN where there is none; raise an error if there is none at all."""
    if not np.isfinite(found).any():
        raise ParameterError(
            f"power={power:g} is not reached by any disparity with any of n_samples: more people are needed"
        )
    return np.where(np.isfinite(found), found, np.nan)


def _sizes(given: Any, default: Floats) -> Floats:
    if given is None:
        return np.unique(np.round(default))
    sizes = finite_numbers(given)
    if not len(sizes) or sizes.min() < 4:
        raise ParameterError(f"n_samples must be numbers of people, each at least 4; found {given!r}")
    return np.unique(sizes)


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

    thresholds: Floats
    disparity: Floats
    ci_low: Floats
    ci_high: Floats
    kept_low: Floats
    kept_high: Floats
    rejected: Booleans
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
            at = inference.chosen_thresholds(score[first | second], int(thresholds))
        else:
            at = np.unique(finite_numbers(thresholds))
        if not len(at):
            raise ParameterError(f"thresholds must be finite numbers, or how many; found {brief(thresholds)}")
        event, given = rate.masks(CELLS)
        cells = [inference.cell_counts(score[side], truths[side], at) for side in (first, second)]
        pair = Pair(*(each[:, which].sum(axis=1) for each in cells for which in (event, given)))
        found = inference.curve(pair, scale_of(rate), 1 - float(confidence_level), method)
        return cls(
            thresholds=at,
            confidence_level=float(confidence_level),
            **found._asdict(),
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
        band = {"facecolor": PALE, "edgecolor": BAR, "hatch": "....", "linewidth": 0.0, "zorder": 1}
        band["label"] = f"not significant ({test}, {100 - level:.3g}%)"
        with canvas(self, ax) as self.ax_:
            ax = self.ax_
            self.kept_ = ax.fill_between(x, 100 * self.kept_low, 100 * self.kept_high, **band)
            ax.axhline(0, color=GREY, linewidth=1, zorder=1.5)
            style = {"label": shown, "said": f"{level:.3g}% interval", **kwargs}
            self.line_ = curve(ax, x, disparity, (low, high), **style)
            if self.rejected.any():
                mark = {"color": ORANGE, "markersize": 4.5, "zorder": 4, "label": "significant"}
                ax.plot(x[self.rejected], disparity[self.rejected], "D", **mark)
            unit = "\n".join(filter(None, ("difference in percentage points", self.comparison)))
            ax.set(xlabel="threshold of the score (each by itself)", ylabel=unit)
            plain_ticks(ax.yaxis)
            finish(ax, metric_title(self.metric_name))
        return self


def _rate_of(metric: Any) -> Rate:
    rate, *others = resolve_metrics(metric)
    if others or not isinstance(rate, Rate):
        named = ", ".join(repr(each.name) for each in (rate, *others))
        raise ParameterError(
            f"metric must be one rate, which depends on the threshold, such as 'false_positive_rate'; found {named}"
        )
    return rate


def _truths(column: readers.Column, pos_label: Any, classes: Any = None) -> Booleans:
    readers.check_classes(column.levels, classes, pos_label)
    positive = readers.resolve_pos_label(column.levels, pos_label, classes)
    return np.array([bool(level == positive) for level in column.levels], dtype=bool)[column.codes]


def _sides(sample: Sample, group: Any, other: Any) -> tuple[Booleans, Booleans, str]:
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
    return first, second, f"{shorten(group, 20)} against {'rest' if other is None else shorten(other, 20)}"


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
        """Draw a test that has received batches.

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
            If the test is not sequential, has compared no groups yet, or has no such pair.
        NotFittedError
            If no batch was added.
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
