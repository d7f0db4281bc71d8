"""What can be typed, and what the help says about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

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

{_STATUS}"""

DEMO_HELP = """Test the COMPAS scores by race, by sex and by both, with data that come with the package.

The exit status is 0, although there is a concern."""

AUDIT_HELP = f"""Test the predictions in FILE, one row per person.

Each sensitive column is tested, then their intersection; p-values are corrected for all comparisons together.

\b
Examples:
  skfairtest audit people.csv --y-true outcome --y-pred decision \\
      --sensitive sex --sensitive race
  skfairtest audit hired.parquet --y-pred hired --sensitive sex \\
      --metric demographic_parity --pos-label yes
  skfairtest audit people.csv --y-true y --y-pred p --sensitive sex \\
      --format json --output audit.json

Where the output is not a terminal, tables are plain text and hold every comparison. In text files only an empty field
is missing: a group may be called NA. JSON writes undefined numbers as null and infinite ones as "inf" and "-inf".

{_STATUS}"""


class Format(StrEnum):
    """How a report is written."""

    table = "table"
    json = "json"
    csv = "csv"


class Compare(StrEnum):
    """What a group is compared with."""

    between_groups = "between_groups"
    to_overall = "to_overall"
    to_rest = "to_rest"


class Disparity(StrEnum):
    """How two rates are compared."""

    difference = "difference"
    ratio = "ratio"


VersionOption = Annotated[bool, typer.Option("--version", help="Show the version and exit.")]
AllOption = Annotated[bool, typer.Option("--all", help="Show every comparison, also on a screen.")]

FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="A CSV (.csv, .csv.gz, .tsv) or Parquet file.")]
TruthOption = Annotated[
    str | None,
    typer.Option("--y-true", metavar="COLUMN", help="The true labels; some metrics need none."),
]
PredictionOption = Annotated[str, typer.Option("--y-pred", metavar="COLUMN", help="The predictions or decisions.")]
SensitiveOption = Annotated[
    list[str],
    typer.Option(
        "--sensitive", metavar="COLUMN", help="The groups. Repeat it to test several, and their intersection."
    ),
]
ControlOption = Annotated[
    list[str] | None,
    typer.Option("--control", metavar="COLUMN", help="Compare only people who are alike in this. May be repeated."),
]
MetricOption = Annotated[
    list[str] | None,
    typer.Option("--metric", metavar="NAME", help="A rate or a criterion. May be repeated.  [default: equalized_odds]"),
]
PosLabelOption = Annotated[
    str | None,
    typer.Option("--pos-label", metavar="VALUE", help="The positive label.  [default: 1 of 0/1 or -1/1, or True]"),
]
AlphaOption = Annotated[float, typer.Option("--alpha", metavar="LEVEL", help="The level of the whole audit.")]
CompareOption = Annotated[Compare, typer.Option("--compare", help="What a group is compared with.")]
DisparityOption = Annotated[Disparity, typer.Option("--disparity", help="How two rates are compared.")]
IntersectionOption = Annotated[
    bool,
    typer.Option("--intersections/--no-intersections", help="Whether to cross several sensitive columns as well."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How the result is written.")]
OutputOption = Annotated[
    str | None,
    typer.Option("--output", metavar="FILE", help="Write to this file.  [default: standard output]"),
]
