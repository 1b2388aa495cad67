"""What a forest draws at a node: which attributes to look at, and where to cut.

A draw depends on the seed of the tree and on the node's place only, so that whoever
grows the tree, in whatever order, draws the same::

    key of the root          = mix(seed)
    key of branch b of node  = mix(key of node + (b + 1) · GOLDEN)

``mix`` is the finaliser of splitmix64 (Steele, Lea and Flood 2014, "Fast splittable
pseudorandom number generators"), and GOLDEN its increment. At a node the key is the
state of xorshift64* (Vigna 2016), which shuffles the attributes by Fisher and Yates'
method, from their own order and only as far as it must: until so many of them vary.
All words have 64 bits.
"""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Draws", "branch_key", "coin", "drawn", "mix", "root_key", "uniform"]

WORD = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
FACTOR = 0x2545F4914F6CDD1D


@dataclass(frozen=True, slots=True)
class Draws:
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


def mix(word: int) -> int:
    """Return a word whose bits all depend on each other.

    >>> hex(mix(GOLDEN))  # the first output of splitmix64 with the seed 0
    '0xe220a8397b1dcdaf'
    """
    word &= WORD
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & WORD
    return word ^ (word >> 31)


def root_key(seed: int) -> int:
    """Return the key of the root of a tree."""
    return mix(seed)


def branch_key(key: int, branch: int) -> int:
    """Return the key of the node at the end of a branch."""
    return mix(key + (branch + 1) * GOLDEN)


def drawn(
    key: int, n_attributes: int, tries: int, varies: Callable[[int], bool]
) -> list[int]:
    """Return attributes in the order drawn, until ``tries`` of them vary.

    Examples
    --------
    >>> drawn(root_key(1), 5, 2, lambda attribute: attribute != 3)
    [1, 4]
    """
    state, varying = key, 0
    order = list(range(n_attributes))
    for place in range(n_attributes):
        if varying >= tries:
            return order[:place]
        state, step = _below(state, n_attributes - place)
        other = place + step
        order[place], order[other] = order[other], order[place]
        varying += varies(order[place])
    return order


def _below(state: int, n: int) -> tuple[int, int]:
    """Return the next state, and a whole number below n (xorshift64*)."""
    state ^= state >> 12
    state ^= state << 25 & WORD
    state ^= state >> 27
    high = (state * FACTOR & WORD) >> 32
    return state, high * n >> 32


def uniform(key: int, attribute: int) -> float:
    """Return a number from 0 to 1, 1 excluded: where an attribute's range is cut."""
    return (mix(key ^ mix(attribute + 1)) >> 11) * 2.0**-53


def coin(key: int, attribute: int, code: int, turn: int) -> int:
    """Return 0 or 1: the branch of a code, when its attribute's coins are thrown."""
    return mix(mix(key ^ mix(attribute + 1)) + mix(turn * GOLDEN + code + 1)) >> 63
