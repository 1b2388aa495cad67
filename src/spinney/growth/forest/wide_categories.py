"""Categories of many values, put in one order for all trees of a forest.

A tree that stands alone looks at each node for the best subset of the values that are
there. In a forest that would take most of the time where there are many values, for
subsets that fit the bag rather than the rows. So values are ordered once, over all
rows: by the share of a class, by the mean of the numbers, or of several classes along
the main direction of their shares (Wright and König 2019, "Splitting on categorical
predictors in random forests"). Trees then ask whether a value comes before or after
another.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.data import Attribute, Schema
from spinney.growth.binned.binned_limits import MOST_CODES, MOST_SUBSETS
from spinney.recipes import Recipe
from spinney.search import principal_score
from spinney.sources.rows import TrainingSet
from spinney.trees import ratio_of


def is_wide(attribute: Attribute, schema: Schema) -> bool:
    """Return whether the values of a nominal attribute are too many for subsets."""
    most = MOST_SUBSETS if schema.n_classes > 2 else MOST_CODES
    return attribute.kind == "nominal" and len(attribute.values) > most


def with_ordered_categories(
    training: TrainingSet, recipes: Sequence[Recipe]
) -> TrainingSet:
    """Return rows whose wide categories are ordered, where all ask for subsets.

    A recipe that has a branch for each value, or merges them, takes them as they are;
    and a forest reads a table in one way, for all of its trees.
    """
    schema = training.schema
    if any(recipe.grouping != "binary" for recipe in recipes):
        return training
    attributes, columns = list(schema.attributes), list(training.columns)
    names = []
    for index, attribute in enumerate(schema.attributes):
        if is_wide(attribute, schema):
            names.append(attribute.name)
            order = _order(training, index)
            rank = np.empty(len(order) + 1, np.int64)
            rank[order], rank[-1] = np.arange(len(order)), -1
            values = tuple(attribute.values[code] for code in order.tolist())
            attributes[index] = replace(attribute, kind="ordinal", values=values)
            columns[index] = rank[columns[index]]
    ordered = replace(schema, attributes=tuple(attributes))
    return replace(
        training, schema=ordered, columns=tuple(columns), ordered=tuple(names)
    )


def _order(training: TrainingSet, index: int) -> Integers:
    """Return the codes of an attribute in order; those without rows at the end.

    Scores count in twelve digits of the greatest, so that rounding has no say; of
    equals the first code comes first.
    """
    cells, target = training.columns[index], training.schema.target
    n_values = len(training.schema.attributes[index].values)
    known = cells >= 0
    codes, weights = cells[known], training.own_weights[known]
    labels = training.classes[known]
    if target.is_numeric:
        table = _sums(np.zeros_like(codes), weights * labels, codes, 1, n_values)
        size = _sums(np.zeros_like(codes), weights, codes, 1, n_values)
        scores = ratio_of(table, size)[:, 0]
    else:
        table = _sums(labels, weights, codes, target.n_outputs, n_values)
        size = table.sum(axis=1, keepdims=True)
        if target.n_outputs == 2:
            scores = ratio_of(table, size)[:, 1]
        else:
            scores = principal_score(table)
    greatest = float(np.abs(scores).max(initial=0.0)) or 1.0
    scores = np.asarray(np.round(scores / greatest, 12), np.float64)
    scores[size[:, 0] <= 0] = np.inf
    return np.asarray(np.argsort(scores, kind="stable"))


def _sums(
    columns: Integers, amounts: Floats, codes: Integers, n_columns: int, n_values: int
) -> Floats:
    """Return amounts added up by value and column, whatever the order of rows."""
    keys = codes * n_columns + columns
    order = np.lexsort((amounts, keys))
    sums = np.bincount(keys[order], amounts[order], n_values * n_columns)
    return np.asarray(sums, np.float64).reshape(n_values, n_columns)


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
