"""Rows in memory: those of a level are sent together, as those of a node are alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney.data.schema import Attribute, Schema, Target
from spinney.sources.base import ROOT
from spinney.sources.rows import memory
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Groups, Route, Threshold

SHARES = (0.25, 0.75)
SCHEMA = Schema(
    (
        Attribute("x", "numeric"),
        Attribute("size", "ordinal", ("s", "m", "l")),
        Attribute("c", "nominal", ("p", "q")),
    ),
    Target("y", ("a", "b")),
)


def source_of(seed, n_rows, gaps):
    random = np.random.default_rng(seed)
    columns = (
        random.integers(0, 4, n_rows) / 2,
        random.integers(0, 3, n_rows).astype(np.int32),
        random.integers(0, 2, n_rows).astype(np.int32),
    )
    columns[0][random.random(n_rows) < gaps] = np.nan
    columns[1][random.random(n_rows) < gaps] = -1
    weights = random.integers(1, 4, n_rows).astype(float)
    classes = random.integers(0, 2, n_rows)
    return MemorySource(SCHEMA, columns, classes=classes, weights=weights)


def routes(seed, n_nodes):
    random = np.random.default_rng(seed)
    asked = (
        lambda: Threshold(0, random.integers(0, 4) / 4, SHARES),
        lambda: Threshold(0, 0.5, (0.0, 1.0), 1),
        lambda: Threshold(1, float(random.integers(0, 2)), SHARES),
        lambda: Groups(2, ((0,), (1,)), SHARES),
    )
    final = (None, 0, 1)
    return [
        Route(asked[random.integers(len(asked))](), (), final[random.integers(3)])
        for _ in range(n_nodes)
    ]


def members_after(seed, n_rows, gaps, few):
    """Return the rows of all nodes of three levels, with levels of so many or more."""
    source, level, n_nodes, found = source_of(seed, n_rows, gaps), [ROOT], 1, {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "MIN_BATCHED_NODES", few)
        for depth in range(4):
            for node, route in zip(
                level, routes(seed + depth, len(level)), strict=True
            ):
                source.partition(node, route, {0: n_nodes, 1: n_nodes + 1})
                n_nodes += 2
            level = list(range(n_nodes - 2 * len(level), n_nodes))
            found |= {node: source.members(node) for node in level}
    return found


@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(0, 40),
    gaps=st.sampled_from([0, 0.2]),
)
@settings(max_examples=examples(40), deadline=None)
def test_a_level_is_sent_as_its_nodes_are(seed, n_rows, gaps):
    together = members_after(seed, n_rows, gaps, 1)
    alone = members_after(seed, n_rows, gaps, 10**9)
    assert together.keys() == alone.keys()
    for node, (rows, weights) in alone.items():
        assert np.array_equal(together[node][0], rows)
        assert np.array_equal(together[node][1], weights)


def test_children_can_be_sent_before_anybody_asks_for_their_rows():
    source = source_of(0, 12, 0)
    x, code = source.cells(0, np.arange(12)), source.cells(2, np.arange(12))
    source.partition(ROOT, Route(Threshold(0, 0.5, SHARES)), {0: 1, 1: 2})
    source.partition(2, Route(Groups(2, ((0,), (1,)), SHARES)), {1: 3})
    rows, _ = source.members(3)
    assert np.array_equal(rows, np.flatnonzero((x > 0.5) & (code == 1)))
    with pytest.raises(KeyError):
        source.members(2)  # it has left
