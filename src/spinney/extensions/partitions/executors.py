"""Executors: where functions run on partitions, in this process or on a Dask cluster.

Every submitted function is pure. A lost result is recomputed by the same calls, and
nothing is counted twice. Dask places the partitions and recomputes lost ones. Requests
travel inside the calls that answer them: if Dask scattered them to the workers, they
would be lost with a worker, as no call has made them.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import cycle
from typing import Any, Protocol

from spinney.errors import DataError, SpinneyError, missing_extra

FAN_IN = 4
"""The number of answers that are added at once."""


class Executor(Protocol):
    """Runs functions, perhaps elsewhere."""

    @property
    def has_latency(self) -> bool:
        """Whether each request takes a while, so that few rows are better fetched."""
        ...

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a handle to the result of a function; handles may be arguments."""
        ...

    def gather(self, handle: Any) -> Any:
        """Return the result behind a handle."""
        ...


class InThisProcess:
    """Runs everything at once, here: a handle is the result itself."""

    has_latency = False

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a function."""
        return function(*arguments)

    def gather(self, handle: Any) -> Any:
        """Return a result."""
        return handle


def sum_results(
    executor: Executor, handles: Sequence[Any], add: Callable[..., Any]
) -> Any:
    """Return the sum of all results, along a tree of which the client sees the root.

    Which are added to which does not depend on who is ready first, so that sums of
    floats are the same on every run, however many workers there are.
    """
    level = list(handles)
    while len(level) > 1:
        starts = range(0, len(level), FAN_IN)
        groups = [level[start : start + FAN_IN] for start in starts]
        level = [executor.submit(add, *group) for group in groups]
    return executor.gather(level[0])


def add_results(*partitions: Any) -> Any:
    """Return the sum of some results that can be added to each other."""
    return reduce(lambda one, other: one.plus(other), partitions)


LOOPBACK = "127.0.0.1"
N_WORKERS = 2
TRIMMING = "MALLOC_TRIM_THRESHOLD_"


class OnDask:
    """Runs functions on the workers of a Dask client.

    Parameters
    ----------
    client : distributed.Client
    """

    has_latency = True

    def __init__(self, client: Any) -> None:
        self._client = client
        workers = sorted(client.nthreads())
        if not workers:
            msg = "the Dask cluster has no workers"
            remedy = "wait until some have come: client.wait_for_workers(1)"
            raise DataError(msg, remedy=remedy)
        self._workers = cycle(workers)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a result.

        What is made of nothing goes to each worker in turn, or to another one if that
        is gone; all else goes where its arguments are.
        """
        from distributed import Future

        placed = {}
        if not any(isinstance(argument, Future) for argument in arguments):
            placed = {"workers": next(self._workers), "allow_other_workers": True}
        return self._client.submit(function, *arguments, pure=False, **placed)

    def gather(self, handle: Any) -> Any:
        """Return a result, when it is there."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            return handle.result()
        except KilledWorker as error:
            reason = " ".join(str(error).split())
            msg = f"workers of Dask have died again and again ({reason})"
            remedy = "give them more memory, or the table in smaller partitions"
            raise DataError(msg, remedy=remedy) from None
        except (FutureCancelledError, OSError) as error:
            msg = f"the Dask cluster is gone ({' '.join(str(error).split())})"
            raise DataError(msg, remedy="start it again") from None
        except SpinneyError:
            raise
        except Exception as error:  # of whatever the user's graph does
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            msg = f"a partition of the Dask frame could not be made or read ({reason})"
            remedy = "fix the function that makes it; frame.compute() shows the error"
            raise DataError(msg, remedy=remedy) from error


@contextmanager
def dask_client() -> Iterator[Any]:
    """Give the client that runs, or one of a cluster inside this process."""
    distributed = _distributed()
    try:
        running = distributed.Client.current()
    except ValueError:
        running = None
    if running is not None:
        yield running
        return
    # Processes would import the user's script again, which may not be made for that.
    with local_cluster(N_WORKERS, processes=False) as client:
        yield client


@contextmanager
def local_cluster(
    n_workers: int = N_WORKERS, *, processes: bool = True
) -> Iterator[Any]:
    """Give the client of a cluster on this machine, which nobody else can reach.

    Its workers keep their partitions: moving one takes longer than waiting for it. They
    also keep free memory, which Dask would return at once, and map again for each
    array.
    """
    distributed = _distributed()
    import dask

    before = dask.config.get("distributed.nanny.pre-spawn-environ", {})
    settings = {
        "distributed.scheduler.work-stealing": False,
        "distributed.nanny.pre-spawn-environ": {
            name: value for name, value in before.items() if name != TRIMMING
        },
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            host=LOOPBACK if processes else None,
            # Without an address they would listen to all that the machine has.
            dashboard_address=f"{LOOPBACK}:0",
            worker_dashboard_address=f"{LOOPBACK}:0",
            silence_logs=logging.CRITICAL,  # errors are raised in the client
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise missing_extra(
            what="tables in partitions need", library="Dask's distributed", extra="dask"
        ) from None
    return distributed
