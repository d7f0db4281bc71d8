"""A stream's state in a file: whether it is as it was written, and whether its parts agree."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from skfairtest._utils.typing import Floats
from skfairtest.sequential.stream import NUMBERS, Stream

#: The numbers of a record by which a pair is judged.
_ADJUSTED, _DETECTOR = NUMBERS.index("log_adjusted"), NUMBERS.index("log_detector")


def check_agreement(stream: Stream, names: Collection[str]) -> None:
    """Refuse a state whose parts disagree: what was rejected, or taken in, at a look that is recorded stays so.

    Parameters
    ----------
    stream : Stream
        The state.
    names : collection of str
        The batches that it says were taken in.

    Raises
    ------
    ValueError
        If its parts disagree.
    """
    known = {*names, None, *(["merged"] if stream.n_merged > 1 else [])}
    unknown = [batch for _, batch, *_ in stream.records if batch not in known]
    if unknown:
        raise ValueError(f"a look is recorded at batch {unknown[0]!r}, which is not among the batches taken in")
    if any(not 1 <= look <= stream.looks for look, *_ in stream.records):
        raise ValueError(f"looks are recorded beyond the {stream.looks} that it counts")
    level = -np.log(stream.plan.alpha)
    alarm = np.log(stream.plan.average_run_length * stream.size / stream.share)
    for at, number, limit, what in (
        (stream.rejected_at, _ADJUSTED, level + 0 * alarm, "rejections"),
        (stream.changed_at, _DETECTOR, alarm, "alarms"),
    ):
        if not np.array_equal(at, _first_looks(stream, number, limit), equal_nan=True):
            raise ValueError(f"its {what} are not those that its looks show")
    if not np.array_equal(stream.log_adjusted >= level, ~np.isnan(stream.rejected_at)):
        raise ValueError("its rejections are not those that its evidence shows")
    most = (stream.log_most - np.log(stream.size) + np.log(stream.share)).max(initial=0.0)  # Holm's first step
    if not np.isclose(stream.log_global, most, rtol=1e-9, atol=1e-9):
        raise ValueError("its p-value is not the one that its evidence shows")


def _first_looks(stream: Stream, number: int, limit: Floats) -> Floats:
    """The first recorded look at which a number of each pair reached its limit, (n_metrics, P); nan if none did."""
    first = np.full((len(stream.evidence), len(stream.pairs)), np.nan)
    for look, _, _, metric, pairs, numbers in stream.records:
        row = first[list(stream.evidence).index(metric)]
        reached = pairs[(numbers[:, number] >= limit[pairs]) & np.isnan(row[pairs])]
        row[reached] = look
    return first
