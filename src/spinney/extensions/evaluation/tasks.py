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
from spinney.extensions.evaluation.evaluation_rows import EvaluationRows
from spinney.extensions.evaluation.runs import Setup, TrainingTask
from spinney.extensions.evaluation.splits import Part

CLASS_NOISE = "class noise"
ATTRIBUTE_NOISE = "attribute noise"
MISSING_VALUES = "missing values"
OUTLIERS = "outliers"
TARGET_OUTLIERS = "target outliers"
# How far outliers lie from the quartiles, in ranges between these: beyond 3, Tukey's
# outer fence, a value is "far out" (Exploratory Data Analysis, 1977, 2D).
NEAREST_OUTLIER, FARTHEST_OUTLIER = 3.0, 10.0


def _another_class(
    column: Column, chosen: Integers, values: Floats, known: Integers
) -> Any:
    """Return one of the other classes, each equally likely; a number of some row."""
    n_classes = len(column.levels)
    if column.kind == "numeric":
        return _another_cell(column, chosen, values, known)
    steps = min(1, n_classes - 1) + np.floor(values * (n_classes - 1)).astype(int)
    return (column.cells[chosen] + steps) % n_classes


def _another_cell(column: Column, _: Integers, values: Floats, known: Integers) -> Any:
    """Return that of a known row, so that each column keeps the shares of its values.

    It may happen to be the old one.
    """
    return column.cells[known[np.floor(values * len(known)).astype(int)]]


def _nothing(column: Column, *_: Any) -> Any:
    return np.nan if column.kind == "numeric" else -1


def _far_out(column: Column, _: Integers, values: Floats, known: Integers) -> Any:
    """Return numbers beyond the outer fences of a column, above or below by chance.

    The distance from the quartile is a multiple of the range between the quartiles, or
    of what stands for it where half of the cells are equal: the whole range, or 1.
    """
    cells = column.cells[known]
    low, high = np.quantile(cells, [0.25, 0.75]) if len(cells) else (0.0, 0.0)
    with np.errstate(over="ignore"):  # a float that is too large is the largest
        unit = (high - low) or (np.ptp(cells) if len(cells) else 0.0) or 1.0
        above, part = values < 0.5, 2 * values % 1
        far = unit * (NEAREST_OUTLIER + (FARTHEST_OUTLIER - NEAREST_OUTLIER) * part)
        cells = np.where(above, high + far, low - far)
    return np.nan_to_num(cells)


# What is done to cells, and the number that its random numbers are drawn by.
DAMAGES = {
    CLASS_NOISE: (_another_class, 1),
    ATTRIBUTE_NOISE: (_another_cell, 2),
    MISSING_VALUES: (_nothing, 3),
    OUTLIERS: (_far_out, 5),
    TARGET_OUTLIERS: (_far_out, 6),
}
MISSING_IN_TEST = 4


def damaged(
    table: Table,
    names: Sequence[str],
    kind: str,
    *,
    rate: float,
    random: np.random.Generator,
) -> Table:
    """Return the table with a share of each column's known cells damaged.

    Class noise makes a class one of the table's others, each equally likely, and a
    number that of a row drawn at random. Attribute noise makes a cell that of another
    known row. Missing values are taken away. Outliers are of numbers: they lie 3 to 10
    times the range between the quartiles above the upper or below the lower one.
    """
    changed = {}
    damage, _ = DAMAGES[kind]
    for name in names:
        column = table[name]
        known = np.flatnonzero(~column.missing)
        chosen, values = _drawn(known, rate, random)
        cells = column.cells.copy()
        cells[chosen] = damage(column, chosen, values, known)
        changed[name] = replace(column, cells=cells)
    columns = (changed.get(column.name, column) for column in table.columns)
    return Table(tuple(columns), table.n_rows)


def _drawn(
    rows: Integers, rate: float, random: np.random.Generator
) -> tuple[Integers, Floats]:
    """Return a share of the rows, and a random number below 1 for each.

    The same numbers are taken from the generator whatever the rate.
    """
    order, values = random.permutation(rows), random.random(len(rows))
    n_chosen = round(rate * len(rows))
    return order[:n_chosen], values[:n_chosen]


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


def as_list(name: str, given: Any, example: str) -> list[Any]:
    """Return what a parameter lists; refuse a text, or what is no list."""
    if not isinstance(given, (str, bytes)):
        with suppress(TypeError):
            return list(given)
    raise refusal(Setting(name, given), f"must be a list, such as {example}")


def row_hashing(sizes: Sequence[float], most: int) -> list[int]:
    """Return distinct numbers of training rows, in order."""
    counts = set()
    for size in as_list("sizes", sizes, "[0.5, 1.0]"):
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


def cut_tasks(setup: Setup, numbers: Sequence[int]) -> list[TrainingTask]:
    """Return the tasks of each part with its training rows cut to these numbers."""
    tasks = []
    for index, part in enumerate(setup.parts):
        order = spread(setup.rows, part, generator(setup.scheme.seed, index))
        tasks += [
            plain_task(
                setup.rows,
                Part(part.repeat, part.fold, np.sort(order[:number]), part.test),
                {"rows": number},
            )
            for number in numbers
        ]
    return tasks


def checked_rates(name: str, given: Sequence[float]) -> list[float]:
    """Return distinct rates, low to high."""
    rates = as_list(name, given, "[0.1, 0.2]")
    for rate in rates:
        if not 0 <= as_real(rate) <= 1:
            msg = f": the rate {rate!r} must be a number from 0 to 1"
            raise ParameterError(Setting(name), msg)
    return sorted({float(rate) for rate in rates})


def damaged_columns(rows: EvaluationRows, kind: str) -> list[str]:
    """Return the columns that a kind of damage is done to, where it can be done."""
    if kind in (CLASS_NOISE, TARGET_OUTLIERS):
        suits = kind == CLASS_NOISE or rows.classes is None
        return [rows.target] if suits else []
    return [
        column.name
        for column in rows.table.columns
        if column.name not in (rows.target, rows.weight)
        and (kind != OUTLIERS or column.kind == "numeric")
    ]


def damaged_task(
    setup: Setup, index: int, kind: str, rate: float, *, also_test: bool
) -> TrainingTask:
    """Return the task of a part whose training rows are damaged."""
    rows, part = setup.rows, setup.parts[index]
    seed = setup.scheme.seed

    def tables() -> tuple[Table, Table]:
        train, test = rows.table.take(part.train), rows.table.take(part.test)
        if kind not in DAMAGES:
            return train, test
        _, number = DAMAGES[kind]
        names = damaged_columns(rows, kind)
        changed = partial(damaged, names=names, kind=kind, rate=rate)
        train = changed(train, random=generator(seed, index, number))
        if also_test and kind == MISSING_VALUES:
            test = changed(test, random=generator(seed, index, MISSING_IN_TEST))
        return train, test

    return TrainingTask(part, tables, {"injected": kind, "rate": rate})
