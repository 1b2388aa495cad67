"""Predictions by trees in flat layout, in threads, a block of rows at a time."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.matrix_view import matrix_behind
from spinney._support.threads import n_threads, run_all
from spinney.trees.predict.compiled.flat_layout import ROUTE, TreeLayout, pack_nodes
from spinney.trees.predict.compiled.kernels.walk import LANES, KernelTrees, descend

# The trees of a forest are read once a block, so its blocks are long; the block of a
# single tree stays in the cache from when it is gathered.
BLOCK, SHORT_BLOCK = 16_384, 2_048
FEW_TREES = 8

# To make a word takes as long as a row takes for some steps.
STEPS_PER_WORD = 8

NO_WORDS = np.zeros(0, np.uint64)
NO_BAG = np.zeros((0, 0), np.uint8)


class Votes(NamedTuple):
    """The summed predictions of trees for rows.

    Parameters
    ----------
    sums : rows × outputs
        The outputs of the leaves of all trees, added in tree order.
    voters : array of int32
        The number of trees that each row went down.
    open : array of int32
        The number of these trees that did not vote, since a missing value left the row
        open: the node divides such rows, or has surrogates.
    """

    sums: Floats
    voters: NDArray[np.int32]
    open: NDArray[np.int32]


def leaves(
    flat: TreeLayout,
    columns: Sequence[NDArray[Any]],
    n_rows: int,
    *,
    in_bag: NDArray[np.uint8] | None = None,
) -> NDArray[np.int32]:
    """Return the leaf of each row in each tree; -1 if a missing value leaves it open.

    Leaves are numbered through all trees; ``flat.numbers`` has their numbers in their
    own trees. If ``in_bag`` is 1, the tree skips the row, and the leaf is -1 too.
    """
    bag = NO_BAG if in_bag is None else np.ascontiguousarray(in_bag, np.uint8)
    reached = np.empty((n_rows, len(flat.trees)), np.int32)
    _descend(flat, columns, bag, reached, np.zeros((0, flat.outputs.shape[1])))
    return reached


def votes(
    flat: TreeLayout,
    columns: Sequence[NDArray[Any]],
    n_rows: int,
    *,
    in_bag: NDArray[np.uint8] | None = None,
) -> Votes:
    """Return the summed outputs of all trees for each row.

    Parameters
    ----------
    flat : TreeLayout
        The trees.
    columns : sequence of arrays
        The cells as ``Schema.encode`` gives them; unused columns may be None.
    n_rows : int
        The number of rows.
    in_bag : rows × trees of uint8, optional
        1 if a tree does not vote on a row.
    """
    bag = NO_BAG if in_bag is None else np.ascontiguousarray(in_bag, np.uint8)
    counts = np.zeros((n_rows, 2), np.int32)
    sums = np.zeros((n_rows, flat.outputs.shape[1]))
    _descend(flat, columns, bag, counts, sums)
    return Votes(sums, len(flat.trees) - counts[:, 0], counts[:, 1])


def _descend(
    flat: TreeLayout,
    columns: Sequence[NDArray[Any]],
    bag: NDArray[np.uint8],
    into: NDArray[np.int32],
    sums: Floats,
) -> None:
    """Send all rows down all trees."""
    n_rows = len(into)
    if not n_rows:
        return
    needed = flat.needed
    matrix = matrix_behind(columns)
    nodes = flat.nodes
    if matrix is None:
        nodes = _renumbered(nodes, needed)
    # Searching all cells for missing ones must not take longer than the walk.
    n_cells = len(needed) if matrix is None else matrix.shape[1]
    simple = not flat.has_tables and n_cells <= flat.trees[:, 1].sum()
    block = BLOCK if len(flat.trees) > FEW_TREES else SHORT_BLOCK
    narrow = simple and matrix is not None and matrix.dtype == np.float32
    pays = len(nodes) * STEPS_PER_WORD <= n_rows * len(flat.trees)
    packed = KernelTrees(
        nodes=nodes,
        cuts=nodes.view(np.float64),
        words=pack_nodes(flat) if narrow and pays else NO_WORDS,
        tables=flat.tables,
        trees=flat.trees,
        outputs=flat.outputs,
        simple=bool(simple),
    )

    def work(start: int, stop: int) -> None:
        lanes = np.zeros((3, LANES), np.int64)
        workspace = np.empty((min(block, stop - start), len(needed)))
        for block_start in range(start, stop, block):
            rows = slice(block_start, min(block_start + block, stop))
            if matrix is None:
                cells = workspace[: rows.stop - block_start]
                gather(columns, needed, rows, cells)
            else:
                cells = matrix[rows]
            descend(packed, cells, bag[rows], lanes, into[rows], sums[rows])

    piece = min(BLOCK, max(LANES, -(-n_rows // n_threads())))
    run_all(
        partial(work, start, min(start + piece, n_rows))
        for start in range(0, n_rows, piece)
    )


def _renumbered(nodes: NDArray[np.int32], needed: NDArray[np.int64]) -> Any:
    """Return nodes with attributes renumbered among the needed ones."""
    if len(needed) == 0 or needed[-1] == len(needed) - 1:
        return nodes
    column_of = np.zeros(needed[-1] + 1, np.int32)
    column_of[needed] = np.arange(len(needed))
    renumbered = nodes.copy()
    route = renumbered[:, ROUTE]
    attribute = np.minimum(route >> 2, needed[-1])
    renumbered[:, ROUTE] = 4 * column_of[attribute] + (route & 3)
    return renumbered


def gather(
    columns: Sequence[NDArray[Any]],
    needed: NDArray[np.int64],
    rows: slice,
    into: Floats,
) -> None:
    """Set cells side by side, NaN where they are missing."""
    for column, attribute in enumerate(needed):
        cells = np.asarray(columns[attribute])[rows]
        into[:, column] = cells
        if cells.dtype.kind != "f":
            into[cells < 0, column] = np.nan
