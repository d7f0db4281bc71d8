"""One comparison of one rate between two sets of people, over one stratum or several: statistic, p-value, interval.

Arrays are counts with strata as last axis; the other side is a second group, everyone else, or everyone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats, Integers, Moments
from skfairtest.inference import conditional, intervals, margin, odds_ratio
from skfairtest.inference.conditional import conditional_log_p
from skfairtest.inference.linear_form import EffectiveRates, Scale
from skfairtest.inference.score import CONTINUITY, score_at, studentize
from skfairtest.inference.unconditional import unconditional_log_p, within_cap


@dataclass(frozen=True)
class Question:
    """The question of every comparison: disparity, alternative, margin, method.

    `margin_bounds` are the tolerated disparities; None tests equality. `directed`: swapping the sides changes the
    margin or the alternative.
    """

    disparity: str = "difference"
    alternative: str = "two-sided"
    margin_bounds: tuple[float, float] | None = None
    method: str = "auto"
    directed: bool = False

    @property
    def null(self) -> float:
        """The disparity of two equal values."""
        return 0.0 if self.disparity == "difference" else 1.0

    @property
    def is_exact(self) -> bool:
        """Whether equality is tested exactly if there is one stratum."""
        return self.margin_bounds is None and self.method in ("auto", "exact")

    @property
    def tests(self) -> list[tuple[float, str]]:
        """The tested disparities, and the side of each that rejects."""
        if self.margin_bounds is None:
            return [(self.null, self.alternative)]
        low, high = self.margin_bounds
        return {
            "greater": [(high, "greater")],
            "less": [(low, "less")],
            "two-sided": [(high, "greater"), (low, "less")],
            "equivalence": [(edge, way) for edge, way in ((low, "greater"), (high, "less")) if np.isfinite(edge)],
        }[self.alternative]

    def consistent_limits(
        self, limits: tuple[float, float], disparity: float, bounds: tuple[float, float], *, rejected: bool
    ) -> tuple[float, float]:
        """The limits of an interval, within its bounds, made consistent with the test.

        After a rejection the interval ends, open, where the null hypothesis begins; otherwise it contains a disparity
        of the null hypothesis.
        """
        low, high = limits
        if low != low:
            return limits
        first, last = self.margin_bounds or (self.null, self.null)
        if self.alternative == "equivalence":
            if not rejected and first < low and high < last:
                with np.errstate(divide="ignore"):
                    ends = np.array([first, low, high, last])
                    way = np.diff(ends if self.disparity == "difference" else np.log(ends))[[0, 2]]
                low, high = (first, high) if way[0] <= way[1] else (low, last)
        else:
            first = -np.inf if self.alternative == "greater" else first
            last = np.inf if self.alternative == "less" else last
            if not rejected:
                low, high = min(low, last), max(high, first)
            elif disparity > last:
                low, high = max(low, last), max(high, disparity)
            elif disparity < first:
                low, high = min(low, disparity), min(high, first)
        return max(bounds[0], low), min(bounds[1], high)


@dataclass(frozen=True)
class Pair:
    """Events `x` and denominators `d` per stratum of a group (1) and of the people it is compared with (2)."""

    x1: Integers
    d1: Integers
    x2: Integers
    d2: Integers
    overall: bool = False
    weights: Floats | None = None

    @property
    def share(self) -> float:
        """The group's share of everyone, in the only stratum; 0 unless compared with everyone."""
        return float(self.d1[0] / (self.d1[0] + self.d2[0])) if self.overall else 0.0

    def defined(self) -> Booleans:
        """Mask of strata with a weight, and with people who meet the condition on both sides."""
        return np.asarray((self.d1 > 0) & (self.d2 > 0) & (True if self.weights is None else self.weights > 0))

    def undefined(self, disparity: str) -> Booleans:
        """Strata with a ratio of 0 to 0; of odds, also of 1 to 1."""
        events, odds = self.x1 + self.x2, disparity == "odds_ratio"
        return np.asarray((disparity != "difference") & ((events == 0) | odds & (events == self.d1 + self.d2)))

    def only(self, strata: Booleans) -> Pair:
        """The comparison within some strata, with Mantel and Haenszel's weights."""
        return Pair(self.x1[strata], self.d1[strata], self.x2[strata], self.d2[strata], self.overall)

    @staticmethod
    def stacked(pairs: Sequence[Pair]) -> Pair:
        """Pairs with equally many strata as one, with counts of shape (pairs, strata)."""
        x1, d1, x2, d2 = (np.stack([getattr(pair, name) for pair in pairs]) for name in ("x1", "d1", "x2", "d2"))
        weights = [pair.weights for pair in pairs if pair.weights is not None]
        return Pair(x1, d1, x2, d2, pairs[0].overall, np.stack(weights) if weights else None)


