"""A fresh process that fits one program once or twice and says what it needed.

    python -m benchmarks.speed.child '{"what": "first", "program": "spinney", ...}'

``first``: the seconds of the first large fit and of those after it; a few rows are
fitted before, which loads libraries and needs no compiled loop. ``memory``: the peak of
a fit beyond what was resident before it, the table being resident; libraries and
machine code are loaded before by a fit on fewer rows.
"""

import json
import statistics
import sys
import time
import warnings
from typing import Any

from benchmarks.speed.data import Data, made
from benchmarks.speed.measure import peak_memory_of
from benchmarks.speed.programs import Program, trees

# Enough cells for Spinney's compiled kernels; see spinney.swift.suiting.
WARMING_CELLS = 2_200_000
FEW_ROWS = 50


def first(program: Program, data: Data, repeats: int) -> dict[str, Any]:
    """Return the seconds of the first fit and the median of the others."""
    program.model(data.n_classes).fit(data.cells[:FEW_ROWS], data.labels[:FEW_ROWS])
    seconds = []
    for _ in range(1 + repeats):
        began = time.perf_counter()
        program.model(data.n_classes).fit(data.cells, data.labels)
        seconds.append(time.perf_counter() - began)
    return {"first": seconds[0], "warm": statistics.median(seconds[1:])}


def memory(program: Program, data: Data, repeats: int) -> dict[str, Any]:
    """Return the peak of a fit beyond what was resident before it."""
    n_columns = data.cells.shape[1]
    few = made(-(-WARMING_CELLS // n_columns), n_columns, data.n_classes, seed=1)
    program.model(few.n_classes).fit(few.cells, few.labels)
    del few
    began = time.perf_counter()
    model = program.model(data.n_classes)
    peak = peak_memory_of(lambda: model.fit(data.cells, data.labels))
    return {
        "peak": peak,
        "seconds": time.perf_counter() - began,
        "input": data.n_bytes,
    }


def main() -> None:
    """Do what the first argument asks and print the answer as JSON."""
    warnings.simplefilter("ignore")
    request = json.loads(sys.argv[1])
    program = next(p for p in trees(8, request["rows"]) if p.name == request["program"])
    data = made(request["rows"], request["columns"], 2)
    work = {"first": first, "memory": memory}[request["what"]]
    print(json.dumps(work(program, data, request["repeats"])))


if __name__ == "__main__":
    main()
