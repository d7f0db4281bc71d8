"""The base classes of displays, their style, and rows of intervals on matplotlib's axes.

Only fonts follow the user's matplotlib settings. Whatever differs in colour also differs in shape or hatching. Names
from the data are never read as mathematics.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import signature
from itertools import compress
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import display_width, enumerated, label, shorten
from skfairtest.audit import FairnessAudit
from skfairtest.audit.record import AuditPart
from skfairtest.comparisons.orientation import oriented
from skfairtest.group.fairness import FairnessTest
from skfairtest.report.draw import BLUE, GREY, ORANGE, STYLE, scale_ends

#: Widths of the name of a row, in a figure of its own and on axes that were given.
WIDE, NARROW = 80, 56
#: How a row is marked; a hollow mark has the colour of the axes.
MARKS = {"significant": (ORANGE, "D", False), "other": (BLUE, "o", False), "few": (BLUE, "o", True)}


class Display(ABC):
    """A drawing of a fitted test."""

    #: The class that `from_estimator` fits, and what can be drawn.
    _fits: ClassVar[type] = FairnessTest
    _draws: ClassVar[tuple[type, ...]] = (FairnessTest, FairnessAudit)

    @classmethod
    def from_test(cls, test: Any, *, name: str | None = None, ax: Any = None, **kwargs: Any) -> Self:
        """Draw a fitted test, as it was when it was fitted.

        Parameters
        ----------
        test : FairnessTest or FairnessAudit
            The test; `DisparityDisplay` also takes a `SubgroupScan`, an `AdjustedFairnessTest` or a
            `CorrelationFairnessTest`, and displays of individual fairness an `IndividualFairnessTest`.
        name : str, optional
            Name of the model in the drawing; by default the estimator's class.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **kwargs
            Further arguments of `plot`.

        Returns
        -------
        Display
            What was drawn.

        Raises
        ------
        ValueError
            If the test is of another kind, or has nothing to draw.
        NotFittedError
            If it is not fitted.
        """
        check_test(test, cls._draws)
        return cls._read(test, model_name(test) if name is None else name).plot(ax=ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        name: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Test a fitted model and draw the test.

        Parameters
        ----------
        estimator : fitted estimator
            The model.
        X, y : array-like
            Features and true labels.
        sensitive_features : array-like, frame or mapping
            The groups.
        name : str, optional
            Name of the model in the drawing; by default the class of the estimator.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **params
            Parameters of the test (`FairnessTest`, for individual fairness `IndividualFairnessTest`), and further
            arguments of its ``fit``.

        Returns
        -------
        Display
            What was drawn.
        """
        data = {name: params.pop(name) for name in signature(cls._fits.fit).parameters.keys() & params}  # type: ignore[attr-defined]
        test = cls._fits(estimator, **params).fit(X, y, sensitive_features=sensitive_features, **data)
        return cls.from_test(test, name=name, ax=ax)

    @classmethod
    @abstractmethod
    def _read(cls, test: Any, name: str | None) -> Self:
        """Take from a fitted test what is drawn."""

    @abstractmethod
    def plot(self, *, ax: Any = None, name: str | None = None, **kwargs: Any) -> Self:
        """Draw."""


