"""Executors: where functions run on partitions, in this process or on a Dask cluster.

Every submitted function is pure. A lost result is recomputed by the same calls, and
nothing is counted twice. Dask places the partitions and recomputes lost ones. Requests
are arguments of the calls that answer them: scattered data would be lost with a worker,
as no call could recompute it.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import cycle
from typing import Any, Protocol

from spinney.errors import DataError, SpinneyError, missing_extra

FAN_IN = 4
"""The number of results that one call adds."""


class Executor(Protocol):
    """Runs functions, in this process or on workers."""

    @property
    def has_latency(self) -> bool:
        """Whether requests are so slow that small tables are fetched instead."""
        ...

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a handle to the result of a function; handles may be arguments."""
        ...

    def gather(self, handle: Any) -> Any:
        """Return the result behind a handle."""
        ...


class InThisProcess:
    """Runs functions immediately in this process: a handle is the result itself."""

    has_latency = False

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a function."""
        return function(*arguments)

    def gather(self, handle: Any) -> Any:
        """Return the result, which is the handle."""
        return handle


def sum_results(
    executor: Executor, handles: Sequence[Any], add: Callable[..., Any]
) -> Any:
    """Return the sum of all results, added on the workers along a tree.

    The order of additions is fixed: sums of floats do not depend on timing or on the
    number of workers.
    """
    level = list(handles)
    while len(level) > 1:
        starts = range(0, len(level), FAN_IN)
        groups = [level[start : start + FAN_IN] for start in starts]
        level = [executor.submit(add, *group) for group in groups]
    return executor.gather(level[0])


def add_results(*partitions: Any) -> Any:
    """Return the sum of results."""
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
            remedy = "wait for one: client.wait_for_workers(1)"
            raise DataError(msg, remedy=remedy)
        self._workers = cycle(workers)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a result.

        Calls without handles go to the workers in turn; all others go where their
        arguments are. If a worker is lost, another takes its calls.
        """
        from distributed import Future

        placed = {}
        if not any(isinstance(argument, Future) for argument in arguments):
            placed = {"workers": next(self._workers), "allow_other_workers": True}
        return self._client.submit(function, *arguments, pure=False, **placed)

    def gather(self, handle: Any) -> Any:
        """Wait for a result and return it."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            return handle.result()
        except KilledWorker as error:
            reason = " ".join(str(error).split())
            msg = f"Dask workers have died repeatedly ({reason})"
            remedy = "give them more memory, or use smaller partitions"
            raise DataError(msg, remedy=remedy) from None
        except (FutureCancelledError, OSError) as error:
            msg = f"the Dask cluster is gone ({' '.join(str(error).split())})"
            raise DataError(msg, remedy="start it again") from None
        except SpinneyError:
            raise
        except Exception as error:  # any error of the user's graph
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            msg = f"a partition of the Dask frame cannot be computed ({reason})"
            remedy = "fix its function; frame.compute() shows the error"
            raise DataError(msg, remedy=remedy) from error


@contextmanager
def dask_client() -> Iterator[Any]:
    """Yield the current Dask client, or the client of a new cluster in this process."""
    distributed = _import_distributed()
    try:
        running = distributed.Client.current()
    except ValueError:
        running = None
    if running is not None:
        yield running
        return
    # Worker processes would import, and so run, the user's script again.
    with local_cluster(N_WORKERS, processes=False) as client:
        yield client


@contextmanager
def local_cluster(
    n_workers: int = N_WORKERS, *, processes: bool = True
) -> Iterator[Any]:
    """Yield the client of a cluster on this machine, closed to other machines.

    Workers do not steal partitions: moving one takes longer than waiting. They also
    keep freed memory, which Dask would otherwise return and map again for each array.
    """
    distributed = _import_distributed()
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
            # Without an address, workers would listen on all network interfaces.
            dashboard_address=f"{LOOPBACK}:0",
            worker_dashboard_address=f"{LOOPBACK}:0",
            silence_logs=logging.CRITICAL,  # the client raises these errors
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise missing_extra(
            what="tables in partitions need", library="Dask's distributed", extra="dask"
        ) from None
    return distributed
