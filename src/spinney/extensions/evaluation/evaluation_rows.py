"""The rows to evaluate on: read once, the kinds of columns fixed once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import (
    Cells,
    Column,
    Table,
    Value,
    level_order,
    without_identifiers,
)
from spinney.errors import DataError
from spinney.sources.rows import (
    NumberFacts,
    as_target,
    check_classes,
    check_numbers,
    check_roles,
    known_rows,
    report_column_issues,
)
from spinney.sources.training_data import TableInput, table_of_rows


@dataclass(frozen=True, slots=True)
class EvaluationRows:
    """Rows of weight greater than 0 with a known target.

    ``truth`` holds class codes, or numbers where ``classes`` is None. The columns
    keep the kinds that the whole table gives them; what a recipe learns from
    values, it learns from the rows it is given. Columns that only tell rows apart are
    not among them, unless they are declared.
    """

    table: Table
    target: str
    classes: tuple[Value, ...] | None
    truth: Cells
    weight: str | None
    weights: Floats | None

    @property
    def kinds(self) -> dict[str, list[str]]:
        """The columns by their kinds, to be declared where a part is grown on.

        A part may look as if a column numbered its rows, though no whole table does.
        """
        kinds: dict[str, list[str]] = {"nominal": [], "numeric": []}
        for column in self.table.columns:
            if column.kind in kinds and column.name not in (self.target, self.weight):
                kinds[column.kind].append(column.name)
        return kinds

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.n_rows


def rows_of(table_input: TableInput) -> EvaluationRows:
    """Read the rows; warn of what is odd about the table, once.

    Columns that only tell rows apart are found in the whole table, and left out of all
    its parts: every recipe is measured on the same columns.
    """
    target, weight = table_input.target, table_input.weight
    declarations = table_input.declarations
    check_roles(target, weight, declarations)
    read = table_of_rows(table_input)
    rows, weights, places = known_rows(read, target, weight)
    if not rows.n_rows:
        msg = "no row has a weight greater than 0 and a known target: nothing to do"
        raise DataError(msg)
    every = rows.without((target, weight or ""))
    attributes = without_identifiers(every, declarations, places)
    rows = rows.without({*every.names} - {*attributes.names})
    report_column_issues(attributes, rows[target], declarations, places)
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
    table = Table(tuple(columns), rows.n_rows)
    return EvaluationRows(table, target, classes, truth, weight, weights)


def codes_of(labels: Sequence[Value], classes: Sequence[Value]) -> list[int]:
    """Return the index of each label among the classes.

    >>> codes_of(["no", "yes"], ["maybe", "no", "yes"])
    [1, 2]
    """
    code_of = {level_order(label): code for code, label in enumerate(classes)}
    return [code_of[level_order(label)] for label in labels]
