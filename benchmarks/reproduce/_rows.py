"""Figures of ours, each with the claim of a source that it answers."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """A figure of ours.

    `answers` names the published value that it is compared with, "claim" or "claim/key" of `expected`; without it the
    figure is ours alone. `reading` says how the source was read where not as it is printed. A figure has `repetitions`
    (none where nothing is random) and, unless it is a share, their `deviation` (divisor n). `other` is what another
    computation gave that nobody published (other code, a formula), and `within` how far ours may be from it.
    """

    what: str
    ours: float | str
    answers: str = ""
    reading: str = ""
    repetitions: int = 0
    deviation: float | None = None
    other: float | None = None
    within: float | None = None
    why: str = ""

    @property
    def agrees(self):
        """Whether ours is as near to another computation as it has to be, and a statement holds."""
        near = self.within is None or abs(self.ours - self.other) <= self.within
        return near and self.ours != FAILS


HOLDS, FAILS = "holds", "does not hold"


def said(what, holds, why="", **answers):
    """Return whether a statement holds."""
    return Row(what, HOLDS if holds else FAILS, why=why, **answers)


@dataclass(frozen=True)
class Found:
    """What a source's module found: its rows, further tables by their titles (heads and rows), and what it ran on.

    A table without a head, ([], []), is a section with words and pictures only. `data` is what else is stored: figures
    that the module's `PICTURES` of the same names are drawn from, and those of each repetition.
    """

    rows: list[Row]
    tables: dict[str, tuple[list[str], list[list[str]]]] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)
    data: dict[str, object] = field(default_factory=dict)
