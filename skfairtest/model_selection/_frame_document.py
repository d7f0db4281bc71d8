"""A frame of metrics as a document: the values by group, and a p-value below them."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import pandas as pd

from skfairtest._utils.text import label, shorten
from skfairtest.model_selection._frame_cells import Cells
from skfairtest.report.document import Block, Column, Paragraph, Table
from skfairtest.report.sentences import number, p_text

__all__ = ["frame_document"]


def frame_document(by_group: pd.DataFrame | pd.Series, cells: Cells, class_name: str) -> list[Block]:
    """Compose what a frame shows of itself.

    Parameters
    ----------
    by_group : DataFrame or Series
        Values by group, as MetricFrame has them.
    cells : Cells
        The tests of differences between groups. Those that are quick are made; those of functions that are called for
        every resample are shown if they have been made.
    class_name : str
        What the frame is.

    Returns
    -------
    list of Block
        A sentence and a table.
    """
    frame = by_group.to_frame() if isinstance(by_group, pd.Series) else by_group
    n_control = len(cells.levels[0])
    names = [label(name) for name in frame.index.names]
    columns = [*(Column(name, "name", named=True) for name in names)]
    columns += [Column(label(name), named=True) for name in frame.columns]
    rows = []
    for level in cells.levels:
        for key, values in zip(frame.index, frame.itertuples(index=False), strict=True):
            parts = key if isinstance(key, tuple) else (key,)
            if parts[:n_control] == level:
                rows.append((*map(label, parts), *map(_shown, values)))
        blank = [""] * (len(names) - n_control - 1)
        rows.append((*map(label, level), "p-value", *blank, *_p_values(cells, level)))
    marked = frozenset(place for place, row in enumerate(rows) if any(cell.endswith(" *") for cell in row))
    said = (
        f"{class_name}: values by {' and '.join(names)}, with p-values of the differences between groups (* concern)."
    )
    return [Paragraph(said), Table(tuple(columns), tuple(rows), "Values by group", marked)]


def _p_values(cells: Cells, level: tuple[Any, ...]) -> Iterator[str]:
    for place in range(len(cells.metrics)):
        if not cells.is_quick(place, level):
            yield "p_values()"
            continue
        cell = cells.cell(place, level, "between_groups", "difference")
        yield "" if pd.isna(cell.p_value) else f"{p_text(cell.p_value)}{' *' if cell.concern else ''}"


def _shown(value: Any) -> str:
    return number(float(value)) if isinstance(value, Real) else shorten(value, 24)
