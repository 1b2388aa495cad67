"""k-prototypes: γ, initial prototypes, restarts, and the choice of kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.jit.loading_time import wants_kernels
from spinney._support.row_order import keys_of
from spinney._support.threads import n_threads
from spinney.extensions.clustering.choose_k.choice import MIXED_MEASURES
from spinney.extensions.clustering.choose_k.cluster_measures import (
    mean_silhouette_widths,
)
from spinney.extensions.clustering.lloyd import (
    Clustering,
    ClusterMethod,
    IterationCallback,
    iterate,
    prepare_weights,
    undo_scaling,
)
from spinney.extensions.clustering.prototypes.mixed_cells import (
    MixedCells,
    Prototypes,
    distances_between_rows,
)
from spinney.extensions.clustering.prototypes.mixed_rows import (
    MixedRows,
    exact_deviations,
    fill_unknown_cells,
    overall_prototype,
)
from spinney.extensions.clustering.random_rows import (
    RandomStream,
    fill_up,
    full_weights,
)
from spinney.extensions.clustering.scaling import (
    nearest_by_group,
    row_powers,
    scaled_start,
    scaling_power,
)

K_PROTOTYPES_INITS = ("huang", "cao")
LARGEST_GAMMA = 1e300  # so that costs are finite


@dataclass(frozen=True, slots=True, kw_only=True)
class KPrototypesMethod(ClusterMethod):
    """k-prototypes of mixed rows: the clustering of least cost among some restarts.

    ``init`` and ``gamma`` are those of :class:`spinney.KPrototypes`.
    """

    measures: ClassVar = MIXED_MEASURES

    init: str | Prototypes = "huang"
    gamma: float | None = None

    def fit(
        self,
        cells: MixedCells,
        k: int,
        *,
        weights: Floats | None = None,
        on_iteration: IterationCallback | None = None,
    ) -> Clustering:
        """Return k clusters of at least k rows, with their γ.

        Rows of weight 0 only get labels.
        """
        row_weights, weight_power = prepare_weights(weights)
        n_starts = self.n_starts(cells, k)
        with_weight = cells[row_weights > 0] if len(row_weights) else cells
        cells = _mask_unknown_columns(
            cells, np.asarray(np.isnan(with_weight.numbers).all(axis=0))
        )
        power = mixed_power(cells)
        scaled = scaled_mixed(cells, power)
        rows = make_mixed_rows(scaled, row_weights, k * n_starts, self.n_jobs)
        start, gamma, overall = self.init, self.gamma, overall_prototype(rows)
        spreads = np.empty(0)
        if gamma is None or (isinstance(start, str) and start == "cao"):
            spreads = exact_deviations(scaled, row_weights, overall)
        if gamma is None:
            gamma = default_gamma(np.ldexp(spreads, power))
        rows.gamma = scaled_gamma(scaled, gamma, power)
        distributions = (
            ColumnDistributions(scaled, row_weights) if isinstance(start, str) else None
        )

        def run(draws: RandomStream) -> Clustering:
            if distributions is None:
                assert isinstance(start, Prototypes)
                numbers = scaled_start(start.numbers, scaled.numbers, power)
                first = Prototypes(numbers, start.codes)
            else:
                if start == "cao":
                    densities = distributions.densities(spreads)
                    chosen = cao_initial_rows(rows, k, densities, overall)
                else:
                    chosen = huang_initial_rows(rows, k, draws, distributions)
                first = scaled[chosen].as_prototypes()
            first = fill_unknown_cells(scaled, first, overall)
            return iterate(
                rows, first, max_iterations=self.max_iter, on_iteration=on_iteration
            )

        best = undo_scaling(
            self.best(n_starts, run), power, weight_power, _multiply_prototypes
        )
        return replace(best, gamma=gamma)

    def labels(self, cells: MixedCells, clustering: Clustering) -> Integers:
        """Return the labels of other rows."""
        prototypes, gamma = clustering.centroids, clustering.gamma
        return nearest_prototypes(cells, prototypes, gamma, n_jobs=self.n_jobs)[0]

    def rescaled(self, cells: MixedCells) -> tuple[MixedCells, int]:
        """Return the rows unscaled, because γ depends on the scale of numbers."""
        return cells, 0

    def silhouettes(
        self,
        cells: MixedCells,
        labelings: Sequence[Integers],
        weights: Floats,
        clustering: Clustering,
    ) -> list[float | None]:
        """Return the mean silhouette widths of several clusterings of rows.

        The distance of two rows is the root of k-prototypes' distance, with one row as
        the prototype. Without missing cells and categories it is Euclidean.
        """
        # Empty clusters are ignored.
        codings = [np.unique(x, return_inverse=True)[1].ravel() for x in labelings]
        power = mixed_power(cells)
        small = scaled_mixed(cells, power)
        gamma = scaled_gamma(cells, clustering.gamma, power)
        return mean_silhouette_widths(
            lambda part: distances_between_rows(small, part, gamma),
            codings,
            weights,
            n_jobs=self.n_jobs or 1,
        )


def make_mixed_rows(
    cells: MixedCells, weights: Floats, times: int, n_jobs: int | None
) -> MixedRows:
    """Return rows for NumPy or, for much work, for compiled kernels."""
    columns = cells.numbers.shape[1] + cells.codes.shape[1]
    if not wants_kernels("k-prototypes", len(cells) * columns * times):
        return MixedRows(cells, weights, 1.0)
    from spinney.extensions.clustering.prototypes.compiled_mixed_rows import (
        CompiledMixedRows,
    )

    return CompiledMixedRows(
        cells, weights, 1.0, n_threads() if n_jobs is None else n_jobs
    )


def default_gamma(spreads: Floats) -> float:
    """Return half the mean standard deviation of the numeric columns, after Huang.

    Columns without known cells are ignored; 1 if the mean is 0 or undefined.

    >>> default_gamma(np.array([1.0, 3.0, np.nan])), default_gamma(np.array([]))
    (1.0, 1.0)
    """
    defined = spreads[~np.isnan(spreads)]
    half = float(np.mean(defined / 2)) if len(defined) else 0.0
    return half if half > 0 else 1.0


def nearest_prototypes(
    cells: MixedCells,
    prototypes: Prototypes,
    gamma: float,
    *,
    n_jobs: int | None = None,
) -> tuple[Integers, Floats]:
    """Return each row's nearest prototype, the first of equals, and the distance."""
    cells = _mask_unknown_columns(
        cells, np.asarray(np.isnan(prototypes.numbers).any(axis=0))
    )

    def nearest(part: Any) -> tuple[Integers, Floats]:
        power = mixed_power(cells[part], prototypes.numbers)
        scaled = scaled_mixed(cells[part], power)
        rows = make_mixed_rows(scaled, np.empty(0), len(prototypes.codes), n_jobs)
        rows.gamma = scaled_gamma(scaled, gamma, power)
        labels, costs = rows.nearest_to(_multiply_prototypes(prototypes, -power))
        with np.errstate(over="ignore"):
            return labels, np.ldexp(costs, 2 * power)

    return nearest_by_group(row_powers(cells.numbers, prototypes.numbers), nearest)


