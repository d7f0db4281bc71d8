"""What the sources claim, read from `expected`, and what of it is reproduced: one rule for every number.

A file of `expected` is the inventory of one source, quoted from its text. Each claim has its place and the words that
hold it, and what is claimed: a `number` that nothing random is in, a `rate` of so many repetitions, a `mean` (of one
repetition: a single run) or a `deviation` over them, a `statement`, or a `figure` without values in the text. A
`setting` is an input, not a claim. `repeats` names the claim that says the same; it is counted there. `means` is how a
word of a statement is read, which the source does not say: a value, and the words for it. `drawn` is where the page has
a figure of ours. Deviations and shares of ten repetitions are listed and not counted: almost any value is within their
errors.
"""

import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.reproduce._rows import HOLDS, Row

FOLDER = Path(__file__).parent / "expected"
#: How many Monte-Carlo errors of both runs, and which part of its size, a number may be off.
ERRORS, PART = 2, 0.15
#: Shares of so few repetitions are not counted.
FEW = 10
#: What the order of additions may change, relative to the value.
ROUNDING = 1e-12
REPRODUCED, NOT, READING, SKIPPED, LISTED = (
    "reproduced", "not reproduced", "reproduced in another reading", "not attempted", "listed",
)  # fmt: skip
STATUSES = (REPRODUCED, NOT, READING, SKIPPED, LISTED)
NUMBERS = ("number", "rate", "mean", "deviation")
DEVIATION = " (deviation)"
RULE = f"""\
A number is reproduced if it has the printed digits or, where runs are random, if ours is within {ERRORS} Monte-Carlo
errors of both runs and within {PART:.0%} of the number, beyond half of its last digit; a statement, if our figures are
as it says. Standard deviations, shares of {FEW} repetitions and figures whose values the text does not have are listed
and not counted."""


@dataclass(frozen=True)
class Claim:
    """One published value, statement or figure: where it stands and, in the end, what became of it."""

    source: str
    name: str
    kind: str
    printed: str
    place: dict
    status: str = ""
    ours: object = None
    why: str = ""
    what: str = ""

    @property
    def is_number(self):
        return self.kind in NUMBERS

    @property
    def is_counted(self):
        few = self.kind == "rate" and self.place["repetitions"] <= FEW
        return self.kind not in ("deviation", "figure") and not few

    @property
    def words(self):
        """What is claimed: our words for a number, the source's in short for the others."""
        if not self.is_number:
            return self.printed
        name = self.what or f"{self.place['quote']}: {self.name.partition('/')[2].replace('_', ' ')}"
        return name + (": standard deviation" if self.kind == "deviation" else "")

    @property
    def shown(self):
        """What is printed; of a statement nothing but that it is one."""
        return self.printed if self.is_number else self.kind

    @property
    def where(self):
        place = f"p. {self.place['page']}" if "page" in self.place else f"line {self.place['line']}"
        return f"{self.place['where']} ({place})"


@cache
def inventory(source):
    """Return the whole file of a source; a place without a line is on the first, as of a text that is one line."""
    found = tomllib.loads((FOLDER / f"{source}.toml").read_text(encoding="utf-8"))
    return found | {"claim": [{"line": 1} | place for place in found["claim"]]}


def inventories():
    """Return the names of the sources that have an inventory."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def meanings(source, name):
    """Return the values that stand for words of a statement ("most", "similar"), as the inventory has them."""
    (place,) = (place for place in inventory(source)["claim"] if place["id"] == name)
    return tuple(value for value, _ in place["means"].values())


def claims(source):
    """Yield the claims of a source, one for each printed value, without settings and what is printed twice."""
    for place in inventory(source)["claim"]:
        if "repeats" in place:
            continue
        for kind in NUMBERS:
            for key, printed in place.get(kind, {}).items():
                name = f"{place['id']}/{key}" + (DEVIATION if kind == "deviation" else "")
                yield Claim(source, name, kind, printed, place)
        for kind in ("statement", "figure"):
            if kind in place:
                yield Claim(source, place["id"], kind, place[kind], place)


def value_of(printed):
    """Return a printed number and half of its last digit; digits that are cut ("0.66...") go on."""
    digits = printed.rstrip(".").replace(",", "") if printed.endswith("...") else printed.replace(",", "")
    half = 0.5 * 10.0 ** -len(digits.partition(".")[2])
    return float(digits) + (half if printed.endswith("...") else 0.0), half


def combined_error(claim, value, row):
    """The standard error of the difference between a published number and ours; the published deviation is both's."""
    n, published = row.repetitions, claim.place.get("repetitions", 0)
    if claim.kind == "rate":
        pooled = (published * value + n * row.ours) / (published + n)
        return np.sqrt(pooled * (1 - pooled) * (1 / published + 1 / n))
    if row.deviation is None:
        return 0.0
    spread = float(claim.place.get("deviation", {}).get(claim.name.partition("/")[2], row.deviation))
    return spread * np.sqrt(1 / max(published - 1, 1) + 1 / (n - 1))


