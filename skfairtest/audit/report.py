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
from skfairtest.audit.grid import MOST_GROUPS, audit_grid, disparities_figure, null_figure, values_figure
from skfairtest.audit.headline import first_sentences, intervals_of, people_compared, shown_first
from skfairtest.audit.impact_report import impact_section
from skfairtest.audit.provenance import call_lines
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.comparisons.breaking import BreakingPoint, verdict_lines
from skfairtest.paired.report import paired_section
from skfairtest.report import cells
from skfairtest.report.document import Block, Code, Heading, Items, Pairs, Paragraph, without_empty
from skfairtest.report.mixin import positive_label
from skfairtest.report.plain import plain_value
from skfairtest.report.plots import Forest
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


#: Findings of a grouping that do not fold up; comparisons of an audit whose tables do not, and are printed.
MOST_FINDINGS, MOST_OPEN, MOST_PRINTED = 3, 30, 12
#: Comparisons drawn of all single features together, and of each at least; groups left out that are listed on paper.
MOST_DRAWN, FEWEST_DRAWN, MOST_LEFT_OUT = 30, 8, 6
#: Warnings that do not fold up.
MOST_WARNINGS = 4
#: Rows of drawings for which about two printed pages have room, and rows that the title and the axis of a panel take.
ROOM, PANEL = 80, 4
UNDEFINED = Paragraph("No comparison is defined: see what was left out.")


def audit_document(record: AuditRecord, breaking: BreakingPoint | pd.DataFrame | str = "") -> list[Block]:
    """Compose the report of an audit.

    Parameters
    ----------
    record : AuditRecord
        What was found.
    breaking : BreakingPoint, DataFrame or str
        What breaking points follow from, or why there are none.

    Returns
    -------
    list of Block
        The document; every name in it is safe to print.
    """
    record = record.oriented()
    parts = record.parts
    return without_empty(
        [
            Heading(label(record.title), 1),
            *map(Paragraph, record.about),
            Heading("Verdict"),
            *_verdict(record, breaking),
            Heading("At a glance"),
            *([grid] if (grid := audit_grid(record)) is not None else []),
            Heading("Findings"),
            *_first_findings(record),
            Heading("All groupings", annex=True),
            *(block for part in parts for block in (_by(part, annex=_is_detail(part, parts)), *findings(part))),
            Heading("Disparities and their intervals"),
            *_disparities(parts),
            Heading("Values by group", annex=True),
            Pairs(tuple(_definitions(parts).items())),
            *(block for part in parts for block in _values(part, parts)),
            Heading("What chance alone would show", annex=True),
            *_null_distribution(record),
            Heading("Comparisons", annex=_are_more(parts, MOST_PRINTED)),
            *_comparisons(record),
            Heading("Are disparities the same in every stratum?", kept=True),
            *([Items(record.homogeneity, few=MOST_FINDINGS)] if record.homogeneity else []),
            Heading("Impact table", kept=True),
            *([] if record.impact is None else impact_section(record)),
            Heading("Subgroups nobody named", kept=True),
            *([] if record.scan is None else scan_section(record.scan)),
            Heading("Compared with the model in production", kept=True),
            *([] if record.baseline is None else paired_section(record.baseline)),
            Heading("Similar people", kept=True),
            *map(Paragraph, record.individual[:1]),
            *([Items(record.individual[1:])] if record.individual else []),
            Heading("Left out, and warnings", kept=_is_incomplete(record)),
            *_left_out(record),
            Heading("What was tested: the null hypotheses"),
            Items(tuple(null_hypotheses(parts)), tone="notes"),
            Heading("Methods and references"),
            Items(tuple(f"{method.says} {method.citation}" for method in methods_used(record)), tone="notes"),
            Heading("How to read this"),
            Items(tuple(legend(record)), tone="notes"),
            Heading("Where the data come from"),
            *map(Paragraph, record.sources),
            Heading("How to reproduce this"),
            *_reproducing(record),
        ]
    )


def _by(part: AuditPart, *, annex: bool = False) -> Heading:
    return Heading(f"By {label(part.feature)}", 3, annex=annex)


def _is_detail(part: AuditPart, parts: Sequence[AuditPart]) -> bool:
    """Whether a grouping crosses features whose own pictures come before: its own belong in the annex."""
    return len(part.sensitive) > 1 and any(len(other.sensitive) == 1 for other in parts)


