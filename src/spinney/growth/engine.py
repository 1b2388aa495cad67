"""What the compiled loops can grow; asking loads no compiler."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spinney.data import Schema
from spinney.growth.growth_options import Options
from spinney.growth.prune import Pruned
from spinney.recipes import Recipe
from spinney.search import MOST_BRANCHES, policy_named
from spinney.trees import Tree, lazy_nodes_of

if TYPE_CHECKING:
    from spinney.sources.rows import TrainingSet

# As many codes as a byte can hold beside that of missing cells.
MOST_CODES = 255
MOST_CLASSES = 65_536  # as two bytes of a row's word can hold
LEAST_WEIGHT = 1e-140  # whose square is still a number above 0

CRITERIA = ("gini", "gain", "squared_error")

# Below so many cells the plain learner is done within seconds, and finds the best cut
# of every rival of a split, at every node. Where nobody asks for these, as in trees
# that are counted again or grown on folds, there is nothing to be lost.
FEWEST_CELLS = 100_000
FEWEST_WITHOUT_RIVALS = 30_000

# Settings that the kernels know nothing of, and the value that asks for nothing.
PLAIN = {
    "buckets": None,
    "alpha_split": None,
    "max_leaves": None,
    "mdl_correction": False,
    "min_cut_share": 0.0,
    "min_step": 0.0,
    "thresholds": "midpoint",
    "min_branch_share": 0.0,
    "min_deviation": 0.0,
    "linear_terms": 0,
    "construct": 0,
}


# The same for trees of several branches, which keep the rivals of all but tiny nodes.
FEWEST_RANKED_CELLS = 30_000
MOST_LEVELS = 65_536
RANKED_CRITERIA = ("gain", "gain_ratio", "gini")
RANKED_PLAIN = {
    name: PLAIN[name]
    for name in ("buckets", "alpha_split", "max_leaves", "linear_terms", "construct")
}


def suits(
    training: "TrainingSet",
    recipe: Recipe,
    options: "Options",
    *,
    rivals: bool = True,
) -> bool:
    """Return whether some kernels can grow what the plain learner would, and sooner.

    ``rivals`` says that somebody may ask for those of the splits that won.
    """
    return suits_bins(training, recipe, options, rivals=rivals) or suits_ranks(
        training, recipe, options
    )


def suits_ranks(training: "TrainingSet", recipe: Recipe, options: "Options") -> bool:
    """Return whether those of several branches can, which divide missing rows."""
    schema = training.schema
    if len(training.classes) * len(schema.attributes) < FEWEST_RANKED_CELLS:
        return False
    if schema.target.is_numeric or recipe.grouping != "multiway":
        return False
    if recipe.criterion not in RANKED_CRITERIA or recipe.missing != "fractional":
        return False
    if any(getattr(recipe, name) != value for name, value in RANKED_PLAIN.items()):
        return False
    if len(training.classes) >= 2**31 or not _says_nothing(schema, options):
        return False
    most = {"numeric": 0, "nominal": MOST_BRANCHES, "ordinal": MOST_LEVELS}
    return all(len(each.values) <= most[each.kind] for each in schema.attributes)


def _says_nothing(schema: Schema, options: "Options") -> bool:
    """Return whether there is nothing beside the recipe, and columns alone."""
    if options.class_weights is not None or options.costs is not None:
        return False
    if options.preference or options.forced or options.prices or options.constructed:
        return False
    return bool(schema.attributes) and all(
        attribute.formula is None for attribute in schema.attributes
    )


def suits_bins(
    training: "TrainingSet",
    recipe: Recipe,
    options: "Options",
    *,
    rivals: bool = True,
) -> bool:
    """Return whether those of two branches can, which sort numbers into bins."""
    fewest = FEWEST_CELLS if rivals else min(FEWEST_WITHOUT_RIVALS, FEWEST_CELLS)
    if len(training.classes) * len(training.schema.attributes) < fewest:
        return False
    return can_grow(training, recipe, options)


def can_grow(training: "TrainingSet", recipe: Recipe, options: "Options") -> bool:
    """Return whether the kernels can grow what the plain learner would."""
    schema = training.schema
    numeric = schema.target.is_numeric
    if schema.n_classes > MOST_CLASSES:
        return False
    if recipe.measure(numeric=numeric).name not in CRITERIA:
        return False
    if any(getattr(recipe, name) != value for name, value in PLAIN.items()):
        return False
    if training.weights is not None and training.weights.min() < LEAST_WEIGHT:
        return False
    if not _says_nothing(schema, options):
        return False
    return _attributes_suit(schema, recipe) and _missing_suits(training, recipe)


def _attributes_suit(schema: Schema, recipe: Recipe) -> bool:
    """Return whether every attribute can be coded, and split in two."""
    several = schema.n_classes > 2
    for attribute in schema.attributes:
        if attribute.kind == "numeric":
            continue
        if len(attribute.values) > MOST_CODES:
            return False
        if attribute.kind == "nominal":
            if recipe.grouping != "binary":
                return False
            if several and len(attribute.values) > 12:
                return False
    return recipe.grouping != "merge"


def _missing_suits(training: "TrainingSet", recipe: Recipe) -> bool:
    """Return whether missing cells go to the better branch, or there are none."""
    if recipe.missing == "branch":
        return True
    if policy_named(recipe.missing).overall:
        return False  # a later missing value goes where the typical one does
    for attribute, cells in zip(
        training.schema.attributes, training.columns, strict=True
    ):
        absent = np.isnan(cells) if attribute.kind == "numeric" else cells < 0
        if absent.any():
            return False
    return True


def grow_swiftly(training: "TrainingSet", recipe: Recipe) -> Tree:
    """Grow the tree that the plain learner would grow, of rows that suit."""
    if _in_ranks(training, recipe):
        from spinney.growth.ranked.grow_ranked import grow
    else:
        from spinney.growth.binned.grow_binned import grow
    return grow(training, recipe)


def grow_and_prune_swiftly(training: "TrainingSet", recipe: Recipe) -> Pruned | None:
    """Grow a tree of rows that suit, and prune it; None where loops cannot prune it."""
    if recipe.pruning != "error-based" or not _in_ranks(training, recipe):
        return None
    from spinney.growth.ranked.grow_ranked import grow_and_prune

    return grow_and_prune(training, recipe)


def _in_ranks(training: "TrainingSet", recipe: Recipe) -> bool:
    """Return whether rows that suit are grown by the loops of several branches."""
    options = Options()
    return suits_ranks(training, recipe, options) and not suits_bins(
        training, recipe, options
    )


def recount_swiftly(tree: Tree, training: "TrainingSet") -> Tree | None:
    """Return a tree counted on the true classes of its rows, where its nodes can be.

    None where they have been made, or cannot count.
    """
    nodes = lazy_nodes_of(tree)
    counted = None if nodes is None else nodes.recounted(training)
    return None if counted is None else replace(tree, nodes=counted)
