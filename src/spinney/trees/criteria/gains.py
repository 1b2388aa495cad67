"""What a split takes from an impurity, and the gain ratio.

Where values are missing, gains are discounted by ρ, the share of the weight whose
value is known (Quinlan 1993).
"""

from collections.abc import Sequence

import numpy as np

from spinney._support.arrays import Floats, sums_over
from spinney.trees.counts import CountTable
from spinney.trees.criteria.impurity import (
    Impurity,
    deviation,
    entropy,
    gini,
    misclassification,
    poisson,
    shares_of,
    squared_error,
    variance,
    variance_root,
)

Tabular = CountTable | Floats | Sequence[Sequence[float]]


def as_table(table: Tabular) -> CountTable:
    """Return a table of classes, made from plain numbers where it is none."""
    return table if isinstance(table, CountTable) else CountTable.of(table)  # type: ignore[arg-type]


def as_moments(table: Tabular) -> CountTable:
    """Return a table of moments, made from plain numbers where it is none."""
    return table if isinstance(table, CountTable) else CountTable.of_moments(table)  # type: ignore[arg-type]


def errors(table: Tabular) -> Floats:
    """Return the weight that is misclassified when each branch takes its majority.

    >>> float(errors([[3, 1], [1, 3]]))
    2.0
    """
    weights = as_table(table).weights
    return np.asarray((weights.sum(axis=-1) - weights.max(axis=-1)).sum(axis=-1))[()]


def split_information(table: Tabular) -> Floats:
    """Return the entropy of the branches' sizes: the intrinsic value of the split.

    Rows with a missing value are one more branch (Quinlan 1993).

    >>> round(float(split_information([[3, 3], [4, 2], [1, 4]])), 3)
    1.58
    """
    table = as_table(table)
    sizes = table.sizes
    absent = np.broadcast_to(table.missing_size, sizes.shape[:-1])[..., None]
    return entropy(np.concatenate([sizes, absent], axis=-1))


def decrease(table: Tabular, impurity: Impurity) -> Floats:
    """Return ρ · (impurity of all − Σ share · impurity of a branch), at least 0."""
    table = as_table(table)
    before = impurity(table.total)
    after = sums_over(shares_of(table.sizes) * impurity(table.weights), -1)
    return np.asarray(np.maximum(table.known_share * (before - after), 0.0))[()]


def gain(table: Tabular) -> Floats:
    """Return the information gain in bits (ID3)."""
    return decrease(table, entropy)


def gini_gain(table: Tabular) -> Floats:
    """Return the decrease of Gini's index (CART)."""
    return decrease(table, gini)


def misclassification_gain(table: Tabular) -> Floats:
    """Return the decrease of the error rate."""
    return decrease(table, misclassification)


def variance_gain(table: Tabular) -> Floats:
    """Return the decrease of the variance; the columns are (Σw, Σwy, Σwy²)."""
    return decrease(as_moments(table), variance)


def squared_error_gain(table: Tabular) -> Floats:
    """Return the decrease of the squared error; the columns are (Σw, Σwy, Σwy²)."""
    return decrease(as_moments(table), squared_error)


def deviation_gain(table: Tabular) -> Floats:
    """Return M5's reduction of the standard deviation; the columns are moments.

    >>> float(deviation_gain([[2, -2, 2], [2, 6, 18]]))      # -1, -1 and 3, 3
    2.0
    """
    return decrease(as_moments(table), deviation)


def variance_root_gain(table: Tabular) -> Floats:
    """Return the decrease of the variance's fifth root; the columns are moments."""
    return decrease(as_moments(table), variance_root)


def poisson_gain(table: Tabular) -> Floats:
    """Return the decrease of Poisson's mean deviance; the columns are moments."""
    return decrease(as_moments(table), poisson)


def gain_ratio(table: Tabular) -> Floats:
    """Return gain over split information (C4.5); 0 where the split splits nothing."""
    information = np.asarray(split_information(table))
    gained = np.asarray(gain(table))
    return np.divide(
        gained, information, out=np.zeros_like(gained), where=information > 0
    )[()]
