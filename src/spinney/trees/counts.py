"""The count table: all that the learner needs to know about rows.

For one node and one attribute it holds the weight of every class at each value that
occurs. Beside it is the weight of every class among the rows with a missing value::

                 class 0   class 1
    value 0   [  weights            ]     rows: the same shape, how many rows
    value 1   [                     ]           stand behind each weight
    missing   [  missing            ]

``rows`` are integers and subtract exactly. So a side of a cut without rows has weight
0, and no rounding error.

For a numeric target, a line of ``weights`` holds the moments Σw, Σwy, Σwy², with y
measured from the target's origin, and ``rows`` has one column.

A *stack* of tables is a table whose ``weights`` have further axes in front; the
criteria read the last two axes only.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, sums_over
from spinney._support.ties import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, eq=False)
class CountTable:
    """Weights by value and class, and those of the rows where the value is missing.

    Tables of one shape are one table with more axes.

    Parameters
    ----------
    values : array of shape (k,)
        The values that occur, rising: codes, numbers, or numbers of branches.
    weights : array of shape (..., k, classes), or (..., k, 3) for moments
        The weight of each class at each value.
    rows : array of shape (..., k, classes), or (..., k, 1) for moments
        How many rows stand behind each weight.
    missing, missing_rows : arrays of shape (classes,), or (3,) and (1,)
        The same for rows whose value is missing. A stack has them for all of its
        tables together, or with the stack's further axes for each.

    Examples
    --------
    >>> table = CountTable.of([[3, 3], [4, 2], [1, 4]])
    >>> table.total
    array([8., 9.])
    """

    values: NDArray[Any]
    weights: Floats
    rows: Integers
    missing: Floats
    missing_rows: Integers

    @classmethod
    def of(
        cls, weights: "Sequence[Sequence[float]]", missing: "Sequence[float]" = ()
    ) -> "CountTable":
        """Return a table of plain numbers, with values counted from 0."""
        cells = np.asarray(weights, dtype=np.float64)
        missing_weight = np.zeros(cells.shape[-1])
        if len(missing):
            missing_weight[:] = missing
        return cls(
            np.arange(cells.shape[-2]),
            cells,
            np.ceil(cells).astype(np.int64),
            missing_weight,
            np.ceil(missing_weight).astype(np.int64),
        )

    @classmethod
    def of_moments(
        cls, moments: "Sequence[Sequence[float]]", missing: "Sequence[float]" = ()
    ) -> "CountTable":
        """Return a table of a numeric target from lines (Σw, Σwy, Σwy²)."""
        table = cls.of(moments, missing)
        return replace(
            table, rows=table.rows[..., :1], missing_rows=table.missing_rows[:1]
        )

    @property
    def is_moments(self) -> bool:
        """Whether the target is a number, and the weights are its moments."""
        return bool(self.weights.shape[-1] != self.rows.shape[-1])

    @property
    def sizes(self) -> Floats:
        """The weight at each value, all classes together."""
        return sizes(self.weights, self.rows)

    @property
    def missing_size(self) -> Floats:
        """The weight of the rows with a missing value; one per table of a stack."""
        return sizes(self.missing, self.missing_rows)[()]

    @property
    def total(self) -> Floats:
        """The weight of each class over the rows with a known value."""
        return sums_over(self.weights, -2)

    @property
    def weight(self) -> float:
        """The weight of all rows, missing values included."""
        return float(self.sizes.sum() + self.missing_size)

    @property
    def known_share(self) -> Floats:
        """ρ, the fraction of weight with a known value; one per table of a stack."""
        missing_weight = self.missing_size
        if not np.any(missing_weight):
            return np.asarray(1.0)[()]
        known = sums_over(self.sizes, -1)
        return np.asarray(known / (known + missing_weight))[()]

    def scaled(self, class_weights: "Floats | None") -> "CountTable":
        """Return the table with each class's weight multiplied."""
        if class_weights is None:
            return self
        return replace(
            self,
            weights=self.weights * class_weights,
            missing=self.missing * class_weights,
        )

    def merged(self, branches: Integers, n_branches: int) -> "CountTable":
        """Return the table by branches; ``branches`` has the branch of each value."""
        weights = np.zeros((n_branches, self.weights.shape[-1]))
        rows = np.zeros((n_branches, self.rows.shape[-1]), dtype=np.int64)
        np.add.at(weights, branches, self.weights)
        np.add.at(rows, branches, self.rows)
        return replace(self, values=np.arange(n_branches), weights=weights, rows=rows)

    def occurring(self) -> "CountTable":
        """Return the table without lines that have no rows."""
        occurs = self.rows.any(axis=1)
        return replace(
            self,
            values=self.values[occurs],
            weights=self.weights[occurs],
            rows=self.rows[occurs],
        )

    def with_missing_at(self, position: int) -> "CountTable":
        """Return the table with the missing rows counted at this position."""
        weights, rows = self.weights.copy(), self.rows.copy()
        weights[position] += self.missing
        rows[position] += self.missing_rows
        return replace(self.without_missing(), weights=weights, rows=rows)

    def without_missing(self) -> "CountTable":
        """Return the table of the rows with a known value."""
        return replace(
            self,
            missing=np.zeros_like(self.missing),
            missing_rows=np.zeros_like(self.missing_rows),
        )


def sizes(weights: Floats, rows: Integers) -> Floats:
    """Return the weight of lines: of all classes together, or the first moment.

    >>> sizes(np.array([2.0, 3.0]), np.array([2, 3])).item()
    5.0
    >>> sizes(np.array([2.0, 3.0, 5.0]), np.array([2])).item()
    2.0
    """
    if weights.shape[-1] == rows.shape[-1]:
        return sums_over(weights, -1)
    return np.asarray(weights[..., 0])


def spread_of(moments: Floats) -> Floats:
    """Return Σw(y − mean)², at least 0, and exactly 0 for equal values."""
    weight, first, squares = moments[..., 0], moments[..., 1], moments[..., 2]
    spread = squares - ratio_of(first * first, weight)
    return np.maximum(np.where(spread <= TOLERANCE * squares, 0.0, spread), 0.0)


def ratio_of(numerator: Floats, denominator: Floats) -> Floats:
    """Return numerator / denominator; 0 if the denominator is 0."""
    is_positive = np.asarray(denominator) > 0
    return np.asarray(
        np.where(is_positive, numerator / np.where(is_positive, denominator, 1.0), 0.0)
    )[()]
