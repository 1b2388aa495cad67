"""Clusters with all that a later reader needs: columns, centroids, origin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Attribute, Fingerprint, Schema, Table, Target
from spinney.errors import DataError, Setting, phrase
from spinney.extensions.clustering.fit_k_means import nearest_scaled
from spinney.extensions.clustering.prototypes.fit_k_prototypes import nearest_prototypes
from spinney.extensions.clustering.prototypes.mixed_coding import (
    coded_levels,
    mixed_cells,
    values_of,
)
from spinney.extensions.clustering.prototypes.mixed_distances import (
    MixedCells,
    Prototypes,
)

COLUMN = "cluster"
"""What the column of clusters is called, unless a table has one of that name."""

BATCHES = "mini-batch k-means"
MIXED = "k-prototypes"
"""The method of tables that are not all numbers."""
METHODS = ("k-means", BATCHES, MIXED)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Clusters:
    """Clusters as an estimator keeps them and a file stores them.

    Parameters
    ----------
    schema : Schema
        The columns that distances are measured in; its target is the cluster.
    named : bool
        Whether the columns had names, or were those of an array.
    method : str
        One of ``METHODS``.
    settings : mapping of str
        How the clusters were found, by the names of the estimator's parameters.
    centroids : array, clusters × numeric columns
        Measured in scales; NaN in a column that no row of k-prototypes knows.
    scale : array, numeric columns
        What a column is divided by before distances are measured: 1 unless
        standardised.
    codes : array of int, clusters × other columns
        The values of prototypes among those of their attributes; -1 if not known.
    gamma : float
        What a nominal difference weighs, of k-prototypes; else 0.
    weights : array, clusters
        How much each cluster weighs: how many rows it has, where none has a weight. Of
        mini-batches it is what the centroid has had in all passes.
    start : array, clusters × numeric columns
        The centroids that k-means began with; no row of it if not known.
    inertia : float
        The weighted sum of the squared distances of rows to their centroids.
    n_iterations : int
    fingerprint : Fingerprint
        What they were found on.
    """

    schema: Schema
    named: bool
    method: str
    settings: Mapping[str, Any]
    centroids: NDArray[Any]
    scale: Floats
    codes: Integers
    gamma: float
    weights: Floats
    start: NDArray[Any]
    inertia: float
    n_iterations: int
    fingerprint: Fingerprint

    @property
    def is_mixed(self) -> bool:
        """Whether columns of several kinds were clustered."""
        return self.method == MIXED

    def __len__(self) -> int:
        return len(self.centroids)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(attribute.name for attribute in self.schema.attributes)

    @property
    def sizes(self) -> Floats:
        """How much each cluster weighs, in one pass over the rows."""
        passes = self.n_iterations if self.method == BATCHES else 1
        return self.weights / max(passes, 1)

    @property
    def standardised(self) -> bool:
        """Whether columns are divided by their spread."""
        return bool((self.scale != 1).any())

    @property
    def places(self) -> NDArray[Any]:
        """The centroids in the units of the numeric columns."""
        return np.asarray(self.centroids * self.scale.astype(self.centroids.dtype))

    @property
    def prototypes(self) -> Prototypes:
        """The centroids as k-prototypes takes them."""
        _, first = coded_levels(self.schema)
        codes = np.where(self.codes < 0, first[-1], self.codes + first[:-1])
        return Prototypes(self.centroids, codes)

    @property
    def values(self) -> NDArray[Any]:
        """The centroids as values, in the order of the columns."""
        return values_of(self.schema, self.prototypes._replace(numbers=self.places))

    def scaled(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return numbers as distances are measured in them."""
        if not self.standardised:
            return cells
        with np.errstate(over="ignore"):
            scaled = np.asarray(cells / self.scale.astype(cells.dtype))
        beyond = np.argwhere(np.isinf(scaled))
        if len(beyond):
            row, place = beyond[0].tolist()
            named = [a.name for a in self.schema.attributes if a.kind == "numeric"]
            msg = (
                f"column {named[place]!r} holds {cells[row, place]:g}, and floats do "
                f"not hold that in units of {self.scale[place]:g}: scale it down"
            )
            raise DataError(msg)
        return scaled

    def assign(
        self, table: Table, *, n_jobs: int | None = None
    ) -> tuple[Integers, Floats]:
        """Return the cluster of each row of a table, and the distance to it.

        The distance is Euclidean; of k-prototypes it is the sum that its rows are
        compared by.
        """
        mixed = self.method == MIXED
        cells = mixed_cells if mixed else numbers_of
        return self.nearest(cells(self.schema, table), n_jobs=n_jobs)

    def nearest(
        self, cells: NDArray[Any] | MixedCells, *, n_jobs: int | None = None
    ) -> tuple[Integers, Floats]:
        """Return the cluster of each row, and the distance to it: see ``assign``."""
        if isinstance(cells, MixedCells):
            cells = replace(cells, numbers=self.scaled(cells.numbers))
            return nearest_prototypes(cells, self.prototypes, self.gamma, n_jobs=n_jobs)
        kind = self.centroids.dtype
        scaled = self.scaled(cells.astype(kind, copy=False))
        labels, squares, powers = nearest_scaled(scaled, self.centroids, n_jobs=n_jobs)
        with np.errstate(over="ignore"):
            return labels, np.ldexp(np.sqrt(squares), powers)


