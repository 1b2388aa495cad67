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

    ``index`` is that of the elbow or, if there is none, of the largest difference
    between the normalised curve and the diagonal. After the elbow the differences fall
    below ``threshold``.
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
    rule: str, lines: Sequence[CurvePoint], elbow: Elbow | None
) -> tuple[int, str]:
    """Return the number of clusters that a rule chooses, and why."""
    if len(lines) == 1:
        k = lines[0].k
        return k, f"k = {k}: it is the only candidate."
    if rule == "elbow":
        assert elbow is not None
        return _by_elbow(lines, elbow)
    measured = [line for line in lines if getattr(line, rule) is not None]
    if not measured:
        k = lines[0].k
        return k, f"k = {k}, the least: no k has a {TITLES[rule]} (by {rule})."
    if rule == "gap":
        return _by_gap(measured, [line.k for line in lines])
    return _by_best(rule, measured)


def _by_best(rule: str, lines: Sequence[CurvePoint]) -> tuple[int, str]:
    """Choose the largest measure, or the smallest if less is better."""
    small = rule == "davies_bouldin"
    values = np.array([getattr(line, rule) for line in lines], dtype=np.float64)
    scores = -values if small else values
    best = _first_largest(scores)
    k, title, word = lines[best].k, TITLES[rule], "smallest" if small else "largest"
    why = f"k = {k} by {rule}: its {title}, {_figure(values[best])}, is the {word}"
    if len(lines) > 1:
        rest = np.delete(np.arange(len(lines)), best)
        second = int(rest[np.argmax(scores[rest])])
        why += f"; the next is {_figure(values[second])} at k = {lines[second].k}"
    return k, why + "."


def _first_largest(values: Floats) -> int:
    """Return the first index of the largest, within the tolerance of ties."""
    largest = values.max()
    if not np.isfinite(largest):
        return int(np.argmax(values))
    return int(np.argmax(values >= largest - abs(largest) * TOLERANCE))


def _by_gap(lines: Sequence[CurvePoint], ks: Sequence[int]) -> tuple[int, str]:
    """Choose by the 1-standard-error rule, else the largest gap."""
    gaps, errors = [line.gap for line in lines], [line.gap_error for line in lines]
    best = standard_error_rule(gaps, errors)
    if best is None:
        best = _first_largest(np.array(gaps, dtype=np.float64))
        k = lines[best].k
        return k, (
            f"k = {k} by gap: no gap is at least the next one less its standard error, "
            f"and the gap of k = {k}, {_figure(gaps[best])}, is the largest."
        )
    k, after = lines[best].k, lines[best + 1]
    least = "" if k == ks[0] else ", and no smaller k has such a gap"
    return k, (
        f"k = {k} by gap: its gap, {_figure(lines[best].gap)}, is at least that of "
        f"k = {after.k} less its standard error, {_figure(after.gap)} - "
        f"{_figure(after.gap_error)}{least}."
    )


def _by_elbow(lines: Sequence[CurvePoint], elbow: Elbow) -> tuple[int, str]:
    """Choose the elbow of Kneedle, else the largest difference."""
    k = lines[elbow.index].k
    top = _figure(elbow.differences[elbow.index])
    if elbow.exists:
        return k, (
            f"k = {k} by elbow: the difference of Kneedle peaks there at {top} and "
            f"falls below {_figure(elbow.threshold)} after it (sensitivity "
            f"{SENSITIVITY:g})."
        )
    return k, (
        f"k = {k} by elbow: Kneedle finds no elbow (sensitivity {SENSITIVITY:g}), and "
        f"the difference of k = {k}, {top}, is the largest."
    )


def _figure(number: float | None) -> str:
    assert number is not None
    return figure(number) if np.isfinite(number) else "infinite"