@dataclass(frozen=True)
class Answer:
    """P-value of one comparison, as a logarithm, the method, and the statistic with its standard error."""

    log_p: float
    method: str
    statistic: float
    standard_error: float


def _weights(pair: Pair, *, overall: bool) -> Floats:
    d1, d2 = (np.asarray(a, dtype=float) for a in (pair.d1, pair.d2))
    with np.errstate(invalid="ignore", divide="ignore"):
        usual = d1 if overall else d1 * d2 / (d1 + d2)
        return np.where((d1 > 0) & (d2 > 0), usual if pair.weights is None else pair.weights, 0.0)


def values(pair: Pair, scale: Scale) -> tuple[Floats, Floats]:
    """The metric of both sides, averaged over the last axis with given weights or Mantel and Haenszel's.

    Against everyone, strata are weighted by the group's people.
    """
    x1, d1, x2, d2 = (np.asarray(a, dtype=float) for a in (pair.x1, pair.d1, pair.x2, pair.d2))
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = _weights(pair, overall=pair.overall)
        share = weights / weights.sum(axis=-1, keepdims=True)
        own = scale.value(x1 / d1)
        other = scale.value((x1 + x2) / (d1 + d2) if pair.overall else x2 / d2)
        first = np.where(weights > 0, share * own, 0.0).sum(axis=-1)
        second = np.where(weights > 0, share * other, 0.0).sum(axis=-1)
    empty = weights.sum(axis=-1) == 0
    return np.where(empty, np.nan, first), np.where(empty, np.nan, second)


def disparity_of(first: Floats, second: Floats, disparity: str) -> Floats:
    """Difference or ratio of two values; 0 / 0 is undefined."""
    if disparity == "ratio":
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(first) / np.asarray(second)
    return np.asarray(first) - np.asarray(second)


def pair_disparity(pair: Pair, first: Floats, second: Floats, disparity: str) -> float:
    """Disparity of a pair with these values: odds ratios are conditional estimates, over strata Mantel-Haenszel's."""
    if disparity != "odds_ratio":
        return float(disparity_of(first, second, disparity))
    counts = (pair.x1, pair.d1, pair.x2, pair.d2)
    if len(pair.x1) == 1 and conditional.Strata.of(*counts).within_cap(tilted=True):
        return odds_ratio.conditional_estimate(*counts)
    return odds_ratio.mantel_haenszel_odds_ratio(*counts, 0.0)[0]


def statistic(pair: Pair, scale: Scale, variance: str | None) -> tuple[Floats, Floats]:
    """Studentized difference and its standard error, for counts of shape (..., strata).

    "score": the Mantel-Haenszel difference of rates over its standard error under equality; "delta": the difference of
    values over its plug-in error; None: the difference alone.
    """
    if variance != "score":
        distance, error = linearized(pair, scale, "difference")
        if variance is None:
            return distance, np.ones_like(distance)
        return studentize(distance, error), error
    x1, d1, x2, d2 = (np.asarray(a, dtype=float) for a in (pair.x1, pair.d1, pair.x2, pair.d2))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        people = d1 + d2
        weights = _weights(pair, overall=False)
        used = weights > 0
        relative = 1.0 if pair.weights is None else weights * people / (d1 * d2)  # to Mantel and Haenszel's
        total = weights.sum(axis=-1)
        pooled = (x1 + x2) / people
        # Integers before the division: equal rates give exactly 0.
        distance = np.where(used, relative * (x1 * d2 - x2 * d1) / people, 0.0).sum(axis=-1) / total
        variance = weights * relative * pooled * (1 - pooled)
        if used.shape[-1] > 1:  # given the totals, as Mantel and Haenszel have it: strata may be of few people
            variance = variance * people / np.maximum(people - 1, 1)
        error = np.sqrt(np.where(used, variance, 0.0).sum(axis=-1)) / total
        # Sums over strata that ought to be 0 are not left as rounding errors.
        noise = 1e-14 * np.where(used, relative * (x1 * d2 + x2 * d1) / people, 0.0).sum(axis=-1) / total
    distance = np.where(np.abs(distance) <= noise, 0.0, distance)
    return studentize(distance, error), error


