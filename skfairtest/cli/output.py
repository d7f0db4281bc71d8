"""Where a report goes: a screen, a pipe or a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from skfairtest._utils.files import write_text
from skfairtest._utils.progress import Bar, shown_by
from skfairtest.cli.errors import BadInput
from skfairtest.cli.options import Asked

if TYPE_CHECKING:
    from skfairtest.report.document import Block


def is_screen() -> bool:
    """Whether standard output is a terminal that understands control codes."""
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def check_outputs(outputs: Mapping[str, str | None], sources: Sequence[str] = ()) -> None:
    """Refuse files that cannot be written, before anything is computed.

    Parameters
    ----------
    outputs : mapping of str to str or None
        The file that each option names, if any.
    sources : sequence of str
        The files that are read.

    Raises
    ------
    BadInput
        If a folder is not there or not writable, a file is one that is read, or two options name the same.
    """
    given = {option: path for option, path in outputs.items() if path is not None}
    seen: dict[str, str] = {}
    for option, path in given.items():
        other = seen.setdefault(_check_output(option, path, sources), option)
        if other != option:
            raise BadInput(f"{option} {path}: is the file that {other} writes: name another one")


def _check_output(option: str, output: str, sources: Sequence[str]) -> str:
    path = Path(output)
    try:
        if path.is_dir():
            raise BadInput(f"{option} {output}: is a folder: name a file in it")
        if not path.parent.is_dir():
            raise BadInput(f"{option} {output}: there is no folder {path.parent}")
        if path.exists() and any(os.path.exists(source) and path.samefile(source) for source in sources):
            raise BadInput(f"{option} {output}: is the file to be read: name another one")
        folder = [] if path.exists() and not path.is_file() else [Path(os.path.realpath(path)).parent]
        if not all(os.access(each, os.W_OK) for each in (*folder, *([path] if path.exists() else []))):
            raise BadInput(f"{option} {output}: you have no permission to write it: name another file")
        return os.path.realpath(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"{option} {output}: {getattr(error, 'strerror', None) or error}") from error


def deliver(document: Callable[[bool], Sequence[Block]], output: str | None, *, no_color: bool = False) -> None:
    """Write a document: with colours and folded on a screen, plainly elsewhere.

    Parameters
    ----------
    document : callable
        Composes the document; told whether it is for a screen.
    output : str or None
        The file; standard output by default.
    no_color : bool
        Whether a screen gets no colours; None of them either where the environment variable NO_COLOR is set.
    """
    if output is None and is_screen():
        from rich.console import Console

        from skfairtest.cli.render import on_screen

        console = Console(markup=False, emoji=False, highlight=False, soft_wrap=False, no_color=no_color or None)
        write_out(on_screen(document(True), console))
    else:
        from skfairtest.report.text import plain

        write_out(plain(document(False)), output)


def write_asked(
    asked: Asked, document: Callable[[bool], Sequence[Block]], makers: Mapping[str, Callable[[], str | None]]
) -> None:
    """Write a result as --format says, and each report to the file that was named.

    Parameters
    ----------
    asked : Asked
        What was typed.
    document : callable
        As in `deliver`.
    makers : mapping of str to callable
        The text of each other form, by its name.
    """
    if asked.format == "table":
        deliver(document, asked.output, no_color=asked.no_color)
    elif asked.format is not None:
        write_out(makers[asked.format]() or "", asked.output)
    for option, path in asked.reports.items():
        if path is not None:
            write_out(makers[option[2:]]() or "", path, option=option)


def write_out(text: str, output: str | None = None, *, option: str = "--output") -> None:
    """Write text to a file or to standard output; characters that its encoding lacks are written as escapes.

    Raises
    ------
    BadInput
        If the file, or standard output, cannot be written.
    """
    if output is not None:
        try:
            write_text(text, output)
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            raise BadInput(f"{option} {output}: {getattr(error, 'strerror', None) or error}") from error
        return
    if sys.stdout is None:
        raise BadInput("standard output is closed: --output writes to a file")
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except OSError as error:
        # Nothing shall be left that Python would try to write when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # whose reader has seen enough, as in "| head"
            raise BadInput(f"standard output: {error.strerror or error}") from error


def tell(line: str) -> None:
    """Write one line to standard error, if there is one that can be written."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(line, file=sys.stderr, flush=True)


@contextmanager
def watched(no_color: bool = False) -> Iterator[None]:
    """Show how far computations are: one bar on standard error where that is a terminal, which leaves no trace."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.console import Console

    with shown_by(Bar(Console(stderr=True, no_color=no_color or None), transient=True)):
        yield
