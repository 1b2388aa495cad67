"""Clusters as pictures: rows by cluster, and inertia by the number of clusters.

Matplotlib draws them, without its global state, so that nothing of a user's own figures
changes.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.colours import COLOURS
from spinney._support.text import shown
from spinney.cluster import MIXED
from spinney.cluster.choose_k import Choice
from spinney.errors import DataError, MissingExtraError, ParameterError
from spinney.models.clusters.find import ClusterFit

SUFFIXES = ("png", "svg", "pdf")
MOST_DRAWN = 1e300  # the largest number that axes are drawn for
MOST_POINTS = 5000
IN_LEGEND = 10
SIZE = (5.2, 4.0)
DOTS = 160
MARKERS = "os^Dv<>phd"


def check_plots(paths: Sequence[str]) -> None:
    """Refuse what cannot be drawn, before any work is done."""
    for path in paths:
        _format(path)
    _matplotlib()


def _format(path: str) -> str:
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in SUFFIXES:
        known = ", ".join(f".{one}" for one in SUFFIXES)
        msg = f"a picture is {known} by its suffix, and {path!r} is none of them"
        raise ParameterError(msg)
    return suffix


def _matplotlib() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        msg = "plots need Matplotlib: pip install 'spinney[plot]'"
        raise MissingExtraError(msg) from None
    return Figure


def plane_of(
    numbers: Floats, names: Sequence[str]
) -> tuple[Floats, Floats, tuple[str, str]]:
    """Return two directions to look along, the middle, and how the axes are called.

    Of two columns these are the columns; of more, the first two principal components by
    singular values, each with its share of the variance.

    Parameters
    ----------
    numbers : array, rows × columns
        Two columns at least.
    names : sequence of str

    Examples
    --------
    >>> plane_of(np.array([[0.0, 0.0], [1.0, 2.0]]), ["a", "b"])[2]
    ('a', 'b')
    """
    if numbers.shape[1] == 2:
        return np.eye(2), np.zeros(2), (names[0], names[1])
    middle = numbers.mean(axis=0)
    scale = float(np.abs(numbers - middle).max()) or 1.0
    _, sizes, directions = np.linalg.svd(
        (numbers - middle) / scale, full_matrices=False
    )
    both = np.zeros((2, numbers.shape[1]))
    both[: len(directions[:2])] = directions[:2]
    # Signs of singular vectors mean nothing: the largest part is made positive.
    for line in both:
        line *= np.sign(line[np.argmax(np.abs(line))]) or 1.0
    total = float((sizes**2).sum()) or 1.0
    shares = [float(size**2) / total for size in [*sizes[:2], 0.0, 0.0][:2]]
    first, second = (
        f"{which} principal component ({100 * share:.0f} % of variance)"
        for which, share in zip(("first", "second"), shares, strict=True)
    )
    return both.T, middle, (first, second)


def scatter(fit: ClusterFit, path: str) -> bytes:
    """Return a picture of rows by cluster, in the format of a path's suffix.

    More than 5,000 rows are thinned out evenly, and the title says so.
    """
    figure_class = _matplotlib()
    suffix = _format(path)
    numbers, names = _numbers(fit)
    clusters = fit.clusters
    known = np.flatnonzero(np.isfinite(numbers).all(axis=1))
    if not len(known):
        msg = "no row has numbers in all columns: there is nothing to draw"
        raise DataError(msg)
    standard = clusters.standardised and len(names) > 2
    shown_numbers = clusters.scaled(numbers) if standard else numbers
    points = np.where(np.isfinite(clusters.places), clusters.places, 0.0)
    centres = clusters.scaled(points) if standard else points
    step = -(-len(known) // MOST_POINTS)
    some = known[::step]
    _refuse_huge(numbers[known], names)
    figure = figure_class(figsize=SIZE, dpi=DOTS, layout="constrained")
    axes = figure.subplots()
    if len(names) == 1:
        at = np.column_stack([shown_numbers[:, 0], fit.labels])
        middles = np.column_stack([centres[:, 0], np.arange(len(clusters))])
        labels = (names[0], "cluster")
        axes.set_yticks(range(len(clusters)) if len(clusters) <= 20 else [])
    else:
        directions, middle, labels = plane_of(shown_numbers[known], names)
        at = (shown_numbers - middle) @ directions
        middles = (centres - middle) @ directions
    sizes = np.bincount(fit.labels, minlength=len(clusters))
    _draw(axes, at[some], fit.labels[some], middles, sizes)
    of = " of standardised columns" if standard else ""
    axes.set_xlabel(_short(labels[0] + (of if len(names) > 2 else "")), fontsize=8)
    axes.set_ylabel(_short(labels[1]), fontsize=8)
    rows = f"{len(some):,} of {len(fit.labels):,} rows"
    thinned = rows if len(some) < len(fit.labels) else f"{len(some):,} rows"
    of = ", numeric columns only" if clusters.method == MIXED else ""
    axes.set_title(f"{len(clusters)} clusters, {thinned}{of}", fontsize=9)
    return _saved(figure, suffix)


def _numbers(fit: ClusterFit) -> tuple[Floats, list[str]]:
    """Return the numeric columns, and their names."""
    numeric = [a for a in fit.rows.attributes if a.kind == "numeric"]
    if not numeric:
        msg = "a plot needs a numeric column, and no column is: leave the plot out"
        raise ParameterError(msg)
    names = [shown(a.name) + (f" ({a.unit})" if a.unit else "") for a in numeric]
    return fit.rows.numbers.astype(np.float64), names


def _refuse_huge(numbers: Floats, names: Sequence[str]) -> None:
    """Refuse columns whose axes no float could measure."""
    for name, column in zip(names, numbers.T, strict=True):
        if np.abs(column).max() > MOST_DRAWN:
            msg = (
                f"column {name!r} holds {np.abs(column).max():g}, and no axis is drawn "
                f"beyond {MOST_DRAWN:g}: divide it by a number, or leave the plot out"
            )
            raise DataError(msg)


def _draw(
    axes: Any, at: Floats, labels: NDArray[Any], middles: Floats, sizes: NDArray[Any]
) -> None:
    size = 26 if len(at) <= 200 else 12 if len(at) <= 1500 else 5
    n = len(middles)
    for cluster in range(n):
        own = at[labels == cluster]
        name = f"{cluster} ({sizes[cluster]:,})" if n <= IN_LEGEND else None
        axes.scatter(
            own[:, 0],
            own[:, 1],
            s=size,
            color=COLOURS[cluster % len(COLOURS)],
            marker=MARKERS[(cluster // len(COLOURS)) % len(MARKERS)],
            alpha=0.75,
            linewidths=0.3,
            edgecolors="white",
            label=name,
        )
    for cluster, middle in enumerate(middles):
        axes.annotate(
            str(cluster),
            middle,
            ha="center",
            va="center",
            fontsize=8 if n <= 20 else 6,
            fontweight="bold",
            bbox={"boxstyle": "circle,pad=0.25", "fc": "white", "ec": "black", "lw": 1},
        )
    if n <= IN_LEGEND:
        axes.legend(
            title="cluster (rows)", fontsize=7, title_fontsize=7, framealpha=0.85
        )
    axes.tick_params(labelsize=7)
    axes.margins(0.06)


def elbow(choice: Choice, k: int, path: str, *, given: bool = False) -> bytes:
    """Return a picture of inertia by the number of clusters, the chosen one marked.

    Below it is the measure that decided, where that is another. The title says whether
    k was given, even where the rule would have chosen the same.
    """
    figure_class = _matplotlib()
    suffix = _format(path)
    lines = choice.curve
    rule = choice.rule
    two = rule != "elbow"
    figure = figure_class(figsize=SIZE, dpi=DOTS, layout="constrained")
    panels = np.atleast_1d(figure.subplots(2 if two else 1, 1, sharex=True))
    panel_values = {"inertia": [line.inertia for line in lines]}
    if two:
        panel_values[rule.replace("_", " ")] = [getattr(line, rule) for line in lines]
    ks = [line.k for line in lines]
    for axes, (name, values) in zip(panels, panel_values.items(), strict=True):
        numbers = np.array([np.nan if one is None else one for one in values], float)
        numbers[~(np.abs(numbers) <= MOST_DRAWN)] = np.nan
        axes.plot(ks, numbers, "-o", color=COLOURS[0], markersize=4, linewidth=1.4)
        if k in ks:
            axes.axvline(k, color=COLOURS[5], linestyle="--", linewidth=1)
            at = numbers[ks.index(k)]
            axes.plot([k], [at], "o", color=COLOURS[5], markersize=8, zorder=3)
        axes.set_ylabel(name, fontsize=8)
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.25, linewidth=0.5)
    panels[-1].set_xlabel("k, the number of clusters", fontsize=8)
    panels[-1].set_xticks(ks if len(ks) <= 20 else ks[:: -(-len(ks) // 20)])
    by = "as given" if given else f"by {rule.replace('_', ' ')}"
    panels[0].set_title(f"k = {k} {by}", fontsize=9)
    return _saved(figure, suffix)


def _short(text: str, most: int = 70) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _saved(figure: Any, suffix: str) -> bytes:
    """Return the bytes of a figure; no date in them, so that they can be the same."""
    from matplotlib import rc_context

    drawn = io.BytesIO()
    plain: Any = {"svg.hashsalt": "spinney", "text.parse_math": False}
    metadata = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with rc_context(plain):
        figure.savefig(drawn, format=suffix, metadata=metadata[suffix])
    return drawn.getvalue()
