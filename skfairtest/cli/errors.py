"""What went wrong, in one line for standard error."""

from __future__ import annotations

import re

from skfairtest._utils.text import label

__all__ = ["BadInput", "in_terms_of_options", "one_line"]

#: The package's parameters, and what they are called here.
_OPTIONS = {
    "pos_label": "--pos-label",
    "sensitive_features": "--sensitive",
    "control_features": "--control",
    "sample_weight": "--weight",
    "clusters": "--cluster",
    "y_true": "--y-true",
    "y_pred": "--y-pred",
    "y_score": "--y-score",
    "metric": "--metric",
    "metrics": "--metric",
    "compare": "--compare",
    "compare_intersections": "--compare-intersections",
    "disparity": "--disparity",
    "margin": "--margin",
    "adjust": "--adjust",
    "n_resamples": "--n-resamples",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "alternative": "--alternative",
    "direction": "--direction",
    "power": "--power",
    "rates": "--rate",
    "baseline": "--baseline",
    "shares": "--share",
    "base_rates": "--base-rate",
    "n_per_group": "--n",
}
_NAMES = "|".join(sorted(_OPTIONS, key=len, reverse=True))
# Not inside quotes, where a column may have such a name; words of English are parameters only where they have a value,
# or where a message begins with them.
_GIVEN = re.compile(rf"(?<!['\"\w.-])({_NAMES})=(?!=)")
_LEADING = re.compile(rf"^({_NAMES})(?=( of [^:;]{{1,40}})? (must|is|are|has|have|needs|looks|names)\b)")
_NEEDED = re.compile(rf"(?<=needs )({_NAMES})(?=:)")
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
    message = re.sub(r"^y is missing", "--y-true is missing", message)
    message = _GIVEN.sub(lambda found: f"{_OPTIONS[found[1]]} ", message)
    for pattern in (_LEADING, _NEEDED):
        message = pattern.sub(lambda found: _OPTIONS[found[1]], message)
    return _NAMED.sub(lambda found: _OPTIONS[found[1]], message)
