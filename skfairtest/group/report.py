"""The report of the test of one model by groups."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.comparisons.breaking import verdict_lines
from skfairtest.report import cells
from skfairtest.report.report import Column, Report, Table
from skfairtest.report.sentences import (
    ADJUSTED,
    Setup,
    disparity_writer,
    finding_sentence,
    metric_title,
    null_sentence,
    p_text,
    sampling_error,
    span,
    untested_metrics,
    verdict_sentence,
)

GROUPS_ADJUSTED = ADJUSTED | {
    "shaffer": "Holm, with Shaffer's factors for all pairs of groups",
    "fdr_bh": "Benjamini-Hochberg (false-discovery rate)",
}


def group_title(test: Any) -> str:
    """Name the metrics and the features of a fitted `FairnessTest`."""
    metrics = enumerated([metric_title(metric) for metric in dict.fromkeys(test.comparisons_["metric"])])
    return f"{metrics} by {label(test._feature)}"


def group_report(test: Any) -> Report:
    """The report of a fitted `FairnessTest`: the verdict, the leading finding, null hypotheses, and tables."""
    setup, tested = test._setup, test.comparisons_
    comparisons = cells.oriented(setup, tested)
    ordered = cells.pooled_first(cells.by_p_value(setup, comparisons))
    n_main = int(ordered["stratum"].isna().sum())
    return Report(
        verdict=verdict_sentence(
            setup, concern=test.concern_, p_value=test.p_value_, n_comparisons=n_main,
            no_intervals=bool(comparisons["ci_low"].isna().all()),
        ) + untested_metrics(test.excluded_, tested["metric"]),
        concern=test.concern_,
        remarks=tuple(_remarks(test, setup, comparisons, ordered.iloc[n_main:])),
        hypotheses=tuple(null_sentence(setup, metric) for metric in dict.fromkeys(comparisons["metric"])),
        tables=(
            *([cells.values_table(setup, test._values)] if len(test._values) else []),
            cells.comparisons_table(setup, ordered, "Comparisons"),
            *_standardized(setup, test.standardized_differences_, tested),
        ),
        parts=cells.homogeneity_part(setup, test.homogeneity_, tested),
        left_out=cells.excluded_tables(test.excluded_),
        notes=tuple(notes(setup, comparisons)),
    )  # fmt: skip


def _remarks(test: Any, setup: Setup, comparisons: pd.DataFrame, strata: pd.DataFrame) -> Iterator[str]:
    """Say what the comparison with the strongest evidence found, and what else belongs to the verdict."""
    lead = test.comparisons_.iloc[[test._leading]]
    if test._summary:
        write, unit = disparity_writer(setup, lead["metric"].iloc[0])
        equality = (float(setup.is_ratio(lead["metric"].iloc[0])),) if test.p_value_ <= setup.alpha else ()
        low, high = test.confidence_interval_
        limits = span(write, low, high, equality)
        inside = f"interval {limits}" if limits else "without an interval for these comparisons"
        yield f"{metric_title(test._summary)} is {write(test.disparity_)}{unit} ({inside})."
    yield finding_sentence(setup, cells.records(comparisons)[test._leading])
    if hasattr(test, "equivalence_interval_"):
        level = f"{100 * (1 - 2 * setup.alpha):g}%"
        limits = _limits(setup, lead, test.equivalence_interval_)
        yield f"Its {level} interval, which the test of equivalence inverts, is {limits}."
    if hasattr(test, "bounds_") and setup.unknown:
        ends = " and ".join(map(p_text, test.p_value_bounds_))
        yield (
            "Whatever groups the people of unknown group are in, the disparity is "
            f"{_limits(setup, lead, test.disparity_bounds_)}, and p between {ends}."
        )
    yield from verdict_lines(setup, test._breaking)
    if setup.unknown:
        yield setup.unknown
    yield from sampling_error(test.p_value_interval_)
    if len(strata):
        yield _strata_sentence(setup, strata)


def _limits(setup: Setup, tested: pd.DataFrame, limits: tuple[float, float]) -> str:
    """Write limits of the disparity of one comparison, as that comparison is shown."""
    row = cells.oriented(setup, tested.assign(ci_low=limits[0], ci_high=limits[1])).iloc[0]
    write, _ = disparity_writer(setup, row["metric"])
    return span(write, row["ci_low"], row["ci_high"], setup.open_ends(dict(row)))


def _standardized(setup: Setup, standardized: pd.DataFrame, tested: pd.DataFrame) -> list[Table]:
    """Show differences of means in standard deviations, each group beside the one it is compared with in the tables."""
    if not len(standardized):
        return []
    keys = ["metric", "group", "other", "stratum"]
    place = {key: row for row, key in enumerate(zip(*(tested[name] for name in keys), strict=True))}
    rows = tested.iloc[[place[key] for key in zip(*(standardized[name] for name in keys), strict=True)]]
    names = {"standardized_difference": "disparity", "ci_low": "ci_low", "ci_high": "ci_high"}
    shown = cells.oriented(setup, rows.assign(**{new: standardized[old].to_numpy() for old, new in names.items()}))
    columns = (
        shown["metric"].nunique() > 1 and cells.NAME, shown["stratum"].notna().any() and cells.STRATUM,
        cells.GROUP, cells.COMPARED_WITH,
        Column("difference in SDs", shows=lambda row: f"{row['disparity']:.2f}"),
        cells.interval("{:.2f}".format, under=None),
    )  # fmt: skip
    caption = "Differences of means in pooled standard deviations (the tests are those of the means)"
    return [Table.of(columns, cells.barred(cells.records(shown)), caption, marks=None, few=cells.SHOWN)]


def _strata_sentence(setup: Setup, strata: pd.DataFrame) -> str:
    """Say what single strata show, which the verdict on all of them together does not count."""
    concerns = strata[strata["concern"]]
    total = pluralize(len(strata), "comparison")
    if not len(concerns):
        return f"Within single levels of {label(setup.controls)} none of {total} shows a significant disparity."
    verb = "shows" if len(concerns) == 1 else "show"
    first = finding_sentence(setup, cells.records(concerns)[0])
    found = f"{len(concerns)} of {total} {verb} a significant disparity"
    return f"Within single levels of {label(setup.controls)} {found}: {first}"


def notes(setup: Setup, comparisons: pd.DataFrame) -> Iterator[str]:
    """Explain the columns: what intervals are, how p-values were adjusted, and where the two disagree."""
    intervals = ""
    if comparisons["ci_low"].notna().any():
        simultaneous = setup.adjust in ("holm", "shaffer", "bonferroni")
        together = "for all comparisons together" if simultaneous else "for one comparison at a time"
        level = f"{100 * (1 - setup.alpha):g}%"
        intervals = f" Intervals of disparities are {level}, {together}; gaps are computed before rounding."
    yield f"p-values are adjusted for the number of comparisons: {GROUPS_ADJUSTED[setup.adjust]}.{intervals}"
    if setup.people:
        yield setup.people
    if setup.controls:
        yield (
            f"Comparisons averaged over {label(setup.controls)} and those within its single levels are two families, "
            "each adjusted by itself; the former decide."
        )
    yield f"Null distribution of the statistics: {', '.join(sorted(set(comparisons['method'])))}."