def _verdict(record: AuditRecord, breaking: BreakingPoint | pd.DataFrame | str) -> Iterator[Block]:
    """Say what was found, how sure that is and what could be missed, and the numbers that a reader wants first."""
    verdict = record.verdict
    headline, *others = first_sentences(record)
    # Behind the counts: a label that is a number does not stand before one.
    labels = positive_label(verdict.pos_label, record.setup.positive_means, verdict.negative_labels)
    others[:1] = [" ".join([*others[:1], *labels])]
    yield Paragraph(headline, "concern" if verdict.concern else "fine")
    yield from map(Paragraph, filter(None, others))
    yield from map(Paragraph, verdict_lines(breaking))
    if record.accepted:
        found = {one.id: f"{one.note}: {metric_title(one.row['metric'])}, {one.name}" for one in findings_of(record)}
        turned = "Accepted, and no longer observed:"
        yield Items(
            tuple(f"{found.get(one.id, turned)} ({label(one.id)}): {label(one.reason)}" for one in record.accepted),
            tone="notes",
        )
    several = verdict.n_comparisons > 1
    figures = {
        "people": people_compared(record),
        "comparisons" if several else "comparison": f"{verdict.n_comparisons:,}",
        "significant": f"{verdict.n_found:,}",
        "smallest adjusted p" if several else "p": p_text(verdict.p_value),
        "level": f"{100 * verdict.alpha:g}%",
    }
    yield Pairs(tuple(figures.items()), "figures")
    seed, version = record.parameters.get("random_state"), record.versions.get("skfairtest")
    yield Paragraph(
        f"To reproduce: random_state={seed}, skfairtest {version}; settings and versions are at the end of the whole "
        "report."
    )


def _first_findings(record: AuditRecord) -> Iterator[Block]:
    """Tell the strongest disparities, or the largest gaps observed, each with its interval."""
    shown = shown_first(record)
    if not shown:
        return
    if record.verdict.concern:
        rest = record.verdict.n_found - len(shown)
        more = f" {pluralize(rest, 'further significant comparison')} below." if rest else ""
        yield Paragraph(
            "Ranked by the interval end nearest to equality, one for each metric and grouping; intersections only "
            "where they do not repeat a single feature. Intervals are in parentheses, and gaps are computed before "
            f"rounding.{more}"
        )
    else:
        yield Paragraph("The largest gaps observed, one for each metric and grouping:")
    yield intervals_of(shown)


def findings(part: AuditPart) -> Iterator[Block]:
    """Say what was found in one grouping of the people, the strongest evidence first."""
    ordered = cells.by_p_value(part.setup, part.comparisons)
    found, total = ordered[ordered["concern"]], len(ordered)
    if not total:
        yield UNDEFINED
        return
    asked = pluralize(total, "comparison")
    if len(found):
        order = ", with the strongest evidence first" if len(found) > 1 else ""
        shows = "shows" if len(found) == 1 else "show"
        lead = f"{len(found):,} of {asked} {shows} a significant disparity{order}:"
    else:
        none = "The comparison does not show" if total == 1 else f"None of the {total:,} comparisons showed"
        strongest = ":" if total == 1 else ". The one with the strongest evidence:"
        lead = f"{none} a significant disparity; this does not prove fairness{strongest}"
    yield Paragraph(lead)
    shown = cells.records(found if len(found) else ordered.head(1))
    lines = tuple(result_sentence(part.setup, row) for row in shown)
    yield Items(lines, few=MOST_FINDINGS, tone="concern" if len(found) else "plain")


def _definitions(parts: Sequence[AuditPart]) -> dict[str, str]:
    """Say what each metric is, in the order they were asked for."""
    told: dict[str, str] = {}
    for part in parts:
        for metric in [*part.by_group["metric"], *part.comparisons["metric"], *part.setup.everybody]:
            name, title = label(metric), metric_title(metric)
            told.setdefault(title if title == name else f"{title} ({name})", cells.definition(part.setup, metric))
    return told


