"""Compact trees side by side in the same arrays: what a forest keeps.

A tree is a stretch of nodes, from its root to the next one. Many trees together take as
few arrays as one, so they are sent down, filed and counted without a loop over them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from spinney._support.arrays import Integers
from spinney.trees.tree_arrays import NEEDED, TreeArrays

BY_NODE = tuple(set(NEEDED) - {"parent", "branches", "cuts"})


@dataclass(frozen=True, eq=False)
class SideBySide(Sequence[TreeArrays]):
    """Many compact trees in the arrays of one; each is made on request, without a copy.

    Parameters
    ----------
    whole : TreeArrays
        The nodes of all, numbered through: so are their parents.
    roots : array of int
        Where each tree begins.
    """

    whole: TreeArrays
    roots: Integers

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.roots)

    @property
    def sizes(self) -> Integers:
        """How many nodes each tree has."""
        return np.diff(self.roots, append=len(self.whole))

    @overload
    def __getitem__(self, number: int) -> TreeArrays: ...
    @overload
    def __getitem__(self, number: slice) -> "SideBySide": ...
    def __getitem__(self, number: int | slice) -> "TreeArrays | SideBySide":
        """Return a tree by itself, or some that follow each other."""
        if isinstance(number, slice):
            first, last, _ = number.indices(len(self))
            roots = self.roots[first:last]
            return SideBySide(self._of(first, last), roots - roots[:1])
        first = range(len(self))[number]
        return self._of(first, first + 1)

    def _of(self, first: int, last: int) -> TreeArrays:
        whole, ends = self.whole, np.append(self.roots, len(self.whole))
        if first == 0 and last == len(self):
            return whole
        start, end = int(ends[first]), int(ends[max(first, last)])
        in_branches, in_cuts = self._entries
        parent = whole.parent[start:end]
        return TreeArrays(
            **{name: getattr(whole, name)[start:end] for name in BY_NODE},
            parent=np.where(parent < 0, -1, parent - start).astype(np.int32),
            branches=whole.branches[in_branches[start] : in_branches[end]],
            cuts=whole.cuts[in_cuts[start] : in_cuts[end]],
        )

    @cached_property
    def _entries(self) -> tuple[Integers, Integers]:
        """Where the entries of nodes begin in ``branches`` and ``cuts``, and end."""
        in_branches, in_cuts = self.whole.in_branches, self.whole.in_cuts
        return np.append(0, in_branches.cumsum()), np.append(0, in_cuts.cumsum())


def joined(parts: Sequence[TreeArrays | SideBySide]) -> SideBySide:
    """Return trees, or trees side by side, as one row of them."""
    rows = [
        part if isinstance(part, SideBySide) else SideBySide(part, np.zeros(1, int))
        for part in parts
    ]
    if len(rows) == 1:
        return rows[0]
    sizes = np.array([len(row.whole) for row in rows])
    starts = sizes.cumsum() - sizes
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(row.whole, name) for row in rows])
        for name in NEEDED
    }
    parent = arrays["parent"]
    moved = parent + np.repeat(starts, sizes)
    arrays["parent"] = np.where(parent < 0, -1, moved).astype(np.int32)
    roots = [row.roots + start for row, start in zip(rows, starts, strict=True)]
    return SideBySide(TreeArrays(**arrays), np.concatenate(roots))
