"""Labels under costs: the class of least expected cost."""

from collections.abc import Sequence

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import last_best
from spinney.errors import ParameterError


def expected_costs(
    weights: Floats | Sequence[float], costs: Floats | Sequence[Sequence[float]]
) -> Floats:
    """Return Σ_c p(c) · cost(c′ given c) for each label c′.

    Parameters
    ----------
    weights : array of shape (classes,)
        The weight of each class at a node.
    costs : array of shape (classes, classes)
        ``costs[label][true]``: the cost of predicting the label for a row of the true
        class.
    """
    shares = np.asarray(weights, dtype=np.float64)
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (len(shares), len(shares)):
        msg = f"costs of shape {matrix.shape} do not fit {len(shares)} classes"
        raise ParameterError(msg)
    return np.asarray(matrix @ (shares / shares.sum()))


def labels_of(
    probabilities: Floats, costs: Floats | Sequence[Sequence[float]] | None = None
) -> Integers:
    """Return the label of each line of class probabilities; the last of equal ones.

    It is the class of greatest probability, or under ``costs`` of least expected cost.
    The last class is the positive one by scikit-learn's convention, as in
    (False, True), ("no", "yes") or (0, 1), so a probability of one half is positive.

    With cost 1 for every error this is the majority class.

    >>> shares = np.array([[0.5, 0.5, 0.0], [0.8, 0.2, 0.0]])
    >>> labels_of(shares)
    array([1, 0])
    >>> labels_of(shares, [[0, 5, 5], [1, 0, 1], [1, 1, 0]])
    array([1, 1])
    """
    if costs is None:
        return last_best(probabilities)
    matrix = np.asarray(costs, dtype=np.float64)
    return last_best(-(probabilities @ (matrix / (matrix.max() or 1.0)).T))


def altered_priors(
    weights: Floats, costs: Floats | Sequence[Sequence[float]]
) -> Floats:
    """Return the factors on class weights by which splits respect the costs.

    A class counts as much more as its errors cost in all; the weight of all rows
    stays (Breiman et al. 1984, section 4.4).

    >>> altered_priors(np.array([64.0, 17.0]), [[0, 3], [4, 0]])
    array([1.05537459, 0.79153094])
    """
    matrix = np.asarray(costs, dtype=np.float64)
    cost = (matrix / (matrix.max() or 1.0)).sum(axis=0)
    total = (cost * weights).sum()
    if not total:  # one class alone is never missed
        return np.ones(len(weights))
    return np.asarray(cost * (weights.sum() / total))
