"""What is doubtful about a target: how it is read, and columns that give it away.

A column *gives the target away* where it says, by itself, nearly all there is to say:
the boat of a passenger, who survived; the tax of a sale, its price. Such a column is
often known only after the target is, and a tree that asks for it is of no use. No table
tells whether that is so, so it is a question and nothing is left out.

Of classes, rows are told by the class that most others of their value have, each row
by the *other* rows, so that an identifier tells nothing. A missing cell is a value.
Numbers of many values are taken in parts of equally many rows. Where the target is a
number, Pearson's r decides.
"""

from collections.abc import Iterator

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.text import label_text, number_text, shown
from spinney.data.association import association_of
from spinney.data.column_warnings import (
    class_warnings,
    likeness_warnings,
    placeholder_warnings,
    table_warnings,
)
from spinney.data.declarations import Declarations
from spinney.data.odd_cells import (
    number_warnings,
)
from spinney.data.table import Column, Table, Value
from spinney.errors import Setting, SpinneyWarning, Text, phrase

MOST_CLASSES = 20
MOST_NAMED = 5  # classes
MOST_NUMBERS = 30  # different whole numbers that may be names
FEWEST_ROWS = 200  # of fewer, one column often tells a class: in iris, a petal's width
MOST_ROWS = 10_000  # that are looked at
N_PARTS = 32
SHARE_OF_ERRORS = 0.1  # of those that the commonest class makes
LEAST_CORRELATION = 0.95


def holds_classes(column: Column, *, numeric: bool = False) -> bool:
    """Tell whether a target column holds classes, and not numbers to predict.

    Numbers are classes where there are at most 20 different ones, all whole, unless
    they were declared ``numeric``.
    """
    if column.kind != "numeric" or column.unit is not None:
        return True
    numbers = _numbers(column)
    whole = bool((numbers == np.floor(numbers)).all())
    return whole and not numeric and len(numbers) <= MOST_CLASSES


def _numbers(column: Column) -> Integers:
    return np.unique(column.cells[~column.missing])


def target_note(column: Column, declared: Declarations) -> Text:
    """Return how a target of whole numbers is read, where that could be otherwise.

    Two whole numbers are classes, and so many that nobody would name them are numbers.
    What is declared is as it was declared.

    >>> from spinney.errors import in_words
    >>> stars = Column("stars", "numeric", np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> print(in_words(target_note(stars, Declarations()), str))
    target 'stars' holds 5 different whole numbers, taken as classes; to predict a \
number, say so (numeric=['stars'])
    """
    name = column.name
    if column.kind != "numeric" or column.unit is not None or name in declared.numeric:
        return ""
    numbers = _numbers(column)
    whole = bool((numbers == np.floor(numbers)).all())
    if not (whole and 2 < len(numbers) <= MOST_NUMBERS):
        return ""
    holds = f"target {shown(name)!r} holds {len(numbers)} different whole numbers, "
    if holds_classes(column):
        remedy = "taken as classes; to predict a number, say so ({})"
        return phrase(holds + remedy, Setting("numeric", [name]))
    remedy = "to be predicted as a number; if they are classes, say so ({})"
    return phrase(holds + remedy, Setting("nominal", [name]))


def target_reading(column: Column, declared: Declarations) -> Text:
    """Return how a target is read, in any case.

    >>> sold = Column("sold", "numeric", np.array([0.0, 1.0]))
    >>> target_reading(sold, Declarations())
    "target 'sold' is read as 2 classes: 0, 1"
    """
    if reading := target_note(column, declared):
        return reading
    name = shown(column.name)
    if not holds_classes(column, numeric=column.name in declared.numeric):
        return f"target {name!r} is read as a number to predict"
    classes: list[Value] = _numbers(column).tolist()
    if column.kind != "numeric":
        classes = [column.levels[int(code)] for code in classes]
    elif column.unit is not None:
        classes = [number_text(float(time), column.unit) for time in classes]
    texts = [label_text(each) for each in classes]
    more = f" and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else ""
    some = ", ".join(texts[:MOST_NAMED])
    if len(texts) == 1:
        return f"target {name!r} is read as 1 class, {some}: a tree would be one leaf"
    return f"target {name!r} is read as {len(texts)} classes: {some}{more}"


