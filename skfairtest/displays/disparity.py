"""All comparisons of a test at a glance, and the null distribution of one of them, with the data's place in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import pluralize, shorten
from skfairtest.adjusted.fairness import AdjustedFairnessTest
from skfairtest.audit import FairnessAudit
from skfairtest.comparisons.orientation import oriented_histogram
from skfairtest.correlation.fairness import CorrelationFairnessTest
from skfairtest.displays import base
from skfairtest.displays.base import GroupDisplay, canvas, finish, parts_of
from skfairtest.inference.multiplicity import FAMILYWISE
from skfairtest.paired.fairness import PairedFairnessTest
from skfairtest.report.cells import by_p_value, compared_with, pooled_first, records, stratum_name
from skfairtest.report.draw import BLUE, GREY, ORANGE, PALE, NullHistogram, histogram
from skfairtest.report.report import NOT_CERTIFIED
from skfairtest.report.sentences import Setup, equals_p, metric_title
from skfairtest.subgroups.fairness import SubgroupScan

#: What is said of differences whose values are all shares of people, or none of them; nothing if there are both.
UNITS: dict[bool | None, str] = {True: " in percentage points", False: " in the metric's unit", None: ""}
#: What the legend calls comparisons that are marked, and the others.
MEANINGS = ("significant", "not significant")


def comparison_name(setup: Setup, row: Any) -> tuple[str, ...]:
    """The template and the names of a comparison, such as "Female against Male", with its stratum."""
    pair = row["group"], compared_with(setup.compare, row)
    if not setup.controls:
        return "{} against {}", *pair
    joint = ", " if row["stratum"] is None else " in "
    return f"{{}} against {{}}{joint}{{}}", *pair, stratum_name(setup.controls, row)


@dataclass(kw_only=True, eq=False, repr=False)
class DisparityDisplay(GroupDisplay):
    """Forest plot of the comparisons of a test or an audit, or of the subgroups of a scan.

    The group with the smaller value comes first, and the strongest evidence is on top. Significant disparities are
    orange diamonds, others blue circles (if a test certifies, the legend explains them). A `SubgroupScan` is drawn in
    the order of its `comparisons_`. An arrow marks an interval that extends beyond the plot. Comparisons of all groups
    at once have no disparity and are counted below the axis.

    Parameters
    ----------
    labels : list of str
        What each comparison is called.
    disparity, ci_low, ci_high : ndarray of shape (n_comparisons,)
        Disparities and their limits.
    concern : ndarray of bool, shape (n_comparisons,)
        Which of them are significant.
    p_value : ndarray of shape (n_comparisons,)
        Adjusted p-values; the smallest are drawn if there are too many.
    null : float, default=0
        The disparity of equal groups: 0, for ratios 1.
    margin_bounds : tuple of float, optional
        Tolerated disparities.
    factor : float, default=1.0
        Multiplies numbers on the axis: 100 for percentage points.
    xlabel : str, default="disparity"
        What is on the axis.
    n_hidden : int, default=0
        Comparisons that do not fit this axis.
    metric_name : str, default=""
        The metric in words, as the title.
    estimator_name : str, optional
        The model, in the title.
    models : (ndarray, ndarray), optional
        Of a `PairedFairnessTest`: disparities under models A and B, drawn as a line from A (hollow) to B.
    meanings : (str, str), default=("significant", "not significant")
        What the legend calls marked and unmarked comparisons.

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

    _draws: ClassVar[tuple[type, ...]] = (
        *GroupDisplay._draws,
        SubgroupScan,
        AdjustedFairnessTest,
        CorrelationFairnessTest,
    )

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
    meanings: tuple[str, str] = MEANINGS

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
        setup, setups = parts[0].setup, [part.setup for part in parts]
        everything = pd.concat([part.comparisons.assign(part=place) for place, part in enumerate(parts)])
        one_axis = [
            (row["metric"] not in setups[row["part"]].everybody or not np.isnan(row.get("at", np.nan)))
            and setups[row["part"]].disparity_of(row["metric"]) == setup.disparity
            for row in records(everything)
        ]
        rows = records(pooled_first(by_p_value(setup, everything[one_axis])))
        if not rows:
            raise ParameterError("test looks at all groups at once: there is no disparity between two groups to draw")
        ratio, shares = setup.disparity != "difference", {setups[row["part"]].is_share(row["metric"]) for row in rows}
        share = shares.pop() if len(shares) == 1 and not ratio else None
        kind = setup.disparity.replace("_", " ")
        sides = "first to second (log scale)" if ratio else "first minus second"
        together = "simultaneous " if len(rows) > 1 and setup.adjust in FAMILYWISE else ""
        return cls._of_rows(
            rows,
            [comparison_name(setups[row["part"]], row) for row in rows],
            name,
            share=share,
            parts=[parts[row["part"]].feature for row in rows],
            null=float(ratio),
            margin_bounds=setup.margin_bounds,
            xlabel=f"{kind}{UNITS[share]}: {sides}\n{together}{100 * (1 - setup.alpha):g}% intervals",
            n_hidden=len(everything) - len(rows),
            meanings=(NOT_CERTIFIED, "certified") if setup.alternative == "equivalence" else MEANINGS,
        )

    @classmethod
    def _of_scan(cls, scan: SubgroupScan, name: str | None) -> Self:
        rows, setup = records(scan.comparisons_.assign(concern=True)), scan._setup
        if not rows:
            raise ParameterError("test reports no subgroup to draw; subgroups_ lists all that were tested")
        shares = {setup.is_share(row["metric"]) for row in rows}
        share, level = shares.pop() if len(shares) == 1 else None, f"{100 * (1 - setup.alpha):g}%"
        return cls._of_rows(
            rows,
            [("{}", row["subgroup"]) for row in rows],
            name,
            share=share,
            xlabel=f"difference{UNITS[share]}: subgroup minus others\nsimultaneous {level} intervals",
        )

    @classmethod
    def _of_models(cls, test: PairedFairnessTest, name: str | None) -> Self:
        found = test._words()
        frame, sizes = found.frame, found.sizes
        share = set(frame["metric"]) <= set(found.shares) or None
        return cls._of_rows(
            records(frame.assign(concern=frame["concern"] != sizes)),
            list(map(found.compared, records(frame))),
            name,
            share=share,
            xlabel=f"{'size of the ' * sizes}disparity{UNITS[share]}: from model A (hollow) to model B",
            models=(frame["value_a"].to_numpy(dtype=float), frame["value_b"].to_numpy(dtype=float)),
            meanings=("certified", NOT_CERTIFIED) if sizes else MEANINGS,
        )

    @classmethod
    def _of_adjusted(cls, test: AdjustedFairnessTest, name: str | None) -> Self:
        rows, setup = records(test.comparisons_), test._setup
        return cls._of_rows(
            rows,
            [("{} against {}", row["group"], compared_with(setup.compare, row)) for row in rows],
            name,
            share=test._is_share or None,
            outcome=test._outcome,
            xlabel=f"adjusted difference{UNITS[test._is_share or None]}\n{100 * (1 - setup.alpha):g}% intervals",
        )

    @classmethod
    def _of_correlations(cls, test: CorrelationFairnessTest, name: str | None) -> Self:
        rows, setup = records(test.comparisons_.assign(disparity=test.comparisons_["correlation"])), test._setup
        return cls._of_rows(
            rows,
            [base.stratified(row["feature"], row["stratum"]) for row in rows],
            name,
            outcome=test._outcome,
            xlabel=f"{test._measure}\n{100 * (1 - setup.alpha):g}% intervals",
        )

    @classmethod
    def _of_rows(
        cls,
        rows: Sequence[dict[str, Any]],
        names: Sequence[Sequence[Any]],
        name: str | None,
        *,
        share: bool | None = None,
        outcome: str = "",
        parts: Sequence[str] = (),
        **said: Any,
    ) -> Self:
        titles = [outcome or metric_title(row["metric"]) for row in rows]
        labels, metric_name = base.named_rows(parts or titles[:1] * len(rows), titles, names)
        numbers: Any = {
            name: np.array([float(row[name]) for row in rows]) for name in ("disparity", "ci_low", "ci_high")
        }
        p_value, concern = np.array([[row["p_value_adjusted"], row["concern"]] for row in rows], dtype=float).T
        return cls(
            **numbers,
            p_value=p_value,
            concern=concern == 1,
            labels=labels,
            metric_name=metric_name,
            factor=100.0 if share else 1.0,
            estimator_name=name,
            **said,
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
        labels = [shorten(self.labels[i], base.WIDE if ax is None else base.NARROW) for i in rows]
        axis = [self.xlabel]
        if total > len(rows):
            axis.append(f"the {len(rows)} smallest p-values of {total:,} comparisons")
        if self.n_hidden:
            axis.append(f"{pluralize(self.n_hidden, 'comparison')} of another kind not shown")
        values = [self.disparity, self.ci_low, self.ci_high]
        if self.models is not None:
            values = [self.models[1], np.minimum(*self.models), np.maximum(*self.models)]
        significant, bounds = self.concern[rows], self.factor * np.array(self.margin_bounds or (), dtype=float)
        with canvas(self, ax, base.rows_size(labels)) as self.ax_:
            ax = self.ax_
            base.intervals(
                ax,
                labels,
                self.factor * np.stack(values)[:, rows],
                np.where(significant, "significant", "other"),
                dict(zip(("significant", "other"), self.meanings, strict=True)),
                also=[self.null, *bounds],
                log=self.null == 1.0,
            )
            ax.axvline(self.null, color=GREY, linewidth=1, zorder=1)
            if self.margin_bounds is not None:
                ax.axvspan(*np.clip(bounds, *ax.get_xlim()), color=PALE, linewidth=0, zorder=0, label="tolerated")
            if self.models is not None:
                look = {"facecolors": ax.get_facecolor(), "edgecolors": np.where(significant, ORANGE, BLUE)}
                ax.scatter(self.factor * self.models[0][rows], range(len(rows)), s=30, zorder=2.5, **look)
            ax.set_xlabel("\n".join(axis))
            finish(ax, self.metric_name, self.estimator_name if name is None else name, **kwargs)
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class NullDistributionDisplay(GroupDisplay):
    """The null distribution of the statistic with the strongest evidence, and the observed value.

    Outcomes at least as extreme as the data are orange and hatched. Outcomes of rates are enumerated given the number
    of events in both groups; the unconditional test's p-value is at most the hatched area, and usually below it. Other
    metrics have a histogram of resamples or a normal distribution.

    Parameters
    ----------
    null_distribution : NullHistogram
        What was drawn; its ``note`` relates it to the p-value.
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
        if isinstance(test, FairnessAudit):
            (part, row), found = test.record_.leading, test.record_.null_distribution
            tested = test.record_.parts[part].comparisons
        else:
            part, row, found, tested = 0, test._leading, test._null_histogram, test.comparisons_
        if found is None:
            raise ParameterError("test has no null distribution: its strongest comparison has no statistic")
        shown = parts_of(test)[part]
        setup, leading = shown.setup, records(shown.comparisons.iloc[[row]])[0]
        comparison = metric_title(leading["metric"])
        if leading["metric"] not in setup.everybody:
            template, *pieces = comparison_name(setup, leading)
            comparison = base.fitted(f"{{}}: {template}", comparison, *pieces)
        found = oriented_histogram(setup, tested, row, found)
        return cls(null_distribution=found, comparison=comparison, estimator_name=name)

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
        found, name = self.null_distribution, self.estimator_name if name is None else name
        with canvas(self, ax) as self.ax_:
            ax = self.ax_
            histogram(ax, **found.columns, seen=f"data: {found.observed_text}")
            axis = f"{found.axis}, {equals_p(found.p_value)}"
            ax.set(xlabel="\n".join(filter(None, (self.comparison, axis))), ylabel="probability")
            base.plain_ticks(ax.xaxis)
            finish(ax, "What chance alone would show", name, **kwargs)
        return self