def agrees(claim, row, *, errors=ERRORS, part=PART):
    """Whether a figure of ours reproduces a claim: within so many errors, and such a part of its size."""
    if claim.kind == "statement":
        return row.ours == HOLDS if isinstance(row.ours, str) else row.agrees
    value, half = value_of(claim.printed)
    allowed = min(errors * combined_error(claim, value, row), part * abs(value))
    return abs(row.ours - value) <= half + allowed + ROUNDING * abs(value)


def judged(claim, rows):
    """Return a claim with its status, our figure and why, from the rows of all stored figures."""
    place = claim.place
    answered = [row for row in rows if row.answers == claim.name.removesuffix(DEVIATION)]
    if "drawn" in place:
        return replace(claim, status=LISTED, why=f"no values to compare; ours: {place['drawn']}")
    if not answered:
        return replace(claim, status=SKIPPED, why=place.get("not_attempted", "the text has no values"))
    if claim.is_number and not claim.is_counted:
        return _answered(claim, LISTED, [row for row in answered if not row.reading] or answered, "")
    plain = [row for row in answered if not row.reading]
    if plain and all(agrees(claim, row) for row in plain):
        return _answered(claim, REPRODUCED, plain, _remarks(claim, plain))
    off = [row for row in plain or answered if not agrees(claim, row)]
    others = [row for row in answered if row.reading and agrees(claim, row)]
    if others:
        printed = " ".join(["as printed", str(_shown(claim, off[0])), *(f"({row.why})" for row in off[:1] if row.why)])
        why = [others[0].reading, others[0].why, printed, *_readings_of_words(claim)]
        found = _answered(claim, READING, others, "; ".join(filter(None, why)))
        return replace(found, what=off[0].what)
    reasons = place.get("because", {}).get(claim.name.partition("/")[2], "")
    readings = [f"{row.reading}: {_shown(claim, row)}" for row in answered if row.reading]
    return _answered(claim, NOT, off, "; ".join(filter(None, [_remarks(claim, off), *readings, reasons])))


def _answered(claim, status, rows, why):
    return replace(claim, status=status, ours=_shown(claim, rows[0]), why=why, what=rows[0].what)


def _readings_of_words(claim):
    return [words.format(value) for value, words in claim.place.get("means", {}).values()]


def _shown(claim, row):
    """Return what we have: a deviation, HOLDS of a statement that figures bear out, or the figure itself."""
    if claim.kind == "deviation":
        return f"{row.deviation:.4g}"
    if claim.kind == "statement" and row.within is not None:
        return HOLDS if row.agrees else f"{row.ours:.4g}, by the formula {row.other:.4g}"
    return row.ours if isinstance(row.ours, str) else f"{row.ours:.4g}" if row.ours % 1 else row.ours


def _remarks(claim, rows):
    """Say how far a number is off, in errors and of its size, and what else is known of it."""
    if not claim.is_number:
        reasons = dict.fromkeys(row.why for row in rows if row.why)
        if len(reasons) > 1:  # of which result each is
            reasons = [f"{row.what}: {row.why}" for row in rows if row.why]
        return "; ".join([*reasons, *_readings_of_words(claim)])
    (row, *_), (value, _) = rows, value_of(claim.printed)
    error = combined_error(claim, value, row)
    off = f"{abs(row.ours - value) / error:.1f} errors, {abs(row.ours / value - 1):.1%} off" if error else ""
    return "; ".join(filter(None, [off, row.why]))


def verdicts(documents):
    """Return every claim of the sources with what became of it, from the stored figures."""
    rows = {source: [] for source in inventories()}
    for document in documents.values():
        if document["source"]:
            rows[document["source"]] += [Row(**row) for row in document["rows"]]
    return [judged(claim, rows[source]) for source in rows for claim in claims(source)]


def totals(found):
    """Return how many counted claims of each kind have each status."""
    kinds = {"numbers": ("number",), "shares": ("rate",), "means": ("mean",), "statements": ("statement",)}
    return {
        name: Counter(each.status for each in found if each.is_counted and each.kind in of)
        for name, of in kinds.items()
    }
