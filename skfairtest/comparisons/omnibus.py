"""Metrics of all groups at once, and of whole curves and distributions, tested by resamples of the metric itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
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
from skfairtest.inference.calibration import BetweenGroups, FromScores, Scores, draw_moves, largest_move
from skfairtest.inference.distribution import Distributions, band, farthest
from skfairtest.inference.draws import permuted
from skfairtest.inference.rate_draws import Contrast
from skfairtest.metrics import Calibration, Context, Distribution, MetricError, Omnibus
from skfairtest.tables import Kinds

#: How resamples are drawn: outcomes from scores, and the truly positive of a block of scores from both groups.
SIMULATED, PERMUTED = "simulation", "permutation within scores"
#: Who is compared, and why they may not be.
NAME, UNDEFINED = "everyone", "undefined for these people"
#: Of fewer clusters in a group, a test of whole distributions is doubted.
FEW_CLUSTERS = 15


def measure_omnibus(metric: Omnibus, design: Design, kinds: Kinds, seed: np.random.SeedSequence) -> Measured:
    """Make and test the comparisons of a metric of curves, of distributions, or of all groups."""
    # A p-value of two sides has no number of resamples that is enough for a verdict.
    design = replace(design, settings=replace(design.settings, n_decisive=None))
    if isinstance(metric, Calibration):
        return _measure_calibration(metric, design, kinds, seed)
    if isinstance(metric, Distribution):
        return _measure_distribution(metric, design, kinds, seed)
    return _measure_omnibus(metric, design, kinds, seed)


#: A comparison with what draws its statistic, or why there is none; from a contrast, the other side, and strata.
Compare = Callable[[Contrast, Any, Sequence[Any]], tuple[Comparison, Callable[..., Floats]] | str]


def _each(
    metric: Omnibus, design: Design, contrasts: Sequence[tuple[Contrast, Any]], seed: np.random.SeedSequence,
    strata_of: Callable[[Contrast], Mapping[int, Any]], compare: Compare,
) -> tuple[list[Comparison], list[Exclusion]]:  # fmt: skip
    """Test each contrast over all strata, and in each."""
    comparisons, excluded = [], []
    for (contrast, other), own in zip(contrasts, seed.spawn(len(contrasts)), strict=True):
        strata = strata_of(contrast)
        for place, of_place in zip(design.places, own.spawn(len(design.places)), strict=True):
            there = replace(contrast, stratum=place)
            found = compare(there, other, [strata[s] for s in strata if place in (None, s)])
            if isinstance(found, str):
                excluded.append(design.left_out(metric.name, there, other, found, 0))
                continue
            row, draw = found
            drawn = np.concatenate(resample(draw, design.settings, of_place, what=metric.name, rows=[row]))
            comparisons.append(with_draws(row, drawn, design.settings))
    return sorted(comparisons, key=attrgetter("order")), excluded


def _by_group(design: Design, value: Callable[[int, list[Booleans]], float]) -> GroupValues:
    """A value, without an error, of every group in every stratum."""
    sizes = design.sample.sizes
    values, unknown = np.full(sizes.shape, np.nan), np.full(sizes.shape, np.nan)
    for stratum, group in np.argwhere(sizes > 0).tolist():
        values[stratum, group] = value(stratum, [np.arange(sizes.shape[1]) == group])
    return GroupValues(sizes, values, unknown, unknown, unknown)


def _measure_calibration(metric: Calibration, design: Design, kinds: Kinds, seed: np.random.SeedSequence) -> Measured:
    sizes = design.sample.sizes
    contrasts = design.contrasts if metric.between else [(Contrast(group, None), None) for group in design.kept]

    def read(stratum: int, sides: list[Booleans]) -> Scores:
        """Count people and the truly positive by distinct score, on some sides of a stratum."""
        within, counts = kinds.within(stratum, sides)
        truth, score = metric.read(Context(within.values, design.pos_label))
        distinct, place = np.unique(score, return_inverse=True)
        people, positive = (
            np.stack([np.bincount(place.reshape(-1), side, len(distinct)) for side in counts * by])
            for by in (1.0, truth)
        )
        return Scores(distinct, np.rint(people).astype(np.int64), np.rint(positive).astype(np.int64))

    def paths(contrast: Contrast) -> dict[int, FromScores | BetweenGroups]:
        """The path in each stratum in which both sides have people with similar scores."""
        sides = list(groups_of(sizes.shape[1], contrast))[: 1 + metric.between]
        occupied = [s for s in range(len(sizes)) if all(sizes[s, side].sum() for side in sides)]
        make = BetweenGroups.of if metric.between else FromScores
        made = {stratum: make(read(stratum, sides)) for stratum in occupied}
        return {stratum: path for stratum, path in made.items() if path.total or not metric.between}

    def compare(contrast: Contrast, other: Any, strata: Sequence[Any]) -> tuple[Comparison, Any] | str:
        if not strata:
            return "the two sides have no scores in common"
        path = type(strata[0]).joined(strata) if len(strata) > 1 else strata[0]
        move = float(largest_move(path.steps(), kuiper=metric.kuiper)[0])
        n_group, n_other = design.people(contrast)
        return design.comparison(
            metric.name, contrast, other, (np.nan, np.nan), move / path.total,
            NullDistribution(design.question(metric)), n=(n_group, n_other if metric.between else 0),
            statistic=move / (path.spread or 1.0), method=PERMUTED if metric.between else SIMULATED,
        ), partial(draw_moves, path, metric.kuiper)  # fmt: skip

    def largest(stratum: int, sides: list[Booleans]) -> float:
        path = FromScores(read(stratum, sides))
        return abs(float(largest_move(path.steps(), kuiper=metric.kuiper)[0])) / path.total

    return *_each(metric, design, contrasts, seed, paths, compare), _by_group(design, largest)


@dataclass(frozen=True)
class DistanceNull(NullDistribution):
    """Equal distributions. The interval is Smirnov's band where they are farthest apart; there is none of clusters."""

    people: tuple[int, int] = (0, 0)

    def critical_values(self, row: Comparison, error: float) -> tuple[float, float]:
        """Return half the band's width, twice."""
        width = band(self.people, error) if min(self.people) else np.nan
        return width, width

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the band at this value."""
        return self.estimate - critical[0], self.estimate + critical[1]


def _measure_distribution(metric: Distribution, design: Design, kinds: Kinds, seed: np.random.SeedSequence) -> Measured:
    column, sizes = kinds.values[metric.column], design.sample.sizes
    if column.numbers is None:
        found = ", ".join(map(repr, column.levels[:5]))
        raise ParameterError(f"{metric.column} must hold numbers for metric={metric.name!r}; found {found}")

    def read(stratum: int, sides: Sequence[Booleans]) -> Any:
        """The values of kinds of people in a stratum, their counts on some sides, and their clusters."""
        within, counts = kinds.within(stratum, list(sides))
        cluster, values = within.cluster, within.values[metric.column].numbers
        assert values is not None
        if len(counts) > 1 and cluster is not None and any(np.prod([np.bincount(cluster, c) for c in counts], axis=0)):
            raise ParameterError(
                f"clusters: some have people on both sides of a comparison, and metric={metric.name!r} moves whole "
                "clusters between the sides; test a metric such as 'mean_prediction'"
            )
        return values, counts, cluster

    def strata_of(contrast: Contrast) -> dict[int, Any]:
        sides = groups_of(sizes.shape[1], contrast)
        return {s: read(s, sides) for s in range(len(sizes)) if all(sizes[s, side].sum() for side in sides)}

    def compare(contrast: Contrast, other: Any, strata: Sequence[Any]) -> tuple[Comparison, Any] | str:
        if not any(np.ptp(values) > 0 for values, _, _ in strata):
            return "all people have the same value" if strata else "no people"
        distributions = Distributions.of(strata)
        # Of strata, the differences are averaged by how many people say something about them.
        people = np.array([counts.sum(axis=1) for _, counts, _ in strata], dtype=float)
        weight = people.prod(axis=1) / people.sum(axis=1)
        scaled = [counts * (w / n)[:, None] for (_, counts, _), n, w in zip(strata, people, weight, strict=True)]
        at, shares = farthest(np.concatenate([s[0] for s in strata]), np.concatenate(scaled, axis=1))
        alone = len(strata) == 1 and strata[0][2] is None
        null = DistanceNull(
            design.question(metric), (int(people[0, 0]), int(people[0, 1])) if alone else (0, 0),
            estimate=shares[0] - shares[1], extreme="greater", studentized=False,
        )  # fmt: skip
        return design.comparison(
            metric.name, contrast, other, shares, null.estimate, null, statistic=distributions.observed,
            method="permutation", bounds=(-1.0, 1.0), at=at,
        ), distributions.draw  # fmt: skip

    def median(stratum: int, sides: list[Booleans]) -> float:
        values, counts, _ = read(stratum, sides)
        order = np.argsort(values)
        below = np.cumsum(counts[0][order])
        return float(values[order][np.searchsorted(below, [below[-1] / 2, below[-1] / 2 + 0.5])].mean())

    values, clusters = _by_group(design, median), design.sample.clusters
    # Clusters of one size are exchangeable; of different sizes only on average over many.
    if clusters is not None and np.ptp(np.bincount(clusters.codes, design.sample.counts)) > 0:
        few = tuple(
            (group, f"rests on fewer than {FEW_CLUSTERS} clusters")
            for place, group in enumerate(design.sample.group_labels)
            if len(np.unique(clusters.codes[design.sample.group_codes == place])) < FEW_CLUSTERS
        )
        values = replace(values, doubtful=few)
    return *_each(metric, design, design.contrasts, seed, strata_of, compare), values


@dataclass(frozen=True)
class OmnibusStratum:
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
                out.append(np.array([self._or_undefined(one) for one in table]))
        return np.concatenate(out)

    def _or_undefined(self, table: np.ndarray) -> float:
        try:
            return float(self.evaluate(table))
        except MetricError:
            return float("nan")

    def _tables(self, size: int, rng: np.random.Generator) -> Any:
        blocks = [np.flatnonzero(self.block == number) for number in np.unique(self.block)]
        if not self.rows:
            for drawn in permuted(self.counts[None], blocks, size, rng):
                yield drawn[:, 0]
            return
        group = self.counts.argmax(axis=0)
        for _ in range(size):
            shuffled = group.copy()
            for within in blocks:
                shuffled[within] = rng.permutation(group[within])
            yield (np.arange(len(self.counts))[:, None] == shuffled)[None].astype(np.int64)


def _measure_omnibus(metric: Omnibus, design: Design, kinds: Kinds, seed: np.random.SeedSequence) -> Measured:
    """Make and test a comparison overall, and one for each stratum."""
    sample, settings = design.sample, design.settings
    keys = [sample.groups[group] for group in design.kept]
    strata, values, sizes = list[OmnibusStratum](), [], []
    for number in range(len(sample.strata)):
        within, counts = kinds.within(number, [np.arange(len(sample.groups)) == group for group in design.kept])
        context = Context(within.values, design.pos_label)
        block = within.blocks((metric.given or None) if settings.within == "auto" else settings.within)
        statistic = metric.statistic(context, keys, sample.sensitive_names)
        strata.append(OmnibusStratum(statistic, counts, block, within.rows, within.weight))
        try:
            values.append(float(strata[-1].evaluate(counts)))
        except MetricError as error:
            raise ParameterError(f"metric cannot be computed: {error}") from error
        sizes.append(metric.size(context, counts, values[-1]))
    observed, shown = np.array(values), np.array(sizes)
    people = np.array([float(stratum.counts.sum()) for stratum in strata])
    defined = np.flatnonzero(~np.isnan(observed)).tolist()
    if not defined:
        n = int(people.sum())
        return [], [Exclusion(metric.name, NAME, None, None, UNDEFINED, n, n, 1)], None
    null = NullDistribution(design.question(metric), extreme=metric.extreme, studentized=False)
    rows, shares, excluded = list[Comparison](), [], []
    for place in design.places:
        n, stratum = int(people.sum() if place is None else people[place]), design.stratum(place)
        if place is not None and place not in defined:
            excluded.append(Exclusion(metric.name, NAME, None, stratum, UNDEFINED, n, n, 1))
            continue
        of = defined if place is None else [place]
        share = people[of] / people[of].sum()
        value, size = (float(share @ each[of]) for each in (observed, shown))
        contrast = Contrast(design.kept[0], None, stratum=place)
        rows.append(Comparison(
            metric.name, None, None, stratum, contrast, n, n, np.nan, np.nan, size, null, method="permutation",
            statistic=value,
        ))  # fmt: skip
        shares.append((of, share))
    early = rows[:1] if len(defined) == 1 else ()  # one stratum alone may stop early
    drawn = {
        s: np.concatenate(resample(strata[s].draw, settings, own, what=metric.name, rows=early))
        for s, own in zip(defined, seed.spawn(len(defined)), strict=True)
    }
    averaged = [np.stack([drawn[s] for s in of], axis=1) @ share for of, share in shares]
    return [with_draws(*of_row, settings) for of_row in zip(rows, averaged, strict=True)], excluded, None


def check_omnibus(metric: Omnibus, settings: Settings, *, alone: bool = True) -> None:
    """Check that parameters have a meaning for metrics of all groups; a reference serves other metrics."""
    question, called = settings.question, f"metric={metric.name!r}"
    if isinstance(metric, Distribution) and settings.compare == "to_overall":
        raise ParameterError(
            f"{called} moves people between two sides, and everyone is not a side: use compare='to_rest' in place of "
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
