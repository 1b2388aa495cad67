"""The explorer: an interactive page of one or two models in one file."""

from typing import TYPE_CHECKING

from spinney._support.lazy_names import lazy_names

if TYPE_CHECKING:
    from spinney.extensions.explorer.page_data import explorer_data
    from spinney.extensions.explorer.page_file import ExplorerPage, explorer_page

__getattr__ = lazy_names(
    __name__,
    {
        "page_data": ("explorer_data",),
        "page_file": ("ExplorerPage", "explorer_page"),
    },
)
