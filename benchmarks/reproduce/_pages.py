"""The pages of the sources from their stored figures."""

import pandas as pd

from benchmarks import validity
from benchmarks.common.cells import all_cells
from benchmarks.common.drawings import INSTEAD, compared
from benchmarks.common.storage import load
from benchmarks.common.tables import table, text_of
from benchmarks.reproduce._expected import NOT, READING, REPRODUCED, RULE, SKIPPED, inventories, inventory, totals
from benchmarks.reproduce._pictures import described, file_name, pictures_of
from benchmarks.reproduce._rows import Row

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


def words_table(head, rows):
    """Write a table of words and numbers, all aligned left."""
    return table(head, rows, left=len(head))


def made_by(name, document):
    """Say how figures are computed again, with which seed and versions."""
    seed, seconds = document["seed"], document["seconds"]
    versions = ", ".join(f"{library} {version}" for library, version in document["versions"].items())
    seeds = "" if seed is None else f"seed {seed}, " if isinstance(seed, int) else f"{len(seed)} seeds, "
    time = "" if seconds is None else f" in {seconds:.0f} seconds on the machine that wrote this page"
    return f"`python -m benchmarks.reproduce {name}` computes these figures{time} ({seeds}{versions})."


def compared_sections(source, found):
    """Yield the lines about what a source prints: first what is not reproduced."""
    own = [each for each in found if each.source == source]
    if own:
        yield from [totals_sentence(own), ""]
        for status, title in ((NOT, "Not reproduced"), (READING, "Reproduced in another reading only")):
            there = [each for each in own if each.status == status and each.is_counted]
            if there:
                rows = [[each.words, each.where, each.shown, each.ours, each.why] for each in there]
                head = ["claim", "in the source", "published", "ours", "remark"]
                yield from [f"## {title}", "", words_table(head, rows), ""]
        yield from [f"[Every claim, with its place in the source and our figure]({INVENTORY}.csv). {RULE}", ""]


def own_sections(document):
    """Yield the lines about figures that are compared with another computation."""
    rows = [Row(**row) for row in document["rows"]]
    checked = [row for row in rows if row.other is not None]
    if checked:
        shown = [[row.what, row.other, row.ours, row.within, row.why] for row in checked]
        head = ["figure", "another computation", "ours", "distance allowed", "remark"]
        yield from ["### Cross-checks", "", words_table(head, shown), ""]


def module_sections(module, name, document):
    """Yield the lines of one computation: what was done, other figures, tables and pictures."""
    yield from [f"## {module.TITLE}", "", module.INTRODUCTION.format_map(document["facts"]), ""]
    yield from own_sections(document)
    for title, part in document["tables"].items():
        yield from [f"### {title}", "", module.TABLES.get(title, "").format_map(document["facts"]), ""]
        if part["head"]:
            yield from [words_table(part["head"], part["rows"]), ""]
        for key, picture in pictures_of(module).items():
            if picture.section == title:
                yield from [f"![{described(picture, document)}](../_static/{file_name(name, key)})", ""]
    yield from [made_by(name, document), ""]


def source_page(title, modules, documents, found):
    """Write the page of a source: what is not reproduced, then each computation with its tables and pictures."""
    out = [f"# {title}", "", *compared_sections(documents[next(iter(modules))]["source"], found)]
    for name, module in modules.items():
        out += module_sections(module, name, documents[name])
    return "\n".join(out)


def inventory_file(found):
    """Every claim of every source, as comma-separated values."""
    columns = ["source", "claim", "in the source", "published", "ours", "status", "remark"]
    rows = [
        [inventory(each.source)["source"]["short"],
         *map(text_of, (each.words, each.where, each.shown, each.ours, each.status, each.why))]
        for each in found
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).to_csv(index=False, lineterminator="\n").replace(r"\|", "|")


def index_page(titles, found):
    """Write the page that lists the sources with how many of their numbers are reproduced."""
    out = [
        "# The sources, reproduced",
        "",
        f"{totals_sentence(found)} Each page begins with what is not reproduced. The table at the end ([as a file]"
        f"({INVENTORY}.csv)) lists every claim with its place in the source, the published figure and ours. The claims "
        "are quoted in `benchmarks/reproduce/expected/*.toml`; what a source prints twice is counted once.",
        "",
        RULE,
        "",
        sources_table(found),
        "",
        *(f"- [{title}]({name}.md)" for name, title in titles.items()),
        "",
        "## Every claim",
        "",
        "```{csv-table}",
        f":file: {INVENTORY}.csv",
        ":header-rows: 1",
        "```",
        "",
        "```{toctree}",
        ":maxdepth: 1",
        ":hidden:",
        "",
        *titles,
        "```",
        "",
    ]
    return "\n".join(out)
