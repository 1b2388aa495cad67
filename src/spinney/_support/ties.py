"""The rule for ties: when two merits, costs or weights count as equal."""

from heapq import heappop, heappush
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers

Entry = TypeVar("Entry")

TOLERANCE = 1e-12


def equal_to_best(
    merits: Floats, tolerance: float = TOLERANCE, unit: float = 1.0
) -> NDArray[np.bool_]:
    """Return whether merits equal the best along the last axis, within the tolerance.

    Merits are a tie within a relative 1e-12, or an absolute 1e-12 below the unit:
    rounding must not decide between attributes, cuts or classes. The unit is 1 for
    merits without a unit, as for classes; see ``Criterion.merit_unit``.
    """
    best = merits.max(axis=-1, keepdims=True)
    return np.asarray(merits >= best - tolerance * np.maximum(unit, np.abs(best)))


def first_best(merits: Floats, tolerance: float = TOLERANCE, unit: float = 1.0) -> int:
    """Return the first index whose merit equals the best.

    >>> first_best(np.array([0.1, 0.3, 0.3 + 1e-16]))
    1
    >>> first_best(np.array([1e-14, 3e-14])), first_best(np.array([1e-14, 3e-14]),
    ...                                                  unit=1e-13)
    (0, 1)
    """
    return int(np.argmax(equal_to_best(merits, tolerance, unit)))


def heaviest(weights: Floats) -> int:
    """Return the first index of the greatest weight.

    They tie within a relative 1e-12 alone: 1e-12 is much where nothing weighs more.

    >>> heaviest(np.array([1e-12, 2e-12, 2e-12]))
    1
    """
    return first_best(weights / (weights.max() or 1.0))


def last_best(merits: Floats) -> Integers:
    """Return the last index, along the last axis, whose merit equals the best."""
    equal = equal_to_best(merits)
    return np.asarray(equal.shape[-1] - 1 - np.argmax(equal[..., ::-1], axis=-1))


def pop_oldest_of_best(heap: list[tuple[float, int, Entry]], margin: float) -> Entry:
    """Take the least entry (order, age, what) off a heap, of a tie the oldest one.

    >>> pop_oldest_of_best([(0.0, 2, "b"), (0.1, 1, "a")], 0.2)
    'a'
    """
    tied = [heappop(heap)]
    while heap and heap[0][0] <= tied[0][0] + margin:
        tied.append(heappop(heap))
    tied.sort(key=lambda entry: entry[1])
    for entry in tied[1:]:
        heappush(heap, entry)
    return tied[0][2]
