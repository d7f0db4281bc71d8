"""One model, several sensitive features: each of them, then their intersection, judged as one family of questions.

Testing race, sex, and race x sex separately asks many questions and reports the luckiest answer; here one adjustment
runs over all of them, and it alone decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from skfairtest.group._facts import facts_of
from skfairtest.group._frames import by_group_frame, comparisons_frame, excluded_frame
from skfairtest.group._judge import judge, p_of
from skfairtest.group._measure import cells_read, measure
from skfairtest.group._rows import Measured
from skfairtest.group._settings import check_settings, is_number
from skfairtest.metrics import resolve_metrics
from skfairtest.report.words import Facts
from skfairtest.tables import CountTable, Sample


@dataclass(frozen=True)
class AuditPart:
    """What one grouping of the people says, its p-values adjusted for the whole audit."""

    facts: Facts
    by_group: pd.DataFrame
    comparisons: pd.DataFrame
    excluded: pd.DataFrame


@dataclass(frozen=True)
class Audit:
    """Several groupings judged as one family.

    Parameters
    ----------
    parts : tuple of AuditPart
        One for each sensitive feature and, with several, one for their intersection.
    p_value : float
        The smallest adjusted p-value of all.
    concern : bool
        Whether it is a finding at `alpha`.
    n_comparisons : int
        How many pooled comparisons were adjusted together.
    n_samples : int
        People.
    alpha : float
        The level.
    adjust : str or None
        The adjustment that was run.
    pos_label : object
        The label counted as positive.
    not_compared : tuple of (str, str)
        Groupings that cannot be compared at all (one group only), with the reason.
    """

    parts: tuple[AuditPart, ...]
    p_value: float
    concern: bool
    n_comparisons: int
    n_samples: int
    alpha: float
    adjust: str | None
    pos_label: Any
    not_compared: tuple[tuple[str, str], ...] = ()


def audit_table(
    table: CountTable,
    *,
    metric: Any = "equalized_odds",
    pos_label: Any = None,
    alpha: float = 0.05,
    compare: str = "between_groups",
    disparity: str = "difference",
    adjust: str = "holm",
    intersections: bool = True,
) -> Audit:
    """Test each sensitive feature of a table, then their intersection, as one family.

    Null hypothesis: every rate of `metric` is equal in the groups of every grouping.

    Parameters
    ----------
    table : CountTable
        Counts of everyone, with all sensitive features.
    metric : str, Rate, callable, or list or dict of these
        As in `FairnessTest`.
    pos_label : label, optional
        The positive label.
    alpha : float, default=0.05
        Level of the whole audit.
    compare, disparity, adjust : str
        As in `FairnessTest`; the adjustment runs over all groupings at once, which ``max_t`` cannot.
    intersections : bool, default=True
        Whether to cross the sensitive features after testing each.

    Returns
    -------
    Audit
        Frames of every grouping, and what decides.

    Raises
    ------
    ValueError
        If a parameter is not usable or nothing can be compared.

    Examples
    --------
    >>> from skfairtest.datasets import load_compas
    >>> audit = audit_table(
    ...     load_compas(as_table=True).regroup(["race", "sex"]), metric="false_positive_rate"
    ... )
    >>> [part.facts.features for part in audit.parts], audit.concern
    (['race', 'sex', 'race x sex'], True)
    """
    if not is_number(alpha) or not 0 < alpha < 1:
        raise ValueError(f"alpha must be a number between 0 and 1; found {alpha!r}")
    if compare == "to_reference":
        raise ValueError(
            "compare='to_reference' has no meaning over several groupings, which share no group: use 'between_groups', "
            "'to_rest' or 'to_overall'"
        )
    settings = check_settings(
        compare=compare,
        reference_group=None,
        disparity=disparity,
        alternative="two-sided",
        margin=None,
        method="auto",
        variance="auto",
        within="auto",
        adjust=adjust,
        confidence_level=1 - alpha,
        n_resamples=9999,
    )
    if adjust == "max_t":
        raise ValueError("adjust='max_t' has no joint law across groupings of the same people: use adjust='holm'")
    rates = resolve_metrics(metric, disparity)
    needed = cells_read(rates, settings)
    missing = sorted(needed - set(table.cell_names))
    if missing:
        needing = ", ".join(rate.name for rate in rates if set(missing) & rate.reads)
        raise ValueError(f"{' and '.join(missing)} is missing: {needing} needs it")
    measured, not_compared = [], []
    for names in _groupings(table.sensitive_names, intersections):
        grouped = table.regroup(names, table.control_names or None)
        try:
            measured.append(measure(Sample.from_table(grouped), rates, settings, pos_label, None, 0))
        except ValueError as error:  # one group only: another grouping may still be comparable
            not_compared.append((" x ".join(names), str(error)))
    if not measured:
        raise ValueError(not_compared[0][1])
    verdict = judge(measured, settings)
    parts = tuple(
        AuditPart(
            facts_of(part, settings),
            _values(part),
            comparisons_frame(part.rows),
            excluded_frame(part.excluded),
        )
        for part in measured
    )
    pooled = sum(row.contrast.stratum is None for part in measured for row in part.rows)
    return Audit(
        parts,
        p_of(verdict.log_p),
        verdict.concern,
        pooled,
        table.n_samples,
        settings.alpha,
        settings.adjust,
        measured[0].pos_label,
        tuple(not_compared),
    )


def _values(part: Measured) -> pd.DataFrame:
    frame = by_group_frame(part)
    if frame is None:
        raise ValueError("metric has no value by group, which an audit is about: name one that has")
    return frame


def _groupings(names: tuple[str, ...], intersections: bool) -> Iterable[list[str]]:
    for name in names:
        yield [name]
    if intersections and len(names) > 1:
        yield list(names)
