"""Finding, null hypothesis and method of the test for individual fairness, in words."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.report.cells import records
from skfairtest.report.record import Recorded
from skfairtest.report.report import Column, Report, Table, listed
from skfairtest.report.sentences import equals_p, number, percent

#: What each statistic says of the model.
STATISTICS = {
    "loss_ratio": "the loss at people's unfair examples is on average {} times the loss at the people",
    "error_rate_ratio": "the error rate at people's unfair examples is {} times the error rate at the people",
    "ratio_of_means": "the mean loss at people's unfair examples is {} times the mean loss at the people",
}
#: What each is called on an axis.
AXES = {
    "loss_ratio": "mean of loss ratios",
    "error_rate_ratio": "ratio of error rates",
    "ratio_of_means": "ratio of mean losses",
}
#: What follows from the absence of a trace.
NO_TRACE = (
    "This is neither a pass nor a failure: a metric that is known (Projection, a matrix) can be tested on the same "
    "people.",
)
#: Changes that are listed.
_MOST_CHANGES = 8
WAYS = {
    "autograd": "exact derivatives",
    "finite_differences": "central differences",
    "search": "a search without derivatives",
    "callable": "a gradient of your own",
}


@dataclass(frozen=True)
class IndividualSetup(Recorded):
    """What sentences need to know about how a test was set up, beside what it found.

    Parameters
    ----------
    statistic : str
        Which one.
    tolerance, alpha : float
        The largest ratio that is no violation, and the level.
    units : str
        What the map is measured in, where that is not simply the units of X; may be empty.
    doubts : tuple of str
        Why the answer is doubtful.
    """

    statistic: str
    tolerance: float
    alpha: float
    units: str
    doubts: tuple[str, ...]


def individual_report(test: Any) -> Report:
    """The report of a fitted `IndividualFairnessTest`: verdict, null hypothesis, how, and who is worst off."""
    verdict, remarks = _verdict(test)
    if test.verdict_ == "no_trace":
        return Report(verdict=verdict, remarks=tuple(remarks))
    worst, n = test.most_unfair(3, n_features=3), len(test.excluded_)
    left_out = f"{pluralize(n, 'person', 'people')} with missing features left out, see excluded_."
    return Report(
        verdict=verdict,
        concern=test.concern_,
        remarks=tuple(remarks),
        hypotheses=(_null(test),),
        tables=(_worst(worst),) if len(worst) else (),
        parts=(
            *listed("How unfair examples were found", _how(test)),
            *listed("What changes", _changed(test.changed_features())),
        ),
        notes=(left_out,) if n else (),
    )


def individual_sentences(test: Any) -> tuple[str, ...]:
    """Return the report of a test in sentences, for a section of another report."""
    report = individual_report(test)
    lines = [f"{line[:1].upper()}{line[1:]}." for part in report.parts for line in map(str, part.findings)]
    return report.verdict, *report.remarks, *map("Null hypothesis: {}".format, report.hypotheses), *lines


def _verdict(test: Any) -> tuple[str, list[str]]:
    """Return the verdict, after what changing a sensitive column alone does, and what is to be kept in mind with it."""
    alone = [_alone(test, row) for row in records(test.changed_alone_)]
    if test.verdict_ == "no_trace":
        return _no_trace(test), [*alone, *NO_TRACE]
    said = STATISTICS[test._setup.statistic].format(number(test.statistic_))
    low, high = (number(limit) for limit in test.confidence_interval_)
    evidence = (
        f"at least {number(test.lower_bound_)} with {100 * (1 - test._setup.alpha):g}% confidence (two-sided {low} to "
        f"{high}), where {test._setup.tolerance:g} is tolerated, {equals_p(test.p_value_)}"
    )
    outside = test.solver_report_["n_people_outside"]
    if_asked = ""
    if outside:
        if_asked = f" ({outside:,} of {test.n_samples_:,} unfair examples lie beyond the range of the people tested)"
    if test.concern_:
        verdict, notes = f"Similar people are treated differently{if_asked}: {said}; {evidence}.", []
    else:
        verdict = f"No violation of individual fairness was found{if_asked}: {said}; {evidence}."
        notes = [
            "This does not prove that there is none: another fair metric, more steps or a better search may find one."
        ]
    notes += [f"Doubtful: {doubt}." for doubt in test._setup.doubts]
    return " ".join([*alone, verdict]), notes


def _no_trace(test: Any) -> str:
    """Say that nothing was tested, and why."""
    searched = " or ".join(_predicts(row) for row in records(test.traces_))
    return (
        f"Individual fairness was not tested: X holds no trace of {searched}, so no direction in which similar people "
        "may differ can be learned."
    )


def _predicts(row: Mapping[str, Any]) -> str:
    return f"{label(row['feature'])} ({row['measure']} {row['value']:.2f} out of fold, {equals_p(row['p_value'])})"


def _alone(test: Any, row: Mapping[str, Any]) -> str:
    """Say what changing a sensitive column alone does."""
    confidence = f"{100 * (1 - test._setup.alpha):g}% interval"
    times = ""
    if np.isfinite(row["statistic"]):
        limits = f"{number(row['ci_low'])} to {number(row['ci_high'])}"
        error = "error rate" if test._setup.statistic == "error_rate_ratio" else "loss"
        times = f"{number(row['statistic'])} times the {error} ({confidence} {limits}), "
    share = (
        f"{percent(row['changed'], 0)} of people ({confidence} {percent(row['changed_ci_low'], 0)} to "
        f"{percent(row['changed_ci_high'], 0)})"
    )
    said, way, back, test = {
        "decision": ("decision", f"becomes {row['outcome']}", "the opposite", "McNemar"),
        "label": ("label", "becomes wrong", "right", "McNemar"),
        "prediction": ("prediction", "rises", "falls", "sign"),
    }[row["kind"]]
    moved = ""
    if row["n_changed"]:
        moved = (
            f"; with {label(row['level'])} instead of {label(row['other'])} it {way} for {row['n_up']:,} and {back} "
            f"for {row['n_down']:,} (exact {test} test, {equals_p(row['decision_p_value'])})"
        )
    return f"Changing {label(row['feature'])} alone: {times}and the {said} changes for {share}{moved}."


def _changed(changed: pd.DataFrame) -> Iterator[str]:
    for row in records(changed.head(_MOST_CHANGES)):
        by = "" if np.isnan(row["mean_change"]) else f" by {number(abs(row['mean_change']))} on average"
        people = pluralize(row["n_people"], "person", "people")
        yield f"{label(row['feature'])}: {label(row['change'])}{by}, {people}, worse for {100 * row['worse']:.0f}%"
    if len(changed) > _MOST_CHANGES:
        yield f"and {len(changed) - _MOST_CHANGES:,} more, see changed_features()"


def _worst(worst: pd.DataFrame) -> Table:
    def written(field: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: label(row[field]) if isinstance(row[field], str) else number(row[field])

    fields = ("loss_ratio", "before", "after", "loss_increase")
    ratio, *others = (Column(field.replace("_", " "), shows=written(field)) for field in fields)
    columns = (Column("person", "name", shows="person"), ratio, Column("feature", "name", shows="feature"), *others)
    return Table.of(columns, records(worst), "Whose loss grows most, and by which changes", None)


def _null(test: Any) -> str:
    said = STATISTICS[test._setup.statistic].format(f"at most {test._setup.tolerance:g}")
    units = f", with {test._setup.units}" if test._setup.units else ""
    return (
        f"in the population that these {pluralize(test.n_samples_, 'person', 'people')} were drawn from, {said}{units}"
        ". The level holds in large samples whichever way unfair examples are found."
    )


def _how(test: Any) -> list[str]:
    report = test.solver_report_
    learned = f", for each of {report['n_folds']} folds learned on the others" if report["n_folds"] > 1 else ""
    if report["solver"] == "search":
        flow = f"{report['n_candidates']:,} candidates per person, as far as the flow goes"
        flow += f" in a time of {number(report['time'])}"
    else:
        method = "forward Euler" if report["solver"] == "euler" else "steps that are implicit in the distance"
        flow = f"the gradient flow by {method}, {report['n_steps']:,} steps, for a time of {number(report['time'])}"
    lines = [
        f"{WAYS[report['gradient']]}: {report['because']}",
        f"{flow}, regularization {report['regularization']:g}, loss {report['loss']}",
        f"the {AXES[test._setup.statistic]}: {report['statistic_because']}",
        f"similar people: {report['fair_metric']}{learned}; they may differ in {report['n_directions']} of "
        f"{test.n_features_in_} directions",
        *(f"X holds a trace of {_predicts(row)}" for row in records(test.traces_) if row["found"]),
        *(
            f"X holds no trace of {_predicts(row)}: nothing was learned from it"
            for row in records(test.traces_)
            if not row["found"]
        ),
        f"people moved {number(report['mean_displacement'])} on average, over a fair distance of "
        f"{number(report['mean_distance'])}; the loss of {report['n_worse']:,} grew",
    ]
    if report["n_unusual"] is not None:
        lines.append(
            f"unfair examples are hypothetical people: {report['n_unusual']:,} of {test.n_samples_:,} are as unusual, "
            "in all features together, as 1 in 100 of those seen"
            + (f"; {report['n_held_back']:,} were held back from more" if report["n_held_back"] else "")
        )
    if report["n_features_outside"]:
        lines.append(
            f"{pluralize(report['n_people_outside'], 'unfair example')} went beyond where anybody is, in "
            f"{pluralize(report['n_features_outside'], 'feature')}: feature_ranges='observed' holds them back"
        )
    if report["n_unstable_steps"]:
        lines.append(f"{pluralize(report['n_unstable_steps'], 'unstable step')}: steps are too long")
    return lines
