"""The explorer's page as a format of an export."""

from typing import Any

from spinney.extensions.explorer.page_file import explorer_page
from spinney.output.export_formats import DRAWN, Format


def _page(model: Any, **options: Any) -> str:
    return explorer_page([model], **options)


HTML = Format("html", DRAWN, _page, options=("data",))
