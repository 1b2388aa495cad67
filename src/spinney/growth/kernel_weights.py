"""Weights that give kernels and the plain learner the same sums.

Kernels update running sums; the plain learner adds up each side of a cut. So the
weights of a small table are rounded once, to numbers whose sums are exact in any order:
then both have the same bits. Sums of other weights are rounded. Beside rows of weight
1e12, rows of weight 1 are as small as the rounding errors: then both results are
correct, but they differ.
"""

from dataclasses import replace

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.summable import add_up_exactly, round_to_exact_sums
from spinney.growth.growth_options import Options
from spinney.sources.rows import TrainingSet

MIN_WEIGHT = 1e-140  # whose square is still a number above 0
MAX_WEIGHT = 1e20
MAX_WEIGHT_RATIO = 1e8  # how many times the lightest row the heaviest one may weigh
# And where the last bit of every gain must be the same: beside rows that weigh far
# more, what light ones gain is near the tolerance of ties, and that bit decides.
MAX_EXACT_RATIO = 1e3


def suits_kernels(training: TrainingSet, options: Options) -> bool:
    """Return whether all growers grow the same tree with these weights."""
    weights = training.weighed(options.class_weights).weights
    if weights is None or not len(weights):
        return True
    lightest, heaviest = float(weights.min()), float(weights.max())
    bounded = lightest >= MIN_WEIGHT and heaviest <= MAX_WEIGHT
    return bounded and heaviest <= MAX_WEIGHT_RATIO * lightest


def with_summable_weights(training: TrainingSet) -> TrainingSet:
    """Return rows whose weights and moments add up exactly, if rounding allows.

    Weights that add up exactly, such as integers and halves, do not change, and neither
    do the weights of many rows.
    """
    if training.weights is None or not len(training.weights):
        return training
    weights = round_to_exact_sums(training.weights, _moments(training))
    unchanged = weights is training.weights
    return training if unchanged else replace(training, weights=weights)


def growers_agree(training: TrainingSet, options: Options) -> bool:
    """Return whether kernels and plain learner agree in every bit of a node.

    They agree if rows are counted, or all sums are exact. Other sums, such as moments
    of fractions, round differently in another order.
    """
    scale, numeric = options.class_weights, training.schema.target.is_numeric
    if training.weights is None and scale is None and not numeric:
        return True
    return bag_sums_agree(with_summable_weights(training), scale, max_times=1)


def bag_sums_agree(training: TrainingSet, scale: Floats | None, max_times: int) -> bool:
    """Return whether kernels and plain learner agree in every sum over a bag.

    A row is in the bag at most ``max_times`` times, and its weight is multiplied by the
    ``scale`` of its class.
    """
    weights, factors = training.sample_weights, _moments(training)
    scaled = weights
    if scale is not None:
        factors = (np.asarray(scale)[training.classes],)
        scaled = weights * factors[0]
    heaviest = scaled.max(initial=0.0)
    if heaviest > MAX_EXACT_RATIO * scaled[scaled > 0].min(initial=heaviest):
        return False
    return add_up_exactly(weights, factors, max_times)


def _moments(training: TrainingSet) -> tuple[Floats, ...]:
    """Return the factors of weights in the moments of a numeric target."""
    origin = training.schema.target.origin
    if origin is None:
        return ()
    numbers = np.asarray(training.classes, np.float64) - origin
    return numbers, numbers**2
