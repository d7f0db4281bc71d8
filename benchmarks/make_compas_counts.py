"""Recompute ``skfairtest/datasets/compas_two_year.csv`` from the published records.

The source is ProPublica's repository ``propublica/compas-analysis``, file
``compas-scores-two-years.csv`` at commit bafff5da3f2e45eca6c2d5055faad269defd135a (sha256
c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d): 7,214 people, none left out.
A trimmed copy that keeps the five columns, such as ``compas.csv``, gives the same counts.

    python -m benchmarks.make_compas_counts compas-scores-two-years.csv

Without an argument ``compas.csv`` is looked for in the folder that the environment variable
``SKFAIRTEST_DATA`` names, or else in ``../shared/data`` beside the checkout.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "skfairtest" / "datasets" / "compas_two_year.csv"
PUBLISHED_SHA256 = "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"
N_PEOPLE = 7_214
COLUMNS = ["decile_score", "race", "sex", "age_cat", "two_year_recid"]


def data_folder() -> Path:
    """The folder of the raw data sets; it need not exist."""
    return Path(os.environ.get("SKFAIRTEST_DATA") or ROOT.parent / "shared" / "data")


def count_people(records: pd.DataFrame) -> pd.DataFrame:
    """One row per combination that occurs, in lexicographic order, with its number of people."""
    missing = records[COLUMNS].isna().sum()
    if missing.any():
        raise ValueError(f"missing values: {missing[missing > 0].to_dict()}")
    return records.groupby(COLUMNS, sort=True).size().rename("count").reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("source", nargs="?", type=Path, default=data_folder() / "compas.csv")
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()

    digest = hashlib.sha256(arguments.source.read_bytes()).hexdigest()
    kind = "the published file" if digest == PUBLISHED_SHA256 else f"a copy, sha256 {digest}"
    counts = count_people(pd.read_csv(arguments.source))
    n_people = int(counts["count"].sum())
    if n_people != N_PEOPLE:
        raise SystemExit(f"{arguments.source} has {n_people} people; expected {N_PEOPLE}")
    counts.to_csv(arguments.target, index=False, lineterminator="\n")
    print(f"{arguments.source.name} ({kind}): {n_people} people, {len(counts)} cells")


if __name__ == "__main__":
    main()
