"""Workers of Dask in processes, some of which are killed: the trees of memory."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from tests.extensions.databases.test_bins import RECIPES, rows_of
from tests.helpers.partitioned_tables import in_arrow, in_parquet

import spinney
from spinney.extensions.partitions import executors
from spinney.testing import assert_same_tree, check_source

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
]
pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with executors.local_cluster(2) as running:
        yield running


def test_nobody_else_can_reach_the_cluster(client):
    psutil = pytest.importorskip("psutil")
    ours = psutil.Process()
    addresses = {
        each.laddr.ip
        for process in (ours, *ours.children(recursive=True))
        for each in process.net_connections("inet")
        if each.status == "LISTEN"
    }
    assert addresses == {"127.0.0.1"}


def test_trees_of_processes_are_those_of_memory(client, tmp_path):
    check_source(in_parquet(tmp_path, "dask"), n_tables=2)


@pytest.mark.parametrize("moment", [1, 2, 5, 8])
def test_a_killed_worker_changes_no_node(client, moment, monkeypatch):
    columns = rows_of(1, missing=0.1, n_rows=12_000)  # so many that there are bins
    options = {"recipe": RECIPES["fractional"], "weight": "w", "max_depth": 5}
    expected = spinney.grow(columns, "y", **options).tree
    options["memory_limit"] = 0  # no row comes here
    gather, gathered, killed = executors.OnDask.gather, [], []

    def killing(executor: Any, handle: Any) -> Any:
        gathered.append(handle)
        if len(gathered) == moment:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)
        return gather(executor, handle)

    monkeypatch.setattr(executors.OnDask, "gather", killing)
    found = spinney.grow(in_arrow(columns), "y", engine="dask", **options).tree
    assert len(gathered) > moment
    assert killed
    assert_same_tree(expected, found, whole=True)
    client.wait_for_workers(2)
