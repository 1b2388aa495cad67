"""How good a split is: pure functions of a count table, higher is better.

The rows of the table are the branches of the split. Every function takes a
:class:`~spinney.counts.CountTable` or a plain array of shape (branches, classes),
and a stack of tables gives a stack of merits. Where values are missing, gains
are discounted by ρ, the share of the weight whose value is known (Quinlan 1993).

>>> outlook = [[2, 3], [4, 0], [3, 2]]        # yes, no for sunny, overcast, rain
>>> round(float(gain(outlook)), 3)
0.247
>>> round(float(gain_ratio(outlook)), 3)
0.156
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spinney.counts import CountTable, Floats
from spinney.errors import refuse_unknown

__all__ = [
    "CRITERIA",
    "Criterion",
    "Measure",
    "criterion_named",
    "entropy",
    "errors",
    "gain",
    "gain_ratio",
    "gini",
    "gini_gain",
    "misclassification",
    "misclassification_gain",
    "split_information",
    "variance",
    "variance_gain",
]

Tabular = CountTable | Floats | Sequence[Sequence[float]]
Impurity = Callable[[Floats], Floats]
Measure = Callable[[CountTable], Floats]


def _as_table(table: Tabular) -> CountTable:
    return table if isinstance(table, CountTable) else CountTable.of(table)  # type: ignore[arg-type]


def _shares(weights: Floats) -> Floats:
    """Return weights over their sum along the last axis; 0 where the sum is 0."""
    total = weights.sum(axis=-1, keepdims=True)
    shares: Floats = np.divide(
        weights, total, out=np.zeros_like(weights), where=total > 0
    )
    return shares


def entropy(weights: Floats | Sequence[float]) -> Floats:
    """Return the entropy of class weights in bits, −Σ p log₂ p, with 0 log 0 = 0.

    >>> round(float(entropy([8, 9])), 3)
    0.998
    """
    shares = _shares(np.asarray(weights, dtype=np.float64))
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=-1) + 0.0)[()]


def gini(weights: Floats | Sequence[float]) -> Floats:
    """Return Gini's index of class weights, 1 − Σ p².

    >>> round(float(gini([9, 5])), 3)
    0.459
    """
    weights = np.asarray(weights, dtype=np.float64)
    shares = _shares(weights)
    present = weights.sum(axis=-1) > 0
    return np.asarray(np.where(present, 1 - (shares * shares).sum(axis=-1), 0.0))[()]


def misclassification(weights: Floats | Sequence[float]) -> Floats:
    """Return the error rate of the majority class, 1 − max p.

    >>> float(misclassification([3, 1]))
    0.25
    """
    weights = np.asarray(weights, dtype=np.float64)
    present = weights.sum(axis=-1) > 0
    return np.asarray(np.where(present, 1 - _shares(weights).max(axis=-1), 0.0))[()]


def errors(table: Tabular) -> Floats:
    """Return the weight that is misclassified when each branch takes its majority.

    >>> float(errors([[3, 1], [1, 3]]))
    2.0
    """
    weights = _as_table(table).weights
    return np.asarray((weights.sum(axis=-1) - weights.max(axis=-1)).sum(axis=-1))[()]


def variance(moments: Floats | Sequence[float]) -> Floats:
    """Return the variance with n − 1 from the moments (Σw, Σwy, Σwy²).

    >>> float(variance([3, 6, 14]))      # 1, 2, 3
    1.0
    """
    moments = np.asarray(moments, dtype=np.float64)
    weight, first, second = moments[..., 0], moments[..., 1], moments[..., 2]
    spread = second - np.divide(
        first * first, weight, out=np.zeros_like(weight), where=weight > 0
    )
    degrees = weight - 1
    ratio = np.divide(spread, degrees, out=np.zeros_like(weight), where=degrees > 0)
    return np.asarray(np.maximum(ratio, 0.0))[()]


def split_information(table: Tabular) -> Floats:
    """Return the entropy of the branches' sizes: the intrinsic value of the split.

    Rows with a missing value are one more branch (Quinlan 1993).

    >>> round(float(split_information([[3, 3], [4, 2], [1, 4]])), 3)
    1.58
    """
    table = _as_table(table)
    sizes = table.weights.sum(axis=-1)
    absent = np.broadcast_to(table.missing.sum(), (*sizes.shape[:-1], 1))
    return entropy(np.concatenate([sizes, absent], axis=-1))


def _decrease(table: Tabular, impurity: Impurity, size: int | None = None) -> Floats:
    """Return ρ · (impurity of all − Σ share · impurity of a branch), at least 0."""
    table = _as_table(table)
    sizes = table.weights.sum(axis=-1) if size is None else table.weights[..., size]
    before = impurity(table.total)
    after = (_shares(sizes) * impurity(table.weights)).sum(axis=-1)
    return np.asarray(np.maximum(table.known_share * (before - after), 0.0))[()]


def gain(table: Tabular) -> Floats:
    """Return the information gain in bits (ID3)."""
    return _decrease(table, entropy)


def gini_gain(table: Tabular) -> Floats:
    """Return the decrease of Gini's index (CART)."""
    return _decrease(table, gini)


def misclassification_gain(table: Tabular) -> Floats:
    """Return the decrease of the error rate."""
    return _decrease(table, misclassification)


def variance_gain(table: Tabular) -> Floats:
    """Return the decrease of the variance; the columns are (Σw, Σwy, Σwy²)."""
    return _decrease(table, variance, size=0)


def gain_ratio(table: Tabular) -> Floats:
    """Return gain over split information (C4.5); 0 where the split splits nothing."""
    information = np.asarray(split_information(table))
    gained = np.asarray(gain(table))
    return np.divide(
        gained, information, out=np.zeros_like(gained), where=information > 0
    )[()]


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion as data: what attributes, and what cuts of one, compete by.

    Parameters
    ----------
    name : str
        What the user types.
    impurity : function of class weights
        What ``explain`` shows for a node and its branches.
    gain : function of a count table
        Chooses among the groupings of one attribute. Stopping by minimal gain
        and best-first growth read it too.
    merit : function of a count table
        Chooses among attributes.
    average : bool
        Only attributes whose gain is at least the average compete (C4.5).
    impurity_name, merit_name : str
        How ``explain`` calls them.
    """

    name: str
    impurity: Impurity
    gain: Measure
    merit: Measure
    impurity_name: str
    merit_name: str
    average: bool = False


CRITERIA = {
    criterion.name: criterion
    for criterion in (
        Criterion("gain", entropy, gain, gain, "entropy", "gain"),
        Criterion(
            "gain_ratio",
            entropy,
            gain,
            gain_ratio,
            "entropy",
            "gain ratio",
            average=True,
        ),
        Criterion("gini", gini, gini_gain, gini_gain, "gini", "decrease of gini"),
        Criterion(
            "misclassification",
            misclassification,
            misclassification_gain,
            misclassification_gain,
            "error",
            "decrease of error",
        ),
    )
}


def criterion_named(name: str) -> Criterion:
    """Return the criterion of this name."""
    if isinstance(name, str) and name in CRITERIA:
        return CRITERIA[name]
    refuse_unknown("criterion", name, CRITERIA)
