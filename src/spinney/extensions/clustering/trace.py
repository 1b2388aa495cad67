"""The iterations of k-means as tables: distances, assignments and centroids."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import figure, shown, signs_to_ascii
from spinney._support.text_table import in_columns, number_cells
from spinney.errors import DataError
from spinney.extensions.clustering.fit_k_means import (
    KMeansMethod,
    check_centroids,
    distances_to_centroids,
)
from spinney.extensions.clustering.lloyd import Clustering

ROWS_SHOWN = 20
# With more clusters a row shows the nearest two.
CLUSTERS_SHOWN = 8
# With more columns only the first iteration shows the rows' cells.
COLUMNS_REPEATED = 6
# Between the first and the last iterations each has one line.
FIRST, LAST = 6, 3


@dataclass(frozen=True, slots=True, eq=False)
class TracedIteration:
    """An iteration from the centroids ``before`` to the centroids ``after``.

    ``distances`` and ``clusters`` describe the rows shown. ``sizes``, ``changed`` (the
    number of rows that changed cluster) and ``inertia`` describe all rows.
    """

    before: Floats
    distances: Floats
    clusters: Integers
    sizes: Integers
    changed: int
    inertia: float
    after: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Trace(InNotebooks):
    """The iterations of k-means with its first rows; ``print`` shows them."""

    names: tuple[str, ...]
    rows: Floats
    n_rows: int
    iterations: tuple[TracedIteration, ...]
    clustering: Clustering

    def text(self, *, ascii_only: bool = False, width: int | None = None) -> str:
        """Return the tables, in blocks of columns if they are too wide."""
        lines = ["start", *self._centroid_table(self.clustering.start, None, width)]
        last = len(self.iterations)
        for number, iteration in enumerate(self.iterations, start=1):
            if FIRST < number <= last - LAST:
                if number == FIRST + 1:
                    lines.append("")
                lines.append(f"iteration {number}: {_iteration_summary(iteration)}")
                continue
            lines += ["", f"iteration {number}"]
            lines += self._assignment_table(iteration, width, first=number == 1)
            lines += ["", "  centroids, the means of their rows"]
            lines += self._centroid_table(iteration.after, iteration.sizes, width)
            lines.append(f"  {_iteration_summary(iteration, first=number == 1)}")
        lines += ["", self._end_text()]
        text = "\n".join(lines)
        return signs_to_ascii(text) if ascii_only else text

    def _assignment_table(
        self, iteration: TracedIteration, width: int | None, *, first: bool
    ) -> list[str]:
        """Return rows, distances and clusters; later iterations omit wide cells."""
        rows = [["row", *map(str, range(1, len(self.rows) + 1))]]
        attributes = [
            [shown(name), *number_cells(column.tolist())]
            for name, column in zip(self.names, self.rows.T, strict=True)
        ]
        columns: list[list[str]] = []
        distances = iteration.distances
        cells = number_cells(distances.ravel().tolist())
        if distances.shape[1] <= CLUSTERS_SHOWN:
            for cluster in range(distances.shape[1]):
                head = f"to {cluster}"
                columns.append([head, *cells[cluster :: distances.shape[1]]])
            columns.append(["cluster", *map(str, iteration.clusters)])
        else:
            columns += _nearest_two_columns(distances, cells)
        lines = in_columns([*rows, *attributes, *columns], width=width)
        if not first and ("" in lines or len(attributes) > COLUMNS_REPEATED):
            lines = in_columns([*rows, *columns], width=width)
        rest = self.n_rows - len(self.rows)
        if rest:
            verb = "row follows" if rest == 1 else "rows follow"
            lines.append(f"  … {rest} more {verb}; the figures below are for all rows")
        return lines

    def _centroid_table(
        self, centroids: Floats, sizes: Integers | None, width: int | None
    ) -> list[str]:
        columns = [["cluster", *map(str, range(len(centroids)))]]
        if sizes is not None:
            columns.append(["rows", *map(str, sizes)])
        for name, column in zip(self.names, centroids.T, strict=True):
            columns.append([shown(name), *number_cells(column.tolist())])
        return in_columns(columns, width=width)

    def _end_text(self) -> str:
        clustering = self.clustering
        n = f"{clustering.n_iterations} iteration{'s' * (clustering.n_iterations != 1)}"
        inertia = f"inertia {figure(clustering.inertia)}"
        return f"{'' if clustering.converged else 'not '}converged after {n}; {inertia}"

    def as_dict(self) -> dict[str, Any]:
        """Return the trace as plain data."""
        clustering = self.clustering
        return {
            "columns": list(self.names),
            "n_rows": self.n_rows,
            "start": clustering.start.tolist(),
            "iterations": [
                {
                    "distances": iteration.distances.tolist(),
                    "clusters": iteration.clusters.tolist(),
                    "sizes": iteration.sizes.tolist(),
                    "changed": iteration.changed,
                    "inertia": iteration.inertia,
                    "centroids": iteration.after.tolist(),
                }
                for iteration in self.iterations
            ],
            "converged": clustering.converged,
            "inertia": clustering.inertia,
        }


def explain_k_means(
    points: ArrayLike,
    start: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    weights: Floats | None = None,
    max_iterations: int = 300,
    tolerance: float = 0.0,
    rows: int = ROWS_SHOWN,
) -> Trace:
    """Return every iteration of k-means from given initial centroids.

    Parameters
    ----------
    points : array, rows × columns
        Finite numbers.
    start : array, clusters × columns
        The initial centroids.
    names : sequence of str, optional
        The names of columns; x0, x1, ... by default.
    weights, max_iterations, tolerance
        The weights of rows, ``max_iter`` and ``tol`` of :class:`spinney.KMeans`.
    rows : int
        The most rows whose distances are shown.

    Examples -------- The worked example of the documents: five entities, two clusters.
    (The documents round centroids to two decimals, so they have 2.04 and 3.15 instead
    of 2.03 and 3.14.)

    >>> five = [[1, 1], [1.5, 2], [3, 4], [5, 7], [3.5, 5]]
    >>> print(explain_k_means(five, [[1.5, 2], [5, 7]], names=["attr1", "attr2"]))
    start
      cluster  attr1  attr2
            0    1.5      2
            1    5.0      7
    <BLANKLINE>
    iteration 1
      row  attr1  attr2  to 0  to 1  cluster
        1    1.0      1  1.12  7.21        0
        2    1.5      2  0.00  6.10        0
        3    3.0      4  2.50  3.61        0
        4    5.0      7  6.10  0.00        1
        5    3.5      5  3.61  2.50        1
    <BLANKLINE>
      centroids, the means of their rows
      cluster  rows  attr1  attr2
            0     3   1.83   2.33
            1     2   4.25   6.00
      every row got its first cluster; inertia 13.75
    <BLANKLINE>
    iteration 2
      row  attr1  attr2  to 0  to 1  cluster
        1    1.0      1  1.57  5.96        0
        2    1.5      2  0.47  4.85        0
        3    3.0      4  2.03  2.36        0
        4    5.0      7  5.64  1.25        1
        5    3.5      5  3.14  1.25        1
    <BLANKLINE>
      centroids, the means of their rows
      cluster  rows  attr1  attr2
            0     3   1.83   2.33
            1     2   4.25   6.00
      no row changed its cluster; inertia 9.95833
    <BLANKLINE>
    converged after 2 iterations; inertia 9.95833
    """
    cells = _finite_cells(points)
    centroids = check_centroids(start, len(np.atleast_1d(start)), cells.shape[1])
    head = cells[:rows].astype(np.float64)
    iterations: list[TracedIteration] = []

    def on_iteration(
        before: NDArray[Any],
        after: NDArray[Any],
        labels: Callable[[], Integers],
        changed: int,
    ) -> None:
        clusters = labels()
        iterations.append(
            TracedIteration(
                before.astype(np.float64),
                distances_to_centroids(head, before.astype(np.float64)),
                clusters[: len(head)].copy(),
                np.bincount(clusters, minlength=len(before)),
                changed,
                _inertia(cells, before, clusters, weights),
                after.astype(np.float64),
            )
        )

    method = KMeansMethod(
        init=centroids, max_iter=max_iterations, tol=tolerance, n_jobs=None
    )
    clustering = method.fit(
        cells, len(centroids), weights=weights, on_iteration=on_iteration
    )
    labels = tuple(names or (f"x{index}" for index in range(cells.shape[1])))
    return Trace(labels, head, len(cells), tuple(iterations), clustering)


def _finite_cells(points: ArrayLike) -> NDArray[Any]:
    cells = np.asarray(points)
    if cells.dtype != np.float32:
        cells = cells.astype(np.float64)
    if cells.ndim != 2 or not cells.size:
        msg = "k-means needs at least one row and one column"
        raise DataError(msg)
    if not np.isfinite(cells).all():
        msg = "the rows contain NaN or infinity: k-means needs finite numbers"
        raise DataError(msg)
    return cells


def _inertia(
    cells: NDArray[Any], centroids: NDArray[Any], labels: Integers, weights: Any
) -> float:
    with np.errstate(over="ignore"):
        distances = cells.astype(np.float64) - centroids.astype(np.float64)[labels]
        squares = np.sum(distances * distances, axis=1)
        return float(np.sum(squares if weights is None else squares * weights))


def _nearest_two_columns(distances: Floats, cells: Sequence[str]) -> list[list[str]]:
    """Return the columns of the two nearest clusters, with their distances."""
    order = np.argsort(distances, axis=1, kind="stable")
    columns: list[list[str]] = []
    for index, head in enumerate(("cluster", "next")):
        chosen = order[:, index]
        columns.append([head, *map(str, chosen)])
        indices = np.arange(len(distances)) * distances.shape[1] + chosen
        columns.append(["distance", *(cells[place] for place in indices)])
    return columns


def _iteration_summary(iteration: TracedIteration, *, first: bool = False) -> str:
    n = iteration.changed
    if first:
        return f"every row got its first cluster; inertia {figure(iteration.inertia)}"
    who = {0: "no row changed its", 1: "1 row changed its"}.get(
        n, f"{n} rows changed their"
    )
    return f"{who} cluster; inertia {figure(iteration.inertia)}"
