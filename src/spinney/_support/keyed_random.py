"""Random words by key: the draws at a node depend on its key alone.

The key follows from the seed of the tree and the branches on the way to the node. So
every grower draws the same, in any order::

    key of the root          = mix(seed)
    key of branch b of node  = mix(key of node + (b + 1) · GOLDEN)

``mix`` is the finaliser of splitmix64 (Steele, Lea and Flood 2014, "Fast splittable
pseudorandom number generators"), and GOLDEN its increment. All words have 64 bits.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spinney._support.checks import LARGEST_SEED, check_seed, is_whole
from spinney.errors import ParameterError, Setting, refusal

WORD = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


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


def uniform(key: int, attribute: int) -> float:
    """Return a number in [0, 1): the place of a random cut in an attribute's range."""
    return (mix(key ^ mix(attribute + 1)) >> 11) * 2.0**-53


def coin(key: int, attribute: int, code: int, turn: int) -> int:
    """Return 0 or 1: the random branch of a code."""
    return mix(mix(key ^ mix(attribute + 1)) + mix(turn * GOLDEN + code + 1)) >> 63


def recipe_seed(random_state: Any) -> int | None:
    """Return the recipe's seed for a ``random_state``; None keeps the recipe's own."""
    return None if random_state is None else seed_of(random_state)


def refuse_seed(given: Mapping[str, Any]) -> None:
    """Refuse ``seed``, which is no parameter of a function of Python's.

    >>> refuse_seed({"seed": 3})
    Traceback (most recent call last):
    spinney.errors.ParameterError: seed=3 has become random_state=3
    """
    if "seed" in given:
        seed = given["seed"]
        problem = (" has become ", Setting("random_state", seed))
        raise ParameterError(Setting("seed", seed), *problem)


def seed_of(random_state: Any, default: int | None = None) -> int:
    """Return the seed that scikit-learn's ``random_state`` stands for.

    None stands for ``default``; where there is none, for a seed that is drawn.

    >>> seed_of(7), seed_of(None, 0)
    (7, 0)
    """
    if random_state is None and default is not None:
        return default
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if is_whole(random_state):
        check_seed("random_state", random_state)
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(LARGEST_SEED, dtype=np.uint32))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(LARGEST_SEED))
    raise refusal(
        Setting("random_state", random_state),
        "must be None, a whole number or a RandomState",
    )
