"""Buckets of least entropy; the description length determines their number."""

from dataclasses import replace

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE, first_best
from spinney.errors import Setting, refusal
from spinney.search.buckets.equal_buckets import cuts_before
from spinney.search.groupings import thresholds
from spinney.trees import CountTable, TableBatch
from spinney.trees.criteria import entropy, gain


def entropy_mdl(table: CountTable) -> Floats:
    """Return the cuts of Fayyad and Irani's recursive partition by least entropy.

    A set S of weight N is cut in two where the gain of information is greatest, the
    lowest of equal cuts, if that is worth its description (MDLPC, Fayyad and Irani
    1993)::

        gain > log₂(N − 1) / N + Δ / N
        Δ = log₂(3^k − 2) − (k Ent(S) − k₁ Ent(S₁) − k₂ Ent(S₂))

    where k, k₁ and k₂ are how many classes occur in S and its parts; then each part
    is cut in its turn. The best cut never parts two values whose rows are all of
    one and the same class (their theorem 1), so these are merged first. Weights
    count as rows; log₂(N − 1), the bits that name a cut, is never taken below 0.

    >>> entropy_mdl(CountTable.of([[4, 0], [4, 0], [0, 4], [0, 4]]))
    array([1.5])
    """
    if table.is_moments:
        raise refusal(
            Setting("method", "entropy-mdl"),
            "needs classes, and the target is numeric",
            "take 'equal-width', 'equal-frequency' or 'k-means'",
        )
    present = table.sizes > 0
    values = np.asarray(table.values[present], dtype=np.float64)
    if len(values) < 2:
        return np.empty(0)
    known = replace(
        table.without_missing(),
        values=values,
        weights=table.weights[present],
        rows=table.rows[present],
    )
    firsts = _block_starts(known.weights)
    lengths = np.diff(np.append(firsts, len(values)))
    blocks = known.merged(np.repeat(np.arange(len(firsts)), lengths), len(firsts))
    return cuts_before(values, firsts[_partition(blocks)])


def _block_starts(weights: Floats) -> Integers:
    """Return the starts of runs of values with one class, and of all other values."""
    occurs = weights > 0
    pure = occurs.sum(axis=1) == 1
    same = pure[1:] & pure[:-1] & (occurs[1:] == occurs[:-1]).all(axis=1)
    return np.append(0, np.flatnonzero(~same) + 1)


def _partition(blocks: CountTable) -> Integers:
    """Return the rising indices of blocks that start a bucket, without block 0."""
    starts = []
    pending = [(0, len(blocks.values))]
    while pending:
        start, end = pending.pop()
        cut = _accepted_cut(
            replace(
                blocks,
                values=blocks.values[start:end],
                weights=blocks.weights[start:end],
                rows=blocks.rows[start:end],
            )
        )
        if cut is not None:
            starts.append(start + cut)
            pending += [(start, start + cut), (start + cut, end)]
    return np.array(sorted(starts), dtype=np.int64)


def _accepted_cut(blocks: CountTable) -> int | None:
    """Return the block that starts the right side, or None if no cut is accepted."""
    cuts = thresholds(TableBatch.of([{0: blocks}]))
    if not len(cuts):
        return None
    gains = np.asarray(gain(cuts.table))
    best = first_best(gains)
    bound = _description(blocks.total, cuts.table.weights[best])
    if gains[best] > bound + TOLERANCE * max(1.0, abs(bound)):
        return best + 1
    return None


def _description(whole: Floats, parts: Floats) -> float:
    """Return the information gain that a cut must exceed."""
    sides = np.vstack([whole, parts])
    classes = (sides > 0).sum(axis=1)
    bits = classes * entropy(sides)
    n = float(whole.sum())
    # log₂(3^k − 2), where 3^k may be beyond the largest float.
    k = float(classes[0])
    delta = k * np.log2(3) + np.log2(1 - 2 * 3.0**-k) - (bits[0] - bits[1] - bits[2])
    return float((np.log2(max(n - 1, 1.0)) + delta) / n)
