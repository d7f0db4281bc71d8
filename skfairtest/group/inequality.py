"""The inequality of benefits between groups and within them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from skfairtest._utils.checks import check_probability, is_number
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import label
from skfairtest.group.fairness import FairnessTest
from skfairtest.metrics.inequality import BENEFITS, ONE_MORE, Entropy, between_and_within
from skfairtest.readers import resolve_pos_label
from skfairtest.report.mixin import positive_label
from skfairtest.tables import CountTable


@dataclass(frozen=True)
class InequalityDecomposition:
    """The inequality of benefits between groups and within them.

    Parameters
    ----------
    alpha : float
        Of the generalized entropy.
    parts : DataFrame
        Rows ``total``, ``between`` and ``within``; ``value``, ``share`` of the total, ``standard_error``, ``ci_low``
        and ``ci_high``, with one more of either error. The part between groups has no interval: near 0 none is valid.
    by_group : DataFrame
        ``n``, ``mean_benefit``, ``value`` (the group's own entropy), ``weight`` and ``contribution``, their product;
        the contributions add up to ``within``.
    p_value : float
        P-value of the null hypothesis that all groups have the same mean benefit.
    pos_label : object
        The positive label.
    """

    alpha: float
    parts: pd.DataFrame = field(repr=False)
    by_group: pd.DataFrame = field(repr=False)
    p_value: float
    pos_label: Any

    def __str__(self) -> str:
        """Return sentences, then both tables."""
        value, share, mean = self.parts["value"], self.parts["share"], self.by_group["mean_benefit"]
        low, high = (mean.agg(which) for which in ("idxmin", "idxmax"))
        between, within = (f"{value[part]:.4g} ({share[part]:.1%})" for part in ("between", "within"))
        extremes = " to ".join(
            f"{self.by_group['mean_benefit'][group]:.3f} for {label(group)}" for group in (low, high)
        )
        return "\n".join(
            [
                f"The inequality of benefits is {value['total']:.4g} (generalized entropy, alpha {self.alpha:g}): "
                f"{between} lies between groups and {within} within them.",
                f"Mean benefits go from {extremes} (p = {self.p_value:.3g}; null hypothesis: all the same).",
                *positive_label(self.pos_label),
                "",
                self.parts.to_string(float_format="{:.4g}".format, na_rep="-"),
                "",
                self.by_group.to_string(float_format="{:.4g}".format),
            ]
        )


def inequality_decomposition(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    alpha: float = 2.0,
    pos_label: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
) -> InequalityDecomposition:
    """Split the inequality of benefits into the part between groups and the part within them.

    A person's benefit is prediction minus truth plus one. The generalized entropy of all people is the entropy if all
    had the mean benefit of their group, plus the weighted sum of the entropies within groups.

    Null hypothesis of the p-value: all groups have the same mean benefit (the test of ``metric="mean_residual"``).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sensitive_features : array-like, frame or mapping
        The groups: one or several columns of length n_samples.
    alpha : float, default=2.0
        Positive. 1: Theil's index; 2: half the squared coefficient of variation.
    pos_label : label, optional
        The positive label, as in `FairnessTest`.
    confidence_level : float, default=0.95
        Of intervals.
    n_resamples : int, default=9999
        Number of permutations for the p-value.
    random_state : int, RandomState, Generator or None
        Seed of the permutations.

    Returns
    -------
    InequalityDecomposition
        Its `parts`, what each group contributes, and the p-value.

    Raises
    ------
    ValueError
        If an input is not usable, there are not exactly two labels, or all benefits are 0.

    References
    ----------
    T. Speicher et al. (2018), A Unified Approach to Quantifying Algorithmic Unfairness, KDD, section 4.

    Examples
    --------
    >>> from skfairtest import inequality_decomposition
    >>> from skfairtest.datasets import load_compas
    >>> compas = load_compas()
    >>> found = inequality_decomposition(
    ...     compas.y_true,
    ...     compas.y_pred,
    ...     sensitive_features=compas.sensitive_features["sex"],
    ...     random_state=0,
    ... )
    >>> found.parts["share"].round(4).to_dict()
    {'total': 1.0, 'between': 0.0023, 'within': 0.9977}
    """
    if not is_number(alpha) or not (alpha == 0 or 1e-6 <= abs(alpha) <= 100):
        raise ParameterError(f"alpha must be a number, 0 or of a size from 1e-6 to 100; found {brief(alpha)}")
    Entropy(alpha)  # refuses an invalid alpha
    check_probability("confidence_level", confidence_level)
    if y_true is None or y_pred is None:
        raise ParameterError("y_true and y_pred are both needed: a benefit is prediction minus truth plus one")
    table = CountTable.from_predictions(y_true, y_pred, sensitive_features=sensitive_features)
    if len(table.labels) > 2:
        found = ", ".join(map(repr, table.labels[:5]))
        raise ParameterError(f"y_true and y_pred must hold two labels, found {found}: benefits need a positive label")
    positive = resolve_pos_label(table.labels, pos_label)
    true, predicted = np.array([[value == positive for value in cell] for cell in table.cells], dtype=float).T
    counts = table.counts[0] @ ((1 + predicted - true)[:, None] == BENEFITS).astype(float)
    if not (counts @ BENEFITS).any():
        raise ParameterError("y_pred is negative and y_true positive for every person: all benefits are 0")
    test = FairnessTest.from_table(
        table, metric="mean_residual", pos_label=positive, n_resamples=n_resamples, random_state=random_state
    )
    value, _ = between_and_within(alpha, BENEFITS, counts)
    people = counts.sum(axis=1)
    # As in a test: no error in the data does not mean that there is none.
    _, covariance = between_and_within(alpha, BENEFITS, counts + people[:, None] / people.sum() * ONE_MORE)
    error, z = np.sqrt(np.diag(covariance)), float(ndtri((1 + confidence_level) / 2))
    shown = np.array([1.0, np.nan, 1.0])
    parts = pd.DataFrame(
        {
            "value": value,
            "share": np.divide(value, value[0], out=np.full(3, np.nan), where=value[0] > 0),
            "standard_error": error * shown,
            "ci_low": np.maximum(value - z * error, 0.0) * shown,
            "ci_high": (value + z * error) * shown,
        },
        index=["total", "between", "within"],
    )
    mean = counts @ BENEFITS / people
    weight = people / people.sum() * (mean / (counts.sum(axis=0) @ BENEFITS / people.sum())) ** alpha
    with np.errstate(invalid="ignore"):
        own = np.nan_to_num(Entropy(alpha)(BENEFITS, counts / people[:, None])[0])
    index = pd.Index(table.group_labels, name=" x ".join(table.sensitive_names), tupleize_cols=False)
    by_group = pd.DataFrame(
        {"n": people.astype(int), "mean_benefit": mean, "value": own, "weight": weight, "contribution": weight * own},
        index=index,
    )
    return InequalityDecomposition(alpha, parts, by_group, test.p_value_, positive)
