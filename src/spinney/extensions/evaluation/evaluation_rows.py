"""The rows of a study, read once with fixed kinds of columns."""

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
    report_column_issues,
    usable_rows,
)
from spinney.sources.training_data import TableInput, table_of_rows


@dataclass(frozen=True, slots=True)
class EvaluationRows:
    """Rows with positive weight and a known target.

    ``truth`` has class codes, or numbers if ``classes`` is None. Kinds of columns are
    inferred from the whole table. Identifiers are excluded unless declared.
    """

    table: Table
    target: str
    classes: tuple[Value, ...] | None
    truth: Cells
    weight: str | None
    weights: Floats | None

    @property
    def kinds(self) -> dict[str, list[str]]:
        """The columns by kind, to be declared for each training set."""
        kinds: dict[str, list[str]] = {"nominal": [], "numeric": []}
        for column in self.table.columns:
            if column.kind in kinds and column.name not in (self.target, self.weight):
                kinds[column.kind].append(column.name)
        return kinds

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows


def read_evaluation_rows(table_input: TableInput) -> EvaluationRows:
    """Read the rows and warn of issues once; identifiers are found in all rows."""
    target, weight = table_input.target, table_input.weight
    declarations = table_input.declarations
    check_roles(target, weight, declarations)
    read = table_of_rows(table_input)
    rows, weights, places = usable_rows(read, target, weight)
    if not rows.n_rows:
        msg = "no row has a positive weight and a known target"
        raise DataError(msg)
    candidates = rows.without((target, weight or ""))
    attributes = without_identifiers(candidates, declarations, places)
    rows = rows.without({*candidates.names} - {*attributes.names})
    report_column_issues(attributes, rows[target], declarations, places)
    column, classes = rows[target], None
    schema, truth = as_target(column, numeric=declarations.kind(target) == "numeric")
    if schema.is_numeric:
        check_numbers(target, NumberFacts.of(truth))
    else:
        check_classes(schema, np.unique(truth), rows.n_rows)
        classes = schema.classes
        # Numeric classes stay classes in every training set, even with noise.
        column = Column(target, "nominal", truth.astype(np.int32), classes)
    columns = (column if other.name == target else other for other in rows.columns)
    table = Table(tuple(columns), rows.n_rows)
    return EvaluationRows(table, target, classes, truth, weight, weights)


def class_codes(labels: Sequence[Value], classes: Sequence[Value]) -> list[int]:
    """Return the index of each label among the classes.

    >>> class_codes(["no", "yes"], ["maybe", "no", "yes"])
    [1, 2]
    """
    code_of = {level_order(label): code for code, label in enumerate(classes)}
    return [code_of[level_order(label)] for label in labels]
