"""What follows from the facts of an audit's record by statistics: p-values and intervals of counts, adjustments."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skfairtest.audit._parts import recomputed_baseline, recomputed_impact
from skfairtest.audit._questions import built_in
from skfairtest.audit.rebuilt import cells_of, others_of, unrounded
from skfairtest.audit.record import SCHEMA_VERSION, AuditPart, AuditRecord
from skfairtest.comparisons.contrasts import BEST, disparity_bounds
from skfairtest.comparisons.engine import settings_of, words_of
from skfairtest.comparisons.family import at_most, p_of
from skfairtest.comparisons.rates import RateNull, group_values, scale_of
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.multiplicity import ADJUSTMENTS, FAMILYWISE, Equality, are_tied, distinct, shaffer
from skfairtest.inference.rates import (
    Answer,
    Pair,
    Scale,
    answer,
    answer_known,
    equalities,
    pair_disparity,
    quantiles,
    values,
)
from skfairtest.metrics import Metric, Rate
from skfairtest.report.cells import records
from skfairtest.report.plain import frame_of

#: Methods whose p-values follow from counts, and what follows from those of a group.
METHODS = ("auto", "exact", "asymptotic", "mid-p")
VALUES = ("value", "standard_error", "ci_low", "ci_high")


def recomputed(record: AuditRecord) -> AuditRecord:
    """Return a record with everything computed again that follows from its counts, and from its p-values.

    Raises
    ------
    ValueError
        If something cannot be computed, because a value is no share of the people it rests on.
    """
    try:
        settings = settings_of(None, record.parameters)
    except (TypeError, ValueError) as error:
        raise ValueError(f"parameters are none of an audit: {error}") from error
    tested = _hypotheses(record)
    level = None if tested is None else settings.alpha / (len(tested) if record.verdict.adjust in FAMILYWISE else 1)
    parts = []
    for place, part in enumerate(record.parts):
        try:
            parts.append(_of_counts(_in_known_words(part, record), record, settings, level))
        except ValueError as wrong:
            raise ValueError(f"parts[{place}].{wrong}") from wrong
    record = _adjusted(replace(record, parts=tuple(parts)), tested)
    if record.impact is not None:
        impact = recomputed_impact(record.impact, settings, record.verdict.n_samples)
        record = replace(record, impact=impact)
    if record.baseline is not None:
        record = replace(record, baseline=recomputed_baseline(record.baseline, record))
    return record


def _hypotheses(record: AuditRecord) -> list[list[int]] | None:
    """The places of each hypothesis among all comparisons; None where the record does not say what was tested."""
    equalities = _equalities(record)
    return None if equalities is None else distinct(equalities)


def _equalities(record: AuditRecord) -> list[Equality | None] | None:
    found: list[Equality | None] = []
    for place, part in enumerate(record.parts):
        if not part.hypotheses and len(part.comparisons):
            return None
        if len(part.hypotheses) != len(part.comparisons):
            raise ValueError(f"parts[{place}].hypotheses must be one for each comparison; found {len(part.hypotheses)}")
        found += [None if one is None else Equality(one[0], frozenset(one[1:])) for one in part.hypotheses]
    return found


def _adjusted(record: AuditRecord, tested: list[list[int]] | None) -> AuditRecord:
    """Adjust p-values for all comparisons together, a hypothesis once; unless these are not known."""
    every = pd.concat([part.comparisons for part in record.parts], ignore_index=True)
    p, adjust = every["p_value"].to_numpy(), record.verdict.adjust
    if tested is None:
        _check_bound(record, every)
        return record
    equalities = _equalities(record) or []
    firsts = [equalities[same[0]] for same in tested]
    with np.errstate(divide="ignore"):
        log_p = np.log([max(p[same]) for same in tested])
    if adjust in ("holm", "shaffer") and record.parameters.get("adjust", "auto") == "auto":
        adjust = "shaffer" if are_tied(firsts) else "holm"
    adjusted = shaffer(log_p, firsts) if adjust == "shaffer" else ADJUSTMENTS[adjust](log_p)
    due = np.empty(len(p))
    for same, value in zip(tested, adjusted, strict=True):
        due[same] = p_of(float(value))
    given = every["p_value_adjusted"].to_numpy()
    due = np.where(np.isclose(due, given, rtol=1e-9, atol=1e-300), given, due)
    starts = np.cumsum([len(part.comparisons) for part in record.parts])[:-1]
    parts = tuple(
        replace(part, comparisons=part.comparisons.assign(p_value_adjusted=own))
        for part, own in zip(record.parts, np.split(due, starts), strict=True)
    )
    return replace(record, parts=parts, verdict=replace(record.verdict, adjust=adjust))


def _check_bound(record: AuditRecord, every: pd.DataFrame) -> None:
    """Compare adjusted p-values with the most that the adjustment can make of the comparisons' own ones."""
    # All pairs are adjusted for where those with the best group are shown.
    n = sum(
        int((shown * (shown + 1) // 2).sum()) if part.setup.compare in BEST else int(shown.sum())
        for part in record.parts
        for shown in [part.comparisons.groupby("metric").size()]
    )
    factor = {None: 1.0, "fdr_by": n * float((1 / np.arange(1, n + 1)).sum())}.get(record.verdict.adjust, float(n))
    # Comparisons with one hypothesis share the adjustment of its p-value, which is one of theirs.
    own = every.groupby("p_value_adjusted")["p_value"].transform("max")
    for i in np.flatnonzero(every["p_value_adjusted"] > factor * own * (1 + 1e-9)).tolist():
        found, p = every["p_value_adjusted"].iloc[i], every["p_value"].iloc[i]
        raise ValueError(
            f"p_value_adjusted is {found:.12g}, and must be at most {factor:g} times p_value, {p:.12g}: verdict.adjust "
            f"is {record.verdict.adjust!r} over {n:,} comparisons"
        )


def own_metrics(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """The names of metrics that are not built in, or not described as the built-in ones of their names are."""
    return tuple(
        metric.name
        for metric in metrics
        if (known := built_in(metric.name)) is None
        or words_of([replace(known, disparity=metric.disparity)]) != words_of([metric])
    )


def _in_known_words(part: AuditPart, record: AuditRecord) -> AuditPart:
    """Describe built-in metrics as they are, wherever a record says which are not; others as the record does."""
    setup, asked = part.setup, record.parameters.get("metrics")
    if record.schema_version < SCHEMA_VERSION:
        return part
    names = [name for name in (*setup.sentences, *setup.descriptions) if name not in record.own_metrics]
    ratios = (
        {name.removesuffix("_ratio") for name in asked if str(name).endswith("_ratio")}
        if isinstance(asked, list)
        else set()
    )
    known = []
    for name in names:
        metric = built_in(f"{name}_ratio" if name in ratios else name) or built_in(name)
        if metric is None:
            raise ValueError(
                f"setup describes {name!r:.60}, which is no built-in metric, and own_metrics does not name it"
            )
        known.append(metric)
    due = {}
    for field, words in words_of(known).items():
        given = getattr(setup, field)
        own = [name for name in given if name in record.own_metrics]
        due[field] = words | (frozenset(own) if isinstance(words, frozenset) else {name: given[name] for name in own})
    return replace(part, setup=replace(setup, **due))


def _scale(part: AuditPart, metric: str, record: AuditRecord) -> Scale | None:
    """How a metric follows from a rate; None where it does not, or that is not known."""
    known = None if metric in record.own_metrics else built_in(metric)
    if isinstance(known, Rate) and part.setup.is_percentage(metric) == (known.value is None):
        return scale_of(known) if metric in part.setup.sentences else None
    return Scale() if part.setup.is_percentage(metric) else None


def events_of(scale: Scale, row: Mapping[str, Any]) -> int:
    """How many of the people that a value rests on it counts."""
    shares = scale.value(np.arange(row["n_effective"] + 1) / max(row["n_effective"], 1))
    nearest = int(np.abs(shares - row["value"]).argmin()) if row["n_effective"] else 0
    if row["n_effective"] and not np.isclose(shares[nearest], row["value"], rtol=1e-9, atol=1e-12):
        raise ValueError(f"value is {row['value']:.12g}, which is no share of n_effective, {row['n_effective']}")
    return nearest


def _of_counts(part: AuditPart, record: AuditRecord, settings: Settings, error: float | None) -> AuditPart:
    """Recompute values by group and comparisons of rates, where people are counted; intervals at an error."""
    # Not so are people with weights or clusters, and people whose group is not known.
    if part.setup.people or record.parameters.get("missing") == "bounds":
        return part
    values, comparisons = records(part.by_group), records(part.comparisons)
    scales = {name: _scale(part, name, record) for name in dict.fromkeys(part.by_group["metric"])}
    for i, row in enumerate(values):
        scale, d = scales[row["metric"]], np.array([[row["n_effective"]]])
        if scale is None:
            continue
        try:
            row["events"] = events_of(scale, row)
        except ValueError as wrong:
            raise ValueError(f"by_group[{i}].{wrong}") from wrong
        shown = group_values(np.array([[row["events"]]]), d, scale, settings)
        row |= unrounded(row, {name: getattr(shown, name).item() for name in VALUES})
    if settings.question.method in METHODS:
        cells, nulls = cells_of(values), {}
        for i, row in enumerate(comparisons):
            scale = scales.get(row["metric"])
            if scale is not None:
                disparity, margin = part.setup.disparity_of(row["metric"]), part.setup.margin_bounds
                question = replace(settings.question, disparity=disparity, margin_bounds=margin)
                nulls[i] = RateNull(question, _pair(part, row, cells), scale)
        deciding = "p_value_adjusted" if record.verdict.adjust in FAMILYWISE else "p_value"
        rejected = {i for i in nulls if at_most(np.log(comparisons[i][deciding]), settings.alpha)}
        for i, due in _tested(nulls, error, rejected).items():
            comparisons[i] |= unrounded(comparisons[i], due)
    frames = [frame_of(rows, old.columns) for rows, old in ((values, part.by_group), (comparisons, part.comparisons))]
    return replace(part, by_group=frames[0], comparisons=frames[1])


def _pair(part: AuditPart, row: Mapping[str, Any], cells: Any) -> Pair:
    """Count both sides of a comparison in every stratum in which both meet the condition."""
    groups = cells[row["metric"], row["stratum"]]
    everyone = part.setup.compare == "to_overall"
    others = [cell for name, own in groups.items() if name != row["group"] for cell in own]
    others = others if everyone else others_of(part, row["group"], groups)[row["other"]]
    strata = list(dict.fromkeys(cell["stratum"] for own in groups.values() for cell in own))
    sides = []
    for own in (groups[row["group"]], others):
        for name in ("events", "n_effective"):
            sides.append(np.array([sum(cell[name] for cell in own if cell["stratum"] == one) for one in strata]))
    x1, d1, x2, d2 = sides
    pair = Pair(x1, d1, x2, d2, everyone)
    return pair.only(pair.defined())


def _tested(nulls: Mapping[int, RateNull], error: float | None, rejected: Container[int]) -> dict[int, dict[str, Any]]:
    """What the counts of comparisons say of them, by their numbers."""
    found: dict[int, dict[str, Any]] = {}
    answers: dict[int, Answer] = {}
    for i, null in nulls.items():
        if not len(null.pair.x1):
            raise ValueError(f"comparisons[{i}] is of two sides that do not meet the condition together")
        first, second = (float(value) for value in values(null.pair, null.scale))
        disparity = pair_disparity(null.pair, np.asarray(first), np.asarray(second), null.question.disparity)
        found[i] = {"value_group": first, "value_other": second, "disparity": disparity}
        if np.isnan(disparity):  # a hypothesis all the same
            found[i]["p_value"] = 1.0
    defined = [i for i in found if "p_value" not in found[i]]
    enumerated = [i for i in defined if nulls[i].is_enumerated]
    pairs = [nulls[i].pair for i in enumerated]
    known = dict(zip(enumerated, equalities(pairs, "two-sided") if pairs else (), strict=True))
    for i in defined:
        null = nulls[i]
        asked = null.scale, null.question
        answers[i] = answer_known([null.pair], *asked, [known[i]])[0] if i in known else answer(null.pair, *asked)
        numbers = {name: getattr(answers[i], name) for name in ("method", "statistic", "standard_error")}
        found[i] |= {"p_value": p_of(answers[i].log_p), **numbers}
    if error is None or not defined:
        return found
    each, bounds = (
        [nulls[i] for i in defined],
        [disparity_bounds((0.0, 1.0), nulls[i].question.disparity) for i in defined],
    )
    critical = [quantiles("two-sided", error)] * len(defined)
    for i, limits, ends in zip(defined, RateNull.limits_of_all(each, critical, bounds), bounds, strict=True):
        low, high = nulls[i].question.consistent_limits(limits, found[i]["disparity"], ends, rejected=i in rejected)
        found[i] |= {"ci_low": low, "ci_high": high}
    return found
