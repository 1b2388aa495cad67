"""Tables for people: aligned columns, in blocks if a line is too narrow."""

import unicodedata
from collections.abc import Collection, Sequence
from math import isfinite

GAP = 2
# Numbers from here on, or of which none is larger, are written with an exponent.
LARGEST, SMALLEST = 1e9, 1e-9


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> cells("size"), cells("価格"), cells("e\u0301")
    (4, 4, 1)
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def shortened(text: str, width: int) -> str:
    """Return a text of at most so many columns, its middle left out if too long.

    Names often differ at their ends, so a third of the width is for the end. In ASCII,
    three points mark the gap.

    >>> shortened("average speed", 20), shortened("average speed of all", 10)
    ('average speed', 'avera...ll')
    >>> shortened("größte Höhe", 7)
    'größ…he'
    """
    if cells(text) <= width:
        return text
    gap = "..." if text.isascii() else "…"
    room = max(0, width - len(gap))
    end = room // 3
    begin = room - end
    while begin and cells(text[:begin]) > room - end:
        begin -= 1
    n_last = end
    while n_last and cells(text[-n_last:]) > end:
        n_last -= 1
    return f"{text[:begin]}{gap}{text[-n_last:] if n_last else ''}"[: max(width, 0)]


def aligned(
    rows: Sequence[Sequence[str]],
    *,
    left: Collection[int] = (),
    widest: int | None = None,
) -> list[str]:
    """Return the lines of a table, one per row.

    Parameters
    ----------
    rows : sequence of sequences of str
        The cells of each row, the same number in all.
    left : collection of int
        The columns that are flush left; the others are flush right.
    widest : int, optional
        Longer cells stand out and do not widen their column.

    Examples
    --------
    >>> print(*aligned([("n", "name"), ("10", "a"), ("9", "b")], left=[1]), sep="/")
     n  name/10  a/ 9  b
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if widest is not None:
        widths = [min(width, widest) for width in widths]
    return [
        (" " * GAP)
        .join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        .rstrip()
        for row in rows
    ]


def in_columns(
    columns: Sequence[Sequence[str]], *, width: int | None = None, indent: int = 2
) -> list[str]:
    r"""Return the lines of a table, each column right under its head.

    Where a line has no room for all columns, blocks of them follow each other, and each
    begins with the first column. A column wider than a line has a block of its own.

    >>> print("\n".join(in_columns([["row", "1", "2"], ["size", "10", "7"]])))
      row  size
        1    10
        2     7
    """
    widths = [max(map(len, column)) for column in columns]
    free_width = None if width is None else width - indent - widths[0]
    blocks: list[list[int]] = [[]]
    used = 0
    for column in range(1, len(columns)):
        need = GAP + widths[column]
        if free_width is not None and blocks[-1] and used + need > free_width:
            blocks.append([])
            used = 0
        blocks[-1].append(column)
        used += need
    lines: list[str] = []
    for block in blocks:
        if lines:
            lines.append("")
        rows = zip(*(columns[column] for column in [0, *block]), strict=True)
        lines += [" " * indent + line for line in aligned(list(rows))]
    return lines


def decimals_for(largest: float) -> int:
    """Return how many decimals tell three digits of a number, two at least.

    >>> decimals_for(7.21), decimals_for(0.05), decimals_for(0.0)
    (2, 4, 2)
    """
    decimals = 2
    while 0 < largest * 10.0 ** (decimals - 2) < 1 and decimals < 12:
        decimals += 1
    return decimals


def number_cells(numbers: Sequence[float]) -> list[str]:
    """Return numbers of one column, all with as many decimals: as few as tell them.

    >>> number_cells([1.8333, 4.25, 6.0]), number_cells([1.0, 1.5]), number_cells([30])
    (['1.83', '4.25', '6.00'], ['1.0', '1.5'], ['30'])
    >>> number_cells([0.0, 2.5e-200])
    ['0', '2.5e-200']
    """
    finite = [float(number) for number in numbers if isfinite(number)]
    largest = max(map(abs, finite), default=0.0)
    if not largest < LARGEST or 0 < largest < SMALLEST:
        return [f"{number:.4g}" for number in numbers]
    most = decimals_for(largest)
    decimals = next(
        (n for n in range(most) if all(round(x, n) == x for x in finite)),
        most,
    )
    return [f"{number:.{decimals}f}" for number in numbers]