def schema_of(
    attributes: Sequence[Attribute], n_clusters: int, markers: Sequence[str] = ()
) -> Schema:
    """Return the schema of clusters over some columns."""
    target = Target(COLUMN, tuple(range(n_clusters)))
    return Schema(tuple(attributes), target, tuple(markers))


def cells_of(table: Table) -> Floats:
    """Return the cells of a table of numbers, none of them missing."""
    for column in table.columns:
        if column.kind != "numeric":
            msg = (
                f"column {column.name!r} is {column.kind}, and k-means measures "
                "distances of numbers"
            )
            remedy = phrase(
                "leave it out ({}), or use k-prototypes",
                Setting("ignore", [column.name]),
            )
            raise DataError(msg, remedy=remedy)
        _refuse_missing(column.name, column.missing, first=table.first_row)
    return np.column_stack([column.cells for column in table.columns])


def numbers_of(schema: Schema, table: Table) -> Floats:
    """Return the cells of a later table of numbers, none of them missing."""
    encoded = schema.encode(table)
    for attribute, cells in zip(schema.attributes, encoded, strict=True):
        _refuse_missing(attribute.name, np.isnan(cells), first=table.first_row)
    return np.column_stack(encoded)


def _refuse_missing(name: str, missing: NDArray[np.bool_], *, first: int) -> None:
    """Refuse a column with missing cells, by the first row that has one."""
    if missing.any():
        row, n = int(np.argmax(missing)) + first, int(missing.sum())
        more = f" and {n - 1} more" if n > 1 else ""
        msg = (
            f"column {name!r} is missing (NaN) in row {row}{more}, and k-means knows "
            "no missing cells"
        )
        remedy = phrase(
            "fill them, leave these rows out, or use k-prototypes ({})",
            Setting("method", "k-prototypes"),
        )
        raise DataError(msg, remedy=remedy)


def spread_of(cells: NDArray[Any], weights: Floats | None) -> Floats:
    """Return the standard deviation of each column; 1 of a constant one.

    Missing cells do not count.

    >>> spread_of(np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]]), None)
    array([1., 1.])
    """
    own = np.ones(len(cells)) if weights is None else weights
    return np.array([_spread(column.astype(np.float64), own) for column in cells.T])


def _spread(column: Floats, weights: Floats) -> float:
    known = ~np.isnan(column) & (weights > 0)
    column, weights = column[known], weights[known]
    if not len(column) or column.min() == column.max():
        return 1.0
    largest = float(np.abs(column).max())
    column = column / largest  # so that no square overflows or vanishes
    middle = np.average(column, weights=weights)
    spread = np.sqrt(np.average((column - middle) ** 2, weights=weights)) * largest
    return float(spread) if spread > 0 else 1.0
