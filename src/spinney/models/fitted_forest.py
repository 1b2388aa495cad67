"""Fitted forests: predict, explain, save.

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
    """A grown forest and what can be done with it.

    Parameters
    ----------
    forest : Forest
        The trees with their recipe and origin.
    """

    kind = "forest"
    forest_: Forest

    def __init__(self, forest: Forest) -> None:
        self._adopt(forest)

    def _adopt(self, model: Forest) -> None:
        """Take a forest as one's own."""
        self.forest_ = model

    def _grown(self) -> Forest:
        """Return the forest, or say that there is none yet."""
        return self.forest_

    @property
    def trees(self) -> Trees[Any]:
        """The trees, each a model by itself, made when it is asked for.

        ``trees[3]`` is printed, ruled, explained, predicted by, exported, drawn and
        saved as any tree is. Its leaves are as they were grown; the forest shrinks them
        by ``forest_.shrinkage`` when they vote. Of each split it knows what won, and
        not what lost.
        """
        return Trees(self._grown(), self._member)

    def _member(self, number: int) -> FittedTree:
        """Return a tree by itself."""
        return FittedTree(self._grown().model(number))

    def __str__(self) -> str:
        forest = self._grown()
        target = forest.schema.target
        what = "numbers" if target.is_numeric else f"{len(target.classes)} classes"
        leaves = sum(member.n_leaves for member in forest.members) / len(forest)
        names = ", ".join(recipe.name for recipe in forest.recipes)
        by = (
            f"recipes {names} in turn" if len(forest.recipes) > 1 else f"recipe {names}"
        )
        return (
            f"{shown(target.name)}: {what}, told by {len(forest)} trees of "
            f"{leaves:.1f} leaves on average ({by})"
        )

    @property
    def _needed(self) -> Any:
        """The attributes that the trees split on."""
        return self._grown().needed

    def facts(self) -> dict[str, Any]:
        """Return what the forest is and what it was grown on, as plain data."""
        return forest_facts(self._grown())

    # Predicting

    def outputs(self, X: Any) -> Floats:
        """Return the prediction for each row: class probabilities, or one number."""
        return forest_outputs(self._grown(), *self._columns(X))

    def _row_predictor(self, reader: RowReader) -> RowPredictor:
        forest = self._grown()
        trees, roots = forest.voting_trees(forest.numbers)
        walk = row_walk_of(trees, reader.columns, roots=roots)
        votes = votes_of(trees.distribution, forest)
        return RowPredictor(reader, walk, votes, partial(forest_outputs, forest))

    def apply(self, X: Any) -> Any:
        """Return the leaf of each row in each tree, rows × trees."""
        return forest_leaves(self._grown(), *self._columns(X))

    def decision_path(self, X: Any) -> "tuple[csr_matrix, Integers]":
        """Return what comes to which node, as a sparse matrix, rows × nodes of all.

        The second array says where the nodes of each tree begin, and where the last
        ones end. An entry is the weight that a row has at a node, 1 unless a missing
        value has divided it.
        """
        from scipy.sparse import hstack

        forest, (columns, n_rows) = self._grown(), self._columns(X)
        trees = map(forest.flat_tree, forest.numbers)
        paths = [tree.paths(columns, n_rows) for tree in trees]
        ends = np.cumsum([0, *(path.shape[1] for path in paths)])
        return hstack(paths, format="csr"), ends

    # Questioning

    def typical(self, X: Any) -> TypicalTree:
        """Return which tree agrees most with the forest on some rows, and how far.

        Of classes ``agreement`` is the share of rows of which both say the same, of
        numbers R². The forest keeps the answer, and so does a file that it is saved to
        afterwards: ``spinney show`` shows that tree.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
        >>> model = spinney.grow_forest(shop, "sold", n_estimators=5)
        >>> model.typical(shop)
        TypicalTree(number=0, agreement=1.0, rows=6)
        >>> print(model.trees[0])
        sold  (6: no 3 (50 %), yes 3 (50 %))
        ├── size ≤ 3.5 → no  (3: no 3 (100 %))
        └── size > 3.5 → yes  (3: yes 3 (100 %))
        """
        forest, (columns, n_rows) = self._grown(), self._columns(X)
        if not n_rows:
            msg = "X has no rows: give it at least one"
            raise DataError(msg)
        return self._keep_typical(forests.find_typical_tree(forest, columns, n_rows))

    def _keep_typical(self, typical: TypicalTree) -> TypicalTree:
        self.forest_ = replace(self._grown(), typical=typical)
        return typical

    def plot(
        self,
        *,
        style: str = "compact",
        horizontal: bool = False,
        max_depth: int | None = None,
        bars: bool = False,
    ) -> "Picture":
        """Return a picture of the forest: its importances, and its most typical tree.

        Where no tree is known to be typical (:meth:`typical`), it is one whose
        importances are nearest to those of all. ``trees[3].plot()`` draws another.

        Parameters
        ----------
        style, horizontal, max_depth, bars
            How the tree is drawn, as of one that was grown by itself.

        Returns
        -------
        Picture
            ``save(path)`` keeps it as .svg, .html, .png or .pdf.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
        >>> picture = spinney.grow_forest(shop, "sold", n_estimators=5).plot()
        >>> "5 trees of 2.0 leaves on average" in picture.svg
        True
        """
        forest, importances = self._grown(), self.importances()
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
        )
        picture: Picture = pictures.Picture(svg)
        return picture

    def _picture(self) -> str:
        return self.plot().svg

    def importances(self) -> "Importances":
        """Return what each attribute gained, as shares, with its spread over trees.

        See :mod:`spinney.growth.forest.importances`.
        """
        return forests.impurity_importances(self._grown())

    def grouped_importances(
        self,
        X: Any,
        *,
        threshold: float = 0.7,
        importances: "Importances | None" = None,
    ) -> "GroupedImportances":
        """Return what attributes that say nearly the same are worth together.

        A forest asks now about one and now about the other of two such attributes, so
        that each looks less important than what they both say. Attributes are in one
        group where each two of them are associated at least so (complete linkage).

        Parameters
        ----------
        X : table
            Rows to measure associations on, such as those that the forest was grown
            on; all attributes must be there.
        threshold : float
            The least association within a group, from 0 to 1.
        importances : Importances, optional
            Which ones are added up: those of :meth:`importances` if not given.
        """
        forest = self._grown()
        if importances is None:
            importances = self.importances()
        cells = forest.schema.encode(self._whole_table(X))
        return forests.grouped_importances(
            importances, forest.schema, cells, threshold=threshold
        )

    def permutation_importances(
        self, X: Any, y: Any = None, *, sample_weight: Any = None
    ) -> "Importances":
        """Return by how much out-of-bag errors grow without an attribute.

        Parameters
        ----------
        X, y, sample_weight
            The rows that the forest was grown on; other rows are refused, as nobody
            knows which of them a tree has not seen. Without y the table must hold
            the target column.
        """
        forest = self._grown()
        require_bootstrap(forest)
        return forests.permutation_importances(forest, self._bags(X, y, sample_weight))

    def interactions(self) -> "Interactions":
        """Return how often, and with what gain, attributes are below others."""
        return forests.interactions_of(self._grown())

    def proximities(self, X: Any, *, k: int = 20) -> "csr_matrix":
        """Return how near each row is to its ``k`` nearest others, as a sparse matrix.

        See :mod:`spinney.growth.forest.proximities`; :meth:`proximity_blocks` has them
        all.
        """
        return forests.nearest(self.apply(X), k)

    def proximity_blocks(
        self, X: Any, *, rows: int | None = None
    ) -> Iterator[tuple[int, "csr_matrix"]]:
        """Yield all proximities, a block of rows at a time: its first row, and it."""
        return forests.proximity_blocks(self.apply(X), rows=rows)

    def outliers(self, X: Any, y: Any = None) -> Floats:
        """Return how far each row is from the others of its class.

        Scores above 10 deserve a look (Breiman and Cutler). Of numbers all rows are
        one class.
        """
        leaves = self.apply(X)
        if self._grown().schema.target.is_numeric:
            return forests.outlier_scores(leaves, np.zeros(len(leaves), np.int64))
        if y is None:
            target = self._grown().schema.target
            y = target.encode(self.read(X)[target.name])
        labels = np.asarray(y)
        if len(labels) != len(leaves):
            msg = f"X has {len(leaves)} rows and y has {len(labels)}: they must match"
            raise DataError(msg)
        return forests.outlier_scores(leaves, np.unique(labels, return_inverse=True)[1])

    def _bags(self, X: Any, y: Any, sample_weight: Any) -> "ForestBags":
        """Return the bags of the rows that the forest was grown on."""
        from spinney.models.training_match import recode_training_rows

        forest = self._grown()
        training, _ = recode_training_rows(
            forest.schema,
            forest.recipes[0],
            self._whole_table(X),
            y=y,
            sample_weight=sample_weight,
        )
        if training.fingerprint().digest != forest.fingerprint.digest:
            msg = (
                "these are not the rows that the forest was grown on, in their order: "
                "only those are known to be in or out of each bag"
            )
            raise DataError(msg)
        training = forests.with_ordered_categories(
            training, forest.recipes, hashed=forest.settings.bootstrap == HASH
        )
        return forests.ForestBags(training, forest.settings)

    # Keeping

    def save(self, path: "str | os.PathLike[str]", *, overwrite: bool = True) -> None:
        """Save the forest to a file; :func:`spinney.load` reads it back.

        ``overwrite`` says whether a file that is there may be replaced.
        """
        save_model(self._grown(), path, overwrite=overwrite)


