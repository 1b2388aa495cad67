"""Where the names of columns are in a file, and which of them can stay.

Above the names there may be titles. R writes a line of names that lacks one for the
names of rows, and pandas an empty one for its index. Whatever is mended is noted.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from spinney.data.cells import parse_number
from spinney.data.declarations import Declarations
from spinney.data.format_inference import PLACEHOLDERS
from spinney.data.reading_notes import ReadingNotes

MOST_TITLES = 20
MOST_SHOWN = 4  # names in a doubt about them
SHARE_OF_CELLS = 2 / 3  # of names, in a line that is more like a row
# What pandas calls an index that it has written and read again.
PANDAS_INDEX = "Unnamed: 0"


@dataclass(frozen=True, slots=True)
class Head:
    """The line that names the columns.

    Parameters
    ----------
    above : int
        How many records stand above it.
    names : tuple of str
        A name for each cell of a row, empty where none is written.
    fits : bool
        Whether there are several columns, and all records below are equally long.
    is_first : bool
        Whether it is the first line, and lacks no name.
    """

    above: int
    names: tuple[str, ...]
    fits: bool
    is_first: bool


def find_header(
    records: Sequence[Sequence[str]], above: int | None = None
) -> Head | None:
    """Return the head of some first records; None where all of them are empty.

    ``above`` says how many records stand above it, if that is known.

    >>> find_header([["Sales of May"], [], ["size", "price"], ["1", "2"], ["3", "4"]])
    Head(above=2, names=('size', 'price'), fits=True, is_first=False)
    >>> find_header([["size"], ["a", "1"], ["b", "2"]])
    Head(above=0, names=('', 'size'), fits=True, is_first=False)
    """
    widths = Counter(len(cells) for cells in records if cells)
    if not widths:
        return None
    width = max(widths, key=lambda each: (widths[each], each))
    if above is None:
        above = _n_titles(records, width)
    if above >= len(records):
        return None
    names, below = (
        tuple(records[above]),
        [cells for cells in records[above + 1 :] if cells],
    )
    equal = {len(cells) for cells in below} <= {width}
    if below and equal and len(names) == width - 1:
        # The names of rows come first; a delimiter too many comes last.
        ends = any(cells[-1] for cells in below)
        names = ("", *names) if ends else (*names, "")
    fits = width > 1 and equal and len(names) == width
    return Head(above, names, fits, above == 0 and len(names) == len(records[above]))


def _n_titles(records: Sequence[Sequence[str]], width: int) -> int:
    """Return how many first records are titles: what follows them names columns."""
    first = next(number for number, cells in enumerate(records) if cells)
    for number, cells in enumerate(records[: MOST_TITLES + 1]):
        if width == 1 or len(cells) not in (width, width - 1):
            continue
        several = len(list(filter(None, cells))) > 1
        if several and (number == first or not _has_numbers([cells])):
            return number
        if not cells[0] and all(cells[1:]):
            return number  # the index of a table of one column
        if width == 2 and _has_numbers(records[number + 1 : number + 2]):
            return number  # one name, and rows that have names, too
    return first


def header_warning(names: Sequence[str], below: Sequence[Sequence[str]]) -> str:
    """Return what is doubtful of a line of names, with the remedy; "" if nothing is.

    ``below`` are some records that follow it.

    >>> print(header_warning(["5.1", "red"], [["4.9", "blue"], ["3.0", "red"]]))
    the first line ('5.1', 'red') names the columns and looks like a row: if it is \
one, write a line of names above it
    >>> print(header_warning(["size price"], [["1 2"], ["3 4"]]))
    there is one column, and its cells look divided by spaces: write commas or tabs \
between them
    >>> print(header_warning(["size", " price"], [["1", " 2"]]))
    cells begin with spaces, which are parts of names and texts: write none after a \
