"""Sampling of attributes at the nodes of a forest's trees.

The key of a node (``_support.keyed_random``) is the state of xorshift64* (Vigna 2016),
which shuffles the attributes by Fisher and Yates' method from column order, until
enough of them vary.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.keyed_random import WORD
from spinney.search.attribute_split import n_distinct_values
from spinney.search.tree_search import Search
from spinney.trees import TableBatch

FACTOR = 0x2545F4914F6CDD1D


@dataclass(frozen=True, slots=True)
class NodeSampling:
    """The random choices at the nodes of one tree.

    Parameters
    ----------
    seed : int
        The seed of the tree, 64 bits.
    max_features : int
        The number of varying attributes to search.
    random_cuts : bool
        Whether the threshold of an attribute is random.
    """

    seed: int
    max_features: int
    random_cuts: bool = False


def sampled_attributes(
    key: int, n_attributes: int, max_features: int, varies: Callable[[int], bool]
) -> list[int]:
    """Return attributes in the order drawn, until ``max_features`` of them vary.

    >>> from spinney._support.keyed_random import root_key
    >>> sampled_attributes(root_key(1), 5, 2, lambda attribute: attribute != 3)
    [1, 4]
    """
    state, varying = key, 0
    order = list(range(n_attributes))
    for index in range(n_attributes):
        if varying >= max_features:
            return order[:index]
        state, step = _random_below(state, n_attributes - index)
        drawn = index + step
        order[index], order[drawn] = order[drawn], order[index]
        varying += varies(order[index])
    return order


def sampled_tables(
    batch: TableBatch,
    search: Search,
    sampling: NodeSampling,
    keys: Sequence[int],
    n_attributes: int,
) -> Integers:
    """Return the tables of the attributes that each node draws, by its key."""
    varies = np.zeros((len(keys), n_attributes), dtype=bool)
    several = n_distinct_values(batch, search) > 1
    if batch.low is not None:  # one bin may hold several values
        several[batch.owner[batch.low < batch.values]] = True
    varies[batch.node, batch.attribute] = several
    is_sampled = np.zeros(varies.shape, dtype=bool)
    for node, key in enumerate(keys):
        is_sampled[
            node,
            sampled_attributes(
                key, n_attributes, sampling.max_features, varies[node].__getitem__
            ),
        ] = True
    return np.flatnonzero(is_sampled[batch.node, batch.attribute])


def _random_below(state: int, n: int) -> tuple[int, int]:
    """Return the next state, and a random integer below n (xorshift64*)."""
    state ^= state >> 12
    state ^= state << 25 & WORD
    state ^= state >> 27
    upper_half = (state * FACTOR & WORD) >> 32
    return state, upper_half * n >> 32
