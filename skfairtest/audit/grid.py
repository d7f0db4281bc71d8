"""The grid of an audit: every group by every metric, as far from the others as it is, and how sure that is.

A number is the disparity of a group: the average of its disparities from whatever it was compared with, weighted by the
people of these. With "to_rest" and "to_overall" there is one; of all pairs, for a rate, the average is the disparity
from everyone else. A cell is significant where any comparison of its group is, in strata too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skfairtest._utils.text import label, pluralize
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.report.cells import records
from skfairtest.report.report import Cell, Column, Table
from skfairtest.report.sentences import CHANCE, Setup, number, percent, points, turned
from skfairtest.report.wording import worse_when

#: A group is too small to tell where no comparison of it would have found a difference, or a ratio, of this size.
FEW_POINTS, FEW_RATIO = 0.2, 2.0
#: Groups of a feature that stand open; a feature with more shows those with the smallest p-values.
MOST_ROWS = 12
#: What the group is that all others are compared with.
BEST = {"to_highest": "highest", "to_lowest": "lowest"}
#: Hues with what they mean: of judgement where it is known what is better, and else of two that carry none.
HUES = {True: (("warm", "worse off"), ("cool", "better off")), False: (("high", "higher"), ("low", "lower"))}
#: Where the colours of shares (points), ratios (factors) and other values (parts of the largest one) grow darker.
STEPS = {"share": (0.01, 0.05, 0.10, 0.20), "ratio": (1.05, 1.25, 1.5, 2.0), "value": (0.05, 0.25, 0.5, 0.75)}


@dataclass(frozen=True)
class Standing:
    """How one group stands in one metric.

    Parameters
    ----------
    group : object
        The group.
    metric : str
        The metric.
    n_effective : int
        People whom the metric counts.
    value : float
        The group's value; nan where strata have values of their own.
    disparity : float
        From those it was compared with; nan where there is no comparison.
    p_value : float
        The smallest p-value of its comparisons; nan where there is none.
    significant : bool
        Whether any comparison of the group is.
    detectable : float
        The smallest disparity that any comparison of the group was likely to detect; nan where that is not known.
    smaller : bool
        Whether the group is the smaller side of that comparison, and its size the reason where it is too few to tell.
    """

    group: Any
    metric: str
    n_effective: int
    value: float
    disparity: float
    p_value: float
    significant: bool
    detectable: float
    smaller: bool

    def is_few(self, setup: Setup) -> bool:
        """Whether the group is too small to tell: see `few_rule`."""
        if self.significant or not self.n_effective:  # a value of no one is undefined
            return False
        if np.isnan(self.p_value) or self.n_effective < 10:
            return True
        most = FEW_RATIO if setup.is_ratio(self.metric) else FEW_POINTS
        return self.detectable > (most if _kind(setup, self.metric) != "value" else np.finfo(float).max)


def few_rule(setup: Setup, metrics: Sequence[str]) -> str:
    """Say when a group is too small to tell."""
    sizes = {"share": f"{points(FEW_POINTS, 0)} points", "ratio": f"a ratio of {FEW_RATIO:g}", "value": "any size"}
    kinds = dict.fromkeys(_kind(setup, metric) for metric in metrics)
    return (
        f"fewer than 10 people meet the condition, or no comparison had an {CHANCE} of "
        f"detecting a gap of {' or '.join(sizes[kind] for kind in kinds)}"
    )


def _kind(setup: Setup, metric: str) -> str:
    if setup.is_ratio(metric):
        return "ratio"
    return "share" if setup.is_share(metric) else "value"


def standings(part: AuditPart) -> dict[Any, dict[str, Standing]]:
    """The standing of each group of a grouping in each metric.

    Parameters
    ----------
    part : AuditPart
        The grouping.

    Returns
    -------
    dict of group to dict of metric to Standing
        In the order of the rows of `by_group`.
    """
    counted: dict[tuple[str, Any], list[Mapping[str, Any]]] = {}
    for row in records(part.by_group):
        counted.setdefault((row["metric"], row["group"]), []).append(row)
    compared: dict[tuple[str, Any], list[Mapping[str, Any]]] = {}
    for row in records(part.comparisons):
        compared.setdefault((row["metric"], row["group"]), []).append(row)
        if part.setup.compare == "between_groups" and row["group"] is not None:
            compared.setdefault((row["metric"], row["other"]), []).append(turned(part.setup, row))
    people = {key: sum(row["n_effective"] for row in rows) for key, rows in counted.items()}
    found: dict[Any, dict[str, Standing]] = {}
    for (metric, group), rows in counted.items():
        own = compared.get((metric, group), [])
        pooled = [row for row in own if row["stratum"] is None]
        weights = [_others(people, metric, row) for row in pooled]
        known = [row for row in own if not np.isnan(row["minimum_detectable"])]
        best = min(known, key=lambda row: row["minimum_detectable"], default=None)
        found.setdefault(group, {})[metric] = Standing(
            group,
            metric,
            people[metric, group],
            rows[0]["value"] if len(rows) == 1 else np.nan,
            _average(part.setup, metric, [row["disparity"] for row in pooled], weights),
            min((row["p_value"] for row in own), default=np.nan),
            any(row["concern"] for row in own),
            np.nan if best is None else best["minimum_detectable"],
            best is None or people[metric, group] <= _others(people, metric, best),
        )
    return found


def _others(people: Mapping[tuple[str, Any], int], metric: str, row: Mapping[str, Any]) -> int:
    """The number of people whom the metric counts on the other side of a comparison."""
    return int(people.get((metric, row["other"]), row["n_other"]))


def _average(setup: Setup, metric: str, disparities: Sequence[float], weights: Sequence[float]) -> float:
    """Average disparities; ratios so that the average is the value over the average of the others' values."""
    size, weight = np.asarray(disparities, dtype=float), np.asarray(weights, dtype=float)
    known = ~np.isnan(size) & (weight > 0)
    if not known.any():
        return np.nan
    if not setup.is_ratio(metric):
        return float(np.average(size[known], weights=weight[known]))
    with np.errstate(divide="ignore"):
        inverse = float(np.average(1 / size[known], weights=weight[known]))
    return float(np.inf if inverse == 0 else 1 / inverse)


