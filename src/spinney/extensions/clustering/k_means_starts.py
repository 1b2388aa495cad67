"""Where k-means starts: k-means++, or rows drawn by their weights."""

from math import log

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import heaviest
from spinney.extensions.clustering.cluster_draws import (
    ClusterDraws,
    Pool,
    filled_up,
    weight_of_each,
)
from spinney.extensions.clustering.cluster_rows import Rows

AT_ONCE = 8  # candidates that cost no more than one


def drawn_rows(
    rows: Rows, n_clusters: int, draws: ClusterDraws, pool: Pool
) -> Integers:
    """Return rows drawn with chances as their weights, no two of them equal.

    Where there are no more, the first that was drawn fills up.
    """
    left = weight_of_each(rows.weights, len(rows.cells)).copy()
    totals = pool.totals(left)
    chosen: list[int] = []
    while len(chosen) < n_clusters and totals.sum() > 0:
        row = pool.draw(totals, left.__getitem__, draws.number())
        chosen.append(row)
        left[pool.doubles(row)] = 0.0
        bin_of_row = int(pool.bins[row])
        totals[bin_of_row] = left[pool.members(bin_of_row)].sum()
    return filled_up(chosen, n_clusters)


def plus_plus(rows: Rows, n_clusters: int, draws: ClusterDraws, pool: Pool) -> Integers:
    """Return rows far from each other: k-means++ (Arthur and Vassilvitskii 2007).

    The first is drawn with chances as the weights; each other is the best of at least
    2 + ⌊log k⌋ rows, a multiple of 8, drawn with chances as their weighted squared
    distances to the nearest of those before: the one that lowers the sum of these most,
    the first drawn if there are several, but for a rounding: two rows that are nearest
    to each other often lower it alike. Where no row is left that is not chosen, the
    first fills up.
    """
    tries = -(-(2 + int(log(n_clusters))) // AT_ONCE) * AT_ONCE
    weights = weight_of_each(rows.weights, len(rows.cells))
    totals = pool.totals(weights)
    first = pool.draw(totals, weights.__getitem__, draws.number())
    chosen = [first]
    rows.begin(first, pool.bins)

    def sizes(some: Integers) -> Floats:
        return np.asarray(rows.nearest()[some].astype(np.float64) * weights[some])

    while len(chosen) < n_clusters:
        totals = rows.totals()
        if not totals.sum() > 0:
            break
        drawn = [pool.draw(totals, sizes, draws.number()) for _ in range(tries)]
        best = drawn[heaviest(rows.gains(np.array(drawn)))]
        rows.take(best)
        chosen.append(best)
    return filled_up(chosen, n_clusters)
