"""How a command ends: its exit status, and one line for standard error.

What the process returns.

What went wrong, in one line for standard error.
"""

import re
from enum import IntEnum

from skfairtest._utils.errors import ParameterError, cut
from skfairtest._utils.text import label


class Status(IntEnum):
    """What the process returns; what is done has detected no significant disparity.

    Not tested is an audit without a significant disparity of which a metric or a grouping could not be tested, or whose
    test of individual fairness had nothing to learn who is similar from.
    """

    DONE, SIGNIFICANT, BAD_INPUT, INTERNAL, NOT_TESTED, INTERRUPTED = 0, 1, 2, 3, 4, 130


#: Parameters of the package that are called the same here.
_SAME = (
    "pos_label y_true y_pred y_score metric compare compare_intersections disparity "
    "margin missing positive_means favorable alpha adjust n_resamples alternative direction scan impact guarantee "
    "y_judge label_probability labelled strata smallest_share max_depth max_subgroups min_group_size n_bins power "
    "baseline"
)
#: The package's parameters, and what they are called here.
OPTIONS = {
    **{name: f"--{name.replace('_', '-')}" for name in _SAME.split()},
    "sensitive_features": "--sensitive",
    "control_features": "--control",
    "sample_weight": "--weight",
    "clusters": "--cluster",
    "y": "--y-true",
    "y_pred_baseline": "--baseline",
    "prediction_threshold": "--threshold",
    "metrics": "--metric",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "features": "--feature",
    "rates": "--rate",
    "shares": "--share",
    "base_rates": "--base-rate",
    "n_per_group": "--n",
}
#: What is typed, or shown, for what is code in the package, where that is not an option with a value.
_FLAGS = {
    "intersections=False": "--no-intersections",
    "see excluded_": 'see "Left out" in the report',
    "(for example scores >= 0.5, or prediction_threshold=0.5)": "(or give --threshold 0.5 in place of --y-pred)",
}
# Code in a message: "name=", or a name that is no word of English; not inside quotes, where a column may be called so.
_CODE = re.compile(r"(?<!['\"\w.-])([a-z]+(?:_[a-z]+)*)(=(?!=)|(?!['\"\w]))")


class BadInput(Exception):
    """What was asked cannot be done with what was given; the message says what to do."""


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
    return _CODE.sub(_as_option, text)


def _as_option(code: re.Match[str]) -> str:
    name, equals = code.groups()
    if name not in OPTIONS or not (equals or "_" in name):
        return code[0]
    return OPTIONS[name] + (" " if equals else "")
