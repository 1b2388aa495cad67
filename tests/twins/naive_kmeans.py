"""k-means in plain loops: exact fractions for means, every distance of every row."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass
class Found:
    """What the iterations came to, and the inertia before each of them."""

    labels: list[int]
    centroids: list[list[float]]
    n_iterations: int
    inertias: list[float]


def square(row: Sequence[float], centroid: Sequence[float]) -> float:
    """Return the squared distance, column by column."""
    total = 0.0
    for cell, other in zip(row, centroid, strict=True):
        total += (cell - other) * (cell - other)
    return total


def nearest(row: Sequence[float], centroids: Sequence[Sequence[float]]) -> int:
    """Return the first of the nearest centroids."""
    squares = [square(row, centroid) for centroid in centroids]
    return squares.index(min(squares))


def mean(rows: list, weights: list, members: list[int], kind: type) -> list[float]:
    """Return the weighted mean, exact but for one rounding of each product and one."""
    total = sum(Fraction(weights[i]) for i in members)
    sums = [
        sum(Fraction(weights[i] * rows[i][column]) for i in members)
        for column in range(len(rows[0]))
    ]
    return [float(kind(float(part / total))) for part in sums]


def refilled(
    rows: list, weights: list, labels: list, apart: list, k: int, rounding: float
) -> tuple[dict[int, list[int]], bool]:
    """Return the members of each cluster, and whether any was empty and is not now.

    An empty one gets the farthest rows, all that are alike, if they are farther from
    their centroids than rounding explains and not all that their cluster has.
    """
    members = {
        c: [i for i in range(len(rows)) if labels[i] == c and weights[i] > 0]
        for c in range(k)
    }
    order = sorted(range(len(rows)), key=lambda i: -apart[i])
    seen: set[int] = set()
    filled = False
    for cluster in [c for c in members if not members[c]]:
        for i in order:
            if i in seen or weights[i] == 0 or apart[i] <= rounding:
                continue
            alike = [j for j in members[labels[i]] if rows[j] == rows[i]]
            seen.update(alike)
            if len(alike) < len(members[labels[i]]):
                members[labels[i]] = [j for j in members[labels[i]] if j not in alike]
                members[cluster] = alike
                filled = True
                break
    return members, filled


def k_means(
    rows: list[list[float]],
    centroids: list[list[float]],
    weights: list[float] | None = None,
    kind: type = np.float64,
    max_iterations: int = 300,
) -> Found:
    """Iterate until no row goes elsewhere and no cluster was empty."""
    weights = weights or [1.0] * len(rows)
    largest = max(abs(cell) for row in rows for cell in row)
    rounding = len(rows[0]) * (16 * 2.0**-52 * largest) ** 2
    before: list[int] = []
    inertias = []
    for n in range(1, max_iterations + 1):
        labels = [nearest(row, centroids) for row in rows]
        apart = [square(r, centroids[c]) for r, c in zip(rows, labels, strict=True)]
        inertias.append(sum(w * d for w, d in zip(weights, apart, strict=True)))
        members, filled = refilled(
            rows, weights, labels, apart, len(centroids), rounding
        )
        moved = [
            mean(rows, weights, members[c], kind) if members[c] else centroids[c]
            for c in range(len(centroids))
        ]
        done = labels == before and not filled
        before, centroids = labels, moved
        if done:
            return Found(labels, centroids, n, inertias)
    labels = [nearest(row, centroids) for row in rows]
    return Found(labels, centroids, max_iterations, inertias)
