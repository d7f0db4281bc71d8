"""``skfairtest compare``: whether a disparity differs between models that judged the people of one file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from skfairtest.cli.errors import BadInput, check_level
from skfairtest.cli.options import Asked, exit_status
from skfairtest.cli.output import check_outputs, watched, write_asked
from skfairtest.cli.status import Status

if TYPE_CHECKING:
    from skfairtest.paired.models import ModelComparison

ASKED = (
    "file y_true y_pred.compare y_score.compare sensitive.compare control cluster encoding metric.scan pos_label "
    "compare.compare margin.compare alpha.compare adjust n_resamples.compare seed jobs format output html json.found "
    "markdown no_color"
)
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


def compare(asked: Asked) -> Status:
    """Compare models."""
    check_level(asked.alpha)
    kind, models = _models(asked.y_pred, asked.y_score)
    if not asked.sensitive:
        raise BadInput("--sensitive is missing: name the column of groups")
    check_outputs(asked.outputs, [asked.file])
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.files import cast_pos_label, read_people
    from skfairtest.comparisons.frames import written_labels
    from skfairtest.paired.models import compare_models
    from skfairtest.report.export import to_csv

    others = tuple((f"--{kind}", name) for name in models[1:])
    if kind == "y-pred":
        columns = asked.columns(y_pred=models[0], others=others)
    else:
        columns = asked.columns(y_pred=None, y_score=models[0], other_scores=others)
    question: dict[str, Any] = {} if asked.margin is None else {"alternative": "fairer", "margin": asked.margin}

    def work() -> ModelComparison:
        people = read_people(asked.file, columns)
        first = people.y_pred if kind == "y-pred" else people.y_score
        return compare_models(
            {models[0]: first, **people.others, **people.other_scores},
            y=people.y_true,
            sensitive_features=people.sensitive,
            control_features=people.control or None,
            clusters=people.cluster,
            confidence_level=1 - asked.alpha,
            metric=list(asked.metric) if asked.metric else "equalized_odds",
            compare=asked.compare,
            adjust=None if asked.adjust == "none" else asked.adjust,
            pos_label=None if asked.pos_label is None else cast_pos_label(asked.pos_label, people.labels),
            n_resamples=asked.n_resamples,
            random_state=asked.seed,
            n_jobs=asked.jobs,
            **question,
        )

    with watched(asked.no_color):
        found, _ = audited(work)
    makers: dict[str, Callable[[], str]] = {
        "html": found.to_html,
        "json": found.to_json,
        "markdown": found.to_markdown,
        "csv": lambda: to_csv(written_labels(found.results.reset_index())),
    }
    write_asked(asked, lambda _: found._document(), makers)
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
