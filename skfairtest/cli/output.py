"""Output of results to the screen, a pipe and files, and of warnings."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Any

from skfairtest._utils.files import write_text
from skfairtest._utils.progress import Line, shown_by
from skfairtest.cli.errors import OPTIONS, BadInput, Status, in_terms_of_options, one_line


def check_outputs(outputs: Mapping[str, str | None], sources: Sequence[str] = ()) -> Mapping[str, str | None]:
    """Refuse files that cannot be written, before anything is computed."""
    taken = dict.fromkeys(map(os.path.realpath, sources), "is the file to be read: name another one")
    for name, path in outputs.items():
        if path is None:
            continue
        option = OPTIONS.get(name, name)
        file = os.path.realpath(path)
        problem = taken.get(file)
        if path == "-":
            problem = "name a file; standard output has the report"
        elif os.path.isdir(file):
            problem = "is a folder: name a file in it"
        elif not os.path.isdir(os.path.dirname(file)):
            problem = f"there is no folder {os.path.dirname(path)}"
        elif os.path.isfile(file) and not os.access(file, os.W_OK):
            problem = "you have no permission to write it: name another file"
        if problem:
            raise BadInput(f"{option} {path}: {problem}")
        taken[file] = f"is the file that {option} writes: name another one"
    return outputs


@contextmanager
def listening() -> Iterator[list[str]]:
    """Tell the package's warnings once each, in terms of options, and show progress on a line; yield what was told."""
    from rich.console import Console
    from sklearn.exceptions import UndefinedMetricWarning

    told: list[str] = []

    def tell_once(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        # What is undefined is listed under "Left out"; other categories are not about the user's data.
        line = one_line(in_terms_of_options(message))
        if issubclass(category, UserWarning) and not issubclass(category, UndefinedMetricWarning) and line not in told:
            told.append(line)
            tell(f"warning: {line}")

    console = Console(stderr=True)
    with warnings.catch_warnings(), shown_by(Line()) if _shows(console) else nullcontext():
        warnings.simplefilter("always")
        warnings.showwarning = tell_once
        yield told


def _shows(console: Any) -> bool:
    """Whether a console is a screen, and more than lines of text."""
    return bool(console.is_terminal and not console.is_dumb_terminal)


def write(
    report: Any,
    outputs: Mapping[str, str | None],
    frame: Any = None,
    *,
    details: bool = False,
    rest: str = "",
    landscape: bool = False,
    **makers: Callable[[], str | None],
) -> Status:
    """Write a report to standard output, on a screen in its width and with bold headings, and to files."""
    from rich.console import Console
    from rich.text import Text

    from skfairtest.report.text import markdown, text, to_csv

    console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
    width = console.width if _shows(console) else None
    shown = Text(text(report, details=details or not rest, rest=rest, width=width), end="")
    if width:
        shown.highlight_regex(r"(?m)^.+(?=\n[=-]{2,}$)", "bold")
        shown.highlight_regex(r"\S+(?=\*)", "bold red" if report.concern else "bold")
    with console.capture() as captured:
        console.print(shown)
    write_out(captured.get())
    write_files(
        outputs,
        html=lambda: import_module("skfairtest.report.html").page(report, details=details, landscape=landscape),
        markdown=lambda: markdown(report, details=details),
        csv=lambda: to_csv(frame),
        **makers,
    )
    return Status.SIGNIFICANT if report.concern else Status.DONE


def write_files(outputs: Mapping[str, str | None], **makers: Callable[[], str | None]) -> None:
    """Write what is made for each parameter to its file."""
    for name, path in outputs.items():
        if path is not None:
            try:
                write_text(makers[name]() or "", path)
            except OSError as error:
                raise BadInput(f"{OPTIONS[name]} {path}: {error.strerror or error}") from error


def write_out(text: str) -> None:
    """Write text to standard output; the reader of a pipe may have seen enough, as in "| head"."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        drop_output()
        if not isinstance(error, BrokenPipeError):
            raise BadInput(f"standard output: {error.strerror or error}") from error


def drop_output() -> None:
    """Leave nothing in standard output that Python would try to write when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(line: str) -> None:
    """Write one line to standard error, if there is one that can be written."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(line, file=sys.stderr, flush=True)
