"""All compiled kernels, compiled before anybody waits for them.

Loops are compiled when they are first called, for what they are called with, and kept
on disk. So each set of them is called once, on made rows of the kinds that users have.
Numba compiles one function at a time in a process: a set has a process of its own.
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
MANY_ROWS = MIN_KERNEL_WORK["predict"] // 3  # more steps than are worth a compiler
ALL_BY_LOOPS = 10**9  # trees, so that loops are worth their loading on few rows


def numbers_to_grow(n_rows: int, kind: type[np.floating]) -> NDArray[np.floating]:
    """Return four columns of numbers."""
    return np.random.default_rng(0).random((n_rows, 4)).astype(kind)


def classes_to_grow(numbers: NDArray[np.floating]) -> NDArray[np.str_]:
    """Return classes that the first two columns nearly predict."""
    noise = np.random.default_rng(1).random(len(numbers)) / 4
    return np.where(numbers[:, 0] * numbers[:, 1] + noise > 0.35, "high", "low")


def grow_trees(kind: type[np.floating], recipe: str, **settings: Any) -> None:
    """Grow a tree of classes by a recipe, on numbers of a kind."""
    from spinney.estimators import TreeClassifier

    numbers = numbers_to_grow(ROWS, kind)
    TreeClassifier(recipe, **settings).fit(numbers, classes_to_grow(numbers))


def _surrogates(kind: type[np.floating]) -> None:
    from spinney.estimators import TreeClassifier

    numbers = numbers_to_grow(ROWS, kind)
    classes = classes_to_grow(numbers)
    numbers[::20, 0] = np.nan  # so that surrogates send rows
    TreeClassifier("cart").fit(numbers, classes)


def _forests(kind: type[np.floating]) -> None:
    from spinney.estimators import ForestClassifier

    numbers = numbers_to_grow(50 * ROWS, kind)
    ForestClassifier(8, random_state=0).fit(numbers, classes_to_grow(numbers))


def _predictions() -> None:
    from spinney.estimators import ForestClassifier, TreeClassifier

    for kind in (np.float64, np.float32):
        numbers = numbers_to_grow(ROWS, kind)
        classes, many = classes_to_grow(numbers), numbers_to_grow(MANY_ROWS, kind)
        tree = TreeClassifier("cart", missing_policy="branch").fit(numbers, classes)
        tree.predict(many)
        tree.apply(many)
        forest = ForestClassifier(8, random_state=0).fit(numbers, classes)
        forest.predict(many)


# The longest first, so that none of them is waited for alone.
JOBS: dict[str, Callable[[], None]] = {
    "trees of two branches": partial(
        grow_trees, np.float64, "cart", missing_policy="branch"
    ),
    "trees of a branch per value": partial(grow_trees, np.float64, "c4.5"),
    "trees of two branches, single precision": partial(
        grow_trees, np.float32, "cart", missing_policy="branch"
    ),
    "surrogates": partial(_surrogates, np.float64),
    "surrogates, single precision": partial(_surrogates, np.float32),
    "the default recipe": partial(grow_trees, np.float64, "auto"),
    "forests": partial(_forests, np.float64),
    "forests, single precision": partial(_forests, np.float32),
    "predictions": _predictions,
}


def all_jobs() -> list[str]:
    """Return the names of all jobs, those of extensions last."""
    return [*JOBS, *registry.installed("kernels")]


def run_job(name: str) -> None:
    """Call the kernels of a job, so that they are compiled and kept."""
    with prediction_only(ALL_BY_LOOPS), limited_threads(1):
        (JOBS.get(name) or registry.load("kernels", name))()


def compile_ahead(
    progress: Progress | None = None,
    jobs: Sequence[str] | None = None,
) -> None:
    """Compile the kernels of all jobs, each in a process, as many at once as can be.

    ``progress`` is told how many are done, and how many there are. Jobs are all that
    are installed, if not given.
    """
    jobs = all_jobs() if jobs is None else jobs

    def done(number: int) -> None:
        if progress is not None:
            progress(number, len(jobs))

    done(0)
    processes = [partial(_in_process, name) for name in jobs]
    run_each(processes, at_once=n_threads(), done=done)


def _in_process(name: str) -> None:
    """Run a job in a process of its own, with one thread."""
    code = f"from spinney.cli.compile_jobs import run_job; run_job({name!r})"
    result = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", code],  # nothing from here
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    if result.returncode:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        msg = f"the kernels of {name!r} could not be compiled: {last}"
        raise SpinneyError(msg)
