"""Columns worth a second look before a tree is grown."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice, takewhile
from math import inf

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.text import joined, value_text
from spinney.data.declarations import Declarations
from spinney.data.form_choice import LIKELY, SURE, evidence_of
from spinney.data.odd_cells import (
    MOST_NAMED,
    MOST_TRIED,
    cells_in_words,
    number_warning,
    number_warnings,
    odd_texts,
    odd_texts_of,
    written_warnings,
)
from spinney.data.table import Column, Table, Value, with_row
from spinney.errors import (
    Setting,
    SpinneyNote,
    SpinneyWarning,
    note,
    phrase,
    warn,
)

FEWEST_IDENTIFIERS = 10
FEWEST_COUNTED = 3  # rows that a column numbers whose name says so
# Of a smaller table, two like cells are no small share.
FEWEST_CELLS_WITH_REPEATS = 20
SHARE_OF_IDENTIFIERS = 0.9
FEWEST_LETTERS = 4  # of a word in which one may be a slip
FEWEST_OF_A_CLASS = 10  # rows, beside which a class of one may be a slip
# What columns that count rows are called, in letters alone, and the last word of it.
COUNTS = {"", "id", "index", "no", "nr", "number", "row", "rowid", "rownumber"}
COUNTS |= {"rowindex", "nummer", "编号", "序号"}
LAST_WORDS = {"id", "no", "nr", "number"}
FEWEST_INDICES = 20  # of fewer rows, an index may be one of prices


def identifier_warnings(table: Table) -> list[SpinneyWarning]:
    """Return a warning for every text column whose cells (nearly) all differ.

    There is none of numbers that a few texts made texts: :func:`number_warnings`.

    Examples
    --------
    >>> from spinney.data.readers import read_table
    >>> table = read_table({"name": [f"n{i}" for i in range(12)]})
    >>> print(identifier_warnings(table)[0])
    column 'name' looks like an identifier, all 12 values differ: ignore it \
(ignore=['name'])
    """
    found = map(column_identifier_warning, table.columns)
    return [warning for warning in found if warning is not None]


def column_identifier_warning(column: Column) -> SpinneyWarning | None:
    """Return the warning about a column of texts that (nearly) all differ, if it is."""
    if column.kind != "nominal":
        return None
    n_cells = int(np.count_nonzero(~column.missing))
    if not is_identifier(column.present, n_cells) or odd_texts_of(column):
        return None
    return identifier_warning(column.name, len(column.present), n_cells)


def without_identifiers(
    table: Table, declarations: Declarations, rows: Integers | None = None
) -> Table:
    """Return a table without the columns that tell rows apart; say which they were.

    Those are texts that nearly all differ, and numbers that count the rows and are
    called so. One that is declared stays, and so do all if no other column would. Of
    numbers that a few texts made texts, that is a warning; ``rows`` are as for
    :func:`number_warnings`.

    >>> import warnings
    >>> from spinney.data.readers import read_table
    >>> table = read_table({"id": range(1, 13), "size": [1, 2, 3] * 4})
    >>> with warnings.catch_warnings(record=True) as notes:
    ...     warnings.simplefilter("always")
    ...     print(without_identifiers(table, Declarations()).names)
    ...     print(notes[0].message)
    ('size',)
    column 'id' numbers the rows and is left out; to keep it, declare it \
