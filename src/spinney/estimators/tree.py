"""What the scikit-learn classes share: fitting and reading."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from spinney.counts import Floats
from spinney.files import read_table
from spinney.growing import grow_model
from spinney.model import Model
from spinney.readable import ReadableTree
from spinney.recipe import DEFAULT_RECIPE, SETTINGS, Named, Recipe, recipe_named
from spinney.schema import Target
from spinney.table import Table
from spinney.training import check_target, training_set

__all__ = ["TreeEstimator", "checked_weights"]


@dataclass(eq=False, repr=False)
class TreeEstimator(ReadableTree, BaseEstimator):  # type: ignore[misc]
    """What a tree for classes and one for numbers share.

    A subclass adds the parameters of its own, says what its target is and predicts.
    Parameters are fields, of which the signature of ``__init__`` is made that
    scikit-learn reads; what is about classes only is no parameter of a tree for
    numbers.
    """

    recipe: str | Recipe = DEFAULT_RECIPE
    _: KW_ONLY
    criterion: Named | None = None
    grouping: str | None = None
    missing: str | None = None
    buckets: str | None = None
    n_buckets: int | None = None
    alpha_merge: float | None = None
    alpha_resplit: float | None = None
    exhaustive: bool | None = None
    alpha_split: float | None = None
    max_depth: int | None = None
    max_leaves: int | None = None
    min_samples_split: float | None = None
    min_samples_leaf: float | None = None
    min_weight_fraction_leaf: float | None = None
    min_gain: float | None = None
    min_branch_share: float | None = None
    min_deviation: float | None = None
    leaves: str | None = None
    smoothing: float | None = None
    min_step: float | None = None
    thresholds: str | None = None
    pruning: str | None = None
    folds: int | None = None
    rule: str | None = None
    forest: float | None = None
    seed: int | None = None
    linear_terms: int | None = None
    linear_penalty: float | None = None
    construct: int | None = None
    surrogates: int | None = None
    test_costs: Mapping[str, float] | None = None
    ties: Sequence[str] | None = None
    force: Mapping[Any, str] | None = None

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow a tree on rows and their classes or numbers.

        Parameters
        ----------
        X : data frame, array, dict of columns or anything that ``read_table`` takes
            The attributes.
        y : array
            The class of each row, or its number.
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
        name = getattr(y, "name", None)
        target, codes = self._target(
            y, name if isinstance(name, str) else "y", table.n_rows
        )
        weights = None
        if sample_weight is not None:
            weights = checked_weights(sample_weight, table.n_rows)
        recipe = self._recipe()
        training = training_set(
            table,
            target,
            classes=codes,
            weights=weights,
            from_zero=recipe.measure(numeric=target.is_numeric).from_zero,
        )
        model = grow_model(
            training.source(),
            training.fingerprint(),
            recipe=recipe,
            training=training,
            **self._options(),
        )
        self._adopt(model)

    def _target(self, y: Any, name: str, n_rows: int) -> tuple[Target, Any]:
        """Return the target that y is, and each row's class or number."""
        raise NotImplementedError

    def _options(self) -> dict[str, Any]:
        """Return what is said beside the recipe, for ``grow_model``."""
        return {
            "ties": self.ties,
            "force": self.force,
            "test_costs": self.test_costs,
        }

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name, None) for name in SETTINGS}

    def _recipe(self) -> Recipe:
        return recipe_named(self.recipe).changed(**self._settings())

    def _grown(self) -> Model:
        check_is_fitted(self, "model_")
        return self.model_

    def __str__(self) -> str:
        return super().__str__() if hasattr(self, "model_") else repr(self)

    def _adopt_by_name(self, model: Model) -> Self:
        """Take a model that reads tables by the names of columns."""
        self._by_name = True
        self._adopt(model)
        return self

    # Reading tables

    def _table(self, X: Any) -> Table:
        """Return X as a table to predict: by name, or by scikit-learn's conventions."""
        if self._by_name or _has_names_only(X):
            return self.read(X)
        return self._validated(X, reset=False)

    def _whole_table(self, data: Any) -> Table:
        """Return a table with all attributes, asked about or not."""
        if self._by_name or _has_names_only(data):
            return super()._whole_table(data)
        if hasattr(data, "columns") and self._grown().schema.target.name in data:
            return super()._whole_table(data)  # a frame with the target in it
        return self._validated(data, reset=False)

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

    def _rows_with_target(
        self, X: Any, sample_weight: Any
    ) -> tuple[Table, Any, Floats]:
        """Return the rows whose target the table holds, that target, their weights."""
        table = self.read(X)
        target = self._grown().schema.target
        column = check_target(table, target.name)
        known = ~column.missing
        weights = checked_weights(sample_weight, table.n_rows)[known]
        return table.take(known), target.encode(column)[known], weights

    # Reading

    def get_depth(self) -> int:
        """Return the height of the tree."""
        return self.tree.height

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree.n_leaves

    @property
    def feature_importances_(self) -> Floats:
        """What each column gained, as shares: ``tree.importances``.

        What an attribute with a formula gained is divided equally among the columns
        behind it.
        """
        schema, gained = self.tree.schema, self.tree.importances
        columns = gained[: schema.n_columns].copy()
        for place in range(schema.n_columns, len(gained)):
            behind = schema.behind([place])
            columns[behind] += gained[place] / len(behind)
        return columns

    def _growing_options(self) -> dict[str, Any]:
        own = {"ties": self.ties, "force": self.force}
        known = {name: value for name, value in own.items() if value is not None}
        return {**super()._growing_options(), **known}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _has_names_only(X: Any) -> bool:
    """Return whether X is a table that scikit-learn knows nothing of."""
    return isinstance(X, (Mapping, Table, str, os.PathLike))


def checked_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return a weight for each row, none of them negative."""
    weights = _check_sample_weight(
        sample_weight, np.zeros((n_rows, 1)), ensure_non_negative=True
    )
    return np.asarray(weights, dtype=np.float64)
