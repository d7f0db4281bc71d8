"""The report of the test for disparities given covariates."""

from collections.abc import Iterator
from typing import Any

from skfairtest._utils.text import label
from skfairtest.report import cells, sentences
from skfairtest.report.report import Column, Report, Table

#: From this share of its variance on, predicted by covariates, a group is hardly found among others.
SEPARATED = 0.9


def adjusted_report(test: Any) -> Report:
    """The report of a fitted `AdjustedFairnessTest`."""
    setup, rows = test._setup, cells.records(test.comparisons_.sort_values(["p_value"], kind="stable"))
    lead = cells.records(test.comparisons_)[test._leading]
    group, other = label(lead["group"]), cells.compared_with(setup.compare, lead)
    number, sign = sentences.number, -1 if lead["disparity"] < 0 else 1
    write, decimal, unit = (sentences.points, sentences.decimal, " points") if test._is_share else (number, number, "")
    low, high = sorted(sign * lead[end] for end in ("ci_low", "ci_high"))
    limits = sentences.span(write, low, high, (0.0,) if lead["concern"] else ())
    said = "Significant disparity: " if test.concern_ else "No significant disparity was detected: "
    said += f"given {test._covariates}, {test._outcome} are {write(abs(lead['disparity']))}{unit} "
    said += f"{'higher' if sign > 0 else 'lower'} for {group} than for {other} (interval {limits}), "
    unadjusted = f"Without adjustment the difference between {group} and {other} is {write(lead['unadjusted'])}{unit}."
    columns = (
        cells.GROUP, cells.compared(setup.compare), Column("people", shows="n_group"),
        Column("others", shows="n_other"), Column("unadjusted", shows=lambda row: decimal(row["unadjusted"])),
        Column("adjusted", shows=lambda row: decimal(row["disparity"])), cells.interval(decimal), cells.P,
        cells.ADJUSTED_P, cells.VERDICT,
    )  # fmt: skip
    same = {"greater": "not greater in the first group", "less": "not less in the first group"}
    return Report(
        title=f"{test._outcome.capitalize()} of groups, given {test._covariates}",
        verdict=f"{said}{sentences.smallest_p(test.p_value_, len(rows))}.",
        concern=test.concern_,
        remarks=(
            *([test.caution_] if test.caution_ else []), unadjusted, *([] if test.concern_ else [sentences.NO_PROOF]),
            *sentences.sampling_error(test.p_value_interval_), *cells.counted(rows),
        ),
        hypotheses=(
            f"given {test._covariates}, the mean of {test._outcome} is "
            f"{same.get(setup.alternative, 'the same in both groups')}. The generalised covariance measure tests it, "
            "which is valid in large samples if models predict the outcome and the group well from the covariates.",
        ),
        tables=(Table.of(columns, cells.barred(rows), f"Differences in {test._outcome}", few=cells.SHOWN),),
        left_out=cells.excluded_tables(test.excluded_),
        notes=tuple(_notes(test)),
    )  # fmt: skip


def _notes(test: Any) -> Iterator[str]:
    """Say how much the models explain, and what the p-values are."""
    setup, comparisons = test._setup, test.comparisons_
    explained = comparisons[["outcome_explained", "group_explained"]].clip(lower=0)
    ranges = explained.agg(["min", "max"]).T.itertuples(index=False)
    of_outcome, of_group = (" to ".join(dict.fromkeys(f"{100 * share:.0f}%" for share in ends)) for ends in ranges)
    yield (
        f"Of people whom a model has not seen, covariates explain {of_outcome} of the variance of the outcome and "
        f"{of_group} of that of the group (models: {test._learners}). The adjusted difference is an average in which "
        "people count most whose covariates are found in both groups."
    )
    if explained["group_explained"].max() >= SEPARATED:
        yield (
            "The covariates nearly determine the group: hardly anyone has a counterpart in the other one, and the "
            "comparison rests on few people."
        )
    yield sentences.adjustment_note(setup.adjust, setup.alpha)
    for row in cells.records(comparisons[comparisons["disparity"].isna()]):
        of, why = f"{label(row['group'])} and {label(row['other'])}", row["method"].removeprefix("undefined: ")
        yield f"Of {of}, {why}: the difference is undefined, and counts as a hypothesis with p = 1."
