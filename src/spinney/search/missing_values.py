"""What a missing value means at the nodes of a growing tree.

fractional
    the merit is counted on the rows whose value is known and discounted by their
    share ρ; the others go to every branch with its share of the weight (C4.5).
most-common
    a missing value is the commonest one at the node, the first on a tie.
own-category
    missing is one more value: a branch of its own in a multiway split, a value
    on either side of a subset, either side of a threshold or alone against all
    that is known.
branch
    the missing rows go as a whole to the branch where they gain most.
mean
    a missing number is the mean, a missing category the commonest one, of all
    training rows, at every node (M5P). An ordered category is the one next to the
    mean of the codes.
surrogate
    the merit is that of ``fractional``; the other rows go by the first surrogate
    whose value they have, else to the heaviest branch (CART, for two branches; see
    :mod:`spinney.search.surrogate_search`).
drop
    rows that lack a cell of any attribute are left out before growing, and counted in a
    note; so no row of training is missing anywhere.

At prediction a category that the node has not seen is treated as missing. Where
no training row was missing at a node, ``most-common``, ``own-category``, ``branch``
and ``drop`` send missing values to the heaviest branch, the first of equals.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, sums_over
from spinney._support.segments import heaviest_by, starts_of
from spinney.errors import refuse_unknown
from spinney.search.groupings import CandidateSplits, ways_of, with_missing_at
from spinney.search.table_traits import NOMINAL, Traits
from spinney.trees import CountTable, TableBatch

# With more values at a node than this a branch each would be a tree that nobody can
# read, grown on hardly any rows a branch: such an attribute is split in two subsets.
MOST_BRANCHES = 1000


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy for missing values, as data.

    Parameters
    ----------
    name : str
        What the user types.
    divides : bool
        Whether a row with a missing value goes to every branch.
    moves : bool
        Whether missing rows are placed after the values are grouped.
    tells : bool
        Whether a missing value tells a row from one whose value is known.
    commonest : bool
        Whether a missing value is the commonest one of the node.
    by_root : bool
        Whether a missing value is the typical one of all rows, wherever it is
        missing.
    surrogates : bool
        Whether other attributes say where a row with a missing value goes.
    """

    name: str
    divides: bool = False
    moves: bool = False
    tells: bool = False
    commonest: bool = False
    by_root: bool = False
    surrogates: bool = False

    @property
    def needs_default(self) -> bool:
        """Whether a split must say where a missing value goes, if no row had one."""
        return not (self.divides or self.surrogates)


POLICIES = {
    policy.name: policy
    for policy in (
        Policy("fractional", divides=True),
        Policy("most-common", commonest=True),
        Policy("own-category", tells=True),
        Policy("branch", moves=True),
        Policy("mean", by_root=True),
        Policy("surrogate", surrogates=True),
        Policy("drop"),
    )
}


def policy_named(name: str) -> Policy:
    """Return the policy of this name."""
    if isinstance(name, str) and name in POLICIES:
        return POLICIES[name]
    refuse_unknown("missing", name, POLICIES)


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """A stack whose missing rows are counted at a value, where the policy says so.

    Parameters
    ----------
    stack : TableBatch
        The tables, with a further line where none had that value.
    line : array of shape (tables,)
        The line that counts a table's missing rows; -1 where none does.
    own : array of shape (lines,)
        Which lines were there before.
    """

    stack: TableBatch
    line: Integers
    own: NDArray[np.bool_]


def filled(stack: TableBatch, policy: Policy, traits: Traits) -> Filled:
    """Return a stack with its missing rows counted at a value, if the policy says so.

    Missing as a value of its own is a code after all others.
    """
    lacking, some = stack.lacking, stack.counts > 0
    nominal = traits.kind == NOMINAL
    if lacking.any():
        if policy.commonest:
            line = heaviest_by(stack.sizes, stack.start)
            return _counted_at(stack, np.where(lacking & some, line, -1))
        if policy.by_root:
            typical = traits.typical
            return _counted_as(stack, typical, lacking & some, nominal=nominal)
        if policy.tells:
            after = stack.start[1:]
            return _with_line(stack, lacking & nominal, traits.n_codes, after)
    own = np.ones(len(stack.values), dtype=bool)
    return Filled(stack, np.full(len(stack), -1), own)


def _counted_at(stack: TableBatch, line: Integers) -> Filled:
    """Return the stack with the missing rows of tables counted at a line, or aside."""
    tables = np.flatnonzero(line >= 0)
    weights, rows = stack.weights.copy(), stack.rows.copy()
    weights[line[tables]] += stack.missing[tables]
    rows[line[tables]] += stack.missing_rows[tables]
    counted = replace(stack, weights=weights, rows=rows).without_missing(line >= 0)
    return Filled(counted, line, np.ones(len(weights), dtype=bool))


