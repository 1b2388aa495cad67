"""Interactions of attributes in a forest: splits by one below splits by another.

Two attributes that act together occur on the same paths: below a split by one, the
other gains more than elsewhere. This module counts such splits, and sums their gains.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.growth.forest.forest import Forest
from spinney.trees import TreeArrays


@dataclass(frozen=True, slots=True, eq=False)
class Interactions:
    """Counts and gains of splits by attributes below splits by others.

    Parameters
    ----------
    names : tuple of str
        The attributes.
    counts : array, attributes × attributes
        ``counts[a, b]``: the number of splits by b below a split by a.
    gains : array, attributes × attributes
        The gains of those splits, each by the weight of its node, as a fraction of all
        gains of its tree; averaged over the trees.
    splits : array
        The number of all splits by each attribute.
    """

    names: tuple[str, ...]
    counts: Integers
    gains: Floats
    splits: Integers

    @property
    def shares(self) -> Floats:
        """The fraction of splits by b that are below a split by a; 0 without any."""
        return np.asarray(self.counts / np.maximum(self.splits, 1))

    def pairs(self, max_pairs: int | None = None) -> list[tuple[str, str, int, float]]:
        """Return rows of above, below, count and gain, in falling order of gain.

        Pairs of an attribute with itself are left out.
        """
        pairs = [
            (int(a), int(b)) for a, b in zip(*np.nonzero(self.counts), strict=True)
        ]
        distinct = [(a, b) for a, b in pairs if a != b]
        distinct.sort(key=lambda pair: (-self.gains[pair], pair))
        return [
            (
                self.names[a],
                self.names[b],
                int(self.counts[a, b]),
                float(self.gains[a, b]),
            )
            for a, b in distinct[:max_pairs]
        ]


def interactions_of(forest: Forest) -> Interactions:
    """Return the counts and gains of splits by the attributes of splits above."""
    target, p = forest.schema.target, len(forest.schema.attributes)
    counts, splits = np.zeros((p, p), np.int64), np.zeros(p, np.int64)
    gains = np.zeros((p, p))
    for member in forest.members:
        above = _split_above(member, p)
        improvements = member.improvements(target)
        total = improvements[member.inner].sum()
        fractions = improvements / total if total > 0 else improvements
        for b in np.unique(member.attribute[member.inner]):
            nodes = np.flatnonzero(member.attribute == b)
            splits[b] += len(nodes)
            counts[:, b] += above[nodes].sum(axis=0)
            gains[:, b] += fractions[nodes] @ above[nodes]
    return Interactions(forest.schema.names, counts, gains / len(forest), splits)


def _split_above(member: TreeArrays, n_attributes: int) -> NDArray[np.bool_]:
    """Return for each node which attributes split above it, nodes × attributes."""
    above = np.zeros((len(member), n_attributes), dtype=bool)
    depth = member.depth
    order = np.argsort(depth, kind="stable")
    ends = np.cumsum(np.bincount(depth))
    for level in range(1, len(ends)):
        nodes = order[ends[level - 1] : ends[level]]
        parents = member.parent[nodes]
        above[nodes] = above[parents]
        above[nodes, member.attribute[parents]] = True
    return above
