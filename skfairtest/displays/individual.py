"""The drawing of a test of individual fairness: everybody's loss ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest.displays.base import Display, canvas, finish, plain_ticks
from skfairtest.individual import IndividualFairnessTest
from skfairtest.individual.report import AXES
from skfairtest.report.draw import BLUE, GREY, ORANGE


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

    loss_ratios: NDArray[np.float64]
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
