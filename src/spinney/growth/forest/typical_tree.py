"""The tree of a forest that agrees most with it: the one to look at first.

Of some rows, such as those that the forest was grown on, each tree says what it
predicts, and so does the forest. Of classes the tree that says the same as the forest
of most rows is the typical one; of numbers that whose numbers are nearest, by the sum
of squares. Of equals it is the one of fewest leaves, then the first.
"""

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.row_order import row_copies
from spinney._support.ties import TOLERANCE
from spinney.growth.forest.forest import Forest, Typical
from spinney.growth.forest.voting import Columns, blocks_of, subset, votes_of
from spinney.trees import labels_of

MOST_ROWS = 1000  # that are asked about


def find_typical(
    forest: Forest, columns: Columns, n_rows: int, weights: Floats | None = None
) -> Typical:
    """Return the tree that agrees most with its forest on some rows.

    Of many rows some are asked about, spread evenly in an order of what is in them.
    """
    cells = [cells for cells in columns if cells is not None]
    rows = np.arange(n_rows)
    if cells:
        rows = row_copies(tuple(cells), weights, ranked=False).places
    n = min(MOST_ROWS, len(rows))
    rows = rows[np.arange(n) * len(rows) // n]
    by_tree, together = _said(forest, columns, rows)
    if forest.schema.target.is_numeric:
        agreement = _explained(by_tree[:, :, 0], together[:, 0])
    else:
        labels = labels_of(by_tree.reshape(-1, forest.n_outputs), None)
        same = labels.reshape(by_tree.shape[:2]) == labels_of(together, None)[:, None]
        agreement = np.asarray(same.mean(axis=0))
    leaves = np.array([member.n_leaves for member in forest.members])
    best = np.flatnonzero(agreement >= agreement.max() - TOLERANCE)
    number = int(best[np.argmin(leaves[best])])
    return Typical(number, float(agreement[number]), n)


def _said(forest: Forest, columns: Columns, rows: Integers) -> tuple[Floats, Floats]:
    """Return what each tree says of rows, rows × trees × outputs, and the forest."""
    trees, roots = forest.laid_out(forest.numbers)
    voters, _ = forest.side_by_side(forest.numbers)
    by_tree = np.zeros((len(rows), len(forest), forest.n_outputs))
    together = np.zeros((len(rows), forest.n_outputs))
    for block in blocks_of(np.arange(len(rows)), len(forest)):
        row, tree = (each.ravel() for each in np.indices((len(block), len(forest))))
        own = subset(columns, rows[block[row]])
        at = block[row], tree
        by_tree[at] = trees.outputs(own, len(row), roots=roots[tree])
        said = voters.outputs(own, len(row), roots=roots[tree])
        np.add.at(together, block[row], votes_of(said, forest))
    return by_tree, together / len(forest)


def _explained(by_tree: Floats, together: Floats) -> Floats:
    """Return R² of the numbers of each tree for those of the forest."""
    errors = ((by_tree - together[:, None]) ** 2).sum(axis=0)
    spread = float(((together - together.mean()) ** 2).sum())
    return np.asarray(1 - errors / spread if spread > 0 else np.ones(len(errors)))
