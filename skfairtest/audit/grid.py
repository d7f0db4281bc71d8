"""The grid of an audit, and its drawings.

The grid of an audit: every group by every metric, as far from the others as it is, and how sure that is.

A number is the disparity of a group: the average of its disparities from whatever it was compared with, weighted by the
people of these. With "to_rest" and "to_overall" there is one; of all pairs, for a rate, the average is the disparity
from everyone else. A cell is significant where any comparison of its group is, in strata too.

The drawings of an audit's report: disparities, values by group, and what chance alone would show.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label, pluralize, shorten
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.report.cells import by_p_value, comparison_pieces, records, value_axis, value_factor, values_of
from skfairtest.report.document import Figure, Grid, GridCell, GridPart, GridRow
from skfairtest.report.plots import LOWEST, Bar, Bars, Forest, NullHistogram, Panel, Rows, Scale, Tick, joined
from skfairtest.report.sentences import CHANCE, Setup, number, percent, points
from skfairtest.report.skeleton import MOST_COMPARISONS, TICKS, forest_rows, titles
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
        if self.significant:
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
            compared.setdefault((row["metric"], row["other"]), []).append(_turned(part.setup, row))
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


def _turned(setup: Setup, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a comparison seen from its other side, as far as standings need it."""
    disparity = row["disparity"]
    if setup.is_ratio(row["metric"]):
        turned = np.inf if disparity == 0 else 1 / disparity
    else:
        turned = -disparity
    return {**row, "group": row["other"], "other": row["group"], "n_other": row["n_group"], "disparity": turned}


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


def audit_grid(record: AuditRecord) -> Grid | None:
    """Compose the grid of an audit.

    Parameters
    ----------
    record : AuditRecord
        What was found.

    Returns
    -------
    Grid or None
        None where no metric compares groups.
    """
    found = [(part, standings(part)) for part in record.parts]
    metrics = list(dict.fromkeys(metric for _, groups in found for own in groups.values() for metric in own))
    if not metrics:
        return None
    scales = {metric: _scale(found, metric) for metric in metrics}
    open_ = min(len(part.sensitive) for part in record.parts)
    parts = [
        made
        for part, groups in found
        for made in _parts(part, groups, metrics, scales, folded=len(part.sensitive) > open_)
    ]
    names = map(label, metrics)
    return Grid(
        # Words break between lines.
        tuple(name.replace("_", " ") if name.isidentifier() else name for name in names),
        tuple(parts),
        _caption(record, metrics),
        legend=HUES[record.setup.favorable is not None],
        notes=tuple(_notes(record, metrics)),
    )


def _scale(found: Sequence[tuple[AuditPart, dict[Any, dict[str, Standing]]]], metric: str) -> float:
    """Return the largest finite disparity of a metric, from which the colours of values that are no shares grow."""
    sizes = [abs(own[metric].disparity) for _, groups in found for own in groups.values() if metric in own]
    return max((size for size in sizes if np.isfinite(size)), default=0.0)


def _parts(
    part: AuditPart, groups: dict[Any, dict[str, Standing]], metrics: Sequence[str], scales: Mapping[str, float],
    *, folded: bool,
) -> Iterator[GridPart]:  # fmt: skip
    """Yield the groups of a feature that stand open, and the others of many."""
    name, sizes = label(part.feature), people_of_groups(part)
    rows = {
        group: GridRow(
            label(group),
            f"{sizes[group]:,}",
            tuple(_cell(part.setup, own.get(metric), scales[metric]) for metric in metrics),
        )
        for group, own in groups.items()
    }
    first = list(groups)
    if not folded and len(first) > MOST_ROWS:
        evident = sorted(first, key=lambda group: _smallest_p(groups[group]))[:MOST_ROWS]
        first = [group for group in first if group in evident]
    shown = set(first)
    others = [group for group in groups if group not in shown]
    for chosen, what in ((first, "group"), (others, "further group")):
        if chosen:
            n = sum(any(own.significant for own in groups[group].values()) for group in chosen)
            caption = f"{name}: {pluralize(len(chosen), what)}, {n or 'none'} with a significant disparity"
            yield GridPart(name, tuple(rows[group] for group in chosen), folded or chosen is others, caption)


def _smallest_p(own: Mapping[str, Standing]) -> float:
    return min((standing.p_value for standing in own.values() if not np.isnan(standing.p_value)), default=np.inf)


def people_of_groups(part: AuditPart) -> dict[Any, int]:
    """Count the people of each group, over all strata."""
    rows = {(row["group"], row["stratum"]): row["n"] for row in records(part.by_group)}
    sizes: dict[Any, int] = {}
    for (group, _), n in rows.items():
        sizes[group] = sizes.get(group, 0) + n
    return sizes


