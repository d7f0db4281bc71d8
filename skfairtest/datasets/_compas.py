"""ProPublica's COMPAS records: two-year recidivism in Broward County, Florida."""

from __future__ import annotations

from typing import Literal, overload

from sklearn.utils import Bunch

from skfairtest.datasets._counts import people_of, read_counts
from skfairtest.tables import CountTable

_HIGH_RISK_DECILE = 5


@overload
def load_compas(*, as_table: Literal[False] = False) -> Bunch: ...


@overload
def load_compas(*, as_table: Literal[True]) -> CountTable: ...


def load_compas(*, as_table: bool = False) -> Bunch | CountTable:
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
