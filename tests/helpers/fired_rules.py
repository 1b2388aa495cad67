"""Which rules rows fire, and which leaf they come to, both from figures alone."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ParameterError
from spinney.output.leaf_rules import Condition, rules_of
from spinney.recipes import RECIPES, Recipe
from spinney.recipes.vocabulary import GROUPINGS, MISSING_POLICIES
from spinney.trees import Tree

Columns = Sequence[NDArray[Any]]


def absent(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which cells are missing."""
    return np.isnan(cells) if cells.dtype.kind == "f" else cells < 0


def holds(condition: Condition, cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which cells satisfy a condition."""
    if condition.values is not None:
        inside = np.isin(cells, condition.values)
    else:
        inside = (cells > condition.low) & (cells <= condition.high)
    return np.where(absent(cells), condition.missing is True, inside)


def fired(tree: Tree, columns: Columns, n_rows: int) -> NDArray[np.int64]:
    """Return the leaf of the one rule that each row fires; -1 of none, -2 of several.

    The rules are those of the tree, their leaves as they say.
    """
    leaf = np.full(n_rows, -1)
    for rule in rules_of(tree):
        rows = np.ones(n_rows, dtype=bool)
        for condition in rule.conditions:
            place = tree.schema.position(condition.attribute.name)
            rows &= holds(condition, columns[place])
        leaf[rows] = np.where(leaf[rows] == -1, rule.leaf, -2)
    return leaf


def spoken_of(tree: Tree, columns: Columns, n_rows: int) -> NDArray[np.int64]:
    """Return the leaf of each row; -1 where rules do not speak of it.

    They do not where a value is missing, or none of those the node knows, and such
    rows are divided, or surrogates decide; nor of a missing value where none was seen.
    """
    place = np.zeros(n_rows, dtype=np.int64)
    for node in tree:
        rows = np.flatnonzero(place == node.number)
        if node.is_leaf or not len(rows):
            continue
        split = node.route.described
        cells = columns[split.attribute][rows]
        branch = split.branch_of(cells)
        told = ~absent(cells) | bool(node.candidate.table.missing_rows.any())
        if split.missing is not None:
            branch = np.where((branch < 0) & told, split.missing, branch)
        place[rows] = np.where(branch < 0, -1, np.array(node.children)[branch])
    return place


def violations(
    tree: Tree, columns: Columns, leaves: NDArray[Any]
) -> list[dict[str, Any]]:
    """Return the rows that do not fire the rule of their leaf, and that alone.

    ``leaves`` are those that the model sends them to. A row that rules do not speak of
    must fire none.
    """
    n_rows = len(leaves)
    expected, found = spoken_of(tree, columns, n_rows), fired(tree, columns, n_rows)
    wrong = (found != expected) | ((expected >= 0) & (expected != leaves))
    return [
        {
            "row": [cells[row] for cells in columns],
            "fired": int(found[row]),
            "leaf": int(leaves[row]),
        }
        for row in np.flatnonzero(wrong)
    ]


def recipes_of(*, numeric: bool) -> Iterator[Recipe]:
    """Give every recipe with every grouping and every policy that it can have.

    One that chooses among several grows as they do.
    """
    for name in (name for name, recipe in RECIPES.items() if not recipe.tries):
        for grouping in GROUPINGS:
            for missing in MISSING_POLICIES:
                try:
                    recipe = Recipe.named(name).changed(
                        grouping=grouping, missing_policy=missing
                    )
                    recipe.refuse_target(numeric=numeric)
                except ParameterError:
                    continue
                yield recipe
