"""Trees of a forest, one after the other: each of the rows in its bag."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.kernels import nodes
from spinney.growth.binned.kernels.draw import mixed
from spinney.growth.binned.kernels.nodes import tally
from spinney.growth.binned.kernels.row_words import word_of
from spinney.growth.binned.kernels.score import of_numbers


class Bags(NamedTuple):
    """What trees are grown of.

    ``times`` (trees × rows) says how often a row is in the bag of a tree, ``base`` what
    it weighs then (nothing: 1), ``seeds`` what is drawn at nodes. ``roots`` becomes the
    node at which each tree begins.
    """

    times: NDArray[np.uint8]
    base: NDArray[np.float64]
    seeds: NDArray[np.uint64]
    roots: NDArray[np.int64]


def no_bags() -> Bags:
    """Return no trees."""
    return Bags(
        np.zeros((0, 0), np.uint8),
        np.zeros(0),
        np.zeros(0, np.uint64),
        np.zeros(0, np.int64),
    )


@kernel
def begin_tree(search, tree):
    """Let the root of a tree wait; set the weights of its rows, and list them."""
    kind, labels, rows = search.rules.kind, search.labels, search.rows
    bags, stack = search.bags, search.stack
    times, base, weights = bags.times, bags.base, labels.weights
    classes = labels.classes
    for c in range(stack.weights.shape[1]):
        stack.weights[0, c] = 0.0
    for c in range(stack.counts.shape[1]):
        stack.counts[0, c] = 0
    n = ZERO
    for row in range(times.shape[1]):
        often = times[tree, row]
        if often == 0:
            continue
        own = ZERO if of_numbers(kind) else np.int64(classes[row])
        if len(base):
            weights[row] = often * base[row]
            rows[n] = word_of(row, own, ZERO)
        else:
            rows[n] = word_of(row, own, often)
        tally(kind, labels, rows[n], stack.weights, stack.counts, ZERO)
        n += 1
    at = stack.at
    at[0, nodes.BEGIN], at[0, nodes.END], at[0, nodes.LEVEL] = 0, n, 0
    at[0, nodes.PARENT], at[0, nodes.BRANCH], at[0, nodes.SLOT] = -1, 0, -1
    stack.keys[0] = mixed(bags.seeds[tree])
    stack.state[nodes.WAITING] = 1
