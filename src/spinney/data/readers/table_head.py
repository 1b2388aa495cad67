"""The header of a file: its place, and the names of its columns.

Title lines may precede it. R omits the name of the column of row names, and pandas
writes an empty name for its index. Each correction is noted.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from spinney.data.cells import parse_number
from spinney.data.declarations import Declarations
from spinney.data.format_inference import PLACEHOLDERS
from spinney.data.reading_notes import ReadingNotes

MAX_TITLE_LINES = 20
MAX_SHOWN = 4  # names shown in a warning
MIN_CELL_FRACTION = 2 / 3  # fraction of names that look like cells
# The name that pandas gives an index that it reads back.
PANDAS_INDEX = "Unnamed: 0"


@dataclass(frozen=True, slots=True)
class Head:
    """The line that names the columns.

    Parameters
    ----------
    above : int
        The number of records above it.
    names : tuple of str
        A name for each column, empty if none is written.
    fits : bool
        Whether it has several names, and all records below have the same length.
    is_first : bool
        Whether it is the first line, and lacks no name.
    n_lines : int
        How many lines the names have.
    """

    above: int
    names: tuple[str, ...]
    fits: bool
    is_first: bool
    n_lines: int = 1

    @property
    def n_titles(self) -> int:
        """The number of records above the names."""
        return self.above + 1 - self.n_lines


def find_header(
    records: Sequence[Sequence[str]], above: int | None = None
) -> Head | None:
    """Return the header of some first records; None if all of them are empty.

    ``above`` is the number of records above it, if known.

    >>> find_header([["Sales of May"], [], ["size", "price"], ["1", "2"], ["3", "4"]])
    Head(above=2, names=('size', 'price'), fits=True, is_first=False, n_lines=1)
    >>> find_header([["size"], ["a", "1"], ["b", "2"]])
    Head(above=0, names=('', 'size'), fits=True, is_first=False, n_lines=1)
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
        # Row names are the first column; a surplus delimiter is at the end.
        ends = any(cells[-1] for cells in below)
        names = ("", *names) if ends else (*names, "")
    fits = width > 1 and equal and len(names) == width
    return Head(above, names, fits, above == 0 and len(names) == len(records[above]))


def joined_header(
    records: Sequence[Sequence[str]], head: Head, notes: ReadingNotes
) -> Head:
    """Return a header whose names have two lines as one line, and note that.

    Names stand for the columns of a group in the first line, as in merged cells.

    >>> records = [["", "2023", "", "2024"], ["town", "Q1", "Q2", "Q1"], ["Ur", *"123"]]
    >>> joined_header(records, find_header(records), ReadingNotes()).names
    ('town', '2023 Q1', '2023 Q2', '2024 Q1')
    """
    for upper in (head.above - 1, head.above):
        if upper < 0 or upper + 2 >= len(records):
            continue
        groups, names = records[upper], records[upper + 1]
        if not _are_two_lines(groups, names, records[upper + 2 :]):
            continue
        joined, group = [], ""
        for above, below in zip(groups, names, strict=True):
            group = above or (group if below else "")
            joined.append(f"{group} {below}".strip())
        if len(set(joined)) == len(joined):
            example = next(name for name in joined if " " in name)
            notes.add(f"the two lines of the header are joined, as in {example!r}")
            return Head(upper + 1, tuple(joined), head.fits, False, 2)
    return head


# What a line of a survey's export holds for programs, two lines below its names.
_IMPORT_ID = re.compile(r"""\{.?["']ImportId["']""")
MAX_DESCRIPTIONS = 3


def n_descriptions(below: Sequence[Sequence[str]]) -> int:
    """Return how many lines below a header describe its columns, as in surveys.

    >>> ids = ['{"ImportId":"QID1"}', '{"ImportId":"QID2"}']
    >>> n_descriptions([["How old?", "Why?"], ids, ["18-24", "So"]])
    2
    >>> n_descriptions([["18-24", "So"], ["25-34", "So"]])
    0
    """
    for number, cells in enumerate(below[:MAX_DESCRIPTIONS]):
        if cells and all(map(_IMPORT_ID.match, cells)):
            return number + 1
    return 0


def _are_two_lines(
    groups: Sequence[str], names: Sequence[str], below: Sequence[Sequence[str]]
) -> bool:
    """Return whether two records are groups of columns and names in these."""
    if len(groups) != len(names) or len(list(filter(None, groups))) < 2:
        return False
    full = all(map(any, zip(groups, names, strict=True)))
    has_gaps = any(
        name and not group for group, name in zip(groups, names, strict=True)
    )
    several = len(list(filter(None, names))) > 1
    if not (full and has_gaps and several) or _has_numbers([names]):
        return False
    return _has_numbers(below)


