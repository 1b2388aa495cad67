"""Tests of independence: whether a split is more than chance.

Pure functions of a count table whose rows are the branches of a split, or the
categories of an attribute. Each reads the last two axes, so a stack of tables
gives a stack of tests.

chi_square_test
    Pearson's χ² = Σ (o − e)² / e (Pearson 1900), as CHAID uses it (Kass 1980).
g_test
    The likelihood ratio G = 2 Σ o ln(o / e) (Wilks 1938), SPSS's alternative.
f_test
    The F test of one-way analysis of variance (Fisher 1925), for the moments
    (Σw, Σwy, Σwy²) of a numeric target.

Weights count as frequencies: a row of weight 2 is two rows. That is right for
bootstrap counts and repeated rows. Weights that do not sum to the number of rows make
p too small or too large, and the user should scale them.

Rows and columns without weight are not part of the table and take their degrees
of freedom with them. Without degrees of freedom the statistic is 0 and p is 1.

>>> test = chi_square_test([[20, 10], [10, 20]])
>>> round(float(test.statistic), 5), int(test.degrees)
(6.66667, 1)
>>> round(float(test.p), 5)
0.00982
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spinney._support.arrays import Floats, sums_over
from spinney._support.ties import TOLERANCE
from spinney.trees.counts import CountTable, ratio_of, spread_of
from spinney.trees.criteria.gains import Tabular
from spinney.trees.criteria.tails import log_chi_square_tail, log_f_tail

CERTAIN = -1e300
"""log p of an F test without variance within: lower than any that is computed, and
finite, so that it can be compared, scaled and stored. Its p is 0."""


@dataclass(frozen=True, eq=False)
class Test:
    """A statistic, its degrees of freedom, and its p-value on request.

    Parameters
    ----------
    statistic : array
        χ², G or F; one for each table of the stack. F is infinite if branches differ
        without variation inside.
    degrees : array
        The degrees of freedom; for F, between branches.
    within : array, optional
        For F, the degrees of freedom within branches.
    """

    __test__ = False  # pytest: this is no class of test functions

    statistic: Floats
    degrees: Floats
    within: Floats | None = None

    @cached_property
    def log_p(self) -> Floats:
        """The logarithm of p, in [``CERTAIN``, 0]; finite even if p underflows."""
        return _log_p(self.statistic, self.degrees, self.within)

    @property
    def p(self) -> Floats:
        """The p-value, in [0, 1]; 0 if it underflows."""
        return np.asarray(np.exp(self.log_p))[()]

    def least_log_p(self) -> Floats:
        """Return a lower bound of log p for all tests along the last axis.

        p falls with the statistic and rises with the degrees of freedom. For two
        branches it falls with the degrees within.
        """
        tested = np.where(self.degrees > 0, self.degrees, np.inf)
        fewest = tested.min(axis=-1, initial=np.inf)
        within = None if self.within is None else self.within.max(axis=-1)
        fewest = np.where(np.isinf(fewest), 0.0, fewest)
        return _log_p(self.statistic.max(axis=-1), fewest, within)


Significance = Callable[[Tabular], Test]


def chi_square_test(table: Tabular) -> Test:
    """Return Pearson's test of a table of class weights, without a correction."""
    weights = _weights_of(table)
    expected, ratio, degrees = _against_independence(weights)
    statistic = (ratio * (ratio * expected)).sum(axis=(-2, -1))
    return _chi_square(statistic, degrees)


def g_test(table: Tabular) -> Test:
    """Return the likelihood-ratio test of a table of class weights.

    Since Σ o = Σ e, G = 2 Σ (o ln(o / e) − (o − e)) = 2 Σ e ((1 + d) ln(1 + d) − d)
    with d = (o − e) / e: no term is negative, and none cancels another.
    """
    from scipy import special

    weights = _weights_of(table)
    expected, ratio, degrees = _against_independence(weights)
    terms = special.xlog1py(1 + ratio, ratio) - ratio
    statistic = 2 * (np.maximum(terms, 0.0) * expected).sum(axis=(-2, -1))
    return _chi_square(statistic, degrees)


def f_test(table: Tabular) -> Test:
    """Return the F test of a table of moments (Σw, Σwy, Σwy²).

    The degrees are k − 1 between and Σw − k within. Sums of squares that are no
    more than rounding beside Σwy² count as 0: where nothing varies at all, F is 0
    and p is 1; where branches differ and nothing varies within, F is infinite, p
    is 0 and its logarithm is ``CERTAIN``.

    >>> test = f_test([[3, 6, 14], [3, 15, 77]])        # 1, 2, 3 and 4, 5, 6
    >>> float(test.statistic), float(test.degrees), float(test.within)
    (13.5, 1.0, 4.0)
    """
    moments = _weights_of(table)
    weight, first, second = moments[..., 0], moments[..., 1], moments[..., 2]
    present = weight > 0
    mean = ratio_of(first, weight)
    total, squares = weight.sum(axis=-1), second.sum(axis=-1)
    centre = np.asarray(ratio_of(first.sum(axis=-1), total))
    between = (weight * (mean - centre[..., None]) ** 2).sum(axis=-1)
    within = spread_of(moments).sum(axis=-1)
    groups = present.sum(axis=-1)
    degrees, degrees_within = groups - 1.0, total - groups
    tested = (degrees > 0) & (degrees_within > TOLERANCE * total)
    tested &= between > TOLERANCE * squares
    certain = tested & (within <= TOLERANCE * squares)
    odds = ratio_of(between, np.where(tested & ~certain, within, 0.0))
    statistic = np.where(
        tested, odds * degrees_within / np.where(tested, degrees, 1.0), 0.0
    )
    return Test(
        np.where(certain, np.inf, statistic)[()],
        np.where(tested, degrees, 0.0)[()],
        np.where(tested, degrees_within, 0.0)[()],
    )


def _weights_of(table: Tabular) -> Floats:
    weights = table.weights if isinstance(table, CountTable) else table
    return np.asarray(weights, dtype=np.float64)


def _against_independence(weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the expected weights, (o − e) / e, and the degrees of freedom."""
    rows, columns = sums_over(weights, -1), sums_over(weights, -2)
    total = sums_over(rows, -1)
    shares = columns / np.where(total > 0, total, 1.0)[..., None]
    expected = rows[..., None] * shares[..., None, :]
    ratio = ratio_of(weights - expected, expected)
    n_rows, n_columns = (
        sums_over((x > 0).astype(np.float64), -1) for x in (rows, columns)
    )
    degrees = (n_rows - 1.0) * (n_columns - 1.0)
    return expected, ratio, np.where(total > 0, degrees, 0.0)


def _chi_square(statistic: Floats, degrees: Floats) -> Test:
    return Test(np.where(degrees > 0, statistic, 0.0)[()], degrees[()])


def _log_p(statistic: Floats, degrees: Floats, within: Floats | None) -> Floats:
    if within is None:
        return log_chi_square_tail(np.asarray(statistic), np.asarray(degrees))[()]
    certain = np.isinf(statistic)
    finite = np.where(certain, 0.0, statistic)
    logs = log_f_tail(finite, np.asarray(degrees), np.asarray(within))
    return np.where(certain, CERTAIN, logs)[()]
