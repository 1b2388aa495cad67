"""Pre-pruning as a tree grows: validation rows go down with it, a level at a time.

Whether a split helps is told by its node and its children alone (by_validation), so a
tree need not be grown below one that does not. The level is seen as *stumps*, trees
of one question each, side by side::

    growing nodes   4      7              5  6  8  9  10     children, as leaves
    stumps          0      3      with    1  2  4  5  6
"""

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.growth.prune.by_validation import (
    EncodedRows,
    Judge,
    Validation,
    measure_of,
)
from spinney.trees import Tree
from spinney.trees.predict import Entries, flatten


class Descent:
    """Validation rows at the nodes that grow.

    Parameters
    ----------
    rows : EncodedRows
        The rows, of which one at least has a weight.
    """

    def __init__(self, rows: EncodedRows) -> None:
        self.rows = rows
        every = np.arange(len(rows.targets))
        self._entries = Entries(every, np.zeros_like(every), np.ones(len(every)))
        self._margin: float | None = None

    def helped(self, stumps: Tree, numbers: Integers) -> list[bool]:
        """Return of each stump whether its rows fare better with its question.

        The rows go to the children. ``numbers`` are those of the growing nodes, each
        of which is one of the nodes of the stumps.
        """
        judged = self._sent_down(stumps, numbers)
        if self._margin is None:  # the first stump is the root
            self._margin = judged.margin
        children = stumps.nodes.children
        return [
            judged.helps(node, below, self._margin)
            for node, below in enumerate(children)
            if below
        ]

    def _sent_down(self, stumps: Tree, numbers: Integers) -> Validation:
        """Return the losses at the nodes of stumps, and send the rows to the leaves."""
        rows, flat, judge = self.rows, flatten(stumps), Judge(stumps, self.rows)
        last = max(int(numbers.max()), int(self._entries.nodes.max(initial=0)))
        place = np.full(last + 1, -1)
        place[numbers] = np.arange(len(numbers))
        nodes = place[self._entries.nodes]
        here = nodes >= 0
        above = Entries(
            self._entries.rows[here], nodes[here], self._entries.weights[here]
        )
        columns = stumps.schema.completed(rows.columns, flat.gathered)
        below = flat.step(above, columns, len(rows.targets))
        loss, weight_at = np.zeros((2, len(stumps)))
        for entries in (above, below):
            parts: Floats = entries.weights * rows.weights[entries.rows]
            losses = judge.losses(entries)
            loss += np.bincount(entries.nodes, parts * losses, len(stumps))
            weight_at += np.bincount(entries.nodes, parts, len(stumps))
        self._entries = Entries(below.rows, numbers[below.nodes], below.weights)
        return Validation(loss, weight_at, measure_of(stumps))
