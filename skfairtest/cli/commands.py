"""Commands for the people of one file.

``skfairtest scan``: which subgroups of a file's people differ, searched over combinations of columns.

``skfairtest impact``: rates of selection by category beside the highest one, for a sheet of paper.

``skfairtest compare``: whether a disparity differs between models that judged the people of one file.

``skfairtest monitor``: a batch more of a stream whose state is a file, for a job that runs every night.
"""

from __future__ import annotations

import hashlib
import os
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skfairtest.cli.errors import BadInput, Status, check_level, in_terms_of_options
from skfairtest.cli.options import Asked
from skfairtest.cli.output import check_outputs, watched, write_asked, write_out

if TYPE_CHECKING:
    from skfairtest.cli.files import People
    from skfairtest.paired.models import ModelComparison
    from skfairtest.sequential.fairness import SequentialFairnessTest


SCAN = (
    "file y_true y_pred y_score sensitive.scan feature control encoding max_depth min_group_size n_bins max_subgroups "
    "metric.scan pos_label compare.scan guarantee alpha.scan n_resamples.scan seed.scan format output html json.found "
    "markdown no_color"
)


def scan(asked: Asked) -> Status:
    r"""Search a file for subgroups that are treated unlike others.

    FILE has one row per person. Every combination of up to --max-depth of the columns --sensitive and --feature is
    tested; p-values are adjusted for all of them together. Of subgroups that differ, only those that explain the others
    are reported: a subgroup is left out if it does not differ any more once the reported ones are accounted for.

    Columns of more than --n-bins different numbers are cut into intervals of about as many people each.

    Examples
    --------
      skfairtest scan people.csv --y-true outcome --y-pred decision \
          --sensitive sex --sensitive age --metric false_positive_rate
      skfairtest scan admitted.csv --y-pred admitted --sensitive sex \
          --feature department --compare in_context --metric selection_rate

    Exit status:
      0  no subgroup was found to differ
      1  at least one subgroup differs significantly
      2  bad input, or the output could not be written
      3  an internal error
    """
    _check(asked, "columns that describe subgroups")
    from skfairtest.cli.auditing import tested
    from skfairtest.cli.files import cut_where_many, read_people
    from skfairtest.subgroups.fairness import SubgroupScan

    features = list(asked.feature or ())
    columns = asked.columns(sensitive=tuple(dict.fromkeys([*asked.sensitive, *features])))

    def work() -> SubgroupScan:
        people = read_people(asked.file, columns)
        return SubgroupScan.from_predictions(
            people.y_true,
            people.y_pred,
            y_score=people.y_score,
            sensitive_features={
                name: cut_where_many(values, asked.n_bins) for name, values in people.sensitive.items()
            },
            control_features=people.control or None,
            metric=list(asked.metric) if asked.metric else "equalized_odds",
            features=features or None,
            pos_label=people.pos_label(asked.pos_label),
            **asked.params("compare max_depth min_group_size n_bins max_subgroups guarantee n_resamples"),
        )

    return tested(asked, work, SubgroupScan.to_frame)


IMPACT = (
    "file y_pred y_score.impact sensitive.impact encoding pos_label alpha.impact smallest_share intersections "
    "format.impact output html markdown csv.impact no_color"
)


def impact(asked: Asked) -> Status:
    """Compare each category's rate of selection with the highest one.

    FILE has one row per person. Each sensitive column is a table, and so are their crossings: ratio to the highest rate
    with its interval and p-value, standard deviations, shortfalls, and how many changed decisions turn the result. The
    test is valid although the highest rate is chosen from the data. An empty field is an unknown category: these people
    are counted and not compared.

    Examples
    --------
      skfairtest impact hired.csv --y-pred hired --sensitive sex --sensitive race
      skfairtest impact scored.csv --y-score score --sensitive sex --html impact.html

    Exit status:
      0  no significant disparity was detected
      1  there is one in a table
      2  bad input, or the output could not be written
      3  an internal error
    """
    _check(asked, "columns that divide people into categories")
    import pandas as pd

    from skfairtest._utils.text import label
    from skfairtest.audit.impact import impact_table
    from skfairtest.audit.impact_report import impact_document
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.files import read_people
    from skfairtest.readers import resolve_pos_label
    from skfairtest.report import html
    from skfairtest.report import text as markdown
    from skfairtest.report.text import to_csv

    columns = asked.columns(unknown=True)

    def work() -> tuple[pd.DataFrame, int, str]:
        people = read_people(asked.file, columns)
        pos_label = people.pos_label(asked.pos_label)
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


