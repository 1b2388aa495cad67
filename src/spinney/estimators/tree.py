"""What the scikit-learn classes of one tree share."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from spinney._support.arrays import Floats
from spinney.estimators.tables import TableEstimator
from spinney.growing import grow_model
from spinney.growth.model import Model
from spinney.readable import ReadableTree
from spinney.recipes import DEFAULT_RECIPE, SETTINGS, Named, Recipe, recipe_named

__all__ = ["TreeEstimator"]


@dataclass(eq=False, repr=False)
class TreeEstimator(TableEstimator, ReadableTree):
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

    def _fit(self, X: Any, y: Any, sample_weight: Any, old: Self) -> None:
        self._by_name = False
        training = self._rows(X, y, sample_weight)
        model = grow_model(
            training.source(),
            training.fingerprint(),
            recipe=self._recipe(),
            training=training,
            **self._options(),
        )
        self._adopt(model)

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
