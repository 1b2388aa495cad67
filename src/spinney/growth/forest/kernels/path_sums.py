"""From the root down to leaves, to learn what the leaves say when they are shrunk.

What a leaf says under several shrinkages at once
(:mod:`spinney.growth.forest.choose_shrinkage`) is a sum over the steps of its path.
Only what it says of one output is wanted, that of a row's own class: so the sums are
made on the way down, for each row, and nothing is kept of the nodes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import entry, kernel


class Paths(NamedTuple):
    """Trees side by side, as ``TreeArrays`` has them.

    ``column`` is where the cells of the attribute of a node stand, -1 at a leaf,
    ``branch`` where a missing value goes, or -1; ``entries`` (nodes × 2) where those of
    a node begin in ``branches`` and ``cuts``. ``outputs`` (nodes × outputs) is what
    nodes say for themselves, ``parts`` (nodes × shrinkages) how much a step down from
    each counts. ``links`` (2 × nodes, and one more) is room for the children.
    """

    parent: NDArray[np.integer]
    column: NDArray[np.int32]
    cut: NDArray[np.float64]
    branch: NDArray[np.int64]
    listed: NDArray[np.integer]
    branches: NDArray[np.integer]
    cuts: NDArray[np.float64]
    entries: NDArray[np.int64]
    outputs: NDArray[np.float64]
    parts: NDArray[np.float64]
    links: NDArray[np.int64]


FIRST, CHILDREN = np.arange(2)


@kernel
def link(paths):
    """Set the children of all nodes, in the order of their branches."""
    parent, first, children = paths.parent, paths.links[FIRST], paths.links[CHILDREN]
    n = len(parent)
    for node in range(n + 1):
        first[node] = 0
    for node in range(n):
        if parent[node] >= 0:
            first[parent[node]] += 1
    end = np.int64(0)
    for node in range(n):
        end += first[node]
        first[node] = end
    # From behind, so that those of a node end where they are to begin.
    for node in range(n - 1, -1, -1):
        if parent[node] >= 0:
            first[parent[node]] -= 1
            children[first[parent[node]]] = node


@kernel
def branch_of(paths, node, value):
    """Return the branch of a value at a node; -1 where the row is divided."""
    cut = paths.cut[node]
    if value != value:
        return np.int64(paths.branch[node])
    if cut != cut:
        code = np.int64(value)
        if code < paths.listed[node]:
            branch = np.int64(paths.branches[paths.entries[node, 0] + code])
            if branch >= 0:
                return branch
        return np.int64(paths.branch[node])
    branch = np.int64(value > cut)
    for further in range(paths.listed[node]):
        branch += value > paths.cuts[paths.entries[node, 1] + further]
    return branch


@entry
def add_paths(paths, roots, cells, out, own, sums, divided):
    """Add up what trees say of the own output of rows, under each shrinkage.

    Parameters
    ----------
    paths : Paths
        The trees.
    roots : array
        Where each begins.
    cells : rows × columns
        NaN where they are missing.
    out : rows × trees
        Whether the tree is asked about the row.
    own : array
        The output that is asked about, for each row.
    sums : rows × shrinkages
        What is added to.
    divided : array
        Becomes True where a missing value divides a row: its sums are none.
    """
    link(paths)
    column, outputs, parts = paths.column, paths.outputs, paths.parts
    first, children = paths.links[FIRST], paths.links[CHILDREN]
    for tree in range(len(roots)):
        for row in range(len(own)):
            if not out[row, tree]:
                continue
            node, output = roots[tree], own[row]
            said = outputs[node, output]
            for k in range(parts.shape[1]):
                sums[row, k] += said
            while column[node] >= 0:
                branch = branch_of(paths, node, cells[row, column[node]])
                if branch < 0:
                    divided[row] = True
                    break
                below = children[first[node] + branch]
                step = outputs[below, output] - said
                for k in range(parts.shape[1]):
                    sums[row, k] += step * parts[node, k]
                node, said = below, outputs[below, output]
