"""Rows of estimates with their intervals: disparities of all comparisons, and values by group."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import display_width, label, pluralize, shorten
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.adjusted.fairness import AdjustedFairnessTest
from skfairtest.audit.record import AuditPart
from skfairtest.correlation.fairness import CorrelationFairnessTest
from skfairtest.displays.base import GroupDisplay, canvas, comparison_name, finish, parts_of, plain_ticks
from skfairtest.inference.multiplicity import FAMILYWISE
from skfairtest.paired.fairness import PairedFairnessTest
from skfairtest.paired.report import models_frame
from skfairtest.report.cells import by_p_value, pooled_first, records
from skfairtest.report.draw import BLUE, GREY, ORANGE, PALE, scale_ends
from skfairtest.report.report import NOT_CERTIFIED
from skfairtest.report.sentences import metric_title
from skfairtest.subgroups.fairness import SubgroupScan

#: Widths of the name of a row, in a figure of its own and on axes that were given.
WIDE, NARROW = 80, 56
#: How a row is marked; a hollow mark has the colour of the axes.
MARKS = {"significant": (ORANGE, "D", False), "other": (BLUE, "o", False), "few": (BLUE, "o", True)}
#: What is said of differences whose values are all shares of people, or none of them; nothing if there are both.
UNITS: dict[bool | None, str] = {True: " in percentage points", False: " in the metric's unit", None: ""}
#: What the legend calls comparisons that are marked, and the others.
MEANINGS = ("significant", "not significant")


def named_rows(parts: Sequence[str], titles: Sequence[str], names: Iterable[str]) -> tuple[list[str], str]:
    """Name rows, with their metrics and features if there are several; and return the metric if there is one.

    Examples
    --------
    >>> named_rows(["", ""], ["Recall", "Recall"], ["a", "a against b"])
    (['a', 'a against b'], 'Recall')
    >>> named_rows(["race", "sex"], ["Recall", "Precision"], ["a", "b"])
    (['Recall, race: a', 'Precision, sex: b'], '')
    """
    several = [len(set(each)) > 1 for each in (titles, parts)]
    about = [", ".join(compress(each, several)) for each in zip(titles, map(label, parts), strict=True)]
    rows = [": ".join(filter(None, each)) for each in zip(about, names, strict=True)]
    return rows, "" if several[0] else titles[0]


def stratified(name: Any, stratum: Any) -> str:
    """The name of a row that may be of one stratum."""
    return label(name) if stratum is None else f"{label(name)} in {label(stratum)}"


def intervals(
    ax: Any,
    labels: Sequence[str],
    columns: ArrayLike,
    kinds: ArrayLike,
    meanings: Mapping[str, str],
    *,
    also: Sequence[float] = (),
    log: bool = False,
) -> None:
    """Draw estimates with their intervals, a row for each, from top to bottom; significant ones stand out."""
    numbers, where = np.array(columns, dtype=float), ax.get_yaxis_transform()
    left, right = scale_ends([numbers, also], log=log)
    ax.set(xscale="log" if log else "linear", xlim=(left, right), ylim=(len(labels) - 0.4, -0.6))
    plain_ticks(ax.xaxis)
    ax.set_yticks(range(len(labels)), labels)
    ax.tick_params(axis="y", length=0, pad=8)  # room for an arrow at the edge
    ax.spines["left"].set_visible(False)
    ax.hlines(range(len(labels)), 0, 1, transform=where, color=GREY, alpha=0.2, linewidth=0.8, zorder=-1)
    for kind, (colour, marker, hollow) in MARKS.items():
        row = np.flatnonzero(np.asarray(kinds) == kind)
        if not len(row):
            continue
        style = {"color": colour, "markerfacecolor": ax.get_facecolor() if hollow else colour}
        value, low, high = numbers[:, row]
        ax.hlines(row, *np.clip([low, high], left, right), color=colour, zorder=2)
        for at, size in ((low, 5), (high, 5), (value, 9)):
            for beyond, end, arrow in ((at < left, left, "<"), (at > right, right, ">")):
                # Nothing at all where nothing lies beyond: an empty line that is not clipped has a place all the same.
                if beyond.any():
                    ax.plot(np.full(beyond.sum(), end), row[beyond], arrow, markersize=size, clip_on=False, **style)
        ax.plot(np.where(np.isfinite(value), value, np.nan), row, marker, label=meanings.get(kind), **style)
    for place in np.flatnonzero(np.isnan(numbers[0])):
        ax.text(0.5, place, "undefined", transform=where, color=GREY, ha="center", va="center")


def rows_size(labels: Sequence[str]) -> tuple[float, float]:
    """Return the inches that a plot of rows needs, with its axis and its legend."""
    return 5.0 + 0.07 * max([20, *map(display_width, labels)]), 1.3 + 0.27 * max(len(labels), 2)


@dataclass(kw_only=True, eq=False, repr=False)
class RowsDisplay(GroupDisplay):
    """Estimates with their intervals, a row for each."""

    labels: list[str]
    ci_low: Floats
    ci_high: Floats
    factor: float = 1.0
    xlabel: str = "value"
    metric_name: str = ""
    estimator_name: str | None = None
    #: What is said of the rows that are drawn if there are too many.
    _first: ClassVar[str]

    @abstractmethod
    def _drawn(self) -> tuple[Any, Any, Any]:
        """Estimates with their limits, kinds of rows (see `MARKS`), and the order in which rows are kept."""

    @abstractmethod
    def _intervals(self, ax: Any, labels: Sequence[str], rows: Any, columns: Any, kinds: Any) -> None:
        """Draw these rows."""

    def plot(self, *, ax: Any = None, name: str | None = None, max_rows: int = 40, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on.
        name : str, optional
            Title of the drawing.
        max_rows : int, default=40
            Maximum number of rows to draw: the disparities with the smallest p-values, or the groups with the most
            people.
        **kwargs
            Properties of the axes, as ``matplotlib.axes.Axes.set`` takes them.

        Returns
        -------
        Display
            This display.
        """
        total, rows, xlabel = len(self.labels), np.arange(len(self.labels)), self.xlabel
        estimates, kinds, order = self._drawn()
        if total > max_rows:
            rows = np.sort(order[:max_rows])
            xlabel += f"\nthe {max_rows} {self._first.format(total)}"
        labels = [shorten(self.labels[row], WIDE if ax is None else NARROW) for row in rows]
        with canvas(self, ax, rows_size(labels)) as self.ax_:
            self._intervals(self.ax_, labels, rows, self.factor * np.stack(estimates)[:, rows], kinds[rows])
            self.ax_.set_xlabel(xlabel)
            finish(self.ax_, self.metric_name, self.estimator_name if name is None else name, **kwargs)
        return self