def _n_titles(records: Sequence[Sequence[str]], width: int) -> int:
    """Return the number of title lines above the header."""
    first = next(number for number, cells in enumerate(records) if cells)
    for number, cells in enumerate(records[: MAX_TITLE_LINES + 1]):
        if width == 1 or len(cells) not in (width, width - 1):
            continue
        several = len(list(filter(None, cells))) > 1
        if several and (number == first or not _has_numbers([cells])):
            return number
        if not cells[0] and all(cells[1:]):
            return number  # the index of a one-column table
        if width == 2 and _has_numbers(records[number + 1 : number + 2]):
            return number  # one name, and a column of row names
    return first


def header_warning(names: Sequence[str], below: Sequence[Sequence[str]]) -> str:
    """Return a warning about a suspicious header, or "".

    ``below`` are records that follow the header.

    >>> print(header_warning(["5.1", "red"], [["4.9", "blue"], ["3.0", "red"]]))
    the header ('5.1', 'red') looks like a row of data: if it is one, add a line of \
column names above it
    >>> print(header_warning(["size price"], [["1 2"], ["3 4"]]))
    the file has one column, with spaces between its cells: write commas or tabs instead
    >>> print(header_warning(["size", " price"], [["1", " 2"]]))
    cells begin with spaces, which stay in names and texts: remove spaces after \
delimiters
    """
    rows = [cells for cells in below if len(cells) == len(names)]
    if len(names) == 1:
        n_words = {len(cells[0].split()) for cells in (names, *rows)}
        if len(rows) > 1 and len(n_words) == 1 and n_words.pop() > 1:
            return (
                "the file has one column, with spaces between its cells: write commas "
                "or tabs instead"
            )
        return ""
    if rows and _is_like_a_row(names, rows):
        first_names = ", ".join(map(repr, names[:MAX_SHOWN]))
        dots = ", …" if len(names) > MAX_SHOWN else ""
        return (
            f"the header ({first_names}{dots}) looks like a row of data: if it is one, "
            "add a line of column names above it"
        )
    if all(name.startswith(" ") for name in names[1:]):
        return (
            "cells begin with spaces, which stay in names and texts: remove spaces "
            "after delimiters"
        )
    return ""


def _is_like_a_row(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether most names look like cells: they recur below, or are numbers too.

    Integers in equal steps are names, such as years or default names of pandas.
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
    return n_cells >= MIN_CELL_FRACTION * len(names)


def _has_numbers(records: Sequence[Sequence[str]]) -> bool:
    return any(parse_number(cell) is not None for cells in records for cell in cells)


@dataclass(frozen=True, slots=True)
class CellCounts:
    """The counts of an unnamed column: rows, known cells, distinct values."""

    n_rows: int
    n_cells: int
    n_values: int


def unclear_names(names: Sequence[str]) -> list[int]:
    """Return the indices of the columns whose name depends on their cells."""
    return [
        index
        for index, name in enumerate(names)
        if not name.strip() or (index == 0 and name == PANDAS_INDEX)
    ]


def resolve_names(
    names: Sequence[str],
    counts: Mapping[int, CellCounts],
    declarations: Declarations,
    notes: ReadingNotes,
) -> list[str | None]:
    """Return distinct names of the columns; None for a column to exclude.

    ``counts`` are the counts of the columns of :func:`unclear_names`.
    """
    settled: list[str | None] = []
    declared = {*declarations.names, *(declarations.only or ())}
    for index, name in enumerate(names):
        new: str | None = name
        if index in counts and name not in declared:
            new = _resolve_name(index, name, counts[index], declared, notes)
        if new is not None and new in settled:
            new = _unused_name(new, {*names, *filter(None, settled)})
            notes.add(f"a second column {name!r} is renamed {new!r}")
        settled.append(new)
    return settled


def unique_names(names: Sequence[str], notes: ReadingNotes) -> list[str]:
    """Return distinct names, without excluding columns."""
    settled = resolve_names(names, {}, Declarations(), notes)
    return [name for name in settled if name is not None]


def _resolve_name(
    index: int,
    name: str,
    counts: CellCounts,
    declared: Collection[str],
    notes: ReadingNotes,
) -> str | None:
    """Return a name for an unnamed column; None if it is excluded.

    A column stays if its new name is declared, for example by a model.
    """
    called = f"called {name!r}" if name.strip() else "without a name"
    what = f"column {index + 1}, {called},"
    new = name if name.strip() else f"column {index + 1}"
    if new not in declared:
        if counts.n_cells == 0:
            notes.add(f"{what} is empty and was excluded")
            return None
        if index == 0 and counts.n_values == counts.n_rows:
            notes.add(f"{what} numbers or names the rows and was excluded")
            return None
    if new != name:
        notes.add(f"{what} is called {new!r}")
    return new


def _unused_name(name: str, used: set[str]) -> str:
    number = 2
    while f"{name}_{number}" in used:
        number += 1
    return f"{name}_{number}"
