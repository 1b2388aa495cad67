"""Rare classes: the default recipe with and without balanced class weights.

    python -m benchmarks.rare_classes --data FOLDER

Rows of the rarer class are removed from tables of two classes until 4 % are left. A
planted table has 4 % of "yes", and four times as many in a corner. Half of the rows
grow the tree. The others measure accuracy, balanced accuracy and the area under the
ROC curve. docs/costs.md has what it printed.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.recipes import table_of
from benchmarks.tables import facts_of
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

import spinney

TABLES = ("diabetes", "credit_g", "tic_tac_toe", "ionosphere")
SHARE = 0.04
WEIGHTS = {"default": None, "balanced": "balanced"}


def rare_rows(table: Any, classes: np.ndarray, random: np.random.Generator) -> Any:
    """Return a table with few rows of its rarer class, and these classes."""
    values, codes = np.unique(classes, return_inverse=True)
    rare = np.flatnonzero(codes == np.bincount(codes).argmin())
    common = np.flatnonzero(codes != np.bincount(codes).argmin())
    n_rare = max(2, round(len(common) * SHARE / (1 - SHARE)))
    rows = np.append(common, random.choice(rare, n_rare, replace=False))
    random.shuffle(rows)
    return table.take(rows), values[codes[rows]]


def planted(n_rows: int, random: np.random.Generator) -> Any:
    """Return a table with a real signal that changes no label, and its classes."""
    cells = random.random((n_rows, 6))
    corner = (cells[:, 0] > 0.7) & (cells[:, 1] > 0.5)
    classes = np.where(random.random(n_rows) < SHARE * (0.4 + 4 * corner), "yes", "no")
    columns = {f"x{place}": cells[:, place].round(3) for place in range(6)}
    return {**columns, "buy": classes}, classes


def halves(folder: Path, random: np.random.Generator) -> Iterator[tuple[Any, ...]]:
    """Give name, target, training table, test table and test classes."""
    every = facts_of(folder)
    for name in TABLES:
        target = every[name]["target"]
        table = table_of(folder, every[name], seed=7)
        classes = np.array(
            [str(table[target].value(row)) for row in range(table.n_rows)]
        )
        rare, rare_classes = rare_rows(table, classes, random)
        half = len(rare_classes) // 2
        rows = np.arange(len(rare_classes))
        yield (
            name,
            target,
            rare.take(rows[:half]),
            rare.take(rows[half:]),
            (rare_classes[half:]),
        )
    for n_rows in (5000, 50_000):
        table, _ = planted(n_rows, random)
        test, classes = planted(20_000, random)
        yield f"planted {n_rows}", "buy", table, test, classes


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    titles = "".join(f"{name:>9}" for name in ("leaves", "acc", "bal acc", "AUC"))
    print(f"{'table':<16}" + "".join(f"{name:>12}{titles}" for name in WEIGHTS))
    for name, target, train, test, classes in halves(
        options.data, np.random.default_rng(options.seed)
    ):
        line = f"{name:<16}"
        for weights in WEIGHTS.values():
            model = spinney.grow(train, target, nominal=[target], class_weight=weights)
            labels = np.array([str(label) for label in model.predict(test)])
            values, counts = np.unique(classes, return_counts=True)
            rare = values[counts.argmin()]
            place = [str(value) for value in model.classes_].index(rare)
            score = model.predict_proba(test)[:, place]
            line += (
                f"{'':>12}{model.tree.n_leaves:>9}"
                f"{100 * accuracy_score(classes, labels):>9.1f}"
                f"{100 * balanced_accuracy_score(classes, labels):>9.1f}"
                f"{100 * roc_auc_score(classes == rare, score):>9.1f}"
            )
        print(line, flush=True)


if __name__ == "__main__":
    main()
