"""Sensitivity of tests of rates to missing groups (`skfairtest.inference.unknown`) and unmeasured confounders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Self

import numpy as np

from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError, brief
from skfairtest.comparisons.contrasts import BEST
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.measure import is_counted
from skfairtest.comparisons.rates import RateNull
from skfairtest.comparisons.unknown import Unassigned, disparity_ends, with_p_values
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rates import answer, pair_disparity
from skfairtest.inference.unknown import PValueBounds, p_value_bounds
from skfairtest.metrics import Rate
from skfairtest.sensitivity.analysis import Possible, Sensitivity, analysed


@dataclass(frozen=True)
class Counted:
    """A fitted test's counts for a sensitivity analysis; `refused`: the reason for no result."""

    result: Result | None
    refused: str = ""
    unassigned: Unassigned | None = None

    @classmethod
    def of(cls, result: Result) -> Self:
        """Take the counts of a result."""
        settings, sample = result.settings, result.sample
        assert sample is not None
        refused = {f"metric={metric.name!r}": not isinstance(metric, Rate) for metric in result.metrics} | {
            "people with sample_weight or in clusters, or variance='bootstrap' or 'jackknife'": not is_counted(
                sample, settings
            ),
            f"method={settings.question.method!r}": settings.question.method not in ("auto", "exact", "asymptotic"),
            "people whose labels or groups are not all known": result.table is None,
            f"compare={settings.compare!r}": settings.compare in ("to_overall", *BEST),
            "strata_weights": settings.strata_weights is not None,
        }
        reason = next((what for what, bad in refused.items() if bad), "")
        if reason:
            return cls(None, reason)
        unassigned = None
        if sample.n_unknown and not sample.named and not sample.control_names:
            unassigned = Unassigned.of(result, sample)
        # Without people.
        light = replace(result, sample=None, metrics=(), by_metric={}, design=None, table=None)
        return cls(light, "", unassigned)


def sensitivity_of(counted: Counted, to: str, at: Any) -> Sensitivity:
    """Analyse how far a test's verdict depends on an assumption."""
    check_choice("to", to, ("missing_groups", "confounding"))
    if counted.result is None:
        raise ParameterError(
            f"to={brief(to)} is for rates of unweighted people without clusters, whose p-values are enumerated or "
            f"asymptotic, and not for {counted.refused}"
        )
    if to == "confounding":
        return _confounding(counted.result, at)
    return _missing_groups(counted.unassigned, counted.result, at)


def _missing_groups(unassigned: Unassigned | None, base: Result, at: Any) -> Sensitivity:
    if unassigned is None:
        raise ParameterError(
            "to='missing_groups' needs people whose sensitive feature is missing: fit the test with "
            "missing='exclude' or 'bounds', without control_features; found none"
        )
    tested = base.tested

    @cache
    def bounds(place: int, amount: float, *, exactly: bool = True) -> Possible:
        one = tested[place]
        null = one.null
        assert isinstance(null, RateNull)
        unknown = unassigned.subsets(one, int(amount * unassigned.n + 1e-9), exactly=exactly)
        found = p_value_bounds(null.pair, unknown, null.scale, null.question)
        return found, disparity_ends(null.pair, unknown, null.scale, null.question.disparity)

    if base.settings.missing == "bounds":  # what would be found without them
        unchanged = [bounds(place, 0.0)[0].high for place in range(len(base.tested))]
        base = with_p_values(replace(base, further=0), unchanged)
    # With more people fewer assignments may turn a verdict: what survives does so with every smaller number.
    amounts = np.arange(unassigned.n + 1) / unassigned.n
    return analysed(
        base, "missing_groups", at, bounds, amounts, up_to=partial(bounds, exactly=False),
        further=lambda amount: unassigned.further(int(amount * unassigned.n + 1e-9)),
    )  # fmt: skip


def _confounding(base: Result, at: Any) -> Sensitivity:
    """Rosenbaum's bounds: the tests that all strata have the odds ratio gamma, and 1 / gamma."""
    question = replace(base.settings.question, disparity="odds_ratio", method="auto")
    if question.margin_bounds is not None:
        raise ParameterError("margin: to='confounding' bounds the test of equality: use margin=None")

    def bounds(place: int, amount: float) -> Possible:
        one = base.tested[place]
        null = one.null
        assert isinstance(null, RateNull)
        ratio = pair_disparity(null.pair, np.zeros(0), np.zeros(0), "odds_ratio")  # which needs no values
        known = one.in_family
        if amount == 1:
            return PValueBounds(known.log_p, known.log_p, known.method, None, attained=True), (ratio, ratio)
        # Against the observed direction the bias hides, along it it makes the disparity.
        worst, best = (
            answer(null.pair, Scale(), replace(question, margin_bounds=odds))
            for odds in ((1 / amount, amount), (amount, 1 / amount))
        )
        low, high = min(best.log_p, known.log_p), max(worst.log_p, known.log_p)
        return PValueBounds(low, high, worst.method, None, attained=True), (ratio / amount, ratio * amount)

    return analysed(base, "confounding", at, bounds, np.geomspace(1, 100, 1000))
