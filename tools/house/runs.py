"""The runs that are followed.

As a program it follows one, in the folder where it is started, and prints its figures
as JSON, or with ``--walk`` the units it enters in their order; without a name it prints
the names of all runs.
"""

import inspect
import json
import os
import runpy
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import spinney
from tools.house.trace import trace

__all__ = ["RUNS", "growing"]

FEW, MANY = (300, 5), (30_000, 10)


def made(shape: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return numbers and labels that depend on two of the columns, with some noise."""
    draws = np.random.default_rng(0)
    cells = draws.normal(size=shape)
    noise = draws.normal(scale=0.5, size=shape[0])
    return cells, (cells[:, 0] + cells[:, 1] + noise > 0).astype(np.int64)


def write_table(path: Path) -> None:
    """Write a table of few rows whose target is ``y``."""
    cells, labels = made(FEW)
    header = [f"x{column}" for column in range(cells.shape[1])]
    lines = [",".join([*header, "y"])]
    for row, label in zip(cells.tolist(), labels, strict=True):
        lines.append(",".join([*map(repr, row), ["no", "yes"][label]]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def shell(*arguments: str) -> None:
    """Run the shell tool in this process, and let nothing of its output through."""
    sys.argv = ["spinney", *arguments]
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
    ):
        try:
            runpy.run_module("spinney", run_name="__main__")
        except SystemExit as ending:
            if ending.code:
                msg = f"spinney {' '.join(arguments)} ended with {ending.code}"
                raise RuntimeError(msg) from ending


def growing(*options: str) -> Callable[[], None]:
    """Prepare a table for ``spinney grow``."""
    write_table(Path("x.csv"))
    return partial(shell, "grow", "x.csv", "--target", "y", *options)


def using(*arguments: str) -> Callable[[], None]:
    """Prepare a model, and its table, for a command that uses them."""
    growing("--recipe", "c4.5", "-o", "x.spinney", "--overwrite")()
    return partial(shell, *arguments)


def unpruned(recipe: str) -> Any:
    """Return a classifier that does not prune, whatever the parameter is called."""
    known = inspect.signature(spinney.TreeClassifier).parameters
    options: Any = {"pruning" if "pruning" in known else "prune": "none"}
    return spinney.TreeClassifier(recipe, **options)


def fitting(model: Any, shape: tuple[int, int]) -> Callable[[], object]:
    """Prepare rows for a model."""
    return partial(model.fit, *made(shape))


def predicting(model: Any) -> Callable[[], object]:
    """Prepare a fitted model for a prediction."""
    cells, labels = made(FEW)
    return partial(model.fit(cells, labels).predict, cells)


# Each makes ready what the run needs, in an empty folder, and returns the run.
RUNS: dict[str, Callable[[], Callable[[], object]]] = {
    "spinney grow": growing,
    "spinney grow --recipe c4.5 -o m": partial(
        growing, "--recipe", "c4.5", "-o", "m.spinney", "--overwrite"
    ),
    "TreeClassifier().fit, 300 × 5": lambda: fitting(spinney.TreeClassifier(), FEW),
    'TreeClassifier("cart"), unpruned, 300 × 5': lambda: fitting(unpruned("cart"), FEW),
    'TreeClassifier("cart"), unpruned, 30,000 × 10': lambda: fitting(
        unpruned("cart"), MANY
    ),
    'TreeClassifier("c4.5").fit, 30,000 × 10': lambda: fitting(
        spinney.TreeClassifier("c4.5"), MANY
    ),
    "predict, 300 rows": lambda: predicting(unpruned("cart")),
    "ForestClassifier(5).fit, 300 × 5": lambda: fitting(
        spinney.ForestClassifier(n_estimators=5, random_state=0, n_jobs=1), FEW
    ),
    "KMeans(3).fit, 300 × 5": lambda: fitting(
        spinney.KMeans(3, random_state=0, n_jobs=1), FEW
    ),
    "spinney predict": partial(using, "predict", "x.spinney", "x.csv"),
    "spinney explain": partial(using, "explain", "x.spinney", "--node", "0"),
}


def main() -> None:
    """Print the figures of the run that is named, or the names of all."""
    warnings.simplefilter("ignore")
    walks = "--walk" in sys.argv
    names = [name for name in sys.argv[1:] if name != "--walk"]
    if not names:
        print(json.dumps(list(RUNS)))
        return
    record = trace(RUNS[names[0]](), "spinney")
    print(json.dumps(record.units() if walks else record.figures()))


if __name__ == "__main__":
    main()
