"""The report of an audit: which sections it has, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.report.cells import (
    by_p_value,
    comparisons_table,
    definition,
    disagreement,
    excluded_table,
    records,
    values_table,
)
from skfairtest.report.document import Block, Code, Heading, Items, Pairs, Paragraph, without_empty
from skfairtest.report.pictures import MOST_GROUPS, disparities_figure, null_figure, values_figure
from skfairtest.report.record import AuditPart, AuditRecord, plain_value
from skfairtest.report.references import methods_used
from skfairtest.report.sentences import DETECTION_POWER, null_sentence, p_text, result_sentence

__all__ = ["audit_document", "findings", "legend", "null_hypotheses", "summary_frame"]

#: Findings of a grouping that do not fold up; comparisons of an audit whose tables do not.
MOST_FINDINGS, MOST_OPEN = 3, 30
UNDEFINED = Paragraph("No comparison is defined: see what was left out.")


def audit_document(record: AuditRecord) -> list[Block]:
    """Compose the report of an audit.

    Parameters
    ----------
    record : AuditRecord
        What was found.

    Returns
    -------
    list of Block
        The document; every name in it is safe to print.
    """
    parts = record.parts
    return without_empty(
        [
            Heading(label(record.title), 1),
            *map(Paragraph, record.about),
            Heading("Verdict"),
            *_verdict(record),
            Heading("Findings"),
            *(block for part in parts for block in (_by(part), *findings(part))),
            Heading("Disparities and their intervals"),
            *(block for part in parts if (drawn := disparities_figure(part)) for block in (_by(part), drawn)),
            Heading("Values by group"),
            Pairs(tuple(_definitions(parts).items())),
            *(block for part in parts for block in _values(part)),
            Heading("What chance alone would show"),
            *_null_distribution(record),
            Heading("Comparisons"),
            *_comparisons(record),
            Heading("Similar people"),
            *_similar_people(record),
            Heading("Left out, and warnings"),
            *_left_out(record),
            Heading("What was tested: the null hypotheses"),
            Items(tuple(null_hypotheses(parts))),
            Heading("Methods and references"),
            Items(tuple(f"{method.says} {method.citation}" for method in methods_used(record))),
            Heading("How to read this"),
            Items(tuple(legend(record))),
            Heading("Where the data come from"),
            *map(Paragraph, record.sources),
            Heading("How to reproduce this"),
            *_reproducing(record),
        ]
    )


def _similar_people(record: AuditRecord) -> Iterator[Block]:
    """Say what the test of individual fairness found, where there was one."""
    if record.individual:
        yield Paragraph(record.individual[0])
        yield Items(record.individual[1:])


def _by(part: AuditPart) -> Heading:
    return Heading(f"By {label(part.feature)}", 3)


def _verdict(record: AuditRecord) -> Iterator[Block]:
    """Say what decides, how sure that is where it was drawn at random, and the numbers that a reader wants first."""
    verdict, said = record.verdict, record.sentence
    low, high = verdict.p_value_interval
    if low != high:
        between = f"{p_text(low) if low else '0'} and {p_text(high)}"
        said += f" With resamples without end, that p-value would lie between {between} (95 % limits)."
    yield Paragraph(said, "concern" if verdict.concern else "fine")
    several = verdict.n_comparisons > 1
    figures = {
        "people": f"{verdict.n_samples:,}",
        "comparisons" if several else "comparison": f"{verdict.n_comparisons:,}",
        "concerns" if verdict.n_found != 1 else "concern": f"{verdict.n_found:,}",
        "smallest adjusted p" if several else "p": p_text(verdict.p_value),
        "level": f"{100 * verdict.alpha:g} %",
    }
    if verdict.pos_label is not None:
        figures["positive label"] = label(plain_value(verdict.pos_label))
    yield Pairs(tuple(figures.items()), "figures")


def findings(part: AuditPart) -> Iterator[Block]:
    """Say what was found in one grouping of the people, the most telling first; else which p-value is the smallest."""
    ordered = by_p_value(part.setup, part.comparisons)
    found, total = ordered[ordered["concern"]], len(ordered)
    if not total:
        yield UNDEFINED
        return
    asked = pluralize(total, "comparison")
    if len(found):
        are = "is a concern" if len(found) == 1 else "are concerns"
        lead = f"{len(found):,} of {asked} {are}{', the smallest p-value first' if len(found) > 1 else ''}:"
    else:
        smallest = ":" if total == 1 else ". The one with the smallest p-value:"
        lead = f"No concern in {asked}, which is no proof of fairness{smallest}"
    yield Paragraph(lead)
    shown = records(found if len(found) else ordered.head(1))
    lines = tuple(result_sentence(part.setup, row) for row in shown)
    yield Items(lines, few=MOST_FINDINGS, tone="concern" if len(found) else "plain")


def _definitions(parts: Sequence[AuditPart]) -> dict[str, str]:
    """Say what each metric is, in the order they were asked for."""
    told: dict[str, str] = {}
    for part in parts:
        for metric in [*part.by_group["metric"], *part.comparisons["metric"], *part.setup.everybody]:
            told.setdefault(label(metric), definition(part.setup, metric))
    return told


def _values(part: AuditPart) -> Iterator[Block]:
    drawn = values_figure(part)
    if drawn is not None:
        yield _by(part)
        yield drawn
        yield values_table(part.setup, part.by_group, most=MOST_GROUPS)


def _null_distribution(record: AuditRecord) -> Iterator[Block]:
    part, row = record.leading
    lead = record.parts[part]
    yield Paragraph("The comparison that decides:")
    yield Items((result_sentence(lead.setup, records(lead.comparisons.iloc[[row]])[0]),))
    if record.null_distribution is None:
        yield Paragraph("Its null distribution is not kept in this record.")
    else:
        yield null_figure(record.null_distribution)


def _comparisons(record: AuditRecord) -> Iterator[Block]:
    """Write all comparisons, a table for each metric of each grouping."""
    adjusted = (
        "P-values are not corrected for the number of questions."
        if record.verdict.adjust is None
        else "Adjusted p-values are corrected for all questions together."
    )
    yield Paragraph(
        f"The smallest p-value comes first. {adjusted} Detectable is the smallest disparity that these numbers of "
        f"people would have shown with a probability of {100 * DETECTION_POWER:g} %, in either direction."
    )
    folded = sum(len(part.comparisons) for part in record.parts) > MOST_OPEN
    for part in record.parts:
        yield _by(part)
        ordered = by_p_value(part.setup, part.comparisons)
        for metric in dict.fromkeys(part.comparisons["metric"]):
            rows = ordered[ordered["metric"] == metric]
            found = int(rows["concern"].sum())
            counted = f"{pluralize(len(rows), 'comparison')}, {pluralize(found, 'concern') if found else 'no concern'}"
            caption = f"{label(metric)} by {label(part.feature)}: {counted}"
            yield comparisons_table(part.setup, rows, caption, folded=folded)
        if not len(ordered):
            yield UNDEFINED


def _left_out(record: AuditRecord) -> Iterator[Block]:
    excluded = [part for part in record.parts if len(part.excluded)]
    if record.not_compared:
        yield Pairs(tuple((label(names), label(reason)) for names, reason in record.not_compared))
    for part in excluded:
        yield excluded_table(part.excluded, f"Left out by {label(part.feature)}")
    if not excluded and not record.not_compared:
        yield Paragraph("Nothing was left out: every group took part in every comparison.")
    if record.warnings:
        yield Paragraph("Said while people were tested:")
        yield Items(tuple(map(label, record.warnings)))


def _reproducing(record: AuditRecord) -> Iterator[Block]:
    yield Paragraph(
        f"People were tested on {label(record.created)}. The same people, the same versions and these parameters, of "
        "which random_state is the seed, give the same numbers."
    )
    given = (f"    {label(name)}={label(repr(value))}," for name, value in plain_value(record.parameters).items())
    yield Code(("FairnessAudit(", *given, ")"), "Parameters")
    yield Pairs(tuple((label(name), label(version)) for name, version in record.versions.items()), "versions")


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
    """Sum up each metric of each grouping: how many findings, and the comparison with the smallest p-value."""
    shown = ["group", "other", "stratum", "disparity", "p_value_adjusted", "minimum_detectable"]
    rows = []
    for part in parts:
        for metric in dict.fromkeys(part.comparisons["metric"]):
            own = by_p_value(part.setup, part.comparisons[part.comparisons["metric"] == metric])
            counts = {"n_comparisons": len(own), "n_found": int(own["concern"].sum())}
            leading = {name: own.iloc[0][name] for name in shown}
            rows.append({"feature": part.feature, "metric": metric, **counts, **leading})
    return pd.DataFrame(rows, columns=["feature", "metric", "n_comparisons", "n_found", *shown])


def _kept(parts: Sequence[AuditPart], comparisons: pd.DataFrame) -> str:
    """Say how often audits raise a false concern, and what that takes for granted."""
    level = f"{100 * parts[0].setup.alpha:g} %"
    rough = sorted({method for method in comparisons["method"] if not method.startswith("exact")})
    if not rough:
        said = f"At most {level} of audits done like this raise even one false concern."
    else:
        said = (
            f"At most about {level} of audits done like this raise even one false concern: about, because "
            f"{' and '.join(rough)} p-values keep the level approximately, the better the more people there are."
        )
    if not any(part.pools_groups for part in parts):
        return said
    return (
        f"{said} Where a group is compared with several groups together (everyone, everyone else, the rest of a parent "
        "group), this assumes that the people in these are a random sample: if so many of each were chosen in advance, "
        "false concerns can be more frequent."
    )


def legend(record: AuditRecord) -> list[str]:
    """Say what the columns of the tables are."""
    parts, verdict, setup = record.parts, record.verdict, record.setup
    comparisons = pd.concat([part.comparisons for part in parts], ignore_index=True)
    confidence = f"{100 * (1 - setup.alpha):g} % confidence"
    several = verdict.n_comparisons > 1
    familywise = setup.adjust in ("holm", "shaffer", "bonferroni")
    together = f" for all {pluralize(verdict.n_comparisons, 'comparison')} together" if several and familywise else ""
    sign = "minus" if setup.disparity == "difference" else "divided by"
    lines = [
        "people: everyone in the group. n: those over whom the value is computed. The interval of a value has "
        f"{confidence} for that group alone.",
        f"{setup.disparity}: value {sign} against. Its interval has {confidence}{together}.",
        f"detectable: the smallest disparity, in either direction, that would have been found with a probability of "
        f"{100 * DETECTION_POWER:g} %. For rates by the power of the test that was run, for other metrics by normal "
        "approximation.",
        "p: how often chance alone would show a disparity at least as telling as this one, if the null hypothesis were "
        f"true. Method: {', '.join(sorted(set(comparisons['method'])))}.",
    ]
    if "asymptotic" in set(comparisons["method"]):
        lines.append(
            "asymptotic: the disparity over its standard error is taken for normal, which wants hundreds of people on "
            "both sides."
        )
    concern = f"A comparison is a concern where the adjusted p is at most {setup.alpha:g}."
    if not several:
        lines.append(f"adjusted p: the p itself, because one question was asked. {concern}")
    elif setup.adjust in ("holm", "shaffer"):
        how = "Holm's method" if setup.adjust == "holm" else "Holm's method, with Shaffer's factors for pairs of groups"
        lines.append(
            f"adjusted p: among {verdict.n_comparisons:,} comparisons, some have a small p by chance alone. This "
            "p-value is corrected for that, over all groupings and metrics together; comparisons that test the same "
            f"hypothesis count once ({how}). {concern} "
            f"{_kept(parts, comparisons)}"
        )
    elif setup.adjust is None:
        lines.append(
            f"adjusted p: the p itself; nothing corrects for asking {verdict.n_comparisons:,} questions. {concern}"
        )
    else:
        lines.append(
            f"adjusted p: p, corrected for asking {verdict.n_comparisons:,} questions ({setup.adjust}). {concern}"
        )
    if setup.people:
        lines.append(setup.people)
    if any(bool(part.by_group["small"].any()) for part in parts):
        lines.append("small: n is below 10, and the value says little. nobody: n is 0, and there is no value.")
    return lines + disagreement(setup, comparisons)
