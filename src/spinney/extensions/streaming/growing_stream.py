"""A tree that grows while rows come: what it has counted, and what it is so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.text import percent_text
from spinney.data import Fingerprint, Schema, fingerprint_of
from spinney.extensions.streaming.kernels.layout import (
    N_CHANGES,
    N_RIGHT,
    N_ROWS,
    NEXT_ROW,
    Stream,
    StreamRows,
)
from spinney.extensions.streaming.stream_arrays import new_stream, recoded, with_room
from spinney.extensions.streaming.stream_limits import refuse_many_values
from spinney.extensions.streaming.stream_nodes import tree_of
from spinney.recipes import Recipe
from spinney.sources.rows import JoinedRows, TrainingSet
from spinney.trees import Tree


@dataclass(frozen=True, slots=True)
class StreamStats:
    """How a stream fared: each row was predicted before it was learned.

    ``n_changes`` is how often errors rose, and a part of the tree began anew.

    >>> print(StreamStats(2000, 1500))
    2000 rows, each predicted before it was learned: 75.0 % right
    """

    n_rows: int
    n_right: int
    n_changes: int = 0

    @property
    def accuracy(self) -> float:
        """The share of rows that were predicted right; 0 where there are none."""
        return self.n_right / self.n_rows if self.n_rows else 0.0

    def __str__(self) -> str:
        told = "each predicted before it was learned"
        right = f"{self.n_rows} rows, {told}: {percent_text(self.accuracy, 1)} right"
        if not self.n_changes:
            return right
        times = "once" if self.n_changes == 1 else f"{self.n_changes} times"
        return f"{right}; {times} errors rose, and a part of the tree began anew"


@dataclass(slots=True, eq=False)
class GrowingStream:
    """A Hoeffding tree, and the tables of its leaves.

    Parameters
    ----------
    schema : Schema
        What its codes mean. Values and classes that come later push others up, so that
        they stand in the order that a reader of all rows would give them.
    recipe : Recipe
        Its ``search`` is "hoeffding".
    """

    schema: Schema
    recipe: Recipe
    weight: float = 0.0
    _stream: Stream = field(init=False, repr=False)

    def __post_init__(self) -> None:
        refuse_many_values(self.schema)
        self._stream = new_stream(self.schema, self.recipe)

    def learn(self, rows: TrainingSet) -> Integers:
        """Learn rows, in the codes of the schema; return what each was taken for.

        That is the class which the tree had for the row before it learned it, or -1
        where it had none.
        """
        from spinney.extensions.streaming.kernels.learn import learn_rows

        batch = StreamRows(
            cells_of(rows.columns, len(rows.classes)),
            np.ascontiguousarray(rows.classes, np.int64),
            np.ascontiguousarray(rows.own_weights, np.float64),
            np.zeros(len(rows.classes), np.int64),
        )
        stream = self._stream
        stream.at[NEXT_ROW] = 0
        while stream.at[NEXT_ROW] < len(batch.classes):
            stream = self._stream = with_room(stream)
            learn_rows(stream, batch)
        self.weight += rows.weight
        return batch.told

    def outputs(self, columns: Sequence[NDArray[Any]], n_rows: int) -> Floats:
        """Return what leaves tell of rows in its codes: the share of each class."""
        from spinney.extensions.streaming.kernels.learn import find_leaves
        from spinney.extensions.streaming.kernels.naive_bayes import tell_rows

        cells, leaves = cells_of(columns, n_rows), np.zeros(n_rows, np.int64)
        outputs = np.zeros((n_rows, self.schema.n_classes))
        find_leaves(self._stream, cells, leaves)
        tell_rows(self._stream, cells, leaves, outputs)
        return outputs

    def recode(self, joined: JoinedRows) -> None:
        """Take over the codes of rows that may bring new values and classes."""
        schema = joined.rows.schema
        refuse_many_values(schema)
        self._stream = recoded(self._stream, schema, joined.codes, joined.classes)
        self.schema = schema

    @property
    def learned(self) -> StreamStats:
        """How many rows have come, and how many were predicted right."""
        at = self._stream.at
        return StreamStats(int(at[N_ROWS]), int(at[N_RIGHT]), int(at[N_CHANGES]))

    @property
    def fingerprint(self) -> Fingerprint:
        """What is known of the rows: how many there were, and their weight."""
        return fingerprint_of(self.learned.n_rows, self.weight, "")

    def tree(self) -> Tree:
        """Return the tree as it is; it does not change when further rows come."""
        return tree_of(self._stream, self.schema, self.recipe)


def cells_of(columns: Sequence[NDArray[Any]], n_rows: int) -> Floats:
    """Return numbers and codes, a line for each row; NaN where a cell is missing."""
    cells = np.empty((n_rows, len(columns)))
    for a, column in enumerate(columns):
        cells[:, a] = column
        if column.dtype.kind != "f":
            cells[column < 0, a] = np.nan
    return cells
