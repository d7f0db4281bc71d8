"""From people and metrics to rows: which metric is tested in which way."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from skfairtest._utils.base import seed_sequence
from skfairtest._utils.errors import GroupsMissing, ParameterError, brief
from skfairtest._utils.parallel import one_blas_thread
from skfairtest._utils.progress import progress
from skfairtest.comparisons.contrasts import Known, check_how_many, contrasts_of, kept_groups
from skfairtest.comparisons.core import Comparison, Design, Exclusion, Measured, Result
from skfairtest.comparisons.evaluation import Evaluation, masks_of
from skfairtest.comparisons.omnibus import check_omnibus, measure_omnibus
from skfairtest.comparisons.rates import Counted, count, test_rates
from skfairtest.comparisons.settings import Settings
from skfairtest.comparisons.studentized import measure_studentized
from skfairtest.metrics import (
    BuiltIn,
    Calibration,
    Context,
    Distribution,
    Mean,
    Metric,
    Omnibus,
    Rate,
    ScoreMetric,
    Share,
)
from skfairtest.metrics.rates import f1_of_jaccard, f1_slope
from skfairtest.metrics.resolve import STANDARD
from skfairtest.readers import (
    LABELS,
    Column,
    Numbers,
    check_classes,
    check_labels,
    check_magnitude,
    check_vocabularies,
    resolve_pos_label,
)
from skfairtest.tables import CountTable, Kinds, Sample

#: So few people may lack a class: codings of two classes are then not told from three classes.
FEW_PEOPLE = 20
COLUMNS = ("y_true", "y_pred", "y_score", "y_pred_a", "y_pred_b", "y_score_a", "y_score_b")


@one_blas_thread
def measure(
    sample: Sample,
    metrics: Sequence[Metric],
    settings: Settings,
    pos_label: Any,
    classes: tuple[Any, ...] | None,
    random_state: Any,
    sets: Sequence[int] | None = None,
) -> Result:
    """Test every comparison of every metric on its own."""
    settings = _for_people(sample, settings)
    if not sample.n_samples:
        names = " x ".join(sample.sensitive_names)
        raise GroupsMissing(f"sensitive_features ({names}) is missing for every person: there are no groups to compare")
    check_columns(sample, metrics, settings)
    design, excluded = _design(sample, metrics, settings, pos_label, classes, sets)
    counted: list[Counted] = []
    others: list[tuple[ScoreMetric | Rate | Omnibus, Kinds]] = []
    counts_people, table = is_counted(sample, settings), None
    if counts_people and any(type(metric) is Rate for metric in metrics):
        table = sample.table(cells_read([metric for metric in metrics if isinstance(metric, Rate)], settings))
        counts, columns = by_labels(table, design.pos_label)
        several = len(sample.labels) > 2
        roles = {name: c.codes if several else c.is_label(design.pos_label) for name, c in columns.items()}
    for metric in metrics:
        if type(metric) is Rate and counts_people:  # others are measured as their kind of test does
            what = design.what_is_equal(metric, settings.question, scored=settings.variance == "score")
            event, given = masks_of(metric, columns, design.pos_label)
            counted.append(count(design, metric, (counts, event, given, roles), what))
            continue
        kinds = _kinds(sample, metric, settings)
        check_numbers(design, metric)
        as_rate = None if isinstance(metric, Rate | Omnibus) else _as_rate(design, metric, kinds)
        if as_rate is not None:
            counted.append(count(design, *as_rate, (metric.name, False)))
        else:
            others.append((metric, kinds))
    draw = settings.question.method in ("permutation", "bootstrap") and any(rows for _, rows, *_ in counted)
    seed = seed_sequence(random_state) if draw or others else np.random.SeedSequence(0)
    measured: dict[str, Measured] = {}
    known: Known = {}
    with progress(" x ".join(sample.sensitive_names), len(metrics), bool(settings.verbose)) as advance:
        for (rate, *_), tested in zip(counted, test_rates(counted, settings, known, seed), strict=True):
            measured[rate.name] = tested
            advance()
        for (metric, kinds), own in zip(others, seed.spawn(len(others)), strict=True):
            measured[metric.name] = measure_metric(metric, design, kinds, known, own)
            advance()
    comparisons = [comparison for metric in metrics for comparison in measured[metric.name][0]]
    excluded += [exclusion for _, of_metric, _ in measured.values() for exclusion in of_metric]
    excluded += [exclusion for comparison in comparisons for exclusion in undefined_draws(comparison)]
    by_metric = {name: values for name, (_, _, values) in measured.items() if values is not None}
    return Result(
        settings, tuple(comparisons), tuple(excluded), sample, tuple(metrics), design.pos_label, by_metric,
        design, table,
    )  # fmt: skip


@singledispatch
def measure_metric(
    metric: Metric, design: Design, kinds: Kinds, known: Known, seed: np.random.SeedSequence
) -> Measured:
    """Test every comparison of a metric on its own: by studentized resamples, unless its class is registered here."""
    assert not isinstance(metric, Omnibus)  # registered below
    return measure_studentized(design, evaluation_of(design, metric, kinds), known, seed)


@measure_metric.register(Omnibus)
def _(metric: Omnibus, design: Design, kinds: Kinds, known: Known, seed: np.random.SeedSequence) -> Measured:
    return measure_omnibus(metric, design, kinds, seed)


def _for_people(sample: Sample, settings: Settings) -> Settings:
    """The test of people with known sums of weights only: asymptotic, because only that depends on sums alone."""
    if not sample.summed:
        return settings
    asked = {"variance": settings.asked_variance, "method": settings.question.method}
    for name, known in (("variance", ("auto", "delta", "score")), ("method", ("auto", "asymptotic"))):
        if asked[name] not in known:
            raise ParameterError(
                f"{name}={asked[name]!r} needs each person's weight, but the table holds only sums of weights: use "
                f"{name}='auto', which is the asymptotic test of weighted values"
            )
    return replace(settings, question=replace(settings.question, method="asymptotic"))


def _design(
    sample: Sample,
    metrics: Sequence[Metric],
    settings: Settings,
    pos_label: Any,
    classes: tuple[Any, ...] | None,
    sets: Sequence[int] | None,
) -> tuple[Design, list[Exclusion]]:
    excluded: list[Exclusion] = []
    positive = positive_label(sample, metrics, pos_label, classes)
    _check_weights(sample, metrics)
    if settings.strata_weights is not None:
        _check_strata(sample, metrics, settings)
    if sample.clusters is not None:
        check_clusters(sample, settings)
    kept = kept_groups(sample, excluded, settings, len(metrics))
    check_how_many(sample, len(kept), len(metrics), settings)
    for metric in metrics:
        if isinstance(metric, Omnibus):
            check_omnibus(metric, settings, alone=len(metrics) == 1)
    contrasts = tuple(contrasts_of(sample, kept, settings, excluded, len(metrics)))
    people = tuple(1 << group for group in range(len(sample.groups))) if sets is None else tuple(sets)
    return Design(sample, settings, tuple(kept), contrasts, positive, pos_label, people), excluded


def undefined_draws(one: Comparison) -> Iterator[Exclusion]:
    """Yield the resamples in which a comparison is undefined, which its p-value does not count."""
    if one.n_extreme is not None and one.n_undefined:
        total = one.n_defined + one.n_undefined
        reason = f"undefined in {one.n_undefined:,} of {total:,} resamples, which are not counted"
        n = one.n_group, one.null.n_effective(one)
        yield Exclusion(one.metric, one.group, one.other, one.stratum, reason, *n, 0)


def is_counted(sample: Sample, settings: Settings) -> bool:
    """Whether rates are counted: no weights or clusters, and a standard error that counts give."""
    return sample.weight is None and sample.clusters is None and settings.variance in ("score", "delta", None)


def positive_label(sample: Sample, metrics: Sequence[Metric], asked: Any, classes: tuple[Any, ...] | None) -> Any:
    """The positive label; None if no metric needs it and it is ambiguous."""
    of_labels = [metric for metric in metrics if is_of_labels(metric)]
    read = sorted(frozenset().union(*(metric.reads for metric in of_labels)))
    for name in read:
        if not name.startswith("y_score") and name in sample.columns:
            _check_labels(sample, name, of_labels)
    check_classes(getattr(sample.columns.get("y_true"), "levels", ()), classes, asked)
    levels = {name: getattr(sample.columns.get(name), "levels", ()) for name in LABELS if name in read}
    if len(levels) > 1 and sample.n_samples >= FEW_PEOPLE:
        check_vocabularies(levels, all_classes=True)
    labels, needing = sample.labels, [metric for metric in metrics if metric.needs_pos_label]
    if needing:
        by_truth = not any(metric.reads & {"y_pred", "y_pred_a"} for metric in needing)  # predictions are scores
        truth = list(sample.columns["y_true"].levels) if by_truth and "y_true" in sample.columns else labels
        return resolve_pos_label(truth, asked, classes)
    if not labels:
        return asked
    try:
        return resolve_pos_label(labels, asked, classes)
    except ValueError:
        if asked is not None and not any(isinstance(metric, ScoreMetric) for metric in metrics):
            raise
        return None


def is_of_labels(metric: Metric) -> bool:
    """Whether a metric compares labels, and no numbers."""
    metric = getattr(metric, "of", metric)  # of two models
    return isinstance(metric, Rate) or (isinstance(metric, BuiltIn) and metric.positive in ("always", "never"))


def _check_labels(sample: Sample, name: str, metrics: Sequence[Metric]) -> None:
    try:
        check_labels(sample.labels_of(name), name)
    except ParameterError as error:
        truth = sample.columns.get("y_true")
        numbers = None if truth is None else truth.numbers
        if numbers is None or len(np.unique(numbers)) <= 2:
            raise
        if name == "y_true" and numbers.min() >= 0 and numbers.max() <= 1:  # scores in the wrong place
            raise
        of_numbers = ", ".join(repr(number) for number in (*STANDARD["continuous"], "r2"))
        raise ParameterError(
            f"{name} holds numbers, as a regressor predicts them, and {', '.join(m.name for m in metrics)} cannot be "
            f"computed without labels. Metrics of numbers are {of_numbers}; for a rate turn true values and "
            "predictions into decisions, as in y_true >= threshold"
        ) from error


def _check_weights(sample: Sample, metrics: Sequence[Metric]) -> None:
    for metric in metrics:
        if isinstance(metric, Calibration) and (sample.weight is not None or sample.clusters is not None):
            given = "clusters" if sample.weight is None else "sample_weight"
            raise ParameterError(
                f"{given} was given, but {metric.name} needs independent people without weights: use "
                "metric='calibration'"
            )
        if sample.weight is not None and isinstance(metric, ScoreMetric | Omnibus) and not metric.takes_weights:
            raise ParameterError(
                f"sample_weight was given, but metric {metric.name!r} takes none: "
                + (
                    "test"
                    if isinstance(metric, Distribution)
                    else "add a parameter sample_weight to the function, or test"
                )
                + " people without weights"
            )
        if sample.clusters is not None and isinstance(metric, Omnibus) and not isinstance(metric, Distribution):
            raise ParameterError(
                f"clusters were given, but metric {metric.name!r} looks at all groups at once and has no test for "
                "people in clusters: test a metric of each group instead"
            )


def _check_strata(sample: Sample, metrics: Sequence[Metric], settings: Settings) -> None:
    given, question = settings.strata_weights, settings.question
    if not isinstance(given, Mapping) and not callable(given):
        raise ParameterError(
            "strata_weights must be a mapping from strata to weights, or a function of arrays of the people of both "
            f"sides; found {brief(given)}"
        )
    refused = {
        "no control_features": not sample.control_names,
        "compare='to_overall'": settings.compare == "to_overall",
        "disparity='odds_ratio'": question.disparity == "odds_ratio",
        f"method={question.method!r}": question.method in ("permutation", "bootstrap"),
        "people with sample_weight or in clusters": not is_counted(sample, settings),
    } | {f"metric={metric.name!r}": True for metric in metrics if not isinstance(metric, Rate)}
    for what in (what for what, bad in refused.items() if bad):
        raise ParameterError(
            "strata_weights weighs differences and ratios of rates of counted people in strata of control_features, "
            f"tested by enumeration or scores; found {what}: leave out one of the two"
        )


def check_numbers(design: Design, metric: Metric) -> None:
    """Refuse numbers of which a built-in metric cannot compute squares."""
    if isinstance(metric, BuiltIn) and metric.positive.startswith("if") and positive_for(design, metric) is None:
        check_magnitude({name: design.sample.columns[name] for name in metric.columns}, metric.power)


def by_labels(table: CountTable, positive: Any) -> tuple[np.ndarray, dict[str, Column]]:
    """The counts of a table (S, G, K), and each cell's labels."""
    codes = {label: place for place, label in enumerate(table.labels)}
    columns = {
        name: Column(name, tuple(table.labels), np.array([codes[cell[i]] for cell in table.cells], dtype=np.intp))
        for i, name in enumerate(table.cell_names)
        if name != "y_score"
    }
    # Cells in an order that does not depend on how labels are spelled: sampled tables depend on it.
    order = np.lexsort([column.is_label(positive) for column in columns.values()][::-1])
    return table.counts[:, :, order], {name: column.take(order) for name, column in columns.items()}


