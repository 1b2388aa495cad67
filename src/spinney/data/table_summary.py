"""The summary of a table: its columns, how it was read, and warnings.

Small bars show the distribution of a column: the histogram of a number, the rows of the
most frequent categories.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
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
from spinney.data.survey_answers import survey_warnings
from spinney.data.table import Column, Table, Value
from spinney.data.target_leakage import describe_target, training_warnings
from spinney.data.times import CLOCK_UNIT, DAY_UNIT, INSTANT_UNIT
from spinney.errors import Part, Text, in_words

N_BARS = 8
N_NAMED = 3
LONGEST = 24
LONGEST_NAME = 60  # of a column name, which is not abbreviated
TIMES = {DAY_UNIT: "date", INSTANT_UNIT: "date and time", CLOCK_UNIT: "time of day"}
BARS, ASCII_BARS = " ▁▂▃▄▅▆▇█", " .:-=+*#@"


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """The summary of a column: its kind, numbers of missing cells and of values.

    ``bars`` are row counts; ``examples`` are minimum, median and maximum, or the most
    frequent values with row counts; ``without_rows`` are unused declared values.
    """

    name: str
    kind: str
    n_missing: int
    n_values: int
    bars: tuple[int, ...]
    examples: tuple[str, ...]
    without_rows: tuple[Value, ...] = ()

    def cells(self, signs: str) -> tuple[str, ...]:
        """Return the cells of its line in the printed table."""
        between = ", " if self.kind in ("nominal", "ordinal") else " … "
        return (
            _shorten(shown(self.name), LONGEST_NAME),
            self.kind,
            str(self.n_missing or ""),
            str(self.n_values),
            _draw(self.bars, signs),
            between.join([*self.examples, *self._unused_values()]),
        )

    def _unused_values(self) -> list[str]:
        """Return the unused values as one example."""
        named = [_shorten(shown(value)) for value in self.without_rows[:N_NAMED]]
        more = len(self.without_rows) - N_NAMED
        named += [f"{more} more"] if more > 0 else []
        return [f"without rows: {', '.join(named)}"] if named else []


@dataclass(frozen=True, slots=True)
class TableSummary(InNotebooks):
    """The summary of a table; ``print`` shows it as text.

    Parameters
    ----------
    n_rows : int
    columns : tuple of ColumnSummary
    notes : tuple of Text
        How it was read.
    warnings : tuple of Text
        Possible problems, with their remedies.
    """

    n_rows: int
    columns: tuple[ColumnSummary, ...]
    notes: tuple[Text, ...]
    warnings: tuple[Text, ...]

    def text(
        self,
        words: Callable[[Part], str] = str,
        *,
        ascii_only: bool = False,
        width: int | None = None,
    ) -> str:
        """Return the summary as text; ``words`` formats settings for a front end.

        Lines of the table end at ``width``.
        """
        signs = ASCII_BARS if ascii_only else BARS
        heads = ("column", "kind", "missing", "values", "rows", "")
        lines = [heads, *(column.cells(signs) for column in self.columns)]
        plural = "" if len(self.columns) == 1 else "s"
        parts = [f"{self.n_rows} rows, {len(self.columns)} column{plural}", ""]
        parts += [_shorten(line, width) for line in aligned(lines, left=(0, 1, 4, 5))]
        titles = {"how it was read": self.notes, "possible problems": self.warnings}
        for title, texts in titles.items():
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
            "warnings": [in_words(each, str) for each in self.warnings],
        }


def summary_of(
    table: Table, declarations: Declarations | None = None, target: str | None = None
) -> TableSummary:
    """Return the summary of a table, with its target if given.

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
    warnings += survey_warnings(table, declarations)
    texts: list[Text] = [(warning.args, ": ", warning.remedy) for warning in warnings]
    columns = tuple(_with_unit(_column_summary(c), table) for c in table.columns)
    return TableSummary(table.n_rows, columns, notes, tuple(texts))


def _with_unit(summary: ColumnSummary, table: Table) -> ColumnSummary:
    """Return the summary of a column whose kind names the unit of its numbers."""
    unit = table.text_format.unit(summary.name)
    if unit is None or summary.kind != "numeric":
        return summary
    return replace(summary, kind=f"numeric ({unit})")


def _column_summary(column: Column) -> ColumnSummary:
    known = column.cells[~column.missing]
    n_missing = len(column.cells) - len(known)
    if column.kind != "numeric":
        return _category_summary(column, known, n_missing)
    kind = TIMES.get(column.unit or "", "numeric")
    values = np.unique(known)
    if not len(values):
        return ColumnSummary(column.name, kind, n_missing, 0, (), ())
    low, high = float(values[0]), float(values[-1])
    bars = [len(known)]
    if high > low:
        # Halves, as the range of the largest floats overflows.
        bins = (known / 2 - low / 2) / (high / 2 - low / 2) * N_BARS
        bins = np.minimum(bins.astype(int), N_BARS - 1)
        bars = np.bincount(bins, minlength=N_BARS).tolist()
    middle = float(np.sort(known)[(len(known) - 1) // 2])
    shown_as = dict.fromkeys(
        _number_text(column, number) for number in (low, middle, high)
    )
    return ColumnSummary(
        column.name, kind, n_missing, len(values), tuple(bars), tuple(shown_as)
    )


def _number_text(column: Column, number: float) -> str:
    return figure(number) if column.unit is None else number_text(number, column.unit)


def _category_summary(column: Column, known: Any, n_missing: int) -> ColumnSummary:
    counts = np.bincount(known, minlength=len(column.levels))
    order = np.argsort(-counts, kind="stable")
    if column.kind == "ordinal":
        order = np.arange(len(counts))
    present = [code for code in order.tolist() if counts[code]]
    named = present[:N_NAMED]
    labels = [
        written_value(_shorten(shown(column.levels[code])), listed=True)
        for code in named
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


def _shorten(text: str, longest: int | None = LONGEST) -> str:
    if longest is None or len(text) <= longest:
        return text
    return f"{text[: longest - 1]}…"


def _draw(bars: tuple[int, ...], signs: str) -> str:
    """Return bars as signs; the tallest is full, and every bar with rows is visible.

    >>> _draw((8, 1, 0, 4), BARS)
    '█▁ ▄    '
    """
    top = max(bars, default=0)
    steps = len(signs) - 1
    heights = (-(-bar * steps // top) if bar else 0 for bar in bars)
    return "".join(signs[height] for height in heights).ljust(N_BARS if bars else 0)
