"""A tree as text, one line per node."""

from collections.abc import Sequence
from math import inf, isfinite

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.text import (
    counted_label,
    ends_in_digit,
    figure,
    label_text,
    percent_text,
    shown,
    weight_text,
)
from spinney._support.text_table import cells, shortened
from spinney.data import Schema
from spinney.output.leaf_rules import model_lines, short_model_lines
from spinney.output.node_errors import NodeErrors
from spinney.output.shown_nodes import ShownNodes, shown_nodes
from spinney.trees import Groups, Node, Tree
from spinney.trees.criteria import variance

UNICODE = ("├── ", "└── ", "│   ", "    ", "→", "…")
ASCII = ("|-- ", "`-- ", "|   ", "    ", "->", "...")
DEEPEST_INDENT = 40
CLASSES_SHOWN = 4
VALUES_IN_LINE = 12  # values per branch; rules list all
# How many values and classes a line has, and which form of what it hides.
ATTEMPTS = (
    *((VALUES_IN_LINE, CLASSES_SHOWN, form) for form in (0, 1)),
    *((n, CLASSES_SHOWN, 1) for n in (6, 3)),
    *((3, 1, 1), (1, 1, 1), (1, 0, 1)),
)
NO_ROWS = "no rows: as its parent"


def to_text(
    tree: Tree,
    *,
    max_depth: int | None = None,
    ascii_only: bool = False,
    numbers: bool = False,
    errors: NodeErrors | None = None,
    width: int | None = None,
    max_lines: int | None = None,
    rest: Sequence[str] = (),
) -> str:
    """Return the tree as text.

    A line gives the branch, the weight of the rows, the class of a leaf, and the
    classes with counts and percentages. A node at ``max_depth`` counts the hidden nodes
    below it. Lines deeper than 40 levels are indented no further and begin with their
    depth. A leaf with a linear model names it, and the models follow. Leaves without
    rows at the same node share a line. With ``numbers``, each node has its own line,
    which begins with its number; with ``errors``, lines end with the node's errors on
    another table.

    No line is wider than ``width``, unless it has errors, which are never shortened. A
    tree of more than ``max_lines`` shows the branches of the nodes with the most rows,
    and a last line counts the hidden leaves. It ends with the longest text of ``rest``
    that has room.
    """
    shown_part = shown_nodes(tree, max_depth=max_depth, max_lines=max_lines)
    max_width = width if errors is None else None
    lines = _node_lines(
        tree,
        shown_part,
        NodeLines(tree, shown_part.numbers, ascii_only=ascii_only, width=max_width),
        numbers=numbers,
        errors=errors,
    )
    leaves = set(shown_part.numbers.tolist())
    if width is None:
        models = [*model_lines(tree, leaves, ascii_only=ascii_only).values()]
    else:
        models = short_model_lines(tree, leaves, ascii_only=ascii_only, width=width)
    lines += [*([""] if models else []), *models]
    if max_lines is not None and shown_part.hidden_leaves:
        n = shown_part.hidden_leaves
        dots = (ASCII if ascii_only else UNICODE)[5]
        last = f"{dots} {n} more {'leaf' if n == 1 else 'leaves'}"
        texts = [last + f": {text}" for text in rest if text]
        fitting = (text for text in texts if cells(text) <= (width or inf))
        lines.append(next(fitting, last))
    return "\n".join(lines)


def _node_lines(
    tree: Tree,
    part: ShownNodes,
    texts: "NodeLines",
    *,
    numbers: bool,
    errors: NodeErrors | None,
) -> list[str]:
    """Return the line of each shown node, with its indent and what it hides."""
    signs, deepest = texts.signs, texts.deepest_indent
    prefixes, lines = {0: ""}, []
    digits = len(str(len(tree) - 1))
    together: dict[int, tuple[Node, ...]] = {}
    below_of = zip(part.nodes_below.tolist(), part.leaves_below.tolist(), strict=True)
    seen = map(tree.nodes.__getitem__, part.numbers.tolist())
    for node, (below, leaves) in zip(seen, below_of, strict=True):
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
            if node.depth <= deepest:
                lead = before + signs[1 if last else 0]
                prefixes[node.depth] = before + signs[3 if last else 2]
            else:
                lead = f"{before}[{node.depth}] "
                prefixes[node.depth] = before
        if numbers:
            lead = f"{node.number:>{digits}}  {lead}"
        note = "" if errors is None else f"  [{errors.note(node.number)}]"
        hides = (
            f" {signs[5]} [{below} more nodes, {leaves} leaves below]",
            f" {signs[5]}",
        )
        lines.append(texts.line(node, shared, lead, note, hides if below else ("",)))
    return lines


