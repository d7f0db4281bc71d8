"""The commands, and what their exit status means.

0: no significant disparity; 1: a significant disparity; 2: bad input; 3: an internal error; 4: not everything could be
tested. A command imports what it computes with when it runs, so that the help is fast.
"""

import os
import shlex
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from skfairtest._utils.errors import meant
from skfairtest._version import __version__
from skfairtest.cli import options as opt
from skfairtest.cli.errors import OPTIONS, BadInput, Status, in_terms_of_options, one_line
from skfairtest.cli.output import check_outputs, drop_output, listening, tell, write, write_files, write_out

if TYPE_CHECKING:
    from skfairtest import FairnessAudit

PROGRAM = "skfairtest"
Missing = Literal["raise", "exclude", "group", "bounds"]
Compare = Literal["between_groups", "to_overall", "to_rest", "to_highest", "to_lowest"]
Intersections = Literal["to_rest", "between_groups", "to_parents"]
Reference = Literal["between_groups", "to_overall", "to_rest", "to_reference"]
Alternative = Literal["two-sided", "greater", "less", "equivalence"]
app = typer.Typer(
    name=PROGRAM,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        if sys.stdout is None:
            raise BadInput("standard output is closed")
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        command = shlex.join([PROGRAM, *arguments])
        return Status(program.main(arguments, PROGRAM, standalone_mode=False, obj=command) or Status.DONE)
    except (KeyboardInterrupt, typer.Abort):
        return Status.INTERRUPTED
    except SystemExit:  # typer: the reader of the help has seen enough
        return Status.DONE
    except Exception as error:
        if isinstance(error, ModuleNotFoundError):
            raise  # an extra that is not installed: the caller names it
        status, message = _failure(error)
        if os.environ.get("SKFAIRTEST_DEBUG") and not isinstance(error, _USAGE_ERROR):
            traceback.print_exc()
        tell(f"{PROGRAM}: {one_line(message)}")
        return status


#: typer's errors about what was typed.
_USAGE_ERROR: Any = typer.BadParameter.__base__


def _failure(error: Exception) -> tuple[Status, str]:
    """The status of an error, and what to say about it."""
    if isinstance(error, _USAGE_ERROR):
        message = error.format_message().rstrip(".")
        command = error.ctx.command if error.ctx is not None else program
        known = {name.strip("-").replace("-", "_"): name for each in command.params for name in each.opts}
        known |= {each.name: each.opts[0] for each in command.params if each.name not in known}
        typed = error.option_name.strip("-").replace("-", "_") if hasattr(error, "possibilities") else ""
        if (near := meant(typed, known)) is not None:
            message = f"No such option: {error.option_name}. Did you mean {known.get(near, near)}?"
        if "extra argument" in message:
            message += ": repeat an option for each of its values, as in --rate 0.3 --rate 0.5"
        path = error.ctx.command_path if error.ctx is not None else PROGRAM
        return Status.BAD_INPUT, f"{message} ({path} -h shows what can be typed)"
    if isinstance(error, BadInput):
        return Status.BAD_INPUT, str(error)
    if isinstance(error, ValueError | NotImplementedError):
        return Status.BAD_INPUT, in_terms_of_options(error)
    if isinstance(error, OSError):  # files' errors have been dealt with
        drop_output()
        return Status.BAD_INPUT, f"standard output: {error.strerror or error}"
    hint = "" if os.environ.get("SKFAIRTEST_DEBUG") else " (SKFAIRTEST_DEBUG=1 shows where)"
    return Status.INTERNAL, f"internal error: {type(error).__name__}: {error}{hint}"


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Test whether a model treats groups of people differently by more than chance explains.

    \b
    An example, with data that come with the package:
      skfairtest demo
    Your predictions, in a file with one row per person:
      skfairtest audit people.csv --y-true outcome --y-pred decision --sensitive sex
    How many people such a test needs:
      skfairtest power --rate 0.3 --rate 0.5
    """  # noqa: D301 (a backspace keeps the lines of the next paragraph)
    if version:
        write_out(f"{PROGRAM} {__version__}\n")
    elif context.invoked_subcommand is None:
        write_out(context.get_help() + "\n")


@app.command()
def demo(
    html: Annotated[str, opt.output("Where to write the page.")] = "skfairtest-demo.html",
    details: opt.Details = False,
) -> Status:
    """Audit the COMPAS scores, a data set in the package, by race and sex.

    The report is also written as a page for the browser. The exit status is 0, although there are disparities.
    """
    check_outputs({"html": html})
    from skfairtest import FairnessAudit
    from skfairtest.datasets import load_compas
    from skfairtest.metrics import RATES

    rated, again = "were rated a medium or high risk", "people who were charged again within two years"
    metrics = [
        replace(RATES["false_positive_rate"], happens=rated, among=again.replace("were", "were not")),
        replace(RATES["true_positive_rate"], happens=rated, among=again),
        replace(RATES["precision"], happens=again.removeprefix("people who "), among=f"people who {rated}"),
    ]
    paragraphs = [" ".join(text.split()) for text in load_compas().DESCR.split("\n\n")]
    with listening():
        table = load_compas(as_table=True).regroup(["race", "sex"])
        audit = FairnessAudit.from_table(table, metrics=metrics, favorable=False, random_state=0)
    record = replace(
        audit.record_,
        title="Does COMPAS treat groups alike?",
        about=(
            f"{audit.n_samples_:,} people in Broward County, Florida, scored by COMPAS for their risk of being charged "
            "again. Prediction: a medium or high risk (a score of 5 to 10). Truth: a new charge within two years. If "
            "errors fall on all groups alike, the rates below are the same in every group.",
        ),
        sources=tuple(text for text in paragraphs if text.startswith(("Source:", "Caution:", "Reference:"))),
    )
    audit._say(record)
    _write_audit(audit, {"html": html}, details)
    write_out(f"\nThe same report as a page for the browser, with drawings: {one_line(os.path.abspath(html))}\n")
    return Status.DONE


@app.command()
def audit(
    context: typer.Context,
    files: opt.Files,
    sensitive_features: opt.Sensitive,
    y_true: opt.YTrue = None,
    y_pred: opt.YPred = None,
    y_score: opt.YScore = None,
    control_features: opt.Control = None,
    sample_weight: opt.Weight = None,
    clusters: opt.Cluster = None,
    scan: Annotated[
        list[str] | None, opt.column("Also search subgroups of this column and the groups; repeatable.")
    ] = None,
    y_judge: Annotated[
        str | None, opt.column("A guess of everyone's true label, if --y-true has labels for some people.")
    ] = None,
    label_probability: Annotated[str | None, opt.column("How likely each person was to be labelled.")] = None,
    labelled: Annotated[Literal["at_random"] | None, opt.option("How people with a label were chosen.")] = None,
    missing: Annotated[Missing, opt.option("How to treat people whose group is an empty field.")] = "raise",
    encoding: opt.Encoding = "utf-8",
    prediction_threshold: Annotated[
        float | None, opt.option("Predict 1 from this score on; replaces --y-pred.", "SCORE", "--threshold")
    ] = None,
    impact: Annotated[bool, opt.option("Also compare selection rates with the highest one.", None, "--impact")] = False,
    metrics: opt.Metrics = None,
    pos_label: opt.PosLabel = None,
    positive_means: Annotated[
        str | None, opt.option('What a positive prediction means, such as "denied".', "WORDS")
    ] = None,
    favorable: Annotated[
        bool | None, opt.option("Whether a positive prediction is good for people.", None, "--favorable/--unfavorable")
    ] = None,
    unit: Annotated[str, opt.option("What a row is, in the plural, such as answers.", "WORD")] = "people",
    compare: Annotated[Compare, opt.option("What a group of one column is compared with.")] = "between_groups",
    disparity: opt.Disparity = "difference",
    margin: opt.Margin = None,
    alpha: opt.Alpha = 0.05,
    adjust: opt.Adjust = "auto",
    intersections: Annotated[bool, opt.option("Test intersections of the columns as well.")] = True,
    compare_intersections: Annotated[Intersections, opt.option("What an intersection is compared with.")] = "to_rest",
    n_resamples: opt.Resamples = 9999,
    random_state: opt.Seed = 0,
    n_jobs: opt.Jobs = None,
    accept: opt.Accept = None,
    details: opt.Details = False,
    html: opt.Html = None,
    json: opt.Json = None,
    csv: opt.Csv = None,
    markdown: opt.Markdown = None,
    junit: opt.JUnit = None,
) -> Status:
    """Test predictions for disparities between groups of people.

    \b
      skfairtest audit people.csv --y-pred decision --pos-label hired --sensitive sex
          are men and women selected alike?
      skfairtest audit people.csv --y-true outcome --y-pred decision --sensitive sex --sensitive race
          are errors, too, alike by sex, race and both? --html audit.html writes a page

    FILES have one row per person. Each sensitive column is tested, then their intersections; p-values are adjusted for
    all comparisons together. The standard metrics are selection_rate, true_positive_rate, false_positive_rate,
    precision and accuracy, with --y-score also roc_auc and calibration; means of predictions and errors, if predictions
    are numbers; without --y-true, those that need no true labels.

    In a CSV file only an empty field is missing: a group may be called NA or 007. Labels are numbers if all of them are
    written like numbers; scores and weights are numbers with a decimal point.

    Files that do not fit into memory: FairnessTest.from_frame, in Python, takes frames of polars, DuckDB, Spark, Dask
    and ibis (doc/guide/scale.md).

    The exit status is 0 if no significant disparity was detected, 1 if there is one, 2 for bad input, 3 for an internal
    error, 4 if not everything could be tested.
    """  # noqa: D301
    outputs = check_outputs(opt.outputs(context), files)
    if prediction_threshold is not None and (y_score is None or y_pred is not None):
        raise BadInput("--threshold makes predictions of --y-score, and replaces --y-pred")
    from skfairtest import FairnessAudit, SubgroupScan
    from skfairtest._utils.text import label
    from skfairtest.cli.reading import read_people, typed_label

    few = y_judge is not None or label_probability is not None or labelled is not None
    optional = {"sensitive_features": missing != "raise", "y_true": few}
    named = opt.columns(context)
    settings = opt.settings(
        context,
        "compare compare_intersections intersections disparity margin adjust missing labelled impact favorable "
        "positive_means unit n_resamples random_state n_jobs",
    )
    searched: dict[str, Any] = {}
    with listening() as told:
        columns = read_people(files, named, encoding, optional)
        if (features := columns.pop("scan")) is not None:
            searching = metrics or ("selection_rate" if y_true is None else "equalized_odds")
            scanned = SubgroupScan(features=list(features), metric=searching, confidence_level=1 - alpha)
            searched = {"scan": scanned, "X": features}
        if prediction_threshold is not None:
            columns["y_pred"] = columns["y_score"].ge(prediction_threshold).astype(int)
        result = FairnessAudit.from_predictions(
            **columns,
            **searched,
            **settings,
            metrics=metrics or "standard",
            pos_label=typed_label(pos_label, columns),
            confidence_level=1 - alpha,
        )
    record: Any = result.record_
    name = label(os.path.basename(files[0]) if len(files) == 1 else f"{len(files)} files")
    read = ", ".join(f"{OPTIONS[role]} {label(column)}" for role, column in named.items() if isinstance(column, str))
    record = replace(
        record,
        title=f"Fairness audit of {name}",
        about=(f"{len(columns['sensitive_features']):,} people; {read}.",),
        provenance={**record.provenance, "command": context.obj},
        not_compared=tuple((names, in_terms_of_options(reason)) for names, reason in record.not_compared),
        warnings=tuple(dict.fromkeys((*map(one_line, map(in_terms_of_options, record.warnings)), *told))),
    )
    result._say(record)
    return _write_audit(result, outputs, details, accept)


@app.command()
def report(
    context: typer.Context,
    record_file: Annotated[str, typer.Argument(metavar="RECORD", help="What --json has written.")],
    accept: opt.Accept = None,
    details: opt.Details = False,
    html: opt.Html = None,
    csv: opt.Csv = None,
    markdown: opt.Markdown = None,
    junit: opt.JUnit = None,
) -> Status:
    """Write the reports of an audit, or of another test, that --json has saved.

    Nothing is computed again: every number and sentence is that of what was saved, and so is the exit status.
    """
    outputs = check_outputs(opt.outputs(context), [record_file])
    import skfairtest
    from skfairtest.paired.fairness import ModelComparison
    from skfairtest.report.record import read_record

    try:
        source = Path(record_file)
        result: Any = getattr(skfairtest, str(read_record(source)["test"]), ModelComparison).from_json(source)
    except OSError as error:
        raise BadInput(f"{record_file}: {error.strerror or error}") from error
    except ValueError as error:
        raise BadInput(f"{record_file}: {str(error).removeprefix('source ')}") from error
    if isinstance(result, skfairtest.FairnessAudit):
        return _write_audit(result, outputs, details, accept)
    for option, given in (("--accept", accept), ("--junit", junit)):
        if given:
            raise BadInput(f"{option} is for audits; {record_file} holds a {type(result).__name__}")
    return write(result._report(), outputs, result.to_frame())


def _write_audit(
    audit: "FairnessAudit", outputs: Mapping[str, str | None], details: bool, accepted: Sequence[str] | None = None
) -> Status:
    """Write an audit; its status does not count what was accepted, and says whether everything could be tested."""
    from skfairtest.audit.findings import accept, findings_of, to_junit

    if accepted:
        audit._say(accept(audit.record_, opt.reasons(accepted)))
    record = audit.record_
    write(
        audit._report(), outputs, audit.to_frame(), details=details,
        rest="--details shows it here, --html FILE writes a page, --csv FILE has all comparisons.",
        json=audit.to_json, junit=lambda: to_junit(record),
    )  # fmt: skip
    if any(each["concern"] and each["reason"] is None for each in findings_of(record)):
        return Status.SIGNIFICANT
    return Status.NOT_TESTED if record.untested or record.individual_verdict == "no_trace" else Status.DONE


@app.command()
def scan(
    context: typer.Context,
    files: opt.Files,
    sensitive_features: opt.Sensitive,
    y_true: opt.YTrue = None,
    y_pred: opt.YPred = None,
    y_score: opt.YScore = None,
    features: Annotated[
        list[str] | None, opt.column("Further columns that describe subgroups; repeatable.", "--feature")
    ] = None,
    control_features: opt.Control = None,
    encoding: opt.Encoding = "utf-8",
    max_depth: Annotated[int, opt.option("The most columns that describe a subgroup.")] = 2,
    min_group_size: Annotated[int, opt.option("The fewest people of a subgroup.")] = 50,
    n_bins: Annotated[int, opt.option("The number of intervals that numbers are cut into.")] = 5,
    max_subgroups: Annotated[int, opt.option("The most subgroups that are searched.")] = 200_000,
    metric: opt.Metrics = None,
    pos_label: opt.PosLabel = None,
    compare: Annotated[
        Literal["to_rest", "in_context"], opt.option("With everyone else, or those with its --feature values.")
    ] = "to_rest",
    guarantee: Annotated[
        Literal["familywise", "split"], opt.option("split: search one half of the people, test on the other.")
    ] = "familywise",
    alpha: opt.Alpha = 0.05,
    n_resamples: opt.Resamples = 999,
    random_state: opt.Seed = 0,
    html: opt.Html = None,
    json: opt.Json = None,
    csv: opt.Csv = None,
    markdown: opt.Markdown = None,
) -> Status:
    """Search combinations of columns for subgroups that differ.

    P-values are adjusted for all subgroups together. Of those that differ, only the ones that explain the others are
    reported. Columns of more than --n-bins different numbers are cut into intervals.
    """
    outputs = check_outputs(opt.outputs(context), files)
    from skfairtest import SubgroupScan
    from skfairtest.cli.reading import read_people, typed_label

    settings = opt.settings(
        context, "compare max_depth min_group_size n_bins max_subgroups guarantee n_resamples random_state"
    )
    named = opt.columns(context)
    named["sensitive_features"] = [*sensitive_features, *(named.pop("features") or ())]
    with listening():
        columns = read_people(files, named, encoding, bins={"sensitive_features": n_bins})
        test = SubgroupScan.from_predictions(
            **columns,
            **settings,
            metric=metric or "equalized_odds",
            features=features,
            pos_label=typed_label(pos_label, columns),
            confidence_level=1 - alpha,
        )
    return write(test._report(), outputs, test.to_frame(), json=test.to_json)


@app.command()
def impact(
    context: typer.Context,
    files: opt.Files,
    sensitive_features: opt.Sensitive,
    y_pred: opt.YPred = None,
    y_score: Annotated[
        str | None, opt.column("Scores, in place of --y-pred: the rate is the share above their median.")
    ] = None,
    strata: Annotated[
        list[str] | None, opt.column("Compare only people with the same value here, such as a job; repeatable.")
    ] = None,
    clusters: opt.Cluster = None,
    encoding: opt.Encoding = "utf-8",
    pos_label: opt.PosLabel = None,
    alpha: opt.Alpha = 0.05,
    smallest_share: Annotated[
        float, opt.option("Categories with a smaller share of the people are not compared.")
    ] = 0.02,
    intersections: Annotated[bool, opt.option("Also compare intersections of the columns.")] = True,
    html: opt.Html = None,
    csv: opt.Csv = None,
    markdown: opt.Markdown = None,
) -> Status:
    """Compare selection rates with the highest one, and with chance.

    \b
      skfairtest impact people.csv --y-pred decision --pos-label hired --sensitive sex
          which group is below four fifths of the highest rate, and is that chance?

    The four-fifths rule and a significance test side by side, for each column and their intersections.

    An empty field is an unknown category: these people are counted and not compared. The test is valid although the
    highest rate is chosen from the data. If candidates compete for the same position, such as one hire from each
    shortlist, pass the column that identifies the shortlist as --strata.
    """  # noqa: D301
    outputs = check_outputs(opt.outputs(context), files)
    from skfairtest import impact_table
    from skfairtest._utils.text import label
    from skfairtest.audit.impact_report import impact_report
    from skfairtest.cli.reading import labels_in, read_people, typed_label
    from skfairtest.readers import resolve_pos_label

    with listening() as told:
        columns = read_people(files, opt.columns(context), encoding, {"sensitive_features": True})
        positive = typed_label(pos_label, columns)
        table = impact_table(
            **columns,
            **opt.settings(context, "intersections smallest_share"),
            pos_label=positive,
            confidence_level=1 - alpha,
        )
    about = f"scores in {label(y_score)}"
    if y_score is None:
        about = f"selected: {label(y_pred)} is {label(resolve_pos_label(labels_in(columns), positive))}"
    about += f"; compared within {label(', '.join(strata))}" if strata else ""
    report = impact_report(
        table,
        title=f"Impact table of {label(', '.join(map(os.path.basename, files[:3])))}",
        about=f"{len(columns['sensitive_features']):,} people; {about}.",
        scoring=y_score is not None,
        smallest_share=smallest_share,
        confidence_level=1 - alpha,
        not_compared=told,
    )
    frame = table.assign(category=[label(name) for name in table["category"]])
    return write(report, outputs, frame, details=True, landscape=True)


@app.command()
def compare(
    context: typer.Context,
    files: opt.Files,
    sensitive_features: opt.Sensitive,
    y_true: opt.YTrue = None,
    y_pred: Annotated[
        list[str] | None, opt.column("A model's predictions: the baseline's first, then each candidate's.")
    ] = None,
    y_score: Annotated[list[str] | None, opt.column("Scores, in place of --y-pred.")] = None,
    control_features: opt.Control = None,
    clusters: opt.Cluster = None,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metrics = None,
    pos_label: opt.PosLabel = None,
    compare: Annotated[
        Literal["between_groups", "to_overall", "to_rest"], opt.option("The other side.")
    ] = "between_groups",
    margin: Annotated[
        float | None, opt.option("Certify that no disparity grows by this (0: that it falls).", "SIZE")
    ] = None,
    accuracy_margin: Annotated[
        float | None, opt.option("Also certify that accuracy falls by less than this.", "SIZE")
    ] = None,
    alpha: opt.Alpha = 0.05,
    adjust: opt.Adjust = "auto",
    n_resamples: opt.Resamples = 9999,
    random_state: opt.Seed = 0,
    n_jobs: opt.Jobs = None,
    html: opt.Html = None,
    json: opt.Json = None,
    csv: opt.Csv = None,
    markdown: opt.Markdown = None,
) -> Status:
    """Compare the disparities of two or more models on the same people.

    The first --y-pred is the baseline, such as the model in production; each other one is a candidate. The null
    hypothesis: a disparity between groups is the same under both models. Several sensitive columns are crossed.
    """
    role, names = ("y_score", y_score) if y_score else ("y_pred", y_pred or [])
    if (y_pred and y_score) or len({*names}) < max(2, len(names)):
        raise BadInput(
            f"{OPTIONS[role]}: name two or more different columns, the baseline's first; found {', '.join(names)}"
        )
    outputs = check_outputs(opt.outputs(context), files)
    from skfairtest import compare_models
    from skfairtest.cli.reading import read_people, typed_label

    with listening():
        columns = read_people(files, opt.columns(context), encoding)
        positive = typed_label(pos_label, columns)
        models_of = {"y_pred": columns.pop("y_pred"), "y_score": columns.pop("y_score")}
        models = compare_models(
            dict(models_of[role]),
            y=columns.pop("y_true"),
            **columns,
            metric=metric or "equalized_odds",
            pos_label=positive,
            confidence_level=1 - alpha,
            alternative="two-sided" if margin is accuracy_margin is None else "fairer",
            **opt.settings(context, "compare margin accuracy_margin adjust n_resamples random_state n_jobs"),
        )
    return write(models._report(), outputs, models.to_frame(), json=models.to_json)


@app.command()
def monitor(
    context: typer.Context,
    state: Annotated[str, typer.Argument(metavar="STATE", help="The JSON file of the stream; the first run makes it.")],
    sensitive_features: opt.Sensitive,
    batch: Annotated[str, opt.option("The batch, one row per sample.", "PATH")],
    name: Annotated[str | None, opt.option("The batch's name.  [default: the file's name]", "NAME", "--name")] = None,
    y_true: opt.YTrue = None,
    y_pred: opt.YPred = None,
    y_score: opt.YScore = None,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metrics = None,
    groups: Annotated[
        list[str] | None, opt.option("A group that can come; repeat it for all groups.", "NAME", "--group")
    ] = None,
    pos_label: opt.PosLabel = None,
    alpha: Annotated[
        float | None,
        opt.option("The probability of ever rejecting a fair stream.  [default: 0.05]", "LEVEL", callback=opt.level),
    ] = None,
    margin: Annotated[float | None, opt.option("The difference that is tolerated.  [default: 0]", "SIZE")] = None,
    blocks: Annotated[
        Literal["batches", "queues"] | None, opt.option("Compare within batches, or by each group's queue.")
    ] = None,
    html: opt.Html = None,
    markdown: opt.Markdown = None,
) -> Status:
    """Test a stream, batch by batch, valid however often you look.

    The first run decides what is tested; later ones may repeat its options, and not change them. A batch is identified
    by its name: the same name with the same rows changes nothing, with other rows it is an error. Labels may come
    later, under the name of their batch. The test is valid if the members of a batch were not chosen by their outcomes.
    """
    outputs = opt.outputs(context)
    if (y_pred is None) == (y_score is None):
        raise BadInput("name one column of predictions, --y-pred or --y-score")
    if name is None and not os.path.isfile(batch):
        raise BadInput("--name is missing: a batch from a pipe needs a name")
    check_outputs({"STATE": state, **outputs}, [batch])
    from time import strftime

    import filelock

    from skfairtest import SequentialFairnessTest
    from skfairtest.cli.reading import read_people, typed_label

    name = os.path.basename(batch) if name is None else name
    try:
        with filelock.FileLock(f"{os.path.realpath(state)}.lock", timeout=0), listening():
            columns = read_people([batch], opt.columns(context), encoding)
            params = {**opt.settings(context, "alpha margin blocks"), "groups": groups, "metric": metric}
            params["pos_label"] = typed_label(pos_label, columns)
            params = {key: value for key, value in params.items() if value is not None}
            try:
                known = Path(state) if os.path.exists(state) else None
                test = SequentialFairnessTest.from_json(known) if known else SequentialFairnessTest(**params)
            except ValueError as error:
                raise BadInput(f"STATE {state}: {error}") from error
            for key, value in params.items():
                if str(value) != str(begun := getattr(test, key)):
                    raise BadInput(f"{OPTIONS[key]} {value}: {state} was begun with {begun}, which cannot change")
            scores = columns.pop("y_score")
            test.partial_fit(**columns if scores is None else {**columns, "y_pred": scores}, name=name, time=name)
            test.to_json(state)
    except filelock.Timeout:
        raise BadInput(f"STATE {state}: another run is working on it. Run this again when it has ended") from None
    except OSError as error:
        raise BadInput(f"STATE {state}: {error.strerror or error}") from error
    try:
        write_out(f"{strftime('%Y-%m-%d')} {os.path.basename(state)}: {test.summary()}\n")
        write_files(outputs, html=test.to_html, markdown=test.to_markdown)
    except BadInput as error:
        raise BadInput(f"{error} (the batch was added: STATE {state} has advanced)") from error
    return Status.SIGNIFICANT if test.concern_ else Status.DONE


@app.command()
def power(
    context: typer.Context,
    metric: Annotated[str, opt.option("A rate, a criterion, a mean or roc_auc.", "NAME")] = "selection_rate",
    rates: Annotated[
        list[str] | None,
        opt.option(
            "The true value in a group, once per group; for a mean MEAN:SD, for a criterion NAME=VALUE.",
            "VALUE",
            "--rate",
        ),
    ] = None,
    n_per_group: Annotated[
        list[int] | None, opt.option("People in a group: once per group, or once for all.", "PEOPLE", "--n")
    ] = None,
    power: Annotated[float | None, opt.option("The probability of detecting it.  [default: 0.8]", "SHARE")] = None,
    shares: Annotated[
        list[float] | None, opt.option("The share of people in a group.  [default: equal]", None, "--share")
    ] = None,
    base_rates: Annotated[
        list[float] | None, opt.option("The share of a group for whom the rate is computed.", None, "--base-rate")
    ] = None,
    compare: Annotated[Reference, opt.option("The other side; the reference is the last group.")] = "between_groups",
    disparity: opt.Disparity = "difference",
    margin: Annotated[str | None, opt.option("A disparity to tolerate; for equivalence also LOW:HIGH.", "SIZE")] = None,
    alternative: Annotated[
        Alternative, opt.option('"equivalence": that groups are alike within --margin.')
    ] = "two-sided",
    alpha: opt.Alpha = 0.05,
    json: Annotated[str | None, opt.output("Also write the answer as JSON.")] = None,
) -> Status:
    """Compute how many people a test needs, or how likely it is to detect a disparity.

    \b
      skfairtest power --rate 0.3 --rate 0.5
          how many people are needed to detect rates of 30% and 50%
      skfairtest power --rate 0.3 --rate 0.5 --n 60 --n 200
          how likely a test of 60 and 200 people is to detect them
    """  # noqa: D301
    outputs = check_outputs(opt.outputs(context))
    from json import dumps

    from skfairtest.cli.power import answer

    settings = opt.settings(context, "metric compare disparity margin alternative alpha")
    answered = answer(rates or [], n_per_group or [], power, shares or [], base_rates=base_rates or [], **settings)
    write_out("".join(f"{sentence}\n" for sentence in answered["sentences"]))
    write_files(outputs, json=lambda: dumps(answered, indent=2) + "\n")
    return Status.DONE


@app.command()
def metrics() -> Status:
    """List the metrics, with the columns that each needs."""
    from skfairtest._utils.text import enumerated
    from skfairtest.metrics import CRITERIA, RATES, SCORES

    def needed(metric: Any) -> str:
        return f"{metric.name} ({', '.join(OPTIONS[name] for name in sorted(metric.reads, reverse=True))})"

    lines = ["Rates:"]
    lines += [f"  {needed(rate)}: among {rate.among}, the share who {rate.happens}" for rate in RATES.values()]
    lines += ["", "Criteria, which are several rates tested together:"]
    lines += [f"  {name}: {enumerated(list(rates))}" for name, rates in CRITERIA.items()]
    lines += ["", "Other metrics of each group:"]
    lines += [f"  {needed(metric)}: {metric.describes}" for metric in SCORES.values()]
    write_out("\n".join(lines) + "\n")
    return Status.DONE


program: Any = typer.main.get_command(app)
OPTIONS |= {each.name: each.opts[0] for command in program.commands.values() for each in command.params}
