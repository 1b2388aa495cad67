"""Figures of Matplotlib: made without its global state, and written to bytes.

Matplotlib is an extra; functions that draw import it.
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
DPI = 160
# No date and no random name, so that equal pictures are equal files.
RC_SETTINGS = {"svg.hashsalt": "spinney"}
METADATA: dict[str, dict[str, Any]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def check_pictures(paths: Sequence[str]) -> None:
    """Refuse paths without a picture format, before any work is done."""
    for path in paths:
        picture_suffix(path)
    if paths:
        _matplotlib("figure")


def picture_suffix(path: str) -> str:
    """Return the format of a path, by its suffix.

    >>> picture_suffix("tree.PNG")
    'png'
    """
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in SUFFIXES:
        suffixes = ", ".join(f".{name}" for name in SUFFIXES)
        msg = f"{path!r} does not end in {suffixes}: name such a file"
        raise ParameterError(msg)
    return suffix


def new_figure(size: tuple[float, float] = SIZE, *, layout: str = "constrained") -> Any:
    """Return an empty figure of a size in inches, without a window."""
    figure_class = _matplotlib("figure").Figure
    return figure_class(figsize=size, dpi=DPI, layout=layout)


def axes_or_new(axes: Any, size: tuple[float, float] = SIZE) -> Any:
    """Return the user's axes, or new axes in a figure that pyplot shows."""
    if axes is not None:
        if not hasattr(axes, "transData"):
            msg = f"axes must be Axes of Matplotlib, not {type(axes).__name__}"
            raise ParameterError(msg)
        return axes
    pyplot = _matplotlib("pyplot")
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def figure_bytes(figure: Any, suffix: str) -> bytes:
    """Return the bytes of a figure in the format of a suffix."""
    rc_context = _matplotlib("").rc_context
    drawn = io.BytesIO()
    with rc_context(RC_SETTINGS):
        figure.savefig(drawn, format=suffix, metadata=METADATA[suffix])
    return drawn.getvalue()


def drawable(text: str, families: Sequence[str] | None = None) -> str:
    """Return a text with a □ for each character that no font can draw.

    Matplotlib would also draw a box, and warn each time. The fonts are Matplotlib's, or
    these ``families``.
    """
    if text.isascii():
        return text
    chosen = _matplotlib("").rcParams["font.family"] if families is None else families
    drawn = _font_characters(tuple(chosen))
    return "".join(sign if ord(sign) in drawn else EMPTY_BOX for sign in text)


@lru_cache(maxsize=8)
def _font_characters(families: tuple[str, ...]) -> frozenset[int]:
    """Return the characters that a font of these families contains."""
    manager = _matplotlib("font_manager")
    fonts = (manager.FontProperties(family=[family]) for family in families)
    paths = map(manager.findfont, fonts)
    charmaps = (manager.get_font(path).get_charmap() for path in paths)
    return frozenset(code for charmap in charmaps for code in charmap)


def _matplotlib(module: str) -> Any:
    """Return a module of Matplotlib, or refuse with the extra to install."""
    from importlib import import_module

    try:
        return import_module(f"matplotlib.{module}".rstrip("."))
    except ImportError:
        raise missing_extra(
            what="plots need", library="Matplotlib", extra="plot"
        ) from None
