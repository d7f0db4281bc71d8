"""Metrics other than rates: two values over their standard error, against permutations or bootstrap samples."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats, Moments
from skfairtest.comparisons import contrasts
from skfairtest.comparisons import resample as resampling
from skfairtest.comparisons.core import Comparison, Design, Exclusion, GroupValues, Measured, NullDistribution
from skfairtest.comparisons.evaluation import Evaluation, binning_error
from skfairtest.comparisons.settings import Settings
from skfairtest.comparisons.sides import Stratum, TwoSides, draw_bootstrap, draw_statistics, evaluate_sides
from skfairtest.inference import two_sides
from skfairtest.inference.draws import MOST_PEOPLE
from skfairtest.inference.homogeneity import Homogeneity
from skfairtest.inference.intervals import wilson
from skfairtest.inference.linear_form import Form, Linearized, resampled
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.rates import quantiles
from skfairtest.inference.resampling import reference_log_p
from skfairtest.inference.score import studentize
from skfairtest.inference.standardized import standardized_moments
from skfairtest.metrics import BuiltIn, Mean, Rate

#: Bootstrap samples of functions of numbers by default: in all, and for each comparison.
ENOUGH, OF_EACH = 999, 40
#: What makes a p-value that counts permutations alone doubtful.
_FEWER = "is significant by permutations in which the statistic varies less than in large samples"


@dataclass(frozen=True)
class FormNull(NullDistribution):
    """The null distribution of the difference of two values, from the linear form at any disparity."""

    form: Form
    spread: float
    sides: TwoSides
    has_drawn_limits: ClassVar[bool] = True

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """The disparities at which the form is within the critical values."""
        return self.form.limits(critical, bounds)

    def error(self) -> float:
        """The standard error."""
        return self.spread if self.studentized or self.samples is not None else np.nan

    def standardized(self) -> Moments | None:
        """The difference of two unweighted means, and the pooled standard deviation."""
        (first, *others), studentized = self.sides.strata.values(), self.studentized
        mean = first.functional
        if others or self.sides.overall or not studentized or type(mean) is not Mean:
            return None
        return standardized_moments(mean.z, first.counts)

    def homogeneity(self) -> Homogeneity | None:
        """Test that the disparity is the same in every stratum."""
        return self.sides.homogeneity(self.question.disparity)


#: The comparisons of one contrast, over all strata and in each, which are resampled together.
Family = list[Comparison]


def _null(one: Comparison) -> FormNull:
    assert isinstance(one.null, FormNull)
    return one.null


def _strata(family: Family) -> dict[int, Stratum]:
    return dict(sorted({place: own for one in family for place, own in _null(one).sides.strata.items()}.items()))


def measure_studentized(
    design: Design, made: Evaluation, known: contrasts.Known, seed: np.random.SeedSequence
) -> Measured:
    """Make and test the comparisons of one metric."""
    if made.question.disparity == "odds_ratio":
        what = " of people with weights or in clusters" if isinstance(made.metric, Rate) else ", which is not a rate"
        raise ParameterError(
            f"disparity='odds_ratio' compares rates of unweighted people without clusters; found {made.name}{what}: "
            "use 'difference' or 'ratio'"
        )
    if design.settings.question.method == "exact":
        raise ParameterError(
            f"method='exact' has no distribution for {made.name}"
            + (" of people with weights or in clusters" if isinstance(made.metric, Rate) else "")
            + ": use method='auto', which permutes labels"
        )
    doubtful: list[tuple[Any, str]] = []
    values = _values(design, made, seed, doubtful)
    missing: Counter[tuple[int, int | None]] = Counter()
    excluded: list[Exclusion] = []
    families, corrected = [], made.is_plain_mean and not design.settings.published
    for contrast, other in design.contrasts:
        sides, undefined = evaluate_sides(design, made, contrast, other)
        family = list(_compared(design, made, contrast, other, sides, undefined, missing, excluded))
        if family:
            families.append(family)
            normal = made.variance is not None and not (made.is_scored or corrected)
            if normal and abs(sides.skewness()) > contrasts.SKEWED:
                doubtful.append((family[0].group, contrasts.EXTREME))
    excluded += design.undefined(made.name, missing, _why_undefined(made))
    tested = sorted(_test(made, families, design, known, seed), key=attrgetter("order"))
    level = float(np.log(design.settings.alpha))
    for one in tested:
        if one.log_p > level or not (design.settings.published or corrected):
            continue
        null = _null(one)
        if corrected:
            skewness, people = null.sides.unseen(-np.sign(one.statistic))
            if skewness > contrasts.LOPSIDED and people < contrasts.UNSEEN:
                doubtful.append((one.group, contrasts.MISSED))
        elif level < reference_log_p(one.statistic, null.side, null.freedom, null.skewness):
            doubtful.append((one.group, _FEWER))
    doubtful += contrasts.few_in_strata(tested, values, design.settings.alpha)
    return tested, excluded, replace(values, doubtful=tuple(doubtful))


def _why_undefined(made: Evaluation) -> str:
    if isinstance(made.metric, Rate):
        lonely = "" if made.kinds.cluster is None else ", or all who do are in one cluster"
        return f"undefined: no one meets the condition ({made.metric.among}){lonely}"
    why = made.metric.undefined if isinstance(made.metric, BuiltIn) else ""
    return "undefined" + (f": {why}" if why else " or without a standard error")


def _values(
    design: Design, made: Evaluation, seed: np.random.SeedSequence, doubtful: list[tuple[Any, str]]
) -> GroupValues:
    sample, settings = design.sample, design.settings
    shape, corrected = sample.sizes.shape, made.is_plain_mean and not settings.published
    n_effective, value, error = np.zeros(shape), np.full(shape, np.nan), np.full(shape, np.nan)
    worths = np.zeros(shape)
    rng = np.random.default_rng(seed.spawn(1)[0])
    # What is not studentized has a standard error all the same, unless a function was to have none.
    shown = made if made.variance or (made.is_own and not settings.asked_variance) else replace(made, variance="auto")
    kind = ""
    for place in zip(*np.nonzero(sample.sizes), strict=True):
        stratum, group = (int(i) for i in place)
        name = sample.group_labels[group]
        kinds, counts = made.kinds.within(stratum, [np.arange(shape[1]) == group])
        functional, masses = shown.functional(kinds), counts.astype(float)
        kind = kind or functional.error
        try:
            made.check(sample, kinds, counts[0], f"group {name!r}", stratum)
        except ValueError:
            if (
                sample.sizes[:, group].sum() < contrasts.SMALLEST_GROUP
            ):  # too small to be compared: no answer depends on it
                continue
            raise
        found, variance = functional.moments(masses, rng)
        value[place] = float(found[0]) + made.origin
        if functional.error != "none":
            error[place] = float(np.sqrt(np.maximum(variance[0], 0.0)))
        n_effective[place] = float(functional.effective(masses)[0])
        if functional.is_rate_like and shown.variance == "auto":
            worths[place] = functional.worth(masses)[0]
        if made.is_scored and functional.counts_misplaced:
            wrong = float(functional.misplaced(masses, masses)[0][0])
            few = wrong < contrasts.MISPLACED
            why = f"rests on few people who are misranked ({wrong:.1f}), too few to say how uncertain it is"
        else:
            least = contrasts.SINGLE if corrected and n_effective[place] >= contrasts.UNSEEN else contrasts.SMALL
            uncertain = made.variance is not None or made.question.method == "bootstrap"
            few, why = uncertain and float(functional.informative(masses)[0]) < least, contrasts.FEW
        if few and not (sample.control_names or np.isnan(found[0])):
            doubtful.append((name, why))
    low, high = (np.full(shape, np.nan) for _ in range(2))
    z, _ = quantiles("two-sided", settings.alpha)
    for at in map(tuple, np.argwhere(~(np.isnan(value) | np.isnan(error))).tolist()):
        if worths[at] > 0:
            least, most = made.bounds
            low[at], high[at] = least + (most - least) * np.array(
                wilson((value[at] - least) / (most - least) * worths[at], worths[at], z)
            )
            continue
        # If all people are alike: as if one more were at the opposite end of the scale.
        spread = float(error[at]) or (made.bounds[1] - made.bounds[0]) / (float(n_effective[at]) + 1)
        low[at], high[at] = two_sides.limits(float(value[at]), spread, made.bounds, (z, z))
    rounded = np.floor(n_effective + 1e-9).astype(np.int64)
    of_error, moved = None if made.variance is None else kind, binning_error(made, sample)
    return GroupValues(rounded, value, error, low, high, of_error, binning_error=moved)


def _compared(
    design: Design,
    made: Evaluation,
    base: Contrast,
    other: Any,
    whole: TwoSides,
    undefined: dict[int, tuple[bool, bool]],
    missing: Counter[tuple[int, int | None]],
    excluded: list[Exclusion],
) -> Iterator[Comparison]:
    """Yield the comparisons of one contrast: over all strata, then in each; list those that are impossible."""
    question, what = made.question, (made.name, False)
    if isinstance(made.metric, Rate):
        # The statistic of equality is that of the difference, whatever is shown.
        own = question.method == "bootstrap" or question.margin_bounds is not None
        asked = question if own else replace(question, disparity="difference")
        what = design.what_is_equal(made.metric, asked, scored=False)  # type: ignore[assignment]
    for place in design.places:
        contrast = replace(base, stratum=place)
        sides, reason, no_ratio, n_effective = whole.within(place), "", "", design.people(contrast)[0]
        if not sides.strata:
            flags = list(undefined.values()) if place is None else [undefined[place]] if place in undefined else []
            sought = (base.first, base.second)
            lacking = [g for i, g in enumerate(sought) if g is not None and flags and all(flag[i] for flag in flags)]
            missing.update((g, place) for g in lacking)
            if lacking:
                continue
            stratified = " in the same stratum" if design.sample.control_names else ""
            reason, n_effective = f"no one is on the other side{stratified}", 0
            if flags:
                reason = f"{_why_undefined(made)}, in those it is compared with"
        else:
            values, disparity, spread = _shown(sides, question.disparity, made.origin)
            if np.isnan(disparity) and question.disparity == "difference":
                reason = _why_undefined(made)
            elif np.isnan(disparity):
                no_ratio = "a value is below 0" if min(values) < 0 else "both values are 0"
        if reason:
            excluded.append(design.left_out(made.name, contrast, other, reason, n_effective))
            continue
        strata, studentized = list(sides.strata), made.variance is not None
        form = sides.form(question.disparity)
        # Welch's test, asked for by its name or at a margin, is left as it is.
        skewed = (
            np.isfinite(sides.freedom) and question.method in ("auto", "permutation") and not question.margin_bounds
        )
        skewness = sides.skewness() if skewed and not design.settings.published else 0.0
        known = float(form.at(0.0)[1]) if question.disparity == "difference" and not spread > 0 else spread
        null = FormNull(
            question, form, known, sides, studentized=studentized, adaptive=design.settings.adaptive,
            freedom=sides.freedom, skewness=skewness,
        )  # fmt: skip
        yield design.comparison(
            made.name, contrast, other, values, disparity, null,
            bounds=contrasts.disparity_bounds(made.bounds, question.disparity),
            hypothesis=design.hypothesis(question, contrast, what, strata), strata=strata, undefined=no_ratio,
            standard_error=spread if studentized else np.nan,
        )  # fmt: skip


def _shown(sides: TwoSides, disparity: str, origin: float) -> tuple[tuple[float, float], float, float]:
    moments = two_sides.pooled(sides.shown, sides.weights)
    first, second = float(moments.first), float(moments.second)
    estimate, spread = (float(v) for v in two_sides.distance(moments, disparity))
    if disparity == "difference":
        return (first + origin, second + origin), first - second, spread
    return (first, second), np.nan if np.isnan(estimate) else first / second if second else np.inf, spread


def _test(
    made: Evaluation,
    families: list[Family],
    design: Design,
    known: contrasts.Known,
    seed: np.random.SeedSequence,
) -> list[Comparison]:
    question, settings = made.question, design.settings
    method = question.method
    if made.is_scored:
        method = "score"
    elif method == "auto":
        totals = [int(stratum.counts.sum()) for family in families for stratum in _strata(family).values()]
        # Of this many people no tables are sampled.
        method = "asymptotic" if question.margin_bounds or max(totals, default=0) >= MOST_PEOPLE else "permutation"
    seeds = seed.spawn(len(families) + 1)
    if method == "permutation":
        families = _permuted(made, families, settings, known, seeds)
    elif method == "bootstrap":
        families = [
            [_bootstrapped(made, one) for one in own] for own in _with_samples(made, families, design, seeds[-1])
        ]
    else:
        families = [[_asymptotic(made, one, method) for one in family] for family in families]
    return [one for family in families for one in family]


def _at_equality(one: Comparison, distance: float, error: float) -> FormNull:
    """Give the form at equality the error of the statistic tested, so that the interval agrees with the test."""
    null = _null(one)
    if null.question.margin_bounds is not None:
        return null
    shown, own = (float(v) for v in null.form.at(null.question.null))
    times = 1.0
    if one.contrast.overall:
        # An average that is compared with everyone's is that much nearer to it than to the rest's, which is tested.
        times = float(null.sides.balanced.sum() / null.sides.weights.sum())
        sides = np.abs([null.sides.shown.first, null.sides.shown.second])
        if abs(shown - times * distance) > 1e-9 * sides.max():
            return null  # no average: what is shown has an error of its own
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = float(times * np.divide(error, own))
    return replace(null, form=replace(null.form, scale=scale)) if np.isfinite(scale) and scale > 0 else null


def _permuted(
    made: Evaluation, families: list[Family], settings: Settings, known: contrasts.Known,
    seeds: Sequence[np.random.SeedSequence],
) -> list[Family]:  # fmt: skip
    """Permute labels between two sides, once for a family's pooled comparison and those of its strata.

    Differences and ratios share one test of equality, without infinite logarithms; each hypothesis is tested once.
    """
    families = [[_observed(one) for one in family] for family in families]
    tasks: dict[int, resampling.Task] = {}
    planned = set[Hashable](known)
    for number, (family, own) in enumerate(zip(families, seeds, strict=False)):
        if contrasts.new_hypotheses(family, planned):
            tasks[number] = resampling.Task(_draws(family), own, tuple(family))
        planned |= {one.hypothesis for one in family if one.hypothesis is not None}
    drawn = dict(zip(tasks, resampling.resample_all(list(tasks.values()), settings, what=made.name), strict=True))

    def test(family: Family, draws: list[Floats], place: int) -> Comparison:
        null = _null(family[place])
        freedom, column = null.freedom if null.studentized else None, np.concatenate(draws)[:, place]
        return resampling.with_draws(family[place], column, settings, freedom, null.skewness)

    each = [partial(test, family, drawn.get(number, [])) for number, family in enumerate(families)]
    return [contrasts.tested_once(family, known, own) for family, own in zip(families, each, strict=True)]


def _observed(one: Comparison) -> Comparison:
    null, (distance, error) = _null(one), _difference(_null(one).sides.tested, _null(one).sides)
    error = error if null.studentized else 1.0
    return replace(
        one, null=_at_equality(one, distance, error), method=null.sides.resampling,
        statistic=float(studentize(np.asarray(distance), np.asarray(error))),
    )  # fmt: skip


def _difference(moments: Moments, sides: TwoSides) -> tuple[float, float]:
    """The difference that is tested, and its error."""
    distance, error = two_sides.distance(two_sides.pooled(moments, sides.balanced), "difference")
    return float(distance), float(error)


def _draws(family: Family) -> Callable[[int, np.random.SeedSequence], Floats]:
    places, strata = map(list, zip(*_strata(family).items(), strict=True))
    if (people := int(max(stratum.counts.sum() for stratum in strata))) >= MOST_PEOPLE:
        raise ParameterError(
            f"method='permutation' can draw tables of fewer than {MOST_PEOPLE:,} people, found {people:,}: "
            "use method='asymptotic'"
        )
    nulls = list(map(_null, family))
    averages = [([places.index(s) for s in null.sides.strata], null.sides.balanced, null.studentized) for null in nulls]
    return partial(draw_statistics, strata, averages)


def _asymptotic(made: Evaluation, one: Comparison, method: str = "asymptotic") -> Comparison:
    """Test by the asymptotic distribution (t for means, otherwise normal), at equality or at a margin."""
    question, null = made.question, _null(one)
    sides = null.sides
    if question.margin_bounds is None and made.is_scored:
        distance, error = (float(v) for v in sides.form("difference", tested=True).at(0.0))
        shown, own = (float(v) for v in null.form.at(question.null))
        if (one.contrast.overall or isinstance(null.form, Linearized)) and shown * distance > 0:
            # Everyone's value is shown, or no ratio of rates, the rest's tested: at equality both have one statistic.
            null = replace(null, form=replace(null.form, scale=shown / own * (error / distance)))
        tests = [(distance, error, question.alternative)]
    elif question.margin_bounds is None and not made.has_effective_people:
        distance, error = _difference(sides.spread_out(sides.tested), sides)
        null = _at_equality(one, distance, error)
        tests = [(distance, error, question.alternative)]
    else:
        forms = [(null.form.at(edge), side) for edge, side in question.tests]
        tests = [(float(distance), float(error), side) for (distance, error), side in forms]
    # Without a spread between people, or a finite error, nothing is known, and nothing is evidence.
    results = [
        (0.0, 0.0)
        if (sides.has_no_spread and not made.is_scored) or not 0 < error < np.inf
        else (reference_log_p(distance / error, side, null.freedom, null.skewness), distance / error)
        for distance, error, side in tests
    ]
    choose = max if question.alternative == "equivalence" else min
    log_p, statistic = choose(results, key=lambda result: result[0])
    if question.alternative == "two-sided" and len(tests) == 2:
        log_p = min(0.0, log_p + float(np.log(2)))
    return replace(one, null=null, log_p=log_p, method=method, statistic=statistic)


def _bootstrapped(made: Evaluation, one: Comparison) -> Comparison:
    null = _null(one)
    if not null.sides.is_alike():
        return resampling.with_samples(one)
    asymptotic = _asymptotic(made, one)
    null = replace(null, alike=True, form=_null(asymptotic).form)
    return resampling.with_samples(replace(one, null=null), asymptotic.log_p)


def _with_samples(
    made: Evaluation, families: list[Family], design: Design, seed: np.random.SeedSequence
) -> list[Family]:
    """Draw both values of all comparisons together, from people resampled within their groups."""
    n_groups, disparity = design.sample.sizes.shape[1], made.question.disparity
    sets: list[tuple[bool, ...]] = []
    pairs = []
    for family in families:
        contrast = family[0].contrast
        first, second = contrasts.groups_of(n_groups, contrast)
        keys = [tuple(side.tolist()) for side in (first, first | second if contrast.overall else second)]
        sets += [key for key in dict.fromkeys(keys) if key not in sets]
        pairs.append((sets.index(keys[0]), sets.index(keys[1]), contrast.overall))
    places = sorted({place for family in families for place in _strata(family)})
    strata = []
    for place in places:
        kinds, counts = made.kinds.within(place, [np.arange(n_groups) == g for g in range(n_groups)])
        strata.append(Stratum(made.functional(kinds), counts, None, kinds.rows, kinds.cluster))
    draw = partial(draw_bootstrap, strata, np.array(sets), pairs)
    settings = design.settings
    if settings.question.method == "auto":
        enough = max(ENOUGH, OF_EACH * sum(map(len, families)))
        settings = replace(settings, n_resamples=min(settings.n_resamples, enough), adaptive=False)
    chunks = resampling.resample(draw, settings, seed, what=made.name)
    for number, family in enumerate(families):
        moments = [np.concatenate(arrays) for arrays in zip(*(chunk[number] for chunk in chunks), strict=True)]
        for at, one in enumerate(family):
            null = _null(one)
            there, weights = [places.index(place) for place in null.sides.strata], null.sides.weights
            drawn = two_sides.pooled(two_sides.only(Moments(*moments), there), weights)
            observed = two_sides.pooled(null.sides.shown, weights)
            found = resampled(observed, drawn, disparity, studentized=null.studentized)
            error = one.standard_error if null.studentized else found.standard_error
            null = replace(null, samples=found, spread=null.spread if null.studentized else error)
            family[at] = replace(one, null=null, standard_error=error)
    return families
