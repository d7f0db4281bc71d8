"""What a command reads: people, tables of counts, or a saved audit.

Where the people of a command are: one file, files that are counted, or tables of counts.

An audit that was saved, read again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import skfairtest
from skfairtest._utils.text import label, pluralize
from skfairtest.cli.engines import started
from skfairtest.cli.errors import BadInput
from skfairtest.cli.files import Columns
from skfairtest.cli.header import UTF_8
from skfairtest.cli.many import Counted, Question, added, are_tables, count_files, files_of, score_bins
from skfairtest.cli.options import Asked
from skfairtest.cli.output import check_outputs
from skfairtest.report.record import read_record
from skfairtest.tables.storage import is_stored


@dataclass(frozen=True)
class Source:
    """What was typed about the people.

    Parameters
    ----------
    patterns : tuple of str
        Files, or patterns of their names.
    columns : Columns
        Which columns are what.
    engine, cache, bins : str or None
        Options.
    threshold : float or None
        From which score on a prediction is 1.
    """

    patterns: tuple[str, ...]
    columns: Columns
    engine: str | None = None
    cache: str | None = None
    bins: str | None = None
    threshold: float | None = None

    @classmethod
    def asked(cls, asked: Asked, **columns: Any) -> Source:
        """What was typed, where it goes together and its output can be written.

        Raises
        ------
        BadInput
            If not.
        """
        found = cls(
            tuple(asked.files), asked.columns(**columns), asked.engine, asked.cache, asked.score_bins, asked.threshold
        )
        found.check()
        check_outputs(asked.outputs, found.files)
        return found

    @cached_property
    def files(self) -> list[str]:
        """The files that are read."""
        return files_of(self.patterns)

    @cached_property
    def tables(self) -> bool:
        """Whether these are tables of counts."""
        return are_tables(self.files)

    @property
    def name(self) -> str:
        """What the files are called together."""
        if len(self.files) == 1:
            return os.path.basename(self.files[0])
        return self.patterns[0] if len(self.patterns) == 1 else pluralize(len(self.files), "file")

    @property
    def is_counted(self) -> bool:
        """Whether a table of counts is made, rather than one file read into memory."""
        return self.tables or len(self.files) > 1 or any(value is not None for value in self._of_counting.values())

    @property
    def _of_counting(self) -> dict[str, object]:
        return {
            "--engine": self.engine,
            "--cache": self.cache,
            "--score-bins": self.bins,
            "--threshold": self.threshold,
        }

    def check(self) -> None:
        """Refuse options that do not go together.

        Raises
        ------
        BadInput
            If there are any.
        """
        columns = self.columns
        if self.tables:
            roles = replace(columns, sensitive=(), control=()).options
            options = [option for option, value in self._of_counting.items() if value is not None]
            options += ["--encoding"] if columns.encoding != UTF_8 else []
            given = [*roles.values(), *options]
            if given:
                raise BadInput(
                    f"{self.files[0]}: is a table of counts, which was made with its own: leave out {', '.join(given)}"
                )
            return
        if columns.y_pred is None and columns.y_score is None:
            raise BadInput(
                "--y-pred is missing: name the column of predictions, or --y-score for metrics of scores alone"
            )
        if not columns.sensitive:
            raise BadInput("--sensitive is missing: name the column of groups")
        in_memory = {
            "--baseline": bool(columns.others),
            "--cluster": columns.cluster is not None,
            "--missing": bool(columns.unknown),
            "--y-judge": columns.y_judge is not None,
            "--labelled or --label-probability": bool(columns.few),
        }
        for needed in (option for option, given in in_memory.items() if given and self.is_counted):
            why = next((option for option, value in self._of_counting.items() if value is not None), "several files")
            raise BadInput(f"{needed} needs a single file that is read into memory: it does not go with {why}")

    def counted(self) -> Counted:
        """Count the people, or add the tables."""
        if self.tables:
            return added(self.files, self.columns)
        question = Question(self.columns, score_bins(self.bins), self.threshold)
        with started(self.engine) as engine:
            return count_files(self.files, question, engine, self.cache)


def save(counted: Counted, output: str, minimum_cell: int | None) -> str:
    """Write a table; return what it is, in a line, and what was left out of it, in others."""
    table = counted.table if minimum_cell is None else counted.table.suppress(minimum_cell)
    try:
        table.save(output)
    except OSError as error:
        raise BadInput(f"--output {output}: {error.strerror or error}") from error
    what = repr(table).removeprefix("CountTable(").removesuffix(")")
    lines = [f"{label(output)}: {what}; from {pluralize(counted.n_files, 'file')}"]
    for group, stratum, least in table.suppressed:
        where = "" if stratum is None else f" in {label(stratum)}"
        lines.append(f"left out: {label(group)}{where}, fewer than {pluralize(least, 'person', 'people')}")
    return "".join(f"{line}\n" for line in lines)


_SAVED = "reports are made of what 'skfairtest audit --json' and to_json of a test write"


def read_saved(path: str) -> Any:
    """Read the record of a test or an audit.

    Parameters
    ----------
    path : str
        What ``skfairtest audit --json`` or ``to_json`` wrote.

    Returns
    -------
    test
        The fitted test, without its estimator.

    Raises
    ------
    BadInput
        If the file cannot be read, or holds something else.
    """
    try:
        if is_stored(path):
            raise BadInput(f"{path}: is a table of counts, which 'skfairtest audit' tests; {_SAVED}")
        text = Path(path).read_bytes()
        found: Any = getattr(skfairtest, str(read_record(text)["test"]), None)
        if not hasattr(found, "from_json"):
            raise BadInput(f"{path}: is the record of nothing that this version knows; {_SAVED}")
        return found.from_json(text)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error
    except ValueError as error:  # also a path that no file can have
        raise BadInput(f"{path}: {str(error).removeprefix('source ')}; {_SAVED}") from error
