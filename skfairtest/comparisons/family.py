"""One family of comparisons, perhaps of several tables: adjustment, intervals and the verdict."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import islice, product

import numpy as np

from skfairtest._utils.errors import NothingDefined
from skfairtest._utils.typing import Booleans, Floats
from skfairtest.comparisons.contrasts import BEST, GIVEN_TOGETHER, against_best
from skfairtest.comparisons.core import RESAMPLED, Comparison, Result, Verdict
from skfairtest.comparisons.settings import Settings
from skfairtest.inference import multiplicity
from skfairtest.inference.resampling import p_value_limits
from skfairtest.metrics import Rate

#: The smallest p-value a float can hold: what an enumerated distribution says when its logarithm is below that.
SMALLEST = float(np.nextafter(0.0, 1.0))


def p_of(log_p: float) -> float:
    """P-value from its logarithm, at least the smallest positive float."""
    return p_values_of([log_p])[0]


def p_values_of(log_p: Iterable[float]) -> list[float]:
    """P-values from their logarithms."""
    # The logarithm has made a rounding error, which must not decide at a level.
    return [max(float(f"{p:.15g}"), SMALLEST) for p in np.exp(list(log_p)).tolist()]


def at_most(log_p: float, level: float) -> bool:
    """Whether a p-value is at most a level, up to rounding."""
    return bool(log_p <= np.log(level) + 1e-12)


def decide(results: Sequence[Result], settings: Settings, *, together: bool = False) -> list[Result]:
    """Adjust the comparisons of one or several tables as one family, and set their intervals and the verdict.

    With control features the pooled comparisons set the global p-value and the strata's are a second family, unless
    `together`. Each hypothesis counts once, however many comparisons test it.
    """
    rows = [one.in_family for result in results for one in result.tested]
    deciding = np.array([together or one.is_pooled for one in rows], dtype=bool)
    if not deciding.any():
        reasons = sorted({e.reason for result in results for e in result.excluded})
        raise NothingDefined(f"no comparison is defined: {'; '.join(reasons)}")
    # The p-values of one adjusted family; the strata's are adjusted among themselves.
    families = [_by_hypothesis(rows, np.flatnonzero(deciding == which).tolist()) for which in (True, False)]
    further = sum(result.further for result in results)
    pooled_rule, rule = (_rule([rows[same[0]] for same in tested], settings, further, results) for tested in families)
    _adjust(rows, families[1], replace(settings, adjust=rule), further)
    settings = replace(settings, adjust=pooled_rule)
    _adjust(rows, families[0], settings, further)
    shown: list[dict[int, Comparison]] = []
    numbered = enumerate(rows)
    for result in results:
        own = dict(islice(numbered, len(result.tested)))
        best = result.settings.compare in BEST
        shown.append(dict(sorted(against_best(own, result.settings.compare).items())) if best else own)
    grouping = {place: number for number, own in enumerate(shown) for place in own}
    leading, verdict = _verdict(
        [[rows[place] for place in same] for same in families[0]],
        np.array([not grouping.keys().isdisjoint(same) for same in families[0]]),
        settings,
        further,
        together=together,
    )
    if settings.question.alternative == "equivalence":
        # A certificate for all pairs is one for each; short of it, pairs are certified one by one.
        for place, number in grouping.items():
            one = shown[number][place]
            uncertified = not at_most(one.log_p_adjusted, settings.alpha)
            shown[number][place] = one.updated(concern=uncertified and (verdict.concern or not one.is_pooled))
    place = next(place for place in families[0][leading] if place in grouping)
    verdict = replace(verdict, leading=(grouping[place], list(shown[grouping[place]]).index(place)))
    return [
        replace(result, comparisons=tuple(own.values()), verdict=verdict)
        for result, own in zip(results, shown, strict=True)
    ]


def _by_hypothesis(rows: Sequence[Comparison], places: Sequence[int]) -> list[list[int]]:
    return [[places[i] for i in same] for same in multiplicity.distinct([rows[place].hypothesis for place in places])]


def _log_p(tested: Iterable[Sequence[Comparison]], further: int = 0) -> Floats:
    """The log p-value of each hypothesis; `further` ones follow with a p-value of 1."""
    return np.array([max(one.log_p for one in same) for same in tested] + [0.0] * further)


def _rule(family: Sequence[Comparison], settings: Settings, further: int, results: Sequence[Result]) -> str | None:
    """The adjustment that is run; "shaffer" stands for the automatic one."""
    if settings.adjust not in ("shaffer", "discrete_holm"):
        return settings.adjust
    exact = not further and len(family) <= multiplicity.MOST_DISCRETE and _any_exact(family)
    if exact and (settings.adjust == "discrete_holm" or _many_exact(results, {one.is_pooled for one in family})):
        return "discrete_holm"
    return "shaffer" if not further and multiplicity.are_tied([one.hypothesis for one in family]) else "holm"


def _any_exact(rows: Iterable[Comparison]) -> bool:
    return any(one.null.attainable() is not None for one in rows)


def _many_exact(results: Sequence[Result], pooled: set[bool]) -> bool:
    """Whether a family has many exactly tested hypotheses, undefined ones included: outcomes do not change it.

    Their margins have to be given at once: pairs that share a group have margins that tell where the events are.
    """
    equal: set[Hashable] = set()
    for result in results:
        design = result.design
        if design is None or not _any_exact(result.tested):
            continue
        if len(design.contrasts) > 1 and result.settings.compare not in GIVEN_TOGETHER:
            return False
        for rate, (contrast, _), place in product(result.metrics, design.contrasts, design.places):
            averaged = place is None and len(design.sample.strata) > 1
            if isinstance(rate, Rate) and (place is None) in pooled and not averaged:
                question = design.question(rate)
                what, where = design.what_is_equal(rate, question, scored=True), replace(contrast, stratum=place)
                equal.add(design.hypothesis(question, where, what, [place or 0])[0] or object())
    return len(equal) >= multiplicity.DISCRETE_FROM


def _discrete(family: Sequence[Comparison], log_p: Floats) -> Floats:
    """Adjust by discrete Holm: exact tests by Fisher's p-values, others by their own."""
    exact = [one.null.attainable() or (own, np.zeros(0)) for one, own in zip(family, log_p.tolist(), strict=True)]
    used = np.array([0.0 if one.undefined else own for one, (own, _) in zip(family, exact, strict=True)])
    return multiplicity.discrete_holm(used, [values for _, values in exact], [one.hypothesis for one in family])


