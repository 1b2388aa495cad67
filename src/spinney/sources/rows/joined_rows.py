"""Training rows with rows added or removed, encoded as if all were read at once.

Readers sort the values of a nominal column. So added rows may shift the codes of other
values, and removed rows may remove values. ``JoinedRows`` has all rows in the codes of
the remaining rows, and maps old codes to new ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.text import value_text
from spinney.data import Attribute, Column, Schema, Table, Target, Value, level_order
from spinney.errors import DataError
from spinney.sources.rows.training_rows import TrainingSet, check_texts, origin_of
from spinney.sources.rows.weight_checks import row_weights

REMOVED = -2  # the code of a value without remaining rows


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows to add or remove: attributes, target cells and weights."""

    table: Table
    target: Column
    weights: Floats | None = None

    @classmethod
    def of(cls, table: Table, target: str, weight: str | None) -> "Batch":
        """Return the batch of a table with a target column and optional weights."""
        weights = None if weight is None else row_weights(table[weight])
        return cls(table.without((target, weight or "")), table[target], weights)


@dataclass(frozen=True, slots=True, eq=False)
class JoinedRows:
    """The old rows, then an added batch; removed rows keep their positions.

    Parameters
    ----------
    rows : TrainingSet
        All rows, in the codes of the remaining rows.
    n_before : int
        The number of old rows.
    removed : array of int
        The positions of the removed rows.
    codes : sequence of arrays
        The new code of each old code, by attribute; ``REMOVED`` without remaining rows.
        None if the codes are unchanged.
    classes : array, optional
        The same for the classes.
    """

    rows: TrainingSet
    n_before: int
    removed: Integers
    codes: Sequence[Integers | None]
    classes: Integers | None

    @property
    def is_recoded(self) -> bool:
        """Whether any code has changed."""
        maps = (*self.codes, self.classes)
        return any(codes is not None for codes in maps)

    @property
    def staying(self) -> Integers:
        """The ascending positions of the remaining rows."""
        stays = np.ones(len(self.rows.classes), dtype=bool)
        stays[self.removed] = False
        return np.flatnonzero(stays)


def join_rows(
    before: TrainingSet, batch: Batch | None, removed: Batch | None
) -> JoinedRows:
    """Return rows with a batch added and other rows removed.

    Each row of ``removed`` removes the oldest row with equal cells; without an equal
    row it is refused.
    """
    after = before
    if batch is not None:
        after = _with_batch(before, batch)
    places = np.zeros(0, dtype=np.int64)
    if removed is not None:
        places = _find_rows(after, _encode_batch(after, removed))
    return _without_removed(after, before, places)


def _with_batch(before: TrainingSet, batch: Batch) -> TrainingSet:
    """Return rows with a batch after them, in common codes."""
    schema = before.schema
    columns = [_attribute_column(batch.table, each) for each in schema.attributes]
    attributes = tuple(
        _with_values(attribute, column, fixed=attribute.name in before.declared)
        for attribute, column in zip(schema.attributes, columns, strict=True)
    )
    target = schema.target
    if not target.is_numeric:
        as_attribute = Attribute(target.name, "nominal", target.classes)
        fixed = target.name in before.declared
        classes = _with_values(as_attribute, batch.target, fixed=fixed).values
        target = replace(target, classes=classes)
    new = replace(schema, attributes=attributes, target=target)
    added = _encode_batch(replace(before, schema=new), batch)
    old = _recode(before, new)
    weights = None
    if before.weights is not None or added.weights is not None:
        weights = np.concatenate([before.sample_weights, added.sample_weights])
    pairs = zip(old.columns, added.columns, strict=True)
    return replace(
        old,
        schema=new,
        columns=tuple(np.concatenate(pair) for pair in pairs),
        classes=np.concatenate([old.classes, added.classes]),
        weights=weights,
        places=None,
    )


def _attribute_column(table: Table, attribute: Attribute) -> Column:
    if attribute.name in table.names:
        return table[attribute.name]
    cells = attribute.all_missing(table.n_rows)
    return Column(attribute.name, attribute.kind, cells, attribute.values)


