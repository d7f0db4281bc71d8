"""Two models on the same samples: the change of a metric, how it is tested, and the values of both models.

The error of a change includes the covariance of the models. Rates whose condition does not depend on the prediction
have a score test, and in one group McNemar's exact test.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator

from skfairtest._utils.errors import GroupsMissing, ParameterError
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.comparisons import core
from skfairtest.comparisons.contrasts import Design, Known, groups_of
from skfairtest.comparisons.engine import judge
from skfairtest.comparisons.evaluation import Evaluation
from skfairtest.comparisons.measure import COLUMNS, evaluation_of, is_counted, measure_metric, positive_label
from skfairtest.comparisons.settings import Settings
from skfairtest.comparisons.studentized import measure_studentized
from skfairtest.inference.conditional import mcnemar
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.rates import quantiles
from skfairtest.metrics import Context
from skfairtest.metrics.functionals import (
    Auc,
    Evaluated,
    Functional,
    Mean,
    Share,
    correction,
    per_person,
    ratio_of,
)
from skfairtest.metrics.omnibus import Omnibus
from skfairtest.metrics.rates import Rate
from skfairtest.metrics.resolve import Metric
from skfairtest.metrics.score_metric import ScoreMetric, shared_codes
from skfairtest.metrics.scores import BuiltIn
from skfairtest.paired import statistics
from skfairtest.tables import Kinds, Sample

#: The models, as columns are called after them.
MODELS = ("a", "b")


class Change(Functional):
    """The value of a metric under model B less that under model A, on the same samples.

    A sample's part of the error is the difference of its parts under both models, as in DeLong's test of ROC areas.
    """

    def __init__(self, of_b: Functional, of_a: Functional) -> None:
        self.of_b, self.of_a = of_b, of_a
        if isinstance(of_b, Mean) and isinstance(of_a, Mean):
            self.of_b, self.of_a = of_b.less(of_b.origin), of_a.less(of_b.origin)
        low, high = of_b.bounds
        self.bounds, self.error = (low - high, high - low), of_b.error
        self.is_mean = of_b.is_mean or isinstance(of_b, Share)

    def values(self, masses: Floats) -> Floats:
        """Return the change."""
        return self.of_b.values(masses) - self.of_a.values(masses)

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the change and its parts, around the values of these samples whatever those of all are."""
        (value_b, parts_b), (value_a, parts_a) = self.of_b.parts(masses), self.of_a.parts(masses)
        return value_b - value_a, parts_b - parts_a

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the change and its variance; DeLong's corrects both classes for their sizes."""
        value, parts = self.parts(counts)
        if isinstance(self.of_b, Auc):
            return value, self.of_b.variance(parts, counts)
        return value, (parts * per_person(parts, counts)).sum(axis=-1) * correction(counts)

    def effective(self, counts: Floats) -> Floats:
        """The smaller of the two denominators."""
        return np.minimum(self.of_b.effective(counts), self.of_a.effective(counts))

    def base(self, masses: Floats) -> Floats:
        """Return the average of what both values are divided by."""
        return np.asarray((self.of_b.base(masses) + self.of_a.base(masses)) / 2)

    def informative(self, counts: Floats) -> Floats:
        """The effective number of samples: the squared sum of squared parts over the sum of fourth powers."""
        each = per_person(self.parts(counts)[1], counts)
        squares, fourth = (counts * each**2).sum(axis=-1), (counts * each**4).sum(axis=-1)
        return np.where(squares > 0, ratio_of(squares**2, np.maximum(fourth, 1e-300)), 0.0)


@dataclass(frozen=True)
class Paired(BuiltIn):
    """The change of a metric from model A to model B."""

    of: Any = None

    def context(self, context: Context, model: str) -> Context:
        """The columns of one model that the metric reads."""
        columns = {name: context.columns[_column(name, model)] for name in self.of.reads}
        return Context(columns, context.pos_label)

    def masks(self, context: Context, model: str) -> tuple[Booleans, Booleans]:
        """Masks of the kinds in a rate's numerator and denominator under one model."""
        columns = self.context(context, model).columns
        positive = {name: cells.is_label(context.pos_label) for name, cells in columns.items()}
        return self.of.masks(positive, shared_codes(columns))  # type: ignore[no-any-return]

    def of_model(self, context: Context, model: str) -> Functional:
        """Return the metric of one model."""
        if isinstance(self.of, Rate):
            return Share(*self.masks(context, model), self.of.value, self.of.slope)
        return self.of.functional(self.context(context, model))  # type: ignore[no-any-return]

    @property
    def is_share(self) -> bool:
        """Whether values under one model are shares of people."""
        return isinstance(self.of, Rate) and self.of.value is None

    @property
    def is_change(self) -> bool:
        """Whether it is the mean of a difference of events among those who meet a condition that no model decides."""
        return self.is_share and "y_pred" not in self.of.condition_reads

    @property
    def takes_weights(self) -> bool:
        """Whether samples may count more or less than one."""
        return isinstance(self.of, Rate) or bool(self.of.takes_weights)

    def functional(self, context: Context) -> Functional:
        """Return the change as a function of counts."""
        of_b, of_a = (self.of_model(context, model) for model in ("b", "a"))
        change = Change(of_b, of_a)
        return Evaluated(change.values, None, self.bounds) if type(of_b) is Evaluated else change

    def check(self, context: Context, masses: Floats) -> None:
        """Refuse samples of which a user's function has no value under either model."""
        if isinstance(self.of, ScoreMetric):
            for model in MODELS:
                self.of.check(self.context(context, model), masses)


