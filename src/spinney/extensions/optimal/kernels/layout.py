"""The data of the kernels of the optimal search."""

from enum import IntEnum
from typing import Any, NamedTuple

from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers

LANES = 8
"""How many cuts are looked at side by side."""

MOST_ROOT_BOUNDS = 256
"""Of how many cuts of an attribute it is kept what they say of other roots."""


class Family(IntEnum):
    """How the loss of a leaf follows from the sums of its rows.

    ``PAIR``: two labels; a row's number is what the first label costs more there than
    the second. ``LABELS``: what each label costs. ``MOMENTS``: w and wy, where the
    target is a number, and last wy².
    """

    PAIR = 0
    LABELS = 1
    MOMENTS = 2


class Problem(NamedTuple):
    """The rows of the table, by number, and what trees are judged by.

    Parameters
    ----------
    rank : array of int32, (attributes, rows)
        The place of each row's value among those of the attribute.
    order : array of int32, (attributes, rows)
        The rows that a tree is sought for, by value; of flags one line, in any order.
    last : array of uint8, (attributes, rows)
        Whether the next of them has another value.
    sums : array, (rows, numbers)
        What is summed up in a leaf, as the family says; one that no label can avoid is
        taken off before.
    asked : array, (rows,)
        What it costs to ask about a row, once.
    most : array, (rows,)
        By how much a row can raise the loss of any tree at most.
    price : array, (2,)
        What a question costs, whatever rows it is asked of: the price of the leaf that
        it makes more; and what is less than any row weighs.
    sizes : array of int, (depth + 2,)
        How many entries losses of each depth have, and the step: see ``sizes``.
    family : array of int, (2,)
        The family, and ``LANES``: a number that the compiler does not know is a loop
        that it makes vectors of.
    stop : array of int, (1,)
        Whether somebody wants the search to end.
    ones, n_ones : array of int32, (rows, flags) and (rows,)
        Where every column is a flag: those that each row has, of a chain the last one,
        by their places in rising order; and how many. Else empty.
    places, ends : arrays of int32, (flags,)
        The place of each flag, and where the chain of a place ends: see ``flag_pairs``.
    turned : array of int32, (flags,)
        Whether the flag is to have value 0.
    numbers, base : array, (numbers, rows) and (rows,)
        What ``flag_pairs`` adds up.
    """

    rank: NDArray[Any]
    order: NDArray[Any]
    last: NDArray[Any]
    sums: Floats
    path_cost: Floats
    most: Floats
    leaf_cost: Floats
    sizes: Integers
    family: Integers
    stop: Integers
    ones: NDArray[Any]
    n_ones: NDArray[Any]
    places: NDArray[Any]
    ends: NDArray[Any]
    turned: NDArray[Any]
    numbers: Floats
    base: Floats


class Workspace(NamedTuple):
    """The workspace of one thread; the first axis of most is the depth of a subtree.

    An end is that of an interval: ``END_LINES`` lines of entries by size (``sizes``).
    """

    order: NDArray[Any]  # (depth, side, attributes, rows): rows by value
    last: NDArray[Any]  # whether the next row has another value
    side: NDArray[Any]  # (rows,)
    budget: Floats  # (depth, entries): what a subtree of this depth may lose
    best: Floats  # (depth, entries): what the best one found loses
    goal: Floats  # (depth, entries): what both sides of its root may lose
    shallow: Floats  # (depth, entries): what the best one of less depth loses
    least: Floats  # (depth, entries): the least bound of cuts that were left out
    intervals: Integers  # (depth, stack, 2): first and last cut
    ends: Floats  # (depth, stack, 2, lines, entries): both ends of each
    rims: Floats  # (depth, 2, lines, entries): where one side has no rows
    taken: Floats  # (depth, 3, lines, entries): an interval, its middle being looked at
    cuts: Integers  # (depth, rows): positions of cuts
    weight: Floats  # (depth, rows): what rows up to a position can lose
    bounds: Floats  # (depth, cuts, side, attributes, entries): by the root's attribute
    upto: Floats  # (rows, numbers + 1): sums of rows up to a position, asking last
    totals: Floats  # (depth, numbers + 1)
    picks: (
        Integers  # (LANES, 3): a cut, and the end of its interval if it is next to it
    )
    pick_ends: Floats  # (LANES, 3, lines, entries): as ``taken``
    lanes: Floats  # see ``stumps``
    pairs: Floats  # (1 to depth 2, else 2; numbers, flags, flags): see ``flag_pairs``
    singles: Floats  # (numbers, flags)
    flag_totals: Floats  # (2, numbers)
    flag_sums: Floats  # (2, lines, flags + 1)
    flag_saved: Floats  # (lines, flags)
    counted: Integers  # (3,)
    weights: Floats  # (depth, flags, flags): see ``solve_flags``
    seen: Floats  # (depth, flags, lines, entries): ends, in the order they were seen
    flag_order: Integers  # (depth, 2, flags): in which flags are looked at; those seen
