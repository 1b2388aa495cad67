"""A tree as text, one line per node."""

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.text import figure, label_text, shown, weight_text
from spinney.data import Schema
from spinney.output.rules.leaf_rules import model_lines
from spinney.trees import Node, Tree
from spinney.trees.criteria import variance

UNICODE = ("├── ", "└── ", "│   ", "    ", "→", "…")
ASCII = ("|-- ", "`-- ", "|   ", "    ", "->", "...")
DEEPEST_INDENT = 40
CLASSES_SHOWN = 4


def to_text(
    tree: Tree,
    *,
    max_depth: int | None = None,
    ascii_only: bool = False,
    numbers: bool = False,
) -> str:
    """Return the tree as text.

    A line gives the branch, the weight of the rows, the class of a leaf, and the
    classes with counts and percentages. Below ``max_depth`` a line says what it
    hides. Lines deeper than 40 levels are indented no further and begin with
    their depth. A leaf with a linear model names it, and the models follow. With
    ``numbers``, lines begin with the number of the node.
    """
    signs = ASCII if ascii_only else UNICODE
    prefixes = {0: ""}
    lines = []
    digits = len(str(len(tree) - 1))
    for node in tree:
        if max_depth is not None and node.depth > max_depth:
            continue
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
        line = lead + _node_text(tree, node, ascii_only=ascii_only)
        if node.depth == max_depth and not node.is_leaf:
            line += f" {signs[5]} {_hidden(tree, node)}"
        lines.append(f"{node.number:>{digits}}  {line}" if numbers else line)
    shown_leaves = {n.number for n in tree if max_depth is None or n.depth <= max_depth}
    models = [
        line
        for number, line in model_lines(tree, ascii_only=ascii_only).items()
        if number in shown_leaves
    ]
    return "\n".join([*lines, *([""] if models else []), *models])


def _node_text(tree: Tree, node: Node, *, ascii_only: bool) -> str:
    arrow = (ASCII if ascii_only else UNICODE)[4]
    name = tree.condition(node, ascii_only=ascii_only) or shown(tree.schema.target.name)
    label = tree.model_names.get(node.number) or label_text(tree.label(node))
    verdict = f" {arrow} {label}" if node.is_leaf else ""
    if not node.n_rows:
        return f"{name}{verdict}  (no rows)"
    return f"{name}{verdict}  ({counts_text(node.weights, tree.schema)})"


def _hidden(tree: Tree, node: Node) -> str:
    """Say how much lies below a node: its nodes follow it up to its depth again."""
    below = []
    for later in tree.nodes[node.number + 1 :]:
        if later.depth <= node.depth:
            break
        below.append(later)
    leaves = sum(later.is_leaf for later in below)
    return f"[{len(below)} more nodes, {leaves} leaves below]"


def counts_text(weights: Floats, schema: Schema) -> str:
    """Return the weight at a node with its classes, or with mean and deviation.

    The deviation of a numeric target is the root of the variance with n − 1.
    """
    origin = schema.target.origin
    if origin is None:
        return class_counts(weights, schema)
    mean = origin + weights[1] / weights[0]
    deviation = float(np.sqrt(variance(weights)))
    return f"{weight_text(weights[0])}: mean {figure(mean)}, sd {deviation:.4g}"


def class_counts(weights: Floats, schema: Schema) -> str:
    """Return the weight at a node and of its classes, with percentages.

    Classes come in their order; where more than four have rows, the rarest are
    counted together.
    """
    total = float(weights.sum())
    present = np.flatnonzero(weights > 0)
    rest: list[int] = []
    if len(present) > CLASSES_SHOWN:
        # Weights that differ by rounding are equal, and the first class comes first.
        shares = np.round(weights / total, 9)
        heaviest = sorted(present, key=lambda c: (-shares[c], c))
        rest = [int(c) for c in heaviest[CLASSES_SHOWN - 1 :]]
        present = np.array(sorted(heaviest[: CLASSES_SHOWN - 1]))
    parts = [
        f"{shown(schema.target.classes[c])} {weight_text(weights[c])} "
        f"({100 * weights[c] / total:.0f} %)"
        for c in present
    ]
    if rest:
        others = float(weights[rest].sum())
        parts.append(
            f"{len(rest)} other classes {weight_text(others)} "
            f"({100 * others / total:.0f} %)"
        )
    return f"{weight_text(total)}: {', '.join(parts)}"
