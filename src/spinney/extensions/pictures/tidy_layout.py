"""Positions of the nodes of a tree across its levels: tidy, in linear time.

Levels are drawn below each other, so only positions across the tree matter here.
Subtrees are rigid: each is laid out once, about its root, so equal subtrees are drawn
alike. Siblings i < j then need a least distance between their roots: the greatest
distance by which the right contour of i reaches into the left contour of j, on levels
where no sibling is between them (Reingold and Tilford 1981). The positions that keep
all these distances form a convex set. Two of its corners are easy to find: all siblings
as far left as possible, and as far right. Half way between these corners nothing
overlaps, small siblings are spread evenly between large ones, and a mirrored tree has a
mirrored picture (Kennedy 1996).

Two contours are compared and joined on the levels that both have; the joined contour no
longer needs the shallower one there. So all nodes together cost one step each. For
this, a contour is a list from its deepest level up, each edge relative to the edge one
level above. Moving a contour changes one number; joining two replaces the end of the
deeper list.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(slots=True)
class Contour:
    """One side of a subtree: steps from level to level, the deepest first.

    ``end`` is the edge of the deepest level, relative to the middle of the root.
    """

    steps: list[float]
    end: float

    def moved(self, distance: float) -> "Contour":
        """Move the contour in place, and return it."""
        self.steps[-1] += distance
        self.end += distance
        return self

    def under(self, upper: "Contour", edge: float) -> "Contour":
        """Replace the upper levels by another contour, in place.

        ``edge`` is the position of this contour on the last of these levels.
        """
        depth = len(upper.steps)
        self.steps[-1 - depth] += edge - upper.end
        self.steps[-depth:] = upper.steps
        return self

    def below(self, edge: float) -> "Contour":
        """Add a root with this edge on top, in place."""
        self.steps[-1] -= edge
        self.steps.append(edge)
        return self


@dataclass(slots=True)
class Siblings:
    """Least distances between siblings, and the siblings visible from each side.

    ``distances`` holds (i, j, least distance), rising in j. ``visible_right`` are the
    siblings that form the common right contour, the deepest first, each with its edge
    on the last level that a later sibling hides; ``visible_left``, the shallowest
    first, form the left contour.
    """

    distances: list[tuple[int, int, float]]
    visible_left: list[tuple[int, float]]
    visible_right: list[tuple[int, float]]


def tidy_layout(
    children: Sequence[Sequence[int]], breadths: Sequence[float], *, gap: float = 0.0
) -> list[float]:
    """Return the position of the middle of each node across the tree.

    Parameters
    ----------
    children : sequence of sequences of int
        The numbers of each node's children, from left to right. A child's number is
        greater than its parent's, and node 0 is the root.
    breadths : sequence of float
        The size of each node across the tree.
    gap : float
        The least distance between nodes of a level.

    Examples
    --------
    >>> tidy_layout([[1, 2], [], []], [10.0, 10.0, 10.0], gap=4.0)
    [12.0, 5.0, 19.0]
    """
    offsets = [0.0] * len(children)
    left: dict[int, Contour] = {}
    right: dict[int, Contour] = {}
    for node in reversed(range(len(children))):
        half = breadths[node] / 2
        if not children[node]:
            left[node], right[node] = Contour([-half], -half), Contour([half], half)
            continue
        lefts = [left.pop(child) for child in children[node]]
        rights = [right.pop(child) for child in children[node]]
        pairs = _sibling_distances(lefts, rights, gap)
        places = _middle_positions(len(lefts), pairs.distances)
        middle = (places[0] + places[-1]) / 2
        for child, place in zip(children[node], places, strict=True):
            offsets[child] = place - middle
        at = [place - middle for place in places]
        left[node] = _joined_contour(lefts, pairs.visible_left, at).below(-half)
        right[node] = _joined_contour(rights, pairs.visible_right[::-1], at).below(half)
    for node, below in enumerate(children):
        for child in below:
            offsets[child] += offsets[node]
    edges = zip(offsets, breadths, strict=True)
    first = min(place - breadth / 2 for place, breadth in edges)
    return [place - first for place in offsets]


def _sibling_distances(
    lefts: list[Contour], rights: list[Contour], gap: float
) -> Siblings:
    """Return the least distances of siblings, each pair on the levels where it meets.

    The siblings visible from the right form a stack: the last one is on top, and hides
    the upper levels of the deeper siblings below it.
    """
    pairs = Siblings([], [(0, 0.0)], [(0, 0.0)])
    visible = pairs.visible_right
    for j in range(1, len(lefts)):
        contour, contour_edge, level = lefts[j].steps, 0.0, 0
        while visible and level < len(contour):
            i, edge = visible.pop()
            other, least = rights[i].steps, -float("inf")
            shared = min(len(contour), len(other))
            for step in range(level + 1, shared + 1):
                edge += other[-step]
                contour_edge += contour[-step]
                least = max(least, edge - contour_edge)
            level = shared
            pairs.distances.append((i, j, least + gap))
            if level < len(other):
                visible.append((i, edge))
        if level < len(contour):
            pairs.visible_left.append((j, contour_edge))
        visible.append((j, 0.0))
    return pairs


def _middle_positions(n: int, distances: list[tuple[int, int, float]]) -> list[float]:
    """Return positions half way between the leftmost and the rightmost possible."""
    near, far = [0.0] * n, [float("inf")] * n
    for i, j, distance in distances:
        near[j] = max(near[j], near[i] + distance)
    far[-1] = near[-1]
    for i, j, distance in reversed(distances):
        far[i] = min(far[i], far[j] - distance)
    return [(low + high) / 2 for low, high in zip(near, far, strict=True)]


def _joined_contour(
    contours: list[Contour], visible: list[tuple[int, float]], at: list[float]
) -> Contour:
    """Return the contour of all siblings, from the visible ones, shallowest first.

    The contour is relative to the middle of the parent; ``at`` are the positions of the
    siblings.
    """
    (first, _), *deeper = visible
    whole = contours[first].moved(at[first])
    for sibling, edge in deeper:
        whole = contours[sibling].moved(at[sibling]).under(whole, edge + at[sibling])
    return whole


def level_places(extents: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Return the start of each level; a gap of its own precedes each level.

    >>> level_places([10.0, 20.0, 5.0], [0.0, 3.0, 4.0])
    [0.0, 13.0, 37.0]
    """
    places = [gaps[0]]
    for (extent, _), (_, gap) in pairwise(zip(extents, gaps, strict=True)):
        places.append(places[-1] + extent + gap)
    return places
