"""Labels smoothed by a forest, for a single tree to grow on.

A greedy tree fits the noise of single labels. A forest averages it out: its out-of-bag
class probabilities are honest predictions of the training rows. A tree that grows on a
mixture of such predictions and the true labels finds better splits, and stays one tree
(Breiman and Shang 1996, "Born again trees"; Frosst and Hinton 2017 for soft labels)::

    label of a row  =  (1 − share) · its own class  +  share · the forest's prediction

A row then counts at several classes with fractions of its weight, which count tables
can hold. Only the search for splits uses these labels: the finished tree counts the
original rows.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Attribute
from spinney.growth.binned.binned_limits import MAX_CODES, MAX_SUBSET_VALUES
from spinney.growth.forest.bags import ForestBags
from spinney.growth.forest.forest_growth import grow_forest
from spinney.growth.forest.forest_settings import ForestSettings
from spinney.growth.forest.voting import out_of_bag
from spinney.recipes import RECIPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spinney.sources.rows import TrainingSet

N_TREES = 100
MAX_ROWS_PER_TREE = 20_000
MAX_INDICATORS = 64
MIN_PROBABILITY = 0.02
DIGITS = 9
DRAWS_PER_ROW = 4  # the resolution of weights, for a row of mean weight
TREES = RECIPES["cart"].changed(missing_policy="branch")


def smoothed_training(training: "TrainingSet", labels: Floats) -> "TrainingSet":
    """Return the training rows with smoothed labels: one row per class."""
    if training.schema.target.is_numeric:
        return replace(training, classes=labels)
    rows, classes = np.nonzero(labels)
    weights = labels[rows, classes] * training.sample_weights[rows]
    return replace(training.take(rows), classes=classes, weights=weights)


def smoothed_labels(training: "TrainingSet", forest_weight: float, seed: int) -> Floats:
    """Return the smoothed label of each row: class probabilities, or a number.

    Probabilities below 2 % are dropped, so that a row counts at few classes.
    """
    predicted = _out_of_bag_predictions(training, seed)
    if training.schema.target.is_numeric:
        return np.asarray(
            (1 - forest_weight) * training.classes + forest_weight * predicted
        )
    one_hot = np.eye(training.schema.n_classes)[training.classes]
    labels = (1 - forest_weight) * one_hot + forest_weight * predicted
    labels[labels < MIN_PROBABILITY] = 0.0
    return np.asarray(labels / labels.sum(axis=1, keepdims=True))


def _out_of_bag_predictions(training: "TrainingSet", seed: int) -> Floats:
    """Return the out-of-bag predictions of a forest for its rows.

    A row in every bag, such as a row of nearly all the weight, keeps its own label.
    """
    numeric = training.schema.target.is_numeric
    settings = ForestSettings(
        max_features=1 / 3 if numeric else "sqrt",
        max_samples=min(MAX_ROWS_PER_TREE, len(training.classes)),
        shrinkage=0,  # the mixture of labels shrinks enough
        seed=seed,
    )
    rows = _for_forest(training)
    low, width = 0.0, 1.0
    if numeric:  # from 0 to 1, so that another unit of the target draws the same bags
        low = float(training.classes.min())
        width = float(np.ptp(training.classes)) or 1.0
        numbers = np.round((training.classes - low) / width, DIGITS)
        target = replace(rows.schema.target, origin=float(numbers.mean()))
        schema = replace(rows.schema, target=target)
        rows = replace(rows, schema=schema, classes=numbers)
    forest = grow_forest(rows, TREES, settings, n_trees=N_TREES)
    votes, n_trees = out_of_bag(forest, ForestBags(rows, settings))
    if numeric:
        predicted = votes.ravel() * width + low
        return np.asarray(np.where(n_trees == 0, training.classes, predicted))
    one_hot = np.eye(training.schema.n_classes)[training.classes]
    return np.asarray(np.where(n_trees[:, None] == 0, one_hot, votes))


def _for_forest(training: "TrainingSet") -> "TrainingSet":
    """Return the rows in a form that the compiled kernels take.

    Numbers become ranks: ranks suffice for a forest, and the unit of a column changes
    neither trees nor bags. A category with too many values for the kernels' subsets
    becomes an indicator per value, or, with very many values, numeric codes. Weights
    are rounded to a few steps, so that a row of nearly all the weight is in every bag.
    """
    schema = training.schema
    max_values = {"ordinal": MAX_CODES, "nominal": MAX_CODES}
    if schema.n_classes > 2:
        max_values["nominal"] = MAX_SUBSET_VALUES
    attributes: list[Attribute] = []
    columns: list[NDArray[Any]] = []
    for attribute, cells in zip(schema.attributes, training.columns, strict=True):
        numbers = [cells]
        if attribute.kind == "numeric":
            observed = ~np.isnan(cells)
            ranks = np.full(len(cells), np.nan)
            ranks[observed] = np.unique(cells[observed], return_inverse=True)[1]
            numbers = [ranks]
        elif len(attribute.values) > max_values[attribute.kind]:
            numbers = _as_numbers(attribute, cells)
            attribute = Attribute(attribute.name, "numeric")
        attributes += [attribute] * len(numbers)
        columns += numbers
    schema = replace(schema, attributes=tuple(attributes))
    weights = training.weights
    if weights is not None:
        # Bags draw rows by whole weights; others would only weigh what is drawn.
        weights = np.maximum(1.0, np.rint(DRAWS_PER_ROW * weights / weights.mean()))
    return replace(training, schema=schema, columns=tuple(columns), weights=weights)


def _as_numbers(attribute: Attribute, cells: "NDArray[Any]") -> list[Floats]:
    """Return a column of codes as numbers: an indicator of each value, or the codes."""
    if attribute.kind == "ordinal" or len(attribute.values) > MAX_INDICATORS:
        return [np.where(cells < 0, np.nan, cells.astype(np.float64))]
    return [(cells == code).astype(np.float64) for code in range(len(attribute.values))]
