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

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.threads import n_threads
from spinney.growth.engine import can_grow
from spinney.growth.forest.bags import Bags
from spinney.growth.forest.forest_growth import grow_forest
from spinney.growth.forest.forest_settings import ForestSettings
from spinney.growth.forest.voting import out_of_bag
from spinney.growth.growth_options import Options
from spinney.recipes import RECIPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spinney.data import Attribute
    from spinney.sources.rows import TrainingSet

N_TREES = 100
MOST_ROWS_A_TREE = 20_000
MOST_INDICATORS = 64
LEAST_SHARE = 0.02
# Of fewer cells a forest is done before its threads have begun, or a compiler is there.
FEWEST_IN_THREADS = FEWEST_OF_OURS = 100_000
DIGITS = 9
TREES = RECIPES["cart"].changed(missing="branch")


def smoothed_training(training: "TrainingSet", labels: Floats) -> "TrainingSet":
    """Return training rows with smoothed labels: a row comes once for each class."""
    if training.schema.target.is_numeric:
        return replace(training, classes=labels)
    rows, classes = np.nonzero(labels)
    weights = labels[rows, classes] * training.own_weights[rows]
    return replace(training.taken(rows), classes=classes, weights=weights)


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

    Of many rows the forest is ours, grown by the compiled loops that grow the tree,
    too. Of few rows, or numbers, it is scikit-learn's: no compiler is waited for.
    """
    schema = training.schema
    many = len(training.classes) * len(schema.attributes) >= FEWEST_OF_OURS
    if many and not schema.target.is_numeric and can_grow(training, TREES, Options()):
        return _own_guesses(training, seed)
    return _peers_guesses(training, seed)


def _own_guesses(training: "TrainingSet", seed: int) -> Floats:
    """Return what trees of our own forest say, which takes categories as they are."""
    settings = ForestSettings(
        max_samples=min(MOST_ROWS_A_TREE, len(training.classes)),
        shrinkage=0,  # the share of the labels shrinks enough
        seed=seed,
    )
    columns = tuple(
        _ranks(cells) if attribute.kind == "numeric" else cells
        for attribute, cells in zip(
            training.schema.attributes, training.columns, strict=True
        )
    )
    rows = replace(training, columns=columns)
    forest = grow_forest(rows, TREES, settings, n_trees=N_TREES)
    told, trees = out_of_bag(forest, Bags(rows, settings))
    own = np.eye(training.schema.n_classes)[training.classes]
    return np.asarray(np.where(trees[:, None] == 0, own, told))


def _peers_guesses(training: "TrainingSet", seed: int) -> Floats:
    """Return what trees of scikit-learn's forest say."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    numeric = training.schema.target.is_numeric
    n_cells = len(training.classes) * len(training.columns)
    forest = (RandomForestRegressor if numeric else RandomForestClassifier)(
        N_TREES,
        oob_score=True,
        bootstrap=True,
        max_features=1 / 3 if numeric else "sqrt",
        max_samples=min(MOST_ROWS_A_TREE, len(training.classes)),
        random_state=seed,
        n_jobs=n_threads() if n_cells >= FEWEST_IN_THREADS else None,
    )
    columns = [
        _as_numbers(attribute, cells)
        for attribute, cells in zip(
            training.schema.attributes, training.columns, strict=True
        )
    ]
    matrix = np.column_stack([np.zeros(len(training.classes)), *columns])
    # Of a row that every tree has seen, such as one of nearly all the weight,
    # scikit-learn warns, and says 0: so numbers are moved to where 0 is none of them.
    # It makes leaves where variances are below a rounding of 1, and lets rounding
    # decide between equal splits: so numbers are brought to 1 to 2, and lose digits.
    targets, least, width = training.classes, 0.0, 1.0
    if numeric:
        least, width = float(targets.min()), float(np.ptp(targets) or 1.0)
        targets = np.round((targets - least) / width, DIGITS) + 1.0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        forest.fit(matrix, targets, sample_weight=training.own_weights)
    if numeric:
        told = forest.oob_prediction_
        guesses = (told - 1.0) * width + least
        return np.asarray(np.where(told == 0, training.classes, guesses))
    guesses = np.zeros((len(training.classes), training.schema.n_classes))
    guesses[:, forest.classes_] = forest.oob_decision_function_
    own = np.eye(training.schema.n_classes)[training.classes]
    unseen = np.isnan(guesses).any(axis=1) | (guesses.sum(axis=1) == 0)
    return np.asarray(np.where(unseen[:, None], own, guesses))


def _as_numbers(attribute: "Attribute", cells: "NDArray[Any]") -> Floats:
    """Return a column as a forest of numbers takes it: codes, or an indicator each."""
    if attribute.kind == "numeric":
        return _ranks(cells)
    codes = np.where(cells < 0, np.nan, cells.astype(np.float64))
    if attribute.kind == "ordinal" or len(attribute.values) > MOST_INDICATORS:
        return codes
    each = codes[:, None] == np.arange(len(attribute.values))
    return np.asarray(each, dtype=np.float64)


def _ranks(cells: "NDArray[Any]") -> Floats:
    """Return the ranks of numbers: a forest asks for no more.

    Another unit of a column changes nothing, nor do bags that are drawn by what is in
    the rows; and scikit-learn works in single precision.
    """
    known = ~np.isnan(cells)
    ranks = np.full(len(cells), np.nan)
    ranks[known] = np.unique(cells[known], return_inverse=True)[1]
    return ranks
