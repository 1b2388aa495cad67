"""The typical tree of a forest: the tree that agrees most with the forest.

The trees and the forest predict a sample of rows. For classes, the typical tree has the
most predictions in common with the forest; for numbers, the least sum of squared
differences. Ties go to the tree with the fewest leaves, then to the first.
"""

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.row_order import row_copies
from spinney._support.ties import TOLERANCE
from spinney.growth.forest.forest import Forest, TypicalTree
from spinney.growth.forest.voting import Columns, blocks_of, subset, votes_of
from spinney.trees import labels_of

MAX_ROWS = 1000  # of the sample


def find_typical_tree(
    forest: Forest, columns: Columns, n_rows: int, weights: Floats | None = None
) -> TypicalTree:
    """Return the tree that agrees most with its forest on some rows.

    A sample of many rows is spread evenly, in an order that depends on their cells.
    """
    cells = [cells for cells in columns if cells is not None]
    rows = np.arange(n_rows)
    if cells:
        rows = row_copies(tuple(cells), weights, ranked=False).places
    n = min(MAX_ROWS, len(rows))
    rows = rows[np.arange(n) * len(rows) // n]
    by_tree, together = _predictions(forest, columns, rows)
    if forest.schema.target.is_numeric:
        agreement = _r_squared(by_tree[:, :, 0], together[:, 0])
    else:
        labels = labels_of(by_tree.reshape(-1, forest.n_outputs), None)
        same = labels.reshape(by_tree.shape[:2]) == labels_of(together, None)[:, None]
        agreement = np.asarray(same.mean(axis=0))
    leaves = np.array([member.n_leaves for member in forest.members])
    best = np.flatnonzero(agreement >= agreement.max() - TOLERANCE)
    number = int(best[np.argmin(leaves[best])])
    return TypicalTree(number, float(agreement[number]), n)


def _predictions(
    forest: Forest, columns: Columns, rows: Integers
) -> tuple[Floats, Floats]:
    """Return the predictions of trees, rows × trees × outputs, and of the forest."""
    trees, roots = forest.packed_trees(forest.numbers)
    voters, _ = forest.voting_trees(forest.numbers)
    by_tree = np.zeros((len(rows), len(forest), forest.n_outputs))
    together = np.zeros((len(rows), forest.n_outputs))
    for block in blocks_of(np.arange(len(rows)), len(forest)):
        row, tree = np.indices((len(block), len(forest))).reshape(2, -1)
        cells = subset(columns, rows[block[row]])
        entries = block[row], tree
        by_tree[entries] = trees.outputs(cells, len(row), roots=roots[tree])
        votes = votes_of(voters.outputs(cells, len(row), roots=roots[tree]), forest)
        np.add.at(together, block[row], votes)
    return by_tree, together / len(forest)


def _r_squared(by_tree: Floats, together: Floats) -> Floats:
    """Return R² of the predictions of each tree for those of the forest."""
    errors = ((by_tree - together[:, None]) ** 2).sum(axis=0)
    spread = float(((together - together.mean()) ** 2).sum())
    return np.asarray(1 - errors / spread if spread > 0 else np.ones(len(errors)))
