"""The share of noise in a gap over many groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.base import seed_sequence
from skfairtest._utils.checks import check_choice, check_number
from skfairtest._utils.errors import GroupsMissing, ParameterError, held_back, warn
from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.group.fairness import FairnessTest
from skfairtest.inference.spread import Spread, spread
from skfairtest.metrics import Rate, resolve_metrics
from skfairtest.report.sentences import metric_title, p_text

#: People below whom a group is listed, and not counted.
FEWEST = 10
#: Groups that are named in a sentence.
MOST_NAMED = 6


def spread_of(
    by_group: pd.DataFrame, *, by_people: bool, confidence_level: float, n_resamples: int, random_state: Any
) -> tuple[Spread, pd.Series[bool]]:
    """The spread of the values of a frame of `n_effective` people, and which groups count."""
    n = by_group["n_effective"].to_numpy(dtype=np.int64)
    counted = n >= FEWEST
    if counted.sum() < 2:
        raise GroupsMissing(
            f"sensitive_features: the spread needs at least two groups with {FEWEST} people or more in the denominator "
            f"of the rate; found {counted.sum()}: merge groups, or choose a rate of more people"
        )
    n = n[counted]
    x = np.rint(by_group["value"].to_numpy(dtype=float)[counted] * n).astype(np.int64)
    rng = np.random.default_rng(seed_sequence(random_state))
    found = spread(x, n, by_people=by_people, alpha=1 - confidence_level, n_resamples=n_resamples, rng=rng)
    return found, pd.Series(counted, index=by_group.index)


def spread_sentence(metric: str, n_groups: int, found: Spread, confidence_level: float) -> str:
    """The spread of rates without noise, and the range beside that of equal groups."""
    sd, low, high, plain, observed, usual, limit = (
        f"{100 * value:.1f}"
        for value in (
            found.standard_deviation, found.ci_low, found.ci_high, found.observed, found.observed_range,
            found.expected_range, found.range_limit,
        )
    )  # fmt: skip
    level = f"{100 * confidence_level:g}%"
    return (
        f"{metric_title(metric)} of {pluralize(n_groups, 'group')}: standard deviation {sd} points without sampling "
        f"noise ({level} interval {low} to {high}), {plain} with it. Largest gap {observed} points; groups with equal "
        f"rates show {usual} on average, and at most {limit} in {level} of samples."
    )


@dataclass(frozen=True)
class GroupSpread:
    """The spread of the groups' rates without sampling noise.

    Parameters
    ----------
    metric : str
        The rate.
    standard_deviation, ci_low, ci_high : float
        Of the groups' rates, without the part that sampling adds, and its confidence interval.
    observed : float
        The standard deviation of the observed rates.
    p_value : float
        Of the null hypothesis that all groups have the same rate: the permutation test of the standard deviation.
    observed_range, expected_range, range_limit : float
        Largest minus smallest observed rate; its mean if all groups have the same rate, and its quantile at
        `confidence_level`.
    confidence_level : float
        Of the interval and of `range_limit`.
    by_group : DataFrame
        ``n_effective`` (people in the denominator), ``value`` and ``counted``: groups of fewer than 10 are not.
    """

    metric: str
    standard_deviation: float
    ci_low: float
    ci_high: float
    observed: float
    p_value: float
    observed_range: float
    expected_range: float
    range_limit: float
    confidence_level: float
    by_group: pd.DataFrame = field(repr=False)

    def __str__(self) -> str:
        """Return sentences, then the groups."""
        counted, numbers = self.by_group["counted"], (getattr(self, name) for name in Spread._fields)
        lines = [spread_sentence(self.metric, int(counted.sum()), Spread(*numbers), self.confidence_level)]
        lines.append(
            f"p = {p_text(self.p_value)} (null hypothesis: all groups have the same rate). The interval starts at 0 "
            f"unless p is at most {(1 - self.confidence_level) / 2:.3g}."
        )
        if few := [label(name) for name in self.by_group.index[~counted]]:
            lines.append(f"Not counted, with fewer than {FEWEST} people: {enumerated(few, most=MOST_NAMED)}.")
        return "\n".join([*lines, "", self.by_group.to_string(float_format="{:.4g}".format, na_rep="-")])


def between_group_spread(
    y_true: Any = None,
    y_pred: Any = None,
    *,
    sensitive_features: Any,
    metric: Any = "selection_rate",
    weighting: str = "groups",
    pos_label: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
) -> GroupSpread:
    """Estimate how far the rates of groups lie apart beyond sampling noise.

    The more and the smaller the groups, the larger the gaps that chance alone produces. The estimate is the standard
    deviation of the groups' rates without the part that sampling adds: with equal weights the root of S^2 - mean(p (1 -
    p) / (n - 1)), or 0 if that is negative.

    Null hypothesis of the p-value: all groups have the same rate. It is exact. The interval inverts the same variance
    by simulation at rates of the observed shape, and starts at 0 unless the test rejects at half its level.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels; `y_true` may be None if the rate needs none.
    sensitive_features : array-like, frame or mapping
        The groups: one or several columns of length n_samples; several are crossed.
    metric : str or Rate, default="selection_rate"
        One rate, as in `FairnessTest`.
    weighting : {"groups", "people"}, default="groups"
        Whether groups have equal weights, or weights by size.
    pos_label : label, optional
        The positive label, as in `FairnessTest`.
    confidence_level : float, default=0.95
        Of the interval.
    n_resamples : int, default=9999
        Number of permutations.
    random_state : int, RandomState, Generator or None
        Seed of permutations and simulations.

    Returns
    -------
    GroupSpread
        The standard deviation with its interval, the p-value, and the range beside that of equal groups.

    Raises
    ------
    ValueError
        If an input is not usable, `metric` is not one rate, or fewer than two groups have ten people.

    References
    ----------
    K. Lum, Y. Zhang and A. Bower (2022), De-biasing "bias" measurement, FAccT, section 4.

    Examples
    --------
    >>> from skfairtest import between_group_spread
    >>> from skfairtest.datasets import load_compas
    >>> compas = load_compas()
    >>> found = between_group_spread(
    ...     compas.y_true,
    ...     compas.y_pred,
    ...     sensitive_features=compas.sensitive_features[["race", "age_cat"]],
    ...     metric="false_negative_rate",
    ...     random_state=0,
    ... )
    >>> round(found.standard_deviation, 3), round(found.observed, 3)
    (0.213, 0.219)
    """
    check_choice("weighting", weighting, ("groups", "people"))
    check_number("n_resamples", n_resamples, 1, whole=True)  # there is one p-value: nothing is saved by stopping early
    rates = resolve_metrics(metric)
    if len(rates) != 1 or not isinstance(rates[0], Rate) or rates[0].value is not None:
        raise ParameterError(
            f"metric must be one rate, whose sampling noise is known; found {', '.join(each.name for each in rates)}: "
            "name a rate such as 'selection_rate' or 'true_positive_rate', or pass a Rate"
        )
    params = {
        "metric": rates[0], "compare": "to_overall", "method": "asymptotic", "disparity": "difference",
        "pos_label": pos_label, "confidence_level": confidence_level, "n_resamples": n_resamples,
        "random_state": random_state,
    }  # fmt: skip
    with held_back() as cautions:
        test = FairnessTest.from_predictions(y_true, y_pred, sensitive_features=sensitive_features, **params)
    for message, category in cautions:
        if category is UserWarning:  # others are about small groups and undefined rates, which are listed
            warn(message)
    by_group = test.by_group_[test.by_group_["n"] > 0][["n_effective", "value"]]
    found, counted = spread_of(
        by_group, by_people=weighting == "people", confidence_level=confidence_level, n_resamples=n_resamples,
        random_state=random_state,
    )  # fmt: skip
    shown = by_group.assign(counted=counted)
    return GroupSpread(rates[0].name, *found, confidence_level=confidence_level, by_group=shown)
