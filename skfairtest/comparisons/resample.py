"""Resamples, and the evidence that they give.

Drawing resamples: in chunks with their own seeds, by any number of processes, with a warning if they take long.

From draws to evidence: p-values that count resamples, at equality or at a margin.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import effective_n_jobs

from skfairtest._utils.batches import batches
from skfairtest._utils.errors import warn
from skfairtest._utils.parallel import in_parallel
from skfairtest._utils.progress import duration, progress
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.core import Evidence, NullDistribution
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.linear_form import Resampled
from skfairtest.inference.rates import Question
from skfairtest.inference.resampling import looks, monte_carlo_p, oriented, reference_log_p, sequential_p, stopped_p

T = TypeVar("T")
Chunks = Sequence[tuple[int, np.random.SeedSequence]]
#: Seconds foreseen from which on a test is announced.
LONG = 10.0
#: Seconds of a first try that are a measurement already, and resamples of a second one.
SLOW, PROBE = 0.5, 16
#: Of a test with at least so many chunks the first ones are drawn before it is announced, for so many seconds.
MANY_CHUNKS, WATCHED = 10, 1.0
#: Calls for each process, where chunks are given to processes together; seconds that are worth a process.
CALLS, WORTH = 8, 0.25


class Task(NamedTuple):
    """What is resampled: ``draw(size, seed)``, the seed of its chunks' seeds, and whether chunks so far are enough."""

    draw: Callable[[int, np.random.SeedSequence], Any]
    seed: np.random.SeedSequence
    done: Callable[[list[Any]], bool] | None = None


def resample(
    draw: Callable[[int, np.random.SeedSequence], T],
    settings: Settings,
    seed: np.random.SeedSequence,
    *,
    what: str,
    done: Callable[[list[T]], bool] | None = None,
    times: int = 1,
) -> list[T]:
    """Draw all resamples of one task; see `resample_all`."""
    return resample_all([Task(draw, seed, done)], settings, what=what, times=times)[0]


def resample_all(tasks: Sequence[Task], settings: Settings, *, what: str, times: int = 1) -> list[list[Any]]:
    """Draw all resamples of several tasks, or with ``n_resamples="adaptive"`` as many as each asks for.

    Parameters
    ----------
    tasks : sequence of Task
        What is drawn; their chunks are drawn side by side.
    settings : Settings
        `n_resamples`, `adaptive`, `n_decisive`, `n_jobs` and `verbose`.
    what : str
        What is tested, for messages.
    times : int
        How many such calls there will be, for the forecast; 0 if the forecast has been made.

    Returns
    -------
    list of list
        The chunks of each task.
    """
    if not tasks:
        return []
    sizes = looks(settings.n_resamples, adaptive=settings.adaptive, n_decisive=settings.n_decisive)
    n_chunks = sum(map(len, sizes))
    seeds = [iter(task.seed.spawn(n_chunks)) for task in tasks]
    early = settings.adaptive and all(task.done is not None for task in tasks)
    watch = None
    if times and not early:
        wanted = settings.n_resamples * len(tasks)
        watch = _announced(tasks[0].draw, settings, n_chunks * len(tasks), sizes[0][0], wanted, what, times)
    out: list[list[Any]] = [[] for _ in tasks]
    going, drawn = list(range(len(tasks))), 0
    with progress(what, n_chunks * len(tasks), bool(settings.verbose)) as advance:
        for look in sizes:
            at_once = _chunks_of_a_call(len(look), len(going), settings.n_jobs)
            calls: list[tuple[int, Chunks]] = [
                (place, [(size, next(seeds[place])) for size in look[cut]])
                for place in going
                for cut in batches(len(look), at_once)
            ]
            for (place, chunks), results in zip(calls, _results(tasks, calls, settings), strict=True):
                out[place] += results
                drawn += sum(size for size, _ in chunks)
                for _ in chunks:
                    advance()
                if watch is not None:
                    watch(drawn)
            going = [place for place in going if not (early and tasks[place].done(out[place]))]  # type: ignore[misc]
            if not going:
                break
    return out


