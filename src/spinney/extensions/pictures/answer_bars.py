"""How the rows of a node answer its question: a bar for each answer, by class.

Of names there is a bar for each value, a line between those of different branches; of
numbers, and of very many names, one for each branch: a model keeps no more of a number
than the counts on the sides of its cut. Where rows are given, a number has a histogram
of them. Where numbers are predicted, an answer has its mean and deviation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.text import figure, short_weight, shown
from spinney.extensions.pictures.answer_histogram import answer_histogram
from spinney.extensions.pictures.box_parts import (
    BoxPart,
    ShareBar,
    baseline,
    line_height,
    width_of,
)
from spinney.extensions.pictures.branch_labels import branch_label
from spinney.extensions.pictures.markup import Markup, joined
from spinney.extensions.pictures.node_colours import (
    ClassColours,
    NumberColours,
    mean_and_deviation,
)
from spinney.extensions.pictures.node_histograms import Histogram
from spinney.extensions.pictures.svg_elements import group, line, words
from spinney.extensions.pictures.text_width import shortened
from spinney.output.tree_text import counts_text
from spinney.trees import CountTable, Groups, Node, Tree

__all__ = ["answer_parts"]

KIND, SIZE = "note", 11
NAME_ROOM, BAR, GAP = 132.0, 56.0, 7.0
BRANCH_GAP = 4.0
ANSWERS_SHOWN = 8


@dataclass(frozen=True)
class Answer:
    """An answer, and the counts, or moments, of those who gave it."""

    name: str
    branch: int
    weights: Floats
    weight: float


@dataclass(frozen=True)
class AnswerLine:
    """What is drawn of an answer; a longer bar is more rows."""

    name: str
    figure: str
    bar: BoxPart
    length: float
    tooltip: str
    ruled: bool


@dataclass(frozen=True)
class AnswerBars:
    """The answers at a node, below each other: names, bars and figures in columns."""

    lines: Sequence[AnswerLine]

    @cached_property
    def _columns(self) -> tuple[float, float]:
        names = max(width_of(self._name(each), KIND) for each in self.lines)
        return names, max(width_of(each.figure, KIND) for each in self.lines)

    @staticmethod
    def _name(each: AnswerLine) -> str:
        return shortened(each.name, NAME_ROOM, SIZE)

    @property
    def width(self) -> float:
        """The least width."""
        names, figures = self._columns
        return names + GAP + BAR + GAP + figures

    @property
    def height(self) -> float:
        """The height of all lines."""
        rules = BRANCH_GAP * sum(each.ruled for each in self.lines)
        return len(self.lines) * line_height(KIND) + rules

    def draw(self, x: float, y: float, width: float) -> Markup:
        """Return them as SVG; the bars take what room there is."""
        names, figures = self._columns
        room = width - names - figures - 2 * GAP
        parts, tall = [], line_height(KIND)
        for each in self.lines:
            if each.ruled:
                y += BRANCH_GAP
                at = y - BRANCH_GAP / 2
                parts.append(line(x, at, x + width, at, kind="axis"))
            top, base = y + (tall - each.bar.height) / 2, y + baseline(KIND)
            parts.append(
                group(
                    each.tooltip,
                    words(self._name(each), x=x + names, y=base, class_=f"{KIND} end"),
                    each.bar.draw(x + names + GAP, top, room * each.length),
                    words(each.figure, x=x + width, y=base, class_=f"{KIND} end"),
                )
            )
            y += tall
        return joined(parts)


def answer_parts(
    tree: Tree,
    colours: ClassColours | NumberColours,
    node: Node,
    histograms: Mapping[int, Histogram] | None = None,
) -> list[BoxPart]:
    """Return the answers to the question of a node; nothing of a leaf or without rows.

    Where there are ``histograms``, of rows that are given, numbers have theirs.
    """
    if node.is_leaf:
        return []
    if histograms is None or node.number not in histograms:
        answers = _by_value(tree, node) or _by_branch(tree, node)
        return _lines(tree, colours, answers)
    counted, asks = histograms[node.number], node.candidate.attribute
    attribute = tree.schema.attributes[asks]
    size = counted.missing if tree.schema.target.is_numeric else counted.missing.sum()
    without = Answer("missing", -1, counted.missing, float(np.ravel(size)[0]))
    return [
        answer_histogram(tree, colours, attribute, counted),
        *_lines(tree, colours, [without]),
    ]


def _lines(
    tree: Tree, colours: ClassColours | NumberColours, answers: list[Answer]
) -> list[BoxPart]:
    """Return answers as bars below each other, if any row gave one."""
    answers = [each for each in answers if each.weight > 0]
    if not answers:
        return []
    kept, rest = _heaviest(answers)
    # A line between branches says which values go together, if some do.
    grouped = len({each.branch for each in answers}) < len(answers)
    most = max(each.weight for each in answers)
    lines, before = [], kept[0].branch
    for each in kept:
        tooltip = f"{each.name}: {counts_text(each.weights, tree.schema)}"
        ruled, before = grouped and each.branch != before, each.branch
        drawn = _drawn(tree, colours, each, most)
        lines.append(AnswerLine(each.name, *drawn, tooltip, ruled))
    if rest:
        names = ", ".join(each.name for each in rest)
        blank = ShareBar(())
        lines.append(AnswerLine(f"+ {len(rest)} more", "", blank, 0.0, names, grouped))
    return [AnswerBars(lines)]


def _by_value(tree: Tree, node: Node) -> list[Answer]:
    """Return the values of names, by branch; none of numbers, or where they are many.

    Where each has its branch there are as many of one as of the other.
    """
    candidate = node.candidate
    split, table = candidate.split, candidate.table
    if not isinstance(split, Groups):
        return []
    if len(table.values) > max(ANSWERS_SHOWN, split.n_branches):
        return []
    values = tree.schema.attributes[split.attribute].values
    branches, sizes = split.branch_of(table.values), table.sizes
    return [
        *(
            Answer(
                shown(values[int(table.values[at])]),
                int(branches[at]),
                table.weights[at],
                float(sizes[at]),
            )
            for at in np.argsort(branches, kind="stable").tolist()
        ),
        _without(table),
    ]


def _by_branch(tree: Tree, node: Node) -> list[Answer]:
    """Return the branches with their labels, which say if missing cells go there."""
    table = node.candidate.branches
    children = [tree.nodes[child] for child in node.children]
    return [
        *(
            Answer(
                branch_label(tree, child, room=2 * NAME_ROOM, size=SIZE)[0],
                child.branch,
                table.weights[child.branch],
                float(table.sizes[child.branch]),
            )
            for child in children
        ),
        _without(table),
    ]


def _without(table: CountTable) -> Answer:
    return Answer("missing", -1, table.missing, float(table.missing_size))


def _heaviest(answers: list[Answer]) -> tuple[list[Answer], list[Answer]]:
    """Return the answers of most rows in their order, and the others."""
    if len(answers) <= ANSWERS_SHOWN + 1:
        return answers, []
    order = sorted(range(len(answers)), key=lambda at: -answers[at].weight)
    kept = set(order[:ANSWERS_SHOWN])
    rest = [each for at, each in enumerate(answers) if at not in kept]
    return [each for at, each in enumerate(answers) if at in kept], rest


def _drawn(
    tree: Tree, colours: ClassColours | NumberColours, answer: Answer, most: float
) -> tuple[str, BoxPart, float]:
    """Return the figure, the bar and its length: of all there is, if it is a mean."""
    if isinstance(colours, NumberColours):
        mean, deviation = mean_and_deviation(tree, answer.weights)
        return figure(mean, digits=4), colours.strip(mean, deviation), 1.0
    bar = colours.bar(answer.weights / answer.weight)
    return short_weight(answer.weight), bar, answer.weight / most
