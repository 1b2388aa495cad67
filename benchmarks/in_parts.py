"""Trees grown on partitions: by one worker of Dask, by two, and in memory.

``python -m benchmarks.in_parts --rows 20000000 --workers 1,2`` makes Parquet files of
the columns that ``benchmarks.in_database`` has, and grows a tree of depth 8 on them,
``--times`` times for each number of workers, one after the other so that a busy machine
is busy for all. It prints for each the least seconds, the ratio to the first, the rows
a second, the processor seconds of the client, which alone are spent while workers wait,
and of the worker that had most, the nodes, what tells the tree from others, how many
questions were asked, and how much came to the client in answer to each: bins and opened
bins of the first level, of the second, and so on. With ``--memory`` it grows the same
tree in memory first. Workers are started, and have loaded what they run, before the
clock is. The files are kept in ``--folder``; they are the caller's to remove.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.in_database import PIECE, generate, hash_of

N_PARTS = 8
"""How many files there are at least; none has more rows than ``PIECE``."""


def parts_of(folder: Path, n_rows: int) -> str:
    """Return the files of a table of so many rows, made once, by a path with a star."""
    home = folder / f"spinney_parts_{n_rows}"
    home.mkdir(exist_ok=True)
    n_parts = max(N_PARTS, -(-n_rows // PIECE))
    for number in range(n_parts):
        path = home / f"part{number:03}.parquet"
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=home) as made:
                count = n_rows * (number + 1) // n_parts - n_rows * number // n_parts
                generate(Path(made) / "one", count, seed=(number + 1) / (n_parts + 1))
                (piece,) = (Path(made) / "one").iterdir()
                piece.rename(path)
    return str(home / "*.parquet")


def grown(paths: str, workers: int, depth: int) -> dict[str, Any]:
    """Grow a tree by so many workers, or in this process by none."""
    import spinney
    import spinney.api
    from spinney.extensions.partitions import local_cluster
    from spinney.extensions.partitions.partitioned_source import PartitionedSource

    warnings.simplefilter("ignore")
    recipe = spinney.Recipe.named("cart").changed(missing="branch", pruning="none")
    options = {"recipe": recipe, "max_depth": depth, "min_samples_leaf": 20}
    sources: list[PartitionedSource] = []
    made = PartitionedSource.__init__

    def noted(source: PartitionedSource, *given: Any, **named: Any) -> None:
        made(source, *given, **named)
        sources.append(source)

    PartitionedSource.__init__ = noted  # type: ignore[assignment,method-assign]
    if not workers:
        import duckdb

        data = duckdb.sql(f"SELECT * FROM read_parquet('{paths}')")
        began, worked = perf_counter(), process_time()
        model = spinney.grow(data, "y", source="memory", **options)
        seconds, client_s = perf_counter() - began, process_time() - worked
        busy = [0.0]
    else:
        with local_cluster(workers) as client:
            client.run(import_module, "spinney.extensions.partitions")
            before = client.run(process_time)
            began, worked = perf_counter(), process_time()
            away = {"source": "dask", "memory_limit": 0}
            model = spinney.grow(paths, "y", **away, **options)
            seconds, client_s = perf_counter() - began, process_time() - worked
            after = client.run(process_time)
            busy = [after[each] - before[each] for each in sorted(after)]
    moved = sources[0].levels if sources else [0]
    return {
        "seconds": round(seconds, 1),
        "client": round(client_s, 1),
        "busy": [round(each, 1) for each in busy],
        "nodes": len(model.tree),
        "tree": hash_of(str(model)),
        "questions": len(moved),
        "moved": moved,
    }


def main() -> None:
    """Run every number of workers, and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    paths = parts_of(asked.folder, asked.rows)
    if asked.one is not None:
        print(json.dumps(grown(paths, asked.one, asked.depth)))
        return
    numbers = [0] * asked.memory + [int(n) for n in asked.workers.split(",")]
    best: dict[int, dict[str, Any]] = {}
    for _ in range(asked.times):
        for workers in numbers:
            command = [sys.executable, "-m", "benchmarks.in_parts", "--one"]
            command += [str(workers), "--rows", str(asked.rows)]
            command += ["--depth", str(asked.depth), "--folder", str(asked.folder)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print((done.stderr.strip().splitlines() or ["killed"])[-1])
                continue
            took = json.loads(done.stdout)
            print(f"{workers} workers: {took['seconds']} s", file=sys.stderr)
            if workers not in best or took["seconds"] < best[workers]["seconds"]:
                best[workers] = took
    print(
        "workers  seconds  ratio  rows/s     client  worker  nodes  tree          "
        "questions  MB"
    )
    first = best[numbers[asked.memory]]
    for workers, took in best.items():
        ratio = first["seconds"] / took["seconds"]
        speed = asked.rows / took["seconds"]
        moved = ", ".join(f"{each / 1e6:.2f}" for each in took["moved"])
        print(
            f"{workers or 'memory':<7}  {took['seconds']:>7}  {ratio:>5.2f}  "
            f"{speed:<9.0f}  {took['client']:>6}  {max(took['busy']):>6}  "
            f"{took['nodes']:<5}  {took['tree']}  "
            f"{took['questions']:<9}  {moved}"
        )


if __name__ == "__main__":
    main()
