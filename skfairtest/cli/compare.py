"""``skfairtest compare``: whether a disparity differs between models that judged the people of one file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from skfairtest.cli import options
from skfairtest.cli.errors import BadInput, check_level
from skfairtest.cli.header import UTF_8, check_encoding
from skfairtest.cli.options import OUTPUT, TEST, column, exit_status, option
from skfairtest.cli.output import check_outputs, deliver, watched, write_out
from skfairtest.cli.status import Status

if TYPE_CHECKING:
    from skfairtest.group.model_comparison import ModelComparison

__all__ = ["COMPARE_HELP", "compare"]

COMPARE_HELP = f"""Compare the disparities of two or more models on the same people.

FILE has one row per person, and a column of predictions for each model. The first --y-pred is the baseline, such as the
model in production; each other one is a candidate. The null hypothesis is that a disparity between groups is the same
under both models. Two verdicts, or two intervals, of one model each are no such test. Several sensitive columns are
crossed: each combination of their values is a group.

With --margin, each candidate is to be certified instead: its disparity is not larger in size by the margin or more
than the baseline's (--margin 0: it is smaller), in every comparison.

\b
Examples:
  skfairtest compare people.csv --y-true repaid --y-pred today \\
      --y-pred candidate --sensitive sex
  skfairtest compare people.csv --y-pred today --y-pred b --y-pred c \\
      --sensitive sex --metric selection_rate --html models.html
  skfairtest compare people.csv --y-true repaid --y-score today \\
      --y-score candidate --sensitive sex --metric roc_auc
  skfairtest compare people.csv --y-true repaid --y-pred today \\
      --y-pred candidate --sensitive sex --margin 0.02

{exit_status("no disparity differs significantly (with --margin: all are certified)",
             "a disparity differs significantly (with --margin: one is not certified)")}"""  # fmt: skip

File = Annotated[str, typer.Argument(metavar="FILE", help="A CSV (.csv, .csv.gz, .tsv) or Parquet file.")]
Predictions = Annotated[
    list[str] | None,
    column("--y-pred", "The predictions of a model: once for the baseline, then once for each candidate."),
]
Scores = Annotated[list[str] | None, column("--y-score", "In place of --y-pred, their scores, for metrics of scores.")]
Groups = Annotated[list[str] | None, column("--sensitive", "The groups. Repeat it to cross several columns.")]
Against = Annotated[
    Literal["between_groups", "to_overall", "to_rest"],
    option("--compare", panel=TEST, help="What a group is compared with."),
]
Margin = Annotated[
    float | None,
    option(
        "--margin",
        panel=TEST,
        metavar="SIZE",
        help="Certify that a candidate's disparity is not larger in size by this or more: 0.02 is 2 points; 0: it is "
        "smaller.",
    ),
]
Alpha = Annotated[
    float, option("--alpha", panel=TEST, metavar="LEVEL", help="The significance level for all candidates.")
]
Resamples = Annotated[
    int, option("--n-resamples", panel=TEST, metavar="NUMBER", help="Resamples where a p-value is sampled.")
]
Json = Annotated[str | None, option("--json", panel=OUTPUT, metavar="FILE", help="Also write what was found as JSON.")]


def compare(
    file: File,
    *,
    y_true: options.Truth = None,
    y_pred: Predictions = None,
    y_score: Scores = None,
    sensitive: Groups = None,
    control: options.Control = None,
    cluster: options.Cluster = None,
    encoding: options.Encoding = UTF_8,
    metric: options.ScanMetric = None,
    pos_label: options.PosLabel = None,
    compare: Against = "between_groups",
    margin: Margin = None,
    alpha: Alpha = 0.05,
    adjust: options.Adjust = "auto",
    n_resamples: Resamples = 9999,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    format_: options.Format = "table",
    output: options.Output = None,
    html: options.Html = None,
    json: Json = None,
    markdown: options.Markdown = None,
    no_color: options.NoColor = False,
) -> Status:
    """Compare models."""
    check_level(alpha)
    reports = {"--html": html, "--json": json, "--markdown": markdown}
    kind, models = _models(y_pred, y_score)
    if not sensitive:
        raise BadInput("--sensitive is missing: name the column of groups")
    check_outputs({"--output": output, **reports}, [file])
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.files import Columns, cast_pos_label, read_people
    from skfairtest.comparisons.frames import written_labels
    from skfairtest.group.model_comparison import compare_models
    from skfairtest.report.export import to_csv

    others = tuple((f"--{kind}", name) for name in models[1:])
    columns = Columns(
        y_true,
        models[0] if kind == "y-pred" else None,
        tuple(sensitive),
        tuple(control or ()),
        models[0] if kind == "y-score" else None,
        None,
        cluster,
        check_encoding(encoding),
        others=others if kind == "y-pred" else (),
        other_scores=others if kind == "y-score" else (),
    )
    question: dict[str, Any] = {} if margin is None else {"alternative": "fairer", "margin": margin}

    def work() -> ModelComparison:
        people = read_people(file, columns)
        first = people.y_pred if kind == "y-pred" else people.y_score
        return compare_models(
            {models[0]: first, **people.others, **people.other_scores},
            y=people.y_true,
            sensitive_features=people.sensitive,
            control_features=people.control or None,
            clusters=people.cluster,
            confidence_level=1 - alpha,
            metric=list(metric) if metric else "equalized_odds",
            compare=compare,
            adjust=None if adjust == "none" else adjust,
            pos_label=None if pos_label is None else cast_pos_label(pos_label, people.labels),
            n_resamples=n_resamples,
            random_state=seed,
            n_jobs=jobs,
            **question,
        )

    with watched(no_color):
        found, _ = audited(work)
    makers: dict[str, Callable[[], str | None]] = {
        "--html": found.to_html,
        "--json": found.to_json,
        "--markdown": found.to_markdown,
        "--csv": lambda: to_csv(written_labels(found.results.reset_index())),
    }
    if format_ == "table":
        deliver(lambda _: found._document(), output, no_color=no_color)
    else:
        write_out(makers[f"--{format_}"]() or "", output)
    for name, path in reports.items():
        if path is not None:
            write_out(makers[name]() or "", path, option=name)
    return Status.SIGNIFICANT if found.concern_ else Status.DONE


def _models(y_pred: list[str] | None, y_score: list[str] | None) -> tuple[str, list[str]]:
    """Return which option names the models, and their columns, the baseline first."""
    if y_pred and y_score:
        raise BadInput("--y-pred and --y-score: name the columns of predictions or those of scores, not both")
    kind, models = ("y-score", y_score) if y_score else ("y-pred", y_pred or [])
    if len(models) < 2:
        found = ", ".join(models) or "none"
        raise BadInput(f"--{kind}: name at least two columns, the baseline's and a candidate's; found {found}")
    repeated = next((name for name in models if models.count(name) > 1), None)
    if repeated is not None:
        raise BadInput(f"--{kind} {repeated}: is named twice: each column is one model")
    return kind, models
