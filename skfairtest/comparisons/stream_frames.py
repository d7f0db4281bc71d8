"""The frames of a stream: its pairs, its groups, and what they were at every look."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skfairtest.comparisons.stream import RECORD, Stream

#: Logarithm of the largest e-value that is written.
LARGEST = 700.0
COLUMNS = (
    "metric", "group", "other", "n_group", "n_other", "n_waiting", "value_group", "value_other", "disparity", "ci_low",
    "ci_high", "e_value", "p_value", "e_value_adjusted", "p_value_adjusted", "rejected_at", "changed_at", "concern",
)  # fmt: skip


def as_e(log_e: float) -> float:
    """Return an e-value; the largest number there is in place of larger ones."""
    return float(np.exp(min(log_e, LARGEST)))


def pairs_frame(stream: Stream) -> pd.DataFrame:
    """Return what is known of every pair now."""
    rows = []
    for pair, adjusted in zip(stream.pairs, stream.adjusted(stream.plan.adjust), strict=True):
        process, width = pair.process, stream.plan.width(pair.metric)
        (n, total), (n_other, total_other) = (
            stream.totals.get((pair.metric, group), (0.0, 0.0)) for group in (pair.group, pair.other)
        )
        rows.append(
            {
                "metric": pair.metric,
                "group": pair.group,
                "other": pair.other,
                "n_group": int(n),
                "n_other": int(n_other),
                "n_waiting": sum(process.n_waiting),
                "value_group": total / n if n else np.nan,
                "value_other": total_other / n_other if n_other else np.nan,
                "disparity": process.difference * width,
                "ci_low": process.low * width,
                "ci_high": process.high * width,
                "e_value": as_e(process.log_e),
                "p_value": float(np.exp(-pair.log_most)),
                "e_value_adjusted": as_e(float(adjusted)),
                "p_value_adjusted": float(np.exp(-pair.log_adjusted)),
                "rejected_at": pair.rejected_at,
                "changed_at": pair.changed_at,
                "concern": pair.rejected_at is not None,
            }
        )
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.astype({"rejected_at": "Int64", "changed_at": "Int64", "concern": bool})


def looks_frame(stream: Stream) -> pd.DataFrame:
    """Return what every pair was at every look."""
    frame = pd.DataFrame(stream.records, columns=list(RECORD))
    frame = frame.rename(columns={"difference": "disparity", "low": "ci_low", "high": "ci_high"})
    for name, log in (("wealth", "log_e"), ("e_value_adjusted", "log_adjusted"), ("detector", "log_detector")):
        frame[name] = [as_e(value) for value in frame.pop(log)]
    return frame


def groups_frame(stream: Stream) -> pd.DataFrame:
    """Return the samples and the value of every group over all batches."""
    rows = [
        (metric, group, int(n), total / n if n else np.nan) for (metric, group), (n, total) in stream.totals.items()
    ]
    return pd.DataFrame(rows, columns=["metric", "group", "n", "value"])
