"""The commands, and what their exit status means: 0 done, 1 a significant disparity, 2 bad input, 3 an internal error.

A command imports what it computes with when it runs: the version, the help and completion need nothing of it.
"""

from __future__ import annotations

import os
import shlex
import sys
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import typer

from skfairtest._version import __version__
from skfairtest.cli import options
from skfairtest.cli.compare import COMPARE_HELP, compare
from skfairtest.cli.errors import BadInput, check_level, in_terms_of_options, one_line
from skfairtest.cli.header import UTF_8, check_encoding
from skfairtest.cli.help import Command, Commands
from skfairtest.cli.impact import IMPACT_HELP, impact
from skfairtest.cli.monitor import MONITOR_HELP, monitor
from skfairtest.cli.output import check_outputs, deliver, tell, watched, write_out
from skfairtest.cli.scan import scan
from skfairtest.cli.status import Status

if TYPE_CHECKING:
    from skfairtest.report.record import AuditRecord

__all__ = ["app", "run"]


PROGRAM = "skfairtest"
# Usage errors of click; typer shows them as exceptions of its own from some version on.
_USAGE_ERRORS: tuple[type[Exception], ...] = tuple(
    kind
    for kind in typer.BadParameter.__mro__
    if issubclass(kind, Exception) and kind.__name__ in ("ClickException", "TyperException")
)

