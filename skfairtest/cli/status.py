"""What the process returns."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """What the process returns; what is done has detected no significant disparity.

    Not tested is a saved audit without a significant disparity whose test of individual fairness had nothing to learn
    who is similar from.
    """

    DONE, SIGNIFICANT, BAD_INPUT, INTERNAL, NOT_TESTED, INTERRUPTED = 0, 1, 2, 3, 4, 130
