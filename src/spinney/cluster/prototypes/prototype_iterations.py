"""k-prototypes: assign rows to prototypes, move these, until nothing moves.

Each column of a prototype is the value of least cost for the rows of its cluster: the
weighted mean of numbers, the most frequent nominal value, the weighted median of ranks.
A cell that is missing costs nothing whatever the value, so only known ones count. Hence
neither half of an iteration raises the cost; and where an iteration leaves the cost as
it was, rows have only gone to earlier clusters: so the iterations come to an end.
"""

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.cluster.clustering import Clustering, farthest_rows
from spinney.cluster.exact_sums import Scales, means_of, parts_of, scales_for, sums_of
from spinney.cluster.prototypes.mixed_rows import (
    MixedCells,
    MixedRows,
    Prototypes,
    Tallies,
    units_of,
    unlikeness,
    widened,
)
from spinney.cluster.scaling import rounding_square


def iterate_prototypes(
    rows: MixedRows, prototypes: Prototypes, *, max_iterations: int
) -> Clustering:
    """Iterate from given prototypes.

    An iteration sends each row to its nearest prototype, the first of equals, and gives
    each prototype the values of least cost for its rows, the first of equals; what no
    row of it knows stays. It is the last one if nothing moves.
    """
    rows.restart(len(prototypes.codes))
    start, converged, n = prototypes, False, 0
    while n < max_iterations and not converged:
        n += 1
        changed = rows.assign(prototypes)
        tallies, filled = _without_empty(rows, prototypes)
        after = _moved(rows.cells, tallies, rows.scales, prototypes)
        converged = changed == 0 and not filled and after.same(prototypes)
        prototypes = after
    if not converged:
        rows.assign(prototypes)
    labels = rows.labels()
    costs = costs_of(rows.cells, prototypes, labels, rows.gamma)
    total = float(np.sum(costs * rows.weights if len(rows.weights) else costs))
    return Clustering(prototypes, labels, total, n, converged, start, rows.gamma)


def costs_of(
    cells: MixedCells, prototypes: Prototypes, labels: Integers, gamma: float
) -> Floats:
    """Return the distance of each row to the prototype of its cluster."""
    total, other = np.zeros(len(cells)), np.zeros(len(cells))
    for column in range(cells.numbers.shape[1]):
        cell = cells.numbers[:, column]
        apart = cell - prototypes.numbers[labels, column]
        apart[np.isnan(cell)] = 0.0
        total += apart * apart
    unlike = unlikeness(cells, prototypes.codes)
    for column in range(cells.codes.shape[1]):
        other += unlike[cells.codes[:, column], labels]
    return np.asarray(total + gamma * other)


def _moved(
    cells: MixedCells, tallies: Tallies, scales: Scales, before: Prototypes
) -> Prototypes:
    """Return prototypes of the values of least cost, as before where none is known."""
    numbers = _means(tallies.sums, scales)
    numbers = np.where(np.isnan(numbers), before.numbers, numbers)
    codes = before.codes.copy()
    for column, ordinal in enumerate(cells.ordinal):
        begin, end = cells.first[column : column + 2]
        counts = tallies.counts[begin:end]
        total = counts.sum(axis=0)
        if ordinal:
            best = np.argmax(2 * np.cumsum(counts, axis=0) >= total, axis=0)
        elif end > begin:
            best = np.argmax(counts, axis=0)
        else:
            continue
        known = total > 0
        codes[known, column] = begin + best[known]
    return Prototypes(numbers, codes)


def _means(sums: Integers, scales: Scales) -> Floats:
    """Return the means of known numbers by cluster and column, NaN if there is none."""
    width = (sums.shape[2] - 1) // 2
    pairs = np.stack([sums[:, :, :width], sums[:, :, width:-1]], axis=-1)
    factors = np.stack(
        [scales.factors[:, :width], scales.factors[:, width:-1]], axis=-1
    )
    flat = pairs.reshape(2, -1, 2)
    own = np.tile(factors, (1, sums.shape[1], 1))
    means, _ = means_of(flat, Scales(own, scales.bits))
    return means.reshape(sums.shape[1], width)


def _without_empty(rows: MixedRows, prototypes: Prototypes) -> tuple[Tallies, int]:
    """Give empty clusters the rows that are farthest from their prototypes.

    The first empty cluster gets the farthest row, the first of equals, with its
    doubles, and so on; none is taken that alone has weight in its cluster, or lies on
    its prototype but for a rounding. Returns how many were filled, too.
    """
    tallies = rows.tallies()
    waiting = np.flatnonzero(~tallies.weighty()).tolist()
    if not waiting:
        return tallies, 0
    sums, counts = tallies.sums.copy(), tallies.counts.copy()
    n_empty, cells, labels = len(waiting), rows.cells, rows.labels()
    costs = costs_of(cells, prototypes, labels, rows.gamma)
    if len(rows.weights):
        costs = np.where(rows.weights > 0, costs, 0.0)

    def doubles(row: int) -> Integers:
        return cells.alike(row, np.flatnonzero(labels == labels[row]))

    least = rounding_square(np.nan_to_num(cells.numbers))
    for alike in farthest_rows(costs, least, doubles):
        if not waiting:
            break
        row = int(alike[0])
        cluster = labels[row]
        own = rows.weights[alike] if len(rows.weights) else rows.weights
        part = parts_of(widened(cells.numbers[alike]), own, rows.scales).sum(axis=1)
        if not (sums[:, cluster, -1] - part[:, -1] > 0).any():
            continue
        other = waiting.pop(0)
        sums[:, cluster] -= part
        sums[:, other] = part
        unit = units_of(own, rows.scales, len(alike)).sum()
        for code in cells.codes[row]:
            counts[code, cluster] -= unit
            counts[code, other] += unit
    return Tallies(sums, counts), n_empty - len(waiting)


def middle_of(rows: MixedRows) -> Prototypes:
    """Return the one prototype of all rows; NaN or missing where no cell is known."""
    cells = rows.cells
    nothing = Prototypes(
        np.full((1, cells.numbers.shape[1]), np.nan),
        np.full((1, cells.codes.shape[1]), cells.missing),
    )
    rows.restart(1)
    rows.assign(nothing)  # there is only one to go to, however far
    return _moved(cells, rows.tallies(), rows.scales, nothing)


def filled_in(cells: MixedCells, given: Prototypes, middle: Prototypes) -> Prototypes:
    """Return prototypes whose unknown cells are those of the middle of all rows."""
    return Prototypes(
        np.where(np.isnan(given.numbers), middle.numbers, given.numbers),
        np.where(given.codes == cells.missing, middle.codes, given.codes),
    )


def spreads_of(cells: MixedCells, weights: Floats, middle: Prototypes) -> Floats:
    """Return the standard deviation of each numeric column, over its known cells.

    NaN where there is none. The sums are exact: no order of rows changes them.
    """
    squares = widened((cells.numbers - middle.numbers) ** 2)
    scales = scales_for(squares, weights)
    parts = parts_of(squares, weights, scales)
    sums = sums_of(parts, np.zeros(len(cells), np.int64), 1)
    return np.asarray(np.sqrt(_means(sums, scales)[0]))
