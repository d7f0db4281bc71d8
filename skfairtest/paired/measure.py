"""Two models on the same samples: what is tested of rates, and its frames.

Two models and one group: McNemar's exact test that a rate is the same under both.

The frames of two models: each metric and each comparison under both.

Two models on the same samples: what is tested of rates whose condition no model decides.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest._utils.errors import GroupsMissing
from skfairtest._utils.progress import progress
from skfairtest._utils.typing import Floats, Integers
from skfairtest.comparisons import core
from skfairtest.comparisons.contrasts import Design, Known, disparity_bounds, groups_of
from skfairtest.comparisons.engine import judge
from skfairtest.comparisons.evaluation import Evaluation, binning_error
from skfairtest.comparisons.frames import frame_of
from skfairtest.comparisons.measure import COLUMNS, evaluation_of, is_counted, measure_metric, positive_label
from skfairtest.comparisons.settings import Settings
from skfairtest.comparisons.studentized import measure_studentized
from skfairtest.inference.conditional import mcnemar
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.rates import quantiles
from skfairtest.metrics import Context
from skfairtest.paired import statistics
from skfairtest.paired.metric import Paired
from skfairtest.tables import Kinds, Sample


@dataclass(frozen=True)
class OneGroupNull(core.NullDistribution):
    """What chance does to the change of a rate in one group: counts of who has the event under B alone, A alone."""

    counts: np.ndarray

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Return Tango's score limits."""
        (low, _), (_, high) = (
            statistics.limits_of_mean(self.counts, z) if np.isfinite(z) else bounds for z in critical
        )
        return low, high

    def error(self, estimate: core.Estimate) -> float:
        """Return the standard error of the change."""
        plus, minus, rest = self.counts.tolist()
        n = plus + minus + rest
        return float(np.sqrt((plus + minus) / n - ((plus - minus) / n) ** 2) / np.sqrt(n))


def compare_in_one_group(
    sample: Sample,
    metrics: Sequence[Paired],
    settings: Settings,
    *,
    pos_label: Any = None,
    classes: tuple[Any, ...] | None = None,
) -> core.Result:
    """Compare a rate under model B (`group`) and under model A (`other`), of all samples together.

    Raises
    ------
    GroupsMissing
        If a metric has no such test, or samples have weights or come in clusters.
    """
    others = [metric.name for metric in metrics if not metric.is_change]
    simple = sample.weight is None and sample.clusters is None and settings.question.alternative != "equivalence"
    if others or not simple:
        why = f"{others[0]} has none" if others else "these have weights, clusters or a margin"
        names = " x ".join(sample.sensitive_names)
        raise GroupsMissing(
            f"sensitive_features ({names}) holds one group only (n_samples={sample.n_samples}): two models are then "
            "compared by McNemar's test, of rates whose condition no model decides and people who count alike; " + why
        )
    positive = positive_label(sample, metrics, pos_label, classes)
    alternative, shape = settings.question.alternative, sample.sizes.shape
    comparisons, by_metric = [], {}
    for metric in metrics:
        kinds = sample.kinds([name for name in COLUMNS if name in metric.reads])
        changes, sums = (changes_of(metric, kinds, positive, shape, together=both) for both in (False, True))
        counts = changes.sum(axis=(0, 1))
        n, both = int(counts.sum()), int(sums[..., 0].sum())
        if not n:
            raise GroupsMissing(f"{metric.name} is undefined: nobody meets the condition ({metric.of.among})")
        plus, minus = int(counts[0]), int(counts[1])
        rates = (plus + both) / n, (minus + both) / n
        null = OneGroupNull(settings.question, counts)
        estimate = core.Estimate(
            metric.name, "model B", "model A", None, Contrast(0, 1), sample.n_samples, sample.n_samples, *rates,
            rates[0] - rates[1], (-1.0, 1.0),
        )  # fmt: skip
        z = (plus - minus) / np.sqrt(plus + minus) if plus + minus else 0.0
        evidence = core.Evidence(
            mcnemar(plus, minus, alternative), "exact conditional", float(z), null.error(estimate),
        )  # fmt: skip
        comparisons.append(core.Comparison(estimate, null, evidence))
        by_metric[metric.name] = _measurement(changes, sums, settings.alpha, comparisons[-1])
    rates_shown = tuple(metric.of for metric in metrics)
    measured = core.Measured(settings, tuple(comparisons), (), sample, rates_shown, positive, by_metric)
    return judge([measured], settings)[0]


