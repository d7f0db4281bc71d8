"""What can be typed, and what the help says about it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from skfairtest.cli.complete import columns_of_file, metrics_of_audit, metrics_of_power

# In the help, a paragraph that starts with a backspace is shown line by line.
_STATUS = """\b
Exit status: 0 no concern, 1 a concern at the level asked,
2 bad input, 3 an internal failure."""

PROGRAM_HELP = f"""Test whether a model treats groups of people differently by more than chance explains.

\b
Try it on data that come with the package:
  skfairtest demo
Test your own, one row per person:
  skfairtest audit people.csv --y-true outcome --y-pred decision --sensitive sex
Ask how many people such a test needs:
  skfairtest power --rate 0.3 --rate 0.5

{_STATUS}"""

DEMO_HELP = """Test the COMPAS scores by race, by sex and by both, with data that come with the package.

The report is also written as a page for the browser: skfairtest-demo.html in this folder. The exit status is 0,
although there is a concern."""

AUDIT_HELP = f"""Test the predictions in FILES, one row per person, or in tables that 'skfairtest count' wrote.

Each sensitive column is tested, then their intersections; p-values are corrected for all comparisons together.

\b
Examples:
  skfairtest audit people.csv --y-true outcome --y-pred decision \\
      --sensitive sex --sensitive race --html audit.html
  skfairtest audit hired.parquet --y-pred hired --sensitive sex \\
      --metric selection_rate --pos-label yes
  skfairtest audit people.csv --y-true y --y-score s --y-pred p \\
      --sensitive sex --format json --output audit.json
  skfairtest audit 'data/**/*.parquet' --y-true y --y-pred p \\
      --sensitive sex --engine polars --cache counted
  skfairtest audit table.json

The standard metrics are selection_rate, true_positive_rate, false_positive_rate, precision and accuracy; with --y-score
also roc_auc and calibration; of numbers mean_prediction, mean_residual, mean_squared_error and mean_absolute_error;
without --y-true those of them that need none.

Where the output is not a terminal, tables are plain text and hold every comparison. In text files only an empty field
is missing: a group may be called NA. JSON writes undefined numbers as null and infinite ones as "inf" and "-inf"; CSV
marks text that a spreadsheet would take for a formula by an apostrophe.

Several files, and those that an engine or a cache is named for, are counted one by one; then there are no --cluster and
no more than 1,000 different scores without --score-bins. Where some cannot be read, they are named at the end and the
status is 2; the others are reported.

{_STATUS}"""

COUNT_HELP = """Count the people in FILES, and write the table: all that an audit needs of them.

\b
Examples:
  skfairtest count 'data/**/*.parquet' --y-true y --y-pred p \\
      --sensitive sex --engine polars --cache counted --output table.json
  skfairtest audit table.json
  skfairtest count monday.json tuesday.json --output both.json
  skfairtest count table.json --minimum-cell 10 --output shared.json

Tables of the same columns are added. With --minimum-cell, groups of fewer people are left out and listed, and a table
in which fewer people share a cell is refused. Of several files with a number of --score-bins, or their edges, each is
read twice: the bins are those of all people. To add a table later, count it with the bins of the first: --score-bins
table.json.

\b
Exit status: 0, or 2 for bad input, 3 for an internal failure. Where some
files cannot be read, they are named at the end and the status is 2; the
table of the others is written."""

POWER_HELP = """How many people a test needs, or what so many people can show.

\b
Examples:
  skfairtest power --rate 0.3 --rate 0.5
      how many people find that 30 % of one group are selected and 50 % of another
  skfairtest power --rate 0.3 --rate 0.5 --n 60 --n 200
      how likely 60 and 200 people are to find it
  skfairtest power --baseline 0.3 --n 60 --n 200
      the smallest disparity that 60 and 200 people are likely to find

The test is the exact one that audits run. Of means, values are MEAN:SD, such as 10:2.5; of a criterion of several rates
they are named: --rate true_positive_rate=0.7.

