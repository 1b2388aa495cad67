"""A picture in the hand: shown by a notebook, saved to a file, put into a page."""

import os
import re
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256

from spinney._support.atomic_file import write_whole
from spinney.errors import ParameterError
from spinney.output.picture.style_sheet import STYLE_SHEET

__all__ = ["OTHER_PICTURES", "Picture", "check_suffix"]

SVG_SUFFIXES, PAGE_SUFFIXES = (".svg",), (".html", ".htm")
PAGE_STYLE = "body{margin:0;padding:8px}:root{color-scheme:light dark}"
# Nothing is fetched and nothing runs, whatever the names in a tree are.
POLICY = "default-src 'none'; style-src {styles}"
OTHER_PICTURES = (
    "pictures are drawn as SVG: save it as .svg or .html and let a browser print it to "
    "PDF, or let rsvg-convert or Inkscape make it a .png"
)


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture of a tree.

    A notebook shows it; ``svg`` and ``html`` are it as text.

    Parameters
    ----------
    svg : str
        The picture.

    Examples
    --------
    >>> import spinney
    >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
    >>> spinney.grow(shop, "sold", recipe="c4.5").plot()
    <picture of 336 × 262 pixels: save(path) keeps it as .svg or .html>
    """

    svg: str

    def __repr__(self) -> str:
        size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', self.svg)
        assert size is not None
        width, height = (round(float(each)) for each in size.groups())
        return (
            f"<picture of {width} × {height} pixels: "
            "save(path) keeps it as .svg or .html>"
        )

    def _repr_svg_(self) -> str:
        return self.svg

    @property
    def html(self) -> str:
        """A page of its own: it fetches nothing, and nothing in it runs."""
        hashes = (_hash(style) for style in (PAGE_STYLE, STYLE_SHEET))
        policy = POLICY.format(styles=" ".join(hashes))
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width">\n'
            "<title>A decision tree</title>\n"
            f"<style>{PAGE_STYLE}</style>\n{self.svg}\n</html>\n"
        )

    def save(self, path: "str | os.PathLike[str]", *, force: bool = True) -> None:
        """Save it as .svg or, in a page, as .html, by the suffix of the path.

        ``force`` says whether a file that is there may be replaced.
        """
        check_suffix(path)
        page = os.fsdecode(path).lower().endswith(PAGE_SUFFIXES)
        text = self.html if page else self.svg + "\n"
        write_whole(path, [text.encode("utf-8")], force=force)


def check_suffix(path: "str | os.PathLike[str]") -> None:
    """Refuse a path that names no kind of picture that is drawn."""
    name = os.fsdecode(path)
    if not name.lower().endswith((*SVG_SUFFIXES, *PAGE_SUFFIXES)):
        msg = f"{name!r} does not end in .svg or .html; {OTHER_PICTURES}"
        raise ParameterError(msg)


def _hash(style: str) -> str:
    return f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"
