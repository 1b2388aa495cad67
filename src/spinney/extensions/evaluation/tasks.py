"""The tasks of a study: training sets unchanged, cut or perturbed."""

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
from spinney.extensions.evaluation.splits import Split
from spinney.extensions.evaluation.study import PreparedStudy, TrainTestTask

CLASS_NOISE = "class noise"
ATTRIBUTE_NOISE = "attribute noise"
MISSING_VALUES = "missing values"
OUTLIERS = "outliers"
TARGET_OUTLIERS = "target outliers"
# The distances of outliers from the quartiles in interquartile ranges: 3 is Tukey's
# outer fence (Exploratory Data Analysis, 1977, 2D).
NEAREST_OUTLIER, FARTHEST_OUTLIER = 3.0, 10.0


def _random_other_classes(
    column: Column, chosen: Integers, values: Floats, present: Integers
) -> Any:
    """Return other classes at random, or target values of random rows."""
    n_classes = len(column.levels)
    if column.kind == "numeric":
        return _random_cells(column, chosen, values, present)
    steps = min(1, n_classes - 1) + np.floor(values * (n_classes - 1)).astype(int)
    return (column.cells[chosen] + steps) % n_classes


def _random_cells(
    column: Column, _: Integers, values: Floats, present: Integers
) -> Any:
    """Return the cells of random rows with known values, perhaps the same rows."""
    return column.cells[present[np.floor(values * len(present)).astype(int)]]


def _missing_cells(column: Column, *_: Any) -> Any:
    return np.nan if column.kind == "numeric" else -1


def _outliers(column: Column, _: Integers, values: Floats, present: Integers) -> Any:
    """Return numbers randomly beyond the upper or lower outer fence of a column.

    The unit is the interquartile range or, if that is 0, the whole range or 1.
    """
    cells = column.cells[present]
    low, high = np.quantile(cells, [0.25, 0.75]) if len(cells) else (0.0, 0.0)
    with np.errstate(over="ignore"):  # a float that is too large is the largest
        unit = (high - low) or (np.ptp(cells) if len(cells) else 0.0) or 1.0
        above, split = values < 0.5, 2 * values % 1
        far = unit * (NEAREST_OUTLIER + (FARTHEST_OUTLIER - NEAREST_OUTLIER) * split)
        cells = np.where(above, high + far, low - far)
    return np.nan_to_num(cells)


# The function of a perturbation, and the number for its random generator.
PERTURBATIONS = {
    CLASS_NOISE: (_random_other_classes, 1),
    ATTRIBUTE_NOISE: (_random_cells, 2),
    MISSING_VALUES: (_missing_cells, 3),
    OUTLIERS: (_outliers, 5),
    TARGET_OUTLIERS: (_outliers, 6),
}
MISSING_IN_TEST = 4


def perturbed(
    table: Table,
    names: Sequence[str],
    kind: str,
    *,
    rate: float,
    random: np.random.Generator,
) -> Table:
    """Return the table with a fraction of each column's present cells perturbed."""
    changed = {}
    perturb, _ = PERTURBATIONS[kind]
    for name in names:
        column = table[name]
        present = np.flatnonzero(~column.missing)
        # The draws from the generator do not depend on the rate.
        order, values = random.permutation(present), random.random(len(present))
        chosen = order[: round(rate * len(present))]
        values = values[: len(chosen)]
        cells = column.cells.copy()
        cells[chosen] = perturb(column, chosen, values, present)
        changed[name] = replace(column, cells=cells)
    columns = (changed.get(column.name, column) for column in table.columns)
    return Table(tuple(columns), table.n_rows)


def plain_task(
    rows: EvaluationRows, split: Split, conditions: dict[str, Any]
) -> TrainTestTask:
    """Return the task of a split without a change."""

    def tables() -> tuple[Table, Table]:
        return rows.table.take(split.train), rows.table.take(split.test)

    return TrainTestTask(split, tables, conditions)


def generator(seed: int, split: int, kind: int = 0) -> np.random.Generator:
    """Return the random generator of a split and a kind of perturbation."""
    return np.random.default_rng((int(seed), split, kind))


