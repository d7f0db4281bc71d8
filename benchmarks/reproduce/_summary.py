"""Sentences about all sources and the measured sizes: published, ours, other packages'."""

from benchmarks import validity
from benchmarks.common.cells import all_cells
from benchmarks.common.drawings import INSTEAD, compared
from benchmarks.common.storage import load
from benchmarks.common.tables import table
from benchmarks.reproduce import diciccio
from benchmarks.reproduce._expected import (
    NOT,
    READING,
    REPRODUCED,
    SKIPPED,
    claims,
    inventories,
    inventory,
    totals,
)

INVENTORY = "inventory"
#: Published for the design of section 4.2, by the names of methods here.
PUBLISHED = {
    method: claim.printed.removeprefix("0")
    for method, name in (("raw", "un-studentized"), ("kdd", "studentized"), ("basic_bootstrap", "bootstrap"))
    for claim in claims(diciccio.SOURCE)
    if claim.name == diciccio.RATES_OF[name]
}
#: What becomes of claims that are not reproduced, in a sentence.
OTHERS_ARE = {READING: "only in another reading", NOT: "not", SKIPPED: "not attempted"}
MARKS = (
    "<!-- written by python -m benchmarks.reproduce all --render -->",
    "<!-- end of what is written -->",
)


def measured():
    """Return the designs of the benchmark of validity and its stored figures."""
    return all_cells(), load(validity.RESULTS)


def totals_sentence(found):
    """Say in one sentence how many numbers and statements are reproduced, and how many are not."""
    parts = []
    for kind, by_status in totals(found).items():
        if of := by_status.total():
            rest = [f"{by_status[status]} {words}" for status, words in OTHERS_ARE.items() if by_status[status]]
            other = f" ({', '.join(rest)})" if rest else ""
            parts.append(f"{by_status[REPRODUCED]} of {of} {kind if of > 1 else kind[:-1]}{other}")
    return f"Reproduced here: {' and '.join(parts)}."


def paper_of(cells, records):
    """Return the design of the paper's simulation and the figures of its methods."""
    cell = next(cell for cell in cells if cell.section == "paper")
    return cell, records[cell.name]["methods"]


def size_text(figures):
    return f"{figures['size']:.4f}".removeprefix("0")


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


def readme_words(found):
    """Write what README says of its picture and of the sources: what the picture counts, and the totals."""
    cells, records = measured()
    _, paper = paper_of(cells, records)
    ((_, rows),) = compared(cells, records)
    shares = [
        f"{INSTEAD.get(row.method, row.label)} {row.values.mean():.1%} on average (largest {row.values.max():.1%})"
        for row in rows
    ]
    sentence = totals_sentence(found).removesuffix(".")
    return (
        f"Each mark is one of {len(rows[0].values)} designs with equal rates, the same for all methods; at the right, "
        f"how many of them have too many rejections. Fair models called unfair: {', '.join(shares)}."
        f"\n\n{sentence} that four sources print ([which ones](doc/papers/{INVENTORY}.md)); the published "
        f"test rejects {size_text(paper['kdd'])} of fair data sets here, and {PUBLISHED['kdd']} there."
    )


def with_words(readme, found):
    """Return README with what is written between its marks."""
    start, end = MARKS
    before, _, rest = readme.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n\n{readme_words(found)}\n\n{end}{after}"
