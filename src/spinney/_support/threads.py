"""Work in threads; kernels run without the interpreter's lock."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache, partial
from itertools import chain, count, islice
from threading import current_thread
from typing import TYPE_CHECKING, Any, TypeVar

from spinney._support.checks import is_whole
from spinney.errors import Setting, refusal

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

THREAD_NAME = "spinney"

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


def run_all(
    pieces: Iterable[Callable[[], Result]], *, in_threads: bool = True
) -> list[Result]:
    """Do pieces of work, in threads if there are several; return what they return.

    Pieces of a few microseconds are done sooner than a thread is woken: they say that
    they want none.
    """
    work = list(pieces)
    if len(work) == 1 or n_threads() == 1 or not in_threads:
        return [piece() for piece in work]
    pool = _pool(os.getpid(), n_threads())
    futures = [pool.submit(copy_context().run, piece) for piece in work]
    return [future.result() for future in futures]


def run_as_they_come(
    function: Callable[[Item], Result], items: Iterable[Item]
) -> list[Result]:
    """Return what a function makes of items, in threads while the next ones come.

    One item is worked on here, and so are those of a thread that is one of ours. No
    more of them wait than there are threads.
    """
    from concurrent.futures import Future, wait

    coming = iter(items)
    first = list(islice(coming, 2))
    n, ours = n_threads(), current_thread().name.startswith(THREAD_NAME)
    if len(first) < 2 or n == 1 or ours:
        return [function(item) for item in chain(first, coming)]
    pool, futures = _pool(os.getpid(), n), list[Future[Result]]()
    for item in chain(first, coming):
        if len(futures) > n:
            wait(futures[: len(futures) - n])
        futures.append(pool.submit(copy_context().run, function, item))
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
    if size < 2:
        results: list[Result] = []
        for piece in waiting:
            results.append(piece())
            done(len(results))
        return results
    from concurrent.futures import as_completed

    with _new_pool(size) as pool:
        futures = [pool.submit(copy_context().run, piece) for piece in waiting]
        try:
            for number, future in enumerate(as_completed(futures), 1):
                future.result()
                done(number)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]


@lru_cache(maxsize=2)
def _pool(_process: int, size: int) -> "ThreadPoolExecutor":
    """Return the pool of this size of this process; a forked child makes its own."""
    return _new_pool(size)


def _new_pool(size: int) -> "ThreadPoolExecutor":
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(size, thread_name_prefix=THREAD_NAME)


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` means: None is all, -1 too, -2 all but one."""
    if n_jobs is None:
        return n_threads()
    if not is_whole(n_jobs) or n_jobs == 0:
        problem = "must be a whole number of at least 1, or -1 for all cores"
        raise refusal(Setting("n_jobs", n_jobs), problem)
    return n_jobs if n_jobs > 0 else max(1, n_threads() + 1 + n_jobs)
