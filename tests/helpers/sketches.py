"""Trees drawn by hand: class counts, and the nodes below."""

from dataclasses import dataclass, field

import numpy as np

from spinney.data.schema import Attribute, Schema, Target
from spinney.trees import Candidate, Node, Reason, Tree
from spinney.trees.costs import labels_of
from spinney.trees.counts import CountTable
from spinney.trees.split import Threshold


@dataclass
class Sketch:
    """A node by its class counts, and the nodes below it."""

    counts: tuple[int, ...]
    children: list["Sketch"] = field(default_factory=list)


def tree_of(sketch: Sketch) -> Tree:
    """Return the tree of a sketch, on one numeric attribute."""
    nodes: list[Node] = []
    n_leaves = 0

    def add(part: Sketch, parent: int | None, branch: int, depth: int) -> int:
        nonlocal n_leaves
        number = len(nodes)
        nodes.append(None)  # type: ignore[arg-type]
        weights = np.array(part.counts, dtype=float)
        children = []
        threshold = 0.0
        for place, child in enumerate(part.children):
            threshold = n_leaves - 0.5 if place else threshold
            children.append(add(child, number, place, depth + 1))
        if not children:
            n_leaves += 1
        sides = [child.counts for child in part.children]
        split = Threshold(0, threshold, (0.5, 0.5), 0)
        candidates = (Candidate(split, CountTable.of(sides), 0, 0),) if sides else ()
        nodes[number] = Node(
            number=number,
            parent=parent,
            branch=branch,
            depth=depth,
            weights=weights,
            n_rows=int(weights.sum()),
            distribution=weights / weights.sum(),
            label=int(labels_of(weights)),
            candidates=candidates,
            chosen=0 if children else None,
            children=tuple(children),
            reason=None if children else Reason.PURE,
        )
        return number

    add(sketch, None, 0, 0)
    schema = Schema((Attribute("x", "numeric"),), Target("y", ("a", "b")))
    return Tree(schema, tuple(nodes))


def example() -> Tree:
    """Return a tree of five leaves, numbered in printing order.

    ::

        0  50 50                R 50   g = (50 - 14) / 4 = 9
        ├── 1  40 10            R 10   g = (10 -  6) / 2 = 2
        │   ├── 2  30  2        R  2
        │   └── 3  10  8        R  8   g = ( 8 -  4) / 1 = 4
        │       ├── 4  9  3     R  3
        │       └── 5  1  5     R  1
        └── 6  10 40            R 10   g = (10 -  8) / 1 = 2
            ├── 7   6  4        R  4
            └── 8   4 36        R  4
    """
    left = Sketch(
        (40, 10), [Sketch((30, 2)), Sketch((10, 8), [Sketch((9, 3)), Sketch((1, 5))])]
    )
    right = Sketch((10, 40), [Sketch((6, 4)), Sketch((4, 36))])
    return tree_of(Sketch((50, 50), [left, right]))
