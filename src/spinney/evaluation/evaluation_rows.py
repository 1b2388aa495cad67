"""The rows to evaluate on: read once, the kinds of columns fixed once."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import (
    Cells,
    Column,
    Declarations,
    Table,
    Value,
    level_order,
    without_identifiers,
)
from spinney.errors import DataError, SpinneyWarning
from spinney.sources.opened import table_of_rows
from spinney.sources.rows import (
    NumberFacts,
    as_target,
    check_classes,
    check_numbers,
    check_roles,
    known_rows,
    tell_doubts,
)


@dataclass(frozen=True, slots=True)
class EvaluationRows:
    """Rows of weight greater than 0 with a known target.

    ``truth`` holds class codes, or numbers where ``classes`` is None. The columns
    keep the kinds that the whole table gives them; what a recipe learns from
    values, it learns from the rows it is given. ``identifiers`` are columns that only
    tell rows apart, and that some recipes leave out.
    """

    table: Table
    target: str
    classes: tuple[Value, ...] | None
    truth: Cells
    weight: str | None
    weights: Floats | None
    identifiers: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.n_rows


def rows_of(
    data: Any,
    target: str,
    *,
    declarations: Declarations,
    keep_identifiers: bool = True,
    weight: str | None = None,
    table: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
) -> EvaluationRows:
    """Read the rows; warn of what is odd about the table, once.

    ``keep_identifiers`` says that a recipe may ask about columns that only tell rows
    apart. Those are found in the whole table: no part of it counts its rows.
    """
    check_roles(target, weight, declarations)
    read = table_of_rows(
        data,
        declarations=declarations,
        table=table,
        format=format,
        encoding=encoding,
    )
    rows, weights, places = known_rows(read, target, weight)
    if not rows.n_rows:
        msg = "no row has a weight greater than 0 and a known target: nothing to do"
        raise DataError(msg)
    attributes = rows.without((target, weight or ""))
    with warnings.catch_warnings():
        if keep_identifiers:  # who leaves them out need not say so
            warnings.simplefilter("ignore", SpinneyWarning)
        kept = without_identifiers(attributes, declarations, places)
    identifiers = tuple(name for name in attributes.names if name not in kept.names)
    if not keep_identifiers:
        rows, attributes, identifiers = rows.without(identifiers), kept, ()
    tell_doubts(attributes, rows[target], declarations, places)
    column, classes = rows[target], None
    form, truth = as_target(column, numeric=target in declarations.numeric)
    if form.is_numeric:
        check_numbers(target, NumberFacts.of(truth))
    else:
        check_classes(form, np.unique(truth), rows.n_rows)
        classes = form.classes
        # Numbers that are classes are classes in every part, under noise too.
        column = Column(target, "nominal", truth.astype(np.int32), classes)
    columns = (column if each.name == target else each for each in rows.columns)
    return EvaluationRows(
        Table(tuple(columns), rows.n_rows),
        target,
        classes,
        truth,
        weight,
        weights,
        identifiers,
    )


def codes_of(labels: Sequence[Value], classes: Sequence[Value]) -> list[int]:
    """Return the index of each label among the classes.

    >>> codes_of(["no", "yes"], ["maybe", "no", "yes"])
    [1, 2]
    """
    code_of = {level_order(label): code for code, label in enumerate(classes)}
    return [code_of[level_order(label)] for label in labels]