def _cell(setup: Setup, standing: Standing | None, scale: float) -> GridCell:
    if standing is None:
        return GridCell("n/a")
    metric, disparity = standing.metric, standing.disparity
    state = "significant" if standing.significant else "few" if standing.is_few(setup) else ""
    value = "" if np.isnan(standing.value) else _value(setup, metric, standing.value)
    if np.isnan(disparity) and setup.compare in BEST and not np.isnan(standing.value):
        return GridCell(BEST[setup.compare], value)
    if np.isnan(disparity):
        return GridCell("n/a", value, state=state)
    return GridCell(_signed(setup, metric, disparity), value, *_colour(setup, metric, disparity, scale), state)


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


def _colour(setup: Setup, metric: str, disparity: float, scale: float) -> tuple[str, int]:
    """The hue and the level of a disparity: worse or better where that is known, or else higher or lower."""
    kind = _kind(setup, metric)
    if kind == "ratio":
        up, size = disparity > 1, max(disparity, np.inf if disparity == 0 else 1 / disparity)
    else:
        up, size = disparity > 0, abs(disparity) / (scale or 1.0 if kind == "value" else 1.0)
    level = int(np.searchsorted(STEPS[kind], size, side="right"))
    worse = 1 if setup.favorable is None else worse_when(metric, setup.favorable)
    (one, _), (other, _) = HUES[setup.favorable is not None]
    return ("even" if not worse else one if up == (worse > 0) else other), level


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


#: In a drawing of values, groups of one metric and rows of all. The tables have all.
MOST_GROUPS, MOST_DRAWN_ROWS = 20, 40
#: Values by group are drawn side by side; so many ticks an axis of several in a row has.
COLUMNS, FEW_TICKS = 2, 4
#: Columns that a name has at the most in a drawing of values.
WIDEST_GROUP = 40


def disparities_figure(part: AuditPart, most: int = MOST_COMPARISONS) -> Figure | None:
    """Draw the disparities with the strongest evidence, those of one metric together; None if there are none.

    Parameters
    ----------
    part : AuditPart
        The grouping, its pairs oriented.
    most : int
        How many comparisons are drawn.

    Returns
    -------
    Figure or None
        The forest plot.
    """
    setup = part.setup
    drawable = part.comparisons[part.comparisons["group"].notna() & part.comparisons["disparity"].notna()]
    ordered = by_p_value(setup, drawable)
    strongest = ordered.head(most)
    metrics = [metric for metric in dict.fromkeys(drawable["metric"]) if (strongest["metric"] == metric).any()]
    if not metrics:
        return None
    shared = _share_a_scale(setup, metrics, strongest)
    rows = forest_rows(setup, strongest, lambda row: joined(*comparison_pieces(setup, row)), metrics, shared=shared)
    shown, total, found = len(strongest), len(ordered), int(ordered["concern"].sum())
    what = f"Disparities by {label(part.feature)}"
    tolerated = ", the pale band what is tolerated" if setup.margin_bounds is not None else ""
    are = f"{'is' if found == 1 else 'are'} significant"
    described = (
        f"A forest plot: {pluralize(shown, 'row')}, one for each comparison, with its disparity and interval. "
        f"{found:,} of {pluralize(total, 'comparison')} {are}. The tables of all comparisons hold the same numbers."
    )
    return Figure(
        Forest(what, described, rows),
        f"{what}. {_as_many(shown, total)} Orange diamonds are significant disparities, blue circles are not. "
        f"Lines are intervals; arrows mark intervals that extend beyond the plot. The grey line "
        f"is equality{tolerated}.",
    )


def _as_many(shown: int, total: int) -> str:
    order = "Smaller p-values come first, of equal ones larger disparities."
    if shown == total:
        return f"All {total:,} comparisons. {order}" if total > 1 else "One comparison."
    return f"The {shown:,} comparisons with the smallest p-values of {total:,}; the tables have all of them. {order}"


def _share_a_scale(setup: Setup, metrics: Sequence[str], rows: pd.DataFrame) -> bool:
    """Whether all are shares, so that eyes may compare them; what goes beyond an axis is drawn at its end."""
    ends = rows[["disparity", "ci_low", "ci_high"]].to_numpy()
    kinds = {setup.disparity_of(metric) for metric in metrics}
    finite = bool(np.isfinite(ends).all()) and ("difference" in kinds or bool((ends > 0).all()))
    return finite and len(kinds) == 1 and all(setup.is_share(metric) for metric in metrics)