#: The rows of a test, their names, whether their values are shares of people, and fields of the display.
Read = tuple[list[dict[str, Any]], list[str], set[bool], dict[str, Any]]


def _of_groups(test: Any) -> Read:
    parts = parts_of(test)
    setup, everything = parts[0].setup, pd.concat([part.comparisons.assign(part=i) for i, part in enumerate(parts)])

    def is_drawn(row: dict[str, Any]) -> bool:
        whole = row["metric"] in parts[row["part"]].setup.omnibus and np.isnan(row.get("at", np.nan))
        return not whole and parts[row["part"]].setup.disparity_of(row["metric"]) == setup.disparity

    drawn = everything[[is_drawn(row) for row in records(everything)]]
    rows = records(pooled_first(by_p_value(setup, drawn)))
    if not rows:
        raise ParameterError("test looks at all groups at once: there is no disparity between two groups to draw")
    ratio, n_hidden = setup.disparity != "difference", len(everything) - len(rows)
    shares = set() if ratio else {parts[row["part"]].setup.is_share(row["metric"]) for row in rows}
    sides = "first to second (log scale)" if ratio else "first minus second"
    together = "simultaneous " if len(rows) > 1 and setup.adjust in FAMILYWISE else ""
    axis = f"{setup.disparity.replace('_', ' ')}{{}}: {sides}\n{together}{100 * (1 - setup.alpha):g}% intervals"
    if n_hidden:
        axis += f"\n{pluralize(n_hidden, 'comparison')} of another kind not shown"
    meanings = (NOT_CERTIFIED, "certified") if setup.alternative == "equivalence" else MEANINGS
    said = {
        "axis": axis, "parts": [parts[row["part"]].feature for row in rows], "null": float(ratio),
        "margin_bounds": setup.margin_bounds, "n_hidden": n_hidden, "meanings": meanings,
    }  # fmt: skip
    return rows, [comparison_name(parts[row["part"]].setup, row) for row in rows], shares, said


def _of_models(test: PairedFairnessTest) -> Read:
    if not len(test.disparities_):  # models are compared in one group
        return _of_groups(test)
    setup, frame, sizes = test._setup, models_frame(test), test.alternative == "fairer"
    rows = records(frame.assign(concern=frame["concern"] != sizes))
    said = {
        "axis": f"{'size of the ' * sizes}disparity{{}}: from model A (hollow) to model B",
        "models": tuple(frame[value].to_numpy(dtype=float) for value in ("value_other", "value_group")),
        "meanings": ("certified", NOT_CERTIFIED) if sizes else MEANINGS,
    }
    return rows, [comparison_name(setup, row) for row in rows], {setup.is_share(row["metric"]) for row in rows}, said


