"""Shared functions of all plots: axes, short names, colours by class."""

import re
from collections.abc import Sequence
from typing import Any

from spinney._support.colours import COLOURS
from spinney._support.text import shown
from spinney.extensions.pictures.figures import axes_or_new, drawable

MAX_LENGTH = 60
SMALL, SMALLER = 8, 7
IMPORTANCE_AXIS = "decrease in impurity (normalised)"
CONFUSION_AXES = ("predicted class", "true class")
ROC_AXES = ("false positive rate", "true positive rate (sensitivity)")


def new_axes(axes: Any, size: tuple[float, float] = (5.2, 4.0)) -> Any:
    """Return the axes to draw on, with small tick labels and no box."""
    axes = axes_or_new(axes, size)
    axes.tick_params(labelsize=SMALLER)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def titled(axes: Any, title: str, x: str = "", y: str = "") -> Any:
    """Return axes with a title and axis labels."""
    axes.set_title(short(title, 2 * MAX_LENGTH), fontsize=SMALL + 1, wrap=True)
    axes.set_xlabel(short(x), fontsize=SMALL)
    axes.set_ylabel(short(y), fontsize=SMALL)
    return axes


def short(text: Any, max_length: int = MAX_LENGTH) -> str:
    r"""Return a name in printable characters, shortened if it is long.

    Dollar signs are escaped, because Matplotlib reads text between two as a formula.

    >>> short("a very long name", 8), short("US$"), short(short("US$"))
    ('a very …', 'US\\$', 'US\\$')
    """
    name = shown(text)
    if len(name) > max_length:
        name = f"{name[: max_length - 1]}…"
    return re.sub(r"(?<!\\)\$", r"\\$", drawable(name))


def indexed_colour(index: int) -> str:
    """Return the colour of a class, a cluster or a recipe."""
    return COLOURS[index % len(COLOURS)]


def with_legend(
    axes: Any,
    handles: Sequence[Any] | None = None,
    *,
    loc: str | None = None,
    title: str | None = None,
) -> None:
    """Add a legend in small letters, beside the axes or in a corner.

    ``loc="best"`` is never used: it is slow for many rows.
    """
    beside = {"loc": "upper left", "bbox_to_anchor": (1, 1)}
    more = {} if handles is None else {"handles": handles}
    axes.legend(
        fontsize=SMALLER,
        title_fontsize=SMALLER,
        framealpha=0.85,
        title=title,
        **(beside if loc is None else {"loc": loc}),
        **more,
    )