def linearized(pair: Pair, scale: Scale, disparity: str, smooth: float = 0.0) -> tuple[Floats, Floats]:
    """Disparity (the logarithm of a ratio) and its delta-method standard error, for counts of shape (..., strata)."""
    first, second = values(pair, scale)
    ratio = disparity == "ratio"
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        own, other, mix, s1, s2 = _slopes(pair, scale, smooth)
        if ratio:
            distance = np.log(first) - np.log(second)
            own, other = own / first[..., None], other / second[..., None]
            own, other = (np.where(np.isfinite(part), part, 0.0) for part in (own, other))
        else:
            distance = first - second
        distance = np.where((first == second) & ~(ratio & (first == 0)), 0.0, distance)
        distance = np.where(np.isnan(first), np.nan, distance)
        v1 = ((own - mix * other) ** 2 * s1).sum(axis=-1)
        v2 = (((1 - mix) * other) ** 2 * s2).sum(axis=-1)
        return distance, np.where(np.isnan(distance), np.nan, np.sqrt(v1 + v2))


def _slopes(pair: Pair, scale: Scale, smooth: float) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Derivatives of both values by their rates, the group's share of everyone, and the rates' variances."""
    x1, d1, x2, d2 = (np.asarray(a, dtype=float) for a in (pair.x1, pair.d1, pair.x2, pair.d2))
    used = (d1 > 0) & (d2 > 0)
    weights = _weights(pair, overall=pair.overall)
    share = weights / weights.sum(axis=-1, keepdims=True)
    r1, r2 = (x1 + smooth) / (d1 + 2 * smooth), (x2 + smooth) / (d2 + 2 * smooth)
    mix = d1 / (d1 + d2) if pair.overall else np.zeros_like(d1)
    own = share * scale.slope(r1)
    other = share * scale.slope(mix * r1 + (1 - mix) * r2)
    s1, s2 = (np.where(used, r * (1 - r) / d, 0.0) for r, d in ((r1, d1), (r2, d2)))
    return tuple(np.where(used, part, 0.0) for part in (own, other, mix, s1, s2))  # type: ignore[return-value]


def plug_in_moments(pair: Pair, scale: Scale) -> Moments:
    """Both values with their plug-in variances and covariance, for counts of shape (..., strata)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        own, other, mix, s1, s2 = _slopes(pair, scale, 0.0)
        first, second = values(pair, scale)
        return Moments(
            first,
            (own**2 * s1).sum(axis=-1),
            second,
            (other**2 * (mix**2 * s1 + (1 - mix) ** 2 * s2)).sum(axis=-1),
            (own * other * mix * s1).sum(axis=-1),
        )


def _rest_edge(edge: float, pair: Pair, disparity: str) -> float:
    """The edge against the rest that is equivalent to `edge` against everyone (one stratum)."""
    if not pair.overall:
        return edge
    share = pair.share
    if disparity == "difference":
        return float(np.clip(edge / (1 - share), -1 + 1e-9, 1 - 1e-9))
    return edge * (1 - share) / max(1 - edge * share, 1e-9)


def _unreachable(pair: Pair, disparity: str, edge: float, side: str) -> float | None:
    """Log p-value if a disparity to everyone cannot lie on both sides of the edge; otherwise None."""
    share = pair.share
    if disparity == "ratio":
        low, high = 0.0, 1 / share if share else np.inf
        seen = bool(pair.x2[0] == 0)
    else:
        low, high = -(1 - share), 1 - share
        top = side == "less"
        seen = bool(pair.x1[0] == (pair.d1[0] if top else 0) and pair.x2[0] == (0 if top else pair.d2[0]))
    if low < edge < high:
        return None
    end, beyond = (high, edge > high) if side == "less" else (low, edge < low)
    possible = seen if edge == end else not beyond
    return 0.0 if possible else float(np.log(margin.BERGER_BOOS))


