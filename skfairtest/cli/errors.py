"""How a command ends: its exit status, and one line for standard error.

What the process returns.

What went wrong, in one line for standard error.
"""

import re
from enum import IntEnum

from skfairtest._utils.errors import ParameterError, cut
from skfairtest._utils.text import label


class Status(IntEnum):
    """The exit status of the process."""

    DONE, SIGNIFICANT, BAD_INPUT, INTERNAL, NOT_TESTED, INTERRUPTED = 0, 1, 2, 3, 4, 130


#: The option of each parameter of the package; `skfairtest.cli.app` fills it in from its commands.
OPTIONS = {
    "y": "--y-true",
    "y_pred_a": "the baseline's predictions",
    "y_pred_b": "the candidate's predictions",
    "y_score_a": "the baseline's scores",
    "y_score_b": "the candidate's scores",
}
#: What is typed, or shown, for what is code in the package, where that is not an option with a value.
_FLAGS = {
    "intersections=False": "--no-intersections",
    "must be a dict": "must be given as NAME=VALUE",
    "see excluded_": 'see "Left out" in the report',
    "(for example scores >= 0.5, or prediction_threshold=0.5)": "(or give --threshold 0.5 in place of --y-pred)",
}
# Code in a message: "name=", or a name that is not an English word; not inside quotes, which may hold a column's name.
_CODE = re.compile(r"(?<!['\"\w.-])([a-z]+(?:_[a-z]+)*)(=(?!=)|(?!['\"\w]))")


class BadInput(Exception):
    """The input cannot be used; the message says what to do."""


def one_line(text: object) -> str:
    """Write a message on one line; characters that would move the cursor are written as escapes.

    Examples
    --------
    >>> one_line("Expected 2 fields, saw 3" + chr(10))
    'Expected 2 fields, saw 3'
    """
    return label(cut(re.sub(r"\s*[\r\n]+\s*", " ", str(text)).strip()))


def in_terms_of_options(message: Exception | str) -> str:
    """Name the options of the command line where the package names parameters.

    Examples
    --------
    >>> import skfairtest.cli.app
    >>> in_terms_of_options("pos_label is needed: pass pos_label='yes' or pos_label='no'.")
    "--pos-label is needed: pass --pos-label 'yes' or --pos-label 'no'."
    >>> in_terms_of_options(ParameterError("margin must be a number; found 'wide'"))
    "--margin must be a number; found 'wide'"
    """
    text = str(message)
    if isinstance(message, ParameterError) and message.parameter in OPTIONS:
        option = OPTIONS[message.parameter]
        text = message.renamed(option).replace(f"{option}=", f"{option} ", 1)
    for code, flag in _FLAGS.items():
        text = text.replace(code, flag)

    def as_option(code: re.Match[str]) -> str:
        name, equals = code.groups()
        return f"{OPTIONS[name]}{' ' * bool(equals)}" if name in OPTIONS and (equals or "_" in name) else code[0]

    return _CODE.sub(as_option, text)
