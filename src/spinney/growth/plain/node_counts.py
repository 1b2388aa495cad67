"""The count tables of one node of a finished tree, as a search sees them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Linear
from spinney.growth.growth_options import Options
from spinney.growth.plain.growing_nodes import is_multiway
from spinney.growth.plain.learner import search_over
from spinney.recipes import Recipe
from spinney.search import Search, best_splits, is_same_split, recount
from spinney.sources import ROOT, Counts, TableRequest, register_formulas
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
        The node with the weights of these rows, and the best split of every attribute
        on these rows. The attribute of the node keeps the node's split.
    search : Search
        The search of the tree, with statistics of all rows of the source.
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
    """Return a node counted on the rows of a source; None if no row reaches it."""
    schema, node = tree.schema, tree.nodes[number]
    register_formulas(source, schema)
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
    # A sum of numbers is made for one node.
    columns = tuple(
        i for i, a in enumerate(schema.attributes) if not isinstance(a.formula, Linear)
    )
    for batch in source.tables([TableRequest(ROOT, columns)]):
        search = search.with_root_tables(batch, schema)
    for ancestor in tree.path(number)[:-1]:
        send_down(source, tree, ancestor, towards=number)
    split_attribute = () if node.split is None else (node.split.attribute,)
    requested = tuple(sorted({*columns, *split_attribute}))
    batch = joined_batches(source.tables([TableRequest(number, requested)]))
    if not (batch.total_rows + batch.missing_rows)[:1].any():
        return None
    search = search.with_root_tables(
        batch, schema
    )  # a sum of numbers is known at its node only
    batch = batch.scaled(class_weights)
    tables = {
        attribute: batch.table(
            index, codes=schema.attributes[attribute].kind != "numeric"
        )
        for index, attribute in enumerate(batch.attribute.tolist())
    }
    candidates, chosen = _candidates(search, tree, node, batch, tables)
    first = tables[int(batch.attribute[0])]
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
    """Send the rows of a node to its children, or only ``towards`` a descendant."""
    assert node.route is not None
    path = () if towards is None else {step.number for step in tree.path(towards)}
    children = {
        branch: child
        for branch, child in enumerate(node.children)
        if towards is None or child in path
    }
    source.partition(node.number, node.route, children, keep=True)


def _candidates(
    search: Search,
    tree: Tree,
    node: Node,
    batch: TableBatch,
    tables: Mapping[int, CountTable],
) -> tuple[tuple[Candidate, ...], int | None]:
    """Return the best splits of a node's attributes, and the index of the node's own.

    The node's own split is counted unchanged, though another threshold may be better
    here.
    """
    exhausted = _exhausted(tree, node, search.recipe)
    usable = np.flatnonzero([i not in exhausted for i in batch.attribute.tolist()])
    splits = best_splits(search, batch.take(usable), tree.schema)
    candidates = splits.candidates(np.arange(len(splits)))
    if node.split is None:
        return tuple(candidates), None
    index = node.split.attribute
    recounted_split = recount(
        node.candidate,
        tables[index],
        tree.schema.attributes[index],
        criterion=search.criterion,
        altered=search.altered,
    )
    if node.candidate.given:  # the best split of its attribute is another
        candidates.append(recounted_split)
        candidates.sort(key=lambda c: (c.attribute, not c.given))
        return tuple(candidates), next(
            place for place, c in enumerate(candidates) if c.given
        )
    best = next((c for c in candidates if c.attribute == index), None)
    if best is None or not is_same_split(best.split, node.split):
        best = recounted_split
    others = [c for c in candidates if c.attribute != index]
    ordered = sorted([*others, best], key=lambda c: c.attribute)
    return tuple(ordered), ordered.index(best)


def _exhausted(tree: Tree, node: Node, recipe: Recipe) -> set[int]:
    """Return the attributes of splits above that cannot split this node again."""
    above = [step.candidate.split for step in tree.path(node.number)[:-1]]
    if not recipe.reuse_attributes:
        behind = tree.schema.input_columns
        attributes = range(len(tree.schema.attributes))
        columns = set(behind(split.attribute for split in above))
        return {i for i in attributes if not columns.isdisjoint(behind([i]))}
    if recipe.grouping != "multiway":
        return set()
    return {split.attribute for split in above if is_multiway(split)}
