"""Checks of arrays, and masks for them."""

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Target
from spinney.output.file.file_arrays import Arrays
from spinney.output.file.strict_json import refuse
from spinney.trees import Links, links_of

SHARES_TOLERANCE = 1e-9
WEIGHTS_TOLERANCE = 1e-6
MOST_ROWS = 2**53

Truths = NDArray[np.bool_]


def require(holds: Truths, what: str, numbers: Integers | None = None) -> None:
    """Raise unless all hold; ``{}`` stands for the number of the first failure."""
    lines = np.asarray(holds.all(axis=tuple(range(1, holds.ndim))))
    if not lines.all():
        first = int(np.argmin(lines))
        number = first if numbers is None else int(numbers[first])
        refuse(what.format(number))


def within(array: NDArray[np.generic], low: int, high: "int | Integers") -> Truths:
    """Return a mask of low ≤ array < high."""
    return np.asarray((array >= low) & (array < high))  # type: ignore[operator]


def amounts(array: Floats) -> Truths:
    """Return a mask of finite numbers of at least 0."""
    return np.asarray(np.isfinite(array) & (array >= 0))


def possible(weights: Floats, target: Target) -> Truths:
    """Return a mask of possible class weights, or moments of a numeric target.

    Squares of sums of moments must not overflow.
    """
    if not target.is_numeric:
        return amounts(weights)
    with np.errstate(over="ignore", invalid="ignore"):
        weight, first, second = weights.T
        squares = np.isfinite(first * first) & np.isfinite(weight * second)
    known = np.isfinite(weights) & ((weights >= 0) | [False, True, False])
    return np.asarray(known & squares[:, None])


def countable(gains: Floats, sizes: Floats) -> Truths:
    """Return a mask of gains that are finite, also when multiplied by node sizes."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.isfinite(gains) & np.isfinite(gains * sizes))


def close(sums: Floats, expected: Floats, target: Target) -> Truths:
    """Return a mask of sums that equal the expected ones up to rounding.

    For moments, |Σwy| is at most √(Σw · Σwy²).
    """
    with np.errstate(over="ignore", invalid="ignore"):  # damaged numbers may overflow
        scale = expected.sum(axis=1, keepdims=True)
        if target.is_numeric:
            weight, _, second = expected.T
            scale = np.stack([weight, np.sqrt(weight * second), second], axis=1)
        return np.asarray(np.abs(sums - expected) <= WEIGHTS_TOLERANCE * scale)


def shaped(arrays: Arrays, name: str, shape: tuple[int, ...]) -> None:
    """Check the shape of an array."""
    if arrays[name].shape != shape:
        shape_text = " × ".join(map(str, arrays[name].shape)) or "no"
        wanted = " × ".join(map(str, shape))
        refuse(f"the array {name!r} has {shape_text} entries where {wanted} are needed")


def counted(arrays: Arrays, name: str, *, total: int, least: int = 0) -> None:
    """Check that counts add up to the length of the counted array; -1 means none."""
    counts = arrays[name]
    fitting = within(counts, least, total + 1).all()
    if not fitting or int(counts.clip(0).sum()) != total:
        refuse(f"the counts {name!r} do not add up to the {total} that there are")


def linked(parent: Integers, starts: Integers) -> Links:
    """Check the printing order of nodes; return the links that follow from parents.

    ``starts`` has the root of each node, if there are several trees.
    """
    numbers = np.arange(len(parent))
    root = numbers == starts
    require(~root | (parent == -1), "node {} is the root and has a parent")
    before = root | ((parent >= starts) & (parent < numbers))
    require(before, "the parent of node {} does not come before it")
    links = links_of(parent)
    # In printing order the parent is the last preceding node one level up.
    by_level = np.sort(links.depth * len(parent) + numbers)
    below = np.flatnonzero(~root)
    wanted = (links.depth[below] - 1) * len(parent) + below
    last = by_level[np.searchsorted(by_level, wanted) - 1] % len(parent)
    disorder = "node {} is not in printing order: parents before children"
    require(last == parent[below], disorder, below)
    return links
