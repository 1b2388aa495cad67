"""Plots of clusters: rows by cluster, paths of centroids, measures by k."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.text import percent_text, shown
from spinney.errors import DataError, ParameterError
from spinney.extensions.clustering.choose_k.choice import Choice
from spinney.extensions.clustering.clusters import MIXED
from spinney.extensions.clustering.models.fit_clusters import ClusterFit
from spinney.extensions.clustering.trace import Trace
from spinney.extensions.plots.plot_axes import (
    indexed_colour,
    new_axes,
    titled,
    with_legend,
)

LARGEST_DRAWN = 1e300  # the largest number that axes are drawn for
MAX_POINTS = 5000
IN_LEGEND = 10
MARKERS = "os^Dv<>phd"


def projection(
    numbers: Floats, names: Sequence[str]
) -> tuple[Floats, Floats, tuple[str, str]]:
    """Return two directions to project on, the centre, and the labels of the axes.

    One or two columns are not projected. More columns give their first two principal
    components, labelled with their proportions of the variance.

    >>> projection(np.array([[0.0, 0.0], [1.0, 2.0]]), ["a", "b"])[2]
    ('a', 'b')
    """
    if numbers.shape[1] == 1:
        return np.eye(1, 2), np.zeros(1), (names[0], "")
    if numbers.shape[1] == 2:
        return np.eye(2), np.zeros(2), (names[0], names[1])
    middle = numbers.mean(axis=0)
    scale = float(np.abs(numbers - middle).max()) or 1.0
    _, sizes, directions = np.linalg.svd(
        (numbers - middle) / scale, full_matrices=False
    )
    both = np.zeros((2, numbers.shape[1]))
    both[: len(directions[:2])] = directions[:2]
    # The sign of a singular vector is arbitrary: its largest entry becomes positive.
    for line in both:
        line *= np.sign(line[np.argmax(np.abs(line))]) or 1.0
    total = float((sizes**2).sum()) or 1.0
    proportions = [float(size**2) / total for size in [*sizes[:2], 0.0, 0.0][:2]]
    first, second = (
        f"{which} component ({percent_text(proportion)} of variance)"
        for which, proportion in zip(("first", "second"), proportions, strict=True)
    )
    return both.T, middle, (first, second)


def clusters(fit: ClusterFit, axes: Any = None) -> Any:
    """Draw rows by cluster, over two columns or two principal components.

    More than 5,000 rows are thinned out evenly, and the title says so.
    """
    numbers, names = _numeric_columns(fit)
    model = fit.clusters
    complete = np.flatnonzero(np.isfinite(numbers).all(axis=1))
    if not len(complete):
        msg = "no row has numbers in all columns, so there is nothing to draw"
        raise DataError(msg)
    standard = model.standardised and len(names) > 2
    shown_numbers = model.scaled(numbers) if standard else numbers
    points = np.where(
        np.isfinite(model.unscaled_centroids), model.unscaled_centroids, 0.0
    )
    centres = model.scaled(points) if standard else points
    step = -(-len(complete) // MAX_POINTS)
    drawn = complete[::step]
    _refuse_huge(numbers[complete], names)
    axes = new_axes(axes)
    if len(names) == 1:
        places = np.column_stack([shown_numbers[:, 0], fit.labels])
        middles = np.column_stack([centres[:, 0], np.arange(len(model))])
        labels = (names[0], "cluster")
        axes.set_yticks(range(len(model)) if len(model) <= 20 else [])
    else:
        directions, middle, labels = projection(shown_numbers[complete], names)
        places = (shown_numbers - middle) @ directions
        middles = (centres - middle) @ directions
    sizes = np.bincount(fit.labels, minlength=len(model))
    _draw_points(axes, places[drawn], fit.labels[drawn], middles, sizes)
    of_standardised = " of standardised columns" if standard else ""
    rows = f"{len(drawn):,} of {len(fit.labels):,} rows"
    thinned = rows if len(drawn) < len(fit.labels) else f"{len(drawn):,} rows"
    only = ", numeric columns only" if model.method == MIXED else ""
    title = f"{len(model)} clusters, {thinned}{only}"
    x = labels[0] + of_standardised * (len(names) > 2)
    return titled(axes, title, x=x, y=labels[1])


def iterations(trace: Trace, axes: Any = None) -> Any:
    """Draw the paths of the centroids of k-means among the rows of a trace.

    The centroid of each cluster starts at the cross and ends at the number.
    ``KMeans.explain(table, rows=…)`` and ``explain_k_means`` return a trace.

    Examples
    --------
    >>> from spinney import plots
    >>> from spinney.extensions.clustering import explain_k_means
    >>> five = [[1, 1], [1.5, 2], [3, 4], [5, 7], [3.5, 5]]
    >>> axes = plots.iterations(explain_k_means(five, [[1.5, 2], [5, 7]]))
    >>> axes.get_title()
    '2 iterations of k-means, 5 rows'
    """
    names = [shown(name) for name in trace.names]
    rows, steps = np.asarray(trace.rows), trace.iterations
    _refuse_huge(rows, names)
    stations = np.stack([steps[0].before, *(step.after for step in steps)])
    directions, middle, (x, y) = projection(rows, names)
    places, labels = (rows - middle) @ directions, steps[-1].clusters
    axes = new_axes(axes)
    for cluster in range(stations.shape[1]):
        colour = indexed_colour(cluster)
        path = (stations[:, cluster] - middle) @ directions
        members = places[labels == cluster]
        look = {"s": 26 if len(places) <= 200 else 8, "color": colour, "alpha": 0.6}
        axes.scatter(members[:, 0], members[:, 1], linewidths=0, **look)
        axes.plot(path[:, 0], path[:, 1], "-", color=colour, linewidth=1.4, zorder=3)
        axes.plot(*path[0], "x", color=colour, markersize=7, zorder=4)
        axes.plot(path[1:-1, 0], path[1:-1, 1], ".", color=colour, zorder=4)
        _write_number(axes, cluster, path[-1], n=stations.shape[1])
    n, total = len(steps), f" of {trace.n_rows:,}" * (len(rows) < trace.n_rows)
    title = f"{n} iteration{'s' * (n != 1)} of k-means, {len(rows):,}{total} rows"
    return titled(axes, title, x=x, y=y)


def _numeric_columns(fit: ClusterFit) -> tuple[Floats, list[str]]:
    """Return the numeric columns, and their names."""
    numeric = [a for a in fit.rows.attributes if a.kind == "numeric"]
    if not numeric:
        msg = "no column is numeric, and a plot of clusters needs one"
        raise ParameterError(msg)
    names = [shown(a.name) + (f" ({a.unit})" if a.unit else "") for a in numeric]
    return fit.rows.numbers.astype(np.float64), names


def _refuse_huge(numbers: Floats, names: Sequence[str]) -> None:
    """Refuse columns whose axes would overflow."""
    for name, column in zip(names, numbers.T, strict=True):
        if (largest := np.abs(column).max()) > LARGEST_DRAWN:
            msg = f"column {name!r} contains {largest:g}, too large to draw"
            raise DataError(msg, remedy="divide it by a constant")


def _draw_points(
    axes: Any,
    points: Floats,
    labels: NDArray[Any],
    middles: Floats,
    sizes: NDArray[Any],
) -> None:
    size = 26 if len(points) <= 200 else 12 if len(points) <= 1500 else 5
    n = len(middles)
    for cluster in range(n):
        members = points[labels == cluster]
        name = f"{cluster} ({sizes[cluster]:,})" if n <= IN_LEGEND else None
        axes.scatter(
            members[:, 0],
            members[:, 1],
            s=size,
            color=indexed_colour(cluster),
            marker=MARKERS[(cluster // 8) % len(MARKERS)],
            alpha=0.75,
            linewidths=0.3,
            edgecolors="white",
            label=name,
        )
    for cluster, middle in enumerate(middles):
        _write_number(axes, cluster, middle, n=n)
    if n <= IN_LEGEND:
        with_legend(axes, title="cluster (rows)")
    axes.margins(0.06)


def _write_number(axes: Any, cluster: int, point: Floats, *, n: int) -> None:
    """Write the number of a cluster where its centroid is."""
    axes.annotate(
        str(cluster),
        point,
        ha="center",
        va="center",
        fontsize=8 if n <= 20 else 6,
        fontweight="bold",
        bbox={"boxstyle": "circle,pad=0.25", "fc": "white", "ec": "black", "lw": 1},
        zorder=5,
    )


def by_k(
    choice: Choice,
    axes: Any = None,
    *,
    measure: str = "inertia",
    k: int | None = None,
    is_k_fixed: bool = False,
) -> Any:
    """Draw a measure by the number of clusters, and mark the chosen k.

    Parameters
    ----------
    choice : Choice
        The result of :func:`spinney.choose_k`.
    axes : Axes, optional
    measure : str
        "inertia", "silhouette" or another measure of the curve.
    k : int, optional
        The number to mark; the chosen one by default.
    is_k_fixed : bool
        Whether the user set k.

    Examples
    --------
    >>> import spinney
    >>> from spinney import plots
    >>> choice = spinney.choose_k([[1.0], [1.1], [5.0], [5.2], [9.0]], [2, 3, 4])
    >>> plots.by_k(choice, measure="silhouette").get_ylabel()
    'silhouette'
    """
    if not hasattr(choice.curve[0], measure):
        measured = ", ".join(("inertia", *choice.measures))
        msg = f"measure={measure!r} was not measured: use one of {measured}"
        raise ParameterError(msg)
    values = [getattr(line, measure) for line in choice.curve]
    numbers = np.array([np.nan if x is None else x for x in values], float)
    numbers[~(np.abs(numbers) <= LARGEST_DRAWN)] = np.nan
    ks, k = [line.k for line in choice.curve], choice.k if k is None else k
    axes = new_axes(axes)
    look = {"markersize": 4, "linewidth": 1.4}
    axes.plot(ks, numbers, "-o", color=indexed_colour(0), **look)
    if k in ks:
        axes.axvline(k, color=indexed_colour(5), linestyle="--", linewidth=1)
        height = numbers[ks.index(k)]
        axes.plot([k], [height], "o", color=indexed_colour(5), markersize=8, zorder=3)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.set_xticks(ks if len(ks) <= 20 else ks[:: -(-len(ks) // 20)])
    by = "as is_k_fixed" if is_k_fixed else f"by {choice.rule.replace('_', ' ')}"
    name = measure.replace("_", " ")
    return titled(axes, f"k = {k} {by}", x="k, the number of clusters", y=name)
