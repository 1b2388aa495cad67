"""k-prototypes beside the package kmodes: the same rows, start, γ and iterations.

    python -m benchmarks.prototypes [--rows 20000] [--repeats 3]

The package comes with the extra ``bench``. Both get one array of objects and read it
themselves; the package moves prototypes row by row, ours move after all rows, so costs
differ a little.
"""

import argparse
import statistics
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from benchmarks.speed import measure, report
from benchmarks.speed.command import (
    Fit,
    checked,
    finished,
    parser_of,
    present,
    show_and_keep,
)
from benchmarks.speed.outcome import OWN, Outcome
from benchmarks.speed.programs import THREADS

__all__ = ["PROGRAMS", "TASK", "mixed_rows", "run_prototypes"]

TASK = "mixed"
N_ROWS, N_NUMERIC, LEVELS = 20_000, 5, (3, 4, 6, 10, 25)
N_CLUSTERS, N_ITERATIONS, GAMMA = 8, 10, 1.0
FACTOR = 50.0


def mixed_rows(n_rows: int) -> np.ndarray:
    """Make rows in twice as many clumps as clusters are sought, overlapping."""
    random = np.random.default_rng(0)
    own = random.integers(2 * N_CLUSTERS, size=n_rows)
    middles = random.normal(size=(2 * N_CLUSTERS, N_NUMERIC))
    rows = np.empty((n_rows, N_NUMERIC + len(LEVELS)), dtype=object)
    rows[:, :N_NUMERIC] = middles[own] + random.normal(size=(n_rows, N_NUMERIC))
    for place, n_levels in enumerate(LEVELS):
        stray = random.random(n_rows) < 0.6
        code = np.where(stray, random.integers(n_levels, size=n_rows), own % n_levels)
        rows[:, N_NUMERIC + place] = [f"v{each:02d}" for each in code]
    return rows


def spinney_fit(rows: np.ndarray, max_iter: int) -> tuple[float, int]:
    """Fit ours."""
    from spinney import KPrototypes

    model = KPrototypes(
        N_CLUSTERS,
        init=rows[:N_CLUSTERS],
        gamma=GAMMA,
        max_iter=max_iter,
        n_jobs=THREADS,
    ).fit(rows)
    return model.cost_, model.n_iter_


def kmodes_fit(rows: np.ndarray, max_iter: int) -> tuple[float, int]:
    """Fit the package's, from the same rows."""
    from kmodes.kprototypes import KPrototypes

    coded = rows[:, N_NUMERIC:]
    places = [{v: i for i, v in enumerate(sorted(set(column)))} for column in coded.T]
    codes = [
        [known[value] for known, value in zip(places, row, strict=True)]
        for row in coded[:N_CLUSTERS]
    ]
    start = [rows[:N_CLUSTERS, :N_NUMERIC].astype(float), np.array(codes)]
    model = KPrototypes(
        N_CLUSTERS, init=start, gamma=GAMMA, max_iter=max_iter, n_init=1
    )
    model.fit(rows, categorical=list(range(N_NUMERIC, rows.shape[1])))
    return float(model.cost_), model.n_iter_


PROGRAMS: dict[str, tuple[str, Fit]] = {
    OWN: ("spinney", spinney_fit),
    "kmodes": ("kmodes", kmodes_fit),
}


def run_prototypes(options: argparse.Namespace) -> Outcome:
    """Run the programs that were asked for."""
    rows = mixed_rows(options.rows or N_ROWS)
    title = f"k-prototypes, K = {N_CLUSTERS}, {N_ITERATIONS} iterations at most"
    full = options.rows in (None, N_ROWS)
    found = Outcome(TASK, title, *rows.shape, full, "cost")
    found.machine = measure.machine()
    print(report.head(found), flush=True)
    costs: dict[str, float] = {}
    for program, fit in present(PROGRAMS, found, options):
        told: list[tuple[float, int]] = []
        work = partial(_keep, told, fit, rows)
        line = measure.timed(program, work, options.repeats, options.limit)
        costs[program] = statistics.median(cost for cost, _ in told)
        line.quality = costs[program] / costs.get(OWN, costs[program])
        line.note = f"{told[-1][1]} iterations {line.note}".rstrip()
        found.lines.append(line)
        print(report.row(found, line), flush=True)
    found.notes.append(
        "the same array of objects, start (the first rows), gamma and limit of "
        "iterations; cost: divided by spinney's"
    )
    found.faster(FACTOR, "kmodes")
    return found


def _keep(told: list[Any], fit: Callable[..., Any], rows: np.ndarray) -> None:
    told.append(fit(rows, N_ITERATIONS))


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return the command-line arguments."""
    parser = parser_of("benchmarks.prototypes", __doc__.splitlines()[0], [TASK])
    return checked(parser, arguments, tasks=[TASK], programs=PROGRAMS)


def run_all(options: argparse.Namespace) -> list[Outcome]:
    """Run the one task that there is."""
    found = run_prototypes(options)
    show_and_keep(found, options.json)
    return [found]


if __name__ == "__main__":
    finished(parsed(sys.argv[1:]), run_all)
