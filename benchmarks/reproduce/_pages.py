"""The pages of the sources from their stored figures."""

from benchmarks.reproduce._pictures import described, file_name, pictures_of
from benchmarks.reproduce._rows import Row


def text_of(value):
    """Write a value of a table: numbers with four digits, a dash where there is none, and no bar that ends a cell."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("|", r"\|")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] * len(head)) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(text_of, row)) + " |" for row in rows])


def versions_of(document):
    return ", ".join(f"{name} {version}" for name, version in document["versions"].items())


def source_page(module, name, document):
    """Write the page of a source: what it is, published beside ours, and the further tables and pictures."""
    out = [f"# {module.TITLE}", "", module.INTRODUCTION.format_map(document["facts"]), "", "## Published and ours", ""]
    rows = [[row["what"], row["published"], row["ours"], row["why"]] for row in document["rows"]]
    out += [table(["result", "published", "ours", "how they compare"], rows), ""]
    seed = "" if document["seed"] is None else f"seed {document['seed']}, "
    for title, part in document["tables"].items():
        out += [f"## {title}", "", module.TABLES.get(title, "").format_map(document["facts"]), ""]
        out += [table(part["head"], part["rows"]), ""] if part["head"] else []
        for key, picture in pictures_of(module).items():
            if picture.section == title:
                out += [f"![{described(picture, document)}](../_static/{file_name(name, key)})", ""]
    out += [
        "## Reproduce it",
        "",
        f"`python -m benchmarks.reproduce {name}` computes these figures in {document['seconds']:.0f} seconds on the "
        f"machine that wrote this page ({seed}{versions_of(document)}).",
        "",
    ]
    return "\n".join(out)


def share(agree):
    return f"{sum(agree)} of {len(agree)}" if agree else None


def index_page(documents):
    """Write the page that lists the sources with how many of their numbers come out."""
    rows = []
    for name, document in documents.items():
        found = [Row(**row) for row in document["rows"]]
        numbers = [row.agrees for row in found if row.within is not None]
        statements = [row.ours == row.published for row in found if isinstance(row.published, str)]
        rows.append([f"[{document['what']}]({name}.md)", *map(share, (numbers, statements))])
    out = [
        "# The sources, reproduced",
        "",
        "Each page shows results that a source published beside ours. A number comes out where ours is within the "
        "distance that its rounding or its simulation error allows; where it does not, the page says why.",
        "",
        table(["source", "numbers that come out", "statements that hold here"], rows),
        "",
        "```{toctree}",
        ":maxdepth: 1",
        ":hidden:",
        "",
        *documents,
        "```",
        "",
    ]
    return "\n".join(out)
