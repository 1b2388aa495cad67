"""The tree for numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from spinney.cells import is_missing
from spinney.errors import DataError
from spinney.estimators.tree import TreeEstimator, checked_weights
from spinney.recipe import DEFAULT_RECIPE, Named, Recipe
from spinney.schema import Target
from spinney.training import check_target

__all__ = ["TreeRegressor"]


class TreeRegressor(RegressorMixin, TreeEstimator):  # type: ignore[misc]
    """A regression tree, over tables as they are: a leaf predicts a number.

    It takes tables and settings as :class:`TreeClassifier` does.

    Parameters
    ----------
    recipe : {"auto", "id3", "c4.5", "cart", "chaid", "m5"} or Recipe
        The learner; its ``numeric_criterion`` decides unless ``criterion`` is given.
    criterion, grouping, missing, buckets, n_buckets, alpha_merge, alpha_resplit, \
exhaustive, alpha_split, max_depth, max_leaves, min_samples_split, \
min_samples_leaf, min_weight_fraction_leaf, min_branch_share, min_deviation, \
leaves, pruning, smoothing, min_gain, linear_terms, \
linear_penalty, construct, surrogates : optional
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

    def __init__(
        self,
        recipe: str | Recipe = DEFAULT_RECIPE,
        *,
        criterion: Named | None = None,
        grouping: str | None = None,
        missing: str | None = None,
        buckets: str | None = None,
        n_buckets: int | None = None,
        alpha_merge: float | None = None,
        alpha_resplit: float | None = None,
        exhaustive: bool | None = None,
        alpha_split: float | None = None,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_samples_split: float | None = None,
        min_samples_leaf: float | None = None,
        min_weight_fraction_leaf: float | None = None,
        min_gain: float | None = None,
        min_branch_share: float | None = None,
        min_deviation: float | None = None,
        leaves: str | None = None,
        smoothing: float | None = None,
        min_step: float | None = None,
        thresholds: str | None = None,
        pruning: str | None = None,
        folds: int | None = None,
        rule: str | None = None,
        forest: float | None = None,
        seed: int | None = None,
        linear_terms: int | None = None,
        linear_penalty: float | None = None,
        construct: int | None = None,
        surrogates: int | None = None,
        test_costs: Mapping[str, float] | None = None,
        ties: Sequence[str] | None = None,
        force: Mapping[Any, str] | None = None,
    ) -> None:
        self.recipe = recipe
        self.criterion = criterion
        self.grouping = grouping
        self.missing = missing
        self.buckets = buckets
        self.n_buckets = n_buckets
        self.alpha_merge = alpha_merge
        self.alpha_resplit = alpha_resplit
        self.exhaustive = exhaustive
        self.alpha_split = alpha_split
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_gain = min_gain
        self.min_branch_share = min_branch_share
        self.min_deviation = min_deviation
        self.leaves = leaves
        self.smoothing = smoothing
        self.min_step = min_step
        self.thresholds = thresholds
        self.pruning = pruning
        self.folds = folds
        self.rule = rule
        self.forest = forest
        self.seed = seed
        self.linear_terms = linear_terms
        self.linear_penalty = linear_penalty
        self.construct = construct
        self.surrogates = surrogates
        self.test_costs = test_costs
        self.ties = ties
        self.force = force

    def _target(self, y: Any, name: str, n_rows: int) -> tuple[Target, Any]:
        cells = column_or_1d(y, warn=True)
        if cells.dtype == object and any(map(is_missing, cells)):
            msg = "Input y contains NaN or None: every row needs a number"
            raise DataError(msg)
        try:
            numbers = np.asarray(cells, dtype=np.float64)
        except (TypeError, ValueError):
            msg = f"y holds {str(cells[0])!r}, which is no number: use TreeClassifier"
            raise DataError(msg) from None
        if len(numbers) != n_rows:
            msg = f"X has {n_rows} rows and y has {len(numbers)}: they must match"
            raise DataError(msg)
        if not np.isfinite(numbers).all():
            msg = "Input y contains NaN or infinity: every row needs a number"
            raise DataError(msg)
        return Target(name, origin=0.0), numbers

    # Predicting

    def predict(self, X: Any) -> Any:
        """Return the number of each row."""
        return self._values(X)

    @property
    def predict_proba(self) -> Any:
        """Refuse, as if it were not there: numbers have no classes."""
        msg = "a tree for numbers has no class shares: use predict"
        raise AttributeError(msg)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R²; without y, the table must hold the target column."""
        if y is not None:
            return float(super().score(X, y, sample_weight))
        from sklearn.metrics import r2_score

        table = self.read(X)
        target = self._grown().schema.target
        column = check_target(table, target.name)
        known = ~column.missing
        weights = checked_weights(sample_weight, table.n_rows)[known]
        truth = target.encode(column)[known]
        found = self._values(table)[known]
        return float(r2_score(truth, found, sample_weight=weights))
