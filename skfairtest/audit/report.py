"""The report of an audit: which sections it has, and what they say.

What an audit was computed with: each method that was used, in a sentence, and who described it.
"""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.audit.findings import findings_of
from skfairtest.audit.grid import audit_grid
from skfairtest.audit.headline import first_sentences, intervals_of, people_compared, shown_first
from skfairtest.audit.impact_report import impact_section
from skfairtest.audit.provenance import call_lines
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.comparisons.breaking import BreakingPoint, verdict_lines
from skfairtest.paired.report import paired_section
from skfairtest.report import cells
from skfairtest.report.draw import NullHistogram
from skfairtest.report.mixin import positive_label
from skfairtest.report.plain import plain_value
from skfairtest.report.report import Column, Figure, Report, Table, listed
from skfairtest.report.sentences import CHANCE, Setup, metric_title, null_sentence, p_text, result_sentence
from skfairtest.subgroups.report import scan_section


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
        had.add("subgroups")
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
    if function and (pooled or (setup.compare == "to_overall" and kind == "ratio")):
        return "interval by the delta method"
    if pooled:
        return "interval of a stratified rate"
    return "interval of a function" if function else "interval"


UNDEFINED = "No comparison is defined: see what was left out."


def audit_report(record: AuditRecord, breaking: BreakingPoint | pd.DataFrame | str = "") -> Report:
    """The report of an audit.

    Parameters
    ----------
    record : AuditRecord
        What was found.
    breaking : BreakingPoint, DataFrame or str
        What breaking points follow from, or why there are none.

    Returns
    -------
    Report
        The report; every name in it is safe to print.
    """
    record = record.oriented()
    parts, verdict = record.parts, record.verdict
    headline, *others = first_sentences(record)
    # Behind the counts: a label that is a number does not stand before one.
    labels = positive_label(verdict.pos_label, record.setup.positive_means, verdict.negative_labels)
    others[:1] = [" ".join([*others[:1], *labels])]
    shown = shown_first(record)
    return Report(
        title=label(record.title),
        about=record.about,
        verdict=headline,
        concern=verdict.concern,
        remarks=(*filter(None, others), *verdict_lines(record.setup, breaking), *_accepted(record), _seed(record)),
        numbers=tuple(_numbers(record)),
        grid=audit_grid(record),
        lead=_ranked(record, len(shown)) if shown else "",
        findings=intervals_of(shown),
        parts=(
            *listed("Are disparities the same in every stratum?", record.homogeneity),
            *([] if record.impact is None else [impact_section(record)]),
            *([] if record.scan is None else [_scan(record)]),
            *([] if record.baseline is None else [_baseline(record)]),
            *_individual(record),
            *_left_out(record),
            *(grouping(part) for part in parts),
            _null_distribution(record),
            *listed("What was tested: the null hypotheses", null_hypotheses(parts)),
            *listed("What the metrics are", _definitions(parts)),
        ),
        methods=tuple(f"{method.says} {method.citation}" for method in methods_used(record)),
        notes=tuple(legend(record)),
        reproduce=tuple(_reproducing(record)),
    )


def _accepted(record: AuditRecord) -> Iterator[str]:
    found = {one.id: f"Accepted: {metric_title(one.row['metric'])}, {one.name}" for one in findings_of(record)}
    turned = "Accepted, and no longer observed:"
    for one in record.accepted:
        yield f"{found.get(one.id, turned)} ({label(one.id)}): {label(one.reason)}"


def _seed(record: AuditRecord) -> str:
    seed, version = record.parameters.get("random_state"), record.versions.get("skfairtest")
    return (
        f"To reproduce: random_state={seed}, skfairtest {version}; settings and versions are at the end of the whole "
        "report."
    )


