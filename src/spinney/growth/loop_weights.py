"""Weights that compiled loops add up as the plain learner does.

Loops carry sums along, where the plain learner adds up each side of a cut. Both round,
and where rows of 1 stand beside rows of 1e12 the roundings of the heavy ones are as
large as the light ones themselves: either answer is right, but they differ.
"""

from spinney.growth.growth_options import Options
from spinney.sources.rows import TrainingSet

LEAST_WEIGHT = 1e-140  # whose square is still a number above 0
MOST_WEIGHT = 1e20
WIDEST = 1e8  # how many times the lightest row the heaviest one may weigh


def suit_loops(training: TrainingSet, options: Options) -> bool:
    """Return whether weights are such that all engines grow one tree of them."""
    weights = training.weighed(options.class_weights).weights
    if weights is None or not len(weights):
        return True
    lightest, heaviest = float(weights.min()), float(weights.max())
    bounded = lightest >= LEAST_WEIGHT and heaviest <= MOST_WEIGHT
    return bounded and heaviest <= WIDEST * lightest
