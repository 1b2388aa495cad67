"""Cells as the text of a file: of CSV and TSV."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from spinney._support.text import shown, value_text

# Whatever a reader may take for a delimiter, so that none splits a cell of another's.
_QUOTED = re.compile(r'[,;|"\t\r\n]|^\ufeff')
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def texts_of(cells: Sequence[Any], text: Callable[[Any], str]) -> list[str]:
    """Return the text of each cell; that of an equal text is made once."""
    kinds = set(map(type, cells))
    if kinds <= {str, type(None), bool}:
        known = {cell: text(cell) for cell in set(cells)}
        return list(map(known.__getitem__, cells))
    return list(map(text, cells))


def plain_text(cell: Any) -> str:
    """Return a cell as text, nothing where it is missing."""
    return "" if cell is None else value_text(cell)


def guarded(cell: Any) -> str:
    """Return a cell as text that no spreadsheet takes for a formula.

    >>> guarded("=1+1"), guarded("-1"), guarded(-1.5), guarded("good")
    ("'=1+1", '-1', '-1.5', 'good')
    """
    text = plain_text(cell)
    risky = isinstance(cell, str) and text.startswith(_FORMULA) and not _number(text)
    return f"'{text}" if risky else text


def printable_text(cell: Any) -> str:
    """Return a cell as text that a terminal does not obey."""
    return "" if cell is None else shown(cell)


def delimited(text: str) -> str:
    """Return a text as a cell of CSV or TSV, in quotes where it needs them.

    >>> print(delimited("plain"), delimited('the "a;b" one'))
    plain "the ""a;b"" one"
    """
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(text) else text


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
