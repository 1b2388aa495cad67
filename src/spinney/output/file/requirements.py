"""Words for rules over arrays, and who owns a line of one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Schema, Target
from spinney.output.file.file_arrays import Arrays
from spinney.output.file.strict_json import DamageError
from spinney.trees import Links, links_of

SHARES_TOLERANCE = 1e-9
WEIGHTS_TOLERANCE = 1e-6
MOST_ROWS = 2**53

Truths = NDArray[np.bool_]


def require(holds: Truths, what: str, numbers: Integers | None = None) -> None:
    """Raise with the number of the first that fails instead of ``{}``."""
    lines = np.asarray(holds.all(axis=tuple(range(1, holds.ndim))))
    if not lines.all():
        first = int(np.argmin(lines))
        number = first if numbers is None else int(numbers[first])
        raise DamageError(what.format(number))


def within(array: NDArray[np.generic], low: int, high: "int | Integers") -> Truths:
    """Return which numbers are at least low and less than high."""
    return np.asarray((array >= low) & (array < high))  # type: ignore[operator]


def amounts(array: Floats) -> Truths:
    """Return which numbers are finite and at least 0."""
    return np.asarray(np.isfinite(array) & (array >= 0))


def possible(weights: Floats, target: Target) -> Truths:
    """Return which weights of classes, or moments of a number, may occur."""
    if not target.is_numeric:
        return amounts(weights)
    return np.asarray(np.isfinite(weights) & ((weights >= 0) | [False, True, False]))


def close(sums: Floats, expected: Floats, target: Target) -> Truths:
    """Return where sums are as expected, but for what fractional rows may lose.

    Of moments, |Σwy| is at most the root of Σw · Σwy².
    """
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
        msg = f"the array {name!r} has {shape_text} entries where {wanted} are needed"
        raise DamageError(msg)


def counted(arrays: Arrays, name: str, *, total: int, least: int = 0) -> None:
    """Check that counts add up to the length of what they count; -1 counts nothing."""
    counts = arrays[name]
    fitting = within(counts, least, total + 1).all()
    if not fitting or int(counts.clip(0).sum()) != total:
        msg = f"the counts {name!r} do not add up to the {total} that there are"
        raise DamageError(msg)


def linked(parent: Integers, starts: Integers) -> Links:
    """Check that nodes stand in printing order; return what their parents say.

    Of several trees, nodes are numbered through; ``starts`` has the root of each node.
    """
    numbers = np.arange(len(parent))
    root = numbers == starts
    require(~root | (parent == -1), "node {} is the root and has a parent")
    before = root | ((parent >= starts) & (parent < numbers))
    require(before, "the parent of node {} does not come before it")
    links = links_of(parent)
    # In printing order the parent is the last node before that is one level above.
    by_level = np.sort(links.depth * len(parent) + numbers)
    below = np.flatnonzero(~root)
    wanted = (links.depth[below] - 1) * len(parent) + below
    last = by_level[np.searchsorted(by_level, wanted) - 1] % len(parent)
    disorder = "node {} is not in printing order: parents before children"
    require(last == parent[below], disorder, below)
    return links


def known_codes(what: str, codes: Integers, owners: Integers, known: Integers) -> None:
    """Check codes of splits: each is one of so many, and none occurs twice."""
    unknown = f"{what} {{}} has a code that its attribute does not know"
    require(within(codes, 0, known), unknown, owners)
    order = np.lexsort((codes, owners))
    again = (np.diff(codes[order]) == 0) & (np.diff(owners[order]) == 0)
    require(~again, f"{what} {{}} has one code twice", owners[order][1:])


def grouped(arrays: Arrays) -> Truths:
    """Return which candidates are groups of codes."""
    return np.asarray(arrays["candidate.form"] == 1)


def numeric(arrays: Arrays, schema: Schema) -> Truths:
    """Return which candidates ask about a numeric attribute."""
    kinds = np.array([a.kind == "numeric" for a in schema.attributes], dtype=bool)
    return np.asarray(kinds[arrays["candidate.attribute"]])


def sizes(schema: Schema) -> Integers:
    """Return how many codes each attribute has."""
    return np.array([len(a.values) for a in schema.attributes], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Owners:
    """Which node or candidate a line of an array belongs to."""

    node_of_candidate: Integers
    candidate_of_share: Integers
    candidate_of_group: Integers
    candidate_of_code: Integers
    candidate_of_line: Integers

    @classmethod
    def of(cls, arrays: Arrays) -> "Owners":
        """Return the owners, by the counts in the arrays."""
        branches = arrays["candidate.branches"]
        candidates = np.arange(len(branches))
        of_group = np.repeat(candidates, np.where(grouped(arrays), branches, 0))
        return cls(
            np.repeat(np.arange(len(arrays["node.rows"])), arrays["node.candidates"]),
            np.repeat(candidates, branches),
            of_group,
            np.repeat(of_group, arrays["split.groups"]),
            np.repeat(candidates, arrays["candidate.values"]),
        )
