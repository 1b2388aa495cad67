"""The arrays of a growing stream: made, made larger, and coded anew."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney.data import Schema
from spinney.extensions.streaming.kernels.layout import (
    ADAPTS,
    COUNTING,
    CRITERION,
    ENTROPY,
    GINI,
    GONE,
    GRACE,
    LEAF,
    LENGTH_OF_AT,
    MAX_DEPTH,
    MAX_LEAVES,
    MOST_BRANCHES,
    N_BINS,
    N_CODES,
    N_FREE,
    N_LEAVES,
    N_NODES,
    NOMINAL,
    NUMBER,
    ORDINAL,
    RANK_EVERY,
    WATCHES,
    Stream,
    StreamColumns,
    StreamNodes,
    StreamSlots,
    StreamWorkspace,
)
from spinney.recipes import Recipe

KINDS = {"numeric": NUMBER, "ordinal": ORDINAL, "nominal": NOMINAL}
CRITERIA = {"gain": ENTROPY, "gini": GINI}
RANKED_AFTER = 10_000  # rows between two times that leaves are ranked
NO_LIMIT = np.iinfo(np.int64).max // 2
FEW = 16


def columns_of(schema: Schema) -> StreamColumns:
    """Return where the lines of each attribute stand."""
    kind = np.array([KINDS[a.kind] for a in schema.attributes], np.int64)
    sizes = [
        N_BINS if a.kind == "numeric" else len(a.values) for a in schema.attributes
    ]
    n_lines = np.array(sizes, np.int64)
    ends = np.cumsum(n_lines + 1)  # with a line for missing cells
    numeric = kind == NUMBER
    number = np.where(numeric, np.cumsum(numeric) - 1, -1)
    return StreamColumns(kind, ends - n_lines - 1, n_lines, number)


def new_stream(schema: Schema, recipe: Recipe) -> Stream:
    """Return the stream of a tree that has seen nothing: a leaf that counts."""
    columns, n_classes = columns_of(schema), schema.n_classes
    at = np.zeros(LENGTH_OF_AT, np.int64)
    at[N_NODES] = at[N_LEAVES] = 1
    depth = NO_LIMIT if recipe.max_depth is None else recipe.max_depth
    leaves = NO_LIMIT if recipe.max_leaves is None else recipe.max_leaves
    assert isinstance(recipe.criterion, str)
    limits = np.zeros(9, np.int64)
    limits[GRACE], limits[COUNTING] = recipe.grace_period, recipe.max_active_leaves
    limits[MAX_DEPTH], limits[MAX_LEAVES] = depth, leaves
    limits[CRITERION] = CRITERIA[recipe.criterion]
    limits[MOST_BRANCHES], limits[RANK_EVERY] = _most_branches(columns), RANKED_AFTER
    limits[WATCHES], limits[ADAPTS] = recipe.drift, recipe.leaves == "adaptive"
    stream = Stream(
        columns,
        _nodes(FEW, n_classes),
        _slots(0, columns, n_classes, limits),
        _room(n_classes, recipe.grace_period),
        at,
        limits,
        np.array([-np.log(recipe.delta), recipe.tie_threshold]),
    )
    stream = with_room(stream)
    at[N_FREE] -= 1  # whose slot is empty as it is
    stream.nodes.slot[0] = stream.slots.free[at[N_FREE]]
    stream.nodes.attribute[0] = LEAF
    stream.nodes.label[0] = stream.nodes.parent[0] = -1
    return stream


def _most_branches(columns: StreamColumns) -> int:
    nominal = columns.n_lines[columns.kind == NOMINAL]
    return int(max(2, nominal.max(initial=2)))


def _nodes(size: int, n_classes: int) -> StreamNodes:
    parts: dict[str, Any] = {
        name: np.zeros(size, np.int64) for name in StreamNodes._fields
    }
    parts |= {"cut": np.zeros(size), "weights": np.zeros((size, n_classes))}
    parts |= {"errors": np.zeros((size, 6)), "right": np.zeros((size, 2))}
    parts["branch_of"] = np.zeros(FEW, np.int64)
    return StreamNodes(**parts)


def _slots(
    size: int, columns: StreamColumns, n_classes: int, limits: Integers
) -> StreamSlots:
    grace, adapts = int(limits[GRACE]), bool(limits[ADAPTS])
    n_lines = int((columns.n_lines + 1).sum())
    n_numbers = int(np.count_nonzero(columns.kind == NUMBER))
    return StreamSlots(
        counts=np.zeros((size, n_lines, n_classes)),
        rows=np.zeros((size, n_lines), np.int64),
        seen=np.zeros(size, np.int64),
        edges=np.zeros((size, n_numbers, N_BINS - 1)),
        n_edges=np.zeros((size, n_numbers), np.int64),
        held=np.zeros((size, grace, n_numbers)),
        held_class=np.zeros((size, grace), np.int64),
        held_weight=np.zeros((size, grace)),
        moments=np.zeros((size, n_numbers if adapts else 0, n_classes, 3)),
        totals=np.zeros((size, n_classes)),
        free=np.zeros(size, np.int64),
    )


def _room(n_classes: int, grace: int) -> StreamWorkspace:
    parts = {name: np.zeros(n_classes) for name in StreamWorkspace._fields}
    return StreamWorkspace(**{**parts, "sorted": np.zeros(grace)})


def _larger(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array of so many lines, the first of them as they were."""
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def with_room(stream: Stream) -> Stream:
    """Return a stream with room for another split: twice as much, where it lacks."""
    lacking = stream.at[N_NODES] + stream.limits[MOST_BRANCHES]
    if lacking > len(stream.nodes.attribute):
        stream = _without_gone(stream)
    nodes, slots, at = stream.nodes, stream.slots, stream.at
    counting, most = int(stream.limits[COUNTING]), int(stream.limits[MOST_BRANCHES])
    if at[N_NODES] + most > len(nodes.attribute):
        size = 2 * (len(nodes.attribute) + most)
        larger = {
            name: _larger(array, size)
            for name, array in nodes._asdict().items()
            if name != "branch_of"
        }
        nodes = nodes._replace(**larger)
    if at[N_CODES] + most > len(nodes.branch_of):
        codes = _larger(nodes.branch_of, 2 * (len(nodes.branch_of) + most))
        nodes = nodes._replace(branch_of=codes)
    n_slots = len(slots.seen)
    if at[N_FREE] < most and n_slots < counting:
        size = min(2 * n_slots + most, counting)
        slots = StreamSlots(*(_larger(array, size) for array in slots))
        # The first to be taken is that of the lowest number.
        fresh = np.arange(size - 1, n_slots - 1, -1)
        slots.free[len(fresh) : len(fresh) + at[N_FREE]] = slots.free[: at[N_FREE]]
        slots.free[: len(fresh)] = fresh
        at[N_FREE] += len(fresh)
    return stream._replace(nodes=nodes, slots=slots)


