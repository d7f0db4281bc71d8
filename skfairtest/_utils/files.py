"""Atomic writing: a file is replaced as a whole or left as it was."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

#: The characters of a file's name in the name that its content is written under first: names have at most 255 bytes.
LONGEST = 50


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
    """Give a name to write to, which takes the place of a file once everything is written."""
    old = os.path.isfile(path)
    if os.path.exists(path) and not old:  # a device or a pipe
        yield os.fspath(path)
        return
    if old:
        with open(path, "r+b"):  # a file that may not be written is refused
            pass
    folder, name = os.path.split(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}", os.fspath(path))
    temporary = os.path.join(folder, f".{name[:LONGEST]}.{uuid4().hex}")
    try:
        with open(temporary, "xb"):  # in the mode that the umask leaves
            pass
        if old:
            shutil.copymode(path, temporary)
            with suppress(OSError, AttributeError):  # another's file, or a system without owners
                os.chown(temporary, os.stat(path).st_uid, os.stat(path).st_gid)
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, os.path.join(folder, name))
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def write_text(text: str, path: str | os.PathLike[str] | None) -> str | None:
    """Write a text to a file, keeping its line ends; without a path, return the text."""
    if path is None:
        return text
    with replaced(path) as name, open(name, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(text)
    return None
