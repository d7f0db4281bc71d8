"""Tables and summaries as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import display_width, label, pluralize
from skfairtest.report.sentences import (
    Setup,
    disparity_writer,
    finding_sentence,
    null_sentence,
    p_text,
    verdict_sentence,
)

__all__ = [
    "Setup",
    "Table",
    "aligned",
    "by_group_table",
    "by_p_value",
    "comparison_cells",
    "comparisons_table",
    "disagreement",
    "excluded_table",
    "most_telling",
    "notes",
    "number_text",
    "numeric_columns",
    "pluralize",
    "rate_cells",
    "records",
    "summary",
]

#: Headers and rows of text.
Table = tuple[list[str], list[list[str]]]

#: Comparisons that ``print(test)`` shows; all of them are in ``comparisons_``.
SHOWN = 20


def number_text(value: float) -> str:
    """Write a value or a disparity with four decimals.

    Examples
    --------
    >>> (
    ...     number_text(0.35),
    ...     number_text(-0.00001),
    ...     number_text(float("nan")),
    ...     number_text(float("-inf")),
    ... )
    ('0.3500', '0.0000', 'undefined', '-inf')
    """
    if np.isnan(value):
        return "undefined"
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{round(value, 4) + 0.0:.4f}"  # + 0.0: no minus sign before 0


def numeric_columns(rows: Sequence[Sequence[str]], n_columns: int) -> list[bool]:
    """Say which columns hold nothing but numbers, intervals and p-values (or nothing)."""
    columns = [[row[i] for row in rows if row[i]] for i in range(n_columns)]
    return [bool(cells) and all(map(_is_number, cells)) for cells in columns]


def aligned(table: Table, indent: str = "  ") -> str:
    """Lay a table out in columns, text to the left and numbers to the right, without boxes and without truncation."""
    headers, rows = table
    numeric = numeric_columns(rows, len(headers))
    widths = [max(display_width(line[i]) for line in [headers, *rows]) for i in range(len(headers))]
    lines = []
    for line in [headers, *rows]:
        cells = []
        for cell, width, right in zip(line, widths, numeric, strict=True):
            blank = " " * (width - display_width(cell))
            cells.append(blank + cell if right else cell + blank)
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def _is_number(text: str) -> bool:
    return text[0].isdigit() or text[0] in "-<" or text in ("undefined", "inf", "n/a")


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame by the names of its columns."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def rate_cells(by_group: pd.DataFrame) -> Iterator[tuple[list[str], str, str, str, str, str]]:
    """Write each row of a rate by group: names, people, people who meet the condition, value, interval, remark."""
    columns = [by_group[name].tolist() for name in ("n", "n_effective", "value", "ci_low", "ci_high", "small")]
    for key, people, n, value, low, high, small in zip(by_group.index, *columns, strict=True):
        names = [label(name) for name in (key if by_group.index.nlevels > 1 else (key,))]
        interval = "" if np.isnan(value) else f"{number_text(low)} to {number_text(high)}"
        remark = "" if not small else "small" if n else "nobody"
        yield names, f"{people:,}", f"{n:,}", number_text(value), interval, remark


def by_group_table(by_group: pd.DataFrame, condition: str = "of whom") -> Table:
    """Write the rates by group; small denominators, headed `condition`, are marked."""
    names = [label(name) for name in by_group.index.names]
    rows = [[*labels, *cells] for labels, *cells in rate_cells(by_group)]
    return [*names, "people", condition, "value", "interval", ""], rows


def comparison_cells(row: Mapping[str, Any], pooled: str) -> dict[str, str]:
    """Write the cells of one comparison; `pooled` stands where strata are averaged."""
    return {
        "group": label(row["group"]),
        "other": label(row["other"]),
        "stratum": pooled if row["stratum"] is None else label(row["stratum"]),
        "value": "" if row["group"] is None else number_text(row["value_group"]),
        "against": "" if row["group"] is None else number_text(row["value_other"]),
        "disparity": number_text(row["disparity"]),
        "interval": "" if np.isnan(row["ci_low"]) else f"{number_text(row['ci_low'])} to {number_text(row['ci_high'])}",
        "p": p_text(row["p_value"]),
        "adjusted": p_text(row["p_value_adjusted"]),
        "mark": "*" if row["concern"] else "",
    }


def comparisons_table(comparisons: pd.DataFrame, controls: str = "") -> Table:
    """Write comparisons, in the order given."""
    strata = [label(controls)] if controls else []
    rows = []
    for row in records(comparisons):
        cells = comparison_cells(row, "(pooled)")
        if not controls:
            del cells["stratum"]
        rows.append([label(row["metric"]), *cells.values()])
    numbers = ["value", "against", "disparity", "interval", "p", "adjusted p", ""]
    return ["metric", "group", "other", *strata, *numbers], rows


def excluded_table(excluded: pd.DataFrame) -> Table:
    """Write what was left out and why."""
    rows = [
        [
            label(row["metric"]) or "(all)",
            label(row["group"]),
            label(row["stratum"]),
            f"{row['n']:,}",
            f"{row['n_effective']:,}",
            f"{row['comparisons']:,}",
            row["reason"],
        ]
        for row in records(excluded)
    ]
    headers = ["metric", "group", "stratum", "people", "of whom", "comparisons", "reason"]
    if not any(row[2] for row in rows):
        headers, rows = (
            [h for i, h in enumerate(headers) if i != 2],
            [[c for i, c in enumerate(r) if i != 2] for r in rows],
        )
    return headers, rows


def most_telling(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Order comparisons by p-value, pooled ones first; ties by the size of the statistic."""
    pooled = comparisons["stratum"].isna()
    order = np.lexsort(
        (-comparisons["statistic"].abs().fillna(0).to_numpy(), comparisons["p_value"].to_numpy(), ~pooled.to_numpy())
    )
    return comparisons.iloc[order]


