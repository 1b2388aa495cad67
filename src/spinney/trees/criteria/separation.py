"""Merits by the distance of branches, or of classes.

None of these merits is the decrease of an impurity. If values are missing, the merits
of the known rows are multiplied by their fraction ρ, like gains.
"""

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney.errors import ParameterError, Setting
from spinney.trees.counts import CountTable, ratio_of
from spinney.trees.criteria.gains import Tabular, as_table
from spinney.trees.criteria.impurity import shares_of


def c_sep(table: Tabular) -> Floats:
    """Return ORT, the orthogonality measure of the C-SEP family: 1 − cos θ.

    θ is the angle between the class weights of the two branches: 0 where both have
    the same shares, 90° and so 1 where no class is in both. Fayyad and Irani (1992)
    call C-SEP (class separation) a family of measures, greatest for disjoint and
    least for proportional branches. ORT is taken because it is the member that they
    put forward, and textbooks that name C-SEP print no formula. It is defined for
    two branches only.

    >>> round(float(c_sep([[6, 2], [3, 3]])), 4)      # 1 − 24 / √(40 · 18)
    0.1056
    """
    table = _two_branches(table, "c_sep")
    weights = table.weights
    # Scaled first, so that no square overflows or vanishes.
    scaled = ratio_of(weights, weights.max(axis=-1, keepdims=True))
    unit = ratio_of(scaled, np.sqrt((scaled * scaled).sum(axis=-1, keepdims=True)))
    # 1 − cos θ is half the squared distance of unit vectors, without cancellation.
    # Branches without rows are vectors of 0 and must not count as far from any.
    filled = table.sizes > 0
    first, second = _first_two(unit, filled)
    distance = ((first - second) ** 2).sum(axis=-1) / 2
    both = filled.sum(axis=-1) == 2
    return np.asarray(np.where(both, table.known_share * distance, 0.0))[()]


def twoing(table: Tabular) -> Floats:
    """Return p_L p_R / 4 · (Σ |p(c | L) − p(c | R)|)² over the classes c.

    Breiman et al. (1984), section 4.3: half the decrease of Gini's index, after the
    classes were put into those two groups for which it is greatest. It is defined
    for two branches only.

    >>> round(float(twoing([[6, 2], [3, 3]])), 4)      # 8/14 · 6/14 / 4 · (1/2)²
    0.0153
    """
    table = _two_branches(table, "twoing")
    filled = table.sizes > 0
    first, second = _first_two(shares_of(table.weights), filled)
    sizes = _first_two(shares_of(table.sizes)[..., None], filled)
    distance = np.abs(first - second).sum(axis=-1)
    balance = (sizes[0] * sizes[1])[..., 0]
    return np.asarray(table.known_share * balance / 4 * distance * distance)[()]


def hellinger(table: Tabular) -> Floats:
    """Return the Hellinger distance of two classes over the branches.

    √ Σ (√(n₊ᵦ / n₊) − √(n₋ᵦ / n₋))² over the branches b, between 0 and √2: how
    differently two classes are spread, whatever their sizes are (Cieslak and Chawla
    2008). Of more classes it is the mean over all pairs that occur at the node.
    One class against the others (Dong, Liu and Jing 2022) would mix the others by
    their sizes; in the mean over pairs multiplying the weight of a class changes
    nothing, and that is what the measure is for.

    >>> round(float(hellinger([[9, 10], [1, 90]])), 4)      # √(2 · (√0.9 − √0.1)²)
    0.8944
    """
    table = as_table(table)
    distances, occur = pairs_of_classes(table)
    mean = ratio_of((distances * occur).sum(axis=-1), occur.sum(axis=-1))
    return np.asarray(table.known_share * mean)[()]


def pairs_of_classes(table: CountTable) -> tuple[Floats, Floats]:
    """Return the distance of each pair of classes, and 1 if both classes occur, else 0.

    The pairs are in the order (0, 1), (0, 2), …, (1, 2), …, along the last axis.
    """
    spread = np.sqrt(shares_of(np.swapaxes(table.weights, -1, -2)))
    present = table.total > 0
    n_classes = spread.shape[-2]
    distances, both_occur = [], []
    for first in range(n_classes - 1):
        distance = spread[..., first : first + 1, :] - spread[..., first + 1 :, :]
        distances.append(np.sqrt((distance * distance).sum(axis=-1)))
        both_occur.append(present[..., first : first + 1] & present[..., first + 1 :])
    if not distances:
        empty = np.zeros((*table.total.shape[:-1], 0))
        return empty, empty
    return (
        np.concatenate(distances, axis=-1),
        np.concatenate(both_occur, axis=-1).astype(np.float64),
    )


def _two_branches(table: Tabular, name: str) -> CountTable:
    """Return a count table; refuse more than two branches with rows."""
    table = as_table(table)
    n_filled = int((table.sizes > 0).sum(axis=-1).max(initial=0))
    if n_filled > 2:
        msg = f"{name} compares two branches, and this table has {n_filled}"
        remedy = ("merge them, or grow with ", Setting("grouping", "binary"))
        raise ParameterError(msg, remedy=remedy)
    return table


def _first_two(lines: Floats, filled: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the lines of the first two branches, preferring branches with rows.

    ``lines`` has the axes (…, branches, n). If there is one branch, the second line is
    0.
    """
    if lines.shape[-2] == 2:
        return lines[..., 0, :], lines[..., 1, :]
    order = np.argsort(~filled, axis=-1, kind="stable")[..., :2, None]
    chosen = np.take_along_axis(lines, order, axis=-2)
    if chosen.shape[-2] < 2:
        return chosen[..., 0, :], np.zeros_like(chosen[..., 0, :])
    return chosen[..., 0, :], chosen[..., 1, :]
