"""Trees of a forest, grown by compiled loops on one thread."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.keyed_random import root_key
from spinney.growth.binned.binned_rows import (
    Prepared,
    labels_of_classes,
    labels_of_numbers,
)
from spinney.growth.binned.loops.bags import Bags
from spinney.growth.binned.loops.nodes import Lines, Shape
from spinney.growth.binned.loops.row_words import words_of
from spinney.growth.binned.loops.score import SQUARES
from spinney.growth.binned.subtree import Stretch, grow_bags, grow_stretch

# How often a row can be in a bag whose numbers are bytes.
MOST_TIMES = 255


def grow_one(
    ready: Prepared,
    in_bag: NDArray[Any],
    seed: int,
    class_weights: Floats | None = None,
) -> tuple[Shape, Lines]:
    """Grow a tree of the rows in a bag.

    Parameters
    ----------
    ready : Prepared
        All rows, coded; ``rules.tries`` attributes are drawn at a node.
    in_bag : array of whole numbers
        How often each row is in the bag; its weight is multiplied by that.
    seed : int
        Of what is drawn at the nodes, 64 bits.
    class_weights : array, optional
        What the weights of each class are multiplied by.
    """
    rows = np.flatnonzero(in_bag)
    weights = in_bag.astype(np.float64)
    if len(ready.labels.weights):
        weights *= ready.labels.weights
    if class_weights is not None:
        weights *= class_weights[ready.labels.classes]
    own = weights[rows]
    if ready.rules.kind >= SQUARES:  # a number
        labels = labels_of_numbers(ready.labels.numbers, weights)
        numbers = labels.numbers[rows]
        first = own * numbers
        parts = first[numbers > 0].sum(), first[~(numbers > 0)].sum()
        totals = np.array([own.sum(), *parts, first @ numbers])
        counts = np.array([len(rows)])
    else:
        width = ready.rules.width
        labels = labels_of_classes(ready.labels.classes, weights, width)
        classes = labels.classes[rows]
        totals = np.bincount(classes, own, minlength=width)
        counts = np.bincount(classes, minlength=width)
    whole = bool(np.all(own == np.floor(own))) and float(own.sum()) <= 2.0**53
    rules = ready.rules._replace(
        single=1.5 * float(own.min()), tally=True, subtract=whole
    )
    bag = replace(ready, labels=labels, rules=rules)
    key = np.uint64(root_key(seed))
    root = Stretch(0, len(rows), 0, key, totals.astype(np.float64), counts)
    shape, lines, _ = grow_stretch(bag, words_of(labels, rows), root)
    return shape, lines


def grow_several(
    ready: Prepared,
    in_bags: NDArray[np.uint8],
    seeds: NDArray[np.uint64],
    base: Floats | None,
) -> tuple[Shape, Lines, NDArray[np.int64]]:
    """Grow a tree for each bag, one after the other, as :func:`grow_one` does.

    Return the nodes of all, numbered through, and where each tree begins.

    Parameters
    ----------
    ready : Prepared
        All rows, coded.
    in_bags : array of uint8, trees × rows
        How often each row is in each bag.
    seeds : array of uint64
        Of what is drawn at the nodes, one a tree.
    base : array, optional
        What a row weighs that is in a bag once; 1 if not said. All bags together
        weigh less than 2³² where these are whole numbers.
    """
    weights = np.zeros(0) if base is None else base
    whole = bool(np.all(weights == np.floor(weights)))
    least = 1.0 if base is None else float(weights.min())
    rules = ready.rules._replace(single=1.5 * least, tally=True, subtract=whole)
    roots = np.zeros(len(seeds), np.int64)
    bags = Bags(in_bags, weights, seeds, roots)
    shape, lines, _ = grow_bags(replace(ready, rules=rules), bags)
    return shape, lines, roots
