"""The lesson of k-means: distances, assignments and centroids step by step."""

from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.text import figure, shown
from spinney.extensions.clustering.trace import Trace
from spinney.extensions.lessons.lesson_slides import Slide, paragraph, table
from spinney.extensions.pictures import words
from spinney.extensions.pictures.markup import Markup, element

MAX_STEPS = 20
MAX_CLUSTERS = 8
SIDE, MARGIN = 420.0, 34.0


def cluster_slides(trace: Trace) -> list[Slide]:
    """Return the slides of the iterations of k-means."""
    names = [shown(name) for name in trace.names]
    start = trace.iterations[0].before
    introduction = (
        f"{trace.n_rows} rows, {len(start)} clusters. Each row is assigned to the "
        "nearest centroid. Then each centroid moves to the mean of its rows. Both "
        "steps repeat until no row changes its cluster."
    )
    words = [paragraph(introduction), _centroid_table(start, names)]
    first = _side_by_side(words, _cluster_picture(trace, start, None))
    slides = [Slide("Initial centroids", first)]
    for number, step in enumerate(trace.iterations[:MAX_STEPS], start=1):
        slides.append(
            Slide(f"Iteration {number}: assign", _distance_table(trace, step))
        )
        changes = paragraph(
            f"{step.changed} rows changed their cluster. Inertia (sum of squared "
            f"distances): {figure(step.inertia)}."
        )
        means = _centroid_table(step.after, names, step.sizes)
        picture = _cluster_picture(trace, step.after, step.clusters)
        moved = _side_by_side([changes, means], picture)
        slides.append(Slide(f"Iteration {number}: update", moved))
    n_omitted = len(trace.iterations) - MAX_STEPS
    if n_omitted > 0:
        omitted = paragraph(f"{n_omitted} further iterations.")
        slides.append(Slide("Further iterations", (omitted,)))
    end = trace.clustering
    last = (
        paragraph(
            f"{'Converged' if end.converged else 'Stopped'} after "
            f"{end.n_iterations} iterations; inertia {figure(end.inertia)}."
        ),
        *_cluster_picture(
            trace, trace.iterations[-1].after, trace.iterations[-1].clusters
        ),
    )
    return [*slides, Slide("The clusters", last)]


def _distance_table(trace: Trace, step: Any) -> tuple[Markup, ...]:
    """Return a table of distances to centroids, and the picture of the clusters."""
    clusters = range(min(step.distances.shape[1], MAX_CLUSTERS))
    head = ("row", *map(shown, trace.names), *(f"to {c}" for c in clusters), "cluster")
    rows = []
    for number, cells in enumerate(trace.rows):
        distances = (f"{step.distances[number, c]:.2f}" for c in clusters)
        cluster = str(step.clusters[number])
        texts = map(figure, cells.tolist())
        rows.append((str(number + 1), *texts, *distances, cluster))
    n_omitted = trace.n_rows - len(trace.rows)
    rest = [paragraph(f"… and {n_omitted} more rows.")] if n_omitted else []
    picture = _cluster_picture(trace, step.before, step.clusters)
    return _side_by_side([table(head, rows), *rest], picture)


def _side_by_side(words: list[Markup], picture: list[Markup]) -> tuple[Markup, ...]:
    """Return words next to a picture, if there is one."""
    if not picture:
        return tuple(words)
    return (element("div", element("div", *words), *picture, class_="beside"),)


def _centroid_table(points: Floats, names: list[str], sizes: Any = None) -> Markup:
    head = ("cluster", *(["rows"] if sizes is not None else []), *names)
    rows = [
        (
            str(number),
            *([str(sizes[number])] if sizes is not None else []),
            *map(figure, point.round(4).tolist()),
        )
        for number, point in enumerate(points)
    ]
    return table(head, rows)


def _cluster_picture(trace: Trace, centres: Floats, clusters: Any) -> list[Markup]:
    """Return a picture of rows and centroids, if there are two columns."""
    if len(trace.names) != 2:
        return []
    points = np.asarray(trace.rows, dtype=np.float64)
    both = np.concatenate([points, centres])
    low, span = both.min(axis=0), np.ptp(both, axis=0)
    span[span == 0] = 1.0
    width = SIDE - 2 * MARGIN

    def place(point: Floats) -> tuple[float, float]:
        x, y = (point - low) / span
        return MARGIN + width * x, SIDE - MARGIN - width * y

    drawn = []
    for row, point in enumerate(points):
        x, y = place(point)
        hue = "row" if clusters is None else f"k{clusters[row] % 8}"
        drawn.append(element("circle", cx=x, cy=y, r=5.0, class_=hue))
        drawn.append(words(str(row + 1), x=x + 8, y=y + 4, class_="note"))
    for number, centre in enumerate(centres):
        x, y = place(centre)
        arm = 13
        cross = f"M{x - arm:.1f} {y:.1f}h{2 * arm}M{x:.1f} {y - arm:.1f}v{2 * arm}"
        drawn.append(element("path", d=cross, class_=f"cross k{number % 8}"))
    names = (
        words(shown(trace.names[0]), x=SIDE - MARGIN, y=SIDE - 8, class_="note end"),
        words(shown(trace.names[1]), x=8.0, y=18.0, class_="note"),
    )
    size = f"0 0 {SIDE:.0f} {SIDE:.0f}"
    svg = element("svg", *drawn, *names, viewBox=size, class_="points", role="img")
    return [element("figure", svg)]
