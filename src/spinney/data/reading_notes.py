"""What was done to read a table that is not written as programs write them.

A reader notes it; whoever asked for the table hears of it in one line.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from spinney.data.cell_forms import NUMBERS, DateForm, Form, NumberForm
from spinney.data.declarations import Declarations
from spinney.data.form_choice import Evidence, marks_of, marks_told
from spinney.data.notation import DATE_ORDERS, Notation
from spinney.errors import Setting, Text, note

MOST_NAMED = 3


@dataclass
class ReadingNotes:
    """Notes of one table, and the notation that its cells were found to have.

    Parameters
    ----------
    quiet : bool
        Whether a model reads, which has told of placeholders when it was grown.

    ``markers`` are the placeholders that stand for missing cells in all columns.
    """

    quiet: bool = False
    notes: list[Text] = field(default_factory=list)
    notation: Notation = field(default_factory=Notation)
    markers: list[str] = field(default_factory=list)
    _forms: dict[str, list[str]] = field(default_factory=dict)
    _placeholders: dict[str, Sequence[str]] = field(default_factory=dict)
    _guessed: dict[str, NumberForm] = field(default_factory=dict)
    _by_memory: list[str] = field(default_factory=list)
    _told: set[str] = field(
        default_factory=set
    )  # marks that a column leaves no doubt of

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
        if example is None or self.quiet or not example.strip().isdigit():
            return
        number = f"{example.strip()!r} is {int(example)}"
        self.add(
            f"column {name!r} is read as numbers without their zeros ({number}): if "
            "these are names, say ",
            Setting("nominal", [name]),
        )

    def hear(self, columns: Iterable[Evidence]) -> None:
        """Take as told what columns that are not read say of the others."""
        self._told |= marks_told(columns)

    def add_column(
        self, name: str, evidence: Evidence, form: Form | None, declared: Declarations
    ) -> None:
        """Note by which form a column was read, unless somebody has said so.

        Where it is in none, it is one of dates that could be read in two ways, or one
        of plain numbers.
        """
        given, remembered = declared.notation, declared.remembered
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
        if isinstance(form, DateForm):
            dates = form.name if form.name in DATE_ORDERS else self.notation.dates
            self.notation = replace(self.notation, dates=dates)
            order = given.dates or remembered.dates
            said = order == form.name or (self.quiet and form.name not in DATE_ORDERS)
        else:
            if in_two_ways:
                self._guessed[evidence.example.strip()] = form
            decimal = form.decimal if evidence.pointed else self.notation.decimal
            self.notation = replace(self.notation, decimal=decimal)
            plain = evidence.plain and form.decimal == "." and not in_two_ways
            mark = given.decimal or remembered.decimal
            said = plain or (mark == form.decimal and not in_two_ways)
        if said:
            return
        example = evidence.example
        read = f"{name} ({example.strip()!r} is {form.shown(example)})"
        if isinstance(form, NumberForm) and remembered.decimal == form.decimal:
            self._by_memory.append(read)
        else:
            self._forms.setdefault(form.kind, []).append(read)

    def listed(self) -> tuple[Text, ...]:
        """Return all notes."""
        listed: list[Text] = [*self.notes]
        forms, guess = dict(self._forms), self._guess()
        if guess and self._by_memory:
            numbers = forms.get(NumberForm.kind, [])
            forms[NumberForm.kind] = [*self._by_memory, *numbers]
        for kind, columns in forms.items():
            other = guess if kind == NumberForm.kind else ()
            listed.append((f"read as {kind}: {_some(columns)}", other))
        if self._placeholders:
            texts = {text for each in self._placeholders.values() for text in each}
            others = sorted(texts.difference(self.markers))
            parts = [f"{_listed(others)} in {self._where(others)}"] if others else []
            if self.markers:
                where = self._where(self.markers)
                parts.append(f"{_listed(self.markers)} in all columns, as in {where}")
            listed.append(f"taken as missing: {', '.join(parts)}")
        return tuple(listed)

    def _guess(self) -> Text:
        """Return what else numbers such as 1,234 may be, if nothing tells."""
        guessed = self._guessed.items()
        doubtful = [each for each in guessed if self._told != {each[1].decimal}]
        if not doubtful:
            return ()
        example, form = doubtful[0]
        other = next(each for each in NUMBERS if each.decimal != form.decimal)
        text = f", where {example!r} may be {other.shown(example)}: if so, say "
        return (text, Setting("decimal", other.decimal))

    def _where(self, texts: Iterable[str]) -> str:
        """Return the columns that have one of some placeholders."""
        wanted = set(texts)
        return _some(
            repr(name)
            for name, present in self._placeholders.items()
            if wanted.intersection(present)
        )


def tell(notes: Sequence[Text], origin: str) -> None:
    """Say in one line what was done to read a file, if anything was."""
    if not notes:
        return
    joined: list[Text] = [notes[0]]
    for each in notes[1:]:
        joined += ["; ", each]
    note(f"{origin!r}: ", tuple(joined))


def _listed(texts: Sequence[str]) -> str:
    quoted = [repr(text) for text in texts]
    first = ", ".join(quoted[:-1])
    return f"{first} and {quoted[-1]}" if first else quoted[-1]


def _some(names: Iterable[str]) -> str:
    """Return the first of some names, and how many more there are."""
    names = list(names)
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