def _column(name: str, model: str) -> str:
    return name if name == "y_true" else f"{name}_{model}"


def paired(metric: Metric) -> Paired:
    """Return the change of a metric from model A to model B.

    Examples
    --------
    >>> from skfairtest.metrics import resolve_metrics
    >>> change = paired(resolve_metrics("true_positive_rate")[0])
    >>> sorted(change.reads), change.bounds, change.is_change
    (['y_pred_a', 'y_pred_b', 'y_true'], (-1.0, 1.0), True)
    """
    if isinstance(metric, Omnibus):
        raise ParameterError(
            f"metric={metric.name!r} looks at all groups at once and has no value of each, whose change could be "
            "compared: name a rate or another metric of each group"
        )
    if metric.disparity not in (None, "difference"):
        raise ParameterError(
            f"metric={metric.name!r} is compared by the {metric.disparity}, and two models by differences alone: name "
            "the metric without it"
        )
    if not metric.reads - {"y_true"}:
        raise ParameterError(f"metric={metric.name!r} reads nothing that a model says, and is the same for both models")
    name, (low, high) = metric.name, getattr(metric, "bounds", (0.0, 1.0))
    words = getattr(metric, "describes", "") or (f"the {name.replace('_', ' ')}" if name.isidentifier() else name)
    return Paired(
        name,
        paired,  # not called: its functional is
        bounds=(low - high, high - low),
        within=getattr(metric, "within", None),
        describes=f"the change of {words} from model A to model B",
        columns=tuple(dict.fromkeys(_column(read, model) for read in sorted(metric.reads)[::-1] for model in MODELS)),
        positive=getattr(metric, "positive", "always" if metric.needs_pos_label else "never"),
        undefined=getattr(metric, "undefined", ""),
        power=getattr(metric, "power", 1),
        of=metric,
    )


@dataclass(frozen=True)
class ChangeNull(core.NullDistribution):
    """The null distribution of the difference of two groups' changes from model A to model B.

    With `sums` (counts of both models' events): of the size of B's disparity minus A's. A group compared with all
    people is tested against the rest, whose distance is larger by 1 / `times`.
    """

    changes: statistics.Changes
    sums: statistics.Changes | None = None
    times: float = 1.0
    has_drawn_limits: ClassVar[bool] = True

    @classmethod
    def limits_of_all(
        cls, nulls: Sequence[Self], critical: Sequence[tuple[float, float]], bounds: Sequence[tuple[float, float]]
    ) -> list[tuple[float, float]]:
        """Invert the tests of several comparisons at once; a comparison of sizes has only an upper limit."""
        changes, sums = [null.changes for null in nulls], [null.sums for null in nulls if null.sums is not None]
        z, ends, times = np.array(critical), np.array(bounds), np.array([[null.times] for null in nulls])
        if sums:
            upper = statistics.upper_limits_of_sizes(changes, sums, z[:, 1])
            found = np.stack([ends[:, 0], np.minimum(upper, ends[:, 1])], axis=1)
        else:
            found = times * statistics.limits(changes, z, ends / times)
        return list(map(tuple, found.tolist()))

    def error(self) -> float:
        """Return the standard error, of sizes where both disparities have one sign."""
        return self.times * self.changes.error


@dataclass(frozen=True)
class OneGroupNull(core.NullDistribution):
    """The null distribution of a rate's change in one group, from the people with the event under B or A alone."""

    counts: Integers

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Return Tango's score limits."""
        ends = [end if np.isinf(z) else statistics.limits_of_mean(self.counts, z)[k].item()
                for k, (z, end) in enumerate(zip(critical, bounds, strict=True))]  # fmt: skip
        return ends[0], ends[1]

    def error(self) -> float:
        """Return the standard error of the change."""
        return float(np.sqrt(statistics.variances_of(self.counts) / self.counts.sum()))


