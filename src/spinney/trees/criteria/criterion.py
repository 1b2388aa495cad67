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
    """A criterion as data: the measure of attributes, and of an attribute's splits.

    Parameters
    ----------
    name : str
        The name of the criterion.
    impurity : function of class weights, optional
        The impurity of a node and its branches, for ``explain``.
    gain : function of a count table
        The measure of groupings of one attribute, also used by stopping rules and
        best-first growth.
    merit : function of a count table
        The measure of attributes.
    average : bool
        Whether only attributes of at least average gain compete (C4.5).
    slack : float
        The tolerance of a gain below the average.
    many_values : float
        A nominal attribute with at least this number of values, as a fraction of the
        total weight, does not count in the average, unless all attributes have so many.
    bits : bool
        Whether gains are in bits, so that the MDL penalty of a threshold can be
        subtracted.
    per : function of a count table, optional
        The divisor of the gain in the merit.
    impurity_name, merit_name : str
        The names in ``explain``.
    numeric : bool, optional
        Whether the criterion is for a numeric target, with moments; None for both
        kinds.
    from_zero : bool
        Whether moments must be counted from 0 rather than from the mean.
    binary : bool
        Whether the criterion compares two branches only.
    ordered : bool
        Whether the best subset is a prefix of the values in order of class probability,
        or of mean, so that it need not be searched for (see ``groupings``).
    concave : bool
        Whether the gain is the decrease of an impurity that is concave in the class
        probabilities (see ``bounded_subsets``).
    boundaries : bool
        Whether the best cut lies where the class changes (see ``boundary_cuts``).
    decreases : bool
        Whether the gain is the decrease of the impurity.
    chance : bool
        Whether the merit is −ln p of a significance test.
    tolerance : float
        The relative tolerance of ties. Roots of small variances have fewer digits than
        their sums.
    unit : function of the moments of a node, optional
        The unit of gains, from the size of the target's numbers; 1 for classes.
    working : function, optional
        The function that writes the calculation for ``explain``.
    kernel : str
        The name of the measure in compiled kernels
        (``binned/kernels/split_scores.py``), or empty. If set, for classes, corners of
        bins bound the cuts inside (``search/bin_bounds.py``).
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
        """Return the unit of gains at a node with these weights or moments.

        Gains below the unit tie by an absolute tolerance. So a target in kilometres has
        the same tree as in millimetres.
        """
        return 1.0 if self.unit is None else float(self.unit(weights))

    def gain_units(self, weights: Floats) -> Floats:
        """Return the units of gains at many nodes, a line each."""
        if self.unit is None:
            return np.ones(len(weights))
        return np.asarray(self.unit(weights))

    def merit_unit(self, weights: Floats) -> float:
        """Return the unit of merits; 1 for logarithms of p."""
        return 1.0 if self.chance else self.gain_unit(weights)

    def suits(self, *, numeric: bool) -> bool:
        """Return whether the criterion suits a numeric target, or classes."""
        return self.numeric is None or self.numeric == numeric
