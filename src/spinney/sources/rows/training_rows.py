"""Training rows, encoded from a table and its target."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.column_hash import column_hash, column_hashes
from spinney._support.text import number_text, shown
from spinney.data import (
    Attribute,
    Column,
    Declarations,
    Fingerprint,
    Schema,
    Table,
    Target,
    Value,
    holds_classes,
    survey_note,
    target_note,
    training_warnings,
    without_identifiers,
)
from spinney.data.readers import read_table
from spinney.errors import DataError, Setting, Text, note, warn
from spinney.sources.rows.incomplete_rows import complete_rows
from spinney.sources.rows.memory import MemorySource
from spinney.sources.rows.weight_checks import (
    check_least_weight,
    check_total,
    finite_sum,
    given_weights,
    row_weights,
)

MAX_UNIQUE_CLASSES = (
    100  # with more classes than this, half of the rows must share a class
)
LARGEST_NUMBER = 1e140
SMALLEST_NUMBER = 1e-140
# The square, the product of two sums at a node, must not overflow.
LARGEST_SUM = 1e150
NO_TARGET = "spinney: no target"
"""The placeholder for the target of rows without one: a single class."""


@dataclass(frozen=True, slots=True)
class EncodedCells:
    """The cells of a nominal attribute, target-encoded.

    Trees are grown on ``codes``: the rank of the score of each row's value, computed
    from other rows; -1 if missing. ``ends`` are the last codes of equal scores: no
    threshold separates values of equal score.
    """

    codes: Integers
    ends: Integers

    def take(self, rows: "NDArray[Any] | slice") -> "EncodedCells":
        """Return the cells of some rows."""
        return replace(self, codes=self.codes[rows])


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Encoded rows of weight greater than 0.

    ``classes`` are codes, or the numbers of a numeric target. ``places`` are the
    positions of the rows in their table; None if it has no other rows. ``ordered`` has
    the target-encoded attributes by index. ``declared`` are columns with declared
    values or classes: added rows add no others, and removed rows remove none.
    """

    schema: Schema
    columns: tuple[NDArray[Any], ...]
    classes: NDArray[Any]
    weights: Floats | None
    places: Integers | None = None
    ordered: Mapping[int, EncodedCells] = field(default_factory=dict)
    declared: tuple[str, ...] = ()

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        rows = len(self.classes)
        return float(rows if self.weights is None else self.weights.sum())

    @property
    def sample_weights(self) -> Floats:
        """The weight of each row."""
        if self.weights is None:
            return np.ones(len(self.classes))
        return self.weights

    def take(self, rows: "NDArray[Any] | slice") -> "TrainingSet":
        """Return some of the rows (a mask, positions or a slice)."""
        return replace(
            self,
            columns=tuple(cells[rows] for cells in self.columns),
            classes=self.classes[rows],
            weights=None if self.weights is None else self.weights[rows],
            places=None if self.places is None else self.places[rows],
            ordered={
                position: encoded.take(rows)
                for position, encoded in self.ordered.items()
            },
        )

    @property
    def training_columns(self) -> tuple[NDArray[Any], ...]:
        """The columns to grow on, some of them target-encoded."""
        return tuple(
            self.ordered[position].codes if position in self.ordered else cells
            for position, cells in enumerate(self.columns)
        )

    def weighed(self, class_weights: Floats | None) -> "TrainingSet":
        """Return the rows with weights multiplied by class weights."""
        if class_weights is None:
            return self
        weights = self.sample_weights * np.asarray(class_weights)[self.classes]
        return replace(self, weights=weights)

    def source(self) -> MemorySource:
        """Return the rows as a source in memory."""
        return MemorySource(
            self.schema, self.columns, classes=self.classes, weights=self.weights
        )

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the rows, without costs."""
        schema = self.schema.of_columns().without_costs()
        digest = hashlib.sha256(repr(schema).encode())
        weights = () if self.weights is None else (self.weights,)
        marks = column_hashes(self.columns[: schema.n_columns])
        marks += [column_hash(cells) for cells in (self.classes, *weights)]
        digest.update(np.array(marks, "<u8").tobytes())
        return Fingerprint(len(self.classes), self.weight, digest.hexdigest())


def training_set(
    table: Table,
    target: Target,
    *,
    classes: NDArray[Any],
    weights: Floats | None = None,
    markers: tuple[str, ...] = (),
    from_zero: bool = False,
    complete: bool = False,
    first: bool = False,
) -> TrainingSet:
    """Encode a table of attributes; rows without weight or class are dropped.

    A category that occurs only in rows of weight 0 is unknown. ``from_zero`` counts the
    moments of a numeric target from 0, not from its mean. ``complete`` drops incomplete
    rows. The ``first`` of several batches may have one row or one class.
    """
    numeric = target.is_numeric
    is_usable = ~np.isnan(classes) if numeric else np.asarray(classes) >= 0
    if weights is not None:
        is_usable &= weights > 0
    if complete and is_usable.any():
        used_weights = None if weights is None else weights[is_usable]
        is_usable[is_usable] = complete_rows(table.take(is_usable), used_weights)
    places = None
    if not is_usable.all():
        places = np.flatnonzero(is_usable)
        table = table.take(is_usable)
        classes = np.asarray(classes)[is_usable]
        weights = None if weights is None else weights[is_usable]
    if weights is not None:
        check_total(finite_sum(weights))
    if not table.n_rows:
        msg = "no row has both a weight above 0 and a known class"
        raise DataError(msg)
    if weights is not None:
        check_least_weight(float(weights.min()))
    if numeric:
        facts = NumberFacts.of(classes, weights)
        if not first or not facts.finite:
            check_numbers(target.name, facts, from_zero=from_zero)
        origin = 0.0 if from_zero else origin_of(classes, weights)
        target = replace(target, origin=origin)
    else:
        present = np.flatnonzero(np.bincount(classes, minlength=len(target.classes)))
        if not first:
            check_classes(target, present, table.n_rows)
    attributes = tuple(attribute_of(column) for column in table.columns)
    cells = [
        attribute.encode(column)
        for attribute, column in zip(attributes, table.columns, strict=True)
    ]
    schema = Schema(attributes, target, markers, table.text_format)
    codes = np.asarray(classes, dtype=np.float64 if numeric else np.int64)
    declared_names = tuple(
        c.name for c in table.columns if c.declared or c.kind == "ordinal"
    )
    return TrainingSet(
        schema, tuple(cells), codes, weights, places, declared=declared_names
    )


def origin_of(numbers: Floats, weights: Floats | None = None) -> float:
    """Return a number near the mean; an integer if all are, so that sums are exact."""
    mean = float(np.average(numbers, weights=weights))
    whole = bool(np.all(numbers == np.floor(numbers)))
    return float(np.rint(mean)) if whole else mean


@dataclass(frozen=True, slots=True)
class NumberFacts:
    """Facts about a numeric target, in memory or remote."""

    n_rows: int
    finite: bool
    least: float
    largest: float  # by absolute value
    constant: bool
    weight: float

    @classmethod
    def of(cls, numbers: Floats, weights: Floats | None = None) -> "NumberFacts":
        """Return the facts of an array."""
        return cls(
            n_rows=len(numbers),
            finite=bool(np.isfinite(numbers).all()),
            least=float(np.min(numbers)),
            largest=float(np.abs(numbers).max()),
            constant=bool(np.all(numbers == numbers[0])),
            weight=float(len(numbers)) if weights is None else finite_sum(weights),
        )


def check_numbers(name: str, facts: NumberFacts, *, from_zero: bool = False) -> None:
    """Refuse numbers that no tree can predict; warn if all are the same.

    ``from_zero`` means that the criterion treats them as counts.
    """
    target = f"target {shown(name)!r}"
    msg: Text = ""
    if not facts.finite:
        msg = f"{target} holds an infinite number: fix it or leave it out"
    elif facts.n_rows == 1:  # "1 sample" is what scikit-learn's own checks look for
        msg = f"{target}: there is 1 sample (row): a tree needs at least two"
    elif facts.largest > LARGEST_NUMBER:
        msg = (
            f"{target} holds {facts.largest:g}, whose square is beyond what floats "
            f"can add up: scale it to at most {LARGEST_NUMBER:g}"
        )
    elif facts.weight * facts.largest > LARGEST_SUM:
        msg = (
            f"{target} holds {facts.largest:g}, and all rows weigh {facts.weight:g}: "
            "their squares are beyond what floats can add up; scale the weights down"
        )
    elif facts.largest < SMALLEST_NUMBER and not facts.constant:
        msg = (
            f"{target} holds nothing larger than {facts.largest:g}, whose square "
            f"floats do not tell from 0: scale it to at least {SMALLEST_NUMBER:g}"
        )
    elif from_zero and facts.least < 0:
        msg = (
            f"{target} holds {facts.least:g}, and ",
            Setting("criterion", "poisson"),
            " takes counts, 0 or more: take 'squared_error'",
        )
    if msg:
        raise DataError(msg)
    if facts.constant:
        warn_of_constant_target(name, f"value, {facts.least:g}", facts.n_rows)


def attribute_of(column: Column) -> Attribute:
    """Return the attribute of a column, with present and declared levels."""
    levels = column.levels
    if column.kind == "nominal" and not column.declared:
        present = np.unique(column.cells[column.cells >= 0])
        levels = tuple(levels[int(code)] for code in present)
    check_texts(column.name, levels)
    return Attribute(column.name, column.kind, levels, column.unit)


def check_classes(target: Target, present: Integers, n_rows: int) -> None:
    """Refuse classes that no tree can predict; warn if there is only one."""
    if n_rows == 1:  # "1 sample" is what scikit-learn's own checks look for
        name = shown(target.name)
        msg = f"target {name!r}: there is 1 sample (row): a tree needs at least two"
        raise DataError(msg)
    if len(present) == 1:
        only = f"class, {target.classes[int(present[0])]!r}"
        warn_of_constant_target(target.name, only, n_rows)
    if len(present) > MAX_UNIQUE_CLASSES and 2 * len(present) > n_rows:
        msg = (
            f"target {shown(target.name)!r}: {len(present)} of {n_rows} rows have a "
            "class of their own: that tells rows apart, and nothing can be learnt of "
            "it; name another"
        )
        raise DataError(msg)
    check_texts(target.name, target.classes)
    for label in target.classes:
        if isinstance(label, str) and label.splitlines() not in ([], [label]):
            msg = (
                f"target {shown(target.name)!r}: the class {label!r} holds a line "
                "break, which no rule or table of predictions could show: fix the label"
            )
            raise DataError(msg)


def warn_of_constant_target(name: str, only: str, n_rows: int) -> None:
    """Warn that rows have ``only`` one class, or number: a tree is a single leaf."""
    msg = f"target {shown(name)!r}: all {n_rows} rows have one {only}"
    warn(msg, remedy="the model always predicts it; check the target")


def check_texts(name: str, values: Iterable[Value]) -> None:
    """Refuse text with a lone surrogate, which no file can store."""
    for text in (name, *(value for value in values if isinstance(value, str))):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            msg = (
                f"column {name!r} holds {text!r}, which is no text in Unicode (a lone "
                "surrogate): fix it where it was made"
            )
            raise DataError(msg) from None


def check_roles(
    target: object, weight: object, declared: Declarations | None = None
) -> None:
    """Refuse invalid names of target and weight, or a column with two roles."""
    declared = declared or Declarations()
    if not isinstance(target, str) or not target:
        raise DataError(Setting("target", target), " must be the name of a column")
    for part, name in (("target", target), ("weight", weight)):
        if isinstance(name, str) and declared.ignores(name):
            msg = f"{part} {name!r} is ignored too: ignore it no more, or name another"
            raise DataError(msg)
        if name in declared.values:
            raise DataError(
                Setting("values"),
                f": {name!r} is the {part}, and what it may hold are the classes or "
                "numbers that rows have: leave it out",
            )
    if weight is not None and not isinstance(weight, str):
        raise DataError(
            Setting("weight", weight), " must be the name of a column, or None"
        )
    if weight == target:
        raise DataError(
            Setting("weight"),
            f" {weight!r} is the target",
            remedy="name another column",
        )


def missing_targets_warning(target: str, n_missing: int, n_rows: int) -> str:
    """Return the warning about rows without a class, or a number to predict."""
    return (
        f"target {target!r} is missing in {n_missing} of {n_rows} rows, "
        "which are left out"
    )


def usable_rows(
    table: Table, target: str, weight: str | None
) -> tuple[Table, Floats | None, Integers]:
    """Return the rows with a target and a weight, their weights and positions."""
    is_usable = ~check_target(table, target).missing
    if weight is None:
        return table.take(is_usable), None, np.flatnonzero(is_usable)
    weights = row_weights(table[weight])
    is_usable &= weights > 0
    return table.take(is_usable), weights[is_usable], np.flatnonzero(is_usable)


def check_target(table: Table, target: str) -> Column:
    """Return the target column; refuse one without values."""
    column = table[target]
    if not table.n_rows:
        msg = "the table has no rows: give it at least one"
        raise DataError(msg)
    n_missing = int(column.missing.sum())
    if n_missing == table.n_rows:
        msg = (
            f"target {target!r}: all {n_missing} cells are missing; name "
            "another target, or check what was declared missing"
        )
        raise DataError(msg)
    if n_missing:
        msg = missing_targets_warning(target, n_missing, table.n_rows)
        warn(msg)
    return column


def as_target(column: Column, *, numeric: bool = False) -> tuple[Target, NDArray[Any]]:
    """Return the target of a column and its cells: class codes, or numbers."""
    if holds_classes(column, numeric=numeric):
        return as_classes(column)
    return Target(column.name, origin=0.0), column.cells


def as_classes(column: Column) -> tuple[Target, Integers]:
    """Return the classes of a target column and each row's class, -1 if missing.

    Numbers are classes if there are at most 20 distinct ones, all integers.
    """
    if column.kind != "numeric":
        return _text_classes(column)
    known = column.cells[~np.isnan(column.cells)]
    numbers = np.unique(known)
    if column.unit is not None and len(numbers):
        msg = (
            f"target {column.name!r} holds dates or times (such as "
            f"{number_text(float(numbers[0]), column.unit)}): declare it nominal to "
            "take them as classes"
        )
        raise DataError(msg)
    if np.any(numbers != np.floor(numbers)):
        fraction = next(x for x in numbers if x != np.floor(x))
        msg = (
            f"target {column.name!r} is numeric (such as "
            f"{number_text(float(fraction), column.unit)}): classes are text or whole "
            "numbers; declare it nominal to take its values as classes"
        )
        raise DataError(msg)
    codes = np.full(len(column.cells), -1, dtype=np.int64)
    indices = np.searchsorted(numbers, known)
    codes[~np.isnan(column.cells)] = indices
    classes: tuple[Value, ...] = tuple(int(number) for number in numbers)
    return Target(column.name, classes), codes


def _text_classes(column: Column) -> tuple[Target, Integers]:
    present = np.unique(column.cells[column.cells >= 0])
    index = np.full(len(column.levels) + 1, -1, dtype=np.int64)
    index[present] = np.arange(len(present))
    classes = tuple(column.levels[int(code)] for code in present)
    return Target(column.name, classes), index[column.cells]


def rows_in_memory(
    table: Table,
    target: str,
    weight: str | None,
    declared: Declarations,
    *,
    from_zero: bool,
    identifiers: bool = False,
    complete: bool = False,
    first: bool = False,
) -> TrainingSet:
    """Return the training rows of a table with its target.

    ``identifiers`` keeps identifiers; the other options are those of ``training_set``.
    """
    # Rows without weight are dropped first, so their classes do not count.
    table, weights, places = usable_rows(table, target, weight)
    attributes = table.without((target, weight or ""))
    if not identifiers:
        attributes = without_identifiers(attributes, declared, places)
    if complete and table.n_rows:
        is_usable = complete_rows(attributes, weights)
        table, attributes = table.take(is_usable), attributes.take(is_usable)
        places = places[is_usable]
        weights = None if weights is None else weights[is_usable]
    classes, codes = as_target(
        table[target], numeric=declared.kind(target) == "numeric"
    )
    report_column_issues(attributes, table[target], declared, places)
    rows = training_set(
        attributes,
        classes,
        classes=codes,
        weights=weights,
        markers=(*declared.missing, *table.markers),
        from_zero=from_zero,
        first=first,
    )
    return replace(rows, places=places if rows.places is None else places[rows.places])


def report_column_issues(
    attributes: Table,
    target: Column,
    declared: Declarations,
    rows: Integers | None = None,
) -> None:
    """Report how a target is read, and the warnings about columns.

    ``rows`` are the positions of the rows in the user's table.
    """
    if reading := target_note(target, declared):
        note(reading, of_reading=False)
    if answers := survey_note(attributes, declared):
        note(answers, of_reading=False)
    for warning in training_warnings(attributes, target, declared, rows):
        warn(*warning.args, remedy=warning.remedy)


def rows_with_positions(
    schema: Schema, table: Table, *, y: Any = None, sample_weight: Any = None
) -> tuple[TrainingSet, Integers]:
    """Return the rows with a class and a weight, encoded, and their positions.

    Parameters
    ----------
    schema : Schema
        The schema of the tree.
    table : Table
        All attributes, and the target unless y is given.
    y : array, optional
        The class or numeric target value of each row.
    sample_weight : array, optional
        The weight of each row.
    """
    name, numeric = schema.target.name, schema.target.is_numeric
    column = check_target(table, name) if y is None else read_table({name: y})[name]
    classes = schema.target.encode(column)
    if len(classes) != table.n_rows:
        msg = f"y has {len(classes)} labels and the table {table.n_rows} rows"
        raise DataError(msg)
    weights = given_weights(sample_weight, table.n_rows)
    is_usable = (~np.isnan(classes) if numeric else classes >= 0) & (weights > 0)
    if not is_usable.any():
        msg = (
            f"target {name!r}: no row has both a weight above 0 and one of the "
            "model's classes: give the training table"
        )
        raise DataError(msg)
    training = TrainingSet(
        schema,
        tuple(schema.encode(table.take(is_usable))),
        classes[is_usable].astype(np.float64 if numeric else np.int64),
        None if sample_weight is None else weights[is_usable],
    )
    return training, np.flatnonzero(is_usable)
