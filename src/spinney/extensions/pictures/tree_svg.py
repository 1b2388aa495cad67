"""A finished tree as SVG: boxes, branches as wide as the rows that take them, a legend.

It needs no data, no other program and no network; every text in it is escaped by
``svg_elements``, and nothing in it refers to anything outside.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from spinney._support.checks import check_choice, check_named, check_whole
from spinney._support.text import figure, percent_text, short_weight, shown, weight_text
from spinney.errors import ParameterError, Setting
from spinney.extensions.pictures.box_parts import KINDS, BoxPart, baseline
from spinney.extensions.pictures.markup import Markup, element, joined, number
from spinney.extensions.pictures.node_boxes import STYLES, NodeBoxes, weighs
from spinney.extensions.pictures.node_colours import (
    ClassColours,
    NumberColours,
)
from spinney.extensions.pictures.palettes import palette_rules
from spinney.extensions.pictures.style_sheet import STYLE_SHEET
from spinney.extensions.pictures.svg_elements import group, picture, rectangle, words
from spinney.extensions.pictures.text_width import shortened, text_width
from spinney.extensions.pictures.tree_sketch import (
    CURVE,
    LABEL_HEIGHT,
    LABEL_LINE,
    LABEL_MARGIN,
    DrawnNode,
    Sketch,
    fitting_sketch,
    sketch_tree,
)
from spinney.growth import Model
from spinney.output.leaf_rules import TERMS_SHOWN, model_lines
from spinney.output.node_errors import NodeErrors
from spinney.output.tree_text import to_text
from spinney.trees import Tree

MARGIN = 18.0
MIN_WIDTH = 300.0
MIN_THICKNESS, MAX_THICKNESS = 1.2, 12.0
LEGEND_ROW, LEGEND_GAP, SWATCH = 20.0, 16.0, 10.0
LEGEND_WIDTH = 150.0
LEGEND_CLASSES = 12
LEGEND_MODELS, MODEL_ROW = 16, 16.0
SCALE_STEPS, SCALE_STEP = 20, 12.0
MAX_DESCRIBED_NODES = 200  # nodes; larger trees have a short description


class Heading(BoxPart, Protocol):
    """A heading above a tree."""

    @property
    def title(self) -> str:
        """The title of the picture."""

    @property
    def description(self) -> str:
        """The heading in words, for screen readers."""


def to_svg(
    model: Model,
    *,
    style: str = "compact",
    horizontal: bool = False,
    max_depth: int | None = None,
    errors: NodeErrors | None = None,
    bars: bool = False,
    title: str | None = None,
    palette: str | Sequence[str] = "okabe-ito",
    digits: int | None = None,
    leaves_at_bottom: bool = False,
    above: Heading | None = None,
) -> str:
    """Return a tree as SVG.

    Parameters
    ----------
    model : Model
        The tree with its recipe.
    style : {"compact", "rules", "teaching"}
        The content of boxes: splitting attribute or prediction, and rows; predictions
        with conditions on branches; or all that a textbook draws, with impurities and
        the merits of all attributes.
    horizontal : bool
        Whether the root is at the left, and not at the top.
    max_depth : int, optional
        The greatest depth that is drawn; by default, as deep as fits.
    errors : NodeErrors, optional
        The errors of each node on another table, at the end of its box.
    bars : bool
        Whether a split has a bar for each value or branch.
    title : str, optional
        The title, in place of the name of the target.
    palette : str or sequence of str
        "okabe-ito", "grey", "pastel", or up to eight colours such as "#0072b2".
    digits : int, optional
        The significant digits of numbers, at least as many as separate the rows at a
        split; six at splits and four elsewhere, if not given.
    leaves_at_bottom : bool
        Whether all leaves are on the last level.
    above : Heading, optional
        A heading above the tree, as for a forest.
    """
    check_named("style", style, STYLES)
    check_choice("horizontal", horizontal)
    check_choice("bars", bars)
    check_choice("leaves_at_bottom", leaves_at_bottom)
    if title is not None and not isinstance(title, str):
        raise ParameterError(Setting("title", title), " must be text")
    if digits is not None:
        check_whole("digits", digits, least=1)
    boxes = NodeBoxes(model, style, errors, bars, digits)
    draw: Callable[..., Sketch] = fitting_sketch
    if max_depth is not None:
        check_whole("max_depth", max_depth, least=0)
        draw = partial(sketch_tree, depth=int(max_depth))
    sketch = draw(boxes, horizontal=horizontal, leaves_at_bottom=leaves_at_bottom)
    across, along = sketch.size
    least = MIN_WIDTH if above is None else max(MIN_WIDTH, above.width)
    inside = max(least, along if horizontal else across)
    width, begin = inside + 2 * MARGIN, MARGIN + (above.height if above else 0.0)
    name = title if title is not None else shown(model.tree.schema.target.name)
    head, head_height = _head(boxes, sketch, inside, begin, name)
    top = begin + head_height
    end = top + (across if horizontal else along)
    models, models_height = _models(sketch, boxes.tree, inside, end)
    height = end + models_height + MARGIN
    left = MARGIN + (inside - (along if horizontal else across)) / 2
    pen = SketchRenderer(sketch, left, top)
    colours = palette_rules(palette)
    content = [
        words(title or (above.title if above else _title(model.tree)), "title"),
        words(_description(boxes, sketch, above), "desc"),
        element("style", STYLE_SHEET),
        *([element("style", colours)] if colours else []),
        rectangle(0, 0, width, height, kind="page", corner=6),
        above.draw(MARGIN, MARGIN, inside) if above else Markup(),
        head,
        *(pen.branches(place) for place in range(len(sketch.drawn))),
        *(pen.label(place) for place in range(len(sketch.drawn))),
        *(pen.box(place) for place in range(len(sketch.drawn))),
        *models,
    ]
    return picture(content, width, height)


class SketchRenderer:
    """Draws a sketch at a position; only it knows the direction of the tree."""

    def __init__(self, sketch: Sketch, left: float, top: float) -> None:
        self.sketch, self.left, self.top = sketch, left, top

    def _point(self, across: float, along: float) -> str:
        if self.sketch.horizontal:
            return f"{number(self.left + along)} {number(self.top + across)}"
        return f"{number(self.left + across)} {number(self.top + along)}"

    def box(self, place: int) -> Markup:
        """Return the box of a node."""
        each, sketch = self.sketch.drawn[place], self.sketch
        across, along = sketch.across[place], sketch.along[each.depth]
        if sketch.horizontal:
            corner = self.left + along, self.top + across - each.box.height / 2
        else:
            corner = self.left + across - each.box.width / 2, self.top + along
        return each.box.draw(*corner)

    def branches(self, place: int) -> Markup:
        """Return the lines to the children of a node, side by side where they begin.

        A line goes straight past the largest box of its level, so that it crosses no
        neighbour, and is straight again where its label stands.
        """
        sketch, parent = self.sketch, self.sketch.drawn[place]
        below = [sketch.drawn[child] for child in parent.children]
        widths = [_thickness(child) for child in below]
        begin = sketch.across[place] - sum(widths) / 2
        level = sketch.along[parent.depth]
        size = parent.box.width if sketch.horizontal else parent.box.height
        end_of_level = level + sketch.extents[parent.depth]
        lines = []
        for at, child, width in zip(parent.children, below, widths, strict=True):
            start, end = begin + width / 2, sketch.across[at]
            straight = sketch.along[parent.depth + 1] - sketch.bands[parent.depth + 1]
            bend = CURVE * 0.55
            path = (
                f"M{self._point(start, level + size)}"
                f"L{self._point(start, end_of_level)}"
                f"C{self._point(start, end_of_level + bend)} "
                f"{self._point(end, straight - bend)} {self._point(end, straight)}"
                f"L{self._point(end, sketch.along[child.depth])}"
            )
            kind = "branch dashed" if child.node is None else "branch"
            lines.append(element("path", d=path, class_=kind, stroke_width=width))
            begin += width
        return joined(lines)

    def label(self, place: int) -> Markup:
        """Return the label of the branch to a node, with the condition as tooltip."""
        each, sketch = self.sketch.drawn[place], self.sketch
        if not each.label:
            return Markup()
        across, along = sketch.across[place], sketch.along[each.depth]
        size, wide = KINDS["label"][0], each.label_width
        further_lines = LABEL_LINE * (len(each.label) - 1)
        if sketch.horizontal:
            x = self.left + along - LABEL_MARGIN - wide / 2
            y = self.top + across - further_lines / 2
        else:
            x = self.left + across
            y = self.top + along - LABEL_HEIGHT * 0.58 - further_lines
        wide -= LABEL_MARGIN
        corner = x - wide / 2, y - size * 0.7
        return group(
            each.whole,
            rectangle(*corner, wide, size * 1.4 + further_lines, kind="pill", corner=4),
            *(
                words(line, x=x, y=y + 4.3 + at * LABEL_LINE, class_="label middle")
                for at, line in enumerate(each.label)
            ),
        )


def _thickness(each: DrawnNode) -> float:
    if each.node is None:
        return MIN_THICKNESS
    return MIN_THICKNESS + (MAX_THICKNESS - MIN_THICKNESS) * each.share


def _title(tree: Tree) -> str:
    return f"Decision tree for {shown(tree.schema.target.name)}"


def _facts(tree: Tree) -> str:
    n_rows, leaves = tree.root.n_rows, tree.n_leaves
    rows = f"{n_rows} row{'s' if n_rows != 1 else ''}"
    rows += f" of weight {short_weight(tree.root.weight)}" if weighs(tree) else ""
    facts = f"{rows}, {leaves} {'leaf' if leaves == 1 else 'leaves'}"
    arrays = tree.arrays
    empty = int(np.count_nonzero(~arrays.inner & (arrays.rows == 0)))
    # Several empty leaves of a node are drawn as one box.
    return f"{facts}, {empty} of them without rows" if empty > 1 else facts


def _description(boxes: NodeBoxes, sketch: Sketch, above: Heading | None) -> str:
    """Return the tree in words, for screen readers."""
    tree = boxes.tree
    facts = f"{_title(tree)}: {_facts(tree)}."
    facts = f"{above.description}\n{facts}" if above else facts
    if len(tree) > MAX_DESCRIBED_NODES:
        return facts
    text = to_text(tree, max_depth=sketch.depth, errors=boxes.errors)
    return f"{facts}\n{text}"


def _head(
    boxes: NodeBoxes, sketch: Sketch, width: float, begin: float, title: str
) -> tuple[Markup, float]:
    """Return the title, the number of rows, and the legend."""
    tree = boxes.tree
    size, bold = KINDS["title"]
    facts = _facts(tree)
    if sketch.cut:
        facts += f", drawn to depth {sketch.depth} of {tree.height}"
    if boxes.errors is not None:
        facts += f"; below the line: on {shown(boxes.errors.name)}"
    note = KINDS["note"][0]
    name_width = max(width - text_width(facts, note) - LEGEND_GAP, MIN_WIDTH / 3)
    name = shortened(title, name_width, size, bold=bold)
    at = begin + baseline("title")
    after = MARGIN + text_width(name, size, bold=bold) + LEGEND_GAP / 2
    heading = group(
        title,
        words(name, x=MARGIN, y=at, class_="title"),
        words(facts, x=after, y=at, class_="note"),
    )
    top = begin + LEGEND_ROW
    colours = boxes.colours
    if isinstance(colours, NumberColours):
        legend, height = _scale(colours, top)
    else:
        legend, height = _legend(colours, top, width)
    return joined([heading, legend], "\n"), LEGEND_ROW + height + LEGEND_GAP


def _models(
    sketch: Sketch, tree: Tree, width: float, begin: float
) -> tuple[list[Markup], float]:
    """Return the linear models that boxes name, below the tree, and their height."""
    size = KINDS["note"][0]
    drawn = {each.node.number for each in sketch.drawn if each.node is not None}
    lines = model_lines(
        tree,
        drawn,
        room=width,
        width=lambda text: text_width(text, size),
        most=TERMS_SHOWN,
    )
    texts = [*lines.values()][:LEGEND_MODELS]
    n_hidden = len(lines) - len(texts)
    if n_hidden > 0:
        plural = "s" * (n_hidden != 1)
        texts.append(f"+ {n_hidden} more model{plural}, in the text of the tree")
    if not texts:
        return [], 0.0
    marks, y = list[Markup](), begin + LEGEND_GAP
    for line in "\n".join(texts).split("\n"):
        y += MODEL_ROW
        # Spaces at the beginning are not drawn.
        indent = MODEL_ROW if line.startswith(" ") else 0.0
        text = shortened(line.strip(), width - indent, size)
        marks.append(words(text, x=MARGIN + indent, y=y, class_="note"))
    return marks, y - begin


def _legend(colours: ClassColours, top: float, width: float) -> tuple[Markup, float]:
    """Return the classes with their colours and counts, row by row."""
    tree, parts = colours.tree, []
    size, root = KINDS["note"][0], tree.root
    x, y = MARGIN, top
    entries = []
    for code, label in enumerate(tree.schema.target.classes[:LEGEND_CLASSES]):
        share = root.weights[code] / root.weight if root.weight else 0.0
        count = f": {weight_text(root.weights[code])} ({percent_text(share)})"
        name = shortened(shown(label), LEGEND_WIDTH, size)
        entries.append((f"k{colours.index[code]}", name + count, shown(label) + count))
    n_hidden = tree.schema.n_classes - LEGEND_CLASSES
    if n_hidden > 0:
        entries.append(("", f"+ {n_hidden} more classes", f"{n_hidden} more classes"))
    for hue, text, whole in entries:
        wide = SWATCH + 6 + text_width(text, size)
        if x > MARGIN and x + wide > MARGIN + width:
            x, y = MARGIN, y + LEGEND_ROW
        parts.append(
            group(
                whole,
                rectangle(x, y, SWATCH, SWATCH, kind=hue, corner=2)
                if hue
                else Markup(),
                words(text, x=x + SWATCH + 6, y=y + 9, class_="note"),
            )
        )
        x += wide + LEGEND_GAP
    return joined(parts), y + LEGEND_ROW - top


def _scale(colours: NumberColours, top: float) -> tuple[Markup, float]:
    """Return the colours of numbers, with the mean of all rows where it is."""
    (mean, _), (low, high), parts = colours.middle, colours.ends, []
    for step in range(SCALE_STEPS):
        hue, strength = colours.colour(low + (high - low) * (step + 0.5) / SCALE_STEPS)
        corner = MARGIN + step * SCALE_STEP, top
        look = rectangle(*corner, SCALE_STEP, SWATCH, kind=hue, opacity=strength)
        parts.append(look)
    end, size = SCALE_STEPS * SCALE_STEP, KINDS["note"][0]
    first, middle, last = (figure(n, digits=4) for n in (low, mean, high))
    at, half = end * colours.place(mean), text_width(middle, size) / 2 + LEGEND_GAP / 2
    marks = [(0.0, first, "note")]
    if high > low:
        marks.append((end, last, "note end"))
    if text_width(first, size) < at - half and at + half < end - text_width(last, size):
        marks.append((at, middle, "note middle"))
    for x, text, kind in marks:
        parts.append(words(text, x=MARGIN + x, y=top + SWATCH + 12, class_=kind))
    return joined(parts), SWATCH + 16