def equalities(
    pairs: Sequence[Pair], alternative: str, advance: Callable[[], None] = lambda: None
) -> list[tuple[float, str]]:
    """Log p-values and labels of the exact tests that both rates are equal, in one stratum, all at once.

    `advance` is called after each pair.
    """
    x1, d1, x2, d2 = (np.concatenate([getattr(pair, n) for pair in pairs]) for n in ("x1", "d1", "x2", "d2"))
    whole = within_cap(d1, d2)
    log_p = np.empty(len(pairs))
    log_p[~whole] = conditional_log_p(x1[~whole], d1[~whole], x2[~whole], d2[~whole], alternative)
    for _ in range(int((~whole).sum())):
        advance()
    log_p[whole] = unconditional_log_p(x1[whole], d1[whole], x2[whole], d2[whole], alternative, advance)
    known = conditional.enumerated(d1, d2, x1 + x2)
    labels = np.where(whole, "exact unconditional", np.where(known, "exact conditional", "asymptotic"))
    return list(zip(log_p.tolist(), labels.tolist(), strict=True))


def score_log_p(x1: ArrayLike, d1: ArrayLike, x2: ArrayLike, d2: ArrayLike, question: Question) -> Floats:
    """Logarithms of p-values of score tests in one stratum; counts broadcast."""
    found = []
    for edge, side in question.tests:
        if question.margin_bounds is None:
            counts = np.stack(np.broadcast_arrays(x1, d1, x2, d2))
            z = statistic(Pair(*counts[..., None]), Scale(), "score")[0]
        else:
            z = score_at(x1, d1, x2, d2, edge, question.disparity)[0]
        found.append(log_ndtr(-np.abs(z)) + np.log(2) if side == "two-sided" else log_ndtr(z if side == "less" else -z))
    if question.alternative == "equivalence":
        return np.asarray(np.max(found, axis=0))
    return np.asarray(np.minimum(0.0, np.min(found, axis=0) + np.log(len(found))))


def _equality(pair: Pair, question: Question) -> tuple[float, str]:
    """Log p-value and label of the test that both rates are equal in every stratum."""
    alternative, method = question.alternative, question.method
    if method != "asymptotic":
        if len(pair.x1) == 1 and question.disparity == "odds_ratio":  # Fisher's test is that of its exact limits
            if conditional.enumerated(pair.d1, pair.d2, pair.x1 + pair.x2).all():
                counts = (int(pair.x1[0]), int(pair.d1[0]), int(pair.x2[0]), int(pair.d2[0]))
                return conditional_log_p(*counts, alternative), "exact conditional"
            refuse_to_enumerate(pair, question)
        elif len(pair.x1) > 1 and pair.weights is not None:
            found = conditional.weighted_log_p(pair.x1, pair.d1, pair.x2, pair.d2, pair.weights, alternative)
            if found is not None:
                return found, "exact conditional"
            refuse_to_enumerate(pair, question)
        elif len(pair.x1) > 1:
            if conditional.Strata.of(pair.x1, pair.d1, pair.x2, pair.d2).within_cap():
                log_p = conditional.stratified_log_p(pair.x1, pair.d1, pair.x2, pair.d2, alternative)
                return log_p, "exact conditional"
            refuse_to_enumerate(pair, question)
        else:
            log_p, label = equalities([pair], alternative)[0]
            if label == "asymptotic":
                refuse_to_enumerate(pair, question)
            return log_p, label
    z = float(statistic(pair, Scale(), "score")[0])
    return margin.normal_log_p(z, alternative), "asymptotic"


def refuse_to_enumerate(pair: Pair, question: Question) -> None:
    """Raise an error if the method is exact."""
    if question.method == "exact":
        raise ParameterError(
            "method='exact' cannot enumerate these counts of too many people "
            f"({int((pair.d1 + pair.d2).sum()):,}): use method='auto' or 'asymptotic'"
        )


