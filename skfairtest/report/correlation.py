"""Findings, null hypothesis and tables of the test for continuous sensitive features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.report.sentences import equals_p, p_text
from skfairtest.report.text import SHOWN, Table, aligned, most_telling, number_text, records

#: What each outcome is called.
OUTCOMES = {
    "prediction": "predictions",
    "residual": "residuals (true minus predicted)",
    "absolute_error": "absolute errors",
}
#: What each correlation is called.
CORRELATIONS = {"pearson": "correlation", "spearman": "rank correlation"}
ADJUSTED = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "max_t": "step-down max-T",
    "fdr_bh": "Benjamini-Hochberg",
    "fdr_by": "Benjamini-Yekutieli",
    None: "not at all",
}


@dataclass(frozen=True)
class CorrelationSetup:
    """What sentences need to know about how a test was set up.

    Parameters
    ----------
    outcome : str
        What is correlated with the features ("absolute errors").
    measure : str
        What the correlation is called, or the name of a function.
    own : bool
        Whether it is a function, which measures dependence of any kind and has no interval.
    alternative : str
        As in the test.
    alpha : float
        Level of the test.
    controls : str
        Names of the control features; may be empty.
    adjust : str or None
        Adjustment that was run.
    """

    outcome: str
    measure: str
    own: bool
    alternative: str
    alpha: float
    controls: str
    adjust: str | None


def correlation_summary(
    facts: CorrelationSetup,
    *,
    comparisons: pd.DataFrame,
    excluded: pd.DataFrame,
    p_value: float,
    p_value_interval: tuple[float, float],
    concern: bool,
    leading: int,
) -> str:
    """Write what ``print(test)`` shows: the finding, what else there is, the null hypothesis and the table."""
    rows = records(most_telling(comparisons))
    main, strata = ([row for row in rows if (row["stratum"] is None) is pooled] for pooled in (True, False))
    # The first sentence gives the verdict and the p-value that decides, whatever each row is adjusted by.
    lead = {**records(comparisons)[leading], "p_value_adjusted": p_value, "concern": concern}
    parts = [_finding(facts, lead)]
    if not concern:
        seen = "" if facts.own else ": the interval shows what could have gone unseen"
        parts.append(f"That is not a proof that there is none{seen}.")
    if len(main) > 1:
        parts.append(_how_many("", main, "feature") + ".")
    if strata:
        parts.append(_how_many(f"Within single levels of {label(facts.controls)} ", strata, "comparison"))
        parts[-1] += "." + next((f" {_finding(facts, row)}" for row in strata if row["concern"]), "")
    low, high = (p_text(end) for end in p_value_interval)
    between = f"between {low} and {high}" if p_value_interval[0] > 0 else f"below {high}"
    parts.append(f"With resamples without end, the p-value would lie {between} (95 % limits).")
    parts += ["", "Null hypothesis", f"  {_null(facts)}"]
    first = f"The first {SHOWN} of {len(rows)} comparisons" if len(rows) > SHOWN else "Comparisons"
    parts += ["", f"{first} (* concern)", aligned(_table(facts, rows[:SHOWN]))]
    if len(excluded):
        cells = [
            [label(row["feature"]), label(row["stratum"]), f"{row['n']:,}", row["reason"]] for row in records(excluded)
        ]
        parts += ["", "Left out", aligned((["feature", "stratum", "people", "reason"], cells))]
    parts += ["", *_notes(facts, rows, several=bool(strata))]
    return "\n".join(parts)


def _finding(facts: CorrelationSetup, row: Mapping[str, Any]) -> str:
    """Say what one comparison found."""
    feature, controls = label(row["feature"]), facts.controls
    where = f"In {label(row['stratum'])}, " if row["stratum"] is not None else ""
    within = f" within levels of {label(controls)}" if controls and not where else ""
    limits = (
        "" if facts.own else f" (interval {round(row['ci_low'], 2) + 0.0:.2f} to {round(row['ci_high'], 2) + 0.0:.2f})"
    )
    evidence = (
        f"{label(facts.measure)} {round(row['correlation'], 2) + 0.0:.2f}{limits}, {equals_p(row['p_value_adjusted'])}"
    )
    if row["concern"]:
        verb = "depend on" if facts.own else "grow with" if row["correlation"] > 0 else "shrink with"
        sentence = f"{facts.outcome} {verb} {feature}{within}: {evidence}."
    else:
        what = f"dependence of {facts.outcome} on" if facts.own else f"correlation of {facts.outcome} with"
        sentence = f"no {what} {feature} was found{within}: {evidence}."
    return where + sentence if where else sentence[0].upper() + sentence[1:]


def _null(facts: CorrelationSetup) -> str:
    inside = f"within every {label(facts.controls)}, " if facts.controls else ""
    if facts.own:
        return f"{inside}{facts.outcome} are independent of each sensitive feature. Permuting is exact."
    zero = {"two-sided": "zero", "greater": "at most zero", "less": "at least zero"}[facts.alternative]
    return (
        f"{inside}the {facts.measure} of {facts.outcome} with each sensitive feature is {zero}. Permuting is exact if "
        "they are independent, and keeps its level in large samples if they are only uncorrelated."
    )


def _table(facts: CorrelationSetup, rows: list[dict[str, Any]]) -> Table:
    cells = []
    for row in rows:
        place = ["(pooled)" if row["stratum"] is None else label(row["stratum"])] if facts.controls else []
        interval = "" if np.isnan(row["ci_low"]) else f"{row['ci_low']:.4f} to {row['ci_high']:.4f}"
        p = [p_text(row[name]) for name in ("p_value", "p_value_adjusted")]
        value, mark = number_text(row["correlation"]), "*" if row["concern"] else ""
        cells.append([label(row["feature"]), *place, f"{row['n']:,}", value, interval, *p, mark])
    controls = [label(facts.controls)] if facts.controls else []
    return ["feature", *controls, "people", "correlation", "interval", "p", "adjusted p", ""], cells


def _notes(facts: CorrelationSetup, rows: list[dict[str, Any]], *, several: bool) -> list[str]:
    """Explain the columns; `several` says that there is a second family."""
    out = [f"p-values are adjusted for the number of sensitive features: {ADJUSTED[facts.adjust]}."]
    familywise = facts.adjust in ("holm", "bonferroni", "max_t")
    if not facts.own:
        together = "all features together" if familywise else "one feature at a time"
        out.append(f"Intervals are {100 * (1 - facts.alpha):g} %, for {together}.")
    if several:
        out.append("Single strata are a second family, adjusted by itself; the pooled comparisons decide.")
    disagree = sum(row["concern"] == (row["ci_low"] <= 0 <= row["ci_high"]) for row in rows if row["ci_low"] > -np.inf)
    if disagree:
        how = "adjusted in a single step" if familywise else "not adjusted for the number of features"
        out.append(
            f"In {pluralize(disagree, 'comparison')} p-value and interval disagree on whether the correlation is zero: "
            f"intervals are {how if len(rows) > 1 else 'approximate'}. The p-value decides."
        )
    return out


def _how_many(where: str, rows: list[dict[str, Any]], what: str) -> str:
    found = sum(row["concern"] for row in rows)
    return f"{where}{found} of {pluralize(len(rows), what)} {'is' if found == 1 else 'are'} a concern"