def cells_read(metrics: Sequence[Metric], settings: Settings) -> set[str]:
    """The columns that the metrics, or the strata within which labels are permuted, read."""
    reads = {name for metric in metrics for name in metric.reads}
    return reads | ({settings.within} if settings.within in ("y_true", "y_pred") else set())


def check_columns(sample: Sample, metrics: Sequence[Metric], settings: Settings) -> None:
    """Check that people have the columns that metrics, and the strata within which labels are permuted, read."""
    for metric in metrics:
        needed = cells_read([metric], settings).union({_within(metric, settings) or ""}.intersection(COLUMNS))
        missing, given = sorted(needed - set(sample.columns)), ", ".join(sample.columns)
        if "y_score" in missing:
            instead = "y_score, or an estimator with predict_proba or decision_function"
            raise ParameterError(
                f"y_score is missing: {metric.name} needs scores (probabilities or decision values), but only {given} "
                f"were given; pass {instead if sample.counts is None else 'a table that counts y_score too'}"
            )
        if missing:
            who = f"within={settings.within!r}" if settings.within in missing else metric.name
            raise ParameterError(f"{' and '.join(missing)} is missing: {who} needs it; given are {given}")


def _kinds(sample: Sample, metric: Metric, settings: Settings) -> Kinds:
    within = _within(metric, settings)
    sort_by = [within] if within in COLUMNS else []
    wanted = cells_read([metric], settings) | set(sort_by)
    if isinstance(metric, ScoreMetric):
        sort_by += [name for name in metric.sort_by if name not in sort_by]
    return sample.kinds([name for name in COLUMNS if name in wanted], sort_by=sort_by)


