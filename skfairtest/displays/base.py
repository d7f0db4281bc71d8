"""The base classes of displays, and their style.

Only fonts follow the user's matplotlib settings. Whatever differs in colour also differs in shape or hatching. Names
from the data are never read as mathematics.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import display_width, enumerated, label, shorten
from skfairtest.audit import FairnessAudit
from skfairtest.audit.record import AuditPart
from skfairtest.comparisons.orientation import oriented
from skfairtest.group.fairness import FairnessTest
from skfairtest.report.cells import compared_with, stratum_name
from skfairtest.report.draw import STYLE
from skfairtest.report.sentences import Setup


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
    def _read(cls, test: Any, name: str | None) -> Self:
        """Read a fitted test, unless `from_test` does."""
        raise NotImplementedError

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


@contextmanager
def canvas(display: Any, ax: Any, size: tuple[float, float] | None = None, panels: int = 1) -> Iterator[Any]:
    """Yield the axes given, or new ones of a size in inches, in this style; afterwards all settings are restored."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        who = type(display).__name__
        raise ImportError(f'{who} draws with matplotlib: python -m pip install "skfairtest[report]"') from error
    # A backend that turns interactive mode on, when it is loaded, does so for good.
    plt.draw_if_interactive()  # type: ignore[no-untyped-call]
    fonts: Any = plt.rcParams.find_all(r"^font\.(family|sans|serif)")
    with plt.style.context(["default", STYLE, dict(fonts)]):
        if ax is None:
            _, ax = plt.subplots(panels, sharex=True, layout="constrained", figsize=size)
        display.figure_ = np.ravel(ax)[0].figure
        yield ax


def plain_ticks(axis: Any, text: str = "{x:g}") -> None:
    """Write ticks as plain numbers, with round ones between powers of ten on a log scale that spans few of them."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    subs = (1, 2, 5) if high < 100 * low else (1, 3) if high < 10_000 * low else (1,)
    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    if axis.get_scale() == "log" and high > 5 * low:
        axis.set_major_locator(LogLocator(subs=subs, numticks=9))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(text)


def finish(ax: Any, *title: str | None, also: Any = None, legend: bool = True, **properties: Any) -> None:
    """Write the title, and below the axes the legend, in columns that fit, with the entries of `also`, other axes."""
    from matplotlib.text import Text
    from matplotlib.transforms import ScaledTranslation

    if any(title):
        ax.set_title(shorten(", ".join(filter(None, title)), 60), x=0, horizontalalignment="left")
    ax.set(**properties)
    above = ([], []) if also is None else also.get_legend_handles_labels()
    handles, names = map(operator.add, above, ax.get_legend_handles_labels())
    if handles and legend:
        lines = 1 + (ax.get_xlabel().count("\n") + 1 if ax.get_xlabel() else 0)
        down = ax.transAxes + ScaledTranslation(0, -(8 + 15 * lines) / 72, ax.figure.dpi_scale_trans)
        columns = int(ax.bbox.width / ax.figure.dpi / (0.5 + 0.085 * max(map(display_width, names))))
        where = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": down, "borderaxespad": 0}
        ax.legend(handles, names, ncols=min(3, max(1, columns)), labelcolor=ax.xaxis.label.get_color(), **where)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_ticklabels()  # which lets them be written
    for text in ax.findobj(Text):
        text.set(parse_math=False, usetex=False)


def comparison_name(setup: Setup, row: Any) -> str:
    """The name of a comparison, such as "Female against Male", with its stratum."""
    pair = f"{label(row['group'])} against {compared_with(setup.compare, row)}"
    if not setup.controls:
        return pair
    return f"{pair}{', ' if row['stratum'] is None else ' in '}{stratum_name(setup.controls, row)}"
