"""Work in threads; kernels run without the interpreter's lock.

Python raises an interrupt in the main thread only. If the main thread waits for others,
it sets a :class:`_StopFlag` and waits until they stop. They read the flag between two
steps (:func:`stop_if_requested`).
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import chain, count, islice
from threading import Lock, current_thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from spinney._support.checks import is_whole
from spinney.errors import Setting, refusal

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

THREAD_NAME = "spinney"

_LIMIT: ContextVar[int | None] = ContextVar("most threads", default=None)


class _StopFlag:
    """A request to stop work; it also stops threads started by that work."""

    def __init__(self, parent: "_StopFlag | None") -> None:
        self.raised, self.parent = False, parent

    @property
    def is_set(self) -> bool:
        """Whether this flag or one of its parents is set."""
        return self.raised or (self.parent is not None and self.parent.is_set)


class Stopped(BaseException):
    """Ends the work of a thread that was asked to stop."""


_FLAG: ContextVar[_StopFlag | None] = ContextVar("the flag of this work", default=None)


def stop_if_requested() -> None:
    """Raise ``Stopped`` if this thread was asked to stop."""
    flag = _FLAG.get()
    if flag is not None and flag.is_set:
        raise Stopped


@contextmanager
def _stopping(futures: "list[Future[Any]]") -> Iterator[_StopFlag]:
    """Yield the stop flag of some work; set the flag if waiting fails."""
    flag = _StopFlag(_FLAG.get())
    try:
        yield flag
    except BaseException:
        flag.raised = True
        for future in futures:
            future.cancel()
        from concurrent.futures import wait

        wait(futures)
        raise


def _with_flag(flag: _StopFlag, piece: Callable[[], Result]) -> Callable[[], Result]:
    """Return a function that runs with a stop flag, in its caller's context."""
    context = copy_context()
    context.run(_FLAG.set, flag)

    def run_unless_stopped() -> Result:
        stop_if_requested()
        return piece()

    return partial(context.run, run_unless_stopped)


class Pace:
    """The number of items in one kernel call, chosen so that calls stay short.

    A kernel cannot be interrupted. Its number of items is adapted to calls of about
    ``SECONDS``: few at first, then by the time of the previous call.

    >>> pace = Pace(first=64)
    >>> with pace:
    ...     pass
    >>> pace.size
    128
    """

    SECONDS = 0.05

    def __init__(self, first: int) -> None:
        self.size, self._began = max(1, first), 0.0

    def __enter__(self) -> int:
        stop_if_requested()
        self._began = perf_counter()
        return self.size

    def __exit__(self, *_: object) -> None:
        took = perf_counter() - self._began
        if took < self.SECONDS:
            self.size *= 2
        elif took > 2 * self.SECONDS:
            self.size = max(1, self.size // 2)


def n_threads() -> int:
    """Return the number of threads to use: one per available core.

    Inside :func:`limited_threads` its limit holds.
    """
    cores = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )
    return min(cores, _LIMIT.get() or cores)


