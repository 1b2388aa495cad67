"""Trees grown where the rows are, beside the same trees in memory.

``python -m benchmarks.in_database --rows 100000,1000000 --engines memory,duckdb`` makes
a table of twelve columns for each size, five of them real numbers, as Parquet files of
at most 5,000,000 rows, and grows a tree on it in memory and in each engine, every run
in a process of its own. The files are gone afterwards, unless ``--folder`` says where
to keep them. It prints rows, engine, seconds, processor seconds, rows a second, the
ratio of processor seconds to those of the first engine, the peak of memory of the
process, and by how much that exceeds the peak of what DuckDB says it has, which
``--memory-limit`` bounds: what is ours. (At a moment, what DuckDB has let go of still
belongs to the process, and would count as ours.) The last column tells one tree from
another.

Rows of ``duckdb`` are read where they fit into half of ``--room``; ``duckdb-away``
reads none. ``lightgbm`` is one tree of LightGBM on the table in memory, with
as many leaves, for scale: it is not the same tree.

``--rows 5000000,50000000 --engines memory,duckdb-away,lightgbm --most memory=5000000``
leaves an engine out on tables that are too large for it.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

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


PIECE = 5_000_000
"""How many rows a file has."""


def generate(folder: Path, n_rows: int, seed: float = 0.5) -> None:
    """Write Parquet files of so many rows, the same on every run."""
    import duckdb

    folder.mkdir(parents=True)
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET threads = 1")
        connection.execute("SET memory_limit = '1GiB'")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(f"SELECT setseed({seed})")
        connection.execute(MACRO)
        for number, begin in enumerate(range(0, n_rows, PIECE)):
            count = min(PIECE, n_rows - begin)
            connection.execute(
                f"COPY (SELECT *, {LABEL} FROM (SELECT {COLUMNS} FROM range({count}))) "
                f"TO '{folder / f'{number:03}.parquet'}' (FORMAT parquet)"
            )


def grown(path: str, engine: str, asked: argparse.Namespace) -> dict[str, object]:
    """Grow a tree in this process, and return what it took."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        return _grown(path, engine, asked, folder)


def _grown(
    path: str, engine: str, asked: argparse.Namespace, folder: str
) -> dict[str, object]:
    import duckdb

    import spinney

    if engine == "lightgbm":
        return _by_lightgbm(path, asked.depth)
    recipe = spinney.Recipe.named("cart").changed(
        missing_policy="branch", pruning="none"
    )
    options = {"recipe": recipe, "max_depth": asked.depth, "min_samples_leaf": 20}
    watched = None
    if engine == "memory":
        data, how = duckdb.sql(f"SELECT * FROM read_parquet('{path}')"), {}
        how["source"] = "memory"
    else:
        connection = duckdb.connect()
        connection.execute("SET enable_progress_bar = false")
        memory_limit = asked.memory_limit
        connection.execute(f"SET memory_limit = '{memory_limit}'")
        connection.execute(f"SET temp_directory = '{folder}'")
        connection.execute("SET preserve_insertion_order = false")
        data = connection.sql(f"SELECT * FROM read_parquet('{path}')")
        room = 0 if engine == "duckdb-away" else asked.room
        how = {"connection": connection, "memory_limit": room}
        watched = connection.cursor()
    with Memory(watched) as memory:
        began, worked = perf_counter(), process_time()
        model = spinney.grow(data, "y", **options, **how)
        seconds, processor = perf_counter() - began, process_time() - worked
    return {
        "seconds": round(seconds, 1),
        "processor": round(processor, 1),
        **memory.peaks,
        "nodes": len(model.tree),
        "tree": str(hash_of(str(model))),
    }


