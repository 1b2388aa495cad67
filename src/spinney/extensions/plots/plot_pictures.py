"""Plots as bytes of a picture, in the format of a path's suffix."""

from collections.abc import Callable
from typing import Any

from spinney import registry
from spinney.extensions.pictures.figures import figure_bytes, new_figure, picture_suffix

Drawing = Callable[
    [str], bytes
]  # from a path, whose suffix is the format, to a picture


def drawing(
    draw: Callable[[Any], Any], svg: Callable[[], str] | None = None
) -> Drawing:
    """Return a function from a path to the picture that ``draw`` draws.

    ``svg`` gives the same as SVG, without Matplotlib.
    """

    def drawn(path: str) -> bytes:
        if svg is not None and picture_suffix(path) == "svg":
            return f"{svg()}\n".encode()
        return plot_picture(draw, path)

    return drawn


def plot_picture(draw: Callable[[Any], Any], path: str) -> bytes:
    """Return the bytes of the picture that ``draw`` draws on axes."""
    suffix = picture_suffix(path)
    figure = new_figure()
    draw(figure.subplots())
    return figure_bytes(figure, suffix)


def cluster_picture(fit: Any, path: str) -> bytes:
    """Return the plot of rows by cluster."""
    clusters = registry.load("plot", "clusters")
    return plot_picture(lambda axes: clusters(fit, axes), path)


def elbow_picture(choice: Any, k: int, path: str, *, is_k_fixed: bool = False) -> bytes:
    """Return a plot of inertia by k and, below it, the measure that chose k."""
    by_k = registry.load("plot", "by_k")
    measures = ["inertia", *([choice.rule] if choice.rule != "elbow" else [])]
    figure = new_figure()
    panels = figure.subplots(len(measures), 1, sharex=True, squeeze=False)[:, 0]
    for axes, measure in zip(panels, measures, strict=True):
        by_k(choice, axes, measure=measure, k=k, is_k_fixed=is_k_fixed)
    for axes in panels[:-1]:
        axes.set_xlabel("")
    for axes in panels[1:]:
        axes.set_title("")
    return figure_bytes(figure, picture_suffix(path))
