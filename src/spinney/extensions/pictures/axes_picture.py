"""SVG pictures drawn on Axes of Matplotlib, for PNG, PDF and combined figures.

This module reads the few SVG elements that ``svg_elements`` writes, and draws them in
the light colours of the style sheet.
"""

import re
from functools import cache
from typing import Any
from xml.etree import ElementTree

from spinney.extensions.pictures.figures import (
    axes_or_new,
    drawable,
    figure_bytes,
    new_figure,
)
from spinney.extensions.pictures.palettes import palette_of
from spinney.extensions.pictures.style_sheet import element_style

DOTS_PER_INCH = 96  # a pixel of SVG
POINTS = 72 / DOTS_PER_INCH
# Fonts of the widths that boxes are measured by; Matplotlib's own is wider.
FONTS = ("Helvetica", "Arial", "Liberation Sans", "Nimbus Sans", "Arimo")
DEFAULT_FONT, DEFAULT_FONT_SCALE = "DejaVu Sans", 0.87
# For the letters of East Asia, and emoji.
FALLBACK_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "PingFang SC"),
    *("Microsoft YaHei", "Hiragino Sans", "WenQuanYi Zen Hei", "Arial Unicode MS"),
    *("Noto Emoji", "Symbola", "Noto Sans Symbols2"),
)
KAPPA = 0.5523  # where the handles of a Bézier curve stand that is a quarter circle


def svg_bytes(svg: str, suffix: str) -> bytes:
    """Return a picture as PNG or PDF, in its own size."""
    width, height = _picture_size(ElementTree.fromstring(svg))
    figure = new_figure((width / DOTS_PER_INCH, height / DOTS_PER_INCH), layout="none")
    draw_svg(svg, figure.add_axes((0, 0, 1, 1)))
    return figure_bytes(figure, suffix)


def draw_svg(svg: str, axes: Any = None) -> Any:
    """Draw a picture on axes, in its own proportions, and return them."""
    root = ElementTree.fromstring(svg)
    width, height = _picture_size(root)
    axes = axes_or_new(axes, (width / DOTS_PER_INCH, height / DOTS_PER_INCH))
    axes.set_axis_off()
    axes.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    named = [(element.tag.rpartition("}")[2], element) for element in root.iter()]
    palette = palette_of([each.text or "" for name, each in named if name == "style"])
    for name, element in named:
        if name in DRAWN:
            classes = element.get("class", "")
            style = element_style(name, classes)
            if classes in palette:
                style["fill"] = palette[classes]
            DRAWN[name](axes, element, style)
    return axes


def _picture_size(root: ElementTree.Element) -> tuple[float, float]:
    _, _, width, height = map(float, root.get("viewBox", "").split())
    return width, height


def _attribute_numbers(element: ElementTree.Element, *names: str) -> list[float]:
    return [float(element.get(name, "0")) for name in names]


def _patch_style(element: ElementTree.Element, style: dict[str, str]) -> dict[str, Any]:
    """Return Matplotlib's settings for fill and line of a shape."""
    opacity = float(element.get("fill-opacity", style.get("fill-opacity", "1")))
    fill, stroke = style.get("fill", "black"), style.get("stroke", "none")
    width = float(element.get("stroke-width", style.get("stroke-width", "1")))
    return {
        "facecolor": "none" if fill == "none" else (fill, opacity),
        "edgecolor": stroke,
        "linewidth": width * POINTS if stroke != "none" else 0.0,
        "linestyle": (0, (3, 3)) if "stroke-dasharray" in style else "solid",
    }


def _draw_rectangle(
    axes: Any, element: ElementTree.Element, style: dict[str, str]
) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    x, y, width, height, corner = _attribute_numbers(
        element, "x", "y", "width", "height", "rx"
    )
    r = min(corner, width / 2, height / 2)
    right, low, bend = x + width, y + height, r * (1 - KAPPA)
    points = [(x + r, y), (right - r, y)]
    points += [(right - bend, y), (right, y + bend), (right, y + r), (right, low - r)]
    points += [(right, low - bend), (right - bend, low), (right - r, low), (x + r, low)]
    points += [(x + bend, low), (x, low - bend), (x, low - r), (x, y + r)]
    points += [(x, y + bend), (x + bend, y), (x + r, y), (x + r, y)]
    side, curve = Path.LINETO, [Path.CURVE4] * 3
    codes = [Path.MOVETO, *[side, *curve] * 4, Path.CLOSEPOLY]
    axes.add_patch(PathPatch(Path(points, codes), **_patch_style(element, style)))


def _draw_circle(
    axes: Any, element: ElementTree.Element, style: dict[str, str]
) -> None:
    from matplotlib.patches import Circle

    x, y, radius = _attribute_numbers(element, "cx", "cy", "r")
    axes.add_patch(Circle((x, y), radius, **_patch_style(element, style)))


def _draw_line(axes: Any, element: ElementTree.Element, style: dict[str, str]) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    ends = _attribute_numbers(element, "x1", "y1", "x2", "y2")
    axes.add_patch(
        PathPatch(Path([ends[:2], ends[2:]]), **_patch_style(element, style))
    )


def _draw_path(axes: Any, element: ElementTree.Element, style: dict[str, str]) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    kinds = {"M": Path.MOVETO, "L": Path.LINETO, "C": Path.CURVE4}
    points: list[tuple[float, float]] = []
    codes: list[Any] = []
    for letter, numbers in re.findall(r"([MLC])([^MLC]*)", element.get("d", "")):
        flat = list(map(float, numbers.split()))
        points += zip(flat[::2], flat[1::2], strict=True)
        codes += [kinds[letter]] * (len(flat) // 2)
    axes.add_patch(PathPatch(Path(points, codes), **_patch_style(element, style)))


@cache
def _fonts() -> tuple[tuple[str, ...], float]:
    """Return installed fonts, and the scale of the first.

    The other fonts are for characters that the first lacks.
    """
    from matplotlib.font_manager import get_font_names

    installed = set(get_font_names())
    first = next((name for name in FONTS if name in installed), None)
    rest = (DEFAULT_FONT, *(name for name in FALLBACK_FONTS if name in installed))
    return (rest, DEFAULT_FONT_SCALE) if first is None else ((first, *rest), 1.0)


def _draw_text(axes: Any, element: ElementTree.Element, style: dict[str, str]) -> None:
    x, y = _attribute_numbers(element, "x", "y")
    families, smaller = _fonts()
    size = float(style["font-size"].removesuffix("px"))
    anchor = {"middle": "center", "end": "right"}
    axes.text(
        x,
        y,
        drawable(element.text or "", families),
        fontsize=size * POINTS * smaller,
        fontweight=style.get("font-weight", "normal"),
        fontfamily=families,
        color=style["fill"],
        ha=anchor.get(style.get("text-anchor", ""), "left"),
        va="baseline",
        parse_math=False,
    )


DRAWN = {
    "rect": _draw_rectangle,
    "circle": _draw_circle,
    "line": _draw_line,
    "path": _draw_path,
    "text": _draw_text,
}
