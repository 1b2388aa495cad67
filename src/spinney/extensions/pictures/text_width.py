"""The width of a drawn text, by the widths of its letters.

The table holds the widths of Helvetica and of fonts with the same metrics (Arial,
Liberation Sans, Nimbus Sans), in thousandths of the font size. Letters with accents
have the width of plain letters. Signs that are not in the table count as wide, and East
Asian ones as squares, so that a text is hardly ever wider than estimated.
"""

import unicodedata
from functools import lru_cache

_WIDTHS = {
    191: "'",
    222: "ijl’‘",
    260: "|¦",
    278: " !,./:;I[\\]ft·",
    333: "-()`r“”",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jckvsxyz",
    556: "#$0123456789?L_abdeghnopqu–§",
    584: "+<=>~±×÷−≤≥≠",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw∈∉",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1000: "…→—",
    1015: "@",
}
_WIDTH = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
_BOLD = 50  # what a letter is wider in bold, at most
_OTHER = 780
_EAST_ASIAN = 1010
ELLIPSIS = "…"


@lru_cache(maxsize=4096)
def _letter_width(letter: str) -> int:
    if letter in _WIDTH:
        return _WIDTH[letter]
    if unicodedata.combining(letter):
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return _EAST_ASIAN
    base = unicodedata.normalize("NFD", letter)[0]
    return _WIDTH.get(base, _OTHER)


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text of printable characters at a size.

    >>> round(text_width("texture", 10), 2), round(text_width("été", 10), 2)
    (30.57, 13.9)
    """
    width = sum(map(_letter_width, text)) + (_BOLD * len(text) if bold else 0)
    return width * size / 1000


def shortened(text: str, max_width: float, size: float, *, bold: bool = False) -> str:
    """Return a text that fits; the middle of a text that is too long is left out.

    Names often differ at their ends, so two thirds of the width are for the beginning
    and one third is for the end.

    >>> shortened("average_income_of_the_household", 120, 12)
    'average_inc…usehold'
    """
    if text_width(text, size, bold=bold) <= max_width:
        return text
    width = max_width - text_width(ELLIPSIS, size, bold=bold)
    begin = _n_fitting(text, width * 2 / 3, size, bold=bold)
    used = text_width(text[:begin], size, bold=bold)
    end = _n_fitting(text[:begin:-1], width - used, size, bold=bold)
    return text[:begin].rstrip() + ELLIPSIS + text[len(text) - end :].lstrip()


def _n_fitting(text: str, max_width: float, size: float, *, bold: bool) -> int:
    """Return the number of characters of a text that fit."""
    used = 0.0
    for place, letter in enumerate(text):
        used += text_width(letter, size, bold=bold)
        if used > max_width:
            return place
    return len(text)


def wrapped(text: str, max_width: float, size: float) -> list[str]:
    """Return a text as lines that fit, broken between words.

    >>> wrapped("every split would leave too few rows", 120, 12)
    ['every split would', 'leave too few rows']
    """
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, size) <= max_width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return [shortened(line, max_width, size) for line in lines]
