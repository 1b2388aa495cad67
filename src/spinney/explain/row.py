"""The path of a row, in several parts where a missing value divides it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.explain.text import row_text
from spinney.model import Model
from spinney.predict import flatten, majorities
from spinney.table import Value
from spinney.tree import Node, Tree
from spinney.wording import number_text, value_text

__all__ = ["RowExplanation", "RowStep", "explain_row"]


@dataclass(frozen=True, slots=True)
class RowStep:
    """A row at a node: the weight it has there, and what sent it on."""

    node: int
    depth: int
    condition: str
    weight: float
    value: Value | None
    label: Value
    leaf: bool
    distribution: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RowExplanation:
    """The path of a row; several paths where a missing value divides it."""

    target: str
    classes: tuple[Value, ...]
    steps: tuple[RowStep, ...]
    probabilities: tuple[float, ...]
    label: Value

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    def __str__(self) -> str:
        return row_text(self)


def explain_row(
    model: Model, columns: Sequence[NDArray[Any]], row: int = 0
) -> RowExplanation:
    """Return the path of one row of encoded columns."""
    tree, target = model.tree, model.schema.target
    flat = flatten(tree)
    cells = [None if column is None else column[row : row + 1] for column in columns]
    weights: dict[int, float] = {}
    for entries in flat.visits(cells, 1):
        for number, weight in zip(entries.nodes, entries.weights, strict=True):
            weights[int(number)] = float(weight)
    steps = []
    for number in sorted(weights):
        node = tree.nodes[number]
        steps.append(
            RowStep(
                number,
                node.depth,
                tree.condition(node),
                weights[number],
                _asked_value(tree, node, cells),
                target.classes[node.label],
                node.is_leaf,
                tuple(node.distribution.tolist()),
            )
        )
    probabilities = flat.probabilities(cells, 1)
    label = target.classes[int(majorities(probabilities)[0])]
    return RowExplanation(
        target.name,
        target.classes,
        tuple(steps),
        tuple(probabilities[0].tolist()),
        label,
    )


def _asked_value(tree: Tree, node: Node, cells: Sequence[Any]) -> Value | None:
    """Return the row's value of the attribute that a node asks about."""
    if node.split is None:
        return None
    attribute = tree.schema.attributes[node.split.attribute]
    cell = cells[node.split.attribute][0]
    if attribute.kind == "numeric":
        if np.isnan(cell):
            return None
        return (
            number_text(float(cell), attribute.unit) if attribute.unit else float(cell)
        )
    return None if cell < 0 else value_text(attribute.values[int(cell)])
