"""Data and small tables that several test files share."""

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
