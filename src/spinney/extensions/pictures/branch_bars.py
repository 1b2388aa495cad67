"""Bars below a split: one bar per value or branch, by class.

A nominal attribute has a bar per value, with a line between branches. A number, or an
attribute of many values, has a bar per branch: a model stores no other counts. If rows
are given, a number has a histogram. For regression, a bar is mean and deviation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.text import figure, short_weight, shown
from spinney.extensions.pictures.box_parts import (
    BoxPart,
    ShareBar,
    baseline,
    kind_width,
    line_height,
)
from spinney.extensions.pictures.branch_labels import branch_label
from spinney.extensions.pictures.markup import Markup, joined
from spinney.extensions.pictures.node_colours import (
    ClassColours,
    NumberColours,
    mean_and_deviation,
)
from spinney.extensions.pictures.node_histograms import Histogram
from spinney.extensions.pictures.split_histogram import split_histogram
from spinney.extensions.pictures.svg_elements import group, line, words
from spinney.extensions.pictures.text_width import shortened
from spinney.output.tree_text import counts_text
from spinney.trees import CountTable, Groups, Node, Tree

KIND, SIZE = "note", 11
NAME_WIDTH, BAR, GAP = 132.0, 56.0, 7.0
BRANCH_GAP = 4.0
MAX_LINES = 8


@dataclass(frozen=True)
class ValueCounts:
    """A value, or branch, with the counts or moments of its rows."""

    name: str
    branch: int
    weights: Floats
    weight: float


@dataclass(frozen=True)
class BarLine:
    """One line: name, bar and figure; a longer bar has more rows."""

    name: str
    figure: str
    bar: BoxPart
    length: float
    tooltip: str
    ruled: bool


@dataclass(frozen=True)
class BranchBars:
    """The lines of a node: names, bars and figures in columns."""

    lines: Sequence[BarLine]

    @cached_property
    def _columns(self) -> tuple[float, float]:
        names = max(kind_width(self._name(each), KIND) for each in self.lines)
        return names, max(kind_width(each.figure, KIND) for each in self.lines)

    @staticmethod
    def _name(each: BarLine) -> str:
        return shortened(each.name, NAME_WIDTH, SIZE)

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
        """Return the lines as SVG; bars fill the remaining width."""
        names, figures = self._columns
        bar_width = width - names - figures - 2 * GAP
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
                    each.bar.draw(x + names + GAP, top, bar_width * each.length),
                    words(each.figure, x=x + width, y=base, class_=f"{KIND} end"),
                )
            )
            y += tall
        return joined(parts)


def branch_bar_parts(
    tree: Tree,
    colours: ClassColours | NumberColours,
    node: Node,
    histograms: Mapping[int, Histogram] | None = None,
) -> list[BoxPart]:
    """Return the bars of a split; none for a leaf or without rows.

    ``histograms`` are histograms of a table's rows, for numeric splits.
    """
    if node.is_leaf:
        return []
    if histograms is None or node.number not in histograms:
        counts = _counts_by_value(tree, node) or _counts_by_branch(tree, node)
        return _bar_lines(tree, colours, counts)
    histogram = histograms[node.number]
    attribute = tree.schema.attributes[node.candidate.attribute]
    missing = histogram.missing
    size = missing if tree.schema.target.is_numeric else missing.sum()
    without = ValueCounts("missing", -1, missing, float(np.ravel(size)[0]))
    return [
        split_histogram(tree, colours, attribute, histogram),
        *_bar_lines(tree, colours, [without]),
    ]


def _bar_lines(
    tree: Tree, colours: ClassColours | NumberColours, counts: list[ValueCounts]
) -> list[BoxPart]:
    """Return the lines of values or branches with rows; none without rows."""
    counts = [each for each in counts if each.weight > 0]
    if not counts:
        return []
    listed, rest = _split_off_lightest(counts)
    # A rule between branches shows the groups of values, if there are some.
    grouped = len({each.branch for each in counts}) < len(counts)
    most = max(each.weight for each in counts)
    lines, before = [], listed[0].branch
    for each in listed:
        tooltip = f"{each.name}: {counts_text(each.weights, tree.schema)}"
        ruled, before = grouped and each.branch != before, each.branch
        drawn = _bar_of_entry(tree, colours, each, most)
        lines.append(BarLine(each.name, *drawn, tooltip, ruled))
    if rest:
        names = ", ".join(each.name for each in rest)
        blank = ShareBar(())
        lines.append(BarLine(f"+ {len(rest)} more", "", blank, 0.0, names, grouped))
    return [BranchBars(lines)]


def _counts_by_value(tree: Tree, node: Node) -> list[ValueCounts]:
    """Return the values by branch; none for numbers, or too many values."""
    candidate = node.candidate
    split, table = candidate.split, candidate.table
    if not isinstance(split, Groups):
        return []
    if len(table.values) > max(MAX_LINES, split.n_branches):
        return []
    values = tree.schema.attributes[split.attribute].values
    branches, sizes = split.branch_of(table.values), table.sizes
    return [
        *(
            ValueCounts(
                shown(values[int(table.values[at])]),
                int(branches[at]),
                table.weights[at],
                float(sizes[at]),
            )
            for at in np.argsort(branches, kind="stable").tolist()
        ),
        _missing_counts(table),
    ]


def _counts_by_branch(tree: Tree, node: Node) -> list[ValueCounts]:
    """Return the branches with their labels."""
    table = node.candidate.branches
    children = [tree.nodes[child] for child in node.children]
    return [
        *(
            ValueCounts(
                branch_label(tree, child, max_width=2 * NAME_WIDTH, size=SIZE)[0],
                child.branch,
                table.weights[child.branch],
                float(table.sizes[child.branch]),
            )
            for child in children
        ),
        _missing_counts(table),
    ]


def _missing_counts(table: CountTable) -> ValueCounts:
    return ValueCounts("missing", -1, table.missing, float(table.missing_size))


def _split_off_lightest(
    counts: list[ValueCounts],
) -> tuple[list[ValueCounts], list[ValueCounts]]:
    """Return the heaviest entries in their order, and the others."""
    if len(counts) <= MAX_LINES + 1:
        return counts, []
    order = sorted(range(len(counts)), key=lambda at: -counts[at].weight)
    heaviest = set(order[:MAX_LINES])
    rest = [each for at, each in enumerate(counts) if at not in heaviest]
    return [each for at, each in enumerate(counts) if at in heaviest], rest


def _bar_of_entry(
    tree: Tree, colours: ClassColours | NumberColours, entry: ValueCounts, most: float
) -> tuple[str, BoxPart, float]:
    """Return the figure, the bar and its relative length, 1 for means."""
    if isinstance(colours, NumberColours):
        mean, deviation = mean_and_deviation(tree, entry.weights)
        return figure(mean, digits=4), colours.strip(mean, deviation), 1.0
    bar = colours.bar(entry.weights / entry.weight)
    return short_weight(entry.weight), bar, entry.weight / most
