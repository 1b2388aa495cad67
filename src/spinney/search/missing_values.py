"""The policies for missing values at the nodes of a growing tree.

fractional
    the merit is counted on the rows whose value is known and discounted by their
    fraction ρ; the others go to every branch with its fraction of the weight (C4.5).
most-common
    a missing value is the commonest one at the node, the first on a tie.
own-category
    missing is one more value: a branch of its own in a multiway split, or a member of
    either subset. With a threshold it goes to either side, or alone against all known
    values.
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
    rows with a missing cell in any attribute are dropped before growing, and a note
    counts them; so no training value is missing.

In prediction, a category without training rows at the node is treated as missing. Where
no training row was missing at a node, ``most-common``, ``own-category``, ``branch`` and
``drop`` send missing values to the heaviest branch, the first of equals.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, sums_over
from spinney._support.segments import heaviest_by, starts_of
from spinney.errors import refuse_unknown
from spinney.search.groupings import CandidateSplits, candidates_of, with_missing_at
from spinney.search.table_traits import NOMINAL, AttributeTraits
from spinney.trees import CountTable, TableBatch

# With more values at a node than this, one branch per value would have hardly any rows,
# and nobody could read the tree: such an attribute is split in two subsets.
MAX_BRANCHES = 1000


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy for missing values, as data.

    Parameters
    ----------
    name : str
        The name of the policy.
    divides_rows : bool
        Whether a row with a missing value goes to every branch.
    tries_branches : bool
        Whether a split tries each branch for its missing rows.
    is_category : bool
        Whether a missing value is one more category.
    imputes_mode : bool
        Whether to replace a missing value by the mode of the node.
    imputes_typical : bool
        Whether to replace a missing value by the mean or mode of all rows.
    surrogates : bool
        Whether surrogate splits choose the branch of a row with a missing value.
    """

    name: str
    divides_rows: bool = False
    tries_branches: bool = False
    is_category: bool = False
    imputes_mode: bool = False
    imputes_typical: bool = False
    surrogates: bool = False

    @property
    def needs_default(self) -> bool:
        """Whether splits need a default branch if no training value was missing."""
        return not (self.divides_rows or self.surrogates)


POLICIES = {
    policy.name: policy
    for policy in (
        Policy("fractional", divides_rows=True),
        Policy("most-common", imputes_mode=True),
        Policy("own-category", is_category=True),
        Policy("branch", tries_branches=True),
        Policy("mean", imputes_typical=True),
        Policy("surrogate", surrogates=True),
        Policy("drop"),
    )
}


def policy_named(name: str) -> Policy:
    """Return the policy of this name."""
    if isinstance(name, str) and name in POLICIES:
        return POLICIES[name]
    refuse_unknown("missing_policy", name, POLICIES)


@dataclass(frozen=True, slots=True, eq=False)
class FilledBatch:
    """A batch whose missing rows are counted at a value, if the policy imputes.

    Parameters
    ----------
    batch : TableBatch
        The tables; a table that lacked the imputed value has a line more.
    line : array of shape (tables,)
        The line that counts a table's missing rows, or -1.
    is_original : array of shape (lines,)
        Whether a line was in the original table.
    """

    batch: TableBatch
    line: Integers
    is_original: NDArray[np.bool_]


def fill_missing(
    batch: TableBatch, policy: Policy, traits: AttributeTraits
) -> FilledBatch:
    """Return a batch whose missing rows are counted at a value, if the policy imputes.

    Missing as a category has the code after all others.
    """
    has_missing, has_values = batch.has_missing, batch.counts > 0
    nominal = traits.kind == NOMINAL
    if has_missing.any():
        if policy.imputes_mode:
            line = heaviest_by(batch.sizes, batch.start)
            return _counted_at(batch, np.where(has_missing & has_values, line, -1))
        if policy.imputes_typical:
            typical = traits.typical
            return _counted_as(
                batch, typical, has_missing & has_values, nominal=nominal
            )
        if policy.is_category:
            ends = batch.start[1:]
            return _with_line(batch, has_missing & nominal, traits.n_codes, ends)
    is_original = np.ones(len(batch.values), dtype=bool)
    return FilledBatch(batch, np.full(len(batch), -1), is_original)


def _counted_at(batch: TableBatch, line: Integers) -> FilledBatch:
    """Return the batch with missing rows counted at a line of their table, or none."""
    tables = np.flatnonzero(line >= 0)
    weights, rows = batch.weights.copy(), batch.rows.copy()
    weights[line[tables]] += batch.missing[tables]
    rows[line[tables]] += batch.missing_rows[tables]
    counted = replace(batch, weights=weights, rows=rows).without_missing(line >= 0)
    return FilledBatch(counted, line, np.ones(len(weights), dtype=bool))


