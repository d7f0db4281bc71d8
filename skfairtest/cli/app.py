"""The commands, and what their exit status means: 0 no concern, 1 a concern, 2 bad input, 3 an internal failure."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

import typer
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest._version import __version__
from skfairtest.audit import Audit, audit_table
from skfairtest.cli.errors import BadInput, in_terms_of_options, one_line
from skfairtest.cli.export import outcome_of, to_csv, to_json
from skfairtest.cli.files import Columns, cast_pos_label, read_table
from skfairtest.cli.options import (
    AUDIT_HELP,
    DEMO_HELP,
    PROGRAM_HELP,
    AllOption,
    AlphaOption,
    Compare,
    CompareOption,
    ControlOption,
    Disparity,
    DisparityOption,
    FileArgument,
    Format,
    FormatOption,
    IntersectionOption,
    MetricOption,
    OutputOption,
    PosLabelOption,
    PredictionOption,
    SensitiveOption,
    TruthOption,
    VersionOption,
)
from skfairtest.cli.output import check_output, deliver, tell, write_out
from skfairtest.datasets import load_compas
from skfairtest.metrics import RATES, resolve_metrics
from skfairtest.report.audit import audit_document
from skfairtest.report.document import Block
from skfairtest.report.words import label, many

__all__ = ["app", "run"]

NO_CONCERN, CONCERN, BAD_INPUT, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
PROGRAM = "skfairtest"
_MORE = "--all shows all of them, --format csv lists them"
# Usage errors of click; typer shows them as exceptions of its own from some version on.
_USAGE_ERRORS: tuple[type[Exception], ...] = tuple(
    kind
    for kind in typer.BadParameter.__mro__
    if issubclass(kind, Exception) and kind.__name__ in ("ClickException", "TyperException")
)

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        0 without a concern, 1 with one, 2 for bad input, 3 for an internal failure, 130 when interrupted.
    """
    debug = bool(os.environ.get("SKFAIRTEST_DEBUG"))
    try:
        arguments = None if argv is None else list(argv)
        status = typer.main.get_command(app).main(args=arguments, prog_name=PROGRAM, standalone_mode=False)
        return status if isinstance(status, int) else NO_CONCERN
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except SystemExit:
        return NO_CONCERN  # how click leaves when nobody reads the help to its end; nothing else here exits
    except ModuleNotFoundError:
        raise  # an extra that is not installed: the caller names it
    except _USAGE_ERRORS as error:
        tell(f"{PROGRAM}: {one_line(_usage(error))} ({PROGRAM} --help shows what there is)")
        return BAD_INPUT
    except BadInput as error:
        _show_traceback(debug)
        tell(f"{PROGRAM}: {one_line(error)}")
        return BAD_INPUT
    except (ValueError, NotImplementedError) as error:
        _show_traceback(debug)
        tell(f"{PROGRAM}: {one_line(in_terms_of_options(str(error)))}")
        return BAD_INPUT
    except Exception as error:
        _show_traceback(debug)
        hint = "" if debug else " (SKFAIRTEST_DEBUG=1 shows where)"
        tell(f"{PROGRAM}: internal error: {type(error).__name__}: {one_line(error)}{hint}")
        return INTERNAL


def _usage(error: Exception) -> str:
    message = getattr(error, "format_message", lambda: str(error))()
    return str(message).rstrip(".")


def _show_traceback(debug: bool) -> None:
    if debug:
        traceback.print_exc()


@app.callback(invoke_without_command=True, help=PROGRAM_HELP)
def main(context: typer.Context, version: VersionOption = False) -> None:
    """Show the version or the help where no command is given."""
    if version:
        write_out(f"{PROGRAM} {__version__}\n")
    elif context.invoked_subcommand is None:
        write_out(context.get_help() + "\n")


@app.command(help=DEMO_HELP)
def demo(every: AllOption = False) -> int:
    """Audit the COMPAS data."""
    table = load_compas(as_table=True)
    table = table.regroup(["race", "sex"])
    rated = "were rated a medium or high risk"
    again = "people who were charged again within two years"
    metrics = [
        replace(RATES["false_positive_rate"], happens=rated, among=again.replace("were", "were not")),
        replace(RATES["true_positive_rate"], happens=rated, among=again),
    ]
    audit, _ = _audited(lambda: audit_table(table, metric=metrics))
    about = [
        f"{audit.n_samples:,} people in Broward County, Florida, whom COMPAS scored for the risk of being charged "
        "again. Prediction: a medium or high risk (a score of 5 to 10). Truth: a new charge within two years. If the "
        "errors fall on all groups alike (equalized odds), the rates below are the same in every group.",
    ]
    paragraphs = [" ".join(text.split()) for text in load_compas().DESCR.split("\n\n")]
    sources = [text for text in paragraphs if text.startswith(("Source:", "Caution:", "Reference:"))]
    title = "Does COMPAS treat groups alike?"
    deliver(lambda screen: _document(audit, title, about, sources, every or not screen), None)
    return NO_CONCERN


