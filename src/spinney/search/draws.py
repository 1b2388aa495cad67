"""What a forest draws at a node: which attributes to look at, and where to cut.

At a node its key (``_support.keyed_random``) is the state of xorshift64* (Vigna 2016),
which shuffles the attributes by Fisher and Yates' method, from their own order and only
as far as it must: until so many of them vary.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.keyed_random import WORD
from spinney.search.attribute_split import n_different
from spinney.search.tree_search import Search
from spinney.trees import TableBatch

FACTOR = 0x2545F4914F6CDD1D


@dataclass(frozen=True, slots=True)
class NodeSampling:
    """What is drawn at the nodes of one tree.

    Parameters
    ----------
    seed : int
        That of the tree, 64 bits.
    tries : int
        How many attributes that vary are looked at.
    cuts : bool
        Whether an attribute's cut is drawn too, and not sought.
    """

    seed: int
    tries: int
    cuts: bool = False


def sampled_attributes(
    key: int, n_attributes: int, tries: int, varies: Callable[[int], bool]
) -> list[int]:
    """Return attributes in the order drawn, until ``tries`` of them vary.

    Examples
    --------
    >>> from spinney._support.keyed_random import root_key
    >>> sampled_attributes(root_key(1), 5, 2, lambda attribute: attribute != 3)
    [1, 4]
    """
    state, varying = key, 0
    order = list(range(n_attributes))
    for index in range(n_attributes):
        if varying >= tries:
            return order[:index]
        state, step = _random_below(state, n_attributes - index)
        other = index + step
        order[index], order[other] = order[other], order[index]
        varying += varies(order[index])
    return order


def sampled_tables(
    batch: TableBatch,
    search: Search,
    draws: NodeSampling,
    keys: Sequence[int],
    n_attributes: int,
) -> Integers:
    """Return which tables are of the attributes that each node draws, by its key."""
    varies = np.zeros((len(keys), n_attributes), dtype=bool)
    several = n_different(batch, search) > 1
    if batch.low is not None:  # one bin may hold several values
        several[batch.owner[batch.low < batch.values]] = True
    varies[batch.node, batch.attribute] = several
    is_sampled = np.zeros(varies.shape, dtype=bool)
    for node, key in enumerate(keys):
        is_sampled[
            node,
            sampled_attributes(
                key, n_attributes, draws.tries, varies[node].__getitem__
            ),
        ] = True
    return np.flatnonzero(is_sampled[batch.node, batch.attribute])


def _random_below(state: int, n: int) -> tuple[int, int]:
    """Return the next state, and a whole number below n (xorshift64*)."""
    state ^= state >> 12
    state ^= state << 25 & WORD
    state ^= state >> 27
    high = (state * FACTOR & WORD) >> 32
    return state, high * n >> 32
