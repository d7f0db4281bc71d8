"""Files that are there as a whole, or as they were."""

import glob
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4


def checksum(document: Mapping[str, Any]) -> str:
    """The checksum of what a document holds, however it is laid out.

    Examples
    --------
    >>> checksum({"looks": 1, "names": []}) == checksum({"names": [], "looks": 1})
    True
    """
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


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


def sweep(folder: str | os.PathLike[str], name: str | None = None, *, older_than: float = 600.0) -> None:
    """Remove what killed processes have left of files that they were writing.

    Parameters
    ----------
    folder : str or path
        Where the files are.
    name : str, optional
        Of one file; by default of all.
    older_than : float
        Seconds since somebody has written to it: what is younger may still be written by another process.
    """
    names = "*" if name is None else glob.escape(name)
    for path in glob.glob(os.path.join(glob.escape(os.fspath(folder)), f".{names}.{'[0-9a-f]' * 32}")):
        with suppress(OSError):  # another process has removed it
            if time.time() - os.stat(path).st_mtime >= older_than:
                os.unlink(path)