def _measurement(changes: np.ndarray, sums: np.ndarray, alpha: float, comparison: core.Comparison) -> core.Measurement:
    values: core.GroupValues = change_values(changes, alpha)
    n = changes.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_models = np.stack([(changes[..., 1] + sums[..., 0]) / n, (changes[..., 0] + sums[..., 0]) / n])
    return core.Measurement((comparison,), (), values, "score", models=core.Models(of_models, np.zeros((0, 2))))


def by_model_frame(measured: core.Measured) -> pd.DataFrame:
    """Each metric under models A and B in each stratum and group that has samples, as a flat frame."""
    sample = measured.sample
    assert sample is not None
    strata = sample.stratum_labels if sample.control_names else [None] * len(sample.strata)
    rows = [
        (name, strata[s], sample.group_labels[g], int(sample.sizes[s, g]), *one.models.values[:, s, g].tolist())
        for name, one in measured.by_metric.items()
        if one.models is not None
        for s, g in np.argwhere(sample.sizes > 0).tolist()
    ]
    names = ("metric", "stratum", "group", "n", "value_a", "value_b")
    return frame_of({name: [row[place] for row in rows] for place, name in enumerate(names)})


def disparities_frame(measured: core.Measured) -> pd.DataFrame:
    """Each comparison's disparity under models A and B, and their difference, in the order of the comparisons."""
    rows = [
        (one.estimate, *pair)
        for of_metric in measured.by_metric.values()
        if of_metric.models is not None and len(of_metric.models.disparities)
        for one, pair in zip(of_metric.comparisons, of_metric.models.disparities.tolist(), strict=True)
    ]
    labels = {name: [getattr(row[0], name) for row in rows] for name in ("metric", "group", "other", "stratum")}
    a, b = ([row[place] for row in rows] for place in (1, 2))
    columns = {**labels, "disparity_a": a, "disparity_b": b}
    return frame_of({**columns, "difference": [of_b - of_a for of_a, of_b in zip(a, b, strict=True)]})


#: What gives a p-value, as results call it.
METHODS = {"normal": "asymptotic", "enumerated": "enumerated parametric bootstrap", "sampled": "parametric bootstrap"}


@dataclass(frozen=True)
class ChangeNull(core.DrawnNull):
    """What chance does to the difference of two groups' changes from model A to model B.

    A group that is compared with everyone is tested against everyone else; it is `times` as far from everyone.
    """

    changes: statistics.Changes
    times: float = 1.0

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Invert the score test."""
        low, high = statistics.limits(self.changes, critical, (bounds[0] / self.times, bounds[1] / self.times))
        return self.times * low, self.times * high

    @classmethod
    def limits_of_all(
        cls, nulls: Sequence[Self], critical: Sequence[tuple[float, float]], bounds: Sequence[tuple[float, float]]
    ) -> list[tuple[float, float]]:
        """Return the limits of several comparisons, once for all with the same counts: small strata are often alike."""
        known: dict[tuple[object, ...], tuple[float, float]] = {}
        found = []
        for null, values, ends in zip(nulls, critical, bounds, strict=True):
            key = (null.changes.counts.tobytes(), null.times, values, ends)
            known[key] = known[key] if key in known else null.limits(values, ends)
            found.append(known[key])
        return found

    def error(self, estimate: core.Estimate) -> float:
        """Return the standard error."""
        return self.times * self.changes.error

    def n_effective(self, estimate: core.Estimate) -> int:
        """The number of samples of the group that meet the condition."""
        return int(self.changes.n[0].sum())


@dataclass(frozen=True)
class SizesNull(core.DrawnNull):
    """What chance does to the size of model B's disparity less that of model A's.

    `sums` are counts of the sum of both models' events, as `changes` are of their difference.
    """

    changes: statistics.Changes
    sums: statistics.Changes

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Invert the test, which has an upper limit alone."""
        return bounds[0], min(bounds[1], statistics.upper_limit_of_sizes(self.changes, self.sums, critical[1]))

    def error(self, estimate: core.Estimate) -> float:
        """Return the standard error where both disparities have one sign."""
        return self.changes.error

    def n_effective(self, estimate: core.Estimate) -> int:
        """The number of samples of the group that meet the condition."""
        return int(self.changes.n[0].sum())