COMPARE = (
    "file y_true y_pred.compare y_score.compare sensitive.compare control cluster encoding metric.scan pos_label "
    "compare.compare margin.compare alpha.compare adjust n_resamples.compare seed jobs format output html json.found "
    "markdown no_color"
)


def compare(asked: Asked) -> Status:
    r"""Compare the disparities of two or more models on the same people.

    FILE has one row per person, and a column of predictions for each model. The first --y-pred is the baseline, such as
    the model in production; each other one is a candidate. The null hypothesis is that a disparity between groups is
    the same under both models. Two verdicts, or two intervals, of one model each are no such test. Several sensitive
    columns are crossed: each combination of their values is a group.

    With --margin, each candidate is to be certified instead: its disparity is not larger in size by the margin or more
    than the baseline's (--margin 0: it is smaller), in every comparison.

    Examples
    --------
      skfairtest compare people.csv --y-true repaid --y-pred today \
          --y-pred candidate --sensitive sex
      skfairtest compare people.csv --y-pred today --y-pred b --y-pred c \
          --sensitive sex --metric selection_rate --html models.html
      skfairtest compare people.csv --y-true repaid --y-score today \
          --y-score candidate --sensitive sex --metric roc_auc
      skfairtest compare people.csv --y-true repaid --y-pred today \
          --y-pred candidate --sensitive sex --margin 0.02

    Exit status:
      0  no disparity differs significantly (with --margin: all are certified)
      1  a disparity differs significantly (with --margin: one is not certified)
      2  bad input, or the output could not be written
      3  an internal error
    """
    kind, models = _models(asked.y_pred, asked.y_score)
    _check(asked, "column of groups")
    from skfairtest.cli.auditing import tested
    from skfairtest.cli.files import read_people
    from skfairtest.comparisons.frames import written_labels
    from skfairtest.paired.models import compare_models

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
            metric=list(asked.metric) if asked.metric else "equalized_odds",
            pos_label=people.pos_label(asked.pos_label),
            n_jobs=asked.jobs,
            **asked.params("compare adjust n_resamples"),
            **question,
        )

    return tested(asked, work, lambda found: written_labels(found.results.reset_index()))


def _check(asked: Asked, sensitive: str) -> None:
    """Check what is typed for the people of one file, before anything is read."""
    check_level(asked.alpha)
    if not asked.sensitive:
        raise BadInput(f"--sensitive is missing: name the {sensitive}")
    check_outputs(asked.outputs, [asked.file])


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


MONITOR = (
    "state batch name time y_true y_pred y_score sensitive encoding metric.monitor group pos_label alpha.monitor "
    "margin.monitor blocks html markdown openmetrics"
)


