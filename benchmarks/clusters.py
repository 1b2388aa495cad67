"""k-means beside scikit-learn and faiss: the same rows, one process, ratios.

    python -m benchmarks.clusters [--tasks middling,flat,wide,mixed] [--kinds clumps]

Every program has two threads; what is not installed is left out (``pip install
faiss-cpu``). The first run of each is told apart as *cold*, ratios are of the median of
the warm ones, and each run has another seed. docs/clusters.md says what is compared.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from benchmarks import prototypes
from benchmarks.speed import measure, report
from benchmarks.speed.command import (
    Fit,
    checked,
    finished,
    names,
    parser_of,
    present,
    show_and_keep,
)
from benchmarks.speed.measure import Line
from benchmarks.speed.outcome import OWN, Outcome
from benchmarks.speed.programs import THREADS

# Rows, columns, clusters, and how many times as fast as scikit-learn we must be.
TASKS = {
    "middling": (500_000, 16, 64, 2.5),
    "flat": (1_000_000, 2, 100, 3.0),
    "wide": (100_000, 128, 256, 1.2),
}
# The rule of both: no more than so much of the mean variance moves, or so many turns.
RULE = {"n_init": 1, "tol": 1e-4, "max_iter": 300}


def clumps(n_rows: int, n_columns: int, n_clusters: int) -> np.ndarray:
    """Make rows in twice as many clumps as clusters are sought, some overlapping."""
    random = np.random.default_rng(0)
    middles = random.normal(scale=3, size=(2 * n_clusters, n_columns))
    spread = random.uniform(0.5, 1.5, size=2 * n_clusters)
    own = random.choice(2 * n_clusters, p=_shares(random, 2 * n_clusters), size=n_rows)
    noise = random.normal(size=(n_rows, n_columns)) * spread[own][:, None]
    return (middles[own] + noise).astype(np.float32)


def noise(n_rows: int, n_columns: int, n_clusters: int) -> np.ndarray:
    """Make rows without clusters: the worst case of every bound."""
    random = np.random.default_rng(0)
    return random.normal(size=(n_rows, n_columns)).astype(np.float32)


KINDS: dict[str, Callable[[int, int, int], np.ndarray]] = {
    "clumps": clumps,
    "noise": noise,
}


def _shares(random: np.random.Generator, n: int) -> np.ndarray:
    shares = random.uniform(0.5, 2, size=n)
    return shares / shares.sum()


@dataclass
class Runs:
    """The runs of a program: inertias, iterations, processor seconds."""

    inertias: list[float] = field(default_factory=list)
    n_iterations: list[int] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


def spinney_fit(cells: np.ndarray, k: int, seed: int, **rule: Any) -> tuple[float, int]:
    """Fit ours."""
    from spinney import KMeans

    model = KMeans(k, random_state=seed, n_jobs=THREADS, **rule).fit(cells)
    return model.inertia_, model.n_iter_


def scikit_fit(cells: np.ndarray, k: int, seed: int, **rule: Any) -> tuple[float, int]:
    """Fit scikit-learn's."""
    from sklearn.cluster import KMeans

    model = KMeans(k, random_state=seed, **rule).fit(cells)
    return float(model.inertia_), model.n_iter_


def faiss_fit(cells: np.ndarray, k: int, seed: int, **rule: Any) -> tuple[float, int]:
    """Fit faiss's k-means from random rows, with a fixed number of iterations."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    model = faiss.Kmeans(
        cells.shape[1], k, seed=seed, max_points_per_centroid=len(cells), **rule
    )
    model.train(cells)
    return float(model.obj[-1]), len(model.obj)


PROGRAMS: dict[str, tuple[str, Fit]] = {
    OWN: ("spinney", partial(spinney_fit, **RULE)),
    "scikit-learn, lloyd": ("sklearn", partial(scikit_fit, **RULE, algorithm="lloyd")),
    "scikit-learn, elkan": ("sklearn", partial(scikit_fit, **RULE, algorithm="elkan")),
    "faiss, 25 iterations": ("faiss", partial(faiss_fit, niter=25)),
    "spinney, until nothing moves": (
        "spinney",
        partial(spinney_fit, **{**RULE, "tol": 0.0}),
    ),
}
NOTES = (
    "one k-means++ start and tol=1e-4, max_iter=300 for spinney and scikit-learn, "
    "which is scikit-learn's default; faiss starts from drawn rows",
    "inertia: the median of the runs, divided by spinney's",
)


def run(name: str, kind: str, options: argparse.Namespace) -> Outcome:
    """Run all programs on one task."""
    n_rows, n_columns, k, factor = TASKS[name]
    full = options.rows is None
    cells = KINDS[kind](options.rows or n_rows, n_columns, k)
    title = f"k-means, K = {k}, {kind}"
    found = Outcome(f"{name} {kind}", title, *cells.shape, full, "inertia")
    found.machine = measure.machine()
    print(report.head(found), flush=True)
    best: dict[str, float] = {}
    for program, fit in present(PROGRAMS, found, options):
        line, runs = timed(program, partial(fit, cells, k), options)
        best[program] = statistics.median(runs.inertias)
        line.quality = best[program] / best.get(OWN, best[program])
        found.lines.append(line)
        print(report.row(found, line), flush=True)
    found.notes += NOTES
    peers = [program for program in best if program.startswith("scikit")]
    found.faster(factor, *peers)
    if OWN in best and peers:
        worse = best[OWN] / min(best[peer] for peer in peers)
        found.at_most("inertia, of the better scikit-learn's,", 1.01, worse)
    return found


def timed(
    program: str, fit: Callable[[int], Any], options: argparse.Namespace
) -> tuple[Line, Runs]:
    """Time a program; each run has another seed, the cold one that of the first."""
    runs = Runs()
    seeds: Iterator[int] = iter([0, *range(options.repeats)])

    def work() -> None:
        began = time.process_time()
        inertia, turns = fit(next(seeds))
        runs.processor.append(time.process_time() - began)
        runs.inertias.append(inertia)
        runs.n_iterations.append(turns)

    line = measure.timed(program, work, options.repeats, options.limit)
    for figures in (runs.inertias, runs.n_iterations, runs.processor):
        del figures[0]  # the cold run
    turns, seconds = map(statistics.median, (runs.n_iterations, runs.processor))
    line.note = f"{turns:g} iterations, processor {seconds:.2f} s"
    return line, runs


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return the command-line arguments."""
    tasks = [*TASKS, prototypes.TASK]
    parser = parser_of("benchmarks.clusters", __doc__.splitlines()[0], tasks)
    kinds = ",".join(KINDS)
    parser.add_argument(
        "--kinds", type=names, default=kinds, help="clumps, noise or both"
    )
    programs = [name.split(",")[0] for name in [*PROGRAMS, *prototypes.PROGRAMS]]
    known = list(dict.fromkeys(programs))
    return checked(parser, arguments, tasks=tasks, kinds=KINDS, programs=known)


def run_all(options: argparse.Namespace) -> list[Outcome]:
    """Run what was asked for: k-means of each kind of rows, and mixed ones."""
    works: list[Callable[[argparse.Namespace], Outcome]] = []
    for name in options.tasks:
        if name == prototypes.TASK:
            works.append(prototypes.run_prototypes)
        else:
            works += [partial(run, name, kind) for kind in options.kinds]
    done = []
    for work in works:
        done.append(work(options))
        show_and_keep(done[-1], options.json)
    return done


if __name__ == "__main__":
    finished(parsed(sys.argv[1:]), run_all)
