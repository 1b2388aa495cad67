"""Pictures of models as SVG: layout, node boxes, legends."""

from typing import TYPE_CHECKING

from spinney._support.lazy_names import lazy_names

if TYPE_CHECKING:
    from spinney.extensions.pictures.axes_picture import draw_svg, svg_bytes
    from spinney.extensions.pictures.forest_svg import to_forest_svg
    from spinney.extensions.pictures.node_boxes import STYLES
    from spinney.extensions.pictures.style_sheet import STYLE_SHEET, colours
    from spinney.extensions.pictures.svg_elements import words
    from spinney.extensions.pictures.tree_picture import Picture, check_suffix
    from spinney.extensions.pictures.tree_svg import to_svg

__getattr__ = lazy_names(
    __name__,
    {
        "axes_picture": ("draw_svg", "svg_bytes"),
        "forest_svg": ("to_forest_svg",),
        "node_boxes": ("STYLES",),
        "style_sheet": ("STYLE_SHEET", "colours"),
        "svg_elements": ("words",),
        "tree_picture": ("Picture", "check_suffix"),
        "tree_svg": ("to_svg",),
    },
)