def monitor(asked: Asked) -> Status:
    r"""Test a stream, batch by batch, valid however often you look.

    STATE is a JSON file with all that is known of earlier batches; the first run makes it. The test is valid however
    often it is looked at, if who is in a batch does not follow the outcomes in it (with --blocks queues: if samples are
    in the order in which they came, and nobody's coming followed their own outcome): a fair stream is ever called
    unfair with a probability of at most --alpha. What is tested is decided by the first run; later ones may repeat
    these options and not change them. A batch that was taken in already changes nothing. STATE is replaced as a whole:
    after a failure it is as it was. One line is written. While a run works on STATE, it holds the file STATE.lock
    beside it, and another run on the same STATE is an error. Batches of other columns are another stream, and refused.

    Examples
    --------
      skfairtest monitor hired.json --batch may.csv --y-pred hired --sensitive sex
      skfairtest monitor loans.json --batch may.csv --name may --y-pred approved \
          --sensitive sex --metric equalized_odds              (labels come later)
      skfairtest monitor loans.json --batch may_labels.csv --name may \
          --y-pred approved --y-true repaid --sensitive sex

    Exit status:
      0  no significant disparity so far
      1  there was one at some look, or the change detector raised an alarm
      2  bad input, or the output could not be written
      3  an internal error
    """
    if not asked.sensitive:
        raise BadInput("--sensitive is missing: name the column of groups")
    if (asked.y_pred is None) == (asked.y_score is None):
        raise BadInput("name one column of predictions, --y-pred or --y-score")
    if asked.alpha is not None:
        check_level(asked.alpha)
    state = asked.state
    check_outputs({"STATE": state, **asked.reports}, [asked.batch])
    import pandas as pd

    from skfairtest._utils.files import sweep
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.files import read_people

    columns = asked.columns()
    given = {name: getattr(asked, name) for name in ("metric", "pos_label", "alpha", "margin", "blocks")}
    given["groups"] = asked.group
    params = {name: value for name, value in given.items() if value is not None}
    # Whose columns they are: the state knows them by these names, and refuses others.
    option, name = ("--y-pred", asked.y_pred) if asked.y_score is None else ("--y-score", asked.y_score)

    def work() -> SequentialFairnessTest:
        people = read_people(asked.batch, columns)
        test = _continued(state, params) if os.path.exists(state) else _begun(params, people)
        predictions = people.y_pred if asked.y_score is None else people.y_score
        return test.partial_fit(
            y_pred=pd.Series(predictions, name=f"{option} {name}"),
            y_true=None if people.y_true is None else pd.Series(people.y_true, name=f"--y-true {asked.y_true}"),
            sensitive_features=people.sensitive,
            time=Path(asked.batch).name if asked.time is None else asked.time,
            batch=_name(asked.batch, test) if asked.name is None else asked.name,
        )

    with _locked(state), watched():
        sweep(*os.path.split(os.path.realpath(state)), older_than=0)
        test, _ = audited(work)
        try:
            test.to_json(state)
        except OSError as error:
            raise BadInput(f"STATE {state}: {error.strerror or error}") from error
    try:
        write_out(f"{clock.strftime('%Y-%m-%d')} {Path(state).name}: {test.summary()}\n")
        from skfairtest.sequential.report import open_metrics

        makers: dict[str, Callable[[], str | None]] = {
            "html": test.to_html,
            "markdown": test.to_markdown,
            "openmetrics": lambda: open_metrics(test),
        }
        write_asked(asked, lambda _: [], makers)
    except BadInput as error:
        raise BadInput(f"{error} (the batch was taken in: STATE {state} has advanced)") from error
    return Status.SIGNIFICANT if test.concern_ or test.changed_ else Status.DONE


@contextmanager
def _locked(state: str) -> Iterator[None]:
    """Keep other runs away from a state: what one of two at once has learnt would be lost."""
    import filelock

    path = f"{os.path.realpath(state)}.lock"  # of the file, whichever link leads to it
    lock = filelock.FileLock(path, timeout=0)  # the system frees it, however its process ends
    try:
        lock.acquire()
    except filelock.Timeout:
        raise BadInput(f"STATE {state}: another run is working on it. Run this again when it has ended") from None
    except OSError as error:
        raise BadInput(f"STATE {state}: {path} cannot be written: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.release()


def _begun(asked: dict[str, Any], people: People) -> SequentialFairnessTest:
    from skfairtest.sequential.fairness import SequentialFairnessTest

    params = dict(asked)
    if "pos_label" in params:
        params["pos_label"] = people.pos_label(params["pos_label"])
    if "metric" in params and len(params["metric"]) == 1:
        params["metric"] = params["metric"][0]
    return SequentialFairnessTest(**params)


def _continued(state: str, asked: dict[str, Any]) -> SequentialFairnessTest:
    """Read a state, and check that what was asked for is what it tests."""
    from skfairtest._utils.errors import ParameterError
    from skfairtest.sequential.fairness import SequentialFairnessTest

    try:
        test = SequentialFairnessTest.from_json(Path(state))
    except (OSError, UnicodeDecodeError, ParameterError) as error:
        raise BadInput(f"STATE {state}: {error}") from error
    has = test.get_params()
    for key, value in asked.items():
        known = has[key]
        if key == "metric":
            known = [known] if isinstance(known, str) else known
        if key == "pos_label":
            known = str(known)
        if value != known:
            typed = {"groups": "--group"}.get(key, f"--{key.replace('_', '-')}")
            raise BadInput(
                f"{typed} {value}: {state} was begun with {known}, which cannot change: leave the option out, or "
                "begin another state"
            )
    return test


def _name(path: str, test: SequentialFairnessTest) -> str:
    """What a batch is called by its file: a hash of it, however many line ends stand behind the last line."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error
    # Earlier versions took a file as it is.
    names = [hashlib.sha256(each).hexdigest()[:16] for each in (content, content.rstrip(b"\r\n") + b"\n")]
    return names[0] if names[0] in getattr(test, "batches_", ()) else names[1]
