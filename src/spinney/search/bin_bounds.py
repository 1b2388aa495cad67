"""Bounds on the gains inside bins of numbers: most bins need not be opened.

A source may count a numeric attribute of many values by bins: a line of a table then
has all values from ``low`` to ``values``. The cuts between bins are known. A cut inside
a bin b lies between L, all rows below the bin, and R, all rows above. Only s, the left
part of the bin, is unknown. The gain is a convex function of s for the criteria that
kernels know (``growth/binned/kernels/split_scores.py`` has the proof), so no cut inside
exceeds the greatest gain at a corner of the box 0 ≤ s ≤ b, where each class of the bin
is on one side.

A bin is opened unless all its corners, including its two edges, gain less than the best
cut between bins, beyond the tolerance of ties. So no cut that could win or tie is
missed, and the bins on both sides of the best cut are always opened. An opened bin may
become finer bins, which are bounded in the same way. If attributes compete by gain
alone, the gain to beat is the best of all attributes of the node. The other attributes
keep the best cut between their bins, and are not exact.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import running_sums
from spinney.data import Schema
from spinney.search.attribute_split import best_splits
from spinney.search.level_splits import LevelSplits
from spinney.search.tree_search import Search
from spinney.trees import CountTable, TableBatch

MAX_CLASSES = 6  # whose corners are tried, 64 of them
BINS_PER_BATCH = 20_000  # bins whose corners are tried at once

# Settings under which bins bound nothing, and the values at which they do: they cost or
# place a cut by all values, or split them in another form.
SETTINGS = {
    "alpha_split": None,
    "mdl_correction": False,
    "min_step": 0.0,
    "thresholds": "midpoint",
    "linear_terms": 0,
    "construct": 0,
}


def can_bound(search: Search, schema: Schema) -> bool:
    """Return whether the bins of a number bound the gains of the cuts inside them.

    This needs few classes, and a policy that does not impute missing values.
    """
    policy, recipe = search.policy, search.recipe
    target = schema.target
    return (
        search.criterion.kernel != ""
        and not target.is_numeric
        and target.n_outputs <= MAX_CLASSES
        and (policy.divides_rows or policy.surrogates or policy.tries_branches)
        and not policy.is_category
        and recipe.bucketing is None
        and all(getattr(recipe, name) == value for name, value in SETTINGS.items())
    )


def bins_to_open(
    search: Search, batch: TableBatch, schema: Schema
) -> tuple[NDArray[np.bool_], Floats]:
    """Return a mask of lines that are bins and may contain the best cut of their node.

    The second array bounds the gains in the closed bins of each table. ``batch`` has
    the searched weights.
    """
    is_opened = np.zeros(len(batch.values), dtype=bool)
    closed_bound = np.full(len(batch), -np.inf)
    if batch.low is None or not (is_bin := batch.low < batch.values).any():
        return is_opened, closed_bound
    tables = np.unique(batch.owner[is_bin])
    binned = batch.take(tables)
    assert binned.low is not None
    inside = binned.low < binned.values
    best = np.full(len(binned), -np.inf)
    splits = best_splits(search, batch, schema)
    n_attributes, winners = 1 + batch.attribute.max(initial=0), splits.tables
    keys = binned.node * n_attributes + binned.attribute
    winner_keys = winners.node * n_attributes + winners.attribute
    order = np.argsort(keys)
    position = np.searchsorted(keys[order], winner_keys).clip(max=len(keys) - 1)
    matches = keys[order[position]] == winner_keys
    best[order[position[matches]]] = splits.gain[matches]
    lines = np.flatnonzero(inside)
    to_beat = _gains_to_beat(search, binned.node, best, splits, schema)
    bound = _bounds(search, binned.scaled(search.altered), lines)
    bound[~_may_hold_cut(search, binned, lines)] = -np.inf
    slack = 4 * search.criterion.tolerance
    opens = np.zeros(len(binned.values), dtype=bool)
    opens[lines] = bound >= to_beat[binned.owner[lines]] - slack
    opens[lines[bound == -np.inf]] = False
    is_opened[batch.lines_of(tables)] = opens
    closed = ~opens[lines]
    np.maximum.at(closed_bound, tables[binned.owner[lines[closed]]], bound[closed])
    return is_opened, closed_bound


def _gains_to_beat(
    search: Search,
    node: Integers,
    best: Floats,
    splits: LevelSplits,
    schema: Schema,
) -> Floats:
    """Return the gain that a cut of each table must reach: the node's best, or its own.

    A table without a cut between its bins accepts any cut, to be a competitor.
    ``splits`` has the splits of all tables of the nodes.
    """
    if not by_gain_alone(search, schema):
        return best
    greatest = np.full(1 + node.max(initial=0), -np.inf)
    in_level = splits.tables.node < len(greatest)
    np.maximum.at(greatest, splits.tables.node[in_level], splits.gain[in_level])
    return np.where(best == -np.inf, best, np.maximum(best, greatest[node]))


def by_gain_alone(search: Search, schema: Schema) -> bool:
    """Return whether the attribute of the greatest gain wins."""
    criterion = search.criterion
    is_plain = criterion.per is None and not criterion.average
    return is_plain and not any(attribute.cost for attribute in schema.attributes)


def _may_hold_cut(
    search: Search, batch: TableBatch, lines: Integers
) -> NDArray[np.bool_]:
    """Return a mask of bins in which a cut may leave enough weight on both sides.

    Without this check, all bins of a table without such a cut would be opened.
    """
    min_weight = (1 - 1e-9) * search.recipe.min_branch_weight(search.total)
    sizes, owner = batch.sizes[:, None], batch.owner[lines]
    up_to = running_sums(sizes, batch.start)[lines, 0]
    missing_weight = batch.weight[owner] - batch.known_weight[owner]
    above = batch.known_weight[owner] - up_to + batch.sizes[lines]
    return np.asarray(
        (up_to + missing_weight >= min_weight) & (above + missing_weight >= min_weight)
    )


def _bounds(search: Search, batch: TableBatch, lines: Integers) -> Floats:
    """Return the greatest gain at a corner of each of some bins.

    If missing rows go to one branch together, each branch is tried.
    """
    up_to = running_sums(batch.weights, batch.start)
    bound = np.full(len(lines), -np.inf)
    missing_sides = (
        (0, 1) if search.policy.tries_branches and batch.has_missing.any() else (None,)
    )
    for start in range(0, len(lines), BINS_PER_BATCH):
        batch_lines = lines[start : start + BINS_PER_BATCH]
        owner, inside = batch.owner[batch_lines], batch.weights[batch_lines]
        below = up_to[batch_lines] - inside
        above = batch.total[owner] - up_to[batch_lines]
        batch_slice = slice(start, start + len(batch_lines))
        for left in _corners(batch.weights.shape[1]):
            sides = np.stack(
                [below + inside * left, above + inside * ~left], axis=1
            ).clip(min=0.0)
            for missing_side in missing_sides:
                gains = _gains(search, sides, batch, owner, missing_side)
                bound[batch_slice] = np.maximum(bound[batch_slice], gains)
    return bound


def _gains(
    search: Search,
    sides: Floats,
    batch: TableBatch,
    owner: Integers,
    missing_side: int | None,
) -> Floats:
    """Return the gains of two sides, missing rows on one of them, or left out."""
    missing, missing_rows = batch.missing[owner], batch.missing_rows[owner]
    if missing_side is not None:
        sides = sides.copy()
        sides[:, missing_side] += missing
        missing, missing_rows = np.zeros_like(missing), np.zeros_like(missing_rows)
    counts = (sides > 0).astype(np.int64)
    table = CountTable(np.arange(2), sides, counts, missing, missing_rows)
    return np.asarray(search.criterion.gain(table))


def _corners(n_classes: int) -> Iterator[NDArray[np.bool_]]:
    """Yield all assignments of the classes to the left side or not."""
    for number in range(2**n_classes):
        yield (number >> np.arange(n_classes)) & 1 == 1
