"""From draws to evidence: p-values that count resamples, at equality or at a margin."""

from __future__ import annotations

import numpy as np

from skfairtest._utils.typing import Floats
from skfairtest.comparisons.core import Evidence, NullDistribution
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.linear_form import Resampled
from skfairtest.inference.rates import Question
from skfairtest.inference.resampling import monte_carlo_p, oriented, reference_log_p
from skfairtest.inference.sequential import sequential_p, stopped_p


def orient(statistic: float, side: str) -> float:
    """Return a statistic of which larger ones are more evidence."""
    return float(oriented(np.asarray(statistic), side))


def evidence_of_draws(
    draws: Floats,
    statistic: float,
    side: str,
    settings: Settings,
    method: str,
    standard_error: float,
    freedom: float | None = None,
    skewness: float = 0.0,
    *,
    proven: bool = False,
) -> Evidence:
    """Count the draws that are at least as extreme as the data; with adaptive draws those until the answer is known.

    Permuted labels mix the values of both sides. Where a small group has many that are not 0 and a large one hardly
    any, the permuted small groups have hardly any, and the statistic varies less than in the data: the p-value of a
    studentized one is therefore not below that of t with some degrees of `freedom`, with and without the `skewness` of
    means. Where it is `proven` that none of
    `n_decisive` draws is as extreme, these count as if they had been drawn.
    """
    found = sequential_p(draws, statistic, side, settings.n_decisive, proven=proven) if settings.adaptive else None
    if found is None:
        _, n_extreme, n_defined = monte_carlo_p(draws, statistic, side)
        p = stopped_p(n_extreme, n_defined, settings.n_decisive)
        n_undefined = len(draws) - n_defined
    else:
        p, n_extreme, n_defined = found
        number = np.cumsum(~np.isnan(draws))
        n_undefined = int(np.isnan(draws[number < n_defined]).sum())
        # What was drawn for other comparisons after this one had its answer is not part of it.
        draws = np.where(number <= n_defined, draws, np.nan)
    beyond = orient(statistic, side)
    least = -np.inf if freedom is None or settings.published else reference_log_p(statistic, side, freedom, skewness)
    log_p, undefined = max(float(np.log(p)), least), n_undefined
    return Evidence(
        log_p, method, statistic, standard_error, beyond, draws, None, n_extreme, n_defined, undefined,
        least_log_p=least,
    )  # fmt: skip


def evidence_of_samples(null: NullDistribution, standard_error: float, least_log_p: float = -np.inf) -> Evidence:
    """Count bootstrap samples at equality, or at the margin.

    Where the people of a side are all alike, so are all of its samples: they say nothing about what is uncertain there,
    and the p-value is not below the asymptotic one, `least_log_p`.
    """
    samples, question = null.samples, null.question
    assert samples is not None
    tests = question.tests
    results = [(samples.test(edge, side), samples.statistic(edge)) for edge, side in tests]
    choose = max if question.alternative == "equivalence" else min
    (p, n_extreme, n_defined), statistic = choose(results, key=lambda result: result[0][0])
    draws, beyond = farthest_beyond(samples, question)
    tails = 2 if len(tests) == 2 and question.alternative == "two-sided" else 1
    log_p = max(min(0.0, float(np.log(p) + np.log(tails))), least_log_p)
    undefined = int(np.isnan(draws).sum())
    return Evidence(
        log_p, "bootstrap", statistic, standard_error, beyond, draws, None, n_extreme, n_defined, undefined, tails,
        least_log_p,
    )  # fmt: skip


def farthest_beyond(samples: Resampled, question: Question) -> tuple[Floats, float]:
    """Return bootstrap statistics, and that of the data oriented, each where it is farthest beyond what is tested."""
    tests = question.tests
    columns = np.stack([samples.centred(edge) for edge, _ in tests[: len({edge for edge, _ in tests})]])
    largest = np.argmax(np.nan_to_num(np.abs(columns), nan=-1.0), axis=0)
    beyond = max(orient(samples.statistic(edge), side) for edge, side in tests)
    return np.take_along_axis(columns, largest[None], axis=0)[0], beyond
