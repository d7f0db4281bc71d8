"""``skfairtest impact``: rates of selection by category beside the highest one, for a sheet of paper."""

from __future__ import annotations

from skfairtest.cli.errors import BadInput, check_level, in_terms_of_options
from skfairtest.cli.options import Asked
from skfairtest.cli.output import check_outputs, watched, write_asked
from skfairtest.cli.status import Status

ASKED = (
    "file y_pred y_score.impact sensitive.impact encoding pos_label alpha.impact smallest_share intersections "
    "format.impact output html markdown csv.impact no_color"
)
IMPACT_HELP = """Compare each category's rate of selection with the highest one.

FILE has one row per person. Each sensitive column is a table, and so are their crossings: ratio to the highest rate
with its interval and p-value, standard deviations, shortfalls, and how many changed decisions turn the result. The
test is valid although the highest rate is chosen from the data. An empty field is an unknown category: these people
are counted and not compared.

\b
Examples:
  skfairtest impact hired.csv --y-pred hired --sensitive sex --sensitive race
  skfairtest impact scored.csv --y-score score --sensitive sex --html impact.html

\b
Exit status: 0 no significant disparity was detected, 1 there is one in a
table, 2 bad input, 3 an internal failure."""


def impact(asked: Asked) -> Status:
    """Compare the rates of a file."""
    if not asked.sensitive:
        raise BadInput("--sensitive is missing: name the columns that divide people into categories")
    check_level(asked.alpha)
    check_outputs(asked.outputs, [asked.file])
    import pandas as pd

    from skfairtest._utils.text import label
    from skfairtest.audit.impact import impact_table
    from skfairtest.audit.impact_report import impact_document
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.files import cast_pos_label, read_people
    from skfairtest.readers import resolve_pos_label
    from skfairtest.report import html, markdown
    from skfairtest.report.export import to_csv

    columns = asked.columns(unknown=True)

    def work() -> tuple[pd.DataFrame, int, str]:
        people = read_people(asked.file, columns)
        pos_label = None if asked.pos_label is None else cast_pos_label(asked.pos_label, people.labels)
        table = impact_table(
            people.y_pred,
            y_score=people.y_score,
            sensitive_features=people.sensitive,
            pos_label=pos_label,
            intersections=asked.intersections,
            smallest_share=asked.smallest_share,
            confidence_level=1 - asked.alpha,
        )
        what = f"scores in {label(asked.y_score)}"
        if asked.y_score is None:
            positive = resolve_pos_label(people.labels, pos_label)
            what = f"predictions in {label(asked.y_pred)}, of which {label(positive)} is the positive label"
        return table, people.n_samples, what

    with watched(asked.no_color):
        (table, n_samples, what), said = audited(work)
    blocks = impact_document(
        table,
        title=f"Impact table of {label(asked.file)}",
        about=f"{n_samples:,} people; {what}.",
        scoring=asked.y_score is not None,
        smallest_share=asked.smallest_share,
        confidence_level=1 - asked.alpha,
        not_compared=[in_terms_of_options(line) for line in said],
    )
    makers = {
        "html": lambda: html.page(blocks, landscape=True),
        "markdown": lambda: markdown.markdown(blocks),
        "csv": lambda: to_csv(table.assign(category=[label(name) for name in table["category"]])),
    }
    write_asked(asked, lambda _: blocks, makers)
    return Status.SIGNIFICANT if table["significant"].fillna(False).any() else Status.DONE
