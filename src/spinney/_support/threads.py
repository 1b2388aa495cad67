"""Work in threads; kernels run without the interpreter's lock.

Python raises an interrupt in the main thread only. If that one waits for others, it
sets a :class:`_StopFlag`, which they read between two steps
(:func:`stop_if_requested`), and waits until they have stopped.
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
    """Whether work is to stop; that of threads within threads stops with theirs."""

    def __init__(self, parent: "_StopFlag | None") -> None:
        self.raised, self.parent = False, parent

    @property
    def is_set(self) -> bool:
        """Whether this flag is raised, or one above it."""
        return self.raised or (self.parent is not None and self.parent.is_set)


class Stopped(BaseException):
    """Ends the work of a thread that was requested to stop."""


_FLAG: ContextVar[_StopFlag | None] = ContextVar("the flag of this work", default=None)


def stop_if_requested() -> None:
    """End the work of this thread here, if another has requested it."""
    flag = _FLAG.get()
    if flag is not None and flag.is_set:
        raise Stopped


@contextmanager
def _stopping(futures: "list[Future[Any]]") -> Iterator[_StopFlag]:
    """Give the flag of some work; if waiting for it fails, the work is stopped."""
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
    """Return a function that runs with a flag, in its caller's context."""
    context = copy_context()
    context.run(_FLAG.set, flag)

    def run_unless_stopped() -> Result:
        stop_if_requested()
        return piece()

    return partial(context.run, run_unless_stopped)


class Pace:
    """The size of the work of one kernel call, so that it returns often enough.

    A kernel cannot be interrupted. It gets so many items that it returns in about
    ``SECONDS``: few at first, and then more or fewer by the time that they took.

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
    """Return how many threads there are to use: one per core that we may use.

    Within :func:`limited_threads` there are no more than it says.
    """
    cores = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )
    return min(cores, _LIMIT.get() or cores)


@contextmanager
def limited_threads(n_jobs: int | None) -> Iterator[None]:
    """Let the work that is done meanwhile use no more than ``n_jobs`` threads.

    After an interrupt no thread of ours is left, not even one that waits for work.

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

    Each thread has a workspace, which is passed to the function; return them all.
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

    Those of a few microseconds take less time than waking a thread: ``in_threads`` is
    false for them.
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
    """Return the results of a function for items, in threads while the next ones come.

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

    If one fails, or the user interrupts, those not yet begun are never begun.
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
    """The pools of a process, by size."""

    of_size: dict[int, "ThreadPoolExecutor"]
    lock: Any  # no pool is dismissed while it is given work

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Have no pools: at first, and in a forked child, which has no threads."""
        self.of_size, self.lock = {}, Lock()

    def submit(self, piece: Callable[[], Result]) -> "Future[Result]":
        """Give a piece of work to as many threads as there may be."""
        size = n_threads()
        with self.lock:
            if size not in self.of_size:
                self.of_size[size] = _new_pool(size)
            return self.of_size[size].submit(piece)

    def release(self) -> None:
        """Let all threads go that wait for work; others go when theirs is done."""
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
    """Return how many threads ``n_jobs`` means: None is all, -1 too, -2 all but one."""
    if n_jobs is None:
        return n_threads()
    if not is_whole(n_jobs) or n_jobs == 0:
        problem = "must be a whole number of at least 1, or -1 for all cores"
        raise refusal(Setting("n_jobs", n_jobs), problem)
    return n_jobs if n_jobs > 0 else max(1, n_threads() + 1 + n_jobs)