def audit_grid(record: AuditRecord) -> tuple[Table, ...]:
    """Compose the grid of an audit.

    Parameters
    ----------
    record : AuditRecord
        What was found.

    Returns
    -------
    tuple of Table
        The groups that stand open, below the names of their features, and those that are folded up, feature by
        feature; nothing where no metric compares groups.
    """
    found = [(part, standings(part)) for part in record.parts]
    metrics = list(dict.fromkeys(metric for _, groups in found for own in groups.values() for metric in own))
    if not metrics:
        return ()
    scales = {metric: _scale(found, metric) for metric in metrics}
    open_ = min(len(part.sensitive) for part in record.parts)
    # Words break between lines.
    names = [name.replace("_", " ") if name.isidentifier() else name for name in map(label, metrics)]
    columns = (Column("group", "name"), Column("people"), *(Column(name, named=True) for name in names))
    shown: list[tuple[str | Cell, ...]] = []
    folded: list[Table] = []
    for part, groups in found:
        for first, caption, rows in _parts(part, groups, metrics, scales, folded=len(part.sensitive) > open_):
            if first:
                shown += [(label(part.feature), *[""] * (len(columns) - 1)), *rows]
            else:
                folded.append(Table(columns, tuple(rows), caption, folded=True))
    hued = any(
        cell.shade and not cell.shade.startswith("even")
        for rows in (shown, *(table.rows for table in folded))
        for row in rows
        for cell in row
        if isinstance(cell, Cell)
    )
    key = HUES[record.setup.favorable is not None] if hued else ()
    return (
        Table(columns, tuple(shown), _caption(record, metrics), key=key, notes=tuple(_notes(record, metrics))),
        *folded,
    )


def _scale(found: Sequence[tuple[AuditPart, dict[Any, dict[str, Standing]]]], metric: str) -> float:
    """Return the largest finite disparity of a metric, from which the colours of values that are no shares grow."""
    sizes = [abs(own[metric].disparity) for _, groups in found for own in groups.values() if metric in own]
    return max((size for size in sizes if np.isfinite(size)), default=0.0)


def _parts(
    part: AuditPart, groups: dict[Any, dict[str, Standing]], metrics: Sequence[str], scales: Mapping[str, float],
    *, folded: bool,
) -> Iterator[tuple[bool, str, list[tuple[str | Cell, ...]]]]:  # fmt: skip
    """Yield the groups of a feature that stand open, and the others of many: whether they do, a caption, and rows."""
    sizes = people_of_groups(part)
    rows: dict[Any, tuple[str | Cell, ...]] = {
        group: (
            label(group), f"{sizes[group]:,}",
            *(_cell(part.setup, own.get(metric), scales[metric]) for metric in metrics),
        )
        for group, own in groups.items()
    }  # fmt: skip
    first = list(groups)
    if not folded and len(first) > MOST_ROWS:
        evident = sorted(first, key=lambda group: _smallest_p(groups[group]))[:MOST_ROWS]
        first = [group for group in first if group in evident]
    shown = set(first)
    others = [group for group in groups if group not in shown]
    for chosen, what in ((first, "group"), (others, "further group")):
        if chosen:
            n = sum(any(own.significant for own in groups[group].values()) for group in chosen)
            counted = f"{pluralize(len(chosen), what)}, {n or 'none'} with a significant disparity"
            yield (
                not folded and chosen is first,
                f"{label(part.feature)}: {counted}",
                [rows[group] for group in chosen],
            )


