"""Numbers and tables of pages."""


def number(value):
    """Three digits after the point, without the 0 before it; as many as there are where that would be 0."""
    if value is None:
        return "–"
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def text_of(value):
    """Write a value of a table: numbers with four digits, and nothing where there is none."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("|", r"\|")


def table(head, rows, *, left=2):
    """Write a table; the columns after the first `left` are aligned right, as numbers are."""
    alignment = ["---" if column < left else "--:" for column in range(len(head))]
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(alignment) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(text_of, row)) + " |" for row in rows])
