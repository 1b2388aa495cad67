"""The data of the kernels of the optimal search."""

from enum import IntEnum
from typing import Any, NamedTuple

from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers

LANES = 8
"""The number of cuts that are evaluated together."""

MAX_ROOT_BOUNDS = 256
"""The most cuts of an attribute whose bounds for other roots are stored."""


class Family(IntEnum):
    """How the loss of a leaf follows from the sums of its rows.

    ``PAIR``: two labels; a row's number is its loss under the first label minus its
    loss under the second. ``LABELS``: the loss under each label. ``MOMENTS``: w, wy and
    wy² of a numeric target.
    """

    PAIR = 0
    LABELS = 1
    MOMENTS = 2


class Problem(NamedTuple):
    """The rows of the table, and the costs of trees.

    A *flag* is a binary feature: the rarer value of a column of two values. If all
    columns have two values, the last seven arrays describe flags; else they are empty.

    Parameters
    ----------
    rank : array of int32, (attributes, rows)
        The rank of each row's value among the attribute's values.
    order : array of int32, (attributes, rows)
        The rows of the subtree, by value; for flags one line, in any order.
    is_last : array of uint8, (attributes, rows)
        Whether the next row in the order has another value.
    sums : array, (rows, numbers)
        The numbers that are summed in a leaf, by family; a loss that no label can avoid
        is subtracted before.
    path_cost : array, (rows,)
        The cost of each split that a row passes.
    max_increase : array, (rows,)
        The most that a row can add to the loss of any tree.
    leaf_cost : array, (2,)
        The cost of a leaf, which every split adds; and a weight below that of any row.
    sizes : array of int, (depth + 2,)
        The number of losses by size for each depth, then the step: see
        ``losses_by_size``.
    family : array of int, (2,)
        The family, and ``LANES``, passed at run time so that the compiler vectorises
        loops over lanes.
    stop : array of int, (1,)
        Whether the search must end.
    ones, n_ones : arrays of int32, (rows, flags) and (rows,)
        The flags that each row has, only the last flag of each chain, by rising place;
        and the number of these flags.
    places, ends : arrays of int32, (flags,)
        The place of each flag, and where the chain of a place ends: see
        ``binary_depth_two``.
    inverted : array of int32, (flags,)
        Whether the flag stands for value 0.
    addends, base : arrays, (numbers, rows) and (rows,)
        The numbers that are summed over pairs of flags, and the loss under a reference
        label.
    """

    rank: NDArray[Any]
    order: NDArray[Any]
    is_last: NDArray[Any]
    sums: Floats
    path_cost: Floats
    max_increase: Floats
    leaf_cost: Floats
    sizes: Integers
    family: Integers
    stop: Integers
    ones: NDArray[Any]
    n_ones: NDArray[Any]
    places: NDArray[Any]
    ends: NDArray[Any]
    inverted: NDArray[Any]
    addends: Floats
    base: Floats


class Workspace(NamedTuple):
    """The workspace of one thread; the first axis of most is the depth of a subtree.

    The bounds at an end of an interval are ``END_LINES`` lines of entries by size
    (``sizes``).
    """

    order: NDArray[Any]  # (depth, side, attributes, rows): rows by value
    is_last: NDArray[Any]  # whether the next row has another value
    side: NDArray[Any]  # (rows,)
    budget: Floats  # (depth, entries): the loss that a subtree must stay below
    best: Floats  # (depth, entries): the loss of the best subtree found
    goal: Floats  # (depth, entries): the loss that both sides must stay below
    shallow: Floats  # (depth, entries): the loss of the best subtree of less depth
    excluded_bound: Floats  # (depth, entries): the least bound of the excluded cuts
    intervals: Integers  # (depth, stack, 2): first and last cut
    ends: Floats  # (depth, stack, 2, lines, entries): both ends of each
    outer_ends: Floats  # (depth, 2, lines, entries): those with an empty side
    current: Floats  # (depth, 3, lines, entries): an interval, with its middle
    cuts: Integers  # (depth, rows): positions of cuts
    cumulative_weight: Floats  # (depth, rows): sums of ``max_increase``
    bounds: Floats  # (depth, cuts, side, attributes, entries): by the root's attribute
    cumulative: Floats  # (rows, numbers + 1): sums of rows, with path costs last
    totals: Floats  # (depth, numbers + 1)
    picked: Integers  # (LANES, 3): a cut; the end of its interval if adjacent, else -1
    picked_ends: Floats  # (LANES, 3, lines, entries): as ``current``
    lanes: Floats  # see ``stumps``
    pairs: Floats  # (1 to depth 2, else 2; numbers, flags, flags)
    singles: Floats  # (numbers, flags)
    flag_totals: Floats  # (2, numbers)
    flag_sums: Floats  # (2, lines, flags + 1)
    flag_savings: Floats  # (lines, flags)
    count_state: Integers  # (3,)
    pair_weights: Floats  # (depth, flags, flags): see ``solve_binary``
    solved_ends: Floats  # (depth, flags, lines, entries): in the order of the search
    flag_order: Integers  # (depth, 2, flags): all flags; those that are solved
