"""Groupings of the values of attributes into branches, of many tables at once.

Each function takes a stack of count tables and returns :class:`CandidateSplits`: a
stack of tables by branches, one for each way considered.

thresholds
    numbers and ordered codes: one cut between every two neighbouring values.
multiway
    one branch for every value of the attribute, those absent at the node too.
every_subset, best_prefixes
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
    to ``ENUMERATED`` values. Beyond that the values are ordered, by the share or,
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

MOST_CERTAIN = 1000  # rows of a table whose gains differ by more than ties do
LISTED = 256  # values of an attribute that are listed in full where an order splits it


@dataclass(frozen=True, slots=True, eq=False)
class CandidateSplits:
    """The ways considered to branch on the tables of a stack, one after the other.

    Parameters
    ----------
    table : CountTable
        A stack: ``weights`` and ``rows`` of shape (ways, branches, classes), the
        ``missing`` ones of shape (ways, classes).
    owner : array of shape (ways,)
        The table of each way, rising.
    line_branches : function
        From one way for each table to the branch of each line of the stack. A table
        without a way has -1, and what is said of its lines means nothing.
    missing_at : array of shape (ways,)
        The branch whose counts include the missing rows; -1 where none does.
    exact : array of shape (tables,)
        Whether no better grouping of this form exists.
    log_multiplier : array of shape (tables,)
        The logarithm of what p is multiplied by, as there was a choice of groupings.
    left_out : array of shape (tables,)
        How many ways of each table are not here, as none of them can be the best.
    short_of : array of shape (tables,)
        By how much impurity, times weight, a way that is not here may be better at
        most; NaN where that is not known.
    """

    table: CountTable
    owner: Integers
    line_branches: Callable[[Integers], Integers]
    missing_at: Integers
    exact: NDArray[np.bool_]
    log_multiplier: Floats
    left_out: Integers | int = 0
    short_of: Floats | float = np.nan

    def __len__(self) -> int:
        """Return how many ways there are."""
        return len(self.owner)

    @property
    def n_branches(self) -> int:
        """How many branches each way has, those without rows too."""
        return int(self.table.weights.shape[1])

    def take(self, candidates: Integers) -> "CandidateSplits":
        """Return some of the ways, in this order."""
        line_branches = self.line_branches
        return replace(
            self,
            table=self.tables(candidates),
            owner=self.owner[candidates],
            line_branches=lambda chosen: line_branches(candidates[chosen]),
            missing_at=self.missing_at[candidates],
        )

    def tables(self, candidates: Integers) -> CountTable:
        """Return the tables of some ways, as a stack."""
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
    """Return ways whose missing rows, those of their tables, are still aside."""
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
    least: Floats | None = None,
    first_is_left: bool = False,
    exact: bool | NDArray[np.bool_] = True,
) -> CandidateSplits:
    """Return the cuts of each table's lines in some order, or in their own.

    ``order`` lists the lines, table by table. ``may_cut`` says which lines may be the
    last of a left side, where not all may. With ``least``, cuts are left out that
    cannot be the best of those that give both sides so much weight: see
    :func:`boundary_cuts`. ``first_is_left`` turns each way so that the first line of
    its table, as it stands, is on the left.
    """
    n_lines, owner = len(batch.values), batch.owner
    last = np.zeros(n_lines, dtype=bool)
    last[batch.start[1:][batch.counts > 0] - 1] = True
    cuts = np.flatnonzero(~last if may_cut is None else ~last & may_cut)
    whose = owner[cuts]
    weights, rows = batch.weights, batch.rows
    if order is not None:
        weights, rows = weights[order], rows[order]
    left_rows, left = running_sums(rows, batch.start)[cuts], None
    left_out: Integers | int = 0
    if least is not None and batch.has_unit_weights:
        kept, left_out = boundary_cuts(batch, left_rows, whose, least=least)
        cuts, whose, left_rows = cuts[kept], whose[kept], left_rows[kept]
    if not batch.has_unit_weights:
        left = running_sums(weights, batch.start)[cuts]
    both, both_rows = _both_sides(batch, left, left_rows, whose)
    position = np.arange(n_lines)
    if order is not None:
        position[order] = np.arange(n_lines)
    is_turned: NDArray[np.bool_] | None = None
    if first_is_left:
        is_turned = position[batch.start[whose]] > cuts
        both[is_turned] = both[is_turned, ::-1]
        both_rows[is_turned] = both_rows[is_turned, ::-1]

    def line_branches(chosen: Integers) -> Integers:
        right_side = position > np.append(cuts, 0)[chosen][owner]
        if is_turned is not None:
            right_side ^= np.append(is_turned, False)[chosen][owner]
        return np.asarray(right_side, dtype=np.int64)

    candidates = candidates_of(
        batch, both, both_rows, owner=whose, line_branches=line_branches, exact=exact
    )
    return replace(candidates, left_out=left_out)


def boundary_cuts(
    batch: TableBatch, left: Integers, owner: Integers, *, least: Floats
) -> tuple[Integers, Integers]:
    """Return the cuts that can be the best, and how many of each table are left out.

    ``left`` are the rows on the left of each cut. The gain, where the criterion says
    so (``Criterion.boundaries``), is a strictly convex function of them as rows of one
    class go from the right to the left. So a cut is worse than one of its neighbours
    if all rows between these have one class: the best cut lies where the class changes
    (Fayyad and Irani 1992), or at the end of what ``least`` allows.

    In a table of n rows that all weigh 1 the neighbour gains at least 4 / n⁴ more (of
    Gini's index; of entropy more than 1 / n³), which is no tie if n is at most
    ``MOST_CERTAIN``. Where rows are missing, limits depend on where they go.
    """
    total = sums_over(batch.total_rows, -1)
    left_size, enough = sums_over(left, -1), least * (1 - TOLERANCE)
    most = np.where((total <= MOST_CERTAIN) & ~batch.has_missing, total - enough, -1)
    allowed = (left_size >= enough[owner]) & (left_size <= most[owner])
    between = left[2:] - left[:-2]
    inner = np.zeros(len(owner), dtype=bool)
    inner[1:-1] = maxima_over(between, -1) == sums_over(between, -1)
    inner[1:-1] &= (owner[2:] == owner[:-2]) & allowed[2:] & allowed[:-2]
    left_out = np.bincount(owner[inner], minlength=len(batch))
    return np.flatnonzero(~inner), left_out


def _both_sides(
    batch: TableBatch, left: Floats | None, left_rows: Integers, owner: Integers
) -> tuple[Floats, Integers]:
    """Return weights and rows on both sides of ways, of which the left one is known.

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
    """Return what is on the left and what is on the right, of ways of two branches."""
    both = np.empty((len(left), 2, left.shape[1]), dtype=left.dtype)
    both[:, 0] = left
    np.subtract(total, left, out=both[:, 1])
    return both


def thresholds(
    batch: TableBatch, step: Floats | float = 0.0, *, least: Floats | None = None
) -> CandidateSplits:
    """Return the cuts between neighbours more than ``step`` apart, one for each table.

    What ``least`` is for is said of :func:`prefixes`.

    >>> table = CountTable.of([[1, 0], [0, 2], [3, 0]])
    >>> candidates = thresholds(TableBatch.of([{0: table}]))
    >>> candidates.table.weights.tolist()
    [[[1.0, 0.0], [3.0, 2.0]], [[1.0, 2.0], [3.0, 0.0]]]
    """
    wide = np.broadcast_to(step, len(batch))[batch.owner[:-1]]
    may_cut = np.append(batch.values[:-1] + wide < batch.values[1:], False)
    return prefixes(batch, may_cut=may_cut, least=least)


def multiway(batch: TableBatch, n_branches: Integers) -> CandidateSplits:
    """Return for each table the one way that gives each code its own branch.

    Tables of fewer than two values have none.
    """
    codes = batch.values.astype(np.int64)
    owner = np.flatnonzero(batch.counts > 1)
    weights, rows = batch.by_branch(codes, int(n_branches.max(initial=1)))
    return candidates_of(
        batch, weights[owner], rows[owner], owner=owner, line_branches=lambda _: codes
    )


def every_subset(batch: TableBatch) -> CandidateSplits:
    """Return every subset that holds a table's first value, but not all of them.

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


def best_prefixes(batch: TableBatch, *, free: NDArray[np.bool_]) -> CandidateSplits:
    """Return the prefixes of the values in order of class share, mean or direction.

    ``free`` says of which tables every subset is allowed and counted as it is.
    """
    scores, two = _scores(batch)
    order = np.lexsort((scores, batch.owner))
    return prefixes(batch, order, first_is_left=True, exact=free & two)


def searched_subsets(
    batch: TableBatch,
    impurity: Impurity,
    *,
    line_weights: Floats,
    least: Floats,
    total: float,
) -> CandidateSplits:
    """Return the best two subsets that branch and bound finds of each table.

    ``line_weights`` has the weight of each line, ``least`` that of a side, and
    ``total`` that of all rows of the tree, if it is known.
    """
    branch = np.zeros(len(batch.values), dtype=np.int64)
    short_of = np.full(len(batch), np.nan)
    n_rows = sums_over(batch.total_rows, -1)
    n_classes = sums_over((batch.total_rows > 0).astype(np.int64), -1)
    weight = np.bincount(batch.owner, line_weights, minlength=len(batch))
    shares = np.minimum(weight / total, 1.0) if total > 0 else np.ones(len(batch))
    for table in range(len(batch)):
        lines = slice(batch.start[table], batch.start[table + 1])
        found = best_subset(
            batch.weights[lines],
            impurity,
            value_weights=line_weights[lines],
            least=float(least[table]),
            beam_width=beam_width_for(
                int(n_rows[table]), int(n_classes[table]), float(shares[table])
            ),
        )
        if found is not None:
            branch[lines] = ~found.left
            short_of[table] = found.cost - found.bound
    owner = np.flatnonzero(~np.isnan(short_of))
    weights, rows = batch.by_branch(branch, 2)
    candidates = candidates_of(
        batch,
        weights[owner],
        rows[owner],
        owner=owner,
        line_branches=lambda _: branch,
        exact=short_of <= TOLERANCE * batch.known_weight,
    )
    return replace(candidates, short_of=short_of)


def has_two_classes(batch: TableBatch) -> NDArray[np.bool_]:
    """Return which tables have at most two classes; a number has one order, too."""
    if batch.is_moments:
        return np.ones(len(batch), dtype=bool)
    present = batch.total_rows > 0
    return np.asarray(present.sum(axis=1) <= 2)


def _scores(batch: TableBatch) -> tuple[Floats, NDArray[np.bool_]]:
    """Return what the values of each table are ordered by, and where that is proven."""
    two, weights = has_two_classes(batch), batch.weights
    if batch.is_moments:
        return ratio_of(weights[:, 1], weights[:, 0]), two
    present = batch.total_rows > 0
    last = present.shape[1] - 1 - np.argmax(present[:, ::-1], axis=1)
    own = weights[np.arange(len(weights)), last[batch.owner]]
    scores = np.asarray(ratio_of(own, weights.sum(axis=1)))
    for table in np.flatnonzero(~two):
        lines = slice(batch.start[table], batch.start[table + 1])
        scores[lines] = principal_score(weights[lines])
    return scores, two


def ordered(batch: TableBatch, ranks: Integers) -> CandidateSplits:
    """Return the cuts of an order of all codes; ``ranks`` says where each line stands.

    Of cuts that no code at the node tells apart the first one stands for all.
    """
    return prefixes(batch, np.lexsort((ranks, batch.owner)))


def merged(
    batch: TableBatch,
    *,
    settings: Merging,
    ordinal: NDArray[np.bool_],
    floating: bool,
) -> CandidateSplits:
    """Return the one way of each table that CHAID's merging leads to, if it has groups.

    ``ordinal`` says in which tables only neighbours may merge, ``floating`` that
    missing rows are a category of their own, which may merge with any.
    """
    found = merge_batch(batch, ordinal=ordinal, floating=floating, settings=settings)
    owner = np.flatnonzero(found.n_groups > 1)
    weights, rows = batch.by_branch(found.branch, int(found.n_groups.max(initial=1)))
    candidates = candidates_of(
        batch,
        weights[owner],
        rows[owner],
        owner=owner,
        line_branches=lambda _: found.branch,
        exact=found.exact,
        log_multiplier=found.log_multiplier,
    )
    return with_missing_at(candidates, np.arange(len(owner)), found.missing[owner])


def with_missing_at(
    candidates: CandidateSplits, chosen: Integers, branches: Integers
) -> CandidateSplits:
    """Return some ways, missing rows counted in the given branches; -1 leaves them."""
    place_missing = candidates.take(chosen)
    count_missing_at(place_missing.table, branches)
    return replace(place_missing, missing_at=branches)


def count_missing_at(table: CountTable, branches: Integers) -> None:
    """Count the missing rows of each table of a stack in a branch; -1 leaves them.

    The stack's own arrays are written to.
    """
    counted = np.flatnonzero(branches >= 0)
    where = counted, branches[counted]
    table.weights[where] += table.missing[counted]
    table.rows[where] += table.missing_rows[counted]
    table.missing[counted], table.missing_rows[counted] = 0.0, 0
