"""Parts of count tables: columns of classes or branches, tables of some attributes."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Schema
from spinney.trees import TableBatch


def in_columns(
    columns: Integers, weights: Floats, n_columns: int
) -> tuple[Floats, Integers]:
    """Return a line for each row, its weight in its column; none below column 0."""
    known = np.flatnonzero(columns >= 0)
    amounts = np.zeros((len(columns), n_columns))
    amounts[known, columns[known]] = weights[known]
    rows = np.zeros((len(columns), n_columns), dtype=np.int64)
    rows[known, columns[known]] = 1
    return amounts, rows


def relaid(part: NDArray[Any], classes: Integers, n_classes: int) -> NDArray[Any]:
    """Return columns of classes where these are now."""
    new = np.zeros((len(part), n_classes), dtype=part.dtype)
    stays = classes >= 0
    new[:, classes[stays]] = part[:, stays]
    return new


def are_numeric(schema: Schema, attributes: Integers) -> NDArray[np.bool_]:
    """Return which of attributes are numbers."""
    kinds = np.array([a.kind == "numeric" for a in schema.attributes], dtype=bool)
    return kinds[attributes]


def of_node(stack: TableBatch, attributes: tuple[int, ...], number: int) -> TableBatch:
    """Return the tables of some attributes, as those of a node of this number."""
    wanted = np.flatnonzero(np.isin(stack.attribute, attributes))
    stack = stack.take(wanted)
    return replace(stack, node=np.full(len(stack), number))


def with_branches(stack: TableBatch, most: int) -> TableBatch:
    """Return tables by branch with room for so many, the last column staying last."""
    lacking = most + 1 - stack.weights.shape[1]
    if lacking <= 0:
        return stack
    at = [stack.weights.shape[1] - 1] * lacking
    return replace(
        stack,
        weights=np.insert(stack.weights, at, 0.0, axis=1),
        rows=np.insert(stack.rows, at, 0, axis=1),
        missing=np.insert(stack.missing, at, 0.0, axis=1),
        missing_rows=np.insert(stack.missing_rows, at, 0, axis=1),
    )
