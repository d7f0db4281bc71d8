"""Sentences about all sources and the measured sizes: published, ours, other packages'."""

from benchmarks import validity
from benchmarks.common.cells import all_cells
from benchmarks.common.drawings import INSTEAD, compared
from benchmarks.common.storage import load
from benchmarks.common.tables import table
from benchmarks.reproduce._expected import NOT, READING, REPRODUCED, SKIPPED, inventories, inventory, totals

INVENTORY = "inventory"
#: What becomes of claims that are not reproduced, in a sentence.
OTHERS_ARE = {READING: "only in another reading", NOT: "not", SKIPPED: "not attempted"}
MARKS = (
    "<!-- written by python -m benchmarks.reproduce all --render -->",
    "<!-- end of what is written -->",
)


def totals_sentence(found):
    """Say in one sentence how many numbers and statements are reproduced, and how many are not."""
    parts = []
    for kind, by_status in totals(found).items():
        if of := by_status.total():
            rest = [f"{by_status[status]} {words}" for status, words in OTHERS_ARE.items() if by_status[status]]
            other = f" ({', '.join(rest)})" if rest else ""
            parts.append(f"{by_status[REPRODUCED]} of {of} {kind if of > 1 else kind[:-1]}{other}")
    return f"Reproduced here: {' and '.join(parts)}."


def sources_table(found):
    """List the sources, with how many of their numbers and statements have each status."""
    rows = []
    for source in inventories():
        by_kind = totals([each for each in found if each.source == source])
        for kind, by_status in by_kind.items():
            if by_status:
                counts = [by_status[status] for status in (REPRODUCED, READING, NOT, SKIPPED)]
                rows.append([inventory(source)["source"]["short"], kind, *counts])
    return table(["source", "", REPRODUCED, "in another reading only", NOT, SKIPPED], rows)


def readme_words():
    """What README says of its picture."""
    ((_, rows),) = compared(all_cells(), load(validity.RESULTS))
    shares = [
        f"{INSTEAD.get(row.method, row.label)} {row.values.mean():.1%} on average (largest {row.values.max():.1%})"
        for row in rows
    ]
    return (
        f"Each mark is one of {len(rows[0].values)} designs with equal rates, the same for all methods; at the right, "
        f"how many of them have too many rejections. Fair models called unfair: {', '.join(shares)}. Simulated shares "
        "vary: what is at most 5% can show a little more."
    )


def with_words(readme):
    """Return README with what is written between its marks."""
    start, end = MARKS
    before, _, rest = readme.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n\n{readme_words()}\n\n{end}{after}"
