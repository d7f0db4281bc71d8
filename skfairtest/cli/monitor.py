"""``skfairtest monitor``: a batch more of a stream whose state is a file, for a job that runs every night."""

from __future__ import annotations

import hashlib
import os
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skfairtest.cli.errors import BadInput, check_level
from skfairtest.cli.options import Asked, exit_status
from skfairtest.cli.output import check_outputs, watched, write_asked, write_out
from skfairtest.cli.status import Status

if TYPE_CHECKING:
    from skfairtest.cli.files import People
    from skfairtest.sequential.fairness import SequentialFairnessTest

ASKED = (
    "state batch name time y_true y_pred y_score sensitive encoding metric.monitor group pos_label alpha.monitor "
    "margin.monitor blocks html markdown openmetrics"
)
MONITOR_HELP = f"""Test a stream, batch by batch, valid however often you look.

STATE is a JSON file with all that is known of earlier batches; the first run makes it. The test is valid however often
it is looked at, if who is in a batch does not follow the outcomes in it (with --blocks queues: if samples are in the
order in which they came, and nobody's coming followed their own outcome): a fair stream is ever called unfair with a
probability of at most --alpha. What is tested is decided by the first run; later ones may repeat these options and not
change them. A batch that was taken in already changes nothing. STATE is replaced as a whole: after a failure it is as
it was. One line is written. While a run works on STATE, it holds the file STATE.lock beside it, and another run on the
same STATE is an error. Batches of other columns are another stream, and refused.

\b
Examples:
  skfairtest monitor hired.json --batch may.csv --y-pred hired --sensitive sex
  skfairtest monitor loans.json --batch may.csv --name may --y-pred approved \\
      --sensitive sex --metric equalized_odds              (labels come later)
  skfairtest monitor loans.json --batch may_labels.csv --name may \\
      --y-pred approved --y-true repaid --sensitive sex

{exit_status("no significant disparity so far",
             "there was one at some look, or the change detector raised an alarm")}"""  # fmt: skip


def monitor(asked: Asked) -> Status:
    """Take in a batch."""
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
        sweep(Path(state).absolute().parent, Path(state).name, older_than=0)
        test, _ = audited(work)
        try:
            test.to_json(state)
        except OSError as error:
            raise BadInput(f"STATE {state}: {error.strerror or error}") from error
    try:
        write_out(f"{clock.strftime('%Y-%m-%d')} {Path(state).name}: {test.summary()}\n")
        from skfairtest.sequential.openmetrics import open_metrics

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

    lock = filelock.FileLock(f"{state}.lock", timeout=0)  # the system frees it, however its process ends
    try:
        lock.acquire()
    except filelock.Timeout:
        raise BadInput(f"STATE {state}: another run is working on it. Run this again when it has ended") from None
    except OSError as error:
        raise BadInput(f"STATE {state}: {state}.lock cannot be written: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.release()


def _begun(asked: dict[str, Any], people: People) -> SequentialFairnessTest:
    from skfairtest.cli.files import cast_pos_label
    from skfairtest.sequential.fairness import SequentialFairnessTest

    params = dict(asked)
    if "pos_label" in params:
        params["pos_label"] = cast_pos_label(params["pos_label"], people.labels)
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
