"""The commands, and what their exit status means.

0: no significant disparity; 1: a significant disparity; 2: bad input; 3: an internal error; 4: not everything could be
tested. A command imports what it computes with when it runs: the version and the help need nothing of it.
"""

import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from skfairtest._utils.errors import meant
from skfairtest._version import __version__
from skfairtest.cli import options as opt
from skfairtest.cli.errors import OPTIONS, BadInput, Status, in_terms_of_options, one_line
from skfairtest.cli.output import check_outputs, listening, show, tell, write_files, write_out

if TYPE_CHECKING:
    from skfairtest import FairnessAudit
    from skfairtest.audit.record import AuditRecord
    from skfairtest.cli.reading import People

PROGRAM = "skfairtest"
Missing = Literal["raise", "exclude", "group", "bounds"]
Compare = Literal["between_groups", "to_overall", "to_rest", "to_highest", "to_lowest"]
Intersections = Literal["to_rest", "between_groups", "to_parents"]
Reference = Literal["between_groups", "to_overall", "to_rest", "to_reference"]
Alternative = Literal["two-sided", "greater", "less", "equivalence"]
ENGINES = (
    "Files that do not fit into memory: FairnessTest.from_frame, in Python, takes frames of polars, DuckDB, Spark, "
    "Dask and ibis (doc/guide/scale.md)."
)
app = typer.Typer(
    name=PROGRAM,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
# Usage errors, which typer shows as exceptions of its own from some version on.
_USAGE_ERRORS: tuple[type[Exception], ...] = tuple(
    kind
    for kind in typer.BadParameter.__mro__
    if issubclass(kind, Exception) and kind.__name__ in ("ClickException", "TyperException")
)


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status; 130 when interrupted.
    """
    debug = bool(os.environ.get("SKFAIRTEST_DEBUG"))
    try:
        arguments = sys.argv[1:] if argv is None else list(argv)
        command = shlex.join([PROGRAM, *arguments])
        with redirect_stdout(StringIO()) if {"-h", "--help"} & {*arguments} else nullcontext() as shown:
            status = typer.main.get_command(app).main(arguments, PROGRAM, standalone_mode=False, obj=command)
        if shown is not None:
            write_out(shown.getvalue())
        return Status.DONE if status is None else Status(status)
    except (KeyboardInterrupt, typer.Abort):
        return Status.INTERRUPTED
    except ModuleNotFoundError:
        raise  # an extra that is not installed: the caller names it
    except _USAGE_ERRORS as error:
        message = error.format_message().rstrip(".").replace("Value error, ", "")  # type: ignore[attr-defined]
        unknown = getattr(error, "option_name", "").strip("-").replace("-", "_")
        if unknown and "No such option" in message and (near := meant(unknown, OPTIONS)) is not None:
            message = f"No such option: --{unknown.replace('_', '-')}. Did you mean {OPTIONS[near]}?"
        message = re.sub(r" \(Possible options: (\S+)\)$", r". Did you mean \1?", message)
        command = getattr(getattr(error, "ctx", None), "command_path", PROGRAM)
        tell(f"{PROGRAM}: {one_line(message)} ({command} -h shows what can be typed)")
        return Status.BAD_INPUT
    except (BadInput, ValueError, NotImplementedError) as error:
        if debug:
            traceback.print_exc()
        tell(f"{PROGRAM}: {one_line(error if isinstance(error, BadInput) else in_terms_of_options(error))}")
        return Status.BAD_INPUT
    except Exception as error:
        if debug:
            traceback.print_exc()
        hint = "" if debug else " (SKFAIRTEST_DEBUG=1 shows where)"
        tell(f"{PROGRAM}: internal error: {type(error).__name__}: {one_line(error)}{hint}")
        return Status.INTERNAL


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
    no_color: opt.NoColor = False,
) -> Status:
    """Audit the COMPAS scores, an example that comes along, by race and sex.

    The report is also written as a page for the browser. The exit status is 0, although there are disparities.
    """
    check_outputs({"--html": html})
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
        subject="COMPAS, Broward County, Florida",
        about=(
            f"{audit.n_samples_:,} people in Broward County, Florida, whom COMPAS scored for the risk of being charged "
            "again. Prediction: a medium or high risk (a score of 5 to 10). Truth: a new charge within two years. If "
            "errors fall on all groups alike, the rates below are the same in every group.",
        ),
        sources=tuple(text for text in paragraphs if text.startswith(("Source:", "Caution:", "Reference:"))),
    )
    audit._say(record)
    _write_audit(audit, {"--html": html}, details, no_color)
    write_out(f"\nThe same report as a page for the browser, with drawings: {one_line(os.path.abspath(html))}\n")
    return Status.DONE


@app.command(epilog=ENGINES)
def audit(
    context: typer.Context,
    files: opt.Files,
    sensitive: opt.Sensitive,
    y_true: opt.YTrue = None,
    y_pred: opt.YPred = None,
    y_score: opt.YScore = None,
    control: opt.Control = None,
    weight: opt.Weight = None,
    cluster: opt.Cluster = None,
    scan: Annotated[
        list[str] | None, opt.column("Also search subgroups of this column and the groups; repeatable.")
    ] = None,
    baseline: Annotated[
        str | None, opt.column("The predictions of the model in production, to compare these with.")
    ] = None,
    y_judge: Annotated[
        str | None, opt.column("A guess of everyone's true label, if --y-true has labels for some people.")
    ] = None,
    label_probability: Annotated[str | None, opt.column("How likely each person was to be labelled.")] = None,
    labelled: Annotated[Literal["at_random"] | None, opt.option("How people with a label were chosen.")] = None,
    missing: Annotated[Missing, opt.option("How to treat people whose group is an empty field.")] = "raise",
    encoding: opt.Encoding = "utf-8",
    threshold: Annotated[float | None, opt.option("Predict 1 from this score on; replaces --y-pred.", "SCORE")] = None,
    impact: Annotated[bool, opt.option("Also compare selection rates with the highest one.", None, "--impact")] = False,
    metric: opt.Metrics = None,
    pos_label: opt.PosLabel = None,
    positive_means: Annotated[
        str | None, opt.option('What a positive prediction means, such as "denied".', "WORDS")
    ] = None,
    favorable: Annotated[
        bool | None, opt.option("Whether a positive prediction is good for people.", None, "--favorable/--unfavorable")
    ] = None,
    compare: Annotated[Compare, opt.option("What a group of one column is compared with.")] = "between_groups",
    disparity: opt.Disparity = "difference",
    margin: opt.Margin = None,
    alpha: opt.Alpha = 0.05,
    adjust: opt.Adjust = "auto",
    intersections: Annotated[bool, opt.option("Test intersections of the columns as well.")] = True,
    compare_intersections: Annotated[Intersections, opt.option("What an intersection is compared with.")] = "to_rest",
    n_resamples: opt.Resamples = 9999,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = None,
    accept: opt.Accept = None,
    details: opt.Details = False,
    html: opt.Html = None,
    json: opt.Json = None,
    csv: opt.Csv = None,
    markdown: opt.Markdown = None,
    junit: opt.JUnit = None,
    no_color: opt.NoColor = False,
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

    The exit status is 0 if no significant disparity was detected, 1 if there is one, 2 for bad input, 3 for an internal
    error, 4 if not everything could be tested.
    """  # noqa: D301
    reports = {"--html": html, "--json": json, "--csv": csv, "--markdown": markdown, "--junit": junit}
    check_outputs(reports, files)
    if y_pred is None and y_score is None:
        raise BadInput("--y-pred is missing: name the column of predictions, or --y-score for metrics of scores alone")
    if threshold is not None and (y_score is None or y_pred is not None):
        raise BadInput("--threshold makes predictions of --y-score, and replaces --y-pred")
    from skfairtest import FairnessAudit, SubgroupScan
    from skfairtest._utils.text import label
    from skfairtest.cli.reading import cut_where_many, read_people
    from skfairtest.readers.columns import MAX_GROUPS, WARN_GROUPS, check_level_count, read_column

    roles = {
        **{"--y-true": y_true, "--y-pred": y_pred, "--y-score": y_score, "--sensitive": sensitive, "--scan": scan},
        **{"--control": control, "--weight": weight, "--cluster": cluster, "--baseline": baseline},
        **{"--y-judge": y_judge, "--label-probability": label_probability},
    }
    few = any((y_judge, label_probability, labelled))
    optional = [*(["--sensitive"] if missing != "raise" else []), *(["--y-true"] if few else [])]
    metrics = metric or "standard"
    searched: dict[str, Any] = {}
    with listening() as told:
        people = read_people(files, roles, encoding=encoding, optional=optional)
        scores = people.column("--y-score")
        if scan:
            scanned = SubgroupScan(features=list(people.frames["--scan"]), confidence_level=1 - alpha)
            searched["scan"] = scanned.set_params(
                metric=metric or ("selection_rate" if y_true is None else "equalized_odds")
            )
            searched["X"] = {
                name: cut_where_many(values.array, scanned.n_bins) for name, values in people.frames["--scan"].items()
            }
        for name, values in people.frames["--sensitive"].items():
            numbers = cut_where_many(values.dropna().array, WARN_GROUPS)
            check_level_count(
                read_column(numbers, "sensitive_features", name=str(name)), "sensitive_features", MAX_GROUPS, None
            )
        result = FairnessAudit.from_predictions(
            people.column("--y-true"),
            people.column("--y-pred") if threshold is None or scores is None else scores.ge(threshold).astype(int),
            y_score=scores,
            sensitive_features=people.frames["--sensitive"],
            control_features=people.frames.get("--control"),
            sample_weight=people.column("--weight"),
            clusters=people.column("--cluster"),
            y_judge=people.column("--y-judge"),
            label_probability=people.column("--label-probability"),
            y_pred_baseline=people.column("--baseline"),
            metrics=metrics,
            pos_label=people.pos_label(pos_label),
            compare=compare,
            disparity=disparity,
            margin=margin,
            missing=missing,
            adjust=None if adjust == "none" else adjust,
            intersections=intersections,
            compare_intersections=compare_intersections,
            impact=impact,
            positive_means=positive_means,
            favorable=favorable,
            labelled=labelled,
            confidence_level=1 - alpha,
            n_resamples=n_resamples,
            random_state=seed,
            n_jobs=jobs,
            **searched,
        )
    record = result.record_
    name = label(os.path.basename(people.files[0]) if len(people.files) == 1 else f"{len(people.files)} files")
    read = ", ".join(f"{option} {label(column)}" for option, column in roles.items() if isinstance(column, str))
    if record.baseline is not None:
        record = replace(record, baseline=replace(record.baseline, names=(str(baseline), str(y_pred))))
    warned = [one_line(in_terms_of_options(warning)) for warning in record.warnings]
    record = replace(
        record,
        title=f"Fairness audit of {name}",
        subject=name,
        about=(f"{len(people):,} people; {read}.",),
        provenance={**record.provenance, "command": context.obj},
        parts=tuple(
            replace(part, excluded=part.excluded.assign(reason=list(map(in_terms_of_options, part.excluded["reason"]))))
            for part in record.parts
        ),
        not_compared=tuple((names, in_terms_of_options(reason)) for names, reason in record.not_compared),
        warnings=tuple(dict.fromkeys((*warned, *told))),
    )
    result._say(_accepting(record, accept))
    _write_audit(result, reports, details, no_color)
    return _status_of(result.record_)


@app.command()
def report(
    record_file: Annotated[str, typer.Argument(metavar="RECORD", help="The JSON file of an audit.")],
    accept: opt.Accept = None,
    details: opt.Details = False,
    html: opt.Html = None,
    csv: opt.Csv = None,
    markdown: opt.Markdown = None,
    junit: opt.JUnit = None,
    no_color: opt.NoColor = False,
) -> Status:
    """Write the reports of an audit, or of another test, that --json has saved.

    Nothing is computed again: every number and sentence is that of what was saved, and so is the exit status.
    """
    reports = {"--html": html, "--csv": csv, "--markdown": markdown, "--junit": junit}
    check_outputs(reports, [record_file])
    from pathlib import Path

    import skfairtest
    from skfairtest.report.record import read_record

    try:
        text = Path(record_file).read_bytes()
        result: Any = getattr(skfairtest, str(read_record(text)["test"])).from_json(text)
    except OSError as error:
        raise BadInput(f"{record_file}: {error.strerror or error}") from error
    except (AttributeError, ValueError) as error:
        raise BadInput(f"{record_file}: {str(error).removeprefix('source ')}") from error
    if isinstance(result, skfairtest.FairnessAudit):
        if accept:
            result._say(_accepting(result.record_, accept))
        _write_audit(result, reports, details, no_color)
        return _status_of(result.record_)
    for option, given in (("--accept", accept), ("--junit", junit)):
        if given:
            raise BadInput(f"{option} is for audits; {record_file} holds a {type(result).__name__}")
    del reports["--junit"]
    return _write_test(result, reports, result.to_frame, no_color)


def _accepting(record: "AuditRecord", accepted: Sequence[str] | None) -> "AuditRecord":
    """The record with the findings that are known, each typed as ID=REASON."""
    from skfairtest.audit.findings import accept

    return accept(
        record, {name: reason.strip() for name, _, reason in (text.partition("=") for text in accepted or ())}
    )


def _status_of(record: "AuditRecord") -> Status:
    concern = record.verdict.concern
    if concern and record.accepted:
        from skfairtest.audit.findings import findings_of

        concern = any(finding.row["concern"] and finding.reason is None for finding in findings_of(record))
    if concern:
        return Status.SIGNIFICANT
    return Status.NOT_TESTED if record.untested or record.individual_verdict == "no_trace" else Status.DONE


def _write_audit(audit: "FairnessAudit", reports: Mapping[str, str | None], details: bool, no_color: bool) -> None:
    """Write an audit to standard output, and each report to the file that was named."""
    from skfairtest.audit.findings import to_junit
    from skfairtest.report.text import to_csv

    show(
        audit._report(), details=details, titled=True, rest="--details shows it here, --html FILE writes a page.",
        more="--details shows all of them, --csv lists them", no_color=no_color,
    )  # fmt: skip
    makers: dict[str, Callable[[], str | None]] = {
        "--html": lambda: audit.to_html(details=details),
        "--json": audit.to_json,
        "--csv": lambda: to_csv(audit.to_frame()),
        "--markdown": lambda: audit.to_markdown(details=details),
        "--junit": lambda: to_junit(audit.record_),
    }
    write_files(reports, makers)


def _write_test(test: Any, reports: Mapping[str, str | None], frame: Any, no_color: bool) -> Status:
    """Write a test to standard output, and each report to the file that was named."""
    from skfairtest.report.text import to_csv

    show(test._report(), no_color=no_color)
    makers = {"--html": test.to_html, "--json": test.to_json, "--markdown": test.to_markdown}
    write_files(reports, {**makers, "--csv": lambda: to_csv(frame())})
    return Status.SIGNIFICANT if test.concern_ else Status.DONE


@app.command()
def scan(
    files: opt.Files,
    sensitive: opt.Sensitive,
    y_true: opt.YTrue = None,
    y_pred: opt.YPred = None,
    y_score: opt.YScore = None,
    feature: Annotated[list[str] | None, opt.column("Further columns that describe subgroups; repeatable.")] = None,
    control: opt.Control = None,
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
    seed: opt.Seed = 0,
    html: opt.Html = None,
    json: opt.Json = None,
    csv: opt.Csv = None,
    markdown: opt.Markdown = None,
    no_color: opt.NoColor = False,
) -> Status:
    """Search combinations of columns for subgroups that differ.

    P-values are adjusted for all subgroups together. Of those that differ, only the ones that explain the others are
    reported. Columns of more than --n-bins different numbers are cut into intervals.
    """
    reports = {"--html": html, "--json": json, "--csv": csv, "--markdown": markdown}
    check_outputs(reports, files)
    from skfairtest import SubgroupScan
    from skfairtest.cli.reading import cut_where_many, read_people

    columns = list(dict.fromkeys([*sensitive, *(feature or ())]))
    roles = {"--y-true": y_true, "--y-pred": y_pred, "--y-score": y_score, "--sensitive": columns, "--control": control}
    with listening():
        people = read_people(files, roles, encoding=encoding)
        test = SubgroupScan.from_predictions(
            people.column("--y-true"),
            people.column("--y-pred"),
            y_score=people.column("--y-score"),
            sensitive_features={
                name: cut_where_many(values.array, n_bins) for name, values in people.frames["--sensitive"].items()
            },
            control_features=people.frames.get("--control"),
            metric=metric or "equalized_odds",
            features=feature or None,
            pos_label=people.pos_label(pos_label),
            compare=compare,
            max_depth=max_depth,
            min_group_size=min_group_size,
            n_bins=n_bins,
            max_subgroups=max_subgroups,
            guarantee=guarantee,
            n_resamples=n_resamples,
            confidence_level=1 - alpha,
            random_state=seed,
        )
    return _write_test(test, reports, test.to_frame, no_color)


@app.command()
def impact(
    files: opt.Files,
    sensitive: opt.Sensitive,
    y_pred: opt.YPred = None,
    y_score: Annotated[
        str | None, opt.column("Scores, in place of --y-pred: the rate is the share above their median.")
    ] = None,
    strata: Annotated[
        list[str] | None, opt.column("Compare within these: lists of which one is chosen, jobs; repeatable.")
    ] = None,
    cluster: opt.Cluster = None,
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
    no_color: opt.NoColor = False,
) -> Status:
    """Compare selection rates with the highest one, and with chance.

    \b
      skfairtest impact people.csv --y-pred decision --pos-label hired --sensitive sex
          which group is below four fifths of the highest rate, and is that chance?

    The four-fifths rule and a significance test side by side, for each column and their intersections.

    An empty field is an unknown category: these people are counted and not compared. The test is valid although the
    highest rate is chosen from the data. If people compete for one place, name the column of their lists by --strata.
    """  # noqa: D301
    reports = {"--html": html, "--csv": csv, "--markdown": markdown}
    check_outputs(reports, files)
    from skfairtest import impact_table
    from skfairtest._utils.text import label
    from skfairtest.audit.impact_report import impact_report
    from skfairtest.cli.reading import read_people
    from skfairtest.readers import resolve_pos_label
    from skfairtest.report import html as pages
    from skfairtest.report import text as texts

    roles = {"--y-pred": y_pred, "--y-score": y_score, "--sensitive": sensitive}
    roles |= {"--strata": strata, "--cluster": cluster}
    with listening() as told:
        people = read_people(files, roles, encoding=encoding, optional=["--sensitive"])
        positive = people.pos_label(pos_label)
        table = impact_table(
            people.column("--y-pred"),
            y_score=people.column("--y-score"),
            sensitive_features=people.frames["--sensitive"],
            strata=people.frames.get("--strata"),
            clusters=people.column("--cluster"),
            pos_label=positive,
            intersections=intersections,
            smallest_share=smallest_share,
            confidence_level=1 - alpha,
        )
    about = f"scores in {label(y_score)}"
    if y_score is None:
        about = f"selected: {label(y_pred)} is {label(resolve_pos_label(people.labels, positive))}"
    about += f"; compared within {label(', '.join(strata))}" if strata else ""
    found = impact_report(
        table,
        title=f"Impact table of {label(', '.join(map(os.path.basename, people.files[:3])))}",
        about=f"{len(people):,} people; {about}.",
        scoring=y_score is not None,
        smallest_share=smallest_share,
        confidence_level=1 - alpha,
        not_compared=told,
    )
    show(found, titled=True, no_color=no_color)
    makers = {
        "--html": lambda: pages.page(found, landscape=True),
        "--csv": lambda: texts.to_csv(table.assign(category=[label(name) for name in table["category"]])),
        "--markdown": lambda: texts.markdown(found, details=True),
    }
    write_files(reports, makers)
    return Status.SIGNIFICANT if table["significant"].fillna(False).any() else Status.DONE


@app.command()
def compare(
    files: opt.Files,
    sensitive: opt.Sensitive,
    y_true: opt.YTrue = None,
    y_pred: Annotated[
        list[str] | None, opt.column("A model's predictions: the baseline's first, then each candidate's.")
    ] = None,
    y_score: Annotated[list[str] | None, opt.column("Scores, in place of --y-pred.")] = None,
    control: opt.Control = None,
    cluster: opt.Cluster = None,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metrics = None,
    pos_label: opt.PosLabel = None,
    compare: Annotated[
        Literal["between_groups", "to_overall", "to_rest"], opt.option("The other side.")
    ] = "between_groups",
    margin: Annotated[
        float | None, opt.option("Certify that no disparity grows by this (0: that it falls).", "SIZE")
    ] = None,
    alpha: opt.Alpha = 0.05,
    adjust: opt.Adjust = "auto",
    n_resamples: opt.Resamples = 9999,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = None,
    html: opt.Html = None,
    json: Annotated[str | None, opt.output("Also write the results as JSON.")] = None,
    csv: opt.Csv = None,
    markdown: opt.Markdown = None,
    no_color: opt.NoColor = False,
) -> Status:
    """Compare the disparities of two or more models on the same people.

    The first --y-pred is the baseline, such as the model in production; each other one is a candidate. The null
    hypothesis: a disparity between groups is the same under both models. Several sensitive columns are crossed.
    """
    reports = {"--html": html, "--json": json, "--csv": csv, "--markdown": markdown}
    option, names = ("--y-score", y_score) if y_score else ("--y-pred", y_pred or [])
    if (y_pred and y_score) or len(set(names)) < 2 or len(set(names)) < len(names):
        raise BadInput(f"{option}: name two or more different columns, the baseline's first; found {', '.join(names)}")
    check_outputs(reports, files)
    from skfairtest import compare_models
    from skfairtest.cli.reading import read_people
    from skfairtest.comparisons.frames import written_labels

    roles = {"--y-true": y_true, option: names, "--sensitive": sensitive, "--control": control, "--cluster": cluster}
    question: dict[str, Any] = {} if margin is None else {"alternative": "fairer", "margin": margin}
    with listening():
        people = read_people(files, roles, encoding=encoding)
        models = compare_models(
            {name: people.frames[option][name] for name in names},
            y=people.column("--y-true"),
            sensitive_features=people.frames["--sensitive"],
            control_features=people.frames.get("--control"),
            clusters=people.column("--cluster"),
            metric=metric or "equalized_odds",
            pos_label=people.pos_label(pos_label),
            compare=compare,
            adjust=None if adjust == "none" else adjust,
            n_resamples=n_resamples,
            confidence_level=1 - alpha,
            random_state=seed,
            n_jobs=jobs,
            **question,
        )
    return _write_test(models, reports, lambda: written_labels(models.results.reset_index()), no_color)


@app.command()
def monitor(
    state: Annotated[str, typer.Argument(metavar="STATE", help="The JSON file of the stream; the first run makes it.")],
    sensitive: opt.Sensitive,
    batch: Annotated[str, opt.option("The batch, one row per sample.", "FILE")],
    name: Annotated[str | None, opt.option("The batch's name.  [default: the file's name]", "NAME", "--name")] = None,
    y_true: opt.YTrue = None,
    y_pred: opt.YPred = None,
    y_score: opt.YScore = None,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metrics = None,
    group: Annotated[list[str] | None, opt.option("A group that can come; repeat it for all groups.", "NAME")] = None,
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
    openmetrics: Annotated[str | None, opt.output("Also write the last look as OpenMetrics text.")] = None,
) -> Status:
    """Test a stream, batch by batch, valid however often you look.

    The first run decides what is tested; later ones may repeat its options, and not change them. A batch is identified
    by its name: the same name with the same rows changes nothing, with other rows it is an error. Labels may come
    later, under the name of their batch. The test is valid if who is in a batch does not follow the outcomes in it.
    """
    reports = {"--html": html, "--markdown": markdown, "--openmetrics": openmetrics}
    if (y_pred is None) == (y_score is None):
        raise BadInput("name one column of predictions, --y-pred or --y-score")
    if name is None and not os.path.isfile(batch):
        raise BadInput("--name is missing: a batch from a pipe needs a name")
    check_outputs({"STATE": state, **reports}, [batch])
    from time import strftime

    import filelock

    from skfairtest._utils.files import sweep
    from skfairtest.cli.output import open_metrics
    from skfairtest.cli.reading import read_people

    params = {
        "metric": metric,
        "pos_label": pos_label,
        "alpha": alpha,
        "margin": margin,
        "blocks": blocks,
        "groups": group,
    }
    params = {key: value for key, value in params.items() if value is not None}
    roles = {"--y-true": y_true, "--y-pred": y_pred, "--y-score": y_score, "--sensitive": sensitive}
    try:
        with filelock.FileLock(f"{os.path.realpath(state)}.lock", timeout=0), listening():
            sweep(*os.path.split(os.path.realpath(state)), older_than=0)
            people = read_people([batch], roles, encoding=encoding)
            predictions = people.column("--y-pred" if y_score is None else "--y-score")
            test = _stream(state, params, people)
            test.partial_fit(
                y_pred=predictions,
                y_true=people.column("--y-true"),
                sensitive_features=people.frames["--sensitive"],
                time=os.path.basename(batch) if name is None else name,
                name=os.path.basename(batch) if name is None else name,
            )
            test.to_json(state)
    except filelock.Timeout:
        raise BadInput(f"STATE {state}: another run is working on it. Run this again when it has ended") from None
    except OSError as error:
        raise BadInput(f"STATE {state}: {error.strerror or error}") from error
    try:
        write_out(f"{strftime('%Y-%m-%d')} {os.path.basename(state)}: {test.summary()}\n")
        makers = {"--html": test.to_html, "--markdown": test.to_markdown, "--openmetrics": lambda: open_metrics(test)}
        write_files(reports, makers)
    except BadInput as error:
        raise BadInput(f"{error} (the batch was taken in: STATE {state} has advanced)") from error
    return Status.SIGNIFICANT if test.concern_ or test.changed_ else Status.DONE


def _stream(state: str, params: dict[str, Any], people: "People") -> Any:
    """The test of a state, or a new one, if the options are those of its first run."""
    from pathlib import Path

    from skfairtest import SequentialFairnessTest
    from skfairtest._utils.errors import ParameterError

    if not os.path.exists(state):
        params["pos_label"] = people.pos_label(params.get("pos_label"))
        return SequentialFairnessTest(**params)
    try:
        test = SequentialFairnessTest.from_json(Path(state))
    except (UnicodeDecodeError, ParameterError) as error:
        raise BadInput(f"STATE {state}: {error}") from error
    known = test.get_params()
    for key, value in params.items():
        if value != known[key] and str(value) != str(known[key]):
            option = "--group" if key == "groups" else f"--{key.replace('_', '-')}"
            raise BadInput(f"{option} {value}: {state} was begun with {known[key]}, which cannot change")
    return test


@app.command()
def power(
    metric: Annotated[str, opt.option("A rate, a criterion, a mean or roc_auc.", "NAME")] = "selection_rate",
    rate: Annotated[
        list[str] | None, opt.option("The true value in a group, once per group; of a mean, MEAN:SD.", "VALUE")
    ] = None,
    n: Annotated[
        list[int] | None, opt.option("People in a group: once per group, or once for all.", "PEOPLE", "--n")
    ] = None,
    baseline: Annotated[str | None, opt.option("The value in all groups but the first.", "VALUE")] = None,
    target: Annotated[
        float | None, opt.option("The probability of detecting it.  [default: 0.8]", "SHARE", "--power")
    ] = None,
    share: Annotated[list[float] | None, opt.option("The share of people in a group.  [default: equal]")] = None,
    base_rate: Annotated[list[float] | None, opt.option("The share of a group for whom the rate is computed.")] = None,
    compare: Annotated[Reference, opt.option("The other side; the reference is the last group.")] = "between_groups",
    disparity: opt.Disparity = "difference",
    margin: Annotated[str | None, opt.option("A disparity to tolerate; for equivalence also LOW:HIGH.", "SIZE")] = None,
    alternative: Annotated[
        Alternative, opt.option('"equivalence": that groups are alike within --margin.')
    ] = "two-sided",
    direction: Annotated[
        Literal["auto", "up", "down"], opt.option("Whether the value is above or below --baseline.")
    ] = "auto",
    alpha: opt.Alpha = 0.05,
    json: Annotated[str | None, opt.output("Also write the answer as JSON.")] = None,
) -> Status:
    """Compute how many people a test needs, or what it can detect.

    \b
      skfairtest power --rate 0.3 --rate 0.5
          how many people are needed to detect rates of 30% and 50%
      skfairtest power --rate 0.3 --rate 0.5 --n 60 --n 200
          how likely a test of 60 and 200 people is to detect them
      skfairtest power --baseline 0.3 --n 60 --n 200
          the smallest disparity that such a test is likely to detect
    """  # noqa: D301
    check_outputs({"--json": json})
    from json import dumps

    from skfairtest.cli.power import answer, margin_of

    found = answer(
        rate=rate or [],
        n=n or [],
        baseline=baseline,
        target=target,
        shares=share or [],
        metric=metric,
        base_rates=base_rate or [],
        compare=compare,
        disparity=disparity,
        margin=margin_of(margin),
        alternative=alternative,
        direction=direction,
        alpha=alpha,
    )
    write_out("".join(f"{sentence}\n" for sentence in found["sentences"]))
    write_files({"--json": json}, {"--json": lambda: dumps(found, indent=2) + "\n"})
    return Status.DONE


@app.command()
def metrics() -> Status:
    """List the metrics, with the columns that each needs."""
    from skfairtest._utils.text import enumerated
    from skfairtest.metrics import CRITERIA, RATES, SCORES

    lines = ["Rates:"]
    lines += [f"  {_needed(rate)}: among {rate.among}, the share who {rate.happens}" for rate in RATES.values()]
    lines += ["", "Criteria, which are several rates tested together:"]
    lines += [f"  {name}: {enumerated(list(rates))}" for name, rates in CRITERIA.items()]
    lines += ["", "Other metrics of each group:"]
    lines += [f"  {_needed(metric)}: {metric.describes}" for metric in SCORES.values()]
    write_out("\n".join(lines) + "\n")
    return Status.DONE


def _needed(metric: Any) -> str:
    return f"{metric.name} ({', '.join(OPTIONS[name] for name in sorted(metric.reads, reverse=True))})"
