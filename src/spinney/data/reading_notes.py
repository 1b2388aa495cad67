"""Notes on how a table was read.

A reader collects notes, and the user gets them as one message.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spinney._support.text import first_of, joined
from spinney.data.declarations import Declarations
from spinney.data.format_inference import (
    FormatCandidates,
    choose_formats,
    is_ambiguous,
    table_markers,
    unambiguous,
)
from spinney.data.text_formats import (
    DATE_FORMATS,
    DATE_ORDERS,
    NUMBER_FORMATS,
    CellFormat,
    DateFormat,
    DurationFormat,
    NumberFormat,
    TextFormat,
)
from spinney.errors import Setting, Text, note

MAX_NAMED = 3


@dataclass
class ReadingNotes:
    """The notes on one table, and the text format inferred from its cells.

    Parameters
    ----------
    quiet : bool
        Whether a model reads the table; its training has reported placeholders.

    ``markers`` are the placeholders that are missing cells in all columns.
    """

    quiet: bool = False
    notes: list[Text] = field(default_factory=list)
    text_format: TextFormat = field(default_factory=TextFormat)
    markers: list[str] = field(default_factory=list)
    _parsed: dict[str, list[str]] = field(default_factory=dict)
    _placeholders: dict[str, Sequence[str]] = field(default_factory=dict)
    _guessed: dict[str, CellFormat] = field(default_factory=dict)
    _by_model: dict[str, list[str]] = field(default_factory=dict)
    # Decimal marks and date orders that are the only option of a column.
    _certain: set[str] = field(default_factory=set)

    def add(self, *words: Text) -> None:
        """Add a note."""
        self.notes.append(words)

    def add_skipped(self, n_lines: int) -> None:
        """Note that lines above the header were skipped."""
        was = (
            "line above the header was"
            if n_lines == 1
            else ("lines above the header were")
        )
        self.add(f"{n_lines} {was} skipped (", Setting("skip", n_lines), ")")

    def add_descriptions(self, n_lines: int) -> None:
        """Note that lines below the header were skipped, which describe columns."""
        if n_lines:
            lines = "1 line" if n_lines == 1 else f"{n_lines} lines"
            self.add(f"{lines} of descriptions below the header skipped")

    def add_padded(self, name: str, example: str | None) -> None:
        """Note that numbers of a column have leading zeros, like codes.

        >>> notes = ReadingNotes()
        >>> notes.add_padded("zip", "01067")
        >>> notes.all()[0][0]
        "leading zeros dropped in column 'zip' ('01067' is 1067): for codes or labels \
declare "
        """
        if example is None or self.quiet:
            return
        number = f"{example.strip()!r} is {int(example)}"
        self.add(
            f"leading zeros dropped in column {name!r} ({number}): for codes or labels "
            "declare ",
            Setting("nominal", [name]),
        )

    def add_certain(self, columns: Iterable[FormatCandidates]) -> None:
        """Record decimal marks and date orders that are a column's only option."""
        for column in columns:
            self._certain |= unambiguous([column.decimals, column.date_orders])

    def choose_formats(
        self,
        candidates: Mapping[str, FormatCandidates],
        declared: Declarations,
        ignored: Callable[[], Mapping[str, FormatCandidates]],
        *,
        delimiter: str = ",",
        names: Mapping[str, str] | None = None,
    ) -> dict[str, CellFormat]:
        """Return the formats of columns; note formats and markers.

        If the columns are ambiguous, ``ignored`` columns decide. ``names`` are the
        users' names of columns.
        """
        decisive: Mapping[str, FormatCandidates] = {}
        if is_ambiguous(candidates.values(), declared.text_format):
            decisive = ignored()
        self.add_certain(decisive.values())
        settings = (declared.text_format, delimiter, declared.model_format)
        formats = choose_formats(
            {**candidates, **decisive},
            *settings,
            names=names,
            for_model=declared.only is not None,
        )
        formats = {column: f for column, f in formats.items() if column in candidates}
        for column, found in candidates.items():
            name = column if names is None else names[column]
            self.add_column(name, found, formats.get(column), declared)
        self.markers = table_markers(candidates, formats)
        return formats

    def add_column(
        self,
        name: str,
        candidates: FormatCandidates,
        format: CellFormat | None,
        declared: Declarations,
    ) -> None:
        """Note the format by which a column was parsed, unless it was declared.

        A column without a format has ambiguous dates or plain numbers.
        """
        declared_format, model_format = declared.text_format, declared.model_format
        if not candidates.is_plain or model_format.decimal:
            self.add_certain([candidates])
        ambiguous = declared_format.decimal is None and len(candidates.decimals) > 1
        if (
            format is None
            and candidates.is_plain
            and ambiguous
            and model_format.decimal
        ):
            format = NUMBER_FORMATS[
                0
            ]  # plain numbers, unlike the model's training table
        if format is None:
            if candidates.are_dates and not candidates.is_plain:
                day, month = (Setting("dates", order) for order in DATE_ORDERS)
                example = candidates.example
                text = (
                    f"column {name!r} is kept as text, {example!r} is ambiguous: set "
                )
                self.add(text, day, " or ", month)
            return
        if candidates.placeholders and not self.quiet:
            self._placeholders[name] = candidates.placeholders
        self._add_unit(name, candidates, format)
        if isinstance(format, DurationFormat):
            if not self.quiet:
                self._add_parsed(self._parsed, name, candidates.example, format)
            return
        if isinstance(format, DateFormat):
            ambiguous = (
                declared_format.dates is None and len(candidates.date_orders) > 1
            )
            is_order = format.name in DATE_ORDERS
            dates = format.name if is_order else self.text_format.dates
            self.text_format = replace(self.text_format, dates=dates)
            expected = self.quiet and not is_order
            mark, expected_mark = (
                format.name,
                declared_format.dates or model_format.dates,
            )
        else:
            has_marks = candidates.has_marks
            decimal = format.decimal if has_marks else self.text_format.decimal
            self.text_format = replace(self.text_format, decimal=decimal)
            expected = candidates.is_plain and format.decimal == "." and not ambiguous
            mark, expected_mark = (
                format.decimal,
                declared_format.decimal or model_format.decimal,
            )
        if ambiguous:
            self._guessed[candidates.example.strip()] = format
        if expected or (mark == expected_mark and not ambiguous):
            return
        is_by_model = mark in (model_format.decimal, model_format.dates)
        columns = self._by_model if is_by_model else self._parsed
        self._add_parsed(columns, name, candidates.example, format)

    @staticmethod
    def _add_parsed(
        columns: dict[str, list[str]], name: str, example: str, format: CellFormat
    ) -> None:
        parsed = f"{name} ({example.strip()!r} is {format.describe(example)})"
        columns.setdefault(format.kind, []).append(parsed)

    def _add_unit(
        self, name: str, candidates: FormatCandidates, format: CellFormat
    ) -> None:
        """Store the unit of a column, by which later tables are read."""
        unit = candidates.unit if isinstance(format, NumberFormat) else ""
        if isinstance(format, DurationFormat):
            unit = format.unit
        if unit:
            units = (*(self.text_format.units or ()), (name, unit))
            self.text_format = replace(self.text_format, units=units)

    def all(self) -> tuple[Text, ...]:
        """Return all notes."""
        listed: list[Text] = [*self.notes]
        for kind in {**self._parsed, **self._by_model}:
            guess = self._guess(kind)
            columns = self._by_model.get(kind, []) if guess else []
            columns = [*columns, *self._parsed.get(kind, [])]
            if columns:
                listed.append(
                    (f"read as {kind}: {first_of(columns, MAX_NAMED)}", guess)
                )
        if self._placeholders:
            texts = {
                text for present in self._placeholders.values() for text in present
            }
            column_texts = sorted(texts.difference(self.markers))
            listed_texts = []
            if column_texts:
                listed_texts.append(
                    f"{_quoted(column_texts)} in {self._columns_with(column_texts)}"
                )
            if self.markers:
                where = self._columns_with(self.markers)
                in_all = f"{_quoted(self.markers)} in all columns, as in {where}"
                listed_texts.append(in_all)
            listed.append(f"read as missing: {', '.join(listed_texts)}")
        return tuple(listed)

    def format_of(self, declared: Declarations) -> TextFormat:
        """Return the text format of the table, to be stored in a model."""
        return declared.text_format.with_defaults(self.text_format).without_skip()

    def _guess(self, kind: str) -> Text:
        """Return a note on the other meaning of an ambiguous cell, unless ruled out."""
        for example, format in self._guessed.items():
            setting, values, other = _alternative(format)
            certain = self._certain.intersection(values)
            if format.kind == kind and certain != {values[0]}:
                text = f", but {example!r} may be {other.describe(example)}: then set "
                return (text, Setting(setting, values[1]))
        return ()

    def _columns_with(self, texts: Collection[str]) -> str:
        """Return the names of the columns with some placeholders, as text."""
        names = [
            repr(name)
            for name, present in self._placeholders.items()
            if set(texts).intersection(present)
        ]
        return first_of(names, MAX_NAMED)


def _alternative(format: CellFormat) -> tuple[str, tuple[str, str], CellFormat]:
    """Return the setting that determines a format, its two values, the other format."""
    if isinstance(format, DateFormat):
        (other,) = (
            DATE_FORMATS[order] for order in DATE_ORDERS if order != format.name
        )
        return "dates", (format.name, other.name), other
    assert isinstance(format, NumberFormat)  # durations are in no doubt
    number = next(other for other in NUMBER_FORMATS if other.decimal != format.decimal)
    return "decimal", (format.decimal, number.decimal), number


def report_notes(notes: Sequence[Text], origin: str) -> None:
    """Report the notes on a table as one message, if there are any."""
    if not notes:
        return
    words: list[Text] = [notes[0]]
    for words_of_note in notes[1:]:
        words += ["; ", words_of_note]
    note(f"{origin!r}: ", tuple(words))


def _quoted(texts: Iterable[str]) -> str:
    return joined([repr(text) for text in texts])
