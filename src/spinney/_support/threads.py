"""Work in threads; kernels run without the interpreter's lock."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache, partial
from itertools import count
from typing import Any, TypeVar

from spinney._support.checks import is_whole
from spinney.errors import Setting, refusal

Result = TypeVar("Result")


_MOST: ContextVar[int | None] = ContextVar("most threads", default=None)


def n_threads() -> int:
    """Return how many threads there are to use: one per core that we may use.

    Within :func:`limited_threads` there are no more than it says.
    """
    cores = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )
    return min(cores, _MOST.get() or cores)


@contextmanager
def limited_threads(n_jobs: int | None) -> Iterator[None]:
    """Let the work that is done meanwhile use no more than ``n_jobs`` threads.

    >>> with limited_threads(1):
    ...     n_threads()
    1
    """
    token = _MOST.set(thread_count(n_jobs))
    try:
        yield
    finally:
        _MOST.reset(token)


def in_threads(work: Callable[[int, int], Result], n_rows: int) -> list[Result]:
    """Do a piece of work for each stretch of rows, one stretch per thread."""
    n = max(1, min(n_threads(), n_rows // 4096))
    ends = [n_rows * part // n for part in range(n + 1)]
    pieces = [partial(work, ends[part], ends[part + 1]) for part in range(n)]
    return run_all(pieces)


def in_turns(
    work: Callable[[int, int, Any], None],
    n: int,
    *,
    step: int,
    n_jobs: int,
    room: Callable[[], Any] = lambda: None,
) -> list[Any]:
    """Do a piece of work for each stretch of ``step`` of n things, by any free thread.

    Each thread has a room of its own, which is handed to its work; return the rooms.
    """
    turns, rooms = count(), list[Any]()

    def do() -> None:
        own = room()
        rooms.append(own)
        while (first := step * next(turns)) < n:
            work(first, min(n, first + step), own)

    if n_jobs == 1 or n <= step:
        do()
    else:
        run_all([do] * n_jobs)
    return rooms


def run_all(pieces: Iterable[Callable[[], Result]]) -> list[Result]:
    """Do pieces of work, in threads if there are several; return what they return."""
    work = list(pieces)
    if len(work) == 1 or n_threads() == 1:
        return [piece() for piece in work]
    pool = _pool(os.getpid(), n_threads())
    futures = [pool.submit(copy_context().run, piece) for piece in work]
    return [future.result() for future in futures]


def run_each(
    pieces: Iterable[Callable[[], Result]],
    *,
    at_once: int | None = None,
    done: Callable[[int], None] = lambda number: None,
) -> list[Result]:
    """Do pieces of work, so many at once, and tell how many are done.

    Where one fails, or the user interrupts, those not yet begun are never begun, and
    those under way are waited for: nothing goes on behind one's back.
    """
    waiting = list(pieces)
    size = min(at_once or n_threads(), len(waiting))
    results: list[Result] = []
    if size < 2:
        for piece in waiting:
            results.append(piece())
            done(len(results))
        return results
    with ThreadPoolExecutor(size, thread_name_prefix="spinney") as pool:
        futures = [pool.submit(copy_context().run, piece) for piece in waiting]
        try:
            for future in futures:
                results.append(future.result())
                done(len(results))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results


@lru_cache(maxsize=2)
def _pool(_process: int, size: int) -> ThreadPoolExecutor:
    """Return the pool of this size of this process; a forked child makes its own."""
    return ThreadPoolExecutor(size, thread_name_prefix="spinney")


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` means: None is all, -1 too, -2 all but one."""
    if n_jobs is None:
        return n_threads()
    if not is_whole(n_jobs) or n_jobs == 0:
        problem = "must be a whole number of at least 1, or -1 for all cores"
        raise refusal(Setting("n_jobs", n_jobs), problem)
    return n_jobs if n_jobs > 0 else max(1, n_threads() + 1 + n_jobs)
