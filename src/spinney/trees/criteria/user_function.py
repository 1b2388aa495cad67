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
"""What a user's function is called by in a model file, before its own name."""


def function_criterion(function: Callable[[CountTable], Any]) -> Criterion:
    """Return a criterion that asks the user's function for gain and merit alike.

    Nothing is known of the function: subsets are enumerated rather than ordered,
    and ``explain`` shows the merits that it gave.

    >>> def largest(table):
    ...     return table.weights.max() / table.weights.sum()
    >>> function_criterion(largest).name
    'function:largest'
    """
    name = stored_name(function)
    return _of_function(name, _measure_each(function, name))


def stored_criterion(name: str) -> Criterion | None:
    """Return the criterion that a model file calls by this name; None if it is none.

    It explains what was grown, and refuses to grow more.
    """
    own = name.removeprefix(FUNCTION)
    if own == name or not (own.isidentifier() or own == "<lambda>"):
        return None

    def refuse(_: CountTable) -> Floats:
        raise refusal(
            Setting("criterion", name),
            "stands for a function of the user's, which a model file does not keep",
            f"pass the function itself, criterion={own}, to grow",
        )

    return _of_function(name, refuse)


def stored_name(criterion: "str | Callable[[CountTable], Any]") -> str:
    """Return what a model file calls a criterion by.

    >>> stored_name("gini"), stored_name(lambda table: 0.0)
    ('gini', 'function:<lambda>')
    """
    if not callable(criterion):
        return criterion
    own = getattr(criterion, "__name__", "")
    if not isinstance(own, str) or not (own.isidentifier() or own == "<lambda>"):
        own = type(criterion).__name__
    return FUNCTION + own


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
    """Return a function of a stack of tables that asks the user's for each of them."""

    def measure(tables: CountTable) -> Floats:
        shape = tables.weights.shape[:-2]
        merits = np.zeros(shape)
        for index in np.ndindex(shape):
            merits[index] = _checked_merit(function, _plain_table(tables, index), name)
        return merits[()]

    return measure


def _plain_table(tables: CountTable, index: tuple[int, ...]) -> CountTable:
    """Return one table of a stack, read only: the branches that have rows."""
    own = index if tables.missing.ndim > 1 else ()
    table = replace(
        tables,
        weights=tables.weights[index],
        rows=tables.rows[index],
        missing=tables.missing[own].copy(),
        missing_rows=tables.missing_rows[own].copy(),
    ).occurring()
    for array in (table.weights, table.rows, table.missing, table.missing_rows):
        array.flags.writeable = False
    return table


def _checked_merit(
    function: Callable[[CountTable], Any], table: CountTable, name: str
) -> float:
    """Return what the function says of a table, after checking that it is a merit."""
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
