"""Graduate admissions at Berkeley, 1973: the textbook case of Simpson's paradox."""

from __future__ import annotations

from typing import Literal, overload

from sklearn.utils import Bunch

from skfairtest.datasets._counts import people_of, read_counts
from skfairtest.tables import CountTable


@overload
def load_berkeley(*, as_table: Literal[False] = False) -> Bunch: ...


@overload
def load_berkeley(*, as_table: Literal[True]) -> CountTable: ...


def load_berkeley(*, as_table: bool = False) -> Bunch | CountTable:
    """Load the Berkeley admissions of 1973: 4,526 applicants, six departments.

    Parameters
    ----------
    as_table : bool, default=False
        Return a :class:`skfairtest.CountTable` instead of arrays.

    Returns
    -------
    berkeley : sklearn.utils.Bunch or CountTable
        The bunch has, for 4,526 applicants:

        y_true : ndarray of int, shape (4526,)
            1 where the applicant was admitted; the same as ``y_pred``.
        y_pred : ndarray of int, shape (4526,)
            1 where the applicant was admitted.
        sensitive_features : pandas.DataFrame, shape (4526, 1)
            The column ``sex``: "Female" or "Male".
        control_features : pandas.DataFrame, shape (4526, 1)
            The column ``department``: "A" to "F".
        DESCR : str
            Where the data come from and what they mean.

        The table has the cells ``y_true`` and ``y_pred``, and departments as strata.

    References
    ----------
    .. [1] P. J. Bickel, E. A. Hammel and J. W. O'Connell, "Sex bias in graduate admissions:
       data from Berkeley", Science 187 (1975), 398-404. Counts: R's ``UCBAdmissions``.

    Examples
    --------
    >>> from skfairtest.datasets import load_berkeley
    >>> berkeley = load_berkeley()
    >>> for sex in ["Female", "Male"]:
    ...     admitted = berkeley.y_pred[berkeley.sensitive_features["sex"] == sex]
    ...     print(sex, len(admitted), round(float(admitted.mean()), 3))
    Female 1835 0.304
    Male 2691 0.445
    """
    counts = read_counts("berkeley")
    counts["y_pred"] = (counts["decision"] == "Admitted").astype("int64")
    counts["y_true"] = counts["y_pred"]
    if as_table:
        return CountTable.from_counts(
            counts,
            y_true="y_true",
            y_pred="y_pred",
            sensitive_features=["sex"],
            control_features=["department"],
        )
    return people_of(
        counts, "berkeley", ["y_true", "y_pred"], sensitive_features=["sex"], control_features=["department"]
    )