(numeric=['id'])
    """
    left_out = {}
    for column in table.columns:
        odd = odd_texts_of(column)
        doubt = column_doubt(
            column.name,
            column.present if column.kind == "nominal" else (),
            int(np.count_nonzero(~column.missing)),
            declarations,
            counts=partial(is_count, column),
            odd=odd,
            words=cells_in_words(odd, column, rows) if odd else "",
            typed=table.typed,
            as_written=table.as_written,
            leave_out=True,
        )
        if doubt is not None:
            left_out[column.name] = doubt
    names = tell_left_out(left_out, len(table.columns))
    return table.without(names) if names else table


def column_doubt(
    name: str,
    values: Sequence[Value],
    n_known: int,
    declared: Declarations,
    *,
    counts: Callable[[], bool],
    odd: Sequence[str] | None = None,
    words: str = "",
    typed: bool = True,
    as_written: bool = False,
    leave_out: bool = False,
) -> SpinneyWarning | None:
    """Return what is doubtful about a column: odd texts, else that it tells rows apart.

    ``values`` are those of a nominal column that has so many known cells, ``counts``
    tells of another whether it counts the rows and is called so. What only tells rows
    apart may be to ``leave_out``: that is a note. The others are as for
    :func:`number_warning`.
    """
    is_free = declared.kind(name) is None
    if not values:
        if not (is_free and counts()):
            return None
        return _left_out_count(name) if leave_out else count_warning(name)
    tells_apart = is_identifier(values, n_known)
    if leave_out and not (is_free and tells_apart):
        return None
    odd = odd_texts(values) if odd is None else odd
    if odd:
        how = {"typed": typed, "as_written": as_written, "is_left_out": leave_out}
        is_meant = name in declared.nominal
        return None if is_meant else number_warning(name, values, odd, words, **how)
    if not tells_apart:
        return None
    about = _left_out_texts if leave_out else identifier_warning
    return about(name, len(values), n_known)


def tell_left_out(
    left_out: Mapping[str, SpinneyWarning], n_columns: int
) -> tuple[str, ...]:
    """Say which of so many columns are left out, and return them: never all."""
    if len(left_out) == n_columns:
        return ()
    for warning in left_out.values():
        if isinstance(warning, SpinneyNote):
            note(*warning.args)
        else:
            warn(*warning.args, remedy=warning.remedy)
    return tuple(left_out)


def _left_out_texts(name: str, n_values: int, n_cells: int) -> SpinneyNote:
    """Return the note about a column of texts that is left out."""
    why = f"has values of which {_how_many(n_values, n_cells)} differ"
    return _left_out(name, why, "nominal")


def _left_out_count(name: str) -> SpinneyNote:
    """Return the note about a column that counts the rows, and is left out."""
    return _left_out(name, "numbers the rows", "numeric")


def _left_out(name: str, why: str, kind: str) -> SpinneyNote:
    to_keep = phrase("to keep it, declare it ({})", Setting(kind, [name]))
    return SpinneyNote(f"column {name!r} {why} and is left out; ", to_keep)


def is_called_count(name: str, n_rows: float = inf) -> bool:
    """Tell whether a column is called as those are that count so many rows.

    >>> [is_called_count(name) for name in ("ID", "PassengerId", "order_no", "paid")]
    [True, True, True, False]
    >>> is_called_count("price index", 4), is_called_count("index", 4)
    (False, True)
    >>> is_called_count("#"), is_called_count("0")
    (True, False)
    """
    *_, last = ["", *map(str.lower, _WORDS.findall(name))]
    is_index = last == "index" and n_rows >= FEWEST_INDICES
    return _bare(name) in COUNTS or last in LAST_WORDS or is_index


# Letters up to the next that is none, or that is a capital after a small one.
_WORDS = re.compile(r"(?:[^\W\d_a-z]+[a-z]*|[a-z]+)")


def counts_rows(least: float, greatest: float, n_rows: int) -> bool:
    """Tell by the ends of their numbers whether rows may be counted, from any on.

    They are if their numbers are whole and differ.

    >>> counts_rows(1, 12, 12), counts_rows(1001, 1012, 12), counts_rows(1, 13, 12)
    (True, True, False)
    """
    if n_rows < FEWEST_COUNTED or least % 1:
        return False
    return greatest - least == n_rows - 1


def is_count(column: Column) -> bool:
    """Tell whether a column counts the rows, and is called so."""
    return is_called_count(column.name, len(column.cells)) and numbers_rows(column)


def numbers_rows(column: Column, fewest: int = FEWEST_IDENTIFIERS) -> bool:
    """Tell whether a column counts the rows: from 0 or 1 on, and in their order.

    One whose name says so does it in any order, and from any number on; there are so
    many rows at the ``fewest`` in others.
    """
    cells, n_rows = column.cells, len(column.cells)
    if column.kind != "numeric" or n_rows < FEWEST_COUNTED:
        return False
    if column.unit is not None:
        return False
    if is_called_count(column.name, n_rows):
        cells = np.sort(cells)
    elif n_rows < fewest or cells[0] not in (0, 1):
        return False
    in_order = bool((np.diff(cells) == 1).all())
    return in_order and counts_rows(cells[0], cells[-1], n_rows)


def count_warnings(
    table: Table, declarations: Declarations | None = None
) -> list[SpinneyWarning]:
    """Return a warning for every one of :func:`counting_columns`.

    >>> from spinney.data.readers import read_table
    >>> table = read_table({"id": range(1001, 1013), "size": [1, 2, 3] * 4})
    >>> print(*count_warnings(table))
    column 'id' numbers the rows: leave it out (ignore=['id'])
    """
    return [count_warning(name) for name in counting_columns(table, declarations)]


def counting_columns(
    table: Table, declarations: Declarations | None = None
) -> list[str]:
    """Return the columns that count the rows and are called so.

    None is one that is declared, or the only one.
    """
    declared = declarations or Declarations()
    if len(table.columns) < 2:
        return []
    free = [each for each in table.columns if declared.kind(each.name) is None]
    return [column.name for column in free if is_count(column)]


def count_warning(name: str, more: str = "") -> SpinneyWarning:
    """Return the warning about a column that counts the rows, and of what more."""
    return SpinneyWarning(
        f"column {name!r} numbers the rows{more}",
        remedy=phrase("leave it out ({})", Setting("ignore", [name])),
    )


def _bare(name: str) -> str:
    """Return the letters of a name, or the digits of one that is a number."""
    letters = "".join(filter(str.isalpha, name.lower()))
    return letters or "".join(filter(str.isdigit, name))


def _how_many(n_values: int, n_cells: int) -> str:
    if n_values == n_cells:
        return f"all {n_values}"
    return f"nearly all ({n_values} of {n_cells})"


def is_identifier(levels: Sequence[Value], n_cells: int) -> bool:
    """Tell whether so many known cells are texts that differ, all or nearly all."""
    n_values = len(levels)
    if n_values < FEWEST_IDENTIFIERS or n_values < SHARE_OF_IDENTIFIERS * n_cells:
        return False
    if n_values < n_cells < FEWEST_CELLS_WITH_REPEATS:
        return False
    if not all(isinstance(level, str) for level in levels):
        return False
    # Numbers or dates that nobody could read are worth another look, not leaving out;
    # plain numbers are text because somebody has said so.
    seen = evidence_of(islice((str(level) for level in levels), MOST_TRIED))
    return seen is None or (seen.plain and not seen.placeholders)


def identifier_warning(name: str, n_values: int, n_cells: int) -> SpinneyWarning:
    """Return the warning about a column that looks like an identifier.

    >>> print(str(identifier_warning("name", 100, 101)).split(":")[0])
    column 'name' looks like an identifier, nearly all (100 of 101) values differ
    """
    how_many = _how_many(n_values, n_cells)
    return SpinneyWarning(
        f"column {name!r} looks like an identifier, {how_many} values differ",
        remedy=phrase("ignore it ({})", Setting("ignore", [name])),
    )


def table_warnings(
    table: Table,
    declarations: Declarations | None = None,
    rows: Integers | None = None,
) -> list[SpinneyWarning]:
    """Return the warnings of all kinds; ``rows`` as for :func:`number_warnings`."""
    return [
        *number_warnings(table, declarations, rows),
        *placeholder_warnings(table, declarations),
        *likeness_warnings(table),
        *written_warnings(table, declarations),
        *identifier_warnings(table),
        *count_warnings(table, declarations),
    ]


def likeness_warnings(table: Table) -> list[SpinneyWarning]:
    """Return a warning for every column of values that differ and read alike.

    >>> from spinney.data.readers import read_table
    >>> print(*likeness_warnings(read_table({"size": [1, "1", "2"]})))
    column 'size' holds the number 1 and the text '1', two values that read alike: \
