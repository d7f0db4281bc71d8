"""Metrics of all groups at once (calibration curves, dependence): one row, tested by permuting all labels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats
from skfairtest.comparisons.core import (
    Comparison,
    Design,
    Exclusion,
    GroupValues,
    Measured,
    NullDistribution,
    groups_of,
)
from skfairtest.comparisons.resample import resample, with_draws
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.calibration import BetweenGroups, FromScores, Path, Scores, draw_moves, largest_move
from skfairtest.inference.draws import permuted
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.resampling import sequential_p
from skfairtest.metrics import Calibration, Context, Distribution, MetricError, Omnibus
from skfairtest.tables import Kinds

#: How resamples are drawn: outcomes from scores, and the truly positive of a block of scores from both groups.
SIMULATED, PERMUTED = "simulation", "permutation within scores"


#: Counts people and the truly positive by distinct score, on some sides of a stratum.
Reader = Callable[[int, list[Booleans]], Scores]


def _scores(metric: Calibration, kinds: Kinds, pos_label: object, stratum: int, sides: list[Booleans]) -> Scores:
    within, counts = kinds.within(stratum, sides)
    truth, score = metric.read(Context(within.values, pos_label))
    distinct, place = np.unique(score, return_inverse=True)
    people, positive = (
        np.stack([np.bincount(place.reshape(-1), side, len(distinct)) for side in counts * by]) for by in (1.0, truth)
    )
    return Scores(distinct, np.rint(people).astype(np.int64), np.rint(positive).astype(np.int64))


def measure_calibration(design: Design, metric: Calibration, kinds: Kinds, seed: np.random.SeedSequence) -> Measured:
    """Make and test the comparisons of a metric of calibration curves."""
    # A p-value of two sides has no number of resamples that is enough for a verdict.
    settings = replace(design.settings, n_decisive=None)
    read = partial(_scores, metric, kinds, design.pos_label)
    comparisons: list[Comparison] = []
    excluded: list[Exclusion] = []
    contrasts = design.contrasts if metric.between else [(Contrast(group, None), None) for group in design.kept]
    for (contrast, other), own in zip(contrasts, seed.spawn(len(contrasts)), strict=True):
        paths = _paths(design, metric, read, contrast)
        several = list(paths.values())
        together = type(several[0]).joined(several) if len(several) > 1 else next(iter(several), None)  # type: ignore[arg-type]
        seeds = own.spawn(len(design.places))
        for place, of_place in zip(design.places, seeds, strict=True):
            path = together if place is None else paths.get(place)
            found = _compared(design, metric, replace(contrast, stratum=place), other, path, settings, of_place)
            if isinstance(found, Comparison):
                comparisons.append(found)
            else:
                excluded.append(found)
    # Pooled comparisons come before those within strata.
    comparisons.sort(key=lambda one: -1 if one.contrast.stratum is None else one.contrast.stratum)
    return comparisons, excluded, _values(design, metric, read)


def _paths(design: Design, metric: Calibration, read: Reader, contrast: Contrast) -> dict[int, Path]:
    """The path in each stratum in which both sides have people with similar scores."""
    sizes = design.sample.sizes
    first, second = groups_of(sizes.shape[1], contrast)
    out: dict[int, Path] = {}
    for stratum in range(len(sizes)):
        if not metric.between and sizes[stratum, first].sum():
            out[stratum] = FromScores(read(stratum, [first]))
        elif metric.between and sizes[stratum, first].sum() and sizes[stratum, second].sum():
            path = BetweenGroups.of(read(stratum, [first, second]))
            if path.total:
                out[stratum] = path
    return out


def _compared(
    design: Design, metric: Calibration, contrast: Contrast, other: object, path: Path | None, settings: Settings,
    seed: np.random.SeedSequence,
) -> Comparison | Exclusion:  # fmt: skip
    n_group, n_other = design.people(contrast)
    if path is None:
        return design.left_out(metric.name, contrast, other, "no scores that both sides have", 0)
    steps, spread = path.steps(), path.spread
    move = float(largest_move(steps, kuiper=metric.kuiper)[0])
    statistic = move / (spread or 1.0)
    draw = partial(draw_moves, path, metric.kuiper)
    drawn = np.concatenate(resample(draw, settings, seed, what=metric.name, done=partial(_is_done, statistic)))
    method = PERMUTED if metric.between else SIMULATED
    n = n_group, n_other if metric.between else 0
    one = design.comparison(
        metric.name, contrast, other, (np.nan, np.nan), move / path.total, NullDistribution(design.question(metric)),
        n=n, statistic=statistic, method=method,
    )  # fmt: skip
    return with_draws(one, drawn, settings)


def _is_done(observed: float, parts: list[Floats]) -> bool:
    return sequential_p(np.concatenate(parts), observed, "two-sided") is not None


def _values(design: Design, metric: Calibration, read: Reader) -> GroupValues:
    """Return each group's largest cumulative difference from its scores, in every stratum."""
    shape = design.sample.sizes.shape
    value = np.full(shape, np.nan)
    for stratum, group in np.argwhere(design.sample.sizes > 0).tolist():
        path = FromScores(read(stratum, [np.arange(shape[1]) == group]))
        value[stratum, group] = abs(float(largest_move(path.steps(), kuiper=metric.kuiper)[0])) / path.total
    unknown = np.full(shape, np.nan)
    return GroupValues(design.sample.sizes, value, unknown, unknown, unknown)


