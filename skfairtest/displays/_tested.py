"""What displays of group fairness share: how they are made from a test, a model, or predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import enumerated, label, shorten
from skfairtest.audit import FairnessAudit
from skfairtest.displays._drawings import WIDEST, joined, literal
from skfairtest.group.fairness import FairnessTest
from skfairtest.report.cells import EVERYBODY, compared_with, oriented, stratum_name
from skfairtest.report.sentences import Setup


class Part(NamedTuple):
    """One grouping of people: how it is put into words, its comparisons, its values by group, and its name."""

    setup: Setup
    comparisons: pd.DataFrame
    by_group: pd.DataFrame
    feature: str


class Display(ABC):
    """A drawing of a fitted test."""

    _drawn: ClassVar[tuple[type, ...]]

    @classmethod
    def from_test(cls, test: Any, *, name: str | None = None, ax: Any = None, **kwargs: Any) -> Self:
        """Draw a fitted test, as it was when it was fitted.

        Parameters
        ----------
        test : FairnessTest or FairnessAudit
            The test to draw; `DisparityDisplay` also takes a `SubgroupScan`, an `AdjustedFairnessTest` and a
            `CorrelationFairnessTest`. Displays of individual fairness take an
            `IndividualFairnessTest`.
        name : str, optional
            Title of the drawing; by default the class of the estimator, if there is one.
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
            If it is another kind of test, or there is nothing to draw.
        NotFittedError
            If it is not fitted.
        """
        check_test(test, cls._drawn)
        estimator = getattr(getattr(test, "_model", test), "estimator", None)  # tests of two models have two
        if name is None and estimator is not None:
            name = type(estimator).__name__
        return cls._read(test, name).plot(ax=ax, **kwargs)

    @classmethod
    @abstractmethod
    def _read(cls, test: Any, name: str | None) -> Self:
        """Take from a fitted test or audit what is drawn."""

    @abstractmethod
    def plot(self, *, ax: Any = None, name: str | None = None, **kwargs: Any) -> Self:
        """Draw."""


class OfTest(ABC):
    """A drawing of a test of groups, which `from_estimator` and `from_predictions` fit first."""

    @classmethod
    @abstractmethod
    def from_test(cls, test: Any, *, name: str | None = None, ax: Any = None, **kwargs: Any) -> Self:
        """Draw a fitted test."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        predict_params: dict[str, Any] | None = None,
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
            As in `FairnessTest.fit`.
        sensitive_features, control_features : array-like, frame or mapping
            As in `FairnessTest.fit`.
        sample_weight, clusters : array-like of shape (n_samples,), optional
            As in `FairnessTest.fit`.
        predict_params : dict, optional
            Further arguments of the estimator's ``predict``.
        name : str, optional
            Title of the drawing; by default the class of the estimator.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **params
            Parameters of `FairnessTest`.

        Returns
        -------
        Display
            What was drawn.
        """
        test = FairnessTest(estimator, **params).fit(
            X,
            y,
            sensitive_features=sensitive_features,
            control_features=control_features,
            sample_weight=sample_weight,
            clusters=clusters,
            predict_params=predict_params,
        )
        return cls.from_test(test, name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        y_score: Any = None,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        name: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Test predictions and draw the test.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            True labels and predictions.
        y_score : array-like of shape (n_samples,), optional
            Scores, for metrics that need them beside predictions.
        sensitive_features, control_features : array-like, frame or mapping
            As in `FairnessTest.from_predictions`.
        sample_weight, clusters : array-like of shape (n_samples,), optional
            As in `FairnessTest.from_predictions`.
        name : str, optional
            Title of the drawing.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **params
            Parameters of `FairnessTest`.

        Returns
        -------
        Display
            What was drawn.
        """
        test = FairnessTest.from_predictions(
            y_true,
            y_pred,
            y_score=y_score,
            sensitive_features=sensitive_features,
            control_features=control_features,
            sample_weight=sample_weight,
            clusters=clusters,
            **params,
        )
        return cls.from_test(test, name=name, ax=ax)


class FittedDisplay(Display, OfTest):
    """A drawing of a fitted test of groups, or of a fitted audit."""

    _drawn: ClassVar[tuple[type, ...]] = (FairnessTest, FairnessAudit)


