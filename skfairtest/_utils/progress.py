"""Progress of a long computation: one line for all of it.

Computations are nested; each announces its parts, and only the outermost begins a line.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from skfairtest._utils.text import shorten

#: Seconds after which a computation shows how far it is, and columns that the names of computations take at most.
NOTICEABLE, LONGEST = 1.0, 40


class Line:
    """The computations that are going on, on standard error; `share` is what is finished of the outermost."""

    def __init__(self) -> None:
        self._steps: list[list[int]] = []  # the parts of each computation, and how many of them are finished
        self._names: list[str] = []
        self._started = self.share = 0.0
        self._width = 0

    @contextmanager
    def step(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """Follow a computation; yield what is to be called after each of its parts."""
        if not self._steps:
            self._started, self.share = time.perf_counter(), 0.0
        step = [total, 0]
        self._steps.append(step)
        self._names = [*self._names[: len(self._steps) - 1], what]
        self._update()

        def advance() -> None:
            step[1] += 1
            self._update()

        try:
            yield advance
        finally:
            self._steps.pop()
            if not self._steps and self._width:
                self.show("")
                self._width = 0

    def _update(self) -> None:
        share = 0.0
        for total, finished in reversed(self._steps):  # parts of a part are fractions of it
            share = min(1.0, (finished + share) / max(total, 1))
        # A part may consist of several computations, one after the other: no share falls.
        self.share = max(self.share, share)
        if time.perf_counter() - self._started > NOTICEABLE:
            # What was begun last is named until something else is begun.
            self.show(f"{shorten(': '.join(self._names), LONGEST)}: {100 * self.share:.0f}%")

    def show(self, text: str) -> None:
        """Write over the line; without a text, wipe it."""
        if sys.stderr is None:  # of a program without a console
            return
        self._width = max(self._width, len(text))
        sys.stderr.write(f"\r{text:<{self._width}}" + "\r" * (not text))
        sys.stderr.flush()


_SHOWN: ContextVar[Line | None] = ContextVar("line on which all computations are shown", default=None)


@contextmanager
def shown_by(line: Line) -> Iterator[None]:
    """Show every computation that is begun inside on one line, whether or not it was asked to show itself."""
    token = _SHOWN.set(line)
    try:
        yield
    finally:
        _SHOWN.reset(token)


@contextmanager
def progress(what: str, total: int, show: bool) -> Iterator[Callable[[], None]]:
    """Say that a computation of `total` parts is going on; yield what is to be called after each part."""
    line = _SHOWN.get()
    if line is None and not show:
        yield lambda: None
        return
    line = line or Line()
    with shown_by(line), line.step(what, total) as advance:
        yield advance
