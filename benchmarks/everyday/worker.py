"""A process that runs one cell and prints a line of JSON for each run as it ends.

    python -m benchmarks.everyday.worker '{"cell": "iris, default", ...}'

So what was run before the process is stopped is not lost.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.everyday.cells import Cell, grid, lines
from benchmarks.everyday.tables import TABLES, with_missing
from benchmarks.speed.data import AbsentError
from benchmarks.speed.outcome import OWN
from benchmarks.speed.programs import Program

from spinney.growth import prediction_only

__all__ = ["timed", "work"]

# Runs that are shorter are repeated until so many seconds are spent, as timeit does,
# but no more than so many times as often.
LEAST_SECONDS, MOST_TIMES = 0.2, 20
MANY = 10**9  # trees, for which kernels are loaded however small these are


def work(
    cell: Cell, folder: Path | None, *, repeats: int, patience: float
) -> Iterator[dict[str, Any]]:
    """Run each program of a cell once cold and then warm; yield what each run took.

    Spinney goes first: what a slow peer leaves of the patience would not be its own.
    """
    table = TABLES[cell.table]
    try:
        cells, labels = table.read(folder)
    except AbsentError as absent:
        yield {"absent": str(absent)}
        return
    if cell.missing:
        cells = with_missing(cells)
    more = {}
    if cell.weights:
        more["sample_weight"] = np.random.default_rng(1).uniform(0.5, 2, len(labels))
    for program in sorted(cell.programs, key=lambda each: each.name != OWN):
        if program.absence(len(labels)):
            continue
        yield {"begins": program.name}
        fit = partial(fitted, program, table.n_classes, cells, labels, more)
        try:
            if cell.loaded and program.name == OWN:
                with prediction_only(MANY):
                    fit()
            task = one_row_task(fit(), cells, kept=cell.kept) if cell.one_row else fit
            for seconds in timed(task, repeats=repeats, patience=patience):
                yield {"program": program.name, "seconds": seconds}
        except Exception as error:  # noqa: BLE001 - it is reported, the others go on
            words = " ".join(f"{type(error).__name__}: {error}".split())
            yield {"program": program.name, "failed": words}


def fitted(
    program: Program, n_classes: int, cells: Any, labels: Any, more: dict[str, Any]
) -> Any:
    """Fit a program."""
    return program.model(n_classes).fit(cells, labels, **more)


def one_row_task(model: Any, cells: Any, *, kept: bool) -> Callable[[], Any]:
    """Return what predicts one row: as a table, or by what Spinney keeps for rows."""
    if kept and hasattr(model, "predictor"):
        return partial(model.predictor(), cells[0])
    return partial(model.predict, cells[:1])


def timed(task: Callable[[], Any], *, repeats: int, patience: float) -> Iterator[float]:
    """Yield the seconds of a cold run and of the warm ones after it.

    Short runs are repeated more often; no run begins after a quarter of the patience.
    """
    times, spent = -1, 0.0
    while times < repeats or (spent < LEAST_SECONDS and times < MOST_TIMES * repeats):
        began = time.perf_counter()
        task()
        seconds = time.perf_counter() - began
        times += 1
        spent += seconds if times else 0.0
        yield seconds
        if spent > patience / 4:
            return


def main() -> None:
    """Run the cell that the first argument names."""
    warnings.simplefilter("ignore")
    request = json.loads(sys.argv[1])
    name, data = request.pop("cell"), request.pop("data")
    folder = Path(data) if data else None
    cell = next(c for c in (*lines(), *grid()) if c.name == name)
    for each in work(cell, folder, **request):
        print(json.dumps(each), flush=True)


if __name__ == "__main__":
    main()
