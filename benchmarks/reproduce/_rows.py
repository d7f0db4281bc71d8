"""What was published beside what comes out here."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """A published result and ours.

    `within` is how far ours may be from the published one, and None where no number is claimed to come out: a statement
    of the source, or a result of ours that it does not have. `explained` is a number that does not come out for
    reasons that `why` gives: it counts as one that does not, and fails no run.
    """

    what: str
    published: float | str | None
    ours: float | str
    within: float | None = None
    why: str = ""
    explained: bool = False

    @property
    def agrees(self):
        return self.within is None or abs(self.ours - self.published) <= self.within


@dataclass(frozen=True)
class Found:
    """What a source's module found: its rows, further tables by their titles (heads and rows), and what it ran on.

    `pictures` are the figures that the module's `PICTURES` of the same names are drawn from, as JSON stores them. A
    table without a head, ([], []), is a section with words and pictures only. `data` is what else is stored, such as
    the figures of each repetition.
    """

    rows: list[Row]
    tables: dict[str, tuple[list[str], list[list[str]]]] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)
    pictures: dict[str, object] = field(default_factory=dict)
    data: dict[str, object] = field(default_factory=dict)
