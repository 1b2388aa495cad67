"""Hierarchical shrinkage: the predictions of leaves shrink towards those of ancestors.

A leaf of a full-grown tree has a row or two, which overfits. With shrinkage (Agarwal,
Tan, Ronen, Singh and Yu 2022, "Hierarchical shrinkage"), a step down a path counts less
if it was made on fewer rows::

    f(leaf)  =  mean(root)  +  Σ (mean(child) − mean(parent)) / (1 + λ / weight(parent))

over the steps of the path. A mean is the mean target, or the class probabilities.
Nothing is grown again, and λ = 0 means no shrinkage. A large λ helps if labels are
noisy, and does harm otherwise. So a forest tries a few values on out-of-bag rows, and
takes the best.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from spinney._support.arrays import Floats, Integers

if TYPE_CHECKING:
    from numpy.typing import NDArray


def shrunk(
    outputs: Floats,
    weight: Floats,
    parent: "NDArray[np.integer]",
    depth: Integers,
    shrinkages: Sequence[float],
) -> Floats:
    """Return the shrunk outputs of nodes.

    Parameters
    ----------
    outputs : nodes × outputs
        The outputs of each node as they are.
    weight : array
        The weight of the rows at each node.
    parent, depth : arrays of int
        The parent, -1 at a root, and the depth.
    shrinkages : sequence of float
        λ, in rows' weight; the outputs of each stand side by side.

    Examples
    --------
    >>> outputs, weight = np.array([[0.5], [0.0], [1.0]]), np.array([10.0, 5.0, 5.0])
    >>> shrunk(outputs, weight, np.array([-1, 0, 0]), np.array([0, 1, 1]), [0.0, 10.0])
    array([[0.5 , 0.5 ],
           [0.  , 0.25],
           [1.  , 0.75]])
    """
    lambdas = np.array(shrinkages, dtype=np.float64)
    factors = step_factors(weight, shrinkages)
    shrunken = np.empty((len(outputs), len(lambdas), outputs.shape[1]))
    order = np.argsort(depth, kind="stable")
    ends = np.bincount(depth).cumsum()
    shrunken[order[: ends[0]]] = outputs[order[: ends[0]], None]
    for start, end in pairwise(ends):
        level = order[start:end]
        above = parent[level]
        step = (outputs[level] - outputs[above])[:, None]
        shrunken[level] = shrunken[above] + step * factors[above, :, None]
    shrunken[:, lambdas == 0] = outputs[:, None]  # as they are, to the last bit
    return shrunken.reshape(len(outputs), -1)


def step_factors(weight: Floats, shrinkages: Sequence[float]) -> Floats:
    """Return the factor of a step down from each node, nodes × shrinkages.

    It is 0 for a node without weight.
    """
    size, lambdas = weight[:, None], np.array(shrinkages, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        factors = np.asarray(size / (size + lambdas))
    factors[weight <= 0] = 0.0
    return factors
