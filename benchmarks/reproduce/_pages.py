"""The pages of the sources from their stored figures."""

from benchmarks.common.tables import table
from benchmarks.reproduce._expected import DEVIATION, NOT, READING, RULE, inventories, inventory
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


def claims_table(found, *, status=False):
    """List claims: where they stand in the source, what it says and what we found."""
    head = ["claim", "in the source", "published", "ours", *(["status"] if status else []), "remark"]
    rows = [
        [each.words, each.where, each.shown, each.ours, *([each.status] if status else []), each.why] for each in found
    ]
    return words_table(head, rows)


def compared_sections(module, document, found):
    """Yield the lines about what is published: first what is not reproduced."""
    answered = {row.get("answers") for row in document["rows"]}
    own = [
        each for each in found if each.source == document["source"] and each.name.removesuffix(DEVIATION) in answered
    ]
    if own:
        yield from [totals_sentence(own), ""]
        for status, title in ((NOT, "Not reproduced"), (READING, "Reproduced in another reading only")):
            there = [each for each in own if each.status == status]
            if there:
                yield from [f"## {title}", "", claims_table(there), ""]
        yield from ["## What was done", ""]
    yield from [module.INTRODUCTION.format_map(document["facts"]), ""]
    if own:
        yield from ["## Published and ours", "", RULE, "", claims_table(own, status=True), ""]


def own_sections(document):
    """Yield the lines about figures that nobody published: beside another computation, or ours alone."""
    rows = [Row(**row) for row in document["rows"]]
    checked = [row for row in rows if row.other is not None]
    if checked:
        shown = [[row.what, row.other, row.ours, row.within, row.why] for row in checked]
        head = ["figure", "another computation", "ours", "distance allowed", "remark"]
        yield from ["## Cross-checks", "", words_table(head, shown), ""]
    alone = [[row.what, row.ours, row.why] for row in rows if row.other is None and not row.answers]
    if alone:
        yield from ["## Ours alone", "", words_table(["figure", "ours", "remark"], alone), ""]


def source_page(module, name, document, found):
    """Write the page of a source: what is not reproduced, published beside ours, and further tables and pictures."""
    out = [f"# {module.TITLE}", "", *compared_sections(module, document, found), *own_sections(document)]
    for title, part in document["tables"].items():
        out += [f"## {title}", "", module.TABLES.get(title, "").format_map(document["facts"]), ""]
        out += [words_table(part["head"], part["rows"]), ""] if part["head"] else []
        for key, picture in pictures_of(module).items():
            if picture.section == title:
                out += [f"![{described(picture, document)}](../_static/{file_name(name, key)})", ""]
    out += [
        "## Reproduce it",
        "",
        f"`python -m benchmarks.reproduce {name}` computes these figures{time_of(document)} "
        f"({seed_of(document)}{versions_of(document)}).",
        "",
    ]
    return "\n".join(out)


def inventory_page(found):
    """Write the page with every claim of every source."""
    out = [
        "# Every claim of the sources", "",
        f"{totals_sentence(found)} The lists were written from the texts before anything was compared, and are "
        "`benchmarks/reproduce/expected/*.toml`, with the words that hold each claim; inputs of experiments are listed "
        "there too and are no claims. What a source prints twice is counted once.", "", RULE, "",
    ]  # fmt: skip
    for source in inventories():
        there = [each for each in found if each.source == source]
        out += [f"## {inventory(source)['source']['title']}", "", totals_sentence(there), ""]
        out += [claims_table(there, status=True), ""]
    return "\n".join(out)


def index_page(documents, found):
    """Write the page that lists the sources with how many of their numbers are reproduced."""
    out = [
        "# The sources, reproduced",
        "",
        f"{totals_sentence(found)} Each page begins with what is not reproduced. [One page]({INVENTORY}.md) lists "
        "every claim.",
        "",
        sources_table(found),
        "",
        *(f"- [{document['what']}]({name}.md)" for name, document in documents.items()),
        "",
        "```{toctree}",
        ":maxdepth: 1",
        ":hidden:",
        "",
        INVENTORY,
        *documents,
        "```",
        "",
    ]
    return "\n".join(out)
