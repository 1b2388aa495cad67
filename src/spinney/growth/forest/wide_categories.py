"""High-cardinality attributes, ordered once for all trees of a forest.

A single tree searches at each node for the best subset of the values there. In a forest
such subsets of many values would overfit. So these values are ordered once by the
scores of :mod:`spinney.growth.cross_fitting`, and trees cut this order in two. For
training and out-of-bag predictions a row has the place of its value by the rows of
other folds. An attribute whose scores do not hold in other folds gets no splits.

A cut of the order is a splitting subset, and is printed as one.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spinney.data import Attribute
from spinney.growth.binned.binned_limits import MAX_CODES, MAX_SUBSET_VALUES
from spinney.growth.cross_fitting import MAX_VALUES_UNENCODED, cross_fits
from spinney.recipes import Recipe
from spinney.sources.rows import EncodedCells, TrainingSet
from spinney.trees import PackedTrees


def with_ordered_categories(
    training: TrainingSet, recipes: Sequence[Recipe], *, hashed: bool = False
) -> TrainingSet:
    """Return rows with ordered wide categories, if all recipes split by subsets.

    A recipe with a branch for each value, or with merged values, needs no order, and
    all trees of a forest share one table. With ``hashed`` bags the forest must equal
    that of a remote table, so only attributes with too many values for subsets are
    ordered.
    """
    if any(recipe.grouping != "binary" for recipe in recipes):
        return training
    max_values = MAX_VALUES_UNENCODED
    if hashed:
        max_values = MAX_SUBSET_VALUES if training.schema.n_classes > 2 else MAX_CODES
    attributes, columns = list(training.schema.attributes), list(training.columns)
    ordered = dict[int, EncodedCells]()
    for index, fit in cross_fits(training, max_values=max_values):
        values, order = attributes[index].values, fit.order
        rank = np.full(len(order) + 1, -1, np.int64)
        rank[order] = np.arange(len(order))
        sorted_values = tuple(values[code] for code in order.tolist())
        attributes[index] = replace(attributes[index], values=sorted_values)
        columns[index] = rank[columns[index]]
        cells = fit.cells
        if not fit.is_significant:  # one value for all
            cells = replace(cells, codes=np.minimum(cells.codes, 0))
        ordered[index] = cells
    schema = replace(training.schema, attributes=tuple(attributes))
    return replace(training, schema=schema, columns=tuple(columns), ordered=ordered)


def with_encoded_columns(training: TrainingSet) -> TrainingSet:
    """Return the rows to grow on, with ordered values as ordinal codes."""
    if not training.ordered:
        return training
    attributes = list(training.schema.attributes)
    for index in training.ordered:
        attributes[index] = replace(attributes[index], kind="ordinal")
    schema = replace(training.schema, attributes=tuple(attributes))
    columns = training.training_columns
    return replace(training, schema=schema, columns=columns, ordered={})


def with_whole_levels(trees: PackedTrees, training: TrainingSet) -> PackedTrees:
    """Return trees whose cuts keep values of equal score together."""
    whole, cut = trees.whole, trees.whole.cut.copy()
    for index, encoded in training.ordered.items():
        lines = np.flatnonzero((whole.attribute == index) & np.isfinite(cut))
        below = np.searchsorted(encoded.ends, cut[lines], side="right") - 1
        cut[lines] = encoded.ends[below] + 0.5
    return replace(trees, whole=replace(whole, cut=cut))


def with_levels_as_numbers(training: TrainingSet) -> TrainingSet:
    """Return the rows to grow on, with ordered categories of many levels as numbers."""
    attributes, columns = list(training.schema.attributes), list(training.columns)
    for index, attribute in enumerate(training.schema.attributes):
        if attribute.kind == "ordinal" and len(attribute.values) > MAX_CODES:
            attributes[index] = Attribute(attribute.name, "numeric")
            cells = columns[index]
            columns[index] = np.where(cells < 0, np.nan, cells.astype(np.float64))
    schema = replace(training.schema, attributes=tuple(attributes))
    return replace(training, schema=schema, columns=tuple(columns))
