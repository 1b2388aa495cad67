"""Proximities of rows in a forest, and outlier scores.

The proximity of two rows is the fraction of trees in which they reach the same leaf
(Breiman 2001). Leaves have few rows, so most proximities are 0. A sparse matrix of the
others is made in blocks of rows, and all n² are never in memory at once.

The *outlier score* of a row is large if no row of its class is near. It is n over the
sum of squared proximities to rows of its class. The median of the class is subtracted,
and the result divided by the median absolute deviation of the class (Breiman and
Cutler, "Random forests manual", 2003).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.checks import check_whole

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_PROXIMITIES = 1 << 22  # proximities in memory


def _indicators(leaves: NDArray[np.int32]) -> "csr_matrix":
    """Return a matrix, rows × leaves of all trees: 1 if a row reaches a leaf."""
    from scipy.sparse import csr_matrix

    n_rows, n_trees = leaves.shape
    width = leaves.max(axis=0, initial=0).astype(np.int64) + 1
    starts = width.cumsum() - width
    columns = (leaves + starts).ravel()
    ends = np.arange(0, n_rows * n_trees + 1, n_trees)
    ones = np.ones(n_rows * n_trees, np.float32)
    return csr_matrix((ones, columns, ends), shape=(n_rows, int(width.sum())))


def proximity_blocks(
    leaves: NDArray[np.int32], *, rows: int | None = None
) -> Iterator[tuple[int, "csr_matrix"]]:
    """Yield the first row of a block, and its proximities to all rows.

    Parameters
    ----------
    leaves : array, rows × trees
        The leaf of each row in each tree.
    rows : int, optional
        The rows of a block; if not given, as many as keep it small.

    Examples
    --------
    >>> leaves = np.array([[1, 1], [1, 2], [3, 2]], dtype=np.int32)
    >>> for first, block in proximity_blocks(leaves):
    ...     print(first, block.toarray().tolist())
    0 [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    check_whole("rows", rows, least=1, optional=True)
    n_rows, n_trees = leaves.shape
    size = rows or max(1, MAX_PROXIMITIES // max(n_rows, 1))
    indicators = _indicators(leaves)
    transposed = indicators.T.tocsr()
    for first in range(0, n_rows, size):
        block = (indicators[first : first + size] @ transposed).tocsr()
        block.data = block.data.astype(np.float64) / n_trees
        block.sort_indices()
        yield first, block


def nearest(leaves: NDArray[np.int32], k: int) -> "csr_matrix":
    """Return the proximities of each row to the ``k`` nearest others, as CSR.

    Of equals the first rows are taken; a row with fewer others near it has fewer.
    """
    from scipy.sparse import csr_matrix

    check_whole("k", k, least=1)
    data: list[Floats] = []
    columns: list[NDArray[Any]] = []
    ends = [0]
    for first, block in proximity_blocks(leaves):
        for line in range(block.shape[0]):
            entries = slice(block.indptr[line], block.indptr[line + 1])
            neighbours, values = block.indices[entries], block.data[entries]
            is_neighbour = neighbours != first + line
            neighbours, values = neighbours[is_neighbour], values[is_neighbour]
            order = np.sort(np.lexsort((neighbours, -values))[:k])
            data.append(values[order])
            columns.append(neighbours[order])
            ends.append(ends[-1] + len(order))
    n_rows = len(leaves)
    return csr_matrix(
        (np.concatenate(data), np.concatenate(columns), np.array(ends)),
        shape=(n_rows, n_rows),
    )


def outlier_scores(leaves: NDArray[np.int32], classes: NDArray[Any]) -> Floats:
    """Return the outlier score of each row among the rows of its class.

    If at least half of a class have equal sums, the median deviation is 0, and the
    scores of the class are not divided by it.
    """
    n_rows = len(leaves)
    raw = np.empty(n_rows)
    for first, block in proximity_blocks(leaves):
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
        same_class = classes[block.indices] == classes[first + rows]
        sums = np.bincount(
            rows, np.where(same_class, block.data**2, 0.0), minlength=block.shape[0]
        )
        raw[first : first + block.shape[0]] = n_rows / sums
    for label in np.unique(classes):
        members = np.flatnonzero(classes == label)
        deviation = raw[members] - np.median(raw[members])
        raw[members] = deviation / (np.median(np.abs(deviation)) or 1.0)
    return raw