def _mask_unknown_columns(cells: MixedCells, unknown: NDArray[np.bool_]) -> MixedCells:
    """Return the cells with NaN in the numeric columns without known prototypes."""
    if not unknown.any():
        return cells
    return replace(cells, numbers=np.where(unknown, np.nan, cells.numbers))


def mixed_power(cells: MixedCells, *points: Floats) -> int:
    """Return the power of two to divide numbers by; 0 if none.

    γ is divided by its square, so no order of distances changes. Tiny numbers are only
    scaled up if there are no coded columns: otherwise γ could overflow, and mismatches
    outweigh the numbers.
    """
    tables = [table[~np.isnan(table)] for table in (cells.numbers, *points)]
    power = scaling_power(*tables)
    return 0 if power < 0 and cells.codes.shape[1] else power


def scaled_mixed(cells: MixedCells, power: int) -> MixedCells:
    """Return rows whose numbers are divided by a power of two."""
    if not power:
        return cells
    return replace(cells, numbers=np.ldexp(cells.numbers, -power))


def scaled_gamma(cells: MixedCells, gamma: float, power: int) -> float:
    """Return γ for rows whose numbers are divided by a power of two."""
    return float(np.ldexp(gamma, -2 * power)) if cells.codes.shape[1] else 0.0


def _multiply_prototypes(prototypes: Prototypes, power: int) -> Prototypes:
    return prototypes._replace(numbers=np.ldexp(prototypes.numbers, power))


