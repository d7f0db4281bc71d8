"""Reading the shipped counts and turning them back into people."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd
from sklearn.utils import Bunch


def read_counts(name: str) -> pd.DataFrame:
    """Read the counts of a data set: one row per cell, its size in the column ``count``."""
    with (files(__package__) / f"{name}.csv").open("r", encoding="utf-8") as stream:
        return pd.read_csv(stream)


def people_of(counts: pd.DataFrame, name: str, arrays: list[str], **frames: list[str]) -> Bunch:
    """Repeat each cell's row once per person it counts, in the order of the file.

    Parameters
    ----------
    counts : DataFrame
        One row per cell, its size in the column ``count``.
    name : str
        The data set, whose description is read.
    arrays : list of str
        Columns that become arrays.
    **frames
        Columns that together become a frame.
    """
    people = counts.loc[counts.index.repeat(counts["count"])].reset_index(drop=True)
    return Bunch(
        **{column: people[column].to_numpy(copy=True) for column in arrays},
        **{frame: people[columns] for frame, columns in frames.items()},
        DESCR=(files(__package__) / f"{name}.rst").read_text(encoding="utf-8"),
    )