def _of_scan(scan: SubgroupScan) -> Read:
    rows, setup = records(scan.comparisons_.assign(concern=True)), scan._setup
    if not rows:
        raise ParameterError("test reports no subgroup to draw; subgroups_ lists all that were tested")
    axis = f"difference{{}}: subgroup minus others\nsimultaneous {100 * (1 - setup.alpha):g}% intervals"
    shares = {setup.is_share(row["metric"]) for row in rows}
    return rows, [label(row["subgroup"]) for row in rows], shares, {"axis": axis}


def _of_adjusted(test: AdjustedFairnessTest) -> Read:
    rows, setup, shares = records(test.comparisons_), test._setup, {True} if test._is_share else set()
    axis = f"adjusted difference{{}}\n{100 * (1 - setup.alpha):g}% intervals"
    return rows, [comparison_name(setup, row) for row in rows], shares, {"axis": axis, "outcome": test._outcome}


def _of_correlations(test: CorrelationFairnessTest) -> Read:
    rows = records(test.comparisons_.assign(disparity=test.comparisons_["correlation"]))
    axis = f"{test._measure}{{}}\n{100 * (1 - test._setup.alpha):g}% intervals"
    names = [stratified(row["feature"], row["stratum"]) for row in rows]
    return rows, names, set(), {"axis": axis, "outcome": test._outcome}


_READERS: tuple[tuple[type, Any], ...] = (
    (SubgroupScan, _of_scan), (AdjustedFairnessTest, _of_adjusted), (CorrelationFairnessTest, _of_correlations),
    (PairedFairnessTest, _of_models), (object, _of_groups),
)  # fmt: skip