def _test_edge(pair: Pair, scale: Scale, question: Question, edge: float, side: str) -> tuple[float, str, float, float]:
    """Log p-value, label, statistic and error of the one-sided test of an edge ("greater": H0 disparity <= edge)."""
    if question.disparity == "odds_ratio":
        return _test_odds_ratio(pair, question, edge, side)
    one_stratum = len(pair.x1) == 1 and scale.is_identity
    if one_stratum:
        counts = (int(pair.x1[0]), int(pair.d1[0]), int(pair.x2[0]), int(pair.d2[0]))
        rest_edge = _rest_edge(edge, pair, question.disparity)
        z, error = (float(v) for v in score_at(*counts, rest_edge, question.disparity))
        unreachable = _unreachable(pair, question.disparity, edge, side)
        if unreachable is not None:
            return unreachable, "exact unconditional", z, error
        if question.method != "asymptotic" and within_cap(counts[1], counts[3]):
            return margin.margin_log_p(*counts, rest_edge, side, question.disparity), "exact unconditional", z, error
        if question.method == "exact":
            raise ParameterError(
                f"method='exact' cannot enumerate a margin's test for {counts[1]:,} and {counts[3]:,} people: "
                "use method='auto' or 'asymptotic'"
            )
        return margin.normal_log_p(z, side), "asymptotic", z, error
    if question.method == "exact":
        what = "several strata" if len(pair.x1) > 1 else "a metric that is a function of a rate (F1)"
        raise ParameterError(
            f"method='exact' with a margin has no test for {what}: use method='auto' or 'asymptotic', or margin=None"
        )

    if len(pair.x1) > 1:
        distance, error = (float(v) for v in strata_form(pair, scale, question.disparity).at(edge))
        z = float(studentize(distance, error))
        return margin.normal_log_p(z, side), "asymptotic", z, error
    first, second = values(pair, scale)
    estimate = float(disparity_of(first, second, question.disparity))
    z = _signed_distance(pair, scale, question.disparity, estimate, edge)
    error = abs((estimate - edge) / z) if z else float("nan")
    return margin.normal_log_p(z, side), "asymptotic", z, error


def _test_odds_ratio(pair: Pair, question: Question, edge: float, side: str) -> tuple[float, str, float, float]:
    counts = (pair.x1, pair.d1, pair.x2, pair.d2)
    log_estimate, error = log_odds_ratio(pair)
    if question.method != "asymptotic":
        z = float(studentize(log_estimate - np.log(edge), error))
        if conditional.Strata.of(*counts).within_cap(tilted=True):
            return odds_ratio.edge_log_p(*counts, edge, side), "exact conditional", z, error
        refuse_to_enumerate(pair, question)
    z = odds_ratio.score_statistic(*counts, edge)
    return margin.normal_log_p(z, side), "asymptotic", z, error


def log_odds_ratio(pair: Pair) -> tuple[float, float]:
    """Log odds ratio (over strata Mantel and Haenszel's) and its standard error, at counts plus one half."""
    x1, d1, x2, d2 = pair.x1, pair.d1, pair.x2, pair.d2
    estimate, error = odds_ratio.mantel_haenszel_odds_ratio(x1, d1, x2, d2, 0.0)[:2]
    if not (0 < estimate < np.inf and error > 0):
        estimate, error = odds_ratio.mantel_haenszel_odds_ratio(x1 + 0.5, d1 + 1, x2 + 0.5, d2 + 1, 0.0)[:2]
    return float(np.log(estimate)), error


def _signed_distance(pair: Pair, scale: Scale, disparity: str, estimate: float, edge: float) -> float:
    """The z at which the interval's end touches the edge: the test that the interval inverts."""
    if estimate == edge:
        return 0.0
    towards = 0 if estimate > edge else 1

    def reached(z: float) -> bool:
        end = limits(pair, scale, disparity, z, z)[towards]
        return end <= edge if towards == 0 else end >= edge

    inside, outside = 0.0, 1.0
    while not reached(outside) and outside < 1e6:
        inside, outside = outside, 2 * outside
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if reached(middle) else (middle, outside)
    return inside if towards == 0 else -inside


def answer_known(
    pairs: Sequence[Pair], scale: Scale, question: Question, known: Sequence[tuple[float, str]]
) -> list[Answer]:
    """Answers from known log p-values of equality, for pairs with equally many strata."""
    z, error = statistic(Pair.stacked(pairs), scale, "score")
    shown = shown_error(pairs, question, error, scale)
    return [Answer(*own) for own in zip(*zip(*known, strict=True), z.tolist(), shown.tolist(), strict=True)]


