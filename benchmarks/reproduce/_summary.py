"""One page and a short table of README about all sources and the measured sizes: published, ours, other packages'."""

from benchmarks import validity
from benchmarks._cells import all_cells
from benchmarks._drawings import panels, sizes
from benchmarks._tables import number, table
from benchmarks._words import METHODS
from benchmarks.reproduce import diciccio
from benchmarks.reproduce._rows import Row

PAGE = "summary"
TITLE = "Are the tests valid?"
INTRODUCTION = """\
A test at 5 % is valid if it rejects at most five in a hundred fair models. This page has in one place how often the
tests of this package and the methods of others do, and whether what others published comes out here. Each table is made
of stored figures; the pages behind it have their seeds, versions and run times."""
REJECTED = """\
Simulated designs in which the model is fair: in how many of them a method rejects more often than 5 % by more than
three Monte-Carlo errors, and the largest share that it rejects. **Bold** methods are what the package runs by default.
The default for scores and losses is an approximation; [the page of validity](../validity.md) says where it fails, and
has every design, power and intervals."""
PAPER = """\
Shares of {data_sets:,} fair data sets that are rejected at 5 %: true positive rates of .9 in both groups of 200 people,
base rates of .8 and .2. Published are the three figures of DiCiccio et al. (2020), section 4.2."""
SOURCES = "How many published numbers come out here, and how many of a source's statements hold."
OFF = "Every published number that does not come out here, and every statement that does not hold here."
#: Methods of others that README names, of those in the drawings of validity.
OTHERS = ("lift", "raw", "basic_bootstrap")
#: Published for the design of section 4.2, by the names of methods here.
PUBLISHED = {
    method: f"{diciccio.PUBLISHED[name]:.4f}".removeprefix("0")
    for method, name in (("raw", "un-studentized"), ("kdd", "studentized"), ("basic_bootstrap", "bootstrap"))
}
#: Tables of a source that the page shows as they are.
SHOWN = {
    "competitors": (
        "True positive rates by installed packages",
        "Selection rates by installed packages",
        "Individual fairness by inFairness",
    ),
}
#: The table and the design whose shares README names: equal true positive rates, so that a difference is chance.
PACKAGES = ("competitors", "True positive rates by installed packages", "1,000 and 1,000, base rates .9 and .1")
MARKS = (
    "<!-- written by python -m benchmarks.reproduce all --render -->",
    "<!-- end of what is written -->",
)


def measured():
    """Return the designs of the benchmark of validity and its stored figures."""
    return all_cells(), validity.load(validity.RESULTS)


def comes_out(row):
    """Whether a row is right: a number near enough, a statement that holds; None where nothing is published."""
    if row.within is not None:
        return row.agrees
    return row.ours == row.published if isinstance(row.published, str) else None


def counted(document):
    """Return (how many come out, of how many) numbers and statements."""
    rows = [Row(**row) for row in document["rows"]]
    numbers = [comes_out(row) for row in rows if row.within is not None]
    statements = [comes_out(row) for row in rows if row.within is None and comes_out(row) is not None]
    return [(sum(found), len(found)) for found in (numbers, statements)]


def share_of(found):
    right, of = found
    return f"{right} of {of}" if of else None


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


def off(documents):
    """Yield every published result that does not come out."""
    for name, document in documents.items():
        for row in (Row(**row) for row in document["rows"]):
            if comes_out(row) is False:
                yield [f"[{document['what']}]({name}.md)", row.what, row.published, row.ours, row.why]


def sources_table(documents):
    """List the sources, with how many of their numbers come out and how many of their statements hold."""
    rows = [
        [f"[{document['what']}]({name}.md)", *map(share_of, counted(document))] for name, document in documents.items()
    ]
    return table(["source", "numbers that come out", "statements that hold here"], rows, left=3)


def summary_page(documents, modules):
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
        "## Whether published results come out", "", SOURCES, "",
        sources_table(documents), "",
        "## What does not come out", "", OFF, "",
        table(["source", "result", "published", "here", "why"], list(off(documents)), left=5), "",
    ]  # fmt: skip
    return "\n".join(out)


def packages(documents):
    """Yield the row of README about installed packages: the share of fair data in which each finds a difference."""
    name, title, design = PACKAGES
    if name not in documents:
        return
    part = documents[name]["tables"][title]
    column, sets, found = part["head"].index(design), part["head"].index("data sets"), {}
    for row in part["rows"]:
        share = (row[column] or "–").partition(" ")[0]
        if row[0] not in found and not share.startswith("–"):  # the first call of each package that answers
            found[row[0]] = f"{float(share) * row[sets]:.0f} of {row[sets]}"
    ours = found.pop("skfairtest")
    others = "; ".join(f"{package} {share}" for package, share in found.items())
    yield [f"equal true positive rates, {design}: data sets in which a difference is found", None, ours, others]


def readme_table(documents):
    """Write the short table of README."""
    cells, records = measured()
    _, paper = paper_of(cells, records)
    (_, rates), *_ = panels(cells, records, sizes)
    bad = {row.method: f"{row.is_bad.sum()} of {len(row.values)}" for row in rates}
    names = {key: METHODS[key].strip("*") for key in METHODS}
    rows = [
        [
            "fair models rejected at 5 % in the simulation of DiCiccio et al. (2020)",
            "; ".join(f"{names[key]} {value}" for key, value in PUBLISHED.items()),
            f"exact {size_text(paper['exact'])}",
            "; ".join(f"{names[key]} {size_text(paper[key])}" for key in OTHERS),
        ],
        [
            "designs of rates in which fair models are rejected too often",
            None,
            bad["exact"],
            "; ".join(f"{names[key]} {bad[key]}" for key in OTHERS if key in bad),
        ],
    ]
    rows += packages(documents)
    for name, document in documents.items():
        found = list(zip(counted(document), ("number", "statement"), ("come out", "hold"), strict=True))
        published = [f"{of} {what}{'s' * (of > 1)}" for (_, of), what, _ in found if of]
        here = [f"{right} of {of} {verb}" for (right, of), _, verb in found if of]
        rows.append([f"[{document['what']}](doc/papers/{name}.md)", ", ".join(published), ", ".join(here), None])
    return table(["", "published", "here", "other methods and packages"], rows, left=4)


def with_table(readme, documents):
    """Return README with the table between its marks."""
    start, end = MARKS
    before, _, rest = readme.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n\n{readme_table(documents)}\n\n{end}{after}"
