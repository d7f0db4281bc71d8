"""The null distribution of a comparison as reported, and the smallest disparity that it could have detected."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from skfairtest._utils.text import label, pluralize
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.core import RESAMPLED, Comparison, Result
from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.rates import RateNull
from skfairtest.inference import null_distribution
from skfairtest.inference.detectable import TwoRates, detectable_estimates, detectable_rates
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.null_distribution import Bins
from skfairtest.inference.power_designs import turned_over
from skfairtest.inference.rates import Pair, Question
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
    """The null distribution of a comparison; None if its statistic is undefined."""
    null, equality = one.null, one.null.question.margin_bounds is None
    if isinstance(null, RateNull) and equality and one.method.startswith("exact") and null.worst is not None:
        histogram = _enumerated(one, null, null.worst)
        if histogram is not None:
            return histogram
    if np.isnan(one.statistic):
        return None
    # At equality there is one hypothesis with one statistic, whether a difference or a ratio is shown.
    statistic = "difference" if equality else "distance from the margin"
    statistic = label(one.metric) if null.extreme else "studentized " * null.studentized + statistic
    # Of both edges of a margin, or of both tails, one decides.
    times = 2 if null.side == "two-sided" and not (equality and not null.extreme) else 1
    sides = ("greater", "less") if times == 2 or null.side == "equivalence" else (null.side,)
    if one.draws is None or one.method not in RESAMPLED:
        shares = {side: float(np.exp(normal_log_p(one.statistic, side))) for side in sides}
        side = min(sides, key=lambda side: abs(_log(times * shares[side]) - one.log_p))
        note = "The standard normal distribution, which the statistic has in large samples if the null hypothesis holds"
        if one.method.startswith("exact"):
            why = "for this many people" if equality else "with a margin"
            note += (
                f", drawn {why} in place of the exact distribution that gives the p-value, {p_text(p_of(one.log_p))}"
            )
        else:
            note += f"; {'twice ' * (times == 2)}what is at least as extreme as the data is the p-value, "
            note += p_text(p_of(one.log_p))
        bins, kind = null_distribution.normal(one.statistic, side), "normal"
    else:
        counted = {side: monte_carlo_p(one.draws, one.statistic, side) for side in sides}
        side = min(sides, key=lambda side: abs(_log(times * counted[side][0]) - one.log_p))
        drawn = null_distribution.drawn(one.draws, one.statistic, side)
        if drawn is None:
            return None
        note, bins, kind = _of_draws(one, one.draws, times, *counted[side]), drawn, "drawn"
    if np.isinf(one.statistic):
        note += "; the data's own statistic is infinite, because it has no standard error"
    return _histogram(kind, statistic, bins, one.statistic, one, f"{note}.")


def _enumerated(one: Comparison, null: RateNull, pair: Pair) -> NullHistogram | None:
    """The distribution of the difference given the events of both sides; None if it is too long to show."""
    if pair.weights is not None:  # outcomes with the same number of events differ
        return None
    conditional, p = one.method == "exact conditional", p_of(one.log_p)
    known = one.log_p if conditional else None
    bins = null_distribution.given_totals(pair.x1, pair.d1, pair.x2, pair.d2, null.question.alternative, known)
    if bins is None:
        return None
    # The difference, averaged over strata, is a linear function of the events of the group.
    d1, d2, totals = (np.asarray(a, dtype=float) for a in (pair.d1, pair.d2, pair.x1 + pair.x2))
    expected = float((d1 * totals / (d1 + d2)).sum())
    unit = 1 / float(d1.sum() if pair.overall else (d1 * d2 / (d1 + d2)).sum())
    note = (
        f"All the ways in which {pluralize(int(totals.sum()), 'person', 'people')} in the numerator of "
        f"{label(one.metric)} can fall on the two sides if chance alone divides them, given their number"
        f"{' in every stratum' * (len(d1) > 1)}; those at least as extreme as the data add up to "
    )
    note += (
        f"the p-value, {p_text(p)}."
        if conditional
        else (
            f"{p_text(float(bins.extreme.sum()))}, and the p-value, {p_text(p)}, is the largest probability of such an "
            "outcome over all shares that both sides could have in common, without taking that number as given."
        )
    )
    statistic = "difference" if null.scale.is_identity else f"difference of the shares behind {label(one.metric)}"
    observed = (int(pair.x1.sum()) - expected) * unit
    moved = replace(bins, low=(bins.low - expected) * unit, high=(bins.high - expected) * unit)
    return _histogram("enumerated", statistic, moved, observed, one, note)


def _of_draws(one: Comparison, draws: Floats, times: int, share: float, n_extreme: int, n_defined: int) -> str:
    larger, p = times * share < np.exp(one.least_log_p), p_text(p_of(one.log_p))
    note = (
        f"The statistic in {n_defined:,} {RESAMPLES[one.method]}, of which {n_extreme:,} are at least as extreme "
        f"as the data{'; twice this share' if times == 2 else ', which'} gives "
    )
    note += (
        f"{p_text(times * share)}, less than the p-value, {p}, of the distribution in large samples"
        if larger
        else (f"the p-value, {p}")
    )
    if n_infinite := int(np.isinf(draws).sum()):
        note += f"; {n_infinite:,} of them are infinite and not drawn"
    if one.n_undefined:
        others = pluralize(one.n_undefined, "other draw, which is", "other draws, which are")
        note += f"; it is undefined in {others} not counted"
    return note


def _log(share: float) -> float:
    with np.errstate(divide="ignore"):
        return float(np.log(min(1.0, share)))


def _histogram(kind: str, statistic: str, bins: Bins, observed: float, one: Comparison, note: str) -> NullHistogram:
    low, high, mass, extreme = (tuple(values.tolist()) for values in (bins.low, bins.high, bins.mass, bins.extreme))
    return NullHistogram(kind, statistic, low, high, mass, extreme, float(observed), p_of(one.log_p), note)


@dataclass(frozen=True)
class Supposed:
    """The assumptions behind the power of one comparison: the question, the level, and the people as observed.

    `table`: two rates whose test has a known power; otherwise the `error` of the disparity is used. `enough` is False
    if resamples are too few for a p-value at the level.
    """

    question: Question
    level: float
    bounds: tuple[float, float]
    table: TwoRates | None
    error: float
    enough: bool = True

    @classmethod
    def of(cls, one: Comparison, level: float, n_resamples: int) -> Self:
        """The assumptions of a comparison, at the level that the adjustment leaves the smallest p-value."""
        null, enough = one.null, one.draws is None or level * (1 + n_resamples) >= 1
        return cls(null.question, level, one.bounds, null.table(), null.error(), enough)

    def among(self, times: float) -> Self:
        """The same with this many times the people."""
        table = self.table
        if table is not None:
            table = replace(table, d_group=table.d_group * times, d_other=table.d_other * times)
        return replace(self, table=table, error=self.error / float(np.sqrt(times)))

    def disparity(self, power: float, direction: str) -> float:
        """The disparity detected going "up" or "down", exactly; infinite or NaN if there is none."""
        size = float(detectable_sizes([self], power, direction=direction, accuracy="exact")[0])
        if self.question.disparity != "difference":
            return size if direction == "up" or not np.isfinite(size) else 1 / size
        return size if direction == "up" else -size


def detectable_sizes(
    supposed: Sequence[Supposed], power: float = DETECTION_POWER, *, direction: str = "farther", accuracy: str = "quick"
) -> Floats:
    """Sizes of disparities that are detected with a power; see `detectable_rates` for direction and accuracy.

    For two rates the power is that of the test run, at the observed denominators and the others' rate; otherwise it
    follows from the standard error. NaN: no test; infinity: no disparity is detected.
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
    """Sizes of disparities that each result's comparisons would have detected with the usual power."""
    given = ((one, r.verdict.level, r.settings.n_resamples) for r in results for one in r.comparisons)
    sizes = detectable_sizes([Supposed.of(*each) for each in given])
    return np.split(sizes, np.cumsum([len(result.comparisons) for result in results])[:-1])
