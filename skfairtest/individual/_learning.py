"""How much a statistic varies because who is similar, and what one unit is, was learned from these people.

The standard error of a statistic is about the people whose losses it averages, given the metric. A metric that is
learned varies as well: of other people of the same population another one is learned. Here it is learned, with its
units, once without each of some groups of people (the delete-group jackknife), and the same people are moved by each.
For models without a closed form, whose calls are dear, the units are those of everybody.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.individual._folds import content_folds, ranks
from skfairtest.individual._metric import learn
from skfairtest.individual._parameters import OF_MEANS, scale_of
from skfairtest.individual._plan import Plan, moved_by
from skfairtest.individual._unfair import Starts
from skfairtest.individual.flow.audit_value import UndefinedAuditValueError, audit_value
from skfairtest.individual.flow.quadratic import Quadratic

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
