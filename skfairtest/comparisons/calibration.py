"""Calibration curves: groups against each other, or each group against its own scores."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats
from skfairtest.comparisons.contrasts import Design, groups_of
from skfairtest.comparisons.core import Comparison, Exclusion, GroupValues, Measurement, NullDistribution
from skfairtest.comparisons.resample import evidence_of_draws, resample
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.calibration import BetweenGroups, FromScores, Path, Scores, draw_moves, largest_move
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.resampling import sequential_p
from skfairtest.metrics import Calibration, Context
from skfairtest.tables import Kinds

#: How resamples are drawn: outcomes from scores, and the truly positive of a block of scores from both groups.
SIMULATED, PERMUTED = "simulation", "permutation within scores"


@dataclass(frozen=True)
class PathNull(NullDistribution):
    """The null distribution of the largest move of a path."""


@dataclass(frozen=True)
class _Reader:
    """Reads who is truly positive at which score, on some sides of a stratum."""

    metric: Calibration
    kinds: Kinds
    pos_label: object

    def scores(self, stratum: int, sides: list[Booleans]) -> Scores:
        """Count people and the truly positive by distinct score."""
        within, counts = self.kinds.within(stratum, sides)
        truth, score = self.metric.read(Context(within.values, self.pos_label))
        distinct, place = np.unique(score, return_inverse=True)
        people, positive = (
            np.stack([np.bincount(place.reshape(-1), side, len(distinct)) for side in counts * by])
            for by in (1.0, truth)
        )
        return Scores(distinct, np.rint(people).astype(np.int64), np.rint(positive).astype(np.int64))


def measure_calibration(design: Design, metric: Calibration, kinds: Kinds, seed: np.random.SeedSequence) -> Measurement:
    """Make and test the comparisons of a metric of calibration curves."""
    # A p-value of two sides has no number of resamples that is enough for a verdict.
    settings = replace(design.settings, n_decisive=None)
    reader = _Reader(metric, kinds, design.pos_label)
    comparisons: list[Comparison] = []
    excluded: list[Exclusion] = []
    contrasts = design.contrasts if metric.between else [(Contrast(group, None), None) for group in design.kept]
    for (contrast, other), own in zip(contrasts, seed.spawn(len(contrasts)), strict=True):
        paths = _paths(design, reader, contrast)
        seeds = own.spawn(len(design.places))
        for place, of_place in zip(design.places, seeds, strict=True):
            path = _joined(paths) if place is None else paths.get(place)
            found = _compared(design, metric, replace(contrast, stratum=place), other, path, settings, of_place)
            if isinstance(found, Comparison):
                comparisons.append(found)
            else:
                excluded.append(found)
    # Pooled comparisons come before those within strata.
    comparisons.sort(key=lambda one: -1 if one.estimate.contrast.stratum is None else one.estimate.contrast.stratum)
    return Measurement(tuple(comparisons), tuple(excluded), _values(design, reader))


def _paths(design: Design, reader: _Reader, contrast: Contrast) -> dict[int, Path]:
    """Return the path in each stratum in which both sides have people of about the same score."""
    sizes, metric = design.sample.sizes, reader.metric
    first, second = groups_of(sizes.shape[1], contrast)
    out: dict[int, Path] = {}
    for stratum in range(len(sizes)):
        if not metric.between and sizes[stratum, first].sum():
            out[stratum] = FromScores(reader.scores(stratum, [first]))
        elif metric.between and sizes[stratum, first].sum() and sizes[stratum, second].sum():
            path = BetweenGroups.of(reader.scores(stratum, [first, second]))
            if path.total:
                out[stratum] = path
    return out


def _joined(paths: dict[int, Path]) -> Path | None:
    """Return the path of all strata together."""
    found = list(paths.values())
    if len(found) < 2:
        return found[0] if found else None
    return type(found[0]).joined(found)  # type: ignore[arg-type]


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
    estimate = design.estimate(metric.name, contrast, other, (np.nan, np.nan), move / path.total, n=n)
    evidence = evidence_of_draws(drawn, statistic, "two-sided", settings, method, np.nan)
    return Comparison(estimate, PathNull(design.question(metric)), evidence)


def _is_done(observed: float, parts: list[Floats]) -> bool:
    return sequential_p(np.concatenate(parts), observed, "two-sided") is not None


def _values(design: Design, reader: _Reader) -> GroupValues:
    """Return each group's largest cumulative difference from its scores, in every stratum."""
    shape = design.sample.sizes.shape
    value = np.full(shape, np.nan)
    for stratum, group in np.argwhere(design.sample.sizes > 0).tolist():
        path = FromScores(reader.scores(stratum, [np.arange(shape[1]) == group]))
        value[stratum, group] = abs(float(largest_move(path.steps(), kuiper=reader.metric.kuiper)[0])) / path.total
    unknown = np.full(shape, np.nan)
    return GroupValues(design.sample.sizes, value, unknown, unknown, unknown)


def check_calibration(metric: Calibration, settings: Settings) -> None:
    """Refuse parameters that have no meaning for calibration curves.

    Raises
    ------
    ValueError
        If an alternative, a margin, an adjustment or a method is set that does not exist for them.
    """
    question = settings.question
    if question.alternative != "two-sided" or question.margin_bounds is not None:
        raise ParameterError(
            f"metric={metric.name!r} compares curves, which have no direction and no margin: use "
            "alternative='two-sided' and margin=None, or metric='calibration'"
        )
    if question.method not in ("auto", "permutation") or settings.within != "auto":
        raise ParameterError(
            f"metric={metric.name!r} has its own null distribution: use method='auto' and within='auto'"
        )
    if settings.adjust == "max_t":
        raise ParameterError(f"adjust='max_t' is not for metric={metric.name!r}: use adjust='auto', which is Holm's")
    if not metric.between and settings.compare != "between_groups" and not settings.crossed:
        raise ParameterError(
            f"compare={settings.compare!r} is not for metric={metric.name!r}, which compares each group with its own "
            "scores: use compare='between_groups'"
        )