@app.command(help=AUDIT_HELP)
def audit(
    file: FileArgument,
    y_pred: PredictionOption,
    sensitive: SensitiveOption,
    y_true: TruthOption = None,
    control: ControlOption = None,
    metric: MetricOption = None,
    pos_label: PosLabelOption = None,
    alpha: AlphaOption = 0.05,
    compare: CompareOption = Compare.between_groups,
    disparity: DisparityOption = Disparity.difference,
    intersections: IntersectionOption = True,
    format_: FormatOption = Format.table,
    output: OutputOption = None,
    every: AllOption = False,
) -> int:
    """Audit a file."""
    if not 0 < alpha < 1:
        raise BadInput(f"--alpha must lie between 0 and 1, such as 0.05; found {alpha:g}")
    check_output(output, file)
    metrics = list(metric or ["equalized_odds"])
    needing = [
        name for name in metrics if any("y_true" in rate.reads for rate in resolve_metrics(name, disparity.value))
    ]
    if y_true is None and needing:
        raise BadInput(
            f"--y-true is missing: {', '.join(needing)} {'needs' if len(needing) == 1 else 'need'} the true labels; "
            "--metric demographic_parity needs none"
        )
    columns = Columns(y_true, y_pred, tuple(sensitive), tuple(control or ()))

    def found() -> Audit:
        table = read_table(file, columns)
        return audit_table(
            table,
            metric=metrics,
            pos_label=None if pos_label is None else cast_pos_label(pos_label, table.labels),
            alpha=alpha,
            compare=compare.value,
            disparity=disparity.value,
            intersections=intersections,
        )

    result, cautions = _audited(found)
    for caution in cautions:
        tell(f"warning: {one_line(in_terms_of_options(caution))}")
    if format_ is Format.json:
        write_out(to_json(result, source=file, control=columns.control), output)
    elif format_ is Format.csv:
        _tell_what_csv_leaves_out(result)
        write_out(to_csv(result), output)
    else:
        about = _about(result, columns, metrics)
        title = f"Fairness audit of {label(os.path.basename(file))}"
        deliver(lambda screen: _document(result, title, about, (), every or not screen), output)
    return CONCERN if result.concern else NO_CONCERN


def _audited(work: Callable[[], Audit]) -> tuple[Audit, list[str]]:
    """Run an audit; return it with the warnings that its report does not repeat, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = work()
    cautions = [
        str(warning.message)
        for warning in caught
        # What is undefined is listed under "Left out"; other categories are not about the user's data.
        if issubclass(warning.category, UserWarning) and not issubclass(warning.category, UndefinedMetricWarning)
    ]
    return result, list(dict.fromkeys(cautions))


def _document(result: Audit, title: str, about: Sequence[str], sources: Sequence[str], complete: bool) -> list[Block]:
    return audit_document(
        result.parts,
        outcome_of(result),
        title=title,
        about=about,
        not_compared=[(names, in_terms_of_options(reason)) for names, reason in result.not_compared],
        sources=sources,
        complete=complete,
        more=_MORE,
    )


def _about(result: Audit, columns: Columns, metrics: Sequence[str]) -> list[str]:
    truth = "" if columns.y_true is None else f"true labels in {label(columns.y_true)}, "
    text = (
        f"{result.n_samples:,} people; {truth}predictions in {label(columns.y_pred)}; the positive label is "
        f"{label(result.pos_label)}; metric{'s' if len(metrics) > 1 else ''}: {', '.join(map(label, metrics))}."
    )
    return [text]


def _tell_what_csv_leaves_out(result: Audit) -> None:
    left_out = sum(len(part.excluded) for part in result.parts) + len(result.not_compared)
    if left_out:
        tell(f"warning: CSV has no room for {many(left_out, 'thing')} left out: --format table and json list them")
