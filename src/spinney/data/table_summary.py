"""How a table was read: its columns at a glance, and what is doubtful about them.

What a column holds is shown as small bars: of a number the rows in equal parts of its
range, of names the rows of the commonest ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import (
    counted_label,
    ends_in_digit,
    figure,
    number_text,
    shown,
    written_value,
)
from spinney._support.text_table import aligned
from spinney.data.column_issues import facts_of, look_warnings, table_warnings
from spinney.data.declarations import Declarations
from spinney.data.table import Column, Table, Value
from spinney.data.target_leakage import describe_target, training_warnings
from spinney.data.times import CLOCK_UNIT, DAY_UNIT, INSTANT_UNIT
from spinney.errors import Part, Text, in_words

N_BARS = 8
N_NAMED = 3
LONGEST = 24
LONGEST_NAME = 60  # of a column, which must be written whole to declare it
TIMES = {DAY_UNIT: "date", INSTANT_UNIT: "date and time", CLOCK_UNIT: "time of day"}
BARS, ASCII_BARS = " ▁▂▃▄▅▆▇█", " .:-=+*#@"


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """One column: its kind, how many cells are missing, how many values there are.

    ``bars`` are numbers of rows; ``examples`` the least, the middle and the greatest of
    numbers, or the commonest values with their rows; ``without_rows`` the values that
    are declared and that no row has.
    """

    name: str
    kind: str
    n_missing: int
    n_values: int
    bars: tuple[int, ...]
    examples: tuple[str, ...]
    without_rows: tuple[Value, ...] = ()

    def cells(self, signs: str) -> tuple[str, ...]:
        """Return its line of the table, bars drawn with these signs."""
        between = ", " if self.kind in ("nominal", "ordinal") else " … "
        return (
            _short(shown(self.name), LONGEST_NAME),
            self.kind,
            str(self.n_missing or ""),
            str(self.n_values),
            _drawn(self.bars, signs),
            between.join([*self.examples, *self._named_without_rows()]),
        )

    def _named_without_rows(self) -> list[str]:
        """Return the values that no row has, as examples of what may come."""
        named = [_short(shown(value)) for value in self.without_rows[:N_NAMED]]
        more = len(self.without_rows) - N_NAMED
        named += [f"{more} more"] if more > 0 else []
        return [f"without rows: {', '.join(named)}"] if named else []


@dataclass(frozen=True, slots=True)
class TableSummary(InNotebooks):
    """A table at a glance; it prints as text.

    Parameters
    ----------
    n_rows : int
    columns : tuple of ColumnSummary
    notes : tuple of Text
        What was done to read it.
    doubts : tuple of Text
        What may be otherwise than it was read, and what to do then.
    """

    n_rows: int
    columns: tuple[ColumnSummary, ...]
    notes: tuple[Text, ...]
    doubts: tuple[Text, ...]

    def text(
        self,
        words: Callable[[Part], str] = str,
        *,
        ascii_only: bool = False,
        width: int | None = None,
    ) -> str:
        """Return it for a person; ``words`` says settings as a front end does.

        Lines of the table end at ``width``.
        """
        signs = ASCII_BARS if ascii_only else BARS
        heads = ("column", "kind", "missing", "values", "rows", "")
        lines = [heads, *(column.cells(signs) for column in self.columns)]
        plural = "" if len(self.columns) == 1 else "s"
        parts = [f"{self.n_rows} rows, {len(self.columns)} column{plural}", ""]
        parts += [_short(line, width) for line in aligned(lines, left=(0, 1, 4, 5))]
        for title, texts in (("read so", self.notes), ("doubts", self.doubts)):
            if texts:
                parts += ["", title, *(f"  {in_words(each, words)}" for each in texts)]
        text = "\n".join(line.rstrip() for line in parts)
        return text.replace("…", "...") if ascii_only else text

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "n_rows": self.n_rows,
            "columns": [
                {
                    "name": column.name,
                    "kind": column.kind,
                    "n_missing": column.n_missing,
                    "n_values": column.n_values,
                    "bars": list(column.bars),
                    "examples": list(column.examples),
                    "without_rows": list(column.without_rows),
                }
                for column in self.columns
            ],
            "notes": [in_words(each, str) for each in self.notes],
            "doubts": [in_words(each, str) for each in self.doubts],
        }


def summary_of(
    table: Table, declarations: Declarations | None = None, target: str | None = None
) -> TableSummary:
    """Return a table at a glance; where its target is known, how that is read, too.

    Examples
    --------
    >>> from spinney.data.readers import read_table
    >>> colours = ["red", "red", "blue", ""]
    >>> table = read_table({"size": [1, 2, None, 9], "colour": colours})
    >>> print(summary_of(table))
    4 rows, 2 columns
    <BLANKLINE>
    column  kind     missing  values  rows
    size    numeric        1       3  ██     █  1 … 2 … 9
    colour  nominal        1       2  █▄        red 2 (67 %), blue 1 (33 %)
    """
    declarations = declarations or Declarations()
    attributes, notes = table, table.notes
    if target is None:
        warnings = table_warnings(table, declarations)
    else:
        column, attributes = table[target], table.without([target])
        warnings = training_warnings(attributes, column, declarations)
        notes += (describe_target(column, declarations),)
    warnings = [*warnings, *look_warnings(facts_of(attributes, declarations))]
    doubts: list[Text] = [(warning.args, ": ", warning.remedy) for warning in warnings]
    return TableSummary(
        table.n_rows, tuple(map(_summary, table.columns)), notes, tuple(doubts)
    )


def _summary(column: Column) -> ColumnSummary:
    known = column.cells[~column.missing]
    n_missing = len(column.cells) - len(known)
    if column.kind != "numeric":
        return _of_names(column, known, n_missing)
    kind = TIMES.get(column.unit or "", "numeric")
    values = np.unique(known)
    if not len(values):
        return ColumnSummary(column.name, kind, n_missing, 0, (), ())
    low, high = float(values[0]), float(values[-1])
    bars = [len(known)]
    if high > low:
        # Halves, since the range of floats near all limits is beyond them.
        parts = (known / 2 - low / 2) / (high / 2 - low / 2) * N_BARS
        parts = np.minimum(parts.astype(int), N_BARS - 1)
        bars = np.bincount(parts, minlength=N_BARS).tolist()
    middle = float(np.sort(known)[(len(known) - 1) // 2])
    shown_as = dict.fromkeys(_number(column, each) for each in (low, middle, high))
    return ColumnSummary(
        column.name, kind, n_missing, len(values), tuple(bars), tuple(shown_as)
    )


def _number(column: Column, number: float) -> str:
    return figure(number) if column.unit is None else number_text(number, column.unit)


def _of_names(column: Column, known: Any, n_missing: int) -> ColumnSummary:
    counts = np.bincount(known, minlength=len(column.levels))
    order = np.argsort(-counts, kind="stable")
    if column.kind == "ordinal":
        order = np.arange(len(counts))
    present = [code for code in order.tolist() if counts[code]]
    named = present[:N_NAMED]
    labels = [
        written_value(_short(shown(column.levels[code])), listed=True) for code in named
    ]
    colon = ends_in_digit(labels)
    examples = [
        counted_label(label, int(counts[code]), len(known), colon=colon)
        for label, code in zip(labels, named, strict=True)
    ]
    if len(present) > N_NAMED:
        examples.append(f"{len(present) - N_NAMED} more")
    bars = tuple(int(counts[code]) for code in present[:N_BARS])
    return ColumnSummary(
        column.name,
        column.kind,
        n_missing,
        len(present),
        bars,
        tuple(examples),
        column.without_rows,
    )


def _short(text: str, longest: int | None = LONGEST) -> str:
    if longest is None or len(text) <= longest:
        return text
    return f"{text[: longest - 1]}…"


def _drawn(bars: tuple[int, ...], signs: str) -> str:
    """Return bars as signs, the tallest full; what has a row has a sign.

    >>> _drawn((8, 1, 0, 4), BARS)
    '█▁ ▄    '
    """
    top = max(bars, default=0)
    steps = len(signs) - 1
    heights = (-(-bar * steps // top) if bar else 0 for bar in bars)
    return "".join(signs[height] for height in heights).ljust(N_BARS if bars else 0)
