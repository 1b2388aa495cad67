"""Weights that compiled kernels add up as the plain learner does.

Loops carry sums along, where the plain learner adds up each side of a cut. So the
weights of a small table are rounded, once, to numbers whose sums are exact in any
order: then both have the same bits. Other sums round, and where rows of 1 stand beside
rows of 1e12 the roundings of the heavy ones are as large as the light ones themselves:
either answer is right, but they differ.
"""

from dataclasses import replace

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.summable import add_up_exactly, summable
from spinney.growth.growth_options import Options
from spinney.sources.rows import TrainingSet

LEAST_WEIGHT = 1e-140  # whose square is still a number above 0
MOST_WEIGHT = 1e20
WIDEST = 1e8  # how many times the lightest row the heaviest one may weigh
# And where the last bit of every gain must be the same: beside rows that weigh far
# more, what light ones gain is near the tolerance of ties, and that bit decides.
NEAR = 1e3


def suit_kernels(training: TrainingSet, options: Options) -> bool:
    """Return whether weights are such that all engines grow one tree of them."""
    weights = training.weighed(options.class_weights).weights
    if weights is None or not len(weights):
        return True
    lightest, heaviest = float(weights.min()), float(weights.max())
    bounded = lightest >= LEAST_WEIGHT and heaviest <= MOST_WEIGHT
    return bounded and heaviest <= WIDEST * lightest


def evenly_weighed(training: TrainingSet) -> TrainingSet:
    """Return rows whose weights, and moments, add up exactly where they can.

    Weights that do are not touched: whole ones, halves; nor are those of many rows.
    """
    if training.weights is None or not len(training.weights):
        return training
    weights = summable(training.weights, _moments(training))
    same = weights is training.weights
    return training if same else replace(training, weights=weights)


def can_replay(training: TrainingSet, options: Options) -> bool:
    """Return whether loops and plain learner agree in every bit of a node.

    Where rows are counted they do, and where all sums are exact. Moments of numbers
    that are not whole, and products of broken weights of rows and classes, are added up
    in other orders.
    """
    scale, numeric = options.class_weights, training.schema.target.is_numeric
    if training.weights is None and scale is None and not numeric:
        return True
    return add_up_in_bags(evenly_weighed(training), scale, often=1)


def add_up_in_bags(training: TrainingSet, scale: Floats | None, often: int) -> bool:
    """Return whether loops and plain learner agree in every sum of the rows of a bag.

    A row is in it ``often`` times at most, and weighs what it does times the ``scale``
    of its class.
    """
    weights, times = training.sample_weights, _moments(training)
    each = weights
    if scale is not None:
        times = (np.asarray(scale)[training.classes],)
        each = weights * times[0]
    heaviest = each.max(initial=0.0)
    if heaviest > NEAR * each[each > 0].min(initial=heaviest):
        return False
    return add_up_exactly(weights, times, often)


def _moments(training: TrainingSet) -> tuple[Floats, ...]:
    """Return what the moments of a numeric target multiply weights by."""
    origin = training.schema.target.origin
    if origin is None:
        return ()
    numbers = np.asarray(training.classes, np.float64) - origin
    return numbers, numbers**2
