"""How small a disparity can be detected with how many people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.checks import check_choice, check_probability, finite_numbers, is_number
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import shorten
from skfairtest.comparisons.null_histogram import detectable_sizes
from skfairtest.displays.base import GroupDisplay, canvas, check_test, finish, model_name, plain_ticks
from skfairtest.inference.detectable import TwoRates, detectable_rates
from skfairtest.inference.rates import Question
from skfairtest.planning.power import minimum_detectable_disparity, supposed_of
from skfairtest.report.draw import GREY, ORANGE, curve
from skfairtest.report.sentences import DETECTION_POWER, metric_title, points, ratio

DISPARITIES = ("difference", "ratio")
METHODS = ("normal", "exact")
#: Sizes at which the exact test is looked at where none are given; the normal approximation takes no time.
EXACT_SIZES, SIZES = 12, 80


@dataclass(kw_only=True, eq=False, repr=False)
class PowerDisplay(GroupDisplay):
    """The smallest disparity that can be detected, against the number of people tested.

    A disparity on the line is detected with the given probability, larger ones more often. The line depends on the
    design, not on the observed disparity: it is not "observed power".

    Parameters
    ----------
    n_samples : ndarray of shape (n_sizes,)
        Numbers of people in both groups that are compared.
    detectable : ndarray of shape (n_sizes,)
        Smallest detectable absolute differences, or ratios of the larger value to the smaller; NaN if there is none.
    power : float, default=0.8
        Probability of finding it.
    alpha : float, default=0.05
        Level of one comparison.
    disparity : {"difference", "ratio"}, default="difference"
        What is compared.
    metric_name : str, default="rate"
        Whose disparity.
    fitted : tuple of float, optional
        People of a fitted test, the disparity that it would find, and the one that it saw.
    method : {"normal", "exact"}, default="normal"
        Whether the disparities are approximate or exact.
    estimator_name : str, optional
        What the line is called in a legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.
    line_ : matplotlib Line2D
        The smallest disparity.

    See Also
    --------
    minimum_detectable_disparity : One point of the line, for the exact test.
    required_sample_size : How many people a given disparity needs.

    Notes
    -----
    By default the normal approximation of the score test is used; in small groups the exact test needs slightly larger
    disparities. If both directions are possible, the larger disparity is drawn. The paper draws the smallest difference
    rejected in the data, with a power of about one half.

    References
    ----------
    C. DiCiccio et al. (2020), Evaluating Fairness Using Permutation Tests, KDD, figure 3. J. L. Fleiss, B. Levin and
    M. C. Paik (2003), Statistical Methods for Rates and Proportions, section 4.2.

    Examples
    --------
    >>> from skfairtest import PowerDisplay
    >>> display = PowerDisplay.from_rates(0.3, n_samples=[186, 18600])
    >>> display.detectable.round(3)
    array([0.2  , 0.019])
    """

    n_samples: NDArray[np.float64]
    detectable: NDArray[np.float64]
    power: float = DETECTION_POWER
    alpha: float = 0.05
    disparity: str = "difference"
    metric_name: str = "rate"
    fitted: tuple[float, float, float] | None = None
    method: str = "normal"
    estimator_name: str | None = None

    @classmethod
    def from_test(
        cls,
        test: Any,
        *,
        power: float = DETECTION_POWER,
        n_samples: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what the strongest comparison would detect among more or fewer people.

        Parameters
        ----------
        test : FairnessTest
            A fitted test without control features. The baseline is the other side's value; shares of groups, and of
            people who meet the rate's condition, stay the same. The level is what Holm's adjustment leaves.
        power : float, default=0.8
            Probability of finding a disparity.
        n_samples : array-like of shape (n_sizes,), optional
            Numbers of people; by default from a tenth to ten times of those tested.
        name : str, optional
            What the line is called in the legend; by default the class of the estimator.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **kwargs
            Further arguments of the line.

        Returns
        -------
        PowerDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If it is not a test whose power is known.
        NotFittedError
            If it is not fitted.
        """
        check_test(test, cls._draws)
        check_probability("power", power)
        supposed = supposed_of(test)
        question, row = supposed.question, test.comparisons_.iloc[test._leading]
        if question.alternative == "equivalence":
            raise ParameterError(
                "alternative='equivalence' looks for the largest disparity that can be shown to be tolerable, not the "
                "smallest that is detected: see minimum_detectable_disparity"
            )
        overall = test._setup.compare == "to_overall"
        people = float(row["n_other"] if overall else row["n_group"] + row["n_other"])
        sizes = _sizes(n_samples, np.geomspace(max(10.0, people / 10), 10 * people, SIZES))
        seen = np.float64(row["disparity"])
        with np.errstate(divide="ignore"):
            seen = abs(seen) if question.disparity == "difference" else max(seen, 1 / seen)
        direction = {"greater": "up", "less": "down"}.get(question.alternative, "farther")
        among = [supposed.among(times) for times in np.append(sizes, people) / people]
        found = _checked(detectable_sizes(among, power, direction=direction, accuracy="normal"), power)
        return cls(
            n_samples=sizes,
            detectable=found[:-1],
            power=float(power),
            alpha=supposed.level,
            disparity="ratio" if question.disparity == "ratio" else "difference",
            metric_name=str(row["metric"]),
            fitted=(people, float(found[-1]), float(seen)),
            estimator_name=model_name(test) if name is None else name,
        ).plot(ax=ax, **kwargs)

    @classmethod
    def _read(cls, test: Any, name: str | None) -> Self:
        raise NotImplementedError

    @classmethod
    def from_rates(
        cls,
        baseline: float,
        *,
        shares: Sequence[float] = (0.5, 0.5),
        base_rates: Any = 1.0,
        n_samples: Any = None,
        alpha: float = 0.05,
        power: float = DETECTION_POWER,
        disparity: str = "difference",
        method: str = "normal",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what could be detected between two groups, before any data are collected.

        Parameters
        ----------
        baseline : float
            The rate of the second group.
        shares : (float, float), default=(0.5, 0.5)
            Proportions of the two groups.
        base_rates : float or (float, float), default=1.0
            Share of each group who meet the rate's condition.
        n_samples : array-like of shape (n_sizes,), optional
            Numbers of people in both groups; by default 100 to 100,000 (exactly: to 2,000).
        alpha : float, default=0.05
            Level of the test.
        power : float, default=0.8
            Probability of finding a disparity.
        disparity : {"difference", "ratio"}, default="difference"
            What is compared.
        method : {"normal", "exact"}, default="normal"
            Approximate, or exact by `minimum_detectable_disparity`, which takes seconds for thousands of people.
        name : str, optional
            What the line is called in the legend.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **kwargs
            Further arguments of the line.

        Returns
        -------
        PowerDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If a parameter is not usable; the message names it, what was found and what to do.
        """
        if not is_number(baseline) or not 0 <= baseline <= 1:
            raise ParameterError(f"baseline must be a rate between 0 and 1; found {brief(baseline)}")
        check_probability("alpha", alpha)
        check_probability("power", power)
        check_choice("disparity", disparity, DISPARITIES)
        check_choice("method", method, METHODS)
        parts = _pair(shares, "shares")
        met = _pair((base_rates, base_rates) if is_number(base_rates) else base_rates, "base_rates")
        if met.max() > 1:
            raise ParameterError(f"base_rates must be shares of people, at most 1; found {base_rates!r}")
        exact = method == "exact"
        default = np.geomspace(100, 2_000, EXACT_SIZES) if exact else np.geomspace(100, 100_000, SIZES)
        sizes = _sizes(n_samples, default)
        parts = parts / parts.sum()
        if exact:
            found = np.array([_exact(baseline, n * parts, met, alpha, power, disparity) for n in sizes])
        else:
            tables = [TwoRates(baseline, *(n * parts * met)) for n in sizes]
            found = detectable_rates(tables, Question(disparity), alpha=alpha, power=power, accuracy="normal")
        return cls(
            n_samples=sizes,
            detectable=_checked(found, power),
            power=float(power),
            alpha=float(alpha),
            disparity=disparity,
            method=method,
            estimator_name=name,
        ).plot(ax=ax, **kwargs)

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
        PowerDisplay
            This display.
        """
        name, found = self.estimator_name if name is None else name, f"found with probability {self.power:g}"
        factor, size = (100.0, "{} points") if self.disparity == "difference" else (1.0, "{}")
        write = points if self.disparity == "difference" else ratio
        unit = "\nin percentage points" * (factor == 100)
        with canvas(self, ax) as self.ax_:
            ax = self.ax_
            style = {"label": f"{shorten(name, 30)}: {found}" if name else found, **kwargs}
            self.line_ = curve(ax, self.n_samples, factor * self.detectable, **style)
            if self.fitted is not None:
                people, detectable, seen = self.fitted
                if np.isfinite(detectable):
                    told = f"{int(people):,} people: {size.format(write(detectable))}"
                    ax.plot([people], [factor * detectable], "D", color=ORANGE, label=told, zorder=3)
                if np.isfinite(seen) and seen > 0:
                    told = f"observed: {size.format(write(seen))}"
                    ax.axhline(factor * seen, color=GREY, linestyle=":", label=told)
            about = "normal approximation" if self.method == "normal" else "exact test"
            ax.set(
                xscale="log",
                yscale="log",
                xlabel=f"people in both groups\n(level {self.alpha:.3g}, {about})",
                ylabel=f"smallest {self.disparity} detected{unit}",
            )
            plain_ticks(ax.xaxis, "{x:,.0f}")
            plain_ticks(ax.yaxis)
            finish(ax, metric_title(self.metric_name))
        return self


def _checked(found: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Return the smallest disparities, NaN where there is none; raise an error if there is none at all."""
    if not np.isfinite(found).any():
        raise ParameterError(
            f"power={power:g} is not reached by any disparity with any of n_samples: more people are needed"
        )
    return np.where(np.isfinite(found), found, np.nan)


def _exact(
    baseline: float, people: NDArray[np.float64], met: NDArray[np.float64], alpha: float, power: float, disparity: str
) -> float:
    everyone = bool((met == 1).all())
    found = []
    for direction in ("up", "down"):
        try:
            size = minimum_detectable_disparity(
                metric="selection_rate" if everyone else "true_positive_rate",
                baseline=baseline,
                n_per_group=[max(2, round(float(n))) for n in people],
                base_rates=1.0 if everyone else met.tolist(),
                power=power,
                alpha=alpha,
                disparity=disparity,
                direction=direction,
            )
        except ValueError:  # no disparity this way has that power
            continue
        found.append(max(size, 1 / size) if disparity == "ratio" and size > 0 else abs(size))
    return max(found, default=np.nan)


def _sizes(given: Any, default: NDArray[np.float64]) -> NDArray[np.float64]:
    if given is None:
        return np.unique(np.round(default))
    sizes = finite_numbers(given)
    if not len(sizes) or sizes.min() < 4:
        raise ParameterError(f"n_samples must be numbers of people, each at least 4; found {given!r}")
    return np.unique(sizes)


def _pair(given: Any, name: str) -> NDArray[np.float64]:
    pair = finite_numbers(given)
    if len(pair) != 2 or pair.min() <= 0:
        raise ParameterError(f"{name} must be two positive numbers; found {given!r}")
    return pair
