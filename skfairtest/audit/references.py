"""What an audit was computed with: each method that was used, in a sentence, and who described it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.report.sentences import Setup


@dataclass(frozen=True)
class Method:
    """One method.

    Parameters
    ----------
    when : str
        What an audit has if it was used: one of the words that `_traits` yields.
    says : str
        What was done.
    citation : str
        Who described it.
    """

    when: str
    says: str
    citation: str


_FILE = files("skfairtest.audit").joinpath("methods.toml")
#: In the order in which a reader meets them.
METHODS = tuple(Method(**method) for method in tomllib.loads(_FILE.read_text(encoding="utf-8"))["method"])


def methods_used(record: AuditRecord) -> list[Method]:
    """Name the methods that the numbers of a record come from, and no others."""
    had = {trait for part in record.parts for trait in _traits(part)}
    if record.verdict.n_comparisons > 1:  # one comparison has nothing to be adjusted for
        had.add(str(record.verdict.adjust))
    if record.scan is not None:
        had.add({"fdr": "fdr_by", "fdr_bh": "fdr_bh"}.get(record.scan.setup.guarantee, "subgroups"))
    if record.impact is not None:
        had.add("impact")
    if record.baseline is not None:
        had.add("two models")
    return [method for method in METHODS if method.when in had]


def _traits(part: AuditPart) -> Iterator[str]:
    """Yield what decides which methods were used in one grouping."""
    setup, comparisons = part.setup, part.comparisons
    for metric, stratum, method in zip(
        comparisons["metric"], comparisons["stratum"], comparisons["method"], strict=True
    ):
        pooled = stratum is None and bool(part.control)
        if metric in setup.everybody:
            yield "permutation of everybody" if method == "permutation" else method
            continue
        yield _evidence(setup, metric, method, pooled=pooled)
        if pooled:
            yield "strata"
        if method != "bootstrap":
            yield _interval(setup, metric, pooled=pooled)
    shown = set(part.by_group["metric"])
    if part.pools_groups:
        yield "several groups together"
    if setup.people:
        yield "linearized"
    elif "roc_auc" in shown:
        yield "roc_auc"
    if any(_counted(setup, metric) for metric in shown):
        yield "rate"
    if comparisons["minimum_detectable"].notna().any():
        yield "detectable"


def _counted(setup: Setup, metric: str) -> bool:
    """Whether the metric is a rate, and people count alike: its distributions come from counts."""
    return metric in setup.sentences and not setup.people


def _evidence(setup: Setup, metric: str, method: str, *, pooled: bool) -> str:
    """Name the method of a p-value."""
    if method == "exact unconditional" and setup.margin_bounds is not None:
        return "exact margin"
    if method == "score":
        return "areas"
    if method != "asymptotic":
        return method
    if not _counted(setup, metric):
        return "normal"
    return "inverted interval" if setup.margin_bounds is not None and (pooled or metric in setup.functions) else "score"


def _interval(setup: Setup, metric: str, *, pooled: bool) -> str:
    """Name the method of the interval of a disparity."""
    if not _counted(setup, metric):
        return "interval by standard errors"
    kind, function = setup.disparity_of(metric), metric in setup.functions
    to_everyone = setup.compare == "to_overall" and kind == "ratio"
    if (function and to_everyone) or (pooled and (function or to_everyone)):
        return "interval by the delta method"
    if pooled:
        return f"interval of a stratified {kind}"
    return "interval of a function" if function else "interval"
