"""Optimal trees beside the solvers that can be installed.

    python -m benchmarks.optimal --data folder [--tables diabetes,credit_g] [--depth 3]
    python -m benchmarks.optimal --data folder --flags 10 [--times 3]

Each program seeks the tree of fewest training errors on the same rows, two threads or
as many as it knows to use, in one process after the other. Nominal cells are codes for
all of them, so that all search the same trees; missing ones count as the least. With
``--flags``, every column becomes so many flags, whether a cell is beyond a quantile,
and a nominal one a flag for each value: STreeD knows no other columns. A row of the
result has seconds, processor seconds, the least of ``--times`` runs, and what the tree
loses; a loss that differs from Spinney's is marked. ``pip install pycontree pystreed``
brings the others.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.tables import facts_of, markers_of
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Arrays = tuple[NDArray[np.float64], NDArray[np.int64]]
TABLES = "diabetes,credit_g,ionosphere,sonar,hypothyroid,heart_c,vote,segment"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of tables")
    parser.add_argument("--tables", default=TABLES)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--flags", type=int, help="quantiles that make flags of cells")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds a run")
    parser.add_argument("--times", type=int, default=1, help="runs of each program")
    given = parser.parse_args(arguments)
    print(
        f"depth {given.depth}, at most {given.limit:g} s; two classes: the first row's"
    )
    print(f"{'table':14} {'program':9} {'seconds':>9} {'processor':>9} {'wrong':>7}")
    for name in given.tables.split(","):
        rows, labels = arrays_of(given.data, name, given.flags)
        print(f"{name:14} {rows.shape[0]} rows, {rows.shape[1]} columns")
        ours = None
        for program, solve in PROGRAMS.items():
            if program == "STreeD" and not given.flags:
                continue
            try:
                runs = [
                    timed(solve, rows, labels, given.depth, given.limit)
                    for _ in range(given.times)
                ]
            except ImportError:
                print(f"{name:14} {program:9} not installed")
                continue
            seconds, processor, wrong = map(min, zip(*runs, strict=True))
            ours = wrong if ours is None else ours
            mark = "" if wrong == ours else "  another loss"
            times = f"{seconds:9.3f} {processor:9.3f}"
            print(f"{name:14} {program:9} {times} {wrong:7d}{mark}", flush=True)


def timed(
    solve: Callable[[Arrays, int, float], NDArray[np.int64]],
    rows: NDArray[np.float64],
    labels: NDArray[np.int64],
    depth: int,
    limit: float,
) -> tuple[float, float, int]:
    """Return seconds, processor seconds and wrong rows; Spinney's loops are loaded."""
    few = np.r_[np.flatnonzero(labels == 0)[:20], np.flatnonzero(labels == 1)[:20]]
    solve((rows[few], labels[few]), depth, limit)
    began, worked = time.perf_counter(), time.process_time()
    predicted = solve((rows, labels), depth, limit)
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    return seconds, processor, int((predicted != labels).sum())


def arrays_of(folder: Path, name: str, quantiles: int | None = None) -> Arrays:
    """Return a table as numbers, and whether a row has the class of the first."""
    import pandas as pd

    facts = facts_of(folder)[name]
    table = pd.read_csv(folder / facts["file"], na_values=markers_of(facts))
    target = table.pop(facts["target"])
    columns = []
    for column in table.columns.difference(facts["ignore"], sort=False):
        cells = table[column]
        if quantiles:
            numeric = facts["types"][column] == "numeric"
            columns += flags_of(cells, quantiles if numeric else None)
            continue
        if facts["types"][column] != "numeric":
            cells = cells.astype("category").cat.codes
        columns.append(cells.fillna(-1e9).to_numpy(np.float64))
    labels = (target == target.iloc[0]).to_numpy().astype(np.int64)
    return np.array(columns).T, labels


def flags_of(cells: "pd.Series", quantiles: int | None) -> list[NDArray[np.float64]]:
    """Return flags: beyond one of some quantiles, or each value of a nominal column."""
    if quantiles is None:
        flags = [cells == value for value in sorted(cells.dropna().unique())]
    else:
        sizes = np.arange(1, quantiles) / quantiles
        cuts = np.unique(cells.quantile(sizes, interpolation="lower").dropna())
        flags = [cells > cut for cut in cuts]
    return [flag.to_numpy(np.float64) for flag in flags if flag.nunique() == 2]


def _spinney(data: Arrays, depth: int, limit: float) -> NDArray[np.int64]:
    from spinney import Recipe, TreeClassifier

    recipe = Recipe.named("optimal").changed(max_depth=depth, time_limit=limit)
    rows, labels = data
    return np.asarray(TreeClassifier(recipe, n_jobs=2).fit(rows, labels).predict(rows))


def _contree(data: Arrays, depth: int, limit: float) -> NDArray[np.int64]:
    import pandas as pd
    from pycontree import ConTree

    rows, labels = pd.DataFrame(data[0]), pd.Series(data[1])
    model = ConTree(max_depth=depth, time_limit=limit)
    model.fit(rows, labels)
    return np.asarray(model.predict(rows))


def _streed(data: Arrays, depth: int, limit: float) -> NDArray[np.int64]:
    from pystreed import STreeDClassifier

    rows, labels = data[0].astype(np.int64), data[1]
    model = STreeDClassifier("accuracy", max_depth=depth, time_limit=limit)
    return np.asarray(model.fit(rows, labels).predict(rows))


PROGRAMS = {"spinney": _spinney, "STreeD": _streed, "ConTree": _contree}


if __name__ == "__main__":
    main()
