"""The best split of one attribute at a node, from its count table."""

from dataclasses import replace
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE, first_best
from spinney.data import Attribute
from spinney.search.buckets import bucketed
from spinney.search.chaid.merge_values import merging_of
from spinney.search.groupings import Groupings
from spinney.search.missing_values import Policy, ways_to_branch
from spinney.search.root_statistics import RootStatistics, statistics_of
from spinney.search.tree_search import Search
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    Intervals,
    Split,
    Threshold,
    branch_table,
)
from spinney.trees.criteria import Criterion


def propose(
    search: Search, table: CountTable, attribute: Attribute, index: int
) -> Candidate | None:
    """Return the best split of one attribute, or None if it cannot be split.

    Gain and merit are those of the classes as the search alters them; the
    candidate's counts are as they are.

    Examples
    --------
    >>> from spinney.recipes.named_recipes import RECIPES
    >>> height = CountTable.of([[0, 1], [1, 0], [0, 1], [1, 0], [1, 0]])
    >>> attribute = Attribute("height", "ordinal", tuple("abcde"))
    >>> search = Search.of(RECIPES["id3"], numeric=False)
    >>> propose(search, height, attribute, 0).split.threshold
    2.5
    """
    cuts = search.cuts.get(index)
    if cuts is not None:
        return best_by_bucket(search, table, attribute, index, cuts)
    return best_split(
        search,
        table,
        attribute,
        index,
        observed=search.observed.get(index),
        at_root=search.at_root.get(index),
    )


def best_by_bucket(
    search: Search, table: CountTable, attribute: Attribute, index: int, cuts: Floats
) -> Candidate | None:
    """Return the best split of a number whose buckets are searched like codes."""
    codes = tuple(range(len(cuts) + 1))
    multiway = search.recipe.grouping == "multiway"
    coded = Attribute(attribute.name, "nominal" if multiway else "ordinal", codes)
    candidate = best_split(search, bucketed(table, cuts).occurring(), coded, index)
    return candidate and _in_numbers(candidate, table, cuts)


def best_split(
    search: Search,
    table: CountTable,
    attribute: Attribute,
    index: int,
    *,
    observed: NDArray[Any] | None = None,
    at_root: RootStatistics | None = None,
) -> Candidate | None:
    """Return the best split of an attribute by its own values.

    ``observed`` are its values over all rows, for a threshold that is one of them,
    and ``at_root`` what all rows say of it, if the table is not the root's.
    """
    criterion, policy, altered = search.criterion, search.policy, search.altered
    at_root = at_root or statistics_of(table, attribute)
    allowed = _ways(search, table, attribute, observed=observed, at_root=at_root)
    if allowed is None:
        return None
    ways, admissible = allowed
    gains = criterion.gain(ways.table)[admissible]
    unit = criterion.gain_unit(table.total + table.missing)
    best = first_best(gains, criterion.tolerance, unit)
    split = _split_of(ways, int(admissible[best]), table, attribute, index)
    if split.missing is None and not (policy.divides or policy.surrogates):
        split = replace(split, missing=_default(split, policy, at_root))
    counts = _sides(table, split) if attribute.kind == "numeric" else table
    plain = attribute.kind == "numeric" and attribute.formula is None
    if plain and search.recipe.thresholds == "observed":
        split = _at_observed(split, table.values if observed is None else observed)
    merit = float(criterion.merit(branch_table(counts, split).scaled(altered)))
    p_value = None
    if criterion.chance:
        merit = max(merit - ways.log_multiplier, 0.0)
        p_value = exp(-merit)
    candidate = Candidate(split, counts, float(gains[best]), merit, ways.exact, p_value)
    return _corrected(search, candidate, n_ways=len(admissible))


def recount(
    candidate: Candidate,
    table: CountTable,
    attribute: Attribute,
    *,
    criterion: Criterion,
    altered: Floats | None = None,
) -> Candidate:
    """Return a candidate's split over other rows: shares, counts and merit are new.

    A code that the split has no branch for goes where missing values go. No
    threshold was chosen among these rows, so the gain pays for none.
    """
    split = candidate.split
    table = _with_branches_only(table, split)
    sizes = table.merged(split.branch_of(table.values), split.n_branches).sizes
    known = float(sizes.sum())
    shares = sizes / known if known > 0 else np.full(len(sizes), 1 / len(sizes))
    split = replace(split, shares=tuple(shares.tolist()))
    counts = _sides(table, split) if attribute.kind == "numeric" else table
    branches = branch_table(counts, split).scaled(altered)
    gain, merit = float(criterion.gain(branches)), float(criterion.merit(branches))
    p_value = exp(-merit) if criterion.chance else None
    return Candidate(split, counts, gain, merit, candidate.exact, p_value)


def _with_branches_only(table: CountTable, split: Split) -> CountTable:
    """Return a table whose codes without a branch are counted as missing."""
    lost = split.branch_of(table.values) < 0
    if not lost.any():
        return table
    return replace(
        table,
        values=table.values[~lost],
        weights=table.weights[~lost],
        rows=table.rows[~lost],
        missing=table.missing + table.weights[lost].sum(axis=0),
        missing_rows=table.missing_rows + table.rows[lost].sum(axis=0),
    )


