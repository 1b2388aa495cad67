"""The layout of a picture: the drawn nodes, their boxes and positions.

A large tree is drawn down to the depth that fits; stubs below count the hidden nodes.
Positions are across the tree, and along it from the root, so one sketch serves vertical
and horizontal trees.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from spinney.extensions.pictures.box_parts import KINDS, NodeBox, Words
from spinney.extensions.pictures.branch_labels import DIGITS, branch_label
from spinney.extensions.pictures.node_boxes import NodeBoxes
from spinney.extensions.pictures.text_width import text_width
from spinney.extensions.pictures.tidy_layout import level_places, tidy_layout
from spinney.trees import Node

# What fits, in pixels: about a screen, and what is read at its end by scrolling.
MAX_BREADTH, MAX_LENGTH = 1280.0, 1800.0
NODE_GAP = 16.0
CURVE = 34.0
LABEL_HEIGHT, LABEL_LINE, LABEL_MARGIN = 25.0, 15.0, 8.0
LABEL_LINES = 3
LABEL_WIDTH = {"compact": 160.0, "rules": 230.0, "teaching": 160.0}


@dataclass(slots=True)
class DrawnNode:
    """A node with its box, or a stub, which has no node.

    ``label`` has the lines at the branch to the node, ``whole`` is the label's tooltip;
    ``share`` is the proportion of all weight in the branch.
    """

    node: Node | None
    box: NodeBox
    depth: int
    label: Sequence[str] = ()
    whole: str = ""
    share: float = 0.0
    children: list[int] = field(default_factory=list)

    @property
    def label_width(self) -> float:
        """The width of the label with its margins; 0 without one."""
        size = KINDS["label"][0]
        width = max((text_width(line, size) for line in self.label), default=0.0)
        return width + 2 * LABEL_MARGIN if self.label else 0.0

    @property
    def label_height(self) -> float:
        """The height of the label with the space around it; 0 without one."""
        further_lines = LABEL_LINE * (len(self.label) - 1)
        return LABEL_HEIGHT + further_lines if self.label else 0.0


@dataclass(frozen=True)
class Sketch:
    """Drawn nodes, parents before children, and their positions.

    ``across`` has the middle of each node, ``along`` the start of each level, ``bands``
    the space for labels before it; a level is as long as its largest box.
    """

    drawn: list[DrawnNode]
    depth: int
    horizontal: bool
    across: list[float]
    along: list[float]
    extents: list[float]
    bands: list[float]

    @property
    def cut(self) -> bool:
        """Whether some nodes are not drawn."""
        return any(each.node is None for each in self.drawn)

    @property
    def size(self) -> tuple[float, float]:
        """The size of the sketch across and along."""
        pairs = zip(self.across, self.drawn, strict=True)
        across = max(
            at + _breadth(each, horizontal=self.horizontal) / 2 for at, each in pairs
        )
        return across, self.along[-1] + self.extents[-1]


def fitting_sketch(
    boxes: NodeBoxes, *, horizontal: bool, leaves_at_bottom: bool = False
) -> Sketch:
    """Return the sketch of the greatest depth that fits, at least 1."""
    draw = partial(
        sketch_tree,
        boxes,
        horizontal=horizontal,
        leaves_at_bottom=leaves_at_bottom,
        boxes_by_node={},
    )
    best = draw(depth=1)
    while best.cut:
        deeper = draw(depth=best.depth + 1)
        across, along = deeper.size
        if across > MAX_BREADTH or along > MAX_LENGTH:
            break
        best = deeper
    return best


def sketch_tree(
    boxes: NodeBoxes,
    *,
    depth: int,
    horizontal: bool,
    leaves_at_bottom: bool = False,
    boxes_by_node: dict[int, NodeBox] | None = None,
) -> Sketch:
    """Return the sketch of a tree down to a depth; ``boxes_by_node`` caches boxes."""
    drawn = _draw_nodes(boxes, depth, {} if boxes_by_node is None else boxes_by_node)
    n_levels = 1 + max(each.depth for each in drawn)
    if leaves_at_bottom:
        for each in drawn:
            if not each.children:
                each.depth = n_levels - 1
    extents, bands = [0.0] * n_levels, [0.0] * n_levels
    for each in drawn:
        extent = each.box.width if horizontal else each.box.height
        extents[each.depth] = max(extents[each.depth], extent)
        band = each.label_width + LABEL_MARGIN if horizontal else each.label_height
        bands[each.depth] = max(bands[each.depth], band if each.label else 0.0)
    gaps = [0.0, *(CURVE + band for band in bands[1:])]
    breadths = [_breadth(each, horizontal=horizontal) for each in drawn]
    across = _places_across(drawn, breadths)
    along = level_places(extents, gaps)
    return Sketch(drawn, depth, horizontal, across, along, extents, bands)


def _places_across(drawn: list[DrawnNode], breadths: list[float]) -> list[float]:
    """Return the place of each node across its level.

    A node some levels below its parent has a column of nodes without breadth above it,
    so that its branch crosses no box.
    """
    parents = {child: at for at, each in enumerate(drawn) for child in each.children}
    children: list[list[int]] = []
    sizes: list[float] = []
    places: list[int] = []
    for node, each in enumerate(drawn):
        above = places[parents[node]] if node else None
        levels = each.depth - drawn[parents[node]].depth if node else 1
        for level in range(levels):
            if above is not None:
                children[above].append(len(children))
            above = len(children)
            children.append([])
            sizes.append(breadths[node] if level == levels - 1 else 0.0)
        places.append(len(children) - 1)
    across = tidy_layout(children, sizes, gap=NODE_GAP)
    return [across[place] for place in places]


def _breadth(each: DrawnNode, *, horizontal: bool) -> float:
    if horizontal:
        return max(each.box.height, LABEL_HEIGHT, each.label_height)
    return max(each.box.width, each.label_width)


def _draw_nodes(
    boxes: NodeBoxes, depth: int, boxes_by_node: dict[int, NodeBox]
) -> list[DrawnNode]:
    """Return the nodes down to a depth, in printing order, with stubs below them."""
    tree = boxes.tree
    drawn: list[DrawnNode] = []
    # Nodes to draw with the place of their parent, and where their subtree ends: the
    # nodes of a subtree follow its root. Empty sibling leaves share one box.
    waiting: list[tuple[int, int | None, int]] = [(0, None, len(tree))]
    together: dict[int, tuple[Node, ...]] = {}
    while waiting:
        number, parent, end = waiting.pop()
        node = tree.nodes[number]
        shared = together.get(number, ())
        if shared and number != shared[-1].number:
            continue
        if number not in boxes_by_node:
            boxes_by_node[number] = boxes.box(node)
        place = len(drawn)
        drawn.append(_labelled_node(boxes, node, boxes_by_node[number], shared))
        if parent is not None:
            drawn[parent].children.append(place)
        if node.is_leaf:
            continue
        if node.depth == depth:
            drawn[place].children.append(len(drawn))
            n_below = end - number - 1
            tooltip = f"{n_below} nodes below node {number} are not drawn"
            words = Words(f"+ {n_below} more", "note")
            box = NodeBox("stub", [words], tooltip=tooltip)
            drawn.append(DrawnNode(None, box, node.depth + 1))
            continue
        below = tree.empty_sibling_leaves(node)
        together.update({each.number: below for each in below})
        ends = [*node.children[1:], end]
        pairs = zip(node.children, ends, strict=True)
        waiting += reversed([(child, place, last) for child, last in pairs])
    return drawn


def _labelled_node(
    boxes: NodeBoxes, node: Node, box: NodeBox, together: tuple[Node, ...]
) -> DrawnNode:
    if node.parent is None:
        return DrawnNode(node, box, 0, share=1.0)
    label = branch_label(
        boxes.tree,
        node,
        max_width=LABEL_WIDTH[boxes.style],
        size=KINDS["label"][0],
        named=boxes.style == "rules",
        together=together,
        lines=LABEL_LINES,
        digits=boxes.digits or DIGITS,
    )
    total = boxes.tree.root.weight
    share = node.weight / total if total else 0.0
    whole = boxes.tree.condition(node, together=together)
    return DrawnNode(node, box, node.depth, label, whole, share=share)
