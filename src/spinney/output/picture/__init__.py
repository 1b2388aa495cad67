"""A finished tree as a picture: where nodes stand, what they say, and SVG of it."""

from spinney.output.picture.node_boxes import STYLES
from spinney.output.picture.tree_picture import OTHER_PICTURES, Picture, check_suffix
from spinney.output.picture.tree_svg import to_svg

__all__ = ["OTHER_PICTURES", "STYLES", "Picture", "check_suffix", "to_svg"]