def _counted_as(
    batch: TableBatch,
    value: Floats,
    has_missing: NDArray[np.bool_],
    *,
    nominal: NDArray[np.bool_],
) -> FilledBatch:
    """Return the batch with the missing rows of tables counted at a value.

    A number beyond those at the node counts as the nearest of them, so that no
    side of a threshold consists of missing rows only.
    """
    below = np.bincount(
        batch.owner, batch.values < value[batch.owner], minlength=len(batch)
    ).astype(np.int64)
    nearest = batch.start[:-1] + np.minimum(below, np.maximum(batch.counts - 1, 0))
    position = np.zeros(len(batch), dtype=bool)
    position[has_missing] = batch.values[nearest[has_missing]] == value[has_missing]
    within = nominal | ((below > 0) & (below < batch.counts))
    is_new = has_missing & ~position & within
    added = _with_line(batch, is_new, value, batch.start[:-1] + below)
    before: Integers = np.cumsum(is_new) - is_new
    line = np.where(has_missing & ~is_new, nearest + before, -1)
    counted = _counted_at(added.batch, line)
    return replace(added, batch=counted.batch, line=np.where(is_new, added.line, line))


def _with_line(
    batch: TableBatch, tables: NDArray[np.bool_], value: NDArray[Any], before: Integers
) -> FilledBatch:
    """Return the batch with the missing rows of some tables as one more line each.

    The new line has the ``value``, and stands ``before`` another line.
    """
    position = before[tables]
    extended = replace(
        batch,
        start=starts_of(batch.counts + tables),
        values=np.insert(batch.values, position, value[tables]),
        weights=np.insert(batch.weights, position, batch.missing[tables], axis=0),
        rows=np.insert(batch.rows, position, batch.missing_rows[tables], axis=0),
    )
    line = np.full(len(batch), -1)
    line[tables] = position + np.arange(len(position))
    is_original = np.ones(len(extended.values), dtype=bool)
    is_original[line[tables]] = False
    return FilledBatch(extended.without_missing(tables), line, is_original)


def place_missing(
    candidates: CandidateSplits, batch: TableBatch, policy: Policy
) -> CandidateSplits:
    """Return candidates with missing rows in each branch, if the policy tries branches.

    If missing is a category, there is one more candidate: known against missing.
    """
    if not (policy.tries_branches or policy.is_category) or not batch.has_missing.any():
        return candidates
    has_missing = batch.has_missing[candidates.owner]
    possible = np.asarray(sums_over(candidates.table.rows, -1) > 0)
    possible[~has_missing] = False
    possible[~has_missing, 0] = True
    chosen, branches = np.nonzero(possible)
    moved = with_missing_at(
        candidates, chosen, np.where(has_missing[chosen], branches, -1)
    )
    return (
        _joined(moved, known_or_missing(batch), batch) if policy.is_category else moved
    )


def _joined(
    candidates: CandidateSplits, added: CandidateSplits, batch: TableBatch
) -> CandidateSplits:
    """Return candidates of two branches, those added after the others of a table."""
    n_splits, owner = len(candidates), batch.owner
    tables = zip(_arrays(candidates.table), _arrays(added.table), strict=True)

    def line_branches(chosen: Integers) -> Integers:
        first = (
            candidates.line_branches(np.where(chosen < n_splits, chosen, -1))
            if n_splits
            else 0
        )
        branch_of_added = added.line_branches(np.maximum(chosen - n_splits, 0))
        return np.where((chosen < n_splits)[owner], first, branch_of_added)

    both = replace(
        candidates,
        table=CountTable(np.arange(2), *(np.concatenate(pair) for pair in tables)),
        owner=np.concatenate([candidates.owner, added.owner]),
        line_branches=line_branches,
        missing_at=np.concatenate([candidates.missing_at, added.missing_at]),
    )
    return both.take(np.argsort(both.owner, kind="stable"))


def _arrays(table: CountTable) -> tuple[NDArray[Any], ...]:
    return table.weights, table.rows, table.missing, table.missing_rows


def known_or_missing(batch: TableBatch) -> CandidateSplits:
    """Return the split of tables with missing values into known and missing values.

    The split is the threshold ∞: all known values are on the left.
    """
    left = np.zeros(len(batch.values), dtype=np.int64)
    weights, rows = batch.by_branch(left, 2)
    owner = np.flatnonzero(batch.has_missing)
    candidates = candidates_of(
        batch, weights[owner], rows[owner], owner=owner, line_branches=lambda _: left
    )
    return with_missing_at(
        candidates, np.arange(len(owner)), np.ones(len(owner), np.int64)
    )