def values_figure(part: AuditPart) -> Figure | None:
    """Draw every metric by group, side by side; None if there is no value.

    The largest groups are drawn, and all that a significant comparison names.

    Parameters
    ----------
    part : AuditPart
        The grouping.

    Returns
    -------
    Figure or None
        The plots.
    """
    metrics = list(dict.fromkeys(part.by_group["metric"]))
    rows = list(values_of(part.by_group))
    if not metrics:
        return None
    lines = [metrics[first : first + COLUMNS] for first in range(0, len(metrics), COLUMNS)]
    sizes = [max(value["n"] for value in values.values()) for _, _, values in rows]
    most = min(MOST_GROUPS, max(MOST_DRAWN_ROWS // len(lines), 6))
    named = _named(part.comparisons)
    largest = set(sorted(range(len(rows)), key=lambda place: -sizes[place])[:most])
    shown = [row for place, row in enumerate(rows) if place in largest or row[:2] in named or (row[0], None) in named]
    names = tuple(
        shorten(label(group) if stratum is None else f"{label(group)}, {label(stratum)}", WIDEST_GROUP)
        for group, stratum, _ in shown
    )
    drawn = tuple(
        Rows(names, tuple(_values(part.setup, metric, [values for _, _, values in shown]) for metric in line))
        for line in lines
    )
    what = f"Values by {label(part.feature)}"
    others = " and those that significant comparisons name" if len(shown) > len(largest) else ""
    some = f" The {len(largest)} largest groups of {len(rows):,}{others}; the table has all."
    few = any(value["small"] for _, _, values in shown for value in values.values())
    described = (
        f"{pluralize(len(metrics), 'plot')}, one for each metric, of {pluralize(len(shown), 'group')} with intervals. "
        "The table of values holds the same numbers."
    )
    hollow = " Hollow circles rest on fewer than 10 people." if few else ""
    return Figure(
        Forest(what, described, drawn),
        f"{what}, with intervals. Each metric has a scale of its own.{some if len(shown) < len(rows) else ''}{hollow}",
    )


def _named(comparisons: pd.DataFrame) -> set[tuple[Any, Any]]:
    """Return the groups that significant comparisons name, each with its stratum, or None for all strata."""
    found = comparisons[comparisons["concern"]]
    return {(row[side], row["stratum"]) for row in records(found) for side in ("group", "other")}


def _values(setup: Setup, metric: str, rows: Sequence[Mapping[str, Any]]) -> Panel:
    """Return the panel of one metric."""
    nothing = dict.fromkeys(("value", "ci_low", "ci_high"), np.nan)
    found = [values.get(metric, nothing) for values in rows]
    kinds = ["few" if each.get("small", False) else "other" for each in found]
    columns, axis = [[each[end] for each in found] for end in nothing], value_axis(setup, metric)
    return Panel.of(columns, kinds, factor=value_factor(setup, metric), axis=axis, most=FEW_TICKS, **titles(metric))


def null_figure(histogram: NullHistogram) -> Figure:
    """Draw the null distribution of the comparison with the strongest evidence."""
    left, width = histogram.bars
    highest, scale = max(histogram.mass, default=0.0) or 1.0, histogram.scale
    levels = Scale(0.0, 1.05 * highest)
    drawn = Bars(
        "What chance alone would show",
        f"Bars: how probable each {shorten(histogram.statistic, 60)} is if the null hypothesis holds. A dashed line "
        "marks the data; what is at least as extreme is hatched.",
        tuple(
            _bar(scale, levels, *bar)
            for bar in zip(left, width, histogram.mass, histogram.extreme, strict=True)
            if bar[2] > LOWEST * highest
        ),
        round(scale.place(histogram.observed), 2) if np.isfinite(histogram.observed) else None,
        _placed(scale.ticks(TICKS)),
        _placed(levels.ticks(FEW_TICKS)),
        shorten(histogram.axis, 60),
    )
    extreme = " Hatched: at least as extreme." if any(bar.extreme for bar in drawn.bars) else ""
    seen = f" Dashed: the data, {histogram.observed_text}." if np.isfinite(histogram.observed) else ""
    return Figure(drawn, f"{label(histogram.note)}{extreme}{seen}", told=True)


def _placed(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    return tuple((round(place, 2) + 0.0, text) for place, text in ticks)


def _bar(scale: Scale, levels: Scale, left: float, width: float, mass: float, extreme: float) -> Bar:
    places = (scale.place(left), 100 * width / (scale.high - scale.low), levels.place(mass), levels.place(extreme))
    first, across, up, hatched = (round(place, 2) for place in places)
    return Bar(first, max(across, 0.05), up, hatched)
