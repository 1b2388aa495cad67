"""What the compiled loops can grow; asking loads no compiler."""

from typing import TYPE_CHECKING

import numpy as np

from spinney.missing import policy_named
from spinney.recipe import Recipe
from spinney.schema import Schema

if TYPE_CHECKING:
    from spinney.learner import Options
    from spinney.training import TrainingSet

__all__ = ["CRITERIA", "MOST_CODES", "can_grow", "suits"]

# As many codes as a byte can hold beside that of missing cells.
MOST_CODES = 255

CRITERIA = ("gini", "gain", "squared_error")

# Below so many cells the plain learner is done before a compiler has begun, or soon
# after, and its nodes keep the rivals of a split. Where nobody asks for these, as in
# trees that are counted again or grown on folds, there is nothing to be lost.
FEWEST_CELLS = 2_000_000
FEWEST_WITHOUT_RIVALS = 100_000

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


def suits(
    training: "TrainingSet",
    recipe: Recipe,
    options: "Options",
    *,
    rivals: bool = True,
) -> bool:
    """Return whether the kernels can grow what the plain learner would, and sooner.

    ``rivals`` says that somebody may ask for those of the splits that won.
    """
    fewest = FEWEST_CELLS if rivals else min(FEWEST_WITHOUT_RIVALS, FEWEST_CELLS)
    if len(training.classes) * len(training.schema.attributes) < fewest:
        return False
    return can_grow(training, recipe, options)


def can_grow(training: "TrainingSet", recipe: Recipe, options: "Options") -> bool:
    """Return whether the kernels can grow what the plain learner would."""
    schema = training.schema
    numeric = schema.target.is_numeric
    if recipe.measure(numeric=numeric).name not in CRITERIA:
        return False
    if any(getattr(recipe, name) != value for name, value in PLAIN.items()):
        return False
    said = (options.class_weights, options.costs)
    if any(each is not None for each in said):
        return False
    if options.preference or options.forced or options.prices or options.constructed:
        return False
    if not schema.attributes or any(a.formula is not None for a in schema.attributes):
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