def _results(tasks: Sequence[Task], calls: list[tuple[int, Chunks]], settings: Settings) -> Iterator[list[Any]]:
    """Yield what calls give, in their order.

    A look may be short: its first call is made here, and its time shows whether other processes are worthwhile.
    """
    started, n_jobs, others = time.perf_counter(), settings.n_jobs, calls
    if settings.adaptive:
        (place, chunks), *others = calls
        yield _draw(tasks[place].draw, chunks)
        n_jobs = 1 if (time.perf_counter() - started) * len(others) < WORTH else n_jobs
    yield from in_parallel(_draw, ((tasks[place].draw, chunks) for place, chunks in others), n_jobs)


def _draw(draw: Callable[[int, np.random.SeedSequence], Any], chunks: Chunks) -> list[Any]:
    return [draw(size, seed) for size, seed in chunks]


def _chunks_of_a_call(n_chunks: int, n_tasks: int, n_jobs: int | None) -> int:
    """The number of chunks of a task for one process: sending the people has a cost, too."""
    jobs = effective_n_jobs(n_jobs)  # type: ignore[arg-type]  # None: as configured
    return 1 if jobs == 1 else -(-n_chunks * n_tasks // (CALLS * jobs))


def _seconds_each(draw: Callable[[int, np.random.SeedSequence], Any], short: float) -> float:
    """Time a resample; if it takes more than `short` seconds, a few, or where they are quick what more of them add."""
    tries = 0

    def seconds(size: int) -> float:
        nonlocal tries
        tries += 1  # other people each time: what was evaluated before may be remembered
        started = time.perf_counter()
        draw(size, np.random.SeedSequence(tries))
        return time.perf_counter() - started

    first = seconds(1)
    if first > SLOW or first <= short:
        return first
    first = seconds(2)
    if first > SLOW:
        return first / 2
    few, more = min(seconds(2), first), seconds(2 + PROBE)
    if more - few < SLOW:
        more = min(more, seconds(2 + PROBE))
    return max(0.0, more - few) / PROBE


def _announced(
    draw: Callable[[int, np.random.SeedSequence], Any],
    settings: Settings,
    n_chunks: int,
    first: int,
    wanted: int,
    what: str,
    times: int,
) -> Watch | None:
    """Announce what takes long, or return what is going to do so after some of the resamples.

    The time of the first resamples misleads if libraries are being loaded, or if values of repeated tables are stored.
    A forecast is therefore based on them only if they take too long to wait for more, or are most of the test.
    """
    jobs: int = effective_n_jobs(settings.n_jobs)  # type: ignore[arg-type]  # None: as configured
    each = _seconds_each(draw, LONG * jobs / (times * wanted)) / jobs
    foreseen = times * each * wanted
    if foreseen <= LONG:
        return None
    if times * n_chunks >= MANY_CHUNKS and each * first <= LONG:
        return Watch(what, settings, times, wanted)
    announce(what, foreseen, settings)
    return None


class Watch:
    """Warns of a test that takes long, from the time that its resamples take; called with their number."""

    def __init__(self, what: str, settings: Settings, times: int, wanted: int) -> None:
        self._what, self._settings, self._times, self._wanted = what, settings, times, wanted
        self._begun = time.perf_counter()
        self._first: tuple[float, int] | None = None
        self._finished = False

    def __call__(self, drawn: int) -> None:
        """Announce the test, if it takes long, as soon as enough of the resamples have been drawn to tell."""
        now = time.perf_counter()
        if self._first is None:
            self._first = now, drawn
            return
        begun, before = self._first
        if self._finished or now - begun < WATCHED:
            return
        self._finished = True
        left = (self._wanted - drawn) * (now - begun) / (drawn - before)
        foreseen = self._times * (now - self._begun + left)
        if foreseen > LONG:
            announce(self._what, foreseen, self._settings)


def announce(what: str, seconds: float, settings: Settings) -> None:
    """Warn that a test takes long, and say how to shorten it."""
    warn(
        f"{what}: {settings.n_resamples:,} resamples are going to take about {duration(seconds)}; use "
        "n_resamples='adaptive', which stops early if possible, fewer n_resamples, or more processes with n_jobs",
    )


def join(parts: Sequence[Any]) -> Any:
    """Join chunks of moments, arrays (B, S), into one."""
    return type(parts[0])(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


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