@dataclass(kw_only=True, eq=False, repr=False)
class DisparityDisplay(RowsDisplay):
    """Forest plot of the comparisons of a test or an audit, or of the subgroups of a scan.

    The group with the smaller value comes first, and the strongest evidence is on top. Significant disparities are
    orange diamonds, others blue circles (if a test certifies, the legend explains them). A `SubgroupScan` is drawn in
    the order of its `comparisons_`. An arrow marks an interval that extends beyond the plot. Comparisons of all groups
    at once have no disparity and are counted below the axis.

    Parameters
    ----------
    labels : list of str
        What each comparison is called.
    ci_low, ci_high : ndarray of shape (n_comparisons,)
        Limits of the disparities.
    factor : float, default=1.0
        Multiplies numbers on the axis: 100 for percentage points.
    xlabel : str
        What is on the axis.
    metric_name : str, default=""
        The metric in words, as the title.
    estimator_name : str, optional
        The model, in the title.
    disparity : ndarray of shape (n_comparisons,)
        The disparities.
    concern : ndarray of bool, shape (n_comparisons,)
        Which of them are significant.
    p_value : ndarray of shape (n_comparisons,)
        Adjusted p-values; the smallest are drawn if there are too many.
    null : float, default=0
        The disparity of equal groups: 0, for ratios 1.
    margin_bounds : tuple of float, optional
        Tolerated disparities.
    n_hidden : int, default=0
        Comparisons that do not fit this axis.
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

    disparity: Floats
    concern: Booleans
    p_value: Floats
    null: float = 0.0
    margin_bounds: tuple[float, float] | None = None
    n_hidden: int = 0
    models: tuple[Floats, Floats] | None = None
    meanings: tuple[str, str] = MEANINGS
    _first: ClassVar[str] = "smallest p-values of {:,} comparisons"

    @classmethod
    def _read(cls, test: Any, name: str | None) -> Self:
        rows, names, shares, said = next(read for kind, read in _READERS if isinstance(test, kind))(test)
        share = next(iter(shares)) if len(shares) == 1 else None
        outcome, parts = said.pop("outcome", ""), said.pop("parts", [""] * len(rows))
        titles = [outcome or metric_title(row["metric"]) for row in rows]
        labels, metric_name = named_rows(parts, titles, names)
        columns = ("disparity", "ci_low", "ci_high", "p_value_adjusted", "concern")
        disparity, low, high, p_value, concern = np.array([[row[name] for name in columns] for row in rows], float).T
        return cls(
            labels=labels,
            disparity=disparity,
            ci_low=low,
            ci_high=high,
            concern=concern == 1,
            p_value=p_value,
            factor=100.0 if share else 1.0,
            metric_name=metric_name,
            estimator_name=name,
            xlabel=said.pop("axis").format(UNITS[share]),
            **said,
        )

    def _drawn(self) -> tuple[Any, Any, Any]:
        columns = self.disparity, self.ci_low, self.ci_high
        if self.models is not None:
            columns = self.models[1], np.minimum(*self.models), np.maximum(*self.models)
        return columns, np.where(self.concern, "significant", "other"), np.argsort(self.p_value, kind="stable")

    def _intervals(self, ax: Any, labels: Sequence[str], rows: Any, columns: Any, kinds: Any) -> None:
        bounds = self.factor * np.array(self.margin_bounds or (), dtype=float)
        meanings = dict(zip(("significant", "other"), self.meanings, strict=True))
        intervals(ax, labels, columns, kinds, meanings, also=[self.null, *bounds], log=self.null == 1.0)
        ax.axvline(self.null, color=GREY, linewidth=1, zorder=1)
        if self.margin_bounds is not None:
            ax.axvspan(*np.clip(bounds, *ax.get_xlim()), color=PALE, linewidth=0, zorder=0, label="tolerated")
        if self.models is not None:
            look = {"facecolors": ax.get_facecolor(), "edgecolors": np.where(self.concern[rows], ORANGE, BLUE)}
            ax.scatter(self.factor * self.models[0][rows], range(len(rows)), s=30, zorder=2.5, **look)


@dataclass(kw_only=True, eq=False, repr=False)
class GroupMetricDisplay(RowsDisplay):
    """Values of a metric by group, with intervals and numbers of people.

    Values based on fewer than ten people are hollow. Intervals are pointwise: groups whose intervals overlap can differ
    significantly. `DisparityDisplay` shows differences.

    Parameters
    ----------
    labels : list of str
        What each row is called.
    ci_low, ci_high : ndarray of shape (n_rows,)
        Limits of the values.
    factor : float, default=1.0
        Multiplies numbers on the axis: 100 for percentages.
    xlabel : str
        What is on the axis.
    metric_name : str, default=""
        The metric in words, as the title.
    estimator_name : str, optional
        The model, in the title.
    value : ndarray of shape (n_rows,)
        The values.
    n_effective : ndarray of int, shape (n_rows,)
        People behind each value.
    small : ndarray of bool, shape (n_rows,)
        Which of them are few.
    reference : float, optional
        The value of all people.

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

    value: Floats
    n_effective: Integers
    small: Booleans
    reference: float | None = None
    _first: ClassVar[str] = "largest of {:,} groups"

    @classmethod
    def _read(cls, test: Any, name: str | None) -> Self:
        parts = parts_of(test)
        rows = [(part, row) for part in parts for row in records(part.by_group)]
        if not rows:
            raise ParameterError("test looks at all groups at once, so there are no values by group to draw")
        labels, metric_name = named_rows(
            [part.feature for part, _ in rows],
            [metric_title(row["metric"]) for _, row in rows],
            [f"{stratified(row['group'], row['stratum'])} (n = {row['n_effective']:,})" for _, row in rows],
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
            reference=_overall_value(parts[0]) if metric_name and len(parts) == 1 else None,
            factor=100.0 if unit == "% of people" else 1.0,
            xlabel=f"{unit}\npointwise {100 * (1 - parts[0].setup.alpha):g}% intervals",
        )

    def _drawn(self) -> tuple[Any, Any, Any]:
        largest = np.argsort(-self.n_effective, kind="stable")
        return (self.value, self.ci_low, self.ci_high), np.where(self.small, "few", "other"), largest

    def _intervals(self, ax: Any, labels: Sequence[str], rows: Any, columns: Any, kinds: Any) -> None:
        everyone = self.factor * (np.nan if self.reference is None else self.reference)
        intervals(ax, labels, columns, kinds, {"few": "few people"}, also=[everyone])
        if np.isfinite(everyone):
            ax.axvline(everyone, color=GREY, linewidth=1, linestyle="--", zorder=1, label="everyone")


def _overall_value(part: AuditPart) -> float | None:
    """Return the share among all people, if values are shares without weights."""
    setup, table = part.setup, part.by_group
    metric = table["metric"].iloc[0]
    if metric not in setup.sentences or metric in setup.functions or setup.people or setup.controls:
        return None
    weights = table["n_effective"].to_numpy(dtype=float)
    return float(np.nansum(weights * table["value"].to_numpy(dtype=float)) / weights.sum())