def check_test(test: Any, kinds: tuple[type, ...] = FittedDisplay._drawn) -> None:
    """Refuse anything that is not a fitted test of these kinds.

    Raises
    ------
    ValueError, NotFittedError
        If it is something else, or not fitted.
    """
    if not isinstance(test, kinds):
        names = enumerated([kind.__name__ for kind in kinds], "or")
        raise ParameterError(f"test must be a fitted {names}; found {type(test).__name__}")
    check_is_fitted(test)


def parts_of(test: Any) -> list[Part]:
    """Return the groupings of a fitted test or audit, with pairs in the order in which reports show them."""
    if isinstance(test, FairnessTest):
        return [Part(test._setup, oriented(test._setup, test.comparisons_), test._values, "")]
    parts = test.record_.parts
    several = len(parts) > 1
    return [
        Part(part.setup, oriented(part.setup, part.comparisons), part.by_group, part.feature if several else "")
        for part in parts
    ]


def fitted_name(pieces: list[str], joints: list[str], widest: int = WIDEST, *, prefix: Iterable[str] = ()) -> str:
    """Join pieces of a name, `joints` between them, and cut the longest pieces until it is short enough."""
    about = ", ".join(filter(None, prefix))
    if about:
        pieces, joints = [about, *pieces], [": ", *joints]
    return joined([label(piece) for piece in pieces], joints, widest)


def comparison_name(setup: Setup, row: Any, widest: int = WIDEST, *, prefix: Iterable[str] = ()) -> str:
    """Return the name of one comparison, such as "Female against Male", with its metric and its stratum."""
    return fitted_name(*comparison_pieces(setup, row, alone=True), widest, prefix=prefix)


def finish(ax: Any, name: str | None = None, **properties: Any) -> None:
    """Write a title above a drawing, and draw all its texts literally."""
    from matplotlib.text import Text

    if name:
        literal(ax.set_title(shorten(label(name), 60), x=0, horizontalalignment="left"))
    ax.set(**properties)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_ticklabels()  # which lets them be written
    for text in ax.findobj(Text):
        literal(text)


def titled(*pieces: str | None) -> str:
    """Join the parts of a title: what is drawn, and for which model."""
    return ", ".join(piece for piece in pieces if piece)


def comparison_pieces(setup: Setup, row: Mapping[str, Any], *, alone: bool = False) -> tuple[list[str], list[str]]:
    """Return the names that the row of a drawing is called by, and what stands between them.

    What every row is compared with stands on the axis, unless the row is `alone`.
    """
    pieces, joints = [label(row["group"])], []
    if alone or setup.compare not in EVERYBODY:
        pieces.append(compared_with(setup.compare, row))
        joints.append(" against ")
    if setup.controls:
        pieces.append(stratum_name(setup.controls, row))
        joints.append(", " if row["stratum"] is None else " in ")
    return pieces, joints


def disparity_axis(setup: Setup, metric: str, *, alone: bool = False) -> str:
    """Say what is on the axis of disparities, with its unit; see `comparison_pieces`."""
    second = None if alone else EVERYBODY.get(setup.compare)
    if setup.is_ratio(metric):
        sides = f"group to {second}" if second else "first to second"
        return f"{setup.disparity_of(metric).replace('_', ' ')}: {sides} (log scale)"
    minus = f"group minus {second}" if second else "first minus second"
    if not setup.is_share(metric):
        return f"difference in the metric's unit: {minus}"
    return f"difference in percentage points: {minus}"


def axis_factor(setup: Setup, metric: str) -> float:
    """The factor of disparities on their axis: 100 where they are percentage points."""
    return 100.0 if setup.is_share(metric) and setup.disparity_of(metric) == "difference" else 1.0


def value_factor(setup: Setup, metric: str) -> float:
    """The factor of values on their axis: 100 where they are percentages."""
    return 100.0 if setup.is_event(metric) else 1.0


def value_axis(setup: Setup, metric: str) -> str:
    """Say what is on the axis of values, with its unit."""
    if not setup.is_share(metric):
        return "in the metric's unit"
    return "% of people" if setup.is_event(metric) else "value from 0 to 1"
