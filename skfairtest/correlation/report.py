"""The report of the test for continuous sensitive features."""

from typing import Any

from skfairtest._utils.text import enumerated, label
from skfairtest.report import cells
from skfairtest.report.report import Column, Report, Table
from skfairtest.report.sentences import NO_PROOF, adjustment_note, capital, decimal, equals_p, sampling_error


def correlation_report(test: Any) -> Report:
    """The report of a fitted `CorrelationFairnessTest`."""
    setup, strata = test._setup, test._setup.controls and label(test._setup.controls)
    rows = cells.records(cells.pooled_first(test.comparisons_.sort_values("p_value", kind="stable")))
    main, within = ([row for row in rows if (row["stratum"] is None) is pooled] for pooled in (True, False))
    lead = cells.records(test.comparisons_)[test._leading]
    feature, size = label(lead["feature"]), decimal(lead["correlation"], 2)
    said = f"no correlation of {test._outcome} with {feature} was found"
    if test.concern_:
        said = f"{test._outcome} {'grow' if lead['correlation'] > 0 else 'shrink'} with {feature}"
    interval = cells.difference_span(lambda end: decimal(end, 2), {**lead, "concern": test.concern_})
    said += f"{f' within levels of {strata}' if strata else ''}: {test._measure} {size} (interval {interval})"
    inside = f"within every {strata}, " if strata else ""
    zero = {"two-sided": "zero", "greater": "at most zero", "less": "at least zero"}[setup.alternative]
    columns = (
        cells.FEATURE, cells.stratum(setup.controls), Column("people", shows="n"),
        Column("correlation", shows=lambda row: decimal(row["correlation"])), cells.interval(decimal), cells.P,
        cells.ADJUSTED_P, cells.VERDICT,
    )  # fmt: skip
    families = "Single strata are a second family, adjusted by itself; the verdict is on the pooled comparisons."
    features = enumerated([label(feature) for feature in dict.fromkeys(test.comparisons_["feature"])])
    return Report(
        title=f"Correlation of {test._outcome} with {features}",
        verdict=f"{capital(said)}, adjusted {equals_p(test.p_value_)}.",
        concern=test.concern_,
        remarks=(
            *([] if test.concern_ else [NO_PROOF]), *cells.counted(main, "feature"),
            *cells.counted(within, within=setup.controls), *sampling_error(test.p_value_interval_),
        ),
        hypotheses=(
            f"{inside}the {test._measure} of {test._outcome} with each sensitive feature is {zero}. Permuting is exact "
            "if they are independent, and is valid in large samples if they are only uncorrelated.",
        ),
        tables=(Table.of(columns, cells.barred(rows, at="correlation"), "Comparisons", few=cells.SHOWN),),
        left_out=cells.excluded_tables(test.excluded_),
        notes=(adjustment_note(setup.adjust, setup.alpha, "feature"), *([families] if within else [])),
    )  # fmt: skip
