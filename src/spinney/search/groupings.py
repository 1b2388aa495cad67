"""Candidate splits of many count tables at once: groupings of values into branches.

Each function takes a batch of count tables and returns :class:`CandidateSplits`: a
stack of branch tables, one for each candidate.

thresholds
    numbers and ordered codes: one cut between every two neighbouring values.
multiway
    one branch for every value of the attribute, whether it occurs at the node or not.
all_subsets, best_prefixes
    two branches. With two classes at the node, ordering the values by the share
    of one class makes the best subset a prefix (Breiman et al. 1984, theorem
    4.5), and so does ordering them by the mean of a numeric target (section 8.8),
    so k − 1 cuts are exact, as long as every subset is allowed. The proof needs no
    impurity: the class weights of all subsets lie in a zonotope whose corners are
    the prefixes, so a gain whose sets of low values are convex is greatest at a
    prefix. χ² (Gini's decrease over Gini's index), twoing and Hellinger's distance
    are convex; C-SEP grows with the turn from the weights of one branch to those of
    the other, points of equal turn lie on an arc over the diagonal (inscribed
    angles), and those of less turn fill a convex lens. Where the trivial split is
    not the worst one, as with description lengths, or the criterion is a user's,
    ``Criterion.ordered`` is False. With more classes, or where a limit on branches
    or rows placed later could favour another subset, all 2^(k−1) − 1 are tried up
    to ``MAX_ENUMERATED`` values. Beyond that the values are ordered, by the share or,
    with more classes, along the first principal component of their class shares
    (Coppersmith, Hong and Hosking 1999); that is good but not exact, and the
    candidate says so.
searched_subsets
    two branches of more values than that and several classes, where the impurity is
    concave: branch and bound, see ``bounded_subsets``. What it finds is proved to be
    the best, or comes with a bound on what it may fall short of.
ordered
    two branches: the cuts of an order of all codes that holds for the whole tree (M5).
merged
    the one grouping that CHAID's merging leads to.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import (
    Floats,
    Integers,
    Numbers,
    maxima_over,
    sums_over,
)
from spinney._support.segments import running_sums
from spinney._support.ties import TOLERANCE
from spinney.search.bounded_subsets import beam_width_for, best_subset
from spinney.search.chaid.merge_values import Merging, merge_batch
from spinney.search.value_order import principal_score
from spinney.trees import CountTable, TableBatch, ratio_of
from spinney.trees.criteria import Impurity

MAX_ROWS_WITHOUT_TIES = 1000  # rows of a table whose gains differ by more than ties do
MAX_LISTED = (
    256  # values of an attribute that are listed in full where an order splits it
)


@dataclass(frozen=True, slots=True, eq=False)
class CandidateSplits:
    """Candidate splits of the tables of a batch, concatenated.

    Parameters
    ----------
    table : CountTable
        A stack of branch tables: ``weights`` and ``rows`` of shape (splits, branches,
        classes), ``missing`` counts of shape (splits, classes).
    owner : array of shape (splits,)
        The table of each candidate, rising.
    line_branches : function
        The function from one candidate per table to the branch of each line of the
        batch. A table without a candidate has -1, and the branches of its lines are
        undefined.
    missing_at : array of shape (splits,)
        The branch whose counts include the missing rows; -1 if none does.
    exact : array of shape (tables,)
        Whether no better grouping of this form exists.
    log_multiplier : array of shape (tables,)
        The logarithm of the factor on p that corrects for the choice of groupings.
    n_excluded : array of shape (tables,)
        The number of excluded splits of each table, none of which can be the best.
    max_shortfall : array of shape (tables,)
        An upper bound on how much better another split may be, in impurity times
        weight; NaN if unknown.
    """

    table: CountTable
    owner: Integers
    line_branches: Callable[[Integers], Integers]
    missing_at: Integers
    exact: NDArray[np.bool_]
    log_multiplier: Floats
    n_excluded: Integers | int = 0
    max_shortfall: Floats | float = np.nan

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.owner)

    @property
    def n_branches(self) -> int:
        """The number of branches of each candidate, including empty ones."""
        return int(self.table.weights.shape[1])

    def take(self, candidates: Integers) -> "CandidateSplits":
        """Return some of the candidates, in this order."""
        line_branches = self.line_branches
        return replace(
            self,
            table=self.tables(candidates),
            owner=self.owner[candidates],
            line_branches=lambda chosen: line_branches(candidates[chosen]),
            missing_at=self.missing_at[candidates],
        )

    def tables(self, candidates: Integers) -> CountTable:
        """Return the tables of some candidates, as a stack."""
        table = self.table
        return CountTable(
            table.values,
            table.weights[candidates],
            table.rows[candidates],
            table.missing[candidates],
            table.missing_rows[candidates],
        )


def candidates_of(
    batch: TableBatch,
    weights: Floats,
    rows: Integers,
    *,
    owner: Integers,
    line_branches: Callable[[Integers], Integers],
    exact: bool | NDArray[np.bool_] = True,
    log_multiplier: Floats | float = 0.0,
) -> CandidateSplits:
    """Return candidates whose branches do not include missing rows yet."""
    table = CountTable(
        np.arange(weights.shape[1]),
        weights,
        rows,
        batch.missing[owner],
        batch.missing_rows[owner],
    )
    return CandidateSplits(
        table,
        owner,
        line_branches,
        np.full(len(owner), -1),
        np.broadcast_to(exact, len(batch)),
        np.broadcast_to(np.float64(log_multiplier), len(batch)),
    )


def prefixes(
    batch: TableBatch,
    order: Integers | None = None,
    *,
    may_cut: NDArray[np.bool_] | None = None,
    min_weight: Floats | None = None,
    first_is_left: bool = False,
    exact: bool | NDArray[np.bool_] = True,
) -> CandidateSplits:
    """Return the cuts of each table's lines in the given order, or in their own.

    ``order`` lists the lines, table by table. ``may_cut`` marks the lines that may be
    the last on the left, by default all. ``min_weight`` excludes cuts that cannot be
    the best of those with this weight on both sides: see :func:`boundary_cuts`. With
    ``first_is_left`` the first line of each table is on the left.
    """
    n_lines, owner = len(batch.values), batch.owner
    last = np.zeros(n_lines, dtype=bool)
    last[batch.start[1:][batch.counts > 0] - 1] = True
    cuts = np.flatnonzero(~last if may_cut is None else ~last & may_cut)
    owners = owner[cuts]
    weights, rows = batch.weights, batch.rows
    if order is not None:
        weights, rows = weights[order], rows[order]
    left_rows, left = running_sums(rows, batch.start)[cuts], None
    n_excluded: Integers | int = 0
    if min_weight is not None and batch.has_unit_weights:
        boundary, n_excluded = boundary_cuts(
            batch, left_rows, owners, min_weight=min_weight
        )
        cuts, owners, left_rows = cuts[boundary], owners[boundary], left_rows[boundary]
    if not batch.has_unit_weights:
        left = running_sums(weights, batch.start)[cuts]
    both, both_rows = _both_sides(batch, left, left_rows, owners)
    position = np.arange(n_lines)
    if order is not None:
        position[order] = np.arange(n_lines)
    is_turned: NDArray[np.bool_] | None = None
    if first_is_left:
        is_turned = position[batch.start[owners]] > cuts
        both[is_turned] = both[is_turned, ::-1]
        both_rows[is_turned] = both_rows[is_turned, ::-1]

    def line_branches(chosen: Integers) -> Integers:
        right_side = position > np.append(cuts, 0)[chosen][owner]
        if is_turned is not None:
            right_side ^= np.append(is_turned, False)[chosen][owner]
        return np.asarray(right_side, dtype=np.int64)

    candidates = candidates_of(
        batch, both, both_rows, owner=owners, line_branches=line_branches, exact=exact
    )
    return replace(candidates, n_excluded=n_excluded)


def boundary_cuts(
    batch: TableBatch, left: Integers, owner: Integers, *, min_weight: Floats
) -> tuple[Integers, Integers]:
    """Return the cuts that can be the best, and the number of excluded cuts per table.

    ``left`` has the rows on the left of each cut. With ``Criterion.boundaries`` the
    gain is a strictly convex function of the left rows as rows of one class move from
    right to left. So a cut is worse than one of its neighbours if all rows between
    these have one class. The best cut lies where the class changes (Fayyad and Irani
    1992), or at the limit of ``min_weight``.

    In a table of n rows of weight 1 the neighbour gains at least 4 / n⁴ more (Gini's
    index; with entropy more than 1 / n³). This is no tie if n is at most
    ``MAX_ROWS_WITHOUT_TIES``. If rows are missing, limits depend on their branch.
    """
    total = sums_over(batch.total_rows, -1)
    left_size, min_size = sums_over(left, -1), min_weight * (1 - TOLERANCE)
    max_size = np.where(
        (total <= MAX_ROWS_WITHOUT_TIES) & ~batch.has_missing, total - min_size, -1
    )
    allowed = (left_size >= min_size[owner]) & (left_size <= max_size[owner])
    between = left[2:] - left[:-2]
    inner = np.zeros(len(owner), dtype=bool)
    inner[1:-1] = maxima_over(between, -1) == sums_over(between, -1)
    inner[1:-1] &= (owner[2:] == owner[:-2]) & allowed[2:] & allowed[:-2]
    n_excluded = np.bincount(owner[inner], minlength=len(batch))
    return np.flatnonzero(~inner), n_excluded


def _both_sides(
    batch: TableBatch, left: Floats | None, left_rows: Integers, owner: Integers
) -> tuple[Floats, Integers]:
    """Return weights and rows on both sides of splits, given the left side.

    Without weights on the left every row weighs 1.
    """
    rows = _sides(left_rows, batch.total_rows[owner])
    if left is None:
        return rows.astype(np.float64), rows
    weights = _sides(left, batch.total[owner])
    if not batch.is_moments:
        weights[rows == 0] = 0.0  # and not a rest of rounding
    return weights, rows


def _sides(left: Numbers, total: Numbers) -> Numbers:
    """Return the sums on the left and on the right, of splits in two branches."""
    both = np.empty((len(left), 2, left.shape[1]), dtype=left.dtype)
    both[:, 0] = left
    np.subtract(total, left, out=both[:, 1])
    return both


def thresholds(
    batch: TableBatch, step: Floats | float = 0.0, *, min_weight: Floats | None = None
) -> CandidateSplits:
    """Return the cuts between neighbours more than ``step`` apart, one for each table.

    For ``min_weight`` see :func:`prefixes`.

    >>> table = CountTable.of([[1, 0], [0, 2], [3, 0]])
    >>> candidates = thresholds(TableBatch.of([{0: table}]))
    >>> candidates.table.weights.tolist()
    [[[1.0, 0.0], [3.0, 2.0]], [[1.0, 2.0], [3.0, 0.0]]]
    """
    wide = np.broadcast_to(step, len(batch))[batch.owner[:-1]]
    may_cut = np.append(batch.values[:-1] + wide < batch.values[1:], False)
    return prefixes(batch, may_cut=may_cut, min_weight=min_weight)


def multiway(batch: TableBatch, n_branches: Integers) -> CandidateSplits:
    """Return the multiway split of each table with at least two values."""
    codes = batch.values.astype(np.int64)
    owner = np.flatnonzero(batch.counts > 1)
    weights, rows = batch.by_branch(codes, int(n_branches.max(initial=1)))
    return candidates_of(
        batch, weights[owner], rows[owner], owner=owner, line_branches=lambda _: codes
    )


def all_subsets(batch: TableBatch) -> CandidateSplits:
    """Return all proper subsets of a table's values that contain the first value.

    All tables have the same number of values.
    """
    n_values = int(batch.counts[0])
    numbers = np.arange(2 ** (n_values - 1) - 1)
    rest = (numbers[:, None] >> np.arange(n_values - 1)) & 1
    masks = np.hstack([np.ones((len(numbers), 1), dtype=bool), rest.astype(bool)])
    owner = np.repeat(np.arange(len(batch)), len(numbers))

    def on_the_left(lines: Numbers) -> Numbers:
        sums = masks @ lines.reshape(len(batch), n_values, -1)
        return np.asarray(sums.reshape(len(owner), -1))

    def line_branches(chosen: Integers) -> Integers:
        return (~masks[chosen % len(numbers)]).astype(np.int64).ravel()

    left_rows = on_the_left(batch.rows)
    left = None if batch.has_unit_weights else on_the_left(batch.weights)
    both, both_rows = _both_sides(batch, left, left_rows, owner)
    return candidates_of(
        batch, both, both_rows, owner=owner, line_branches=line_branches
    )


def best_prefixes(
    batch: TableBatch, *, is_unrestricted: NDArray[np.bool_]
) -> CandidateSplits:
    """Return the prefixes of the values by probability, mean or main direction.

    ``is_unrestricted`` marks the tables for which every subset is allowed.
    """
    scores, is_exact = _scores(batch)
    order = np.lexsort((scores, batch.owner))
    return prefixes(batch, order, first_is_left=True, exact=is_unrestricted & is_exact)


def searched_subsets(
    batch: TableBatch,
    impurity: Impurity,
    *,
    line_weights: Floats,
    min_weight: Floats,
    total: float,
) -> CandidateSplits:
    """Return the best two subsets of each table by branch and bound.

    ``line_weights`` has the weight of each line, ``min_weight`` the minimum of a side,
    and ``total`` the weight of all rows of the tree, if known.
    """
    branch = np.zeros(len(batch.values), dtype=np.int64)
    max_shortfall = np.full(len(batch), np.nan)
    n_rows = sums_over(batch.total_rows, -1)
    n_classes = sums_over((batch.total_rows > 0).astype(np.int64), -1)
    weight = np.bincount(batch.owner, line_weights, minlength=len(batch))
    shares = np.minimum(weight / total, 1.0) if total > 0 else np.ones(len(batch))
    for table in range(len(batch)):
        lines = slice(batch.start[table], batch.start[table + 1])
        subset = best_subset(
            batch.weights[lines],
            impurity,
            value_weights=line_weights[lines],
            min_weight=float(min_weight[table]),
            beam_width=beam_width_for(
                int(n_rows[table]), int(n_classes[table]), float(shares[table])
            ),
        )
        if subset is not None:
            branch[lines] = ~subset.left
            max_shortfall[table] = subset.cost - subset.bound
    owner = np.flatnonzero(~np.isnan(max_shortfall))
    weights, rows = batch.by_branch(branch, 2)
    candidates = candidates_of(
        batch,
        weights[owner],
        rows[owner],
        owner=owner,
        line_branches=lambda _: branch,
        exact=max_shortfall <= TOLERANCE * batch.known_weight,
    )
    return replace(candidates, max_shortfall=max_shortfall)


def has_two_classes(batch: TableBatch) -> NDArray[np.bool_]:
    """Return which tables have at most two classes, or a numeric target."""
    if batch.is_moments:
        return np.ones(len(batch), dtype=bool)
    present = batch.total_rows > 0
    return np.asarray(present.sum(axis=1) <= 2)


def _scores(batch: TableBatch) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the scores that order the values, and for which tables that is exact."""
    is_exact, weights = has_two_classes(batch), batch.weights
    if batch.is_moments:
        return ratio_of(weights[:, 1], weights[:, 0]), is_exact
    present = batch.total_rows > 0
    last = present.shape[1] - 1 - np.argmax(present[:, ::-1], axis=1)
    last_weight = weights[np.arange(len(weights)), last[batch.owner]]
    scores = np.asarray(ratio_of(last_weight, weights.sum(axis=1)))
    for table in np.flatnonzero(~is_exact):
        lines = slice(batch.start[table], batch.start[table + 1])
        scores[lines] = principal_score(weights[lines])
    return scores, is_exact


