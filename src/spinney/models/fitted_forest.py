"""Fitted forests: predict, explain, save; growing one on a table.

Nothing here needs scikit-learn, so that the shell tool starts quickly; the estimators
add its conventions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney import registry
from spinney._support.arrays import Floats, Integers
from spinney._support.checks import Progress, check_progress
from spinney._support.text import shown
from spinney.data import Schema
from spinney.data.readers import RowReader
from spinney.errors import DataError, ParameterError, Setting, did_you_mean, refusal
from spinney.growth import forest as forests
from spinney.growth.forest import (
    HASH,
    Forest,
    ForestSettings,
    Recipes,
    Trees,
    TypicalTree,
    check_enough,
    forest_leaves,
    forest_outputs,
    forest_recipes,
    recipes_of,
    require_bootstrap,
    votes_of,
)
from spinney.models.facts import forest_facts
from spinney.models.fitted_model import FittedTable
from spinney.models.fitted_tree import FittedTree
from spinney.models.row_predictor import RowPredictor
from spinney.output.file import save_model
from spinney.recipes import COMMON_SETTINGS, Recipe, refuse_uncommon
from spinney.trees.predict import row_walk_of

if TYPE_CHECKING:
    import os

    from scipy.sparse import csr_matrix

    from spinney.extensions.pictures import Picture
    from spinney.growth.forest import (
        ForestBags,
        GroupedImportances,
        Importances,
        Interactions,
    )
    from spinney.sources.rows import SampleableRows, TrainingSet
    from spinney.sources.training_data import TableInput


class FittedForest(FittedTable):
    """A grown forest: a model that predicts, and is explained and saved.

    Parameters
    ----------
    forest : Forest
        The trees with their recipe and origin.
    """

    kind = "forest"
    forest_: Forest

    def __init__(self, forest: Forest) -> None:
        self.forest_ = forest

    @property
    def schema(self) -> Schema:
        """The attributes and the target: how the model reads tables."""
        return self.forest_.schema

    @property
    def trees(self) -> Trees[Any]:
        """The trees, each a model by itself, made on access.

        ``trees[3]`` has all methods of a tree. Its leaves are not shrunk; the forest
        shrinks them by ``forest_.shrinkage`` when they vote. Its splits have no
        competitors.
        """
        forest = self.forest_
        return Trees(forest, lambda number: FittedTree(forest.model(number)))

    def __str__(self) -> str:
        forest = self.forest_
        target = forest.schema.target
        what = "numbers" if target.is_numeric else f"{len(target.classes)} classes"
        leaves = sum(member.n_leaves for member in forest.members) / len(forest)
        names = ", ".join(recipe.name for recipe in forest.recipes)
        by = (
            f"recipes {names} in turn" if len(forest.recipes) > 1 else f"recipe {names}"
        )
        return (
            f"{shown(target.name)}: {what}, predicted by {len(forest)} trees of "
            f"{leaves:.1f} leaves on average ({by})"
        )

    @property
    def _needed(self) -> Any:
        """The attributes that the trees split on."""
        return self.forest_.needed

    def facts(self) -> dict[str, Any]:
        """Return its size, recipes and training set as plain data."""
        return forest_facts(self.forest_)

    # Predicting

    def outputs(self, X: Any) -> Floats:
        """Return the prediction for each row: class probabilities, or one number."""
        return forest_outputs(self.forest_, *self._columns(X))

    def _row_predictor(self, reader: RowReader) -> RowPredictor:
        forest = self.forest_
        trees, roots = forest.voting_trees(forest.numbers)
        walk = row_walk_of(trees, reader.columns, roots=roots)
        votes = votes_of(trees.distribution, forest)
        return RowPredictor(reader, walk, votes, partial(forest_outputs, forest))

    def apply(self, X: Any) -> Any:
        """Return the leaf of each row in each tree, rows × trees."""
        return forest_leaves(self.forest_, *self._columns(X))

    def decision_path(self, X: Any) -> "tuple[csr_matrix, Integers]":
        """Return a sparse matrix, rows × nodes of all trees: the weights at nodes.

        A weight is 1 unless a missing value has divided the row. The second array has
        the first node of each tree, and the number of nodes.
        """
        from scipy.sparse import hstack

        forest, (columns, n_rows) = self.forest_, self._columns(X)
        trees = map(forest.flat_tree, forest.numbers)
        paths = [tree.paths(columns, n_rows) for tree in trees]
        ends = np.cumsum([0, *(path.shape[1] for path in paths)])
        return hstack(paths, format="csr"), ends

    # Explaining

    def typical(self, X: Any) -> TypicalTree:
        """Return the tree that agrees most with the forest on some rows.

        ``agreement`` is the fraction of rows with the same class, for numeric targets
        R². The forest stores the result, and its files do: ``spinney show`` shows the
        tree.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
        >>> model = spinney.grow_forest(shop, "sold", n_estimators=5)
        >>> model.typical(shop)
        TypicalTree(number=0, agreement=1.0, rows=6)
        >>> print(model.trees[0])
        sold  (n = 4, weight 6: no 3 (50 %), yes 3 (50 %))
        ├── size ≤ 3.5 → no  (n = 3, weight 3: no 3 (100 %))
        └── size > 3.5 → yes  (n = 1, weight 3: yes 3 (100 %))
        """
        forest, (columns, n_rows) = self.forest_, self._columns(X)
        if not n_rows:
            msg = "X has no rows: give it at least one"
            raise DataError(msg)
        typical = forests.find_typical_tree(forest, columns, n_rows)
        self.forest_ = replace(forest, typical=typical)
        return typical

    def plot(
        self,
        *,
        style: str = "compact",
        horizontal: bool = False,
        max_depth: int | None = None,
        bars: bool = False,
        title: str | None = None,
        palette: str | Sequence[str] = "okabe-ito",
        digits: int | None = None,
        leaves_at_bottom: bool = False,
    ) -> "Picture":
        """Return a picture of the forest: its importances, and its most typical tree.

        Without a stored typical tree (:meth:`typical`), it is the one whose importances
        are nearest to the forest's. ``trees[3].plot()`` draws another.

        Parameters
        ----------
        style, horizontal, max_depth, bars, title, palette, digits, leaves_at_bottom
            The style of the tree, as for a single tree.

        Returns
        -------
        Picture
            ``save(path)`` writes it as .svg, .html, .png or .pdf.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
        >>> picture = spinney.grow_forest(shop, "sold", n_estimators=5).plot()
        >>> "5 trees of 2.0 leaves on average" in picture.svg
        True
        """
        forest, importances = self.forest_, self.importances()
        typical = forest.typical
        number = int(forests.trees_by_similarity(importances)[0])
        pictures = registry.load("operation", "picture")
        svg = pictures.to_forest_svg(
            forest,
            importances,
            number=number if typical is None else typical.number,
            style=style,
            horizontal=horizontal,
            max_depth=max_depth,
            bars=bars,
            title=title,
            palette=palette,
            digits=digits,
            leaves_at_bottom=leaves_at_bottom,
        )
        picture: Picture = pictures.Picture(svg)
        return picture

    def _picture(self) -> str:
        return self.plot().svg

    def importances(self) -> "Importances":
        """Return the mean decrease in impurity of each attribute, normalised, with SD.

        See :mod:`spinney.growth.forest.importances`.
        """
        return forests.impurity_importances(self.forest_)

    def grouped_importances(
        self,
        X: Any,
        *,
        threshold: float = 0.7,
        importances: "Importances | None" = None,
    ) -> "GroupedImportances":
        """Return the importances of groups of associated attributes.

        A forest splits on any of several associated attributes, so that each looks less
        important than all together. All pairs of a group are associated by at least
        the threshold (complete linkage).

        Parameters
        ----------
        X : table
            Rows to measure associations on, such as the training rows, with all
            attributes.
        threshold : float
            The minimum association within a group, from 0 to 1.
        importances : Importances, optional
            The importances to add up; those of :meth:`importances` if not given.
        """
        forest = self.forest_
        if importances is None:
            importances = self.importances()
        cells = forest.schema.encode(self._whole_table(X))
        return forests.grouped_importances(
            importances, forest.schema, cells, threshold=threshold
        )

    def permutation_importances(
        self, X: Any, y: Any = None, *, sample_weight: Any = None
    ) -> "Importances":
        """Return the increase of the out-of-bag error if an attribute is permuted.

        Parameters
        ----------
        X, y, sample_weight
            The training rows; other rows are refused, as they are in no bag. Without y
            the table must have the target column.
        """
        forest = self.forest_
        require_bootstrap(forest)
        return forests.permutation_importances(forest, self._bags(X, y, sample_weight))

    def interactions(self) -> "Interactions":
        """Return the number and importance of splits below each other attribute."""
        return forests.interactions_of(self.forest_)

    def proximities(self, X: Any, *, k: int = 20) -> "csr_matrix":
        """Return the proximities of each row to its ``k`` nearest, as a sparse matrix.

        See :mod:`spinney.growth.forest.proximities`; :meth:`proximity_blocks` has all
        proximities.
        """
        return forests.nearest(self.apply(X), k)

    def proximity_blocks(
        self, X: Any, *, rows: int | None = None
    ) -> Iterator[tuple[int, "csr_matrix"]]:
        """Yield all proximities, as pairs of the first row and its block of rows."""
        return forests.proximity_blocks(self.apply(X), rows=rows)

    def outliers(self, X: Any, y: Any = None) -> Floats:
        """Return the outlier score of each row within its class.

        Scores above 10 are suspicious (Breiman and Cutler). With a numeric target all
        rows are one class.
        """
        leaves = self.apply(X)
        if self.forest_.schema.target.is_numeric:
            return forests.outlier_scores(leaves, np.zeros(len(leaves), np.int64))
        if y is None:
            target = self.forest_.schema.target
            y = target.encode(self.read(X)[target.name])
        labels = np.asarray(y)
        if len(labels) != len(leaves):
            msg = f"X has {len(leaves)} rows and y has {len(labels)}: they must match"
            raise DataError(msg)
        return forests.outlier_scores(leaves, np.unique(labels, return_inverse=True)[1])

    def _bags(self, X: Any, y: Any, sample_weight: Any) -> "ForestBags":
        """Return the bags of the training rows."""
        from spinney.models.training_match import recode_training_rows

        forest = self.forest_
        training, _ = recode_training_rows(
            forest.schema,
            forest.recipes[0],
            self._whole_table(X),
            y=y,
            sample_weight=sample_weight,
        )
        if training.fingerprint().digest != forest.fingerprint.digest:
            msg = (
                "these rows are not the training rows in their order, and out-of-bag "
                "results need these: pass the training table"
            )
            raise DataError(msg)
        training = forests.with_ordered_categories(
            training, forest.recipes, hashed=forest.settings.bootstrap == HASH
        )
        return forests.ForestBags(training, forest.settings)

    # Saving

    def save(self, path: "str | os.PathLike[str]", *, overwrite: bool = True) -> None:
        """Save the forest to a file; :func:`spinney.load` reads it back.

        ``overwrite`` says whether an existing file may be replaced.
        """
        save_model(self.forest_, path, overwrite=overwrite)


# Parameters of the estimators that change the recipe, and those of the forest.
_TREE_ONLY = ("buckets", "n_buckets", "confidence", "linear_terms", "leaves")
RECIPE_PARAMETERS = tuple(n for n in COMMON_SETTINGS if n not in _TREE_ONLY)
FOREST_PARAMETERS = (
    "max_features",
    "bootstrap",
    "replace",
    "max_samples",
    "extra_random",
    "shrinkage",
)
CLASS_PARAMETERS = ("voting", "class_weight", "probability")

# The defaults where the target is a number.
NUMERIC_DEFAULTS: Mapping[str, Any] = {"max_features": 2 / 3}


def grow_forest_from(
    table: "TableInput",
    *,
    n_trees: int = 100,
    recipe: Recipes = "cart",
    settings: Mapping[str, Any],
    recipe_settings: Mapping[str, Any],
    n_jobs: int | None = None,
    progress: Progress | None = None,
    accept_bags: "Callable[[ForestBags | None], object] | None" = None,
) -> "tuple[Forest, ForestBags | None]":
    """Grow a forest on a table that holds its target; return it and its bags.

    Of several recipes each tree takes one, in turn. Columns that only tell rows apart
    are left out, unless they are declared.
    ``settings`` are those of :class:`ForestSettings`, and ``recipe_settings`` change
    the recipe; what is None in them is not given. Class weights are by class. Where
    rows are away, bags are those of some that were asked, if these had room;
    ``accept_bags`` is given them before anything is grown, and may refuse.
    """
    from spinney.sources.training_data import open_source

    check_progress(progress)
    changes = {n: value for n, value in recipe_settings.items() if value is not None}
    given = {name: value for name, value in settings.items() if value is not None}
    recipes = recipes_of(recipe, changes)
    check_enough(n_trees, recipes)
    ForestSettings(**{n: v for n, v in given.items() if n != "class_weight"})
    with open_source(
        table,
        sampleable=True,
        from_zero=any(recipe.counts_from_zero for recipe in recipes),
        complete=any(recipe.drops_rows for recipe in recipes),
    ) as opened:
        if opened.schema.target.is_numeric:
            _refuse_class_parameters({**given, **changes})
        rows: Any = opened.sampleable
        if rows is None:
            hashed = given.get("bootstrap") == HASH
            rows = forests.with_ordered_categories(
                opened.in_memory_rows, recipes, hashed=hashed
            )
        return grow_forest_on(
            rows,
            recipes,
            given,
            accept_bags=accept_bags,
            n_trees=n_trees,
            n_jobs=n_jobs,
            progress=progress,
        )


def grow_forest_on(
    rows: "TrainingSet | SampleableRows",
    recipes: Sequence[Recipe],
    given: Mapping[str, Any],
    *,
    accept_bags: "Callable[[ForestBags | None], object] | None" = None,
    **growing: Any,
) -> "tuple[Forest, ForestBags | None]":
    """Grow a forest on rows, by what is given of its settings; return it and its bags.

    Rows that have numbers are drawn by these, and their bags are those of some that
    are asked, if they have room. ``growing`` is for ``growth.forest.grow_forest``.
    """
    from spinney.growth import class_weights_of
    from spinney.sources.rows import TrainingSet

    target, given = rows.schema.target, dict(given)
    if target.is_numeric:
        given = {**NUMERIC_DEFAULTS, **given}
    scale = class_weights_of(given.pop("class_weight", None), target)
    settings = ForestSettings(**given, class_weight=scale)
    if isinstance(rows, TrainingSet):
        bags: ForestBags | None = forests.ForestBags(rows, settings)
    else:
        settings = replace(settings, bootstrap=HASH if settings.bootstrap else False)
        growing["sample_bags"] = bags = forests.sampled_bags(rows, settings)
    if accept_bags is not None:
        accept_bags(bags)
    return forests.grow_forest(rows, recipes, settings, **growing), bags


def refuse_forest_arguments(
    arguments: Mapping[str, Any], *, numeric: bool | None = None
) -> None:
    """Refuse arguments that are none of a forest's, or that it cannot heed.

    ``trees`` is the recipe of its trees. Where it is known whether the target is a
    number, what is about classes only is refused for one.
    """
    own = ("n_estimators", "trees", "random_state", "n_jobs")
    known = (*own, *RECIPE_PARAMETERS, *FOREST_PARAMETERS, "voting", "class_weight")
    trees = arguments.get("trees", "cart")
    refuse_uncommon(arguments, known, recipes_of(trees)[0])
    for name in arguments:
        if name not in known:
            msg = f"a forest has no {name!r}: {did_you_mean(name, known)}"
            raise ParameterError(msg)
    if numeric:
        _refuse_class_parameters(arguments)
    changes = {name: arguments.get(name) for name in RECIPE_PARAMETERS}
    recipes = recipes_of(trees, changes)
    given = {n: arguments[n] for n in FOREST_PARAMETERS if n in arguments}
    settings = ForestSettings(**given)
    check_enough(arguments.get("n_estimators", len(recipes)), recipes)
    if numeric is not None:
        forest_recipes(recipes, numeric=numeric, extra_random=settings.extra_random)


def _refuse_class_parameters(given: Mapping[str, Any]) -> None:
    """Refuse what is about classes, for a target that is a number."""
    for name in CLASS_PARAMETERS:
        if name in given:
            raise refusal(
                Setting(name, given[name]),
                "is about classes, and the target is a number",
                "leave it out",
            )
