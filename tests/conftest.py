"""Data and small tables that several test files share."""

import json
from pathlib import Path

import numpy as np
import pytest

from skfairtest import CountTable
from skfairtest.datasets import load_berkeley, load_compas


@pytest.fixture(scope="session")
def compas():
    """ProPublica's COMPAS records, one row per person."""
    return load_compas()


@pytest.fixture(scope="session")
def compas_table():
    """The same people as a table, by race, sex and age."""
    return load_compas(as_table=True)


@pytest.fixture(scope="session")
def berkeley():
    """Berkeley's admissions of 1973, one row per applicant."""
    return load_berkeley()


@pytest.fixture(scope="session")
def berkeley_table():
    """The same applicants as a table, with departments as strata."""
    return load_berkeley(as_table=True)


@pytest.fixture(scope="session")
def golden():
    """Numbers of the simulation of Maity et al. (2021), section 4.1, with their origin inside."""
    path = Path(__file__).parent / "inference" / "golden" / "maity.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def simulated():
    """The data of that simulation, number by number as its generate_data.py draws them: features and labels."""
    random = np.random.RandomState(1)  # what numpy.random.seed(1) seeds
    X = random.normal(0, 0.25, (400, 2))
    majority = random.choice([False, True], 400, p=[0.1, 0.9])
    centre = np.where(majority[:, None], [-1.5, 0.0], [1.5, 0.0])
    X = X + centre
    noise = 0.01 * random.normal(size=400)
    weights = np.where(majority[:, None], [-0.2, -0.01], [0.2, -0.01])
    return X, (((X - centre) * weights).sum(axis=1) + noise > 0).astype(int)


@pytest.fixture(scope="session")
def raw_data():
    """Find a raw data set by its name; a test is skipped where it is missing."""
    from benchmarks.make_compas_counts import data_folder  # no part of an installed package

    def find(name):
        path = data_folder() / name
        if not path.exists():
            pytest.skip(f"{name} is not here: set SKFAIRTEST_DATA to its folder")
        return path

    return find


@pytest.fixture(scope="session")
def selected():
    """Make a table from ``{group: (people selected, people)}``; its only cells are y_pred."""

    def make(groups, name="group"):
        counts = {}
        for group, (events, people) in groups.items():
            counts |= {(group, 1): events, (group, 0): people - events}
        return CountTable.from_counts(counts, names=(name, "decision"), y_pred="decision", sensitive_features=name)

    return make


@pytest.fixture(scope="session")
def confused():
    """Make a table from ``{group: (TN, FP, FN, TP)}``, or from ``{(stratum, group): ...}`` with ``strata=True``."""

    def make(groups, *, strata=False):
        counts = {}
        for key, matrix in groups.items():
            keys = key if strata else (key,)
            for cell, number in zip([(0, 0), (0, 1), (1, 0), (1, 1)], matrix, strict=True):
                counts[(*keys, *cell)] = number
        return CountTable.from_counts(
            counts,
            names=(*(["stratum"] if strata else []), "group", "true", "predicted"),
            y_true="true",
            y_pred="predicted",
            sensitive_features="group",
            control_features="stratum" if strata else None,
        )

    return make