def compare_in_one_group(
    sample: Sample, metrics: Sequence[Paired], settings: Settings, *, pos_label: Any, classes: tuple[Any, ...] | None
) -> core.Result:
    """Compare a rate under model B (`group`) and under model A (`other`), of all samples together."""
    others = [metric.name for metric in metrics if not metric.is_change]
    simple = sample.weight is None and sample.clusters is None and settings.question.alternative != "equivalence"
    if others or not simple:
        why = f"{others[0]} has none" if others else "these have weights, clusters or a margin"
        names = " x ".join(sample.sensitive_names)
        raise GroupsMissing(
            f"sensitive_features ({names}) holds one group only (n_samples={sample.n_samples}): two models are then "
            "compared by McNemar's test, of rates whose condition no model decides and people without weights or "
            "clusters; " + why
        )
    positive = positive_label(sample, metrics, pos_label, classes)
    design = Design(sample, settings, (0,), (), positive, pos_label, (0,))
    comparisons: list[core.Comparison] = []
    by_metric: dict[str, core.GroupValues] = {}
    for metric in metrics:
        kinds = sample.kinds([name for name in COLUMNS if name in metric.reads])
        _, _, values = measure_metric(metric, design, kinds, {}, np.random.SeedSequence(0))
        changes, sums = counts_of(metric, kinds, positive, sample.sizes.shape).sum(axis=(1, 2))
        (plus, minus, _), n = changes.tolist(), int(changes.sum())
        if not n:
            raise GroupsMissing(f"{metric.name} is undefined: no one meets the condition ({metric.of.among})")
        under_b, under_a = ((only + int(sums[0])) / n for only in (plus, minus))
        null = OneGroupNull(settings.question, changes)
        assert values is not None
        by_metric[metric.name] = values
        comparisons.append(core.Comparison(
            metric.name, "model B", "model A", None, Contrast(0, 1), sample.n_samples, sample.n_samples, under_b,
            under_a, under_b - under_a, null, (-1.0, 1.0), log_p=mcnemar(plus, minus, settings.question.alternative),
            method="exact conditional", statistic=float((plus - minus) / max(np.sqrt(plus + minus), 1.0)),
            standard_error=null.error(),
        ))  # fmt: skip
    rates = tuple(metric.of for metric in metrics)
    return judge([core.Result(settings, tuple(comparisons), (), sample, rates, positive, by_metric)], settings)[0]


@measure_metric.register(Paired)
def _(metric: Paired, design: Design, kinds: Kinds, known: Known, seed: np.random.SeedSequence) -> core.Measured:
    made = evaluation_of(design, metric, kinds)
    counted = metric.is_change and is_counted(design.sample, design.settings)
    found = measure_changes(design, metric, made, known, seed) if counted else measure_studentized(
        design, made, known, seed)  # fmt: skip
    comparisons, excluded, values = found
    assert values is not None
    both = models_of(made, design.sample.sizes.shape, [one.contrast for one in comparisons])
    return comparisons, excluded, replace(values, further=both)


