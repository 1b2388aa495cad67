"""The tree of a forest that agrees most with it: the one to look at first.

Rows that the forest was grown on are asked for what each tree says of them, and what
the forest says. Of classes the tree that says the same as the forest on most rows is
the typical one; of numbers that whose numbers are nearest, by the sum of squares. Of
equals it is the one of fewest leaves, then the first.
"""

from dataclasses import replace

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.row_order import copies_of
from spinney._support.ties import TOLERANCE
from spinney.growth.forest.bags import ForestBags
from spinney.growth.forest.forest import Forest, Typical
from spinney.growth.forest.voting import blocks_of, subset, votes_of
from spinney.trees import labels_of

MOST_ROWS = 300  # that are asked about


def with_typical(forest: Forest, bags: ForestBags) -> Forest:
    """Return a forest that knows its typical tree."""
    rows = _rows(bags)
    by_tree, together = _said(forest, bags, rows)
    if forest.schema.target.is_numeric:
        agreement = _explained(by_tree[:, :, 0], together[:, 0])
    else:
        labels = labels_of(by_tree.reshape(-1, forest.n_outputs), None)
        same = labels.reshape(by_tree.shape[:2]) == labels_of(together, None)[:, None]
        agreement = np.asarray(same.mean(axis=0))
    leaves = np.array([member.n_leaves for member in forest.members])
    best = np.flatnonzero(agreement >= agreement.max() - TOLERANCE)
    number = int(best[np.argmin(leaves[best])])
    typical = Typical(number, float(agreement[number]), len(rows))
    return replace(forest, typical=typical)


def _rows(bags: ForestBags) -> Integers:
    """Return rows spread evenly among the copies, in an order of what is in them."""
    training, copies = bags.training, bags.copies
    if copies is None:
        cells = (*training.columns, training.classes)
        copies = copies_of(cells, training.weights, ranked=False)
    n = min(MOST_ROWS, len(copies.places))
    return np.asarray(copies.places[np.arange(n) * len(copies.places) // n])


def _said(forest: Forest, bags: ForestBags, rows: Integers) -> tuple[Floats, Floats]:
    """Return what each tree says of rows, rows × trees × outputs, and the forest."""
    trees, roots = forest.laid_out(forest.numbers)
    voters, _ = forest.side_by_side(forest.numbers)
    by_tree = np.zeros((len(rows), len(forest), forest.n_outputs))
    together = np.zeros((len(rows), forest.n_outputs))
    for block in blocks_of(np.arange(len(rows)), len(forest)):
        row, tree = (each.ravel() for each in np.indices((len(block), len(forest))))
        columns = subset(bags.training.columns, rows[block[row]])
        for entries in trees.leaves(columns, len(row), roots=roots[tree]):
            own, weights = entries.rows, entries.weights[:, None]
            at = block[row[own]]
            said = trees.distribution[entries.nodes] * weights
            np.add.at(by_tree, (at, tree[own]), said)
            votes = votes_of(voters.distribution[entries.nodes], forest)
            np.add.at(together, at, votes * weights)
    return by_tree, together / len(forest)


def _explained(by_tree: Floats, together: Floats) -> Floats:
    """Return R² of the numbers of each tree for those of the forest."""
    errors = ((by_tree - together[:, None]) ** 2).sum(axis=0)
    spread = float(((together - together.mean()) ** 2).sum())
    return np.asarray(1 - errors / spread if spread > 0 else np.ones(len(errors)))
