"""The best split of every attribute at every node of a level, from a batch of tables.

One pass over the batch::

    numbers → buckets, if the recipe has any
    missing rows → a value, if the policy says which
    for each form of split, all tables of that form at once:
        the candidate splits, with missing rows in a branch if the policy moves them
        those that are allowed → gains → the first best of each table → its merit
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, sums_over
from spinney._support.segments import begins_run, first_best_by, lengths_of, maxima
from spinney._support.ties import TOLERANCE
from spinney.data import Schema
from spinney.search.buckets import in_buckets
from spinney.search.chaid.merge_values import merge_settings
from spinney.search.groupings import (
    CandidateSplits,
    all_subsets,
    best_prefixes,
    count_missing_at,
    has_two_classes,
    merged,
    multiway,
    ordered,
    searched_subsets,
    thresholds,
)
from spinney.search.level_splits import Form, LevelSplits
from spinney.search.missing_values import (
    MAX_BRANCHES,
    FilledBatch,
    fill_missing,
    place_missing,
)
from spinney.search.table_traits import (
    NOMINAL,
    NUMERIC,
    AttributeTraits,
    with_typical_at_nodes,
)
from spinney.search.tree_search import Search
from spinney.search.value_order import MAX_ENUMERATED
from spinney.trees import Candidate, CountTable, TableBatch, ratio_of


@dataclass(frozen=True, slots=True, eq=False)
class FormTables:
    """The tables of a level that are searched for one form of split.

    Parameters
    ----------
    form : Form
        The form of grouping.
    tables : array of shape (tables,)
        The indices of the tables in the level.
    batch : TableBatch
        The counts to search: numbers by bucket, missing rows at the value that the
        policy imputes, class weights altered.
    traits : AttributeTraits
        Those of their attributes.
    missing_is_value : array of shape (tables,)
        Whether missing is a value of the table.
    level : TableBatch
        All tables of the level, unaltered, with separate missing rows.
    """

    form: Form
    tables: Integers
    batch: TableBatch
    traits: AttributeTraits
    missing_is_value: NDArray[np.bool_]
    level: TableBatch

    @property
    def weight(self) -> Floats:
        """The weight of all rows of each table."""
        return self.level.weight[self.tables]

    @property
    def known_weight(self) -> Floats:
        """The weight of the rows of each table whose value is known."""
        return self.level.known_weight[self.tables]

    @property
    def total(self) -> Floats:
        """The weight of all rows of each table by class, or their moments."""
        return np.asarray((self.level.total + self.level.missing)[self.tables])


@dataclass(frozen=True, slots=True, eq=False)
class BestSplits:
    """The best split of each table so far.

    ``branch`` has the branch of each line; other fields are as in ``LevelSplits``.
    """

    gain: Floats
    merit: Floats
    form: Integers
    n_branches: Integers
    missing_at: Integers
    exact: NDArray[np.bool_]
    bound: Floats
    branch: Integers

    @classmethod
    def none(cls, level: "SearchedLevel") -> "BestSplits":
        """Return arrays without any split yet."""
        n_tables, n_lines = len(level.batch), len(level.counted.batch.values)
        return cls(
            np.full(n_tables, np.nan),
            np.full(n_tables, np.nan),
            np.zeros(n_tables, np.int64),
            np.zeros(n_tables, np.int64),
            np.full(n_tables, -1),
            np.ones(n_tables, dtype=bool),
            np.full(n_tables, np.nan),
            np.zeros(n_lines, np.int64),
        )


@dataclass(frozen=True, slots=True, eq=False)
class SearchedLevel:
    """The tables of a level in the forms that the search needs.

    Parameters
    ----------
    batch : TableBatch
        The tables as counted.
    coarse : TableBatch
        The tables with numbers by bucket, if the recipe has buckets.
    bucket_line : array of shape (lines,)
        The line of ``coarse`` that counts each line of ``batch``.
    traits : AttributeTraits
        Those of their attributes.
    counted : FilledBatch
        The tables with missing rows at the imputed value, if the policy imputes.
    """

    batch: TableBatch
    coarse: TableBatch
    bucket_line: Integers
    traits: AttributeTraits
    counted: FilledBatch

    @classmethod
    def of(cls, search: Search, batch: TableBatch) -> "SearchedLevel":
        """Return tables as they are searched, by the statistics of the root."""
        coarse, bucket_line = in_buckets(batch, search.root_summary.cuts)
        traits = search.root_summary.traits.take(batch.attribute)
        if search.root_summary.cuts:
            traits = with_typical_at_nodes(traits, coarse)
        counted = fill_missing(coarse, search.policy, traits)
        return cls(batch, coarse, bucket_line, traits, counted)

    def part(self, search: Search, form: Form, tables: Integers) -> FormTables:
        """Return some of the tables, to be searched for one form of split."""
        missing_is_value = (self.counted.line >= 0) & search.policy.is_category
        return FormTables(
            form,
            tables,
            self.counted.batch.take(tables).scaled(search.altered),
            self.traits.take(tables),
            missing_is_value[tables],
            self.coarse,
        )


def best_splits(search: Search, batch: TableBatch, schema: Schema) -> LevelSplits:
    """Return the best split of each table that can be split.

    ``batch`` has unaltered class weights; gain and merit use the altered weights of the
    search. The search has the statistics of the root.
    """
    level = SearchedLevel.of(search, batch)
    best = BestSplits.none(level)
    for part in _form_tables(search, level):
        _search_form(search, part, level, best)
    return make_level_splits(search, level, best, schema)


def make_level_splits(
    search: Search, level: SearchedLevel, best: BestSplits, schema: Schema
) -> LevelSplits:
    """Return the splits of a level, for the tables that have one."""
    batch, counted, traits = level.batch, level.counted, level.traits
    missing_at = best.missing_at.copy()
    at_value = np.flatnonzero(counted.line >= 0)
    missing_at[at_value] = best.branch[counted.line[at_value]]
    low, high = _next_to_cuts(search, counted.batch, best)
    branch = best.branch[counted.is_original]
    typical = _typical_branches(level.coarse, branch, traits, best)
    split_tables = np.flatnonzero(~np.isnan(best.gain))
    tables, branch = _tables_behind(
        batch, branch[level.bucket_line], split_tables, traits, best
    )
    return LevelSplits(
        tables=tables,
        branch=branch,
        form=best.form[split_tables],
        n_branches=best.n_branches[split_tables],
        low=low[split_tables],
        high=high[split_tables],
        missing_at=missing_at[split_tables],
        typical=typical[split_tables],
        gain=best.gain[split_tables],
        merit=best.merit[split_tables],
        exact=best.exact[split_tables],
        bound=best.bound[split_tables],
        schema=schema,
        search=search,
    )


def propose(
    search: Search, table: CountTable, schema: Schema, index: int
) -> Candidate | None:
    """Return the best split of one attribute at one node, None if it cannot be split.

    If the search has no statistics of the attribute yet, the table's own are taken.

    >>> from spinney.data import Attribute
    >>> from spinney.recipes.named_recipes import RECIPES
    >>> height = CountTable.of([[0, 1], [1, 0], [0, 1], [1, 0], [1, 0]])
    >>> schema = Schema((Attribute("height", "ordinal", tuple("abcde")),), None)
    >>> search = Search.of(RECIPES["id3"], numeric=False)
    >>> propose(search, height, schema, 0).split.threshold
    2.5
    """
    batch = TableBatch.of([{index: table}])
    splits = best_splits(search.with_root_tables(batch, schema), batch, schema)
    return splits.candidate(0) if len(splits) else None


def _form_tables(search: Search, level: SearchedLevel) -> Iterator[FormTables]:
    """Yield the tables of each form that have a choice of splits.

    Tables of a form are searched together with tables of similar size.
    """
    batch = level.counted.batch
    form, size = choose_forms(search, batch, level.traits)
    has_choice = n_distinct_values(batch, search) > 1
    keys = form * (1 + size.max(initial=0)) + size
    for key in np.unique(keys[has_choice]):
        tables = np.flatnonzero(has_choice & (keys == key))
        yield level.part(search, Form(int(form[tables[0]])), tables)


def n_distinct_values(batch: TableBatch, search: Search) -> Integers:
    """Return the number of values of each table, with missing if it is a category."""
    return np.asarray(batch.counts + (batch.has_missing & search.policy.is_category))


def choose_forms(
    search: Search, batch: TableBatch, traits: AttributeTraits
) -> tuple[Integers, Integers]:
    """Return the form of split of each table, and its size class."""
    grouping, counts = search.recipe.grouping, batch.counts
    nominal = traits.kind == NOMINAL
    form = np.full(len(batch), Form.THRESHOLD)
    size = np.zeros(len(batch), dtype=np.int64)
    if grouping == "merge":
        form[traits.kind != NUMERIC] = Form.MERGED
    elif grouping == "ordered":
        form[nominal] = Form.ORDERED
    else:
        form[nominal] = Form.MULTIWAY
        size[nominal] = np.frexp(traits.n_codes[nominal].astype(float))[1]
        is_binary = nominal & ((grouping == "binary") | (counts > MAX_BRANCHES))
        if is_binary.any():
            is_ordered = has_two_classes(batch) & _allows_every_subset(search, batch)
            every = is_binary & (counts <= MAX_ENUMERATED) & ~is_ordered
            form[is_binary], size[is_binary] = Form.PREFIX, 0
            form[every], size[every] = (
                Form.SUBSET,
                counts[every],
            )
            form[is_binary & ~every & _has_bounds(search, batch)] = Form.SEARCHED
    return form, size


def _allows_every_subset(search: Search, batch: TableBatch) -> NDArray[np.bool_]:
    """Return for which tables neither limits nor missing rows restrict the subsets."""
    limits = (
        search.recipe.min_branch_weight(search.total),
        search.recipe.min_branch_share,
    )
    is_limited = max(limits) > 0
    is_moved = batch.has_missing & search.policy.tries_branches
    return ~is_moved & (search.criterion.ordered and not is_limited)


def _has_bounds(search: Search, batch: TableBatch) -> NDArray[np.bool_]:
    """Return for which tables partial subsets have bounds."""
    is_moved = batch.has_missing & search.policy.tries_branches
    bounds = search.criterion.concave and not search.recipe.min_branch_share
    return ~has_two_classes(batch) & ~is_moved & bounds


def _search_form(
    search: Search, part: FormTables, level: SearchedLevel, best: BestSplits
) -> None:
    """Record the best splits of one form."""
    criterion, batch = search.criterion, part.batch
    candidates = candidate_splits(search, part)
    allowed = is_allowed(search, part, candidates)
    if not allowed.all():
        candidates = candidates.take(np.flatnonzero(allowed))
    if not len(candidates):
        return
    gains = np.asarray(criterion.gain(candidates.table))
    start = np.searchsorted(candidates.owner, np.arange(len(batch) + 1))
    unit = 1.0 if criterion.unit is None else criterion.gain_units(part.total)
    first = first_best_by(gains, start, criterion.tolerance, unit)
    n_cuts = lengths_of(start) + candidates.n_excluded
    record_best(
        search, part, level, best, candidates=candidates, first=first, n_cuts=n_cuts
    )


def record_best(
    search: Search,
    part: FormTables,
    level: SearchedLevel,
    best: BestSplits,
    *,
    candidates: CandidateSplits,
    first: Integers,
    n_cuts: Integers,
) -> None:
    """Record one candidate of each table, -1 for none, as its best split.

    ``n_cuts`` is the number of candidates of each table.
    """
    criterion, batch = search.criterion, part.batch
    # Tables with a split: among those of the form, among the level's; their winners.
    split = np.flatnonzero(first >= 0)
    tables, winners = part.tables[split], first[split]
    branch, missing_at = candidates.line_branches(first), candidates.missing_at[winners]
    if batch.has_unit_weights:
        table = candidates.tables(winners)
    else:
        table = _tables_by_branch(
            search, batch, branch, candidates.n_branches, split, missing_at
        )
    gain, merit = np.asarray(criterion.gain(table)), np.asarray(criterion.merit(table))
    if criterion.chance:
        merit = np.maximum(merit - candidates.log_multiplier[split], 0.0)
    if part.form == Form.THRESHOLD and search.recipe.mdl_correction and criterion.bits:
        # The bits that name the chosen cut (Quinlan 1996).
        gain = gain - np.log2(n_cuts[split]) / part.weight[split]
        divisor = criterion.per
        merit = gain if divisor is None else ratio_of(gain, np.asarray(divisor(table)))
    best.gain[tables], best.merit[tables], best.form[tables] = gain, merit, part.form
    best.missing_at[tables], best.exact[tables] = missing_at, candidates.exact[split]
    if batch.closed_bound is not None:
        # A bin beside the cut bounds it by its own gain, but for rounding.
        best.exact[tables] &= batch.closed_bound[split] < gain - 2 * criterion.tolerance
    if part.form == Form.SEARCHED:
        best.bound[tables] = _bounds(part, candidates, split, gain, table)
    best.branch[level.counted.batch.lines_of(part.tables)] = branch
    best.n_branches[tables] = 2
    if part.form == Form.MULTIWAY:
        best.n_branches[tables] = (part.traits.n_codes + part.missing_is_value)[split]
    elif part.form == Form.MERGED:
        last = maxima(branch.astype(np.float64), batch.start)[split]
        best.n_branches[tables] = 1 + np.maximum(last, missing_at)


def _bounds(
    part: FormTables,
    candidates: CandidateSplits,
    split: Integers,
    gain: Floats,
    table: CountTable,
) -> Floats:
    """Return bounds on the gains of some tables, NaN where the gain is the best.

    The cost of a subset is the impurity of its sides times their weight. The gain is
    its decrease times the share of the rows whose value is known.
    """
    max_shortfall = np.asarray(candidates.max_shortfall)[split]
    max_decrease = max_shortfall / part.batch.known_weight[split]
    bound = gain + np.asarray(table.known_share) * max_decrease
    return np.where(candidates.exact[split], np.nan, bound)


def _least(search: Search, part: FormTables) -> Floats:
    """Return the least weight of a branch of each table."""
    recipe, batch = search.recipe, part.batch
    min_weight = np.full(len(batch), recipe.min_branch_weight(search.total))
    if batch.is_moments or not recipe.min_cut_share:
        return min_weight
    min_side = recipe.min_side_weight(part.known_weight, batch.weights.shape[1])
    return np.where(
        part.traits.kind == NOMINAL, min_weight, np.maximum(min_weight, min_side)
    )


def candidate_splits(
    search: Search, part: FormTables, *, all_cuts: bool = False
) -> CandidateSplits:
    """Return the candidate splits, with missing rows placed by the policy.

    Cuts that cannot be the best are included only with ``all_cuts``.
    """
    form, batch, traits = part.form, part.batch, part.traits
    policy, min_weight = search.policy, _least(search, part)
    if form == Form.MERGED:
        candidates = merged(batch, **merge_options(search, part))
        return (
            candidates
            if policy.is_category
            else place_missing(candidates, batch, policy)
        )
    if form == Form.THRESHOLD:
        boundaries_only = (
            search.criterion.boundaries and not search.recipe.min_branch_share
        )
        boundaries_only = boundaries_only and not all_cuts
        candidates = thresholds(
            batch, traits.step, min_weight=min_weight if boundaries_only else None
        )
    elif form == Form.SUBSET:
        candidates = all_subsets(batch)
    elif form == Form.SEARCHED:
        impurity, altered = search.criterion.impurity, search.altered
        line_weights = (
            batch.sizes if altered is None else (batch.weights / altered).sum(axis=1)
        )
        assert impurity is not None
        candidates = searched_subsets(
            batch,
            impurity,
            line_weights=line_weights,
            min_weight=min_weight,
            total=search.total,
        )
    elif form == Form.PREFIX:
        candidates = best_prefixes(
            batch, is_unrestricted=_allows_every_subset(search, batch)
        )
    elif form == Form.MULTIWAY:
        candidates = multiway(batch, traits.n_codes + policy.is_category)
    else:
        candidates = ordered(batch, _root_ranks(search, batch))
    return place_missing(candidates, batch, policy)


def merge_options(search: Search, part: FormTables) -> dict[str, Any]:
    """Return the options of CHAID's merging for some tables."""
    return {
        "settings": merge_settings(
            search.recipe, search.criterion, _least(search, part)
        ),
        "ordinal": part.traits.kind != NOMINAL,
        "floating": search.policy.is_category,
    }


