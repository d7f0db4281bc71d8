"""Drawings of a test of individual fairness: its statistic as people are moved farther, and everybody's ratio."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest.displays._drawings import BLUE, GREY, ORANGE, axes, draw_curve, legend_below, plain_log, styled
from skfairtest.displays._tested import Display
from skfairtest.individual import IndividualFairnessTest
from skfairtest.individual.report import AXES

#: What is said of the line that is drawn, after what the statistic is.
LOWER_BOUND = ",\nlower bound"


class _TestDisplay(Display):
    """A drawing of one fitted test of individual fairness, made from a test or from a model."""

    _drawn: ClassVar[tuple[type, ...]] = (IndividualFairnessTest,)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
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
            As in `IndividualFairnessTest.fit`.
        sensitive_features : array-like, frame or mapping, optional
            As in `IndividualFairnessTest.fit`.
        name : str, optional
            What it is called in the legend; by default the class of the estimator.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **params
            Parameters of the test.

        Returns
        -------
        Display
            What was drawn.
        """
        test = IndividualFairnessTest(estimator, **params).fit(X, y, sensitive_features=sensitive_features)
        return cls.from_test(test, name=name, ax=ax)

    @classmethod
    def _read(cls, test: IndividualFairnessTest, name: str | None) -> Self:
        if test.verdict_ == "no_trace":
            raise ParameterError(f"test has nothing to draw. {test.sentences()[0]}")
        # Parameters may have been set since; the setup is that of the fit.
        setup, values = test._setup, cls._values(test)
        values |= {"tolerance": setup.tolerance, "statistic_name": AXES[setup.statistic], "estimator_name": name}
        return cls(**values)

    @classmethod
    @abstractmethod
    def _values(cls, test: IndividualFairnessTest) -> dict[str, Any]:
        """Take from a fitted test what is drawn."""


def _has_logarithm(values: Any) -> Any:
    return np.isfinite(values) & (np.asarray(values) > 0)


def _joined(said: str, name: str) -> str:
    """Return the words for an axis that several tests share, of which the earlier are written there."""
    return " or ".join(dict.fromkeys([*said.split(" or "), name]))