def _without_gone(stream: Stream) -> Stream:
    """Return a stream without nodes that are no more, if they are half of all."""
    nodes, at = stream.nodes, stream.at
    lives = nodes.attribute[: at[N_NODES]] != GONE
    kept = np.flatnonzero(lives)
    if 2 * len(kept) > len(lives):
        return stream
    number = np.cumsum(lives) - 1
    parts = nodes._asdict()
    codes = parts.pop("branch_of")
    moved = {name: _larger(array[kept], len(array)) for name, array in parts.items()}
    asks = moved["attribute"][: len(kept)] >= 0
    above, child = moved["parent"][1 : len(kept)], moved["child"][: len(kept)]
    above[:] = number[above]
    child[asks] = number[child[asks]]
    at[N_NODES] = len(kept)
    nodes = StreamNodes(**moved, branch_of=codes)
    columns = stream.columns
    same = [None] * len(columns.kind)
    return stream._replace(nodes=_with_codes(nodes, at, columns, columns, same))


def recoded(
    stream: Stream,
    schema: Schema,
    codes: Sequence[Integers | None],
    classes: Integers | None,
) -> Stream:
    """Return a stream in the codes of a schema that knows more values, or classes.

    ``codes`` and ``classes`` say what became of each code; None where none changed.
    """
    if classes is None and all(each is None for each in codes):
        return stream
    old, new = stream.columns, columns_of(schema)
    n_classes, n_before = schema.n_classes, stream.nodes.weights.shape[1]
    to = np.arange(n_before) if classes is None else classes
    lines = np.zeros(int((old.n_lines + 1).sum()), np.int64)
    for a, by in enumerate(codes):
        first, n_lines = int(old.first[a]), int(old.n_lines[a])
        own = np.arange(n_lines) if by is None else by
        lines[first : first + n_lines] = new.first[a] + own
        lines[first + n_lines] = new.first[a] + new.n_lines[a]
    slots, nodes = stream.slots, stream.nodes
    wide = _slots(len(slots.seen), new, n_classes, stream.limits)
    wide.counts[:, lines[:, None], to] = slots.counts
    wide.rows[:, lines] = slots.rows
    wide.moments[:, :, to] = slots.moments
    wide.totals[:, to] = slots.totals
    slots = slots._replace(
        counts=wide.counts,
        rows=wide.rows,
        moments=wide.moments,
        totals=wide.totals,
        held_class=to[slots.held_class],
    )
    weights = np.zeros((len(nodes.label), n_classes))
    weights[:, to] = nodes.weights
    label = np.where(nodes.label < 0, -1, to[nodes.label])
    nodes = nodes._replace(weights=weights, label=label)
    nodes = _with_codes(nodes, stream.at, old, new, codes)
    limits = stream.limits.copy()
    limits[MOST_BRANCHES] = _most_branches(new)
    room = _room(n_classes, int(limits[GRACE]))
    return stream._replace(
        columns=new, nodes=nodes, slots=slots, room=room, limits=limits
    )


def _with_codes(
    nodes: StreamNodes,
    at: Integers,
    old: StreamColumns,
    new: StreamColumns,
    codes: Sequence[Integers | None],
) -> StreamNodes:
    """Return nodes whose branches of values stand by the new codes."""
    live = slice(0, at[N_NODES])
    asked = (nodes.attribute[live] >= 0) & (nodes.codes[live] >= 0)
    parts, where, start = [np.zeros(0, np.int64)], nodes.codes.copy(), 0
    for node in np.flatnonzero(asked):
        a = int(nodes.attribute[node])
        own = np.full(int(new.n_lines[a]), -1, np.int64)
        first, by = int(nodes.codes[node]), codes[a]
        before = nodes.branch_of[first : first + int(old.n_lines[a])]
        own[slice(0, len(before)) if by is None else by] = before
        parts.append(own)
        where[node] = start
        start += len(own)
    at[N_CODES] = start
    branch_of = np.concatenate([*parts, np.zeros(FEW, np.int64)])
    return nodes._replace(codes=where, branch_of=branch_of)
