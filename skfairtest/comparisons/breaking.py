"""The breaking point of a verdict: the fewest decisions, or true labels, of one group whose change reverses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.typing import Integers
from skfairtest.comparisons.contrasts import BEST
from skfairtest.comparisons.core import Design, Result, groups_of
from skfairtest.comparisons.frames import frame_of
from skfairtest.comparisons.measure import by_labels, is_counted
from skfairtest.comparisons.rates import scale_of
from skfairtest.inference.breaking import Decided
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.multiplicity import distinct
from skfairtest.metrics import CELLS, Metric, Rate, asks_coverage
from skfairtest.report.cells import records
from skfairtest.report.sentences import Setup, breaking_sentence
from skfairtest.tables import Sample

#: What may be changed, by the column that holds it.
CHANGED = {"y_pred": "decisions", "y_true": "labels"}
#: Comparisons, and people of exact tests against a margin, up to which reports search, which is not to slow them down.
MOST_COMPARISONS, MOST_WITH_MARGIN = 150, 500
COLUMNS = [
    "concern", "changed", "n_changed", "among", "among_label", "n_among", "to_positive", "to_negative", "tied",
    "search",
]  # fmt: skip
NUMBERS = ("n_changed", "n_among", "to_positive", "to_negative")


@dataclass(frozen=True, eq=False)
class BreakingPoint(Decided):
    """The breaking point of a verdict: the data it follows from, and how it is shown.

    `groups` are those whose people may change; `changed` the columns, of `CHANGED`, on which all p-values depend by
    counts.
    """

    names: tuple[str, ...]
    groups: tuple[Any, ...]
    changed: tuple[str, ...]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row for each kind of change."""
        now = bool(self.verdict)
        found = [
            (now, CHANGED[column], *decided.shown(*decided.turns()))
            for column in self.changed
            for decided in (self if column == "y_pred" else self.of_labels(),)
        ]
        columns: dict[str, Any] = dict(zip(COLUMNS, map(list, zip(*found, strict=True)), strict=True))
        return frame_of(columns | {name: pd.array(columns[name], dtype="Int64") for name in NUMBERS})

    def shown(self, ways: Sequence[Sequence[int]], every: bool) -> tuple[Any, ...]:
        """The number of people, their label, the direction, groups with the same number, and the search."""
        search = "every change" if every else "paths"
        if not ways:
            return None, None, None, None, None, None, (), search
        (group, *moved), *others = ways
        people = self.counts[group].sum(axis=1)[::-1]
        # Of each other label, positive first, those who are not yet what they become.
        n_among = sum(int(self.counts[group, 1 - place, int(by < 0)]) for place, by in enumerate(moved) if by)
        # People whose other label is the same, unless all people's is.
        label = "positive" if not moved[1] else "negative" if not moved[0] else None
        up, down = sum(by for by in moved if by > 0), -sum(by for by in moved if by < 0)
        tied = tuple(self.groups[other] for other, *_ in others)
        return up + down, self.groups[group], label if people.all() else None, n_among, up, down, tied, search


def shown_breaking_point(test: Any, found: BreakingPoint | pd.DataFrame | str) -> pd.DataFrame:
    """The frame of a test."""
    if isinstance(found, str):
        raise AttributeError(f"{type(test).__name__!r} object has no breaking_point_: {found}")
    return found if isinstance(found, pd.DataFrame) else found.frame


def kept_breaking_point(found: BreakingPoint | pd.DataFrame | str) -> pd.DataFrame | str:
    """The frame if it was computed, or the reason why there is none."""
    if isinstance(found, BreakingPoint):
        kept: pd.DataFrame | None = found.__dict__.get("frame")
        return "it was not computed before the test was written as JSON: fit again" if kept is None else kept
    return found


def verdict_lines(setup: Setup, found: BreakingPoint | pd.DataFrame | str) -> list[str]:
    """Sentences of reports on the breaking point; none if there is none, or if the search takes long."""
    if not isinstance(found, BreakingPoint):
        return []
    exact = any(one.margin_bounds is not None and one.method != "asymptotic" for one in found.questions)
    if len(found.log_p) > MOST_COMPARISONS or (exact and found.counts.sum() > MOST_WITH_MARGIN):
        return []
    return [breaking_sentence(replace(setup, names=found.names), records(found.frame))]


def breaking_point_of(results: Sequence[Result], *, together: bool = False) -> partial[BreakingPoint] | str:
    """The breaking points of results, or the reason why there are none.

    Changes are made in the groups that all features form together, so that every comparison follows. Results `together`
    are one family.
    """
    reason = next(filter(None, (reason_of(result) for result in results)), "")
    if reason:
        return reason
    names = [result.sample.sensitive_names for result in results if result.sample is not None]
    if len(set().union(*names)) > max(map(len, names)):
        return "it does not count people by all features together: intersections=True does"
    # People are not kept for that, their counts are.
    designs = [result.design for result in results if result.design is not None]
    who = [(d.kept, d.contrasts, d.pos_label, d.asked_pos_label, d.sets) for d in designs]
    parts = [replace(result, sample=None, by_metric={}, design=None) for result in results]
    return partial(breaking_points, parts, who, together=together)


