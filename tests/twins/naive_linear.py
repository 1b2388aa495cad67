"""A slow, obvious twin of linear combinations: plain loops over plain rows.

It shares no arithmetic with the package, and no NumPy. A row is
``(numbers, group, weight)``; a number is None if it is missing. Of a numeric target
the group is the number itself.
"""

from collections.abc import Sequence
from math import sqrt

Row = tuple[Sequence[float | None], float, float]
Matrix = list[list[float]]


def complete(rows: Sequence[Row], places: Sequence[int]) -> list[Row]:
    """Return the rows that have a number at all places."""
    return [row for row in rows if all(row[0][place] is not None for place in places)]


def products(
    rows: Sequence[Row], places: Sequence[int], origin: Sequence[float], n_classes: int
) -> tuple[list[float], Matrix, list[Matrix]]:
    """Return weight, means from the origin and spreads about them for each class."""
    width = len(places)
    weights = [0.0] * n_classes
    means = [[0.0] * width for _ in range(n_classes)]
    spreads = [[[0.0] * width for _ in range(width)] for _ in range(n_classes)]
    for label in range(n_classes):
        own = [row for row in complete(rows, places) if row[1] == label]
        if not own:
            continue
        weights[label] = sum(weight for *_, weight in own)
        centre = [mean(own, place) for place in places]
        for i in range(width):
            means[label][i] = centre[i] - origin[i]
            for j in range(width):
                spreads[label][i][j] = sum(
                    w * (x[places[i]] - centre[i]) * (x[places[j]] - centre[j])
                    for x, _, w in own
                )
    return weights, means, spreads


def solved(matrix: Matrix, right: Sequence[float]) -> list[float]:
    """Return x where matrix x = right, by elimination with pivots."""
    size = len(right)
    rows = [[*matrix[i], right[i]] for i in range(size)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda i: abs(rows[i][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for i in range(size):
            if i != column:
                factor = rows[i][column] / rows[column][column]
                rows[i] = [
                    a - factor * b for a, b in zip(rows[i], rows[column], strict=True)
                ]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def mean(rows: Sequence[Row], place: int) -> float:
    return sum(w * x[place] for x, _, w in rows) / sum(w for *_, w in rows)


def direction(
    rows: Sequence[Row], places: Sequence[int], sides: Sequence[bool], ridge: float
) -> tuple[list[float], float, list[float]]:
    """Return the discriminant of two superclasses, its separation and the spreads.

    ``sides`` says which classes are in the first superclass.
    """
    total = sum(w for *_, w in rows)
    spread = [
        sqrt(sum(w * (x[p] - mean(rows, p)) ** 2 for x, _, w in rows) / total)
        for p in places
    ]
    parts = [[r for r in rows if sides[int(r[1])] == side] for side in (True, False)]
    contrast = [
        (mean(parts[0], p) - mean(parts[1], p)) / s
        for p, s in zip(places, spread, strict=True)
    ]
    width = len(places)
    scatter = [[ridge * (i == j) for j in range(width)] for i in range(width)]
    for part in parts:
        centre = [mean(part, p) for p in places]
        for x, _, w in part:
            off = [
                (x[p] - c) / s for p, c, s in zip(places, centre, spread, strict=True)
            ]
            for i in range(width):
                for j in range(width):
                    scatter[i][j] += w * off[i] * off[j] / total
    found = solved(scatter, contrast)
    return found, sum(a * b for a, b in zip(found, contrast, strict=True)), spread