#: Who is compared, and why they may not be.
NAME, UNDEFINED = "everybody", "undefined for these people"


@dataclass(frozen=True)
class Everybody:
    """One stratum's people by group and kind, and the metric as a function of these counts."""

    statistic: Callable[[Floats], Floats]
    counts: np.ndarray
    block: np.ndarray
    rows: bool
    weight: np.ndarray | None

    def evaluate(self, counts: np.ndarray) -> Floats:
        """Evaluate the metric of tables (..., G, K)."""
        masses = counts.astype(float)
        return self.statistic(masses if self.weight is None else masses * self.weight)

    def draw(self, size: int, seed: np.random.SeedSequence) -> Floats:
        """The metric of `size` permutations; NaN where it cannot be computed."""
        rng = np.random.default_rng(seed)
        out = []
        for table in self._tables(size, rng):
            try:
                out.append(self.evaluate(table))
            except MetricError:
                out.append(np.array([self._one(one) for one in table]))
        return np.concatenate(out)

    def _one(self, table: np.ndarray) -> float:
        try:
            return float(self.evaluate(table))
        except MetricError:
            return float("nan")

    def _tables(self, size: int, rng: np.random.Generator) -> Any:
        if not self.rows:
            blocks = [np.flatnonzero(self.block == b).tolist() for b in np.unique(self.block)]
            for drawn in permuted(self.counts[None], blocks, size, rng):
                yield drawn[:, 0]
            return
        group = self.counts.argmax(axis=0)
        place = [np.flatnonzero(self.block == b) for b in np.unique(self.block)]
        for _ in range(size):
            shuffled = group.copy()
            for within in place:
                shuffled[within] = rng.permutation(group[within])
            yield (np.arange(len(self.counts))[:, None] == shuffled)[None].astype(np.int64)


