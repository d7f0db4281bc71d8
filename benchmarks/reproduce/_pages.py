"""The pages of the sources from their stored figures."""

from benchmarks._tables import table
from benchmarks.reproduce._pictures import described, file_name, pictures_of
from benchmarks.reproduce._summary import PAGE, TITLE, sources_table


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


def source_page(module, name, document):
    """Write the page of a source: what it is, published beside ours, and the further tables and pictures."""
    out = [f"# {module.TITLE}", "", module.INTRODUCTION.format_map(document["facts"]), "", "## Published and ours", ""]
    rows = [[row["what"], row["published"], row["ours"], row["why"]] for row in document["rows"]]
    out += [words_table(["result", "published", "ours", "how they compare"], rows), ""]
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


def index_page(documents):
    """Write the page that lists the sources with how many of their numbers come out."""
    out = [
        "# The sources, reproduced",
        "",
        "Each page shows results that a source published beside ours. A number comes out where ours is within the "
        "distance that its rounding or its simulation error allows; where it does not, the page says why. "
        f"[{TITLE}]({PAGE}.md) puts them together with what other packages do.",
        "",
        sources_table(documents),
        "",
        "```{toctree}",
        ":maxdepth: 1",
        ":hidden:",
        "",
        PAGE,
        *documents,
        "```",
        "",
    ]
    return "\n".join(out)