class ColumnDistributions:
    """The weighted distribution of the values of each column."""

    def __init__(self, cells: MixedCells, weights: Floats) -> None:
        self._cells = cells
        self._weights = full_weights(weights, len(cells))
        self._sorted = [self._sorted_column(column) for column in cells.numbers.T]
        self._code_weights = np.zeros(cells.unseen + 1)
        for column in cells.codes.T:
            np.add.at(self._code_weights, column, self._weights)

    def _sorted_column(self, column: Floats) -> tuple[Floats, Floats]:
        """Return the numbers in order without NaN, and the cumulative weights."""
        order = np.argsort(column, kind="stable")
        order = order[: len(order) - np.count_nonzero(np.isnan(column))]
        return column[order], np.cumsum(self._weights[order])

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """A key for each row, the same for equal rows."""
        return keys_of(self._cells.matrix())

    def sample_point(self, draws: RandomStream) -> Prototypes:
        """Return a point whose cells are drawn from the present ones of each column."""
        cells = self._cells
        numbers = np.full(len(self._sorted), np.nan)
        for column, (values, cumulative) in enumerate(self._sorted):
            index = _index_at_fraction(cumulative, draws.number())
            if index >= 0:
                numbers[column] = values[index]
        codes = np.full(len(cells.ordinal), cells.missing)
        for column in range(len(codes)):
            begin, end = cells.first[column : column + 2]
            index = _index_at_fraction(
                np.cumsum(self._code_weights[begin:end]), draws.number()
            )
            if index >= 0:
                codes[column] = begin + index
        return Prototypes(numbers[None, :], codes[None, :])

    def densities(self, spreads: Floats) -> Floats:
        """Return the mean frequency of the cells of each row.

        The frequency of a number is the proportion of weight within half a standard
        deviation; the frequency of a missing cell is 0.
        """
        cells, total = self._cells, self._weights.sum()
        densities = np.zeros(len(cells))
        for column, (values, cumulative) in enumerate(self._sorted):
            cell = cells.numbers[:, column]
            if not len(values):
                continue
            sums = np.append(0.0, cumulative)
            high = np.searchsorted(values, cell + spreads[column] / 2, side="right")
            low = np.searchsorted(values, cell - spreads[column] / 2, side="left")
            proportion = (sums[high] - sums[low]) / total
            densities += np.where(np.isnan(cell), 0.0, proportion)
        frequencies = self._code_weights / total
        frequencies[cells.missing] = 0.0
        for column in cells.codes.T:
            densities += frequencies[column]
        return densities / (len(self._sorted) + len(cells.ordinal))


def _index_at_fraction(cumulative: Floats, fraction: float) -> int:
    """Return the index where a cumulative sum passes a fraction; -1 if it is empty."""
    if not len(cumulative) or not cumulative[-1] > 0:
        return -1
    index = np.searchsorted(cumulative, fraction * cumulative[-1], side="right")
    return int(min(index, np.searchsorted(cumulative, cumulative[-1])))


def huang_initial_rows(
    rows: MixedRows,
    n_clusters: int,
    draws: RandomStream,
    distributions: ColumnDistributions,
) -> Integers:
    """Return the rows nearest to points drawn by frequency (Huang 1998).

    Each cell of a point is drawn from its column. Rows are distinct. Ties go to the
    least key, so the order of rows does not matter. If all distinct rows are chosen,
    the first is repeated.
    """
    remaining = full_weights(rows.weights, len(rows.cells)) > 0
    keys, chosen = distributions.keys, list[int]()
    while len(chosen) < n_clusters and remaining.any():
        point = distributions.sample_point(draws)
        distances = rows.distances(point)[:, 0]
        distances[~remaining] = np.inf
        near = np.flatnonzero(distances == distances.min())
        row = int(near[np.argmin(keys[near])])
        chosen.append(row)
        remaining &= keys != keys[row]
    return fill_up(chosen, n_clusters)


def cao_initial_rows(
    rows: MixedRows, n_clusters: int, densities: Floats, overall: Prototypes
) -> Integers:
    """Return rows that are dense and far from each other (Cao, Liang and Bai 2009).

    The first is the densest. Each other has the largest product of its density and its
    distance to the nearest chosen row. If no other row is left, the first is repeated.
    """
    weights = full_weights(rows.weights, len(rows.cells))
    density = np.where(weights > 0, densities, -1.0)
    chosen = [int(np.argmax(density))]
    nearest = np.where(weights > 0, np.inf, 0.0)
    while len(chosen) < n_clusters:
        point = rows.cells[chosen[-1:]].as_prototypes()
        point = fill_unknown_cells(rows.cells, point, overall)
        nearest = np.minimum(nearest, rows.distances(point)[:, 0] * densities)
        row = int(np.argmax(nearest))
        if not nearest[row] > 0:
            break
        chosen.append(row)
    return fill_up(chosen, n_clusters)
