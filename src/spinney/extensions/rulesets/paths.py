"""The paths of a tree as tests, and which rows satisfy them.

A path keeps every test from the root to its leaf, the looser bounds of an
attribute too: where ``x ≤ 5`` is dropped, ``x ≤ 10`` from further up still stands.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema
from spinney.output.leaf_rules import Condition, both, branch_condition
from spinney.trees import Tree

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Path:
    """The tests on the way to a leaf, root first, and the leaf's class."""

    tests: tuple[Condition, ...]
    code: int


def paths_of(tree: Tree) -> list[Path]:
    """Return one path per leaf, in printing order."""
    tests = {
        node.number: branch_condition(tree.nodes[node.parent], node, tree.schema)
        for node in tree
        if node.parent is not None
    }
    return [
        Path(
            tuple(tests[node.number] for node in tree.path(leaf.number)[1:]), leaf.label
        )
        for leaf in tree.leaves
    ]


def holds(condition: Condition, cells: NDArray[Any]) -> Bools:
    """Return which coded cells satisfy a condition.

    A missing cell does so only where the condition says that missing values come
    its way; never where the tree divides such rows.

    >>> from spinney.data.schema import Attribute
    >>> width = Attribute("width", "numeric")
    >>> holds(Condition(width, high=2.0), np.array([1.0, 2.0, 3.0, np.nan]))
    array([ True,  True, False, False])
    """
    goes_here = condition.missing is True
    if condition.values is not None:
        # A missing cell is -1, and so finds the last entry.
        asked = np.zeros(len(condition.attribute.values) + 1, dtype=np.bool_)
        asked[list(condition.values)] = True
        asked[-1] = goes_here
        return np.asarray(asked[cells])
    inside = (cells > condition.low) & (cells <= condition.high)
    absent = np.isnan(cells) if cells.dtype.kind == "f" else cells < 0
    return np.where(absent, goes_here, inside)


def matches(
    conditions: Iterable[Condition],
    columns: Sequence[NDArray[Any]],
    *,
    schema: Schema,
    n_rows: int,
) -> Bools:
    """Return which rows satisfy all conditions."""
    matching = np.ones(n_rows, dtype=np.bool_)
    for condition in conditions:
        matching &= holds(condition, columns[schema.position(condition.attribute.name)])
    return matching


def merged(tests: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return one condition per attribute that says the same as several tests.

    >>> from spinney.data.schema import Attribute
    >>> width = Attribute("width", "numeric")
    >>> tests = [Condition(width, low=1.0), Condition(width, high=5.0)]
    >>> [condition.text() for condition in merged(tests)]
    ['1 < width ≤ 5']
    """
    conditions: dict[str, Condition] = {}
    for test in tests:
        name = test.attribute.name
        conditions[name] = (
            _all_of(conditions[name], test) if name in conditions else test
        )
    return tuple(conditions.values())


def _all_of(one: Condition, other: Condition) -> Condition:
    missing = None
    if one.missing is False or other.missing is False:
        missing = False
    elif one.missing and other.missing:
        missing = True
    merged = both(one, other, missing=missing)
    # Where the value is missing, nothing else is asked.
    asks_missing = missing and merged.low == np.inf
    return replace(merged, high=np.inf) if asks_missing else merged


def tests_in(condition: Condition) -> int:
    """Return how many tests of a tree a condition stands for: two for an interval."""
    return 2 if np.isfinite([condition.low, condition.high]).all() else 1