# Parameters of the estimators that change the recipe, and those of the forest.
_OF_TREES = ("buckets", "n_buckets", "confidence", "linear_terms", "leaves")
RECIPE_PARAMETERS = tuple(n for n in COMMON_SETTINGS if n not in _OF_TREES)
FOREST_PARAMETERS = (
    "max_features",
    "bootstrap",
    "replace",
    "max_samples",
    "extra_random",
    "shrinkage",
)
OF_CLASSES = ("voting", "class_weight", "probability")

# The defaults where the target is a number.
FOR_NUMBERS: Mapping[str, Any] = {"max_features": 2 / 3}


def forest_from(
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
            _refuse_of_classes({**given, **changes})
        rows: Any = opened.sampleable
        if rows is None:
            hashed = given.get("bootstrap") == HASH
            rows = forests.with_ordered_categories(
                opened.in_memory_rows, recipes, hashed=hashed
            )
        return forest_on(
            rows,
            recipes,
            given,
            accept_bags=accept_bags,
            n_trees=n_trees,
            n_jobs=n_jobs,
            progress=progress,
        )


def forest_on(
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
        given = {**FOR_NUMBERS, **given}
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
        _refuse_of_classes(arguments)
    changes = {name: arguments.get(name) for name in RECIPE_PARAMETERS}
    recipes = recipes_of(trees, changes)
    given = {n: arguments[n] for n in FOREST_PARAMETERS if n in arguments}
    settings = ForestSettings(**given)
    check_enough(arguments.get("n_estimators", len(recipes)), recipes)
    if numeric is not None:
        forest_recipes(recipes, numeric=numeric, extra_random=settings.extra_random)


def _refuse_of_classes(given: Mapping[str, Any]) -> None:
    """Refuse what is about classes, for a target that is a number."""
    for name in OF_CLASSES:
        if name in given:
            raise refusal(
                Setting(name, given[name]),
                "is about classes, and the target is a number",
                "leave it out",
            )
