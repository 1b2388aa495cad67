"""Matches the rows of a table with a model: training rows or not, and their nodes."""

from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.text import weight_text
from spinney.data import Schema, Table
from spinney.errors import DataError, Setting
from spinney.growth import Model
from spinney.growth.plain import CountedNode, counted_node, send_down
from spinney.output.explain import GivenRows, RowNumbers, checked_node
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet, are_complete, rows_with_positions
from spinney.trees import Node, Tree

CLOSE = 1e-9


def recode_training_rows(
    schema: Schema,
    recipe: Recipe,
    table: Table,
    *,
    y: Any = None,
    sample_weight: Any = None,
) -> tuple[TrainingSet, Integers]:
    """Return the rows of a table that a model of this recipe would be grown on.

    The rows are encoded by its schema, and come with their positions in the table. All
    recipes of a forest leave out the same rows, so any of them can be given.
    """
    training, positions = rows_with_positions(
        schema, table, y=y, sample_weight=sample_weight
    )
    if not recipe.drops_rows:
        return training, positions
    complete = are_complete(training)
    return training.take(complete), positions[complete]


def is_grown_on(model: Model, training: TrainingSet) -> bool:
    """Return whether a model was grown on these rows, as far as it knows.

    A model grown in a database knows only the number of its rows and their weight.
    """
    grown, rows = model.fingerprint, training.fingerprint()
    if grown.digest:
        return grown.digest == rows.digest
    return grown.n_rows == rows.n_rows and bool(np.isclose(grown.weight, rows.weight))


def class_scale(tree: Tree, rows: TrainingSet) -> Floats | None:
    """Return the factors of class weights or priors at the root; None without any.

    ``rows`` are the training rows.
    """
    target = tree.schema.target
    if target.is_numeric:
        return None
    counted = np.bincount(rows.classes, rows.weights, minlength=len(target.classes))
    present = counted > 0
    ratio = np.where(present, tree.root.weights / np.where(present, counted, 1.0), 1.0)
    return None if np.allclose(ratio, 1.0, rtol=CLOSE) else ratio


def rows_at_node(
    model: Model, table: Table, number: int, *, y: Any = None, sample_weight: Any = None
) -> tuple[CountedNode | None, GivenRows]:
    """Return a node counted on the rows of a table, and the rows at its branches.

    Class weights follow from the training rows; other rows count unweighted. A leaf
    that had no training rows needs none.
    """
    tree, schema = model.tree, model.schema
    node = checked_node(tree, number)
    training, positions = recode_training_rows(
        schema.of_columns(), model.recipe, table, y=y, sample_weight=sample_weight
    )
    same, source = is_grown_on(model, training), training.source()
    scale = class_scale(tree, training) if same and model.member is None else None
    counted = counted_node(source, tree, model.recipe, number, class_weights=scale)
    if counted is None and node.n_rows:
        raise DataError(
            Setting("data"),
            f": none of its {len(positions)} rows comes to node {number}",
            remedy="name another node, or give the training table",
        )
    if not node.is_leaf:
        send_down(source, tree, node)
    names = ["this node", *(tree.condition(child) for child in tree.children(node))]
    rows = tuple(
        _numbers(text, *source.members(at), positions, training)
        for text, at in zip(names, (number, *node.children), strict=True)
    )
    recounted = node if counted is None else counted.node
    remark = _remark(model, node, recounted, same=same)
    return counted, GivenRows(len(positions), same, remark, rows)


def _numbers(
    text: str,
    rows: Integers,
    weights: Floats,
    positions: Integers,
    training: TrainingSet,
) -> RowNumbers:
    """Return the numbers, from 1, of rows in the given table."""
    parts = weights / training.sample_weights[rows]
    whole = bool((parts > 1 - CLOSE).all())
    return RowNumbers(
        text,
        tuple((positions[rows] + 1).tolist()),
        () if whole else tuple(parts.tolist()),
    )


def _remark(model: Model, node: Node, recounted: Node, *, same: bool) -> str:
    """Return how the counts differ from those of the model; empty if equal."""
    if np.allclose(node.weights, recounted.weights, rtol=CLOSE, atol=CLOSE):
        return ""
    target = model.schema.target
    stored = f"{node.n_rows} rows of weight {weight_text(node.weight)}"
    if not target.is_numeric:
        pairs = zip(target.classes, node.weights.tolist(), strict=True)
        stored = ", ".join(f"{label} {weight_text(weight)}" for label, weight in pairs)
    if model.member is not None:
        return f"tree of a forest: its bag drew {stored} at this node"
    if same:
        return f"the model counts {stored}, as branches were raised or rows smoothed"
    return f"counts of the training rows: {stored}"
