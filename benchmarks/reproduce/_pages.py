"""The pages of the sources from their stored figures."""

import csv
import io

from benchmarks.common.tables import table, text_of
from benchmarks.reproduce._expected import NOT, READING, RULE, inventories, inventory
from benchmarks.reproduce._pictures import described, file_name, pictures_of
from benchmarks.reproduce._rows import Row
from benchmarks.reproduce._summary import INVENTORY, sources_table, totals_sentence


def words_table(head, rows):
    """Write a table of words and numbers, all aligned left."""
    return table(head, rows, left=len(head))


def versions_of(document):
    return ", ".join(f"{name} {version}" for name, version in document["versions"].items())


def seed_of(document):
    seed = document["seed"]
    if seed is None:
        return ""
    return f"seed {seed}, " if isinstance(seed, int) else f"{len(seed)} seeds, "


def time_of(document):
    seconds = document["seconds"]
    if seconds is None:
        return ""
    return f" in {seconds:.0f} second{'s' * (round(seconds) != 1)} on the machine that wrote this page"


def claims_table(found):
    """List claims: where they stand in the source, what it says and what we found."""
    rows = [[each.words, each.where, each.shown, each.ours, each.why] for each in found]
    return words_table(["claim", "in the source", "published", "ours", "remark"], rows)


def compared_sections(source, found):
    """Yield the lines about what a source prints: first what is not reproduced."""
    own = [each for each in found if each.source == source]
    if own:
        yield from [totals_sentence(own), ""]
        for status, title in ((NOT, "Not reproduced"), (READING, "Reproduced in another reading only")):
            there = [each for each in own if each.status == status and each.is_counted]
            if there:
                yield from [f"## {title}", "", claims_table(there), ""]
        yield from [f"[Every claim, with its place in the source and our figure]({INVENTORY}.csv). {RULE}", ""]


def own_sections(document):
    """Yield the lines about figures that nobody published: beside another computation, or ours alone."""
    rows = [Row(**row) for row in document["rows"]]
    checked = [row for row in rows if row.other is not None]
    if checked:
        shown = [[row.what, row.other, row.ours, row.within, row.why] for row in checked]
        head = ["figure", "another computation", "ours", "distance allowed", "remark"]
        yield from ["### Cross-checks", "", words_table(head, shown), ""]
    alone = [[row.what, row.ours, row.why] for row in rows if row.other is None and not row.answers]
    if alone:
        yield from ["### Ours alone", "", words_table(["figure", "ours", "remark"], alone), ""]


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
    yield f"`python -m benchmarks.reproduce {name}` computes these figures{time_of(document)} ({seed_of(document)}"
    yield from [f"{versions_of(document)}).", ""]


def source_page(title, modules, documents, found):
    """Write the page of a source: what is not reproduced, then each computation with its tables and pictures."""
    out = [f"# {title}", "", *compared_sections(documents[next(iter(modules))]["source"], found)]
    for name, module in modules.items():
        out += module_sections(module, name, documents[name])
    return "\n".join(out)


def inventory_file(found):
    """Every claim of every source, as comma-separated values."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(["source", "claim", "in the source", "published", "ours", "status", "remark"])
    for source in inventories():
        name = inventory(source)["source"]["short"]
        there = [each for each in found if each.source == source]
        writer.writerows(
            [name, *map(text_of, (each.words, each.where, each.shown, each.ours, each.status, each.why))]
            for each in there
        )
    return written.getvalue()


def index_page(titles, found):
    """Write the page that lists the sources with how many of their numbers are reproduced."""
    out = [
        "# The sources, reproduced",
        "",
        f"{totals_sentence(found)} Each page begins with what is not reproduced. [One file]({INVENTORY}.csv) lists "
        "every claim with its place in the source, the published figure and ours. The claims were listed before "
        "anything was compared (`benchmarks/reproduce/expected/*.toml`); what a source prints twice is counted once.",
        "",
        RULE,
        "",
        sources_table(found),
        "",
        *(f"- [{title}]({name}.md)" for name, title in titles.items()),
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
