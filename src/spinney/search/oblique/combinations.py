"""Linear combinations at a node, found by moments and compared with attributes.

A combination of t terms must meet three conditions.

Merit
    It must beat the chosen attribute's merit by the factor 1 + penalty · (t − 1).
    The default penalty, 0.1, is similar to CART's (Breiman et al. 1984, section 5.2:
    CART deletes terms that add less than a tenth or a fifth of the most important
    term).
Bits
    A further term costs ½ log₂ n bits for its coefficient (Rissanen 1983) and log₂ p
    for the choice among p numbers. So a combination must save (t − 1) times this cost
    more bits than the chosen attribute and every other binary split. This excludes
    chance combinations in small nodes, where a factor on a small merit would not.
Rows
    There must be ten rows per term, or the scatter is too uncertain.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from spinney._support.ties import TOLERANCE
from spinney.data import Attribute, Schema
from spinney.search.attribute_split import propose
from spinney.search.node_split import Decision, compete, is_significant, score
from spinney.search.oblique.directions import linear_combinations
from spinney.search.tree_search import Search
from spinney.sources import (
    Counts,
    TableRequest,
    TermRequest,
    as_formula_source,
    tables_of,
)
from spinney.trees import (
    ArrayNodes,
    Candidate,
    CountTable,
    Reason,
    Term,
    Tree,
    spread_of,
)
from spinney.trees.criteria import gain

# The work of a node grows with the square of the number of attributes, so only the best
# ones by their own gain are combined.
MAX_ATTRIBUTES = 20
MIN_KNOWN_SHARE = 0.5
ROWS_PER_TERM = 10


def decide_with_combinations(
    search: Search,
    source: Counts,
    node: int,
    *,
    tables: Mapping[int, CountTable],
    decision: Decision,
    schema: Schema,
    paid: Collection[int],
) -> tuple[Decision, Attribute | None]:
    """Return the decision of a node, and the attribute of a winning combination.

    The source then has this attribute after the attributes of the schema. An existing
    attribute with the same formula is used again.
    """
    may_combine = decision.reason in (Reason.MIN_GAIN, Reason.ROWS_IN_LEAF)
    columns = _combinable(tables, decision, schema)
    if (decision.chosen is None and not may_combine) or len(columns) < 2:
        return decision, None
    first_table = tables[columns[0]]
    n_rows = int(first_table.rows.sum() + first_table.missing_rows.sum())
    max_terms = min(search.recipe.linear_terms, n_rows // ROWS_PER_TERM)
    if max_terms < 2:
        return decision, None
    medians = tuple(Term(index, None, _middle(tables[index])) for index in columns)
    formula_source = as_formula_source(source)
    (products,) = formula_source.products([TermRequest(node, medians, complete=True)])
    formulas = linear_combinations(
        products.scaled(search.class_weights).scaled(search.altered),
        columns,
        max_terms=max_terms,
        numeric=schema.target.is_numeric,
    )
    first = len(schema.attributes)
    attributes = [schema.constructed(formula) for formula in formulas]
    for position, attribute in enumerate(attributes):
        formula_source.extend(first + position, attribute)
    request = TableRequest(node, tuple(range(first, first + len(attributes))))
    (counted,) = tables_of(source, [request], schema.extended(attributes))
    competitor = (
        None if decision.chosen is None else decision.candidates[decision.chosen]
    )
    min_bits = bits_to_beat(decision)
    node_total = first_table.total + first_table.missing
    margin = TOLERANCE * search.criterion.merit_unit(node_total)
    best, winner = 0.0, None
    for position, attribute in enumerate(attributes):
        extended = schema.extended([attribute])
        candidate = best_split_of_last(search, counted[first + position], extended)
        if candidate is None or not is_admissible(
            search, candidate, decision, extended
        ):
            continue
        terms = len(formulas[position].attribute_indices)
        test_cost = (terms - 1) * (np.log2(n_rows) / 2 + np.log2(len(columns)))
        margin_over_best = margin_over(search, candidate, competitor, extended, paid)
        if (
            margin_over_best > best + margin
            and bits_saved(candidate) > min_bits + test_cost
        ):
            best, winner = margin_over_best, (attribute, candidate)
    if winner is None:
        return decision, None
    attribute, candidate = winner
    known_formulas = [former.formula for former in schema.attributes]
    is_repeated = attribute.formula in known_formulas
    if is_repeated:  # another node has asked about the same combination
        first = known_formulas.index(attribute.formula)
        candidate = replace(candidate, split=replace(candidate.split, attribute=first))
    else:
        formula_source.extend(first, attribute)
    candidates = (*decision.candidates, candidate)
    return Decision(candidates, len(candidates) - 1), None if is_repeated else attribute


def _combinable(
    tables: Mapping[int, CountTable], decision: Decision, schema: Schema
) -> tuple[int, ...]:
    """Return the best numeric columns that vary at the node and are mostly known."""
    gains = {candidate.attribute: candidate.gain for candidate in decision.candidates}
    usable = []
    for index, table in tables.items():
        attribute = schema.attributes[index]
        is_plain = attribute.kind == "numeric" and not attribute.unit
        is_observed = len(table.values) > 1 and table.known_share >= MIN_KNOWN_SHARE
        if is_plain and is_observed and attribute.formula is None:
            usable.append(index)
    usable.sort(key=lambda index: (-round(gains.get(index, -1.0), 9), index))
    return tuple(sorted(usable[:MAX_ATTRIBUTES]))


def _middle(table: CountTable) -> float:
    """Return the weighted median of the values, a number near the mean."""
    half = np.searchsorted(np.cumsum(table.sizes), table.sizes.sum() / 2)
    return float(table.values[min(int(half), len(table.values) - 1)])


def best_split_of_last(
    search: Search, table: CountTable, schema: Schema
) -> Candidate | None:
    """Return the best split of the last attribute; its buckets are made at the node."""
    table = table.scaled(search.class_weights)
    return propose(search, table, schema, len(schema.attributes) - 1)


def is_admissible(
    search: Search, candidate: Candidate, decision: Decision, schema: Schema
) -> bool:
    """Return whether a combination meets the criterion's rules for attributes."""
    if getattr(candidate.split, "threshold", 0.0) == np.inf:
        return False  # whether a sum is known is no combination
    candidates = (*decision.candidates, candidate)
    competes = len(candidates) - 1 in compete(search, candidates, schema)
    recipe = search.recipe
    return (
        competes
        and candidate.gain >= recipe.min_gain
        and is_significant(candidate, recipe)
    )


