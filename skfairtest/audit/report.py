"""The report of an audit: which sections it has, and what they say.

What an audit was computed with: each method that was used, in a sentence, and who described it.
"""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files

import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.audit.findings import findings_of
from skfairtest.audit.grid import audit_grid
from skfairtest.audit.headline import first_sentences, intervals_of, people_compared, shown_first
from skfairtest.audit.impact_report import UNFAVORABLE, impact_report
from skfairtest.audit.provenance import call_lines
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.comparisons.breaking import BreakingPoint, verdict_lines
from skfairtest.group.report import GROUPS_ADJUSTED
from skfairtest.paired.report import paired_section
from skfairtest.report import cells
from skfairtest.report.draw import NullHistogram
from skfairtest.report.mixin import positive_label
from skfairtest.report.plain import plain_value
from skfairtest.report.report import Column, Figure, Report, Table, listed
from skfairtest.report.sentences import CHANCE, finding_sentence, metric_title, null_sentence, p_text
from skfairtest.subgroups.report import scan_section

_FILE = files("skfairtest.audit").joinpath("methods.toml")
#: Methods with what was done and who described it, by what an audit has if it was used; in the order of the report.
METHODS: dict[str, str] = {
    method["when"]: f"{method['says']} {method['citation']}"
    for method in tomllib.loads(_FILE.read_text(encoding="utf-8"))["method"]
}


def methods_used(record: AuditRecord) -> list[str]:
    """Name the methods that the numbers of a record come from, and no others, by the keys of `METHODS`."""
    sections = {"subgroups": record.scan, "impact": record.impact, "two models": record.baseline}
    had = {name for name, section in sections.items() if section is not None}
    if record.verdict.n_comparisons > 1:  # one comparison has nothing to be adjusted for
        had.add(str(record.verdict.adjust))
    for part in record.parts:
        setup, comparisons, shown = part.setup, part.comparisons, set(part.by_group["metric"])
        rates = set() if setup.people else set(setup.sentences)  # people who count alike
        for metric, method in zip(comparisons["metric"], comparisons["method"], strict=True):
            if metric in setup.everybody:
                had.add("permutation of everybody" if method == "permutation" else method)
                continue
            exact = "exact unconditional" if setup.margin_bounds is None else "exact margin"
            law = {
                "exact unconditional": exact,
                "score": "areas",
                "asymptotic": "score" if metric in rates else "normal",
            }
            had.add(law.get(method, method))
            if method != "bootstrap":
                had.add("interval" if metric in rates else "interval by standard errors")
        traits = {
            "strata": part.control and comparisons["stratum"].isna().any(),
            "several groups together": part.pools_groups,
            "linearized": setup.people,
            "roc_auc": "roc_auc" in shown and not setup.people,
            "rate": rates & shown,
            "detectable": comparisons["minimum_detectable"].notna().any(),
        }
        had |= {name for name, has in traits.items() if has}
    return [name for name in METHODS if name in had]


UNDEFINED = "No comparison is defined: see what was left out."


def audit_report(record: AuditRecord, breaking: BreakingPoint | pd.DataFrame | str = "") -> Report:
    """The report of an audit; every name in it is safe to print.

    Parameters
    ----------
    record : AuditRecord
        What was found.
    breaking : BreakingPoint, DataFrame or str
        What breaking points follow from, or why there are none.
    """
    record = record.oriented()
    verdict, several, favorable = record.verdict, record.verdict.n_comparisons > 1, record.setup.favorable
    shown, (headline, *others) = shown_first(record), first_sentences(record)
    # Behind the counts: a label that is a number does not stand before one.
    others[:1] = [
        " ".join(
            [*others[:1], *positive_label(verdict.pos_label, record.setup.positive_means, verdict.negative_labels)]
        )
    ]
    accepted = {one.id: f"Accepted: {metric_title(one.row['metric'])}, {one.name}" for one in findings_of(record)}
    others += verdict_lines(record.setup, breaking)
    others += [
        f"{accepted.get(one.id, 'Accepted, and no longer observed:')} ({label(one.id)}): {label(one.reason)}"
        for one in record.accepted
    ]
    sections = []
    if record.impact is not None:
        level = (
            "These tables have a level of their own, apart from the comparisons of this audit: the verdict does not "
            "count them."
        )
        against = (*map(label, record.impact.not_compared), *([UNFAVORABLE] if favorable is False else []))
        sections.append(impact_report(
            record.impact.frame, title="Impact table", about=level, scoring=record.impact.scoring,
            smallest_share=record.impact.smallest_share, confidence_level=1 - verdict.alpha, not_compared=against,
        ))  # fmt: skip
    if record.scan is not None:
        level = (
            "This search has a guarantee of its own, apart from the comparisons of this audit: they do not share a "
            "level, and the verdict does not count it."
        )
        sections.append(replace(scan_section(record.scan), title="Subgroups nobody named", remarks=(level,)))
    if record.baseline is not None:
        sections.append(replace(paired_section(record.baseline), title="Compared with the model in production"))
    if record.individual:
        said, *findings = record.individual
        sections.append(Report(title="Similar people", verdict=said, findings=tuple(findings)))
    return Report(
        title=label(record.title),
        about=record.about,
        verdict=headline,
        concern=verdict.concern,
        remarks=tuple(filter(None, others)),
        numbers=(
            ("people", people_compared(record)),
            ("comparisons" if several else "comparison", f"{verdict.n_comparisons:,}"),
            ("significant", f"{verdict.n_found:,}"),
            ("smallest adjusted p" if several else "p", p_text(verdict.p_value)),
            ("level", f"{100 * verdict.alpha:g}%"),
        ),
        grid=audit_grid(record),
        lead=_ranked(record, len(shown)) if shown else "",
        findings=intervals_of(shown),
        parts=(
            *listed("Are disparities the same in every stratum?", record.homogeneity),
            *sections,
            *_left_out(record),
            *map(grouping, record.parts),
            _null_distribution(record),
            *listed("What was tested: the null hypotheses", null_hypotheses(record.parts)),
            *listed("What the metrics are", _definitions(record.parts)),
        ),
        methods=tuple(METHODS[name] for name in methods_used(record)),
        notes=tuple(legend(record)),
        reproduce=tuple(_reproducing(record)),
    )


