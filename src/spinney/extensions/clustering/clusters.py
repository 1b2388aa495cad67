"""Fitted clusters as data: columns, centroids, settings and origin."""

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
from spinney.extensions.clustering.prototypes.mixed_cells import (
    MixedCells,
    Prototypes,
    coded_levels,
    encode_mixed_cells,
    prototype_values,
)

COLUMN = "cluster"
"""The name of the column of labels, unless a table has it already."""

BATCHES = "mini-batch k-means"
MIXED = "k-prototypes"
"""The method of mixed tables."""
METHODS = ("k-means", BATCHES, MIXED)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Clusters:
    """The result of a clustering, as estimators use it and files store it.

    Parameters
    ----------
    schema : Schema
        The columns; the target is the cluster.
    named : bool
        Whether the columns have names, or are those of an array.
    method : str
        One of ``METHODS``.
    settings : mapping of str
        The estimator's parameters.
    centroids : array, clusters × numeric columns
        Divided by ``scale``; NaN in columns without known cells.
    scale : array, numeric columns
        The standard deviations, or 1 if not standardised.
    codes : array of int, clusters × other columns
        The values of prototypes by attribute; -1 if unknown.
    gamma : float
        The weight of a categorical mismatch; 0 for k-means.
    weights : array, clusters
        The weight of each cluster's rows; for mini-batches, summed over all passes.
    start : array, clusters × numeric columns
        The initial centroids of k-means; without rows if unknown.
    inertia : float
        The weighted sum of the squared distances of rows to their centroids.
    n_iterations : int fingerprint : Fingerprint The fingerprint of the training rows.
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
        """Whether the method is k-prototypes."""
        return self.method == MIXED

    def __len__(self) -> int:
        return len(self.centroids)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(attribute.name for attribute in self.schema.attributes)

    @property
    def sizes(self) -> Floats:
        """The weight of each cluster's rows in one pass."""
        passes = self.n_iterations if self.method == BATCHES else 1
        return self.weights / max(passes, 1)

    @property
    def standardised(self) -> bool:
        """Whether columns are divided by their standard deviation."""
        return bool((self.scale != 1).any())

    @property
    def unscaled_centroids(self) -> NDArray[Any]:
        """The centroids in the units of the numeric columns."""
        return np.asarray(self.centroids * self.scale.astype(self.centroids.dtype))

    @property
    def prototypes(self) -> Prototypes:
        """The centroids as the prototypes of k-prototypes."""
        _, first = coded_levels(self.schema)
        codes = np.where(self.codes < 0, first[-1], self.codes + first[:-1])
        return Prototypes(self.centroids, codes)

    @property
    def values(self) -> NDArray[Any]:
        """The centroids as values, in the order of the columns."""
        return prototype_values(
            self.schema, self.prototypes._replace(numbers=self.unscaled_centroids)
        )

    def scaled(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return numbers divided by the scale."""
        if not self.standardised:
            return cells
        with np.errstate(over="ignore"):
            scaled = np.asarray(cells / self.scale.astype(cells.dtype))
        infinite = np.argwhere(np.isinf(scaled))
        if len(infinite):
            row, index = infinite[0].tolist()
            names = [a.name for a in self.schema.attributes if a.kind == "numeric"]
            msg = (
                f"column {names[index]!r} contains {cells[row, index]:g}, which "
                f"overflows when divided by {self.scale[index]:g}"
            )
            raise DataError(msg, remedy="scale the column down")
        return scaled

    def assign(
        self, table: Table, *, n_jobs: int | None = None
    ) -> tuple[Integers, Floats]:
        """Return each row's label and distance: Euclidean, or that of k-prototypes."""
        encode = encode_mixed_cells if self.is_mixed else encode_numbers
        return self.nearest(encode(self.schema, table), n_jobs=n_jobs)

    def nearest(
        self, cells: NDArray[Any] | MixedCells, *, n_jobs: int | None = None
    ) -> tuple[Integers, Floats]:
        """Return the label of each row, and the distance to its cluster."""
        if isinstance(cells, MixedCells):
            cells = replace(cells, numbers=self.scaled(cells.numbers))
            return nearest_prototypes(cells, self.prototypes, self.gamma, n_jobs=n_jobs)
        kind = self.centroids.dtype
        scaled = self.scaled(cells.astype(kind, copy=False))
        labels, squares, powers = nearest_scaled(scaled, self.centroids, n_jobs=n_jobs)
        with np.errstate(over="ignore"):
            return labels, np.ldexp(np.sqrt(squares), powers)


def cluster_schema(
    attributes: Sequence[Attribute], n_clusters: int, markers: Sequence[str] = ()
) -> Schema:
    """Return the schema of clusters over some columns."""
    target = Target(COLUMN, tuple(range(n_clusters)))
    return Schema(tuple(attributes), target, tuple(markers))


def numeric_cells(table: Table, method: str = "k-means") -> Floats:
    """Return the cells of a numeric table without missing cells."""
    for column in table.columns:
        if column.kind != "numeric":
            msg = f"column {column.name!r} is {column.kind}, and {method} needs numbers"
            remedy: Any = "exclude it, or use KPrototypes"
            if method == "k-means":
                ignore = Setting("ignore", [column.name])
                remedy = phrase("exclude it ({}), or use k-prototypes", ignore)
            raise DataError(msg, remedy=remedy)
        first_row = table.first_row if method == "k-means" else 0  # as in an array
        _refuse_missing(column.name, column.missing, first_row, method)
    return np.column_stack([column.cells for column in table.columns])


def encode_numbers(schema: Schema, table: Table) -> Floats:
    """Return the cells of a later numeric table without missing cells."""
    encoded = schema.encode(table)
    for attribute, cells in zip(schema.attributes, encoded, strict=True):
        _refuse_missing(attribute.name, np.isnan(cells), table.first_row, "k-means")
    return np.column_stack(encoded)


def _refuse_missing(
    name: str, missing: NDArray[np.bool_], first_row: int, method: str
) -> None:
    """Refuse a column with missing cells, with the first row that has one."""
    if not missing.any():
        return
    row, n = int(np.argmax(missing)) + first_row, int(missing.sum())
    rest = f" and {n - 1} more" if n > 1 else ""
    msg = f"column {name!r} is missing (NaN) in row {row}{rest}, and {method} needs "
    remedy: Any = "fill it, remove these rows, or use KPrototypes"
    if method == "k-means":
        mixed = Setting("method", "k-prototypes")
        remedy = phrase("fill it, remove these rows, or use k-prototypes ({})", mixed)
    raise DataError(msg + "numbers", remedy=remedy)


def standard_deviations(cells: NDArray[Any], weights: Floats | None) -> Floats:
    """Return the standard deviation of each column's known cells; 1 if constant.

    >>> standard_deviations(np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]]), None)
    array([1., 1.])
    """
    weights = np.ones(len(cells)) if weights is None else weights
    return np.array(
        [_standard_deviation(column.astype(np.float64), weights) for column in cells.T]
    )


def _standard_deviation(column: Floats, weights: Floats) -> float:
    present = ~np.isnan(column) & (weights > 0)
    column, weights = column[present], weights[present]
    if not len(column) or column.min() == column.max():
        return 1.0
    largest = float(np.abs(column).max())
    column = column / largest  # so that no square overflows or vanishes
    middle = np.average(column, weights=weights)
    spread = np.sqrt(np.average((column - middle) ** 2, weights=weights)) * largest
    return float(spread) if spread > 0 else 1.0
