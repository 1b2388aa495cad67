"""k-prototypes in plain loops: every distance of every row, every value tried.

A row is a list of cells, None where missing; nominal and ordinal cells are codes. A
kind is "numeric", "nominal" or, for ordinal columns, the number of levels.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.twins.naive_kmeans import refilled

ROUNDING = 1e-20  # a distance that is no more than this is none


@dataclass
class Found:
    """What the iterations came to, and the cost before each of them."""

    labels: list[int]
    prototypes: list[list[Any]]
    n_iterations: int
    costs: list[float]


def distance(row: list, prototype: list, kinds: list, gamma: float) -> float:
    """Return the distance from a row to a prototype."""
    squares, unlike = 0.0, 0.0
    for cell, value, kind in zip(row, prototype, kinds, strict=True):
        if cell is None:
            continue
        if kind == "numeric":
            squares += (cell - value) * (cell - value)
        elif kind == "nominal":
            unlike += cell != value
        else:
            unlike += abs(cell - value) / max(1, kind - 1)
    return squares + gamma * unlike


def distance_of_rows(one: list, other: list, kinds: list, gamma: float) -> float:
    """Return the root of the distance of two rows: what one lacks adds nothing."""
    known = [value is not None for value in other]
    kept = [cell if here else None for cell, here in zip(one, known, strict=True)]
    return distance(kept, other, kinds, gamma) ** 0.5


def best_value(cells: list, weights: list, kind: Any, before: Any) -> Any:
    """Return the value of least cost for some cells: that before if none is known."""
    known = [
        (cell, Fraction(weight))
        for cell, weight in zip(cells, weights, strict=True)
        if cell is not None and weight > 0
    ]
    if not known:
        return before
    if kind == "numeric":
        total = sum(weight for _, weight in known)
        return float(sum(Fraction(float(w) * cell) for cell, w in known) / total)
    levels = sorted({cell for cell, _ in known}) if kind == "nominal" else range(kind)

    def cost(level: int) -> Fraction:
        if kind == "nominal":
            return sum((weight for cell, weight in known if cell != level), Fraction(0))
        return sum((weight * abs(cell - level) for cell, weight in known), Fraction(0))

    return min(levels, key=cost)  # the first of equals


def nearest(row: list, prototypes: list, kinds: list, gamma: float) -> int:
    """Return the first of the nearest prototypes."""
    apart = [distance(row, prototype, kinds, gamma) for prototype in prototypes]
    return apart.index(min(apart))


def k_prototypes(
    rows: list,
    kinds: list,
    prototypes: list,
    weights: list[float],
    gamma: float,
    max_iterations: int = 100,
) -> Found:
    """Iterate until no row goes elsewhere and no prototype changes."""
    before: list[int] = []
    costs = []
    for n in range(1, max_iterations + 1):
        labels = [nearest(row, prototypes, kinds, gamma) for row in rows]
        apart = [
            distance(row, prototypes[c], kinds, gamma)
            for row, c in zip(rows, labels, strict=True)
        ]
        costs.append(sum(w * d for w, d in zip(weights, apart, strict=True)))
        members, filled = refilled(
            rows, weights, labels, apart, len(prototypes), ROUNDING
        )
        moved = [
            [
                best_value(
                    [rows[i][column] for i in members[c]],
                    [weights[i] for i in members[c]],
                    kind,
                    prototypes[c][column],
                )
                for column, kind in enumerate(kinds)
            ]
            for c in range(len(prototypes))
        ]
        done = labels == before and not filled and moved == prototypes
        before, prototypes = labels, moved
        if done:
            return Found(labels, prototypes, n, costs)
    labels = [nearest(row, prototypes, kinds, gamma) for row in rows]
    return Found(labels, prototypes, max_iterations, costs)
