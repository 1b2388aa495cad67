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

from spinney.counts import TOLERANCE, CountTable, Floats
from spinney.errors import refuse_unknown

__all__ = [
    "CRITERIA",
    "Criterion",
    "Measure",
    "criterion_named",
    "deviation",
    "deviation_gain",
    "entropy",
    "errors",
    "gain",
    "gain_ratio",
    "gini",
    "gini_gain",
    "misclassification",
    "misclassification_gain",
    "poisson",
    "poisson_gain",
    "split_information",
    "squared_error",
    "squared_error_gain",
    "variance",
    "variance_gain",
    "variance_root",
    "variance_root_gain",
]

OF_ROOTS = 1e-9

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
    return _ratio(_spread(moments), moments[..., 0] - 1)


def _spread(moments: Floats) -> Floats:
    """Return Σw(y − mean)², at least 0: where values are equal, rounding is not."""
    weight, first, second = moments[..., 0], moments[..., 1], moments[..., 2]
    spread = second - _ratio(first * first, weight)
    return np.maximum(np.where(spread <= TOLERANCE * second, 0.0, spread), 0.0)


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return above / below; 0 where nothing is below."""
    above = np.asarray(above)
    return np.asarray(
        np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    )[()]


def squared_error(moments: Floats | Sequence[float]) -> Floats:
    """Return the mean squared error around the mean, Σw(y − mean)² / Σw (CART).

    >>> round(float(squared_error([3, 6, 14])), 3)      # 1, 2, 3
    0.667
    """
    moments = np.asarray(moments, dtype=np.float64)
    return _ratio(_spread(moments), moments[..., 0])


def deviation(moments: Floats | Sequence[float]) -> Floats:
    """Return the standard deviation √(Σw(y − mean)² / Σw) (M5, Quinlan 1992).

    >>> float(deviation([4, 4, 20]))      # -1, -1, 3, 3
    2.0
    """
    return np.asarray(np.sqrt(squared_error(moments)))[()]


def variance_root(moments: Floats | Sequence[float]) -> Floats:
    """Return the fifth root of the variance Σw(y − mean)² / Σw.

    It is what Weka's M5P splits by, in the place of M5's standard deviation: the
    flatter root gives less weight to the branch whose numbers spread most.

    >>> float(variance_root([2, 0, 64]))      # ±√32
    2.0
    """
    return np.asarray(np.power(squared_error(moments), 0.2))[()]


def poisson(moments: Floats | Sequence[float]) -> Floats:
    """Return −2 λ ln λ of the mean λ: what a split can change of Poisson's deviance.

    The mean deviance of counts y around λ is 2 · mean(y ln y) − 2 λ ln λ, and no
    split changes the mean of y ln y. The moments must be counted from 0.
    """
    moments = np.asarray(moments, dtype=np.float64)
    mean = np.asarray(_ratio(moments[..., 1], moments[..., 0]))
    logs = np.log(mean, out=np.zeros_like(mean), where=mean > 0)
    return np.asarray(-2 * mean * logs + 0.0)[()]


def split_information(table: Tabular) -> Floats:
    """Return the entropy of the branches' sizes: the intrinsic value of the split.

    Rows with a missing value are one more branch (Quinlan 1993).

    >>> round(float(split_information([[3, 3], [4, 2], [1, 4]])), 3)
    1.58
    """
    table = _as_table(table)
    sizes = table.sizes
    absent = np.broadcast_to(table.missing_size, (*sizes.shape[:-1], 1))
    return entropy(np.concatenate([sizes, absent], axis=-1))


def _decrease(table: Tabular, impurity: Impurity) -> Floats:
    """Return ρ · (impurity of all − Σ share · impurity of a branch), at least 0."""
    table = _as_table(table)
    before = impurity(table.total)
    after = (_shares(table.sizes) * impurity(table.weights)).sum(axis=-1)
    return np.asarray(np.maximum(table.known_share * (before - after), 0.0))[()]


def _as_moments(table: Tabular) -> CountTable:
    return table if isinstance(table, CountTable) else CountTable.of_moments(table)  # type: ignore[arg-type]


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
    return _decrease(_as_moments(table), variance)


def squared_error_gain(table: Tabular) -> Floats:
    """Return the decrease of the squared error; the columns are (Σw, Σwy, Σwy²)."""
    return _decrease(_as_moments(table), squared_error)


def deviation_gain(table: Tabular) -> Floats:
    """Return M5's reduction of the standard deviation; the columns are moments.

    >>> float(deviation_gain([[2, -2, 2], [2, 6, 18]]))      # -1, -1 and 3, 3
    2.0
    """
    return _decrease(_as_moments(table), deviation)


def variance_root_gain(table: Tabular) -> Floats:
    """Return the decrease of the variance's fifth root; the columns are moments."""
    return _decrease(_as_moments(table), variance_root)


def poisson_gain(table: Tabular) -> Floats:
    """Return the decrease of Poisson's mean deviance; the columns are moments."""
    return _decrease(_as_moments(table), poisson)


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
    numeric : bool
        Whether it is for a numeric target, and reads moments.
    from_zero : bool
        Whether moments must be counted from 0 rather than from the mean.
    tolerance : float
        How close merits are equal. Roots of small variances have fewer digits than
        the sums they come from.
    """

    name: str
    impurity: Impurity
    gain: Measure
    merit: Measure
    impurity_name: str
    merit_name: str
    average: bool = False
    numeric: bool = False
    from_zero: bool = False
    tolerance: float = TOLERANCE


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
        Criterion(
            "variance",
            variance,
            variance_gain,
            variance_gain,
            "variance",
            "decrease of variance",
            numeric=True,
        ),
        Criterion(
            "squared_error",
            squared_error,
            squared_error_gain,
            squared_error_gain,
            "squared error",
            "decrease of squared error",
            numeric=True,
        ),
        Criterion(
            "sdr",
            deviation,
            deviation_gain,
            deviation_gain,
            "sd",
            "reduction of the standard deviation",
            numeric=True,
            tolerance=OF_ROOTS,
        ),
        Criterion(
            "variance_root",
            variance_root,
            variance_root_gain,
            variance_root_gain,
            "fifth root of variance",
            "decrease of the fifth root of variance",
            numeric=True,
            tolerance=OF_ROOTS,
        ),
        Criterion(
            "poisson",
            poisson,
            poisson_gain,
            poisson_gain,
            "-2 mean ln mean",
            "decrease of deviance",
            numeric=True,
            from_zero=True,
        ),
    )
}


def criterion_named(name: str) -> Criterion:
    """Return the criterion of this name."""
    if isinstance(name, str) and name in CRITERIA:
        return CRITERIA[name]
    refuse_unknown("criterion", name, CRITERIA)
