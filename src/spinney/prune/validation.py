"""Validation rows at the nodes of a tree, and the record of pruning by them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.counts import Floats
from spinney.errors import DataError
from spinney.model import PruneStep
from spinney.predict import flatten
from spinney.tree import Tree

__all__ = ["PruneStep", "Validation", "validate"]


@dataclass(frozen=True, slots=True)
class Validation:
    """For each node, the weight of validation rows it would label right, as a leaf.

    A row that a missing value divides counts at each node with its part.
    """

    right: Floats
    n_rows: int


def validate(
    tree: Tree, columns: Sequence[NDArray[Any]], classes: NDArray[Any]
) -> Validation:
    """Send validation rows down a tree; a row of an unknown class is never right."""
    n_rows = len(classes)
    if not n_rows:
        msg = "the validation table has no rows: pruning needs some"
        raise DataError(msg)
    labels = np.array([node.label for node in tree])
    right = np.zeros(len(tree))
    for entries in flatten(tree).visits(columns, n_rows):
        hit = labels[entries.nodes] == np.asarray(classes)[entries.rows]
        right += np.bincount(
            entries.nodes, np.where(hit, entries.weights, 0.0), minlength=len(tree)
        )
    return Validation(right, n_rows)
