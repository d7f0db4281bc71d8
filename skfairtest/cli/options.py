"""What can be typed, and what the help says about it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from skfairtest.cli.complete import columns_of_file, metrics_of_audit, metrics_of_power

# In the help, a paragraph that starts with a backspace is shown line by line.
PROGRAM_HELP = """Test whether a model treats groups of people differently by more than chance explains.

\b
An example, with data that come with the package:
  skfairtest demo
Your own predictions, in a file with one row per person:
  skfairtest audit people.csv --y-true outcome --y-pred decision --sensitive sex
How many people such a test needs:
  skfairtest power --rate 0.3 --rate 0.5

'skfairtest COMMAND -h' shows the options of a command, and examples."""


def exit_status(zero: str, one: str | None = None, four: str | None = None) -> str:
    """Say what the exit status means."""
    said = {0: zero, 1: one, 2: "bad input, or the output could not be written", 3: "an internal error", 4: four}
    lines = (f"\n  {status}  {meaning}" for status, meaning in said.items() if meaning is not None)
    return f"\b\nExit status:{''.join(lines)}"


_DETECTED = "no significant disparity was detected", "there is a significant disparity"

DEMO_HELP = """Audit the COMPAS scores, an example that comes with the package.

The scores are tested by race, by sex and by both. The report is also written as a page for the browser:
skfairtest-demo.html in this folder."""

DEMO_EPILOG = exit_status("done, although there are significant disparities")

AUDIT_HELP = """Test predictions for disparities between groups of people.

FILES have one row per person, or are tables that 'skfairtest count' wrote. Each sensitive column is tested, then the
intersections of several; p-values are adjusted for all comparisons together.

The standard metrics are selection_rate, true_positive_rate, false_positive_rate, precision and accuracy; with --y-score
also roc_auc and calibration. For predictions that are numbers, they are mean_prediction, mean_residual,
mean_squared_error and mean_absolute_error. Without --y-true, they are those that need no true labels.

--scan searches subgroups of up to two columns, the groups' own among them, by the metrics of --metric (otherwise by
equalized_odds, or selection_rate without --y-true), with a guarantee of its own; the exit status is not about it.

--baseline names the predictions of the model in production: the report then says by which metrics and groups the
disparities of both models differ, at a level of its own; the exit status is not about it either.

In a text file only an empty field is missing: a group may be called NA. In a file or a pipe the report is plain text
with every comparison. JSON writes undefined numbers as null and infinite ones as "inf" and "-inf"; CSV puts an
apostrophe before text that a spreadsheet would compute.

Several files are counted one by one, and so is a single one with --engine, --cache, --score-bins or --threshold. Then
--cluster and --missing are not available, and more than 1,000 different scores need --score-bins. If some files cannot
be read, the others are reported, the errors are listed at the end, and the exit status is 2."""

AUDIT_EPILOG = f"""\b
Examples:
  skfairtest audit people.csv --y-true outcome --y-pred decision \\
      --sensitive sex --sensitive race --html audit.html
  skfairtest audit hired.parquet --y-pred hired --sensitive sex \\
      --metric selection_rate --pos-label yes
  skfairtest audit people.csv --y-true y --y-score s --y-pred p \\
      --sensitive sex --format json --output audit.json
  skfairtest audit excel.csv --encoding cp1252 --y-pred p --sensitive sex
  skfairtest audit 'data/**/*.parquet' --y-true y --y-pred p \\
      --sensitive sex --engine polars --cache counted
  skfairtest audit people.csv --y-true y --y-pred p \\
      --sensitive sex --scan age --scan education
  skfairtest audit table.json

{exit_status(*_DETECTED)}"""

_SAVED = (
    f"of the saved audit: {_DETECTED[0]}",
    f"of the saved audit: {_DETECTED[1]}",
    "of the saved audit: individual fairness was not tested",
)

REPORT_HELP = """Write the reports of an audit that was saved as JSON.