def _counted_as(
    stack: TableBatch,
    value: Floats,
    lacking: NDArray[np.bool_],
    *,
    nominal: NDArray[np.bool_],
) -> Filled:
    """Return the stack with the missing rows of tables counted at a value.

    A number beyond those at the node counts as the nearest of them, so that no
    side of a threshold consists of missing rows only.
    """
    below = np.bincount(
        stack.owner, stack.values < value[stack.owner], minlength=len(stack)
    ).astype(np.int64)
    nearest = stack.start[:-1] + np.minimum(below, np.maximum(stack.counts - 1, 0))
    at = np.zeros(len(stack), dtype=bool)
    at[lacking] = stack.values[nearest[lacking]] == value[lacking]
    inside = nominal | ((below > 0) & (below < stack.counts))
    new = lacking & ~at & inside
    added = _with_line(stack, new, value, stack.start[:-1] + below)
    before: Integers = np.cumsum(new) - new
    line = np.where(lacking & ~new, nearest + before, -1)
    counted = _counted_at(added.stack, line)
    return replace(added, stack=counted.stack, line=np.where(new, added.line, line))


def _with_line(
    stack: TableBatch, tables: NDArray[np.bool_], value: NDArray[Any], before: Integers
) -> Filled:
    """Return the stack with the missing rows of some tables as one more line each.

    It has the ``value``, and stands ``before`` a line.
    """
    at = before[tables]
    grown = replace(
        stack,
        start=starts_of(stack.counts + tables),
        values=np.insert(stack.values, at, value[tables]),
        weights=np.insert(stack.weights, at, stack.missing[tables], axis=0),
        rows=np.insert(stack.rows, at, stack.missing_rows[tables], axis=0),
    )
    line = np.full(len(stack), -1)
    line[tables] = at + np.arange(len(at))
    own = np.ones(len(grown.values), dtype=bool)
    own[line[tables]] = False
    return Filled(grown.without_missing(tables), line, own)


def placed(ways: CandidateSplits, stack: TableBatch, policy: Policy) -> CandidateSplits:
    """Return the ways with missing rows in each branch in turn, if the policy moves.

    Where missing is a value of its own, there is one more way: is the value known?
    """
    if not (policy.moves or policy.tells) or not stack.lacking.any():
        return ways
    lacking = stack.lacking[ways.owner]
    possible = np.asarray(sums_over(ways.table.rows, -1) > 0)
    possible[~lacking] = False
    possible[~lacking, 0] = True
    chosen, branches = np.nonzero(possible)
    moved = with_missing_at(ways, chosen, np.where(lacking[chosen], branches, -1))
    return _joined(moved, known_or_missing(stack), stack) if policy.tells else moved


def _joined(
    ways: CandidateSplits, more: CandidateSplits, stack: TableBatch
) -> CandidateSplits:
    """Return ways of two branches, and after those of each table the further ones."""
    n_ways, owner = len(ways), stack.owner
    tables = zip(_arrays(ways.table), _arrays(more.table), strict=True)

    def goes(chosen: Integers) -> Integers:
        first = ways.goes(np.where(chosen < n_ways, chosen, -1)) if n_ways else 0
        further = more.goes(np.maximum(chosen - n_ways, 0))
        return np.where((chosen < n_ways)[owner], first, further)

    both = replace(
        ways,
        table=CountTable(np.arange(2), *(np.concatenate(pair) for pair in tables)),
        owner=np.concatenate([ways.owner, more.owner]),
        goes=goes,
        missing_at=np.concatenate([ways.missing_at, more.missing_at]),
    )
    return both.take(np.argsort(both.owner, kind="stable"))


def _arrays(table: CountTable) -> tuple[NDArray[Any], ...]:
    return table.weights, table.rows, table.missing, table.missing_rows


def known_or_missing(stack: TableBatch) -> CandidateSplits:
    """Return the question whether a value is known, of tables where some are not.

    It is the threshold ∞: all known values are on the left.
    """
    left = np.zeros(len(stack.values), dtype=np.int64)
    weights, rows = stack.by_branch(left, 2)
    owner = np.flatnonzero(stack.lacking)
    ways = ways_of(stack, weights[owner], rows[owner], owner=owner, goes=lambda _: left)
    return with_missing_at(ways, np.arange(len(owner)), np.ones(len(owner), np.int64))
