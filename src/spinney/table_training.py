"""From a table that holds its target, and maybe weights, to rows to grow on."""

from spinney.data import table_warnings
from spinney.data.declarations import Declarations
from spinney.data.table import Table
from spinney.errors import warn
from spinney.recipes import Recipe
from spinney.training import (
    TrainingSet,
    as_target,
    check_target,
    row_weights,
    training_set,
)

__all__ = ["rows_in_memory"]


def rows_in_memory(
    table: Table,
    target: str,
    weight: str | None,
    declared: Declarations,
    recipe: Recipe,
) -> TrainingSet:
    """Return the rows of a table that holds its target, ready to grow on."""
    column = check_target(table, target)
    weights = None
    if weight is not None:
        weights = row_weights(table[weight])
        # Before the classes are found: one that only weightless rows have is none.
        table, weights = table.take(weights > 0), weights[weights > 0]
        column = table[target]
    classes, codes = as_target(column, numeric=target in declared.numeric)
    attributes = table.without((target, weight or ""))
    for warning in table_warnings(attributes, declared):
        warn(warning)
    return training_set(
        attributes,
        classes,
        classes=codes,
        weights=weights,
        markers=declared.missing,
        from_zero=recipe.measure(numeric=classes.is_numeric).from_zero,
    )
