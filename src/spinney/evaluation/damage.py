"""Noise and missing values, put into rows on purpose.

Rows and cells are drawn without replacement, so the rate is met to the row. The
draws depend on the seed, the part and the kind of damage, not on the rate: what a
low rate damages, a higher one damages too, in the same way.
"""

from dataclasses import replace

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.data.table import Column, Table

__all__ = [
    "ATTRIBUTE_NOISE",
    "CLASS_NOISE",
    "MISSING_VALUES",
    "attribute_noise",
    "class_noise",
    "missing_values",
]

CLASS_NOISE = "class noise"
ATTRIBUTE_NOISE = "attribute noise"
MISSING_VALUES = "missing values"


def class_noise(
    table: Table, target: str, *, rate: float, random: np.random.Generator
) -> Table:
    """Return the table with a share of the targets wrong.

    A class becomes one of the table's others, each equally likely; a number becomes
    that of a row drawn at random.
    """
    column = table[target]
    chosen, values = _drawn(np.arange(table.n_rows), rate, random)
    cells = column.cells.copy()
    if column.kind == "numeric":
        cells[chosen] = column.cells[np.floor(values * table.n_rows).astype(int)]
    elif len(column.levels) > 1:
        others = len(column.levels) - 1
        steps = 1 + np.floor(values * others).astype(int)
        cells[chosen] = (column.cells[chosen] + steps) % len(column.levels)
    return _with(table, {target: replace(column, cells=cells)})


def attribute_noise(
    table: Table, names: list[str], *, rate: float, random: np.random.Generator
) -> Table:
    """Return the table with a share of each column's known cells replaced.

    The new value is that of another known cell of the column, drawn at random, so
    that each column keeps the shares of its values; it may happen to be the old one.
    """
    changed = {}
    for name in names:
        column = table[name]
        known = np.flatnonzero(~column.missing)
        chosen, values = _drawn(known, rate, random)
        cells = column.cells.copy()
        cells[chosen] = column.cells[known[np.floor(values * len(known)).astype(int)]]
        changed[name] = replace(column, cells=cells)
    return _with(table, changed)


def missing_values(
    table: Table, names: list[str], *, rate: float, random: np.random.Generator
) -> Table:
    """Return the table with a share of each column's known cells taken away."""
    changed = {}
    for name in names:
        column = table[name]
        chosen, _ = _drawn(np.flatnonzero(~column.missing), rate, random)
        cells = column.cells.copy()
        cells[chosen] = np.nan if column.kind == "numeric" else -1
        changed[name] = replace(column, cells=cells)
    return _with(table, changed)


def _drawn(
    places: Integers, rate: float, random: np.random.Generator
) -> tuple[Integers, Floats]:
    """Return a share of the places, and a random number below 1 for each.

    The same numbers are taken from the generator whatever the rate.
    """
    order, values = random.permutation(places), random.random(len(places))
    n_chosen = round(rate * len(places))
    return order[:n_chosen], values[:n_chosen]


def _with(table: Table, changed: dict[str, Column]) -> Table:
    columns = (changed.get(column.name, column) for column in table.columns)
    return Table(tuple(columns), table.n_rows)