def margin_over(
    search: Search,
    candidate: Candidate,
    competitor: Candidate | None,
    schema: Schema,
    paid: Collection[int],
) -> float:
    """Return the lead of a combination over a competitor, after its penalty.

    ``schema`` has the combination last. Without a competitor, merit counts from 0.
    """
    to_beat = 0.0 if competitor is None else max(0.0, score(competitor, schema, paid))
    terms = len(schema.input_columns([candidate.attribute]))
    factor = 1 + search.recipe.linear_penalty * (terms - 1)
    return score(candidate, schema, paid) / factor - to_beat


def bits_to_beat(decision: Decision) -> float:
    """Return the most bits that the chosen split, or another binary split, saves."""
    singles = [
        bits_saved(single)
        for position, single in enumerate(decision.candidates)
        if position == decision.chosen or single.split.n_branches == 2
    ]
    return max(singles, default=0.0)


def bits_saved(candidate: Candidate) -> float:
    """Return the number of bits by which a split shortens the target's description.

    For classes it is weight × information gain. For numbers it is n/2 · log₂ of the
    ratio of the sums of squares before and after, since a normal distribution encodes a
    number in ½ log₂ of its variance, plus a constant.
    """
    table = candidate.branches
    if not table.is_moments:
        return table.weight * float(gain(table))
    before = float(spread_of(table.total))
    after = max(float(spread_of(table.weights).sum()), TOLERANCE * before)
    known = float(table.sizes.sum())
    return known / 2 * float(np.log2(before / after)) if before > 0 else 0.0


def without_unused_formulas(tree: Tree) -> Tree:
    """Return a tree without unreferenced formulas.

    Candidates of inner nodes and terms of models are references too.
    """
    schema, arrays = tree.schema, tree.arrays
    if schema.n_columns == len(schema.attributes):
        return tree
    candidates = tree.nodes.candidate_arrays
    optional: dict[str, Any] = {
        "surrogates": arrays.surrogates,
        "models": arrays.models,
    }
    owner = np.repeat(np.arange(len(arrays)), candidates.count)
    is_used = np.arange(len(schema.attributes)) < schema.n_columns
    is_used[candidates.splits.attribute[arrays.inner[owner]]] = True
    for part in optional.values():
        if part is not None:
            is_used[part.attribute] = True
    if is_used.all():
        return tree
    new_position = np.append(
        np.cumsum(is_used) - 1, -1
    )  # of a leaf, which asks about -1, too
    lines = np.flatnonzero(is_used[candidates.splits.attribute])
    # A leaf alone loses candidates, so that those which won stand where they did.
    count = np.bincount(owner[lines], minlength=len(arrays))
    kept = candidates.of_lines(lines, count, candidates.chosen)
    splits = replace(kept.splits, attribute=new_position[kept.splits.attribute])
    changed = {
        name: replace(part, attribute=new_position[part.attribute])
        for name, part in optional.items()
        if part is not None
    }
    attribute = new_position[arrays.attribute].astype(np.int32)
    smaller = replace(arrays, attribute=attribute, **changed)
    attributes = tuple(
        schema.attributes[position] for position in np.flatnonzero(is_used)
    )
    schema = replace(schema, attributes=attributes)
    return Tree(schema, ArrayNodes(smaller, schema, replace(kept, splits=splits)))