def _numbers(record: AuditRecord) -> Iterator[tuple[str, str]]:
    """Yield the numbers that a reader wants first."""
    verdict, several = record.verdict, record.verdict.n_comparisons > 1
    yield "people", people_compared(record)
    yield "comparisons" if several else "comparison", f"{verdict.n_comparisons:,}"
    yield "significant", f"{verdict.n_found:,}"
    yield "smallest adjusted p" if several else "p", p_text(verdict.p_value)
    yield "level", f"{100 * verdict.alpha:g}%"


def _ranked(record: AuditRecord, n_shown: int) -> str:
    """Say which disparities are told, the strongest or the largest observed."""
    if not record.verdict.concern:
        return "The largest gaps observed, one for each metric and grouping:"
    rest = record.verdict.n_found - n_shown
    more = f" {pluralize(rest, 'further significant comparison')} below." if rest else ""
    return (
        "Ranked by the interval end nearest to equality, single features first; intersections only where they do not "
        f"repeat a single feature. Intervals are in parentheses, and gaps are computed before rounding.{more}"
    )


def _scan(record: AuditRecord) -> Report:
    assert record.scan is not None
    level = (
        "This search has a guarantee of its own, apart from the comparisons of this audit: they do not share a level, "
        "and the verdict does not count it."
    )
    return replace(scan_section(record.scan), title="Subgroups nobody named", remarks=(level,))


def _baseline(record: AuditRecord) -> Report:
    assert record.baseline is not None
    return replace(paired_section(record.baseline), title="Compared with the model in production")


def _individual(record: AuditRecord) -> Iterator[Report]:
    if record.individual:
        yield Report(title="Similar people", verdict=record.individual[0], findings=record.individual[1:])


def _left_out(record: AuditRecord) -> Iterator[Report]:
    """Report what was left out and warned of, if anything was."""
    columns = (Column("features", "name", shows="names"), Column("reason", "word", shows="reason"))
    rows = [{"names": label(names), "reason": label(reason)} for names, reason in record.not_compared]
    tables = [Table.of(columns, rows, "Not compared", None)] if rows else []
    for part in record.parts:
        entries = pluralize(len(part.excluded), "entry", "entries")
        tables += cells.excluded_tables(part.excluded, f"Left out by {label(part.feature)}: {entries}")
    if tables or record.warnings:
        said = [f"Warning: {label(warning)}" for warning in record.warnings]
        yield Report(title="Left out, and warnings", findings=tuple(said), tables=tuple(tables))


def grouping(part: AuditPart) -> Report:
    """Report one grouping of the people: what was found, values by group, and all comparisons by metric."""
    title, setup = f"By {label(part.feature)}", part.setup
    ordered = cells.by_p_value(setup, part.comparisons)
    found, total = ordered[ordered["concern"]], len(ordered)
    values = (cells.values_table(setup, part.by_group),) if len(part.by_group) else ()
    if not total:
        return Report(title=title, lead=UNDEFINED, tables=values, folded=True)
    if len(found):
        shows, order = "shows" if len(found) == 1 else "show", ", with the strongest evidence first" * (len(found) > 1)
        lead = f"{len(found):,} of {pluralize(total, 'comparison')} {shows} a significant disparity{order}:"
    else:
        none = "The comparison does not show" if total == 1 else f"None of the {total:,} comparisons showed"
        strongest = ":" if total == 1 else ". The one with the strongest evidence:"
        lead = f"{none} a significant disparity; this does not prove fairness{strongest}"
    told = cells.records(found if len(found) else ordered.head(1))
    tables = []
    for metric in dict.fromkeys(part.comparisons["metric"]):
        rows = ordered[ordered["metric"] == metric]
        counted = f"{pluralize(len(rows), 'comparison')}, {int(rows['concern'].sum()) or 'none'} significant"
        caption = f"{metric_title(metric)} by {label(part.feature)}: {counted}"
        tables.append(cells.comparisons_table(setup, rows, caption, metrics=False))
    return Report(
        title=title,
        lead=lead,
        concern=bool(len(found)) or None,
        findings=tuple(result_sentence(setup, row) for row in told),
        tables=(*values, *tables),
        folded=True,
    )


