"""Nominal columns of many values with few rows each: splits on them overfit."""

from spinney._support.text import first_of
from spinney.data import MIN_IDENTIFIER_FRACTION, Schema
from spinney.errors import Setting, Text, phrase, warn
from spinney.growth import Model
from spinney.trees.predict import flatten

MAX_VALUES = 20
MAX_ROWS_PER_VALUE = 20
MAX_NAMED = 3


def high_cardinality_columns(schema: Schema, n_rows: int) -> dict[str, int]:
    """Return how many values each high-cardinality column has, by its name.

    It is nominal, of more than 20 values, with at most 20 rows a value on average. A
    split that gathers such values fits the rows it was found on, and few others.
    """
    return {
        attribute.name: len(attribute.values)
        for attribute in schema.attributes[: schema.n_columns]
        if attribute.kind == "nominal"
        and len(attribute.values) > MAX_VALUES
        and n_rows <= MAX_ROWS_PER_VALUE * len(attribute.values)
    }


def warn_of_high_cardinality(
    model: Model, *, in_table: bool = True, in_memory: bool = True
) -> None:
    """Warn of the high-cardinality columns that a tree splits on, all at once.

    ``in_table`` says that columns can be ignored; an estimator has none but those of X.
    The default recipe excludes such columns only from rows ``in_memory``.
    """
    schema = model.tree.schema
    found = high_cardinality_columns(schema, model.fingerprint.n_rows)
    if not found:
        return
    asked = schema.input_columns(flatten(model.tree).arrays.asked)
    columns = [schema.attributes[index].name for index in asked]
    # One that nearly numbers the rows has been told of as an identifier.
    most = MIN_IDENTIFIER_FRACTION * model.fingerprint.n_rows
    names = [name for name, n in found.items() if name in columns and n < most]
    if not names:
        return
    listed = first_of([f"{n!r} ({found[n]} values)" for n in names], MAX_NAMED)
    ignore = Setting("ignore", names if len(names) <= MAX_NAMED else ...)
    remedy: Text = "leave them out of X"
    if in_table:
        remedy = phrase("leave them out ({})", ignore)
    if in_memory:
        remedy = phrase("{}, or take {}", remedy, Setting("recipe", "auto"))
    warn(f"splits on high-cardinality columns overfit: {listed}", remedy=remedy)
