"""Numbers and tables of the page of validity."""


def number(value):
    """Three digits after the point, without the 0 before it; as many as there are where that would be 0."""
    if value is None:
        return "–"
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] * 2 + ["--:"] * (len(head) - 2)) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def folded(title, head, rows):
    """A table behind its title, which opens it."""
    return [f"<details><summary>{title}</summary>", "", table(head, rows), "", "</details>", ""]


def share_text(found):
    return number(found["share"])