def _null_distribution(record: AuditRecord) -> Report:
    part, row = record.leading
    lead, histogram = record.parts[part], record.null_distribution
    said = result_sentence(lead.setup, cells.records(lead.comparisons.iloc[[row]])[0])
    note = "Its null distribution is not kept in this record." if histogram is None else label(histogram.note)
    return Report(
        title="What chance alone would show",
        lead="The comparison with the strongest evidence:",
        findings=(said, note),
        figures=() if histogram is None else (null_figure(histogram),),
        folded=True,
    )


def null_figure(histogram: NullHistogram) -> Figure:
    """The null distribution of the comparison with the strongest evidence, as a figure."""
    extreme = " Hatched: at least as extreme as the data." if any(histogram.extreme) else ""
    caption = f"Bars: how probable each value is if the null hypothesis holds.{extreme} Dashed: the data, "
    title = "What chance alone would show"
    caption += f"{histogram.observed_text}."
    return Figure("histogram", title, caption, histogram.columns, label(histogram.axis), "probability")


def _definitions(parts: Sequence[AuditPart]) -> list[str]:
    """Say what each metric is, in the order of the audit."""
    told: dict[str, str] = {}
    for part in parts:
        for metric in [*part.by_group["metric"], *part.comparisons["metric"], *part.setup.everybody]:
            name, title = label(metric), metric_title(metric)
            told.setdefault(title if title == name else f"{title} ({name})", cells.definition(part.setup, metric))
    return [f"{name}: {text}" if text else name for name, text in told.items()]


def _reproducing(record: AuditRecord) -> Iterator[str]:
    yield from record.sources
    yield (
        f"This audit ran on {label(record.created)}. The same data, versions and settings reproduce these results; "
        "random_state is the seed."
    )
    parameters = plain_value(record.parameters)
    if parameters.get("prediction_threshold") is None and parameters.get("response") == "auto":
        parameters = {name: parameters[name] for name in parameters if name not in ("prediction_threshold", "response")}
    given = [f"{label(name)}={label(_typed(name, value))}" for name, value in parameters.items()]
    yield from (f"  {line}" for line in call_lines(record.provenance, given))
    yield from _traces(record)
    yield f"{', '.join(f'{label(name)}: {label(version)}' for name, version in record.versions.items())}."


def _typed(name: str, value: Any) -> str:
    """Write a parameter as it is typed: a test within the audit is written as its call already."""
    return (
        " ".join(value.split())
        if name in ("individual", "scan", "baseline") and isinstance(value, str)
        else repr(value)
    )


def _traces(record: AuditRecord) -> Iterator[str]:
    """Say what the numbers can be traced back to."""
    found = record.provenance
    if found["command"] is not None:
        yield f"command: {label(found['command'])}"
    yield f"data: {found['data_hash']} (of the rows that were tested, in any order)"
    if found["model"] is not None:
        yield f"model: {label(found['model'])}"


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


def summary_frame(parts: Sequence[AuditPart]) -> pd.DataFrame:
    """Sum up each metric of each grouping: how many are significant, and the comparison with the smallest p-value."""
    shown = ["group", "other", "stratum", "disparity", "p_value_adjusted", "minimum_detectable"]
    rows = []
    for part in parts:
        for metric in dict.fromkeys(part.comparisons["metric"]):
            own = cells.by_p_value(part.setup, part.comparisons[part.comparisons["metric"] == metric])
            counts = {"n_comparisons": len(own), "n_found": int(own["concern"].sum())}
            leading = {name: own.iloc[0][name] for name in shown}
            rows.append({"feature": part.feature, "metric": metric, **counts, **leading})
    return pd.DataFrame(rows, columns=["feature", "metric", "n_comparisons", "n_found", *shown])