delimiter
    """
    rows = [cells for cells in below if len(cells) == len(names)]
    if len(names) == 1:
        n_parts = {len(cells[0].split()) for cells in (names, *rows)}
        if len(rows) > 1 and len(n_parts) == 1 and n_parts.pop() > 1:
            return (
                "there is one column, and its cells look divided by spaces: write "
                "commas or tabs between them"
            )
        return ""
    if rows and _is_like_a_row(names, rows):
        some = ", ".join(map(repr, names[:MOST_SHOWN]))
        more = ", …" if len(names) > MOST_SHOWN else ""
        return (
            f"the first line ({some}{more}) names the columns and looks like a row: if "
            "it is one, write a line of names above it"
        )
    if all(name.startswith(" ") for name in names[1:]):
        return (
            "cells begin with spaces, which are parts of names and texts: write none "
            "after a delimiter"
        )
    return ""


def _is_like_a_row(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether most names are cells: they recur below, or are numbers as these.

    Whole numbers in equal steps are names, such as years, or those that pandas gives.
    """
    numbers = [n for name in names if (n := parse_number(name)) is not None]
    steps = {after - before for before, after in pairwise(numbers)}
    counted = len(steps) == 1 and steps != {0} and all(n % 1 == 0 for n in numbers)
    n_cells = 0
    for name, cells in zip(names, zip(*rows, strict=True), strict=True):
        known = [cell for cell in cells if cell not in {"", *PLACEHOLDERS}]
        if parse_number(name) is None:
            n_cells += bool(name.strip()) and name in known
        elif not counted:
            n_cells += all(parse_number(cell) is not None for cell in known)
    return n_cells >= SHARE_OF_CELLS * len(names)


def _has_numbers(records: Sequence[Sequence[str]]) -> bool:
    return any(parse_number(cell) is not None for cells in records for cell in cells)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is asked of a column without a name: how many cells, and values."""

    n_rows: int
    n_cells: int
    n_values: int


def unclear_names(names: Sequence[str]) -> list[int]:
    """Return the columns of whose cells one must know something to name them."""
    return [
        index
        for index, name in enumerate(names)
        if not name.strip() or (index == 0 and name == PANDAS_INDEX)
    ]


def resolve_names(
    names: Sequence[str],
    facts: Mapping[int, Facts],
    declarations: Declarations,
    notes: ReadingNotes,
) -> list[str | None]:
    """Return a name for each column, all different; None for one to leave out.

    ``facts`` are those of the columns :func:`unclear_names`.
    """
    settled: list[str | None] = []
    declared = {*declarations.names, *(declarations.only or ())}
    for index, name in enumerate(names):
        new: str | None = name
        if index in facts and name not in declared:
            new = _named(index, name, facts[index], declared, notes)
        if new is not None and new in settled:
            new = _another(new, {*names, *filter(None, settled)})
            notes.add(f"a second column {name!r} is called {new!r}")
        settled.append(new)
    return settled


def different_names(names: Sequence[str], notes: ReadingNotes) -> list[str]:
    """Return names that all differ, none of them left out."""
    settled = resolve_names(names, {}, Declarations(), notes)
    return [name for name in settled if name is not None]


def _named(
    index: int,
    name: str,
    facts: Facts,
    declared: Collection[str],
    notes: ReadingNotes,
) -> str | None:
    """Return the name of a column that has none, if it is to stay.

    One that is known by the name it gets, as that of a model's first table, stays.
    """
    called = f"called {name!r}" if name.strip() else "without a name"
    what = f"column {index + 1}, {called},"
    new = name if name.strip() else f"column {index + 1}"
    if new not in declared:
        if facts.n_cells == 0:
            notes.add(f"{what} has no cell and is left out")
            return None
        if index == 0 and facts.n_values == facts.n_rows:
            notes.add(f"{what} numbers or names the rows and is left out")
            return None
    if new != name:
        notes.add(f"{what} is called {new!r}")
    return new


def _another(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