def _disparities(parts: Sequence[AuditPart]) -> Iterator[Block]:
    """Draw the disparities of every grouping; those for which paper has no room belong in the annex."""
    single = sum(len(part.sensitive) == 1 for part in parts)
    room = ROOM
    for part in parts:
        drawn = disparities_figure(part, most=max(FEWEST_DRAWN, MOST_DRAWN // max(single, 1)))
        if drawn is None:
            continue
        panels = drawn.drawing.rows if isinstance(drawn.drawing, Forest) else ()
        size = sum(len(rows.names) + PANEL for rows in panels)
        annex = _is_detail(part, parts) or size > room < ROOM
        room -= 0 if annex else size
        yield _by(part, annex=annex)
        yield drawn


def _values(part: AuditPart, parts: Sequence[AuditPart]) -> Iterator[Block]:
    drawn = values_figure(part)
    if drawn is not None:
        yield _by(part, annex=_is_detail(part, parts))
        yield drawn
        yield cells.values_table(part.setup, part.by_group, most=MOST_GROUPS)


def _null_distribution(record: AuditRecord) -> Iterator[Block]:
    part, row = record.leading
    lead = record.parts[part]
    yield Paragraph("The comparison with the strongest evidence:")
    yield Items((result_sentence(lead.setup, cells.records(lead.comparisons.iloc[[row]])[0]),))
    if record.null_distribution is None:
        yield Paragraph("Its null distribution is not kept in this record.")
    else:
        yield null_figure(record.null_distribution)


def _comparisons(record: AuditRecord) -> Iterator[Block]:
    """Write all comparisons, a table for each metric of each grouping."""
    adjusted = (
        "P-values are not corrected for the number of comparisons."
        if record.verdict.adjust is None
        else "Adjusted p-values are corrected for all comparisons together."
    )
    yield Paragraph(
        f"The strongest evidence comes first. {adjusted} Detectable is the smallest disparity, in either direction, "
        f"a comparison of so many people had an {CHANCE} of detecting."
    )
    folded = _are_more(record.parts, MOST_OPEN)
    for part in record.parts:
        yield _by(part)
        ordered = cells.by_p_value(part.setup, part.comparisons)
        for metric in dict.fromkeys(part.comparisons["metric"]):
            rows = ordered[ordered["metric"] == metric]
            found = int(rows["concern"].sum())
            counted = f"{pluralize(len(rows), 'comparison')}, {found or 'none'} significant"
            caption = f"{metric_title(metric)} by {label(part.feature)}: {counted}"
            yield cells.comparisons_table(part.setup, rows, caption, folded=folded)
        if not len(ordered):
            yield UNDEFINED


def _are_more(parts: Sequence[AuditPart], most: int) -> bool:
    """Whether all comparisons together are more than so many."""
    return sum(len(part.comparisons) for part in parts) > most


def _is_incomplete(record: AuditRecord) -> bool:
    """Whether anything was left out, or warned of."""
    return bool(record.not_compared or record.warnings or any(len(part.excluded) for part in record.parts))


def _left_out(record: AuditRecord) -> Iterator[Block]:
    tables = (
        f", the tables of {record.verdict.n_comparisons:,} comparisons" if _are_more(record.parts, MOST_PRINTED) else ""
    )
    yield Paragraph(
        f"This is the short form, without the values by group{tables} and what else a page folds up: "
        "to_html(details=True) prints them, and to_csv writes all comparisons.",
        "short",
    )
    excluded = [part for part in record.parts if len(part.excluded)]
    folded = sum(len(part.excluded) for part in excluded) > MOST_LEFT_OUT
    if record.not_compared:
        yield Pairs(tuple((label(names), label(reason)) for names, reason in record.not_compared))
    for part in excluded:
        caption = f"Left out by {label(part.feature)}: {pluralize(len(part.excluded), 'entry', 'entries')}"
        yield cells.excluded_table(part.excluded, caption, folded=folded)
    if not excluded and not record.not_compared:
        yield Paragraph("Nothing was left out: every group took part in every comparison.")
    if record.warnings:
        yield Paragraph("Warnings while this audit ran:")
        yield Items(tuple(map(label, record.warnings)), few=MOST_WARNINGS)


def _reproducing(record: AuditRecord) -> Iterator[Block]:
    yield Paragraph(
        f"This audit ran on {label(record.created)}. The same data, versions and settings reproduce these results; "
        "random_state is the seed."
    )
    parameters = plain_value(record.parameters)
    if parameters.get("prediction_threshold") is None and parameters.get("response") == "auto":
        parameters = {name: parameters[name] for name in parameters if name not in ("prediction_threshold", "response")}
    given = [f"{label(name)}={label(_typed(name, value))}" for name, value in parameters.items()]
    yield Code(tuple(call_lines(record.provenance, given)), "Call")
    traces = tuple(_traces(record))
    if traces:
        yield Pairs(traces, "traces")
    yield Pairs(tuple((label(name), label(version)) for name, version in record.versions.items()), "versions")


def _typed(name: str, value: Any) -> str:
    """Write a parameter as it is typed: a test within the audit is written as its call already."""
    return (
        " ".join(value.split())
        if name in ("individual", "scan", "baseline") and isinstance(value, str)
        else repr(value)
    )


def _traces(record: AuditRecord) -> Iterator[tuple[str, str]]:
    """Say what the numbers can be traced back to."""
    found = record.provenance
    if found is not None:
        if found.command is not None:
            yield "command", label(found.command)
        yield "data", f"{found.data_hash} (of the rows that were tested, in any order)"
        if found.model is not None:
            yield "model", label(found.model)
            yield "model's hash", found.model_hash or "none: the model cannot be pickled"


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
