"""What the loops of model trees read and write, and the figures that they go by."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers

# As ``least_squares`` says. A ridge below that share of what it is added to would be
# rounded away, where rows are many or weigh much.
RIDGE, LEAST_SHARE = 1e-8, 2.0**-44
COLLINEAR = 1.5
# What rounding must not decide: squared errors below this share of the target's
# spread are none, and standardised coefficients this close are equal, as are the
# errors of a leaf and of the branches below it. With the ridge, equations of terms
# that say the same lose eight digits of sixteen.
ROUNDING = 1e-12
CLOSE = 1e-7

Flags = NDArray[np.bool_]


class AskedTerms(NamedTuple):
    """A tree of thresholds, its nodes in printing order.

    Parameters
    ----------
    parent, depth : arrays of int
        Of each node; the parent of the root is -1.
    term : array of int
        The term that a node asks about, -1 at a leaf.
    cut : array of float
        Where its number is greater, a row goes to the second child.
    child : nodes × 2
        Its children.
    below : nodes × terms
        The terms that are asked at a node or below it.
    """

    parent: Integers
    depth: Integers
    term: Integers
    cut: Floats
    child: Integers
    below: Flags


class LeafRows(NamedTuple):
    """Rows, and where they are.

    Parameters
    ----------
    cells : rows × terms
        The numbers.
    centres : array of float
        What each term is measured from.
    target, weights : arrays of float
        The target from its origin, and the weight of each row.
    start, order : arrays of int
        The rows of a leaf are ``order[start[leaf] : start[leaf + 1]]``.
    """

    cells: Floats
    centres: Floats
    target: Floats
    weights: Floats
    start: Integers
    order: Integers


class TermSums(NamedTuple):
    """Σw, Σwz / Σw and Σw (z − mean)(z − mean)ᵀ of some rows, in each line.

    The target is the last of the terms; of the products those below the diagonal and
    on it are there.
    """

    weights: Floats
    means: Floats
    spreads: Floats


class NodeModels(NamedTuple):
    """The models of all nodes that ask.

    Parameters
    ----------
    squared_errors : array of float
        Summed over the rows.
    n_parameters : array of int
        The coefficients, with the intercept.
    intercepts : array of float
        By node.
    first : array of int
        Where the terms of a node are, among those of all nodes.
    chosen, coefficients : arrays
        Whether a term is left, and its coefficient.
    """

    squared_errors: Floats
    n_parameters: Integers
    intercepts: Floats
    first: Integers
    chosen: Flags
    coefficients: Floats


class FitRoom(NamedTuple):
    """What the loops of one thread work in.

    ``open`` has a line for each depth: of the children of the node that is looked at
    there, those seen so far. ``own`` lists terms, ``left`` those of them that are left.
    """

    open: TermSums
    line: Floats
    own: Integers
    left: Integers
    deviations: Floats
    equations: Floats
    solved: Floats
    slopes: Floats


def sums_for(n_lines: int, width: int) -> TermSums:
    """Return room for sums of no rows."""
    return TermSums(
        np.zeros(n_lines), np.zeros((n_lines, width)), np.zeros((n_lines, width, width))
    )


def room_for(n_lines: int, width: int) -> FitRoom:
    """Return room for a tree of so many levels, and one more."""
    return FitRoom(
        sums_for(n_lines, width),
        np.zeros(width),
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
        np.zeros(width),
        np.zeros((width, width)),
        np.zeros((width, width)),
        np.zeros(width),
    )
