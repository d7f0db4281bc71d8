"""Finding, null hypothesis and method of the test for individual fairness, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.report.sentences import equals_p, number
from skfairtest.report.text import aligned, records

#: What each statistic says of the model.
STATISTICS = {
    "loss_ratio": "the loss at people's unfair examples is on average {} times the loss at the people",
    "error_rate_ratio": "the error rate at people's unfair examples is {} times the error rate at the people",
    "ratio_of_means": "the mean loss at people's unfair examples is {} times the mean loss at the people",
    "log_ratio": "the loss at people's unfair examples is {} times the loss at the people, in the geometric mean",
}
#: What each is called on an axis.
AXES = {
    "loss_ratio": "mean of loss ratios",
    "error_rate_ratio": "ratio of error rates",
    "ratio_of_means": "ratio of mean losses",
    "log_ratio": "geometric mean of loss ratios",
}
WAYS = {
    "analytic": "exact derivatives",
    "autograd": "exact derivatives",
    "finite_differences": "central differences",
    "search": "a search without derivatives",
    "callable": "a gradient of your own",
}


@dataclass(frozen=True)
class IndividualSetup:
    """What sentences need to know about a test.

    Parameters
    ----------
    statistic : str
        Which one.
    tolerance, alpha : float
        The largest ratio that is no violation, and the level.
    estimate, lower_bound, p_value : float
        What was found.
    interval : tuple of float
        Two-sided limits.
    concern : bool
        The verdict.
    n_samples, n_excluded, n_features : int
        People tested, and left out; features.
    units : str
        What the map is measured in, where that is not simply the units of X; may be empty.
    doubts : tuple of str
        Why the answer is doubtful.
    report : mapping
        What was run.
    """

    statistic: str
    tolerance: float
    alpha: float
    estimate: float
    lower_bound: float
    interval: tuple[float, float]
    p_value: float
    concern: bool
    n_samples: int
    n_excluded: int
    n_features: int
    units: str
    doubts: tuple[str, ...]
    report: Mapping[str, Any]


def individual_summary(facts: IndividualSetup, worst: pd.DataFrame) -> str:
    """Write what ``print(test)`` shows."""
    said = STATISTICS[facts.statistic].format(number(facts.estimate))
    low, high = (number(limit) for limit in facts.interval)
    evidence = (
        f"at least {number(facts.lower_bound)} with {100 * (1 - facts.alpha):g} % confidence (two-sided {low} to "
        f"{high}), where {facts.tolerance:g} is tolerated, {equals_p(facts.p_value)}"
    )
    if facts.concern:
        parts = [f"Similar people are treated differently: {said}; {evidence}."]
    else:
        parts = [f"No violation of individual fairness was found: {said}; {evidence}."]
        parts.append(
            "That is not a proof that there is none: another fair metric, more steps or a better search may find one."
        )
    parts += [f"Doubtful: {doubt}." for doubt in facts.doubts]
    parts += ["", "Null hypothesis", f"  {_null(facts)}", "", "How unfair examples were found", *_how(facts)]
    if len(worst):
        cells = [
            [label(row["person"]), number(row["loss_ratio"]), label(row["feature"])]
            + [number(row[name]) for name in ("before", "after", "loss_increase")]
            for row in records(worst)
        ]
        header = ["person", "loss ratio", "feature", "before", "after", "loss increase"]
        parts += ["", "Whose loss grows most, and by which changes", aligned((header, cells))]
    if facts.n_excluded:
        parts += [
            "",
            f"{pluralize(facts.n_excluded, 'person', 'people')} with missing features left out, see excluded_.",
        ]
    return "\n".join(parts)


def _null(facts: IndividualSetup) -> str:
    said = STATISTICS[facts.statistic].format(f"at most {facts.tolerance:g}")
    units = f", with {facts.units}" if facts.units else ""
    return (
        f"in the population that these {pluralize(facts.n_samples, 'person', 'people')} were drawn from, {said}{units}"
        ". The level holds in large samples whichever way unfair examples are found."
    )


def _how(facts: IndividualSetup) -> list[str]:
    report = facts.report
    learned = f", for each of {report['n_folds']} folds learned on the others" if report["n_folds"] > 1 else ""
    if report["solver"] == "search":
        flow = f"  {report['n_steps']:,} candidates per person within a distance of {number(report['time'])}"
    else:
        method = "forward Euler" if report["solver"] == "euler" else f"{report['solver']} of scipy.integrate"
        flow = f"  the gradient flow by {method}, {report['n_steps']:,} steps, for a time of {number(report['time'])}"
    lines = [
        f"  {WAYS[report['gradient']]}: {report['because']}",
        f"{flow}, regularization {report['regularization']:g}, loss {report['loss']}",
        f"  similar people: {report['fair_metric']}{learned}; they may differ in {report['n_directions']} of "
        f"{facts.n_features} directions",
        f"  people moved {number(report['mean_displacement'])} on average, over a fair distance of "
        f"{number(report['mean_distance'])}; the loss of {report['n_worse']:,} grew",
    ]
    if report["n_features_outside"]:
        lines.append(
            f"  {pluralize(report['n_features_outside'], 'feature')} went beyond where anybody is: feature_ranges "
            "holds them back"
        )
    if report["n_unstable_steps"]:
        lines.append(f"  {pluralize(report['n_unstable_steps'], 'unstable step')}: step_size is too long")
    return lines