def _within(metric: Metric, settings: Settings) -> str | None:
    if settings.within != "auto":
        return settings.within
    if isinstance(metric, Rate):
        return "condition"
    return metric.within if isinstance(metric, ScoreMetric) else None


def positive_for(design: Design, metric: ScoreMetric) -> Any:
    """The label that becomes 1 for a metric of numbers; None if numbers are used unchanged."""
    if not isinstance(metric, BuiltIn) or metric.positive == "always":
        return design.pos_label
    if metric.positive in ("never", "unread"):
        return None
    columns = [design.sample.columns[name] for name in metric.columns]
    if any(isinstance(column, Numbers) for column in columns):
        return None
    levels = {level for column in columns for level in column.levels}
    numeric = all(isinstance(level, int | float) for level in levels)
    if numeric and len(levels) > 2:
        return None
    two = len(design.sample.labels) <= 2 and design.pos_label is not None
    if metric.positive == "if two labels" and two:
        return design.pos_label
    if design.asked_pos_label is None and numeric:
        return None
    return (
        resolve_pos_label(design.sample.labels, design.asked_pos_label)
        if design.pos_label is None
        else design.pos_label
    )


def _as_rate(
    design: Design, metric: ScoreMetric, kinds: Kinds
) -> tuple[Rate, tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]] | None:
    """A mean of zeros and ones, or a conditional share, as a rate with an exact test; None for everything else."""
    if not isinstance(metric, BuiltIn) or not is_counted(design.sample, design.settings) or kinds.counts is None:
        return None
    n = kinds.counts.shape[2]
    functional = metric.functional(Context(kinds.values, positive_for(design, metric)))
    rate = Rate(metric.name, "y_pred", None, disparity=metric.disparity)
    if type(functional) is Share:
        event, given = functional.event > 0, functional.given > 0
        of_others = set(functional.given[given & ~event].tolist())
        if (functional.event[event] != 1).any() or (functional.given[event] != 1).any() or len(of_others) > 1:
            return None
        if of_others == {0.5}:  # F1 = 2 J / (1 + J)
            rate = replace(rate, value=f1_of_jaccard, slope=f1_slope)
        elif not of_others <= {1.0}:
            return None
    elif type(functional) is Mean:
        z = functional.z + functional.centre + functional.origin
        event, given = np.abs(z - 1) < 1e-12, np.ones(n, dtype=bool)
        if not (event | (np.abs(z) < 1e-12)).all() or (z.any() and not event.any()):  # numbers may all be small
            return None
    else:
        return None
    roles = {name: getattr(values, "codes", np.zeros(n, dtype=np.intp)) for name, values in kinds.values.items()}
    return rate, (kinds.counts, event, given, roles)


