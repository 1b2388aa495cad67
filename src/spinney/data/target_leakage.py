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

from collections.abc import Iterator, Sequence
from itertools import takewhile

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.text import first_of, joined, label_text, number_text, shown
from spinney.data.association import association_of
from spinney.data.column_issues import ISSUES, table_warnings
from spinney.data.declarations import Declarations
from spinney.data.table import Column, Table, Value, with_row
from spinney.errors import Setting, SpinneyWarning, Text, phrase

MOST_CLASSES = 20
MOST_NAMED = 5  # classes
MOST_NUMBERS = 30  # different whole numbers that may be names
FEWEST_ROWS = 200  # of fewer, one column often tells a class: in iris, a petal's width
MOST_ROWS = 10_000  # that are looked at
N_PARTS = 32
SHARE_OF_ERRORS = 0.1  # of those that the commonest class makes
LEAST_CORRELATION = 0.95
FEWEST_LETTERS = 4  # of a word in which one may be a slip
FEWEST_OF_A_CLASS = 10  # rows, beside which a class of one may be a slip
TARGET_ISSUES = {kind: ISSUES[kind] for kind in ("odd texts", "alike")}


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


def describe_target(column: Column, declared: Declarations) -> Text:
    """Return how a target is read, in any case.

    >>> sold = Column("sold", "numeric", np.array([0.0, 1.0]))
    >>> describe_target(sold, Declarations())
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
    some = first_of(texts, MOST_NAMED)
    if len(texts) == 1:
        return f"target {name!r} is read as 1 class, {some}: a tree would be one leaf"
    return f"target {name!r} is read as {len(texts)} classes: {some}"


def training_warnings(
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
        classes = similar_class_warnings(target.name, target.levels, target.cells, rows)
    return [
        *table_warnings(alone, declared, rows, TARGET_ISSUES),
        *classes,
        *table_warnings(attributes, declared, rows),
        *leakage_warnings(attributes, target, declared),
    ]


def leakage_warnings(
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
    >>> print(*leakage_warnings(attributes, table["ill"], Declarations()))
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


def similar_class_warnings(
    name: str,
    classes: Sequence[Value],
    codes: Integers,
    rows: Integers | None = None,
) -> list[SpinneyWarning]:
    """Return a warning for all classes that may be one, written in different ways.

    They differ in capitals and spaces only; or one of a single row is a slip of the pen
    away from one of many. ``codes`` are the class of each row, ``rows`` where
    these were in the table of the user, if not all are left.

    >>> sold = np.array([0, 1, 1, 2, 2])
    >>> print(*similar_class_warnings("sold", ["Yes ", "no", "yes"], sold))
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
