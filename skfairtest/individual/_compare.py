"""Several models on the same people, and how much a statistic varies because its metric was learned.

Several models, tested on the same people in the same way, so that the results can be compared.

How much a statistic varies because who is similar, and what one unit is, was learned from these people.

The standard error of a statistic is about the people whose losses it averages, given the metric. A metric that is
learned varies as well: of other people of the same population another one is learned. Here it is learned, with its
units, once without each of some groups of people (the delete-group jackknife), and the same people are moved by each.
For models without a closed form, whose calls are dear, the units are those of everybody.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import label
from skfairtest._utils.typing import Floats
from skfairtest.individual._folds import content_folds, ranks
from skfairtest.individual._metric import learn
from skfairtest.individual._parameters import OF_MEANS, check_parameters, scale_of
from skfairtest.individual._plan import Plan, moved_by, seed_of
from skfairtest.individual._unfair import Starts
from skfairtest.individual.flow.audit_value import UndefinedAuditValueError, audit_value, difference
from skfairtest.individual.flow.quadratic import Quadratic
from skfairtest.inference.multiplicity import holm
from skfairtest.readers.levels import listed

#: Ways that follow the same flow exactly.
EXACT = {"analytic", "autograd"}


def compare(test: Any, models: Any, X: Any, y: Any, sensitive_features: Any) -> pd.DataFrame:
    """Test every model in the same way, and compare each with the first.

    Parameters
    ----------
    test : IndividualFairnessTest
        Its parameters are used for every model.
    models : mapping of name to fitted estimator
        The models.
    X, y, sensitive_features : object
        As the caller passed them.

    Raises
    ------
    ValueError
        If there are fewer than two models, they have different losses, or a test is not possible.
    """
    if not isinstance(models, Mapping) or len(models) < 2:
        found = f"{len(models)} models" if isinstance(models, Mapping) else type(models).__name__
        raise ParameterError(
            f"models must map the names of at least two fitted models to these, such as {{'linear': a, 'forest': b}}; "
            f"found {found}"
        )
    check_parameters(test)
    data, like = (X, y, sensitive_features), list(models.values())
    if test.random_state is not None:  # a generator would give every model other candidates
        test = _of(test, random_state=seed_of(test.random_state))
    tests = {name: _of(test, estimator=model) for name, model in models.items()}
    plans = {name: one._planned(*data, like=like) for name, one in tests.items()}
    _check_losses(plans)
    way = one_way({plan.model.way for plan in plans.values()})
    if way is not None:
        for name in [name for name, plan in plans.items() if plan.model.way != way]:
            tests[name] = _of(tests[name], gradient=way)
            plans[name] = tests[name]._planned(*data, like=like)
    if len({plan.statistic for plan in plans.values()}) > 1:
        because = "the same for all models that are compared"
        plans = {name: replace(plan, statistic="ratio_of_means", because=because) for name, plan in plans.items()}
    return _rows({name: one._run(plans[name]) for name, one in tests.items()}, float(test.confidence_level))


def one_way(ways: set[str]) -> str | None:
    """Return the gradient that all models have to use; None: each model its own.

    Examples
    --------
    >>> one_way({"analytic", "search"}), one_way({"analytic", "finite_differences"})
    ('search', 'finite_differences')
    >>> one_way({"analytic", "autograd"})
    """
    if len(ways) == 1 or ways <= EXACT:
        return None
    return "search" if "search" in ways else "finite_differences"


def _of(test: Any, **params: Any) -> Any:
    """Return a test with some other parameters; fitted models are not cloned."""
    return type(test)(**{**test.get_params(deep=False), **params})


def _check_losses(plans: Mapping[Any, Plan]) -> None:
    losses = {name: plan.model.loss.name for name, plan in plans.items()}
    if len(set(losses.values())) > 1:
        each = ", ".join(f"{label(name)}: {loss}" for name, loss in losses.items())
        raise ParameterError(
            f"models have different losses ({each}), whose growth is not comparable: say which, such as "
            f"loss={sorted(set(losses.values()))[-1]!r}, one of {listed(sorted(set(losses.values())))}"
        )


def _rows(tests: Mapping[Any, Any], confidence_level: float) -> pd.DataFrame:
    first, *others = tests.values()
    ends = [one._statistic.values[:, [0, -1]].T for one in (first, *others)]
    name = first._statistic.name
    nothing = (np.nan,) * 5
    differences = [nothing] * len(tests)
    if first.verdict_ != "no_trace":  # of all models alike: the people are the same
        found = [difference(name, end, ends[0], confidence_level=confidence_level) for end in ends[1:]]
        with np.errstate(divide="ignore"):
            adjusted = np.exp(holm(np.log([each.p_value for each in found])))
        differences[1:] = [
            (each.estimate, each.standard_error, *each.interval, float(p))
            for each, p in zip(found, adjusted, strict=True)
        ]
    rows = [
        (
            model, one.solver_report_["statistic"], one.solver_report_["gradient"], one.statistic_,
            one.standard_error_, one.lower_bound_, one.p_value_, one.concern_, one.verdict_, *against,
        )
        for (model, one), against in zip(tests.items(), differences, strict=True)
    ]  # fmt: skip
    shown: Any = [
        "model", "statistic", "gradient", "value", "standard_error", "lower_bound", "p_value", "concern", "verdict",
        "difference",
        "difference_standard_error", "difference_ci_low", "difference_ci_high", "difference_p_value",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=shown)


#: Groups that are left out in turn, and people who are moved for each.
GROUPS, MOVED = 10, 250


def n_moved_for_direction(plan: Plan) -> int:
    """The number of people who are moved to learn how much the statistic varies with the direction."""
    if sum(trace.found for trace in plan.traces) <= len(plan.in_X):  # a column of X is its own direction
        return 0
    return GROUPS * min(MOVED, len(plan.people.features))


def variance_of_direction(test: Any, plan: Plan) -> float:
    """Return the variance of the logarithm of the statistic that is due to the metric and its units.

    Parameters
    ----------
    test : IndividualFairnessTest
        Its parameters.
    plan : Plan
        What is moved.

    Returns
    -------
    float
        With ``GROUPS - 1`` degrees of freedom; 0 if nothing was learned on evidence but columns of X, or if without
        some group nothing can be learned or the statistic is not defined.
    """
    if not n_moved_for_direction(plan):
        return 0.0
    features = plan.people.features
    truth = np.unique(plan.starts.truth.labels, return_inverse=True)[1].astype(float)
    groups = content_folds(features.values, truth, GROUPS)
    order = np.argsort(ranks(features.values, truth), kind="stable")
    some = order[np.unique(np.linspace(0, len(order) - 1, MOVED).astype(int))]
    x, called = plan.starts.x[some], plan.model.smooth is None
    units, parts = [], []
    try:
        for group in range(groups.max() + 1):
            rest = groups != group
            scale = scale_of(test.feature_scale, features.take(rest), plan.ranges)
            # A call of a model costs as much as many rows: all groups are moved at once, in the units of everybody.
            scale = plan.scale if called else scale
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they were said of everybody
                teaching = tuple(column.take(rest) for column in plan.teaching)
                _, matrices, _ = learn(plan.metric, plan.taught.take(rest), truth[rest], teaching, 1, scale)
            units.append(scale)
            parts.append(matrices[0])
        if called:
            moved = _moved(test, plan, np.tile(x, (len(parts), 1)), np.tile(some, len(parts)), plan.scale, parts)
            losses = np.split(moved, len(parts))
        else:
            losses = [_moved(test, plan, x, some, *each) for each in zip(units, [[one] for one in parts], strict=True)]
        name = "ratio_of_means" if plan.statistic in OF_MEANS else plan.statistic
        values = [audit_value(name, *each.T, tolerance=1.0, confidence_level=0.95).estimate for each in losses]
    except (ParameterError, UndefinedAuditValueError):
        return 0.0
    if not min(values) > 0:
        return 0.0
    return (len(values) - 1) * float(np.var(np.log(values)))


def _moved(
    test: Any, plan: Plan, x: Floats, people: NDArray[np.intp], scale: Floats | None, matrices: list[Quadratic]
) -> Floats:
    """Return losses, or errors, before and after people are moved, equally many by each metric in turn."""
    model = replace(plan.model, scale=scale)
    starts = Starts(x, model.in_units_of_audit(x), plan.starts.truth.take(people))
    folds = np.repeat(np.arange(len(matrices)), len(people) // len(matrices))
    moved = moved_by(test, replace(plan, model=model, matrices=matrices, folds=folds, starts=starts))
    return (moved.losses if moved.wrong is None else moved.wrong)[:, [0, -1]]
