"""Distributions: of a statistic under the null hypothesis, with the observed value, and of loss ratios."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import shorten
from skfairtest._utils.typing import Floats
from skfairtest.audit import FairnessAudit
from skfairtest.comparisons.orientation import oriented_histogram
from skfairtest.displays.base import Display, GroupDisplay, canvas, comparison_name, finish, parts_of, plain_ticks
from skfairtest.individual import IndividualFairnessTest
from skfairtest.individual.report import AXES
from skfairtest.report.cells import records
from skfairtest.report.draw import BLUE, GREY, ORANGE, NullHistogram, histogram
from skfairtest.report.sentences import equals_p, metric_title


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
        if leading["metric"] not in setup.omnibus:
            comparison = shorten(f"{comparison}: {comparison_name(setup, leading)}", 80)
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
            plain_ticks(ax.xaxis)
            finish(ax, "What chance alone would show", name, **kwargs)
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class LossRatioDisplay(Display):
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
        The largest ratio that is not a violation.
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

    _fits: ClassVar[type] = IndividualFairnessTest
    _draws: ClassVar[tuple[type, ...]] = (IndividualFairnessTest,)

    loss_ratios: Floats
    statistic: float
    lower_bound: float
    tolerance: float
    statistic_name: str = "statistic"
    estimator_name: str | None = None

    @classmethod
    def _read(cls, test: IndividualFairnessTest, name: str | None) -> Self:
        if test.verdict_ == "no_trace":
            raise ParameterError(f"test has nothing to draw. {test.sentences()[0]}")
        # Parameters may have been set since; the statistic is that of the fit.
        setup = test._statistic
        return cls(
            loss_ratios=test.loss_ratios_,
            statistic=test.statistic_,
            lower_bound=test.lower_bound_,
            tolerance=setup.tolerance,
            statistic_name=AXES[setup.statistic],
            estimator_name=name,
        )

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
        ratios = self.loss_ratios[np.isfinite(self.loss_ratios) & (self.loss_ratios > 0)]
        spanned, left_out = np.append(ratios, self.tolerance), len(self.loss_ratios) - len(ratios)
        counts, edges = np.histogram(ratios, np.geomspace(spanned.min() / 1.05, spanned.max() * 1.05, bins + 1))
        with canvas(self, ax) as self.ax_:
            ax, name = self.ax_, self.estimator_name if name is None else name
            self.bars_ = ax.stairs(
                counts, edges, **{"fill": True, "color": BLUE, "alpha": 0.6, "label": name, **kwargs}
            )
            for value, what, style in (
                (self.tolerance, f"tolerance {self.tolerance:g}", {"color": GREY, "linestyle": "--"}),
                (self.statistic, f"{self.statistic_name} {self.statistic:.3g}", {"color": ORANGE}),
                (self.lower_bound, f"lower bound {self.lower_bound:.3g}", {"color": ORANGE, "linestyle": ":"}),
            ):
                shown = np.isfinite(value) and value > 0
                ax.axvline(value if shown else np.nan, label=what if shown else f"{what} (not shown)", **style)
            missing = f" ({left_out:,} infinite or 0 not shown)" * bool(left_out)
            ax.set(xscale="log", xlabel=f"loss at the unfair example / loss at the person{missing}", ylabel="people")
            plain_ticks(ax.xaxis)
            finish(ax)
        return self
