"""The path of a row through a tree; a missing value may divide it into several."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import number_text
from spinney.data import Attribute, Value
from spinney.growth import Model
from spinney.output.explain.explanation_text import VALUES_SHOWN, row_text
from spinney.trees import Node, Tree, describe, expected_costs, labels_of
from spinney.trees.predict import flatten


@dataclass(frozen=True, slots=True)
class TermLine:
    """A term of a leaf's linear model: its value times its coefficient.

    ``missing`` says that the value replaces a missing one.
    """

    text: str
    value: float
    coefficient: float
    product: float
    missing: bool


@dataclass(frozen=True, slots=True)
class ModelArithmetic:
    """The linear model of a leaf for a row, as intercept and terms."""

    name: str
    intercept: float
    terms: tuple[TermLine, ...]
    value: float


@dataclass(frozen=True, slots=True)
class RowStep:
    """A row at a node: its weight there, and its value of the splitting attribute.

    ``asks`` is the name of that attribute. ``seen`` says that the node has a branch for
    the value; otherwise it counts as missing, and ``sent_by`` names the surrogate that
    sent the row, if any. ``label`` is the prediction of the node, in a leaf with a
    linear model for this row.
    """

    node: int
    depth: int
    condition: str
    weight: float
    value: Value | None
    seen: bool
    label: Value
    leaf: bool
    distribution: tuple[float, ...]
    model: ModelArithmetic | None = None
    sent_by: str = ""
    asks: str = ""


@dataclass(frozen=True, slots=True)
class RowExplanation(InNotebooks):
    """The path of a row; several paths if a missing value divides it.

    ``counted`` are the unsmoothed class proportions at its leaves, ``costs`` the
    expected cost of each label.
    """

    target: str
    classes: tuple[Value, ...]
    steps: tuple[RowStep, ...]
    probabilities: tuple[float, ...]
    label: Value
    counted: tuple[float, ...] = ()
    costs: tuple[float, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the path as text."""
        return row_text(self, ascii_only=ascii_only)


def explain_row(
    model: Model, cells: Sequence[NDArray[Any]], row: Mapping[str, Value | None]
) -> RowExplanation:
    """Return the path of a row, given as encoded cells and as values."""
    tree, target = model.tree, model.schema.target
    flat = flatten(tree)
    weights: dict[int, float] = {}
    for entries in flat.visits(cells, 1):
        for number, weight in zip(entries.nodes, entries.weights, strict=True):
            weights[int(number)] = float(weight)
    steps = []
    for number in sorted(weights):
        node = tree.nodes[number]
        arithmetic = _arithmetic(tree, node, cells)
        steps.append(
            RowStep(
                node=number,
                depth=node.depth,
                condition=tree.condition(node, most=VALUES_SHOWN),
                weight=weights[number],
                label=tree.label(node) if arithmetic is None else arithmetic.value,
                leaf=node.is_leaf,
                distribution=tuple(node.distribution.tolist()),
                model=arithmetic,
                **_split_value(tree, node, cells, row),
            )
        )
    (outputs,) = flat.outputs(cells, 1)
    numeric = target.is_numeric
    label = int(labels_of(outputs, target.costs))
    return RowExplanation(
        target.name,
        target.classes,
        tuple(steps),
        () if numeric else tuple(outputs.tolist()),
        float(outputs[0]) if numeric else target.classes[label],
        () if numeric else _counted(tree, weights),
        ()
        if target.costs is None
        else tuple(expected_costs(outputs, target.costs).tolist()),
    )


def _counted(tree: Tree, weights: Mapping[int, float]) -> tuple[float, ...]:
    """Return the class proportions of training rows at the leaves of a row."""
    shares = np.zeros(tree.schema.n_classes)
    for number, weight in weights.items():
        if tree.nodes[number].is_leaf:
            shares += weight * tree.counted_shares(tree.nodes[number])
    return tuple(shares.tolist())


def _arithmetic(
    tree: Tree, node: Node, cells: Sequence[NDArray[Any]]
) -> ModelArithmetic | None:
    """Return the arithmetic of a leaf's linear model for the row, if it has one."""
    model = node.model
    if model is None or not node.is_leaf:
        return None
    lines = []
    for term, coefficient in zip(model.terms, model.coefficients, strict=True):
        cell = np.asarray(cells[term.attribute])[:1]
        value = float(term.values(cell)[0])
        lines.append(
            TermLine(
                term.text(tree.schema.attributes[term.attribute]),
                value,
                coefficient,
                coefficient * value,
                bool(term.is_missing(cell)[0]),
            )
        )
    value = float(sum(line.product for line in lines) + model.intercept)
    name = tree.model_names[node.number]
    return ModelArithmetic(name, model.intercept, tuple(lines), value)


def _split_value(
    tree: Tree, node: Node, cells: Sequence[Any], row: Mapping[str, Value | None]
) -> dict[str, Any]:
    """Return the row's value of the splitting attribute, and its surrogate."""
    split = node.split
    if split is None:
        return {"value": None, "seen": True}
    attribute, own = tree.schema.attributes[split.attribute], cells[split.attribute]
    seen = bool(split.branch_of(own)[0] >= 0)
    alone = seen or node.default_branch is None
    return {
        "value": _value(attribute, own[0], row),
        "seen": seen,
        "asks": attribute.text(),
        "sent_by": "" if alone else _sent_by(tree, node, cells),
    }


def _value(
    attribute: Attribute, cell: float, row: Mapping[str, Value | None]
) -> Value | None:
    """Return the row's value of an attribute, computed for a formula."""
    if attribute.formula is None:
        value = row[attribute.name]
        as_time = attribute.unit and isinstance(value, float)
        return number_text(float(cell), attribute.unit) if as_time else value
    if attribute.kind == "numeric":
        return None if np.isnan(cell) else float(cell)
    return None if cell < 0 else attribute.values[int(cell)]


def _sent_by(tree: Tree, node: Node, cells: Sequence[Any]) -> str:
    """Return text on the surrogate that sends a row whose value has no branch."""
    for surrogate in node.surrogates:
        attribute = surrogate.attribute
        own = int(surrogate.split.branch_of(cells[attribute])[0])
        if own >= 0:
            text = describe(surrogate.split, tree.schema.attributes[attribute], own)
            return f"sent by the surrogate {text}"
    return "no surrogate has a value, sent to the default branch"