def _ways(
    search: Search,
    table: CountTable,
    attribute: Attribute,
    *,
    observed: NDArray[Any] | None,
    at_root: RootStatistics,
) -> tuple[Groupings, Integers] | None:
    """Return the ways to branch and which of them are allowed; None without any."""
    recipe, criterion = search.recipe, search.criterion
    least = recipe.least_branch(search.total)
    if attribute.kind != "nominal" and not table.is_moments:
        known = float(table.sizes.sum())
        least = max(least, recipe.least_side(known, table.weights.shape[-1]))
    ways = ways_to_branch(
        table.scaled(search.altered),
        attribute,
        grouping=recipe.grouping,
        policy=search.policy,
        limited=least > 0 or recipe.min_branch_share > 0 or not criterion.ordered,
        step=recipe.step_of(observed),
        merging=merging_of(recipe, criterion, least),
        at_root=at_root,
    )
    if ways is None:
        return None
    share = recipe.min_branch_share * table.weight
    admissible = np.flatnonzero(
        _admissible(ways, least, search.altered) & _balanced(ways, share)
    )
    return (ways, admissible) if len(admissible) else None


def _corrected(search: Search, candidate: Candidate, *, n_ways: int) -> Candidate:
    """Return a candidate whose gain pays for naming one threshold of those tried."""
    criterion = search.criterion
    threshold = isinstance(candidate.split, Threshold)
    if not (search.recipe.mdl_correction and criterion.bits and threshold):
        return candidate
    merit = gain = candidate.gain - float(np.log2(n_ways)) / candidate.table.weight
    if criterion.per is not None:
        divisor = float(criterion.per(candidate.branches.scaled(search.altered)))
        merit = gain / divisor if divisor > 0 else 0.0
    return replace(candidate, gain=gain, merit=merit)


def _at_observed(split: Split, values: NDArray[Any]) -> Split:
    """Return a threshold moved down to the greatest value that is not above it."""
    assert isinstance(split, Threshold)
    if split.threshold == np.inf:
        return split
    below = int(np.searchsorted(values, split.threshold, side="right")) - 1
    return replace(split, threshold=float(values[below]))


def _in_numbers(candidate: Candidate, table: CountTable, cuts: Floats) -> Candidate:
    """Return a candidate over buckets as one over the numbers in them."""
    split = candidate.split
    if isinstance(split, Threshold):
        cut = split.threshold
        if np.isfinite(cut):
            split = replace(split, threshold=float(cuts[int(cut)]))
    else:
        assert isinstance(split, Groups)
        split = _intervals(split, cuts)
    return replace(candidate, split=split, table=_sides(table, split))


def _intervals(split: Groups, cuts: Floats) -> Intervals:
    """Return groups of neighbouring buckets as intervals, that of missing ones last.

    A bucket that no row has here lies in the group above it.
    """
    order = sorted(range(split.n_branches), key=lambda b: split.groups[b] or (np.inf,))
    ends = [split.groups[branch][-1] for branch in order if split.groups[branch]]
    edges = [float(cuts[end]) for end in ends[:-1]]
    if len(ends) < split.n_branches:
        edges.append(np.inf)
    missing = None if split.missing is None else order.index(split.missing)
    shares = tuple(split.shares[branch] for branch in order)
    return Intervals(split.attribute, tuple(edges), shares, missing)


def _default(split: Split, policy: Policy, at_root: RootStatistics) -> int:
    """Return the branch of missing values where no training row had one."""
    if policy.by_root:
        branch = int(split.branch_of(np.array([at_root.default_value]))[0])
        if branch >= 0:
            return branch
    return first_best(np.array(split.shares))


def _balanced(ways: Groupings, share: float) -> NDArray[np.bool_]:
    """Return which ways give two branches more weight than this each."""
    more = ways.table.sizes > share * (1 + TOLERANCE)
    return np.asarray((share == 0) | (more.sum(axis=1) >= 2))


def _admissible(
    ways: Groupings, least: float, altered: Floats | None
) -> NDArray[np.bool_]:
    """Return which ways give two branches with enough rows each, as they are."""
    enough = ways.table.rows.any(axis=2)
    if least > 0:
        own = ways.table if altered is None else ways.table.scaled(1 / altered)
        enough &= own.sizes >= least * (1 - TOLERANCE)
    return np.asarray(enough.sum(axis=1) >= 2)


def _split_of(
    ways: Groupings, way: int, table: CountTable, attribute: Attribute, index: int
) -> Split:
    """Return a way as a split, with the shares of its branches."""
    sides = ways.sides(way)
    missing = None if ways.missing_at is None else int(ways.missing_at[way])
    split: Split
    if isinstance(sides, tuple):
        if ways.missing_as is not None:
            missing = next(b for b, side in enumerate(sides) if ways.missing_as in side)
        # The code after the last one stands for missing as a value of its own.
        last = len(attribute.values)
        groups = tuple(tuple(code for code in side if code < last) for side in sides)
        split = Groups(index, groups, (), missing)
    else:
        if ways.missing_as is not None:
            missing = int(ways.missing_as > sides)
        split = Threshold(index, sides, (), missing)
    known = table.merged(split.branch_of(table.values), split.n_branches)
    sizes = known.sizes
    return replace(split, shares=tuple((sizes / sizes.sum()).tolist()))


def _sides(table: CountTable, split: Split) -> CountTable:
    """Return a numeric table by sides, at the values next to the threshold.

    Of intervals there is one line each, at its greatest value.
    """
    branches = split.branch_of(table.values)
    if isinstance(split, Intervals):
        ends = np.append(np.flatnonzero(branches[1:] != branches[:-1]), -1)
        merged = table.merged(branches, split.n_branches).occurring()
        return replace(merged, values=table.values[ends])
    last_left = int(np.count_nonzero(branches == 0)) - 1
    edges = table.values[last_left : last_left + 2]
    return replace(table.merged(branches, len(edges)), values=edges)