def breaking_points(parts: Sequence[Result], who: Sequence[tuple[Any, ...]], *, together: bool) -> BreakingPoint:
    """The breaking points of results; `who` holds the fields of designs except people and settings."""
    samples = [Sample.from_table(part.table) for part in parts if part.table is not None]
    whole = max(samples, key=lambda sample: len(sample.sensitive_names))
    designs = [Design(sample, part.settings, *fields) for sample, part, fields in zip(samples, parts, who, strict=True)]
    first, metrics = parts[0], parts[0].metrics
    reads = frozenset().union(*(metric.reads for metric in metrics if isinstance(metric, Rate)))
    designed = zip(parts, designs, strict=True)
    listed = [hypothesis for part, design in designed for hypothesis in _hypotheses(part, design, whole)]
    same = distinct([equality for equality, *_ in listed])
    _, sides, event, given, question, scale, overall, log_p = zip(*(listed[own[0]] for own in same), strict=True)
    return BreakingPoint(
        _counts(whole, reads, first.pos_label), np.stack(sides), np.stack(event), np.stack(given), question, scale,
        overall, np.array(log_p), first.verdict.adjust, first.settings.alpha, together,
        tuple(whole.sensitive_names), tuple(whole.group_labels), changeable(metrics),
    )  # fmt: skip


def _hypotheses(part: Result, design: Design, whole: Sample) -> list[tuple[Any, ...]]:
    """Fields of `Decided` for all comparisons, in their order, those undefined in the data included."""
    listed: list[tuple[Any, ...]] = []
    tested = {(one.metric, one.contrast): one.in_family for one in part.tested}
    own = [whole.sensitive_names.index(name) for name in design.sample.sensitive_names]
    group = {key: place for place, key in enumerate(design.sample.groups)}
    # People whose feature is missing are in none of its groups.
    inside = np.array([group.get(tuple(key[place] for place in own), -1) for key in whole.groups])
    for metric in part.metrics:
        question, nothing = design.question(metric), np.zeros((2, 2), dtype=np.int64)
        for contrast, _ in design.contrasts:
            one = tested.get((metric.name, contrast))
            equality, log_p = (None, np.nan) if one is None else (one.hypothesis, one.log_p)
            if one is not None and part.verdict.adjust == "discrete_holm" and (exact := one.null.attainable()):
                log_p = exact[0]  # that of Fisher's test
            if isinstance(metric, Rate):
                first, second = ((inside >= 0) & side[inside] for side in groups_of(len(group), contrast))
                event, given = (mask[::-1].reshape(2, 2).astype(np.int64) for mask in metric.masks(CELLS))
                what = design.what_is_equal(metric, question, scored=design.settings.variance == "score")
                equality, _ = design.hypothesis(question, contrast, what, [0])
                counted = first + 2 * second, event, given, question, scale_of(metric), contrast.overall
            elif one is not None:
                counted = np.zeros(len(inside), dtype=np.int64), nothing, nothing, question, Scale(), False
            else:
                continue
            listed.append((equality, *counted, log_p))
    return listed


#: Why there is no breaking point.
NO_RATE = "no metric is a rate, whose test follows from counts of decisions"
ALL_READ = "metrics that are not rates would change with what rates read"


def changeable(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """The columns, of `CHANGED`, that rates read and no other metric does."""
    others = frozenset().union(*(metric.reads for metric in metrics if not isinstance(metric, Rate)))
    reads = frozenset().union(*(metric.reads for metric in metrics if isinstance(metric, Rate)))
    return tuple(name for name in CHANGED if name in reads - others)


def reason_of(result: Result) -> str:
    """Why there is no breaking point."""
    settings, sample = result.settings, result.sample
    assert sample is not None
    if not any(isinstance(metric, Rate) for metric in result.metrics):
        return NO_RATE
    if any(asks_coverage(result.metrics)):
        return "a prediction set is not a decision that could be another"
    if not changeable(result.metrics):
        return ALL_READ
    if not is_counted(sample, settings):
        return "people have weights, or come in clusters"
    if settings.question.method in ("permutation", "bootstrap"):
        return "p-values are of resamples, not of counts"
    if settings.missing == "bounds":
        return "p-values are the largest over assignments of people to groups"
    if sample.control_names:
        return "a group's decisions may change in any stratum of control_features"
    if settings.compare in BEST:
        return f"the other side of compare={settings.compare!r} depends on the decisions"
    if result.table is None:
        return "people are not counted by their groups"
    if len(result.table.labels) > 2:
        return "there are more than two labels, so that a decision can be otherwise in several ways"
    return ""


def _counts(sample: Sample, names: frozenset[str], positive: Any) -> Integers:
    """People by group, true label and prediction, shape (groups, 2, 2); columns that no rate reads are negative."""
    positive = sample.labels[-1] if positive is None else positive
    found, columns = by_labels(sample.table(names), positive)
    counts = np.zeros((len(sample.groups), 2, 2), dtype=np.int64)
    nothing = np.zeros(found.shape[2], dtype=np.int64)
    cells = {name: column.is_label(positive).astype(np.int64) for name, column in columns.items()}
    place = [cells.get(name, nothing) for name in ("y_true", "y_pred")]
    for cell, (true, predicted) in enumerate(zip(*place, strict=True)):
        counts[:, true, predicted] += found[0, :, cell]
    return counts