@contextmanager
def limited_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit the work inside this block to ``n_jobs`` threads.

    After an interrupt no thread of ours is left, not even an idle one.

    >>> with limited_threads(1):
    ...     n_threads()
    1
    """
    token = _LIMIT.set(thread_count(n_jobs))
    try:
        yield
    except KeyboardInterrupt:
        _pools.release()
        raise
    finally:
        _LIMIT.reset(token)


def in_threads(work: Callable[[int, int], Result], n_rows: int) -> list[Result]:
    """Run a function on ranges of rows, one range per thread."""
    n = max(1, min(n_threads(), n_rows // 4096))
    if n == 1:
        return [work(0, n_rows)]
    ends = [n_rows * part // n for part in range(n + 1)]
    pieces = [partial(work, ends[part], ends[part + 1]) for part in range(n)]
    return run_all(pieces)


def run_blocks(
    work: Callable[[int, int, Any], None],
    n: int,
    *,
    step: int,
    n_jobs: int,
    make_workspace: Callable[[], Any] = lambda: None,
) -> list[Any]:
    """Run a function on ranges of ``step`` of n items, each in any free thread.

    Each thread passes its own workspace to the function. Return the workspaces.
    """
    numbers, workspaces = count(), list[Any]()

    def work_on_blocks() -> None:
        workspace = make_workspace()
        workspaces.append(workspace)
        while (first := step * next(numbers)) < n:
            stop_if_requested()
            work(first, min(n, first + step), workspace)

    if n_jobs == 1 or n <= step:
        work_on_blocks()
    else:
        run_all([work_on_blocks] * n_jobs)
    return workspaces


def run_all(
    pieces: Iterable[Callable[[], Result]], *, in_threads: bool = True
) -> list[Result]:
    """Run functions, in threads if there are several; return their results.

    ``in_threads`` is false for functions of a few microseconds: waking a thread takes
    longer.
    """
    work = list(pieces)
    if len(work) == 1 or n_threads() == 1 or not in_threads:
        return [piece() for piece in work]
    futures: list[Future[Result]] = []
    with _stopping(futures) as flag:
        futures.extend(_pools.submit(_with_flag(flag, piece)) for piece in work)
        return [future.result() for future in futures]


def run_streamed(
    function: Callable[[Item], Result], items: Iterable[Item]
) -> list[Result]:
    """Return the results of a function for items, while more items are produced.

    A single item is processed in this thread, and so are all items in a thread of this
    pool. No more items wait than there are threads.
    """
    from concurrent.futures import wait

    items_left = iter(items)
    first = list(islice(items_left, 2))
    n, in_pool = n_threads(), current_thread().name.startswith(THREAD_NAME)
    if len(first) < 2 or n == 1 or in_pool:
        return [function(item) for item in chain(first, items_left)]
    futures: list[Future[Result]] = []
    with _stopping(futures) as flag:
        for item in chain(first, items_left):
            if len(futures) > n:
                wait(futures[: len(futures) - n])
            futures.append(_pools.submit(_with_flag(flag, partial(function, item))))
        return [future.result() for future in futures]


def run_each(
    pieces: Iterable[Callable[[], Result]],
    *,
    max_threads: int | None = None,
    done: Callable[[int], None] = lambda number: None,
) -> list[Result]:
    """Run functions in at most ``max_threads`` threads; ``done`` gets the number done.

    If a function fails, or the user interrupts, no further one is started.
    """
    remaining = list(pieces)
    size = min(max_threads or n_threads(), len(remaining))
    if size < 2:
        results: list[Result] = []
        for piece in remaining:
            results.append(piece())
            done(len(results))
        return results
    from concurrent.futures import as_completed

    futures: list[Future[Result]] = []
    with _new_pool(size) as pool, _stopping(futures) as flag:
        futures += [pool.submit(_with_flag(flag, piece)) for piece in remaining]
        for number, future in enumerate(as_completed(futures), 1):
            future.result()
            done(number)
    return [future.result() for future in futures]


class _Pools:
    """The thread pools of a process, by size."""

    of_size: dict[int, "ThreadPoolExecutor"]
    lock: Any  # no pool is dismissed while it is given work

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start without pools: at first, and in a forked child, which lacks threads."""
        self.of_size, self.lock = {}, Lock()

    def submit(self, piece: Callable[[], Result]) -> "Future[Result]":
        """Submit a piece of work to the pool of the current number of threads."""
        size = n_threads()
        with self.lock:
            if size not in self.of_size:
                self.of_size[size] = _new_pool(size)
            return self.of_size[size].submit(piece)

    def release(self) -> None:
        """Release idle threads; others end after their work."""
        with self.lock:
            pools, self.of_size = self.of_size, {}
        for pool in pools.values():
            pool.shutdown(wait=False)


_pools = _Pools()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.begin)


def _new_pool(size: int) -> "ThreadPoolExecutor":
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(size, thread_name_prefix=THREAD_NAME)


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` means: None or -1 is all, -2 all but one."""
    if n_jobs is None:
        return n_threads()
    if not is_whole(n_jobs) or n_jobs == 0:
        problem = "must be a whole number of at least 1, or -1 for all cores"
        raise refusal(Setting("n_jobs", n_jobs), problem)
    return n_jobs if n_jobs > 0 else max(1, n_threads() + 1 + n_jobs)