def by_p_value(facts: Setup, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Order comparisons of one family, strata and averages alike, by p-value.

    Ties are broken by the adjusted p-value, then by the statistic where it measures the distance from equality, then by
    the distance of the disparity from equality. Under a margin a larger statistic may lie deeper inside of it.
    """
    ratios = np.array([facts.disparity_of(metric) == "ratio" for metric in comparisons["metric"]], dtype=bool)
    disparity = comparisons["disparity"].to_numpy(dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.abs(np.where(ratios, np.log(disparity), disparity))
    plain = facts.edges is None and facts.alternative == "two-sided"
    statistic = comparisons["statistic"].abs().to_numpy() if plain else np.zeros(len(comparisons))
    p, adjusted = (comparisons[name].to_numpy() for name in ("p_value", "p_value_adjusted"))
    order = np.lexsort((-np.nan_to_num(distance, nan=-1.0), -np.nan_to_num(statistic, nan=-1.0), adjusted, p))
    return comparisons.iloc[order]


def notes(facts: Setup, comparisons: pd.DataFrame, adjust: str | None) -> list[str]:
    """Explain the columns: what intervals are, how p-values were adjusted, and where the two disagree."""
    names = {
        "holm": "Holm",
        "shaffer": "Holm, with Shaffer's factors for all pairs of groups",
        "bonferroni": "Bonferroni",
        "max_t": "step-down max-T (rates: exact only if all groups are alike; other metrics: from bootstrap samples)",
        "fdr_bh": "Benjamini-Hochberg (false-discovery rate)",
        "fdr_by": "Benjamini-Yekutieli (false-discovery rate)",
        None: "not at all",
    }
    level = f"{100 * (1 - facts.alpha):g} %"
    simultaneous = adjust in ("holm", "shaffer", "bonferroni", "max_t")
    together = "for all comparisons together" if simultaneous else "for one comparison at a time"
    no_intervals = bool(comparisons["ci_low"].isna().all())
    out = [
        f"p-values are adjusted for the number of comparisons: {names[adjust]}."
        + ("" if no_intervals else f" Intervals of disparities are {level}, {together}."),
    ]
    if facts.people:
        out.append(facts.people)
    if facts.controls:
        out.append(
            f"Comparisons averaged over {label(facts.controls)} and those within its single levels are two families, "
            "each adjusted by itself; the former decide."
        )
    methods = sorted(set(comparisons["method"]))
    out.append(f"Law of the p-values: {', '.join(methods)}.")
    return out + disagreement(facts, comparisons)


def disagreement(facts: Setup, comparisons: pd.DataFrame) -> list[str]:
    """Say why some intervals contain the null value of comparisons that are a concern; nothing if none does."""
    if facts.edges is not None:
        return []
    null = comparisons["metric"].map(lambda m: 1.0 if facts.disparity_of(m) == "ratio" else 0.0)
    holds_null = (comparisons["ci_low"] <= null) & (comparisons["ci_high"] >= null)
    disagree = int((comparisons["concern"] & holds_null).sum())
    if not disagree:
        return []
    return [
        f"In {pluralize(disagree, 'comparison')} the p-value finds a disparity whose interval contains equality: the "
        "p-value is the more powerful of the two, and decides."
    ]


def summary(
    facts: Setup,
    *,
    by_group: pd.DataFrame | None,
    comparisons: pd.DataFrame,
    excluded: pd.DataFrame,
    p_value: float,
    concern: bool,
    adjust: str | None,
    p_value_interval: tuple[float, float],
    leading: int,
    equivalence_interval: tuple[float, float] | None = None,
) -> str:
    """Write what ``print(test)`` shows: the verdict, the leading finding, the null hypotheses, and the tables."""
    ordered = most_telling(comparisons)
    main = ordered[ordered["stratum"].isna()]
    lead: Any = comparisons.iloc[leading]
    parts = [
        verdict_sentence(
            facts,
            concern=concern,
            p_value=p_value,
            n_comparisons=len(main),
            no_intervals=bool(comparisons["ci_low"].isna().all()),
        ),
        finding_sentence(facts, lead),
    ]
    if equivalence_interval is not None:
        write, _ = disparity_writer(facts, lead["metric"])
        low, high = (write(end) for end in equivalence_interval)
        level = f"{100 * (1 - 2 * facts.alpha):g} %"
        parts.append(f"Its {level} interval, which the test of equivalence inverts, is {low} to {high}.")
    if p_value_interval[0] != p_value_interval[1]:
        low, high = (p_text(end) if end else "0" for end in p_value_interval)
        parts.append(f"With resamples without end, the p-value would lie between {low} and {high} (95 % limits).")
    strata = ordered[~ordered["stratum"].isna()]
    if len(strata):
        parts.append(_strata_sentence(facts, strata))
    parts += ["", "Null hypotheses"]
    parts += [f"  {null_sentence(facts, metric)}" for metric in dict.fromkeys(comparisons["metric"])]
    if by_group is not None:
        parts += ["", "Values by group", aligned(by_group_table(by_group))]
    shown = ordered.head(SHOWN)
    parts += ["", _title(len(shown), len(ordered)), aligned(comparisons_table(shown, facts.controls))]
    if len(excluded):
        parts += ["", "Left out", aligned(excluded_table(excluded))]
    parts += ["", *notes(facts, comparisons, adjust)]
    return "\n".join(parts)


def _strata_sentence(facts: Setup, strata: pd.DataFrame) -> str:
    """Say what single strata show, which the verdict on all of them together does not count."""
    concerns = strata[strata["concern"]]
    total = pluralize(len(strata), "comparison")
    if not len(concerns):
        return f"Within single levels of {label(facts.controls)} none of {total} is a concern."
    verb = "is a concern" if len(concerns) == 1 else "are concerns"
    first = finding_sentence(facts, {str(k): v for k, v in concerns.iloc[0].items()})
    return f"Within single levels of {label(facts.controls)} {len(concerns)} of {total} {verb}: {first}"


def _title(shown: int, total: int) -> str:
    if shown == total:
        return "Comparisons (* concern)"
    return f"The {shown} smallest p-values of {total} comparisons (* concern; all are in comparisons_)"
