"""Drawing resamples: in chunks with seeds of their own, by any number of processes, announced when they take long."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import delayed

from skfairtest._utils.parallel import parallel
from skfairtest._utils.progress import duration, progress
from skfairtest._utils.stacklevel import find_stack_level
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.two_sides import chunk_sizes

T = TypeVar("T")
#: Seconds foreseen from which on a test is announced.
LONG = 60.0
#: Seconds of a first try that are a measurement already, and resamples of a second one.
SLOW, PROBE = 0.5, 16
#: Chunks after which a sequential rule looks whether it can stop: a fixed number, whoever draws them.
ROUND = 4


def resample(
    draw: Callable[[int, np.random.SeedSequence], T],
    settings: Settings,
    seed: np.random.SeedSequence,
    *,
    what: str,
    done: Callable[[list[T]], bool] | None = None,
    times: int = 1,
) -> list[T]:
    """Draw all resamples, or with ``n_resamples="adaptive"`` as many as `done` asks for.

    Parameters
    ----------
    draw : callable
        ``draw(size, seed)``.
    settings : Settings
        `n_resamples`, `adaptive`, `n_jobs` and `verbose`.
    seed : SeedSequence
        Where the chunks' seeds come from.
    what : str
        What is tested, for messages.
    done : callable, optional
        Whether the chunks drawn so far are enough.
    times : int
        How often this is going to be called alike, for the forecast; 0 if the forecast has been made.
    """
    sizes = chunk_sizes(settings.n_resamples, adaptive=settings.adaptive)
    seeds = seed.spawn(len(sizes))
    early = settings.adaptive and done is not None
    if times and not early:
        announce_if_long(what, times * _seconds_each(draw), settings)
    out: list[T] = []
    with progress(what, len(sizes), bool(settings.verbose)) as advance:
        rounds = range(0, len(sizes), ROUND) if settings.adaptive else [0]
        for start in rounds:
            stop = start + ROUND if settings.adaptive else len(sizes)
            jobs = (
                delayed(draw)(size, chunk) for size, chunk in zip(sizes[start:stop], seeds[start:stop], strict=True)
            )
            for result in parallel(settings.n_jobs)(jobs):
                out.append(result)
                advance()
            if early and done is not None and done(out):
                break
    return out


def _seconds_each(draw: Callable[[int, np.random.SeedSequence], Any]) -> float:
    """Time a few resamples; where they are quick, the difference that more of them make."""
    tries = 0

    def seconds(size: int) -> float:
        nonlocal tries
        tries += 1  # other people each time: what was evaluated before may be remembered
        started = time.perf_counter()
        draw(size, np.random.SeedSequence(tries))
        return time.perf_counter() - started

    first = seconds(1)
    if first > SLOW:
        return first
    first = seconds(2)
    if first > SLOW:
        return first / 2
    few, more = min(seconds(2), first), seconds(2 + PROBE)
    if more - few < SLOW:
        more = min(more, seconds(2 + PROBE))
    return max(0.0, more - few) / PROBE


def announce_if_long(what: str, seconds_each: float, settings: Settings) -> bool:
    """Warn if all resamples take more than a minute at so many seconds each; return whether that was so."""
    processes = effective_n_jobs(settings.n_jobs)  # type: ignore[arg-type]  # None: the surrounding configuration's
    foreseen = seconds_each * settings.n_resamples / processes
    if foreseen <= LONG:
        return False
    announce(what, foreseen, settings)
    return True


def announce(what: str, seconds: float, settings: Settings) -> None:
    """Warn that a test takes more than a minute, and say what makes it shorter."""
    warnings.warn(
        f"{what}: {settings.n_resamples:,} resamples are going to take about {duration(seconds)}; use "
        "n_resamples='adaptive', which stops early where it can, fewer n_resamples, or more processes with n_jobs",
        UserWarning,
        stacklevel=find_stack_level(),
    )


def join(parts: Sequence[Any]) -> Any:
    """Join chunks of moments, arrays (B, S), into one."""
    return type(parts[0])(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