RECORD is a file that 'skfairtest audit --json' or FairnessAudit.to_json wrote. Nothing is computed again: every number
is that of the saved audit, and so is the exit status."""

REPORT_EPILOG = f"""\b
Examples:
  skfairtest report audit.json
  skfairtest report audit.json --html audit.html --csv comparisons.csv

{exit_status(*_SAVED)}"""

COUNT_HELP = """Count the people in files, for audits that do not need the files.

The table that is written holds how many people there are of each kind: all that an audit needs. Tables of the same
columns are added. With --minimum-cell, groups of fewer people are left out and listed, and a table in which fewer
people share a cell is an error.

If --score-bins is a number, or the edges of bins, each of several files is read twice, because the bins are those of
all people. To add a table later, count it with the bins of the first: --score-bins table.json."""

COUNT_EPILOG = f"""\b
Examples:
  skfairtest count 'data/**/*.parquet' --y-true y --y-pred p \\
      --sensitive sex --engine polars --cache counted --output table.json
  skfairtest audit table.json
  skfairtest count monday.json tuesday.json --output both.json
  skfairtest count table.json --minimum-cell 10 --output shared.json

{exit_status("done")}

If some files cannot be read, they are listed at the end and the exit status is 2; the table of the others is
written."""

SCAN_HELP = """Search a file for subgroups that are treated unlike others.

FILE has one row per person. Every combination of up to --max-depth of the columns --sensitive and --feature is tested;
p-values are adjusted for all of them together. Of subgroups that differ, only those that explain the others are
reported: a subgroup is left out if it does not differ any more once the reported ones are accounted for.

Columns of more than --n-bins different numbers are cut into intervals of about as many people each."""

SCAN_EPILOG = f"""\b
Examples:
  skfairtest scan people.csv --y-true outcome --y-pred decision \\
      --sensitive sex --sensitive age --metric false_positive_rate
  skfairtest scan admitted.csv --y-pred admitted --sensitive sex \\
      --feature department --compare in_context --metric selection_rate

{exit_status("no subgroup was found to differ", "at least one subgroup differs significantly")}"""

POWER_HELP = """Compute how many people a test needs, or what a test can detect.

The test is the exact one that audits run. For a mean, a value is MEAN:SD, such as 10:2.5; for a criterion of several
rates, values name their rate: --rate true_positive_rate=0.7."""

POWER_EPILOG = f"""\b
Examples:
  skfairtest power --rate 0.3 --rate 0.5
      how many people are needed to detect that 30% of one group
      and 50% of another are selected
  skfairtest power --rate 0.3 --rate 0.5 --n 60 --n 200
      how likely a test of 60 and 200 people is to detect it
  skfairtest power --baseline 0.3 --n 60 --n 200
      the smallest disparity that a test of 60 and 200 people is
      likely to detect

