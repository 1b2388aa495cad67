"""The sequence of subtrees by weakest links (Breiman, Friedman, Olshen, Stone 1984).

A subtree costs R + α · leaves, R being its training risk. As α rises from 0, ever
smaller subtrees are the cheapest; each is a pruned form of the one before. A node t
collapses at the α where it costs as much as a leaf as with what is then left below it.

Breiman's algorithm finds the least g(t) = (R(t) − R(T_t)) / (leaves of T_t − 1) over
all nodes, cuts there and begins again. Here all collapses are found in one walk from
the leaves up. What is below t costs, as a function of α, a concave chain of lines,
the sum of its children's chains::

    cost                            the last line: all children are leaves
      │                  ____----
      │        ___---´´´´  ╱        R(t) + α, t as a leaf, has the slope 1
      │   _--´´        ╱            it meets the chain where t collapses
      │ ╱          ╱
      └──┴──────┴─────────┴── α     the bends: collapses below t

From the right, bends that lie beyond the meeting point are taken off the chain; they
never return, since above t they cannot be seen. So every bend is put on and taken off
a heap once.
"""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from spinney._support.arrays import TOLERANCE, Floats, Integers
from spinney.trees.tree import Node, Tree

__all__ = ["Links", "weakest_links"]

# One bend: -α (heaps have the least on top), node, and what its collapse adds to the
# risk and takes from leaves and splits.
Bend = tuple[float, int, float, int, int]


@dataclass(frozen=True, slots=True)
class Links:
    """When the nodes of a tree collapse.

    Parameters
    ----------
    alpha : array, one number a node
        Where a node becomes a leaf; that of an ancestor may come first. It is −∞ for
        a leaf, and 0 where a node is no better than a leaf.
    bends : tuple
        (α, node, risk added, leaves gone, splits gone) of the collapses that are seen
        from the root, by rising α.
    margin : float
        How far apart links are that are equal but for rounding: they are differences
        of risks, and so exact to a share of the greatest, the root's.
    """

    alpha: Floats
    bends: tuple[Bend, ...]
    margin: float

    def stays(self, tree: Tree, alphas: Floats) -> tuple[Integers, Integers]:
        """Return for each node between which of rising alphas it is a leaf.

        It is one from the first on, and from the last on gone with an ancestor;
        where the first is not below the last it never is.
        """
        gone = np.full(len(tree), np.inf)
        for node in tree:
            if node.parent is not None:
                gone[node.number] = min(gone[node.parent], self.alpha[node.parent])
        reached = alphas + self.margin
        last = np.searchsorted(reached, gone)
        last[np.isinf(gone)] = len(alphas)
        return np.searchsorted(reached, self.alpha), last


def weakest_links(tree: Tree, risks: Floats) -> Links:
    """Find where each node collapses; ``risks`` are those of nodes as leaves."""
    margin = TOLERANCE * max(float(risks[0]), 0.0)
    alpha = np.full(len(tree), -np.inf)
    chains: dict[int, list[Bend]] = {}
    for node in reversed(tree.nodes):
        if node.is_leaf:
            chains[node.number] = []
            continue
        chain = _merged([chains.pop(child) for child in node.children])
        bend = _collapse(node, chain, risks)
        alpha[node.number] = 0.0 if -bend[0] <= margin else -bend[0]
        heappush(chain, (-float(alpha[node.number]), *bend[1:]))
        chains[node.number] = chain
    bends = sorted((-bend[0], *bend[1:]) for bend in chains[0])
    return Links(alpha, tuple(bends), margin)


def _merged(chains: list[list[Bend]]) -> list[Bend]:
    """Return all bends as one heap, the small ones put into the largest."""
    chains.sort(key=len)
    largest = chains.pop()
    for chain in chains:
        for bend in chain:
            heappush(largest, bend)
    return largest


def _collapse(node: Node, chain: list[Bend], risks: Floats) -> Bend:
    """Return the bend of a node; takes those off the chain that lie beyond it."""
    risk = float(sum(risks[child] for child in node.children))
    leaves, splits = len(node.children), 1
    own = float(risks[node.number])
    while True:
        alpha = (own - risk) / (leaves - 1)
        if not chain or -chain[0][0] <= alpha:
            return -alpha, node.number, own - risk, leaves - 1, splits
        _, _, added, fewer_leaves, fewer_splits = heappop(chain)
        risk -= added
        leaves += fewer_leaves
        splits += fewer_splits
