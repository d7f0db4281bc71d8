"""``skfairtest scan``: which subgroups of a file's people differ, searched over combinations of columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer

from skfairtest.cli import options
from skfairtest.cli.errors import BadInput
from skfairtest.cli.output import check_outputs, deliver, watched, write_out
from skfairtest.cli.status import Status

__all__ = ["SCAN_HELP", "scan"]

SCAN_HELP = """Search FILE, one row per person, for subgroups whose people are treated unlike others.

Every combination of up to --max-depth columns is tested, p-values are corrected for all of them together, and those
that differ are reported once, by the shortest descriptions that explain them.

\b
Examples:
  skfairtest scan people.csv --y-true outcome --y-pred decision \\
      --sensitive sex --sensitive age --metric false_positive_rate
  skfairtest scan admitted.csv --y-pred admitted --sensitive sex \\
      --feature department --compare in_context --metric selection_rate

Columns of more than --n-bins different numbers are cut into intervals.

\b
Exit status: 0 no subgroup differs, 1 at least one does at the level asked,
2 bad input, 3 an internal failure."""

File = Annotated[str, typer.Argument(metavar="FILE", help="A CSV (.csv, .csv.gz, .tsv) or Parquet file.")]
Sensitive = Annotated[
    list[str] | None, typer.Option("--sensitive", metavar="COLUMN", help="What describes subgroups. May be repeated.")
]
Feature = Annotated[
    list[str] | None,
    typer.Option("--feature", metavar="COLUMN", help="What else describes them, or their contexts. May be repeated."),
]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        "--metric", metavar="NAME", help="A rate, a criterion or a mean. May be repeated.  [default: equalized_odds]"
    ),
]
Compare = Annotated[
    Literal["to_rest", "in_context"],
    typer.Option("--compare", help="Everyone else, or those who are alike in every --feature of the subgroup."),
]
Depth = Annotated[int, typer.Option("--max-depth", metavar="COLUMNS", help="The most columns of a description.")]
Size = Annotated[int, typer.Option("--min-group-size", metavar="PEOPLE", help="The fewest people on either side.")]
Bins = Annotated[int, typer.Option("--n-bins", metavar="NUMBER", help="Intervals that numbers are cut into.")]
Guarantee = Annotated[
    Literal["familywise", "split", "fdr", "fdr_bh"],
    typer.Option("--guarantee", help="What is controlled at the level: see the guide on subgroups."),
]
Alpha = Annotated[float, typer.Option("--alpha", metavar="LEVEL", help="The level of the whole scan.")]
Seed = Annotated[int, typer.Option("--seed", metavar="NUMBER", help="Of the halves of --guarantee split.")]


def scan(
    file: File,
    *,
    y_true: options.Truth = None,
    y_pred: options.Prediction = None,
    y_score: options.Score = None,
    sensitive: Sensitive = None,
    feature: Feature = None,
    control: options.Control = None,
    metric: Metric = None,
    compare: Compare = "to_rest",
    max_depth: Depth = 2,
    min_group_size: Size = 50,
    n_bins: Bins = 5,
    guarantee: Guarantee = "familywise",
    pos_label: options.PosLabel = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    html: options.Html = None,
    json: options.Json = None,
    markdown: options.Markdown = None,
    format_: options.Format = "table",
    output: options.Output = None,
    no_color: options.NoColor = False,
) -> Status:
    """Search a file."""
    reports = {"--html": html, "--json": json, "--markdown": markdown}
    if not sensitive:
        raise BadInput("--sensitive is missing: name the columns that describe subgroups")
    check_outputs({"--output": output, **reports}, [file])
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.files import Columns, cast_pos_label, read_people
    from skfairtest.group.subgroups import SubgroupScan
    from skfairtest.report.export import to_csv

    features = list(feature or ())
    columns = Columns(y_true, y_pred, (*sensitive, *features), tuple(control or ()), y_score)

    def work() -> SubgroupScan:
        people = read_people(file, columns)
        return SubgroupScan.from_predictions(
            people.y_true,
            people.y_pred,
            y_score=people.y_score,
            sensitive_features={name: _numbers(values, n_bins) for name, values in people.sensitive.items()},
            control_features=people.control or None,
            metric=list(metric) if metric else "equalized_odds",
            compare=compare,
            max_depth=max_depth,
            min_group_size=min_group_size,
            features=features or None,
            n_bins=n_bins,
            guarantee=guarantee,
            confidence_level=1 - alpha,
            pos_label=None if pos_label is None else cast_pos_label(pos_label, people.labels),
            random_state=seed,
        )

    with watched(no_color):
        found, _ = audited(work)
    makers: dict[str, Callable[[], str]] = {
        "--html": found.to_html,
        "--json": found.to_json,
        "--markdown": found.to_markdown,
    }
    if format_ == "table":
        deliver(lambda _: found._document(), output, no_color=no_color)
    elif format_ == "csv":
        write_out(to_csv(found.to_frame()), output)
    else:
        write_out(makers[f"--{format_}"](), output)
    for option, path in reports.items():
        if path is not None:
            write_out(makers[option](), path, option=option)
    return Status.SIGNIFICANT if found.concern_ else Status.DONE


def _numbers(values: Any, n_bins: int) -> Any:
    """Return a column of text as numbers where it holds more different ones than intervals, so that it is cut."""
    import pandas as pd

    if len(values.categories) <= n_bins:
        return values
    numbers = pd.to_numeric(pd.Series(values.categories.astype(object)), errors="coerce")
    if numbers.isna().any():
        return values
    return numbers.to_numpy()[values.codes]
