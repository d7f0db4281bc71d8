"""The metrics that can be named, with the columns that each needs."""

from __future__ import annotations

from skfairtest._utils.text import enumerated
from skfairtest.metrics import CALIBRATION, CRITERIA, RATES, SCORES, BuiltIn, Calibration, Rate
from skfairtest.report.document import Block, Heading, Items, Paragraph

#: The option that names a column.
OPTIONS = {"y_true": "--y-true", "y_pred": "--y-pred", "y_score": "--y-score"}


def metrics_document() -> list[Block]:
    """List every metric by name."""
    criteria = (f"{name}: {enumerated(list(rates))}" for name, rates in CRITERIA.items())
    return [
        Paragraph("What --metric takes, and in Python metric=, with the columns that are needed."),
        Heading("Rates"),
        Items(tuple(f"{_needed(rate)}: {_meaning(rate)}" for rate in RATES.values())),
        Heading("Criteria: rates that are tested together"),
        Items(tuple(criteria)),
        Heading("Other metrics of each group"),
        Items(tuple(f"{_needed(metric)}: {metric.describes}" for metric in SCORES.values())),
        Heading("Calibration curves"),
        Items(tuple(f"{_needed(metric)}: {metric.describes}" for metric in CALIBRATION.values())),
    ]


def _meaning(rate: Rate) -> str:
    share = f"among {rate.among}, the share who {rate.happens}"
    return share if rate.value is None else f"a function of this share: {share}"


def _needed(metric: Rate | BuiltIn | Calibration) -> str:
    return f"{metric.name} ({', '.join(OPTIONS[name] for name in sorted(metric.reads, reverse=True))})"