def _root_ranks(search: Search, batch: TableBatch) -> Integers:
    """Return the rank of each line's code in the order over all rows."""
    ranks = np.zeros(len(batch.values), dtype=np.int64)
    attribute, codes = batch.attribute[batch.owner], batch.values.astype(np.int64)
    for index in np.unique(batch.attribute).tolist():
        is_own = attribute == index
        ranks[is_own] = search.root_summary.statistics[index].ranks[codes[is_own]]
    return ranks


def is_allowed(
    search: Search, part: FormTables, candidates: CandidateSplits
) -> NDArray[np.bool_]:
    """Return which candidates give two branches enough rows each, by unaltered weights.

    Enough is the minimum weight of a branch, and a fraction of all rows of the table.
    """
    table, altered, min_weight = candidates.table, search.altered, _least(search, part)
    own_table = table if altered is None else table.scaled(1 / altered)
    has_rows = sums_over(table.rows, -1) > 0
    if min_weight.any():
        has_rows &= (
            own_table.sizes >= (min_weight * (1 - TOLERANCE))[candidates.owner, None]
        )
    allowed = _at_least_two(has_rows)
    if search.recipe.min_branch_share > 0:
        min_share = search.recipe.min_branch_share * part.weight * (1 + TOLERANCE)
        allowed &= _at_least_two(own_table.sizes > min_share[candidates.owner, None])
    return allowed


