"""Recipes side by side over a folder of tables: accuracy, or R², and leaves.

    python -m benchmarks.recipes --data FOLDER (--develop | --reserved | --tables ...)

The folder holds the tables and ``schema.json``, which ``tables.py`` reads. All recipes
of a table see the same folds. This is the study behind the recipe ``auto``;
docs/auto.md has what it printed.

The tables are divided by name: choices are made on those of ``DEVELOP``, and those of
``RESERVED`` are looked at once, when all choices are made.
"""

import argparse
import platform
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.tables import arguments_of, facts_of

import spinney
from spinney import Recipe
from spinney.data import Declarations

DEVELOP = (
    *("labor", "iris", "vote", "breast_cancer", "heart_c", "glass", "diabetes"),
    *("sonar", "ionosphere", "vehicle", "tic_tac_toe", "credit_g", "car", "segment"),
)
DEVELOP_NUMBERS = ("cpu", "auto_mpg", "concrete")
RESERVED = (
    *("rpart_kyphosis", "zoo", "rpart_stagec", "primary_tumor", "penguins"),
    *("soybean_large", "anneal", "titanic3", "hypothyroid", "mushroom", "nursery"),
    *("letter", "bank_full", "adult", "covertype"),
)
RESERVED_NUMBERS = (
    *("rpart_cu_summary", "abalone", "wine_quality_white", "bike_hour", "california"),
    "diamonds",
)
MOST_ROWS = 2000

Variants = dict[str, str | Recipe]

GROWN_FREELY = Recipe.named("cart").changed(missing_policy="branch", min_samples_leaf=2)
WEAKEST_LINK = GROWN_FREELY.changed(pruning="cost-complexity", folds=5)
VARIANTS: Variants = {
    "c4.5": "c4.5",
    "cart 1-se": WEAKEST_LINK.changed(rule="1-se"),
    "cart min": WEAKEST_LINK.changed(rule="minimum"),
    "auto": "auto",
}
VARIANTS_OF_NUMBERS: Variants = {
    "cart 1-se": WEAKEST_LINK.changed(rule="1-se"),
    "cart min": WEAKEST_LINK.changed(rule="minimum"),
    "m5": "m5",
    "auto": "auto",
}


def drawn(table: Any, seed: int, most: int = MOST_ROWS) -> Any:
    """Return at most so many rows of a table, in their order."""
    if table.n_rows <= most:
        return table
    random = np.random.default_rng(seed)
    return table.take(np.sort(random.choice(table.n_rows, most, replace=False)))


def table_of(folder: Path, facts: dict[str, Any], *, seed: int) -> Any:
    """Return the rows of a table that the study looks at."""
    arguments = arguments_of(folder, facts)
    classes = [facts["target"]] if facts["task"] == "classification" else []
    declarations = Declarations(
        nominal=(*arguments["nominal"], *classes),
        ordinal={name: tuple(levels) for name, levels in arguments["ordinal"].items()},
        ignore=tuple(arguments["ignore"]),
        missing=tuple(arguments["missing_values"]),
    )
    table = spinney.read_table(arguments["data"], declarations=declarations)
    return drawn(table, seed)


def measured(
    table: Any, facts: dict[str, Any], variants: Variants, *, folds: int, seed: int
) -> dict[str, tuple[float, float]]:
    """Return accuracy or R² in percent, and mean leaves, of each variant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target = facts["target"]
        numeric = [target] if facts["task"] == "regression" else []
        result = spinney.evaluate(
            table, target, variants, numeric=numeric, folds=folds, random_state=seed
        )
    return {
        row["recipe"]: (100 * row.get("accuracy", row.get("r2")), row["leaves"])
        for row in result.table
    }


def study(
    folder: Path,
    names: Iterable[str],
    variants: Variants,
    *,
    folds: int,
    seed: int,
    measure: str,
) -> None:
    """Print a line for each table, and the means."""
    every = facts_of(folder)
    head = "".join(f"{name:>20}" for name in variants)
    print(f"{'table':<19}{'rows':>6}{head}   ({measure} %, leaves)", flush=True)
    lines = []
    for name in names:
        table = table_of(folder, every[name], seed=seed)
        line = measured(table, every[name], variants, folds=folds, seed=seed)
        print(f"{name:<19}{table.n_rows:>6}{_cells(list(line.values()))}", flush=True)
        lines.append(list(line.values()))
    if lines:
        print(f"{'mean':<19}{'':>6}{_cells(np.mean(lines, axis=0).tolist())}")


def _cells(pairs: Sequence[Sequence[float]]) -> str:
    return "".join(f"{share:>13.2f}{leaves:>7.1f}" for share, leaves in pairs)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=Path)
    tables = parser.add_mutually_exclusive_group(required=True)
    tables.add_argument("--develop", action="store_true")
    tables.add_argument("--reserved", action="store_true")
    tables.add_argument("--tables", help="names, separated by commas")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--variants", help="names, separated by commas")
    options = parser.parse_args()
    names = (*DEVELOP, *DEVELOP_NUMBERS)
    if options.reserved:
        names = (*RESERVED, *RESERVED_NUMBERS)
    elif options.tables:
        names = tuple(options.tables.split(","))
    print(
        f"spinney {spinney.__version__}, {platform.system()} {platform.machine()}, "
        f"{options.folds} folds, seed {options.seed}"
    )
    every = facts_of(options.data)
    began = time.perf_counter()
    for task, known, measure in (
        ("classification", VARIANTS, "accuracy"),
        ("regression", VARIANTS_OF_NUMBERS, "R²"),
    ):
        wanted = options.variants.split(",") if options.variants else known
        study(
            options.data,
            [name for name in names if every[name]["task"] == task],
            {name: known[name] for name in wanted if name in known},
            folds=options.folds,
            seed=options.seed,
            measure=measure,
        )
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
