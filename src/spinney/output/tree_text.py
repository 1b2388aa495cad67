"""A tree as text, one line per node."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.text import (
    counted_label,
    ends_in_digit,
    figure,
    label_text,
    shown,
    weight_text,
)
from spinney.data import Schema
from spinney.output.leaf_rules import model_lines
from spinney.output.node_errors import NodeErrors
from spinney.trees import Node, Tree
from spinney.trees.criteria import variance

UNICODE = ("├── ", "└── ", "│   ", "    ", "→", "…")
ASCII = ("|-- ", "`-- ", "|   ", "    ", "->", "...")
DEEPEST_INDENT = 40
CLASSES_SHOWN = 4
VALUES_IN_LINE = 12  # values per branch; rules list all
NO_ROWS = "no rows: as its parent"


def to_text(
    tree: Tree,
    *,
    max_depth: int | None = None,
    ascii_only: bool = False,
    numbers: bool = False,
    errors: NodeErrors | None = None,
) -> str:
    """Return the tree as text.

    A line gives the branch, the weight of the rows, the class of a leaf, and the
    classes with counts and percentages. A node at ``max_depth`` counts the hidden nodes
    below it. Lines deeper than 40 levels are indented no further and begin with their
    depth. A leaf with a linear model names it, and the models follow. Leaves without
    rows at the same node share a line. With ``numbers``, each node has its own line,
    which begins with its number; with ``errors``, lines end with the node's errors on
    another table.
    """
    signs = ASCII if ascii_only else UNICODE
    prefixes = {0: ""}
    lines = []
    digits = len(str(len(tree) - 1))
    together: dict[int, tuple[Node, ...]] = {}
    depth, leaf = _shape(tree)
    seen = np.arange(len(tree))
    if max_depth is not None:
        seen = np.flatnonzero(depth <= max_depth)
    # In printing order, hidden descendants lie between a node and the next shown one.
    n_below = np.diff(seen, append=len(tree)) - 1
    leaves_below = np.diff(np.append(0, leaf.cumsum())[np.append(seen, len(tree))])
    for node, below, leaves in zip(
        map(tree.nodes.__getitem__, seen.tolist()), n_below, leaves_below, strict=True
    ):
        if not numbers and errors is None and not below:
            empty = tree.empty_sibling_leaves(node)
            together.update({each.number: empty for each in empty})
        shared = together.get(node.number, ())
        if shared and node.number != shared[-1].number:
            continue  # the last of them is printed for all
        lead = ""
        if node.parent is not None:
            last = node.branch == len(tree.nodes[node.parent].children) - 1
            before = prefixes[node.depth - 1]
            if node.depth <= DEEPEST_INDENT:
                lead = before + signs[1 if last else 0]
                prefixes[node.depth] = before + signs[3 if last else 2]
            else:
                lead = f"{before}[{node.depth}] "
                prefixes[node.depth] = before
        line = lead + _node_text(tree, node, shared, ascii_only=ascii_only)
        if errors is not None:
            line += f"  [{errors.note(node.number)}]"
        if below:
            line += f" {signs[5]} [{below} more nodes, {leaves} leaves below]"
        lines.append(f"{node.number:>{digits}}  {line}" if numbers else line)
    shown_leaves = set(seen.tolist())
    models = model_lines(tree, shown_leaves, ascii_only=ascii_only).values()
    return "\n".join([*lines, *([""] if models else []), *models])


def _node_text(
    tree: Tree, node: Node, together: Sequence[Node], *, ascii_only: bool
) -> str:
    arrow = (ASCII if ascii_only else UNICODE)[4]
    name = tree.condition(
        node, ascii_only=ascii_only, together=together, most=VALUES_IN_LINE
    )
    name = name or shown(tree.schema.target.name)
    label = tree.model_names.get(node.number) or label_text(tree.label(node))
    verdict = f" {arrow} {label}" if node.is_leaf else ""
    if not node.n_rows:
        return f"{name}{verdict}  ({NO_ROWS})"
    return f"{name}{verdict}  ({counts_text(node.weights, tree.schema)})"


def fitting_depth(tree: Tree, n_lines: int) -> int | None:
    """Return the greatest depth that fits ``n_lines``; None if the whole tree fits.

    The root and its branches are always shown.
    """
    if len(tree) <= n_lines:
        return None
    lines = np.bincount(_shape(tree)[0]).cumsum()
    return max(1, int(np.count_nonzero(lines <= n_lines)) - 1)


def _shape(tree: Tree) -> tuple[Integers, NDArray[np.bool_]]:
    """Return the depth of each node and a mask of leaves, without building nodes."""
    return tree.nodes.links.depth, ~tree.arrays.inner


def counts_text(weights: Floats, schema: Schema) -> str:
    """Return the weight at a node with its classes, or with mean and deviation.

    The deviation is the root of the variance with n − 1, or with n if the total weight
    is at most 1.
    """
    origin = schema.target.origin
    if origin is None:
        return class_counts(weights, schema)
    mean = origin + weights[1] / weights[0]
    deviation = float(np.sqrt(variance(weights)))
    return f"{weight_text(weights[0])}: mean {figure(mean)}, sd {deviation:.4g}"


def class_counts(weights: Floats, schema: Schema) -> str:
    """Return the weight at a node and of its classes, with percentages.

    Classes come in their order; if more than four have rows, the rarest are combined.
    """
    total = float(weights.sum())
    present = np.flatnonzero(weights > 0)
    rest: list[int] = []
    if len(present) > CLASSES_SHOWN:
        # Weights that differ only by rounding tie; the first class wins.
        shares = np.round(weights / total, 9)
        heaviest = sorted(present, key=lambda c: (-shares[c], c))
        rest = [int(c) for c in heaviest[CLASSES_SHOWN - 1 :]]
        present = np.array(sorted(heaviest[: CLASSES_SHOWN - 1]))
    classes = schema.target.classes
    colon = ends_in_digit(classes)
    counted = {classes[c]: float(weights[c]) for c in present}
    if rest:
        counted[f"{len(rest)} other classes"] = float(weights[rest].sum())
    parts = [
        counted_label(label, weight, total, colon=colon)
        for label, weight in counted.items()
    ]
    return f"{weight_text(total)}{';' if colon else ':'} {', '.join(parts)}"
