"""Clusters with all that a later reader needs: columns, centroids, origin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.cluster.fit import nearest_centroids
from spinney.cluster.rows import squares_between
from spinney.counts import Floats, Integers
from spinney.errors import DataError
from spinney.model import Fingerprint
from spinney.schema import Attribute, Schema, Target
from spinney.table import Table

__all__ = ["COLUMN", "METHODS", "Clusters", "cells_of", "schema_of", "spread_of"]

COLUMN = "cluster"
"""What the column of clusters is called, unless a table has one of that name."""

METHODS = ("k-means", "mini-batch k-means")
# k-prototypes is to be one more, with an array of codes beside the centroids.


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """What is saved to a file and loaded from one.

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
    centroids : array, clusters × columns
        Measured in scales.
    scale : array, columns
        What a column is divided by before distances are measured: 1 unless
        standardised.
    weights : array, clusters
        How much each cluster weighs: how many rows it has, where none has a weight.
    start : array, clusters × columns
        The centroids that the iterations began with; no row of it if not known.
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
    weights: Floats
    start: NDArray[Any]
    inertia: float
    n_iterations: int
    fingerprint: Fingerprint

    def __len__(self) -> int:
        return len(self.centroids)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(attribute.name for attribute in self.schema.attributes)

    @property
    def standardised(self) -> bool:
        """Whether columns are divided by their spread."""
        return bool((self.scale != 1).any())

    @property
    def places(self) -> NDArray[Any]:
        """The centroids in the units of the columns."""
        return self.centroids * self.scale.astype(self.centroids.dtype)

    def scaled(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return cells as distances are measured in them."""
        if not self.standardised:
            return cells
        return np.asarray(cells / self.scale.astype(cells.dtype))

    def cells(self, table: Table) -> Floats:
        """Return the cells of a table that was read by the schema."""
        encoded = self.schema.encode(table)
        for attribute, cells in zip(self.schema.attributes, encoded, strict=True):
            refuse_missing(attribute.name, np.isnan(cells))
        return np.column_stack(encoded)

    def nearest(
        self, cells: NDArray[Any], *, n_jobs: int | None = None
    ) -> tuple[Integers, Floats]:
        """Return each row's cluster, the first of equals, and the distance to it."""
        kind = self.centroids.dtype
        scaled = self.scaled(cells.astype(kind, copy=False))
        labels, squares = nearest_centroids(scaled, self.centroids, n_jobs=n_jobs)
        return labels, np.sqrt(squares)

    def distances(self, cells: NDArray[Any]) -> Floats:
        """Return the distance of each row to each centroid."""
        return np.sqrt(squares_between(self.scaled(cells), self.centroids))


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
                f"distances of numbers: leave it out (ignore=[{column.name!r}], "
                f"--ignore {column.name!r}), or use KPrototypes"
            )
            raise DataError(msg)
        refuse_missing(column.name, column.missing)
    return np.column_stack([column.cells for column in table.columns])


def refuse_missing(name: str, missing: NDArray[np.bool_]) -> None:
    """Refuse a column with missing cells, by the first row that has one."""
    if missing.any():
        row, n = int(np.argmax(missing)) + 1, int(missing.sum())
        more = f" and {n - 1} more" if n > 1 else ""
        msg = (
            f"column {name!r} is missing (NaN) in row {row}{more}, and k-means knows "
            "no missing cells: fill them, leave these rows out, or ignore the column"
        )
        raise DataError(msg)


def spread_of(cells: NDArray[Any], weights: Floats | None) -> Floats:
    """Return the standard deviation of each column; 1 of a constant one.

    >>> spread_of(np.array([[1.0, 5.0], [3.0, 5.0]]), None)
    array([1., 1.])
    """
    wide = cells.astype(np.float64)
    middle = np.average(wide, axis=0, weights=weights)
    largest = np.abs(wide - middle).max(axis=0)
    largest[largest == 0] = 1.0
    squares = ((wide - middle) / largest) ** 2
    spread = np.sqrt(np.average(squares, axis=0, weights=weights)) * largest
    same = cells.min(axis=0) == cells.max(axis=0)
    return np.where(same | ~(spread > 0), 1.0, spread)
