"""Gains (the decrease of an impurity by a split), and the gain ratio.

If values are missing, gains are multiplied by ρ, the fraction of the weight with a
known value (Quinlan 1993).
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from spinney._support.arrays import Floats, sums_over
from spinney.trees.counts import CountTable, ratio_of
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
    """Return a count table of classes, made from plain numbers if necessary."""
    return table if isinstance(table, CountTable) else CountTable.of(table)  # type: ignore[arg-type]


def as_moments(table: Tabular) -> CountTable:
    """Return a count table of moments, made from plain numbers if necessary."""
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
    missing_size = np.broadcast_to(table.missing_size, sizes.shape[:-1])[..., None]
    return entropy(np.concatenate([sizes, missing_size], axis=-1))


def decrease(table: Tabular, impurity: Impurity, *, moments: bool = False) -> Floats:
    """Return ρ · (impurity of all − Σ proportion · impurity of a branch), at least 0.

    Plain numbers are weights by class, or lines of ``moments`` (Σw, Σwy, Σwy²).
    """
    table = as_moments(table) if moments else as_table(table)
    before = impurity(table.total)
    after = sums_over(shares_of(table.sizes) * impurity(table.weights), -1)
    return np.asarray(np.maximum(table.known_share * (before - after), 0.0))[()]


def gain(table: Tabular) -> Floats:
    """Return the information gain in bits (ID3)."""
    return decrease(table, entropy)


# The decrease of Gini's index (CART), and of the error rate.
gini_gain = partial(decrease, impurity=gini)
misclassification_gain = partial(decrease, impurity=misclassification)
# Of a numeric target; M5's reduction of the standard deviation among them.
variance_gain = partial(decrease, impurity=variance, moments=True)
squared_error_gain = partial(decrease, impurity=squared_error, moments=True)
deviation_gain = partial(decrease, impurity=deviation, moments=True)
variance_root_gain = partial(decrease, impurity=variance_root, moments=True)
poisson_gain = partial(decrease, impurity=poisson, moments=True)


def gain_ratio(table: Tabular) -> Floats:
    """Return gain / split information (C4.5); 0 if all rows are in one branch."""
    return ratio_of(gain(table), split_information(table))
