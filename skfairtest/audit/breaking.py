"""Breaking points of an audit, from its record: which decisions would have to be otherwise, and in which group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skfairtest.audit._questions import built_in, sets_of
from skfairtest.audit._recomputed import METHODS, events_of
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.comparisons.breaking import (
    ALL_READ,
    NO_RATE,
    BreakingPoint,
    Part,
    breaking_points,
    changeable,
    reason_of,
)
from skfairtest.comparisons.engine import settings_of
from skfairtest.comparisons.measure import measure
from skfairtest.comparisons.rates import scale_of
from skfairtest.inference.multiplicity import Equality
from skfairtest.metrics import CELLS, Rate
from skfairtest.report.cells import records
from skfairtest.tables import CountTable, Sample


def breaking_point_of_record(record: AuditRecord) -> BreakingPoint | str:
    """What breaking points of an audit follow from, or why there are none.

    People change in one of the groups that all features make together, so that every comparison of the audit follows
    from who changes. How many of them have which label and prediction follows from the values of the rates there.
    """
    finest = max(record.parts, key=lambda part: len(part.sensitive))
    if set(finest.sensitive) != {name for part in record.parts for name in part.sensitive}:
        return "it does not count people by all features together: intersections=True does"
    found = {name: built_in(name) for name in dict.fromkeys(finest.comparisons["metric"])}
    metrics = [metric for metric in found.values() if metric is not None]
    if len(metrics) < len(found) or record.own_metrics:
        return "a metric is not built in, so that the record does not say how it follows from decisions"
    rates = [replace(one, disparity=finest.setup.disparities.get(one.name)) for one in metrics if isinstance(one, Rate)]
    if not rates:
        return NO_RATE
    if not changeable(metrics):
        return ALL_READ
    settings = settings_of(None, record.parameters)
    if finest.setup.people or settings.question.method not in METHODS:
        return "p-values do not follow from counts of decisions"
    table = _table(finest, rates)
    if table is None:
        return "the rates do not say how many people have which label and prediction"
    by_name = {metric.name: metric for metric in (*metrics, *rates)}
    whole, parts = Sample.from_table(table), []
    for part in record.parts:
        own = replace(settings, tested=False, compare=part.setup.compare, crossed=len(part.sensitive) > 1)
        people = whole.regroup(part.sensitive)
        measured = measure(people, rates, own, 1, None, 0, sets_of(whole, people))
        reason = reason_of(measured)
        if reason:
            return reason
        design = measured.design
        contrasts = {(design.group(contrast), other): contrast for contrast, other in design.contrasts}
        shown, tested = [], {}
        for row, hypothesis in zip(records(part.comparisons), part.hypotheses, strict=True):
            contrast = contrasts.get((row["group"], row["other"]))
            if contrast is None:
                return "a metric looks at all groups at once"
            shown.append((row["metric"], row["group"], row["other"], contrast))
            equality = None if hypothesis is None else Equality(("held", hypothesis[0]), frozenset(hypothesis[1:]))
            tested[row["metric"], contrast] = equality, float(np.log(row["p_value"]))
        parts.append(Part(design, tuple(by_name.values()), tested, tuple(shown)))
    return breaking_points(parts, whole, record.verdict.adjust, 1, together=True)


def _table(part: AuditPart, rates: list[Rate]) -> CountTable | None:
    """Count people by label and prediction in each group of a part; None if its values do not say how many."""
    reads = set().union(*(rate.reads for rate in rates))
    # A label that no rate reads is negative.
    cells = [cell for cell in range(4) if all(name in reads or not CELLS[name][cell] for name in CELLS)]
    masks = {rate.name: np.array([mask[cells] for mask in rate.masks(CELLS)], dtype=float) for rate in rates}
    scales = {rate.name: scale_of(rate) for rate in rates}
    told: dict[Any, list[tuple[str, tuple[int, int]]]] = {}
    for row in records(part.by_group):
        if row["metric"] in scales:
            given = events_of(scales[row["metric"]], row), row["n_effective"]
            told.setdefault(row["group"], []).append((row["metric"], given))
    counts = []
    for own in told.values():
        masked = np.concatenate([masks[name] for name, _ in own])
        numbers = np.concatenate([given for _, given in own])
        found = np.rint(np.linalg.lstsq(masked, numbers, rcond=None)[0]).astype(np.int64)
        if np.linalg.matrix_rank(masked) < len(cells) or (masked @ found != numbers).any():
            return None
        counts.append(found)
    labels = [name for name in CELLS if name in reads]
    return CountTable(
        np.array([counts]),
        groups=[group if len(part.sensitive) > 1 else (group,) for group in told],
        cells=[tuple(int(CELLS[name][cell]) for name in labels) for cell in cells],
        cell_names=labels,
        sensitive_names=list(part.sensitive),
    )
