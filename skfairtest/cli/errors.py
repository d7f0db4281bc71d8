"""What went wrong, in one line for standard error."""

from __future__ import annotations

import re

from skfairtest.report.words import label

__all__ = ["BadInput", "in_terms_of_options", "one_line"]

#: The package's parameters, and what they are called here.
_OPTIONS = {
    "pos_label": "--pos-label",
    "sensitive_features": "--sensitive",
    "control_features": "--control",
    "y_true": "--y-true",
    "y_pred": "--y-pred",
    "metric": "--metric",
    "compare": "--compare",
    "disparity": "--disparity",
}
# Not inside quotes, where a column may have such a name; "metric" alone is a word of English.
_GIVEN = re.compile(rf"(?<!['\"\w.-])({'|'.join(_OPTIONS)})=(?!=)")
_NAMED = re.compile(rf"(?<!['\"\w.-])({'|'.join(name for name in _OPTIONS if '_' in name)})(?!['\"\w])")


class BadInput(Exception):
    """What was asked cannot be done with what was given; the message says what to do."""


def one_line(text: object) -> str:
    """Write a message on one line; characters that would move the cursor are written as escapes.

    Examples
    --------
    >>> one_line("Expected 2 fields, saw 3" + chr(10))
    'Expected 2 fields, saw 3'
    """
    return label(re.sub(r"\s*[\r\n]+\s*", " ", str(text)).strip())


def in_terms_of_options(message: str) -> str:
    """Name the options of the command line where the package names parameters.

    Examples
    --------
    >>> in_terms_of_options("pos_label is needed. Pass for example pos_label='yes'.")
    "--pos-label is needed. Pass for example --pos-label 'yes'."
    """
    message = _GIVEN.sub(lambda found: f"{_OPTIONS[found[1]]} ", message)
    return _NAMED.sub(lambda found: _OPTIONS[found[1]], message)
