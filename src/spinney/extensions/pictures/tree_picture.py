"""The picture object for users: displayed in a notebook, saved to a file."""

import os
import re
from dataclasses import dataclass
from html import unescape

from spinney._support.atomic_file import write_whole
from spinney.errors import ParameterError
from spinney.extensions.pictures.axes_picture import svg_bytes
from spinney.extensions.pictures.offline_page import PAGE_SUFFIXES, make_page
from spinney.extensions.pictures.style_sheet import STYLE_SHEET

SVG_SUFFIXES = (".svg",)
DRAWN_SUFFIXES = (".png", ".pdf")  # by Matplotlib
PAGE_STYLE = "body{margin:0;padding:8px}:root{color-scheme:light dark}"


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture of a tree, a forest or clusters.

    A notebook displays the picture; ``svg`` and ``html`` are its text forms.

    Parameters
    ----------
    svg : str
        The picture.

    Examples
    --------
    >>> import spinney
    >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
    >>> spinney.grow(shop, "sold", recipe="c4.5").plot()
    <picture of 336 × 262 pixels: save(path) keeps it as .svg, .html, .png or .pdf>
    """

    svg: str

    def __repr__(self) -> str:
        size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', self.svg)
        assert size is not None
        width, height = (round(float(each)) for each in size.groups())
        return (
            f"<picture of {width} × {height} pixels: "
            "save(path) keeps it as .svg, .html, .png or .pdf>"
        )

    def _repr_svg_(self) -> str:
        return self.svg

    @property
    def html(self) -> str:
        """The picture as a page that fetches nothing and runs nothing."""
        # The first title of a picture is that of the whole, and escaped.
        title = unescape(self.svg.partition("<title>")[2].partition("</title>")[0])
        return make_page(title, self.svg, style=PAGE_STYLE, body_style=STYLE_SHEET)

    def save(self, path: "str | os.PathLike[str]", *, overwrite: bool = True) -> None:
        """Save the picture as .svg, .png, .pdf or, in a page, .html, by the suffix.

        PNG and PDF are drawn by Matplotlib, which ``pip install 'spinney[plot]'`` adds.
        ``overwrite`` allows replacing an existing file.
        """
        write_whole(path, [self.content(path)], overwrite=overwrite)

    def content(self, path: "str | os.PathLike[str]") -> bytes:
        """Return the bytes that :meth:`save` writes to a path."""
        check_suffix(path)
        suffix = os.path.splitext(os.fsdecode(path))[1].lower()
        if suffix in DRAWN_SUFFIXES:
            return svg_bytes(self.svg, suffix.lstrip("."))
        if suffix in PAGE_SUFFIXES:
            return self.html.encode("utf-8")
        return f"{self.svg}\n".encode()


def check_suffix(path: "str | os.PathLike[str]") -> None:
    """Refuse a path without the suffix of a picture format."""
    name = os.fsdecode(path)
    if not name.lower().endswith((*SVG_SUFFIXES, *PAGE_SUFFIXES, *DRAWN_SUFFIXES)):
        msg = f"{name!r} does not end in .svg, .html, .png or .pdf: name such a file"
        raise ParameterError(msg)