make them one
    """
    return [
        SpinneyWarning(
            f"column {column.name!r} holds {alike}, two values that read alike",
            remedy="make them one",
        )
        for column in table.columns
        if (alike := _alike(column.levels))
    ]


def _alike(levels: Sequence[Value]) -> str:
    """Return the first two levels that read alike, in words; "" if there are none."""
    others = {value_text(each): each for each in levels if not isinstance(each, str)}
    for text in levels:
        if isinstance(text, str) and text in others:
            kind = "truth value" if isinstance(others[text], bool) else "number"
            return f"the {kind} {text} and the text {text!r}"
    return ""


def class_warnings(
    name: str,
    classes: Sequence[Value],
    codes: Integers,
    rows: Integers | None = None,
) -> list[SpinneyWarning]:
    """Return a warning for all classes that may be one, written in different ways.

    They differ in capitals and spaces only; or one of a single row is a slip of the pen
    away from one of many. ``codes`` are the class of each row, ``rows`` as for
    :func:`number_warnings`.

    >>> sold = np.array([0, 1, 1, 2, 2])
    >>> print(*class_warnings("sold", ["Yes ", "no", "yes"], sold))
    target 'sold' holds 'Yes ' in row 1 and 'yes', two classes that read alike: make \
them one, or ignore this if they differ
    """
    texts = {code: text for code, text in enumerate(classes) if isinstance(text, str)}
    if not texts:
        return []
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    alike = dict[str, list[int]]()
    for code, text in texts.items():
        if counts[code]:
            alike.setdefault(" ".join(text.casefold().split()), []).append(code)
    n_rows = {plain: counts[each].sum() for plain, each in alike.items()}
    common = [plain for plain in alike if n_rows[plain] >= FEWEST_OF_A_CLASS]
    for plain in [plain for plain in alike if n_rows[plain] == 1]:
        nearest = next((each for each in common if _is_slip(plain, each)), None)
        if nearest is not None:
            alike[nearest] += alike.pop(plain)
    return [
        _alike_warning(
            name,
            [
                with_row(texts[code], np.flatnonzero(codes == code), rows)
                for code in several
            ],
        )
        for several in alike.values()
        if len(several) > 1
    ]


def _alike_warning(name: str, classes: list[str]) -> SpinneyWarning:
    how_many = {2: "two", 3: "three"}.get(len(classes), str(len(classes)))
    return SpinneyWarning(
        f"target {name!r} holds {joined(classes)}, {how_many} classes that read alike",
        remedy="make them one, or ignore this if they differ",
    )


def _is_slip(text: str, meant: str) -> bool:
    """Tell whether a word is another with a letter missing, more, wrong or misplaced.

    Digits are no slips, and neither are short words.

    >>> _is_slip("nien", "nein"), _is_slip("marie", "married"), _is_slip("ab", "ad")
    (True, False, False)
    >>> _is_slip("grade 1", "grade 2"), _is_slip("setossa", "setosa")
    (False, True)
    """
    if min(len(text), len(meant)) < FEWEST_LETTERS:
        return False
    start = _n_shared(text, meant)
    end = _n_shared(text[start:][::-1], meant[start:][::-1])
    odd, right = text[start : len(text) - end], meant[start : len(meant) - end]
    if not (odd + right).isalpha():
        return False
    return max(len(odd), len(right)) <= 1 or (len(odd) == 2 and odd == right[::-1])


def _n_shared(one: str, other: str) -> int:
    """Return with how many of the same letters two texts begin."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def placeholder_warnings(
    table: Table, declarations: Declarations | None = None
) -> list[SpinneyWarning]:
    """Return one warning of texts that are values and may stand for missing cells.

    There is none of odd texts among numbers, nor of "-" beside "+". Of a column that is
    declared there is none of what may well be a name, such as ``NA``, which is Namibia.

    >>> from spinney.data.readers import read_table
    >>> table = read_table({"sex": ["f", "m", "?"], "town": ["?", "Rome", "Ur"]})
    >>> print(*placeholder_warnings(table))
    '?' is a value like others in 'sex', 'town': if it stands for missing cells, say \
so (missing_values=['?'])
    """
    texts: dict[str, list[str]] = {}
    declared = declarations or Declarations()
    for column in table.columns:
        if column.kind == "nominal":
            levels = {*map(str, column.levels)}
            odd = [] if declared.kind(column.name) else odd_texts_of(column)
            asked = SURE if odd or declared.kind(column.name) else SURE | LIKELY
            asked -= {*odd}  # of which is told as such
            if "+" in levels:
                asked -= {"-", "--"}
            for text in sorted(levels & asked):
                texts.setdefault(text, []).append(column.name)
    if not texts:
        return []
    names = list(dict.fromkeys(name for each in texts.values() for name in each))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    some = ", ".join(map(repr, names[:MOST_NAMED])) + more
    several = len(texts) > 1
    are = "are values" if several else "is a value"
    return [
        SpinneyWarning(
            f"{joined([*map(repr, texts)])} {are} like others in {some}",
            remedy=phrase(
                "if {} for missing cells, say so ({})",
                "they stand" if several else "it stands",
                Setting("missing_values", list(texts)),
            ),
        )
    ]
