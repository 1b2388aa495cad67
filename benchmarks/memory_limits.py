"""Trees grown in DuckDB under a limit of memory: the peak of the process beside it.

``python -m benchmarks.memory_limits --rows 5000000 --memory-limit 1GiB`` makes a
Parquet file of twelve columns, five of them real numbers, with missing cells in five.
It grows a tree for each recipe, and a forest, and evaluates a recipe, each in a process
of its own. It prints seconds, the peak of the resident memory in MiB, its share of the
limit, and what was found; or the refusal, which names the setting that keeps the limit.

``--tasks default,forest`` tries some of them, ``--folder`` keeps the file.
``--table many-values`` is harder: eight columns of numbers that all differ, of which
5 to 20 % are missing, and three nominal columns of 5,000 values.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.in_database import COLUMNS, MACRO

IN_BINS = {"recipe": "cart", "missing_policy": "branch"}
TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("grow", {}),
    "cart": ("grow", {"recipe": "cart"}),
    "c4.5": ("grow", {"recipe": "c4.5"}),
    "cart in bins": ("grow", IN_BINS),
    "forest": ("grow_forest", {"n_estimators": 10, **IN_BINS}),
    "evaluate": ("evaluate", {"recipes": {"bins": IN_BINS}, "folds": 3}),
}
# Of each table: the columns, the share of missing cells by column, and the label.
NUMBERS = tuple(f"x{number}" for number in range(8))
TABLES: dict[str, tuple[str, dict[str, float], str]] = {
    "few-values": (
        COLUMNS,
        dict.fromkeys(("x0", "x1", "x4", "c1", "k1"), 0.03),
        """CASE WHEN (x0 > 0.5 AND c0 = 'red') OR (x2 > 60 AND k0 > 4)
           THEN 'late' ELSE 'on time' END""",
    ),
    "many-values": (
        ", ".join(
            [f"normal_quantile(random()) AS {name}" for name in NUMBERS]
            + [f"'v' || (random() * 4999)::INT AS c{number}" for number in range(3)]
        ),
        {name: 0.05 + 0.02 * number for number, name in enumerate(NUMBERS)},
        """CASE WHEN x0 + x1 > 1 OR (x2 > 0.5 AND hash(c0) % 7 < 3)
           THEN 'late' ELSE 'on time' END""",
    ),
}


def generate(path: Path, n_rows: int, table: str) -> None:
    """Write a Parquet file of so many rows, the same on every run."""
    import duckdb

    columns, missing, label = TABLES[table]
    cells = ", ".join(
        f"CASE WHEN random() < {share} THEN NULL ELSE {name} END AS {name}"
        for name, share in missing.items()
    )
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET threads = 1")
        connection.execute("SET memory_limit = '1GiB'")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SELECT setseed(0.5)")
        connection.execute(MACRO)
        rows = f"SELECT {columns} FROM range({n_rows})"
        connection.execute(
            f"COPY (SELECT * REPLACE ({cells}) FROM "
            f"(SELECT *, {label} AS y FROM ({rows}))) TO '{path}' (FORMAT parquet)"
        )


def done(path: str, limit: str, task: str) -> dict[str, Any]:
    """Do a task in this process, and return what it took, or why it was refused."""
    import spinney

    warnings.simplefilter("ignore")
    began, found = perf_counter(), "refused"
    outcome: dict[str, Any] = {}
    try:
        how: dict[str, Any] = {"engine": "duckdb", "memory_limit": limit}
        name, options = TASKS[task]
        result = getattr(spinney, name)(path, "y", **how, **options)
        found = f"{len(result.tree)} nodes" if name == "grow" else "done"
    except spinney.errors.ParameterError as error:
        outcome["refusal"] = str(error)
    seconds = round(perf_counter() - began, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**outcome, "seconds": seconds, "peak": peak, "found": found}


def measured(path: Path, limit: str, task: str) -> dict[str, Any]:
    """Do a task in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.memory_limits"]
    command += ["--one", str(path), limit, task]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        reason = (ended.stderr.strip().splitlines() or ["killed"])[-1]
        return {"seconds": 0.0, "peak": 0, "found": reason}
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def main() -> None:
    """Make the table, and print a line for each recipe."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--memory-limit", default="1GiB")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--table", choices=TABLES, default="few-values")
    parser.add_argument("--folder", type=Path, help="where the table is kept")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(done(*asked.one)))
        return
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        path = (asked.folder or Path(folder)) / f"{asked.table}_{asked.rows}.parquet"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            generate(path, asked.rows, asked.table)
        compare(path, asked)


def compare(path: Path, asked: argparse.Namespace) -> None:
    """Print a line for each task."""
    from spinney._support.memory_budget import bytes_of

    limit = bytes_of(asked.memory_limit)
    print(f"{asked.rows} rows, a limit of {limit >> 20} MiB")
    print("task          seconds  peak MiB  of limit  found")
    for task in asked.tasks.split(","):
        took = measured(path, asked.memory_limit, task)
        share = f"{took['peak'] / limit:.0%}"
        print(
            f"{task:<12}  {took['seconds']:>7}  {took['peak'] >> 20:>8}  {share:>8}  "
            f"{took['found']}",
            flush=True,
        )
        if "refusal" in took:
            print(f"  {took['refusal']}", flush=True)


if __name__ == "__main__":
    main()
