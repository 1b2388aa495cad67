"""What a leaf says, shrunk towards what the nodes above it say.

A leaf of a full-grown tree holds a row or two, and swears by them. Shrunk (Agarwal,
Tan, Ronen, Singh and Yu 2022, "Hierarchical shrinkage"), every step down a path counts
the less, the fewer rows it was taken on::

    f(leaf)  =  mean(root)  +  Σ (mean(child) − mean(parent)) / (1 + λ / weight(parent))

over the steps of the path, where a mean is that of the numbers, or the class shares.
Nothing is grown anew, and λ = 0 is the leaf as it is. What a table needs is measured on
rows out of the bag: where labels are noisy much is gained by a large λ, and where they
are not it does harm. So a forest tries a few and keeps the best.
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
    """Return what nodes say, each step down counted by the weight above it.

    Parameters
    ----------
    outputs : nodes × outputs
        What each node says for itself.
    weight : array
        Of the rows at each node.
    parent, depth : arrays of int
        The node above, -1 at a root, and how many there are.
    shrinkages : sequence of float
        λ, in rows' weight; what nodes say under each stands side by side.

    Examples
    --------
    >>> outputs, weight = np.array([[0.5], [0.0], [1.0]]), np.array([10.0, 5.0, 5.0])
    >>> shrunk(outputs, weight, np.array([-1, 0, 0]), np.array([0, 1, 1]), [0.0, 10.0])
    array([[0.5 , 0.5 ],
           [0.  , 0.25],
           [1.  , 0.75]])
    """
    tried = np.array(shrinkages, dtype=np.float64)
    parts = parts_of(weight, shrinkages)
    shrunken = np.empty((len(outputs), len(tried), outputs.shape[1]))
    order = np.argsort(depth, kind="stable")
    ends = np.bincount(depth).cumsum()
    shrunken[order[: ends[0]]] = outputs[order[: ends[0]], None]
    for start, end in pairwise(ends):
        here = order[start:end]
        above = parent[here]
        step = (outputs[here] - outputs[above])[:, None]
        shrunken[here] = shrunken[above] + step * parts[above, :, None]
    shrunken[:, tried == 0] = outputs[:, None]  # as they are, to the last bit
    return shrunken.reshape(len(outputs), -1)


def parts_of(weight: Floats, shrinkages: Sequence[float]) -> Floats:
    """Return how much a step down from each node counts, nodes × shrinkages.

    Of a node without weight nothing is known, and nothing is added there.
    """
    size, tried = weight[:, None], np.array(shrinkages, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        parts = np.asarray(size / (size + tried))
    parts[weight <= 0] = 0.0
    return parts
