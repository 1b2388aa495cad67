"""The measured cells as data: commands that users type, and the grid of recipes."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.everyday.tables import TABLES, Table
from benchmarks.speed.outcome import OWN
from benchmarks.speed.programs import (
    FOREST,
    SCIKIT_FOREST,
    SCIKIT_TREE,
    THREADS,
    TREE,
    Program,
    nominal_trees,
    trees,
)

__all__ = ["PEERS", "Cell", "Command", "grid", "lines"]

PEER = "scikit-learn"
PLAIN = "plain"


@dataclass(frozen=True)
class Cell:
    """Programs, Spinney last, that do one thing with one table in one worker process.

    ``like`` names the cell to compare with where there is no peer. One row is predicted
    as a table or, ``kept``, by Spinney's ``predictor()``. ``loaded`` is a process that
    has loaded Spinney's loops, as one has that grew many trees, or a forest.
    """

    name: str
    table: str
    programs: tuple[Program, ...]
    like: str = ""
    missing: bool = False
    weights: bool = False
    one_row: bool = False
    kept: bool = False
    loaded: bool = False


@dataclass(frozen=True)
class Command:
    """Commands by program, each run in a fresh process; ``{file}`` is the table's."""

    name: str
    table: str
    commands: Mapping[str, tuple[str, ...]]
    like: str = ""


def line(
    name: str,
    table: str,
    own: Mapping[str, Any],
    peer: Mapping[str, Any] | None = None,
    *,
    classes: tuple[Any, Any] = (TREE, SCIKIT_TREE),
    **more: Any,
) -> Cell:
    """Return a cell of the lines; ``peer`` are scikit-learn's parameters."""
    programs = [Program(OWN, *classes[0], dict(own))]
    if peer is not None:
        programs.insert(0, Program(PEER, *classes[1], {"random_state": 0, **peer}))
    return Cell(f"{table}, {name}", table, tuple(programs), **more)


BUNDLED = ("iris", "breast cancer", "digits")
FORESTS = (FOREST, SCIKIT_FOREST)
DEPTH = {"max_depth": 8}
CART = {"recipe": "cart", **DEPTH}
BASE = "cart, depth 8"
MADE, MADE_NUMBER, WIDE = "50,000 × 20", "50,000 × 20, a number", "200,000 × 8"
BALANCED = {"class_weight": "balanced"}
FIRST = (
    "from sklearn.datasets import load_iris as load; from {module} import {name}; "
    "{name}().fit(*load(return_X_y=True))"
)


def shell_lines() -> Iterator[Command]:
    """Yield what is run from a shell, the first fit of a process among it."""
    spinney = (sys.executable, "-m", "spinney")
    for table in ("credit_a", "made like credit_a"):
        told = ("{file}", "--target", "class")
        grow = {OWN: (*spinney, "grow", *told)}
        evaluate = {OWN: (*spinney, "evaluate", *told, "--folds", "5")}
        yield Command(f"{table}, spinney grow, fresh process", table, grow)
        yield Command(
            f"{table}, spinney evaluate, 5 folds, 3 recipes, fresh process",
            table,
            evaluate,
        )
    flower = "one row of iris"
    predict = {OWN: (*spinney, "predict", "{file}.spinney", "{file}")}
    yield Command(f"{flower}, spinney predict, fresh process", flower, predict)
    pairs = {PEER: ("sklearn.tree", "DecisionTreeClassifier")}
    pairs[OWN] = ("spinney", "TreeClassifier")
    python = {
        program: (sys.executable, "-c", FIRST.format(module=module, name=name))
        for program, (module, name) in pairs.items()
    }
    yield Command("iris, default, first fit, fresh process", "", python)