def ordered(batch: TableBatch, ranks: Integers) -> CandidateSplits:
    """Return the cuts in an order of all codes; ``ranks`` has the rank of each line.

    Of cuts that do not differ at the node, the first is taken.
    """
    return prefixes(batch, np.lexsort((ranks, batch.owner)))


def merged(
    batch: TableBatch,
    *,
    settings: Merging,
    ordinal: NDArray[np.bool_],
    floating: bool,
) -> CandidateSplits:
    """Return the grouping of each table by CHAID's merging, if it has several groups.

    ``ordinal`` marks the tables in which only neighbours may merge. With ``floating``
    missing rows are a category that may merge with any.
    """
    groups = merge_batch(batch, ordinal=ordinal, floating=floating, settings=settings)
    owner = np.flatnonzero(groups.n_groups > 1)
    weights, rows = batch.by_branch(groups.branch, int(groups.n_groups.max(initial=1)))
    candidates = candidates_of(
        batch,
        weights[owner],
        rows[owner],
        owner=owner,
        line_branches=lambda _: groups.branch,
        exact=groups.exact,
        log_multiplier=groups.log_multiplier,
    )
    return with_missing_at(candidates, np.arange(len(owner)), groups.missing[owner])


def with_missing_at(
    candidates: CandidateSplits, chosen: Integers, branches: Integers
) -> CandidateSplits:
    """Return some candidates with missing rows counted in a branch; -1 for none."""
    placed = candidates.take(chosen)
    count_missing_at(placed.table, branches)
    return replace(placed, missing_at=branches)


def count_missing_at(table: CountTable, branches: Integers) -> None:
    """Count the missing rows of each table of a stack in a branch; -1 for none.

    The arrays of the stack are modified.
    """
    counted = np.flatnonzero(branches >= 0)
    where = counted, branches[counted]
    table.weights[where] += table.missing[counted]
    table.rows[where] += table.missing_rows[counted]
    table.missing[counted], table.missing_rows[counted] = 0.0, 0
