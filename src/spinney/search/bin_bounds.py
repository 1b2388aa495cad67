"""Which bins of numbers may hold the best cut, so that all others need not be opened.

A source may count a number of many values by bins: lines of a table that stand for all
values from ``low`` to ``values``. The cuts between bins are known then. Of a cut inside
a bin b, between L, all that lies below, and R, all above, only s is not known, the part
of the bin on the left. The gain is a convex function of s for the criteria that
kernels know (``growth/binned/kernels/split_scores.py`` has the proof), so no cut inside
exceeds the greatest gain at a corner of the box 0 ≤ s ≤ b, where each class of the bin
is on one side.

A bin is opened unless all its corners, its own two edges among them, fall short of the
best cut between bins by more than ties do. So no cut that could win, or tie, is unseen,
and what stands on both sides of the best cut is always opened. A bin that is opened may
become finer bins, of which the same is asked again.
Where attributes compete by their gains alone, that is the best cut of all attributes of
the node; the others keep the best cut between their bins, and are no longer exact.
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

MOST_CLASSES = 6  # whose corners are tried, 64 of them
TOGETHER = 20_000  # bins whose corners are tried at once

# Settings under which bins bound nothing, and the value that asks for nothing: what
# costs or places a cut by all values, or asks of them in another form.
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

    They do for few classes, and where a missing value is not taken for another one.
    """
    policy, recipe = search.policy, search.recipe
    target = schema.target
    return (
        search.criterion.kernel != ""
        and not target.is_numeric
        and target.n_outputs <= MOST_CLASSES
        and (policy.divides or policy.surrogates or policy.moves)
        and not policy.tells
        and recipe.bucketing is None
        and all(getattr(recipe, name) == value for name, value in SETTINGS.items())
    )


def bins_to_open(
    search: Search, batch: TableBatch, schema: Schema
) -> tuple[NDArray[np.bool_], Floats]:
    """Return which lines of a stack are bins that may hold the best cut of their node.

    Besides, what no cut in a bin that stays closed exceeds, of each table.
    ``batch`` has the weights that are searched.
    """
    is_opened = np.zeros(len(batch.values), dtype=bool)
    closed_bound = np.full(len(batch), -np.inf)
    if batch.low is None or not (several := batch.low < batch.values).any():
        return is_opened, closed_bound
    tables = np.unique(batch.owner[several])
    part = batch.take(tables)
    assert part.low is not None
    inside = part.low < part.values
    best = np.full(len(part), -np.inf)
    splits = best_splits(search, batch, schema)
    keys = part.node * (1 + batch.attribute.max(initial=0)) + part.attribute
    won = splits.tables
    won_keys = won.node * (1 + batch.attribute.max(initial=0)) + won.attribute
    order = np.argsort(keys)
    position = np.searchsorted(keys[order], won_keys).clip(max=len(keys) - 1)
    mine = keys[order[position]] == won_keys
    best[order[position[mine]]] = splits.gain[mine]
    lines = np.flatnonzero(inside)
    wanted = _gains_to_beat(search, part.node, best, splits, schema)
    bound = _bounds(search, part.scaled(search.altered), lines)
    bound[~_may_hold_cut(search, part, lines)] = -np.inf
    slack = 4 * search.criterion.tolerance
    opened = np.zeros(len(part.values), dtype=bool)
    opened[lines] = bound >= wanted[part.owner[lines]] - slack
    opened[lines[bound == -np.inf]] = False
    is_opened[batch.lines_of(tables)] = opened
    rest = ~opened[lines]
    np.maximum.at(closed_bound, tables[part.owner[lines[rest]]], bound[rest])
    return is_opened, closed_bound


def _gains_to_beat(
    search: Search,
    node: Integers,
    best: Floats,
    splits: LevelSplits,
    schema: Schema,
) -> Floats:
    """Return what a cut of each table must come to: the best of its node, or its own.

    Any cut will do for a table that has none between its bins, to be among the
    competitors. ``splits`` are those of all tables of the nodes.
    """
    if not by_gain_alone(search, schema):
        return best
    greatest = np.full(1 + node.max(initial=0), -np.inf)
    inside = splits.tables.node < len(greatest)
    np.maximum.at(greatest, splits.tables.node[inside], splits.gain[inside])
    return np.where(best == -np.inf, best, np.maximum(best, greatest[node]))


def by_gain_alone(search: Search, schema: Schema) -> bool:
    """Return whether the attribute of the greatest gain wins."""
    criterion = search.criterion
    alone = criterion.per is None and not criterion.average
    return alone and not any(attribute.cost for attribute in schema.attributes)


def _may_hold_cut(
    search: Search, batch: TableBatch, lines: Integers
) -> NDArray[np.bool_]:
    """Return inside which bins a cut leaves enough on both sides.

    Without this, where no cut of a table does, all of its bins would be opened.
    """
    least = (1 - 1e-9) * search.recipe.least_branch(search.total)
    sizes, owner = batch.sizes[:, None], batch.owner[lines]
    up_to = running_sums(sizes, batch.start)[lines, 0]
    missing_weight = batch.weight[owner] - batch.known_weight[owner]
    above = batch.known_weight[owner] - up_to + batch.sizes[lines]
    return np.asarray(
        (up_to + missing_weight >= least) & (above + missing_weight >= least)
    )


def _bounds(search: Search, batch: TableBatch, lines: Integers) -> Floats:
    """Return the greatest gain at a corner of each of some bins.

    Where missing rows are moved to a branch, they are in one, and then in the other.
    """
    up_to = running_sums(batch.weights, batch.start)
    bound = np.full(len(lines), -np.inf)
    places = (0, 1) if search.policy.moves and batch.has_missing.any() else (None,)
    for start in range(0, len(lines), TOGETHER):
        some = lines[start : start + TOGETHER]
        owner, inside = batch.owner[some], batch.weights[some]
        below = up_to[some] - inside
        above = batch.total[owner] - up_to[some]
        own = slice(start, start + len(some))
        for left in _corners(batch.weights.shape[1]):
            sides = np.stack(
                [below + inside * left, above + inside * ~left], axis=1
            ).clip(min=0.0)
            for place in places:
                gains = _gains(search, sides, batch, owner, place)
                bound[own] = np.maximum(bound[own], gains)
    return bound


def _gains(
    search: Search,
    sides: Floats,
    batch: TableBatch,
    owner: Integers,
    place: int | None,
) -> Floats:
    """Return the gains of two sides, missing rows on one of them, or left out."""
    missing, missing_rows = batch.missing[owner], batch.missing_rows[owner]
    if place is not None:
        sides = sides.copy()
        sides[:, place] += missing
        missing, missing_rows = np.zeros_like(missing), np.zeros_like(missing_rows)
    counts = (sides > 0).astype(np.int64)
    table = CountTable(np.arange(2), sides, counts, missing, missing_rows)
    return np.asarray(search.criterion.gain(table))


def _corners(n_classes: int) -> Iterator[NDArray[np.bool_]]:
    """Give all ways to put each class on the left or not."""
    for number in range(2**n_classes):
        yield (number >> np.arange(n_classes)) & 1 == 1