def _smallest_p(own: Mapping[str, Standing]) -> float:
    return min((standing.p_value for standing in own.values() if not np.isnan(standing.p_value)), default=np.inf)


def people_of_groups(part: AuditPart) -> dict[Any, int]:
    """Count the people of each group, over all strata."""
    rows = {(row["group"], row["stratum"]): row["n"] for row in records(part.by_group)}
    sizes: dict[Any, int] = {}
    for (group, _), n in rows.items():
        sizes[group] = sizes.get(group, 0) + n
    return sizes


def _cell(setup: Setup, standing: Standing | None, scale: float) -> Cell:
    if standing is None:
        return Cell("n/a")
    metric, disparity = standing.metric, standing.disparity
    mark = "significant" if standing.significant else "few" if standing.is_few(setup) else ""
    value = "" if np.isnan(standing.value) else _value(setup, metric, standing.value)
    if np.isnan(disparity):
        best = setup.compare in BEST and value
        return Cell(BEST[setup.compare], value) if best else Cell("n/a", value, mark=mark)
    return Cell(_signed(setup, metric, disparity), value, _shade(setup, metric, disparity, scale), mark)


def _value(setup: Setup, metric: str, value: float) -> str:
    return percent(value) if setup.is_event(metric) else f"{value:.3f}" if setup.is_share(metric) else _short(value)


def _short(value: float) -> str:
    """Write a number with three digits, as cells have room for."""
    return (number(value) if abs(value) >= 1000 else f"{value + 0.0:.3g}").replace("-", "\N{MINUS SIGN}")


def _signed(setup: Setup, metric: str, disparity: float) -> str:
    """Write a disparity with its sign; of shares in points, of ratios as a factor."""
    if setup.is_ratio(metric):
        return "\N{MULTIPLICATION SIGN}∞" if np.isinf(disparity) else f"\N{MULTIPLICATION SIGN}{disparity:.2f}"
    text = points(abs(disparity)) if setup.is_share(metric) else _short(abs(disparity))
    sign = "" if not text.strip("0.") else "\N{MINUS SIGN}" if disparity < 0 else "+"
    return f"{sign}{text}"


def _shade(setup: Setup, metric: str, disparity: float, scale: float) -> str:
    """The hue and the level of a disparity: worse or better where that is known, or else higher or lower."""
    kind = _kind(setup, metric)
    if kind == "ratio":
        up, size = disparity > 1, max(disparity, np.inf if disparity == 0 else 1 / disparity)
    else:
        up, size = disparity > 0, abs(disparity) / (scale or 1.0 if kind == "value" else 1.0)
    level = int(np.searchsorted(STEPS[kind], size, side="right"))
    worse = 1 if setup.favorable is None else worse_when(metric, setup.favorable)
    (one, _), (other, _) = HUES[setup.favorable is not None]
    hue = "even" if not worse else one if up == (worse > 0) else other
    return f"{hue}{level}" if level else ""


def _caption(record: AuditRecord, metrics: Sequence[str]) -> str:
    """Say what the numbers are."""
    kinds = dict.fromkeys(_kind(record.setup, metric) for metric in metrics)
    units = {"share": "in points", "ratio": "as a ratio", "value": "in the metric's unit"}
    unit = f"{units[next(iter(kinds))]}" if len(kinds) == 1 else "in points where they are shares of people"
    against = {
        "to_overall": "from the value of all people together",
        "to_rest": "from everyone else",
        "to_highest": "from the group with the highest value",
        "to_lowest": "from the group with the lowest value",
    }.get(record.setup.compare, "from the other groups of the feature together")
    return f"How far each group is {against}, {unit}"


def _notes(record: AuditRecord, metrics: Sequence[str]) -> Iterator[str]:
    """Say what marks and colours mean."""
    setup = record.setup
    pairs = " from at least one other group" if setup.compare == "between_groups" else ""
    yield f"Significant: the group differs{pairs} by more than chance explains."
    yield f"Too few people to tell: {few_rule(setup, metrics)}."
    if setup.favorable is None:
        yield (
            "Colours say which value is higher, not which is better: you have not said whether a positive prediction "
            "is favorable (favorable=True or False; --favorable or --unfavorable)."
        )
    kinds = {_kind(setup, metric) for metric in metrics}
    if "value" in kinds or len(kinds) > 1:
        yield "Colours of shares and ratios have fixed steps; those of other metrics are relative to their largest gap."