def evaluation_of(design: Design, metric: ScoreMetric | Rate, kinds: Kinds) -> Evaluation:
    """How a metric is evaluated: the permutation scheme and the standard error."""
    variance = design.settings.asked_variance
    if variance == "score" and isinstance(metric, ScoreMetric):
        raise ParameterError(
            f"variance='score' is the standard error of rates, and {metric.name} is not a rate: use variance='auto'"
        )
    own = isinstance(metric, ScoreMetric) and not isinstance(metric, BuiltIn)
    if variance == "delta" and own and metric.variance is None:  # type: ignore[union-attr]
        raise ParameterError(
            f"variance='delta' needs the derivative of {metric.name}, which is not known: use 'jackknife' or "
            "'bootstrap', or a ScoreMetric with a variance"
        )
    positive = design.pos_label if isinstance(metric, Rate) else positive_for(design, metric)
    question = design.question(metric)
    by_default = (question.method, variance, question.margin_bounds) == ("auto", "auto", None)
    of_numbers = not any(values.levels for values in kinds.values.values())
    alike = kinds.weight is None and kinds.cluster is None
    if by_default and alike and own and metric.variance is None and of_numbers:  # type: ignore[union-attr]
        question, variance = replace(question, method="bootstrap"), None
    return Evaluation(metric, kinds, positive, question, variance, _within(metric, design.settings))


