"""How many people a test of fairness needs: power, required sample size and minimum detectable disparity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.checks import check_choice, check_probability, is_sequence
from skfairtest._utils.errors import ParameterError, answering_guesses, brief
from skfairtest.comparisons.null_histogram import Supposed
from skfairtest.group.fairness import FairnessTest
from skfairtest.inference.power import smallest_size
from skfairtest.planning import plan as planned

DIRECTIONS = ("auto", "up", "down")


@answering_guesses
def power(
    *,
    metric: Any,
    rates: Any,
    n_per_group: Sequence[int],
    base_rates: Any = 1.0,
    alpha: float | None = None,
    **test_params: Any,
) -> float:
    """Probability that a test of fairness rejects, given the groups' true values.

    It is the power of the test that `FairnessTest` would run with the same parameters; for rates that is the exact
    test.

    Parameters
    ----------
    metric : str or Rate
        A rate, a criterion ("equalized_odds"), a mean ("mean_prediction", "brier_score", ...) or "roc_auc".
    rates : sequence of float, one per group, or dict of such
        True values of the metric; for a criterion a dict from rate to values; for means pairs (mean, standard
        deviation of one person's value); for "roc_auc" areas.
    n_per_group : sequence of int, one per group
        People per group, at least 2.
    base_rates : float or sequence of float, one per group, default=1.0
        Share of a group who meet the (first) rate's condition, such as positives for the true positive rate and
        "roc_auc"; with 1 `n_per_group` counts only these people.
    alpha : float, optional
        Level of the test, which is ``1 - confidence_level``: .05 by default.
    **test_params
        Parameters of `FairnessTest`: ``compare``, ``disparity``, ``alternative``, ``margin``, ``method`` ("auto",
        "exact", "asymptotic"), ``adjust``, ``confidence_level``, and ``reference_group``, its position in `n_per_group`
        (the last by default).

    Returns
    -------
    float
        Probability that ``rejected_`` is True; between 0 and 1.

    Raises
    ------
    ValueError
        If a parameter is unknown or not usable.

    See Also
    --------
    required_sample_size : How many people a given power needs.
    minimum_detectable_disparity : The smallest disparity that given groups can show.

    Notes
    -----
    Two groups, a rate: the rejection region is enumerated up to a million outcomes (100,000 with a margin); beyond, the
    normal approximation of the score test is used, with Yates's correction for Fisher's. With `base_rates` below 1,
    power is averaged over binomial denominators (within about .002), because power at the mean denominators is too
    high.

    Rates on complementary conditions are independent given the denominators. With rates of more than two groups, 20,000
    simulated data sets from a fixed seed give the probability that at least one comparison is rejected ("equivalence":
    all), with a standard error of at most .0036. Six comparisons with the rest, or more, are adjusted by discrete Holm,
    as they are tested (5,000 data sets if `base_rates` is below 1); beyond 5,000 people in a group the level is
    Bonferroni's.

    Means of two groups: Welch's statistic and the noncentral t distribution. An area of two groups is tested as a rate
    with Hanley and McNeil's standard error, which assumes exponential scores.

    The recipe "n such that two standard deviations of the difference are the disparity" (DiCiccio et al. 2020, section
    5.1) has a power of about one half, as the example shows.

    References
    ----------
    R. D. Boschloo (1970), Statistica Neerlandica 24, 1-35. C. P. Farrington and G. Manning (1990), Statistics in
    Medicine 9, 1447-1454. J. A. Hanley and B. J. McNeil (1982), Radiology 143, 29-36. R Core Team,
    ``power.prop.test``.

    Examples
    --------
    >>> from skfairtest import power
    >>> round(power(metric="selection_rate", rates=(0.3, 0.5), n_per_group=(93, 93)), 4)
    0.7906

    Two standard deviations are the difference .2 with 46 people per group:

    >>> round(power(metric="selection_rate", rates=(0.3, 0.5), n_per_group=(46, 46)), 2)
    0.48
    """
    plan = planned.supposed(planned.read_plan(metric, test_params, alpha), rates, base_rates)
    return planned.computed_power(plan, planned.read_people(n_per_group, plan)).value


@answering_guesses
def required_sample_size(
    *,
    metric: Any,
    rates: Any,
    power: float = 0.8,
    shares: Sequence[float] | None = None,
    base_rates: Any = 1.0,
    alpha: float | None = None,
    **test_params: Any,
) -> tuple[int, ...]:
    """People per group that a test of fairness needs to have a given power.

    Parameters
    ----------
    metric : str or Rate
        As in `power`.
    rates : sequence, one per group, or dict of such
        True values of the metric, as in `power`.
    power : float, default=0.8
        Probability of rejection wanted, between 0 and 1.
    shares : sequence of float, one per group, optional
        Proportions of the groups, positive numbers; equal by default.
    base_rates : float or sequence of float, default=1.0
        Share of people who meet the rate's condition, as in `power`.
    alpha : float, optional
        Level of the test: .05 by default.
    **test_params
        Parameters of the test, as in `power`.

    Returns
    -------
    tuple of int
        People per group. Exact power has a saw-tooth shape; the smallest group has the size from which on the power
        stays at the target.

    Raises
    ------
    ValueError
        If a parameter is not usable, or if no number of people gives that power.

    See Also
    --------
    power : The power of given groups.

    Notes
    -----
    With more than two groups, power is simulated and the size is accurate to about 1%.

    References
    ----------
    R Core Team, ``power.prop.test``. R. D. Boschloo (1970), Statistica Neerlandica 24, 1-35.

    Examples
    --------
    >>> from skfairtest import required_sample_size
    >>> required_sample_size(metric="selection_rate", rates=(0.3, 0.5))
    (95, 95)
    """
    plan = planned.supposed(planned.read_plan(metric, test_params, alpha), rates, base_rates)
    check_probability("power", power)
    proportions = planned.read_proportions(shares, len(plan.met))
    planned.check_truth(plan, proportions)

    def people(size: int) -> tuple[int, ...]:
        return tuple(max(2, int(np.ceil(size * share - 1e-9))) for share in proportions)

    size = smallest_size(lambda size: planned.computed_power(plan, people(size)), power)
    if size < 0:
        raise ParameterError(
            f"power={power!r} needs more than 100 million people in a group: ask for a larger disparity"
        )
    return people(size)


@answering_guesses
def minimum_detectable_disparity(
    test: FairnessTest | None = None,
    /,
    *,
    metric: Any = None,
    baseline: Any = None,
    n_per_group: Sequence[int] | None = None,
    base_rates: Any = 1.0,
    power: float = 0.8,
    direction: str = "auto",
    alpha: float | None = None,
    **test_params: Any,
) -> float:
    """Smallest true disparity that a test of fairness detects with a given power.

    Pass a fitted test, or the numbers.

    Parameters
    ----------
    test : FairnessTest, optional
        A fitted test, whose comparison with the strongest evidence provides everything but `power` and `direction`.
    metric : str or Rate
        A rate or a criterion of one rate, a mean, or "roc_auc", as in `power`.
    baseline : float, or (float, float) for means
        Value of all groups but the first; means: (mean, standard deviation of one person's value).
    n_per_group : sequence of int
        People per group.
    base_rates : float or sequence of float, default=1.0
        Share of people who meet the rate's condition, as in `power`.
    power : float, default=0.8
        Probability of rejection wanted, between 0 and 1.
    direction : {"auto", "up", "down"}, default="auto"
        Whether the first group's value lies above or below the baseline. "auto": as in `alternative`; otherwise
        above, or below if no value above has that power.
    alpha : float, optional
        Level of the test: .05 by default.
    **test_params
        Parameters of the test, as in `power`.

    Returns
    -------
    float
        The disparity, signed: ``value_group - value_other``, or ``value_group / value_other`` with
        ``disparity="ratio"``. With ``alternative="equivalence"`` the *largest* disparity for which equivalence is still
        shown with that power.

    Raises
    ------
    ValueError
        If a parameter is not usable, or if no disparity is detected with that power.

    See Also
    --------
    power : The power of given groups.

    Notes
    -----
    For a fitted test the denominators are those observed; metrics that are not rates use the normal approximation with
    the disparity's standard error. This is not "observed power", which only restates the p-value.

    References
    ----------
    R. D. Boschloo (1970), Statistica Neerlandica 24, 1-35. R Core Team, ``power.prop.test``.

    Examples
    --------
    >>> from skfairtest import FairnessTest, minimum_detectable_disparity
    >>> found = minimum_detectable_disparity(
    ...     metric="selection_rate", baseline=0.3, n_per_group=(93, 93)
    ... )
    >>> round(found, 3)
    0.202
    >>> test = FairnessTest.from_predictions(
    ...     None,
    ...     [1, 0, 0, 1] * 20 + [1, 0, 0, 0] * 20,
    ...     sensitive_features=["a"] * 80 + ["b"] * 80,
    ...     metric="selection_rate",
    ... )
    >>> round(minimum_detectable_disparity(test), 2)
    0.21
    """
    check_probability("power", power)
    check_choice("direction", direction, DIRECTIONS)
    if test is not None:
        given = {"metric": metric, "baseline": baseline, "n_per_group": n_per_group, "alpha": alpha, **test_params}
        given = {name: value for name, value in given.items() if value is not None}
        if given or np.any(base_rates != 1.0):
            names = ", ".join(given) or "base_rates"
            raise ParameterError(
                f"{names} cannot be given together with a fitted test, which defines them: leave one or the other out"
            )
        return _of_test(test, power, direction)
    for name, value in (("metric", metric), ("baseline", baseline), ("n_per_group", n_per_group)):
        if value is None:
            raise ParameterError(f"{name} is missing: give a fitted test, or metric, baseline and n_per_group")
    plan = planned.read_plan(metric, test_params, alpha)
    if len(plan.rates) > 1:
        names = " or ".join(repr(rate.name) for rate in plan.rates)
        raise ParameterError(
            f"metric={brief(metric)} is several rates, each with its own smallest disparity: use metric={names}, with "
            f"alpha={plan.settings.alpha / len(plan.rates):.4g} for the level that Holm leaves each"
        )
    groups = len(n_per_group) if is_sequence(n_per_group) else 0
    plan = planned.supposed(plan, [baseline] * max(groups, 2), base_rates, "baseline")
    return planned.detectable(plan, planned.read_people(n_per_group, plan), power, direction)


def supposed_of(test: Any) -> Supposed:
    """Return the assumptions from which the power of a fitted test's comparison with the strongest evidence follows."""
    if not isinstance(test, FairnessTest):
        raise ParameterError(
            f"test must be a fitted FairnessTest, found {type(test).__name__}; other parameters are named"
        )
    check_is_fitted(test)
    if test.comparisons_["stratum"].notna().any():
        raise ParameterError(
            "test has control features, and power is not implemented for pooled comparisons: pass numbers"
        )
    supposed: Supposed = test._supposed
    if supposed.table is None and not supposed.error > 0:
        raise ParameterError(
            "test has no standard error, from which power is computed (metrics of all groups at once and variance=None "
            "have none): use a metric of each group and variance='auto'"
        )
    if not supposed.enough:
        raise ParameterError(
            f"test has {test.n_resamples_:,} resamples, too few for a p-value of {supposed.level:.3g}, the level that "
            "the adjustment leaves each comparison: use more n_resamples"
        )
    return supposed


def _of_test(test: FairnessTest, target: float, direction: str) -> float:
    supposed = supposed_of(test)
    ways = planned.directions(supposed.question, direction)
    for way in ways:
        found = supposed.disparity(target, way)
        if np.isfinite(found):
            return found
    raise ParameterError(
        f"power={target:g} is not reached by any disparity ({' or '.join(ways)}) in this test: more people or a lower "
        "power are needed"
    )
