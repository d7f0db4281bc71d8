"""Comparisons of whole distributions of predictions or scores: Anderson and Darling's test of permuted labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
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
from skfairtest.inference.distribution import Distributions, band, farthest
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.resampling import sequential_p
from skfairtest.metrics import Distribution
from skfairtest.tables import Kinds

UNDEFINED = "all people have the same value"


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


def measure_distribution(design: Design, metric: Distribution, kinds: Kinds, seed: np.random.SeedSequence) -> Measured:
    """Make and test the comparisons of distributions."""
    column = kinds.values[metric.column]
    if column.numbers is None:
        found = ", ".join(map(repr, column.levels[:5]))
        raise ParameterError(f"{metric.column} must hold numbers for metric={metric.name!r}; found {found}")
    comparisons: list[Comparison] = []
    excluded: list[Exclusion] = []
    for (contrast, other), own in zip(design.contrasts, seed.spawn(len(design.contrasts)), strict=True):
        sides = groups_of(design.sample.sizes.shape[1], contrast)
        strata = {s: _read(kinds, metric, s, sides) for s in range(len(design.sample.strata))}
        for place, of_place in zip(design.places, own.spawn(len(design.places)), strict=True):
            chosen = strata.values() if place is None else [strata[place]]
            both = [(values, counts, cluster) for values, counts, cluster in chosen if counts.sum(axis=1).all()]
            there = replace(contrast, stratum=place)
            if not any(np.ptp(values) > 0 for values, _, _ in both):
                excluded.append(design.left_out(metric.name, there, other, UNDEFINED if both else "no people", 0))
            else:
                comparisons.append(_compared(design, metric, there, other, both, of_place))
    # Pooled comparisons come before those within strata.
    comparisons.sort(key=lambda one: -1 if one.contrast.stratum is None else one.contrast.stratum)
    return comparisons, excluded, _medians(design, metric, kinds)


def _read(
    kinds: Kinds, metric: Distribution, stratum: int, sides: Sequence[np.ndarray]
) -> tuple[Floats, np.ndarray, np.ndarray | None]:
    """The values of kinds of people in a stratum, their counts (2, K) on both sides, and their clusters."""
    within, counts = kinds.within(stratum, list(sides))
    values = within.values[metric.column].numbers
    assert values is not None
    return values, counts, within.cluster


def _compared(
    design: Design, metric: Distribution, contrast: Contrast, other: object,
    strata: Sequence[tuple[Floats, np.ndarray, np.ndarray | None]], seed: np.random.SeedSequence,
) -> Comparison:  # fmt: skip
    settings = replace(design.settings, n_decisive=None)
    for _, counts, cluster in strata:
        if cluster is not None and any(np.bincount(cluster, counts[0]) * np.bincount(cluster, counts[1])):
            raise ParameterError(
                f"clusters: some have people on both sides of a comparison, and metric={metric.name!r} moves whole "
                "clusters between the sides; test a metric such as 'mean_prediction'"
            )
    distributions = Distributions.of(strata)
    statistic = distributions.observed

    def draw(size: int, own: np.random.SeedSequence) -> Floats:
        rng = np.random.default_rng(own)
        drawn = distributions.draw(size, rng)
        # What rounds to the observed statistic is a tie.
        return np.where(np.abs(drawn - statistic) <= 1e-9 * statistic, statistic, drawn)

    def done(parts: list[Floats]) -> bool:
        return sequential_p(np.concatenate(parts), statistic, "greater") is not None

    drawn = np.concatenate(resample(draw, settings, seed, what=metric.name, done=done))
    # Of strata, the differences are averaged by how many people say something about them.
    sizes = np.array([counts.sum(axis=1) for _, counts, _ in strata], dtype=float)
    weight = sizes.prod(axis=1) / sizes.sum(axis=1)
    scaled = [counts * (w / n)[:, None] for (_, counts, _), n, w in zip(strata, sizes, weight, strict=True)]
    at, shares = farthest(np.concatenate([s[0] for s in strata]), np.concatenate(scaled, axis=1))
    alone = len(strata) == 1 and strata[0][2] is None
    people = (int(sizes[0, 0]), int(sizes[0, 1])) if alone else (0, 0)
    null = DistanceNull(
        design.question(metric), people, estimate=shares[0] - shares[1], extreme="greater", studentized=False
    )
    one = design.comparison(
        metric.name, contrast, other, shares, shares[0] - shares[1], null, statistic=statistic, method="permutation",
        bounds=(-1.0, 1.0), at=at,
    )  # fmt: skip
    return with_draws(one, drawn, settings, side="greater")


def _medians(design: Design, metric: Distribution, kinds: Kinds) -> GroupValues:
    shape = design.sample.sizes.shape
    value, unknown = np.full(shape, np.nan), np.full(shape, np.nan)
    for stratum, group in np.argwhere(design.sample.sizes > 0).tolist():
        values, counts, _ = _read(kinds, metric, stratum, [np.arange(shape[1]) == group])
        order = np.argsort(values)
        below = np.cumsum(counts[0][order])
        middle = np.searchsorted(below, [below[-1] / 2, below[-1] / 2 + 0.5])
        value[stratum, group] = values[order][middle].mean()
    return GroupValues(design.sample.sizes, value, unknown, unknown, unknown)
