"""What can be typed, and what the help says about it."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from skfairtest.cli.header import UTF_8, check_encoding, columns_of_file, metrics_of_audit, metrics_of_power

if TYPE_CHECKING:
    from skfairtest.cli.files import Columns

COLUMNS, READING, TEST, OUTPUT, SEARCH, ASSUMED = (
    "Columns",
    "Reading",
    "The test",
    "Output",
    "The search",
    "Assumptions",
)
METRIC, STREAM = "Metric", "The test (decided by the first run)"
TEXT, TEXTS, NUMBER, NUMBERS = str | None, list[str] | None, float | None, list[float] | None
FORMATS = Literal["table", "json", "csv", "markdown"]
_A_FILE = "A CSV (.csv, .csv.gz, .tsv) or Parquet file."

# fmt: off
#: Arguments: type, what stands for one, and help.
ARGUMENTS: dict[str, tuple[Any, str, str]] = {
    "files": (list[str], "FILES",
        "CSV (.csv, .csv.gz, .tsv) or Parquet files, by name or as a quoted pattern; or tables of 'count'."),
    "file": (str, "FILE", _A_FILE),
    "file.record": (str, "RECORD", "The JSON file of an audit."),
    "state": (str, "STATE", "The JSON file of the stream."),
}
#: Options by their names, some of which differ between commands: type, default (... if it is required), heading, what
#: stands for a value, and help.
OPTIONS: dict[str, tuple[Any, Any, str | None, str | None, str]] = {
    # Columns
    "y_true": (TEXT, None, COLUMNS, "COLUMN", "The true labels; some metrics need none."),
    "y_pred": (TEXT, None, COLUMNS, "COLUMN", "The predictions or decisions."),
    "y_pred.compare": (TEXTS, None, COLUMNS, "COLUMN",
        "The predictions of a model: once for the baseline, then once for each candidate."),
    "y_score": (TEXT, None, COLUMNS, "COLUMN", "The scores of the positive label."),
    "y_score.compare": (TEXTS, None, COLUMNS, "COLUMN",
        "In place of --y-pred, their scores, for metrics of scores."),
    "y_score.impact": (TEXT, None, COLUMNS, "COLUMN",
        "Scores, in place of --y-pred: the rate is the share above their median."),
    "sensitive": (TEXTS, None, COLUMNS, "COLUMN",
        "The groups. Repeat it to test several columns and their intersections."),
    "sensitive.compare": (TEXTS, None, COLUMNS, "COLUMN", "The groups. Repeat it to cross several columns."),
    "sensitive.impact": (TEXTS, None, COLUMNS, "COLUMN",
        "What divides people into categories. Repeat it for several columns and their crossings."),
    "sensitive.scan": (TEXTS, None, COLUMNS, "COLUMN", "Columns that describe subgroups. May be repeated."),
    "feature": (TEXTS, None, COLUMNS, "COLUMN",
        "Further columns that describe subgroups, or their contexts. May be repeated."),
    "scan": (TEXTS, None, COLUMNS, "COLUMN",
        "Also search subgroups of this column and the groups, that nobody named. May be repeated."),
    "baseline": (TEXT, None, COLUMNS, "COLUMN",
        "The predictions of the model in production, with which these are compared."),
    "y_judge": (TEXT, None, COLUMNS, "COLUMN",
        "Where not everybody has a true label: what a judge guesses for everybody, a label or a score."),
    "label_probability": (TEXT, None, COLUMNS, "COLUMN",
        "How probable it was that a person was labelled, in place of --labelled."),
    "labelled": (Literal["at_random"] | None, None, READING, None,
        "True labels are those of a random sample of people, and an empty field is none."),
    "control": (TEXTS, None, COLUMNS, "COLUMN",
        "Compare only people with the same value here. May be repeated."),
    "weight": (TEXT, None, COLUMNS, "COLUMN", "How many people each row counts for."),
    "cluster": (TEXT, None, COLUMNS, "COLUMN",
        "Which rows belong together, such as several decisions on one person."),
    # Reading
    "missing": (Literal["raise", "exclude", "group", "bounds"], "raise", READING, None,
        "What becomes of people whose group is an empty field: an error; they are left out and counted; they are a "
        "group; or (of rates) p-values and intervals that hold whichever group they are in."),
    "encoding": (str, UTF_8, READING, "NAME",
        "The encoding of text files, such as cp1252 (Windows), latin-1 or utf-16."),
    "threshold": (NUMBER, None, READING, "SCORE",
        "Predict 1 where the score is at least this, in place of --y-pred."),
    "score_bins": (TEXT, None, READING, "BINS",
        "Count scores in bins: how many bins, the edges between them (0.25,0.5), or a table that has bins."),
    "engine": (Literal["polars", "duckdb", "spark"] | None, None, READING, None,
        "Count people with this engine: files may be larger than memory."),
    "cache": (TEXT, None, READING, "FOLDER",
        "Keep the table of each file here, so that an interrupted run continues."),
    # The batch of a stream
    "batch": (str, ..., None, "FILE", "The batch: a CSV (.csv, .csv.gz, .tsv) or Parquet file, one row per sample."),
    "name": (TEXT, None, None, "NAME",
        "What the batch is called, by which it is recognised.  [default: a hash of the file]"),
    "time": (TEXT, None, None, "TEXT", "When the batch is of, for displays.  [default: the file's name]"),
    # The search
    "max_depth": (int, 2, SEARCH, "COLUMNS", "The most columns that describe a subgroup."),
    "min_group_size": (int, 50, SEARCH, "PEOPLE",
        "The fewest people of a subgroup, and of those it is compared with."),
    "n_bins": (int, 5, SEARCH, "NUMBER", "Into how many intervals numbers are cut."),
    "max_subgroups": (int, 200_000, SEARCH, "NUMBER", "The most subgroups that are searched."),
    # The test
    "impact": (bool, False, TEST, None,
        "Also make the impact tables: rates of positive predictions beside the highest one, of each sensitive column "
        "and their intersections."),
    "metric": (TEXTS, None, TEST, "NAME",
        "A rate, a criterion or another metric. May be repeated.  [default: standard]"),
    "metric.scan": (TEXTS, None, TEST, "NAME",
        "A rate, a criterion or a mean. May be repeated.  [default: equalized_odds]"),
    "metric.monitor": (TEXTS, None, STREAM, "NAME",
        "A rate, a criterion or a bounded mean. May be repeated.  [default: selection_rate]"),
    "metric.power": (str, "selection_rate", METRIC, "NAME", "A rate, a criterion, a mean or roc_auc."),
    "group": (TEXTS, None, STREAM, "NAME",
        "A group that can come, of one sensitive column; repeat it for all.  [default: those of the first batch]"),
    "pos_label": (TEXT, None, TEST, "VALUE",
        "The positive label.  [default: 1 where labels are 0 and 1 or -1 and 1; True]"),
    "positive_means": (TEXT, None, TEST, "WORDS",
        'What happens to people who are predicted positive, such as "denied": sentences say it.'),
    "favorable": (bool | None, None, TEST, None,
        "Whether a positive prediction is good for people: the report then says who is worse off."),
    "compare": (Literal["between_groups", "to_overall", "to_rest", "to_highest", "to_lowest"], "between_groups", TEST,
        None, "What a group of one column is compared with."),
    "compare.compare": (Literal["between_groups", "to_overall", "to_rest"], "between_groups", TEST, None,
        "What a group is compared with."),
    "compare.scan": (Literal["to_rest", "in_context"], "to_rest", TEST, None,
        "What a subgroup is compared with: everyone else, or the others with its values of --feature."),
    "compare.power": (Literal["between_groups", "to_overall", "to_rest", "to_reference"], "between_groups", TEST, None,
        "What a group is compared with; the reference is the last group."),
    "disparity": (Literal["difference", "ratio", "odds_ratio"], "difference", TEST, None,
        "How two values are compared."),
    "margin": (NUMBER, None, TEST, "SIZE",
        "A disparity to tolerate: 0.05 is 5 points; as a ratio, 0.8 is 0.8 to 1.25."),
    "margin.power": (TEXT, None, TEST, "SIZE",
        "A disparity to tolerate: 0.05 is 5 points; as a ratio, 0.8 is 0.8 to 1.25. For equivalence also LOW:HIGH, one "
        "of which may be left out: -0.05: is at most 5 points below."),
    "margin.compare": (NUMBER, None, TEST, "SIZE",
        "Certify that a candidate's disparity is not larger in size by this or more: 0.02 is 2 points; 0: it is "
        "smaller."),
    "margin.monitor": (NUMBER, None, STREAM, "SIZE", "The difference that is tolerated.  [default: 0]"),
    "guarantee": (Literal["familywise", "split", "fdr", "fdr_bh"], "familywise", TEST, None,
        "What --alpha bounds: the probability of any false positive (split: searched on one half of the people, tested "
        "on the other), or the expected share of false positives (fdr, fdr_bh)."),
    "alternative": (Literal["two-sided", "greater", "less", "equivalence"], "two-sided", TEST, None,
        'What the test looks for; "equivalence": that groups are alike within --margin.'),
    "direction": (Literal["auto", "up", "down"], "auto", TEST, None,
        "Whether the value looked for is above or below --baseline."),
    "alpha": (float, 0.05, TEST, "LEVEL", "The significance level of the whole audit."),
    "alpha.compare": (float, 0.05, TEST, "LEVEL", "The significance level for all candidates."),
    "alpha.impact": (float, 0.05, TEST, "LEVEL", "The significance level of each table."),
    "alpha.monitor": (NUMBER, None, STREAM, "LEVEL",
        "The probability of ever finding a disparity where there is none.  [default: 0.05]"),
    "alpha.power": (float, 0.05, TEST, "LEVEL", "The significance level of the test."),
    "alpha.scan": (float, 0.05, TEST, "LEVEL", "The significance level of the whole scan."),
    "smallest_share": (float, 0.02, TEST, "SHARE",
        "Categories with a smaller share of the people are shown and not compared."),
    "blocks": (TEXT, None, STREAM, "WHAT",
        "What is compared: samples of both groups in a batch (batches), or the next ones of each group's own queue "
        "(queues).  [default: queues if the first batch is a single sample, batches otherwise]"),
    "adjust": (Literal["auto", "holm", "bonferroni", "fdr_bh", "fdr_by", "none"], "auto", TEST, None,
        "How p-values are adjusted for the number of comparisons."),
    "intersections": (bool, True, TEST, None, "Test intersections of sensitive columns as well."),
    "compare_intersections": (Literal["to_rest", "between_groups", "to_parents"], "to_rest", TEST, None,
        "What a group of several columns is compared with; to_parents: with the people who differ from it in one "
        "column only."),
    "n_resamples": (str, "9999", TEST, "NUMBER",
        'Resamples where a p-value is sampled; "adaptive" stops early where it can.'),
    "n_resamples.compare": (int, 9999, TEST, "NUMBER", "Resamples where a p-value is sampled."),
    "n_resamples.scan": (int, 999, TEST, "NUMBER", "Permutations of people, for means."),
    "seed": (int, 0, TEST, "NUMBER", "The seed of p-values that are sampled."),
    "seed.scan": (int, 0, TEST, "NUMBER", "The seed of halves and of permutations."),
    "jobs": (int | None, None, TEST, "NUMBER", "Parallel processes; -1 for one per processor.  [default: 1]"),
    # Assumptions about power
    "rate": (TEXTS, None, ASSUMED, "VALUE", "The true value in a group: once per group."),
    "n": (list[int] | None, None, ASSUMED, "PEOPLE", "People in a group: once per group, or once for all."),
    "baseline.power": (TEXT, None, ASSUMED, "VALUE", "The value in all groups but the first."),
    "power": (NUMBER, None, ASSUMED, "SHARE", "The chance of detecting the disparity.  [default: 0.8]"),
    "share": (NUMBERS, None, ASSUMED, "SHARE",
        "The share of people in a group, once per group.  [default: equal]"),
    "base_rate": (NUMBERS, None, ASSUMED, "SHARE",
        "The share of a group for whom the rate is computed (for a true positive rate, the truly positive): once, or "
        "once per group."),
    "accept": (TEXTS, None, TEST, "ID=REASON",
        "Accept a known finding, by the identifier that --junit and --sarif write, with the reason, which the record "
        "keeps; the exit status is about the others. ID:LIMIT=REASON accepts it up to a disparity, and reports it "
        "again once its interval lies beyond. May be repeated."),
    # Output
    "format": (FORMATS, "table", OUTPUT, None, "How the result is written."),
    "format.impact": (Literal["table", "csv", "markdown"], "table", OUTPUT, None, "How the result is written."),
    "format.power": (Literal["table", "json"], "table", OUTPUT, None, "How the answer is written."),
    "output": (TEXT, None, OUTPUT, "FILE", "Write it to this file.  [default: standard output]"),
    "output.count": (str, ..., OUTPUT, "FILE", "Where to write the table: a .json or .parquet file."),
    "details": (bool, False, OUTPUT, None,
        "Show every comparison, in tables and in sentences; --html prints all of it."),
    "html": (TEXT, None, OUTPUT, "FILE", "Also write a page for the browser."),
    "html.demo": (TEXT, None, OUTPUT, "FILE", "Where to write the page.  [default: skfairtest-demo.html]"),
    "no_html": (bool, False, OUTPUT, None, "Write no page."),
    "json": (TEXT, None, OUTPUT, "FILE", "Also write the record that 'report' reads."),
    "json.found": (TEXT, None, OUTPUT, "FILE", "Also write what was found as JSON."),
    "markdown": (TEXT, None, OUTPUT, "FILE", "Also write a section for a model card."),
    "csv": (TEXT, None, OUTPUT, "FILE", "Also write every comparison as a table."),
    "csv.impact": (TEXT, None, OUTPUT, "FILE", "Also write every row with all numbers."),
    "junit": (TEXT, None, OUTPUT, "FILE", "Also write every comparison as a test case of JUnit, for CI systems."),
    "sarif": (TEXT, None, OUTPUT, "FILE", "Also write the significant disparities as SARIF 2.1.0, for CI systems."),
    "openmetrics": (TEXT, None, OUTPUT, "FILE", "Also write what is known so far as OpenMetrics text, for collectors."),
    "minimum_cell": (int | None, None, OUTPUT, "PEOPLE", "Write no number of people that is smaller than this."),
    "no_color": (bool, False, OUTPUT, None, "No colours, as with the environment variable NO_COLOR."),
}
#: What else is to be said of some.
FURTHER: dict[str, dict[str, Any]] = {
    "metric": {"autocompletion": metrics_of_audit},
    "metric.scan": {"autocompletion": metrics_of_audit},
    "metric.power": {"autocompletion": metrics_of_power},
    "minimum_cell": {"min": 1},
}
FLAGS = {
    "favorable": ("--favorable/--unfavorable",),
    "intersections": ("--intersections/--no-intersections",),
    "output.count": ("--output", "-o"),
    "no_html": ("--no-html",), "no_color": ("--no-color",), "details": ("--details",), "impact": ("--impact",),
}
# fmt: on
_REPORTS = ("html", "json", "markdown", "csv", "openmetrics", "junit", "sarif")


class Asked:
    """What was typed: the options and arguments of a command, by their names."""

    def __init__(self, command: str, **given: Any) -> None:
        self.command = command
        vars(self).update(given)

    def __getattr__(self, name: str) -> Any:
        """An option that the command does not have is None."""
        return None

    @property
    def reports(self) -> dict[str, str | None]:
        """The option of each report that is written to a file, and its file."""
        return {f"--{kind}": vars(self)[kind] for kind in _REPORTS if kind in vars(self)}

    @property
    def outputs(self) -> dict[str, str | None]:
        """All options that name a file to write, with their files."""
        return {"--output": self.output, **self.reports}

    def params(self, names: str) -> dict[str, Any]:
        """Parameters of the package that are options of the same names, and those that every test of people has."""
        given = {name: getattr(self, name) for name in names.split()}
        if "adjust" in given:
            given["adjust"] = None if self.adjust == "none" else self.adjust
        return {**given, "confidence_level": 1 - self.alpha, "random_state": self.seed}

    def columns(self, **others: Any) -> Columns:
        """Which columns are what."""
        from skfairtest.cli.files import Columns

        given = {name: getattr(self, name) for name in ("y_true", "y_pred", "y_score", "weight", "cluster")}
        several = {name: tuple(getattr(self, name) or ()) for name in ("sensitive", "control")}
        return Columns(**{**given, **several, "encoding": check_encoding(self.encoding), **others})


def signature(names: str) -> Signature:
    """The arguments and options of a command, as typer reads them."""
    parameters = [Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)]
    for key in names.split():
        name = key.partition(".")[0]
        declared: Any
        if key in ARGUMENTS:
            (kind, metavar, text), default = ARGUMENTS[key], Parameter.empty
            declared = typer.Argument(metavar=metavar, help=text)
        else:
            kind, default, panel, shown, text = OPTIONS[key]
            flags, further = FLAGS.get(key, (f"--{name.replace('_', '-')}",)), FURTHER.get(key, {})
            if panel == COLUMNS:
                further = {"autocompletion": columns_of_file}
            declared = typer.Option(*flags, rich_help_panel=panel, metavar=shown, help=text, **further)
            default = Parameter.empty if default is ... else default
        annotation = Annotated[kind, declared]  # type: ignore[valid-type]
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
    return Signature(parameters)


def command_of(work: Callable[[Asked], Any], names: str) -> Callable[..., Any]:
    """A function with the arguments and options of a command, which are what `work` is asked."""

    def command(context: typer.Context, **given: Any) -> Any:
        return work(Asked(context.obj, **given))

    found = signature(names)
    command.__signature__ = found  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in found.parameters.values()}
    return command
