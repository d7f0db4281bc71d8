"""An audit that was saved, read again."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from skfairtest.audit import FairnessAudit
from skfairtest.cli.errors import BadInput
from skfairtest.tables.storage import is_stored

_SAVED = "reports are made of what 'skfairtest audit --json' and FairnessAudit.to_json write"


def read_audit(path: str) -> FairnessAudit:
    """Read the record of an audit.

    Parameters
    ----------
    path : str
        What ``skfairtest audit --json`` or `FairnessAudit.to_json` wrote.

    Returns
    -------
    FairnessAudit
        The fitted audit, without its estimator.

    Raises
    ------
    BadInput
        If the file cannot be read, or holds something else.
    """
    try:
        text = Path(path).read_bytes()
        other = _other(path, text)
        if other is not None:
            raise BadInput(f"{path}: is {other}")
        return FairnessAudit.from_json(text)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error
    except ValueError as error:  # also a path that no file can have
        raise BadInput(f"{path}: {str(error).removeprefix('text ')}; {_SAVED}") from error


def _other(path: str, text: bytes) -> str | None:
    """Say what a file is that is no audit, but something else that the package writes."""
    if is_stored(path):
        return "a table of counts, which 'skfairtest audit' tests"
    with suppress(ValueError, RecursionError):
        found = json.loads(text)
        if isinstance(found, dict) and isinstance(found.get("test"), str):
            return f"the record of a {found['test']}, of which no report can be made: {_SAVED}"
        if isinstance(found, dict) and found.get("schema") == "skfairtest.power":
            return f"the answer of 'skfairtest power': {_SAVED}"
    return None
