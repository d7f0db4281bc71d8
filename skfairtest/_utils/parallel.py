"""Processes among which work is divided, whichever backend joblib has been told to use, and threads of BLAS."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ContextDecorator, ExitStack, contextmanager
from functools import cache
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

T = TypeVar("T")

#: Seconds of work after which processes are worth starting: they import the package before they begin.
STARTING = 2.0


@cache
def _libraries(user_api: str) -> ThreadpoolController:
    # Looks through all that the process has loaded: once, for BLAS with NumPy and SciPy, for OpenMP with models.
    return ThreadpoolController().select(user_api=user_api)


class _OneThread(ContextDecorator):
    """One thread of BLAS while a function runs: of many small products of matrices, more threads only wait."""

    def __init__(self) -> None:
        self._lock, self._inside, self._given_back = threading.Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._given_back.enter_context(_libraries("blas").limit(limits=1))
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._given_back.close()


#: What runs with one thread of BLAS: as a decorator, or in a ``with`` statement.
one_blas_thread = _OneThread()


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread of all libraries, in a ``with`` statement: sums of scikit-learn's models are then the same."""
    with one_blas_thread, _libraries("openmp").limit(limits=1):
        yield


def in_parallel(call: Callable[..., T], pieces: Iterable[tuple[Any, ...]], n_jobs: int | None) -> Iterator[T]:
    """Call a function with each piece of work; yield the results in the order of the pieces."""
    workers: int = effective_n_jobs(n_jobs)  # type: ignore[arg-type]  # None: as configured
    is_local = type(get_active_backend()[0]).__module__ == "joblib._parallel_backends"
    began, remaining = time.perf_counter(), iter(pieces)
    for piece in remaining:
        if not is_local or (workers > 1 and time.perf_counter() - began > STARTING):
            break
        yield call(*piece)
    else:
        return
    listed = [piece, *remaining]
    shares = [[listed[i] for i in share] for share in np.array_split(np.arange(len(listed)), workers) if len(share)]
    for results in Parallel(n_jobs=n_jobs)(delayed(_several)(call, share) for share in shares):
        yield from results


def _several(call: Callable[..., T], pieces: Sequence[tuple[Any, ...]]) -> list[T]:
    return [call(*piece) for piece in pieces]
