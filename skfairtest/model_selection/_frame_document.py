"""A frame of metrics as a document: the values by group, with a p-value below them."""

from __future__ import annotations

from html import escape
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.text import label, shorten
from skfairtest.model_selection._frame_cells import Cell, Cells
from skfairtest.report.document import Block, Column, Items, Paragraph, Table
from skfairtest.report.sentences import number, p_text

if TYPE_CHECKING:  # it needs jinja2
    from pandas.io.formats.style import Styler


def frame_document(by_group: pd.DataFrame | pd.Series, cells: Cells, class_name: str) -> list[Block]:
    """Compose the display of a frame.

    Parameters
    ----------
    by_group : DataFrame or Series
        Values by group, as MetricFrame has them.
    cells : Cells
        The tests of differences between groups. Quick tests are run; tests of functions that are called for every
        resample are shown only if they have run already.
    class_name : str
        The name of the frame's class.

    Returns
    -------
    list of Block
        A sentence, a table, and the groups that were left out of tests.
    """
    frame = by_group.to_frame() if isinstance(by_group, pd.Series) else by_group
    n_control, places = len(cells.levels[0]), range(len(cells.metrics))
    names = [label(name) for name in frame.index.names]
    columns = [*(Column(name, "name", named=True) for name in names)]
    columns += [Column(label(name), named=True) for name in frame.columns]
    rows, left_out = [], []
    for level in cells.levels:
        for key, values in zip(frame.index, frame.itertuples(index=False), strict=True):
            parts = key if isinstance(key, tuple) else (key,)
            if parts[:n_control] == level:
                rows.append((*map(label, parts), *map(_shown, values)))
        blank = [""] * (len(names) - n_control - 1)
        found = [cells.shown_cell(place, level) if cells.is_quick(place, level) else None for place in places]
        rows.append((*map(label, level), "p-value", *blank, *map(_p_value, found)))
        where = f" in {', '.join(map(label, level))}" if level else ""
        left_out += [
            f"{label(metric.name)}{where}: {cell.reason}"
            for metric, cell in zip(cells.metrics, found, strict=True)
            if cell is not None and cell.reason and not np.isnan(cell.p_value)
        ]
    marked = frozenset(place for place, row in enumerate(rows) if any(cell.endswith(" *") for cell in row))
    said = (
        f"{class_name}: values by {' and '.join(names)}, with p-values of the differences between groups (* concern)."
    )
    table = Table(tuple(columns), tuple(rows), "Values by group", marked)
    return [Paragraph(said), table, *([Items(tuple(left_out))] if left_out else [])]


#: What is marked, legible on white and on black.
_MARKED = "font-weight: bold; background-color: rgba(230, 159, 0, 0.3)"


def styled(frame: pd.DataFrame, marked: NDArray[np.bool_]) -> Styler:
    """Style a frame, with marked cells.

    Parameters
    ----------
    frame : DataFrame
        Values or tests.
    marked : ndarray of bool of the shape of the frame
        What is significant.

    Returns
    -------
    Styler
        With the digits of reports.

    Raises
    ------
    ImportError
        If jinja2 is not installed.
    """
    try:
        style = frame.rename_axis(index=[escape(str(name)) for name in frame.index.names]).style
    except ImportError as error:
        raise ImportError(
            'styled frames need jinja2: python -m pip install "skfairtest[report]"', name="jinja2"
        ) from error
    formats: dict[Any, Any] = {name: p_text if name == "p_value" else _styled for name in frame.columns}
    for axis in (0, 1):
        style.format_index(escape="html", axis=axis)
    return style.format(formats, na_rep="", escape="html").apply(lambda _: np.where(marked, _MARKED, ""), axis=None)


def _styled(value: Any) -> str:
    return str(value) if isinstance(value, str | bool) else _shown(value)


def _p_value(cell: Cell | None) -> str:
    if cell is None:
        return "p_values()"
    return "" if np.isnan(cell.p_value) else f"{p_text(cell.p_value)}{' *' if cell.concern else ''}"


def _shown(value: Any) -> str:
    return number(float(value)) if isinstance(value, Real) else shorten(value, 24)
