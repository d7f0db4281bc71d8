"""An audit as data: JSON and CSV. Names stay as they are."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
import scipy

from skfairtest._version import __version__
from skfairtest.audit import Audit, AuditPart
from skfairtest.report.audit import Outcome, audit_verdict, leading_sentences, null_hypotheses

__all__ = ["outcome_of", "to_csv", "to_json"]


def outcome_of(audit: Audit) -> Outcome:
    """Say what decides an audit, in the report's terms."""
    return Outcome(audit.concern, audit.p_value, audit.n_comparisons)


def _plain(value: Any) -> Any:
    """Return a value that JSON has: nan becomes null, infinities "inf" and "-inf", tuples lists."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else None if math.isnan(number) else str(number)
    return str(value)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): _plain(value) for name, value in row.items()} for row in frame.to_dict("records")]


def _rates(part: AuditPart, control: Sequence[str]) -> list[dict[str, Any]]:
    """Rates by group: stratum and group as in the comparisons, whatever the features are called."""
    several = len(part.facts.words) > 1
    (only, *_) = part.facts.words
    rows = []
    for key, values in zip(part.by_group.index, _records(part.by_group), strict=True):
        names = list(key) if isinstance(part.by_group.index, pd.MultiIndex) else [key]
        metric = names.pop(0) if several else only
        stratum, group = names[: len(control)], names[len(control) :]
        rows.append(
            {
                "metric": metric,
                "group": _plain(group[0] if len(group) == 1 else group),
                "stratum": _plain(stratum[0] if len(stratum) == 1 else stratum or None),
                **values,
            }
        )
    return rows


def _sensitive(part: AuditPart, control: Sequence[str]) -> list[str]:
    skipped = len(control) + (len(part.facts.words) > 1)
    return [str(name) for name in part.by_group.index.names[skipped:]]


def to_json(audit: Audit, *, source: str, control: Sequence[str] = ()) -> str:
    """Write an audit as one JSON document.

    Parameters
    ----------
    audit : Audit
        What was found.
    source : str
        The file.
    control : sequence of str
        The control features.

    Returns
    -------
    str
        ASCII; undefined numbers are null, infinite ones the strings "inf" and "-inf". A group of several features is a
        list.
    """
    facts = audit.parts[0].facts
    document = {
        "source": source,
        "verdict": {
            "concern": audit.concern,
            "p_value": _plain(audit.p_value),
            "alpha": round(audit.alpha, 12),
            "n_samples": audit.n_samples,
            "n_comparisons": audit.n_comparisons,
            "adjust": audit.adjust,
            "compare": facts.compare,
            "disparity": facts.disparity,
            "pos_label": _plain(audit.pos_label),
            "sentence": audit_verdict(audit.parts, outcome_of(audit)),
        },
        "null_hypotheses": null_hypotheses(audit.parts),
        "parts": [
            {
                "sensitive": _sensitive(part, control),
                "control": list(control),
                "concern": bool(part.comparisons["concern"][part.comparisons["stratum"].isna()].any()),
                "sentences": leading_sentences(part),
                "rates": _rates(part, control),
                "comparisons": _records(part.comparisons),
                "excluded": _records(part.excluded),
            }
            for part in audit.parts
        ],
        "not_compared": [{"sensitive": names, "reason": reason} for names, reason in audit.not_compared],
        "versions": {
            "skfairtest": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "pandas": pd.__version__,
        },
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def to_csv(audit: Audit) -> str:
    """Write the comparisons of all groupings as one table, the grouping in its first column.

    A group of several features is their values joined by ", "; a comparison over all strata has an empty stratum.
    """
    lines = [["sensitive", *audit.parts[0].comparisons.columns]]
    for part in audit.parts:
        for row in part.comparisons.itertuples(index=False):
            lines.append([part.facts.features, *map(_text, row)])
    return "".join(",".join(map(_field, line)) + "\n" for line in lines)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return repr(float(value)) if isinstance(value, float) else str(value)


def _field(text: str) -> str:
    """Quote what would be split, or lose its spaces; unlike the csv module also a lone carriage return."""
    if text.strip() != text or any(c in text for c in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