def check_clusters(sample: Sample, settings: Settings) -> None:
    """Refuse clusters that reach over strata, and labels permuted among single people."""
    assert sample.clusters is not None
    if settings.within in ("y_true", "y_pred"):
        raise ParameterError(
            f"within={settings.within!r} permutes labels of single people, but people in clusters are resampled by "
            "cluster: use within='auto', or control_features for a comparison within strata"
        )
    crossing = len(np.unique(np.stack([sample.clusters.codes, sample.stratum_codes]), axis=1).T)
    if crossing > len(sample.clusters.levels):
        raise ParameterError(
            f"clusters: some lie in several strata of control_features ({' x '.join(sample.control_names)}), which are "
            "tested as if they were independent: leave control_features out, or one of the strata"
        )


def permuted_within(metrics: Sequence[Metric], settings: Settings, *, clustered: bool = False) -> Any:
    """The sets within which labels are permuted: one word if the same for every metric, else one per metric."""
    if settings.question.method == "bootstrap" or clustered:
        return None
    if settings.within != "auto":
        return settings.within
    within: dict[str, Any] = {}
    for metric in metrics:
        reads = metric.condition_reads if isinstance(metric, Rate) else {getattr(metric, "within", None)}
        within[metric.name] = "condition" if len(reads) > 1 else next(iter(reads), None)
    return shared(within)


def shared(by_metric: Mapping[str, Any]) -> Any:
    """The value that all metrics share, or a dict by metric if they differ; None without values."""
    kinds = set(by_metric.values())
    return dict(by_metric) if len(kinds) > 1 else next(iter(kinds), None)
