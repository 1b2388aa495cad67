"""One step of Lloyd's k-means in plain loops."""

from collections.abc import Sequence
from math import dist


def lloyd_step(
    points: Sequence[Sequence[float]], centres: Sequence[Sequence[float]]
) -> tuple[list[int], list[list[float]]]:
    """Return each point's nearest centre, the first of equals, and the new centres."""
    nearest = []
    for point in points:
        distances = [dist(point, centre) for centre in centres]
        nearest.append(distances.index(min(distances)))
    moved = []
    for cluster, centre in enumerate(centres):
        members = [p for p, c in zip(points, nearest, strict=True) if c == cluster]
        columns = zip(*members, strict=True) if members else ([c] for c in centre)
        moved.append([sum(column) / len(column) for column in columns])
    return nearest, moved