def answer(pair: Pair, scale: Scale, question: Question) -> Answer:
    """Test one comparison, by enumeration or asymptotically; every stratum must be defined.

    With a margin, the two-sided p-value is twice the smaller one-sided one, for equivalence the larger; 1 if the ratio
    is undefined.
    """
    if question.margin_bounds is None:
        return answer_known([pair], scale, question, [_equality(pair, question)])[0]
    sides = [_test_edge(pair, scale, question, edge, side) for edge, side in question.tests]
    choose = max if question.alternative == "equivalence" else min
    log_p, label, z, error = choose(sides, key=lambda side: side[0])
    if pair.undefined(question.disparity).all():
        log_p = 0.0
    elif question.alternative == "two-sided":
        log_p = min(0.0, log_p + float(np.log(2)))
    return Answer(log_p, label, z, error)


def _rest_to_everyone(pair: Pair) -> Floats:
    """The factor from a difference to everyone else to one to everyone."""
    d1, d2 = pair.d1.astype(float), pair.d2.astype(float)
    return np.asarray((d1 * d2 / (d1 + d2)).sum(axis=-1) / d1.sum(axis=-1) if pair.overall else 1.0)


def shown_error(pairs: Sequence[Pair], question: Question, error: Floats, scale: Scale) -> Floats:
    """Standard errors under equality of the disparities shown, from those of the differences of rates."""
    if question.disparity == "odds_ratio":
        return np.array([log_odds_ratio(pair)[1] for pair in pairs])
    pair = Pair.stacked(pairs)
    pooled = np.asarray((pair.x1 + pair.x2).sum(axis=-1) / (pair.d1 + pair.d2).sum(axis=-1))
    error = error * (_rest_to_everyone(pair) * scale.slope(pooled))
    if question.disparity == "difference":
        return error
    value = scale.value(pooled)
    return np.divide(error, value, out=np.full_like(value, np.nan), where=value != 0)


def limits(pair: Pair, scale: Scale, disparity: str, z_low: float, z_high: float) -> tuple[float, float]:
    """Confidence limits of one comparison's disparity; see `limits_of_all`."""
    return limits_of_all([pair], [scale], disparity, z_low, z_high)[0]


def limits_of_all(
    pairs: Sequence[Pair], scales: Sequence[Scale], disparity: str, z_low: float, z_high: float, method: str = "auto"
) -> list[tuple[float, float]]:
    """Confidence limits of comparisons' disparities; `z_low` and `z_high` are normal quantiles (infinity: no limit)."""
    if disparity == "odds_ratio":
        return [_odds_ratio_limits(pair, z_low, z_high, method) for pair in pairs]
    ends = (0.0, np.inf) if disparity == "ratio" else (-1.0, 1.0)
    found = {z: _all_limits(pairs, scales, disparity, z) for z in {z_low, z_high} if not np.isinf(z)}
    return [
        (ends[0] if np.isinf(z_low) else found[z_low][i][0], ends[1] if np.isinf(z_high) else found[z_high][i][1])
        for i in range(len(pairs))
    ]


def _odds_ratio_limits(pair: Pair, z_low: float, z_high: float, method: str) -> tuple[float, float]:
    counts = (pair.x1, pair.d1, pair.x2, pair.d2)
    if method == "asymptotic":
        return odds_ratio.score_limits(*counts, z_low, z_high)
    found = odds_ratio.mantel_haenszel_odds_ratio(*counts, 1.0)
    few = conditional.Strata.of(*counts).within_cap(tilted=True)
    if few and (len(pair.x1) == 1 or not found[1] > 0):
        errors = float(ndtr(-z_low)), float(ndtr(-z_high))
        return odds_ratio.conditional_limits(*counts, *errors)
    center, error = np.log(found[0]), found[1]
    return float(np.exp(center - z_low * error)), float(np.exp(center + z_high * error))


