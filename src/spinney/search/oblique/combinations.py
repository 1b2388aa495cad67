"""Linear combinations at a node: found by moments, weighed against single attributes.

A combination of t terms must pass three gates.

Merit
    It must beat the chosen attribute's merit by the factor 1 + penalty · (t − 1).
    The default penalty, 0.1, is of the size at which CART deletes terms (Breiman et
    al. 1984, section 5.2: those that add less than a tenth or a fifth of what the
    most important one does): a further term must be worth reading.
Bits
    A further term costs ½ log₂ n bits for its coefficient (Rissanen 1983) and log₂ p
    to say which of p numbers it is, so a combination must save (t − 1) times as many
    bits more of the classes than the chosen attribute and every other split of two
    branches do. This keeps combinations of chance out of small nodes, where a factor
    of a small merit would not.
Rows
    There must be ten for each term, or the scatter is not known well enough.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from spinney._support.ties import TOLERANCE
from spinney.data import Attribute, Schema
from spinney.search.attribute_split import propose
from spinney.search.node_split import Decision, compete, is_significant, score
from spinney.search.oblique.directions import combinations
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

# A node's products take the square of the attributes, so only the best ones
# by their own gain are combined.
MOST_ATTRIBUTES = 20
LEAST_KNOWN = 0.5
ROWS_FOR_A_TERM = 10


def combined(
    search: Search,
    source: Counts,
    node: int,
    *,
    tables: Mapping[int, CountTable],
    decision: Decision,
    schema: Schema,
    paid: Collection[int],
) -> tuple[Decision, Attribute | None]:
    """Return the decision of a node, with the attribute made for it if one wins.

    The attribute then stands in the source after those of the schema. One with the
    same formula that stands there already serves again.
    """
    small = decision.reason in (Reason.MIN_GAIN, Reason.ROWS_IN_LEAF)
    columns = _combinable(tables, decision, schema)
    if (decision.chosen is None and not small) or len(columns) < 2:
        return decision, None
    first_table = tables[columns[0]]
    n_rows = int(first_table.rows.sum() + first_table.missing_rows.sum())
    most = min(search.recipe.linear_terms, n_rows // ROWS_FOR_A_TERM)
    if most < 2:
        return decision, None
    numbers = tuple(Term(index, None, _middle(tables[index])) for index in columns)
    formulas_of = as_formula_source(source)
    (products,) = formulas_of.products([TermRequest(node, numbers, complete=True)])
    formulas = combinations(
        products.scaled(search.class_weights).scaled(search.altered),
        columns,
        most=most,
        numeric=schema.target.is_numeric,
    )
    first = len(schema.attributes)
    made = [schema.constructed(formula) for formula in formulas]
    for further, attribute in enumerate(made):
        formulas_of.extend(first + further, attribute)
    request = TableRequest(node, tuple(range(first, first + len(made))))
    (counted,) = tables_of(source, [request], schema.extended(made))
    competitor = (
        None if decision.chosen is None else decision.candidates[decision.chosen]
    )
    known = bits_known(decision)
    node_total = first_table.total + first_table.missing
    margin = TOLERANCE * search.criterion.merit_unit(node_total)
    best, won = 0.0, None
    for further, attribute in enumerate(made):
        wider = schema.extended([attribute])
        candidate = proposed(search, counted[first + further], wider)
        if candidate is None or not admitted(search, candidate, decision, wider):
            continue
        terms = len(formulas[further].places)
        test_cost = (terms - 1) * (np.log2(n_rows) / 2 + np.log2(len(columns)))
        ahead = lead(search, candidate, competitor, wider, paid)
        if ahead > best + margin and bits_of(candidate) > known + test_cost:
            best, won = ahead, (attribute, candidate)
    if won is None:
        return decision, None
    attribute, candidate = won
    known_formulas = [former.formula for former in schema.attributes]
    again = attribute.formula in known_formulas
    if again:  # another node has asked about the same combination
        first = known_formulas.index(attribute.formula)
        candidate = replace(candidate, split=replace(candidate.split, attribute=first))
    else:
        formulas_of.extend(first, attribute)
    candidates = (*decision.candidates, candidate)
    return Decision(candidates, len(candidates) - 1), None if again else attribute


def _combinable(
    tables: Mapping[int, CountTable], decision: Decision, schema: Schema
) -> tuple[int, ...]:
    """Return the plain numbers that vary here and are mostly known, the best ones."""
    gains = {candidate.attribute: candidate.gain for candidate in decision.candidates}
    able = []
    for index, table in tables.items():
        attribute = schema.attributes[index]
        plain = attribute.kind == "numeric" and not attribute.unit
        known = len(table.values) > 1 and table.known_share >= LEAST_KNOWN
        if plain and known and attribute.formula is None:
            able.append(index)
    able.sort(key=lambda index: (-round(gains.get(index, -1.0), 9), index))
    return tuple(sorted(able[:MOST_ATTRIBUTES]))


def _middle(table: CountTable) -> float:
    """Return a number near the mean: the weighted median of the values."""
    half = np.searchsorted(np.cumsum(table.sizes), table.sizes.sum() / 2)
    return float(table.values[min(int(half), len(table.values) - 1)])


def proposed(search: Search, table: CountTable, schema: Schema) -> Candidate | None:
    """Return the best split of the last attribute; buckets are made at the node."""
    table = table.scaled(search.class_weights)
    return propose(search, table, schema, len(schema.attributes) - 1)


def admitted(
    search: Search, candidate: Candidate, decision: Decision, schema: Schema
) -> bool:
    """Return whether a combination keeps the rules that attributes keep."""
    if getattr(candidate.split, "threshold", 0.0) == np.inf:
        return False  # whether a sum is known is no combination
    everyone = (*decision.candidates, candidate)
    competes = len(everyone) - 1 in compete(search, everyone, schema)
    recipe = search.recipe
    return (
        competes
        and candidate.gain >= recipe.min_gain
        and is_significant(candidate, recipe)
    )


def lead(
    search: Search,
    candidate: Candidate,
    competitor: Candidate | None,
    schema: Schema,
    paid: Collection[int],
) -> float:
    """Return by how much a made attribute beats a competitor, after its penalty.

    ``schema`` has the attribute last; without a competitor, merit counts from 0. What
    was ``paid`` for above costs nothing.
    """
    bar = 0.0 if competitor is None else max(0.0, score(competitor, schema, paid))
    terms = len(schema.input_columns([candidate.attribute]))
    factor = 1 + search.recipe.linear_penalty * (terms - 1)
    return score(candidate, schema, paid) / factor - bar


def bits_known(decision: Decision) -> float:
    """Return the most bits that the chosen split, or another of two branches, saves."""
    singles = [
        bits_of(single)
        for position, single in enumerate(decision.candidates)
        if position == decision.chosen or single.split.n_branches == 2
    ]
    return max(singles, default=0.0)


def bits_of(candidate: Candidate) -> float:
    """Return by how many bits a split shortens the target's description.

    Of classes it is weight × information gain; of a number, whose description by a
    normal distribution takes ½ log₂ of its variance a row, n/2 · log₂ of the ratio
    of the sums of squares before and after.
    """
    table = candidate.branches
    if not table.is_moments:
        return table.weight * float(gain(table))
    before = float(spread_of(table.total))
    after = max(float(spread_of(table.weights).sum()), TOLERANCE * before)
    known = float(table.sizes.sum())
    return known / 2 * float(np.log2(before / after)) if before > 0 else 0.0


def without_unused(tree: Tree) -> Tree:
    """Return a tree without the formulas that nothing in it refers to.

    What a node that asks has looked at stays, and so do the terms of models.
    """
    schema, arrays = tree.schema, tree.arrays
    if schema.n_columns == len(schema.attributes):
        return tree
    found = tree.nodes.candidate_arrays
    others: dict[str, Any] = {
        "surrogates": arrays.surrogates,
        "models": arrays.models,
    }
    owner = np.repeat(np.arange(len(arrays)), found.count)
    kept = np.arange(len(schema.attributes)) < schema.n_columns
    kept[found.splits.attribute[arrays.inner[owner]]] = True
    for each in others.values():
        if each is not None:
            kept[each.attribute] = True
    if kept.all():
        return tree
    new = np.append(np.cumsum(kept) - 1, -1)  # of a leaf, which asks about -1, too
    lines = np.flatnonzero(kept[found.splits.attribute])
    # A leaf alone loses candidates, so that those which won stand where they did.
    count = np.bincount(owner[lines], minlength=len(arrays))
    left = found.of_lines(lines, count, found.chosen)
    splits = replace(left.splits, attribute=new[left.splits.attribute])
    changed = {
        name: replace(each, attribute=new[each.attribute])
        for name, each in others.items()
        if each is not None
    }
    asked = new[arrays.attribute].astype(np.int32)
    smaller = replace(arrays, attribute=asked, **changed)
    attributes = tuple(schema.attributes[position] for position in np.flatnonzero(kept))
    schema = replace(schema, attributes=attributes)
    return Tree(schema, ArrayNodes(smaller, schema, replace(left, splits=splits)))