class GroupDisplay(Display):
    """A drawing of a fitted test of groups, or of a fitted audit."""

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        sensitive_features: Any = None,
        name: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Test predictions and draw the test.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            True labels and predictions.
        sensitive_features : array-like, frame or mapping
            The groups.
        name : str, optional
            Name of the model in the drawing.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **params
            Further arguments of `FairnessTest.from_predictions`: ``y_score``, ``control_features``, ``sample_weight``,
            ``clusters``, and parameters of the test.

        Returns
        -------
        Display
            What was drawn.
        """
        test = FairnessTest.from_predictions(y_true, y_pred, sensitive_features=sensitive_features, **params)
        return cls.from_test(test, name=name, ax=ax)


def check_test(test: Any, kinds: tuple[type, ...]) -> None:
    """Refuse anything that is not a fitted test of these kinds."""
    if not isinstance(test, kinds):
        names = enumerated([kind.__name__ for kind in kinds], "or")
        raise ParameterError(f"test must be a fitted {names}; found {type(test).__name__}")
    check_is_fitted(test)


def model_name(test: Any) -> str | None:
    """Return the class of the estimator of a test; tests of predictions and of two models have none."""
    estimator = getattr(getattr(test, "_model", test), "estimator", None)
    return None if estimator is None else type(estimator).__name__


def parts_of(test: Any) -> list[AuditPart]:
    """Return the groupings of a fitted test or audit, with pairs in the order in which reports show them."""
    one = isinstance(test, FairnessTest)
    parts = [AuditPart((), (), test._setup, test._values, test.comparisons_)] if one else test.record_.parts
    return [replace(part, comparisons=oriented(part.setup, part.comparisons)) for part in parts]


def named_rows(parts: Sequence[str], titles: Sequence[str], names: Iterable[Sequence[Any]]) -> tuple[list[str], str]:
    """Name rows, with their metrics and features where there are several; and return the metric if there is one.

    Examples
    --------
    >>> named_rows(["", ""], ["Recall", "Recall"], [("{}", "a"), ("{} against {}", "a", "b")])
    (['a', 'a against b'], 'Recall')
    >>> named_rows(["race", "sex"], ["Recall", "Precision"], [("{}", "a"), ("{}", "b")])
    (['Recall, race: a', 'Precision, sex: b'], '')
    """
    rows, several = [], [len(set(each)) > 1 for each in (titles, parts)]
    for title, part, (template, *pieces) in zip(titles, parts, names, strict=True):
        about = ", ".join(compress((title, part), several))
        rows.append(fitted(f"{{}}: {template}", about, *pieces) if about else fitted(template, *pieces))
    return rows, "" if several[0] else titles[0]


def stratified(name: Any, stratum: Any) -> tuple[Any, ...]:
    """The template and the names of a row that may be of one stratum."""
    return ("{}", name) if stratum is None else ("{} in {}", name, stratum)


def fitted(template: str, *pieces: Any, width: int = WIDE) -> str:
    """Fill names into a template; if that is too wide, long ones are cut so far that short ones need not be.

    Examples
    --------
    >>> fitted("{} against {}", "African-American", "Asian", width=24)
    'Afric…ican against Asian'
    """
    cut, left = [*map(label, pieces)], len(pieces)
    room = width - display_width(template.replace("{}", ""))
    for place in sorted(range(left), key=lambda place: display_width(cut[place])):
        cut[place] = shorten(pieces[place], max(room // left, 6))
        room, left = room - display_width(cut[place]), left - 1
    return template.format(*cut)


@contextmanager
def canvas(display: Any, ax: Any, size: tuple[float, float] | None = None, panels: int = 1) -> Iterator[Any]:
    """Yield the axes given, or new ones of a size in inches, in this style; afterwards all settings are restored."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib import style
    except ImportError as error:
        who = type(display).__name__
        raise ImportError(f'{who} draws with matplotlib: python -m pip install "skfairtest[report]"') from error
    # A backend that turns interactive mode on, when it is loaded, does so for good.
    plt.draw_if_interactive()  # type: ignore[no-untyped-call]
    fonts: Any = plt.rcParams.find_all(r"^font\.(family|sans|serif)")
    with style.context(["default", STYLE, dict(fonts)]):
        if ax is None:
            _, ax = plt.subplots(panels, sharex=True, layout="constrained", figsize=size)
        display.figure_ = np.ravel(ax)[0].figure
        yield ax


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


def plain_ticks(axis: Any, text: str = "{x:g}") -> None:
    """Write ticks as plain numbers, round ones also on a log scale that spans less than a power of ten."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    if axis.get_scale() == "log":
        low, high = sorted(axis.get_view_interval())
        spans = {10: (1, 1.2, 1.5, 2, 3, 4, 6, 8), 100: (1, 2, 5), 10_000: (1, 3), np.inf: (1,)}
        subs = next(subs for span, subs in spans.items() if high < span * low)
        axis.set_major_locator(LogLocator(subs=subs, numticks=9))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(text)


def finish(ax: Any, *title: str | None, also: Any = None, legend: bool = True, **properties: Any) -> None:
    """Write the title, and below the axes the legend, with the entries of `also`, other axes above.

    The legend has at most three columns, and as few as the width of the axes needs.
    """
    from matplotlib.text import Text
    from matplotlib.transforms import ScaledTranslation

    ax.spines[["top", "right"]].set_visible(False)
    if any(title):
        ax.set_title(shorten(", ".join(filter(None, title)), 60), x=0, horizontalalignment="left")
    ax.set(**properties)
    above = ([], []) if also is None else also.get_legend_handles_labels()
    handles, names = map(operator.add, above, ax.get_legend_handles_labels())
    if handles and legend:
        root, most = ax.figure.figure, min(3, max(1, int(ax.bbox.width / ax.figure.dpi / 1.9)))
        if (engine := root.get_layout_engine()) is not None:
            engine.execute(root)
        lines = 1 + (ax.get_xlabel().count("\n") + 1 if ax.get_xlabel() else 0)
        down = ax.transAxes + ScaledTranslation(0, -(8 + 15 * lines) / 72, ax.figure.dpi_scale_trans)
        where = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": down, "borderaxespad": 0}
        look = {"labelcolor": ax.xaxis.label.get_color(), "handlelength": 1.6, "columnspacing": 1.2}
        for columns in range(-(-len(names) // -(-len(names) // most)), 0, -1):
            drawn = ax.legend(handles, names, ncols=columns, **where, **look)
            if drawn.get_window_extent().width <= ax.bbox.width:
                break
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_ticklabels()  # which lets them be written
    for text in ax.findobj(Text):
        text.set(parse_math=False, usetex=False)