app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@cache
def _commands() -> typer.core.TyperGroup:
    """Return the commands as typer reads them from their functions, which takes its time."""
    commands = typer.main.get_command(app)
    assert isinstance(commands, typer.core.TyperGroup)
    return commands


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        0 without a significant disparity, 1 with one, 2 for bad input or output that cannot be written, 3 for an
        internal error, 130 when interrupted.
    """
    debug = bool(os.environ.get("SKFAIRTEST_DEBUG"))
    try:
        arguments = sys.argv[1:] if argv is None else list(argv)
        command = shlex.join([PROGRAM, *arguments])
        status = _commands().main(args=arguments, prog_name=PROGRAM, standalone_mode=False, obj=command)
        if isinstance(status, Status):
            return status
        # What no command returned is typer's: nothing, an interrupt, or completion for a shell that it does not know.
        return {None: Status.DONE, 0: Status.DONE, 130: Status.INTERRUPTED}.get(status, Status.BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        return Status.INTERRUPTED
    except SystemExit:
        return Status.DONE  # how completion ends; nothing else here exits
    except ModuleNotFoundError:
        raise  # an extra that is not installed: the caller names it
    except _USAGE_ERRORS as error:
        command = getattr(getattr(error, "ctx", None), "command_path", PROGRAM)
        tell(f"{PROGRAM}: {one_line(_usage(error))} ({command} -h shows what can be typed)")
        return Status.BAD_INPUT
    except BadInput as error:
        _show_traceback(debug)
        tell(f"{PROGRAM}: {one_line(error)}")
        return Status.BAD_INPUT
    except (ValueError, NotImplementedError) as error:
        _show_traceback(debug)
        tell(f"{PROGRAM}: {one_line(in_terms_of_options(error))}")
        return Status.BAD_INPUT
    except Exception as error:
        _show_traceback(debug)
        hint = "" if debug else " (SKFAIRTEST_DEBUG=1 shows where)"
        tell(f"{PROGRAM}: internal error: {type(error).__name__}: {one_line(error)}{hint}")
        return Status.INTERNAL


def _usage(error: Exception) -> str:
    message = getattr(error, "format_message", lambda: str(error))()
    return str(message).rstrip(".").replace("Value error, ", "")


def _show_traceback(debug: bool) -> None:
    if debug:
        traceback.print_exc()


@app.callback(invoke_without_command=True, help=options.PROGRAM_HELP)
def main(context: typer.Context, version: options.Version = False) -> None:
    """Show the version or the help where no command is given."""
    if version:
        write_out(f"{PROGRAM} {__version__}\n")
    elif context.invoked_subcommand is None:
        write_out(context.get_help() + "\n")


@app.command(cls=Command, help=options.DEMO_HELP, epilog=options.DEMO_EPILOG)
def demo(
    html: options.DemoHtml = None,
    no_html: options.NoHtml = False,
    details: options.Details = False,
    no_color: options.NoColor = False,
) -> Status:
    """Audit the COMPAS data."""
    if html is not None and no_html:
        raise BadInput("--html and --no-html contradict each other: leave one out")
    check_outputs({"--html": html})
    from skfairtest.cli.demo import demonstrate

    demonstrate(html, no_html=no_html, details=details, no_color=no_color)
    return Status.DONE


@app.command(cls=Command, help=options.AUDIT_HELP, epilog=options.AUDIT_EPILOG)
def audit(
    context: typer.Context,
    files: options.Files,
    *,
    y_true: options.Truth = None,
    y_pred: options.Prediction = None,
    y_score: options.Score = None,
    sensitive: options.Sensitive = None,
    control: options.Control = None,
    scan: options.Scan = None,
    baseline: options.Production = None,
    weight: options.Weight = None,
    cluster: options.Cluster = None,
    missing: options.Missing = "raise",
    encoding: options.Encoding = UTF_8,
    threshold: options.Threshold = None,
    score_bins: options.ScoreBins = None,
    engine: options.EngineName = None,
    cache: options.Cache = None,
    impact_table: options.Impact = False,
    metric: options.Metric = None,
    pos_label: options.PosLabel = None,
    positive_means: options.PositiveMeans = None,
    favorable: options.Favorable = None,
    compare: options.Compare = "between_groups",
    disparity: options.Disparity = "difference",
    margin: options.Margin = None,
    alpha: options.Alpha = 0.05,
    adjust: options.Adjust = "auto",
    intersections: options.Intersection = True,
    compare_intersections: options.CompareIntersections = "to_rest",
    n_resamples: options.Resamples = "9999",
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    format_: options.Format = "table",
    output: options.Output = None,
    details: options.Details = False,
    html: options.Html = None,
    json: options.Json = None,
    markdown: options.Markdown = None,
    csv: options.Csv = None,
    signed_by: options.SignedBy = None,
    no_color: options.NoColor = False,
) -> Status:
    """Audit a file."""
    check_level(alpha)
    reports = {"--html": html, "--json": json, "--markdown": markdown, "--csv": csv}
    from skfairtest.cli.auditing import (
        audited,
        audited_files,
        check_metrics,
        described,
        resamples,
        signed,
        write_files,
        written,
    )
    from skfairtest.cli.files import Columns
    from skfairtest.cli.source import Source

    columns = Columns(
        y_true,
        y_pred,
        tuple(sensitive or ()),
        tuple(control or ()),
        y_score,
        weight,
        cluster,
        check_encoding(encoding),
        unknown=missing != "raise",
        others=() if baseline is None else (("--baseline", baseline),),
    )
    source = Source(tuple(files), columns, engine, cache, score_bins, threshold)
    source.check()
    check_outputs({"--output": output, **reports}, source.files)
    params = {
        "metrics": check_metrics(metric or ()),
        "compare": compare,
        "disparity": disparity,
        "margin": margin,
        "missing": missing,
        "confidence_level": 1 - alpha,
        "adjust": None if adjust == "none" else adjust,
        "intersections": intersections,
        "impact": impact_table,
        "compare_intersections": compare_intersections,
        "n_resamples": resamples(n_resamples),
        "positive_means": positive_means,
        "favorable": favorable,
        "random_state": seed,
        "n_jobs": jobs,
    }
    with watched(no_color):
        (result, counted), said = audited(
            lambda: audited_files(source, pos_label=pos_label, params=params, scan=scan or ())
        )
    record = signed(described(result.record_, source, said, counted, command=context.obj), signed_by)
    written(record, result, format_, output, details=details, no_color=no_color)
    write_files(record, result, reports, details=details)
    if counted is not None and counted.failed:
        return _some_failed(counted.failed)
    return _status_of(record)


@app.command(cls=Command, help=options.REPORT_HELP, epilog=options.REPORT_EPILOG)
def report(
    file: options.Record,
    *,
    format_: options.Format = "table",
    output: options.Output = None,
    details: options.Details = False,
    html: options.Html = None,
    markdown: options.Markdown = None,
    csv: options.Csv = None,
    signed_by: options.SignedBy = None,
    no_color: options.NoColor = False,
) -> Status:
    """Write the reports of a saved audit."""
    reports = {"--html": html, "--markdown": markdown, "--csv": csv}
    check_outputs({"--output": output, **reports}, [file])
    from skfairtest.cli.auditing import signed, write_files, written
    from skfairtest.cli.saved import read_audit

    result = read_audit(file)
    record = signed(result.record_, signed_by)
    written(record, result, format_, output, details=details, no_color=no_color)
    write_files(record, result, reports, details=details)
    return _status_of(record)


def _status_of(record: AuditRecord) -> Status:
    if record.verdict.concern:
        return Status.SIGNIFICANT
    return Status.NOT_TESTED if record.individual_verdict == "no_trace" else Status.DONE


@app.command(cls=Command, help=options.COUNT_HELP, epilog=options.COUNT_EPILOG)
def count(
    files: options.Files,
    *,
    output: options.Table,
    y_true: options.Truth = None,
    y_pred: options.Prediction = None,
    y_score: options.Score = None,
    sensitive: options.Sensitive = None,
    control: options.Control = None,
    weight: options.Weight = None,
    encoding: options.Encoding = UTF_8,
    threshold: options.Threshold = None,
    score_bins: options.ScoreBins = None,
    engine: options.EngineName = None,
    cache: options.Cache = None,
    minimum_cell: options.MinimumCell = None,
    no_color: options.NoColor = False,
) -> Status:
    """Count people, and write the table."""
    if not output.endswith((".json", ".parquet")):
        raise BadInput(f"--output {output}: name a file that ends in .json or .parquet")
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.files import Columns
    from skfairtest.cli.source import Source, save

    columns = Columns(
        y_true,
        y_pred,
        tuple(sensitive or ()),
        tuple(control or ()),
        y_score,
        weight,
        encoding=check_encoding(encoding),
    )
    source = Source(tuple(files), columns, engine, cache, score_bins, threshold)
    source.check()
    check_outputs({"--output": output}, source.files)
    with watched(no_color):
        counted, _ = audited(source.counted)
    write_out(save(counted, output, minimum_cell))
    return _some_failed(counted.failed) if counted.failed else Status.DONE


def _some_failed(failed: Mapping[str, str]) -> Status:
    for reason in failed.values():
        tell(f"{PROGRAM}: {one_line(reason)}")
    return Status.BAD_INPUT


app.command(name="scan", cls=Command, help=options.SCAN_HELP, epilog=options.SCAN_EPILOG)(scan)
app.command(name="impact", cls=Command, help=IMPACT_HELP)(impact)
app.command(name="compare", cls=Command, help=COMPARE_HELP)(compare)
app.command(name="monitor", cls=Command, help=MONITOR_HELP)(monitor)


@app.command(cls=Command, help=options.POWER_HELP, epilog=options.POWER_EPILOG)
def power(
    metric: options.PowerMetric = "selection_rate",
    rate: options.Rate = None,
    n: options.People = None,
    baseline: options.Baseline = None,
    target: options.Power = None,
    share: options.Share = None,
    base_rate: options.BaseRate = None,
    compare: options.PowerCompare = "between_groups",
    disparity: options.Disparity = "difference",
    margin: options.Margin = None,
    alternative: options.Alternative = "two-sided",
    direction: options.Direction = "auto",
    alpha: options.PowerAlpha = 0.05,
    format_: options.PowerFormat = "table",
    output: options.Output = None,
    no_color: options.NoColor = False,
) -> Status:
    """Compute power, or what gives it."""
    check_level(alpha)
    check_outputs({"--output": output})
    from skfairtest.cli.power import Asked, answered

    test = {
        "alpha": alpha,
        "compare": compare,
        "disparity": disparity,
        "margin": margin,
        "alternative": alternative,
    }
    asked = Asked(metric, rate or (), n or (), baseline, target, share or (), base_rate or (), test, direction)
    answer = answered(asked)
    if format_ == "json":
        write_out(answer.to_json(), output)
    else:
        deliver(lambda _: answer.document(), output, no_color=no_color)
    return Status.DONE
