"""The predictions of leaves under several shrinkages, summed on the way down.

A shrunk prediction (:mod:`spinney.growth.forest.choose_shrinkage`) is a sum over the
steps of a path. Each row needs only the output of its own class. So each row sums this
output on its way down, and nothing is stored for the nodes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import entry, kernel


class Paths(NamedTuple):
    """Packed trees, as in ``TreeArrays``.

    ``column`` is the column of a node's attribute, -1 at a leaf, and ``branch`` the
    default branch, or -1. ``entries`` (nodes × 2) is the start of a node in
    ``branches`` and ``cuts``. ``outputs`` (nodes × outputs) are the unshrunk outputs of
    nodes, and ``factors`` (nodes × shrinkages) the factors of a step down from each.
    ``links`` (2 × nodes, and one more) is workspace for the children.
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
    factors: NDArray[np.float64]
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
    # Backwards, so that the children of a node end where they begin.
    for node in range(n - 1, -1, -1):
        if parent[node] >= 0:
            first[parent[node]] -= 1
            children[first[parent[node]]] = node


@kernel
def branch_of(paths, node, value):
    """Return the branch of a value at a node; -1 if the row is divided."""
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
    for k in range(paths.listed[node]):
        branch += value > paths.cuts[paths.entries[node, 1] + k]
    return branch


@entry
def add_paths(paths, roots, cells, out, output_index, sums, divided):
    """Sum the predictions of one output of rows, under each shrinkage.

    Parameters
    ----------
    paths : Paths
        The trees.
    roots : array
        The root of each tree.
    cells : rows × columns
        NaN where they are missing.
    out : rows × trees
        Whether the tree votes on the row.
    output_index : array
        The output to predict, for each row.
    sums : rows × shrinkages
        The sums, which are updated.
    divided : array
        Set to True if a missing value divides a row: its sums are then invalid.
    """
    link(paths)
    column, outputs, factors = paths.column, paths.outputs, paths.factors
    first, children = paths.links[FIRST], paths.links[CHILDREN]
    for tree in range(len(roots)):
        for row in range(len(output_index)):
            if not out[row, tree]:
                continue
            node, output = roots[tree], output_index[row]
            value = outputs[node, output]
            for k in range(factors.shape[1]):
                sums[row, k] += value
            while column[node] >= 0:
                branch = branch_of(paths, node, cells[row, column[node]])
                if branch < 0:
                    divided[row] = True
                    break
                below = children[first[node] + branch]
                step = outputs[below, output] - value
                for k in range(factors.shape[1]):
                    sums[row, k] += step * factors[node, k]
                node, value = below, outputs[below, output]