@measure_metric.register(Paired)
def _(metric: Paired, design: Design, kinds: Kinds, known: Known, seed: np.random.SeedSequence) -> core.Measurement:
    made = evaluation_of(design, metric, kinds)
    if metric.is_change and is_counted(design.sample, design.settings):
        found = measure_changes(design, metric, made, known, seed)
    else:
        found = measure_studentized(design, made, known, seed)
    models = models_of(made, found.comparisons)
    return replace(found, models=models, binning_error=binning_error(made, design.sample))


def measure_changes(
    design: Design, metric: Paired, made: Evaluation, known: Known, seed: np.random.SeedSequence
) -> core.Measurement:
    """Make and test the comparisons of a rate's change; a hypothesis is tested once."""
    counts = changes_of(metric, made.kinds, made.pos_label, design.sample.sizes.shape)
    sums = changes_of(metric, made.kinds, made.pos_label, design.sample.sizes.shape, together=True)
    bounds, settings = disparity_bounds(metric.bounds, "difference"), design.settings
    question = made.question
    if question.alternative == "equivalence":
        bounds = (bounds[0] / 2, bounds[1] / 2)  # of sizes
    missing: Counter[tuple[int, int | None]] = Counter()
    excluded: list[core.Exclusion] = []
    comparisons: list[core.Comparison] = []
    seeds = seed.spawn(len(design.places) * len(design.contrasts))
    with progress(metric.name, len(seeds), bool(settings.verbose)) as advance:
        for number, (place, (base, other)) in enumerate((p, c) for p in design.places for c in design.contrasts):
            advance()
            here = list(range(len(counts))) if place is None else [place]
            sides = groups_of(counts.shape[1], base)
            both, together = (
                np.stack([of_all[here][:, side].sum(axis=1) for side in sides]) for of_all in (counts, sums)
            )
            n = both.sum(axis=-1)
            defined = (n > 0).all(axis=0)
            contrast = replace(base, stratum=place)
            if not defined.any():
                totals = zip((base.first, base.second), n.sum(axis=1).tolist(), strict=True)
                lacking = [side for side, total in totals if side is not None and not total]
                missing.update((side, place) for side in lacking)
                if not lacking:
                    reason = "no one on the other side meets the condition"
                    reason += " in the same stratum" if design.sample.control_names else ""
                    excluded.append(design.left_out(metric.name, contrast, other, reason, int(n[0].sum())))
                continue
            changes = statistics.Changes(both[:, defined])
            first, second, times = changes.means[0], changes.means[1], 1.0
            if base.overall:
                n1, n2 = changes.n
                first, times = n1 @ changes.mean_of(0) / n1.sum(), float((n1 * n2 / (n1 + n2)).sum() / n1.sum())
                second = first - times * (changes.means[0] - changes.means[1])
            strata = np.array(here)[defined].tolist()
            if question.alternative == "equivalence":
                total = statistics.Changes(together[:, defined])
                first, second = sizes_of(changes, total)
            estimate = design.estimate(
                metric.name, contrast, other, (float(first), float(second)), float(first - second), bounds,
                hypothesis=design.hypothesis(question, base, (metric.name, False), strata), strata=strata,
            )  # fmt: skip
            if question.alternative == "equivalence":
                assert question.margin_bounds is not None
                sizes = SizesNull(question, changes, total)
                answer = statistics.compare_sizes(
                    changes, total, question.margin_bounds[1], n_resamples=settings.n_resamples, seed=seeds[number]
                )
                comparisons.append(core.Comparison(estimate, sizes, evidence_of(answer, changes.error, "less")))
                continue
            null = ChangeNull(question, changes, times)
            hypothesis, alternative = estimate.hypothesis, question.alternative
            if hypothesis is not None and hypothesis in known:
                sign, first_one = known[hypothesis]
                evidence = first_one.mirrored(estimate.sign * sign, null.error(estimate))
            else:
                found = statistics.compare_changes(
                    changes, alternative=alternative, n_resamples=settings.n_resamples, seed=seeds[number]
                )
                evidence = evidence_of(found, null.error(estimate), alternative)
                if hypothesis is not None:
                    known[hypothesis] = estimate.sign, evidence
            comparisons.append(core.Comparison(estimate, null, evidence))
    excluded += design.undefined(metric.name, missing, f"undefined: nobody meets the condition ({metric.of.among})")
    return core.Measurement(tuple(comparisons), tuple(excluded), change_values(counts, settings.alpha), "score")


