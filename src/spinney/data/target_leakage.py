"""Warnings about a target: its kind, similar classes, and target leakage.

A column may *leak* the target if it alone predicts the target nearly perfectly: the
lifeboat of a passenger predicts survival. Such a column is often known only after the
target, and a tree that uses it is useless. A table does not show when a value is known:
the column gets a warning and stays.

A class is predicted by the majority of the *other* rows with the same value, so that an
identifier predicts nothing. Missing counts as a value. Numbers of many values are
divided in bins of equally many rows. For a numeric target, Pearson's r decides.

A column may also predict one of several classes nearly perfectly, as the date of death
predicts the patients who died, by its values or by its missing cells.
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

MAX_CLASSES = 20
MAX_NAMED = 5  # classes
MAX_NUMBERS = 30  # distinct integers that may be classes
MIN_ROWS = 200  # with fewer, one column often predicts a class: petal width in iris
MAX_ROWS = 10_000  # rows examined
N_BINS = 32
MAX_ERROR_FRACTION = 0.1  # fraction of the majority class's errors
MIN_CORRELATION = 0.95
MIN_ROWS_OF_CLASS = 20  # that a column may predict alone
MAX_CLASS_ERROR_FRACTION = 0.01  # of the rows of that class
MIN_LETTERS = 4  # of a word that may have a typo
MIN_CLASS_ROWS = 10  # rows, beside which a class of one row may be a typo
TARGET_ISSUES = {kind: ISSUES[kind] for kind in ("unparsable", "similar values")}


def holds_classes(column: Column, *, numeric: bool = False) -> bool:
    """Return whether a target column has classes, not numbers to predict.

    At most 20 distinct integers are classes, unless declared ``numeric``.
    """
    if column.kind != "numeric" or column.unit is not None:
        return True
    numbers = _different_numbers(column)
    whole = bool((numbers == np.floor(numbers)).all())
    return whole and not numeric and len(numbers) <= MAX_CLASSES


def _different_numbers(column: Column) -> Integers:
    return np.unique(column.cells[~column.missing])


def target_note(column: Column, declared: Declarations) -> Text:
    """Return a note on an integer target, which may be classes or numbers; else "".

    There is none for two or very many distinct integers, or a declared target.

    >>> from spinney.errors import in_words
    >>> stars = Column("stars", "numeric", np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> print(in_words(target_note(stars, Declarations()), str))
    target 'stars' has 5 different integers, read as classes; to predict a number, \
declare it (numeric=['stars'])
    """
    name = column.name
    if (
        column.kind != "numeric"
        or column.unit is not None
        or declared.kind(name) == "numeric"
    ):
        return ""
    numbers = _different_numbers(column)
    whole = bool((numbers == np.floor(numbers)).all())
    if not (whole and 2 < len(numbers) <= MAX_NUMBERS):
        return ""
    has = f"target {shown(name)!r} has {len(numbers)} different integers, "
    if holds_classes(column):
        remedy = "read as classes; to predict a number, declare it ({})"
        return phrase(has + remedy, Setting("numeric", [name]))
    remedy = "read as a number; to predict classes, declare it ({})"
    return phrase(has + remedy, Setting("nominal", [name]))


def describe_target(column: Column, declared: Declarations) -> Text:
    """Return a description of how a target is read.

    >>> sold = Column("sold", "numeric", np.array([0.0, 1.0]))
    >>> describe_target(sold, Declarations())
    "target 'sold' is read as 2 classes: 0, 1"
    """
    if reading := target_note(column, declared):
        return reading
    name = shown(column.name)
    if not holds_classes(column, numeric=declared.kind(column.name) == "numeric"):
        return f"target {name!r} is read as a number to predict"
    classes: list[Value] = _different_numbers(column).tolist()
    if column.kind != "numeric":
        classes = [column.levels[int(code)] for code in classes]
    elif column.unit is not None:
        classes = [number_text(float(time), column.unit) for time in classes]
    texts = [label_text(label) for label in classes]
    first_classes = first_of(texts, MAX_NAMED)
    if len(texts) == 1:
        reading = f"1 class, {first_classes}: a tree would be one leaf"
        return f"target {name!r} is read as {reading}"
    return f"target {name!r} is read as {len(texts)} classes: {first_classes}"


def training_warnings(
    attributes: Table,
    target: Column,
    declared: Declarations,
    rows: Integers | None = None,
) -> list[SpinneyWarning]:
    """Return all warnings about a training table.

    ``rows`` are the positions of rows in the user's table, if some were dropped.
    """
    alone = Table((target,), attributes.n_rows, has_types=attributes.has_types)
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
    """Return a warning for every column with possible target leakage.

    There is none for few rows, for a declared column, or for the only column.

    Examples
    --------
    >>> from spinney.data.readers import read_table
    >>> ill = ["yes", "no", "no", "no"] * 60
    >>> cured = [None if each == "no" else "2026" for each in ill]
    >>> table = read_table({"cured": cured, "age": range(240), "ill": ill})
    >>> attributes = table.without(["ill"])
    >>> print(*leakage_warnings(attributes, table["ill"], Declarations()))
    column 'cured' alone predicts 'ill' in 100 % of rows: possible target leakage; \
exclude it if it is not known beforehand (ignore=['cured'])
    """
    known = np.flatnonzero(~target.missing)
    if len(known) < MIN_ROWS or len(attributes.columns) < 2:
        return []
    rows = known
    if len(known) > MAX_ROWS:
        # Not every n-th row, as tables may be periodic. The seed is arbitrary.
        rows = np.random.default_rng(0).choice(known, MAX_ROWS, replace=False)
    target = target.take(rows)
    columns = [
        column.take(rows)
        for column in attributes.columns
        if declared.kind(column.name) is None
    ]
    if holds_classes(target, numeric=declared.kind(target.name) == "numeric"):
        sampled = "rows" if len(rows) == len(known) else f"{len(rows)} sampled rows"
        leaks = {
            name: f" in {np.floor(100 * fraction):.0f} % of {sampled}"
            for name, fraction in _class_predictors(columns, target)
        }
        others = [column for column in columns if column.name not in leaks]
        leaks |= {
            name: f" = {label!r} in {np.floor(100 * fraction):.0f} % of {sampled}"
            for name, label, fraction in _one_class_predictors(others, target)
        }
    else:
        leaks = {
            name: f" with r = {r:.3f}"
            for name, r in _correlated_columns(columns, target)
        }
    remedy = "possible target leakage; exclude it if it is not known beforehand ({})"
    return [
        SpinneyWarning(
            f"column {shown(name)!r} alone predicts {shown(target.name)!r}{how_well}",
            remedy=phrase(remedy, Setting("ignore", [name])),
        )
        for name, how_well in leaks.items()
    ]


def _class_predictors(
    columns: list[Column], target: Column
) -> Iterator[tuple[str, float]]:
    """Yield columns that alone predict nearly all rows, and the fraction predicted."""
    _, classes = np.unique(target.cells, return_inverse=True)
    n_rows = len(classes)
    n_errors = n_rows - int(np.bincount(classes).max())
    if not n_errors:
        return  # a single class
    for column in columns:
        n_right = _n_predicted(_binned_values(column), classes)
        if n_rows - n_right <= MAX_ERROR_FRACTION * n_errors:
            yield column.name, n_right / n_rows


def _one_class_predictors(
    columns: list[Column], target: Column
) -> Iterator[tuple[str, str, float]]:
    """Give the columns that predict one of several classes, the class, and how well."""
    codes, classes = np.unique(target.cells, return_inverse=True)
    if len(codes) < 3:
        return  # the check of all classes finds them
    n_rows, sizes = len(classes), np.bincount(classes)
    for column in columns:
        ways = [column.missing.astype(np.int64)]
        # Measurements may have a range for a class.
        if column.kind != "numeric" or len(_different_numbers(column)) <= N_BINS:
            ways.append(_binned_values(column))
        n_wrong = np.min([_n_wrong_by_class(way, classes) for way in ways], axis=0)
        few = n_wrong <= MAX_CLASS_ERROR_FRACTION * sizes
        found = np.flatnonzero(few & (sizes >= MIN_ROWS_OF_CLASS))
        if len(found):
            best = found[np.argmin(n_wrong[found])]
            code = codes[best]
            label = target.levels[int(code)] if target.levels else float(code)
            yield column.name, label_text(label), 1 - n_wrong[best] / n_rows


def _n_wrong_by_class(values: Integers, classes: Integers) -> Integers:
    """Return, for each class, the rows that the values predict wrongly as it or not.

    A value in one row of the class alone predicts no other row, and is wrong.
    """
    n_values, n_classes = int(values.max()) + 1, int(classes.max()) + 1
    counts = np.bincount(values * n_classes + classes, minlength=n_values * n_classes)
    counts = counts.reshape(n_values, n_classes)
    others = counts.sum(axis=1, keepdims=True) - counts
    single = (counts == 1) & (others == 0)
    return np.asarray((np.minimum(counts, others) + single).sum(axis=0))


def _binned_values(column: Column) -> Integers:
    """Return the value of each row as a code from 0; many numbers are binned."""
    missing = column.missing
    cells = column.cells
    if column.kind == "numeric":
        different = np.unique(cells[~missing])
        cuts = different
        if len(different) > N_BINS:
            shares = np.linspace(0, 1, N_BINS + 1)[1:-1]
            cuts = np.quantile(cells[~missing], shares, method="lower")
        cells = np.searchsorted(cuts, cells, side="left")
    return np.asarray(np.where(missing, 0, cells + 1), np.int64)


def _n_predicted(values: Integers, classes: Integers) -> int:
    """Return the number of rows predicted by the other rows with the same value.

    Without the row itself, its class must still be the most frequent one.
    """
    n_values, n_classes = int(values.max()) + 1, int(classes.max()) + 1
    counts = np.bincount(values * n_classes + classes, minlength=n_values * n_classes)
    counts = counts.reshape(n_values, n_classes)
    counts.sort(axis=1)
    highest, second_highest = counts[:, -1], counts[:, -2] if n_classes > 1 else 0
    return int(highest[highest - 1 > second_highest].sum())


def _correlated_columns(
    columns: list[Column], target: Column
) -> Iterator[tuple[str, float]]:
    """Yield the numeric columns that correlate with the target, and their r."""
    for column in columns:
        if column.kind == "numeric":
            r = float(association_of([column, target]).values[0, 1])
            if abs(r) >= MIN_CORRELATION:
                yield column.name, r


def similar_class_warnings(
    name: str, classes: Sequence[Value], codes: Integers, rows: Integers | None = None
) -> list[SpinneyWarning]:
    """Return a warning for classes that may be spellings of one class.

    They differ only in capitals and spaces; or a single-row class is a typo of a
    frequent one. ``codes`` are the class of each row, ``rows`` the positions in the
    user's table, if some were dropped.

    >>> sold = np.array([0, 1, 1, 2, 2])
    >>> print(*similar_class_warnings("sold", ["Yes ", "no", "yes"], sold))
    target 'sold' holds 'Yes ' in row 1 and 'yes', two classes that look alike: merge \
them if they are one
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
    common = [plain for plain in alike if n_rows[plain] >= MIN_CLASS_ROWS]
    for plain in [plain for plain in alike if n_rows[plain] == 1]:
        nearest = next((each for each in common if _is_typo(plain, each)), None)
        if nearest is not None:
            alike[nearest] += alike.pop(plain)
    warnings = []
    for several in (each for each in alike.values() if len(each) > 1):
        spellings = [
            with_row(texts[code], np.flatnonzero(codes == code), rows)
            for code in several
        ]
        number = {2: "two", 3: "three"}.get(len(several), str(len(several)))
        problem = f"{joined(spellings)}, {number} classes that look alike"
        words = f"target {name!r} holds {problem}"
        warnings.append(SpinneyWarning(words, remedy="merge them if they are one"))
    return warnings


def _is_typo(text: str, meant: str) -> bool:
    """Return whether a word is another one with a letter missing, added or swapped.

    Digits and short words do not count as typos.

    >>> _is_typo("nien", "nein"), _is_typo("marie", "married"), _is_typo("ab", "ad")
    (True, False, False)
    >>> _is_typo("grade 1", "grade 2"), _is_typo("setossa", "setosa")
    (False, True)
    """
    if min(len(text), len(meant)) < MIN_LETTERS:
        return False
    start = _n_common_letters(text, meant)
    end = _n_common_letters(text[start:][::-1], meant[start:][::-1])
    wrong, right = text[start : len(text) - end], meant[start : len(meant) - end]
    if not (wrong + right).isalpha():
        return False
    swapped = len(wrong) == 2 and wrong == right[::-1]
    return max(len(wrong), len(right)) <= 1 or swapped


def _n_common_letters(first: str, second: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
