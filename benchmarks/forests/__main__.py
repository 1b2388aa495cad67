"""Forests side by side over a folder of tables: accuracy, or R² of numbers.

    python -m benchmarks.forests --data FOLDER [--tables iris,vote] [--trees 100]

The folder holds the tables and ``schema.json``, which ``benchmarks/tables.py`` reads.
All programs see the same folds; of large tables some rows are drawn. This is the study
behind the defaults of Spinney's forests; docs/forests.md has what it printed.
"""

import argparse
import platform
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.forests.programs import (
    Run,
    Shared,
    ranger_version,
    run_ranger,
    run_sklearn,
    run_spinney,
)
from benchmarks.forests.tables import Folded, folded, names_of
from benchmarks.tables import facts_of

PROGRAMS: dict[str, Run] = {
    "spinney": run_spinney,
    "unshrunk": partial(run_spinney, shrinkage=0),
    "majority": partial(run_spinney, shrinkage=0, voting="majority"),
    "log2": partial(run_spinney, max_features="log2"),
    "third": partial(run_spinney, max_features=1 / 3),
    "half": partial(run_spinney, max_features=0.5),
    "root, up": partial(run_spinney, root_up=True),
    "leaf 1": partial(run_spinney, min_samples_leaf=1),
    "leaf 1, half": partial(run_spinney, min_samples_leaf=1, max_features=0.5),
    "leaf 1, 2/3": partial(run_spinney, min_samples_leaf=1, max_features=2 / 3),
    "leaf 2": partial(run_spinney, min_samples_leaf=2),
    "leaf 5": partial(run_spinney, min_samples_leaf=5),
    "subsample": partial(run_spinney, replace=False),
    "gain": partial(run_spinney, criterion="gain"),
    "indicators": partial(run_spinney, indicators=True),
    "all rows": partial(run_spinney, bootstrap=False),
    "own-category": partial(run_spinney, missing_policy="own-category"),
    "extra": partial(run_spinney, extra_random=True),
    "sklearn": run_sklearn,
    "ranger": run_ranger,
    "ranger order": partial(run_ranger, factors="order"),
}
# The plain learner grows these: minutes, not seconds. Run where they are named.
SLOW = ("own-category", "extra")
# Of numbers there are no votes by majority, and no gain; of classes leaves have one row
# and nodes fewer attributes as it is.
OF_CLASSES = ("majority", "gain")
OF_NUMBERS = ("leaf 1", "leaf 1, half", "leaf 1, 2/3")


def main() -> None:
    """Run the study."""
    options = _parsed()
    if not options.data.is_dir():
        print(f"skipped: there is no folder {options.data} with tables")
        return
    every = facts_of(options.data)
    task = "regression" if options.numbers else "classification"
    names = (
        options.tables.split(",")
        if options.tables
        else names_of(every, task, options.least_rows)
    )
    wanted = options.programs.split(";") if options.programs else _usual(task)
    shared = Shared(options.trees, options.seed, options.jobs)
    print(_head(options))
    if not ranger_version():
        print("R has no package ranger here, so ranger is left out")
        wanted = [name for name in wanted if not name.startswith("ranger")]
    print(f"{'table':<16}{'rows':>7}" + "".join(f"{name:>13}" for name in wanted))
    found: dict[str, list[float]] = {name: [] for name in wanted}
    seconds = dict.fromkeys(wanted, 0.0)
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes with fewer rows than folds
            table = folded(
                options.data,
                name,
                every[name],
                n_folds=options.folds,
                most_rows=options.most_rows,
                seed=options.seed,
            )
        sign = "*" if len(table.frame) < table.drawn_from else " "
        print(f"{name:<16}{len(table.frame):>6}{sign}", end="", flush=True)
        for program in wanted:
            began = time.perf_counter()
            guesses = PROGRAMS[program](table, shared)
            seconds[program] += time.perf_counter() - began
            found[program].append(score(table, guesses))
            print(f"{found[program][-1]:>13.2f}", end="", flush=True)
        print()
    _summary(found, seconds)
    print(f"* drawn from more rows, at most {options.most_rows}, by class")


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.forests", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--data", required=True, type=Path, help="the folder of tables")
    add("--tables", help="names, separated by commas")
    add("--programs", help=f"names, separated by semicolons: {'; '.join(PROGRAMS)}")
    add("--numbers", action="store_true", help="tables whose target is a number: R²")
    add("--trees", type=int, default=100)
    add("--folds", type=int, default=10)
    add("--jobs", type=int, default=2, help="threads")
    add("--seed", type=int, default=1, help="of draws, folds and forests")
    add("--least-rows", type=int, default=50)
    add("--most-rows", type=int, default=5000)
    options = parser.parse_args()
    for name in options.programs.split(";") if options.programs else ():
        if name not in PROGRAMS:
            parser.error(f"--programs: {name} is none of {'; '.join(PROGRAMS)}")
    return options


def _usual(task: str) -> list[str]:
    others = OF_NUMBERS if task == "classification" else OF_CLASSES
    left_out = (*SLOW, *others)
    return [name for name in PROGRAMS if name not in left_out]


def _head(options: argparse.Namespace) -> str:
    import sklearn

    import spinney

    return (
        f"spinney {spinney.__version__}, scikit-learn {sklearn.__version__}, ranger "
        f"{ranger_version() or 'none'}, {platform.system()} {platform.machine()}: "
        f"{options.trees} trees, {options.folds} folds, seed {options.seed}"
    )


def score(table: Folded, guesses: np.ndarray) -> float:
    """Return the accuracy, or R², in percent."""
    if not table.numeric:
        return 100 * float(np.mean(guesses == table.target))
    wrong = float(np.sum((guesses - table.target) ** 2))
    return 100 * (1 - wrong / float(np.sum((table.target - table.target.mean()) ** 2)))


def _summary(found: dict[str, list[float]], seconds: dict[str, float]) -> None:
    """Print means, and how far each program is from the first, with its error.

    The standard error is that of the mean difference over the tables, as if they
    were drawn: what lies within two of them is not told apart.
    """
    first = np.array(next(iter(found.values())))
    print(f"\n| program | mean | from {next(iter(found))} | better, worse | seconds |")
    print("|---|---:|---:|---:|---:|")
    for name, values in found.items():
        apart = np.array(values) - first
        error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else 0.0
        better, worse = int((apart > 1e-9).sum()), int((apart < -1e-9).sum())
        print(
            f"| {name} | {np.mean(values):.2f} | {apart.mean():+.2f} ± {error:.2f} "
            f"| {better}, {worse} | {seconds[name]:.0f} |"
        )


if __name__ == "__main__":
    main()
