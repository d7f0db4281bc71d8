"""How much a statistic varies because who is similar, and what one unit is, was learned from these people.

The standard error of a statistic is about the people whose losses it averages, given the metric. A metric that is
learned varies as well: of other people of the same population another one is learned. Here it is learned, with its
units, once without each of some groups of people (the delete-group jackknife), and the same people are moved by each.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest.individual._folds import content_folds, ranks
from skfairtest.individual._metric import learn
from skfairtest.individual._parameters import OF_MEANS, scale_of
from skfairtest.individual._plan import Plan, moved_by
from skfairtest.individual._unfair import Starts
from skfairtest.individual.flow.audit_value import UndefinedAuditValueError, audit_value

#: Groups that are left out in turn, and people who are moved for each.
GROUPS, MOVED = 10, 250


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
    if sum(trace.found for trace in plan.traces) <= len(plan.in_X):  # a column of X is its own direction
        return 0.0
    features = plan.people.features
    truth = np.unique(plan.starts.truth.labels, return_inverse=True)[1].astype(float)
    groups = content_folds(features.values, truth, GROUPS)
    order = np.argsort(ranks(features.values, truth), kind="stable")
    some = order[np.unique(np.linspace(0, len(order) - 1, MOVED).astype(int))]
    x = plan.starts.x[some]
    found = []
    for group in range(groups.max() + 1):
        rest = groups != group
        scale = scale_of(test.feature_scale, features.take(rest), plan.ranges)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they were said of everybody
                teaching = tuple(column.take(rest) for column in plan.teaching)
                _, matrices, _ = learn(plan.metric, features.take(rest), truth[rest], teaching, 1, scale)
            model = replace(plan.model, scale=scale)
            starts = Starts(x, model.in_units_of_audit(x), plan.starts.truth.take(some))
            moved = moved_by(
                test,
                replace(plan, model=model, matrices=matrices, folds=np.zeros(len(some), dtype=np.intp), starts=starts),
            )
            losses = moved.losses if moved.wrong is None else moved.wrong
            name = "ratio_of_means" if plan.statistic in OF_MEANS else plan.statistic
            value = audit_value(name, losses[:, 0], losses[:, -1], tolerance=1.0, confidence_level=0.95)
        except (ParameterError, UndefinedAuditValueError):
            return 0.0
        found.append(np.log(value.estimate) if value.estimate > 0 else np.nan)
    variance = (len(found) - 1) * float(np.var(found))
    return variance if np.isfinite(variance) else 0.0
