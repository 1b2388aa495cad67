"""What was done to read a table that is not written as programs write them.

A reader notes it; whoever asked for the table hears of it in one line.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from spinney._support.text import first_of, joined
from spinney.data.declarations import Declarations
from spinney.data.format_inference import (
    FormatCandidates,
    certain,
    marks_of,
    possible_date_orders,
)
from spinney.data.text_formats import (
    DATE_ORDERS,
    DATES,
    NUMBERS,
    DateFormat,
    Form,
    TextFormat,
)
from spinney.errors import Setting, Text, note

MOST_NAMED = 3


@dataclass
class ReadingNotes:
    """Notes of one table, and the text_format that its cells were found to have.

    Parameters
    ----------
    quiet : bool
        Whether a model reads, which has told of placeholders when it was grown.

    ``markers`` are the placeholders that stand for missing cells in all columns.
    """

    quiet: bool = False
    notes: list[Text] = field(default_factory=list)
    text_format: TextFormat = field(default_factory=TextFormat)
    markers: list[str] = field(default_factory=list)
    _forms: dict[str, list[str]] = field(default_factory=dict)
    _placeholders: dict[str, Sequence[str]] = field(default_factory=dict)
    _guessed: dict[str, Form] = field(default_factory=dict)
    _by_memory: dict[str, list[str]] = field(default_factory=dict)
    # Marks before fractions and orders of dates that a column leaves no doubt of.
    _told: set[str] = field(default_factory=set)

    def add(self, *words: Text) -> None:
        """Note something."""
        self.notes.append(words)

    def add_padded(self, name: str, example: str | None) -> None:
        """Note that the numbers of a column have zeros before them, as names have.

        >>> notes = ReadingNotes()
        >>> notes.add_padded("zip", "01067")
        >>> notes.listed()[0][0].split(":")[0]
        "column 'zip' is read as numbers without their zeros ('01067' is 1067)"
        """
        if example is None or self.quiet:
            return
        number = f"{example.strip()!r} is {int(example)}"
        self.add(
            f"column {name!r} is read as numbers without their zeros ({number}): if "
            "these are names, say ",
            Setting("nominal", [name]),
        )

    def hear(self, columns: Collection[FormatCandidates]) -> None:
        """Take as told what columns that are not read say of the others."""
        self._told |= certain(columns, marks_of) | certain(
            columns, possible_date_orders
        )

    def add_column(
        self,
        name: str,
        evidence: FormatCandidates,
        form: Form | None,
        declared: Declarations,
    ) -> None:
        """Note by which form a column was read, unless somebody has said so.

        Where it is in none, it is one of dates that could be read in two ways, or one
        of plain numbers.
        """
        given, remembered = declared.text_format, declared.remembered
        if not evidence.plain or remembered.decimal:
            self.hear([evidence])
        in_two_ways = given.decimal is None and len(marks_of(evidence)) > 1
        if form is None and evidence.plain and in_two_ways and remembered.decimal:
            form = NUMBERS[0]  # read as programs do, against what a model remembers
        if form is None:
            if not evidence.plain:
                day, month = (Setting("dates", order) for order in DATE_ORDERS)
                why = f"{evidence.example!r} is a date in two ways"
                text = f"column {name!r} stays text, for {why}: say "
                self.add(text, day, " or ", month)
            return
        if evidence.placeholders and not self.quiet:
            self._placeholders[name] = evidence.placeholders
        if isinstance(form, DateFormat):
            in_two_ways = (
                given.dates is None and len(possible_date_orders(evidence)) > 1
            )
            dates = form.name if form.name in DATE_ORDERS else self.text_format.dates
            self.text_format = replace(self.text_format, dates=dates)
            plain = self.quiet and form.name not in DATE_ORDERS
            mark, known = form.name, given.dates or remembered.dates
        else:
            decimal = form.decimal if evidence.pointed else self.text_format.decimal
            self.text_format = replace(self.text_format, decimal=decimal)
            plain = evidence.plain and form.decimal == "." and not in_two_ways
            mark, known = form.decimal, given.decimal or remembered.decimal
        if in_two_ways:
            self._guessed[evidence.example.strip()] = form
        if plain or (mark == known and not in_two_ways):
            return
        example = evidence.example
        read = f"{name} ({example.strip()!r} is {form.shown(example)})"
        by_memory = mark in (remembered.decimal, remembered.dates)
        noted = self._by_memory if by_memory else self._forms
        noted.setdefault(form.kind, []).append(read)

    def listed(self) -> tuple[Text, ...]:
        """Return all notes."""
        listed: list[Text] = [*self.notes]
        for kind in {**self._forms, **self._by_memory}:
            guess = self._guess(kind)
            columns = self._by_memory.get(kind, []) if guess else []
            columns = [*columns, *self._forms.get(kind, [])]
            if columns:
                read = first_of(columns, MOST_NAMED)
                listed.append((f"read as {kind}: {read}", guess))
        if self._placeholders:
            texts = {text for each in self._placeholders.values() for text in each}
            others = sorted(texts.difference(self.markers))
            parts = [f"{_in_quotes(others)} in {self._where(others)}"] if others else []
            if self.markers:
                where = self._where(self.markers)
                parts.append(
                    f"{_in_quotes(self.markers)} in all columns, as in {where}"
                )
            listed.append(f"taken as missing: {', '.join(parts)}")
        return tuple(listed)

    def _guess(self, kind: str) -> Text:
        """Return what else numbers such as 1,234 may be, or dates, if nothing tells."""
        for example, form in self._guessed.items():
            setting, known, other = _two_ways(form)
            if form.kind == kind and self._told.intersection(known) != {known[0]}:
                text = f", where {example!r} may be {other.shown(example)}: if so, say "
                return (text, Setting(setting, known[1]))
        return ()

    def _where(self, texts: Iterable[str]) -> str:
        """Return the columns that have one of some placeholders."""
        wanted = set(texts)
        names = [
            repr(name)
            for name, present in self._placeholders.items()
            if wanted.intersection(present)
        ]
        return first_of(names, MOST_NAMED)


def _two_ways(form: Form) -> tuple[str, tuple[str, str], Form]:
    """Return the setting that tells a form from another, its two values, the other."""
    if isinstance(form, DateFormat):
        (other,) = (DATES[order] for order in DATE_ORDERS if order != form.name)
        return "dates", (form.name, other.name), other
    number = next(each for each in NUMBERS if each.decimal != form.decimal)
    return "decimal", (form.decimal, number.decimal), number


def tell(notes: Sequence[Text], origin: str) -> None:
    """Say in one line what was done to read a file, if anything was."""
    if not notes:
        return
    joined: list[Text] = [notes[0]]
    for each in notes[1:]:
        joined += ["; ", each]
    note(f"{origin!r}: ", tuple(joined))


def _in_quotes(texts: Iterable[str]) -> str:
    return joined([repr(text) for text in texts])
