"""Two published data sets, small enough to ship as counts, which are turned back into people.

Graduate admissions at Berkeley, 1973: the textbook case of Simpson's paradox. And ProPublica's COMPAS records:
two-year recidivism in Broward County, Florida.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pandas as pd
from sklearn.utils import Bunch

from skfairtest.tables import CountTable

__all__ = ["load_berkeley", "load_compas"]


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


def load_berkeley(*, as_table: bool = False) -> Any:
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
            counts, y_true="y_true", y_pred="y_pred", sensitive_features=["sex"], control_features=["department"]
        )
    return people_of(
        counts, "berkeley", ["y_true", "y_pred"], sensitive_features=["sex"], control_features=["department"]
    )


_HIGH_RISK_DECILE = 5


def load_compas(*, as_table: bool = False) -> Any:
    """Load ProPublica's COMPAS records: 7,214 people, two-year recidivism.

    Everyone in the published file is included; papers that report 6,172 or 6,167 people removed some of them.

    Parameters
    ----------
    as_table : bool, default=False
        Return a :class:`skfairtest.CountTable` instead of arrays.

    Returns
    -------
    compas : sklearn.utils.Bunch or CountTable
        The bunch has, for 7,214 people:

        y_true : ndarray of int, shape (7214,)
            1 where the person was charged again within two years.
        y_pred : ndarray of int, shape (7214,)
            1 where ProPublica counted the score as medium or high, ``decile_score >= 5``.
        decile_score : ndarray of int, shape (7214,)
            The risk score, 1 (low) to 10 (high).
        sensitive_features : pandas.DataFrame, shape (7214, 3)
            The columns ``race``, ``sex`` and ``age_cat``.
        DESCR : str
            Where the data come from and what they mean.

        The table has the cells ``y_true``, ``y_pred`` and ``y_score`` (the decile) and the same
        sensitive features.

    References
    ----------
    .. [1] J. Angwin, J. Larson, S. Mattu and L. Kirchner, "Machine Bias", ProPublica, 2016.
       Data: repository ``propublica/compas-analysis``, ``compas-scores-two-years.csv``.

    Examples
    --------
    >>> from skfairtest.datasets import load_compas
    >>> compas = load_compas()
    >>> compas.sensitive_features["race"].value_counts().to_dict()
    {'African-American': 3696, 'Caucasian': 2454, 'Hispanic': 637, 'Other': 377,
     'Asian': 32, 'Native American': 18}
    >>> high_risk_of_reoffenders = compas.y_pred[compas.y_true == 1].mean()
    >>> round(float(high_risk_of_reoffenders), 3)
    0.626
    """
    counts = read_counts("compas_two_year").rename(columns={"two_year_recid": "y_true"})
    counts["y_pred"] = (counts["decile_score"] >= _HIGH_RISK_DECILE).astype("int64")
    sensitive = ["race", "sex", "age_cat"]
    if as_table:
        return CountTable.from_counts(
            counts, y_true="y_true", y_pred="y_pred", y_score="decile_score", sensitive_features=sensitive
        )
    return people_of(counts, "compas_two_year", ["y_true", "y_pred", "decile_score"], sensitive_features=sensitive)