def doubts_of(
    attributes: Table,
    target: Column,
    declared: Declarations,
    rows: Integers | None = None,
) -> list[SpinneyWarning]:
    """Return all that is doubtful about a table that is to tell a target.

    ``rows`` are where those of the table were in that of the user.
    """
    alone = Table((target,), attributes.n_rows, typed=attributes.typed)
    classes = []
    if target.kind != "numeric":
        classes = class_warnings(target.name, target.levels, target.cells, rows)
    return [
        *number_warnings(alone, declared, rows),
        *placeholder_warnings(alone, declared),
        *likeness_warnings(alone),
        *classes,
        *table_warnings(attributes, declared, rows),
        *target_warnings(attributes, target, declared),
    ]


def target_warnings(
    attributes: Table, target: Column, declared: Declarations
) -> list[SpinneyWarning]:
    """Return a warning for every column that gives the target away.

    There is none of few rows, of a column that is declared, or of the only one.

    Examples
    --------
    >>> from spinney.data.readers import read_table
    >>> ill = ["yes", "no", "no", "no"] * 60
    >>> cured = [None if each == "no" else "2026" for each in ill]
    >>> table = read_table({"cured": cured, "age": range(240), "ill": ill})
    >>> attributes = table.without(["ill"])
    >>> print(*target_warnings(attributes, table["ill"], Declarations()))
    column 'cured' alone tells 'ill' in 100 % of rows: if it is not known beforehand, \
leave it out (ignore=['cured'])
    """
    known = np.flatnonzero(~target.missing)
    if len(known) < FEWEST_ROWS or len(attributes.columns) < 2:
        return []
    rows = known
    if len(known) > MOST_ROWS:
        # Not each so-manieth row: tables repeat themselves. The seed is of no moment.
        rows = np.random.default_rng(0).choice(known, MOST_ROWS, replace=False)
    target = target.take(rows)
    columns = [
        column.take(rows)
        for column in attributes.columns
        if declared.kind(column.name) is None
    ]
    if holds_classes(target, numeric=target.name in declared.numeric):
        of = "rows" if len(rows) == len(known) else f"{len(rows)} rows looked at"
        telling = {
            name: f"in {np.floor(100 * share):.0f} % of {of}"
            for name, share in _telling_classes(columns, target)
        }
    else:
        telling = {
            name: f"with r = {r:.3f}" for name, r in _telling_a_number(columns, target)
        }
    return [
        SpinneyWarning(
            f"column {shown(name)!r} alone tells {shown(target.name)!r} {how_well}",
            remedy=phrase(
                "if it is not known beforehand, leave it out ({})",
                Setting("ignore", [name]),
            ),
        )
        for name, how_well in telling.items()
    ]


def _telling_classes(
    columns: list[Column], target: Column
) -> Iterator[tuple[str, float]]:
    """Give the columns that tell nearly all rows, and the share of them."""
    _, classes = np.unique(target.cells, return_inverse=True)
    n_rows = len(classes)
    n_errors = n_rows - int(np.bincount(classes).max())
    if not n_errors:
        return  # of one class there is nothing to tell
    for column in columns:
        n_told = _rows_told(_values(column), classes)
        if n_rows - n_told <= SHARE_OF_ERRORS * n_errors:
            yield column.name, n_told / n_rows


def _values(column: Column) -> Integers:
    """Return the value of each row as a number from 0; numbers in parts, if many."""
    missing = column.missing
    cells = column.cells
    if column.kind == "numeric":
        different = np.unique(cells[~missing])
        cuts = different
        if len(different) > N_PARTS:
            shares = np.linspace(0, 1, N_PARTS + 1)[1:-1]
            cuts = np.quantile(cells[~missing], shares, method="lower")
        cells = np.searchsorted(cuts, cells, side="left")
    return np.asarray(np.where(missing, 0, cells + 1), np.int64)


def _rows_told(values: Integers, classes: Integers) -> int:
    """Return how many rows have the class that most other rows of their value have.

    A row is among its class; without it, that must still be the commonest.
    """
    n_values, n_classes = int(values.max()) + 1, int(classes.max()) + 1
    counts = np.bincount(values * n_classes + classes, minlength=n_values * n_classes)
    counts = counts.reshape(n_values, n_classes)
    counts.sort(axis=1)
    most, next_most = counts[:, -1], counts[:, -2] if n_classes > 1 else 0
    return int(most[most - 1 > next_most].sum())


def _telling_a_number(
    columns: list[Column], target: Column
) -> Iterator[tuple[str, float]]:
    """Give the numbers that go up and down with the target, and their r."""
    for column in columns:
        if column.kind == "numeric":
            r = float(association_of([column, target]).values[0, 1])
            if abs(r) >= LEAST_CORRELATION:
                yield column.name, r
