"""The models of all nodes of a tree, in one walk from its last node to its first.

Nodes stand in printing order: backwards, all that is below a node comes before it, and
of each depth only one node is open::

    nodes      0  1  2  3  4  5      open[2]  the children of 1 seen so far
    depths     0  1  2  2  1  2      open[1]  those of 0
                     ◀───────
"""

import numpy as np

from spinney._support.jit.compile import entry, kernel
from spinney.growth.model_trees.loops.equations import (
    differs,
    independent,
    paying,
    standardise,
)
from spinney.growth.model_trees.loops.sums import add, clear, copy_line, count


@entry
def send(asked, rows, leaves):
    """Send rows to their leaves, mark what is asked below nodes, and order the rows."""
    start, order = rows.start, rows.order
    n_nodes, n_terms = asked.below.shape
    for node in range(n_nodes - 1, -1, -1):
        if asked.term[node] >= 0:
            asked.below[node, asked.term[node]] = True
        above = asked.parent[node]
        if above >= 0:
            for term in range(n_terms):
                asked.below[above, term] |= asked.below[node, term]
    for row in range(len(order)):
        node = np.int64(0)
        while asked.term[node] >= 0:
            right = rows.cells[row, asked.term[node]] > asked.cut[node]
            node = asked.child[node, 1 if right else 0]
        leaves[row] = node
        start[node + 1] += 1
    for node in range(n_nodes):
        start[node + 1] += start[node]
    for row in range(len(order) - 1, -1, -1):  # ``start`` becomes the ends, and back
        leaf = leaves[row]
        start[leaf + 1] -= 1
        order[start[leaf + 1]] = row
    for node in range(n_nodes):
        start[node] = start[node + 1]
    start[n_nodes] = len(order)


@entry
def fit(asked, rows, models, room, nodes, known, slots, scale):
    """Fit the models of nodes that are listed, from the last one to the first.

    Parameters
    ----------
    asked, rows, models, room
        The tree, its rows, what is written, and what is worked in.
    nodes : array of int
        A subtree, or what is above some of them.
    known : TermSums
        Those of the subtrees: what is written for the first node that is listed, if
        it has a slot, and read of the others.
    slots : array of int
        The line of a node in ``known``, or -1.
    scale : float
        How many rows a weight of 1 stands for.
    """
    sums, top = room.open, asked.depth[nodes[0]]
    last = len(sums.weights) - 1
    for at in range(last):
        clear(sums, at)
    for place in range(len(nodes) - 1, -1, -1):
        node = nodes[place]
        level = asked.depth[node] - top
        slot = slots[node]
        if slot >= 0 and place > 0:
            add(known, slot, sums, level)
        elif asked.term[node] < 0:
            count(rows, node, sums, last, room.line)
            add(sums, last, sums, level)
        else:
            _fit_node(asked, rows.centres, models, room, node, level + 1, scale)
            add(sums, level + 1, sums, level)
            clear(sums, level + 1)
    if slots[nodes[0]] >= 0:
        copy_line(sums, 0, known, slots[nodes[0]])


@kernel
def _fit_node(asked, centres, models, room, node, at, scale):
    """Fit the model of a node whose rows a line of the open sums has."""
    sums, own, left = room.open, room.own, room.left
    n_own = 0
    for term in range(asked.below.shape[1]):
        if asked.below[node, term]:
            own[n_own] = term
            n_own += 1
    first = models.first[node]
    spread = standardise(sums, at, room, n_own, scale)
    n_left = 0
    if differs(sums, at, room, n_own, scale, n_own):
        for i in range(n_own):
            if differs(sums, at, room, n_own, scale, i):
                left[n_left] = i
                n_left += 1
    n_left = independent(room, n_own, n_left)
    sizes = (scale * sums.weights[at], n_own, n_left)
    models.squared_errors[node] = paying(room, models, first, sizes, spread)
    target = len(centres)
    inner, n_parameters = 0.0, 1
    for i in range(n_own):
        if models.chosen[first + i]:
            slope = models.coefficients[first + i]
            slope = slope * room.deviations[n_own] / room.deviations[i]
            models.coefficients[first + i] = slope
            inner += slope * (sums.means[at, own[i]] + centres[own[i]])
            n_parameters += 1
        else:
            models.coefficients[first + i] = 0.0
    models.intercepts[node] = sums.means[at, target] - inner
    models.n_parameters[node] = n_parameters
