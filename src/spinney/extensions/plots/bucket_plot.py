"""Thresholds of buckets over a histogram of the numbers."""

from typing import Any

import numpy as np

from spinney.errors import DataError
from spinney.extensions.pictures.style_sheet import LIGHT
from spinney.extensions.plots.plot_axes import indexed_colour, new_axes, titled
from spinney.search.buckets import discretise

BARS = 40


def buckets(
    values: Any,
    axes: Any = None,
    *,
    method: str = "k-means",
    n_buckets: int | None = None,
    name: str = "",
    **more: Any,
) -> Any:
    """Draw the thresholds of buckets over a histogram of the numbers.

    Parameters
    ----------
    values : array of numbers
        Missing numbers are ignored.
    axes : Axes, optional
    method, n_buckets, more
        As for :func:`spinney.discretise`.
    name : str
        The name of the numbers.

    Examples
    --------
    >>> from spinney import plots
    >>> ages = [22, 25, 27, 27, 41, 44, 70, None]
    >>> plots.buckets(ages, n_buckets=3, name="age").get_title()
    '3 buckets of age by k-means'
    """
    bins = discretise(
        values,
        method,
        **({} if n_buckets is None else {"n_buckets": n_buckets}),
        **more,
    )
    numbers = np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        msg = "there are no numbers to draw: pass at least one"
        raise DataError(msg)
    axes = new_axes(axes)
    bars = min(BARS, max(5, len(np.unique(known))))
    axes.hist(known, bins=bars, color=LIGHT["branch"], edgecolor="white", linewidth=0.4)
    for cut in bins.cuts:
        axes.axvline(cut, color=indexed_colour(5), linewidth=1.3)
    edges = np.concatenate([[known.min()], bins.cuts, [known.max()]])
    top = axes.get_ylim()[1]
    if len(bins) <= 12:
        for low, high, count in zip(edges, edges[1:], bins.counts, strict=False):
            look = {"ha": "center", "va": "bottom", "fontsize": 7}
            axes.text((low + high) / 2, top, f"{count:g}", **look)
    of = f" of {name}" if name else ""
    title = f"{len(bins)} buckets{of} by {bins.method}"
    titled(axes, title, x=name, y="rows")
    axes.set_title(title, fontsize=9, pad=16)
    return axes
