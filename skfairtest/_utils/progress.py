"""How far a long computation is: one bar for all of it, wherever it is shown.

Computations are nested: an audit runs tests, and these draw resamples. Each says how many parts it has and when one of
them is finished; only the outermost opens a bar, which tells what is being done inside.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from skfairtest._utils.text import shorten

#: Seconds after which a computation shows how far it is.
NOTICEABLE = 1.0
#: Steps of a bar, and columns that the names beside it take at most.
FINE, LONGEST = 1000, 40

Show = Callable[[str, float], None]


@dataclass
class Step:
    """A computation of `total` parts."""

    what: str
    total: int
    finished: int = 0


class Bar:
    """A bar of the computations that are going on, shown after a second on `console` (default: standard error)."""

    def __init__(self, console: Any = None, *, transient: bool = False) -> None:
        self._console, self._transient = console, transient
        self._steps: list[Step] = []
        self._what = ""
        self._started = 0.0
        self._share = 0.0
        self._show: Show | None = None
        self._close: Callable[[], None] = lambda: None

    @contextmanager
    def step(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """Follow a computation; yield what is to be called after each of its parts."""
        if not self._steps:
            self._started, self._share = time.perf_counter(), 0.0
        step = Step(what, total)
        self._steps.append(step)
        # What was begun last stays there until something else is begun.
        self._what = shorten(": ".join(step.what for step in self._steps), LONGEST)
        self._update()

        def advance() -> None:
            step.finished += 1
            self._update()

        try:
            yield advance
        finally:
            self._steps.remove(step)
            if not self._steps and self._show is not None:
                self._close()
                self._show = None

    def _update(self) -> None:
        # A part of one computation may consist of several others, one after the other: no bar goes back.
        self._share = max(self._share, share_of(self._steps))
        if self._show is None:
            if time.perf_counter() - self._started <= NOTICEABLE:
                return
            self._open()
        assert self._show is not None
        self._show(self._what, self._share)

    def _open(self) -> None:
        try:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
            from rich.table import Column

            console = self._console or Console(stderr=True)
            if console.is_jupyter:  # where rich needs it, and says so instead
                import_module("ipywidgets")
        except ImportError:
            self._show, self._close = _Line(), lambda: print(file=sys.stderr)
            return
        progress = Progress(
            # A metric may be called "[red]", or have a long name.
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=self._transient,
        )
        task = progress.add_task(self._what, total=FINE, completed=round(FINE * self._share))
        progress.start()
        self._close = progress.stop
        self._show = lambda what, share: progress.update(task, description=what, completed=FINE * share)


_SHOWN: ContextVar[Bar | None] = ContextVar("bar that all computations are shown by", default=None)


@contextmanager
def shown_by(bar: Bar) -> Iterator[None]:
    """Show every computation that is begun inside by one bar, whether or not it was asked to show itself."""
    token = _SHOWN.set(bar)
    try:
        yield
    finally:
        _SHOWN.reset(token)


@contextmanager
def progress(what: str, total: int, show: bool) -> Iterator[Callable[[], None]]:
    """Say that a computation of `total` parts is going on; yield what is to be called after each part."""
    bar = _SHOWN.get()
    if bar is not None:
        with bar.step(what, total) as advance:
            yield advance
    elif show:
        bar = Bar()
        with shown_by(bar), bar.step(what, total) as advance:
            yield advance
    else:
        yield lambda: None


def share_of(steps: Sequence[Step]) -> float:
    """Return the share of the outermost computation that is finished; parts of a part count as fractions of it.

    Examples
    --------
    >>> share_of([Step("audit", 4, 1), Step("roc_auc", 10, 5)])
    0.375
    """
    share = 0.0
    for step in reversed(steps):
        share = min(1.0, (step.finished + share) / max(step.total, 1))
    return share


class _Line:
    """A line of plain text that is written over and over."""

    def __init__(self) -> None:
        self._longest = 0

    def __call__(self, what: str, share: float) -> None:
        text = f"{what}: {100 * share:.0f}%"
        self._longest = max(self._longest, len(text))
        sys.stderr.write(f"\r{text:<{self._longest}}")
        sys.stderr.flush()
