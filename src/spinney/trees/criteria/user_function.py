"""A user's own function as a criterion."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.errors import Setting, refusal
from spinney.trees.counts import CountTable
from spinney.trees.criteria.criterion import Criterion, Measure

FUNCTION = "function:"
"""The prefix of the name of a user's function in a model file."""


def function_criterion(function: Callable[[CountTable], Any]) -> Criterion:
    """Return a criterion whose gain and merit are the user's function.

    As nothing is known of the function, subsets are enumerated rather than ordered, and
    ``explain`` shows its merits alone.

    >>> def largest(table):
    ...     return table.weights.max() / table.weights.sum()
    >>> function_criterion(largest).name
    'function:largest'
    """
    name = stored_name(function)
    return _of_function(name, _measure_each(function, name))


def stored_criterion(name: str) -> Criterion | None:
    """Return the user criterion of this name in a model file, or None.

    It serves to explain the tree, and refuses to grow another.
    """
    function_name = name.removeprefix(FUNCTION)
    if function_name == name or not (
        function_name.isidentifier() or function_name == "<lambda>"
    ):
        return None

    def refuse(_: CountTable) -> Floats:
        raise refusal(
            Setting("criterion", name),
            "stands for a function of the user's, which a model file does not keep",
            f"pass the function itself, criterion={function_name}, to grow",
        )

    return _of_function(name, refuse)


def stored_name(criterion: "str | Callable[[CountTable], Any]") -> str:
    """Return the name of a criterion in a model file.

    >>> stored_name("gini"), stored_name(lambda table: 0.0)
    ('gini', 'function:<lambda>')
    """
    if not callable(criterion):
        return criterion
    name = getattr(criterion, "__name__", "")
    if not isinstance(name, str) or not (name.isidentifier() or name == "<lambda>"):
        name = type(criterion).__name__
    return FUNCTION + name


def _of_function(name: str, measure: Measure) -> Criterion:
    return Criterion(
        name,
        None,
        measure,
        measure,
        "",
        name.removeprefix(FUNCTION),
        numeric=None,
        from_zero=True,
        ordered=False,
        decreases=False,
    )


def _measure_each(function: Callable[[CountTable], Any], name: str) -> Measure:
    """Return a function of a stack of tables that applies the user's to each table."""

    def measure(tables: CountTable) -> Floats:
        shape = tables.weights.shape[:-2]
        merits = np.zeros(shape)
        for index in np.ndindex(shape):
            merits[index] = _checked_merit(function, _plain_table(tables, index), name)
        return merits[()]

    return measure


def _plain_table(tables: CountTable, index: tuple[int, ...]) -> CountTable:
    """Return one table of a stack, read-only, with only the branches that have rows."""
    missing_index = index if tables.missing.ndim > 1 else ()
    table = replace(
        tables,
        weights=tables.weights[index],
        rows=tables.rows[index],
        missing=tables.missing[missing_index].copy(),
        missing_rows=tables.missing_rows[missing_index].copy(),
    ).occurring()
    for array in (table.weights, table.rows, table.missing, table.missing_rows):
        array.flags.writeable = False
    return table


def _checked_merit(
    function: Callable[[CountTable], Any], table: CountTable, name: str
) -> float:
    """Return the function's merit of a table; refuse a result that is no number."""
    shown = f"{table.weights.tolist()}"[:200]
    try:
        merit = function(table)
    except Exception as error:
        error.add_note(f"raised by criterion={name!r} for the table {shown}")
        raise
    if np.ndim(merit) == 0:
        try:
            number = float(merit)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise refusal(
        Setting("criterion", name),
        f"returned {repr(merit)[:80]} for the table {shown}",
        "a merit must be a finite number, the higher the better",
    )
