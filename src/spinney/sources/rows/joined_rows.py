"""Training rows with others added or taken away, coded as if all were read at once.

A reader orders the values of a nominal column by what occurs in all rows. So a batch
may bring values and classes that push others up, and rows that leave may take values
with them. ``JoinedRows`` has all rows in the codes of those that stay, and says what
became of the codes before.
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

GONE = -2  # the code of a value that no row has any more


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows to be joined to others: attributes, the target's cells, and weights."""

    table: Table
    target: Column
    weights: Floats | None = None

    @classmethod
    def of(cls, table: Table, target: str, weight: str | None) -> "Batch":
        """Return a batch of a table with its target, and its weights if any."""
        weights = None if weight is None else row_weights(table[weight])
        return cls(table.without((target, weight or "")), table[target], weights)


@dataclass(frozen=True, slots=True, eq=False)
class JoinedRows:
    """Rows before and a batch after them, those that leave still in their places.

    Parameters
    ----------
    rows : TrainingSet
        All of them, coded by what those that stay hold.
    n_before : int
        How many there were; the others are new.
    removed : array of int
        The places of those that leave.
    codes : sequence of arrays
        By attribute what became of each code, ``GONE`` where no row has it any more;
        None where all codes are as before.
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
        """Whether any code means something else than before."""
        maps = (*self.codes, self.classes)
        return any(codes is not None for codes in maps)

    @property
    def staying(self) -> Integers:
        """The places of the rows that stay, rising."""
        stays = np.ones(len(self.rows.classes), dtype=bool)
        stays[self.removed] = False
        return np.flatnonzero(stays)


def join_rows(
    before: TrainingSet, batch: Batch | None, removed: Batch | None
) -> JoinedRows:
    """Return rows with a batch after them, and without those that are removed.

    A row is removed once for each line of ``removed`` that has its cells, the oldest
    of equals first; a line that no row equals is refused.
    """
    after = before
    if batch is not None:
        after = _extended(before, batch)
    places = np.zeros(0, dtype=np.int64)
    if removed is not None:
        places = _places_of(after, _coded(after, removed))
    return _narrowed(after, before, places)


def _extended(before: TrainingSet, batch: Batch) -> TrainingSet:
    """Return rows with those of a batch after them, in codes that both understand."""
    schema = before.schema
    columns = [_column(batch.table, each) for each in schema.attributes]
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
    added = _coded(replace(before, schema=new), batch)
    old = _recoded(before, new)
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


def _column(table: Table, attribute: Attribute) -> Column:
    if attribute.name in table.names:
        return table[attribute.name]
    cells = attribute.all_missing(table.n_rows)
    return Column(attribute.name, attribute.kind, cells, attribute.values)


def _with_values(attribute: Attribute, column: Column, *, fixed: bool) -> Attribute:
    """Return an attribute that knows the values of a column too, in reading order."""
    if attribute.kind == "numeric":
        return attribute
    levels = _occurring(column)
    known = attribute.values
    if known:
        each = Column(column.name, "nominal", np.arange(len(levels)), levels)
        unknown = attribute.encode(each) < 0
        levels = tuple(
            _like(known, level)
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
            remedy="mend the cells, or grow anew with these values declared",
        )
    check_texts(attribute.name, levels)
    return replace(attribute, values=tuple(sorted({*known, *levels}, key=level_order)))


def _occurring(column: Column) -> tuple[Value, ...]:
    """Return the values that cells of a column have."""
    if column.kind == "numeric":
        return tuple(np.unique(column.cells[~np.isnan(column.cells)]).tolist())
    present = np.unique(column.cells[column.cells >= 0])
    return tuple(column.levels[int(code)] for code in present)


def _like(known: Sequence[Value], level: Value) -> Value:
    """Return a new value as one of the kind of those that are known."""
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


def _coded(like: TrainingSet, batch: Batch) -> TrainingSet:
    """Return the rows of a batch that have a target and weight, in the codes of others.

    A value or class that these do not know is ``GONE``.
    """
    schema, target = like.schema, like.schema.target
    classes = target.encode(batch.target)
    kept = ~batch.target.missing
    if batch.weights is not None:
        kept = kept & (batch.weights > 0)
    cells = []
    for attribute in schema.attributes:
        column = _column(batch.table, attribute)
        codes = np.asarray(attribute.encode(column))
        if attribute.kind != "numeric":
            codes = np.where((codes < 0) & ~column.missing, GONE, codes)
        cells.append(codes[kept])
    if not target.is_numeric:
        classes = np.where(classes < 0, GONE, classes)
    kind = np.float64 if target.is_numeric else np.int64
    return replace(
        like,
        columns=tuple(cells),
        classes=np.asarray(classes, dtype=kind)[kept],
        weights=None if batch.weights is None else batch.weights[kept],
        places=np.flatnonzero(kept),
    )


def _code_map(known: Sequence[Value], new: Sequence[Value]) -> Integers | None:
    """Return what became of codes; None where nothing changed."""
    if tuple(known) == tuple(new) and list(map(type, known)) == list(map(type, new)):
        return None
    places = {level_order(value): code for code, value in enumerate(new)}
    codes = [places.get(level_order(value), GONE) for value in known]
    return np.array(codes, dtype=np.int64)


def _maps(old: Schema, new: Schema) -> tuple[list[Integers | None], Integers | None]:
    pairs = zip(old.attributes, new.attributes, strict=True)
    codes = [_code_map(one.values, other.values) for one, other in pairs]
    return codes, _code_map(old.target.classes, new.target.classes)


def mapped(codes: NDArray[Any], by: Integers | None) -> NDArray[Any]:
    """Return codes as they are now; what is missing stays so."""
    if by is None:
        return codes
    return np.append(by, [GONE, -1])[np.where(codes < -1, -2, codes)]


def _recoded(rows: TrainingSet, schema: Schema) -> TrainingSet:
    codes, classes = _maps(rows.schema, schema)
    columns = zip(rows.columns, codes, strict=True)
    return replace(
        rows,
        schema=schema,
        columns=tuple(mapped(cells, by) for cells, by in columns),
        classes=mapped(rows.classes, classes),
    )


def _narrowed(after: TrainingSet, before: TrainingSet, removed: Integers) -> JoinedRows:
    """Return all rows, coded by the values that those which stay have."""
    schema = after.schema
    if len(removed):
        stays = np.ones(len(after.classes), dtype=bool)
        stays[removed] = False
        attributes = []
        for attribute, cells in zip(schema.attributes, after.columns, strict=True):
            if attribute.kind != "nominal" or attribute.name in after.declared:
                attributes.append(attribute)
                continue
            values = _still_there(attribute.values, cells[stays])
            attributes.append(replace(attribute, values=values))
        target = schema.target
        if not target.is_numeric and target.name not in after.declared:
            classes = _still_there(target.classes, after.classes[stays])
            target = replace(target, classes=classes)
        schema = replace(schema, attributes=tuple(attributes), target=target)
    codes, classes_map = _maps(before.schema, schema)
    rows = _recoded(after, schema)
    return JoinedRows(rows, len(before.classes), removed, codes, classes_map)


def _still_there(values: tuple[Value, ...], codes: NDArray[Any]) -> tuple[Value, ...]:
    present = np.unique(codes[codes >= 0])
    return tuple(values[int(code)] for code in present)


def _places_of(rows: TrainingSet, gone: TrainingSet) -> Integers:
    """Return the places of rows that equal those of others, the first ones of each."""
    n_rows, n_gone = len(rows.classes), len(gone.classes)
    pairs = [
        *zip(rows.columns, gone.columns, strict=True),
        (rows.classes, gone.classes),
    ]
    if rows.weights is not None and gone.weights is not None:
        pairs.append((rows.weights, gone.weights))
    key = np.zeros(n_rows + n_gone, dtype=np.int64)
    for one, other in pairs:
        cells = np.concatenate([one, other]).astype(np.float64) + 0.0
        _, rank = np.unique(cells, return_inverse=True)
        _, key = np.unique(key * (rank.max() + 1) + rank, return_inverse=True)
    # The k-th of equal rows to be removed takes the k-th of the rows that equal them.
    numbered = np.stack([key, _occurrence(key[:n_rows], key[n_rows:])], axis=1)
    places = {
        (equal, number): place
        for place, (equal, number) in enumerate(numbered[:n_rows].tolist())
    }
    found: list[int] = []
    for line, (equal, number) in enumerate(numbered[n_rows:].tolist()):
        place = places.get((equal, number))
        if place is None:
            assert gone.places is not None
            msg = (
                f"removed: row {gone.places[line] + 1} is not among the {n_rows} rows "
                "that the model keeps, or not as often"
            )
            raise DataError(
                msg,
                remedy="remove rows as they were given, with their target and weight",
            )
        found.append(place)
    return np.array(sorted(found), dtype=np.int64)


def _occurrence(*parts: Integers) -> Integers:
    """Return, part by part, how many equal keys stand before each in its part."""
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
    """Return rows whose target has these classes too, and no others ever after."""
    schema, target = rows.schema, rows.schema.target
    every = tuple(sorted({*target.classes, *classes}, key=level_order))
    recoded = _recoded(rows, replace(schema, target=replace(target, classes=every)))
    return replace(recoded, declared=(*rows.declared, target.name))


def moved_target(target: Target, numbers: Floats, weights: Floats) -> Target | None:
    """Return a target measured from a new origin, where its own is far from the mean.

    Sums of squares keep their digits while the origin is within a standard deviation
    of the mean; None says that it is.
    """
    if not target.is_numeric:
        return None
    assert target.origin is not None
    mean = float(np.average(numbers, weights=weights))
    spread = float(np.sqrt(np.average((numbers - mean) ** 2, weights=weights)))
    if abs(mean - target.origin) <= spread:
        return None
    return replace(target, origin=origin_of(numbers, weights))
