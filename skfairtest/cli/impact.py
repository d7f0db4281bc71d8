"""``skfairtest impact``: rates of selection by category beside the highest one, for a sheet of paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import typer

from skfairtest.cli import options
from skfairtest.cli.errors import BadInput, check_level, in_terms_of_options
from skfairtest.cli.header import UTF_8, check_encoding
from skfairtest.cli.output import check_outputs, deliver, watched, write_out
from skfairtest.cli.status import Status

__all__ = ["IMPACT_HELP", "impact"]

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

File = Annotated[str, typer.Argument(metavar="FILE", help="A CSV (.csv, .csv.gz, .tsv) or Parquet file.")]
Score = Annotated[
    str | None,
    typer.Option(
        "--y-score",
        rich_help_panel="Columns",
        metavar="COLUMN",
        help="Scores, in place of --y-pred: the rate is the share above their median.",
    ),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitive",
        rich_help_panel="Columns",
        metavar="COLUMN",
        help="What divides people into categories. Repeat it for several columns and their crossings.",
    ),
]
Share = Annotated[
    float,
    typer.Option(
        "--smallest-share",
        rich_help_panel="The test",
        metavar="SHARE",
        help="Categories with a smaller share of the people are shown and not compared.",
    ),
]
Alpha = Annotated[
    float,
    typer.Option("--alpha", rich_help_panel="The test", metavar="LEVEL", help="The significance level of each table."),
]
Csv = Annotated[
    str | None,
    typer.Option("--csv", rich_help_panel="Output", metavar="FILE", help="Also write every row with all numbers."),
]
Format = Annotated[
    Literal["table", "csv", "markdown"],
    typer.Option("--format", rich_help_panel="Output", help="How the result is written."),
]


def impact(
    file: File,
    *,
    y_pred: options.Prediction = None,
    y_score: Score = None,
    sensitive: Sensitive = None,
    encoding: options.Encoding = UTF_8,
    pos_label: options.PosLabel = None,
    alpha: Alpha = 0.05,
    smallest_share: Share = 0.02,
    intersections: options.Intersection = True,
    format_: Format = "table",
    output: options.Output = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    csv: Csv = None,
    no_color: options.NoColor = False,
) -> Status:
    """Compare the rates of a file."""
    if not sensitive:
        raise BadInput("--sensitive is missing: name the columns that divide people into categories")
    check_level(alpha)
    reports = {"--html": html, "--markdown": markdown, "--csv": csv}
    check_outputs({"--output": output, **reports}, [file])
    import pandas as pd

    from skfairtest._utils.text import label
    from skfairtest.audit.impact import impact_table
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.files import Columns, cast_pos_label, read_people
    from skfairtest.readers import resolve_pos_label
    from skfairtest.report import markdown as written
    from skfairtest.report.export import to_csv
    from skfairtest.report.impact import impact_document

    columns = Columns(None, y_pred, tuple(sensitive), y_score=y_score, encoding=check_encoding(encoding), unknown=True)

    def work() -> tuple[pd.DataFrame, int, str]:
        people = read_people(file, columns)
        asked = None if pos_label is None else cast_pos_label(pos_label, people.labels)
        table = impact_table(
            people.y_pred,
            y_score=people.y_score,
            sensitive_features=people.sensitive,
            pos_label=asked,
            intersections=intersections,
            smallest_share=smallest_share,
            confidence_level=1 - alpha,
        )
        what = f"scores in {label(y_score)}"
        if y_score is None:
            positive = resolve_pos_label(people.labels, asked)
            what = f"predictions in {label(y_pred)}, of which {label(positive)} is the positive label"
        return table, people.n_samples, what

    with watched(no_color):
        (table, n_samples, what), said = audited(work)
    blocks = impact_document(
        table,
        title=f"Impact table of {label(file)}",
        about=f"{n_samples:,} people; {what}.",
        scoring=y_score is not None,
        smallest_share=smallest_share,
        confidence_level=1 - alpha,
        not_compared=[in_terms_of_options(line) for line in said],
    )

    def page() -> str:
        from skfairtest.report import html

        return html.page(blocks, landscape=True)

    makers: dict[str, Callable[[], str]] = {
        "--html": page,
        "--markdown": lambda: written.markdown(blocks),
        "--csv": lambda: to_csv(table.assign(category=[label(name) for name in table["category"]])),
    }
    if format_ == "table":
        deliver(lambda _: blocks, output, no_color=no_color)
    else:
        write_out(makers[f"--{format_}"](), output)
    for option, path in reports.items():
        if path is not None:
            write_out(makers[option](), path, option=option)
    return Status.SIGNIFICANT if table["significant"].fillna(False).any() else Status.DONE
