"""The explorer: a page of its own in which a model can be walked and questioned."""

from spinney.extensions.explorer.page_data import explorer_data
from spinney.extensions.explorer.page_file import ExplorerPage, explorer_page

__all__ = ["ExplorerPage", "explorer_data", "explorer_page"]
