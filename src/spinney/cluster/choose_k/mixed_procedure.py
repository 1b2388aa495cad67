"""How many clusters a mixed table has: k-prototypes for several k, and a rule.

Between two rows there is the distance of k-prototypes, with a row in the place of the
prototype; what either lacks adds nothing. Silhouettes are of its root: where all
columns are numbers and known, that is the distance of k-means. Different rows are
taken once, by weight and in an order of what is in them, so that the order of a table
changes nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.cluster.choose_k.choice import Choice, Line
from spinney.cluster.choose_k.choice_rules import decided
from spinney.cluster.choose_k.cluster_measures import mean_widths
from spinney.cluster.choose_k.distinct_rows import (
    Distinct,
    distinct_rows,
    sampled,
    scaled,
)
from spinney.cluster.choose_k.elbow import Elbow, elbow_of
from spinney.cluster.choose_k.procedure import Limits, numbers_to_try
from spinney.cluster.prototypes.fit_k_prototypes import k_prototypes, nearest_prototypes
from spinney.cluster.prototypes.mixed_rows import MixedCells, unlikeness
from spinney.cluster.prototypes.prototype_iterations import Partition
from spinney.errors import DataError, Setting, refusal

MIXED_RULES = ("silhouette", "elbow")
"""The rules that need no centroid of numbers: the others of ``MEASURES`` do."""


def choose_mixed(
    cells: MixedCells,
    ks: Any = "auto",
    *,
    weights: Floats | None = None,
    rule: str = "silhouette",
    gamma: float | None = None,
    start: str = "huang",
    n_starts: int = 1,
    max_iterations: int = 300,
    seed: int = 0,
    n_jobs: int = 1,
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Choice:
    """Return the number of clusters that a rule chooses for a mixed table.

    Parameters
    ----------
    cells : MixedCells
    ks : sequence of int or "auto"
        The numbers of clusters to try; ``"auto"`` is 2 to 10.
    weights : array, optional
        Those of the rows.
    rule : str
        One of ``MIXED_RULES``.
    gamma, start, n_starts, max_iterations, seed, n_jobs
        See ``mixed_fit.k_prototypes``.
    limits : Limits, optional
        Of how many different rows silhouettes are at most.
    progress : callable, optional
        Called with how many k were tried, and how many there are.
    """
    if rule not in MIXED_RULES:
        raise refusal(
            Setting("rule", rule),
            "is of k-means, and this is k-prototypes",
            f"{' or '.join(MIXED_RULES)} choose here",
        )
    rows = distinct_rows(np.hstack([cells.numbers, cells.codes]), weights)
    if not len(rows):
        msg = "there is no row of weight: clusters need at least one"
        raise DataError(msg)
    tried = numbers_to_try(ks, rule, len(rows))
    different = _cells_again(cells, rows)
    found: list[Partition] = []
    for k in tried:
        partition, gamma = k_prototypes(
            different,
            k,
            weights=rows.given,
            gamma=gamma,
            start=start,
            n_starts=n_starts,
            max_iterations=max_iterations,
            seed=seed,
            n_jobs=n_jobs,
        )
        found.append(partition)
        if progress is not None:
            progress(len(found), len(tried))
    assert gamma is not None
    most = (limits or Limits()).silhouette_rows
    many = len(rows) > most
    some = sampled(rows, most, seed=seed) if many else rows
    widths = _silhouettes(_cells_again(cells, some), some.weights, found, gamma, n_jobs)
    bend = _elbow(tried, found, rule)
    heights = [None] * len(tried) if bend is None else bend.differences.tolist()
    lines = tuple(
        Line(k, one.cost, silhouette=width, elbow=height)
        for k, one, width, height in zip(tried, found, widths, heights, strict=True)
    )
    k, why = decided(rule, lines, bend)
    return Choice(
        k=k,
        rule=rule,
        why=why,
        curve=lines,
        measures=MIXED_RULES,
        n_rows=len(rows),
        weight=rows.weight,
        silhouette_rows=most if many else None,
        gap_rows=None,
        gap_tables=None,
        n_starts=n_starts,
        seed=seed,
    )


def _cells_again(cells: MixedCells, rows: Distinct) -> MixedCells:
    """Return rows of numbers and codes side by side as what they were."""
    n_numbers = cells.numbers.shape[1]
    codes = rows.cells[:, n_numbers:].astype(np.int32)
    return replace(cells, numbers=rows.cells[:, :n_numbers].copy(), codes=codes)


def _silhouettes(
    mine: MixedCells,
    weights: Floats,
    found: list[Partition],
    gamma: float,
    n_jobs: int,
) -> list[float | None]:
    """Return the silhouettes of several partitions over some rows."""
    labelings: list[Integers] = []
    for one in found:
        labels = one.labels
        if len(labels) != len(weights):  # the rows are a sample
            labels = nearest_prototypes(mine, one.prototypes, gamma, n_jobs=n_jobs)[0]
        # Clusters without rows are no clusters.
        labelings.append(np.unique(labels, return_inverse=True)[1].reshape(-1))
    power = scaled(np.nan_to_num(mine.numbers))[1]
    if power < 0 and mine.codes.shape[1]:
        power = 0  # γ would overflow, and numbers so small do not count beside it
    mine = replace(mine, numbers=np.ldexp(mine.numbers, -power))
    small = float(np.ldexp(gamma, -2 * power)) if power else gamma

    def apart(part: slice) -> Floats:
        return distances_between(mine, part, small)

    return mean_widths(apart, labelings, weights, n_jobs=n_jobs)


def distances_between(cells: MixedCells, part: slice, gamma: float) -> Floats:
    """Return the root of the distance from each row of a part to each of all rows.

    >>> cells = MixedCells(
    ...     np.array([[0.0], [3.0], [np.nan]]),
    ...     np.array([[0], [1], [1]], np.int32), np.array([0, 2]), np.array([False]),
    ... )
    >>> distances_between(cells, slice(0, 1), 16.0)
    array([[0., 5., 4.]])
    """
    table = unlikeness(cells, cells.codes[part].astype(np.int64))
    total = np.zeros((len(cells.numbers[part]), len(cells)))
    for codes in cells.codes.T:
        total += table[codes].T
    total *= gamma
    for column in cells.numbers.T:
        apart = column[part, None] - column[None, :]
        total += np.where(np.isnan(apart), 0.0, apart * apart)
    return np.asarray(np.sqrt(total))


def _elbow(tried: list[int], found: list[Partition], rule: str) -> Elbow | None:
    """Look for the elbow of the costs; None where they are too large for floats."""
    costs = np.array([one.cost for one in found])
    if np.isfinite(costs).all():
        return elbow_of(np.array(tried, dtype=np.float64), costs)
    if rule == "elbow":
        raise DataError(
            Setting("rule", "elbow"),
            " needs costs that floats can hold, and these numbers are too large",
            remedy="divide each column by its standard deviation first",
        )
    return None
