"""From comparisons to findings: adjustment for the whole family of hypotheses, intervals, and the verdict.

Several tables (a model's predictions by race, by sex, and by both) can be one family.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from skfairtest._utils.errors import NothingDefined
from skfairtest._utils.typing import Booleans, Floats
from skfairtest.comparisons.contrasts import BEST, against_best
from skfairtest.comparisons.core import RESAMPLED, Comparison, Finding, Measured, Result, Verdict
from skfairtest.comparisons.settings import Settings
from skfairtest.inference import multiplicity
from skfairtest.inference.resampling import p_value_limits

#: The smallest p-value a float can hold: what an enumerated distribution says when its logarithm is below that.
SMALLEST = float(np.nextafter(0.0, 1.0))


def p_of(log_p: float) -> float:
    """P-value from its logarithm; one too small for a float becomes the smallest positive float, never 0."""
    return p_values_of([log_p])[0]


def p_values_of(log_p: Iterable[float]) -> list[float]:
    """P-values from their logarithms."""
    # The logarithm has made a rounding error, which must not decide at a level.
    return [max(float(f"{p:.15g}"), SMALLEST) for p in np.exp(list(log_p)).tolist()]


def at_most(log_p: float, level: float) -> bool:
    """Whether a p-value is at most a level; rounding does not decide between equal ones."""
    return bool(log_p <= np.log(level) + 1e-12)


def decide(measured: Sequence[Measured], settings: Settings, *, together: bool = False) -> list[Result]:
    """Adjust the comparisons of one or several tables as one family, and set their intervals and the verdict.

    With control features, the pooled comparisons are the family that sets the global p-value and the strata's are a
    second family, unless `together` makes all of them one. A hypothesis counts once in its family, however many
    comparisons test it.
    """
    comparisons = [comparison.in_family for part in measured for comparison in part.comparisons]
    deciding = [together or comparison.estimate.is_pooled for comparison in comparisons]
    if not any(deciding):
        reasons = sorted({e.reason for part in measured for e in part.excluded})
        raise NothingDefined(f"no comparison is defined: {'; '.join(reasons)}")
    # The p-values of one adjusted family; the strata's are adjusted among themselves.
    families = [
        _by_hypothesis(comparisons, np.flatnonzero(np.equal(deciding, which)).tolist()) for which in (True, False)
    ]
    hypotheses = [[comparisons[same[0]].estimate.hypothesis for same in tested] for tested in families]
    further = sum(part.further for part in measured)
    if settings.adjust == "shaffer" and (further or not any(map(multiplicity.are_tied, hypotheses))):
        settings = replace(settings, adjust="holm")
    found: dict[int, Finding] = {}
    for tested in families:
        if tested:
            found |= _findings(comparisons, tested, settings, further)
    starts = np.cumsum([0, *(len(part.comparisons) for part in measured)]).tolist()
    shown: dict[int, Finding] = {}
    for part, (start, stop) in zip(measured, pairwise(starts), strict=True):
        of_one = {place: found[place] for place in range(start, stop)}
        shown |= against_best(of_one, part.settings.compare) if part.settings.compare in BEST else of_one
    leading, verdict = _verdict(
        [[found[place] for place in same] for same in families[0]],
        np.array([any(place in shown for place in same) for same in families[0]]),
        settings,
        further,
        together=together,
    )
    if settings.question.alternative == "equivalence":
        # A certificate for all pairs is one for each; short of it, pairs are certified one by one.
        for place, one in shown.items():
            uncertified = not at_most(one.log_p_adjusted, settings.alpha)
            concern = uncertified and (verdict.concern or not one.estimate.is_pooled)
            shown[place] = replace(one, concern=concern)
    places = [[place for place in range(start, stop) if place in shown] for start, stop in pairwise(starts)]
    place = next(place for place in families[0][leading] if place in shown)
    number = int(np.searchsorted(starts, place, side="right")) - 1
    verdict = replace(verdict, leading=(number, places[number].index(place)))
    return [
        Result(part, tuple(shown[place] for place in own), verdict) for part, own in zip(measured, places, strict=True)
    ]


def _by_hypothesis(comparisons: Sequence[Comparison], places: Iterable[int]) -> list[list[int]]:
    """Put comparisons with the same hypothesis together, in the order of the first ones."""
    listed = list(places)
    return [
        [listed[i] for i in same]
        for same in multiplicity.distinct([comparisons[p].estimate.hypothesis for p in listed])
    ]


def _log_p(tested: Iterable[Sequence[Comparison]], further: int = 0) -> Floats:
    """Return the p-value of each hypothesis, whose comparisons differ by what was drawn for them at most.

    P-values of `further` hypotheses follow, which are 1.
    """
    return np.array([max(comparison.evidence.log_p for comparison in same) for same in tested] + [0.0] * further)


def _findings(
    comparisons: Sequence[Comparison],
    tested: list[list[int]],
    settings: Settings,
    further: int,
) -> dict[int, Finding]:
    """Adjust a family of hypotheses, each the places of comparisons that test it."""
    alpha = settings.alpha
    firsts = [comparisons[same[0]] for same in tested]
    log_p = _log_p(([comparisons[place] for place in same] for same in tested), further)
    if settings.adjust == "shaffer":
        adjusted = multiplicity.shaffer(log_p, [first.estimate.hypothesis for first in firsts])
    else:
        adjusted = multiplicity.ADJUSTMENTS[settings.adjust](log_p)
    error = alpha / len(log_p) if settings.adjust in multiplicity.FAMILYWISE else alpha
    places = [(place, value) for same, value in zip(tested, adjusted.tolist(), strict=False) for place in same]
    family = [comparisons[place] for place, _ in places]
    out = {}
    for (place, value), one, (low, high) in zip(places, family, _intervals(family, error), strict=True):
        concern, bounds = at_most(value, alpha), one.estimate.bounds
        # Pointwise intervals belong to p-values that are not adjusted.
        rejected = concern if settings.adjust in multiplicity.FAMILYWISE else at_most(one.evidence.log_p, alpha)
        interval = (
            bounds
            if one.estimate.undefined
            else one.null.question.consistent_limits((low, high), one.estimate.disparity, bounds, rejected=rejected)
        )
        out[place] = Finding(one.estimate, one.null, one.evidence, value, interval, concern, error)
    return out


def _intervals(family: Sequence[Comparison], error: float) -> list[tuple[float, float]]:
    """Return confidence limits at an error; NaN where the disparity has none."""
    out: list[tuple[float, float]] = [(np.nan, np.nan)] * len(family)
    known = [one.has_samples and not one.null.alike for one in family]
    for kind in dict.fromkeys(type(one.null) for one in family):
        places = [place for place, one in enumerate(family) if type(one.null) is kind and not known[place]]
        of_kind = [family[place] for place in places]
        values = [one.null.critical_values(one.evidence, error) for one in of_kind]
        bounds = [one.estimate.bounds for one in of_kind]
        for place, limits in zip(
            places, kind.limits_of_all([one.null for one in of_kind], values, bounds), strict=True
        ):
            out[place] = limits
    for place, one in enumerate(family):
        if one.has_samples:
            low, high = _sample_limits(one, one.null.question.alternative, error)
            out[place] = (low, high) if known[place] else (min(low, out[place][0]), max(high, out[place][1]))
    return out


def _sample_limits(comparison: Comparison, alternative: str, error: float) -> tuple[float, float]:
    """Return the disparities that the bootstrap test of this alternative does not reject."""
    samples, question = comparison.null.samples, comparison.null.question
    assert samples is not None
    if alternative == "equivalence" or (alternative == "two-sided" and question.margin_bounds is not None):
        sides = (("greater", error / 2), ("less", error / 2))  # two one-sided tests at a margin
    elif alternative == "two-sided":
        sides = (("two-sided", error), ("two-sided", error))
    else:
        one = (alternative, error)
        sides = (one, None) if alternative == "greater" else (None, one)  # type: ignore[assignment]
    return samples.limits(sides, comparison.estimate.bounds)


def equivalence_interval(finding: Finding, settings: Settings) -> tuple[float, float]:
    """Return the interval at level 1 - 2 alpha that two one-sided tests at alpha invert."""
    critical = finding.null.critical_values(finding.evidence, 2 * settings.alpha)
    estimate = finding.estimate
    low, high = finding.null.limits(critical, estimate.bounds)
    if finding.has_samples:
        of_samples = _sample_limits(finding, "equivalence", 2 * settings.alpha)
        low, high = (min(low, of_samples[0]), max(high, of_samples[1])) if finding.null.alike else of_samples
    question, certified = finding.null.question, at_most(finding.evidence.log_p, settings.alpha)
    if certified and question.margin_bounds is not None:
        low, high = max(low, question.margin_bounds[0]), min(high, question.margin_bounds[1])
    return question.consistent_limits((low, high), estimate.disparity, estimate.bounds, rejected=certified)


def _monte_carlo_limits(leading: int, main: Sequence[Comparison], settings: Settings) -> tuple[float, float] | None:
    """Limits of the global p-value with infinitely many resamples; None where no single count decides."""
    evidence = main[leading].evidence
    counts, times, others = (evidence.n_extreme, evidence.n_defined), evidence.n_tails, 1
    if settings.question.alternative != "equivalence":
        times, others = times * len(main), len(main)
    if counts[0] is None:
        return None
    low, high = p_value_limits(counts[0], counts[1])
    least = p_of(evidence.least_log_p + np.log(others)) if np.isfinite(evidence.least_log_p) else 0.0
    return min(1.0, max(times * low, least)), min(1.0, max(times * high, least))


def _leading(main: Sequence[Comparison], tied: np.ndarray, *, worst: bool) -> int:
    """Return the place of what sets the global p-value: among ties its own p-value, then the largest statistic."""
    log_p = np.where(tied, [one.evidence.log_p for one in main], np.nan)
    own = np.nanmax(log_p) if worst else np.nanmin(log_p)
    statistics = np.abs([one.evidence.statistic for one in main])
    sizes = np.where(np.isnan(statistics), -1.0, statistics)
    # Rounding must not decide between comparisons that say the same.
    return int(np.argmax(np.where(np.abs(log_p - own) <= 1e-9 * max(1.0, abs(own)), sizes, -2.0)))


def _verdict(
    tested: list[list[Finding]],
    shown: Booleans,
    settings: Settings,
    further: int,
    *,
    together: bool,
) -> tuple[int, Verdict]:
    """Return the hypothesis with the strongest evidence, among those that are shown, and the verdict."""
    equivalence = settings.question.alternative == "equivalence"
    log_p, main = _log_p(tested, further), [same[0] for same in tested]
    # One test has one answer, whatever its comparisons are adjusted by; an audit has findings, and is about these.
    own = together or settings.adjust in multiplicity.FAMILYWISE
    if equivalence:
        deciding, target = log_p[: len(main)], log_p.max()
    else:
        adjusted = np.array([one.log_p_adjusted for one in main]) if own else multiplicity.holm(log_p)[: len(main)]
        deciding = np.where(shown, adjusted, np.inf)
        target = deciding.min()
    with np.errstate(invalid="ignore"):
        nearest = deciding.max() if equivalence else target
        tied = (deciding == nearest) | (np.abs(deciding - nearest) <= 1e-9 * max(1.0, abs(nearest)))
    leading = _leading(main, tied, worst=equivalence)
    p, rejected = p_of(float(target)), at_most(float(target), settings.alpha)
    drew = any(one.evidence.draws is not None for one in main)
    resampled = any(one.evidence.method in RESAMPLED for one in main)
    limits = (_monte_carlo_limits(leading, main, settings) if drew else None) or (p, p)
    drawn = (one.evidence.n_defined + one.evidence.n_undefined for one in main if one.evidence.n_extreme is not None)
    n_resamples = max(drawn, default=0) if resampled or drew else 0
    return leading, Verdict(
        log_p=float(target),
        limits=(min(p, limits[0]), max(p, limits[1])),
        rejected=rejected,
        concern=rejected is not equivalence,
        n_resamples=n_resamples,
        adjust=settings.adjust,
        n_hypotheses=len(log_p),
        level=_level_of_one(settings, len(log_p), own=own),
    )


def _level_of_one(settings: Settings, n_hypotheses: int, *, own: bool) -> float:
    """Return the level that an adjustment leaves the smallest p-value; a test's `own` may be Holm's."""
    if settings.question.alternative == "equivalence" or (own and settings.adjust is None):
        return settings.alpha
    return settings.alpha / n_hypotheses