def as_list(name: str, value: Any, example: str) -> list[Any]:
    """Return a parameter as a list; refuse texts and other objects."""
    if not isinstance(value, (str, bytes)):
        with suppress(TypeError):
            return list(value)
    raise refusal(Setting(name, value), f"must be a list, such as {example}")


def training_sizes(sizes: Sequence[float], max_size: int) -> list[int]:
    """Return distinct numbers of training rows, in order."""
    counts = set()
    for size in as_list("sizes", sizes, "[0.5, 1.0]"):
        is_count = is_whole(size)
        is_fraction = is_real(size) and not is_count and 0 < size <= 1
        if not is_fraction and not (is_count and 2 <= size <= max_size):
            raise ParameterError(
                Setting("sizes"),
                f": {size!r} must be a whole number from 2 to {max_size} (the smallest "
                "training set), or a fraction above 0 and at most 1.0",
            )
        counts.add(
            int(size) if is_count else min(max_size, max(2, round(size * max_size)))
        )
    if not counts:
        msg = "sizes is empty: give numbers of rows, or fractions such as 0.5"
        raise ParameterError(msg)
    return sorted(counts)


def stratified_order(
    rows: EvaluationRows, split: Split, random: np.random.Generator
) -> Any:
    """Return the training rows in random order with classes evenly spread.

    Row i of the n rows of a class, counted from 0, has position (i + 1/2) / n.
    """
    order = random.permutation(split.train)
    if rows.classes is None:
        return order
    codes = rows.truth[order]
    keys = np.empty(len(order))
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        keys[members] = (np.arange(len(members)) + 0.5) / len(members)
    return order[np.argsort(keys, kind="stable")]


def learning_curve_tasks(
    study: PreparedStudy, numbers: Sequence[int]
) -> list[TrainTestTask]:
    """Return the tasks of each split with its training rows cut to these numbers."""
    tasks = []
    for index, split in enumerate(study.splits):
        order = stratified_order(study.rows, split, generator(study.scheme.seed, index))
        tasks += [
            plain_task(
                study.rows,
                Split(split.repeat, split.fold, np.sort(order[:number]), split.test),
                {"rows": number},
            )
            for number in numbers
        ]
    return tasks


def check_rates(name: str, values: Sequence[float]) -> list[float]:
    """Return distinct rates, low to high."""
    rates = as_list(name, values, "[0.1, 0.2]")
    for rate in rates:
        if not 0 <= as_real(rate) <= 1:
            msg = f": the rate {rate!r} must be a number from 0 to 1"
            raise ParameterError(Setting(name), msg)
    return sorted({float(rate) for rate in rates})


def perturbed_columns(rows: EvaluationRows, kind: str) -> list[str]:
    """Return the columns to which a perturbation applies."""
    if kind in (CLASS_NOISE, TARGET_OUTLIERS):
        suits = kind == CLASS_NOISE or rows.classes is None
        return [rows.target] if suits else []
    return [
        column.name
        for column in rows.table.columns
        if column.name not in (rows.target, rows.weight)
        and (kind != OUTLIERS or column.kind == "numeric")
    ]


def perturbed_task(
    study: PreparedStudy,
    index: int,
    kind: str,
    rate: float,
    *,
    also_test: bool,
) -> TrainTestTask:
    """Return the task of a split whose training rows are perturbed."""
    rows, split = study.rows, study.splits[index]
    seed = study.scheme.seed

    def tables() -> tuple[Table, Table]:
        train, test = rows.table.take(split.train), rows.table.take(split.test)
        if kind not in PERTURBATIONS:
            return train, test
        _, number = PERTURBATIONS[kind]
        names = perturbed_columns(rows, kind)
        changed = partial(perturbed, names=names, kind=kind, rate=rate)
        train = changed(train, random=generator(seed, index, number))
        if also_test and kind == MISSING_VALUES:
            test = changed(test, random=generator(seed, index, MISSING_IN_TEST))
        return train, test

    return TrainTestTask(split, tables, {"injected": kind, "rate": rate})
