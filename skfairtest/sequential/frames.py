"""The frames of a stream: its pairs, its groups, and what they were at every look."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.typing import Positions
from skfairtest.readers import sort_levels
from skfairtest.sequential.stream import NUMBERS, Stream

#: Logarithm of the largest e-value that is written.
LARGEST = 700.0
COLUMNS = (
    "metric", "group", "other", "disparity", "ci_low", "ci_high", "n_group", "n_other", "n_uncompared", "value_group",
    "value_other", "e_value", "e_value_adjusted", "rejected_at", "p_value", "p_value_adjusted", "concern",
)  # fmt: skip


def as_e(log_e: Any) -> Any:
    """Return e-values; the largest number there is in place of larger ones."""
    return np.exp(np.minimum(log_e, LARGEST))


def _order(stream: Stream) -> Positions:
    """Return the places of pairs in the order of their groups."""
    places = {group: place for place, group in enumerate(sort_levels(stream.arrivals))}
    codes = np.reshape([[places[group] for group in pair] for pair in stream.pairs], (-1, 2))
    return np.lexsort(codes.T[::-1])


def pairs_frame(stream: Stream) -> pd.DataFrame:
    """The present state of every pair."""
    order, frames = _order(stream), []
    pairs = [stream.pairs[place] for place in order]
    adjusted = stream.adjusted(stream.plan.adjust)
    for place, (metric, process) in enumerate(stream.evidence.items()):
        totals = [[stream.totals.get((metric, group), (0.0, np.nan)) for group in pair] for pair in pairs]
        n, sums = np.moveaxis(np.reshape(totals, (-1, 2, 2)), -1, 0)
        value = np.divide(sums, n, out=np.full_like(sums, np.nan), where=n > 0)
        limits = stream.disparities(metric)[order].T
        log_p = -stream.log_most[place, order], -stream.log_adjusted[place, order]
        columns: dict[str, Any] = {
            "metric": metric,
            "group": [group for group, _ in pairs],
            "other": [other for _, other in pairs],
            "n_group": n[:, 0].astype(int),
            "n_other": n[:, 1].astype(int),
            "n_uncompared": (n - process.seen[order, :, 0]).sum(axis=1).astype(int),
            "value_group": value[:, 0],
            "value_other": value[:, 1],
            **dict(zip(("disparity", "ci_low", "ci_high"), limits, strict=True)),
            "e_value": as_e(process.log_e[order]),
            "p_value": np.exp(log_p[0]),
            "e_value_adjusted": as_e(adjusted[place, order]),
            "p_value_adjusted": np.exp(log_p[1]),
            "rejected_at": stream.rejected_at[place, order],
            "concern": ~np.isnan(stream.rejected_at[place, order]),
        }
        frames.append(pd.DataFrame(columns, index=range(len(pairs)), columns=COLUMNS))
    return pd.concat(frames, ignore_index=True).astype({"rejected_at": "Int64", "concern": bool})


def looks_frame(stream: Stream) -> pd.DataFrame:
    """The states of pairs at every look that compared them."""
    rank = np.argsort(_order(stream))
    told: list[tuple[Any, ...]] = []
    numbers = [np.zeros((0, len(NUMBERS)))]
    for look, batch, time, metric, pairs, own in stream.records:
        order = np.argsort(rank[pairs])
        told += [(look, batch, time, metric, *stream.pairs[place]) for place in pairs[order]]
        numbers.append(own[order])
    frame = pd.DataFrame(told, columns=["look", "batch", "time", "metric", "group", "other"])
    found = dict(zip(NUMBERS, np.concatenate(numbers).T, strict=True))
    for name, column in (("disparity", "difference"), ("ci_low", "low"), ("ci_high", "high")):
        found[name] = found.pop(column)
    for name, log in (("wealth", "log_e"), ("e_value_adjusted", "log_adjusted")):
        found[name] = as_e(found.pop(log))
    return frame.assign(**found).astype({"n_group": int, "n_other": int})


def groups_frame(stream: Stream) -> pd.DataFrame:
    """Return the samples and the value of every group over all batches."""
    rows = [
        (metric, group, int(n), total / n if n else np.nan) for (metric, group), (n, total) in stream.totals.items()
    ]
    return pd.DataFrame(rows, columns=["metric", "group", "n", "value"])


def pending_frame(waiting: Mapping[str, Any]) -> pd.DataFrame:
    """Batches that wait for their labels."""
    rows = [(name, told["time"], sum(n for _, n in told["n"])) for name, told in waiting.items()]
    return pd.DataFrame(rows, columns=["batch", "time", "n"])
