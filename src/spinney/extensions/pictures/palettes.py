"""Palettes of pictures: colours of classes, or of numbers below and above the mean.

A palette stands in a style element of its own, after the style sheet, and counts on
light and dark pages.
"""

import re
from collections.abc import Sequence

from spinney._support.checks import check_named
from spinney._support.colours import COLOURS
from spinney.errors import ParameterError, Setting
from spinney.extensions.pictures.style_sheet import SCOPE

PALETTES = {
    "okabe-ito": (),  # the colours of the style sheet
    "grey": (
        *("#333333", "#b5b5b5", "#6e6e6e", "#d9d9d9"),
        *("#8f8f8f", "#555555", "#c9c9c9", "#a0a0a0"),
    ),
    "pastel": (
        *("#7aa6d8", "#f2b880", "#8fc9a3", "#dba6c6"),
        *("#a8d5e8", "#e59a86", "#e8dc8a", "#bdbdbd"),
    ),
}
_RULE = re.compile(r"\.(k\d)\{fill:(#[0-9a-fA-F]{6})\}")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def palette_rules(palette: str | Sequence[str]) -> str:
    """Return the rules of a palette: a name, or colours as ``#0072b2`` in their order.

    >>> palette_rules(["#336699"])
    '.spinney-tree .k0{fill:#336699}'
    >>> palette_rules("okabe-ito")
    ''
    """
    if isinstance(palette, str) and "#" not in palette:
        check_named("palette", palette, PALETTES)
        palette = PALETTES[palette]
    given = palette.split(",") if isinstance(palette, str) else palette
    colours = [str(c).strip() for c in given] if isinstance(given, Sequence) else [""]
    wrong = [colour for colour in colours if not _COLOUR.fullmatch(colour)]
    if wrong or len(colours) > len(COLOURS):
        problem = f" takes a name, or up to {len(COLOURS)} colours such as #0072b2"
        raise ParameterError(Setting("palette", palette), problem)
    pairs = enumerate(colours)
    return "".join(f"{SCOPE} .k{place}{{fill:{colour}}}" for place, colour in pairs)


def palette_of(styles: Sequence[str]) -> dict[str, str]:
    """Return the colours of a picture's palette by class, from its style elements."""
    return dict(_RULE.findall("".join(styles[1:])))
