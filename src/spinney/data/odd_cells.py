"""Texts meant as numbers, dates or times: all of a column, or all but a few."""

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.text import joined
from spinney.data.cell_forms import DIGIT, FORMS, NUMBERS, ClockForm, DateForm, Form
from spinney.data.cells import parse_number
from spinney.data.declarations import Declarations
from spinney.data.form_choice import SURE, Evidence, evidence_of, forms_of
from spinney.data.notation import DAY_FIRST, Notation
from spinney.data.table import Column, Table, Value, with_row
from spinney.errors import PythonOnly, Setting, SpinneyWarning, Text, phrase

SHARE_OF_NUMBERS = 0.9
FEWEST_NUMBERS = 3  # different ones, beside which a single text is odd
MOST_NAMED = 5
MOST_TRIED = 200  # values of a column whose form is looked for


def number_warnings(
    table: Table,
    declarations: Declarations | None = None,
    rows: Integers | None = None,
) -> list[SpinneyWarning]:
    """Return a warning for every column that a few texts keep from being numeric.

    ``rows`` are where those of the table were in that of the user, if not all are left.

    Examples
    --------
    >>> from spinney.data.readers import read_table
    >>> table = read_table({"age": [*map(str, range(5)), "x"]})
    >>> print(str(number_warnings(table)[0]).split(":")[0])
    column 'age' reads as text because of 'x' in row 6
    """
    declared = () if declarations is None else declarations.nominal
    return [
        number_warning(
            column.name,
            column.levels,
            odd,
            cells_in_words(odd, column, rows),
            typed=table.typed,
            as_written=table.as_written,
        )
        for column in table.columns
        if column.name not in declared and (odd := odd_texts_of(column))
    ]


def number_warning(
    name: str,
    levels: Sequence[Value],
    odd: Sequence[str],
    words: str = "",
    *,
    typed: bool = True,
    as_written: bool = False,
    is_left_out: bool = False,
) -> SpinneyWarning:
    """Return the warning of odd texts among the values of a column, in words.

    Where cells have types, numbers that are texts become numbers only by declaration,
    and dates become dates only ``as_written``.

    >>> print(number_warning("age", ["1", "2", "x"], ["x"]))
    column 'age' reads as text because of 'x': declare that missing and the column \
numeric (missing_values=['x'], numeric=['age']), or the column nominal (nominal=['age'])
    """
    missing = Setting("missing_values", odd if len(odd) <= MOST_NAMED else ...)
    nominal = Setting("nominal", [name])
    texts = [str(level) for level in levels if level not in odd]
    these = ["that cell", "it"] if len(odd) == 1 else ["these cells", "them"]
    if typed and texts and parse_number(texts[0]) is not None:
        remedy = phrase(
            "declare {} missing and the column numeric ({}, {}), or the column nominal "
            "({})",
            "that" if len(odd) == 1 else "these",
            missing,
            Setting("numeric", [name]),
            nominal,
        )
    elif typed and not as_written:
        remedy = phrase(
            "mend {} and turn the column into {}, give the table as CSV and declare {} "
            "missing ({}), or declare the column nominal ({})",
            these[0],
            _turned(*(_written_as(texts) or (_likely(texts, FORMS), None))),
            these[1],
            missing,
            nominal,
        )
    else:
        remedy = phrase(
            "mend {}, declare {} missing ({}) or the column nominal ({})",
            *these,
            missing,
            nominal,
        )
    words = words or _some_texts([repr(each) for each in odd[:MOST_NAMED]], len(odd))
    end = ", and is left out" if is_left_out else ""
    problem = f"column {name!r} reads as text because of {words}{end}"
    return SpinneyWarning(problem, remedy=remedy)


def odd_texts_of(column: Column) -> list[str]:
    """Return the texts that keep a column from being numeric, where these are few."""
    if column.kind != "nominal":
        return []
    return odd_texts(
        column.levels, is_single=lambda text: len(_cells_with(text, column)) == 1
    )


