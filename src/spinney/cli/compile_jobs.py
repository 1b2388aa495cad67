"""Jobs that compile all kernels in advance.

A kernel is compiled at its first call, for the types of its arguments, and stored on
disk. So each job calls a set of kernels once, on generated rows of the usual types.
Numba compiles one function at a time in a process: each job has its own process.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import registry
from spinney._support.checks import Progress
from spinney._support.jit.loading_time import MIN_KERNEL_WORK
from spinney._support.threads import limited_threads, n_threads, run_each
from spinney.errors import SpinneyError
from spinney.growth import prediction_only

ROWS = 2_000
MANY_ROWS = MIN_KERNEL_WORK["predict"] // 3  # enough steps for compiled kernels
ALWAYS_COMPILED = 10**9  # trees to predict: kernels are used on few rows too


def example_numbers(n_rows: int, kind: type[np.floating]) -> NDArray[np.floating]:
    """Return four random columns."""
    return np.random.default_rng(0).random((n_rows, 4)).astype(kind)


def example_classes(numbers: NDArray[np.floating]) -> NDArray[np.str_]:
    """Return classes that the first two columns nearly predict."""
    noise = np.random.default_rng(1).random(len(numbers)) / 4
    return np.where(numbers[:, 0] * numbers[:, 1] + noise > 0.35, "high", "low")


def grow_example_tree(kind: type[np.floating], recipe: str, **settings: Any) -> None:
    """Grow a tree of classes by a recipe, on numbers of a kind."""
    from spinney.estimators import TreeClassifier

    numbers = example_numbers(ROWS, kind)
    TreeClassifier(recipe, **settings).fit(numbers, example_classes(numbers))


def _surrogates(kind: type[np.floating]) -> None:
    from spinney.estimators import TreeClassifier

    numbers = example_numbers(ROWS, kind)
    classes = example_classes(numbers)
    numbers[::20, 0] = np.nan  # so that surrogates send rows
    TreeClassifier("cart").fit(numbers, classes)


def _forests(kind: type[np.floating]) -> None:
    from spinney.estimators import ForestClassifier

    numbers = example_numbers(50 * ROWS, kind)
    ForestClassifier(8, random_state=0).fit(numbers, example_classes(numbers))


def _predictions() -> None:
    from spinney.estimators import ForestClassifier, TreeClassifier

    for kind in (np.float64, np.float32):
        numbers = example_numbers(ROWS, kind)
        classes, many = example_classes(numbers), example_numbers(MANY_ROWS, kind)
        tree = TreeClassifier("cart", missing_policy="branch").fit(numbers, classes)
        tree.predict(many)
        tree.apply(many)
        forest = ForestClassifier(8, random_state=0).fit(numbers, classes)
        forest.predict(many)


# The longest first, so that none of them runs alone at the end.
JOBS: dict[str, Callable[[], None]] = {
    "trees of two branches": partial(
        grow_example_tree, np.float64, "cart", missing_policy="branch"
    ),
    "trees of a branch per value": partial(grow_example_tree, np.float64, "c4.5"),
    "trees of two branches, single precision": partial(
        grow_example_tree, np.float32, "cart", missing_policy="branch"
    ),
    "surrogates": partial(_surrogates, np.float64),
    "surrogates, single precision": partial(_surrogates, np.float32),
    "the default recipe": partial(grow_example_tree, np.float64, "auto"),
    "forests": partial(_forests, np.float64),
    "forests, single precision": partial(_forests, np.float32),
    "predictions": _predictions,
}


def all_jobs() -> list[str]:
    """Return the names of all jobs, those of extensions last."""
    return [*JOBS, *registry.installed("kernels")]


def run_job(name: str) -> None:
    """Call the kernels of a job, so that they are compiled and stored."""
    with prediction_only(ALWAYS_COMPILED), limited_threads(1):
        (JOBS.get(name) or registry.load("kernels", name))()


def compile_ahead(
    progress: Progress | None = None,
    jobs: Sequence[str] | None = None,
) -> None:
    """Compile the kernels of jobs, by default all installed ones, in processes.

    ``progress`` is called with the number of jobs done, and of all.
    """
    jobs = all_jobs() if jobs is None else jobs

    def done(number: int) -> None:
        if progress is not None:
            progress(number, len(jobs))

    done(0)
    processes = [partial(_in_process, name) for name in jobs]
    run_each(processes, max_threads=n_threads(), done=done)


def _in_process(name: str) -> None:
    """Run a job in its own process, with one thread."""
    code = f"from spinney.cli.compile_jobs import run_job; run_job({name!r})"
    result = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", code],  # not from this folder
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    if result.returncode:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        msg = f"the kernels of job {name!r} could not be compiled: {last}"
        raise SpinneyError(msg)
