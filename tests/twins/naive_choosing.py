"""Measures of clusters in plain loops; a row of weight 2 is written twice."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

Rows = list[list[float]]


def repeated(rows: Rows, labels: list, weights: list[int] | None) -> tuple[Rows, list]:
    """Return rows and labels, each as often as it weighs."""
    weights = weights or [1] * len(rows)
    places = [i for i, weight in enumerate(weights) for _ in range(weight)]
    return [rows[i] for i in places], [labels[i] for i in places]


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)))


def silhouette(
    rows: Rows,
    labels: list,
    weights: list[int] | None = None,
    distance: Callable = distance,
):
    rows, labels = repeated(rows, labels, weights)
    if len(set(labels)) < 2:
        return None
    widths = []
    for i, row in enumerate(rows):
        means = {}
        for label in set(labels):
            apart = [
                distance(row, other)
                for j, other in enumerate(rows)
                if labels[j] == label and j != i
            ]
            means[label] = sum(apart) / len(apart) if apart else None
        a = means.pop(labels[i])
        b = min(means.values())
        if a is None or max(a, b) == 0:
            widths.append(0.0)
        else:
            widths.append((b - a) / max(a, b))
    return sum(widths) / len(widths)


def centroids(rows: Rows, labels: list) -> dict:
    """Return the means of clusters, exact until the last step."""
    found = {}
    for label in set(labels):
        mine = [row for row, own in zip(rows, labels, strict=True) if own == label]
        found[label] = [
            float(sum(Fraction(row[c]) for row in mine) / len(mine))
            for c in range(len(rows[0]))
        ]
    return found


def calinski_harabasz(rows: Rows, labels: list, weights: list[int] | None = None):
    rows, labels = repeated(rows, labels, weights)
    k, n = len(set(labels)), len(rows)
    if k < 2 or n <= k:
        return None
    middles, middle = centroids(rows, labels), centroids(rows, [0] * n)[0]
    within = between = 0.0
    for row, label in zip(rows, labels, strict=True):
        within += distance(row, middles[label]) ** 2
        between += distance(middles[label], middle) ** 2
    return math.inf if within == 0 else (between / (k - 1)) / (within / (n - k))


def davies_bouldin(rows: Rows, labels: list, weights: list[int] | None = None):
    rows, labels = repeated(rows, labels, weights)
    clusters = sorted(set(labels))
    if len(clusters) < 2 or len(rows) <= len(clusters):
        return None
    middles = centroids(rows, labels)
    spreads = {}
    for label in clusters:
        mine = [r for r, own in zip(rows, labels, strict=True) if own == label]
        spreads[label] = sum(distance(r, middles[label]) for r in mine) / len(mine)
    worst = []
    for one in clusters:
        alike = []
        for other in clusters:
            if other != one:
                both = spreads[one] + spreads[other]
                apart = distance(middles[one], middles[other])
                alike.append(both / apart if apart else (math.inf if both else 0.0))
        worst.append(max(alike))
    return sum(worst) / len(worst)


def elbow(x: list[int], y: list[float], sensitivity: int = 1) -> int | None:
    """Return the place of Kneedle's first elbow of a falling curve, in fractions."""
    top, bottom = max(y), min(y)
    if top == bottom or len(x) < 3:
        return None
    gaps = [
        (Fraction(top) - Fraction(b)) / (Fraction(top) - Fraction(bottom))
        - Fraction(a - x[0], x[-1] - x[0])
        for a, b in zip(x, y, strict=True)
    ]
    for i in range(1, len(x) - 1):
        if gaps[i - 1] < gaps[i] >= gaps[i + 1]:
            threshold = gaps[i] - Fraction(sensitivity, len(x) - 1)
            for j in range(i + 1, len(x)):
                if gaps[j] > gaps[j - 1]:
                    break
                if gaps[j] < threshold:
                    return i
    return None


def gap(
    own: float, n_own: float, references: list[float], n_rows: int
) -> tuple[float, float]:
    """Return a gap and its standard error from inertias."""
    logs = [math.log(inertia / n_rows) for inertia in references]
    mean = sum(logs) / len(logs)
    deviation = math.sqrt(sum((one - mean) ** 2 for one in logs) / len(logs))
    return mean - math.log(own / n_own), deviation * math.sqrt(1 + 1 / len(logs))


def best(values: list, better: Callable[[float, float], bool]) -> int:
    """Return the first place whose value no other is better than; None counts not."""
    place = None
    for i, value in enumerate(values):
        if value is not None and (place is None or better(value, values[place])):
            place = i
    return 0 if place is None else place