\b
Exit status: 0, or 2 for bad input, 3 for an internal failure."""


Version = Annotated[bool, typer.Option("--version", help="Show the version and exit.")]
All = Annotated[bool, typer.Option("--all", help="Show every comparison, also on a screen.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours, as with the environment variable NO_COLOR.")]

# audit ---------------------------------------------------------------------------------------

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="CSV (.csv, .csv.gz, .tsv) or Parquet files, by name or as a quoted pattern, or tables of 'count'.",
    ),
]


def _column(option: str, text: str) -> typer.models.OptionInfo:
    found: typer.models.OptionInfo = typer.Option(option, metavar="COLUMN", help=text, autocompletion=columns_of_file)
    return found


Truth = Annotated[str | None, _column("--y-true", "The true labels; some metrics need none.")]
Prediction = Annotated[str | None, _column("--y-pred", "The predictions or decisions.")]
Score = Annotated[str | None, _column("--y-score", "Scores of the positive label.")]
Sensitive = Annotated[
    list[str] | None, _column("--sensitive", "The groups. Repeat it to test several, and their intersections.")
]
Control = Annotated[
    list[str] | None, _column("--control", "Compare only people who are alike in this. May be repeated.")
]
Weight = Annotated[str | None, _column("--weight", "How many people each row counts for.")]
Cluster = Annotated[str | None, _column("--cluster", "Who belongs together, such as the decisions on one person.")]
EngineName = Annotated[
    Literal["polars", "duckdb", "spark"] | None,
    typer.Option("--engine", help="What counts the people, so that files need not fit into memory."),
]
Cache = Annotated[
    str | None,
    typer.Option("--cache", metavar="DIR", help="Keep the table of each file: an interrupted run continues."),
]
ScoreBins = Annotated[
    str | None,
    typer.Option(
        "--score-bins",
        metavar="BINS",
        help="Count scores in bins: how many, the edges between them (0.25,0.5), or a table that has them.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option("--threshold", metavar="SCORE", help="Predictions are 1 from this score on; instead of --y-pred."),
]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="A rate, a criterion or another metric. May be repeated.  [default: standard]",
        autocompletion=metrics_of_audit,
    ),
]
PosLabel = Annotated[
    str | None,
    typer.Option("--pos-label", metavar="VALUE", help="The positive label.  [default: 1 of 0/1 or -1/1, or True]"),
]
Alpha = Annotated[float, typer.Option("--alpha", metavar="LEVEL", help="The level of the whole audit.")]
Compare = Annotated[
    Literal["between_groups", "to_overall", "to_rest"],
    typer.Option("--compare", help="What a group of one column is compared with."),
]
CompareIntersections = Annotated[
    Literal["to_rest", "between_groups", "to_parents"],
    typer.Option(
        "--compare-intersections",
        help="What a group of several columns is compared with; to_parents: with the others who share all its values "
        "but one.",
    ),
]
Disparity = Annotated[Literal["difference", "ratio"], typer.Option("--disparity", help="How two values are compared.")]
Margin = Annotated[
    float | None,
    typer.Option(
        "--margin", metavar="SIZE", help="A disparity to tolerate: 0.05 is 5 points; 0.8 the ratios 0.8 to 1.25."
    ),
]
Adjust = Annotated[
    Literal["auto", "holm", "bonferroni", "fdr_bh", "fdr_by", "none"],
    typer.Option("--adjust", help="How p-values are corrected for all comparisons together."),
]
Intersection = Annotated[
    bool,
    typer.Option("--intersections/--no-intersections", help="Whether to cross several sensitive columns as well."),
]
Resamples = Annotated[
    str,
    typer.Option(
        "--n-resamples", metavar="NUMBER", help='Of Monte Carlo p-values; "adaptive" stops early where it can.'
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="NUMBER", help="Of Monte Carlo p-values.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", metavar="NUMBER", help="Processes; -1 for one per processor.  [default: 1]")
]
Format = Annotated[
    Literal["table", "json", "csv", "markdown"], typer.Option("--format", help="How the result is written.")
]
Output = Annotated[
    str | None,
    typer.Option("--output", metavar="FILE", help="Write to this file.  [default: standard output]"),
]
Html = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Write the report as a page for the browser, too.")
]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the record as JSON, too.")]
Markdown = Annotated[
    str | None, typer.Option("--markdown", metavar="FILE", help="Write a section for a model card, too.")
]

# count ---------------------------------------------------------------------------------------

Table = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the table: .json or .parquet.")
]
MinimumCell = Annotated[
    int | None,
    typer.Option("--minimum-cell", metavar="PEOPLE", help="Tell no number of people below this one.", min=1),
]

# demo ----------------------------------------------------------------------------------------

DemoHtml = Annotated[
    str | None,
    typer.Option("--html", metavar="FILE", help="Where to write the page.  [default: skfairtest-demo.html]"),
]
NoHtml = Annotated[bool, typer.Option("--no-html", help="Write no page.")]

# power ---------------------------------------------------------------------------------------

PowerMetric = Annotated[
    str,
    typer.Option(
        "--metric", metavar="NAME", help="A rate, a criterion, a mean or roc_auc.", autocompletion=metrics_of_power
    ),
]
Rate = Annotated[
    list[str] | None, typer.Option("--rate", metavar="VALUE", help="The true value in a group: once per group.")
]
People = Annotated[
    list[int] | None, typer.Option("--n", metavar="PEOPLE", help="People in a group: once per group, or once for all.")
]
Baseline = Annotated[
    str | None, typer.Option("--baseline", metavar="VALUE", help="The value in all groups but the first.")
]
Power = Annotated[
    float | None,
    typer.Option("--power", metavar="SHARE", help="How likely a disparity shall be found.  [default: 0.8]"),
]
Share = Annotated[
    list[float] | None,
    typer.Option("--share", metavar="SHARE", help="Proportions of the groups, once per group.  [default: equal]"),
]
BaseRate = Annotated[
    list[float] | None,
    typer.Option(
        "--base-rate",
        metavar="SHARE",
        help="Share of a group over whom a rate is computed (of a true positive rate, of the truly positive): once, or "
        "once per group.",
    ),
]
PowerAlpha = Annotated[float, typer.Option("--alpha", metavar="LEVEL", help="The level of the test.")]
PowerCompare = Annotated[
    Literal["between_groups", "to_overall", "to_rest", "to_reference"],
    typer.Option("--compare", help="What a group is compared with; the reference is the last one."),
]
Alternative = Annotated[
    Literal["two-sided", "greater", "less", "equivalence"],
    typer.Option("--alternative", help='What the test looks for; "equivalence" certifies, within --margin.'),
]
Direction = Annotated[
    Literal["auto", "up", "down"], typer.Option("--direction", help="Whether --baseline is exceeded or undercut.")
]
PowerFormat = Annotated[Literal["table", "json"], typer.Option("--format", help="How the answer is written.")]
