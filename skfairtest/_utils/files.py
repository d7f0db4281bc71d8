"""Files that are there as a whole, or as they were."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import uuid4


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give a name to write to, which takes the place of a file once everything is written.

    Parameters
    ----------
    path : str or path
        The file, which need not be there. If writing fails it stays as it was.

    Yields
    ------
    str
        A name in the same folder.
    """
    folder, name = os.path.split(os.path.abspath(path))
    temporary = os.path.join(folder, f".{name}.{uuid4().hex}")
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
