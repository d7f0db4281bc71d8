"""Where a warning comes from, as the user sees it."""

import sys
import warnings


def find_stack_level() -> int:
    """Return the stack level of the line outside the package that a warning of the calling function is about."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("skfairtest."):
        level, frame = level + 1, frame.f_back
    return level


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn about the line outside the package."""
    warnings.warn(message, category, stacklevel=find_stack_level())