def _adjust(rows: list[Comparison], tested: list[list[int]], settings: Settings, further: int) -> None:
    """Adjust a family of hypotheses, each the places of comparisons that test it."""
    if not tested:
        return
    alpha, familywise = settings.alpha, settings.adjust in multiplicity.FAMILYWISE
    log_p = _log_p(([rows[place] for place in same] for same in tested), further)
    if settings.adjust == "shaffer":
        adjusted = multiplicity.shaffer(log_p, [rows[same[0]].hypothesis for same in tested])
    elif settings.adjust == "discrete_holm":
        adjusted = _discrete([rows[same[0]] for same in tested], log_p)
    else:
        adjusted = multiplicity.ADJUSTMENTS[settings.adjust](log_p)
    error = alpha / len(log_p) if familywise else alpha
    places = [(place, value) for same, value in zip(tested, adjusted.tolist(), strict=False) for place in same]
    intervals = _intervals([rows[place] for place, _ in places], error)
    for (place, value), limits in zip(places, intervals, strict=True):
        one, concern = rows[place], at_most(value, alpha)
        # Pointwise intervals belong to p-values that are not adjusted.
        rejected = concern if familywise else at_most(one.log_p, alpha)
        interval = (
            one.bounds
            if one.undefined
            else one.null.question.consistent_limits(limits, one.disparity, one.bounds, rejected=rejected)
        )
        rows[place] = one.updated(log_p_adjusted=value, interval=interval, concern=concern, error=error)


def _intervals(family: Sequence[Comparison], error: float) -> list[tuple[float, float]]:
    """Return confidence limits at an error; NaN where the disparity has none."""
    out: list[tuple[float, float]] = [(np.nan, np.nan)] * len(family)
    known = [one.has_samples and not one.null.alike for one in family]
    for kind in dict.fromkeys(type(one.null) for one in family):
        places = [place for place, one in enumerate(family) if type(one.null) is kind and not known[place]]
        of_kind = [family[place] for place in places]
        values = [one.null.critical_values(one, error) for one in of_kind]
        limits = kind.limits_of_all([one.null for one in of_kind], values, [one.bounds for one in of_kind])
        for place, of_one in zip(places, limits, strict=True):
            out[place] = of_one
    for place, one in enumerate(family):
        if one.has_samples:
            low, high = _sample_limits(one, one.null.question.alternative, error)
            out[place] = (low, high) if known[place] else (min(low, out[place][0]), max(high, out[place][1]))
    return out


