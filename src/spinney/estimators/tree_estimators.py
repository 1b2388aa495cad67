"""The scikit-learn estimators of single trees."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch

from spinney import registry
from spinney._support.arrays import Floats, Integers
from spinney._support.keyed_random import recipe_seed
from spinney._support.threads import limited_threads
from spinney.data import Costs, Value
from spinney.errors import Setting, refusal, warn
from spinney.estimators.table_estimator import (
    TableEstimator,
    delegated,
    has_names_only,
    reject_unknown_parameters,
    transactional_fit,
    validated_table,
)
from spinney.estimators.targets import ClassTarget, NumberTarget, class_cells
from spinney.growth import Model, Quality, RecipeScore, UpdateState
from spinney.growth.prune import impurity_sequence
from spinney.models import FittedTree, grow_model, warn_of_high_cardinality
from spinney.recipes import COMMON_SETTINGS, DEFAULT_RECIPE, Recipe
from spinney.sources.rows import Batch, TrainingSet, given_weights, with_classes
from spinney.sources.training_data import TrainingData
from spinney.trees import Tree

if TYPE_CHECKING:
    from spinney.extensions.streaming import StreamStats
    from spinney.growth import prune as pruning


@dataclass(eq=False, repr=False)
class TreeEstimator(TableEstimator):
    """The base of trees for classes and for numbers."""

    recipe: str | Recipe = DEFAULT_RECIPE
    _: KW_ONLY
    buckets: str | None = None
    n_buckets: int | None = None
    linear_terms: int | None = None
    ccp_alpha: float | None = None
    validation_share: float | None = None
    test_costs: Mapping[str, float] | None = None
    tie_break_order: Sequence[str] | None = None
    forced_splits: Mapping[Any, str] | None = None

    _grown_as = "model_"
    _model_class = FittedTree
    _settings_of_first = None

    # Learning

    def _fit(self, X: Any, y: Any, sample_weight: Any, old: Self) -> None:
        recipe = self._recipe()
        training = self._rows(X, y, sample_weight, (recipe,))
        model = grow_model(TrainingData(training), recipe=recipe, **self._options())
        if not recipe.tries:
            warn_of_high_cardinality(model, in_table=False)
        self._adopt(model)
        if (
            model.update_state is not None
        ):  # of a stream, which partial_fit goes on with
            self._settings_of_first = self._settings()

    def _fit_part(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None
    ) -> Self:
        """Learn from a batch and the rows of earlier calls."""
        with limited_threads(self.n_jobs):
            is_fitted = self._grown_as in vars(self)
            if is_fitted and self.model_.update_state is None:
                warn(
                    "fit() does not store its rows, so partial_fit() starts a new tree "
                    "from this batch"
                )
            if not is_fitted or self.model_.update_state is None:
                with transactional_fit(self) as new:
                    new._fit_first(X, y, sample_weight, classes)
                return self
            if classes is not None:
                self._refuse_other_classes(classes)
            kept = self._kept_rows()
            if self._by_name or has_names_only(X):
                table = self.read(X, whole=True)
            else:
                table = validated_table(
                    self, X, reset=False, declare=self._declarations
                )
            weights = None
            if sample_weight is not None:
                weights = given_weights(sample_weight, table.n_rows)
            name = kept.training.schema.target.name
            column = self._target_column(y, name, table.n_rows)
            batch = Batch(table, column, weights)
            update = registry.load("operation", "update")
            self._adopt_update(update.update_model(self.model_, batch))
        return self

    def _kept_rows(self) -> UpdateState:
        """Return the rows of earlier calls; refuse changed settings."""
        kept: UpdateState = self.model_.update_state
        before, now = self._settings_of_first, self._settings()
        for name, value in now.items():
            if before is not None and repr(value) != repr(before[name]):
                raise refusal(
                    Setting(name, value),
                    "differs from the first call of partial_fit",
                    "set it back, or use a clone",
                )
        return kept

    def _settings(self) -> dict[str, Any]:
        """Return all parameters that influence the tree."""
        return {n: v for n, v in self.get_params(deep=False).items() if n != "n_jobs"}

    def _fit_first(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> None:
        """Learn from a first batch, as a new estimator."""
        recipe = self._recipe()
        rows = self._rows(X, y, sample_weight, (recipe,), first=True)
        if classes is not None:
            rows = self._with_classes(rows, classes)
        update = registry.load("operation", "update")
        self._adopt_update(update.begin_updates(rows, recipe, self._options()))
        self._settings_of_first = self._settings()

    def _options(self) -> dict[str, Any]:
        """Return the options of ``grow_model`` other than the recipe."""
        return {
            "tie_break_order": self.tie_break_order,
            "forced_splits": self.forced_splits,
            "test_costs": self.test_costs,
            "ccp_alpha": self.ccp_alpha,
            "validation_share": self.validation_share,
        }

    def _recipe(self) -> Recipe:
        given = {name: getattr(self, name, None) for name in COMMON_SETTINGS}
        return Recipe.named(self.recipe).changed(
            **given, seed=recipe_seed(self.random_state)
        )

    def cost_complexity_pruning_path(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> Bunch:
        """Return the alphas at which the tree loses branches, as scikit-learn does.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`fit`; the estimator itself is left as it is.

        Returns
        -------
        Bunch
            ``ccp_alphas``, increasing from 0, for ``ccp_alpha``, and ``impurities``,
            the mean impurity at the leaves of each tree.
        """
        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        sequence = impurity_sequence(whole.tree, whole.model_.recipe)
        return Bunch(
            ccp_alphas=sequence.alphas,
            impurities=np.array([subtree.risk for subtree in sequence.subtrees]),
        )

    # Reading

    @property
    def tree_(self) -> Any:
        """Raise AttributeError: trees are not arrays as in scikit-learn."""
        msg = (
            "scikit-learn's arrays cannot hold multiway splits, groups of values and "
            "missing values: use tree, rules(), export or print"
        )
        raise AttributeError(msg)

    def get_depth(self) -> int:
        """Return the height of the tree."""
        return self.tree.height

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree.n_leaves

    @property
    def feature_importances_(self) -> Floats:
        """The importance of each column, normalised; see :meth:`importances`.

        The importance of a constructed attribute is divided equally among its columns.
        """
        return self.importances().values

    # The model

    def _fitted(self) -> FittedTree:
        model: FittedTree = super()._fitted()
        return model

    @property
    def tree(self) -> Tree:
        """The tree: walkable nodes and measures of size."""
        return self._fitted().tree

    @property
    def pruning_(self) -> "pruning.Steps | None":
        """The steps of pruning, in order; None if the model was loaded."""
        return self._fitted().pruning_

    @property
    def sequence_(self) -> "pruning.PruningSequence | None":
        """The subtrees that cost-complexity pruning chose among."""
        return self._fitted().sequence_

    @property
    def recipe_scores_(self) -> tuple[RecipeScore, ...]:
        """The cross-validated score of each candidate recipe."""
        return self._fitted().recipe_scores_

    @property
    def quality_(self) -> Quality | None:
        """The error on held-out rows and on training rows, if it was measured."""
        return self._fitted().quality_

    @property
    def stream_stats_(self) -> "StreamStats | None":
        """The number of rows of a stream, and of those first predicted correctly."""
        return self._fitted().stream_stats_

    @property
    def validation_rows_(self) -> Integers | None:
        """The positions of the rows that were reserved to prune by."""
        return self._fitted().validation_rows_

    facts = delegated(FittedTree.facts)
    save = delegated(FittedTree.save)
    apply = delegated(FittedTree.apply)
    decision_path = delegated(FittedTree.decision_path)
    test_costs_of = delegated(FittedTree.test_costs_of)
    importances = delegated(FittedTree.importances)
    rules = delegated(FittedTree.rules)
    ruleset = delegated(FittedTree.ruleset)
    explain = delegated(FittedTree.explain)
    node_errors = delegated(FittedTree.node_errors)
    text = delegated(FittedTree.text)
    plot = delegated(FittedTree.plot)
    lesson = delegated(FittedTree.lesson)

    @wraps(FittedTree.prune)
    def prune(self, pruning: str | None = None, **options: Any) -> Self:  # noqa: D102
        new = copy(self)
        new._adopt(self._fitted().prune(pruning, **options).model_)
        return new

    def _growing_options(self) -> dict[str, Any]:
        """Return the options that the tree was grown with, if given."""
        given = {
            "tie_break_order": self.tie_break_order,
            "forced_splits": self.forced_splits,
        }
        return {name: value for name, value in given.items() if value is not None}

    @wraps(FittedTree.updated)
    def updated(self, data: Any = None, **options: Any) -> Self:  # noqa: D102
        new = copy(self)
        new._adopt_update(self._fitted().updated(data, **options).model_)
        return new

    def _adopt_update(self, model: Model) -> None:
        """Set a model with other rows, and perhaps other classes."""
        self._adopt(model)


@reject_unknown_parameters
@dataclass(eq=False, repr=False)
class TreeClassifier(ClassTarget, TreeEstimator):
    """A decision tree for classes, over tables as they are.

    Nominal, ordinal, numeric and missing values need no encoding: text, booleans and
    categoricals in a data frame are nominal, ordered categoricals of pandas and Arrow
    ordinal, numbers and dates numeric. Parameters left None come from the recipe.

    After ``fit``, tables are read by scikit-learn's conventions: the same columns in
    the same order. Models of :func:`spinney.grow` and :func:`spinney.load` find
    columns by name.

    Parameters
    ----------
    recipe : {"auto", "id3", "c4.5", "cart", "chaid", "optimal", "hoeffding"} or Recipe
        The learner; see :class:`spinney.Recipe`.
    criterion, grouping, missing_policy, buckets, n_buckets, max_depth, max_leaves, \
