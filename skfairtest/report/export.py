"""An audit as one table of comma-separated values that no spreadsheet executes."""

from __future__ import annotations

import pandas as pd

from skfairtest._utils.text import escape


def to_csv(frame: pd.DataFrame) -> str:
    """Write a table; undefined numbers are empty, and text that would be read as a formula is marked as text.

    Parameters
    ----------
    frame : DataFrame
        One row per comparison, as `FairnessAudit.to_frame` returns.

    Returns
    -------
    str
        Lines, separated by commas, with a header.

    Examples
    --------
    >>> print(to_csv(pd.DataFrame({"group": ["=1+1", "f"], "disparity": [-0.25, 0.5]})), end="")
    group,disparity
    '=1+1,-0.25
    f,0.5
    """
    marked = {name: [escape_formula(value) for value in frame[name]] for name in frame.columns}
    # Text without characters that control a terminal.
    columns = {name: [escape(value) if isinstance(value, str) else value for value in marked[name]] for name in marked}
    text: str = pd.DataFrame(columns, dtype=object).to_csv(index=False, lineterminator="\n")
    return text


def escape_formula(value: object) -> object:
    """Mark text by an apostrophe where spreadsheets would compute it; a number is a number also as text.

    Examples
    --------
    >>> (
    ...     escape_formula("=1+1"),
    ...     escape_formula("-1"),
    ...     escape_formula("-1+1"),
    ...     escape_formula("a=1"),
    ...     escape_formula(-1),
    ... )
    ("'=1+1", '-1', "'-1+1", 'a=1', -1)
    """
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
