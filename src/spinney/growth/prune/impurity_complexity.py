"""Cost complexity as scikit-learn counts it: a leaf costs α of the mean impurity.

The risk of a node as a leaf is its impurity times its fraction of all weight; CART by
Breiman et al. and rpart count the rows in error. For a numeric target both use squared
errors, here divided by the weight of all rows. So an α of scikit-learn gives
scikit-learn's tree.
"""

import numpy as np

from spinney._support.arrays import Floats
from spinney.errors import Setting, refusal
from spinney.growth.prune.cost_complexity import cut_at
from spinney.growth.prune.cost_complexity_sequence import PruningSequence, sequence_of
from spinney.growth.prune.prune_record import Pruned
from spinney.recipes import Recipe
from spinney.trees import Tree
from spinney.trees.criteria import CRITERIA


def impurity_sequence(tree: Tree, recipe: Recipe) -> PruningSequence:
    """Return the subtrees of a tree by the cost of a leaf in mean impurity."""
    return sequence_of(tree, mean_impurities(tree, recipe))


def pruned_by_impurity(tree: Tree, recipe: Recipe, alpha: float) -> Pruned:
    """Return the cheapest subtree if a leaf costs ``alpha``."""
    risks = mean_impurities(tree, recipe)
    sequence = sequence_of(tree, risks)
    return cut_at(tree, sequence, alpha, risks=risks, unit="impurity")


def mean_impurities(tree: Tree, recipe: Recipe) -> Floats:
    """Return the contribution of each node, as a leaf, to the mean impurity."""
    target, arrays = tree.schema.target, tree.arrays
    criterion = recipe.measure(numeric=target.is_numeric)
    if target.is_numeric:
        criterion = CRITERIA["squared_error"]
    if arrays.models is not None or recipe.leaves == "linear":
        raise refusal(
            Setting("ccp_alpha"),
            "judges leaves by their means, and this tree has linear models",
            ("take ", Setting("leaves", "mean"), ", or a recipe that has it"),
        )
    if criterion.impurity is None:
        raise refusal(
            Setting("ccp_alpha"),
            ("needs an impurity; ", Setting("criterion", criterion.name), " is none"),
            "take 'gini' or 'gain'",
        )
    weights = np.asarray(arrays.weights, np.float64)
    sizes = arrays.weight(target)
    return np.asarray(sizes / sizes[0] * criterion.impurity(weights))
