"""Where results go: a screen, a pipe and files; and what the package says meanwhile."""

import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from skfairtest._utils.files import write_text
from skfairtest._utils.progress import Bar, shown_by
from skfairtest._utils.text import label
from skfairtest.cli.errors import BadInput, in_terms_of_options, one_line


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
    seen: dict[str, str] = {}
    for option, output in outputs.items():
        if output is None:
            continue
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
            other = seen.setdefault(os.path.realpath(path), option)
        except (OSError, ValueError) as error:
            raise BadInput(f"{option} {output}: {getattr(error, 'strerror', None) or error}") from error
        if other != option:
            raise BadInput(f"{option} {output}: is the file that {other} writes: name another one")


@contextmanager
def listening() -> Iterator[list[str]]:
    """Tell the package's warnings once each, in terms of options, and show a bar of progress; yield what was told."""
    from sklearn.exceptions import UndefinedMetricWarning

    told: list[str] = []

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        # What is undefined is listed under "Left out"; other categories are not about the user's data.
        line = one_line(in_terms_of_options(message))
        if issubclass(category, UserWarning) and not issubclass(category, UndefinedMetricWarning) and line not in told:
            told.append(line)
            tell(f"warning: {line}")

    with warnings.catch_warnings(), _progress():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield told


@contextmanager
def _progress() -> Iterator[None]:
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.console import Console

    with shown_by(Bar(Console(stderr=True), transient=True)):
        yield


def show(report: Any, *, no_color: bool = False, **said: Any) -> None:
    """Write a report to standard output: on a screen in its width, with bold headings.

    Parameters
    ----------
    report : Report
        The report.
    no_color : bool
        Whether a screen gets neither colours nor bold letters.
    **said
        How `skfairtest.report.text.text` writes it.
    """
    from skfairtest.report.text import text

    said = {"titled": False, **said}
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        write_out(text(report, **said))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True, no_color=no_color or None)
    shown = Text(text(report, width=console.width, **said), end="")
    if not no_color:
        shown.highlight_regex(r"(?m)^.+(?=\n[=-]{2,}$)", "bold")
        shown.highlight_regex(r"\S+(?=\*)", "bold red" if report.concern else "bold")
    with console.capture() as captured:
        console.print(shown)
    write_out(captured.get())


def write_files(outputs: Mapping[str, str | None], makers: Mapping[str, Callable[[], str | None]]) -> None:
    """Write each report to the file that its option names; `makers` make their texts."""
    for option, path in outputs.items():
        if path is not None:
            write_out(makers[option]() or "", path, option=option)


def write_out(text: str, output: str | None = None, *, option: str = "") -> None:
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
        raise BadInput("standard output is closed")
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


#: Gauges of the whole stream, and of each comparison, by the attribute or column that they show.
_STREAM = {
    "p_value": "Anytime-valid p-value of the stream so far.",
    "e_value": "Evidence against fairness now.",
    "concern": "1 from the first significant disparity on.",
    "n_batches": "Batches that were taken in.",
    "n_samples": "Samples that were taken in.",
}
_COMPARISON = {
    "disparity": "Value of the group minus that of the other.",
    "ci_low": "Lower limit of the disparity, valid at every look.",
    "ci_high": "Upper limit of the disparity, valid at every look.",
    "p_value_adjusted": "Anytime-valid p-value, adjusted for all comparisons.",
}


def open_metrics(test: Any) -> str:
    """Write a fitted test of a stream as gauges.

    Parameters
    ----------
    test : SequentialFairnessTest
        The fitted test.

    Returns
    -------
    str
        OpenMetrics 1.0: ``skfairtest_p_value`` and others of the stream, ``skfairtest_comparison_disparity`` and others
        of each comparison, which have the labels ``metric``, ``group`` and ``other``.
    """
    return "\n".join([*_lines(test), "# EOF", ""])


def _lines(test: Any) -> Iterator[str]:
    for name, says in _STREAM.items():
        yield from _head(f"skfairtest_{name}", says)
        yield f"skfairtest_{name} {_number(getattr(test, f'{name}_'))}"
    rows = test.comparisons_.to_dict("records")
    for name, says in _COMPARISON.items():
        yield from _head(f"skfairtest_comparison_{name}", says)
        for row in rows:
            given = ",".join(f'{key}="{_escaped(label(row[key]))}"' for key in ("metric", "group", "other"))
            yield f"skfairtest_comparison_{name}{{{given}}} {_number(row[name])}"


def _head(name: str, says: str) -> tuple[str, str]:
    return f"# TYPE {name} gauge", f"# HELP {name} {says}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: Any) -> str:
    number = float(value)
    if math.isnan(number):
        return "NaN"
    return f"{number:+}".replace("inf", "Inf") if math.isinf(number) else repr(number)
