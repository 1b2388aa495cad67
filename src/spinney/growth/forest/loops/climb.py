"""From leaves up to the root, to learn what the leaves say when they are shrunk.

What a leaf says under several shrinkages at once
(:mod:`spinney.growth.forest.choose_shrinkage`) is a sum over the steps of its path.
Only what it says of one output is wanted, that of a row's own class: so the path is
climbed for each row, and nothing is kept of the nodes.
"""

import numpy as np

from spinney._support.jit.compile import entry


@entry
def climb(leaves, out, parents, outputs, parts, own, sums):
    """Add up what trees say of the own output of rows, under each shrinkage.

    Parameters
    ----------
    leaves : rows × trees
        The node where a row ends.
    out : rows × trees
        Whether the tree is asked about the row.
    parents : array
        The node above; -1 at a root.
    outputs : nodes × outputs
        What each node says for itself.
    parts : nodes × shrinkages
        How much a step down from a node counts.
    own : array
        The output that is asked about, for each row.
    sums : rows × shrinkages
        What is added to.
    """
    for tree in range(leaves.shape[1]):
        for row in range(leaves.shape[0]):
            if not out[row, tree]:
                continue
            node, output = np.int64(leaves[row, tree]), own[row]
            above = np.int64(parents[node])
            while above >= 0:
                step = outputs[node, output] - outputs[above, output]
                for k in range(parts.shape[1]):
                    sums[row, k] += step * parts[above, k]
                node, above = above, np.int64(parents[above])
            for k in range(parts.shape[1]):
                sums[row, k] += outputs[node, output]
