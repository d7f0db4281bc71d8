"""Many small objects, made without the interpreter looking for garbage among them again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Put off the search for cycles of objects: it goes through all objects that there are while new ones are made.

    Examples
    --------
    >>> import gc
    >>> with without_collecting():
    ...     gc.isenabled()
    False
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
