"""New attributes before growing: differences, ratios and conjunctions of others.

Each round constructs one attribute, up to the recipe's maximum::

    grow a tree with the attributes made so far
    propose formulas; count each at the tree's heaviest nodes
    take the one that helps most, or end

Differences and ratios combine pairs of the numeric attributes with the largest gains at
the root. Conjunctions follow FRINGE (Pagallo and Haussler 1990, "Boolean feature
discovery in empirical learning"): the last two tests on the way to a leaf. As a
conjunction of one round can be a test of the next, they grow to three clauses.

A formula helps at a node if it passes the conditions of
:mod:`spinney.search.oblique.combinations` against the chosen attribute. Its merit must
be larger by the factor 1 + penalty · (attributes − 1). It must also save more bits than
the encoding of the formula and its node takes: log₂(proposals × nodes). The score of a
formula is the sum of node weight times lead over the nodes where it helps.

At the end unused attributes are dropped, and the tree is grown again until it uses them
all. So no number at a node depends on a dropped attribute.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np

from spinney._support.ties import first_best
from spinney.data import (
    Attribute,
    Clause,
    Conjunction,
    Difference,
    Formula,
    Ratio,
    Schema,
)
from spinney.errors import ParameterError
from spinney.growth.growth_options import Options
from spinney.growth.plain.learner import grow_tree, search_over
from spinney.recipes import Recipe
from spinney.search import Decision
from spinney.search.oblique import (
    best_split_of_last,
    bits_saved,
    bits_to_beat,
    is_admissible,
    margin_over,
)
from spinney.sources import (
    ROOT,
    Counts,
    TableRequest,
    as_formula_source,
    register_formulas,
    tables_of,
)
from spinney.trees import CountTable, Groups, Intervals, Node, Split, Tree

MAX_NUMBERS = 12
MAX_LEAVES = 50
MAX_NODES = 5
BATCH = 16  # formulas that are counted at once


def construct_and_grow(
    source: Counts, recipe: Recipe, options: Options | None = None
) -> Tree:
    """Return a grown tree, with constructed attributes if the recipe has them."""
    options = options or Options()
    constructed: list[Attribute] = []
    # Conjunctions are needed most where no single test gains anything.
    trial = replace(
        recipe, min_gain=0.0, alpha_split=None, mdl_correction=False, linear_terms=0
    )
    while len(constructed) < recipe.construct:
        trial_options = replace(options, constructed=constructed, forced={})
        tree = grow_tree(source, trial, trial_options)
        best = _best_attribute(source, tree, trial, trial_options)
        if best is None:
            break
        constructed.append(best)
    while True:
        tree = grow_tree(source, recipe, replace(options, constructed=constructed))
        attributes = tree.schema.attributes
        split_on = [attributes[index] for index in tree.arrays.asked]
        used = [attribute for attribute in constructed if attribute in split_on]
        if len(used) == len(constructed):
            return tree
        constructed = used


def _best_attribute(
    source: Counts, tree: Tree, recipe: Recipe, options: Options
) -> Attribute | None:
    """Return the attribute that helps most at the heaviest nodes, or None."""
    existing = {attribute.formula for attribute in options.constructed}
    formulas = [
        formula
        for formula in dict.fromkeys(
            [*pair_formulas(source, tree), *fringe_formulas(tree)]
        )
        if formula not in existing
    ]
    if not formulas:
        return None
    schema = source.schema.extended(options.constructed)
    proposals = [schema.constructed(formula) for formula in formulas]
    totals = source.root().weights
    if options.class_weights is not None:
        totals = totals * options.class_weights
    search = search_over(totals, tree.schema, recipe, options)
    ranks = np.zeros(len(proposals))
    for node, tables in _tables_of_heaviest_nodes(source, tree, proposals):
        steps = tree.path(node.number)[:-1]
        paid_above = {step.candidate.attribute for step in steps}
        decision = Decision(node.candidates, node.chosen)
        min_bits = bits_to_beat(decision) + np.log2(len(proposals) * MAX_NODES)
        for index, table in enumerate(tables):
            wider = tree.schema.extended([proposals[index]])
            candidate = best_split_of_last(search, table, wider)
            if candidate is None or bits_saved(candidate) <= min_bits:
                continue
            margin = margin_over(search, candidate, node.candidate, wider, paid_above)
            if margin > 0 and is_admissible(search, candidate, decision, wider):
                ranks[index] += node.weight * margin
    unit = search.criterion.merit_unit(tree.root.weights)
    return proposals[first_best(ranks, unit=unit)] if ranks.any() else None


def _tables_of_heaviest_nodes(
    source: Counts, tree: Tree, proposals: Sequence[Attribute]
) -> Iterator[tuple[Node, list[CountTable]]]:
    """Yield the heaviest inner nodes, with the tables of new attributes there.

    The rows are sent down the tree again, to these nodes only.
    """
    schema = tree.schema
    register_formulas(source, schema)
    inner = [node for node in tree.nodes if not node.is_leaf]
    heaviest = sorted(inner, key=lambda node: (-round(node.weight, 9), node.number))
    chosen = {node.number for node in heaviest[:MAX_NODES]}
    on_paths = {step.number for number in chosen for step in tree.path(number)}
    for number in sorted(on_paths):
        node = tree.nodes[number]
        if number in chosen:
            yield node, _tables(source, number, proposals, schema)
        branch_to_child = {
            branch: child
            for branch, child in enumerate(node.children)
            if child in on_paths
        }
        if branch_to_child and node.route is not None:
            source.partition(number, node.route, branch_to_child)


def _tables(
    source: Counts, node: int, proposals: Sequence[Attribute], schema: Schema
) -> list[CountTable]:
    """Return the tables of new attributes at a node, a batch at a time."""
    tables: list[CountTable] = []
    first = len(schema.attributes)
    for start in range(0, len(proposals), BATCH):
        batch = proposals[start : start + BATCH]
        indices = tuple(range(first, first + len(batch)))
        for index, attribute in zip(indices, batch, strict=True):
            as_formula_source(source).extend(index, attribute)
        request = TableRequest(node, indices)
        (by_index,) = tables_of(source, [request], schema.extended(batch))
        tables += [by_index[index] for index in indices]
    return tables


def pair_formulas(source: Counts, tree: Tree) -> list[Formula]:
    """Return the differences and ratios of the best numeric attributes at the root.

    A difference needs two attributes of the same unit, and a ratio two plain numbers.
    The attribute that is never 0 is the divisor.
    """
    schema = source.schema
    best = sorted(tree.root.candidates, key=lambda c: (-c.gain, c.attribute))
    numeric = [
        candidate.attribute
        for candidate in best
        if candidate.attribute < schema.n_columns
        and schema.attributes[candidate.attribute].kind == "numeric"
    ]
    indices = tuple(sorted(numeric[:MAX_NUMBERS]))
    (tables,) = tables_of(source, [TableRequest(ROOT, indices)], schema)
    formulas: list[Formula] = []
    for first, second in combinations(indices, 2):
        units = {schema.attributes[index].unit for index in (first, second)}
        if len(units) == 1:
            formulas.append(Difference(first, second))
        if units == {None}:
            inverted = 0 in tables[second].values and 0 not in tables[first].values
            formulas.append(Ratio(second, first) if inverted else Ratio(first, second))
    return formulas


def fringe_formulas(tree: Tree) -> list[Formula]:
    """Return conjunctions of the last two tests before each of the heaviest leaves.

    Tests that are no clause, such as whether a value is known, give none.
    """
    leaves = sorted(tree.leaves, key=lambda leaf: (-round(leaf.weight, 9), leaf.number))
    formulas: list[Formula] = []
    for leaf in leaves[:MAX_LEAVES]:
        path = tree.path(leaf.number)[-3:]
        if len(path) < 3:
            continue
        clauses: list[Clause] = []
        for above, below in pairwise(path):
            tests = _clauses(above.candidate.split, below.branch, tree.schema)
            if not tests:
                break
            clauses += tests
        else:
            clauses.sort(key=lambda clause: clause.place)
            try:
                formulas.append(Conjunction(tuple(clauses)))
            except ParameterError:  # too many, or two about one attribute
                continue
    return formulas


def _clauses(split: Split, branch: int, schema: Schema) -> list[Clause]:
    """Return the clauses of a branch about columns, if it has such a form."""
    index = split.attribute
    attribute = schema.attributes[index]
    if isinstance(attribute.formula, Conjunction):
        holds = isinstance(split, Groups) and split.groups[branch] == (1,)
        return list(attribute.formula.clauses) if holds else []
    if attribute.formula is not None:
        return []
    if attribute.kind != "numeric":
        branches = split.branch_of(np.arange(len(attribute.values)))
        codes = tuple(np.flatnonzero(branches == branch).tolist())
        return [Clause(index, codes)] if codes else []
    if isinstance(split, Intervals):
        low, high = split.bounds(branch)
    else:
        assert not isinstance(split, Groups)
        cut = split.threshold
        low, high = (cut, np.inf) if branch else (-np.inf, cut)
    bounded = low < high and not (low == -np.inf and high == np.inf)
    return [Clause(index, low=low, high=high)] if bounded else []
