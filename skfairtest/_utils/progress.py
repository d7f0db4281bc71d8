"""How far a long computation is: one line for all of it on standard error.

Computations are nested: an audit runs tests, and these draw resamples. Each says how many parts it has and when one of
them is finished; only the outermost opens a line, which tells what is being done inside.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from skfairtest._utils.text import shorten

#: Seconds after which a computation shows how far it is.
NOTICEABLE = 1.0


@dataclass
class Step:
    """A computation of `total` parts."""

    what: str
    total: int
    finished: int = 0


class Bar:
    """A line that is written over and over: nothing for a second, then the names of computations and a percentage.

    Parameters
    ----------
    transient : bool
        Whether the line disappears when all is finished.
    """

    def __init__(self, *, transient: bool = False) -> None:
        self._transient = transient
        self._steps: list[Step] = []
        self._started = self._share = 0.0
        self._what = self._line = ""
        self._width = 0

    @contextmanager
    def step(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """Follow a computation; yield what is to be called after each of its parts."""
        if not self._steps:
            self._started, self._share = time.perf_counter(), 0.0
        step = Step(what, total)
        self._steps.append(step)
        # What was begun last stays there until something else is begun.
        self._what = shorten(": ".join(step.what for step in self._steps))
        self._update()

        def advance() -> None:
            step.finished += 1
            self._update()

        try:
            yield advance
        finally:
            self._steps.remove(step)
            if not self._steps and self._line:
                self._write("\r" + " " * self._width + "\r" if self._transient else "\n")
                self._line, self._width = "", 0

    def _update(self) -> None:
        # A part of one computation may consist of several others, one after the other: no percentage goes back.
        self._share = max(self._share, share_of(self._steps))
        line = f"{self._what}: {self._share:.0%}"
        if line != self._line and time.perf_counter() - self._started > NOTICEABLE:
            self._line, self._width = line, max(self._width, len(line))
            self._write(f"\r{line:<{self._width}}")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


_SHOWN: ContextVar[Bar | None] = ContextVar("the line that shows all computations", default=None)


@contextmanager
def shown_by(bar: Bar) -> Iterator[None]:
    """Show every computation that is begun inside by one line, whether or not it was asked to show itself."""
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