def _all_limits(
    pairs: Sequence[Pair], scales: Sequence[Scale], disparity: str, z: float
) -> dict[int, tuple[float, float]]:
    """Invert the score tests of all single rates at once, others separately."""
    plain, out = [], {}
    for i, (pair, scale) in enumerate(zip(pairs, scales, strict=True)):
        if len(pair.x1) == 1 and scale.is_identity:
            plain.append(i)
        else:
            out[i] = _limits(pair, scale, disparity, z)
    if plain:
        x1, d1, x2, d2 = (np.concatenate([getattr(pairs[i], n) for i in plain]) for n in ("x1", "d1", "x2", "d2"))
        lows, highs = intervals.miettinen_nurminen(x1, d1, x2, d2, z, disparity)
        for i, low, high in zip(plain, lows.tolist(), highs.tolist(), strict=True):
            out[i] = _against_everyone(pairs[i], disparity, low, high) if pairs[i].overall else (low, high)
    return out


def _against_everyone(pair: Pair, disparity: str, low: float, high: float) -> tuple[float, float]:
    share = pair.share
    if disparity == "difference":
        return low * (1 - share), high * (1 - share)
    top = 1 / share if np.isinf(high) else high / (share * high + 1 - share)
    return low / (share * low + 1 - share), top


def _limits(pair: Pair, scale: Scale, disparity: str, z: float) -> tuple[float, float]:
    if len(pair.x1) > 1:
        bounds = (0.0, np.inf) if disparity == "ratio" else (-1.0, 1.0)
        return strata_form(pair, scale, disparity).limits((z, z), bounds)
    l1, u1 = (float(v[0]) for v in intervals.wilson(pair.x1, pair.d1, z))
    l2, u2 = (float(v[0]) for v in intervals.wilson(pair.x2, pair.d2, z))
    share = pair.share
    r1, r2 = float(pair.x1[0] / pair.d1[0]), float(pair.x2[0] / pair.d2[0])
    if disparity == "ratio":
        if pair.overall:
            estimate, error = (float(v) for v in linearized(pair, scale, disparity, smooth=0.5))
            if not np.isfinite(estimate):
                return 0.0, np.inf
            return float(np.exp(estimate - z * error)), float(np.exp(estimate + z * error))
        both = ((scale.value(np.asarray(a)), scale.value(np.asarray(b))) for a, b in ((r1, r2), (l1, l2), (u1, u2)))
        low_, high_ = intervals.mover_ratio(*both)
        return float(low_), float(high_)

    def difference(a: Floats, b: Floats) -> Floats:
        return scale.value(a) - scale.value(np.asarray(share * a + (1 - share) * b))

    low_, high_ = intervals.mover(difference, (r1, r2), (l1, l2), (u1, u2))
    return max(-1.0, float(low_)), min(1.0, float(high_))


def strata_form(pair: Pair, scale: Scale, disparity: str) -> EffectiveRates:
    """The score test of any disparity of rates averaged over strata, whose limits are the disparities not rejected.

    It is corrected for skewness and by a third of a person: enumerated sizes at 5% are at most .041, without up to
    .125.
    """
    own = _weights(pair, overall=pair.overall)
    each = [np.atleast_2d(a).astype(float) for a in (pair.x1, pair.d1, pair.x2, pair.d2, own)]
    counts, copies = np.unique(np.concatenate(each), axis=1, return_counts=True)  # like strata of all tables, once
    x1, d1, x2, d2, of_strata = np.split(counts, np.cumsum([len(a) for a in each[:-1]]))
    r1, r2 = ((x / d).reshape(*shape.shape[:-1], -1) for x, d, shape in ((x1, d1, pair.x1), (x2, d2, pair.x2)))
    d1, d2, weights = d1[0], d2[0], of_strata[0]
    nothing = np.zeros_like(d1)
    part = d1 / (d1 + d2) if pair.overall else nothing
    share, strata = weights / (copies * weights).sum(), copies.astype(float)
    return EffectiveRates(
        r1, r2, d1, d2, share, part, nothing, disparity,
        skewed=True, continuity=CONTINUITY, copies=strata, metric=scale,
    )  # fmt: skip


def quantiles(alternative: str, error: float) -> tuple[float, float]:
    """Normal quantiles of an interval's ends with total noncoverage `error`."""
    z = float(-ndtri(error if alternative in ("greater", "less") else error / 2))
    return (np.inf if alternative == "less" else z), (np.inf if alternative == "greater" else z)