def _ranked(record: AuditRecord, n_shown: int) -> str:
    """Say which disparities are told, the strongest or the largest observed."""
    if not record.verdict.concern:
        return "The largest gaps observed, one for each metric and grouping:"
    rest = record.verdict.n_found - n_shown
    more = f" {pluralize(rest, 'further significant comparison')} below." if rest else ""
    return (
        "Ranked by the interval end nearest to equality, single features first; intersections only if they are "
        f"stronger by that metric. Intervals are in parentheses, and gaps are computed before rounding.{more}"
    )


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
        findings=tuple(finding_sentence(setup, row) for row in told),
        tables=(*values, *tables),
        folded=True,
    )


def _null_distribution(record: AuditRecord) -> Report:
    part, row = record.leading
    lead, histogram = record.parts[part], record.null_distribution
    said = finding_sentence(lead.setup, cells.records(lead.comparisons.iloc[[row]])[0])
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
    """Say how the audit was called, and what its numbers can be traced back to."""
    found, parameters = record.provenance, plain_value(record.parameters)
    yield from record.sources
    yield (
        f"This audit ran on {label(record.created)}. The same data, versions and settings reproduce these results; "
        "random_state is the seed."
    )
    # A test within the audit is written as its call already.
    tests = {name for name in ("individual", "scan", "baseline") if isinstance(parameters.get(name), str)}
    given = [
        f"{label(name)}={label(' '.join(value.split()) if name in tests else repr(value))}"
        for name, value in parameters.items()
        if (name, value) not in (("prediction_threshold", None), ("response", "auto"))
    ]
    yield from (f"  {line}" for line in call_lines(found, given))
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


def legend(record: AuditRecord) -> list[str]:
    """Say what the columns of the tables are."""
    parts, n, setup = record.parts, record.verdict.n_comparisons, record.setup
    methods = sorted({method for part in parts for method in part.comparisons["method"]})
    confidence = f"{100 * (1 - setup.alpha):g}% confidence"
    familywise = setup.adjust in ("holm", "shaffer", "bonferroni")
    together = f" for all {pluralize(n, 'comparison')} together" if n > 1 and familywise else ""
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
        f"detectable: the smallest disparity, in either direction, that the comparison had an {CHANCE} of detecting; "
        f"{cells.NO_SIZE}: not even the largest one had.",
        "p: how often chance alone would show a disparity at least as extreme as this one, if the null hypothesis were "
        f"true. Method: {', '.join(methods)}.",
    ]
    if "asymptotic" in methods:
        lines.append("asymptotic: approximate, which needs hundreds of people on both sides.")
    corrected = "the p itself"
    if n > 1 and setup.adjust is not None:
        corrected = f"p, corrected for {n:,} comparisons ({GROUPS_ADJUSTED[setup.adjust]})"
    corrected += "; comparisons that test the same hypothesis count once" if n > 1 and familywise else ""
    lines.append(f"adjusted p: {corrected}. A disparity is significant where it is at most {setup.alpha:g}.")
    if familywise or n == 1:
        rough = [method for method in methods if not method.startswith(("exact", "undefined"))]
        about = f"; about, because {' and '.join(rough)} p-values are approximate" if rough else ""
        level = f"{'about ' if rough else ''}{100 * setup.alpha:g}%"
        lines.append(f"At most {level} of audits done like this report even one false positive{about}.")
    if any(part.pools_groups for part in parts):
        lines.append(
            "Where a group is compared with several groups together (everyone, everyone else, the rest of a parent "
            "group), this assumes that the people in these are a random sample."
        )
    if setup.people:
        lines.append(setup.people)
    if any(bool(part.by_group["small"].any()) for part in parts):
        lines.append("small: n is below 10, and the value is uncertain. no one: n is 0, so there is no value.")
    return lines