def measure_omnibus(design: Design, metric: Omnibus, kinds: Kinds, seed: np.random.SeedSequence) -> Measured:
    """Make and test the comparisons of a metric of all groups: one overall, and one for each stratum."""
    # A p-value that may be twice that of a side has no number of resamples that is enough for either.
    sample, settings = design.sample, replace(design.settings, n_decisive=None)
    strata, contexts = [], list[Context]()
    for number in range(len(sample.strata)):
        within, counts = kinds.within(number, [np.arange(len(sample.groups)) == g for g in design.kept])
        keys = [sample.groups[g] for g in design.kept]
        contexts.append(Context(within.values, design.pos_label))
        statistic = metric.statistic(contexts[-1], keys, sample.sensitive_names)
        block = within.blocks((metric.given or None) if settings.within == "auto" else settings.within)
        strata.append(Everybody(statistic, counts, block, within.rows, within.weight))
    observed = np.array([_observed(stratum) for stratum in strata])
    made = zip(contexts, strata, observed.tolist(), strict=True)
    sizes = np.array([metric.size(context, stratum.counts, value) for context, stratum, value in made])
    people = np.array([float(stratum.counts.sum()) for stratum in strata])
    numbers = np.flatnonzero(~np.isnan(observed)).tolist()
    if not numbers:
        n = int(people.sum())
        return [], [Exclusion(metric.name, NAME, None, None, UNDEFINED, n, n, 1)], None
    drawn = _draw(metric, [strata[s] for s in numbers], observed[numbers], settings, seed)
    share = people[numbers] / people[numbers].sum()
    null = NullDistribution(design.question(metric), extreme=metric.extreme, studentized=False)
    comparisons, excluded = [], []
    for place in design.places:
        n, stratum = int(people.sum() if place is None else people[place]), design.stratum(place)
        if place is None:
            value, column = float(share @ observed[numbers]), drawn @ share
            size = float(share @ sizes[numbers])
        elif place in numbers:
            value, column = float(observed[place]), drawn[:, numbers.index(place)]
            size = float(sizes[place])
        else:
            excluded.append(Exclusion(metric.name, NAME, None, stratum, UNDEFINED, n, n, 1))
            continue
        contrast = Contrast(design.kept[0], None, stratum=place)
        one = Comparison(metric.name, None, None, stratum, contrast, n, n, np.nan, np.nan, size, null)
        comparisons.append(_with_draws(replace(one, method="permutation", statistic=value), column, settings))
    return comparisons, excluded, None


def _draw(
    metric: Omnibus, strata: list[Everybody], observed: Floats, settings: Settings, seed: np.random.SeedSequence
) -> Floats:
    """Draw the metric of every stratum, (n, S); one stratum alone may stop early."""

    def done(parts: list[Floats]) -> bool:
        so_far, value = np.concatenate(parts), float(observed[0])
        return all(sequential_p(so_far, value, side) is not None for side in _sides(metric.extreme))

    early = done if len(strata) == 1 else None
    seeds = seed.spawn(len(strata))
    columns = [
        resample(stratum.draw, settings, own, what=metric.name, done=early)
        for stratum, own in zip(strata, seeds, strict=True)
    ]
    return np.stack([np.concatenate(column) for column in columns], axis=1)


def _sides(extreme: str) -> list[str]:
    return ["greater", "less"] if extreme == "two-sided" else [extreme]


def _with_draws(one: Comparison, drawn: Floats, settings: Settings) -> Comparison:
    """Count in the direction that is evidence against independence, or twice the smaller tail if neither is."""
    sides = _sides(one.null.side)
    found = [with_draws(one, drawn, settings, side=side) for side in sides]
    least = min(found, key=lambda tested: (tested.log_p, tested.n_extreme, tested.n_defined))
    log_p = min(0.0, least.log_p + float(np.log(2))) if len(sides) == 2 else least.log_p
    return replace(least, log_p=log_p, n_tails=len(sides), draws=drawn, n_undefined=found[-1].n_undefined)


def _observed(stratum: Everybody) -> float:
    try:
        return float(stratum.evaluate(stratum.counts))
    except MetricError as error:
        raise ParameterError(f"metric cannot be computed: {error}") from error


def check_omnibus(metric: Omnibus, settings: Settings, *, alone: bool = True) -> None:
    """Check that parameters have a meaning for metrics of all groups; a reference serves other metrics."""
    question, called = settings.question, f"metric={metric.name!r}"
    if isinstance(metric, Distribution) and settings.compare == "to_overall":
        raise ParameterError(
            f"{called} moves people between two sides, and everyone is no side: use compare='to_rest' in place of "
            "'to_overall'"
        )
    if question.alternative != "two-sided" or question.margin_bounds is not None:
        raise ParameterError(
            f"{called} {metric.action}, and has no alternative or margin: use alternative='two-sided' and margin=None"
            f"{', or metric=' + repr('calibration') if isinstance(metric, Calibration) else ''}"
        )
    if question.method not in ("auto", "permutation") or (metric.own_null and settings.within != "auto"):
        raise ParameterError(f"{called} has its own null distribution: use method='auto' and within='auto'")
    references = () if alone or metric.own_null else ("to_reference",)
    if not (metric.of_two_sides or settings.crossed or settings.compare in ("between_groups", *references)):
        raise ParameterError(f"{called} {metric.action}: use compare='between_groups', not {settings.compare!r}")
