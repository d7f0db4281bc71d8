"""What chance alone would have shown, and what could have been shown at all.

What could have been seen by chance in one comparison: the null distribution of its statistic, as reported.

The smallest disparity that a comparison could have shown, for tests, audits, drawings and reports alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from skfairtest._utils.text import label, pluralize
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.core import RESAMPLED, Comparison, Enumerated, Result
from skfairtest.comparisons.family import p_of
from skfairtest.inference import null_distribution
from skfairtest.inference.detectable import TwoRates, detectable_estimates, detectable_rates
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.null_distribution import Bins
from skfairtest.inference.power_designs import turned_over
from skfairtest.inference.rates import Question
from skfairtest.inference.resampling import monte_carlo_p
from skfairtest.report.draw import NullHistogram
from skfairtest.report.sentences import DETECTION_POWER, p_text

#: What the resamples of a method are.
RESAMPLES = {
    "permutation": "permutations of the labels",
    "permutation within scores": "resamples of who is truly positive among people of about the same score",
    "simulation": "simulations of outcomes with the scores' probabilities",
    "sign flipping": "resamples in which the signs of the clusters' parts are random",
    "bootstrap": "bootstrap samples, centred",
    "parametric bootstrap": "samples from the most likely distributions that satisfy the null hypothesis",
}


def null_histogram_of(one: Comparison) -> NullHistogram | None:
    """Return the distribution of a comparison under its null hypothesis; None where its statistic is undefined."""
    found = one.null.enumerated(one.log_p, one.method)
    if found is not None:
        return _enumerated(one, found)
    if np.isnan(one.statistic):
        return None
    return _drawn(one) if one.draws is not None and one.method in RESAMPLED else _normal(one)


def _enumerated(one: Comparison, found: Enumerated) -> NullHistogram:
    """Return the distribution of the difference given how many events both sides have."""
    metric, where = label(one.metric), "" if found.n_strata == 1 else " in every stratum"
    note = (
        f"All the ways in which {pluralize(found.n_events, 'person', 'people')} in the numerator of {metric} can fall "
        f"on the two sides if chance alone divides them, given that there are so many{where}"
    )
    inside, p = float(found.bins.extreme.sum()), p_of(one.log_p)
    if one.method == "exact conditional":
        note += f"; those at least as extreme as the data add up to the p-value, {p_text(p)}."
    else:
        note += (
            f"; those at least as extreme as the data add up to {p_text(inside)}, and the p-value, {p_text(p)}, is the "
            "largest probability of such an outcome over all shares that both sides could have in common, without "
            "taking that number as given."
        )
    statistic = "difference" if found.is_rate else f"difference of the shares behind {metric}"
    return _histogram("enumerated", statistic, found.bins, found.observed, one, note)


def _drawn(one: Comparison) -> NullHistogram | None:
    """Return a histogram of the draws that the p-value counts."""
    assert one.draws is not None
    sides, times = _sides(one)
    shares = {side: monte_carlo_p(one.draws, one.statistic, side) for side in sides}
    side = _nearest({side: share[0] for side, share in shares.items()}, times, one.log_p)
    is_other = times * shares[side][0] < np.exp(one.least_log_p)
    found = null_distribution.drawn(one.draws, one.statistic, side)
    if found is None:
        return None
    note = (
        f"The statistic in {found.n_defined:,} {RESAMPLES[one.method]}, of which {shares[side][1]:,} are at least "
        "as extreme as the data"
    )
    note += (
        f"{'; twice this share' if times == 2 else ', which'} gives "
        f"{p_text(times * shares[side][0]) + ', less than ' if is_other else ''}the p-value, "
        f"{p_text(p_of(one.log_p))}{', of the distribution in large samples' if is_other else ''}"
    )
    if found.n_infinite:
        note += f"; {found.n_infinite:,} of them are infinite and not drawn"
    if one.n_undefined:
        others = pluralize(one.n_undefined, "other draw, which is", "other draws, which are")
        note += f"; it is undefined in {others} not counted"
    return _histogram("drawn", _statistic(one), found.bins, one.statistic, one, _ended(note, one.statistic))


def _normal(one: Comparison) -> NullHistogram:
    """Return the standard normal distribution, where the statistic has none of its own."""
    sides, times = _sides(one)
    statistic = one.statistic
    side = _nearest({s: float(np.exp(normal_log_p(statistic, s))) for s in sides}, times, one.log_p)
    p = p_text(p_of(one.log_p))
    note = "The standard normal distribution, which the statistic has in large samples if the null hypothesis holds"
    if one.method.startswith("exact"):
        why = "with a margin" if one.null.question.margin_bounds is not None else "for so many people"
        note += f", drawn {why} in place of the exact distribution that gives the p-value, {p}"
    else:
        note += f"; {'twice ' if times == 2 else ''}what is at least as extreme as the data is the p-value, {p}"
    bins = null_distribution.normal(statistic, side)
    return _histogram("normal", _statistic(one), bins, statistic, one, _ended(note, statistic))


def _sides(one: Comparison) -> tuple[tuple[str, ...], int]:
    """Return the sides on which draws may have been counted, and how often their share counts."""
    null = one.null
    if null.side in ("greater", "less"):
        return (null.side,), 1
    if null.question.margin_bounds is None and not null.extreme:
        return ("two-sided",), 1
    # Tests of both edges of a margin, or of both tails, of which one decides.
    return ("greater", "less"), 1 if null.side == "equivalence" else 2


def _nearest(shares: dict[str, float], times: int, log_p: float) -> str:
    """Return the side whose share is the p-value."""
    if len(shares) == 1:
        return next(iter(shares))
    with np.errstate(divide="ignore"):
        return min(shares, key=lambda side: abs(float(np.log(min(1.0, times * shares[side]))) - log_p))


def _statistic(one: Comparison) -> str:
    """Say what is on the axis."""
    null = one.null
    if null.extreme:
        return label(one.metric)
    if null.question.margin_bounds is not None:
        return ("studentized " if null.studentized else "") + "distance from the margin"
    # Equality is one hypothesis with one statistic, whether a difference or a ratio is shown.
    return "studentized difference" if null.studentized else "difference"


def _ended(note: str, statistic: float) -> str:
    infinite = "; the data's own statistic is infinite, because it has no standard error" if np.isinf(statistic) else ""
    return f"{note}{infinite}."


def _histogram(kind: str, statistic: str, bins: Bins, observed: float, one: Comparison, note: str) -> NullHistogram:
    low, high, mass, extreme = (tuple(values.tolist()) for values in (bins.low, bins.high, bins.mass, bins.extreme))
    p = p_of(one.log_p)
    return NullHistogram(kind, statistic, low, high, mass, extreme, float(observed), p, note)


@dataclass(frozen=True)
class Supposed:
    """The assumptions behind the power of one comparison: the question, the level, and the people as observed.

    `table` are two rates whose test has a power that is known; of others there is the `error` of the disparity. Where
    draws are too few for a p-value of that level, `enough` is False.
    """

    question: Question
    level: float
    bounds: tuple[float, float]
    table: TwoRates | None
    error: float
    enough: bool = True

    @classmethod
    def of(cls, one: Comparison, result: Result) -> Self:
        """Take it from one comparison of a result, at the level that the adjustment leaves the smallest p-value."""
        null, level = one.null, result.verdict.level
        enough = one.draws is None or level * (1 + result.settings.n_resamples) >= 1
        return cls(null.question, level, one.bounds, null.table(), null.error(), enough)

    def among(self, times: float) -> Self:
        """Return the same with so many times the people."""
        table = self.table
        if table is not None:
            table = replace(table, d_group=table.d_group * times, d_other=table.d_other * times)
        return replace(self, table=table, error=self.error / float(np.sqrt(times)))

    def disparity(self, power: float, direction: str) -> float:
        """Return the disparity that is found going "up" or "down", exactly; infinite or NaN where there is none."""
        size = float(detectable_sizes([self], power, direction=direction, accuracy="exact")[0])
        if self.question.disparity != "difference":
            return size if direction == "up" or not np.isfinite(size) else 1 / size
        return size if direction == "up" else -size


def detectable_sizes(
    supposed: Sequence[Supposed], power: float = DETECTION_POWER, *, direction: str = "farther", accuracy: str = "quick"
) -> Floats:
    """Return sizes of disparities that are found with a power; see `detectable_rates` for direction and accuracy.

    Of two rates it is the power of the test that was run, with the two denominators and the others' rate as they were
    seen; everything else is computed from its standard error. NaN where there is none, infinity where no disparity is
    found with that power.
    """
    sizes = np.full(len(supposed), np.nan)
    kinds = [(one.question, one.level, one.table is None) for one in supposed]
    for kind in dict.fromkeys(kinds):
        places = [place for place, own in enumerate(kinds) if own == kind]
        question, level, _ = kind
        asked = {"alpha": level, "power": power}
        tables = [table for place in places if (table := supposed[place].table) is not None]
        if tables:
            sizes[places] = detectable_rates(tables, question, direction=direction, accuracy=accuracy, **asked)
        else:
            upwards = turned_over(question) if direction == "down" else question
            sizes[places] = detectable_estimates([supposed[place].error for place in places], upwards, **asked)
    # Not even no extreme draw among too few would be significant.
    impossible = [not one.enough or sizes[place] > one.bounds[1] for place, one in enumerate(supposed)]
    return np.where(impossible, np.inf, sizes)


def minimum_detectable(results: Sequence[Result]) -> list[Floats]:
    """Return sizes of disparities that the comparisons of each result would have detected with the usual power."""
    sizes = detectable_sizes([Supposed.of(one, result) for result in results for one in result.comparisons])
    return np.split(sizes, np.cumsum([len(result.comparisons) for result in results])[:-1])
