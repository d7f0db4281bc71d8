"""The null distribution, and where the data lie in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from skfairtest._utils.errors import ParameterError
from skfairtest.displays._drawings import axes, draw_null_histogram, styled
from skfairtest.displays._tested import FittedDisplay, comparison_name, finish, parts_of, titled
from skfairtest.group.fairness import FairnessTest
from skfairtest.report.cells import oriented_histogram
from skfairtest.report.plots import NullHistogram
from skfairtest.report.sentences import equals_p, metric_title


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
