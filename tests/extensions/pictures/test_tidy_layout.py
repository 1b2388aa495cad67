"""Places of nodes: what a tidy tree is, and a twin that looks at every pair."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.extensions.pictures.tidy_layout import level_places, tidy_layout

GAP = 2.0
CLOSE = 1e-6


@st.composite
def trees(draw):
    """Give the children of each node, and how broad nodes are."""
    parents = draw(
        st.lists(st.integers(0, 10**6), max_size=40).map(
            lambda picks: [pick % (place + 1) for place, pick in enumerate(picks)]
        )
    )
    children = [[] for _ in range(len(parents) + 1)]
    for child, parent in enumerate(parents, start=1):
        children[parent].append(child)
    size = len(children)
    breadths = draw(st.lists(st.integers(0, 30), min_size=size, max_size=size))
    return children, [float(breadth) for breadth in breadths]


def levels_of(children):
    levels = [[0]]
    while levels[-1]:
        levels.append([child for node in levels[-1] for child in children[node]])
    return levels[:-1]


@given(trees())
def test_nothing_overlaps_and_the_order_is_kept(tree):
    children, breadths = tree
    places = tidy_layout(children, breadths, gap=GAP)
    for level in levels_of(children):
        for left, right in pairwise(level):
            max_width = (breadths[left] + breadths[right]) / 2 + GAP
            assert places[right] - places[left] >= max_width - CLOSE


@given(trees())
def test_parents_are_centred_and_the_picture_begins_at_0(tree):
    children, breadths = tree
    places = tidy_layout(children, breadths, gap=GAP)
    for node, below in enumerate(children):
        if below:
            middle = (places[below[0]] + places[below[-1]]) / 2
            assert places[node] == pytest.approx(middle, abs=CLOSE)
    edges = [
        place - breadth / 2 for place, breadth in zip(places, breadths, strict=True)
    ]
    assert min(edges) == pytest.approx(0, abs=CLOSE)


@given(trees())
def test_a_mirrored_tree_has_a_mirrored_picture(tree):
    children, breadths = tree
    places = tidy_layout(children, breadths, gap=GAP)
    mirrored = tidy_layout([below[::-1] for below in children], breadths, gap=GAP)
    width = max(
        place + breadth / 2 for place, breadth in zip(places, breadths, strict=True)
    )
    assert [width - place for place in mirrored] == pytest.approx(places, abs=CLOSE)


@given(trees(), trees())
def test_equal_subtrees_are_drawn_alike(tree, other):
    """A root with a tree, another tree and the first one again."""
    (children, breadths), (between, widths) = tree, other
    n, m = len(children), len(between)
    starts = (1, 1 + n, 1 + n + m)
    parts = ((children, starts[0]), (between, starts[1]), (children, starts[2]))
    whole = [list(starts)]
    for part, start in parts:
        whole += [[child + start for child in below] for below in part]
    places = tidy_layout(whole, [1.0, *breadths, *widths, *breadths], gap=GAP)
    first = [place - places[starts[0]] for place in places[1 : 1 + n]]
    last = [place - places[starts[2]] for place in places[1 + n + m :]]
    assert first == pytest.approx(last, abs=CLOSE)


def naive_layout(children, breadths):
    """Lay out by comparing every level of all pairs of siblings."""
    offsets = [0.0] * len(children)
    outlines = {}  # by node, the edges of each level relative to the node
    for node in reversed(range(len(children))):
        own = (-breadths[node] / 2, breadths[node] / 2)
        below = children[node]
        least = {
            (i, j): max(
                left[1] - right[0] + GAP
                for left, right in zip(
                    outlines[below[i]], outlines[below[j]], strict=False
                )
            )
            for j in range(len(below))
            for i in range(j)
        }
        near, far = [0.0] * len(below), [0.0] * len(below)
        for j in range(1, len(below)):
            near[j] = max(near[i] + least[i, j] for i in range(j))
        if below:
            far[-1] = near[-1]
        for i in reversed(range(len(below) - 1)):
            far[i] = min(far[j] - least[i, j] for j in range(i + 1, len(below)))
        places = [(low + high) / 2 for low, high in zip(near, far, strict=True)]
        levels = {}
        for child, place in zip(below, places, strict=True):
            offsets[child] = place - (places[0] + places[-1]) / 2
            for depth, (left, right) in enumerate(outlines[child]):
                edges = levels.setdefault(depth, [])
                edges += [left + offsets[child], right + offsets[child]]
        deeper = [(min(edges), max(edges)) for _, edges in sorted(levels.items())]
        outlines[node] = [own, *deeper]
    for node, below in enumerate(children):
        for child in below:
            offsets[child] += offsets[node]
    first = min(
        place - breadth / 2 for place, breadth in zip(offsets, breadths, strict=True)
    )
    return [place - first for place in offsets]


@given(trees())
def test_it_agrees_with_its_twin(tree):
    children, breadths = tree
    # The twin also keeps apart siblings with others between them; where all have some
    # breadth, that asks for nothing more.
    breadths = [breadth + 1 for breadth in breadths]
    places = tidy_layout(children, breadths, gap=GAP)
    assert places == pytest.approx(naive_layout(children, breadths), abs=CLOSE)


def test_small_siblings_are_spread_between_large_ones():
    children = [[1, 2, 3], [4], [], [5], [], []]
    breadths = [1.0, 1.0, 1.0, 1.0, 21.0, 21.0]
    places = tidy_layout(children, breadths, gap=GAP)
    assert places[2] - places[1] == places[3] - places[2] == 11.5


@pytest.mark.parametrize(
    "children",
    [
        [[node + 1] for node in range(49_999)] + [[]],
        [list(range(1, 50_000)), *([] for _ in range(49_999))],
        [
            [child for child in (2 * node + 1, 2 * node + 2) if child < 50_000]
            for node in range(50_000)
        ],
        # A comb: a chain with a leaf at each link.
        [
            [node + 1, node + 2] if node % 2 == 0 and node + 2 < 50_001 else []
            for node in range(50_001)
        ],
    ],
    ids=["chain", "star", "binary", "comb"],
)
def test_50_000_nodes_of_any_shape(children):
    places = tidy_layout(children, [10.0] * len(children), gap=GAP)
    assert len(places) == len(children)
    assert min(places) == pytest.approx(5)


def test_levels_follow_each_other():
    assert level_places([5.0], [0.0]) == [0.0]
    assert level_places([5.0, 1.0], [0.0, 2.0]) == [0.0, 7.0]
