"""Predictions of one tree, by compiled kernels if these are faster.

Rows that are divided by a missing value, or use surrogates, are predicted by
:mod:`spinney.trees.predict.flat_tree`. The results are the same in every bit.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.jit.loading_time import wants_kernels
from spinney.trees.predict.flat_tree import FlatTree, flatten
from spinney.trees.tree import Tree

Columns = Sequence[NDArray[Any]]


@dataclass(frozen=True)
class LazyFlatTree:
    """A tree whose arrays are made on first access.

    An estimator has it from the start, because predicting must not change its fields.
    """

    tree: Tree

    @cached_property
    def arrays(self) -> FlatTree:
        """The tree as arrays."""
        return flatten(self.tree)


def outputs(tree: FlatTree, columns: Columns, n_rows: int) -> Floats:
    """Return the prediction of each row: class probabilities, or one number."""
    if _is_small(tree, n_rows):
        return tree.outputs(columns, n_rows)
    from spinney.trees.predict.compiled.flat_layout import tree_layout
    from spinney.trees.predict.compiled.walk_rows import leaves, votes

    flat = tree_layout(tree)
    if tree.arrays.models is not None:
        reached = leaves(flat, columns, n_rows)[:, 0]
        is_open = reached < 0
        result = tree.outputs_at(flat.numbers[reached].astype(np.int64), columns)
    else:
        summed = votes(flat, columns, n_rows)
        result, is_open = summed.sums, summed.open > 0
    _fill(result, is_open, columns, tree.outputs)
    return result


def leaf_numbers(tree: FlatTree, columns: Columns, n_rows: int) -> Integers:
    """Return each row's leaf: the leaf with most of its weight, the first on ties."""
    if _is_small(tree, n_rows):
        return tree.leaf_numbers(columns, n_rows)
    from spinney.trees.predict.compiled.flat_layout import tree_layout
    from spinney.trees.predict.compiled.walk_rows import leaves

    flat = tree_layout(tree)
    reached = leaves(flat, columns, n_rows)[:, 0]
    result = flat.numbers[reached].astype(np.int64)
    _fill(result, reached < 0, columns, tree.leaf_numbers)
    return result


def _is_small(tree: FlatTree, n_rows: int) -> bool:
    steps = n_rows * math.log2(len(tree.attribute) + 1)
    return not wants_kernels("predict", steps)


def _fill(
    result: NDArray[Any],
    is_open: NDArray[np.bool_],
    columns: Columns,
    predict: Callable[[Columns, int], NDArray[Any]],
) -> None:
    """Fill in the predictions of open rows without kernels."""
    rows = np.flatnonzero(is_open)
    if len(rows):
        subset = [None if cells is None else cells[rows] for cells in columns]
        result[rows] = predict(subset, len(rows))
