"""The arrays of a growing stream: created, enlarged, and recoded."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney.data import Schema
from spinney.extensions.streaming.kernels import layout
from spinney.extensions.streaming.kernels.layout import (
    Stream,
    StreamColumns,
    StreamNodes,
    StreamSlots,
    StreamWorkspace,
)
from spinney.recipes import Recipe

KINDS = {"numeric": layout.NUMBER, "ordinal": layout.ORDINAL, "nominal": layout.NOMINAL}
CRITERIA = {"gain": layout.ENTROPY, "gini": layout.GINI}
RANKED_AFTER = 10_000  # rows between two rankings of leaves
NO_LIMIT = np.iinfo(np.int64).max // 2
INITIAL_SIZE = 16


def stream_columns(schema: Schema) -> StreamColumns:
    """Return the kinds and lines of the attributes."""
    kind = np.array([KINDS[a.kind] for a in schema.attributes], np.int64)
    sizes = [
        layout.N_BINS if a.kind == "numeric" else len(a.values)
        for a in schema.attributes
    ]
    n_lines = np.array(sizes, np.int64)
    ends = np.cumsum(n_lines + 1)  # with a line for missing cells
    numeric = kind == layout.NUMBER
    number = np.where(numeric, np.cumsum(numeric) - 1, -1)
    return StreamColumns(kind, ends - n_lines - 1, n_lines, number)


def new_stream(schema: Schema, recipe: Recipe) -> Stream:
    """Return the stream of an empty tree: one active leaf."""
    columns, n_classes = stream_columns(schema), schema.n_classes
    state = np.zeros(layout.STATE_SIZE, np.int64)
    state[layout.N_NODES] = state[layout.N_LEAVES] = 1
    depth = NO_LIMIT if recipe.max_depth is None else recipe.max_depth
    leaves = NO_LIMIT if recipe.max_leaves is None else recipe.max_leaves
    assert isinstance(recipe.criterion, str)
    limits = np.zeros(9, np.int64)
    limits[layout.GRACE_PERIOD] = recipe.grace_period
    limits[layout.MAX_ACTIVE_LEAVES] = recipe.max_active_leaves
    limits[layout.MAX_DEPTH], limits[layout.MAX_LEAVES] = depth, leaves
    limits[layout.CRITERION] = CRITERIA[recipe.criterion]
    limits[layout.MAX_BRANCHES] = _max_branches(columns)
    limits[layout.RANK_EVERY] = RANKED_AFTER
    limits[layout.DETECTS_DRIFT] = recipe.drift
    limits[layout.IS_ADAPTIVE] = recipe.leaves == "adaptive"
    stream = Stream(
        columns,
        _empty_nodes(INITIAL_SIZE, n_classes),
        _empty_slots(0, columns, n_classes, limits),
        _new_workspace(n_classes, recipe.grace_period),
        state,
        limits,
        np.array([-np.log(recipe.delta), recipe.tie_threshold]),
    )
    stream = with_space(stream)
    state[layout.N_FREE] -= 1  # for the root; a new slot is empty
    stream.nodes.slot[0] = stream.slots.free[state[layout.N_FREE]]
    stream.nodes.attribute[0] = layout.LEAF
    stream.nodes.label[0] = stream.nodes.parent[0] = -1
    return stream


def _max_branches(columns: StreamColumns) -> int:
    nominal = columns.n_lines[columns.kind == layout.NOMINAL]
    return int(max(2, nominal.max(initial=2)))


def _empty_nodes(size: int, n_classes: int) -> StreamNodes:
    parts: dict[str, Any] = {
        name: np.zeros(size, np.int64) for name in StreamNodes._fields
    }
    parts |= {"cut": np.zeros(size), "weights": np.zeros((size, n_classes))}
    parts |= {"errors": np.zeros((size, 6)), "correct": np.zeros((size, 2))}
    parts["branch_by_code"] = np.zeros(INITIAL_SIZE, np.int64)
    return StreamNodes(**parts)


def _empty_slots(
    size: int, columns: StreamColumns, n_classes: int, limits: Integers
) -> StreamSlots:
    grace, adapts = int(limits[layout.GRACE_PERIOD]), bool(limits[layout.IS_ADAPTIVE])
    n_lines = int((columns.n_lines + 1).sum())
    n_numbers = int(np.count_nonzero(columns.kind == layout.NUMBER))
    return StreamSlots(
        counts=np.zeros((size, n_lines, n_classes)),
        rows=np.zeros((size, n_lines), np.int64),
        n_rows=np.zeros(size, np.int64),
        edges=np.zeros((size, n_numbers, layout.N_BINS - 1)),
        n_edges=np.zeros((size, n_numbers), np.int64),
        buffer=np.zeros((size, grace, n_numbers)),
        buffer_class=np.zeros((size, grace), np.int64),
        buffer_weight=np.zeros((size, grace)),
        moments=np.zeros((size, n_numbers if adapts else 0, n_classes, 3)),
        totals=np.zeros((size, n_classes)),
        free=np.zeros(size, np.int64),
    )


def _new_workspace(n_classes: int, grace: int) -> StreamWorkspace:
    parts = {name: np.zeros(n_classes) for name in StreamWorkspace._fields}
    return StreamWorkspace(**{**parts, "sorted": np.zeros(grace)})


def _enlarge(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array enlarged by lines of zeros."""
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def with_space(stream: Stream) -> Stream:
    """Return a stream with space for another split, doubling full arrays."""
    n_needed = int(stream.limits[layout.MAX_BRANCHES])
    if stream.state[layout.N_NODES] + n_needed > len(stream.nodes.attribute):
        stream = _without_removed(stream)
    nodes, slots, state = stream.nodes, stream.slots, stream.state
    if state[layout.N_NODES] + n_needed > len(nodes.attribute):
        size = 2 * (len(nodes.attribute) + n_needed)
        larger = {
            name: _enlarge(array, size)
            for name, array in nodes._asdict().items()
            if name != "branch_by_code"
        }
        nodes = nodes._replace(**larger)
    n_codes = len(nodes.branch_by_code)
    if state[layout.N_CODES] + n_needed > n_codes:
        codes = _enlarge(nodes.branch_by_code, 2 * (n_codes + n_needed))
        nodes = nodes._replace(branch_by_code=codes)
    n_slots, max_slots = len(slots.n_rows), int(stream.limits[layout.MAX_ACTIVE_LEAVES])
    n_free = state[layout.N_FREE]
    if n_free < n_needed and n_slots < max_slots:
        size = min(2 * n_slots + n_needed, max_slots)
        slots = StreamSlots(*(_enlarge(array, size) for array in slots))
        added = np.arange(size - 1, n_slots - 1, -1)  # the last is taken first
        slots.free[: len(added) + n_free] = np.append(added, slots.free[:n_free])
        state[layout.N_FREE] += len(added)
    return stream._replace(nodes=nodes, slots=slots)


