"""Trees grown where the rows are, beside the same trees in memory.

``python -m benchmarks.in_database --rows 100000,1000000 --engines duckdb,sqlite`` makes
a Parquet file of twelve columns for each size, five of them real numbers, and grows a
tree on it in memory and in each engine, every run in a process of its own. It prints
rows, engine, seconds, processor seconds, the ratio to memory, and the peak of memory of
the process, of which DuckDB's part is limited by ``--memory-limit``. That trees are the
same is checked by their rules.
"""

import argparse
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter, process_time

# Real numbers, names and small numbers of which some say something of the class.
COLUMNS = """
    normal_quantile(random()) AS x0, normal_quantile(random()) AS x1,
    random() * 100 AS x2, -ln(1 - random()) AS x3, random() AS x4,
    ['red', 'green', 'blue', 'grey'][1 + (random() * 4)::INT % 4] AS c0,
    ['n', 'e', 's', 'w', 'ne', 'nw'][1 + (random() * 6)::INT % 6] AS c1,
    ['yes', 'no'][1 + (random() * 2)::INT % 2] AS c2,
    (random() * 10)::INT AS k0, (random() * 50)::INT AS k1, (random() * 3)::INT AS k2
"""
# A logistic curve is near enough to a normal one here.
MACRO = "CREATE MACRO normal_quantile(u) AS ln((u + 1e-12) / (1 - u + 1e-12)) / 1.7"
LABEL = """
    CASE WHEN x0 + 0.03 * x2 + (CASE c0 WHEN 'red' THEN 1 ELSE 0 END)
              - 0.5 * x3 * (CASE c2 WHEN 'yes' THEN 1 ELSE 0 END)
              + normal_quantile(random()) > 1.2
         THEN 'bought' ELSE 'left' END AS y
"""
ENGINES = ("memory", "duckdb", "sqlite")


def generate(path: Path, n_rows: int, seed: float = 0.5) -> None:
    """Write a Parquet file of so many rows, the same on every run."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute("SET memory_limit = '2GiB'")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(f"SELECT setseed({seed})")
        connection.execute(MACRO)
        connection.execute(
            f"COPY (SELECT *, {LABEL} FROM (SELECT {COLUMNS} FROM range({n_rows}))) "
            f"TO '{path}' (FORMAT parquet)"
        )


def grown(path: str, engine: str, depth: int, memory_limit: str) -> dict[str, object]:
    """Grow a tree in this process, and return what it took."""
    import spinney

    warnings.simplefilter("ignore")
    recipe = spinney.Recipe.named("cart").changed(missing="branch", pruning="none")
    options = {"recipe": recipe, "max_depth": depth, "min_samples_leaf": 20}
    if engine == "memory":
        data, how = path, {}
    elif engine == "sqlite":
        data, how = f"sqlite:///{_in_sqlite(path)}", {"table": "rows"}
    else:
        import duckdb

        folder = tempfile.mkdtemp(prefix="spinney-")
        connection = duckdb.connect()
        connection.execute(f"SET memory_limit = '{memory_limit}'")
        connection.execute(f"SET temp_directory = '{folder}'")
        connection.execute("SET preserve_insertion_order = false")
        data = connection.sql(f"SELECT * FROM read_parquet('{path}')")
        how = {"connection": connection}
    began, worked = perf_counter(), process_time()
    model = spinney.grow(data, "y", **options, **how)
    seconds, processor = perf_counter() - began, process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "seconds": round(seconds, 1),
        "processor": round(processor, 1),
        "peak": round(peak),
        "nodes": len(model.tree),
        "tree": str(hash_of(str(model))),
    }


def hash_of(text: str) -> str:
    """Return what tells two texts apart."""
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()[:12]


def _in_sqlite(path: str) -> Path:
    """Copy a Parquet file into a SQLite table, once."""
    import duckdb

    target = Path(path).with_suffix(".db")
    if not target.exists():
        relation = duckdb.sql(f"SELECT * FROM read_parquet('{path}')")
        marks = ", ".join("?" * len(relation.columns))
        with sqlite3.connect(target) as connection:
            connection.execute(f"CREATE TABLE rows ({', '.join(relation.columns)})")
            while lines := relation.fetchmany(10_000):
                connection.executemany(f"INSERT INTO rows VALUES ({marks})", lines)
    return target


def main() -> None:
    """Run every size in every engine, and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", default="100000,1000000")
    parser.add_argument("--engines", default="memory,duckdb")
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--memory-limit", default="2GiB")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        path, engine = asked.one
        print(json.dumps(grown(path, engine, asked.depth, asked.memory_limit)))
        return
    print("rows        engine   seconds  processor  ratio  peak MiB  nodes  tree")
    for n_rows in map(int, asked.rows.split(",")):
        path = asked.folder / f"spinney_{n_rows}.parquet"
        if not path.exists():
            generate(path, n_rows)
        first = None
        for engine in asked.engines.split(","):
            command = [sys.executable, "-m", "benchmarks.in_database", "--one"]
            command += [str(path), engine, "--depth", str(asked.depth)]
            command += ["--memory-limit", asked.memory_limit]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["killed"])[-1]
                print(f"{n_rows:<11} {engine:<8} {reason}")
                continue
            took = json.loads(done.stdout)
            first = first or took
            ratio = took["seconds"] / first["seconds"]
            figures = f"{took['seconds']:>7}  {took['processor']:>9}  {ratio:>5.2f}"
            about = f"{took['peak']:>8}  {took['nodes']:>5}  {took['tree']}"
            print(f"{n_rows:<11} {engine:<8} {figures}  {about}", flush=True)


if __name__ == "__main__":
    main()
