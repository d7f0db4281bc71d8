"""Predictions with several labels: each label against the rest, and one test of all of them."""

from collections.abc import Sequence
from dataclasses import replace

from skfairtest.comparisons.settings import Settings
from skfairtest.metrics import Metric, Rate, independence
from skfairtest.tables import Sample

#: The fewest and the most labels that are each compared with the rest; otherwise the positive label must be named.
FEWEST, MOST = 3, 10


def has_several_labels(sample: Sample) -> bool:
    """Whether each label is compared with the rest; a third one that only predictions have may be a stray."""
    known = sample.columns.get("y_true", sample.columns.get("y_pred"))
    return len(getattr(known, "levels", ())) >= FEWEST and FEWEST <= len(sample.labels) <= MOST


def by_label(metrics: Sequence[Metric], sample: Sample, settings: Settings, pos_label: object) -> list[Metric]:
    """Replace rates that need a positive label, if there are several labels and none was named.

    Each label is tested against the rest. Before them come tests of all labels at once: of rates of everyone, and of
    rates of those whose true (or predicted) label is known.
    """
    rates = [metric for metric in metrics if isinstance(metric, Rate) and metric.needs_pos_label]
    read = {name for rate in rates for name in rate.reads}
    if pos_label is not None or not read <= set(sample.columns) or not has_several_labels(sample):
        return list(metrics)
    out: dict[str, Metric] = {}
    question = settings.question
    whole = sample.weight is None and sample.clusters is None and question.method in ("auto", "permutation")
    whole &= question.alternative == "two-sided" and question.margin_bounds is None and settings.within == "auto"
    whole &= settings.missing != "bounds" and settings.strata_weights is None
    whole &= settings.compare in ("between_groups", "to_reference") or settings.crossed
    for given in dict.fromkeys(rate.condition_reads for rate in rates) if whole else ():
        reads = {name for rate in rates if rate.condition_reads == given for name in rate.reads}
        if len(given) < 2 and len(reads) == len(given) + 1:
            together = independence(frozenset(reads), *given)
            out[together.name] = together
    for metric in metrics:
        each: list[Metric] = [metric]
        if isinstance(metric, Rate) and metric.needs_pos_label:
            each = [_of_label(metric, label) for label in sample.labels]
        out |= {one.name: one for one in each}
    return list(out.values())


def _of_label(rate: Rate, label: object) -> Rate:
    words = {
        name: getattr(rate, name).replace(" positive", f" {label!r}").replace(" negative", f" not {label!r}")
        for name in ("happens", "among")
    }
    return replace(rate, name=f"{rate.name} of {label}", label=label, **words)
