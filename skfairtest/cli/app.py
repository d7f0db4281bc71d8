"""The commands, and what their exit status means: 0 done, 1 a significant disparity, 2 bad input, 3 an internal error.

A command imports what it computes with when it runs: the version, the help and completion need nothing of it.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import getdoc
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from skfairtest._utils.errors import meant
from skfairtest._utils.text import enumerated
from skfairtest._version import __version__
from skfairtest.cli import commands, options
from skfairtest.cli.errors import OPTIONS, BadInput, Status, check_level, in_terms_of_options, one_line
from skfairtest.cli.options import Asked
from skfairtest.cli.output import check_outputs, deliver, tell, watched, write_asked, write_out

if TYPE_CHECKING:
    from skfairtest.audit.record import AuditRecord
    from skfairtest.metrics import BuiltIn, Calibration, Rate
    from skfairtest.report.document import Block

_OTHERS = "Other options"


def _written(option: Any) -> Any:
    """Return the option of help whose text is written as any other output: a full disk is an error in one line."""
    if option is not None:
        option.callback = _show
    return option


def _show(context: Any, _: Any, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        write_out(context.get_help() + "\n")
        context.exit()


class Command(TyperCommand):
    """A command whose options stand under the headings that they name."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that shows the help."""
        return _written(super().get_help_option(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The text to type, without braces around arguments."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each heading with its options, in the order in which they are declared."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            is_argument = parameter.param_type_name == "argument"
            name = str(parameter.metavar) if is_argument else record[0]
            heading = "Arguments" if is_argument else getattr(parameter, "rich_help_panel", None) or _OTHERS
            sections.setdefault(heading, []).append((name, record[1]))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write what comes last, whose headings stand where the others do."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write_text(self.epilog)


class Commands(TyperGroup):
    """The program, which shows its commands before its options."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that shows the help."""
        return _written(super().get_help_option(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, then the options."""
        self.format_commands(ctx, formatter)
        rows = [record for parameter in self.get_params(ctx) if (record := parameter.get_help_record(ctx))]
        with formatter.section("Options"):
            formatter.write_dl(rows)


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
    option = getattr(error, "option_name", "")
    instead = OPTIONS.get(meant(option.strip("-").replace("-", "_"), OPTIONS) or "") if option else None
    context = getattr(error, "ctx", None)  # of an option without a value there is none
    if instead is not None and context and any(instead in param.opts for param in context.command.params):
        return f"No such option: {option}. Did you mean {instead}?"
    return str(message).rstrip(".").replace("Value error, ", "")


def _show_traceback(debug: bool) -> None:
    if debug:
        traceback.print_exc()


def main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Test whether a model treats groups of people differently by more than chance explains.

    An example, with data that come with the package:
      skfairtest demo
    Your own predictions, in a file with one row per person:
      skfairtest audit people.csv --y-true outcome --y-pred decision --sensitive sex
    How many people such a test needs:
      skfairtest power --rate 0.3 --rate 0.5

    'skfairtest COMMAND -h' shows the options of a command, and examples.
    """
    if version:
        write_out(f"{PROGRAM} {__version__}\n")
    elif context.invoked_subcommand is None:
        write_out(context.get_help() + "\n")


def demo(asked: Asked) -> Status:
    """Audit the COMPAS scores, an example that comes with the package.

    The scores are tested by race, by sex and by both. The report is also written as a page for the browser:
    skfairtest-demo.html in this folder.

    Exit status:
      0  done, although there are significant disparities
      2  bad input, or the output could not be written
      3  an internal error
    """
    if asked.html is not None and asked.no_html:
        raise BadInput("--html and --no-html contradict each other: leave one out")
    check_outputs(asked.reports)
    from skfairtest.cli.auditing import demonstrate

    demonstrate(asked)
    return Status.DONE


def audit(asked: Asked) -> Status:
    r"""Test predictions for disparities between groups of people.

    FILES have one row per person, or are tables that 'skfairtest count' wrote. Each sensitive column is tested, then
    the intersections of several; p-values are adjusted for all comparisons together.

    The standard metrics are selection_rate, true_positive_rate, false_positive_rate, precision and accuracy; with
    --y-score also roc_auc and calibration. For predictions that are numbers, they are mean_prediction, mean_residual,
    mean_squared_error and mean_absolute_error. Without --y-true, they are those that need no true labels.

    --scan searches subgroups of up to two columns, the groups' own among them, by the metrics of --metric (otherwise by
    equalized_odds, or selection_rate without --y-true), with a guarantee of its own; the exit status is not about it.

    --baseline names the predictions of the model in production: the report then says by which metrics and groups the
    disparities of both models differ, at a level of its own; the exit status is not about it either.

    --y-judge names guesses of true labels for everybody, where --y-true has labels for some people and empty fields for
    others: --labelled at_random says that these are a random sample, or --label-probability how they were drawn.

    In a text file only an empty field is missing: a group may be called NA. In a file or a pipe the report is plain
    text with every comparison. JSON writes undefined numbers as null and infinite ones as "inf" and "-inf"; CSV puts an
    apostrophe before text that a spreadsheet would compute.

    Several files are counted one by one, and so is a single one with --engine, --cache, --score-bins or --threshold.
    Then --cluster and --missing are not available, and more than 1,000 different scores need --score-bins. If some
    files cannot be read, the others are reported, the errors are listed at the end, and the exit status is 2.

    Examples
    --------
      skfairtest audit people.csv --y-true outcome --y-pred decision \
          --sensitive sex --sensitive race --html audit.html
      skfairtest audit hired.parquet --y-pred hired --sensitive sex \
          --metric selection_rate --pos-label yes
      skfairtest audit people.csv --y-true y --y-score s --y-pred p \
          --sensitive sex --format json --output audit.json
      skfairtest audit excel.csv --encoding cp1252 --y-pred p --sensitive sex
      skfairtest audit 'data/**/*.parquet' --y-true y --y-pred p \
          --sensitive sex --engine polars --cache counted
      skfairtest audit people.csv --y-true y --y-pred p \
          --sensitive sex --scan age --scan education
      skfairtest audit table.json

    Exit status:
      0  no significant disparity was detected
      1  there is a significant disparity
      2  bad input, or the output could not be written
      3  an internal error
    """
    check_level(asked.alpha)
    from skfairtest.cli import auditing
    from skfairtest.cli.source import Source

    baseline = () if asked.baseline is None else (("--baseline", asked.baseline),)
    few = {"y_judge": asked.y_judge, "label_probability": asked.label_probability}
    source = Source.asked(
        asked, unknown=asked.missing != "raise", others=baseline, **few, few=any((*few.values(), asked.labelled))
    )
    params = {
        "metrics": auditing.check_metrics(asked.metric or ()),
        "n_resamples": auditing.resamples(asked.n_resamples),
        "n_jobs": asked.jobs,
        **asked.params("compare disparity margin missing adjust intersections impact compare_intersections"),
        **asked.params("positive_means favorable labelled"),
    }
    with watched(asked.no_color):
        (result, counted), said = auditing.audited(
            lambda: auditing.audited_files(source, pos_label=asked.pos_label, params=params, scan=asked.scan or ())
        )
    result._say(auditing.described(result.record_, source, said, counted, command=asked.command))
    auditing.accepting(result, asked.accept)
    auditing.written(result, asked)
    if counted is not None and counted.failed:
        return _some_failed(counted.failed)
    return _status_of(result.record_)


def report(asked: Asked) -> Status:
    """Write the reports of a test or an audit that was saved as JSON.

    RECORD is a file that 'skfairtest audit --json' or to_json of a test wrote. Nothing is computed again: every number
    and sentence is that of the saved test, and so is the exit status.

    Examples
    --------
      skfairtest report audit.json
      skfairtest report audit.json --html audit.html --csv comparisons.csv

    Exit status:
      0  of what was saved: no significant disparity was detected
      1  of what was saved: there is a significant disparity
      2  bad input, or the output could not be written
      3  an internal error
      4  of the saved audit: individual fairness was not tested
    """
    check_outputs(asked.outputs, [asked.file])
    from skfairtest.audit import FairnessAudit
    from skfairtest.cli import auditing
    from skfairtest.cli.source import read_saved

    result = read_saved(asked.file)
    if not isinstance(result, FairnessAudit):
        of_audits = {"--accept": asked.accept, "--junit": asked.junit, "--sarif": asked.sarif}
        given = [option for option, value in of_audits.items() if value] + [
            f"--format {name}" for name in ("junit", "sarif") if asked.format == name
        ]
        if given:
            raise BadInput(f"{given[0]} is for audits; found the record of a {type(result).__name__}")
        return auditing.tested(asked, lambda: result, lambda found: found.to_frame())
    auditing.accepting(result, asked.accept)
    auditing.written(result, asked)
    return _status_of(result.record_)


def _status_of(record: AuditRecord) -> Status:
    concern = record.verdict.concern
    if concern and record.accepted:
        from skfairtest.audit.findings import findings_of

        concern = any(finding.row["concern"] and finding.reason is None for finding in findings_of(record))
    if concern:
        return Status.SIGNIFICANT
    return Status.NOT_TESTED if record.individual_verdict == "no_trace" else Status.DONE


def count(asked: Asked) -> Status:
    r"""Count the people in files, for audits that do not need the files.

    The table that is written holds how many people there are of each kind: all that an audit needs. Tables of the same
    columns are added. With --minimum-cell, groups of fewer people are left out and listed, and a table in which fewer
    people share a cell is an error.

    If --score-bins is a number, or the edges of bins, each of several files is read twice, because the bins are those
    of all people. To add a table later, count it with the bins of the first: --score-bins table.json.

    Examples
    --------
      skfairtest count 'data/**/*.parquet' --y-true y --y-pred p \
          --sensitive sex --engine polars --cache counted --output table.json
      skfairtest audit table.json
      skfairtest count monday.json tuesday.json --output both.json
      skfairtest count table.json --minimum-cell 10 --output shared.json

    Exit status:
      0  done
      2  bad input, or the output could not be written
      3  an internal error

    If some files cannot be read, they are listed at the end and the exit status is 2; the table of the others is
    written.
    """
    if not asked.output.endswith((".json", ".parquet")):
        raise BadInput(f"--output {asked.output}: name a file that ends in .json or .parquet")
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.source import Source, save

    source = Source.asked(asked)
    with watched(asked.no_color):
        counted, _ = audited(source.counted)
    write_out(save(counted, asked.output, asked.minimum_cell))
    return _some_failed(counted.failed) if counted.failed else Status.DONE


def _some_failed(failed: Mapping[str, str]) -> Status:
    for reason in failed.values():
        tell(f"{PROGRAM}: {one_line(reason)}")
    return Status.BAD_INPUT


def power(asked: Asked) -> Status:
    """Compute how many people a test needs, or what a test can detect.

    The test is the exact one that audits run. For a mean, a value is MEAN:SD, such as 10:2.5; for a criterion of
    several rates, values name their rate: --rate true_positive_rate=0.7.

    Examples
    --------
      skfairtest power --rate 0.3 --rate 0.5
          how many people are needed to detect that 30% of one group
          and 50% of another are selected
      skfairtest power --rate 0.3 --rate 0.5 --n 60 --n 200
          how likely a test of 60 and 200 people is to detect it
      skfairtest power --baseline 0.3 --n 60 --n 200
          the smallest disparity that a test of 60 and 200 people is
          likely to detect

    Exit status:
      0  done
      2  bad input, or the output could not be written
      3  an internal error
    """
    check_level(asked.alpha)
    check_outputs(asked.outputs)
    from skfairtest.cli.power import answered

    answer = answered(asked)
    write_asked(asked, lambda _: answer.document(), {"json": answer.to_json})
    return Status.DONE


def metrics(asked: Asked) -> Status:
    """List the metrics, with the columns that each needs."""
    deliver(lambda _: metrics_document(), None, no_color=asked.no_color)
    return Status.DONE


def _help(work: Callable[..., Any]) -> str:
    """What is said under a function's name; paragraphs with indented lines, such as examples, are shown as they are."""
    text = (getdoc(work) or "").replace("Examples\n--------", "Examples:")
    return re.sub(r"(^|\n\n)(?=[^\n]+\n  )", "\\1\b\n", text)  # a backspace keeps lines


_SOURCE = "y_true y_pred y_score sensitive control"
_READING = "encoding threshold score_bins engine cache"
_FILES = "format output details html"
for work, names in (
    (demo, "html.demo no_html details no_color"),
    (
        audit,
        f"files {_SOURCE} y_judge label_probability labelled scan baseline weight cluster missing {_READING} impact "
        "metric pos_label positive_means favorable compare disparity margin alpha adjust intersections "
        "compare_intersections n_resamples seed jobs "
        f"accept {_FILES} json markdown csv junit sarif no_color",
    ),
    (report, f"file.record accept {_FILES} markdown csv junit sarif no_color"),
    (count, f"files output.count {_SOURCE} weight {_READING} minimum_cell no_color"),
    (commands.scan, commands.SCAN),
    (commands.impact, commands.IMPACT),
    (commands.compare, commands.COMPARE),
    (commands.monitor, commands.MONITOR),
    (
        power,
        "metric.power rate n baseline.power power share base_rate compare.power disparity margin.power alternative "
        "direction alpha.power format.power output no_color",
    ),
    (metrics, "no_color"),
):
    text, *rest = re.split(r"\n\n(?=\x08\n(?:Examples|Exit status):\n)", _help(work))
    epilog = "\n\n".join(rest)
    app.command(work.__name__, cls=Command, help=text, epilog=epilog)(options.command_of(work, names))
app.callback(invoke_without_command=True, help=_help(main))(main)


def metrics_document() -> list[Block]:
    """List every metric by name."""
    from skfairtest.metrics import CALIBRATION, CRITERIA, RATES, SCORES
    from skfairtest.report.document import Heading, Items, Paragraph

    criteria = (f"{name}: {enumerated(list(rates))}" for name, rates in CRITERIA.items())
    return [
        Paragraph("What --metric takes, and in Python metric=, with the columns that are needed."),
        Heading("Rates"),
        Items(tuple(f"{_needed(rate)}: {_meaning(rate)}" for rate in RATES.values())),
        Heading("Criteria: rates that are tested together"),
        Items(tuple(criteria)),
        Heading("Other metrics of each group"),
        Items(tuple(f"{_needed(metric)}: {metric.describes}" for metric in SCORES.values())),
        Heading("Calibration curves"),
        Items(tuple(f"{_needed(metric)}: {metric.describes}" for metric in CALIBRATION.values())),
    ]


def _meaning(rate: Rate) -> str:
    share = f"among {rate.among}, the share who {rate.happens}"
    return share if rate.value is None else f"a function of this share: {share}"


def _needed(metric: Rate | BuiltIn | Calibration) -> str:
    return f"{metric.name} ({', '.join(OPTIONS[name] for name in sorted(metric.reads, reverse=True))})"
