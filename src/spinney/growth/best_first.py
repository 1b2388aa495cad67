"""The limit on leaves, applied to a tree that is grown already.

The split of a node depends on its rows alone. So the tree that grows best-first up to a
number of leaves is a part of the unlimited tree: its nodes are visited again in the
order in which the plain learner would have split them.
"""

from heapq import heappush

from spinney._support.ties import TOLERANCE, pop_oldest_of_best
from spinney.recipes import Recipe
from spinney.trees import Reason, Tree, cut


def limited(tree: Tree, recipe: Recipe) -> Tree:
    """Return the part of a tree that its recipe's limit on leaves leaves."""
    cuts = beyond_limit(tree, recipe)
    return cut(tree, cuts, Reason.LEAVES) if cuts else tree


def beyond_limit(tree: Tree, recipe: Recipe) -> list[int]:
    """Return the nodes that a limit on leaves makes leaves."""
    assert recipe.max_leaves is not None
    if tree.n_leaves <= recipe.max_leaves:
        return []
    arrays, target = tree.arrays, tree.schema.target
    links, weight = arrays.links(), arrays.weight(target)
    unit = 1.0
    if target.is_numeric:
        unit = recipe.measure(numeric=True).gain_unit(arrays.weights[0])
    margin = TOLERANCE * float(weight[0]) * unit
    waiting = [(-float(weight[0] * arrays.gain[0]), 0, 0)]
    cuts, n_made, n_leaves = [], 0, 1
    while waiting:
        node = pop_oldest_of_best(waiting, margin)
        first, count = int(links.first[node]), int(links.count[node])
        if n_leaves + count - 1 > recipe.max_leaves:
            cuts.append(node)
            continue
        n_leaves += count - 1
        for child in links.children[first : first + count].tolist():
            n_made += 1
            if links.count[child]:
                urgency = -float(weight[child] * arrays.gain[child])
                heappush(waiting, (urgency, n_made, child))
    return cuts
