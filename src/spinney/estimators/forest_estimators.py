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
    """What a forest for classes and one for numbers share."""

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
    # What each of its trees is by itself.
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
                "without it every tree has seen every row; leave one of them out",
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
        """Return the settings; a warm start keeps the seed that was drawn."""
        given = {name: getattr(self, name) for name in FOREST_PARAMETERS}
        drawn = before is not None and not isinstance(
            self.random_state, (int, np.integer)
        )
        seed = before.settings.seed if before and drawn else seed_of(self.random_state)
        return ForestSettings(**given, **self._votes(training.schema.target), seed=seed)

    def _votes(self, target: Target) -> dict[str, Any]:
        """Return the settings that are about classes."""
        return {}

    def _keep_out_of_bag(self, votes: Floats) -> None:
        """Keep the votes for each row out of the bag."""
        raise NotImplementedError

    @property
    def estimators_(self) -> list[Any]:
        """The trees as estimators that predict, made when they are asked for.

        They predict classes, not codes of them, and each by its own leaves: the forest
        shrinks these by ``forest_.shrinkage``. They are those of :attr:`trees`.
        """
        return list(self.trees)

    @property
    def trees(self) -> Trees[Any]:
        """The trees, each an estimator by itself, made when it is asked for."""
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
        """What each column gained, as shares; :meth:`importances` has the spread."""
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
    """Return the votes, NaN for rows that weigh nothing and were left out."""
    if sample_weight is None:
        return votes
    weights = np.atleast_1d(np.asarray(sample_weight, dtype=np.float64))
    if len(weights) == 1:  # one number for all rows
        return votes
    whole = np.full((len(weights), votes.shape[1]), np.nan)
    whole[weights > 0] = votes
    return whole


def _reporter(verbose: int) -> Callable[[int, int], None] | None:
    """Return what says on stderr how many trees are grown: each, or each tenth."""
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

    Many trees, each grown on rows drawn for it and looking at few attributes in a
    node, vote (Breiman 2001). Nominal, ordinal, numeric and missing values are taken as
    they are, as by :class:`TreeClassifier`. The same ``random_state`` gives the same
    forest, whatever the threads or the order of the rows.

    Parameters
    ----------
    n_estimators : int
        How many trees; at most 100,000.
    recipe : {"cart", "id3", "c4.5", "chaid"} or Recipe, or a list of these
        That of the trees; of several each tree takes one, in turn:
        ``recipe=["id3", "c4.5", "cart"]``. Where one has surrogates ("cart"), missing
        values go to the branch where they gain most instead.
    criterion, grouping, missing_policy, max_depth, max_leaves, min_samples_split, \
min_samples_leaf, min_weight_fraction_leaf, min_gain, pruning, probability : optional
        Settings of the recipe to change; see :class:`spinney.Recipe`, which has
        further ones: ``recipe=Recipe.named("cart").changed(buckets="k-means")``.
        Scikit-learn's words are taken too, as by :class:`TreeClassifier`.
    nominal, ordinal, numeric, values, missing_values
        What is declared of columns; see :class:`TreeClassifier`.
    max_features : {"sqrt", "log2"}, int, float or None
        How many attributes that vary are looked at in a node: √p, log₂ p, so many, a
        share of all, or all (None).
    bootstrap : bool or "hash"
        Whether each tree is grown on rows drawn for it, or on all. "hash" draws each
        row by what is in it, as of tables in engines.
    replace : bool
        Whether a row can be drawn more than once.
    max_samples : int or float, optional
        How many rows are drawn, or which share; all if not given, or 63.2 % without
        replacement.
    extra_random : bool
        Whether one cut is drawn for each attribute and node, not sought: extremely
        randomised trees (Geurts, Ernst and Wehenkel 2006).
    shrinkage : float, optional
        How much what a leaf says is shrunk towards the nodes above it, in rows' weight
        (hierarchical shrinkage); 0 is not at all. If not given, 0, 3, 10, 30 and 100
        are tried on rows out of the bag, at most 5,000, and the best is kept as
        ``forest_.shrinkage``.
    voting : {"probability", "majority"}
        Whether a tree votes with the class shares of a leaf, or with one class.
    class_weight : dict, "balanced" or "balanced_subsample", optional
        What each class's weight is multiplied by; "balanced" makes all equal, the other
        in the rows of each tree.
    oob_score : bool
        Whether to tell each training row by the trees that have not seen it.
    random_state : int, RandomState or None
        The seed.
    n_jobs : int, optional
        How many trees grow at once; as many as there are cores if not given, or -1.
    warm_start : bool
        Whether ``fit`` adds trees to those that there are.
    verbose : int
        1 says on stderr when a tenth of the trees is grown, 2 says it of each.

    Attributes
    ----------
    classes_ : array
        The classes.
    forest_ : Forest
        The trees as arrays, with recipes, schema and origin. :attr:`trees` makes each
        a model by itself: ``print(model.trees[3])``.
    oob_score_ : float
        The accuracy out of the bag; None where every tree has seen every row.
    oob_decision_function_ : array, rows × classes
        The votes out of the bag; NaN where every tree has seen a row.
    feature_importances_ : array
        What each column gained, as shares.

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
    """A random forest for numbers: the mean of what its trees say.

    It takes tables and parameters as :class:`ForestClassifier` does; what is about
    classes it has not.

    Parameters
    ----------
    n_estimators, recipe, criterion, grouping, missing_policy, max_depth, max_leaves, \
min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
min_gain, pruning, nominal, ordinal, numeric, values, missing_values, bootstrap, \
replace, max_samples, extra_random, shrinkage, oob_score, random_state, n_jobs, \
warm_start, verbose
        As for :class:`ForestClassifier`.
    max_features : {"sqrt", "log2"}, int, float or None
        How many attributes that vary are looked at in a node; two thirds if not given.

    Attributes
    ----------
    forest_ : Forest
        As for :class:`ForestClassifier`.
    oob_score_ : float
        R² out of the bag.
    oob_prediction_ : array
        The votes for each row out of the bag; NaN where every tree has seen it.

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
