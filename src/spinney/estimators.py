"""The scikit-learn classes over all of it."""

import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from spinney.cells import is_missing
from spinney.counts import Floats
from spinney.errors import DataError
from spinney.files import read_table
from spinney.growing import grow_model
from spinney.model import Model
from spinney.predict import majorities
from spinney.readable import ReadableTree
from spinney.recipe import SETTINGS, Recipe, recipe_named
from spinney.schema import Target
from spinney.table import Table, Value
from spinney.training import check_target, training_set

__all__ = ["TreeClassifier"]


class TreeClassifier(ReadableTree, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
    recipe : {"id3", "c4.5", "cart"} or Recipe
        The learner; see :class:`spinney.Recipe`.
    criterion, grouping, missing, max_depth, max_leaves, min_samples_split, \
min_samples_leaf, min_weight_fraction_leaf, min_gain : optional
        Settings of the recipe to change; see :class:`spinney.Recipe`.
    class_weight : dict or "balanced", optional
        What each class's weight is multiplied by; "balanced" makes all equal.
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

    def __init__(
        self,
        recipe: str | Recipe = "c4.5",
        *,
        criterion: str | None = None,
        grouping: str | None = None,
        missing: str | None = None,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_samples_split: float | None = None,
        min_samples_leaf: float | None = None,
        min_weight_fraction_leaf: float | None = None,
        min_gain: float | None = None,
        class_weight: Mapping[Value, float] | str | None = None,
        ties: Sequence[str] | None = None,
        force: Mapping[Any, str] | None = None,
    ) -> None:
        self.recipe = recipe
        self.criterion = criterion
        self.grouping = grouping
        self.missing = missing
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_gain = min_gain
        self.class_weight = class_weight
        self.ties = ties
        self.force = force

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "TreeClassifier":
        """Grow a tree on rows and their classes.

        Parameters
        ----------
        X : data frame, array, dict of columns or anything that ``read_table`` takes
            The attributes.
        y : array
            The class of each row.
        sample_weight : array, optional
            The weight of each row; a row of weight 0 is as good as absent.
        """
        # A fit that fails, or is interrupted, leaves the old model as it was.
        new = type(self)(**self.get_params(deep=False))
        new._fit(X, y, sample_weight)
        parameters = self.get_params(deep=False)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        for name, value in vars(new).items():
            if name not in parameters:
                setattr(self, name, value)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn, as a new estimator that nobody else knows yet."""
        self._by_name = False
        table = self._validated(X, y, reset=True)
        classes, codes = self._validated_classes(y, table.n_rows)
        weights = None
        if sample_weight is not None:
            weights = _checked_weights(sample_weight, table.n_rows)
        name = getattr(y, "name", None)
        target = Target(name if isinstance(name, str) else "y", classes)
        training = training_set(table, target, classes=codes, weights=weights)
        model = grow_model(
            training.source(),
            training.fingerprint(),
            recipe=self._recipe(),
            class_weight=self.class_weight,
            ties=self.ties,
            force=self.force,
        )
        self._adopt(model)

    def _recipe(self) -> Recipe:
        settings = {name: getattr(self, name) for name in SETTINGS}
        return recipe_named(self.recipe).changed(**settings)

    def _grown(self) -> Model:
        check_is_fitted(self, "model_")
        return self.model_

    def __str__(self) -> str:
        return super().__str__() if hasattr(self, "model_") else repr(self)

    def _adopt_by_name(self, model: Model) -> "TreeClassifier":
        """Take a model that reads tables by the names of columns."""
        self._by_name = True
        self.classes_ = _class_array(model.schema.target.classes)
        self._adopt(model)
        return self

    # Reading tables

    def _table(self, X: Any) -> Table:
        """Return X as a table to predict: by name, or by scikit-learn's conventions."""
        if self._by_name or _has_names_only(X):
            return self.read(X)
        return self._validated(X, reset=False)

    def _validated(self, X: Any, y: Any = None, *, reset: bool) -> Table:
        """Return X as a table, by scikit-learn's conventions."""
        if reset and y is None:
            validate_data(self, np.zeros((1, 1)), y=None)  # raises, in its own words
        if _has_names_only(X):
            table = read_table(X)
            self.n_features_in_ = len(table.columns)
            self.feature_names_in_ = np.array(table.names, dtype=object)
            return table
        if hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__"):
            table = read_table(X)
            validate_data(self, X, skip_check_array=True, reset=reset)
        else:
            table = read_table(self._validated_array(X, y, reset=reset))
        names = getattr(self, "feature_names_in_", table.names)
        columns = zip(names, table.columns, strict=True)
        renamed = (replace(column, name=str(name)) for name, column in columns)
        return Table(tuple(renamed), table.n_rows)

    def _validated_array(self, X: Any, y: Any, *, reset: bool) -> Any:
        """Return X as an array; a list keeps the types of its cells."""
        if isinstance(X, list) and all(isinstance(row, (list, tuple)) for row in X):
            widths = {len(row) for row in X}
            X = np.array(X, dtype=object) if len(widths) == 1 else X
        settings = {"dtype": None, "ensure_all_finite": "allow-nan"}
        if reset:
            return validate_data(self, X, y=y, **settings)[0]
        return validate_data(self, X, reset=False, **settings)

    def _validated_classes(self, y: Any, n_rows: int) -> tuple[tuple[Any, ...], Any]:
        """Return the classes of y and each row's."""
        labels = column_or_1d(y, warn=True)
        if labels.dtype == object and any(map(is_missing, labels)):
            msg = "Input y contains NaN or None: every row needs a class"
            raise DataError(msg)
        if labels.dtype.kind in "mM":
            msg = "y holds dates or times: make them text to take them as classes"
            raise DataError(msg)
        if len(labels) != n_rows:
            msg = f"X has {n_rows} rows and y has {len(labels)}: they must match"
            raise DataError(msg)
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            msg = "Input y contains NaN or infinity: every row needs a class"
            raise DataError(msg)
        check_classification_targets(labels)
        try:
            self.classes_, codes = np.unique(labels, return_inverse=True)
        except TypeError:
            msg = "y holds labels of several types: make them all text, or all numbers"
            raise DataError(msg) from None
        return tuple(self.classes_.tolist()), codes

    # Predicting

    def predict(self, X: Any) -> Any:
        """Return the class of each row."""
        self._grown()
        return self.classes_[majorities(self.predict_proba(X))]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy; without y, the table must hold the target column."""
        if y is not None:
            return float(super().score(X, y, sample_weight))
        table = self.read(X)
        target = self._grown().schema.target
        column = check_target(table, target.name)
        right = majorities(self.predict_proba(table)) == target.encode(column)
        known = ~column.missing
        weights = _checked_weights(sample_weight, table.n_rows)[known]
        if not weights.sum() > 0:
            msg = "sample_weight: no row that has a class weighs more than 0"
            raise DataError(msg)
        return float(np.average(right[known], weights=weights))

    def get_depth(self) -> int:
        """Return the height of the tree."""
        return self.tree.height

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree.n_leaves

    @property
    def feature_importances_(self) -> Floats:
        """What each attribute gained, as shares: ``tree.importances``."""
        return self.tree.importances

    def prune(
        self, method: str = "reduced-error", *, validation: Any
    ) -> "TreeClassifier":
        """Return a new model, pruned against a validation table.

        Parameters
        ----------
        method : {"reduced-error", "pre-pruning"}
            Bottom-up on the finished tree, or top-down as if while growing; see
            :mod:`spinney.prune`.
        validation : table with the target column
            The rows whose accuracy decides.

        Returns
        -------
        TreeClassifier
            Its ``pruning_`` lists what each step did to the accuracy.
        """
        model, steps = self._pruned(method, validation)
        new = copy(self)
        new._adopt(model)
        new.pruning_ = steps
        return new

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _has_names_only(X: Any) -> bool:
    """Return whether X is a table that scikit-learn knows nothing of."""
    return isinstance(X, (Mapping, Table, str, os.PathLike))


def _checked_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return a weight for each row, none of them negative."""
    weights = _check_sample_weight(
        sample_weight, np.zeros((n_rows, 1)), ensure_non_negative=True
    )
    return np.asarray(weights, dtype=np.float64)


def _class_array(classes: tuple[Value, ...]) -> Any:
    """Return classes as an array that keeps their types."""
    if len({type(value) for value in classes}) == 1:
        return np.array(classes)
    mixed = np.empty(len(classes), dtype=object)
    mixed[:] = classes
    return mixed