@dataclass(kw_only=True, eq=False, repr=False)
class StoppingTimeDisplay(_TestDisplay):
    """The statistic and its lower bound against the number of steps after which the map is stopped.

    Figure 2 of Maity et al. (2021). The test is valid for any number of steps that was chosen beforehand; choosing the
    number of steps that rejects is multiple testing.

    Parameters
    ----------
    n_steps : ndarray of shape (n_points,)
        Numbers of steps, or of candidates of a search.
    statistic, lower_bound : ndarray of shape (n_points,)
        Estimates and their one-sided lower limits.
    tolerance : float
        The largest ratio that is no violation.
    statistic_name : str
        What the estimates are.
    step_name : str
        What is counted: "steps", or "candidates".
    estimator_name : str or None
        What the line is called in a legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.
    line_ : matplotlib Line2D
        The lower bound.

    See Also
    --------
    LossRatioDisplay : Everybody's ratio.
    IndividualFairnessTest : The test.

    References
    ----------
    S. Maity, S. Xue, M. Yurochkin and Y. Sun (2021), Statistical inference for individual fairness, ICLR, figure 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfairtest import IndividualFairnessTest, Projection, StoppingTimeDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> model = LogisticRegression(C=0.1).fit(X[:100], y[:100])
    >>> test = IndividualFairnessTest(model, fair_metric=Projection([[1, 0]])).fit(
    ...     X[100:], y[100:]
    ... )
    >>> display = StoppingTimeDisplay.from_test(test)
    >>> display.ax_.get_xlabel()
    'steps'
    """

    n_steps: NDArray[np.intp]
    statistic: NDArray[np.float64]
    lower_bound: NDArray[np.float64]
    tolerance: float
    statistic_name: str = "statistic"
    step_name: str = "steps"
    estimator_name: str | None = None

    @classmethod
    def _values(cls, test: IndividualFairnessTest) -> dict[str, Any]:
        columns = {name: test.path_[name].to_numpy() for name in ("n_steps", "statistic", "lower_bound")}
        return {**columns, "step_name": "candidates" if test.solver_report_["solver"] == "search" else "steps"}

    @styled
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
        StoppingTimeDisplay
            This display.
        """
        self.figure_, self.ax_ = axes(ax, type(self).__name__)
        tolerances = [line.get_gid() for line in self.ax_.get_lines() if str(line.get_gid()).startswith("tolerance")]
        tolerance = f"tolerance {self.tolerance:g}"
        name = self.estimator_name if name is None else name
        shown = _has_logarithm(self.lower_bound)
        if not shown.all():
            left_out = f"{int((~shown).sum()):,} of {len(shown):,} lower bounds not shown"
            name = left_out if name is None else f"{name} ({left_out})"
        lower_bound = np.where(shown, self.lower_bound, np.nan)
        band, style = (lower_bound, self.statistic), {"color": None, "marker": None, "label": name, **kwargs}
        self.line_ = draw_curve(self.ax_, self.n_steps, lower_bound, band, **style)
        if tolerance not in tolerances:
            line = self.ax_.axhline(self.tolerance, color=GREY, linestyle="--", label=tolerance)
            line.set_gid(tolerance)
        steps, statistic = self.step_name, self.statistic_name
        if tolerances:  # another test is drawn here
            steps = _joined(self.ax_.get_xlabel(), steps)
            statistic = _joined(self.ax_.get_ylabel().removesuffix(LOWER_BOUND), statistic)
        self.ax_.set(xscale="log", yscale="log", xlabel=steps, ylabel=statistic + LOWER_BOUND)
        # All of the path has its place, also what is not drawn.
        self.ax_.update_datalim(np.column_stack([self.n_steps, np.full(len(self.n_steps), self.tolerance)]))
        self.ax_.autoscale_view()
        for axis in (self.ax_.xaxis, self.ax_.yaxis):
            plain_log(axis)
        legend_below(self.ax_, columns=2)
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class LossRatioDisplay(_TestDisplay):
    """Histogram of people's loss ratios: whether many people lose a little or a few lose much.

    Parameters
    ----------
    loss_ratios : ndarray of shape (n_samples,)
        Loss at the unfair example over loss at the person.
    statistic : float
        The estimate.
    lower_bound : float
        Its one-sided lower limit.
    tolerance : float
        The largest ratio that is no violation.
    statistic_name : str
        What the estimate is.
    estimator_name : str or None
        What the bars are called in a legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.
    bars_ : matplotlib StepPatch
        The histogram.

    See Also
    --------
    StoppingTimeDisplay : The statistic against the number of steps.
    IndividualFairnessTest : The test.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfairtest import IndividualFairnessTest, LossRatioDisplay, Projection
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> model = LogisticRegression(C=0.1).fit(X[:100], y[:100])
    >>> test = IndividualFairnessTest(model, fair_metric=Projection([[1, 0]])).fit(
    ...     X[100:], y[100:]
    ... )
    >>> display = LossRatioDisplay.from_test(test)
    >>> display.ax_.get_ylabel()
    'people'
    """

    loss_ratios: NDArray[np.float64]
    statistic: float
    lower_bound: float
    tolerance: float
    statistic_name: str = "statistic"
    estimator_name: str | None = None

    @classmethod
    def _values(cls, test: IndividualFairnessTest) -> dict[str, Any]:
        return {name: getattr(test, f"{name}_") for name in ("loss_ratios", "statistic", "lower_bound")}

    @styled
    def plot(self, *, ax: Any = None, name: str | None = None, bins: int = 40, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on.
        name : str, optional
            What the bars are called.
        bins : int, default=40
            How many bars, of equal widths on a log scale.
        **kwargs
            Further arguments of the bars.

        Returns
        -------
        LossRatioDisplay
            This display.
        """
        self.figure_, self.ax_ = axes(ax, type(self).__name__)
        ratios = self.loss_ratios[_has_logarithm(self.loss_ratios)]
        spanned = np.append(ratios, self.tolerance)
        low, high = spanned.min() / 1.05, spanned.max() * 1.05
        counts, edges = np.histogram(ratios, bins=np.geomspace(low, high, bins + 1))
        name = self.estimator_name if name is None else name
        self.bars_ = self.ax_.stairs(
            counts, edges, **{"fill": True, "color": BLUE, "alpha": 0.6, "label": name, **kwargs}
        )
        for value, what, style in (
            (self.tolerance, f"tolerance {self.tolerance:g}", {"color": GREY, "linestyle": "--"}),
            (self.statistic, f"{self.statistic_name} {self.statistic:.3g}", {"color": ORANGE}),
            (self.lower_bound, f"lower bound {self.lower_bound:.3g}", {"color": ORANGE, "linestyle": ":"}),
        ):
            shown = _has_logarithm(value)
            self.ax_.axvline(value if shown else np.nan, label=what if shown else f"{what} (not shown)", **style)
        infinite = len(self.loss_ratios) - len(ratios)
        left_out = f" ({infinite:,} infinite or 0 not shown)" if infinite else ""
        self.ax_.set(xscale="log", xlabel=f"loss at the unfair example / loss at the person{left_out}", ylabel="people")
        plain_log(self.ax_.xaxis)
        legend_below(self.ax_, columns=2)
        return self
