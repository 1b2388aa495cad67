"""Slow, obvious twins of the buckets: plain loops, and fractions where ties matter.

They share no arithmetic with the package, and no NumPy. A *line* is a distinct value
with its weight, or with its weights by class; lines are in order of value. An answer
is a list of starts: the places of the lines that begin a bucket, the first aside.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import log2

TOLERANCE = 1e-12

Lines = Sequence[tuple[float, float]]
ClassLines = Sequence[tuple[float, Sequence[float]]]


def parts(lines: Sequence, starts: Sequence[int]) -> list[Sequence]:
    """Return the lines of each bucket."""
    ends = [*starts, len(lines)]
    return [lines[a:b] for a, b in zip([0, *starts], ends, strict=True)]


def equal_width(lines: Lines, n: int) -> list[int]:
    low, high = Fraction(lines[0][0]), Fraction(lines[-1][0])
    edges = [low + (high - low) * t / n for t in range(1, n)]
    numbers = [sum(value > edge for edge in edges) for value, _ in lines]
    return [i for i in range(1, len(lines)) if numbers[i] != numbers[i - 1]]


def equal_frequency(lines: Lines, n: int) -> list[int]:
    weights = [Fraction(weight) for _, weight in lines]
    n = min(n, len(lines))
    starts = [0]
    for left in range(n, 1, -1):
        rest = weights[starts[-1] :]
        share = sum(rest) / left
        # A bucket of one line, of two …, leaving a line for each of the others.
        choices = range(1, len(rest) - (left - 1) + 1)
        length = min(choices, key=lambda k: (abs(sum(rest[:k]) - share), k))
        starts.append(starts[-1] + length)
    return starts[1:]


def squares(lines: Lines) -> Fraction:
    """Return the weighted sum of squares around the mean."""
    weights = [Fraction(weight) for _, weight in lines]
    values = [Fraction(value) for value, _ in lines]
    mean = sum(w * x for w, x in zip(weights, values, strict=True)) / sum(weights)
    return sum(w * (x - mean) ** 2 for w, x in zip(weights, values, strict=True))


def inertia(lines: Lines, starts: Sequence[int]) -> Fraction:
    return sum((squares(part) for part in parts(lines, starts)), Fraction(0))


def k_means(lines: Lines, n: int) -> list[int]:
    n = min(n, len(lines))
    every = combinations(range(1, len(lines)), n - 1)
    return list(min(every, key=lambda starts: (inertia(lines, starts), starts[::-1])))


def class_totals(lines: ClassLines) -> list[float]:
    return [sum(column) for column in zip(*(w for _, w in lines), strict=True)]


def entropy(totals: Sequence[float]) -> float:
    whole = sum(totals)
    return -sum(w / whole * log2(w / whole) for w in totals if w > 0)


def entropy_mdl(lines: ClassLines) -> list[int]:
    """Try every cut, not only those between classes, and recur."""
    if len(lines) < 2:
        return []
    totals = class_totals(lines)
    n = sum(totals)
    found = []
    for cut in range(1, len(lines)):
        left, right = class_totals(lines[:cut]), class_totals(lines[cut:])
        within = (sum(left) * entropy(left) + sum(right) * entropy(right)) / n
        found.append((cut, entropy(totals) - within, left, right))
    best = max(gain for _, gain, _, _ in found)
    cut, gain, left, right = next(f for f in found if f[1] >= best - TOLERANCE)
    k, k1, k2 = (sum(w > 0 for w in side) for side in (totals, left, right))
    delta = log2(3**k - 2) - (
        k * entropy(totals) - k1 * entropy(left) - k2 * entropy(right)
    )
    bound = (log2(max(n - 1, 1)) + delta) / n
    if gain <= bound + TOLERANCE * max(1, abs(bound)):
        return []
    return [
        *entropy_mdl(lines[:cut]),
        cut,
        *(cut + start for start in entropy_mdl(lines[cut:])),
    ]
