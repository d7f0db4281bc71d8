"""The first sentences of an audit: who is worst off and by how much, how sure that is, and what could be missed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.audit.grid import FEW_POINTS, FEW_RATIO, Standing, people_of_groups, standings
from skfairtest.audit.highlights import Highlight, highlights, largest_gaps, worse_first
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.report.cells import records
from skfairtest.report.sentences import CHANCE, gap_sentence, metric_title, p_text, points, size_text
from skfairtest.report.wording import told, worse_when

#: Groups that a sentence names.
NAMED = 4


def shown_first(record: AuditRecord) -> list[Highlight]:
    """Return the comparisons that stand on the first screen: the strongest ones, or the largest gaps observed."""
    found = highlights(record)
    return found if found or record.verdict.concern else largest_gaps(record, _enough(record))


def first_sentences(record: AuditRecord) -> tuple[str, ...]:
    """Say what an audit found: the headline, how many comparisons are significant, and what could be missed.

    Parameters
    ----------
    record : AuditRecord
        What was found.

    Returns
    -------
    tuple of str
        The headline first; a paragraph each.
    """
    shown = shown_first(record)
    if not record.verdict.concern:
        said = [*_nothing(record, shown), *_paragraph(_detectable(record))]
        return (*said, *_unknown(record), *_paragraph(_missed(record)))
    headline = [_headline(shown[0])] if shown else []
    return (*headline, f"{record.sentence}{_certainty(record)}", *_unknown(record), *_paragraph(_missed(record)))


def _unknown(record: AuditRecord) -> list[str]:
    """Say of how many people a feature is not known, and what became of them."""
    people, said = record.verdict.n_samples, []
    for part in record.parts:
        for row in records(part.excluded):
            if len(part.sensitive) == 1 and row["group"] is None and " is missing: " in row["reason"]:
                what, _, done = row["reason"].partition(": ")
                said.append(f"{what} for {row['n']:,} of {people:,} people ({100 * row['n'] / people:.0f}%): {done}.")
    return _paragraph(said)


def _paragraph(sentences: Iterable[str]) -> list[str]:
    """Return sentences as one paragraph, if there are any."""
    said = " ".join(sentences)
    return [said] if said else []


def _headline(one: Highlight) -> str:
    """Name the strongest disparity."""
    said = gap_sentence(one.part.setup, one.row, turn=not worse_first(one))
    favorable = one.part.setup.favorable
    known = favorable is not None and worse_when(one.row["metric"], favorable)
    return f"Worse off: {_lower(said)}." if known else f"{said}."


def _lower(said: str) -> str:
    """Write a sentence behind a colon; names keep their letters."""
    first = said.split(" ", 1)[0]
    return (
        f"{said[0].lower()}{said[1:]}"
        if first in ("Among", "People", "In", "Averaged", "Others", "Women", "Men")
        else said
    )


def _certainty(record: AuditRecord) -> str:
    """Say between what limits a p-value lies that was sampled."""
    low, high = record.verdict.p_value_interval
    if low == high:
        return ""
    between = f"{p_text(low) if low else '0'} and {p_text(high)}"
    return f" With infinitely many resamples, that p-value would lie between {between} (95% limits)."


def _nothing(record: AuditRecord, shown: Sequence[Highlight]) -> Iterator[str]:
    yield f"{record.sentence}{_certainty(record)}"
    if shown:
        one = shown[0]
        yield f"The largest gap observed: {_lower(gap_sentence(one.part.setup, one.row, turn=not worse_first(one)))}."


def _detectable(record: AuditRecord) -> Iterator[str]:
    """Say how large a gap would have been detected: at best, at worst, and in the middle."""
    kinds: dict[tuple[str, str], list[tuple[float, AuditPart, str]]] = {}
    for part in record.parts:
        for metric, size in part.comparisons[["metric", "minimum_detectable"]].itertuples(index=False):
            if not np.isnan(size):
                own = "" if part.setup.is_share(metric) else metric
                kinds.setdefault((part.setup.disparity_of(metric), own), []).append((size, part, metric))
    for sizes in list(kinds.values())[:NAMED]:
        ordered = sorted(sizes, key=lambda one: one[0])
        finite = [one for one in ordered if np.isfinite(one[0])]
        if not finite:
            yield f"No comparison of {label(ordered[0][2])} had an {CHANCE} of detecting any gap, however large."
            continue
        size, part, metric = finite[0]
        most = f"{CHANCE} of detecting a gap of {size_text(part.setup, metric, size)}"
        if len(ordered) == 1:
            yield f"The comparison had an {most}."
            continue
        best = f"{label(metric)} by {label(part.feature)}"
        yield f"The most sensitive comparison ({best}) had an {most}{_others(ordered)}."


def _others(ordered: Sequence[tuple[float, AuditPart, str]]) -> str:
    """Say what gap half of the comparisons were likely to detect, and how many of them none."""
    (middle, part, metric), none = ordered[(len(ordered) - 1) // 2], sum(np.isinf(size) for size, *_ in ordered)
    half = "" if np.isinf(middle) else f", half of them one of {size_text(part.setup, metric, middle)} or less"
    return half + (f"; {pluralize(none, 'comparison')} had no such chance for any gap" if none else "")


def _standings(record: AuditRecord) -> Iterator[tuple[AuditPart, Any, list[Standing]]]:
    for part in record.parts:
        for group, own in standings(part).items():
            yield part, group, list(own.values())


def _enough(record: AuditRecord) -> Iterator[tuple[str, str, Any]]:
    for part, group, own in _standings(record):
        for standing in own:
            if not standing.is_few(part.setup):
                yield part.feature, standing.metric, group


def _missed(record: AuditRecord) -> Iterator[str]:
    """Say which groups were too small to tell, and how much was left out."""
    found = list(_standings(record))
    if not found:
        return
    fewest = min(len(part.sensitive) for part, _, _ in found)
    few = [(part, group, _in_metrics(metrics, own)) for part, group, own in found if (metrics := _too_few(part, own))]
    single = [(part, group, where) for part, group, where in few if len(part.sensitive) == fewest]
    crossed = len(few) - len(single)
    n_crossed = sum(len(part.sensitive) > fewest for part, _, _ in found)
    names = [
        f"{told(part.sensitive, group)} ({pluralize(people_of_groups(part)[group], 'person', 'people')}){where}"
        for part, group, where in single[:NAMED]
    ]
    if len(single) > NAMED:
        names.append(pluralize(len(single) - NAMED, "further group"))
    if crossed:
        names.append(f"{crossed:,} of the {n_crossed:,} crossed groups")
    if names:
        yield (
            f"Too few people to tell: {enumerated(names)}. There, they could differ by "
            f"{_size_missed(record)} unnoticed."
        )
    left_out = sum(int(part.excluded["comparisons"].sum()) for part in record.parts)
    if left_out:
        yield f"{pluralize(left_out, 'comparison')} could not be made: see what was left out."


def _too_few(part: AuditPart, own: Sequence[Standing]) -> list[str]:
    """The metrics by which nothing was found of a group because it is small, and not because others are."""
    return [one.metric for one in own if one.is_few(part.setup) and one.smaller]


def _in_metrics(few: Sequence[str], own: Sequence[Standing]) -> str:
    """Name the metrics of which that is so, where others tell something."""
    return "" if len(few) == len(own) else f" in {enumerated([metric_title(metric).lower() for metric in few])}"


def _size_missed(record: AuditRecord) -> str:
    setup = record.setup
    if setup.disparity != "difference":
        return f"a factor of {FEW_RATIO:g}"
    return f"{points(FEW_POINTS, 0)} points" if setup.sentences else "much"
