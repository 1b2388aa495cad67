"""Labels smoothed by a forest, for a single tree to grow on.

A greedy tree chases the noise of single labels. A forest averages it away, and says of
each training row how likely each class is; told by the trees that did not see the row,
that is an honest guess. A tree that grows on a mixture of such guesses and the true
labels finds better splits, and stays one tree (Breiman and Shang 1996, "Born again
trees"; Frosst and Hinton 2017 for the use of soft labels)::

    label of a row  =  (1 − share) · its own class  +  share · the forest's guess

A row then counts at several classes with parts of its weight, which count tables
carry as they are. Only where splits are made is this used: the finished tree counts
the rows as they are.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Attribute
from spinney.growth.binned.binned_limits import MOST_CODES, MOST_SUBSETS
from spinney.growth.forest.bags import ForestBags
from spinney.growth.forest.forest_growth import grow_forest
from spinney.growth.forest.forest_settings import ForestSettings
from spinney.growth.forest.voting import out_of_bag
from spinney.recipes import RECIPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spinney.sources.rows import TrainingSet

N_TREES = 100
MOST_ROWS_A_TREE = 20_000
MOST_INDICATORS = 64
LEAST_SHARE = 0.02
DIGITS = 9
DRAWS_A_ROW = 4  # how finely weights are told apart, of a row of mean weight
TREES = RECIPES["cart"].changed(missing="branch")


def smoothed_training(training: "TrainingSet", labels: Floats) -> "TrainingSet":
    """Return training rows with smoothed labels: a row comes once for each class."""
    if training.schema.target.is_numeric:
        return replace(training, classes=labels)
    rows, classes = np.nonzero(labels)
    weights = labels[rows, classes] * training.own_weights[rows]
    return replace(training.take(rows), classes=classes, weights=weights)


def smoothed_labels(training: "TrainingSet", share: float, seed: int) -> Floats:
    """Return the smoothed label of each row: a share for each class, or a number.

    Guesses below 2 % are dropped, so that a row counts at few classes.
    """
    guesses = _guesses(training, seed)
    if training.schema.target.is_numeric:
        return np.asarray((1 - share) * training.classes + share * guesses)
    own = np.eye(training.schema.n_classes)[training.classes]
    labels = (1 - share) * own + share * guesses
    labels[labels < LEAST_SHARE] = 0.0
    return np.asarray(labels / labels.sum(axis=1, keepdims=True))


def _guesses(training: "TrainingSet", seed: int) -> Floats:
    """Return what the trees of a forest that did not see a row say of it.

    A row that every tree has seen, such as one of nearly all the weight, keeps its own
    class or number.
    """
    numeric = training.schema.target.is_numeric
    settings = ForestSettings(
        max_features=1 / 3 if numeric else "sqrt",
        max_samples=min(MOST_ROWS_A_TREE, len(training.classes)),
        shrinkage=0,  # the share of the labels shrinks enough
        seed=seed,
    )
    rows = _for_forest(training)
    least, width = 0.0, 1.0
    if numeric:
        least = float(training.classes.min())
        width = float(np.ptp(training.classes)) or 1.0
        rows = _in_unit(rows, least, width)
    forest = grow_forest(rows, TREES, settings, n_trees=N_TREES)
    votes, n_trees = out_of_bag(forest, ForestBags(rows, settings))
    if numeric:
        guesses = votes.ravel() * width + least
        return np.asarray(np.where(n_trees == 0, training.classes, guesses))
    own = np.eye(training.schema.n_classes)[training.classes]
    return np.asarray(np.where(n_trees[:, None] == 0, own, votes))


def _in_unit(rows: "TrainingSet", least: float, width: float) -> "TrainingSet":
    """Return rows whose target goes from 0 to 1, whatever its unit.

    Bags are drawn by what is in the rows: digits that another unit would round
    otherwise are dropped.
    """
    numbers = np.round((rows.classes - least) / width, DIGITS)
    target = replace(rows.schema.target, origin=float(numbers.mean()))
    return replace(rows, schema=replace(rows.schema, target=target), classes=numbers)


def _for_forest(training: "TrainingSet") -> "TrainingSet":
    """Return the rows as compiled kernels take them, whatever the attributes.

    Numbers are ranks: a forest asks for no more, and another unit of a column changes
    nothing, nor do bags that are drawn by what is in the rows. A category with more
    values than the kernels can put into two subsets becomes an indicator of each value,
    or its codes as numbers where there are very many. Weights are rounded to a few
    steps, so that a row of nearly all the weight is in every bag.
    """
    schema = training.schema
    most = {"ordinal": MOST_CODES, "nominal": MOST_CODES}
    if schema.n_classes > 2:
        most["nominal"] = MOST_SUBSETS
    attributes: list[Attribute] = []
    columns: list[NDArray[Any]] = []
    for attribute, cells in zip(schema.attributes, training.columns, strict=True):
        numbers = [cells]
        if attribute.kind == "numeric":
            numbers = [_ranks(cells)]
        elif len(attribute.values) > most[attribute.kind]:
            numbers = _as_numbers(attribute, cells)
            attribute = Attribute(attribute.name, "numeric")
        attributes += [attribute] * len(numbers)
        columns += numbers
    wider = replace(schema, attributes=tuple(attributes))
    weights = training.weights
    if weights is not None:
        # Bags draw rows by whole weights; others would only weigh what is drawn.
        weights = np.maximum(1.0, np.rint(DRAWS_A_ROW * weights / weights.mean()))
    return replace(training, schema=wider, columns=tuple(columns), weights=weights)


def _as_numbers(attribute: Attribute, cells: "NDArray[Any]") -> list[Floats]:
    """Return a column of codes as numbers: an indicator of each value, or the codes."""
    if attribute.kind == "ordinal" or len(attribute.values) > MOST_INDICATORS:
        return [np.where(cells < 0, np.nan, cells.astype(np.float64))]
    return [(cells == code).astype(np.float64) for code in range(len(attribute.values))]


def _ranks(cells: "NDArray[Any]") -> Floats:
    """Return the ranks of numbers."""
    known = ~np.isnan(cells)
    ranks = np.full(len(cells), np.nan)
    ranks[known] = np.unique(cells[known], return_inverse=True)[1]
    return ranks
