"""What is done to the training rows of a part: nothing, cutting or damage."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import as_real, is_real, is_whole
from spinney.data import Column, Table
from spinney.errors import ParameterError, Setting, refusal
from spinney.evaluation.evaluation_rows import EvaluationRows
from spinney.evaluation.runs import TrainingTask
from spinney.evaluation.setup import Setup
from spinney.evaluation.splits import Part

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
    rows: Integers, rate: float, random: np.random.Generator
) -> tuple[Integers, Floats]:
    """Return a share of the places, and a random number below 1 for each.

    The same numbers are taken from the generator whatever the rate.
    """
    order, values = random.permutation(rows), random.random(len(rows))
    n_chosen = round(rate * len(rows))
    return order[:n_chosen], values[:n_chosen]


def _with(table: Table, changed: dict[str, Column]) -> Table:
    columns = (changed.get(column.name, column) for column in table.columns)
    return Table(tuple(columns), table.n_rows)


DAMAGES = (CLASS_NOISE, ATTRIBUTE_NOISE, MISSING_VALUES)


def plain_task(
    rows: EvaluationRows, part: Part, conditions: dict[str, Any]
) -> TrainingTask:
    """Return the task of a part as it is."""

    def tables() -> tuple[Table, Table]:
        return rows.table.take(part.train), rows.table.take(part.test)

    return TrainingTask(part, tables, conditions)


def generator(seed: int, part: int, kind: int = 0) -> np.random.Generator:
    """Return the random numbers of one part and one kind of damage."""
    return np.random.default_rng((int(seed), part, kind))


def listed(name: str, given: Any, example: str) -> list[Any]:
    """Return what a parameter lists; refuse a text, or what is no list."""
    if not isinstance(given, (str, bytes)):
        with suppress(TypeError):
            return list(given)
    raise refusal(Setting(name, given), f"must be a list, such as {example}")


def row_numbers(sizes: Sequence[float], most: int) -> list[int]:
    """Return distinct numbers of training rows, in order."""
    counts = set()
    for size in listed("sizes", sizes, "[0.5, 1.0]"):
        whole = is_whole(size)
        share = is_real(size) and not whole and 0 < size <= 1
        if not share and not (whole and 2 <= size <= most):
            raise ParameterError(
                Setting("sizes"),
                f": {size!r} must be a whole number from 2 to {most}, the rows of the "
                "smallest training part, or a share above 0 and at most 1.0",
            )
        counts.add(int(size) if whole else min(most, max(2, round(size * most))))
    if not counts:
        msg = "sizes is empty: give numbers of rows, or shares such as 0.5"
        raise ParameterError(msg)
    return sorted(counts)


def spread(rows: EvaluationRows, part: Part, random: np.random.Generator) -> Any:
    """Return the training rows in random order, classes evenly spread.

    Row i of the n of a class, counted from 0, comes at (i + 1/2) / n.
    """
    order = random.permutation(part.train)
    if rows.classes is None:
        return order
    codes = rows.truth[order]
    keys = np.empty(len(order))
    for code in np.unique(codes):
        at = np.flatnonzero(codes == code)
        keys[at] = (np.arange(len(at)) + 0.5) / len(at)
    return order[np.argsort(keys, kind="stable")]


def checked_rates(name: str, given: Sequence[float]) -> list[float]:
    """Return distinct rates, low to high."""
    rates = listed(name, given, "[0.1, 0.2]")
    for rate in rates:
        if not 0 <= as_real(rate) <= 1:
            msg = f": the rate {rate!r} must be a number from 0 to 1"
            raise ParameterError(Setting(name), msg)
    return sorted({float(rate) for rate in rates})


def damaged_task(
    setup: Setup, index: int, kind: str, rate: float, *, also_test: bool
) -> TrainingTask:
    """Return the task of a part whose training rows are damaged."""
    rows, part = setup.rows, setup.parts[index]
    seed = setup.scheme.seed
    roles = (rows.target, rows.weight or "")
    names = [name for name in rows.table.names if name not in roles]

    def tables() -> tuple[Table, Table]:
        train, test = rows.table.take(part.train), rows.table.take(part.test)
        if kind not in DAMAGES:
            return train, test
        number = DAMAGES.index(kind) + 1
        drawn = partial(generator, seed, index)
        if kind == CLASS_NOISE:
            damaged = class_noise(train, rows.target, rate=rate, random=drawn(number))
        elif kind == ATTRIBUTE_NOISE:
            damaged = attribute_noise(train, names, rate=rate, random=drawn(number))
        else:
            damaged = missing_values(train, names, rate=rate, random=drawn(number))
            if also_test:
                random = drawn(len(DAMAGES) + 1)
                test = missing_values(test, names, rate=rate, random=random)
        return damaged, test

    return TrainingTask(part, tables, {"injected": kind, "rate": rate})
