"""The best split of every attribute at every node of a level, from a stack of tables.

One pass over the stack::

    numbers → buckets, if the recipe has any
    missing rows → a value, if the policy says which
    for each form of question, all tables of that form at once:
        the ways to branch, with missing rows in a branch if the policy moves them
        those that are allowed → gains → the first best of each table → its merit
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, sums_over
from spinney._support.segments import (
    counts_by,
    first_best_by,
    maxima,
    starts_of,
    sums_by,
)
from spinney._support.ties import TOLERANCE
from spinney.data import Attribute, Schema
from spinney.search.buckets import codes_of
from spinney.search.chaid.merge_values import merging_of
from spinney.search.groupings import (
    Ways,
    best_prefixes,
    every_subset,
    has_two_classes,
    merged,
    multiway,
    ordered,
    thresholds,
)
from spinney.search.level_splits import Form, LevelSplits
from spinney.search.missing_values import MOST_BRANCHES, Filled, filled, placed
from spinney.search.tree_search import Search
from spinney.search.value_order import ENUMERATED
from spinney.trees import (
    Candidate,
    CountTable,
    Intervals,
    Split,
    TableStack,
    branch_table,
    ratio_of,
)
from spinney.trees.criteria import Criterion

KINDS = ("numeric", "ordinal", "nominal")
NUMERIC, ORDINAL, NOMINAL = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class Traits:
    """What the search asks of the attribute of each table.

    ``kind`` is that of its values as they are searched, of buckets that of their
    numbers; ``typical`` stands for a missing value, if the policy asks for it, and
    ``step`` is how far apart two numbers must be.
    """

    numeric: NDArray[np.bool_]
    kind: Integers
    n_codes: Integers
    typical: Floats
    step: Floats

    @classmethod
    def of(cls, search: Search, stack: TableStack, schema: Schema) -> "Traits":
        """Return the traits of each table."""
        at_root, several = search.at_root, search.recipe.grouping == "multiway"
        attributes, index = np.unique(stack.attribute, return_inverse=True)
        lines = []
        for number in attributes.tolist():
            attribute, cuts = schema.attributes[number], at_root.cuts.get(number)
            kind, n_codes = KINDS.index(attribute.kind), len(attribute.values)
            if cuts is not None:
                kind, n_codes = NOMINAL if several else ORDINAL, len(cuts) + 1
            typical = at_root.statistics[number].default_value
            step = at_root.steps.get(number, 0.0) if kind == NUMERIC else 0.0
            lines.append((attribute.kind == "numeric", kind, n_codes, typical, step))
        columns = zip(*lines, strict=True) if lines else ((),) * 5
        types = (np.bool_, np.int64, np.int64, np.float64, np.float64)
        return cls(
            *(np.array(c, t)[index] for c, t in zip(columns, types, strict=True))
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    """What has been found of each table so far; no gain where it has no split."""

    gain: Floats
    merit: Floats
    form: Integers
    n_branches: Integers
    missing_at: Integers
    exact: NDArray[np.bool_]
    branch: Integers

    @classmethod
    def none(cls, n_tables: int, n_lines: int) -> "_Best":
        """Return that nothing has been found."""
        return cls(
            np.full(n_tables, np.nan),
            np.full(n_tables, np.nan),
            np.zeros(n_tables, np.int64),
            np.full(n_tables, 2),
            np.full(n_tables, -1),
            np.ones(n_tables, dtype=bool),
            np.zeros(n_lines, np.int64),
        )


def best_splits(search: Search, stack: TableStack, schema: Schema) -> LevelSplits:
    """Return the best split of each table, of those that can be split.

    ``stack`` has the classes' own weights; gain and merit are those of the classes as
    the search alters them. What all rows say of the attributes is known.
    """
    traits = Traits.of(search, stack, schema)
    coarse, coarse_line = in_buckets(stack, search.at_root.cuts)
    typical = traits.typical
    if search.at_root.cuts and search.policy.by_root:
        typical = _typical_buckets(coarse, traits)
    counted = filled(
        coarse,
        search.policy,
        nominal=traits.kind == NOMINAL,
        n_codes=traits.n_codes,
        typical=typical,
    )
    best = _Best.none(len(stack), len(counted.stack.values))
    for form, tables in _by_form(search, coarse, counted.stack, traits):
        _search_form(search, form, tables, coarse, counted, traits, best)
    missing_at = best.missing_at.copy()
    at_value = np.flatnonzero(counted.line >= 0)
    missing_at[at_value] = best.branch[counted.line[at_value]]
    low, high = _next_to_cuts(search, counted.stack, best)
    coarse_branch = best.branch[counted.own]
    merged_buckets = traits.numeric & (best.form == Form.MERGED)
    typical = _typical_intervals(coarse, coarse_branch, typical, merged_buckets)
    branch = coarse_branch[coarse_line]
    able = np.flatnonzero(~np.isnan(best.gain))
    behind, branch = _behind_splits(stack, branch, able, traits, best)
    return LevelSplits(
        behind,
        branch,
        best.form[able],
        best.n_branches[able],
        low[able],
        high[able],
        missing_at[able],
        typical[able],
        best.gain[able],
        best.merit[able],
        best.exact[able],
        search.criterion.chance,
        schema,
        search.recipe,
        search.at_root,
    )


def propose(
    search: Search, table: CountTable, schema: Schema, index: int
) -> Candidate | None:
    """Return the best split of one attribute at one node, None if it cannot be split.

    What is not known of the attribute is what the table says.

    Examples
    --------
    >>> from spinney.recipes.named_recipes import RECIPES
    >>> height = CountTable.of([[0, 1], [1, 0], [0, 1], [1, 0], [1, 0]])
    >>> schema = Schema((Attribute("height", "ordinal", tuple("abcde")),), None)
    >>> search = Search.of(RECIPES["id3"], numeric=False)
    >>> propose(search, height, schema, 0).split.threshold
    2.5
    """
    stack = TableStack.of([{index: table}])
    splits = best_splits(search.knowing(stack, schema), stack, schema)
    return splits.candidate(0) if len(splits) else None


def in_buckets(stack: TableStack, cuts: Any) -> tuple[TableStack, Integers]:
    """Return the stack with numbers as the buckets they are in, and each line's line.

    ``cuts`` are those of the attributes that have buckets.
    """
    lines = np.arange(len(stack.values))
    if not cuts:
        return stack, lines
    values, attribute = stack.values.copy(), stack.attribute[stack.owner]
    for index in np.unique(stack.attribute).tolist():
        if index in cuts:
            own = attribute == index
            values[own] = codes_of(values[own], cuts[index])
    first = np.ones(len(values), dtype=bool)
    first[1:] = (values[1:] != values[:-1]) | (stack.owner[1:] != stack.owner[:-1])
    line, n_lines = np.cumsum(first) - 1, int(first.sum())
    coarse = replace(
        stack,
        start=starts_of(np.bincount(stack.owner[first], minlength=len(stack))),
        values=values[first],
        weights=sums_by(line, stack.weights, n_lines),
        rows=counts_by(line, stack.rows, n_lines),
    )
    return coarse, line


def _typical_buckets(coarse: TableStack, traits: Traits) -> Floats:
    """Return what stands for a missing value; of buckets it is that of the node."""
    typical = traits.typical.copy()
    share = coarse.sizes / coarse.known[coarse.owner]
    mean = np.bincount(coarse.owner, share * coarse.values, minlength=len(coarse))
    commonest = first_best_by(
        coarse.sizes / maxima(coarse.sizes, coarse.start)[coarse.owner], coarse.start
    )
    for table in np.flatnonzero(traits.numeric & (coarse.counts > 0)):
        if traits.kind[table] == NOMINAL:
            typical[table] = coarse.values[commonest[table]]
        else:
            typical[table] = np.rint(float(f"{mean[table]:.12g}"))
    return typical


def _typical_intervals(
    coarse: TableStack,
    branch: Integers,
    typical: Floats,
    merged_buckets: NDArray[np.bool_],
) -> Floats:
    """Return what stands for a missing value, of merged buckets as a branch, or -1."""
    if not merged_buckets.any():
        return typical
    lines = np.flatnonzero(coarse.values == typical[coarse.owner])
    at = np.full(len(coarse), -1.0)
    at[coarse.owner[lines]] = branch[lines]
    return np.where(merged_buckets, at, typical)


def _by_form(
    search: Search, coarse: TableStack, stack: TableStack, traits: Traits
) -> Iterator[tuple[Form, Integers]]:
    """Give the tables of each form of question that have something to choose."""
    grouping, counts = search.recipe.grouping, stack.counts
    nominal = traits.kind == NOMINAL
    form = np.full(len(stack), Form.THRESHOLD)
    size = np.zeros(len(stack), dtype=np.int64)  # tables of one size are alike
    if grouping == "merge":
        form[traits.kind != NUMERIC] = Form.MERGED
    elif grouping == "ordered":
        form[nominal] = Form.ORDERED
    else:
        form[nominal] = Form.MULTIWAY
        size[nominal] = np.frexp(traits.n_codes[nominal].astype(float))[1]
        in_two = nominal & ((grouping == "binary") | (counts > MOST_BRANCHES))
        if in_two.any():
            proven = has_two_classes(stack) & _is_free(search, coarse)
            every = in_two & (counts <= ENUMERATED) & ~proven
            form[in_two], size[in_two] = Form.PREFIX, 0
            form[every], size[every] = Form.SUBSET, counts[every]
    enough = counts + (stack.lacking & search.policy.tells) > 1
    keys = form * (1 + size.max(initial=0)) + size
    for key in np.unique(keys[enough]):
        tables = np.flatnonzero(enough & (keys == key))
        yield Form(int(form[tables[0]])), tables


def _is_free(search: Search, coarse: TableStack) -> NDArray[np.bool_]:
    """Return of which tables every subset is allowed and counted as it is."""
    recipe = search.recipe
    limited = recipe.least_branch(search.total) > 0 or recipe.min_branch_share > 0
    moved = coarse.lacking & search.policy.moves
    return ~moved & (search.criterion.ordered and not limited)


def _search_form(
    search: Search,
    form: Form,
    tables: Integers,
    coarse: TableStack,
    counted: Filled,
    traits: Traits,
    best: _Best,
) -> None:
    """Find the best split of some tables of one form, and write it down."""
    criterion = search.criterion
    part = counted.stack.taken(tables).scaled(search.altered)
    weight, known = coarse.weight[tables], coarse.known[tables]
    least = _least(search, known, traits.kind[tables], part)
    ways = _ways(search, form, part, tables, least, coarse, traits)
    if not (form == Form.MERGED and search.policy.tells):
        ways = placed(ways, part, search.policy)
    allowed = np.flatnonzero(_allowed(search, ways, least, weight))
    if not len(allowed):
        return
    if len(allowed) < len(ways):
        ways = ways.taken(allowed)
    gains = np.asarray(criterion.gain(ways.table))
    start = np.searchsorted(ways.owner, np.arange(len(tables) + 1))
    unit = criterion.gain_units(coarse.total[tables] + coarse.missing[tables])
    first = first_best_by(gains, start, criterion.tolerance, unit)
    able = np.flatnonzero(first >= 0)
    here, branch = tables[able], ways.goes(first)
    missing_at = ways.missing_at[first[able]]
    n_branches = ways.table.weights.shape[1]
    won = _counted_by_branch(part, branch, n_branches, able, missing_at)
    gain, merit = gains[first[able]], np.asarray(criterion.merit(won))
    if criterion.chance:
        merit = np.maximum(merit - ways.log_multiplier[able], 0.0)
    if form == Form.THRESHOLD and search.recipe.mdl_correction and criterion.bits:
        gain = gain - np.log2(np.diff(start)[able]) / weight[able]
        merit = _per(criterion, gain, won)
    best.gain[here], best.merit[here], best.form[here] = gain, merit, form
    best.missing_at[here], best.exact[here] = missing_at, ways.exact[able]
    best.branch[counted.stack.lines_of(tables)] = branch
    if form == Form.MULTIWAY:
        own = counted.line[here] >= 0
        best.n_branches[here] = traits.n_codes[here] + (own & search.policy.tells)
    if form == Form.MERGED:
        last = maxima(branch.astype(np.float64), part.start)[able]
        best.n_branches[here] = 1 + np.maximum(last, missing_at)


def _per(criterion: Criterion, gain: Floats, won: CountTable) -> Floats:
    """Return corrected gains as merits: over what the criterion divides them by."""
    if criterion.per is None:
        return gain
    return ratio_of(gain, np.asarray(criterion.per(won)))


def _counted_by_branch(
    stack: TableStack,
    branch: Integers,
    n_branches: int,
    tables: Integers,
    missing_at: Integers,
) -> CountTable:
    """Return some tables by branch, as a stack, their lines added up once more.

    What is left of a sum after a subtraction has fewer digits than a sum, and −ln p of
    small numbers would show it.
    """
    keys, size = stack.owner * n_branches + branch, len(stack) * n_branches
    shape = (len(stack), n_branches, -1)
    weights = sums_by(keys, stack.weights, size).reshape(shape)[tables]
    rows = counts_by(keys, stack.rows, size).reshape(shape)[tables]
    missing, missing_rows = stack.missing[tables], stack.missing_rows[tables]
    counted = np.flatnonzero(missing_at >= 0)
    where = counted, missing_at[counted]
    weights[where] += missing[counted]
    rows[where] += missing_rows[counted]
    missing[counted], missing_rows[counted] = 0.0, 0
    return CountTable(np.arange(n_branches), weights, rows, missing, missing_rows)


def _least(search: Search, known: Floats, kind: Integers, part: TableStack) -> Floats:
    """Return the least weight of a branch of each table, of a known weight."""
    recipe = search.recipe
    least = np.full(len(known), recipe.least_branch(search.total))
    if part.is_moments or not recipe.min_cut_share:
        return least
    side = recipe.least_side(known, part.weights.shape[1])
    return np.where(kind == NOMINAL, least, np.maximum(least, side))


def _ways(
    search: Search,
    form: Form,
    part: TableStack,
    tables: Integers,
    least: Floats,
    coarse: TableStack,
    traits: Traits,
) -> Ways:
    """Return the ways to branch on some tables of one form."""
    if form == Form.THRESHOLD:
        return thresholds(part, traits.step[tables])
    if form == Form.SUBSET:
        return every_subset(part)
    if form == Form.PREFIX:
        return best_prefixes(part, free=_is_free(search, coarse)[tables])
    if form == Form.MULTIWAY:
        return multiway(part, traits.n_codes[tables] + search.policy.tells)
    if form == Form.ORDERED:
        return ordered(part, _root_ranks(search, part))
    kinds = [KINDS[kind] for kind in traits.kind[tables]]
    merging = [merging_of(search.recipe, search.criterion, float(w)) for w in least]
    return merged(part, kinds, merging, floating=search.policy.tells)


def _root_ranks(search: Search, part: TableStack) -> Integers:
    """Return where the code of each line stands in the order of all rows."""
    ranks = np.zeros(len(part.values), dtype=np.int64)
    attribute, codes = part.attribute[part.owner], part.values.astype(np.int64)
    for index in np.unique(part.attribute).tolist():
        own = attribute == index
        ranks[own] = search.at_root.statistics[index].ranks[codes[own]]
    return ranks


def _allowed(
    search: Search, ways: Ways, least: Floats, weight: Floats
) -> NDArray[np.bool_]:
    """Return which ways give two branches enough rows each, as they weigh themselves.

    ``weight`` is that of all rows of each table, of which branches need a share.
    """
    table, altered = ways.table, search.altered
    enough = sums_over(table.rows, -1) > 0
    if least.any():
        own = table if altered is None else table.scaled(1 / altered)
        enough &= own.sizes >= (least * (1 - TOLERANCE))[ways.owner, None]
    allowed = enough.sum(axis=1) >= 2
    if search.recipe.min_branch_share > 0:
        share = search.recipe.min_branch_share * weight * (1 + TOLERANCE)
        allowed &= (table.sizes > share[ways.owner, None]).sum(axis=1) >= 2
    return np.asarray(allowed)


def _next_to_cuts(
    search: Search, stack: TableStack, best: _Best
) -> tuple[Floats, Floats]:
    """Return the values next to each threshold; ∞ above where nothing is.

    Of an order of codes, the former is the rank of the last one on the left.
    """
    left = best.branch == 0
    n_left = np.bincount(stack.owner, left, minlength=len(stack)).astype(np.int64)
    last = stack.start[:-1] + n_left - 1
    values = np.append(stack.values, np.inf)
    above = np.where(last + 1 < stack.start[1:], last + 1, len(stack.values))
    low, in_order = values[last], best.form == Form.ORDERED
    if in_order.any():
        tables = np.flatnonzero(in_order)
        part, lines = stack.taken(tables), stack.lines_of(tables)
        ranks = np.where(left[lines], _root_ranks(search, part), -1.0)
        low[tables] = maxima(ranks, part.start)
    return low, values[above]


def _behind_splits(
    stack: TableStack,
    branch: Integers,
    able: Integers,
    traits: Traits,
    best: _Best,
) -> tuple[TableStack, Integers]:
    """Return the counts behind the splits of some tables, and the branch of each line.

    Numbers are counted by branch: of a threshold at the values next to it, of
    intervals at their greatest values.
    """
    tables, branch = stack.taken(able), branch[stack.lines_of(able)]
    owner, numeric = tables.owner, traits.numeric[able]
    if not numeric.any():
        return tables, branch
    first = np.ones(len(owner), dtype=bool)
    first[1:] = (owner[1:] != owner[:-1]) | (branch[1:] != branch[:-1])
    first |= ~numeric[owner]
    group, begins = np.cumsum(first) - 1, np.flatnonzero(first)
    ends = np.append(begins[1:], len(owner)) - 1
    at_first = (best.form[able][owner[begins]] == Form.THRESHOLD) & (
        branch[begins] == 1
    )
    merged_tables = replace(
        tables,
        start=starts_of(np.bincount(owner[begins], minlength=len(able))),
        values=tables.values[np.where(at_first, begins, ends)],
        weights=sums_by(group, tables.weights, len(begins)),
        rows=counts_by(group, tables.rows, len(begins)),
    )
    return merged_tables, branch[begins]


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
