"""The report of the test of individual fairness."""

from collections.abc import Mapping
from typing import Any

from skfairtest._utils.text import label, pluralize
from skfairtest.report.cells import records
from skfairtest.report.report import Column, Report, Table, listed
from skfairtest.report.sentences import equals_p, number

#: What each statistic says of the model.
STATISTICS = {
    "loss_ratio": "the loss at people's unfair examples is on average {} times the loss at the people",
    "error_rate_ratio": "the error rate at people's unfair examples is {} times the error rate at the people",
    "ratio_of_means": "the mean loss at people's unfair examples is {} times the mean loss at the people",
}
#: The label of each statistic on an axis.
AXES = {
    "loss_ratio": "mean of loss ratios",
    "error_rate_ratio": "ratio of error rates",
    "ratio_of_means": "ratio of mean losses",
}
NO_TRACE = (
    "This is neither a pass nor a failure: a metric that is known (Projection, a matrix) can be tested on the same "
    "people."
)
NO_PROOF = "This does not prove that there is none: another fair metric, more steps or a better search may find one."


def _column(name: str) -> Column:
    def shown(row: Mapping[str, Any]) -> str:
        return number(row[name]) if isinstance(row[name], float) else label("none" if row[name] is None else row[name])

    return Column(name.replace("_", " "), "name" if name in ("person", "feature") else "number", shows=shown)


def individual_report(test: Any) -> Report:
    """The report of a fitted `IndividualFairnessTest`: verdict, null hypothesis, method, and who is worst off."""
    setup, run = test._statistic, test.solver_report_
    title = f"Individual fairness of {label(type(test._model.estimator).__name__)}"
    traces = []
    for row in records(test.traces_):
        evidence = f"{row['measure']} {row['value']:.2f} out of fold, {equals_p(row['p_value'])}"
        traces.append(f"X holds {'a' if row['found'] else 'no'} trace of {label(row['feature'])} ({evidence})")
    if test.verdict_ == "no_trace":
        untested = f"Individual fairness was not tested: {'; '.join(traces)}."
        return Report(title=title, verdict=untested, remarks=(NO_TRACE,))
    says, (low, high) = STATISTICS[setup.statistic], map(number, test.confidence_interval_)
    verdict = ("No violation of individual fairness was found", "Similar people are treated differently")[test.concern_]
    if outside := run["n_people_outside"]:
        verdict += f" ({outside:,} of {test.n_samples_:,} unfair examples lie beyond the range of the people tested)"
    verdict += f": {says.format(number(test.statistic_))} ({100 * setup.confidence_level:g}% interval {low} to "
    verdict += f"{high}, at least {number(test.lower_bound_)}), where {setup.tolerance:g} is tolerated, "
    columns = [_column(name) for name in ("person", "loss_ratio", "feature", "before", "after", "loss_increase")]
    changes = [_column(name) for name in ("feature", "change", "n_people", "mean_change", "worse")]
    changed, worst = records(test.changed_features()), records(test.most_unfair(3, n_features=3))
    why = (f"{run['because']} ({run['loss']})", f"the {AXES[setup.statistic]}: {run['statistic_because']}")
    left_out = len(test.excluded_)
    return Report(
        title=title,
        verdict=f"{verdict}{equals_p(test.p_value_)}.",
        concern=test.concern_,
        remarks=(*([] if test.concern_ else [NO_PROOF]), *(f"Doubtful: {doubt}." for doubt in test._doubts)),
        hypotheses=(f"among people like these {test.n_samples_:,}, {says.format(f'at most {setup.tolerance:g}')}.",),
        tables=(
            Table.of(columns, worst, "Largest increases of the loss, and the changes behind them", None),
            Table.of(changes, changed, "What changes", None, few=8),
        ),
        parts=listed("How unfair examples were found (solver_report_ has all numbers)", [*traces, *why]),
        notes=(f"{pluralize(left_out, 'person', 'people')} left out, see excluded_.",) * (left_out > 0),
    )
