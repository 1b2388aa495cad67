"""The box of a node, by the style of the picture.

``compact`` shows the splitting attribute or the prediction, and the rows; ``rules``
puts conditions on branches and shows the prediction of every node; ``teaching`` shows
what a textbook draws: class counts, impurity, and the merit of every attribute.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spinney._support.text import figure, percent_text, short_weight, shown
from spinney.extensions.pictures.box_parts import (
    BoxPart,
    Columns,
    NodeBox,
    Separator,
    Words,
)
from spinney.extensions.pictures.branch_bars import branch_bar_parts
from spinney.extensions.pictures.node_colours import (
    ClassColours,
    NumberColours,
    moments,
    tree_colours,
)
from spinney.extensions.pictures.node_histograms import Histogram, node_histograms
from spinney.extensions.pictures.text_width import wrapped
from spinney.growth import Model
from spinney.output.explain import explain_node
from spinney.output.node_errors import NodeErrors
from spinney.output.tree_text import NO_ROWS, counts_text
from spinney.search import Search
from spinney.trees import Node, Tree

CLASSES_SHOWN = 8
CANDIDATES_SHOWN = 10
SHARES_SHOWN = 3
DIGITS = 4  # of means
CONDITIONS_SHOWN = 8
REASON_WIDTH = 150.0
ERROR_WIDTH = 280.0


@dataclass(frozen=True)
class NodeBoxes:
    """The boxes of a model's nodes, in a style.

    With ``bars`` a split shows its branches as bars. ``errors`` of another table come
    last; the bars then count its rows. Numbers have ``digits``, four if not given.
    """

    model: Model
    style: str
    errors: NodeErrors | None = None
    bars: bool = False
    digits: int | None = None

    @property
    def tree(self) -> Tree:
        """The tree that is drawn."""
        return self.model.tree

    @cached_property
    def weighted(self) -> bool:
        """Whether rows have weights; then all boxes show weights."""
        return weighs(self.tree)

    @cached_property
    def colours(self) -> ClassColours | NumberColours:
        """The colours of its nodes."""
        return tree_colours(self.tree)

    def box(self, node: Node) -> NodeBox:
        """Return the box of a node."""
        colours = self.colours
        return NodeBox(
            shape="leaf" if node.is_leaf else "question",
            parts=[
                *STYLES[self.style](self, node),
                *self._branch_bars(node),
                *self._error_lines(node),
            ],
            hue=colours.hue(node),
            opacity=colours.opacity(node),
            tooltip=self._tooltip(node),
        )

    def _branch_bars(self, node: Node) -> list[BoxPart]:
        """Return the bars of a split, if they are to be drawn."""
        if not self.bars:
            return []
        bars = branch_bar_parts(self.tree, self.colours, node, self._histograms)
        return [Separator(), *bars] if bars else []

    @cached_property
    def _histograms(self) -> Mapping[int, Histogram] | None:
        """Histograms of the given rows, at splits of numbers."""
        rows = None if self.errors is None else self.errors.rows
        return None if rows is None else node_histograms(self.tree, rows)

    def _error_lines(self, node: Node) -> list[BoxPart]:
        """Return the errors of a node on another table, if there is one."""
        if self.errors is None:
            return []
        lines = self.errors.lines(node.number)
        return [Separator(), *(Words(line, "note", ERROR_WIDTH) for line in lines)]

    def _tooltip(self, node: Node) -> str:
        where = " AND ".join(self._nearest_conditions(node)) or "all rows"
        counts = counts_text(node.weights, self.tree.schema) if node.n_rows else "none"
        return f"node {node.number}: {where}\n{counts}"

    def _nearest_conditions(self, node: Node) -> list[str]:
        """Return the conditions of the path to a node; if many, the nearest."""
        conditions: list[str] = []
        while node.parent is not None:
            if len(conditions) == CONDITIONS_SHOWN:
                conditions.append("…")
                break
            conditions.append(self.tree.condition(node))
            node = self.tree.nodes[node.parent]
        return conditions[::-1]

    def splitting_attribute(self, node: Node) -> str:
        """Return the name of the splitting attribute of a node."""
        assert node.split is not None
        return self.tree.schema.attributes[node.split.attribute].text()

    def prediction(self, node: Node) -> str:
        """Return the prediction of a node as text."""
        model_name = self.tree.model_names.get(node.number)
        if self.tree.schema.target.is_numeric:
            return model_name or self.figure(node.value)
        return shown(self.tree.label(node))

    def figure(self, number: float) -> str:
        """Return a number in the digits of the picture."""
        return figure(number, digits=self.digits or DIGITS)

    def proportion(self, node: Node) -> str:
        """Return the proportion of the total weight at a node."""
        total = self.tree.root.weight
        return percent_text(node.weight / total if total else 0.0)

    def rows(self, node: Node) -> str:
        """Return the number of rows at a node, or their weight."""
        size = self._size(node)
        if size.startswith("weight"):
            return size
        return f"{size} row{'s' if node.n_rows != 1 else ''}"

    def _size(self, node: Node) -> str:
        if self.weighted or not np.isclose(node.weight, node.n_rows):
            return f"weight {short_weight(node.weight)}"
        return str(node.n_rows)

    def support(self, node: Node) -> str:
        """Return the rows at a node; for a leaf, also those predicted correctly."""
        if not node.n_rows:
            return NO_ROWS
        numeric = self.tree.schema.target.is_numeric
        right = 0.0 if numeric else float(node.weights[node.label])
        mixed = node.is_leaf and 0 < right < node.weight
        share = self.proportion(node)
        if mixed:
            return (
                f"{short_weight(right)} of {self._size(node)} correct · {share} of all"
            )
        return f"{self.rows(node)} · {share}"

    def spread(self, node: Node, title: str) -> str:
        """Return mean ± standard deviation, without the mean if it is the title."""
        mean, deviation = moments(self.tree, node)
        shown_mean, spread = self.figure(mean), self.figure(deviation)
        return f"{'' if title == shown_mean else f'mean {shown_mean} '}± {spread}"

    def picture(self, node: Node) -> BoxPart:
        """Return a bar of the classes at a node, or a strip of its numbers."""
        colours = self.colours
        if isinstance(colours, NumberColours):
            return colours.strip(*moments(self.tree, node))
        return colours.bar(self.tree.counted_shares(node))


def weighs(tree: Tree) -> bool:
    """Return whether rows have weights other than 1, as in a bag.

    A divided row has less than its weight at nodes, and 1 at the root.
    """
    arrays = tree.arrays
    weight = arrays.weight(tree.schema.target)
    alike = np.isclose(weight, arrays.rows)
    return not alike[0] or bool(((weight > arrays.rows) & ~alike).any())


def _compact(boxes: NodeBoxes, node: Node) -> list[BoxPart]:
    title = boxes.prediction(node) if node.is_leaf else boxes.splitting_attribute(node)
    parts: list[BoxPart] = [Words(title, "title"), Words(boxes.support(node), "note")]
    if boxes.tree.schema.target.is_numeric:
        parts.append(Words(boxes.spread(node, title), "note"))
    return [*parts, boxes.picture(node)]


def _rules(boxes: NodeBoxes, node: Node) -> list[BoxPart]:
    target = boxes.tree.schema.target
    title = boxes.prediction(node)
    parts: list[BoxPart] = [Words(title, "title")]
    if target.is_numeric:
        parts.append(Words(boxes.spread(node, title), "note"))
    elif len(target.classes) <= SHARES_SHOWN:
        shares = boxes.tree.counted_shares(node)
        parts.append(Words(" · ".join(percent_text(s) for s in shares), "note"))
    return [*parts, Words(boxes.support(node), "note"), boxes.picture(node)]


def _teaching(boxes: NodeBoxes, node: Node) -> list[BoxPart]:
    title = boxes.prediction(node) if node.is_leaf else boxes.splitting_attribute(node)
    parts: list[BoxPart] = [
        Words(title, "title"),
        Words(
            f"node {node.number} · {boxes.rows(node)} · {boxes.proportion(node)}",
            "note",
        ),
        boxes.picture(node),
        *_counts(boxes, node),
    ]
    explanation = explain_node(boxes.model, node.number)
    if explanation.impurity is not None and node.n_rows:
        name = explanation.impurity_name
        parts.append(Columns(name, _decimals(explanation.impurity), "plain"))
    if node.is_leaf:
        reason = str(node.reason or "")
        lines = wrapped(reason, REASON_WIDTH, 11)
        return [*parts, *(Words(line, "note") for line in lines)]
    return [*parts, Separator(), *_merits(boxes, node)]


def _counts(boxes: NodeBoxes, node: Node) -> list[BoxPart]:
    """Return the weight of each class present, or mean and deviation."""
    tree = boxes.tree
    if tree.schema.target.is_numeric:
        mean, deviation = map(boxes.figure, moments(tree, node))
        return [Columns("mean", mean), Columns("deviation", deviation)]
    present = [int(c) for c in np.flatnonzero(node.weights > 0)]
    shares = node.weights / (node.weight or 1.0)
    colours = boxes.colours
    assert not isinstance(colours, NumberColours)
    lines: list[BoxPart] = [
        Columns(
            shown(tree.schema.target.classes[c]),
            f"{short_weight(node.weights[c])} · {percent_text(shares[c])}",
            swatch=f"k{colours.index[c]}",
        )
        for c in present[:CLASSES_SHOWN]
    ]
    n_hidden = len(present) - CLASSES_SHOWN
    rest = [Words(f"+ {n_hidden} more classes", "note")] if n_hidden > 0 else []
    return [*lines, *rest]


def _merits(boxes: NodeBoxes, node: Node) -> list[BoxPart]:
    """Return the merits of all attributes, the chosen one first, then the best."""
    tree, recipe = boxes.tree, boxes.model.recipe
    numeric = tree.schema.target.is_numeric
    search = Search.of(recipe, numeric=numeric, total=tree.root.weight)
    ranked = [node.candidate, *node.runners_up]
    best = max(candidate.merit for candidate in ranked)
    lines: list[BoxPart] = [
        Columns(
            tree.schema.attributes[candidate.attribute].text(),
            _decimals(candidate.merit),
            "note" if place else "strong",
            share=min(max(candidate.merit / best, 0.0), 1.0) if best > 0 else 0.0,
        )
        for place, candidate in enumerate(ranked[:CANDIDATES_SHOWN])
    ]
    n_hidden = len(ranked) - CANDIDATES_SHOWN
    if n_hidden > 0:
        lines.append(Words(f"+ {n_hidden} more attributes", "note"))
    return [Columns(search.criterion.merit_name, "", "note"), *lines]


def _decimals(number: float) -> str:
    """Return a number in three decimals, as explanations have it; large ones short."""
    return f"{number:.3f}" if abs(number) < 1e4 else figure(number, digits=4)


STYLES: dict[str, Callable[[NodeBoxes, Node], list[BoxPart]]] = {
    "compact": _compact,
    "rules": _rules,
    "teaching": _teaching,
}
