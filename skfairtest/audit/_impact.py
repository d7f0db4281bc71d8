"""The impact tables that an audit makes of its predictions, beside its comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.audit._default_metrics import kinds_of
from skfairtest.audit.impact import SMALLEST_SHARE, Category, table_of, tables_of
from skfairtest.audit.impact_record import ImpactRecord
from skfairtest.comparisons.settings import Settings
from skfairtest.readers import as_numbers, resolve_pos_label
from skfairtest.report.plain import plain_rows
from skfairtest.tables import Sample


def impact_of(
    sample: Sample,
    estimator: Any,
    *,
    pos_label: Any,
    classes: tuple[Any, ...] | None,
    intersections: bool,
    confidence_level: float,
    method: str,
) -> ImpactRecord:
    """Compare rates of selection with the highest one, of decisions; of scores and numbers those above the median.

    Parameters
    ----------
    sample : Sample
        The people of the audit.
    estimator, pos_label, intersections, confidence_level, method : object
        Parameters of the audit.
    classes : tuple, optional
        The labels that the estimator knows.

    Raises
    ------
    ValueError
        If nothing says which label is that of people who were selected.
    """
    people = sample.everyone or sample  # of whom a feature may not be known
    kinds, _ = kinds_of(people, estimator)
    scoring = bool(kinds & {"scores", "continuous"}) and "binary" not in kinds
    if scoring:
        chosen = _above_median(people, "y_pred" if "y_pred" in people.columns else "y_score")
    else:
        decisions = people.labels_of("y_pred")
        positive = resolve_pos_label(people.labels, pos_label, classes)
        chosen = np.array([bool(level == positive) for level in decisions.levels])[decisions.codes]
    found = tables_of(
        people.sensitive,
        chosen.astype(np.intp),
        people.counts,
        intersections=intersections,
        confidence_level=confidence_level,
        method=_method(method),
    )
    return _record(scoring, *found)


def recomputed_impact(impact: ImpactRecord, settings: Settings, n_samples: int) -> ImpactRecord:
    """Return the tables that follow from how many people of each category there are, and how many were selected."""
    found = []
    for i, part in enumerate(impact.tables):
        people = sum(row["n"] for row in part.rows)
        if people != n_samples:
            raise ValueError(f"impact.tables[{i}].rows hold {people} people, and verdict.n_samples is {n_samples}")
        for j, row in enumerate(part.rows):
            if row["selected"] > row["n"]:
                where = f"impact.tables[{i}].rows[{j}]"
                raise ValueError(f"{where}.selected is {row['selected']}, and must be at most n, {row['n']}")
        categories = [
            Category(row["category"], row["n"], row["selected"], unknown=row["category"] is None) for row in part.rows
        ]
        how = {"confidence_level": 1 - settings.alpha, "method": _method(settings.question.method)}
        found.append(table_of(part.feature, categories, **how))
    frames, reasons = zip(*found, strict=True)
    return _record(impact.scoring, [part.sensitive for part in impact.tables], frames, list(filter(None, reasons)))


def _method(method: str) -> str:
    return method if method in ("exact", "asymptotic") else "auto"


def _record(
    scoring: bool, names: Sequence[tuple[str, ...]], frames: Sequence[pd.DataFrame], reasons: Sequence[Exception]
) -> ImpactRecord:
    return ImpactRecord.of(
        {
            "scoring": scoring,
            "smallest_share": SMALLEST_SHARE,
            "not_compared": [str(reason) for reason in reasons],
            "tables": [
                {"sensitive": list(features), "rows": _plain(frame, len(features))}
                for features, frame in zip(names, frames, strict=True)
            ],
        }
    )


def _plain(frame: pd.DataFrame, n_features: int) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON has them; what pandas calls missing is null."""
    found = frame.drop(columns="feature").astype(object)
    if n_features == 1:  # a tuple is the name of a category, and no list of several
        found["category"] = [str(name) if isinstance(name, tuple) else name for name in found["category"]]
    return plain_rows(found.where(frame.drop(columns="feature").notna(), None))


def _above_median(people: Sample, name: str) -> Booleans:
    """Whether each row's number is above the median of all people's."""
    numbers = as_numbers(people.columns[name])
    if numbers is None:
        raise ParameterError(f"{name} must be numbers, whose median divides people in the impact table; found labels")
    return np.asarray(numbers > _median(numbers, people.counts))


def _median(numbers: Floats, counts: Integers | None) -> float:
    """Return the median of numbers of which there are so many."""
    if counts is None:
        return float(np.median(numbers))
    order = np.argsort(numbers, kind="stable")
    upto, n = np.cumsum(counts[order]), int(counts.sum())
    low, high = (numbers[order[np.searchsorted(upto, rank, side="right")]] for rank in ((n - 1) // 2, n // 2))
    return float((low + high) / 2)
