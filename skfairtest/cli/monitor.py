"""``skfairtest monitor``: a batch more of a stream whose state is a file, for a job that runs every night."""

from __future__ import annotations

import hashlib
import os
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skfairtest.cli import options
from skfairtest.cli.errors import BadInput, check_level
from skfairtest.cli.header import UTF_8, check_encoding
from skfairtest.cli.options import exit_status, option
from skfairtest.cli.output import check_outputs, watched, write_out
from skfairtest.cli.status import Status

if TYPE_CHECKING:
    from skfairtest.cli.files import People
    from skfairtest.group.sequential import SequentialFairnessTest

__all__ = ["MONITOR_HELP", "monitor"]

MONITOR_HELP = f"""Test a stream, batch by batch, valid however often you look.

STATE is a JSON file with all that is known of earlier batches; the first run makes it. The test is valid however often
it is looked at, if who is in a batch does not follow the outcomes in it (with --blocks queues: if samples are in the
order in which they came, and nobody's coming followed their own outcome): a fair stream is ever called unfair with a
probability of at most --alpha. What is tested is decided by the first run; later ones may repeat these options and not
change them. A batch that was taken in already changes nothing. STATE is replaced as a whole: after a failure it is as
it was. One line is written. While a run works on STATE, there is a file STATE.lock beside it, and another run on the
same STATE is an error.

\b
Examples:
  skfairtest monitor hired.json --batch may.csv --y-pred hired --sensitive sex
  skfairtest monitor loans.json --batch may.csv --name may --y-pred approved \\
      --sensitive sex --metric equalized_odds              (labels come later)
  skfairtest monitor loans.json --batch may_labels.csv --name may \\
      --y-pred approved --y-true repaid --sensitive sex

{exit_status("no significant disparity so far",
             "there was one at some look, or the change detector raised an alarm")}"""  # fmt: skip

State = Annotated[str, typer.Argument(metavar="STATE", help="The JSON file of the stream.")]
Batch = Annotated[
    str,
    typer.Option(
        "--batch", metavar="FILE", help="The batch: a CSV (.csv, .csv.gz, .tsv) or Parquet file, one row per sample."
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="What the batch is called, by which it is recognised.  [default: a hash of the file]",
    ),
]
Time = Annotated[
    str | None,
    typer.Option("--time", metavar="TEXT", help="When the batch is of, for displays.  [default: the file's name]"),
]
_TEST = "The test (decided by the first run)"
Metrics = Annotated[
    list[str] | None,
    option(
        "--metric",
        panel=_TEST,
        metavar="NAME",
        help="A rate, a criterion or a bounded mean. May be repeated.  [default: selection_rate]",
    ),
]
Groups = Annotated[
    list[str] | None,
    option(
        "--group",
        panel=_TEST,
        metavar="NAME",
        help="A group that can come, of one sensitive column; repeat it for all.  [default: those of the first batch]",
    ),
]
Alpha = Annotated[
    float | None,
    option(
        "--alpha",
        panel=_TEST,
        metavar="LEVEL",
        help="The probability of ever finding a disparity where there is none.  [default: 0.05]",
    ),
]
Blocks = Annotated[
    str | None,
    option(
        "--blocks",
        panel=_TEST,
        metavar="WHAT",
        help="What is compared: samples of both groups in a batch (batches), or the next ones of each group's own "
        "queue (queues).  [default: queues if the first batch is a single sample, batches otherwise]",
    ),
]
Margin = Annotated[
    float | None,
    option("--margin", panel=_TEST, metavar="SIZE", help="The difference that is tolerated.  [default: 0]"),
]


def monitor(
    state: State,
    *,
    batch: Batch,
    name: Name = None,
    time: Time = None,
    y_true: options.Truth = None,
    y_pred: options.Prediction = None,
    y_score: options.Score = None,
    sensitive: options.Sensitive = None,
    encoding: options.Encoding = UTF_8,
    metric: Metrics = None,
    group: Groups = None,
    pos_label: options.PosLabel = None,
    alpha: Alpha = None,
    margin: Margin = None,
    blocks: Blocks = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
) -> Status:
    """Take in a batch."""
    if not sensitive:
        raise BadInput("--sensitive is missing: name the column of groups")
    if (y_pred is None) == (y_score is None):
        raise BadInput("name one column of predictions, --y-pred or --y-score")
    if alpha is not None:
        check_level(alpha)
    check_outputs({"STATE": state, "--html": html, "--markdown": markdown}, [batch])
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.files import Columns, read_people

    columns = Columns(y_true, y_pred, tuple(sensitive), (), y_score, encoding=check_encoding(encoding))
    test_parameters = (metric, group, pos_label, alpha, margin, blocks)
    given = dict(zip(("metric", "groups", "pos_label", "alpha", "margin", "blocks"), test_parameters, strict=True))
    asked = {key: value for key, value in given.items() if value is not None}

    def work() -> SequentialFairnessTest:
        people = read_people(batch, columns)
        test = _continued(state, asked) if os.path.exists(state) else _begun(asked, people)
        return test.partial_fit(
            people.y_pred if y_score is None else people.y_score,
            people.y_true,
            sensitive_features=people.sensitive,
            time=Path(batch).name if time is None else time,
            batch=_hash(batch) if name is None else name,
        )

    with _locked(state), watched():
        test, _ = audited(work)
        try:
            test.to_json(state)
        except OSError as error:
            raise BadInput(f"STATE {state}: {error.strerror or error}") from error
    write_out(f"{clock.strftime('%Y-%m-%d')} {Path(state).name}: {test.summary()}\n")
    for typed, path, written in (("--html", html, test.to_html), ("--markdown", markdown, test.to_markdown)):
        if path is not None:
            write_out(written(), path, option=typed)
    return Status.SIGNIFICANT if test.concern_ or test.changed_ else Status.DONE


@contextmanager
def _locked(state: str) -> Iterator[None]:
    """Keep other runs away from a state: what one of two at once has learnt would be lost."""
    lock = f"{state}.lock"
    try:
        # Only one process can make a file that is not there yet, on every system.
        file = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        raise BadInput(
            f"STATE {state}: another run is working on it ({_holder(lock)}). Run this again when it has ended; if it "
            f"was killed, delete {lock} first"
        ) from None
    except OSError as error:
        raise BadInput(f"STATE {state}: {lock} cannot be written: {error.strerror or error}") from error
    try:
        with os.fdopen(file, "w", encoding="ascii") as written:
            written.write(f"process {os.getpid()}, since {clock.strftime('%Y-%m-%d %H:%M:%S')}")
        yield
    finally:
        with suppress(OSError):  # somebody may have deleted it
            os.remove(lock)


def _holder(lock: str) -> str:
    try:
        return Path(lock).read_text(encoding="ascii") or "it has just begun"
    except (OSError, UnicodeDecodeError):
        return "it has just ended"


def _begun(asked: dict[str, Any], people: People) -> SequentialFairnessTest:
    from skfairtest.cli.files import cast_pos_label
    from skfairtest.group.sequential import SequentialFairnessTest

    params = dict(asked)
    if "pos_label" in params:
        params["pos_label"] = cast_pos_label(params["pos_label"], people.labels)
    if "metric" in params and len(params["metric"]) == 1:
        params["metric"] = params["metric"][0]
    return SequentialFairnessTest(**params)


def _continued(state: str, asked: dict[str, Any]) -> SequentialFairnessTest:
    """Read a state, and check that what was asked for is what it tests."""
    from skfairtest._utils.errors import ParameterError
    from skfairtest.group.sequential import SequentialFairnessTest

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


def _hash(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error
