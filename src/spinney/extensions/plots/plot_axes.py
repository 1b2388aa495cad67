"""What all plots share: quiet axes, short names, colours by class."""

import re
from collections.abc import Sequence
from typing import Any

from spinney._support.colours import COLOURS
from spinney._support.text import shown
from spinney.extensions.pictures.figures import axes_or_new, drawable

__all__ = ["colour_of", "new_axes", "short", "titled", "with_legend"]

MOST_SIGNS = 60
SMALL, SMALLER = 8, 7


def new_axes(axes: Any, size: tuple[float, float] = (5.2, 4.0)) -> Any:
    """Return the axes to draw on, with small figures and no box around them."""
    axes = axes_or_new(axes, size)
    axes.tick_params(labelsize=SMALLER)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def titled(axes: Any, title: str, x: str = "", y: str = "") -> Any:
    """Return axes with a title and what they measure."""
    axes.set_title(short(title, 2 * MOST_SIGNS), fontsize=SMALL + 1, wrap=True)
    axes.set_xlabel(short(x), fontsize=SMALL)
    axes.set_ylabel(short(y), fontsize=SMALL)
    return axes


def short(text: Any, most: int = MOST_SIGNS) -> str:
    r"""Return a name in printable signs, its end left out where it is long.

    A dollar is only a dollar: Matplotlib would take what is between two for a formula,
    and fail where it is none. One that is marked so already stays as it is.

    >>> short("a very long name", 8), short("US$"), short(short("US$"))
    ('a very …', 'US\\$', 'US\\$')
    """
    name = shown(text)
    name = name if len(name) <= most else f"{name[: most - 1]}…"
    name = drawable(name)
    return re.sub(r"(?<!\\)\$", r"\\$", name)


def colour_of(index: int) -> str:
    """Return the colour of a class, a cluster or a recipe."""
    return COLOURS[index % len(COLOURS)]


def with_legend(
    axes: Any,
    handles: Sequence[Any] | None = None,
    *,
    loc: str | None = None,
    title: str | None = None,
) -> None:
    """Add a legend in small letters, beside the axes, or in the corner that is said.

    Matplotlib is never asked for the best place, which takes long among many rows.
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
