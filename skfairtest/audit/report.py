"""The report of an audit: its sections, and what it was computed with."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.audit.findings import findings_of
from skfairtest.audit.first_screen import audit_grid, first_sentences, intervals_of, people_compared, shown_first
from skfairtest.audit.provenance import call_lines
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.comparisons.breaking import BreakingPoint, verdict_lines
from skfairtest.report import cells
from skfairtest.report.report import Figure, Report, Table, listed
from skfairtest.report.sentences import (
    CHANCE,
    FAMILYWISE,
    adjustment_note,
    finding_sentence,
    metric_title,
    null_sentence,
)

_FILE = files("skfairtest.audit").joinpath("methods.toml")
#: Methods with what was done and who described it, by what an audit has if it was used; in the order of the report.
METHODS: dict[str, str] = {
    method["when"]: f"{method['says']} {method['citation']}"
    for method in tomllib.loads(_FILE.read_text(encoding="utf-8"))["method"]
}
#: How the first findings are chosen.
RANKED = (
    "Ranked by the interval end nearest to equality, single features first; intersections only if they are stronger by "
    "that metric. Intervals are in parentheses, and gaps are computed before rounding."
)


def methods_used(record: AuditRecord) -> list[str]:
    """Name the methods that the numbers of a record come from, and no others, by the keys of `METHODS`."""
    had: dict[str, Any] = {section.title: True for section in record.beside}
    # One comparison has nothing to be adjusted for.
    had[str(record.setup.adjust)] = record.n_comparisons > 1
    for part in record.parts:
        setup, comparisons, shown = part.setup, part.comparisons, set(part.by_group["metric"])
        rates = set() if setup.people else set(setup.sentences)  # people who count alike
        exact = "exact unconditional" if setup.margin_bounds is None else "exact margin"
        for metric, method in {*zip(comparisons["metric"], comparisons["method"], strict=True)}:
            rate, omnibus = metric in rates, metric in setup.omnibus
            law = {"exact unconditional": exact, "score": "areas", "asymptotic": "score" if rate else "normal"}
            if omnibus:
                law = {"permutation": "permutation of everyone"}
            had[law.get(method, method)] = True
            if method != "bootstrap" and not omnibus:
                had["interval" if rate else "interval by standard errors"] = True
        traits = {
            "strata": part.control and comparisons["stratum"].isna().any(),
            "several groups together": part.pools_groups,
            "linearized": setup.people,
            "roc_auc": "roc_auc" in shown and not setup.people,
            "rate": rates & shown,
            "detectable": comparisons["minimum_detectable"].notna().any(),
        }
        had |= {name: True for name, has in traits.items() if has}
    return [name for name in METHODS if had.get(name)]


def audit_report(record: AuditRecord, breaking: BreakingPoint | pd.DataFrame | str = "") -> Report:
    """The report of an audit; every name in it is safe to print."""
    record = record.oriented()
    n, n_found, shown = record.n_comparisons, record.n_found, shown_first(record)
    headline, *others = first_sentences(record)
    names = {each["id"]: f"Accepted: {metric_title(each['metric'])}, {each['name']}" for each in findings_of(record)}
    others += verdict_lines(record.setup, breaking)
    others += [
        f"{names.get(known, 'Accepted, and no longer observed:')} ({label(known)}): {label(reason)}"
        for known, reason in record.accepted.items()
    ]
    return Report(
        title=label(record.title),
        headed=True,
        about=record.about,
        verdict=headline,
        concern=n_found > 0,
        remarks=tuple(others),
        numbers=(
            ("people", people_compared(record)),
            ("comparisons" if n > 1 else "comparison", f"{n:,}"),
            ("significant", f"{n_found:,}"),
        ),
        grid=audit_grid(record),
        lead=(RANKED if n_found else "The largest gaps observed, one for each metric and grouping:") * bool(shown),
        findings=intervals_of(record.setup, shown),
        parts=(
            *record.beside,
            *_left_out(record),
            *map(grouping, record.parts),
            *_null_distribution(record),
            *listed("What was tested: the null hypotheses", null_hypotheses(record.parts)),
        ),
        methods=tuple(METHODS[name] for name in methods_used(record)),
        notes=tuple(legend(record)),
        reproduce=tuple(_reproducing(record)),
    )


def _left_out(record: AuditRecord) -> Iterator[Report]:
    said = [f"Not compared by {label(names)}: {label(reason)}" for names, reason in record.not_compared]
    said += [f"Warning: {label(warning)}" for warning in record.warnings]
    tables: list[Table] = []
    for part in record.parts:
        caption = f"Left out by {label(part.feature)}: {pluralize(len(part.excluded), 'entry', 'entries')}"
        tables += cells.excluded_tables(part.excluded, caption)
    if tables or said:
        yield Report(title="Left out, and warnings", findings=tuple(said), tables=tuple(tables))


def grouping(part: AuditPart) -> Report:
    """Report one grouping of the people: what was found, values by group, and all comparisons by metric."""
    setup, feature = part.setup, label(part.feature)
    ordered = cells.by_p_value(setup, part.comparisons)
    n_found, total = int(ordered["concern"].sum()), len(ordered)
    lead = "No comparison shows a significant disparity; this does not prove fairness."
    if n_found:
        lead = f"Significant in {n_found:,} of {pluralize(total, 'comparison')}, the strongest evidence first."
    tables = [cells.values_table(setup, part.by_group)] if len(part.by_group) else []
    for metric in dict.fromkeys(part.comparisons["metric"]):
        rows = ordered[ordered["metric"] == metric]
        counted = f"{pluralize(len(rows), 'comparison')}, {int(rows['concern'].sum()) or 'none'} significant"
        caption = f"{metric_title(metric)} by {feature}: {counted}"
        tables.append(cells.comparisons_table(setup, rows, caption, first=()))
    return Report(
        title=f"By {feature}",
        lead=lead if total else "No comparison is defined: see what was left out.",
        concern=n_found > 0 or None,
        tables=tuple(tables),
        folded=True,
    )


def _null_distribution(record: AuditRecord) -> Iterator[Report]:
    """Show the null distribution of the comparison with the strongest evidence, if it has one."""
    (part, row), histogram, title = record.leading, record.null_distribution, "What chance alone would show"
    if histogram is not None:
        said = finding_sentence(record.parts[part].setup, cells.records(record.parts[part].comparisons)[row])
        extreme = " Hatched: at least as extreme as the data." if any(histogram.extreme) else ""
        caption = f"Bars: how probable each value is if the null hypothesis holds.{extreme} Dashed: the data, "
        caption += f"{histogram.observed_text}."
        figure = Figure("histogram", title, caption, histogram.columns, label(histogram.axis), "probability")
        findings, leads = (said, label(histogram.note)), "The comparison with the strongest evidence:"
        yield Report(title=title, lead=leads, findings=findings, figures=(figure,), folded=True)


def _reproducing(record: AuditRecord) -> Iterator[str]:
    found = record.provenance
    yield from record.sources
    yield (
        f"This audit ran on {label(record.created)}. The same data, versions and settings reproduce these results; "
        "random_state is the seed."
    )
    yield from (f"  {line}" for line in call_lines(found, record.parameters))
    traced = {"command": found["command"], "data": f"{found['data_hash']} (of the rows that were tested, in any order)",
              "model": found["model"]}  # fmt: skip
    yield from (f"{name}: {label(value)}" for name, value in traced.items() if value is not None)
    yield f"{', '.join(f'{label(name)}: {label(version)}' for name, version in record.versions.items())}."


def null_hypotheses(parts: Sequence[AuditPart]) -> list[str]:
    """State the null hypothesis of every metric, once for all groupings that are compared alike."""
    alike: dict[str, list[AuditPart]] = {}
    for part in parts:
        alike.setdefault(part.setup.compare, []).append(part)
    found: dict[str, None] = {}
    for same in alike.values():
        setup = replace(same[0].setup, features=" or of ".join(label(part.feature) for part in same))
        metrics = dict.fromkeys(metric for part in same for metric in part.comparisons["metric"])
        found |= dict.fromkeys(null_sentence(setup, metric) + "." for metric in metrics)
    return list(found)


def legend(record: AuditRecord) -> list[str]:
    """Say what the columns of the tables are."""
    parts, setup = record.parts, record.setup
    methods = sorted({method for part in parts for method in part.comparisons["method"]})
    level = f"{100 * setup.alpha:g}%"
    compared = {
        "difference": "value minus against, before rounding",
        "ratio": "value divided by against",
        "odds_ratio": "the odds of value divided by those of against, as Fisher's test estimates it",
    }[setup.disparity]
    lines = [
        cells.BARS,
        "people: everyone in the group. n: those over whom the value is computed; small: below 10. The interval of "
        "a value holds for that group alone.",
        f"{setup.disparity.replace('_', ' ')}: {compared}.",
        f"detectable: the smallest disparity, in either direction, that the comparison had an {CHANCE} of detecting; "
        f"{cells.NO_SIZE}: not even the largest one had.",
        "p: how often chance alone would show a disparity at least as extreme as this one, if the null hypothesis were "
        f"true. Method: {', '.join(methods)}.",
        f"{adjustment_note(setup.adjust, setup.alpha)} Significant is an adjusted p of at most {setup.alpha:g}.",
    ]
    if setup.adjust in FAMILYWISE or record.n_comparisons == 1:
        rough = " and ".join(method for method in methods if not method.startswith(("exact", "undefined")))
        about, because = ("about ", f"; about, because {rough} p-values are approximate") if rough else ("", "")
        lines.append(f"At most {about}{level} of audits done like this report even one false positive{because}.")
    return [*lines, *filter(None, [setup.people])]