min_samples_split, min_samples_leaf, min_weight_fraction_leaf, min_gain, pruning, \
confidence, probability, linear_terms : optional
        Settings of the recipe to change; :class:`spinney.Recipe` has more:
        ``recipe=Recipe.named("c4.5").changed(min_step=0)``. Settings without effect are
        refused by ``fit``. Scikit-learn's names are accepted too: ``max_leaf_nodes``
        for ``max_leaves``, and the criteria "entropy" and "log_loss" for "gain".
    ccp_alpha : float, optional
        Instead of ``pruning``: cost-complexity pruning at this cost of a leaf, in the
        mean impurity of all rows, as in scikit-learn; 0 does not prune. See
        :meth:`cost_complexity_pruning_path`.
    validation_share : float, optional
        The fraction of the rows to reserve as a validation set, such as 0.3, stratified
        by class or quantile. For ``pruning="reduced-error"`` (the default with it),
        ``"pre-pruning"`` and ``"cost-complexity"``.
    nominal, numeric : sequences of str or int
        Columns whose kind is declared, by name or position; those of an array are
        named x0, x1 …. A number such as a region code is nominal.
    ordinal : mapping of columns to levels
        Ordered columns with their levels, low to high; or texts such as
        ``"size:small<medium<large"``.
    values : mapping of columns to values
        All values of nominal columns, also those without rows; or texts such as
        ``"sky:sunny,rainy,cloudy"``. Categoricals of data frames need no declaration.
    missing_values : sequence of str
        Texts, or numbers as text, that mean a missing value, such as ``"?"``.
    class_weight : dict or "balanced", optional
        The factor of each class's weight; "balanced" makes class weights equal.
    priors : dict, optional
        The prior probability of each class, instead of ``class_weight``.
    cost_matrix : mapping of mappings or square array, optional
        ``cost_matrix[label][true]``: misclassification costs. Splits use altered
        priors, and labels have the least expected cost; class probabilities do not
        change. See :mod:`spinney.trees.costs`.
    test_costs : dict, optional
        The cost of measuring an attribute, by name: merits are divided by 1 plus the
        cost, unless a node above has split on the attribute.
    tie_break_order : sequence of str, optional
        Attributes that win ties, first to last; the others follow in column order.
    forced_splits : mapping, optional
        The split of a node: an attribute, or a condition such as ``"width > 6.5"`` or
        ``"color in {red, green}"``. Keys are paths of nodes: ``()`` is the root,
        ``("texture = clear",)`` the branch printed so.
    random_state : int, RandomState, Generator or None
        The random seed of folds, and of the forest of "auto". None is the recipe's
        seed: the same rows give the same tree.
    n_jobs : int, optional
        The maximum number of threads; one per core if not given, or -1.

    Attributes
    ----------
    classes_ : array
        The classes.
    model_ : Model
        The tree with its recipe and origin; :attr:`tree` is its tree.
    pruning_ : Steps
        The steps of pruning, while growing or later; None if the model was loaded.
    recipe_scores_ : tuple of RecipeScore
        The cross-validated score of each candidate recipe of ``recipe="auto"``; empty
        for other recipes.
    quality_ : Quality
        The error on held-out rows and on training rows; None if nothing measured it.
        ``fit`` has it where folds chose the recipe or the pruning; ``spinney.grow``
        grows further trees for it.
    sequence_ : PruningSequence
        The subtrees of cost-complexity pruning; None without it.
    validation_rows_ : array of int
        The positions of the rows of the validation set; None without one, and if the
        model was loaded.
    stream_stats_ : StreamStats
        With "hoeffding": the number of rows, and of those predicted correctly before
        they were learned; None with other recipes, and if the model was loaded.

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
    confidence: float | None = None
    probability: str | None = None
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

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from a batch and the stored rows of earlier calls.

        The tree is the one that :meth:`fit` would grow on all rows. A later call counts
        its batch, and all rows of nodes whose split changes. Some recipes, such as the
        default, are grown from scratch each time: see ``docs/incremental.md``. The
        recipe "hoeffding" stores no rows: see ``docs/streams.md``.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`fit`. Later rows may have new values and classes.
        classes : array, optional
            All classes, in the first call. Later batches must have no others.

        Examples
        --------
        >>> from spinney import TreeClassifier
        >>> model = TreeClassifier(recipe="id3")
        >>> model = model.partial_fit([["sunny", 30], ["rain", 18]], ["no", "no"])
        >>> model = model.partial_fit([["rain", 25], ["sunny", 21]], ["yes", "yes"])
        >>> print(model)
        y  (4: no 2 (50 %), yes 2 (50 %))
        ├── x1 ≤ 19.5 → no  (1: no 1 (100 %))
        └── x1 > 19.5  (3: no 1 (33 %), yes 2 (67 %))
            ├── x1 ≤ 27.5 → yes  (2: yes 2 (100 %))
            └── x1 > 27.5 → no  (1: no 1 (100 %))
        """
        return self._fit_part(X, y, sample_weight, classes)

    def _with_classes(self, rows: TrainingSet, classes: Any) -> TrainingSet:
        """Return rows whose target has these classes, also those without rows."""
        if np.ndim(classes) != 1 or not len(classes):
            raise refusal(
                Setting("classes", classes),
                "is not a list of classes",
                "name each class",
            )
        column = self._target_column(classes, rows.schema.target.name, len(classes))
        return with_classes(rows, column.levels)

    def _refuse_other_classes(self, classes: Any) -> None:
        """Refuse classes in a later call that differ from those of the first."""
        named, first = np.unique(class_cells(classes)).tolist(), self.classes_.tolist()
        if named != first:
            raise refusal(
                Setting("classes", named),
                f"differs from the first call, {first}",
                "name all classes in the first call, or none",
            )


@reject_unknown_parameters
@dataclass(eq=False, repr=False)
class TreeRegressor(NumberTarget, TreeEstimator):
    """A regression tree, over tables as they are: a leaf predicts a number.

    It takes tables and settings as :class:`TreeClassifier` does.

    Parameters
    ----------
    recipe : {"auto", "id3", "c4.5", "cart", "chaid", "m5"} or Recipe
        The learner; its ``numeric_criterion`` decides unless ``criterion`` is given.
    criterion, grouping, missing_policy, buckets, n_buckets, max_depth, max_leaves, \
min_samples_split, min_samples_leaf, min_weight_fraction_leaf, min_gain, pruning, \
leaves, linear_terms : optional
        Settings of the recipe to change; :class:`spinney.Recipe` has more:
        ``recipe=Recipe.named("m5").changed(smoothing=0)``. Settings without effect are
        refused by ``fit``. Scikit-learn's names are accepted too: ``max_leaf_nodes``,
        and "friedman_mse" for "squared_error", which chooses the same splits.
    ccp_alpha, validation_share, nominal, ordinal, numeric, values, missing_values, \
test_costs, tie_break_order, forced_splits, random_state, n_jobs : optional
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

    _: KW_ONLY
    leaves: str | None = None

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a batch and the stored rows of earlier calls.

        The tree is the one that :meth:`fit` would grow on all rows; see
        :meth:`TreeClassifier.partial_fit`.
        """
        return self._fit_part(X, y, sample_weight)