def _at_least_two(branches: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which candidates have at least two marked branches."""
    if branches.shape[1] == 2:
        return np.asarray(branches[:, 0] & branches[:, 1])
    return np.asarray(branches.sum(axis=1) >= 2)


def _tables_by_branch(
    search: Search,
    batch: TableBatch,
    branch: Integers,
    n_branches: int,
    tables: Integers,
    missing_at: Integers,
) -> CountTable:
    """Return some tables by branch, as a stack, with lines summed again.

    A difference has fewer digits than a sum, which −ln p of small numbers would show.
    Roots of small variances also depend on the order of lines: attributes that divide
    the rows in the same way must tie.
    """
    roots = search.criterion.tolerance > TOLERANCE
    weights, rows = batch.by_branch(branch, n_branches, by_amount=roots)
    table = CountTable(
        np.arange(n_branches),
        weights[tables],
        rows[tables],
        batch.missing[tables],
        batch.missing_rows[tables],
    )
    count_missing_at(table, missing_at)
    return table


def _next_to_cuts(
    search: Search, batch: TableBatch, best: BestSplits
) -> tuple[Floats, Floats]:
    """Return the values below and above each threshold; ∞ if there is no value above.

    For an order of codes, the first is the rank of the last code on the left.
    """
    left = best.branch == 0
    n_left = np.bincount(batch.owner, left, minlength=len(batch)).astype(np.int64)
    last = batch.start[:-1] + n_left - 1
    values = np.append(batch.values, np.inf)
    lower = values if batch.low is None else np.append(batch.low, np.inf)
    above = np.where(last + 1 < batch.start[1:], last + 1, len(batch.values))
    low, in_order = values[last], np.flatnonzero(best.form == Form.ORDERED)
    if len(in_order):
        ordered_tables, lines = batch.take(in_order), batch.lines_of(in_order)
        ranks = np.where(left[lines], _root_ranks(search, ordered_tables), -1.0)
        low[in_order] = maxima(ranks, ordered_tables.start)
    return low, lower[above]


def _typical_branches(
    coarse: TableBatch, branch: Integers, traits: AttributeTraits, best: BestSplits
) -> Floats:
    """Return the typical values; for merged buckets their branch, or -1."""
    merged_buckets = traits.numeric & (best.form == Form.MERGED)
    if not merged_buckets.any():
        return traits.typical
    lines = np.flatnonzero(coarse.values == traits.typical[coarse.owner])
    position = np.full(len(coarse), -1.0)
    position[coarse.owner[lines]] = branch[lines]
    return np.where(merged_buckets, position, traits.typical)


def _tables_behind(
    batch: TableBatch,
    branch: Integers,
    split_tables: Integers,
    traits: AttributeTraits,
    best: BestSplits,
) -> tuple[TableBatch, Integers]:
    """Return the counts behind the splits of some tables, and the branch of each line.

    Numbers are counted by branch: at the values next to a threshold, or at the greatest
    value of each interval.
    """
    tables, branch = batch.take(split_tables), branch[batch.lines_of(split_tables)]
    owner, numeric = tables.owner, traits.numeric[split_tables]
    if not numeric.any():
        return tables, branch
    first = begins_run(owner, branch) | ~numeric[owner]
    begins = np.flatnonzero(first)
    ends = np.append(begins[1:], len(owner)) - 1
    is_threshold = (best.form[split_tables] == Form.THRESHOLD)[owner[begins]]
    position = np.where(is_threshold & (branch[begins] == 1), begins, ends)
    return tables.in_runs(first, tables.values[position]), branch[begins]
