"""Several models, tested on the same people in the same way, so that the results can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import label
from skfairtest.individual._parameters import check_parameters
from skfairtest.individual._plan import Plan, seed_of
from skfairtest.individual.flow.audit_value import difference
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