def _with_values(attribute: Attribute, column: Column, *, fixed: bool) -> Attribute:
    """Return an attribute extended by the values of a column, in reading order."""
    if attribute.kind == "numeric":
        return attribute
    levels = _column_values(column)
    known = attribute.values
    if known:
        values_column = Column(column.name, "nominal", np.arange(len(levels)), levels)
        unknown = attribute.encode(values_column) < 0
        levels = tuple(
            _as_type_of(known, level)
            for level, is_new in zip(levels, unknown, strict=True)
            if is_new
        )
    if not levels:
        return attribute
    if fixed:
        shown = ", ".join(map(repr, levels[:5]))
        msg = (
            f"column {attribute.name!r} holds {shown}, and its values are declared: "
            f"{', '.join(map(repr, known))}"
        )
        raise DataError(
            msg,
            remedy="fix the cells, or declare these values and grow the model again",
        )
    check_texts(attribute.name, levels)
    return replace(attribute, values=tuple(sorted({*known, *levels}, key=level_order)))


def _column_values(column: Column) -> tuple[Value, ...]:
    """Return the values that occur in a column."""
    if column.kind == "numeric":
        return tuple(np.unique(column.cells[~np.isnan(column.cells)]).tolist())
    present = np.unique(column.cells[column.cells >= 0])
    return tuple(column.levels[int(code)] for code in present)


def _as_type_of(known: Sequence[Value], level: Value) -> Value:
    """Return a new value, converted to the type of the known values if possible."""
    kinds = {type(value) for value in known}
    if kinds == {str}:
        return value_text(level)
    if kinds == {int} and isinstance(level, float) and level.is_integer():
        return int(level)
    if kinds == {int} and isinstance(level, str):
        try:
            return int(level)
        except ValueError:
            return level
    return level


def _encode_batch(rows: TrainingSet, batch: Batch) -> TrainingSet:
    """Return the usable rows of a batch, encoded by the schema of training rows.

    An unknown value or class becomes ``REMOVED``.
    """
    schema, target = rows.schema, rows.schema.target
    classes = target.encode(batch.target)
    used = ~batch.target.missing
    if batch.weights is not None:
        used = used & (batch.weights > 0)
    cells = []
    for attribute in schema.attributes:
        column = _attribute_column(batch.table, attribute)
        codes = np.asarray(attribute.encode(column))
        if attribute.kind != "numeric":
            codes = np.where((codes < 0) & ~column.missing, REMOVED, codes)
        cells.append(codes[used])
    if not target.is_numeric:
        classes = np.where(classes < 0, REMOVED, classes)
    kind = np.float64 if target.is_numeric else np.int64
    return replace(
        rows,
        columns=tuple(cells),
        classes=np.asarray(classes, dtype=kind)[used],
        weights=None if batch.weights is None else batch.weights[used],
        places=np.flatnonzero(used),
    )


def _code_map(known: Sequence[Value], new: Sequence[Value]) -> Integers | None:
    """Return the new code of each known value; None if no code changes."""
    if tuple(known) == tuple(new) and list(map(type, known)) == list(map(type, new)):
        return None
    places = {level_order(value): code for code, value in enumerate(new)}
    codes = [places.get(level_order(value), REMOVED) for value in known]
    return np.array(codes, dtype=np.int64)


def _maps(old: Schema, new: Schema) -> tuple[list[Integers | None], Integers | None]:
    pairs = zip(old.attributes, new.attributes, strict=True)
    codes = [_code_map(before.values, after.values) for before, after in pairs]
    return codes, _code_map(old.target.classes, new.target.classes)


def map_codes(codes: NDArray[Any], by: Integers | None) -> NDArray[Any]:
    """Return the new codes of cells; missing cells stay missing."""
    if by is None:
        return codes
    return np.append(by, [REMOVED, -1])[np.where(codes < -1, -2, codes)]


def _recode(rows: TrainingSet, schema: Schema) -> TrainingSet:
    codes, classes = _maps(rows.schema, schema)
    columns = zip(rows.columns, codes, strict=True)
    return replace(
        rows,
        schema=schema,
        columns=tuple(map_codes(cells, by) for cells, by in columns),
        classes=map_codes(rows.classes, classes),
    )


