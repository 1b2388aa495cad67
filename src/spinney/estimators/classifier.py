"""The tree for classes."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from spinney.data.cost_matrix import Costs
from spinney.data.table import Value
from spinney.estimators.targets import ClassTarget
from spinney.estimators.tree import TreeEstimator

__all__ = ["TreeClassifier"]


@dataclass(eq=False, repr=False)
class TreeClassifier(ClassTarget, TreeEstimator):
    """A decision tree for classes, over tables as they are.

    Nominal, ordinal, numeric and missing values are taken as they are: text,
    booleans and categoricals in a data frame are nominal, ordered categoricals of
    pandas and Arrow ordinal, numbers and dates numeric. Parameters left None come
    from the recipe.

    A model that was fitted reads later tables by scikit-learn's conventions: the
    same columns in the same order. One from :func:`spinney.grow` or
    :func:`spinney.load` finds its columns by name.

    Parameters
    ----------
    recipe : {"auto", "id3", "c4.5", "cart", "chaid"} or Recipe
        The learner; see :class:`spinney.Recipe`.
    criterion, grouping, missing, buckets, n_buckets, alpha_merge, alpha_resplit, \
exhaustive, alpha_split, max_depth, max_leaves, min_samples_split, \
min_samples_leaf, min_weight_fraction_leaf, min_gain, min_branch_share, \
min_deviation, leaves, smoothing, mdl_correction, min_cut_share, min_step, \
thresholds, pruning, confidence, raising, probability, m, folds, rule, forest, seed, \
linear_terms, linear_penalty, construct, surrogates : optional
        Settings of the recipe to change; see :class:`spinney.Recipe`. One that has
        no effect is refused by ``fit``, but for ``seed``.
    class_weight : dict or "balanced", optional
        What each class's weight is multiplied by; "balanced" makes all equal.
    priors : dict, optional
        The share of all weight that each class is to have, in its place.
    cost_matrix : mapping of mappings or square array, optional
        ``cost_matrix[label][true]``: what a label costs where the class is another.
        Splits heed it by altered priors, and labels are those of least expected
        cost; the class shares stay as they are. See :mod:`spinney.trees.costs`.
    test_costs : dict, optional
        What it costs to ask for an attribute, by name: merits are divided by 1 plus
        the cost, unless the attribute was asked for above.
    ties : sequence of str, optional
        Attributes that win ties, first to last; the others follow in column order.
    force : mapping, optional
        The attribute to split by at a node. A node is named by its path: ``()`` is
        the root, ``("texture = clear",)`` the branch that is printed so.

    Attributes
    ----------
    classes_ : array
        The classes.
    model_ : Model
        The tree with its recipe and origin; :attr:`tree` is short for its tree.
    pruning_ : Steps
        What pruning did, in the order in which it was done, while growing or later;
        None of a model that was loaded, for a file does not keep it.
    sequence_ : Sequence
        The subtrees that pruning by cost complexity chose among; None without it.

    Examples
    --------
    >>> from spinney import TreeClassifier
    >>> rows = [["sunny", 30], ["rain", 18], ["rain", 25], ["sunny", 21]]
    >>> model = TreeClassifier(recipe="id3").fit(rows, ["no", "no", "yes", "yes"])
    >>> print(model)
    y  (4: no 2 (50 %), yes 2 (50 %))
    ├── x1 ≤ 19.5 → no  (1: no 1 (100 %))
    └── x1 > 19.5  (3: no 1 (33 %), yes 2 (67 %))
        ├── x1 ≤ 27.5 → yes  (2: yes 2 (100 %))
        └── x1 > 27.5 → no  (1: no 1 (100 %))
    """

    _: KW_ONLY
    mdl_correction: bool | None = None
    min_cut_share: float | None = None
    confidence: float | None = None
    raising: bool | None = None
    probability: str | None = None
    m: float | None = None
    class_weight: Mapping[Value, float] | str | None = None
    priors: Mapping[Value, float] | None = None
    cost_matrix: Costs | None = None

    def _options(self) -> dict[str, Any]:
        return {
            **super()._options(),
            "class_weight": self.class_weight,
            "priors": self.priors,
            "cost_matrix": self.cost_matrix,
        }
