"""The tree for numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from spinney.cells import is_missing
from spinney.errors import DataError
from spinney.estimators.tree import TreeEstimator
from spinney.schema import Target

__all__ = ["TreeRegressor"]


@dataclass(eq=False, repr=False)
class TreeRegressor(RegressorMixin, TreeEstimator):  # type: ignore[misc]
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

        table, truth, weights = self._rows_with_target(X, sample_weight)
        return float(r2_score(truth, self._values(table), sample_weight=weights))
