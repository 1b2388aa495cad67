"""A finished model as words, rules, files and other programs."""

from typing import TYPE_CHECKING

from spinney._support.names_on_demand import names_on_demand

if TYPE_CHECKING:
    from spinney.output.markup import Markup, element
    from spinney.output.node_errors import NodeErrors
    from spinney.output.offline_page import OfflinePage, check_page_suffix, page_around
    from spinney.output.tree_text import fitting_depth, to_text

__all__ = [
    "Markup",
    "NodeErrors",
    "OfflinePage",
    "check_page_suffix",
    "element",
    "fitting_depth",
    "page_around",
    "to_text",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "markup": ("Markup", "element"),
        "node_errors": ("NodeErrors",),
        "offline_page": ("OfflinePage", "check_page_suffix", "page_around"),
        "tree_text": ("fitting_depth", "to_text"),
    },
)