class Memory:
    """Watches the memory of DuckDB ten times a second, beside that of the process."""

    def __init__(self, connection: Any) -> None:
        self._connection, self._done = connection, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.of_duckdb = 0.0

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        statement = "SELECT sum(memory_usage_bytes) FROM duckdb_memory()"
        while self._connection is not None and not self._done.wait(0.1):
            ((taken,),) = self._connection.execute(statement).fetchall()
            self.of_duckdb = max(self.of_duckdb, (taken or 0) / 2**20)

    @property
    def peaks(self) -> dict[str, int]:
        """The peak of all, and by how much it exceeds DuckDB's, in MiB."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"peak": round(peak), "own": round(peak - self.of_duckdb)}


def _by_lightgbm(path: str, depth: int) -> dict[str, object]:
    """Grow one tree of LightGBM, reading included."""
    import lightgbm
    import pyarrow
    import pyarrow.parquet as parquet

    with Memory(None) as memory:
        began, worked = perf_counter(), process_time()
        names = ["c0", "c1", "c2", "y"]
        files = sorted(Path(path).parent.glob("*.parquet"))
        read = [parquet.read_table(each, read_dictionary=names) for each in files]
        frame = pyarrow.concat_tables(read).unify_dictionaries().to_pandas()
        label = frame.pop("y") == "bought"
        settings = {"objective": "binary", "num_leaves": 2**depth, "max_depth": depth}
        settings |= {"num_threads": 2, "verbose": -1, "min_data_in_leaf": 20}
        tree = lightgbm.train(settings, lightgbm.Dataset(frame, label), 1)
        seconds, processor = perf_counter() - began, process_time() - worked
    leaves = tree.dump_model()["tree_info"][0]["num_leaves"]
    return {
        "seconds": round(seconds, 1),
        "processor": round(processor, 1),
        **memory.peaks,
        "nodes": 2 * leaves - 1,
        "tree": "its own",
    }


def hash_of(text: str) -> str:
    """Return what tells two texts apart."""
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()[:12]


def main() -> None:
    """Run every size in every engine, and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", default="100000,1000000")
    parser.add_argument("--engines", default="memory,duckdb")
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--memory-limit", default="2GiB", help="of DuckDB")
    parser.add_argument("--room", default="2GiB", help="half of it is for rows read")
    parser.add_argument("--most", action="append", default=[], metavar="ENGINE=ROWS")
    parser.add_argument("--folder", type=Path, help="where tables are kept")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        path, engine = asked.one
        print(json.dumps(grown(path, engine, asked)))
    elif asked.folder is not None:
        compare(asked, asked.folder)
    else:
        with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
            compare(asked, Path(folder))


def compare(asked: argparse.Namespace, folder: Path) -> None:
    """Print a line for every size and engine."""
    most = {name: int(n) for name, _, n in (each.partition("=") for each in asked.most)}
    print(
        "rows        engine       seconds  processor  rows/s    ratio  peak MiB  "
        "own MiB  nodes  tree"
    )
    for n_rows in map(int, asked.rows.split(",")):
        path = folder / f"spinney_{n_rows}" / "*.parquet"
        if not path.parent.exists():
            generate(path.parent, n_rows)
        first = None
        for engine in asked.engines.split(","):
            if n_rows > most.get(engine, n_rows):
                continue
            command = [sys.executable, "-m", "benchmarks.in_database", "--one"]
            command += [str(path), engine, "--depth", str(asked.depth)]
            command += ["--memory-limit", asked.memory_limit, "--room", asked.room]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["killed"])[-1]
                print(f"{n_rows:<11} {engine:<12} {reason}")
                continue
            took = json.loads(done.stdout)
            first = first or took
            ratio = took["processor"] / first["processor"]
            speed = round(n_rows / took["seconds"])
            figures = f"{took['seconds']:>7}  {took['processor']:>9}  {speed:>8}"
            about = f"{ratio:>5.2f}  {took['peak']:>8}  {took['own']:>7}"
            tree = f"{took['nodes']:>5}  {took['tree']}"
            print(f"{n_rows:<11} {engine:<12} {figures}  {about}  {tree}", flush=True)


if __name__ == "__main__":
    main()
