"""The tree for numbers."""

from dataclasses import dataclass

from spinney.estimators.targets import NumberTarget
from spinney.estimators.tree import TreeEstimator

__all__ = ["TreeRegressor"]


@dataclass(eq=False, repr=False)
class TreeRegressor(NumberTarget, TreeEstimator):
    """A regression tree, over tables as they are: a leaf predicts a number.

    It takes tables and settings as :class:`TreeClassifier` does.

    Parameters
    ----------
    recipe : {"auto", "id3", "c4.5", "cart", "chaid", "m5"} or Recipe
        The learner; its ``numeric_criterion`` decides unless ``criterion`` is given.
    criterion, grouping, missing, buckets, n_buckets, alpha_merge, alpha_resplit, \
exhaustive, alpha_split, max_depth, max_leaves, min_samples_split, \
min_samples_leaf, min_weight_fraction_leaf, min_gain, min_branch_share, \
min_deviation, leaves, smoothing, min_step, thresholds, pruning, folds, rule, forest, \
seed, linear_terms, linear_penalty, construct, surrogates : optional
        Settings of the recipe to change; see :class:`spinney.Recipe`. One that has
        no effect is refused by ``fit``, but for ``seed``.
    test_costs, ties, force : optional
        As for :class:`TreeClassifier`.

    Examples
    --------
    >>> from spinney import TreeRegressor
    >>> rows = [["sunny", 30], ["rain", 18], ["rain", 25], ["sunny", 21]]
    >>> model = TreeRegressor("cart", max_depth=1).fit(rows, [8.5, 2.0, 2.5, 9.0])
    >>> print(model)
    y  (4: mean 5.5, sd 3.764)
    ├── x0 = rain → 2.25  (2: mean 2.25, sd 0.3536)
    └── x0 = sunny → 8.75  (2: mean 8.75, sd 0.3536)
    >>> model.predict([["rain", 20]])
    array([2.25])
    """