def _kept(parts: Sequence[AuditPart], comparisons: pd.DataFrame) -> str:
    """Say how often audits report a false positive, and what that assumes."""
    level = f"{100 * parts[0].setup.alpha:g}%"
    rough = sorted({method for method in comparisons["method"] if not method.startswith(("exact", "undefined"))})
    if not rough:
        said = f"At most {level} of audits done like this report even one false positive."
    else:
        said = (
            f"At most about {level} of audits done like this report even one false positive: about, because "
            f"{' and '.join(rough)} p-values are approximate, and better the more people there are."
        )
    if not any(part.pools_groups for part in parts):
        return said
    return (
        f"{said} Where a group is compared with several groups together (everyone, everyone else, the rest of a parent "
        "group), this assumes that the people in these are a random sample: if so many of each were chosen in advance, "
        "false positives can be more frequent."
    )


def legend(record: AuditRecord) -> list[str]:
    """Say what the columns of the tables are."""
    parts, verdict, setup = record.parts, record.verdict, record.setup
    comparisons = pd.concat([part.comparisons for part in parts], ignore_index=True)
    confidence = f"{100 * (1 - setup.alpha):g}% confidence"
    several = verdict.n_comparisons > 1
    familywise = setup.adjust in ("holm", "shaffer", "bonferroni")
    together = f" for all {pluralize(verdict.n_comparisons, 'comparison')} together" if several and familywise else ""
    compared = {
        "difference": "value minus against, before rounding",
        "ratio": "value divided by against",
        "odds_ratio": "the odds of value divided by those of against, as Fisher's test estimates it",
    }[setup.disparity]
    order = " Of two groups the one with the smaller value comes first." if setup.compare == "between_groups" else ""
    lines = [
        cells.BARS,
        "people: everyone in the group. n: those over whom the value is computed. The interval of a value has "
        f"{confidence} for that group alone.",
        f"{setup.disparity.replace('_', ' ')}: {compared}.{order} Its interval has {confidence}{together}.",
        f"detectable: the smallest disparity, in either direction, that the comparison had an "
        f"{CHANCE} of detecting; {cells.NO_SIZE}: not even the largest one had. For rates by the "
        "power of the test that was run, for other metrics by normal approximation.",
        "p: how often chance alone would show a disparity at least as extreme as this one, if the null hypothesis were "
        f"true. Method: {', '.join(sorted(set(comparisons['method'])))}.",
    ]
    if "asymptotic" in set(comparisons["method"]):
        lines.append(
            "asymptotic: the disparity over its standard error is assumed to be normal, which needs hundreds of people "
            "on both sides."
        )
    significant = f"A disparity is significant where the adjusted p is at most {setup.alpha:g}."
    if not several:
        lines.append(f"adjusted p: the p itself, because there is one comparison. {significant}")
    elif setup.adjust in ("holm", "shaffer"):
        how = "Holm's method" if setup.adjust == "holm" else "Holm's method, with Shaffer's factors for pairs of groups"
        lines.append(
            f"adjusted p: among {verdict.n_comparisons:,} comparisons, some have a small p by chance alone. This "
            "p-value is corrected for that, over all groupings and metrics together; comparisons that test the same "
            f"hypothesis count once ({how}). {significant} "
            f"{_kept(parts, comparisons)}"
        )
    elif setup.adjust is None:
        lines.append(
            f"adjusted p: the p itself; nothing corrects for {verdict.n_comparisons:,} comparisons. {significant}"
        )
    else:
        lines.append(
            f"adjusted p: p, corrected for {verdict.n_comparisons:,} comparisons ({setup.adjust}). {significant}"
        )
    if setup.people:
        lines.append(setup.people)
    if any(bool(part.by_group["small"].any()) for part in parts):
        lines.append("small: n is below 10, and the value is uncertain. no one: n is 0, so there is no value.")
    return lines
