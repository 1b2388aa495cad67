"""Categories of many values, put in one order for all trees of a forest.

A tree that stands alone looks at each node for the best subset of the values that are
there. In a forest that would fit chance where there are many values, so these are
ordered once, by the scores of :mod:`spinney.growth.cross_fitting`, and trees cut that
order in two. A row is grown on, and asked out of the bag, as the value that its own
looks like by the rows of other folds. An attribute whose scores do not hold in other
folds is not asked about at all.

A cut of the order is a question about a set of values, and reads as one.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spinney.data import Attribute
from spinney.growth.binned.binned_limits import MOST_CODES, MOST_SUBSETS
from spinney.growth.cross_fitting import (
    MAX_VALUES_UNENCODED,
    TargetEncoding,
    cross_fits,
)
from spinney.recipes import Recipe
from spinney.sources.rows import EncodedCells, TrainingSet
from spinney.trees import PackedTrees


def with_ordered_categories(
    training: TrainingSet, recipes: Sequence[Recipe], *, hashed: bool = False
) -> TrainingSet:
    """Return rows whose wide categories are ordered, where all ask for subsets.

    A recipe that has a branch for each value, or merges them, takes them as they are;
    and a forest reads a table in one way, for all of its trees. Where bags are
    ``hashed`` it is to be that of an engine, so that only those are ordered which
    have too many values for subsets.
    """
    if any(recipe.grouping != "binary" for recipe in recipes):
        return training
    most = MAX_VALUES_UNENCODED
    if hashed:
        most = MOST_SUBSETS if training.schema.n_classes > 2 else MOST_CODES
    attributes, columns = list(training.schema.attributes), list(training.columns)
    ordered = dict[int, EncodedCells]()
    for index, fit in cross_fits(training, most=most):
        values, order = attributes[index].values, fit.order
        rank = np.full(len(order) + 1, -1, np.int64)
        rank[order] = np.arange(len(order))
        sorted_values = tuple(values[code] for code in order.tolist())
        attributes[index] = replace(attributes[index], values=sorted_values)
        columns[index] = rank[columns[index]]
        ordered[index] = _cells_to_grow_on(fit)
    schema = replace(training.schema, attributes=tuple(attributes))
    return replace(training, schema=schema, columns=tuple(columns), ordered=ordered)


def _cells_to_grow_on(fit: TargetEncoding) -> EncodedCells:
    """Return what to grow on: one value for all, where the scores do not hold."""
    if fit.is_significant:
        return fit.cells
    return replace(fit.cells, codes=np.minimum(fit.cells.codes, 0))


def with_encoded_columns(training: TrainingSet) -> TrainingSet:
    """Return rows as trees are grown on them: the values in order are levels."""
    if not training.ordered:
        return training
    attributes = list(training.schema.attributes)
    for index in training.ordered:
        attributes[index] = replace(attributes[index], kind="ordinal")
    schema = replace(training.schema, attributes=tuple(attributes))
    columns = training.grown_columns
    return replace(training, schema=schema, columns=columns, ordered={})


def with_whole_levels(trees: PackedTrees, training: TrainingSet) -> PackedTrees:
    """Return trees whose cuts part no values of equal score."""
    whole, cut = trees.whole, trees.whole.cut.copy()
    for index, own in training.ordered.items():
        lines = np.flatnonzero((whole.attribute == index) & np.isfinite(cut))
        below = np.searchsorted(own.ends, cut[lines], side="right") - 1
        cut[lines] = own.ends[below] + 0.5
    return replace(trees, whole=replace(whole, cut=cut))


def with_levels_as_numbers(training: TrainingSet) -> TrainingSet:
    """Return rows whose ordered categories of many levels are numbers, to grow on."""
    attributes, columns = list(training.schema.attributes), list(training.columns)
    for index, attribute in enumerate(training.schema.attributes):
        if attribute.kind == "ordinal" and len(attribute.values) > MOST_CODES:
            attributes[index] = Attribute(attribute.name, "numeric")
            cells = columns[index]
            columns[index] = np.where(cells < 0, np.nan, cells.astype(np.float64))
    schema = replace(training.schema, attributes=tuple(attributes))
    return replace(training, schema=schema, columns=tuple(columns))
