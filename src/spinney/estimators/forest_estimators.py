"""Forests by scikit-learn's conventions."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import Any, ClassVar, Self

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import check_choice, check_whole
from spinney._support.keyed_random import seed_of
from spinney.data import Target, Value
from spinney.errors import Setting, refusal
from spinney.estimators.table_estimator import (
    DECLARED,
    TableEstimator,
    delegated,
    reject_unknown_parameters,
)
from spinney.estimators.targets import ClassTarget, NumberTarget
from spinney.estimators.tree_estimators import (
    TreeClassifier,
    TreeEstimator,
    TreeRegressor,
)
from spinney.growth import class_weights_of
from spinney.growth.forest import (
    HASH,
    Forest,
    ForestBags,
    ForestSettings,
    Recipes,
    Trees,
    TypicalTree,
    check_enough,
    grow_forest,
    oob_score,
    out_of_bag,
    recipes_of,
    warn_rows_in_all_bags,
    with_ordered_categories,
)
from spinney.models import FOREST_PARAMETERS, RECIPE_PARAMETERS, FittedForest
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet


@dataclass(eq=False, repr=False)
class ForestEstimator(TableEstimator):
    """The base of forests for classes and for numbers."""

    n_estimators: int = 100
    recipe: Recipes = "cart"
    _: KW_ONLY
    max_features: str | float | None = "sqrt"
    bootstrap: bool | str = True
    replace: bool = True
    max_samples: float | None = None
    extra_random: bool = False
    shrinkage: float | None = None
    oob_score: bool = False
    warm_start: bool = False
    verbose: int = 0

    _grown_as = "forest_"
    _model_class = FittedForest
    # The estimator of one of its trees.
    _tree_class: ClassVar[type[TreeEstimator]]

    def _fit(self, X: Any, y: Any, sample_weight: Any, old: Self) -> None:
        check_choice("oob_score", self.oob_score)
        check_choice("warm_start", self.warm_start)
        if not isinstance(self.verbose, bool):
            check_whole("verbose", self.verbose, least=0)
        recipes = self._recipes()
        check_enough(self.n_estimators, recipes)
        rows = self._rows(X, y, sample_weight, recipes)
        hashed = self.bootstrap == HASH
        training = with_ordered_categories(rows, recipes, hashed=hashed)
        before = old.__dict__.get("forest_") if self.warm_start else None
        settings = self._forest_settings(training, before)
        if self.oob_score and not settings.bootstrap:
            raise refusal(
                Setting("oob_score", True),
                ("needs ", Setting("bootstrap", True)),
                "without it no row is out-of-bag; remove one",
            )
        forest = grow_forest(
            training,
            recipes,
            settings,
            n_trees=self.n_estimators,
            existing=before,
            progress=_reporter(self.verbose),
        )
        self._adopt(forest)
        if self.oob_score:
            votes, trees = out_of_bag(forest, ForestBags(training, settings))
            warn_rows_in_all_bags(trees, training)
            self.oob_score_ = oob_score(votes, trees, training)
            self._keep_out_of_bag(_at_all_rows(votes, sample_weight))

    def _recipes(self) -> tuple[Recipe, ...]:
        settings = {name: getattr(self, name, None) for name in RECIPE_PARAMETERS}
        return recipes_of(self.recipe, settings)

    def _forest_settings(
        self, training: TrainingSet, before: Forest | None
    ) -> ForestSettings:
        """Return the settings; a warm start reuses a random seed."""
        given = {name: getattr(self, name) for name in FOREST_PARAMETERS}
        drawn = before is not None and not isinstance(
            self.random_state, (int, np.integer)
        )
        seed = before.settings.seed if before and drawn else seed_of(self.random_state)
        return ForestSettings(**given, **self._votes(training.schema.target), seed=seed)

    def _votes(self, target: Target) -> dict[str, Any]:
        """Return the settings for classes."""
        return {}

    def _keep_out_of_bag(self, votes: Floats) -> None:
        """Store the out-of-bag votes for each row."""
        raise NotImplementedError

    @property
    def estimators_(self) -> list[Any]:
        """The trees as estimators, made on access: those of :attr:`trees`.

        They predict classes, not class codes, by unshrunk leaves: the forest shrinks
        these by ``forest_.shrinkage``.
        """
        return list(self.trees)

    @property
    def trees(self) -> Trees[Any]:
        """The trees, each an estimator by itself, made on access."""
        return Trees(self._fitted().forest_, self._member)

    def _member(self, number: int) -> TreeEstimator:
        """Return the estimator of one tree, which reads tables as the forest does."""
        model = self.forest_.model(number)
        declared = {name: getattr(self, name) for name in DECLARED}
        estimator = self._tree_class(model.recipe, n_jobs=self.n_jobs, **declared)
        shared = (
            *("classes_", "n_features_in_", "feature_names_in_"),
            *("_fit_names", "_by_name"),
        )
        for name in shared:
            if name in vars(self):
                setattr(estimator, name, getattr(self, name))
        estimator._adopt(model)
        return estimator

    @property
    def feature_importances_(self) -> Floats:
        """The importance of each column, normalised; :meth:`importances` has the SD."""
        return self.importances().mean

    @wraps(FittedForest.typical)
    def typical(self, X: Any) -> TypicalTree:  # noqa: D102
        model = self._fitted()
        typical: TypicalTree = model.typical(X)
        self._adopt(model.forest_)
        return typical

    facts = delegated(FittedForest.facts)
    save = delegated(FittedForest.save)
    apply = delegated(FittedForest.apply)
    decision_path = delegated(FittedForest.decision_path)
    plot = delegated(FittedForest.plot)
    importances = delegated(FittedForest.importances)
    grouped_importances = delegated(FittedForest.grouped_importances)
    permutation_importances = delegated(FittedForest.permutation_importances)
    interactions = delegated(FittedForest.interactions)
    proximities = delegated(FittedForest.proximities)
    proximity_blocks = delegated(FittedForest.proximity_blocks)
    outliers = delegated(FittedForest.outliers)


def _at_all_rows(votes: Floats, sample_weight: Any) -> Floats:
    """Return the votes of all rows, NaN for rows of weight 0."""
    if sample_weight is None:
        return votes
    weights = np.atleast_1d(np.asarray(sample_weight, dtype=np.float64))
    if len(weights) == 1:  # one number for all rows
        return votes
    whole = np.full((len(weights), votes.shape[1]), np.nan)
    whole[weights > 0] = votes
    return whole


def _reporter(verbose: int) -> Callable[[int, int], None] | None:
    """Return a function that reports the grown trees on stderr, for verbose > 0."""
    if not verbose:
        return None

    def report(done: int, total: int) -> None:
        step = 1 if verbose > 1 else max(1, total // 10)
        if done % step == 0 or done == total:
            sys.stderr.write(f"tree {done} of {total}\n")

    return report


@reject_unknown_parameters
@dataclass(eq=False, repr=False)
class ForestClassifier(ClassTarget, ForestEstimator):
    """A random forest for classes, over tables as they are.

    Many trees vote, each grown on a bootstrap sample with few random attributes per
    node (Breiman 2001). Nominal, ordinal, numeric and missing values are used without
    encoding, as in :class:`TreeClassifier`. The same ``random_state`` gives the same
    forest, whatever the number of threads or the order of the rows.

    Parameters
    ----------
    n_estimators : int
        The number of trees, at most 100,000.
    recipe : {"cart", "id3", "c4.5", "chaid"} or Recipe, or a list of these
        The recipe of the trees; trees take several recipes in turn:
        ``recipe=["id3", "c4.5", "cart"]``. Instead of surrogates ("cart"), missing
        values go to the branch with the highest gain.
    criterion, grouping, missing_policy, max_depth, max_leaves, min_samples_split, \
