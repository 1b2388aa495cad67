"""Recipes side by side over a folder of tables: accuracy and leaves.

    python -m benchmarks.recipes --data FOLDER [--tables iris,vote] [--folds 10]

The folder holds the tables and ``schema.json``, which ``tables.py`` reads. All recipes
of a table see the same folds. This is the study behind the recipe ``auto``;
docs/auto.md has what it printed.
"""

import argparse
import platform
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks.tables import arguments_of, facts_of

import spinney
from spinney import Recipe

GROWN_FREELY = Recipe.named("cart").changed(missing="branch", min_samples_leaf=2)
WEAKEST_LINK = GROWN_FREELY.changed(pruning="cost-complexity", folds=5)
VARIANTS: dict[str, str | Recipe] = {
    "c4.5": "c4.5",
    "cart 1-se": WEAKEST_LINK.changed(rule="1-se"),
    "cart min": WEAKEST_LINK.changed(rule="minimum"),
    "forest .5": WEAKEST_LINK.changed(rule="half-se", forest=0.5),
    "forest .75": WEAKEST_LINK.changed(rule="half-se", forest=0.75),
    "auto": "auto",
}


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--tables", help="names, separated by commas")
    parser.add_argument("--most-rows", type=int, default=1000)
    parser.add_argument("--least-rows", type=int, default=50)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--variants", help="names, separated by commas")
    options = parser.parse_args()
    every = facts_of(options.data)
    names = (
        options.tables.split(",")
        if options.tables
        else [
            name
            for name, facts in every.items()
            if facts["task"] == "classification"
            and options.least_rows <= facts["rows"] <= options.most_rows
        ]
    )
    wanted = options.variants.split(",") if options.variants else list(VARIANTS)
    print(
        f"spinney {spinney.__version__}, {platform.system()} {platform.machine()}, "
        f"{options.folds} folds"
    )
    head = "".join(f"{name:>20}" for name in wanted)
    print(f"{'table':<16}{'rows':>6}{head}   (accuracy %, leaves)", flush=True)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in wanted}
    began = time.perf_counter()
    for name in names:
        arguments = arguments_of(options.data, every[name])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = spinney.evaluate(
                **arguments,
                recipes={label: VARIANTS[label] for label in wanted},
                folds=options.folds,
                random_state=options.seed,
            )
        cells = ""
        for row in result.table:
            pair = 100 * row["accuracy"], row["leaves"]
            found[row["recipe"]].append(pair)
            cells += f"{pair[0]:>13.2f}{pair[1]:>7.1f}"
        print(f"{name:<16}{every[name]['rows']:>6}{cells}", flush=True)
    means = "".join(
        f"{np.mean([a for a, _ in found[name]]):>13.2f}"
        f"{np.mean([n for _, n in found[name]]):>7.1f}"
        for name in wanted
    )
    print(f"{'mean':<16}{'':>6}{means}")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
