"""Files that are there as a whole, or as they were."""

import errno
import hashlib
import json
import os
import stat
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
    target, old = os.path.realpath(path), None
    with suppress(FileNotFoundError):
        old = os.stat(path)
    if old is not None and not stat.S_ISREG(old.st_mode):
        yield os.fspath(path)
        return
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
    folder, name = os.path.split(target)
    if folder and not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    temporary = os.path.join(folder, f".{name[:LONGEST]}.{uuid4().hex}")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # the mode that the umask leaves
        if old is not None:
            with suppress(OSError, AttributeError):  # another's file, or a system without owners
                os.chown(temporary, old.st_uid, old.st_gid)
            os.chmod(temporary, stat.S_IMODE(old.st_mode))
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def write_text(text: str, path: str | os.PathLike[str] | None) -> str | None:
    """Write a text to a file, with the line ends that it has, or return it if there is none."""
    if path is None:
        return text
    with replaced(path) as name, open(name, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(text)
    return None
