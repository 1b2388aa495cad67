"""A criterion as data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE
from spinney.trees.counts import CountTable
from spinney.trees.criteria.impurity import Impurity

Measure = Callable[[CountTable], Floats]

Working = Callable[[CountTable, Sequence[str], Sequence[str]], list[str]]
"""From a table, the names of its branches and of its classes: lines of arithmetic."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion as data: the measure for attributes, and for splits of one.

    Parameters
    ----------
    name : str
        What the user types.
    impurity : function of class weights, optional
        The impurity of a node and its branches, for ``explain``.
    gain : function of a count table
        Chooses among the groupings of one attribute. Stopping by minimal gain
        and best-first growth read it too.
    merit : function of a count table
        Chooses among attributes.
    average : bool
        Only attributes whose gain is at least the average compete (C4.5).
    slack : float
        By how much a gain may be below the average.
    many_values : float
        A nominal attribute with at least this share of values, counted by the
        weight of all rows, does not count in the average, unless all are such.
    bits : bool
        Whether gains are bits, so that the cost of naming a threshold can be taken
        off them.
    per : function of a count table, optional
        What the gain is divided by to give the merit.
    impurity_name, merit_name : str
        How ``explain`` calls them.
    numeric : bool, optional
        Whether it is for a numeric target, and reads moments; None suits both.
    from_zero : bool
        Whether moments must be counted from 0 rather than from the mean.
    binary : bool
        Whether it compares two branches only.
    ordered : bool
        Whether the best subset is a prefix of the values in order of class probability,
        or of mean, so that it need not be searched for (see ``groupings``).
    concave : bool
        Whether the gain is the decrease of an impurity that is concave in the class
        probabilities (see ``bounded_subsets``).
    boundaries : bool
        Whether the best cut lies where the class changes (see ``boundary_cuts``).
    decreases : bool
        Whether the gain is the decrease of the impurity, and reads so.
    chance : bool
        Whether the merit is −ln p of a test.
    tolerance : float
        How close merits are equal. Roots of small variances have fewer digits than
        the sums they come from.
    unit : function of the moments of a node, optional
        The unit of gains if the target has one, as large as its numbers here; else 1.
    working : function, optional
        Further lines of ``explain``: from counts to the merit.
    kernel : str
        The measure of cuts in compiled kernels (``binned/kernels/score.py``); empty if
        they do not have it. For classes, corners of bins bound the cuts inside then
        (``search/bin_bounds.py``).
    """

    name: str
    impurity: Impurity | None
    gain: Measure
    merit: Measure
    impurity_name: str
    merit_name: str
    average: bool = False
    numeric: bool | None = False
    from_zero: bool = False
    binary: bool = False
    ordered: bool = True
    concave: bool = False
    boundaries: bool = False
    decreases: bool = True
    chance: bool = False
    working: Working | None = None
    slack: float = 0.0
    many_values: float = 1.0
    bits: bool = False
    per: Measure | None = None
    tolerance: float = TOLERANCE
    unit: Impurity | None = None
    kernel: str = ""

    def gain_unit(self, weights: Floats) -> float:
        """Return the unit of gains at a node of these weights or moments.

        Gains below this tie by an absolute margin, so that a target in kilometres
        has the tree of the same target in millimetres.
        """
        return 1.0 if self.unit is None else float(self.unit(weights))

    def gain_units(self, weights: Floats) -> Floats:
        """Return the same for many nodes, a line each."""
        if self.unit is None:
            return np.ones(len(weights))
        return np.asarray(self.unit(weights))

    def merit_unit(self, weights: Floats) -> float:
        """Return the unit of merits; logarithms of p have none."""
        return 1.0 if self.chance else self.gain_unit(weights)

    def suits(self, *, numeric: bool) -> bool:
        """Return whether it is for such a target."""
        return self.numeric is None or self.numeric == numeric
