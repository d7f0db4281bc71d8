"""Drawing resamples: in chunks with seeds of their own, by any number of processes, announced when they take long."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs

from skfairtest._utils.parallel import in_parallel
from skfairtest._utils.progress import duration, progress
from skfairtest._utils.stacklevel import find_stack_level
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.two_sides import chunk_sizes

T = TypeVar("T")
#: Seconds foreseen from which on a test is announced.
LONG = 10.0
#: Seconds of a first try that are a measurement already, and resamples of a second one.
SLOW, PROBE = 0.5, 16
#: Of a test with at least so many chunks the first ones are drawn before it is announced, for so many seconds.
MANY_CHUNKS, WATCHED = 10, 1.0
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
    watch = _announced(draw, settings, sizes, what, times) if times and not early else None
    out: list[T] = []
    with progress(what, len(sizes), bool(settings.verbose)) as advance:
        rounds = range(0, len(sizes), ROUND) if settings.adaptive else [0]
        for start in rounds:
            stop = start + ROUND if settings.adaptive else len(sizes)
            pieces = zip(sizes[start:stop], seeds[start:stop], strict=True)
            for result in in_parallel(draw, pieces, settings.n_jobs):
                out.append(result)
                advance()
                if watch is not None:
                    watch(sum(sizes[: len(out)]))
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


def _announced(
    draw: Callable[[int, np.random.SeedSequence], Any], settings: Settings, sizes: Sequence[int], what: str, times: int
) -> Watch | None:
    """Announce what takes long, or return what is going to do so after some of the resamples.

    The first resamples tell too much where libraries are loaded, and where tables that come again are remembered. So
    it is only those that take too long to wait for, or are most of the test, that a forecast rests on.
    """
    each = _seconds_each(draw) / effective_n_jobs(settings.n_jobs)  # type: ignore[arg-type]  # None: as configured
    foreseen = times * each * settings.n_resamples
    if foreseen <= LONG:
        return None
    if times * len(sizes) >= MANY_CHUNKS and each * sizes[0] <= LONG:
        return Watch(what, settings, times)
    announce(what, foreseen, settings)
    return None


class Watch:
    """Announces a test that takes long, by the time that its resamples take; called with how many there are."""

    def __init__(self, what: str, settings: Settings, times: int) -> None:
        self._what, self._settings, self._times = what, settings, times
        self._begun = time.perf_counter()
        self._first: tuple[float, int] | None = None
        self._finished = False

    def __call__(self, drawn: int) -> None:
        """Announce the test, if it takes long, as soon as enough resamples have been drawn to tell."""
        now = time.perf_counter()
        if self._first is None:
            self._first = now, drawn
            return
        begun, before = self._first
        if self._finished or now - begun < WATCHED:
            return
        self._finished = True
        left = (self._settings.n_resamples - drawn) * (now - begun) / (drawn - before)
        foreseen = self._times * (now - self._begun + left)
        if foreseen > LONG:
            announce(self._what, foreseen, self._settings)


def announce(what: str, seconds: float, settings: Settings) -> None:
    """Warn that a test takes long, and say what makes it shorter."""
    warnings.warn(
        f"{what}: {settings.n_resamples:,} resamples are going to take about {duration(seconds)}; use "
        "n_resamples='adaptive', which stops early where it can, fewer n_resamples, or more processes with n_jobs",
        UserWarning,
        stacklevel=find_stack_level(),
    )


def join(parts: Sequence[Any]) -> Any:
    """Join chunks of moments, arrays (B, S), into one."""
    return type(parts[0])(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
