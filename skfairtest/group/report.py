"""The report of the test of one model by groups."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from skfairtest._utils.text import enumerated, label
from skfairtest.comparisons.breaking import verdict_lines
from skfairtest.comparisons.orientation import oriented
from skfairtest.report import cells, sentences
from skfairtest.report.report import Report, listed


def groups_report(test: Any, verdict: str, **filled: Any) -> Report:
    """The report of a test of groups: its verdict and what it fills in, with what all such tests have."""
    setup, tested = test._setup, test.comparisons_
    metrics = enumerated([sentences.metric_title(metric) for metric in dict.fromkeys(tested["metric"])])
    alike = cells.homogeneity_sentences(setup, test.homogeneity_, tested)
    return Report(
        title=f"{metrics} by {label(setup.features)}",
        verdict=verdict + sentences.not_tested(sentences.lost_metrics(test.excluded_, tested["metric"])),
        concern=test.concern_,
        parts=listed(f"Is the disparity the same in every {label(setup.controls)}?", alike),
        left_out=cells.excluded_tables(test.excluded_),
        notes=tuple(_notes(test, setup, tested)),
        **filled,
    )


def group_report(test: Any) -> Report:
    """The report of a fitted `FairnessTest`: the verdict, the leading finding, null hypotheses, and tables."""
    setup, tested = test._setup, test.comparisons_
    ordered = cells.pooled_first(cells.by_p_value(setup, oriented(setup, tested)))
    return groups_report(
        test,
        sentences.verdict_sentence(setup, tested, test.p_value_, concern=test.concern_),
        remarks=tuple(_remarks(test, setup, cells.records(ordered[ordered["stratum"].notna()]))),
        hypotheses=tuple(sentences.null_sentence(setup, metric) for metric in dict.fromkeys(tested["metric"])),
        tables=(cells.values_table(setup, test._values), cells.comparisons_table(setup, ordered, "Comparisons")),
    )


def _remarks(test: Any, setup: sentences.Setup, strata: list[dict[str, Any]]) -> Iterator[str]:
    """Say what the comparison with the strongest evidence found, and what else belongs to the verdict."""
    lead = cells.records(test.comparisons_)[test._leading]
    shown = cells.records(oriented(setup, test.comparisons_))[test._leading]
    how = sentences.written(setup, lead)

    def limits(ends: tuple[float, float]) -> str:
        row = {**lead, "ci_low": ends[0], "ci_high": ends[1]}
        row = row if shown["group"] == lead["group"] else sentences.turned(setup, row)
        return sentences.span(how.disparity, row["ci_low"], row["ci_high"], setup.open_ends(row))

    if test._summary:
        low, high = test.confidence_interval_
        inside = sentences.span(how.disparity, low, high, setup.open_ends(lead)) or "no interval"
        yield f"{sentences.metric_title(test._summary)} is {how.disparity(test.disparity_)}{how.unit} ({inside})."
    yield sentences.finding_sentence(setup, shown)
    if hasattr(test, "equivalence_interval_"):
        level = f"{100 * (1 - 2 * setup.alpha):g}%"
        yield f"Its {level} interval, which the test of equivalence inverts, is {limits(test.equivalence_interval_)}."
    if hasattr(test, "bounds_") and setup.unknown:
        said = f"{limits(test.disparity_bounds_)}, and p {' to '.join(map(sentences.p_text, test.p_value_bounds_))}"
        yield f"Whatever groups the people of unknown group are in, the disparity is {said}."
    yield from verdict_lines(setup, test._breaking)
    yield from filter(None, [setup.unknown, *sentences.sampling_error(test.p_value_interval_)])
    yield from cells.counted(strata, within=setup.controls)
    yield from [sentences.finding_sentence(setup, row) for row in strata if row["concern"]][:1]


def _notes(test: Any, setup: sentences.Setup, comparisons: pd.DataFrame) -> Iterator[str]:
    """Explain the columns: what intervals are, how p-values were adjusted, and what they were computed from."""
    intervals = bool(comparisons["ci_low"].notna().any())
    yield sentences.adjustment_note(setup.adjust, setup.alpha, intervals=intervals, strata=setup.controls)
    names = {
        "exact unconditional": f"{'Chan' if setup.margin_bounds else 'Boschloo'}'s exact test",
        "exact conditional": "the exact test given each stratum's totals" if setup.controls else "Fisher's exact test",
    }
    yield from filter(None, [setup.people])
    used = [f"{names[each]} ({each})" if each in names else each for each in sorted(set(comparisons["method"]))]
    yield f"Test: {', '.join(used)}."
    if getattr(test, "strata_weights", None) is not None:
        yield "Averages over strata have the weights that strata_weights gives."
