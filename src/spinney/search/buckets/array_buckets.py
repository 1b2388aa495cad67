"""Buckets of plain arrays, by one function call."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import as_real
from spinney._support.text import shown, weight_text
from spinney.data import coded_column, plain_values
from spinney.errors import DataError, Setting, refusal
from spinney.search.buckets.bucket_methods import (
    bucket_texts,
    bucketed,
    codes_of,
    cuts_of,
    is_exact,
)
from spinney.trees import CountTable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Buckets:
    """Cut points, and the weight of the rows in each bucket between them.

    Parameters
    ----------
    cuts : array
        The rising cuts; a number equal to a cut belongs to the bucket below.
    counts : array
        The weight of the rows in each bucket.
    method : str
        The method that found the cuts.
    exact : bool
        False if k-means merged some values beforehand, because there were too many.
    """

    cuts: Floats
    counts: Floats
    method: str
    exact: bool = True

    def codes(self, values: Any) -> Integers:
        """Return the bucket of each number, counted from 0; −1 if it is missing."""
        return codes_of(_numbers("values", values), self.cuts)

    @property
    def labels(self) -> tuple[str, ...]:
        """The text of each bucket."""
        return bucket_texts(self.cuts)

    def __len__(self) -> int:
        """Return the number of buckets."""
        return len(self.counts)

    def __str__(self) -> str:
        width = max(map(len, self.labels))
        counts = [weight_text(count) for count in self.counts.tolist()]
        figures = max(map(len, counts))
        return "\n".join(
            f"{label:<{width}}  {count:>{figures}}"
            for label, count in zip(self.labels, counts, strict=True)
        )

    def __repr__(self) -> str:
        return f"<Buckets: {len(self)} by {self.method}: {', '.join(self.labels)}>"


def discretise(
    values: Any,
    method: str = "k-means",
    *,
    n_buckets: int = 5,
    classes: Any = None,
    weights: Any = None,
) -> Buckets:
    """Return numbers by buckets.

    Parameters
    ----------
    values : array or sequence of numbers
        None and NaN are missing.
    method : str
        "equal-width", "equal-frequency", "k-means" or "entropy-mdl".
    n_buckets : int
        How many buckets; fewer if there are fewer distinct numbers. entropy-mdl
        finds the number itself.
    classes : array or sequence, optional
        The class of each row, which entropy-mdl needs; the others do not look at
        it. A row without a class is left out.
    weights : array or sequence of numbers, optional
        The weight of each row; a row of weight 0 is left out.

    Returns
    -------
    Buckets

    Raises
    ------
    DataError
        If there is no number, one is infinite, or lengths differ.
    ParameterError
        If the method is unknown or lacks classes, or n_buckets is no whole number above
        1.

    Examples
    --------
    >>> ages = [22, 25, 27, 41, 44, 70, None]
    >>> buckets = discretise(ages, n_buckets=3)
    >>> print(buckets)
    ≤ 34         3
    34 < … ≤ 57  2
    > 57         1
    >>> buckets.codes([30, 57, 80, None])
    array([ 0,  1,  2, -1])
    """
    table = _table(values, classes, weights)
    if method == "entropy-mdl" and classes is None:
        raise refusal(
            Setting("method", "entropy-mdl"),
            "needs classes",
            "give classes=, one for each value, or take 'equal-width', "
            "'equal-frequency' or 'k-means'",
        )
    cuts = cuts_of(table, method, n_buckets)
    counts = bucketed(table, cuts).sizes
    for array in (cuts, counts):
        array.flags.writeable = False
    return Buckets(cuts, counts, method, is_exact(table, method, n_buckets))


def _table(values: Any, classes: Any, weights: Any) -> CountTable:
    """Return the count table of plain arrays."""
    numbers = _numbers("values", values)
    codes = np.zeros(len(numbers), dtype=np.int64)
    if classes is not None:
        codes = _classes(classes)
        _check_length("classes", len(codes), len(numbers))
    row_weights = np.ones(len(numbers))
    if weights is not None:
        row_weights = _weights(weights)
        _check_length("weights", len(row_weights), len(numbers))
    is_used = (row_weights > 0) & (codes >= 0) & ~np.isnan(numbers)
    if not is_used.any():
        msg = (
            "values: no row has a number, a weight greater than 0 and a class: there "
            "is nothing to put into buckets"
        )
        raise DataError(msg)
    numbers, codes, row_weights = numbers[is_used], codes[is_used], row_weights[is_used]
    # Sums are taken in one order whatever the order of rows, to the last bit.
    order = np.lexsort((row_weights, codes, numbers))
    distinct, position = np.unique(numbers[order], return_inverse=True)
    n_classes = int(codes.max()) + 1
    cells = position * n_classes + codes[order]
    shape, size = (len(distinct), n_classes), len(distinct) * n_classes
    tally = np.zeros(size)
    np.add.at(tally, cells, row_weights[order])
    rows = np.bincount(cells, minlength=size).reshape(shape)
    nothing = np.zeros(n_classes)
    return CountTable(
        distinct, tally.reshape(shape), rows, nothing, nothing.astype(np.int64)
    )


def _check_length(name: str, length: int, expected: int) -> None:
    if length != expected:
        msg = f"{name} has {length} rows and values {expected}: give one for each value"
        raise DataError(msg)


def _numbers(name: str, values: Any) -> Floats:
    """Return a list as numbers, NaN where missing, or refuse it."""
    array = _flat(name, values)
    if array.dtype.kind not in "iuf":
        cells, families = plain_values(name, list(array))
        if families - {"number"}:
            row, cell = next(
                (row, cell)
                for row, cell in enumerate(cells, 1)
                if cell is not None and type(cell) not in (int, float)
            )
            msg = (
                f"{name} holds {shown(cell)!r} in row {row}, which is no number: turn "
                "it into one, or into None if it is missing"
            )
            raise DataError(msg)
        array = np.array([np.nan if cell is None else as_real(cell) for cell in cells])
    with np.errstate(over="ignore"):
        numbers = array.astype(np.float64) + 0.0  # one zero out of 0.0 and −0.0
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        msg = (
            f"{name} holds {numbers[infinite[0]]} in row {infinite[0] + 1}, which has "
            "no bucket: turn it into None, or drop the row"
        )
        raise DataError(msg)
    return numbers


def _flat(name: str, values: Any) -> NDArray[Any]:
    """Return a one-dimensional array of some values, mixed cells as objects."""
    is_list = isinstance(values, (list, tuple))
    try:
        # NumPy keeps integers and floats as they are, and no other mix of types.
        is_mixed = is_list and not set(map(type, values)) <= {int, float}
        array = np.array(values, dtype=object) if is_mixed else np.asarray(values)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1:
        msg = f"{name} must be one list or array with a cell for each row"
        raise DataError(msg)
    return array


def _classes(classes: Any) -> Integers:
    """Return the code of each class, −1 where it is missing."""
    array = _flat("classes", classes)
    cells, _ = plain_values("classes", list(array))
    texts = [
        cell if cell is None or isinstance(cell, (str, int, float)) else str(cell)
        for cell in cells
    ]
    return coded_column("classes", texts).cells.astype(np.int64)


def _weights(values: Any) -> Floats:
    """Return the weights, or refuse the first invalid one."""
    weights = _numbers("weights", values)
    invalid = np.flatnonzero(~(weights >= 0))
    if len(invalid):
        cell = weights[invalid[0]]
        found = "a missing cell" if np.isnan(cell) else f"the weight {cell:g}"
        msg = (
            f"weights has {found} in row {invalid[0] + 1}: "
            "weights must be numbers, 0 or greater"
        )
        raise DataError(msg)
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            msg = "the weights of all rows add up to infinity: scale them down"
            raise DataError(msg)
    return weights