def odd_texts(
    levels: Sequence[Value], is_single: Callable[[str], bool] = lambda _: False
) -> list[str]:
    """Return the texts that keep values from being numbers, where these are few.

    They are a tenth of the values at most, or a text in a single cell that
    :func:`placeholder_warnings` do not tell of. Values that are numbers are no texts.

    >>> odd_texts([*map(str, range(9)), "x"]), odd_texts([*range(9), "82 kg"])
    (['x'], ['82 kg'])
    """
    if any(isinstance(level, bool) for level in levels):
        return []
    texts = [level for level in levels if isinstance(level, str)]
    n_values, n_typed = len(levels), len(levels) - len(texts)
    # Numbers and dates of any form have a digit, which is soon seen.
    most = n_typed + sum(map(bool, map(DIGIT.search, texts)))
    if most < SHARE_OF_NUMBERS * n_values and most < n_values - 1:
        return []
    likely = _likely(texts, NUMBERS if n_typed else FORMS)
    others = [text for text in texts if not likely.reads(text)]
    n_numbers = n_values - len(others)
    if not others:
        return []
    if n_numbers >= SHARE_OF_NUMBERS * n_values:
        return others
    if len(others) > 1 or n_numbers < FEWEST_NUMBERS or SURE.issuperset(others):
        return []
    return others if is_single(others[0]) else []


def _likely(texts: Sequence[str], forms: Sequence[Form]) -> Form:
    """Return the form that most of some texts are in."""
    return max(forms, key=lambda form: sum(map(form.reads, islice(texts, MOST_TRIED))))


def _is_text(column: Column) -> bool:
    if column.kind != "nominal" or not column.levels:
        return False
    return all(isinstance(level, str) for level in column.levels)


def _cells_with(text: str, column: Column) -> Integers:
    """Return the positions of the cells of a column that hold a text."""
    return np.flatnonzero(column.cells == column.levels.index(text))


def cells_in_words(texts: Sequence[str], column: Column, rows: Integers | None) -> str:
    """Return some texts in words; one that a single cell holds, with its row."""
    words = [
        with_row(text, _cells_with(text, column), rows) for text in texts[:MOST_NAMED]
    ]
    return _some_texts(words, len(texts))


def _some_texts(words: Sequence[str], n_texts: int) -> str:
    """Return the first of so many texts in words."""
    more = [f"{n_texts - MOST_NAMED} more texts"] if n_texts > MOST_NAMED else []
    return joined([*words, *more])


def written_warnings(
    table: Table, declarations: Declarations | None = None
) -> list[SpinneyWarning]:
    """Return a warning for every column of texts that are dates, times or numbers.

    Files are read so that there are none. Other tables have types, by which a text is a
    name; there is no warning of one that is declared, or of numbers as programs write
    them, which somebody has made texts.

    Examples
    --------
    >>> from spinney.data.readers import read_table
    >>> table = read_table({"day": ["2026-11-16", "2026-11-17", "2026-12-01"]})
    >>> print(*written_warnings(table))
    column 'day' holds dates as text, such as '2026-12-01', and each is a name: turn \
them into dates (pandas.to_datetime(…, format='mixed')), give the table as CSV, where \
they are read so, or declare the column nominal (nominal=['day'])
    """
    declared = declarations or Declarations()
    warnings = []
    for column in table.columns:
        if declared.kind(column.name) is None and _is_text(column):
            texts = [str(text) for text in column.present]
            if len(texts) >= FEWEST_NUMBERS and (written := _written_as(texts)):
                warnings.append(_written_warning(column.name, *written))
    return warnings


def _written_as(texts: Sequence[str]) -> tuple[Form, Evidence] | None:
    """Return the form that all texts of a column are in, as a file has it."""
    if evidence_of(texts[:MOST_TRIED]) is None:
        return None
    seen = evidence_of(texts)
    if seen is None or seen.plain:
        return None
    form = forms_of({"": seen}, Notation()).get("")
    return None if form is None else (form, seen)


def _written_warning(name: str, form: Form, seen: Evidence) -> SpinneyWarning:
    return SpinneyWarning(
        f"column {name!r} holds {form.kind} as text, such as {seen.example!r}, and "
        "each is a name",
        remedy=phrase(
            "turn them into {}, give the table as CSV, where they are read so, or "
            "declare the column nominal ({})",
            _turned(form, seen),
            Setting("nominal", [name]),
        ),
    )


def _turned(form: Form, seen: Evidence | None) -> Text:
    """Return what texts of a form are to be turned into, and how if that is known.

    Pandas takes the month for first where it can, and refuses placeholders.
    """
    if not isinstance(form, DateForm):
        return form.kind
    options = ["format='mixed'"]
    if seen is not None and form.name == DAY_FIRST:
        options.append("dayfirst=True")
    if seen is not None and seen.placeholders:
        options.append("errors='coerce'")
    time = ".dt.time" if isinstance(form, ClockForm) else ""
    how = f" (pandas.to_datetime(…, {', '.join(options)}){time})"
    return (form.kind, PythonOnly(how))
