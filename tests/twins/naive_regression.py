"""A slow, obvious twin of regression trees: plain loops over plain rows.

A row is ``(cells, number, weight)``; no cell is missing. A tree is a number, or
``(attribute, sides, children)``, sides being a threshold or groups of codes.
"""

from itertools import combinations, pairwise
from math import log
from typing import Any

TOLERANCE = 1e-12


def mean(rows: list[Any]) -> float:
    return sum(w * y for _, y, w in rows) / sum(w for *_, w in rows)


def spread(rows: list[Any]) -> float:
    centre = mean(rows)
    return sum(w * (y - centre) ** 2 for _, y, w in rows)


def weight_of(rows: list[Any]) -> float:
    return sum(w for *_, w in rows)


def variance(rows: list[Any]) -> float:
    weight = weight_of(rows)
    return spread(rows) / (weight - 1 if weight - 1 > TOLERANCE else weight)


def squared_error(rows: list[Any]) -> float:
    return spread(rows) / weight_of(rows)


def poisson(rows: list[Any]) -> float:
    centre = mean(rows)
    return -2 * centre * log(centre) if centre > 0 else 0.0


IMPURITIES = {
    "variance": variance,
    "squared_error": squared_error,
    "poisson": poisson,
    "f": squared_error,
}


def ways(rows: list[Any], place: int, kind: str, grouping: str) -> list[Any]:
    values = sorted({cells[place] for cells, *_ in rows})
    if len(values) < 2:
        return []
    if kind == "numeric":
        return [(low + high) / 2 for low, high in pairwise(values)]
    if grouping == "multiway":
        return [tuple((value,) for value in values)]
    found = []
    for size in range(len(values) - 1):
        for rest in combinations(values[1:], size):
            left = (values[0], *rest)
            found.append((left, tuple(v for v in values if v not in left)))
    return found


def parts_of(rows: list[Any], place: int, sides: Any) -> list[list[Any]]:
    if isinstance(sides, tuple):
        return [[row for row in rows if row[0][place] in group] for group in sides]
    return [
        [row for row in rows if row[0][place] <= sides],
        [row for row in rows if row[0][place] > sides],
    ]


def gain(rows: list[Any], place: int, sides: Any, criterion: str) -> float:
    impurity = IMPURITIES[criterion]
    weight = weight_of(rows)
    after = sum(
        weight_of(part) / weight * impurity(part)
        for part in parts_of(rows, place, sides)
    )
    return max(impurity(rows) - after, 0.0)


def best_gain(rows: list[Any], place: int, kind: str, recipe: Any) -> float | None:
    """Return the greatest gain of an attribute; None where it cannot split."""
    gains = [
        gain(rows, place, sides, recipe.numeric_criterion)
        for sides in ways(rows, place, kind, recipe.grouping)
    ]
    return max(gains) if gains else None
