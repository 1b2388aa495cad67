"""Figures of Matplotlib: made without its global state, and written to bytes.

Matplotlib is an extra; it is imported where something is drawn, and nowhere else.
"""

import io
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from spinney.errors import ParameterError, missing_extra

SUFFIXES = ("png", "svg", "pdf")
EMPTY_BOX = "□"
SIZE = (5.2, 4.0)
DOTS = 160
# No date and no random name, so that equal pictures are equal files.
PLAIN = {"svg.hashsalt": "spinney"}
METADATA: dict[str, dict[str, Any]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def check_pictures(paths: Sequence[str]) -> None:
    """Refuse what cannot be drawn, before any work is done."""
    for path in paths:
        picture_suffix(path)
    if paths:
        _matplotlib("figure")


def picture_suffix(path: str) -> str:
    """Return the format that a path asks for, by its suffix.

    >>> picture_suffix("tree.PNG")
    'png'
    """
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in SUFFIXES:
        known = ", ".join(f".{one}" for one in SUFFIXES)
        msg = f"{path!r} does not end in {known}: name such a file"
        raise ParameterError(msg)
    return suffix


def new_figure(size: tuple[float, float] = SIZE, *, layout: str = "constrained") -> Any:
    """Return an empty figure of a size in inches, which no window knows of."""
    figure_class = _matplotlib("figure").Figure
    return figure_class(figsize=size, dpi=DOTS, layout=layout)


def axes_or_new(axes: Any, size: tuple[float, float] = SIZE) -> Any:
    """Return the axes that were given, or new ones in a figure that pyplot shows."""
    if axes is not None:
        if not hasattr(axes, "transData"):
            msg = f"axes must be Axes of Matplotlib, not {type(axes).__name__}"
            raise ParameterError(msg)
        return axes
    pyplot = _matplotlib("pyplot")
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def figure_bytes(figure: Any, suffix: str) -> bytes:
    """Return a figure in a format."""
    rc_context = _matplotlib("").rc_context
    drawn = io.BytesIO()
    with rc_context(PLAIN):
        figure.savefig(drawn, format=suffix, metadata=METADATA[suffix])
    return drawn.getvalue()


def drawable(text: str, families: Sequence[str] | None = None) -> str:
    """Return a text with a □ for each character that no font can draw.

    Matplotlib would draw such a box, too, and warn each time. The fonts are those of
    its settings, or of these ``families``.
    """
    if text.isascii():
        return text
    chosen = _matplotlib("").rcParams["font.family"] if families is None else families
    signs = _signs_of(tuple(chosen))
    return "".join(sign if ord(sign) in signs else EMPTY_BOX for sign in text)


@lru_cache(maxsize=8)
def _signs_of(families: tuple[str, ...]) -> frozenset[int]:
    """Return the signs that some font of these families has."""
    manager = _matplotlib("font_manager")
    wanted = (manager.FontProperties(family=[family]) for family in families)
    paths = (manager.findfont(each) for each in wanted)
    maps = (manager.get_font(path).get_charmap() for path in paths)
    return frozenset(code for each in maps for code in each)


def _matplotlib(module: str) -> Any:
    """Return a module of Matplotlib, or refuse with the extra to install."""
    from importlib import import_module

    try:
        return import_module(f"matplotlib.{module}".rstrip("."))
    except ImportError:
        raise missing_extra(
            what="plots need", library="Matplotlib", extra="plot"
        ) from None