{exit_status("done")}"""

COLUMNS, _READING, TEST, OUTPUT = "Columns", "Reading", "The test", "Output"
_METRIC, _ASSUMED = "Metric", "Assumptions"


def option(*declared: str, panel: str, **settings: Any) -> Any:
    """Declare an option that stands under a heading of the help."""
    return typer.Option(*declared, rich_help_panel=panel, **settings)


def column(name: str, text: str) -> Any:
    """Declare an option that names a column of the file."""
    return option(name, panel=COLUMNS, metavar="COLUMN", help=text, autocompletion=columns_of_file)


Version = Annotated[bool, typer.Option("--version", help="Show the version and exit.")]

# audit ---------------------------------------------------------------------------------------

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="CSV (.csv, .csv.gz, .tsv) or Parquet files, by name or as a quoted pattern; or tables of 'count'.",
    ),
]
Truth = Annotated[str | None, column("--y-true", "The true labels; some metrics need none.")]
Prediction = Annotated[str | None, column("--y-pred", "The predictions or decisions.")]
Score = Annotated[str | None, column("--y-score", "The scores of the positive label.")]
Sensitive = Annotated[
    list[str] | None, column("--sensitive", "The groups. Repeat it to test several columns and their intersections.")
]
Scan = Annotated[
    list[str] | None,
    column("--scan", "Also search subgroups of this column and the groups, that nobody named. May be repeated."),
]
Impact = Annotated[
    bool,
    option(
        "--impact",
        panel=TEST,
        help="Also make the impact tables: rates of positive predictions beside the highest one, of each sensitive "
        "column and their intersections.",
    ),
]
Production = Annotated[
    str | None,
    column("--baseline", "The predictions of the model in production, with which these are compared."),
]
Control = Annotated[
    list[str] | None, column("--control", "Compare only people with the same value here. May be repeated.")
]
Weight = Annotated[str | None, column("--weight", "How many people each row counts for.")]
Cluster = Annotated[
    str | None, column("--cluster", "Which rows belong together, such as several decisions on one person.")
]
Missing = Annotated[
    Literal["raise", "exclude", "group", "bounds"],
    option(
        "--missing",
        panel=_READING,
        help="What becomes of people whose group is an empty field: an error; they are left out and counted; they are "
        "a group; or (of rates) p-values and intervals that hold whichever group they are in.",
    ),
]
Encoding = Annotated[
    str,
    option(
        "--encoding",
        panel=_READING,
        metavar="NAME",
        help="The encoding of text files, such as cp1252 (Windows), latin-1 or utf-16.",
    ),
]
Threshold = Annotated[
    float | None,
    option(
        "--threshold",
        panel=_READING,
        metavar="SCORE",
        help="Predict 1 where the score is at least this, in place of --y-pred.",
    ),
]
ScoreBins = Annotated[
    str | None,
    option(
        "--score-bins",
        panel=_READING,
        metavar="BINS",
        help="Count scores in bins: how many bins, the edges between them (0.25,0.5), or a table that has bins.",
    ),
]
EngineName = Annotated[
    Literal["polars", "duckdb", "spark"] | None,
    option("--engine", panel=_READING, help="Count people with this engine: files may be larger than memory."),
]
Cache = Annotated[
    str | None,
    option(
        "--cache",
        panel=_READING,
        metavar="FOLDER",
        help="Keep the table of each file here, so that an interrupted run continues.",
    ),
]
Metric = Annotated[
    list[str] | None,
    option(
        "--metric",
        panel=TEST,
        metavar="NAME",
        help="A rate, a criterion or another metric. May be repeated.  [default: standard]",
        autocompletion=metrics_of_audit,
    ),
]
PosLabel = Annotated[
    str | None,
    option(
        "--pos-label",
        panel=TEST,
        metavar="VALUE",
        help="The positive label.  [default: 1 where labels are 0 and 1 or -1 and 1; True]",
    ),
]
Alpha = Annotated[
    float, option("--alpha", panel=TEST, metavar="LEVEL", help="The significance level of the whole audit.")
]
PositiveMeans = Annotated[
    str | None,
    option(
        "--positive-means",
        panel=TEST,
        metavar="WORDS",
        help='What happens to people who are predicted positive, such as "denied": sentences say it.',
    ),
]
Favorable = Annotated[
    bool | None,
    option(
        "--favorable/--unfavorable",
        panel=TEST,
        help="Whether a positive prediction is good for people: the report then says who is worse off.",
    ),
]
Compare = Annotated[
    Literal["between_groups", "to_overall", "to_rest", "to_highest", "to_lowest"],
    option("--compare", panel=TEST, help="What a group of one column is compared with."),
]
CompareIntersections = Annotated[
    Literal["to_rest", "between_groups", "to_parents"],
    option(
        "--compare-intersections",
        panel=TEST,
        help="What a group of several columns is compared with; to_parents: with the people who differ from it in one "
        "column only.",
    ),
]
Disparity = Annotated[
    Literal["difference", "ratio", "odds_ratio"],
    option("--disparity", panel=TEST, help="How two values are compared."),
]
Margin = Annotated[
    float | None,
    option(
        "--margin",
        panel=TEST,
        metavar="SIZE",
        help="A disparity to tolerate: 0.05 is 5 points; as a ratio, 0.8 is 0.8 to 1.25.",
    ),
]
Adjust = Annotated[
    Literal["auto", "holm", "bonferroni", "fdr_bh", "fdr_by", "none"],
    option("--adjust", panel=TEST, help="How p-values are adjusted for the number of comparisons."),
]
Intersection = Annotated[
    bool,
    option("--intersections/--no-intersections", panel=TEST, help="Test intersections of sensitive columns as well."),
]
Resamples = Annotated[
    str,
    option(
        "--n-resamples",
        panel=TEST,
        metavar="NUMBER",
        help='Resamples where a p-value is sampled; "adaptive" stops early where it can.',
    ),
]
Seed = Annotated[int, option("--seed", panel=TEST, metavar="NUMBER", help="The seed of p-values that are sampled.")]
Jobs = Annotated[
    int | None,
    option("--jobs", panel=TEST, metavar="NUMBER", help="Parallel processes; -1 for one per processor.  [default: 1]"),
]

# Reports -------------------------------------------------------------------------------------

Format = Annotated[
    Literal["table", "json", "csv", "markdown"], option("--format", panel=OUTPUT, help="How the result is written.")
]
Output = Annotated[
    str | None,
    option("--output", panel=OUTPUT, metavar="FILE", help="Write it to this file.  [default: standard output]"),
]
Details = Annotated[
    bool,
    option(
        "--details", panel=OUTPUT, help="Show every comparison, in tables and in sentences; --html prints all of it."
    ),
]
Html = Annotated[str | None, option("--html", panel=OUTPUT, metavar="FILE", help="Also write a page for the browser.")]
Json = Annotated[
    str | None, option("--json", panel=OUTPUT, metavar="FILE", help="Also write the record that 'report' reads.")
]
Markdown = Annotated[
    str | None, option("--markdown", panel=OUTPUT, metavar="FILE", help="Also write a section for a model card.")
]
Csv = Annotated[
    str | None, option("--csv", panel=OUTPUT, metavar="FILE", help="Also write every comparison as a table.")
]
NoColor = Annotated[
    bool, option("--no-color", panel=OUTPUT, help="No colours, as with the environment variable NO_COLOR.")
]
SignedBy = Annotated[
    str | None, option("--signed-by", panel=OUTPUT, metavar="NAME", help="Who signs the report; with today's date.")
]
Record = Annotated[str, typer.Argument(metavar="RECORD", help="The JSON file of an audit.")]

# count ---------------------------------------------------------------------------------------

Table = Annotated[
    str,
    option("--output", "-o", panel=OUTPUT, metavar="FILE", help="Where to write the table: a .json or .parquet file."),
]
MinimumCell = Annotated[
    int | None,
    option(
        "--minimum-cell",
        panel=OUTPUT,
        metavar="PEOPLE",
        help="Write no number of people that is smaller than this.",
        min=1,
    ),
]

# scan ----------------------------------------------------------------------------------------

_SEARCH = "The search"
ScanFile = Annotated[str, typer.Argument(metavar="FILE", help="A CSV (.csv, .csv.gz, .tsv) or Parquet file.")]
ScanSensitive = Annotated[list[str] | None, column("--sensitive", "Columns that describe subgroups. May be repeated.")]
Feature = Annotated[
    list[str] | None,
    column("--feature", "Further columns that describe subgroups, or their contexts. May be repeated."),
]
MaxDepth = Annotated[
    int, option("--max-depth", panel=_SEARCH, metavar="COLUMNS", help="The most columns that describe a subgroup.")
]
MinGroupSize = Annotated[
    int,
    option(
        "--min-group-size",
        panel=_SEARCH,
        metavar="PEOPLE",
        help="The fewest people of a subgroup, and of those it is compared with.",
    ),
]
Bins = Annotated[
    int, option("--n-bins", panel=_SEARCH, metavar="NUMBER", help="Into how many intervals numbers are cut.")
]
MaxSubgroups = Annotated[
    int, option("--max-subgroups", panel=_SEARCH, metavar="NUMBER", help="The most subgroups that are searched.")
]
ScanMetric = Annotated[
    list[str] | None,
    option(
        "--metric",
        panel=TEST,
        metavar="NAME",
        help="A rate, a criterion or a mean. May be repeated.  [default: equalized_odds]",
        autocompletion=metrics_of_audit,
    ),
]
ScanCompare = Annotated[
    Literal["to_rest", "in_context"],
    option(
        "--compare",
        panel=TEST,
        help="What a subgroup is compared with: everyone else, or the others with its values of --feature.",
    ),
]
Guarantee = Annotated[
    Literal["familywise", "split", "fdr", "fdr_bh"],
    option(
        "--guarantee",
        panel=TEST,
        help="What --alpha bounds: the probability of any false positive (split: searched on one half of the people, "
        "tested on the other), or the expected share of false positives (fdr, fdr_bh).",
    ),
]
ScanAlpha = Annotated[
    float, option("--alpha", panel=TEST, metavar="LEVEL", help="The significance level of the whole scan.")
]
Permutations = Annotated[
    int, option("--n-resamples", panel=TEST, metavar="NUMBER", help="Permutations of people, for means.")
]
ScanSeed = Annotated[
    int, option("--seed", panel=TEST, metavar="NUMBER", help="The seed of halves and of permutations.")
]
ScanJson = Annotated[
    str | None, option("--json", panel=OUTPUT, metavar="FILE", help="Also write what was found as JSON.")
]

# demo ----------------------------------------------------------------------------------------

DemoHtml = Annotated[
    str | None,
    option("--html", panel=OUTPUT, metavar="FILE", help="Where to write the page.  [default: skfairtest-demo.html]"),
]
NoHtml = Annotated[bool, option("--no-html", panel=OUTPUT, help="Write no page.")]

# power ---------------------------------------------------------------------------------------

PowerMetric = Annotated[
    str,
    option(
        "--metric",
        panel=_METRIC,
        metavar="NAME",
        help="A rate, a criterion, a mean or roc_auc.",
        autocompletion=metrics_of_power,
    ),
]
Rate = Annotated[
    list[str] | None,
    option("--rate", panel=_ASSUMED, metavar="VALUE", help="The true value in a group: once per group."),
]
People = Annotated[
    list[int] | None,
    option("--n", panel=_ASSUMED, metavar="PEOPLE", help="People in a group: once per group, or once for all."),
]
Baseline = Annotated[
    str | None,
    option("--baseline", panel=_ASSUMED, metavar="VALUE", help="The value in all groups but the first."),
]
Power = Annotated[
    float | None,
    option("--power", panel=_ASSUMED, metavar="SHARE", help="The chance of detecting the disparity.  [default: 0.8]"),
]
Share = Annotated[
    list[float] | None,
    option(
        "--share",
        panel=_ASSUMED,
        metavar="SHARE",
        help="The share of people in a group, once per group.  [default: equal]",
    ),
]
BaseRate = Annotated[
    list[float] | None,
    option(
        "--base-rate",
        panel=_ASSUMED,
        metavar="SHARE",
        help="The share of a group for whom the rate is computed (for a true positive rate, the truly positive): once, "
        "or once per group.",
    ),
]
PowerAlpha = Annotated[
    float, option("--alpha", panel=TEST, metavar="LEVEL", help="The significance level of the test.")
]
PowerCompare = Annotated[
    Literal["between_groups", "to_overall", "to_rest", "to_reference"],
    option("--compare", panel=TEST, help="What a group is compared with; the reference is the last group."),
]
Alternative = Annotated[
    Literal["two-sided", "greater", "less", "equivalence"],
    option(
        "--alternative",
        panel=TEST,
        help='What the test looks for; "equivalence": that groups are alike within --margin.',
    ),
]
Direction = Annotated[
    Literal["auto", "up", "down"],
    option("--direction", panel=TEST, help="Whether the value looked for is above or below --baseline."),
]
PowerFormat = Annotated[Literal["table", "json"], option("--format", panel=OUTPUT, help="How the answer is written.")]
