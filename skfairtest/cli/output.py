"""Where a report goes: a screen, a pipe or a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from skfairtest.cli.errors import BadInput
from skfairtest.cli.render import on_screen
from skfairtest.report.document import Block, plain

__all__ = ["check_output", "deliver", "is_screen", "tell", "write_out"]


def is_screen() -> bool:
    """Whether standard output is a terminal that understands control codes."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def check_output(output: str | None, source: str | None) -> None:
    """Refuse a file that cannot be written, before anything is computed.

    Raises
    ------
    BadInput
        If the folder is not there or not writable, or the file is the one that is read.
    """
    if output is None:
        return
    path = Path(output)
    try:
        if path.is_dir():
            raise BadInput(f"--output {output}: is a folder: name a file in it")
        if not path.parent.is_dir():
            raise BadInput(f"--output {output}: there is no folder {path.parent}")
        if source is not None and path.exists() and os.path.exists(source) and path.samefile(source):
            raise BadInput(f"--output {output}: is the file to be read: name another one")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise BadInput(f"--output {output}: may not be written")
    except (OSError, ValueError) as error:
        raise BadInput(f"--output {output}: {getattr(error, 'strerror', None) or error}") from error


def deliver(document: Callable[[bool], Sequence[Block]], output: str | None) -> None:
    """Write a document: with colours and folded on a screen, plainly elsewhere.

    Parameters
    ----------
    document : callable
        Composes the document; told whether it is for a screen.
    output : str or None
        The file; standard output by default.
    """
    if output is None and is_screen():
        console = Console(markup=False, emoji=False, highlight=False, soft_wrap=False)
        write_out(on_screen(document(True), console))
    else:
        write_out(plain(document(False)), output)


def write_out(text: str, output: str | None = None) -> None:
    """Write text to a file or to standard output; characters that its encoding lacks are written as escapes.

    Raises
    ------
    BadInput
        If the file cannot be written.
    """
    if output is not None:
        try:
            # newline: the text has the line ends that it should have.
            Path(output).write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            raise BadInput(f"--output {output}: {getattr(error, 'strerror', None) or error}") from error
        return
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough, as in "| head". Nothing is left to be flushed when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(line: str) -> None:
    """Write one line to standard error."""
    print(line, file=sys.stderr)
