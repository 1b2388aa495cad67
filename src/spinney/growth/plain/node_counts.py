"""One node of a finished tree, counted over rows: what the search would see there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Linear
from spinney.growth.growth_options import Options
from spinney.growth.plain.learner import is_multiway, search_over
from spinney.recipes import Recipe
from spinney.search import Search, best_splits, recount, same_split
from spinney.sources import ROOT, Counts, TableRequest, take_formulas
from spinney.trees import (
    Candidate,
    CountTable,
    Node,
    TableBatch,
    Tree,
    joined_batches,
)


@dataclass(frozen=True, slots=True, eq=False)
class CountedNode:
    """A node of a finished tree, counted on the rows of a source.

    Parameters
    ----------
    node : Node
        The node with the weights of these rows and, of every attribute that it might
        ask about, the best split of these rows; of its own attribute what it asks.
    search : Search
        How splits are sought, with what all rows of the source say of the attributes.
    tables : mapping of int to CountTable
        The counts by value of every attribute, class weights included.
    """

    node: Node
    search: Search
    tables: Mapping[int, CountTable]


def counted_node(
    source: Counts,
    tree: Tree,
    recipe: Recipe,
    number: int,
    *,
    class_weights: Floats | None = None,
) -> CountedNode | None:
    """Return a node over the rows of a source; None where none of them comes to it."""
    schema, node = tree.schema, tree.nodes[number]
    take_formulas(source, schema)
    totals = source.root()
    scale = np.ones_like(totals.weights) if class_weights is None else class_weights
    if schema.target.is_numeric:
        unit = recipe.measure(numeric=True).gain_unit(totals.weights)
        recipe = recipe.in_unit(unit)
    costs = schema.target.costs
    options = Options(
        class_weights=class_weights, costs=None if costs is None else np.array(costs)
    )
    search = search_over(totals.weights * scale, schema, recipe, options)
    shared = tuple(i for i, a in enumerate(schema.attributes) if not _is_sum(a.formula))
    for stack in source.tables([TableRequest(ROOT, shared)]):
        search = search.with_root_tables(stack, schema)
    for above in tree.path(number)[:-1]:
        send_down(source, tree, above, towards=number)
    own = () if node.split is None else (node.split.attribute,)
    asked = tuple(sorted({*shared, *own}))
    stack = joined_batches(source.tables([TableRequest(number, asked)]))
    if not (stack.total_rows + stack.missing_rows)[:1].any():
        return None
    search = search.with_root_tables(
        stack, schema
    )  # a sum of numbers is known at its node only
    stack = stack.scaled(class_weights)
    tables = {
        index: stack.table(at, codes=schema.attributes[index].kind != "numeric")
        for at, index in enumerate(stack.attribute.tolist())
    }
    candidates, chosen = _candidates(search, tree, node, stack, tables)
    first = tables[int(stack.attribute[0])]
    counted = replace(
        node,
        weights=first.total + first.missing,
        n_rows=int(first.rows.sum() + first.missing_rows.sum()),
        candidates=candidates,
        chosen=chosen,
    )
    return CountedNode(counted, search, tables)


def send_down(
    source: Counts, tree: Tree, node: Node, *, towards: int | None = None
) -> None:
    """Send the rows of a node to its children, or to the one on the way to a node."""
    assert node.route is not None
    path = () if towards is None else {step.number for step in tree.path(towards)}
    children = {
        branch: child
        for branch, child in enumerate(node.children)
        if towards is None or child in path
    }
    source.partition(node.number, node.route, children, keep=True)


def _is_sum(formula: object) -> bool:
    """Return whether an attribute is a sum of numbers, made for one node."""
    return isinstance(formula, Linear)


def _candidates(
    search: Search,
    tree: Tree,
    node: Node,
    stack: TableBatch,
    tables: Mapping[int, CountTable],
) -> tuple[tuple[Candidate, ...], int | None]:
    """Return the best splits of a node's attributes, and which of them it asks.

    What it asks is counted as it is, though another cut might be better here.
    """
    gone = _used_up(tree, node, search.recipe)
    left = np.flatnonzero([i not in gone for i in stack.attribute.tolist()])
    splits = best_splits(search, stack.take(left), tree.schema)
    every = splits.candidates(np.arange(len(splits)))
    if node.split is None:
        return tuple(every), None
    index = node.split.attribute
    if node.candidate.given:  # the best of its attribute is another question
        every.append(_recounted(search, tree, node, tables))
        every.sort(key=lambda c: (c.attribute, not c.given))
        return tuple(every), next(at for at, c in enumerate(every) if c.given)
    best = next((c for c in every if c.attribute == index), None)
    if best is None or not same_split(best.split, node.split):
        best = _recounted(search, tree, node, tables)
    others = [c for c in every if c.attribute != index]
    candidates = sorted([*others, best], key=lambda c: c.attribute)
    return tuple(candidates), candidates.index(best)


def _recounted(
    search: Search, tree: Tree, node: Node, tables: Mapping[int, CountTable]
) -> Candidate:
    """Return what a node asks, counted over other rows."""
    index = node.candidate.attribute
    return recount(
        node.candidate,
        tables[index],
        tree.schema.attributes[index],
        criterion=search.criterion,
        altered=search.altered,
    )


def _used_up(tree: Tree, node: Node, recipe: Recipe) -> set[int]:
    """Return the attributes that were asked above, and have nothing left to tell."""
    above = [step.candidate.split for step in tree.path(node.number)[:-1]]
    if not recipe.reuse:
        behind, attributes = tree.schema.behind, range(len(tree.schema.attributes))
        columns = set(behind(split.attribute for split in above))
        return {i for i in attributes if not columns.isdisjoint(behind([i]))}
    if recipe.grouping != "multiway":
        return set()
    return {split.attribute for split in above if is_multiway(split)}
