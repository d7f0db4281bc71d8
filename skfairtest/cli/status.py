"""What the process returns."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Status"]


class Status(IntEnum):
    """What the process returns; what is done has detected no significant disparity."""

    DONE, SIGNIFICANT, BAD_INPUT, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
