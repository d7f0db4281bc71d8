"""Rates in groups that are known by their probabilities: score tests, and outcomes drawn with the rates they test."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.comparisons import core
from skfairtest.comparisons.contrasts import Design, disparity_bounds, groups_of
from skfairtest.comparisons.measure import measure_metric
from skfairtest.comparisons.outcomes import measure_of
from skfairtest.comparisons.rates import group_values, scale_of
from skfairtest.inference.rate_draws import pair_of
from skfairtest.inference.rates import disparity_of, values
from skfairtest.inference.resampling import TOLERANCE, monte_carlo_p, upper_quantile
from skfairtest.metrics import Metric, Rate
from skfairtest.tables import UncertainSample
from skfairtest.uncertain_groups.statistics import (
    UncertainRates,
    effective_people,
    expected_table,
    rows_of,
    uncertain_rates,
)

#: What each estimate assumes beside probabilities that are right on average, for results and reports.
ASSUMPTIONS = {
    "weighted": "among people with the same probabilities, outcome and group are independent",
    "thresholded": "everyone belongs to the group with the largest probability",
    "likelihood": "within each group, the outcome is independent of what the probabilities were made from",
}

#: How often a limit is refined.
REFINED = 4


@dataclass(frozen=True)
class UncertainNull(core.NullDistribution):
    """The statistics of outcomes that are drawn with the most likely rates at a disparity."""

    rates: UncertainRates
    drawn: dict[float, Floats]
    value: float
    effective: int
    seed: np.random.SeedSequence

    def error(self) -> float:
        """Return the standard error if both values are equal, of a ratio's logarithm."""
        error = float(self.rates.at(self.question.null)[1])
        if self.question.disparity == "difference":
            return error
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.divide(error, self.rates.values.mean()))

    def n_effective(self, row: core.Comparison) -> int:
        """Return the effective number of people of the group who meet the condition."""
        return self.effective

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the disparities that are not rejected at the levels of normal quantiles, and the estimate."""
        question, found = self.question, []
        two_sided = question.alternative == "two-sided" and question.margin_bounds is None
        for side, (z, end) in enumerate(zip(critical, bounds, strict=True)):
            if np.isinf(z):
                found.append(end)
                continue
            alternative = "two-sided" if two_sided else ("greater", "less")[side]
            level = float(ndtr(-z)) * (2 if two_sided else 1)
            start, stop, drawn = self._way(side, end, alternative, level)
            near = self.rates.limit(z, start, stop)
            for step in range(REFINED):
                if np.isinf(near) or (step and near in drawn):
                    break
                if near not in drawn:  # else it is the end of the way, which draws reject and the normal quantile not
                    n_resamples = len(next(iter(self.drawn.values())))
                    drawn[near] = self.rates.draws(near, n_resamples, np.random.default_rng(self.seed))
                near = self.rates.limit(self._critical(drawn, alternative, level), start, stop)
            found.append(near)
        return min(found[0], self.value), max(found[1], self.value)

    def _way(self, side: int, end: float, alternative: str, level: float) -> tuple[float, float, dict[float, Floats]]:
        """Return where a limit is sought: from what is not rejected to what is, with the draws there, or to the end."""
        start, sign = self.question.null if np.isnan(self.value) else self.value, 2 * side - 1
        for edge in sorted((edge for edge in self.drawn if sign * (edge - start) > 0), key=lambda edge: sign * edge):
            known = {edge: self.drawn[edge]}
            size = abs(self.rates.statistic(edge)) if alternative == "two-sided" else -sign * self.rates.statistic(edge)
            if size > self._critical(known, alternative, level)(edge):
                return start, edge, known
            start = edge
        return start, end, {}

    def _critical(self, drawn: dict[float, Floats], alternative: str, level: float) -> Callable[[Any], Floats]:
        """Return critical values as a function of the disparity; slightly larger, so that ties are not rejected."""
        scale = np.arctan if self.question.disparity == "ratio" else np.asarray
        edges = sorted(drawn)
        most = [(1 + 10 * TOLERANCE) * upper_quantile(drawn[edge], alternative, level) for edge in edges]
        return lambda edge: np.interp(scale(edge), scale(np.array(edges)), most)


@dataclass(frozen=True)
class UncertainRate(Rate):
    """A rate in groups that are known by their probabilities, with the parameters of `UncertainGroupsTest`."""

    estimate: str = "weighted"
    n_reference: float | None = None


def uncertain_rate(metric: Metric, estimate: str, n_reference: float | None) -> UncertainRate:
    """The same rate in uncertain groups."""
    if not isinstance(metric, Rate):
        raise ParameterError(f"metric={metric.name!r} is not a rate, and groups with probabilities have tests of rates")
    return UncertainRate(
        **{field.name: getattr(metric, field.name) for field in fields(Rate)},
        estimate=estimate,
        n_reference=n_reference,
    )


@measure_metric.register(UncertainRate)
def _(rate: UncertainRate, design: Design, kinds: Any, known: Any, seed: np.random.SeedSequence) -> core.Measured:
    sample = design.sample
    assert isinstance(sample, UncertainSample)
    assert sample.probabilities is not None
    event, given = measure_of(design, rate).rows.T
    rows = rows_of(np.where(event, 0, np.where(given, 1, 2)), sample.probabilities.values)
    scale, question, sizes = scale_of(rate), design.question(rate), sample.sizes[0]
    table = expected_table(rows, rate.estimate)
    effective = effective_people(rows, table, rate.estimate)
    events, denominators = table[None, :, 0], table[None, :, :2].sum(axis=2)
    comparisons, excluded = [], []
    for contrast, other in design.contrasts:
        group, n_effective = design.group(contrast), round(effective[contrast.first])
        first, second = (float(v) for v in values(pair_of(events, denominators, contrast), scale))  # type: ignore[arg-type]  # no whole numbers
        disparity = float(disparity_of(np.asarray(first), np.asarray(second), question.disparity))
        own, rest = groups_of(len(sizes), contrast)
        others = rest | (contrast.overall & own)
        undefined = "both values are 0" if first == second == 0 and np.isnan(disparity) else ""
        reason, compared = "undefined: no one is expected to meet the condition", None
        if not np.isnan(disparity) or undefined:
            reason = f"not identified: the probabilities do not tell {group!r} and {other!r} apart"
            compared = uncertain_rates(
                rows, table, np.stack([own, others]), estimate=rate.estimate, scale=scale,
                disparity=question.disparity, n_reference=rate.n_reference,
            )  # fmt: skip
        if compared is None:
            excluded.append(design.left_out(rate.name, contrast, other, reason, n_effective))
            continue
        edges = dict.fromkeys(edge for edge, _ in question.tests)
        # The same seed: outcomes of the same people are drawn for every comparison and every disparity.
        drawn = {e: compared.draws(e, design.settings.n_resamples, np.random.default_rng(seed)) for e in edges}
        null = UncertainNull(question, compared, drawn, disparity, n_effective, seed)
        what = design.what_is_equal(rate, question, scored=False)
        comparisons.append(design.comparison(
            rate.name, contrast, other, (first, second), disparity, null,
            bounds=disparity_bounds((0.0, 1.0), question.disparity),
            hypothesis=design.hypothesis(question, contrast, what, []), undefined=undefined, **_evidence(null),
        ))  # fmt: skip
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = events / denominators
    shown = group_values(effective * shares, effective[None], scale, design.settings, "score")
    whole = replace(shown, n_effective=np.rint(shown.n_effective).astype(np.int64))
    return comparisons, excluded, whole


def _evidence(null: UncertainNull) -> dict[str, Any]:
    """Count draws at equality, or at the margin."""
    question, found = null.question, []
    for edge, side in question.tests:
        statistic = null.rates.statistic(edge)
        found.append((*monte_carlo_p(null.drawn[edge], statistic, side), statistic, edge, side))
    choose = max if question.alternative == "equivalence" else min
    p, n_extreme, n_defined, statistic, edge, side = choose(found, key=lambda test: test[0])
    tails = 2 if len(found) == 2 and question.alternative == "two-sided" else 1
    draws = null.drawn[edge]
    return {
        "log_p": min(0.0, float(np.log(tails * p))), "method": "parametric bootstrap", "statistic": statistic,
        "standard_error": float(null.rates.at(edge)[1]), "draws": draws, "n_extreme": n_extreme,
        "n_defined": n_defined, "n_undefined": len(draws) - n_defined, "n_tails": tails,
    }  # fmt: skip
