"""Figures in pages: written between marks, by the command that printed them."""

import datetime
from collections.abc import Sequence
from pathlib import Path

__all__ = ["END", "PAGE", "begin", "dated", "written"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "trust.md"
END = "<!-- end of counts -->"


def begin(command: str) -> str:
    """Return the mark before the figures of a command.

    >>> begin("make trust")
    '<!-- counts: make trust -->'
    """
    return f"<!-- counts: {command} -->"


def dated() -> str:
    """Return what figures are of: version and date."""
    from spinney import __version__  # not before tools/mutate.py has forked

    today = datetime.datetime.now(datetime.UTC).date()
    return f"Spinney {__version__}, {today}"


def written(page: str, lines: Sequence[str], *, command: str) -> str:
    """Return a page with other lines between the marks of a command."""
    before, mark, rest = page.partition(begin(command))
    _, end, after = rest.partition(END)
    if not mark or not end:
        msg = f"the page has no marks {begin(command)!r} and {END!r}"
        raise ValueError(msg)
    return "\n".join([before + mark, "", *lines, "", END + after])
