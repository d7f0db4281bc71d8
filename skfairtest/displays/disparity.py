"""All comparisons of a test at a glance, and the null distribution of one of them, with the data's place in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import label, pluralize
from skfairtest.adjusted.fairness import AdjustedFairnessTest
from skfairtest.correlation.fairness import CorrelationFairnessTest
from skfairtest.displays._drawings import (
    WIDEST,
    Panel,
    axes,
    draw_null_histogram,
    draw_panel,
    height_of,
    moved,
    styled,
    width_of,
)
from skfairtest.displays._tested import (
    FittedDisplay,
    axis_factor,
    comparison_name,
    disparity_axis,
    finish,
    fitted_name,
    parts_of,
    titled,
)
from skfairtest.group.fairness import FairnessTest
from skfairtest.inference.multiplicity import FAMILYWISE
from skfairtest.paired.fairness import PairedFairnessTest
from skfairtest.report.cells import by_p_value, compared_with, oriented_histogram, pooled_first, records
from skfairtest.report.draw import NullHistogram
from skfairtest.report.report import NOT_CERTIFIED
from skfairtest.report.sentences import equals_p, metric_title
from skfairtest.subgroups.fairness import SubgroupScan

#: Columns that the name of a row has in a figure of its own, which is as wide as its rows need.
WIDE = 80


@dataclass(kw_only=True, eq=False, repr=False)
class DisparityDisplay(FittedDisplay):
    """Forest plot of the comparisons of a test or an audit, or of the subgroups of a scan.

    Each pair of groups has the group with the smaller value first, and the strongest evidence is on top. Significant
    disparities are orange diamonds, the others blue circles; where a test certifies, the legend says what they are. For
    a `SubgroupScan`, those in its `comparisons_` are drawn, in their order. An arrow marks an interval that extends
    beyond the plot. A metric that looks at all groups at once has no disparity to draw; such comparisons are counted
    below the axis.

    Parameters
    ----------
    labels : list of str
        What each comparison is called.
    disparity, ci_low, ci_high : ndarray of shape (n_comparisons,)
        Disparities and their limits.
    concern : ndarray of bool, shape (n_comparisons,)
        Which of them are significant.
    p_value : ndarray of shape (n_comparisons,)
        Adjusted p-values; if there are too many comparisons, those with the smallest are drawn.
    null : float, default=0
        The disparity of equal groups: 0, for ratios 1.
    margin_bounds : tuple of float, optional
        Tolerated disparities.
    factor : float, default=1.0
        What numbers on the axis are multiplied by: 100 where they are percentage points.
    xlabel : str, default="disparity"
        What is on the axis.
    n_hidden : int, default=0
        Number of comparisons that do not fit this axis.
    metric_name : str, default=""
        The metric in words, if there is one: the title of the drawing.
    estimator_name : str, optional
        What the title says beside it.
    models : (ndarray, ndarray), optional
        Of a `PairedFairnessTest`: the disparities under models A and B, whose difference is `disparity`. What is drawn
        is a line from A (hollow) to B for each comparison.
    meanings : (str, str), default=("significant", "not significant")
        What the legend calls comparisons that are marked and those that are not.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    GroupMetricDisplay : The values behind the disparities.
    FairnessTest : The test.
    SubgroupScan : The search for subgroups.

    Examples
    --------
    >>> from skfairtest import DisparityDisplay, FairnessTest
    >>> test = FairnessTest.from_predictions(
    ...     None,
    ...     [1, 0, 0, 1] * 20 + [1, 0, 0, 0] * 20,
    ...     sensitive_features=["a"] * 80 + ["b"] * 80,
    ...     metric="selection_rate",
    ... )
    >>> display = DisparityDisplay.from_test(test)
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['b against a']
    """

    _drawn: ClassVar[tuple[type, ...]] = (
        *FittedDisplay._drawn, SubgroupScan, AdjustedFairnessTest, CorrelationFairnessTest,
    )  # fmt: skip

    labels: list[str]
    disparity: NDArray[np.float64]
    ci_low: NDArray[np.float64]
    ci_high: NDArray[np.float64]
    concern: NDArray[np.bool_]
    p_value: NDArray[np.float64]
    null: float = 0.0
    margin_bounds: tuple[float, float] | None = None
    factor: float = 1.0
    xlabel: str = "disparity"
    n_hidden: int = 0
    metric_name: str = ""
    estimator_name: str | None = None
    models: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    meanings: tuple[str, str] = ("significant", "not significant")

    @classmethod
    def _read(cls, test: Any, name: str | None) -> Self:
        if isinstance(test, SubgroupScan):
            return cls._of_scan(test, name)
        if isinstance(test, AdjustedFairnessTest):
            return cls._of_adjusted(test, name)
        if isinstance(test, CorrelationFairnessTest):
            return cls._of_correlations(test, name)
        if isinstance(test, PairedFairnessTest) and len(test.disparities_):
            return cls._of_models(test, name)
        parts = parts_of(test)
        setup = parts[0].setup
        everything = pd.concat([part.comparisons.assign(part=place) for place, part in enumerate(parts)])
        one_axis = [
            row["metric"] not in parts[row["part"]].setup.everybody
            and parts[row["part"]].setup.disparity_of(row["metric"]) == setup.disparity
            for row in records(everything)
        ]
        ordered = pooled_first(by_p_value(setup, everything[one_axis]))
        shown = [(parts[row["part"]], row) for row in records(ordered)]
        if not shown:
            raise ParameterError(
                "test looks at all groups at once, so there is no disparity between two groups to draw"
            )
        metrics = dict.fromkeys(row["metric"] for _, row in shown)
        ratio, several = setup.disparity != "difference", len(metrics) > 1
        labels = [
            comparison_name(
                part.setup, row, WIDE, prefix=[metric_title(row["metric"]) if several else "", part.feature]
            )
            for part, row in shown
        ]
        # What is no share has a unit of its own, which shares beside it do not have.
        units = dict.fromkeys(disparity_axis(part.setup, row["metric"], alone=True) for part, row in shown)
        told = next(iter(units)) if len(units) == 1 else setup.disparity
        together = "simultaneous " if len(shown) > 1 and setup.adjust in FAMILYWISE else ""
        return cls._of_rows(
            [row for _, row in shown],
            labels=labels,
            null=1.0 if ratio else 0.0,
            margin_bounds=setup.margin_bounds,
            factor=axis_factor(setup, next(iter(metrics))) if len(units) == 1 else 1.0,
            xlabel=f"{told}\n{together}{100 * (1 - setup.alpha):g}% intervals",
            n_hidden=len(everything) - len(shown),
            metric_name="" if several else metric_title(next(iter(metrics))),
            estimator_name=name,
            **({"meanings": (NOT_CERTIFIED, "certified")} if setup.alternative == "equivalence" else {}),
        )

    @classmethod
    def _of_scan(cls, scan: SubgroupScan, name: str | None) -> Self:
        found, setup = scan.comparisons_, scan._setup
        if found.empty:
            raise ParameterError(
                "test reports no subgroup, so there is nothing to draw; subgroups_ lists all that were tested"
            )
        metrics = list(dict.fromkeys(found["metric"]))
        several = len(metrics) > 1
        shares = {setup.is_share(metric) for metric in metrics}
        unit = {True: " in percentage points", False: " in the metric's unit"}[shares.pop()] if len(shares) == 1 else ""
        rows = [{**row, "concern": True} for row in records(found)]
        titles = [metric_title(row["metric"]) if several else "" for row in rows]
        return cls._of_rows(
            rows,
            labels=[
                fitted_name([row["subgroup"]], [], WIDE, prefix=[title])
                for row, title in zip(rows, titles, strict=True)
            ],
            factor=100.0 if unit.startswith(" in percentage") else 1.0,
            xlabel=f"difference{unit}: subgroup minus others\nsimultaneous {100 * (1 - setup.alpha):g}% intervals",
            metric_name="" if several else metric_title(metrics[0]),
            estimator_name=name,
        )

    @classmethod
    def _of_models(cls, test: PairedFairnessTest, name: str | None) -> Self:
        found = test._record()
        frame, sizes = found.frame, found.sizes
        metrics, several = set(frame["metric"]), frame["metric"].nunique() > 1
        share = metrics <= set(found.shares)
        unit = " in percentage points" if share else ""
        rows = [{**row, "concern": row["concern"] != sizes} for row in records(frame)]
        return cls._of_rows(
            rows,
            labels=[
                fitted_name(*found.pieces(row), WIDE, prefix=[metric_title(row["metric"])] if several else [])
                for row in rows
            ],
            factor=100.0 if share else 1.0,
            xlabel=f"{'size of the ' if sizes else ''}disparity{unit}: from model A (hollow) to model B",
            metric_name="" if several else metric_title(metrics.pop()),
            estimator_name=name,
            models=(frame["value_a"].to_numpy(dtype=float), frame["value_b"].to_numpy(dtype=float)),
            **({"meanings": ("certified", NOT_CERTIFIED)} if sizes else {}),
        )

    @classmethod
    def _of_adjusted(cls, test: AdjustedFairnessTest, name: str | None) -> Self:
        rows, setup = records(test.comparisons_), test._setup
        unit = " in percentage points" if setup.share else ""
        pairs = [[label(row["group"]), compared_with(setup.compare, row)] for row in rows]
        return cls._of_rows(
            rows,
            labels=[fitted_name(pair, [" against "], WIDE) for pair in pairs],
            factor=100.0 if setup.share else 1.0,
            xlabel=f"adjusted difference{unit}\n{100 * (1 - setup.alpha):g}% intervals",
            metric_name=setup.outcome,
            estimator_name=name,
        )

    @classmethod
    def _of_correlations(cls, test: CorrelationFairnessTest, name: str | None) -> Self:
        rows = [{**row, "disparity": row["correlation"]} for row in records(test.comparisons_)]
        strata = ["" if row["stratum"] is None else f" in {label(row['stratum'])}" for row in rows]
        return cls._of_rows(
            rows,
            labels=[
                fitted_name([label(row["feature"]) + stratum], [], WIDE)
                for row, stratum in zip(rows, strata, strict=True)
            ],
            xlabel=f"{test._setup.measure}\n{100 * (1 - test._setup.alpha):g}% intervals",
            metric_name=test._setup.outcome,
            estimator_name=name,
        )

    @classmethod
    def _of_rows(cls, rows: list[dict[str, Any]], **said: Any) -> Self:
        columns = {name: name for name in ("disparity", "ci_low", "ci_high")} | {"p_value": "p_value_adjusted"}
        numbers: dict[str, Any] = {
            name: np.array([float(row[column]) for row in rows]) for name, column in columns.items()
        }
        return cls(**numbers, concern=np.array([bool(row["concern"]) for row in rows]), **said)

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
            Maximum number of comparisons to draw: those with the smallest p-values.
        **kwargs
            Properties of the axes, as ``matplotlib.axes.Axes.set`` takes them.

        Returns
        -------
        DisparityDisplay
            This display.
        """
        total = len(self.labels)
        rows = np.arange(total) if total <= max_rows else np.argsort(self.p_value, kind="stable")[:max_rows]
        labels = [self.labels[i] for i in rows]
        widest = WIDE if ax is None else WIDEST
        self.figure_, self.ax_ = axes(ax, type(self).__name__, (width_of(labels, widest), height_of(len(rows))))
        told = [self.xlabel]
        if total > len(rows):
            told.append(f"the {len(rows)} smallest p-values of {total:,} comparisons")
        if self.n_hidden:
            told.append(f"{pluralize(self.n_hidden, 'comparison')} of another kind not shown")
        marks = np.where(self.concern[rows], "significant", "other")
        columns = [column[rows] for column in (self.disparity, self.ci_low, self.ci_high)]
        if self.models is not None:
            columns = moved(*(values[rows] for values in self.models))
        panel = Panel(
            columns=columns, kinds=marks, log=self.null == 1.0, factor=self.factor, equality=self.null,
            tolerated=self.margin_bounds, axis="\n".join(told), meanings=self.meanings,
        )  # fmt: skip
        draw_panel(self.ax_, labels, panel, widest=widest)
        finish(self.ax_, titled(self.metric_name, self.estimator_name if name is None else name), **kwargs)
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class NullDistributionDisplay(FittedDisplay):
    """The null distribution of the statistic with the strongest evidence, and the observed value.

    Outcomes at least as extreme as the data are orange and hatched. For rates, every outcome is enumerated, given the
    number of events in both groups together. The unconditional test does not condition on that number: its p-value is
    never above the hatched area, and usually below it. For other metrics it is the histogram of the resamples, or a
    normal distribution.

    Parameters
    ----------
    null_distribution : NullHistogram
        What was drawn; ``null_distribution.note`` explains it and how it relates to the p-value.
    comparison : str, default=""
        What was compared.
    estimator_name : str, optional
        The name of the model in the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    FairnessTest : The test; its ``null_distribution_`` holds what was drawn.

    References
    ----------
    R. D. Boschloo (1970), Statistica Neerlandica 24, 1-35. R. A. Fisher (1935), Journal of the Royal Statistical
    Society 98, 39-82.

    Examples
    --------
    >>> from skfairtest import FairnessTest, NullDistributionDisplay
    >>> test = FairnessTest.from_predictions(
    ...     None,
    ...     [1, 1, 1, 1, 0, 0, 0, 0],
    ...     sensitive_features=list("aaaabbbb"),
    ...     metric="selection_rate",
    ... )
    >>> display = NullDistributionDisplay.from_test(test)
    >>> display.null_distribution.low
    (-1.0, -0.5, 0.0, 0.5, 1.0)
    >>> (
    ...     round(sum(display.null_distribution.extreme), 4),
    ...     round(display.null_distribution.p_value, 4),
    ... )
    (0.0286, 0.0078)
    """

    null_distribution: NullHistogram
    comparison: str = ""
    estimator_name: str | None = None

    @classmethod
    def _read(cls, test: Any, name: str | None) -> Self:
        parts = parts_of(test)
        if isinstance(test, FairnessTest):
            found, tested, (part, row) = test._null_histogram, test.comparisons_, (0, test._leading)
        else:
            found, (part, row) = test.record_.null_distribution, test.record_.leading
            tested = test.record_.parts[part].comparisons
        if found is None:
            raise ParameterError(
                "test has no null distribution: the statistic of its strongest comparison is undefined"
            )
        setup, leading = parts[part].setup, parts[part].comparisons.iloc[row]
        found = oriented_histogram(setup, tested, row, found)
        comparison = metric_title(leading["metric"])
        if leading["metric"] not in setup.everybody:
            comparison = comparison_name(setup, leading, prefix=[comparison])
        return cls(null_distribution=found, comparison=comparison, estimator_name=name)

    @styled
    def plot(self, *, ax: Any = None, name: str | None = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on.
        name : str, optional
            Title of the drawing.
        **kwargs
            Properties of the axes, as ``matplotlib.axes.Axes.set`` takes them.

        Returns
        -------
        NullDistributionDisplay
            This display.
        """
        self.figure_, self.ax_ = axes(ax, type(self).__name__)
        found, told = self.null_distribution, [self.comparison] if self.comparison else []
        draw_null_histogram(self.ax_, found, xlabel="\n".join([*told, f"{found.axis}, {equals_p(found.p_value)}"]))
        finish(
            self.ax_, titled("What chance alone would show", self.estimator_name if name is None else name), **kwargs
        )
        return self