def _sample_limits(comparison: Comparison, alternative: str, error: float) -> tuple[float, float]:
    samples, question = comparison.null.samples, comparison.null.question
    assert samples is not None
    if alternative == "equivalence" or (alternative == "two-sided" and question.margin_bounds is not None):
        sides = (("greater", error / 2), ("less", error / 2))  # two one-sided tests at a margin
    elif alternative == "two-sided":
        sides = (("two-sided", error), ("two-sided", error))
    else:
        one = (alternative, error)
        sides = (one, None) if alternative == "greater" else (None, one)  # type: ignore[assignment]
    return samples.limits(sides, comparison.bounds)


def equivalence_interval(one: Comparison, settings: Settings) -> tuple[float, float]:
    """The interval at level 1 - 2 alpha, which two one-sided tests at alpha invert."""
    critical = one.null.critical_values(one, 2 * settings.alpha)
    ((low, high),) = one.null.limits_of_all([one.null], [critical], [one.bounds])
    if one.has_samples:
        of_samples = _sample_limits(one, "equivalence", 2 * settings.alpha)
        low, high = (min(low, of_samples[0]), max(high, of_samples[1])) if one.null.alike else of_samples
    question, certified = one.null.question, at_most(one.log_p, settings.alpha)
    if certified and question.margin_bounds is not None:
        low, high = max(low, question.margin_bounds[0]), min(high, question.margin_bounds[1])
    return question.consistent_limits((low, high), one.disparity, one.bounds, rejected=certified)


def _monte_carlo_limits(leading: int, main: Sequence[Comparison], settings: Settings) -> tuple[float, float] | None:
    """Limits of the global p-value with infinitely many resamples; None if no single count decides."""
    one = main[leading]
    if one.n_extreme is None:
        return None
    others = 1 if settings.question.alternative == "equivalence" else len(main)
    times, (low, high) = one.n_tails * others, p_value_limits(one.n_extreme, one.n_defined)
    least = p_of(one.least_log_p + np.log(others)) if np.isfinite(one.least_log_p) else 0.0
    if settings.adjust == "discrete_holm":
        with_end = np.tile([row.log_p for row in main], (2, 1))
        with_end[:, leading] = np.log(np.clip(one.n_tails * np.array([low, high]), SMALLEST, 1.0))
        low, high = (p_of(float(_discrete(main, log_p).min())) for log_p in with_end)
        return low, high
    return min(1.0, max(times * low, least)), min(1.0, max(times * high, least))


def _leading(main: Sequence[Comparison], tied: np.ndarray, *, worst: bool) -> int:
    """The index of the comparison that sets the global p-value; ties go by its own p-value, then the statistic."""
    log_p = np.where(tied, [one.log_p for one in main], np.nan)
    own = np.nanmax(log_p) if worst else np.nanmin(log_p)
    statistics = np.abs([one.statistic for one in main])
    sizes = np.where(np.isnan(statistics), -1.0, statistics)
    # Rounding must not decide between comparisons that say the same.
    return int(np.argmax(np.where(np.abs(log_p - own) <= 1e-9 * max(1.0, abs(own)), sizes, -2.0)))


def _verdict(
    tested: list[list[Comparison]],
    shown: Booleans,
    settings: Settings,
    further: int,
    *,
    together: bool,
) -> tuple[int, Verdict]:
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
    drew = any(one.draws is not None for one in main)
    resampled = any(one.method in RESAMPLED for one in main)
    limits = (_monte_carlo_limits(leading, main, settings) if drew else None) or (p, p)
    drawn = (one.n_defined + one.n_undefined for one in main if one.n_extreme is not None)
    n_resamples = max(drawn, default=0) if resampled or drew else 0
    return leading, Verdict(
        log_p=float(target),
        limits=(min(p, limits[0]), max(p, limits[1])),
        rejected=rejected,
        concern=rejected is not equivalence,
        n_resamples=n_resamples,
        adjust=settings.adjust,
        n_hypotheses=len(log_p),
        # What the adjustment leaves the smallest p-value; that of a test may be Holm's.
        level=settings.alpha / (1 if equivalence or (own and settings.adjust is None) else len(log_p)),
    )
