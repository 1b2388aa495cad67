"""Where k-prototypes starts: by frequencies (Huang) or by densities (Cao)."""

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.row_order import keys_of
from spinney.extensions.clustering.cluster_draws import (
    ClusterDraws,
    filled_up,
    weight_of_each,
)
from spinney.extensions.clustering.prototypes.mixed_distances import (
    MixedCells,
    Prototypes,
)
from spinney.extensions.clustering.prototypes.mixed_rows import MixedRows, filled_in


class Margins:
    """The values of each column and their weights, one column by itself."""

    def __init__(self, cells: MixedCells, weights: Floats) -> None:
        self._cells = cells
        self._weights = weight_of_each(weights, len(cells))
        self._sorted = [self._sort(column) for column in cells.numbers.T]
        counted = np.zeros(cells.unseen + 1)
        for column in cells.codes.T:
            np.add.at(counted, column, self._weights)
        self._counted = counted
        self._keys: NDArray[np.uint64] | None = None

    def _sort(self, column: Floats) -> tuple[Floats, Floats]:
        """Return the known numbers, rising, and the running sum of their weights."""
        order = np.argsort(column, kind="stable")
        order = order[: len(order) - np.count_nonzero(np.isnan(column))]
        return column[order], np.cumsum(self._weights[order])

    def keys(self) -> NDArray[np.uint64]:
        """Return a word for each row, one for all equal rows."""
        if self._keys is None:
            self._keys = keys_of(self._cells.matrix())
        return self._keys

    def draw(self, draws: ClusterDraws) -> Prototypes:
        """Return a point, each cell of it drawn from the known ones of its column."""
        cells = self._cells
        numbers = np.full(len(self._sorted), np.nan)
        for column, (values, running) in enumerate(self._sorted):
            index = _drawn(running, draws.number())
            if index >= 0:
                numbers[column] = values[index]
        codes = np.full(len(cells.ordinal), cells.missing)
        for column in range(len(codes)):
            begin, end = cells.first[column : column + 2]
            index = _drawn(np.cumsum(self._counted[begin:end]), draws.number())
            if index >= 0:
                codes[column] = begin + index
        return Prototypes(numbers[None, :], codes[None, :])

    def densities(self, spreads: Floats) -> Floats:
        """Return how frequent the cells of each row are, on average.

        That of a code is the share of the weight of all rows that has it; that of a
        number, the share within half a standard deviation; that of a missing cell, 0.
        """
        cells, total = self._cells, self._weights.sum()
        densities = np.zeros(len(cells))
        for column, (values, running) in enumerate(self._sorted):
            cell = cells.numbers[:, column]
            if not len(values):
                continue
            sums = np.append(0.0, running)
            high = np.searchsorted(values, cell + spreads[column] / 2, side="right")
            low = np.searchsorted(values, cell - spreads[column] / 2, side="left")
            share = (sums[high] - sums[low]) / total
            densities += np.where(np.isnan(cell), 0.0, share)
        shares = self._counted / total
        shares[cells.missing] = 0.0
        for column in cells.codes.T:
            densities += shares[column]
        return densities / (len(self._sorted) + len(cells.ordinal))


def _drawn(running: Floats, share: float) -> int:
    """Return the index where a running sum passes a share of it; -1 if it is empty."""
    if not len(running) or not running[-1] > 0:
        return -1
    index = np.searchsorted(running, share * running[-1], side="right")
    return int(min(index, np.searchsorted(running, running[-1])))


def huang_rows(
    rows: MixedRows, n_clusters: int, draws: ClusterDraws, margins: Margins
) -> Integers:
    """Return rows near to points drawn by the frequencies of values (Huang 1998).

    Each cell of a point is drawn from the known cells of its column, by their weights;
    the row nearest to it is taken, unless an equal one was. Of several it is the one of
    the least key, so the order of the rows does not count. Where no other row is left,
    the first one fills up.
    """
    left = weight_of_each(rows.weights, len(rows.cells)) > 0
    keys, chosen = margins.keys(), list[int]()
    while len(chosen) < n_clusters and left.any():
        point = margins.draw(draws)
        apart = rows.distances(point)[:, 0]
        apart[~left] = np.inf
        near = np.flatnonzero(apart == apart.min())
        row = int(near[np.argmin(keys[near])])
        chosen.append(row)
        left &= keys != keys[row]
    return filled_up(chosen, n_clusters)


def cao_rows(
    rows: MixedRows, n_clusters: int, densities: Floats, middle: Prototypes
) -> Integers:
    """Return rows that are dense and far from each other (Cao, Liang and Bai 2009).

    The first is the densest; each other has the largest of the products of its density
    and its distance to the nearest of those before; the first of equals. Where no other
    row is left, the first one fills up.
    """
    weights = weight_of_each(rows.weights, len(rows.cells))
    density = np.where(weights > 0, densities, -1.0)
    chosen = [int(np.argmax(density))]
    least = np.where(weights > 0, np.inf, 0.0)
    while len(chosen) < n_clusters:
        point = rows.cells[chosen[-1:]].as_prototypes()
        point = filled_in(rows.cells, point, middle)
        least = np.minimum(least, rows.distances(point)[:, 0] * densities)
        row = int(np.argmax(least))
        if not least[row] > 0:
            break
        chosen.append(row)
    return filled_up(chosen, n_clusters)
