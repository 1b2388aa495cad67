"""MDL pruning: the subtree that describes the training classes in the fewest bits.

After Mehta, Rissanen & Agrawal, MDL-based decision tree pruning (KDD 1995), in the full
form: one bit says whether a node is a leaf or a split. The classes of the n rows at a
leaf, n_c of class c among k classes, take the stochastic complexity ::

    Σ_c n_c log₂(n / n_c)  +  (k − 1)/2 · log₂(n / 2)  +  log₂(π^(k/2) / Γ(k/2))

A split takes log₂ of the number of attributes, and log₂ of the number of possible
splits on its attribute: 1 for one branch per value, 2^(v−1) − 1 for two subsets of v
values, v − 1 for a cut of ordered ones. The tree does not store the number of distinct
values of a numeric attribute at a node, so n − 1 cuts are counted. A branch without
rows needs no bit, since the decoder knows the rows.

The older proposal by Quinlan & Rivest (1989) is for two classes without numeric
attributes, and Wallace & Patrick (1993) criticised its code for exceptions.
"""

from math import lgamma, log, log2, pi

import numpy as np

from spinney._support.arrays import Floats
from spinney.growth.prune.prune_record import Pruned
from spinney.growth.prune.risk import leaf_risks
from spinney.growth.prune.walks import cheapest
from spinney.trees import Intervals, Node, Tree


def class_bits(weights: Floats) -> float:
    """Return the bits for the classes of the rows at a leaf; at least 0.

    >>> import numpy as np
    >>> round(class_bits(np.array([4.0, 4.0])), 3)      # 8 + log₂(4)/2 + log₂ π
    10.651
    """
    n, k = float(weights.sum()), len(weights)
    if n <= 0:
        return 0.0
    present = weights[weights > 0]
    # A quotient of the two could be too large for a float.
    data = float((present * (log2(n) - np.log2(present))).sum())
    size = log2(n) - 1  # half of the least float would be 0
    constant = (k / 2 * log(pi) - lgamma(k / 2)) / log(2)
    return max(data + (k - 1) / 2 * size + constant, 0.0)


def split_bits(tree: Tree, node: Node) -> float:
    """Return the bits that encode the split of a node, without its children."""
    candidate = node.candidate
    attribute = tree.schema.attributes[candidate.attribute]
    n_values = len(candidate.table.values)
    bits = 1.0 + log2(len(tree.schema.attributes))
    if isinstance(candidate.split, Intervals):  # buckets, which are given
        return bits
    if attribute.kind == "numeric":
        return bits + log2(max(node.n_rows - 1, 1))
    if candidate.split.n_branches > 2 or n_values <= 2:
        return bits
    if attribute.kind == "ordinal":
        return bits + log2(n_values - 1)
    return bits + (n_values - 1) + log2(1 - 0.5 ** (n_values - 1))


def mdl(tree: Tree) -> Pruned:
    """Return the pruned tree of the fewest bits, with a record of each step.

    A step's ``before`` and ``after`` are the bits of the whole tree.
    """
    as_leaf = np.array(
        [1.0 + class_bits(node.weights) if node.n_rows else 0.0 for node in tree]
    )
    split_costs = np.array([0.0 if n.is_leaf else split_bits(tree, n) for n in tree])
    return cheapest(
        tree, as_leaf, split_costs=split_costs, risks=leaf_risks(tree), measure="bits"
    )
