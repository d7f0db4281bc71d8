"""Reading the shipped counts and turning them back into people."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd


def read_counts(filename: str) -> pd.DataFrame:
    """Read a shipped CSV file: one row per cell, its size in the column ``count``."""
    with (files(__package__) / filename).open("r", encoding="utf-8") as stream:
        return pd.read_csv(stream)


def expand(counts: pd.DataFrame) -> pd.DataFrame:
    """Repeat each cell's row as often as it counts people, in the order of the file."""
    people = counts.loc[counts.index.repeat(counts["count"])]
    return people.drop(columns="count").reset_index(drop=True)