def measure_changes(
    design: Design, metric: Paired, made: Evaluation, known: Known, seed: np.random.SeedSequence
) -> core.Measured:
    """Make and test the comparisons of a rate's change; a hypothesis is tested once."""
    question, shape = made.question, design.sample.sizes.shape
    counts, fairer = counts_of(metric, made.kinds, made.pos_label, shape), question.alternative == "equivalence"
    missing: Counter[tuple[int, int | None]] = Counter()
    excluded: list[core.Exclusion] = []
    comparisons: list[core.Comparison] = []
    tasks = list(product(design.places, design.contrasts))
    for (place, (base, other)), own in zip(tasks, seed.spawn(len(tasks)), strict=True):
        contrast, here = replace(base, stratum=place), np.arange(shape[0]) if place is None else np.array([place])
        sides = np.stack([counts[:, here][:, :, side].sum(axis=2) for side in groups_of(shape[1], base)], axis=1)
        n = sides[0].sum(axis=-1)
        defined = (n > 0).all(axis=0)
        if not defined.any():
            totals = zip((base.first, base.second), n.sum(axis=1).tolist(), strict=True)
            lacking = [side for side, total in totals if side is not None and not total]
            missing.update((side, place) for side in lacking)
            if not lacking:
                reason = "no one on the other side meets the condition"
                reason += " in the same stratum" if design.sample.control_names else ""
                excluded.append(design.left_out(metric.name, contrast, other, reason, int(n[0].sum())))
            continue
        changes, sums = (statistics.Changes(each) for each in sides[:, :, defined])
        (first, second), times, strata = changes.means, 1.0, here[defined].tolist()
        if fairer:
            total, difference = (float(each.means[0] - each.means[1]) for each in (sums, changes))
            first, second = abs(total + difference) / 2, abs(total - difference) / 2
        elif base.overall:
            n1, n2 = changes.n
            times = float((n1 * n2 / (n1 + n2)).sum() / n1.sum())
            difference, first = first - second, n1 @ statistics.means_of(changes.counts[0]) / n1.sum()
            second = first - times * difference
        null = ChangeNull(question, changes, sums if fairer else None, times)
        one = design.comparison(
            metric.name, contrast, other, (float(first), float(second)), float(first - second), null,
            bounds=(-1.0, 1.0) if fairer else (-2.0, 2.0), standard_error=null.error(),
            hypothesis=design.hypothesis(question, base, (metric.name, False), strata), strata=strata,
        )  # fmt: skip
        hypothesis = None if fairer else one.hypothesis
        if hypothesis in known:
            one = one.tested_as(known[hypothesis])
        else:
            how: Any = {"n_resamples": design.settings.n_resamples, "seed": own}
            if question.margin_bounds is not None:
                tested = statistics.compare_sizes(changes, sums, question.margin_bounds[1], **how)
            else:
                tested = statistics.compare_changes(changes, alternative=question.alternative, **how)
            one = replace(one, **tested._asdict(), n_defined=0 if tested.draws is None else len(tested.draws))
            if hypothesis is not None:
                known[hypothesis] = one
        comparisons.append(one)
    excluded += design.undefined(metric.name, missing, f"undefined: no one meets the condition ({metric.of.among})")
    n = counts[0].sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        value, variance = statistics.means_of(counts[0]), statistics.variances_of(counts[0])
        error_of_each: Floats = np.sqrt(np.maximum(variance, 0.0) / n)
    low, high = statistics.limits_of_mean(counts[0], quantiles("two-sided", design.settings.alpha)[0])
    values = core.GroupValues(n, value, error_of_each, low, high, "score")
    return comparisons, excluded, values


def counts_of(metric: Paired, kinds: Kinds, pos_label: object, shape: tuple[int, ...]) -> Integers:
    """Count changes and sums of both models' events, an array (2, S, G, 3).

    Changes: event under B alone, under A alone, both or neither. Sums: both, neither, one.
    """
    context = Context(kinds.values, pos_label)
    (a, given), (b, _) = (metric.masks(context, model) for model in MODELS)
    masks = (np.stack([b & ~a, a & ~b, a == b, a & b, ~a & ~b, a != b]) & given).T.astype(np.int64)
    if kinds.counts is not None:
        counts = kinds.counts @ masks
    else:
        assert kinds.group is not None
        counts = np.zeros((*shape, 6), dtype=np.int64)
        stratum = np.zeros(kinds.size, dtype=np.intp) if kinds.stratum is None else kinds.stratum
        np.add.at(counts, (stratum, kinds.group), masks)
    return np.moveaxis(counts.reshape(*shape, 2, 3), 2, 0)


def models_of(made: Evaluation, shape: tuple[int, ...], contrasts: Sequence[Contrast]) -> tuple[Floats, Floats]:
    """Return the metric under both models in every stratum and group, (2, S, G), and disparities of contrasts, (C, 2).

    Strata are weighted by the average denominator of the two models.
    """
    assert isinstance(made.metric, Paired)
    each = np.eye(shape[1], dtype=bool)
    pairs = all(contrast.second is not None for contrast in contrasts)
    sets = [*each] if pairs else [*each, *~each, each[0] | True]  # groups, the rest of each, and everyone
    values, masses = np.full((2, shape[0], len(sets)), np.nan), np.zeros((shape[0], len(sets)))
    for stratum in range(shape[0]):
        kinds, counts = made.kinds.within(stratum, sets)
        counts = counts * (1.0 if kinds.weight is None else kinds.weight)
        context = Context(kinds.values, made.pos_label)
        of_models = [made.metric.of_model(context, model) for model in MODELS]
        with np.errstate(invalid="ignore", divide="ignore"):
            values[:, stratum] = [of_model.values(counts) for of_model in of_models]
            masses[stratum] = sum(of_model.denominator(counts) for of_model in of_models) / 2
    disparities = []
    for contrast in contrasts:
        one, rest = contrast.first, -1 if contrast.overall else shape[1] + contrast.first
        other = rest if contrast.second is None else contrast.second
        here = slice(None) if contrast.stratum is None else [contrast.stratum]
        gaps, first, second = (values[..., one] - values[..., other])[:, here], masses[here, one], masses[here, other]
        weight = first if contrast.overall else first * second / np.maximum(first + second, 1e-300)
        weight = np.where(np.isnan(gaps).any(axis=0), 0.0, weight)
        disparities.append(np.nan_to_num(gaps) @ weight / weight.sum())
    return values[..., : shape[1]], np.reshape(disparities, (-1, 2))
