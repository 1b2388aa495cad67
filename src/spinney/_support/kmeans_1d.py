"""k-means in one dimension, optimal by dynamic programming.

In one dimension the clusters of least squares are runs of neighbouring values
(Fisher 1958), so with D(c, j) the least sum of squares of the values 0 … j in c
clusters, and s(i, j) the sum of squares of the values i … j around their mean::

    D(c, j) = min over i of D(c − 1, i − 1) + s(i, j)

The least i that attains it never falls as j rises, as s obeys the quadrangle
inequality (Wu 1991). So the ends j are taken from far apart to near, each time
between the answers of its two neighbours: O(c · d · log d) in all, as in Wang and
Song's Ckmeans.1d.dp (2011), here a whole round of ends at once.

Nearly equal numbers are never subtracted. A sum of squares is not a difference of two
running sums, in which an outlier of 10⁹ would destroy the precision. It is merged from
the two stored runs left and right of a pivot between i and j (Chan, Golub and LeVeque
1979)::

    s(i, j) = s₁ + s₂ + w₁ w₂ / (w₁ + w₂) · (m₂ − m₁)²
"""

from typing import NamedTuple

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.errors import Setting, refusal

# The best of all partitions is found up to this many values, and values times clusters.
MAX_VALUES = 100_000
MAX_WORK = 10_000_000


class Runs(NamedTuple):
    """Values, or runs of them, in order: weight, mean, squares around that mean."""

    weights: Floats
    means: Floats
    squares: Floats


def single_runs(values: Floats, sizes: Floats) -> Runs:
    """Return single values as runs, scaled so that no square overflows."""
    _, exponent = np.frexp(np.abs(values[[0, -1]]).max())
    means = np.ldexp(values, -exponent)
    return Runs(sizes / sizes.max(), means, np.zeros(len(values)))


def merged_runs(runs: Runs, firsts: Integers) -> Runs:
    """Return the runs merged into cells; ``firsts`` are the cells' first runs."""
    lengths = np.diff(np.append(firsts, len(runs.weights)))
    weights = np.add.reduceat(runs.weights, firsts)
    # From the first value of each cell, so that far from 0 no digits are lost.
    origins = runs.means[firsts]
    offsets = runs.means - np.repeat(origins, lengths)
    shifts = np.add.reduceat(runs.weights * offsets, firsts) / weights
    squares = runs.weights * (offsets - np.repeat(shifts, lengths)) ** 2
    return Runs(weights, origins + shifts, np.add.reduceat(squares, firsts))


def optimal_centroids(values: Floats, weights: Floats, n: int) -> Floats:
    """Return the means of the n clusters of least weighted sum of squares.

    ``weights`` may be empty: then all weigh 1. Where there are no n distinct values of
    weight, the first fills up.

    Raises
    ------
    ParameterError
        Where there are too many values for that.

    Examples
    --------
    >>> optimal_centroids(np.array([1.0, 30.0, 2.0, 3.0, 11.0, 10.0]), np.empty(0), 3)
    array([ 2. , 10.5, 30. ])
    """
    distinct, codes = np.unique(values, return_inverse=True)
    row_weights = weights if len(weights) else np.ones(len(values))
    sizes: Floats = np.zeros(len(distinct))
    np.add.at(sizes, codes, row_weights)
    distinct, sizes = distinct[sizes > 0], sizes[sizes > 0]
    d = len(distinct)
    if d <= n:
        return np.append(distinct, np.full(n - d, distinct[0]))
    if d > MAX_VALUES or n * d > MAX_WORK:
        raise refusal(
            Setting("init", "optimal"),
            f"is for at most {MAX_VALUES} distinct values, and at most {MAX_WORK} "
            f"values times clusters; there are {d} values",
            "use 'k-means++'",
        )
    firsts = np.append(0, best_starts(single_runs(distinct, sizes), n))
    origins = np.repeat(distinct[firsts], np.diff(firsts, append=d))
    moments = np.add.reduceat((distinct - origins) * sizes, firsts)
    return np.asarray(distinct[firsts] + moments / np.add.reduceat(sizes, firsts))


def best_starts(runs: Runs, n: int) -> Integers:
    """Return where each of the n best clusters but the first starts.

    Of partitions that are equal within 1e-12, it is the one whose last cluster starts
    first, then the one before, and so on.

    >>> values = np.array([1.0, 2.0, 3.0, 10.0, 11.0, 30.0])
    >>> best_starts(single_runs(values, np.ones(6)), 3)
    array([3, 5])
    """
    d = len(runs.weights)
    if n >= d:
        return np.arange(1, d)
    squares = _Squares(runs)
    least = squares.between(np.zeros(d, dtype=np.int64), np.arange(d))
    rounds = []
    for clusters in range(2, n + 1):
        # Only ends that leave a value for each cluster still to come.
        ends = np.arange(clusters - 1, d - n + clusters)
        starts, sums = _best_starts_at(squares, least, ends)
        rounds.append(starts.astype(np.int32))
        least = np.full(d, np.inf)
        least[ends] = sums
    # The last cluster ends at d − 1, each other where the next one starts.
    answer, end = [], d - 1
    for clusters in range(n, 1, -1):
        start = int(rounds[clusters - 2][end - (clusters - 1)])
        answer.append(start)
        end = start - 1
    return np.array(answer[::-1], dtype=np.int64)