def _without_removed(stream: Stream) -> Stream:
    """Return a stream without removed nodes, if they are half of all."""
    nodes, state = stream.nodes, stream.state
    is_live = nodes.attribute[: state[layout.N_NODES]] != layout.REMOVED
    remaining = np.flatnonzero(is_live)
    n_remaining = len(remaining)
    if 2 * n_remaining > len(is_live):
        return stream
    number = np.cumsum(is_live) - 1
    parts = nodes._asdict()
    codes = parts.pop("branch_by_code")
    moved = {
        name: _enlarge(array[remaining], len(array)) for name, array in parts.items()
    }
    is_inner = moved["attribute"][:n_remaining] >= 0
    above, child = moved["parent"][1:n_remaining], moved["child"][:n_remaining]
    above[:] = number[above]
    child[is_inner] = number[child[is_inner]]
    state[layout.N_NODES] = n_remaining
    nodes = StreamNodes(**moved, branch_by_code=codes)
    columns = stream.columns
    unchanged = [None] * len(columns.kind)
    return stream._replace(
        nodes=_remap_branch_codes(nodes, state, columns, columns, unchanged)
    )


def recode_stream(
    stream: Stream,
    schema: Schema,
    codes: Sequence[Integers | None],
    classes: Integers | None,
) -> Stream:
    """Return a stream in the codes of a schema with more values, or classes.

    ``codes`` and ``classes`` are the new codes by old code; None if unchanged.
    """
    if classes is None and all(new is None for new in codes):
        return stream
    old, new = stream.columns, stream_columns(schema)
    n_classes, n_before = schema.n_classes, stream.nodes.weights.shape[1]
    to = np.arange(n_before) if classes is None else classes
    lines = np.zeros(int((old.n_lines + 1).sum()), np.int64)
    for a, new_codes in enumerate(codes):
        first, n_lines = int(old.first[a]), int(old.n_lines[a])
        places = np.arange(n_lines) if new_codes is None else new_codes
        lines[first : first + n_lines] = new.first[a] + places
        lines[first + n_lines] = new.first[a] + new.n_lines[a]
    slots, nodes = stream.slots, stream.nodes
    wide = _empty_slots(len(slots.n_rows), new, n_classes, stream.limits)
    wide.counts[:, lines[:, None], to] = slots.counts
    wide.rows[:, lines] = slots.rows
    wide.moments[:, :, to] = slots.moments
    wide.totals[:, to] = slots.totals
    slots = slots._replace(
        counts=wide.counts,
        rows=wide.rows,
        moments=wide.moments,
        totals=wide.totals,
        buffer_class=to[slots.buffer_class],
    )
    weights = np.zeros((len(nodes.label), n_classes))
    weights[:, to] = nodes.weights
    label = np.where(nodes.label < 0, -1, to[nodes.label])
    nodes = nodes._replace(weights=weights, label=label)
    nodes = _remap_branch_codes(nodes, stream.state, old, new, codes)
    limits = stream.limits.copy()
    limits[layout.MAX_BRANCHES] = _max_branches(new)
    work = _new_workspace(n_classes, int(limits[layout.GRACE_PERIOD]))
    return stream._replace(
        columns=new, nodes=nodes, slots=slots, work=work, limits=limits
    )


def _remap_branch_codes(
    nodes: StreamNodes,
    state: Integers,
    old_columns: StreamColumns,
    new_columns: StreamColumns,
    new_codes: Sequence[Integers | None],
) -> StreamNodes:
    """Return nodes with the branches of values by their new codes."""
    live = slice(0, state[layout.N_NODES])
    by_value = (nodes.attribute[live] >= 0) & (nodes.codes[live] >= 0)
    parts, starts, start = [np.zeros(0, np.int64)], nodes.codes.copy(), 0
    for node in np.flatnonzero(by_value):
        a = int(nodes.attribute[node])
        branches = np.full(int(new_columns.n_lines[a]), -1, np.int64)
        first, recoded = int(nodes.codes[node]), new_codes[a]
        before = nodes.branch_by_code[first : first + int(old_columns.n_lines[a])]
        branches[slice(0, len(before)) if recoded is None else recoded] = before
        parts.append(branches)
        starts[node] = start
        start += len(branches)
    state[layout.N_CODES] = start
    branch_by_code = np.concatenate([*parts, np.zeros(INITIAL_SIZE, np.int64)])
    return nodes._replace(codes=starts, branch_by_code=branch_by_code)
