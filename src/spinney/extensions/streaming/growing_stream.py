"""A Hoeffding tree that learns from batches of rows, and its limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.text import percent_text
from spinney.data import Fingerprint, Schema
from spinney.errors import DataError, Setting, refusal
from spinney.extensions.streaming.kernels import layout
from spinney.extensions.streaming.kernels.layout import (
    Stream,
    StreamRows,
)
from spinney.extensions.streaming.stream_arrays import (
    new_stream,
    recode_stream,
    with_space,
)
from spinney.extensions.streaming.stream_nodes import snapshot_tree
from spinney.growth.growth_options import Options
from spinney.recipes import Recipe
from spinney.sources.rows import JoinedRows, TrainingSet
from spinney.trees import Tree

MAX_VALUES = 1000
"""The most values of a nominal attribute: a leaf counts each by class."""


def refuse_options(options: Mapping[str, Any]) -> None:
    """Refuse options that need all rows at once, or more than one pass."""
    for name, value in options.items():
        if value not in (None, (), [], {}) and not callable(value):
            raise refusal(
                Setting(name, value),
                "needs all rows at once, and recipe 'hoeffding' sees one after another",
                "remove it, or use another recipe, such as 'c4.5'",
            )


def refuse_many_values(schema: Schema) -> None:
    """Refuse attributes of more values than a leaf can count."""
    for attribute in schema.attributes:
        if attribute.kind == "nominal" and len(attribute.values) > MAX_VALUES:
            name, n_values = attribute.name, len(attribute.values)
            msg = (
                f"column {name!r} has {n_values} values so far, and a stream counts at "
                f"most {MAX_VALUES}"
            )
            remedy = ("exclude it (", Setting("ignore", [name]), ")")
            raise DataError(msg, remedy=remedy)


@dataclass(frozen=True, slots=True)
class StreamStats:
    """Prequential statistics of a stream: each row is predicted before it is learned.

    ``n_changes`` is the number of times that errors rose and a subtree was reset.

    >>> print(StreamStats(2000, 1500))
    2000 rows, each predicted before it was learned: 75.0 % right
    """

    n_rows: int
    n_right: int
    n_changes: int = 0

    @property
    def accuracy(self) -> float:
        """The fraction of rows predicted correctly; 0 without rows."""
        return self.n_right / self.n_rows if self.n_rows else 0.0

    def __str__(self) -> str:
        right = percent_text(self.accuracy, 1)
        text = (
            f"{self.n_rows} rows, each predicted before it was learned: {right} right"
        )
        if not self.n_changes:
            return text
        times = "once" if self.n_changes == 1 else f"{self.n_changes} times"
        return f"{text}; {times} errors rose, and a part of the tree was reset"


@dataclass(slots=True, eq=False)
class GrowingStream:
    """A Hoeffding tree, and the tables of its leaves.

    Parameters
    ----------
    schema : Schema
        The attributes and classes. Later values and classes are sorted in, so that
        their order equals the order of reading all rows at once.
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
        """Learn rows, in the codes of the schema; return the predicted classes.

        Each row is predicted before it is learned; -1 while the tree is empty.
        """
        from spinney.extensions.streaming.kernels.learn import learn_rows

        batch = StreamRows(
            encode_cells(rows.columns, len(rows.classes)),
            np.ascontiguousarray(rows.classes, np.int64),
            np.ascontiguousarray(rows.sample_weights, np.float64),
            np.zeros(len(rows.classes), np.int64),
        )
        stream = self._stream
        stream.state[layout.NEXT_ROW] = 0
        while stream.state[layout.NEXT_ROW] < len(batch.classes):
            stream = self._stream = with_space(stream)
            learn_rows(stream, batch)
        self.weight += rows.weight
        return batch.predicted

    def outputs(self, columns: Sequence[NDArray[Any]], n_rows: int) -> Floats:
        """Return the class probabilities of rows in the codes of the schema."""
        from spinney.extensions.streaming.kernels.learn import find_leaves
        from spinney.extensions.streaming.kernels.naive_bayes import predict_rows

        cells, leaves = encode_cells(columns, n_rows), np.zeros(n_rows, np.int64)
        outputs = np.zeros((n_rows, self.schema.n_classes))
        find_leaves(self._stream, cells, leaves)
        predict_rows(self._stream, cells, leaves, outputs)
        return outputs

    def recode(self, joined: JoinedRows) -> None:
        """Change to the codes of joined rows, which may have new values and classes."""
        schema = joined.rows.schema
        refuse_many_values(schema)
        self._stream = recode_stream(self._stream, schema, joined.codes, joined.classes)
        self.schema = schema

    @property
    def learned(self) -> StreamStats:
        """The prequential statistics so far."""
        state = self._stream.state
        return StreamStats(
            int(state[layout.N_ROWS]),
            int(state[layout.N_CORRECT]),
            int(state[layout.N_DRIFTS]),
        )

    @property
    def fingerprint(self) -> Fingerprint:
        """The number of rows so far, and their weight."""
        return Fingerprint(self.learned.n_rows, self.weight, "")

    def tree(self) -> Tree:
        """Return the current tree; further rows do not change it."""
        return snapshot_tree(self._stream, self.schema, self.recipe)


def encode_cells(columns: Sequence[NDArray[Any]], n_rows: int) -> Floats:
    """Return numbers and codes, rows × columns; NaN for missing cells."""
    cells = np.empty((n_rows, len(columns)))
    for a, column in enumerate(columns):
        cells[:, a] = column
        if column.dtype.kind != "f":
            cells[column < 0, a] = np.nan
    return cells


def grow_tree(rows: TrainingSet, recipe: Recipe, options: Options) -> Tree:
    """Return the tree of rows in memory, learned once each, in their order."""
    del options  # those that a stream does not have are refused before
    stream = GrowingStream(rows.schema, recipe)
    stream.learn(rows)
    return stream.tree()


def compile_kernels() -> None:
    """Compile and cache the kernels, for ``spinney compile``."""
    from spinney.cli.compile_jobs import grow_example_tree

    grow_example_tree(np.float64, "hoeffding")
