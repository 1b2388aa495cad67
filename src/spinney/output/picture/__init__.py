"""A finished tree as a picture: where nodes stand, what they say, and SVG of it."""

from spinney.output.picture.axes_picture import draw_svg, svg_bytes
from spinney.output.picture.forest_svg import to_forest_svg
from spinney.output.picture.node_boxes import STYLES
from spinney.output.picture.style_sheet import STYLE_SHEET, colours
from spinney.output.picture.svg_elements import words
from spinney.output.picture.tree_picture import Picture, check_suffix
from spinney.output.picture.tree_svg import to_svg

__all__ = [
    "STYLES",
    "STYLE_SHEET",
    "Picture",
    "check_suffix",
    "colours",
    "draw_svg",
    "svg_bytes",
    "to_forest_svg",
    "to_svg",
    "words",
]
