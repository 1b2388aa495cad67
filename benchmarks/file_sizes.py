"""How large model files are, and what takes the space in them.

    python -m benchmarks.file_sizes [--rows 200000] [--only forest,tree]

Models are grown on made tables of ten columns of numbers, whose classes are noisy, so
that trees are as large as they come. docs/model-files.md has what this printed.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import spinney
from spinney.output.file.container import read_header

__all__ = ["MODELS", "measured"]

COLUMNS, MANY_CLASSES, SHOWN = 10, 500, 3


def _table(n_rows: int, n_classes: int) -> tuple[Any, Any]:
    """Return numbers, and classes that follow from two of them in half of the rows."""
    random = np.random.default_rng(0)
    cells = random.normal(size=(n_rows, COLUMNS))
    score = cells[:, 0] + cells[:, 1]
    ranks = np.argsort(np.argsort(score))
    classes = ranks * n_classes // n_rows
    noisy = random.random(n_rows) < 0.5
    classes[noisy] = random.integers(n_classes, size=int(noisy.sum()))
    return cells, classes


def _forest(n_rows: int) -> Any:
    return spinney.ForestClassifier(100, random_state=0).fit(*_table(n_rows, 3))


def _tree(n_rows: int) -> Any:
    return spinney.TreeClassifier("c4.5", pruning="none").fit(*_table(n_rows, 3))


def _many_classes(n_rows: int) -> Any:
    settings: Any = {
        "missing_policy": "branch",
        "pruning": "none",
        "min_samples_leaf": 5,
    }
    table = _table(n_rows // 20, MANY_CLASSES)
    return spinney.TreeClassifier("cart", **settings).fit(*table)


MODELS: dict[str, Callable[[int], Any]] = {
    "forest": _forest,
    "tree": _tree,
    "classes": _many_classes,
}
MEANT = {
    "forest": "a forest of 100 trees, 3 classes",
    "tree": "a tree of C4.5 with competitors, not pruned, 3 classes",
    "classes": f"a tree of {MANY_CLASSES} classes, on a twentieth of the rows",
}


def measured(model: Any) -> tuple[int, dict[str, int]]:
    """Return the bytes of a model's file, and those of each array, the largest first.

    >>> model = spinney.TreeClassifier("cart").fit([[1], [2]], ["a", "b"])
    >>> size, arrays = measured(model)
    >>> size > sum(arrays.values()) > 0
    True
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.spinney")
        model.save(path)
        data = path.read_bytes()
    places = read_header(data).entries
    sizes = {name: place.form.size for name, place in places.items()}
    return len(data), dict(sorted(sizes.items(), key=lambda each: -each[1]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--only", default=",".join(MODELS), help="divided by commas")
    options = parser.parse_args(arguments)
    print("| model | nodes | MB | bytes a node | what takes the space |")
    print("|---|---|---|---|---|")
    for name in options.only.split(","):
        model = MODELS[name](options.rows)
        size, arrays = measured(model)
        trees = model.trees if name == "forest" else [model]
        nodes = sum(len(each.tree) for each in trees)
        largest = ", ".join(
            f"`{array}` {100 * taken / size:.0f} %"
            for array, taken in list(arrays.items())[:SHOWN]
        )
        about = f"| {MEANT[name]} | {nodes:,} | {size / 1e6:.1f} "
        print(f"{about}| {size / nodes:.0f} | {largest} |", flush=True)


if __name__ == "__main__":
    main()