def _best_starts_at(
    squares: "_Squares", least: Floats, ends: Integers
) -> tuple[Integers, Floats]:
    """Return for each end the best start of the cluster that ends there, and D.

    ``bounds[1:-1]`` are the starts found so far; beyond the ends, the least start
    and the greatest.
    """
    m = len(ends)
    bounds = np.empty(m + 2, dtype=np.int64)
    bounds[0], bounds[-1] = ends[0], ends[-1]
    sums = np.empty(m)
    step = 1 << (m.bit_length() - 1)
    while step:
        turn = np.arange(step, m + 1, 2 * step)
        turn_ends = ends[turn - 1]
        low = bounds[turn - step]
        high = np.minimum(bounds[np.minimum(turn + step, m + 1)], turn_ends)
        bounds[turn], sums[turn - 1] = _first_least(
            squares, least, low, high, turn_ends
        )
        step //= 2
    return bounds[1:-1], sums


def _first_least(
    squares: "_Squares", least: Floats, low: Integers, high: Integers, ends: Integers
) -> tuple[Integers, Floats]:
    """Return the first start in low … high with the least D, for each end."""
    lengths = high - low + 1
    offsets = np.append(0, np.cumsum(lengths)[:-1])
    starts = np.arange(lengths.sum()) - np.repeat(offsets - low, lengths)
    sums = least[starts - 1] + squares.between(starts, np.repeat(ends, lengths))
    best = np.minimum.reduceat(sums, offsets)
    equal = np.flatnonzero(sums <= np.repeat(best * (1 + TOLERANCE), lengths))
    first = equal[np.searchsorted(equal, offsets)]
    return starts[first], best


class _Squares:
    """s(i, j) for any i ≤ j, from runs that start or end at pivots.

    At level l the places are cut into blocks of 2^(l+1), with a pivot in the middle::

        level 1     0  1 | 2  3     4  5 | 6  7
                    ←──←   →──→     ←──←   →──→
        level 0     0 | 1    2 | 3    4 | 5    6 | 7

    For every place the run to the pivot of its block is stored. Two places lie on
    opposite sides of a pivot at the level of the highest bit in which they differ.
    Means are measured from the pivot: at most 0 on its left, and at least 0 on its
    right. So their difference is a sum.
    """

    def __init__(self, runs: Runs) -> None:
        self.own = runs.squares
        d = len(runs.weights)
        levels = max(1, (d - 1).bit_length())
        self.size = 1 << levels
        n_padding = self.size - d
        padded = Runs(
            np.append(runs.weights, np.zeros(n_padding)),
            np.append(runs.means, np.full(n_padding, runs.means[-1])),
            np.append(runs.squares, np.zeros(n_padding)),
        )
        to_pivots = [_to_pivots(padded, level) for level in range(levels)]
        self.weights = np.concatenate([run.weights for run in to_pivots])
        self.means = np.concatenate([run.means for run in to_pivots])
        self.squares = np.concatenate([run.squares for run in to_pivots])

    def between(self, first: Integers, last: Integers) -> Floats:
        """Return the sum of squares around the mean of the places first … last."""
        _, bits = np.frexp((first ^ last).astype(np.float64))
        level = np.maximum(bits - 1, 0) * self.size
        left, right = level + first, level + last
        heavy, light = self.weights[left], self.weights[right]
        difference = self.means[right] - self.means[left]
        merged = self.squares[left] + self.squares[right]
        merged += heavy / (heavy + light) * light * difference * difference
        return np.asarray(np.where(first == last, self.own[first], merged))


def _to_pivots(runs: Runs, level: int) -> Runs:
    """Return for every place the run from there to the pivot of its block."""
    half = 1 << level
    weights, means, squares = (part.reshape(-1, 2, half) for part in runs)
    pivots = means[:, 1, :1]
    ends = means[:, 0, -1:]
    left = _running(
        Runs(weights[:, 0, ::-1], means[:, 0, ::-1] - ends, squares[:, 0, ::-1])
    )
    right = _running(Runs(weights[:, 1], means[:, 1] - pivots, squares[:, 1]))
    pairs = (
        (left.weights[:, ::-1], right.weights),
        (left.means[:, ::-1] + (ends - pivots), right.means),
        (left.squares[:, ::-1], right.squares),
    )
    return Runs(*(np.stack(pair, axis=1).ravel() for pair in pairs))


def _running(runs: Runs) -> Runs:
    """Return the runs from the first place of each line to every place of it.

    The first mean of a line is 0, so Σwx² is at most of the order of what is left
    when Σw times the squared mean is taken from it.
    """
    weights = np.cumsum(runs.weights, axis=1)
    firsts = np.cumsum(runs.weights * runs.means, axis=1)
    means = np.divide(firsts, weights, out=np.zeros_like(firsts), where=weights > 0)
    seconds = np.cumsum(runs.weights * runs.means**2 + runs.squares, axis=1)
    return Runs(weights, means, np.maximum(seconds - firsts * means, 0.0))
