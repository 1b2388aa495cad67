"""The tasks that the kernels of binary trees can grow; checks load no compiler."""

from typing import TYPE_CHECKING

import numpy as np

from spinney._support.ties import TOLERANCE
from spinney.data import Schema
from spinney.growth.growth_options import Options
from spinney.growth.kernel_weights import suits_kernels
from spinney.recipes import Recipe
from spinney.search import UNBOUNDED_SETTINGS, policy_named
from spinney.trees.criteria import Criterion

if TYPE_CHECKING:
    from spinney.sources.rows import TrainingSet

# As many codes as a byte can hold beside that of missing cells.
MAX_CODES = 255
MAX_CLASSES = 65_536  # as two bytes of a row's word can hold
MAX_SUBSET_VALUES = 12  # values whose subsets are tried one by one, of several classes

# Of the multiway kernels, too: a depth that no tree has, and the fraction of all rows
# that a node needs for competitors (in binned trees only if every row weighs 1:
# ``growth/binned/kernels/competitors.py`` says why).
MAX_DEPTH = 2**31 - 1
COMPETITOR_ROWS_DIVISOR = 2000

# Settings that the kernels know nothing of, and the value that asks for nothing.
REQUIRED_SETTINGS = {**UNBOUNDED_SETTINGS, "reuse_attributes": True}


def can_grow_binned(training: "TrainingSet", recipe: Recipe, options: Options) -> bool:
    """Return whether the kernels of binary trees grow the plain learner's tree."""
    schema = training.schema
    if schema.n_classes > MAX_CLASSES:
        return False
    criterion = recipe.measure(numeric=schema.target.is_numeric)
    if not criterion.kernel:
        return False
    if any(getattr(recipe, name) != value for name, value in REQUIRED_SETTINGS.items()):
        return False
    if not suits_kernels(training, options):
        return False
    if not options.every_class_has_cost:
        return False
    if criterion.average and not (
        options.costs is None
        and _all_enter_average(training.weighed(options.class_weights), criterion)
    ):
        return False
    if not options.has_only_weights(schema):
        return False
    if not (recipe.bucketing is None or _can_bucket(recipe)):
        return False
    if criterion.average and routes_by_surrogates(training, recipe):
        # No score to be raised by what missing rows are worth (``kernels/search.py``).
        return False
    return _can_encode(schema, recipe) and _can_send_missing(training, recipe)


def _can_bucket(recipe: Recipe) -> bool:
    """Return whether buckets can be codes of binary splits."""
    buckets_are_codes = (
        recipe.bucketing != "entropy-mdl" and recipe.n_buckets <= MAX_CODES
    )
    by_root = policy_named(recipe.missing_policy).imputes_typical
    return buckets_are_codes and recipe.grouping != "multiway" and not by_root


def _all_enter_average(training: "TrainingSet", criterion: Criterion) -> bool:
    """Return whether every attribute counts in the average gain."""
    max_values = criterion.many_values * training.weight * (1 - TOLERANCE)
    return not any(
        attribute.kind == "nominal" and len(attribute.values) >= max_values
        for attribute in training.schema.attributes
    )


def _can_encode(schema: Schema, recipe: Recipe) -> bool:
    """Return whether every attribute can be encoded, and has binary splits."""
    many_classes = schema.n_classes > 2
    criterion = recipe.measure(numeric=schema.target.is_numeric)
    many_classes = many_classes or not criterion.ordered
    for attribute in schema.attributes:
        if attribute.kind == "numeric":
            continue
        if len(attribute.values) > MAX_CODES:
            return False
        if attribute.kind == "nominal":
            if recipe.grouping != "binary":
                return False
            if many_classes and len(attribute.values) > MAX_SUBSET_VALUES:
                return False
    return recipe.grouping != "merge"


def _can_send_missing(training: "TrainingSet", recipe: Recipe) -> bool:
    """Return whether rows with a missing value take one branch, or none are missing."""
    policy = policy_named(recipe.missing_policy)
    if policy.tries_branches or policy.surrogates:
        return True
    kinds = {attribute.kind for attribute in training.schema.attributes}
    if policy.imputes_typical and "nominal" in kinds:
        return False  # a later missing value goes where the commonest one does
    return not has_missing_cells(training)


def routes_by_surrogates(training: "TrainingSet", recipe: Recipe) -> bool:
    """Return whether surrogates route some of the training rows."""
    return policy_named(recipe.missing_policy).surrogates and has_missing_cells(
        training
    )


def has_missing_cells(training: "TrainingSet") -> bool:
    """Return whether any cell is missing."""
    for attribute, cells in zip(
        training.schema.attributes, training.columns, strict=True
    ):
        is_missing = np.isnan(cells) if attribute.kind == "numeric" else cells < 0
        if is_missing.any():
            return True
    return False
