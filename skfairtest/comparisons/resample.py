"""Resamples, drawn in chunks with their own seeds by any number of processes, and p-values that count them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from skfairtest._utils.parallel import in_parallel
from skfairtest._utils.progress import progress
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.core import Comparison
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.linear_form import Resampled
from skfairtest.inference.rates import Question
from skfairtest.inference.resampling import looks, monte_carlo_p, reference_log_p, sequential_p, stopped_p

T = TypeVar("T")


class Task(NamedTuple):
    """A resampling task: ``draw(size, seed)``, the seed of its chunks, and the comparisons of the columns drawn."""

    draw: Callable[[int, np.random.SeedSequence], Any]
    seed: np.random.SeedSequence
    rows: Sequence[Comparison] = ()


def resample(
    draw: Callable[[int, np.random.SeedSequence], T],
    settings: Settings,
    seed: np.random.SeedSequence,
    *,
    what: str,
    rows: Sequence[Comparison] = (),
) -> list[T]:
    """Draw all resamples of one task; see `resample_all`."""
    return resample_all([Task(draw, seed, rows)], settings, what=what)[0]


def resample_all(tasks: Sequence[Task], settings: Settings, *, what: str) -> list[list[Any]]:
    """Draw all resamples of several tasks; with ``n_resamples="adaptive"`` as many as each needs."""
    sizes = looks(settings.n_resamples, adaptive=settings.adaptive, n_decisive=settings.n_decisive)
    n_chunks = sum(map(len, sizes))
    seeds = [iter(task.seed.spawn(n_chunks)) for task in tasks]
    early = settings.adaptive and all(task.rows for task in tasks)
    out: list[list[Any]] = [[] for _ in tasks]
    going = list(range(len(tasks)))
    with progress(what, n_chunks * len(tasks), bool(settings.verbose)) as advance:
        for look in sizes:
            calls = [(place, (tasks[place].draw, size, next(seeds[place]))) for place in going for size in look]
            drawn = in_parallel(operator.call, (call for _, call in calls), settings.n_jobs)
            for (place, _), chunk in zip(calls, drawn, strict=True):
                out[place].append(chunk)
                advance()
            going = [place for place in going if not (early and _is_done(tasks[place].rows, out[place], settings))]
            if not going:
                break
    return out


def _is_done(rows: Sequence[Comparison], chunks: Sequence[Floats], settings: Settings) -> bool:
    """Whether adaptive drawing knows the p-value of every row."""
    drawn = np.concatenate(chunks)
    return all(
        sequential_p(column, row.statistic, side, settings.n_decisive) is not None
        for row, column in zip(rows, drawn.reshape(len(drawn), -1).T, strict=True)
        for side in row.null.tails
    )


def with_draws(
    row: Comparison, draws: Floats, settings: Settings, freedom: float | None = None, skewness: float = 0.0
) -> Comparison:
    """Count the draws at least as extreme as the data; adaptive ones until the answer is known.

    Permuted labels mix both sides, which can make the statistic vary too little. A studentized p-value is therefore at
    least that of t with some `freedom`, with and without the `skewness` of means.
    """
    counted = []
    for side in row.null.tails:
        found = sequential_p(draws, row.statistic, side, settings.n_decisive) if settings.adaptive else None
        stopped = found is not None
        if found is None:
            _, n_extreme, n_defined = monte_carlo_p(draws, row.statistic, side)
            found = stopped_p(n_extreme, n_defined, settings.n_decisive), n_extreme, n_defined
        counted.append((*found, stopped))
    p, n_extreme, n_defined, stopped = min(counted)
    number, unknown, least = np.cumsum(~np.isnan(draws)), np.isnan(draws), -np.inf
    n_undefined = int(unknown[number < n_defined].sum()) if stopped else len(draws) - n_defined
    if stopped and not row.null.extreme:
        # What was drawn for other comparisons after this row had its answer is not part of it.
        draws = np.where(number <= n_defined, draws, np.nan)
    if freedom is not None and not settings.published:
        least = reference_log_p(row.statistic, row.null.side, freedom, skewness)
    log_p = min(0.0, max(float(np.log(p)), least) + float(np.log(len(counted))))
    return replace(
        row, log_p=log_p, draws=draws, n_extreme=n_extreme, n_defined=n_defined, n_undefined=n_undefined,
        n_tails=len(counted), least_log_p=least,
    )  # fmt: skip


def with_samples(row: Comparison, least_log_p: float = -np.inf) -> Comparison:
    """Count bootstrap samples at equality, or at the margin.

    If all people of a side are alike, so are its samples; the p-value is then at least the asymptotic one,
    `least_log_p`.
    """
    samples, question = row.null.samples, row.null.question
    assert samples is not None
    tests = question.tests
    results = [(samples.test(edge, side), samples.statistic(edge)) for edge, side in tests]
    choose = max if question.alternative == "equivalence" else min
    (p, n_extreme, n_defined), statistic = choose(results, key=lambda result: result[0][0])
    draws = farthest_beyond(samples, question)
    tails = 2 if len(tests) == 2 and question.alternative == "two-sided" else 1
    return replace(
        row, log_p=max(min(0.0, float(np.log(p) + np.log(tails))), least_log_p), method="bootstrap",
        statistic=statistic, draws=draws, n_extreme=n_extreme, n_defined=n_defined,
        n_undefined=int(np.isnan(draws).sum()), n_tails=tails, least_log_p=least_log_p,
    )  # fmt: skip


def farthest_beyond(samples: Resampled, question: Question) -> Floats:
    """Return bootstrap statistics, each where it is farthest beyond what is tested."""
    tests = question.tests
    columns = np.stack([samples.centred(edge) for edge, _ in tests[: len({edge for edge, _ in tests})]])
    largest = np.argmax(np.nan_to_num(np.abs(columns), nan=-1.0), axis=0)
    return np.asarray(np.take_along_axis(columns, largest[None], axis=0)[0])
