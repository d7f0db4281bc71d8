"""The published table: R's ``UCBAdmissions``; Bickel, Hammel and O'Connell, Science 187 (1975)."""

import numpy as np
import pytest

from skfairtest import CountTable
from skfairtest.datasets import load_berkeley

# department: men admitted, men rejected, women admitted, women rejected
PUBLISHED = {
    "A": (512, 313, 89, 19),
    "B": (353, 207, 17, 8),
    "C": (120, 205, 202, 391),
    "D": (138, 279, 131, 244),
    "E": (53, 138, 94, 299),
    "F": (22, 351, 24, 317),
}


def admissions(berkeley, rows):
    sex = berkeley.sensitive_features["sex"].to_numpy()
    return tuple(
        int((rows & (sex == name) & (berkeley.y_pred == decision)).sum())
        for name in ("Male", "Female")
        for decision in (1, 0)
    )


@pytest.mark.parametrize("department", PUBLISHED)
def test_each_department_gives_the_published_counts(department):
    berkeley = load_berkeley()
    rows = (berkeley.control_features["department"] == department).to_numpy()
    assert admissions(berkeley, rows) == PUBLISHED[department]


def test_all_departments_together_give_the_published_counts():
    berkeley = load_berkeley()
    assert admissions(berkeley, np.full(4526, True)) == (1198, 1493, 557, 1278)


def test_the_groups_are_all_there_and_no_others():
    berkeley = load_berkeley()
    assert list(berkeley.sensitive_features.columns) == ["sex"]
    assert set(berkeley.sensitive_features["sex"]) == {"Female", "Male"}
    assert list(berkeley.control_features.columns) == ["department"]
    assert set(berkeley.control_features["department"]) == set(PUBLISHED)


def test_the_arrays_have_one_entry_per_applicant():
    berkeley = load_berkeley()
    for name in ("y_true", "y_pred"):
        assert berkeley[name].shape == (4526,)
        assert berkeley[name].dtype == np.int64
    np.testing.assert_array_equal(berkeley.y_true, berkeley.y_pred)
    assert berkeley.sensitive_features.shape == berkeley.control_features.shape == (4526, 1)


def test_the_description_names_its_source():
    assert "Bickel" in load_berkeley().DESCR


def test_the_table_counts_everyone():
    table = load_berkeley(as_table=True)
    assert isinstance(table, CountTable)
    assert table.counts.sum() == 4526


def test_the_table_has_the_departments_as_strata():
    cells = load_berkeley(as_table=True).to_frame()
    for department, published in PUBLISHED.items():
        counts = cells[cells["department"] == department].set_index(["sex", "y_pred"])["count"]
        keys = [("Male", 1), ("Male", 0), ("Female", 1), ("Female", 0)]
        assert tuple(counts.loc[keys]) == published
