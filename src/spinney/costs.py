"""Labels under costs: the class whose expected cost is least."""

from collections.abc import Sequence

import numpy as np

from spinney.counts import Floats, last_best
from spinney.errors import ParameterError

__all__ = ["cheapest_class", "expected_costs"]


def expected_costs(
    weights: Floats | Sequence[float], costs: Floats | Sequence[Sequence[float]]
) -> Floats:
    """Return Σ_c p(c) · cost(c′ given c) for each label c′.

    Parameters
    ----------
    weights : array of shape (classes,)
        The weight of each class at a node.
    costs : array of shape (classes, classes)
        ``costs[label][true]``: the cost of the label where the class is another.
    """
    shares = np.asarray(weights, dtype=np.float64)
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (len(shares), len(shares)):
        msg = f"costs of shape {matrix.shape} do not fit {len(shares)} classes"
        raise ParameterError(msg)
    return np.asarray(matrix @ (shares / shares.sum()))


def cheapest_class(
    weights: Floats | Sequence[float], costs: Floats | Sequence[Sequence[float]]
) -> int:
    """Return the label of least expected cost; the last of equal ones.

    With cost 1 for every error this is the majority class.

    >>> cheapest_class([8, 2], [[0, 1], [1, 0]])
    0
    >>> cheapest_class([8, 2], [[0, 5], [1, 0]])     # missing class 1 costs 5
    1
    """
    return int(last_best(-expected_costs(weights, costs)))