def _without_removed(
    after: TrainingSet, before: TrainingSet, removed: Integers
) -> JoinedRows:
    """Return all rows, in the codes of the remaining rows."""
    schema = after.schema
    if len(removed):
        stays = np.ones(len(after.classes), dtype=bool)
        stays[removed] = False
        attributes = []
        for attribute, cells in zip(schema.attributes, after.columns, strict=True):
            if attribute.kind != "nominal" or attribute.name in after.declared:
                attributes.append(attribute)
                continue
            values = _present_values(attribute.values, cells[stays])
            attributes.append(replace(attribute, values=values))
        target = schema.target
        if not target.is_numeric and target.name not in after.declared:
            classes = _present_values(target.classes, after.classes[stays])
            target = replace(target, classes=classes)
        schema = replace(schema, attributes=tuple(attributes), target=target)
    codes, classes_map = _maps(before.schema, schema)
    rows = _recode(after, schema)
    return JoinedRows(rows, len(before.classes), removed, codes, classes_map)


def _present_values(
    values: tuple[Value, ...], codes: NDArray[Any]
) -> tuple[Value, ...]:
    present = np.unique(codes[codes >= 0])
    return tuple(values[int(code)] for code in present)


def _find_rows(rows: TrainingSet, removed: TrainingSet) -> Integers:
    """Return the positions of the rows to remove; among equal rows, the first ones."""
    n_rows, n_removed = len(rows.classes), len(removed.classes)
    pairs = [
        *zip(rows.columns, removed.columns, strict=True),
        (rows.classes, removed.classes),
    ]
    if rows.weights is not None and removed.weights is not None:
        pairs.append((rows.weights, removed.weights))
    key = np.zeros(n_rows + n_removed, dtype=np.int64)
    for left, right in pairs:
        cells = np.concatenate([left, right]).astype(np.float64) + 0.0
        _, rank = np.unique(cells, return_inverse=True)
        _, key = np.unique(key * (rank.max() + 1) + rank, return_inverse=True)
    # The k-th of equal removed rows matches the k-th equal stored row.
    numbered = np.stack([key, _occurrence(key[:n_rows], key[n_rows:])], axis=1)
    places = {
        (equal, number): position
        for position, (equal, number) in enumerate(numbered[:n_rows].tolist())
    }
    positions: list[int] = []
    for line, (equal, number) in enumerate(numbered[n_rows:].tolist()):
        position = places.get((equal, number))
        if position is None:
            assert removed.places is not None
            msg = (
                f"removed: row {removed.places[line] + 1} is not among the {n_rows} "
                "rows that the model keeps, or not as often"
            )
            raise DataError(
                msg,
                remedy="remove rows as they were given, with their target and weight",
            )
        positions.append(position)
    return np.array(sorted(positions), dtype=np.int64)


def _occurrence(*parts: Integers) -> Integers:
    """Return the number of equal preceding keys of each key, for each part."""
    counted = []
    for keys in parts:
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        first = np.searchsorted(ranked, ranked)
        number = np.empty(len(keys), dtype=np.int64)
        number[order] = np.arange(len(keys)) - first
        counted.append(number)
    return np.concatenate(counted)


def with_classes(rows: TrainingSet, classes: Sequence[Value]) -> TrainingSet:
    """Return rows with these classes added to the target, as declared ones."""
    schema, target = rows.schema, rows.schema.target
    all_classes = tuple(sorted({*target.classes, *classes}, key=level_order))
    recoded = _recode(
        rows, replace(schema, target=replace(target, classes=all_classes))
    )
    return replace(recoded, declared=(*rows.declared, target.name))


def recentred_target(target: Target, numbers: Floats, weights: Floats) -> Target | None:
    """Return a target with a new origin; None if its origin is near the mean.

    Sums of squares keep their digits while the origin is within a standard deviation
    of the mean.
    """
    if not target.is_numeric:
        return None
    assert target.origin is not None
    mean = float(np.average(numbers, weights=weights))
    spread = float(np.sqrt(np.average((numbers - mean) ** 2, weights=weights)))
    if abs(mean - target.origin) <= spread:
        return None
    return replace(target, origin=origin_of(numbers, weights))
