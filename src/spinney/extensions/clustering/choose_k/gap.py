"""The gap statistic: the inertia compared with that of data without clusters.

Tibshirani, Walther and Hastie (2001), "Estimating the number of clusters in a data set
via the gap statistic". Reference tables are drawn uniformly in the box of the data,
column by column (their choice (a)). With W the inertia of k clusters::

    gap(k)   = mean of log W over the reference tables - log W of the data
    error(k) = standard deviation of log W over them · √(1 + 1 / tables)

and the rule takes the least k with gap(k) ≥ gap(next k) - error(next k).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.keyed_random import branch_key, root_key
from spinney._support.threads import run_each
from spinney.extensions.clustering.choose_k.distinct_rows import (
    DistinctRows,
    sample_rows,
    uniform_numbers,
)
from spinney.extensions.clustering.numeric_rows import one_blas_thread

# (cells, k, weights, seed): the inertia of k clusters.
Inertia = Callable[[NDArray[Any], int, Floats | None, int], float]


@dataclass(frozen=True, slots=True)
class GapStatistics:
    """Gaps and their errors by k, and the size and number of reference tables.

    A gap is None if k is at least the number of rows of a reference table.
    """

    gaps: tuple[float | None, ...]
    errors: tuple[float | None, ...]
    n_rows: int
    n_tables: int


def gap_statistics(
    rows: DistinctRows,
    ks: Sequence[int],
    inertia: Inertia,
    *,
    data_inertias: Sequence[float],
    max_rows: int,
    n_tables: int,
    seed: int,
    n_jobs: int = 1,
) -> GapStatistics:
    """Return the gaps of some numbers of clusters.

    A reference table has as many rows as the data by weight or, if weights are not
    whole numbers, as there are distinct rows. Beyond ``max_rows`` a sample replaces
    the data, else ``data_inertias`` are the inertias of the data by k.
    """
    whole = bool(np.all(rows.weights == np.floor(rows.weights)))
    n_rows = int(rows.weight) if whole and rows.weight < 2**53 else len(rows)
    cells = rows.cells
    if n_rows > max_rows:
        n_rows = max_rows
        rows = sample_rows(rows, n_rows, seed=seed)
        cells = rows.cells
        data_inertias = [
            inertia(cells, min(k, len(rows)), rows.weights_or_none, seed) for k in ks
        ]
    data_means = np.asarray(data_inertias) / rows.weight
    key = root_key(seed)

    def references(number: int) -> list[float]:
        table_seed = branch_key(key, number)
        table = reference_table(cells, n_rows, seed=table_seed)
        return [
            inertia(table, k, None, table_seed) / n_rows if k < n_rows else np.nan
            for k in ks
        ]

    pieces = [partial(references, number) for number in range(n_tables)]
    with one_blas_thread():
        tables = np.array(run_each(pieces, max_threads=n_jobs))
    gaps: list[float | None] = []
    errors: list[float | None] = []
    for index, k in enumerate(ks):
        inertias = tables[:, index]
        if k >= n_rows or not np.all(inertias > 0):
            gaps.append(None)
            errors.append(None)
            continue
        logs = np.log(inertias)
        mean = data_means[index]
        gap = logs.mean() - np.log(mean) if mean > 0 else np.inf
        gaps.append(float(gap))
        errors.append(float(logs.std() * np.sqrt(1 + 1 / n_tables)))
    return GapStatistics(tuple(gaps), tuple(errors), n_rows, n_tables)


def reference_table(cells: NDArray[Any], n_rows: int, *, seed: int) -> NDArray[Any]:
    """Return rows drawn uniformly from the bounding box of a table.

    >>> reference_table(np.array([[1.0, 5.0], [2.0, 5.0]]), 2, seed=0).round(3)
    array([[1.883, 5.   ],
           [1.026, 5.   ]])
    """
    low, high = cells.min(axis=0), cells.max(axis=0)
    numbers = uniform_numbers(n_rows * cells.shape[1], seed=seed)
    drawn = low + (high - low) * numbers.reshape(n_rows, -1)
    return np.ascontiguousarray(drawn, dtype=cells.dtype)


def standard_error_rule(
    gaps: Sequence[float | None], errors: Sequence[float | None]
) -> int | None:
    """Return the index of the first gap that is at least the next minus its error.

    None if no gap is. Gaps that are None, or before None, are skipped.

    >>> standard_error_rule([0.1, 0.5, 0.52, 0.6], [0.01, 0.02, 0.03, 0.01])
    1
    """
    for index in range(len(gaps) - 1):
        gap, following, error = gaps[index], gaps[index + 1], errors[index + 1]
        if gap is None or following is None or error is None:
            continue
        if gap >= following - error:
            return index
    return None
