"""The arrays of the multiway kernels, which are enlarged when they are full."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney.growth.multiway.kernels import layout
from spinney.growth.multiway.kernels.layout import (
    Grown,
    Members,
    PruneRecords,
    Workspace,
)
from spinney.growth.multiway.kernels.value_counts import MAX_TABLE_CODES, SPARSE
from spinney.growth.multiway.multiway_dataset import MultiwayDataset

MAX_LOGS = 65_536
EXTRA_LINES = 4_096  # beyond the expected number: a small tree never needs more

Arrays = TypeVar("Arrays", Members, Grown, PruneRecords)
Names = defaultdict[int, Sequence[str]]

# The arrays to enlarge, by the result of the kernel.
MEMBER_ARRAYS: Names = defaultdict(
    tuple,
    {
        layout.SHORT_OF_MEMBERS: ("rows", "fractions", "row_buffer", "fraction_buffer"),
        layout.SHORT_OF_STACK: ("stack", "used"),
    },
)
NODE_ARRAYS: Names = defaultdict(
    tuple,
    {
        layout.SHORT_OF_NODES: ("nodes", "weights", "counts"),
        layout.SHORT_OF_CANDIDATES: ("candidates", "merits"),
        layout.SHORT_OF_LINES: ("line_codes", "line_weights", "line_counts"),
    },
)
# All that is written while a tree grows.
WRITTEN_ARRAYS = tuple(name for names in NODE_ARRAYS.values() for name in names)
PRUNE_ARRAYS: Names = defaultdict(
    tuple,
    {
        layout.SHORT_OF_NODES: ("origin", "is_recounted", "estimates", "risks"),
        layout.SHORT_OF_STEPS: ("steps", "measures"),
    },
)


def enlarged(arrays: Arrays, names: Sequence[str]) -> Arrays:
    """Return the arrays, with twice the capacity in the named fields."""
    return arrays._replace(**{name: _longer(getattr(arrays, name)) for name in names})


def _longer(array: NDArray[Any]) -> NDArray[Any]:
    longer = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def members_for(size: int, n_waiting: int, p: int) -> Members:
    """Return space for so many members, and nodes of p attributes on the stack."""
    return Members(
        np.empty(size, np.uint32),
        np.empty(size),
        np.empty(size, np.uint32),
        np.empty(size),
        np.empty((n_waiting, 5), np.int64),
        np.empty((n_waiting, p), np.uint8),
    )


def workspace_for(
    dataset: MultiwayDataset, n_members: int, table: NDArray[np.float64] | None = None
) -> Workspace:
    """Return a workspace to search nodes of so many members."""
    facts, n_classes = dataset.columns.facts, dataset.limits.n_classes
    max_codes = int(facts[:, layout.N_CODES].max())
    if table is None:
        listed = facts[:, layout.N_CODES] <= MAX_TABLE_CODES
        ends = facts[listed, layout.TABLE_START] + facts[listed, layout.N_CODES] + 1
        lines = int(ends.max(initial=3))
        table = np.empty(2 * n_classes * lines)
    n_values = max_codes + 2
    n_keys = (
        n_members
        if max_codes > MAX_TABLE_CODES
        else min(n_members, max_codes // SPARSE + 1)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        numbers = np.arange(min(MAX_LOGS, len(dataset.columns.codes) + 1), dtype=float)
        logs = numbers * np.log2(numbers)
    logs[0] = 0.0
    return Workspace(
        table,
        np.empty((len(facts), 2), np.uint64),
        np.empty(n_values, np.int64),
        np.empty(2 * n_classes * n_values),
        np.empty(n_values),
        np.empty(n_keys, np.uint64),
        np.empty(n_keys, np.uint64),
        np.empty(256, np.int64),
        np.empty(layout.VECTORS * 2 * n_classes),
        np.zeros((len(facts), 5), np.int64),
        np.zeros((len(facts), 2)),
        logs,
        np.empty(n_classes, np.int64),
        np.empty((len(facts), 3 * 2 * n_classes)),
    )
