"""Merits that compare a split with chance: tests of significance, and code length.

Attributes with different numbers of branches have different degrees of freedom, so
their statistics cannot be compared, but their p-values can. So attributes compete by
−ln p, which is finite even if p underflows. The cuts of one attribute share their
degrees of freedom, and compete by an effect per row: φ², bits, or squared error. p is
for a single test: trying many cuts makes it too small, which CHAID corrects.

Only rows with a known value are tested; p needs no further discount. Weights count as
frequencies (:mod:`spinney.trees.criteria.significance`).
"""

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE
from spinney.trees.counts import ratio_of
from spinney.trees.criteria.gains import Tabular, as_moments, as_table
from spinney.trees.criteria.impurity import description_length
from spinney.trees.criteria.significance import chi_square_test, f_test, g_test


def phi_square(table: Tabular) -> Floats:
    """Return χ² over the weight of all rows: Pearson's mean square contingency.

    With missing values it is ρ times that of the known rows.

    >>> round(float(phi_square([[2, 3], [4, 0], [3, 2]])), 3)      # 3.547 / 14
    0.253
    """
    table = as_table(table)
    known = table.sizes.sum(axis=-1)
    statistic = np.asarray(chi_square_test(table).statistic)
    return ratio_of(table.known_share * statistic, known)


def chi_square(table: Tabular) -> Floats:
    """Return −ln p of Pearson's test that branches and classes are independent.

    χ² = Σ (n − e)² / e over the cells, e being what independence lets expect, with
    (branches − 1)(classes − 1) degrees of freedom (Pearson 1900; for trees Hart
    1984 and Mingers 1987). The test itself is
    :func:`spinney.trees.criteria.significance.chi_square_test`.

    >>> round(float(chi_square([[2, 3], [4, 0], [3, 2]])), 3)      # −ln 0.1698
    1.773
    """
    return np.asarray(0.0 - chi_square_test(as_table(table)).log_p)[()]


def g(table: Tabular) -> Floats:
    """Return −ln p of the likelihood-ratio test of independence.

    G = 2 Σ n ln(n / e) = 2 ln 2 · n · gain: the information gain in bits, judged
    with the degrees of freedom that it cost (Wilks 1938; Mingers 1987). The test
    itself is :func:`spinney.trees.criteria.significance.g_test`.

    >>> round(float(g([[2, 3], [4, 0], [3, 2]])), 3)      # −ln 0.0912
    2.394
    """
    return np.asarray(0.0 - g_test(as_table(table)).log_p)[()]


def f(table: Tabular) -> Floats:
    """Return −ln p of the F test that the branches of a numeric target are alike.

    F = (between / (k − 1)) / (within / (n − k)), of sums of squares around means
    (Fisher 1925). The lines of the table are the moments (Σw, Σwy, Σwy²). Where
    nothing varies within branches p is 0 and the merit 1e300. The test itself is
    :func:`spinney.trees.criteria.significance.f_test`.

    >>> round(float(f([[3, 6, 14], [3, 15, 77]])), 3)      # −ln 0.0213
    3.849
    """
    return np.asarray(0.0 - f_test(as_moments(table)).log_p)[()]


def mdl(table: Tabular) -> Floats:
    """Return the bits per row that a split saves in encoding the classes.

    The description length of all rows less those of the branches, over the number
    of rows (Kononenko 1995; ``MDL`` in CORElearn). Of the published
    definitions this one is a function of the count table alone, needs no parameter,
    and does not favour attributes with many values; Fayyad and Irani's (1993) is a
    rule to stop cutting, and Quinlan and Rivest's (1989) is a code of whole trees.

    If classes and branches are independent it is below 0: the split costs more than it
    saves, and a ``min_gain`` of 0 stops there. Missing values: the known rows alone,
    discounted by their fraction ρ.

    >>> round(float(mdl([[2, 3], [4, 0], [3, 2]])), 4)
    0.0527
    """
    table = as_table(table)
    known = table.sizes.sum(axis=-1)
    before = description_length(table.total)
    saved = np.asarray(before - description_length(table.weights).sum(axis=-1))
    # Codes of equal length are common (1, 1 | 1, 0 of 2, 1): rounding must not decide
    # whether such a split gains at least 0.
    saved = np.where(np.abs(saved) <= TOLERANCE * np.maximum(1.0, before), 0.0, saved)
    return ratio_of(table.known_share * saved, known)