min_samples_leaf, min_weight_fraction_leaf, min_gain, pruning, probability : optional
        Settings of the recipe to change; see :class:`spinney.Recipe`, which has
        further ones: ``recipe=Recipe.named("cart").changed(buckets="k-means")``.
        Scikit-learn's names are accepted too, as in :class:`TreeClassifier`.
    nominal, ordinal, numeric, values, missing_values
        Declarations of columns; see :class:`TreeClassifier`.
    max_features : {"sqrt", "log2"}, int, float or None
        The number of non-constant attributes tried per node: √p, log₂ p, an integer, a
        fraction, or all (None).
    bootstrap : bool or "hash"
        Whether each tree is grown on a sample of the rows. "hash" samples each row by
        its contents, as for tables in engines.
    replace : bool
        Whether a row can be drawn more than once.
    max_samples : int or float, optional
        The number or fraction of rows to draw; all if not given, or 63.2 % without
        replacement.
    extra_random : bool
        Whether thresholds are drawn at random: extremely randomised trees (Geurts,
        Ernst and Wehenkel 2006).
    shrinkage : float, optional
        The weight of the nodes above a leaf in its prediction, in rows (hierarchical
        shrinkage); 0 is none. If not given, ``forest_.shrinkage`` is the best of 0, 3,
        10, 30 and 100 on at most 5,000 out-of-bag rows.
    voting : {"probability", "majority"}
        Whether a tree votes with the class probabilities of a leaf, or for one class.
    class_weight : dict, "balanced" or "balanced_subsample", optional
        The factor of each class's weight; "balanced" makes class weights equal, the
        other one in the sample of each tree.
    oob_score : bool
        Whether to compute out-of-bag predictions of the training rows.
    random_state : int, RandomState or None
        The random seed.
    n_jobs : int, optional
        The number of trees that grow at once; one per core if not given, or -1.
    warm_start : bool
        Whether ``fit`` adds trees to the fitted forest.
    verbose : int
        1 reports every tenth of the trees on stderr, 2 every tree.

    Attributes
    ----------
    classes_ : array
        The classes.
    forest_ : Forest
        The trees as arrays, with recipes, schema and origin. :attr:`trees` has each as
        a model by itself: ``print(model.trees[3])``.
    oob_score_ : float
        The out-of-bag accuracy; None if no row is out-of-bag.
    oob_decision_function_ : array, rows × classes
        The out-of-bag votes; NaN for rows in every bag.
    feature_importances_ : array
        The importance of each column, normalised.

    Examples
    --------
    >>> from spinney import ForestClassifier
    >>> rows = [["sunny", 30], ["rain", 18], ["rain", 25], ["sunny", 21]] * 5
    >>> classes = ["no", "no", "yes", "yes"] * 5
    >>> model = ForestClassifier(20, random_state=0).fit(rows, classes)
    >>> model.predict([["rain", 24]])
    array(['yes'], dtype='<U3')
    """

    _: KW_ONLY
    probability: str | None = None
    voting: str = "probability"
    class_weight: Mapping[Value, float] | str | None = None

    _tree_class = TreeClassifier

    def _votes(self, target: Target) -> dict[str, Any]:
        scale = class_weights_of(self.class_weight, target)
        return {"voting": self.voting, "class_weight": scale}

    def _keep_out_of_bag(self, votes: Floats) -> None:
        self.oob_decision_function_ = votes


@reject_unknown_parameters
@dataclass(eq=False, repr=False)
class ForestRegressor(NumberTarget, ForestEstimator):
    """A random forest for numbers: the mean of the predictions of its trees.

    It takes tables and parameters as :class:`ForestClassifier` does, except those for
    classes.

    Parameters
    ----------
    n_estimators, recipe, criterion, grouping, missing_policy, max_depth, max_leaves, \
min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
min_gain, pruning, nominal, ordinal, numeric, values, missing_values, bootstrap, \
replace, max_samples, extra_random, shrinkage, oob_score, random_state, n_jobs, \
warm_start, verbose
        As for :class:`ForestClassifier`.
    max_features : {"sqrt", "log2"}, int, float or None
        The number of attributes tried per node; two thirds if not given.

    Attributes
    ----------
    forest_ : Forest
        As for :class:`ForestClassifier`.
    oob_score_ : float
        The out-of-bag R².
    oob_prediction_ : array
        The out-of-bag prediction of each row; NaN for rows in every bag.

    Examples
    --------
    >>> from spinney import ForestRegressor
    >>> rows = [[number, number % 3] for number in range(60)]
    >>> numbers = [number + 10.0 * (number % 3) for number in range(60)]
    >>> model = ForestRegressor(50, random_state=0).fit(rows, numbers)
    >>> bool(abs(model.predict([[30, 0]])[0] - 30) < 5)
    True
    """

    _: KW_ONLY
    max_features: str | float | None = 2 / 3

    _tree_class = TreeRegressor

    def _keep_out_of_bag(self, votes: Floats) -> None:
        self.oob_prediction_ = votes[:, 0]
