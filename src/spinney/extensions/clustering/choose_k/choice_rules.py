"""The rules that choose k from a curve, with a sentence that says why.

Ties go to fewer clusters. If no k has the measure of a rule, the least k is chosen, and
the sentence says so.

The elbow is that of Kneedle: Satopää, Albrecht, Irwin and Raghavan (2011), "Finding a
'kneedle' in a haystack: detecting knee points in system behavior". A falling convex
curve is turned upside down, both axes are scaled to 0 … 1, and the elbow is where the
curve is highest above the diagonal: at the first local maximum of the differences from
which they fall by S times the mean step of x before they rise again. Curves of inertia
are not smoothed: they have few points, and no noise of measurement.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.text import figure
from spinney._support.ties import TOLERANCE, first_best
from spinney.extensions.clustering.choose_k.choice import CurvePoint
from spinney.extensions.clustering.choose_k.gap import standard_error_rule

SENSITIVITY = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Elbow:
    """The elbow of a curve.

    ``differences`` are the heights of the scaled curve above the diagonal. ``index`` is
    the index of the elbow or, without an elbow, of the largest difference. After the
    elbow the differences fall below ``threshold``.
    """

    index: int
    exists: bool
    differences: Floats
    threshold: float


def find_elbow(x: Floats, y: Floats, *, sensitivity: float = SENSITIVITY) -> Elbow:
    """Return the elbow of a falling convex curve; ``sensitivity`` is Kneedle's S.

    >>> elbow = find_elbow(np.arange(5.0), np.array([100.0, 40.0, 10.0, 5.0, 0.0]))
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
        before, peak, after = differences[index - 1 : index + 2]
        if before + TOLERANCE < peak and after <= peak + TOLERANCE:
            threshold = float(peak - margin)
            if _falls_below(differences[index:], threshold):
                return Elbow(index, True, differences, threshold)
    index = first_best(differences)
    return Elbow(index, False, differences, float(differences[index] - margin))


def _falls_below(differences: Floats, threshold: float) -> bool:
    """Return whether differences fall below a threshold before they rise again."""
    for before, after in pairwise(differences):
        if after > before + TOLERANCE:
            return False
        if after < threshold - TOLERANCE:
            return True
    return False


TITLES = {
    "silhouette": "silhouette",
    "calinski_harabasz": "Calinski-Harabasz index",
    "davies_bouldin": "Davies-Bouldin index",
    "gap": "gap",
}


def apply_rule(
    rule: str, points: Sequence[CurvePoint], elbow: Elbow | None
) -> tuple[int, str]:
    """Return the number of clusters that a rule chooses, and why."""
    if len(points) == 1:
        k = points[0].k
        return k, f"k = {k}: it is the only candidate."
    if rule == "elbow":
        assert elbow is not None
        return _choose_by_elbow(points, elbow)
    measured = [point for point in points if getattr(point, rule) is not None]
    if not measured:
        k = points[0].k
        return k, f"k = {k}, the least: no k has a {TITLES[rule]} (by {rule})."
    if rule == "gap":
        return _choose_by_gap(measured, [point.k for point in points])
    return _choose_by_value(rule, measured)


def _choose_by_value(rule: str, points: Sequence[CurvePoint]) -> tuple[int, str]:
    """Return the k of the largest value, or the smallest if less is better, and why."""
    small = rule == "davies_bouldin"
    values = np.array([getattr(point, rule) for point in points], dtype=np.float64)
    scores = -values if small else values
    best = _first_largest(scores)
    k, title, word = points[best].k, TITLES[rule], "smallest" if small else "largest"
    why = f"k = {k} by {rule}: its {title}, {_number_text(values[best])}, is the {word}"
    if len(points) > 1:
        rest = np.delete(np.arange(len(points)), best)
        second = int(rest[np.argmax(scores[rest])])
        why += f"; the next is {_number_text(values[second])} at k = {points[second].k}"
    return k, why + "."


def _first_largest(values: Floats) -> int:
    """Return the index of the first largest value, within the tolerance of ties."""
    largest = values.max()
    if not np.isfinite(largest):
        return int(np.argmax(values))
    return int(np.argmax(values >= largest - abs(largest) * TOLERANCE))


def _choose_by_gap(points: Sequence[CurvePoint], ks: Sequence[int]) -> tuple[int, str]:
    """Return the k of the 1-standard-error rule, else of the largest gap, and why."""
    gaps = [point.gap for point in points]
    errors = [point.gap_error for point in points]
    best = standard_error_rule(gaps, errors)
    if best is None:
        best = _first_largest(np.array(gaps, dtype=np.float64))
        k = points[best].k
        return k, (
            f"k = {k} by gap: no gap is at least the next one less its standard error, "
            f"and the gap of k = {k}, {_number_text(gaps[best])}, is the largest."
        )
    k, after = points[best].k, points[best + 1]
    least = "" if k == ks[0] else ", and no smaller k has such a gap"
    return k, (
        f"k = {k} by gap: its gap, {_number_text(points[best].gap)}, is at least that "
        f"of k = {after.k} less its standard error, {_number_text(after.gap)} - "
        f"{_number_text(after.gap_error)}{least}."
    )


def _choose_by_elbow(points: Sequence[CurvePoint], elbow: Elbow) -> tuple[int, str]:
    """Return the k of Kneedle's elbow, else of the largest difference, and why."""
    k = points[elbow.index].k
    top = _number_text(elbow.differences[elbow.index])
    if elbow.exists:
        return k, (
            f"k = {k} by elbow: the difference of Kneedle peaks there at {top} and "
            f"falls below {_number_text(elbow.threshold)} after it (sensitivity "
            f"{SENSITIVITY:g})."
        )
    return k, (
        f"k = {k} by elbow: Kneedle finds no elbow (sensitivity {SENSITIVITY:g}), and "
        f"the difference of k = {k}, {top}, is the largest."
    )


def _number_text(number: float | None) -> str:
    assert number is not None
    return figure(number) if np.isfinite(number) else "infinite"
