"""The paths of a tree as tests, and the rows that satisfy them.

A path keeps every test from the root to its leaf, including looser bounds of an
attribute: if ``x ≤ 5`` is dropped, ``x ≤ 10`` from a higher node remains.
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
    """The tests on the path to a leaf, root first, and the leaf's class."""

    tests: tuple[Condition, ...]
    code: int


def tree_paths(tree: Tree) -> list[Path]:
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

    A missing cell satisfies a condition only if the branch takes missing values; never
    if the tree divides such rows.

    >>> from spinney.data.schema import Attribute
    >>> width = Attribute("width", "numeric")
    >>> holds(Condition(width, high=2.0), np.array([1.0, 2.0, 3.0, np.nan]))
    array([ True,  True, False, False])
    """
    takes_missing = condition.missing is True
    if condition.values is not None:
        # A missing cell is -1, and so finds the last entry.
        allowed = np.zeros(len(condition.attribute.values) + 1, dtype=np.bool_)
        allowed[list(condition.values)] = True
        allowed[-1] = takes_missing
        return np.asarray(allowed[cells])
    inside = (cells > condition.low) & (cells <= condition.high)
    missing = np.isnan(cells) if cells.dtype.kind == "f" else cells < 0
    return np.where(missing, takes_missing, inside)


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


def merge_tests(tests: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return several tests as one equivalent condition per attribute.

    >>> from spinney.data.schema import Attribute
    >>> width = Attribute("width", "numeric")
    >>> tests = [Condition(width, low=1.0), Condition(width, high=5.0)]
    >>> [condition.text() for condition in merge_tests(tests)]
    ['1 < width ≤ 5']
    """
    conditions: dict[str, Condition] = {}
    for test in tests:
        name = test.attribute.name
        conditions[name] = (
            _merge_two(conditions[name], test) if name in conditions else test
        )
    return tuple(conditions.values())


def _merge_two(first: Condition, second: Condition) -> Condition:
    missing = None
    if first.missing is False or second.missing is False:
        missing = False
    elif first.missing and second.missing:
        missing = True
    merged = both(first, second, missing=missing)
    # A test for a missing value has no other bound.
    is_missing_test = missing and merged.low == np.inf
    return replace(merged, high=np.inf) if is_missing_test else merged


def n_tests_in(condition: Condition) -> int:
    """Return the number of tests in a condition: two for an interval, else one."""
    return 2 if np.isfinite([condition.low, condition.high]).all() else 1
