"""One page and two sentences of README about all sources and the measured sizes: published, ours, other packages'."""

from benchmarks import validity
from benchmarks.common.cells import all_cells
from benchmarks.common.drawings import INSTEAD, compared, panels, sizes
from benchmarks.common.storage import load
from benchmarks.common.tables import number, table
from benchmarks.common.words import METHODS
from benchmarks.reproduce import diciccio
from benchmarks.reproduce._expected import (
    NOT,
    READING,
    REPRODUCED,
    RULE,
    SKIPPED,
    claims,
    inventories,
    inventory,
    totals,
)

PAGE = "summary"
INVENTORY = "inventory"
TITLE = "Are the tests valid?"
INTRODUCTION = """\
A test at 5% is valid if it rejects at most five in a hundred fair models. This page has in one place how often the
tests of this package and the methods of others do, and whether what others published is reproduced here. Each table is
made of stored figures; the pages behind it have their seeds, versions and run times."""
REJECTED = """\
Simulated designs in which the model is fair: in how many of them a method rejects more often than 5% by more than
three Monte-Carlo errors, and the largest share that it rejects. **Bold** methods are what the package runs by default.
The default for scores and losses is an approximation; [the page of validity](../validity.md) says where it fails, and
has every design, power and intervals."""
PAPER = """\
Shares of {data_sets:,} fair data sets that are rejected at 5%: true positive rates of .9 in both groups of 200 people,
base rates of .8 and .2. Published are the three figures of DiCiccio et al. (2020), section 4.2."""
OFF = "Every published number that is not reproduced as the text has it, and every statement that does not hold here."
#: Published for the design of section 4.2, by the names of methods here.
PUBLISHED = {
    method: claim.printed.removeprefix("0")
    for method, name in (("raw", "un-studentized"), ("kdd", "studentized"), ("basic_bootstrap", "bootstrap"))
    for claim in claims(diciccio.SOURCE)
    if claim.name == diciccio.RATES_OF[name]
}
#: Tables of a source that the page shows as they are.
SHOWN = {
    "competitors": (
        "True positive rates by installed packages",
        "Selection rates by installed packages",
        "Individual fairness by inFairness",
    ),
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


def rejected(cells, records):
    """Return a row for each method: metrics, method, designs with too many rejections, the largest share rejected."""
    rows = []
    for title, methods in panels(cells, records, sizes):
        for row in methods:
            label = METHODS[row.method] if row.is_default else row.label
            bad = f"{row.is_bad.sum()} of {len(row.values)}"
            rows.append([title, label, bad, number(float(row.values.max()))])
    return rows


def paper_of(cells, records):
    """Return the design of the paper's simulation and the figures of its methods."""
    cell = next(cell for cell in cells if cell.section == "paper")
    return cell, records[cell.name]["methods"]


def size_text(figures):
    return f"{figures['size']:.4f}".removeprefix("0")


def off(found):
    """Yield every claim that is not reproduced as the text has it."""
    for each in found:
        if each.status in (NOT, READING):
            title = inventory(each.source)["source"]["short"]
            yield [title, each.words, each.shown, each.ours, each.status, each.why]


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


def summary_page(documents, modules, found):
    """Write the page; the modules have the words above the tables of a source."""
    cells, records = measured()
    cell, paper = paper_of(cells, records)
    figures = [[METHODS[key], PUBLISHED.get(key), size_text(paper[key])] for key in METHODS if key in paper]
    out = [
        f"# {TITLE}", "", INTRODUCTION, "",
        "## How often fair models are rejected", "", REJECTED, "",
        table(["metrics", "method", "designs with too many rejections", "largest share"], rejected(cells, records)), "",
        "## The simulation of a source", "", PAPER.format(data_sets=cell.data_sets), "",
        table(["method", "published", "here"], figures), "",
    ]  # fmt: skip
    for name, document in documents.items():
        for title in SHOWN.get(name, ()):
            part = document["tables"][title]
            words = modules[name].TABLES.get(title, "").format_map(document["facts"])
            out += [f"## {title}", "", words, "", table(part["head"], part["rows"], left=len(part["head"])), ""]
    out += [
        "## Whether published results are reproduced", "",
        f"{totals_sentence(found)} {RULE} [Every claim]({INVENTORY}.md).", "",
        sources_table(found), "",
        "## What is not reproduced", "", OFF, "",
        table(["source", "claim", "published", "here", "status", "remark"], list(off(found)), left=6), "",
    ]  # fmt: skip
    return "\n".join(out)


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