class NodeLines:
    """The lines of the nodes of a tree, each within a width if there is one."""

    def __init__(
        self, tree: Tree, numbers: Integers, *, ascii_only: bool, width: int | None
    ) -> None:
        self.tree, self.ascii_only, self.width = tree, ascii_only, width
        self.signs = ASCII if ascii_only else UNICODE
        self.deepest_indent = DEEPEST_INDENT
        if width is not None:
            self.deepest_indent = min(DEEPEST_INDENT, max(1, width // 2 // 4))
        self._digits = threshold_digits(tree, numbers)
        self._is_weighted = _is_weighted(tree)

    def line(
        self,
        node: Node,
        together: Sequence[Node],
        lead: str,
        note: str,
        hides: Sequence[str],
    ) -> str:
        """Return the line of a node; where it is too wide, parts of it are shortened.

        First the longer form of what it ``hides`` goes, then values of a set, then
        classes, and at last the middle of the condition.
        """
        attempts = ATTEMPTS[:1] if self.width is None else ATTEMPTS
        max_cells = inf if self.width is None else self.width - cells(lead)
        condition = tail = ""
        for n_values, n_classes, form in attempts:
            end = hides[min(form, len(hides) - 1)]
            condition, tail = self._parts(node, together, n_values, n_classes)
            tail = f"{tail}{note}{end}"
            if cells(condition) + cells(tail) <= max_cells:
                return f"{lead}{condition}{tail}"
        assert self.width is not None
        tail = shortened(tail, max(self.width // 2, int(max_cells) - cells(condition)))
        condition = shortened(condition, int(max_cells) - cells(tail))
        return shortened(f"{lead}{condition}{tail}", self.width)

    def _parts(
        self, node: Node, together: Sequence[Node], n_values: int, n_classes: int
    ) -> tuple[str, str]:
        """Return the condition, and the prediction with the rows."""
        tree = self.tree
        name = tree.condition(
            node,
            ascii_only=self.ascii_only,
            together=together,
            most=n_values,
            digits=self._digits,
        )
        name = name or shown(tree.schema.target.name)
        label = tree.model_names.get(node.number) or label_text(tree.label(node))
        verdict = f" {self.signs[4]} {label}" if node.is_leaf else ""
        if not node.n_rows:
            return name, f"{verdict}  ({NO_ROWS})"
        n_rows = node.n_rows if self._is_weighted else None
        counts = counts_text(node.weights, tree.schema, n_rows=n_rows, most=n_classes)
        return name, f"{verdict}  ({counts})"


def _is_weighted(tree: Tree) -> bool:
    """Return whether rows of the tree weigh more or less than 1."""
    root = tree.root
    counts = root.weights[:1] if tree.schema.target.is_numeric else root.weights
    return bool(counts.sum() != root.n_rows or (counts != np.round(counts)).any())


def threshold_digits(tree: Tree, numbers: Integers) -> dict[int, int]:
    """Return with how many significant digits the thresholds of each attribute differ.

    That is at least six, of those nodes alone.
    """
    bounds: dict[int, set[float]] = {}
    for node in map(tree.nodes.__getitem__, numbers.tolist()):
        split = None if node.is_leaf else node.split
        if split is None or isinstance(split, Groups):
            continue
        for branch in range(split.n_branches):
            finite = [b for b in split.bounds(branch) if isfinite(b)]
            bounds.setdefault(split.attribute, set()).update(finite)
    return {
        attribute: next(
            digits
            for digits in range(6, 18)
            if digits == 17 or len({f"{b:.{digits}g}" for b in found}) == len(found)
        )
        for attribute, found in bounds.items()
    }


def counts_text(
    weights: Floats,
    schema: Schema,
    *,
    n_rows: int | None = None,
    most: int = CLASSES_SHOWN,
) -> str:
    """Return the weight at a node with its classes, or with mean and deviation.

    The deviation is the root of the variance with n − 1, or with n if the total weight
    is at most 1. ``n_rows`` come before the weight if given. If ``most`` is 1, the
    commonest class or the mean follows; if 0, nothing.

    >>> from spinney.data.schema import Schema, Target
    >>> schema, weights = Schema((), Target("y", ("no", "yes"))), np.array([3.0, 1.0])
    >>> counts_text(weights, schema), counts_text(weights, schema, most=1)
    ('4: no 3 (75 %), yes 1 (25 %)', '4: no 75 %')
    >>> counts_text(weights, schema, n_rows=9, most=0)
    'n = 9, weight 4'
    """
    origin = schema.target.origin
    before = "" if n_rows is None else f"n = {n_rows}, weight "
    total = float(weights.sum() if origin is None else weights[0])
    lead = f"{before}{weight_text(total)}"
    if most == 0:
        return lead
    if origin is None and most > 1:
        return before + class_counts(weights, schema)
    if origin is None:
        commonest = int(weights.argmax())
        label = label_text(schema.target.classes[commonest])
        return f"{lead}: {label} {percent_text(weights[commonest] / total)}"
    mean = f"{lead}: mean {figure(origin + weights[1] / weights[0])}"
    if most == 1:
        return mean
    return f"{mean}, sd {figure(float(np.sqrt(variance(weights))), digits=4)}"


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
