"""Nodes whose competitors are found when somebody asks for them.

Loops grow the tree of a small table in a fraction of the plain learner's time, but do
not keep every split that lost. Most trees only predict. So the rows are kept, and where
the splits of a node are looked at, the plain learner grows the same tree again.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spinney.data import Schema
from spinney.errors import SpinneyWarning
from spinney.trees import (
    Candidate,
    CandidateArrays,
    LazyNodes,
    Tree,
    TreeArrays,
)


@dataclass(frozen=True, eq=False)
class ReplayedNodes(LazyNodes):
    """Nodes of a tree that loops grew, with the candidates of one grown again."""

    grown: Tree
    schema: Schema
    replay: Callable[[], Tree]

    def _arrays(self) -> TreeArrays:
        return self.grown.arrays

    def candidates(self, number: int) -> tuple[Sequence[Candidate], int | None]:
        """Return the candidates of a node, and which of them won."""
        return self._looked_at.nodes.candidates(number)

    def _candidate_arrays(self) -> CandidateArrays:
        return self._looked_at.nodes.candidate_arrays

    @cached_property
    def _looked_at(self) -> Tree:
        """The tree grown again; that of the kernels, should a near tie part the two."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpinneyWarning)  # they were told before
            again = self.replay()
        one, other = again.arrays, self.arrays
        same = len(one) == len(other) and all(
            np.array_equal(getattr(one, name), getattr(other, name))
            for name in ("parent", "attribute")
        )
        return again if same else self.grown

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep no rows in a copy or a pickle."""
        return _nodes_of, (self._looked_at,)


def _nodes_of(tree: Tree) -> LazyNodes:
    return tree.nodes


def replayed(tree: Tree, replay: Callable[[], Tree]) -> Tree:
    """Return a tree that kernels grew, with competitors found by growing it again."""
    return Tree(tree.schema, ReplayedNodes(tree, tree.schema, replay))
