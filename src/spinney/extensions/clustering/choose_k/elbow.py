"""The elbow of a curve by Kneedle.

Satopää, Albrecht, Irwin and Raghavan (2011), "Finding a 'kneedle' in a haystack:
detecting knee points in system behavior". A falling convex curve is turned upside
down, both axes are stretched to 0 … 1, and the elbow is where the curve is highest
above the diagonal: at the first local maximum of the differences from which they fall
by S times the mean step of x before they rise again. Curves of inertia are not
smoothed: they have few points, and no noise of measurement.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE, first_best

SENSITIVITY = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Elbow:
    """Where a curve bends.

    Parameters
    ----------
    index : int
        Of the point at the elbow; where there is none, of the largest difference, the
        first of equals.
    exists : bool
        Whether there is an elbow.
    differences : array
        The normalised curve minus the diagonal.
    threshold : float
        What differences must fall below after that point.
    """

    index: int
    exists: bool
    differences: Floats
    threshold: float


def elbow_of(x: Floats, y: Floats, *, sensitivity: float = SENSITIVITY) -> Elbow:
    """Return the elbow of a falling convex curve.

    Parameters
    ----------
    x, y : array
        The curve, from left to right; at least one point, finite.
    sensitivity : float
        Kneedle's S: the larger, the more the curve must flatten.

    Examples
    --------
    >>> elbow = elbow_of(np.arange(5.0), np.array([100.0, 40.0, 10.0, 5.0, 0.0]))
    >>> elbow.index, elbow.exists, elbow.differences.round(2).tolist()
    (2, True, [0.0, 0.35, 0.4, 0.2, 0.0])
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    across, down = x[-1] - x[0], y.max() - y.min()
    if not across > 0 or not down > 0:
        return Elbow(0, False, np.zeros(len(x)), 0.0)
    differences = (y.max() - y) / down - (x - x[0]) / across
    margin = sensitivity / (len(x) - 1)
    for index in range(1, len(x) - 1):
        before, here, after = differences[index - 1 : index + 2]
        if before + TOLERANCE < here and after <= here + TOLERANCE:
            threshold = float(here - margin)
            if _falls_below(differences[index:], threshold):
                return Elbow(index, True, differences, threshold)
    index = first_best(differences)
    return Elbow(index, False, differences, float(differences[index] - margin))


def _falls_below(differences: Floats, threshold: float) -> bool:
    """Return whether differences fall below a threshold before they rise again."""
    for before, here in pairwise(differences):
        if here > before + TOLERANCE:
            return False
        if here < threshold - TOLERANCE:
            return True
    return False
