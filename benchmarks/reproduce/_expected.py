"""What the sources claim, read from `expected`, and what of it is reproduced: one rule for every number.

A file of `expected` is the inventory of one source, written from its text before it was compared. Each claim has its
place and the words that hold it, and what is claimed: a `number` that nothing random is in, a `rate` of so many
repetitions, a `mean` or a `deviation` over them, a `statement`, or a `figure` whose values the text does not have. A
`setting` is an input, not a claim. `repeats` names the claim that says the same; it is counted there. `means` is how a
word of a statement is read, which the source does not say: a value, and the words for it.
"""

import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import norm

from benchmarks.reproduce._rows import HOLDS, Row

FOLDER = Path(__file__).parent / "expected"
#: How many combined Monte-Carlo errors a number may be off, beyond half of its last printed digit.
ERRORS = 3
#: What the order of additions may change, relative to the value.
ROUNDING = 1e-12
REPRODUCED, NOT, READING, SKIPPED = (
    "reproduced", "not reproduced", "reproduced in another reading", "not attempted",
)  # fmt: skip
STATUSES = (REPRODUCED, NOT, READING, SKIPPED)
NUMBERS = ("number", "rate", "mean", "deviation")
DEVIATION = " (deviation)"
RULE = """\
A number is reproduced if ours is within three combined Monte-Carlo errors (of the published repetitions and of ours)
and half of its last printed digit; a standard deviation, if the ratio of both is inside the F interval of the same
probability; a statement, if our figures are as it says."""


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
    def words(self):
        """What is claimed: our words for a number, the source's in short for the others."""
        if not self.is_number:
            return self.printed
        return (self.what or self.name) + (": standard deviation" if self.kind == "deviation" else "")

    @property
    def shown(self):
        """What is printed; of a statement nothing but that it is one."""
        return self.printed if self.is_number else self.kind

    @property
    def where(self):
        page = f"p. {self.place['page']}, " if "page" in self.place else ""
        return f"{self.place['where']} ({page}line {self.place['line']})"


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
    """Return the standard error of the difference between a published number and ours."""
    n, published = row.repetitions, claim.place.get("repetitions", 0)
    if claim.kind == "rate":
        pooled = (published * value + n * row.ours) / (published + n)
        return np.sqrt(pooled * (1 - pooled) * (1 / published + 1 / n))
    if row.deviation is None:
        return 0.0
    key = claim.name.partition("/")[2]
    theirs = float(claim.place.get("deviation", {}).get(key, row.deviation))
    return np.sqrt(theirs**2 / max(published - 1, 1) + row.deviation**2 / (n - 1))


def agrees(claim, row):
    """Whether a figure of ours reproduces a claim."""
    if claim.kind == "statement":
        return row.ours == HOLDS if isinstance(row.ours, str) else row.agrees
    value, half = value_of(claim.printed)
    if claim.kind == "deviation":
        freedom = (row.repetitions - 1, claim.place["repetitions"] - 1)
        low, high = np.sqrt(f_distribution.ppf([norm.sf(ERRORS), norm.cdf(ERRORS)], *freedom))
        return (value - half) * low <= row.deviation <= (value + half) * high
    allowed = half + ERRORS * combined_error(claim, value, row) + ROUNDING * abs(value)
    return abs(row.ours - value) <= allowed


def judged(claim, rows):
    """Return a claim with its status, our figure and why, from the rows of all stored figures."""
    place = claim.place
    answered = [row for row in rows if row.answers == claim.name.removesuffix(DEVIATION)]
    if not answered:
        return replace(claim, status=SKIPPED, why=place.get("not_attempted", "the text has no values"))
    plain = [row for row in answered if not row.reading]
    if plain and all(agrees(claim, row) for row in plain):
        return _answered(claim, REPRODUCED, plain, _remarks(claim, plain))
    off = [row for row in plain or answered if not agrees(claim, row)]
    others = [row for row in answered if row.reading and agrees(claim, row)]
    if others:
        return _answered(claim, READING, others[:1], f"{others[0].reading}; as printed {_shown(claim, off[0])}")
    reasons = place.get("because", {}).get(claim.name.partition("/")[2], "")
    return _answered(claim, NOT, off, "; ".join(filter(None, [_remarks(claim, off), reasons])))


def _answered(claim, status, rows, why):
    return replace(claim, status=status, ours=_shown(claim, rows[0]), why=why, what=rows[0].what)


def _shown(claim, row):
    """Return what we have: a deviation, HOLDS of a statement that figures bear out, or the figure itself."""
    if claim.kind == "deviation":
        return f"{row.deviation:.4g}"
    if claim.kind == "statement" and row.within is not None:
        return HOLDS if row.agrees else f"{row.ours:.4g}, by the formula {row.other:.4g}"
    return row.ours if isinstance(row.ours, str) else f"{row.ours:.4g}" if row.ours % 1 else row.ours


def _remarks(claim, rows):
    """Say how far a number is off, in errors, and what else is known of it."""
    if not claim.is_number or claim.kind == "deviation":
        read = [words.format(value) for value, words in claim.place.get("means", {}).values()]
        reasons = dict.fromkeys(row.why for row in rows if row.why)
        if len(reasons) > 1:  # of which result each is
            reasons = [f"{row.what}: {row.why}" for row in rows if row.why]
        return "; ".join([*reasons, *read])
    (row, *_), (value, _) = rows, value_of(claim.printed)
    error, far = combined_error(claim, value, row), abs(row.ours - value)
    said = [f"{far / error:.1f} errors" if error else "", row.why]
    theirs = claim.place.get("deviation", {}).get(claim.name.partition("/")[2])
    if theirs and not agrees(replace(claim, kind="deviation", printed=theirs), row):
        own = float(theirs) / np.sqrt(claim.place["repetitions"] - 1)
        said.append(f"our deviation is another: {far / own:.0f} errors by the published one alone")
    return "; ".join(filter(None, said))


def verdicts(documents):
    """Return every claim of the sources with what became of it, from the stored figures."""
    rows = {source: [] for source in inventories()}
    for document in documents.values():
        if document["source"]:
            rows[document["source"]] += [Row(**row) for row in document["rows"]]
    return [judged(claim, rows[source]) for source in rows for claim in claims(source)]


def totals(found):
    """Return how many numbers and statements have each status."""
    return {
        kind: Counter(each.status for each in found if each.kind != "figure" and each.is_number is (kind == "numbers"))
        for kind in ("numbers", "statements")
    }
