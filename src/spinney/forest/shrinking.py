"""What a leaf says, shrunk towards what the nodes above it say.

A leaf of a full-grown tree holds a row or two, and swears by them. Shrunk (Agarwal,
Tan, Ronen, Singh and Yu 2022, "Hierarchical shrinkage"), every step down a path counts
the less, the fewer rows it was taken on::

    f(leaf)  =  mean(root)  +  Σ (mean(child) − mean(parent)) / (1 + λ / weight(parent))

over the steps of the path, where a mean is that of the numbers, or the class shares.
Nothing is grown anew, and λ = 0 is the leaf as it is. What a table needs is told by
rows out of the bag: where labels are noisy much is gained by a large λ, and where they
are not it does harm. So a forest tries a few and keeps the best.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from spinney.counts import Floats, Integers

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["shrunk"]


def shrunk(
    told: Floats,
    weight: Floats,
    parent: "NDArray[np.int32]",
    depth: Integers,
    shrinkage: float,
) -> Floats:
    """Return what nodes say, each step down counted by the weight above it.

    Parameters
    ----------
    told : nodes × outputs
        What each node says for itself.
    weight : array
        Of the rows at each node.
    parent, depth : arrays of int
        The node above, -1 at a root, and how many there are.
    shrinkage : float
        λ, in rows' weight.

    Examples
    --------
    >>> told, weight = np.array([[0.5], [0.0], [1.0]]), np.array([10.0, 5.0, 5.0])
    >>> shrunk(told, weight, np.array([-1, 0, 0]), np.array([0, 1, 1]), 10.0)
    array([[0.5 ],
           [0.25],
           [0.75]])
    """
    found = told.copy()
    if not shrinkage:
        return found
    order = np.argsort(depth, kind="stable")
    ends = np.bincount(depth).cumsum()
    for start, end in pairwise(ends):
        here = order[start:end]
        above = parent[here]
        # Of a node without weight nothing is known, and nothing is added there.
        part = weight[above] / (weight[above] + shrinkage)
        found[here] = found[above] + (told[here] - told[above]) * part[:, None]
    return found
