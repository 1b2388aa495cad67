"""Do trees of least loss predict better? Beside other recipes, on the same folds.

    python -m benchmarks.optimal_study --data FOLDER (--develop | --reserved | ...)

The tables are those of ``recipes.py``, which also says what they are divided for. Of
the rows of each fold, three inner folds choose the depth and the price a leaf of the
optimal tree; ``--limit`` are the seconds of one search, after which the best
tree that was found is taken. Lines have accuracy, or R², in percent, and leaves; last
comes how many of the chosen trees were proven to be the best of their depth.
"""

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import recipes
from benchmarks.tables import facts_of

import spinney
from spinney import Recipe

PRICES = (0.03, 0.01, 0.003)
INNER_FOLDS = 3
OTHERS = {"classification": ("c4.5", "cart min", "auto"), "regression": ("m5", "auto")}


def parts(n_rows: int, folds: int, seed: int) -> Iterator[tuple[Any, Any]]:
    """Give the rows to grow on and those to measure on, fold after fold."""
    fold = np.random.default_rng(seed).permutation(np.arange(n_rows) % folds)
    for each in range(folds):
        yield np.flatnonzero(fold != each), np.flatnonzero(fold == each)


def grown(table: Any, facts: dict[str, Any], recipe: Any) -> Any:
    """Grow a tree without a word of warning."""
    kinds = {"numeric": [facts["target"]]} if facts["task"] == "regression" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spinney.grow(table, facts["target"], recipe=recipe, **kinds)


def score_of(model: Any, table: Any) -> float:
    """Return accuracy or R², in percent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return 100 * float(model.score(table))


def chosen(
    table: Any, facts: dict[str, Any], depths: Sequence[int], limit: float, seed: int
) -> Recipe:
    """Return the depth and the price that inner folds take; of equals, small trees."""
    best, taken = -np.inf, Recipe.named("optimal")
    for depth, leaf_cost in product(depths, PRICES):
        recipe = Recipe.named("optimal").changed(
            max_depth=depth, leaf_price=leaf_cost, time_limit=limit
        )
        scores = [
            score_of(grown(table.take(one), facts, recipe), table.take(other))
            for one, other in parts(table.n_rows, INNER_FOLDS, seed)
        ]
        if np.mean(scores) > best + 1e-9:
            best, taken = np.mean(scores), recipe
    return taken


def line_of(
    table: Any,
    facts: dict[str, Any],
    *,
    folds: int,
    seed: int,
    depths: Sequence[int],
    limit: float,
) -> tuple[list[list[float]], int]:
    """Return the mean score and leaves of each recipe, and how many are proven."""
    of_numbers = facts["task"] == "regression"
    variants = recipes.VARIANTS_OF_NUMBERS if of_numbers else recipes.VARIANTS
    lines, proven = [], 0
    for one, other in parts(table.n_rows, folds, seed):
        inside, outside = table.take(one), table.take(other)
        ways = [variants[name] for name in OTHERS[facts["task"]]]
        models = [grown(inside, facts, way) for way in ways]
        best = grown(inside, facts, chosen(inside, facts, depths, limit, seed))
        proven += best.tree.certificate.is_proven
        models.append(best)
        lines.append([[score_of(m, outside), m.tree.n_leaves] for m in models])
    return np.mean(lines, axis=0).tolist(), proven


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
    parser.add_argument("--depths", default="2,3", help="numbers, separated by commas")
    parser.add_argument("--limit", type=float, default=2.0, help="seconds a search")
    parser.add_argument("--task", choices=list(OTHERS), help="classes or numbers only")
    given = parser.parse_args()
    names = (*recipes.DEVELOP, *recipes.DEVELOP_NUMBERS)
    if given.reserved:
        names = (*recipes.RESERVED, *recipes.RESERVED_NUMBERS)
    elif given.tables:
        names = tuple(given.tables.split(","))
    every, began = facts_of(given.data), time.perf_counter()
    depths = [int(depth) for depth in given.depths.split(",")]
    for task, others in OTHERS.items():
        if given.task not in (None, task):
            continue
        head = "".join(f"{name:>20}" for name in (*others, "optimal"))
        print(f"{'table':<19}{'rows':>6}{head}  proven")
        lines = []
        for name in [name for name in names if every[name]["task"] == task]:
            table = recipes.table_of(given.data, every[name], seed=given.seed)
            line, proven = line_of(
                table,
                every[name],
                folds=given.folds,
                seed=given.seed,
                depths=depths,
                limit=given.limit,
            )
            lines.append(line)
            cells = "".join(f"{score:>13.2f}{leaves:>7.1f}" for score, leaves in line)
            print(f"{name:<19}{table.n_rows:>6}{cells}{proven:>8}", flush=True)
        if lines:
            means = np.mean(lines, axis=0)
            cells = "".join(f"{score:>13.2f}{leaves:>7.1f}" for score, leaves in means)
            print(f"{'mean':<19}{'':>6}{cells}", flush=True)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
