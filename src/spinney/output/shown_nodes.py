"""The nodes of a tree that a text of so many lines shows."""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import inf

import numpy as np

from spinney._support.arrays import Integers
from spinney.trees import Tree


@dataclass(frozen=True, slots=True)
class ShownNodes:
    """Nodes in printing order, with the number of nodes and leaves that each hides."""

    numbers: Integers
    nodes_below: Integers
    leaves_below: Integers
    hidden_leaves: int


def shown_nodes(
    tree: Tree, *, max_depth: int | None = None, max_lines: int | None = None
) -> ShownNodes:
    """Return the nodes down to a depth, or as many as lines have room for.

    Where not all have room, the branches of the node with the most rows come first. A
    line is for the number of hidden leaves, and one for the linear model of a leaf.
    """
    depth, inner = tree.nodes.links.depth, tree.arrays.inner
    is_shown = depth <= (inf if max_depth is None else max_depth)
    is_cut = max_lines is not None and _n_lines(tree, np.flatnonzero(is_shown)) > (
        max_lines
    )
    if is_cut:
        assert max_lines is not None
        is_shown &= _reached_first(tree, max_lines - 1)
    numbers = np.flatnonzero(is_shown)
    # In printing order, what lies below a node stands before the next that is shown.
    leaves = np.append(0, np.cumsum(~inner))
    nodes_below = np.diff(numbers, append=len(tree)) - 1
    leaves_below = np.diff(leaves[np.append(numbers, len(tree))]) - ~inner[numbers]
    if is_cut:  # a node may have more branches than there are lines
        numbers = numbers[: max(max_lines or 0, 2) - 1]
    hidden = tree.n_leaves - int(np.count_nonzero(~inner[numbers]))
    n = len(numbers)
    return ShownNodes(numbers, nodes_below[:n], leaves_below[:n], hidden)


def _n_lines(tree: Tree, numbers: Integers) -> int:
    """Return the number of lines of nodes, with those of the models of leaves."""
    models = tree.model_names
    n_models = sum(number in models for number in numbers.tolist()) if models else 0
    return len(numbers) + (n_models + 1 if n_models else 0)


def _reached_first(
    tree: Tree, max_lines: int
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return whether each node is reached where nodes of most rows are split first."""
    links, rows, models = tree.nodes.links, tree.arrays.rows, tree.model_names
    is_shown = np.zeros(len(tree), np.bool_)
    is_shown[0] = True
    n_lines, open_nodes = 1 + bool(models), [(-int(rows[0]), 0)]
    heapify(open_nodes)
    while open_nodes:
        _, node = heappop(open_nodes)
        first = links.first[node]
        children = links.children[first : first + links.count[node]].tolist()
        need = len(children) + sum(child in models for child in children)
        if not children or (node and n_lines + need > max_lines):
            continue
        n_lines += need
        is_shown[children] = True
        for child in children:
            heappush(open_nodes, (-int(rows[child]), child))
    return is_shown