def changes_of(
    metric: Paired, kinds: Kinds, pos_label: object, shape: tuple[int, ...], *, together: bool = False
) -> Integers:
    """Count who has the event under B alone, under A alone, and under both or neither: an array (S, G, 3).

    With `together`: under both, under neither, and under one.
    """
    context = Context(kinds.values, pos_label)
    (event_a, given), (event_b, _) = (metric.masks(context, model) for model in ("a", "b"))
    second = event_a if together else ~event_a
    plus, minus = event_b & second & given, ~event_b & ~second & given
    masks = np.stack([plus, minus, given & ~plus & ~minus], axis=1)
    if kinds.counts is not None:
        return np.asarray(kinds.counts @ masks.astype(np.int64))
    assert kinds.group is not None
    stratum = np.zeros(kinds.size, dtype=np.intp) if kinds.stratum is None else kinds.stratum
    out = np.zeros((*shape, 3), dtype=np.int64)
    np.add.at(out, (stratum, kinds.group), masks)
    return out


def sizes_of(changes: statistics.Changes, sums: statistics.Changes) -> tuple[float, float]:
    """Return the sizes of the disparities of models B and A."""
    difference, total = (float(one.means[0] - one.means[1]) for one in (changes, sums))
    return abs(total + difference) / 2, abs(total - difference) / 2


def evidence_of(found: statistics.Found, error: float, alternative: str) -> core.Evidence:
    """The result of a test of changes, as evidence."""
    n_defined = 0 if found.draws is None else len(found.draws)
    return core.Evidence(
        found.log_p, METHODS[found.decided], found.statistic, error, found.draws, found.n_extreme, n_defined,
    )  # fmt: skip


def change_values(counts: Integers, alpha: float) -> core.GroupValues:
    """Return the change of every stratum and group, with Tango's limits."""
    n = counts.sum(axis=-1)
    z, _ = quantiles("two-sided", alpha)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = (counts[..., 0] - counts[..., 1]) / n
        error: Floats = np.sqrt(np.maximum((counts[..., 0] + counts[..., 1]) / n - value**2, 0.0) / n)
    found = np.array([[statistics.limits_of_mean(of_group, z) for of_group in of_stratum] for of_stratum in counts])
    return core.GroupValues(n, value, error, found[..., 0], found[..., 1])


def models_of(made: Evaluation, comparisons: Sequence[core.Comparison]) -> core.Models:
    """Evaluate the metric under both models: in every stratum and group, and its disparities."""
    shape = _shape(made.kinds)
    groups = [np.arange(shape[1]) == group for group in range(shape[1])]
    values = np.stack([_of_models(made, stratum, groups)[0] for stratum in range(shape[0])], axis=1)
    found: dict[tuple[object, ...], tuple[Floats, Floats]] = {}
    disparities = []
    for comparison in comparisons:
        contrast = comparison.estimate.contrast
        first, second = groups_of(shape[1], contrast)
        sides = [first, first | second if contrast.overall else second]
        total, weights = np.zeros(2), 0.0
        for stratum in range(shape[0]) if contrast.stratum is None else [contrast.stratum]:
            key = (stratum, *(tuple(side.tolist()) for side in sides))
            if key not in found:
                found[key] = _of_models(made, stratum, sides)
            (one, other), (mass, rest) = found[key][0].T, found[key][1]
            weight = mass if contrast.overall else mass * rest / (mass + rest) if mass and rest else 0.0
            if weight and not np.isnan(one + other).any():
                total, weights = total + weight * (one - other), weights + weight
        disparities.append(total / weights)
    return core.Models(values, np.reshape(disparities, (-1, 2)))


def _shape(kinds: Kinds) -> tuple[int, int]:
    if kinds.counts is not None:
        return kinds.counts.shape[:2]
    assert kinds.group is not None
    return 1 if kinds.stratum is None else int(kinds.stratum.max()) + 1, int(kinds.group.max()) + 1


def _of_models(made: Evaluation, stratum: int, sides: Sequence[np.ndarray]) -> tuple[Floats, Floats]:
    """Return the values of models A and B in sets of groups, (2, M), and what they are divided by, (M,)."""
    kinds, counts = made.kinds.within(stratum, sides)
    masses = counts * (1.0 if kinds.weight is None else kinds.weight)
    assert isinstance(made.metric, Paired)
    of_a, of_b = (made.metric.of_model(Context(kinds.values, made.pos_label), model) for model in ("a", "b"))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack([of_a.values(masses), of_b.values(masses)]), (
            of_a.denominator(masses) + of_b.denominator(masses)
        ) / 2