def lines() -> Iterator[Cell | Command]:
    """Yield what people type."""
    yield from shell_lines()
    for table in BUNDLED:
        yield line("default", table, {}, {})
        branch = {"recipe": "cart", "missing_policy": "branch"}
        yield line("cart, branch", table, branch, {})
        yield line("cart, kernels loaded, branch", table, branch, {}, loaded=True)
    ydf = next(p for p in nominal_trees(800) if p.name == "YDF")
    for name, loaded in (("c4.5", False), ("c4.5, kernels loaded", True)):
        adult = line(name, "adult, 800 rows", {"recipe": "c4.5"}, loaded=loaded)
        yield replace(adult, programs=(ydf, *adult.programs))
    yield line("cart", "diabetes", {"recipe": "cart"}, {})
    yield line(BASE, MADE, CART, DEPTH)
    like = f"{MADE}, {BASE}"
    for name, own, peer in (
        ("class weight", BALANCED, DEPTH | BALANCED),
        ("cost matrix", {"cost_matrix": costs(2)}, None),
        ("64 leaves", {"max_leaves": 64}, DEPTH | {"max_leaf_nodes": 64}),
        ("gain ratio", {"criterion": "gain_ratio"}, None),
        ("misclassification", {"criterion": "misclassification"}, None),
        ("buckets", {"buckets": "equal-frequency"}, None),
    ):
        yield line(f"{BASE}, {name}", MADE, CART | own, peer, like=like)
    missing = {"missing": True, "like": like}
    surrogates = CART | {"missing_policy": "surrogate"}
    yield line(f"{BASE}, 5% missing, surrogates", MADE, surrogates, DEPTH, **missing)
    yield line("chaid, depth 8", MADE, {"recipe": "chaid", **DEPTH}, like=like)
    yield line("default", MADE, {}, {}, like=like)
    yield line("default, 5% missing", MADE, {}, {}, **missing)
    yield line("cart, depth 8", MADE_NUMBER, CART, DEPTH)
    yield line("m5", MADE_NUMBER, {"recipe": "m5"}, like=f"{MADE_NUMBER}, {BASE}")
    yield line("default", MADE_NUMBER, {}, {})
    forest = {"n_estimators": 100, "random_state": 0, "n_jobs": THREADS}
    yield line("forest", WIDE, forest, forest, classes=FORESTS)
    names = f"{WIDE}, 500 names"
    yield line("forest", names, forest, classes=FORESTS, like=f"{WIDE}, forest")
    tree, table = {"recipe": "cart"}, "breast cancer"
    for way, kept in (("", False), (", predictor", True)):
        row = {"one_row": True, "kept": kept}
        yield line(f"one row, tree{way}", table, tree, {}, **row)
        row["classes"] = FORESTS
        yield line(f"one row, forest{way}", table, forest, forest, **row)


def costs(n_classes: int) -> list[list[float]]:
    """Return a cost matrix: 1 for an error, 5 for one about the first class."""
    classes = range(n_classes)
    return [[(5.0 if a == 0 else 1.0) * (a != p) for p in classes] for a in classes]


CLASS_RECIPES = ("id3", "c4.5", "cart", "chaid", "auto")
NUMBER_RECIPES = ("cart", "chaid", "m5", "auto")
GRID_TABLES = (*BUNDLED, "credit_g", "adult", "covertype", "diabetes")
# What each program is told; one that is not named cannot do it.
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    PLAIN: {PEER: {}, "YDF": {}, "LightGBM": {}, OWN: {}},
    "class weight": {PEER: BALANCED, "LightGBM": BALANCED, OWN: BALANCED},
    "cost matrix": {OWN: {"cost_matrix": costs}},
    "64 leaves": {
        PEER: {"max_leaf_nodes": 64},
        "LightGBM": {"num_leaves": 64},
        OWN: {"max_leaves": 64},
    },
    "5% missing": {PEER: {}, "YDF": {}, "LightGBM": {}, OWN: {}},
    "weights": {PEER: {}, "LightGBM": {}, OWN: {}},
}
PEERS = [name for name in VARIANTS[PLAIN] if name != OWN]
OF_CLASSES = ("class weight", "cost matrix")


def grid() -> Iterator[Cell]:
    """Yield every recipe on every table, with every setting."""
    for name in GRID_TABLES:
        table = TABLES[name]
        for recipe in CLASS_RECIPES if table.n_classes else NUMBER_RECIPES:
            for variant, programs in VARIANTS.items():
                if table.n_classes or variant not in OF_CLASSES:
                    yield Cell(
                        f"{name}, {recipe}, {variant}",
                        name,
                        tuple(grid_programs(table, recipe, programs)),
                        like="" if variant == PLAIN else f"{name}, {recipe}, {PLAIN}",
                        missing=variant == "5% missing",
                        weights=variant == "weights",
                    )


def grid_programs(
    table: Table, recipe: str, programs: Mapping[str, Mapping[str, Any]]
) -> Iterator[Program]:
    """Yield the programs of a cell, as benchmarks.speed sets them and with more."""
    known = {program.name: program for program in trees(None, table.n_rows)}
    known[OWN] = Program(OWN, *TREE, {"recipe": recipe})
    for name, settings in programs.items():
        if name != PEER or table.numbers:
            told = {
                key: value(table.n_classes) if callable(value) else value
                for key, value in settings.items()
            }
            yield replace(known[name], parameters=known[name].parameters | told)
