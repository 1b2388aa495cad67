"""Batches of count tables, sized so that their lines fit in memory.

A line is a value of a column at a node, with its weights by class. A numeric column
counted by value has up to one line per row.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney._support.memory_budget import MemoryBudget
from spinney.data import Schema
from spinney.errors import ParameterError, Setting, phrase
from spinney.sources.open_bins import MAX_LINES
from spinney.trees import TableBatch

LINE, CLASS = 260, 32
"""Bytes of a line while its table is counted and searched, and per class."""
MAX_BINNED_CLASSES = 6
"""The maximum number of classes for counting in bins (``search.bin_bounds``)."""

NodeAttributes = Sequence[tuple[int, Sequence[int]]]
"""Nodes, and the attributes requested there."""


@dataclass(frozen=True, slots=True)
class TableWorkspace:
    """Limits the lines of count tables that an engine returns at once.

    Parameters
    ----------
    budget : MemoryBudget
    schema : Schema
    n_rows : int
        The number of rows.
    different : dict of int to int
        The approximate number of distinct values by column; empty for small tables.
    """

    budget: MemoryBudget
    schema: Schema
    n_rows: int
    different: Mapping[int, int]

    @property
    def n_bytes(self) -> int:
        """The memory of a line."""
        return LINE + CLASS * self.schema.target.n_outputs

    @property
    def max_lines(self) -> int:
        """The number of lines that fit in memory."""
        return self.budget.tables // self.n_bytes

    def lines(self, index: int, n_nodes: int) -> int:
        """Return the maximum number of lines of an attribute at ``n_nodes`` nodes."""
        columns = self.schema.attributes
        n_values = self.n_rows
        if index < len(columns) and columns[index].kind != "numeric":
            n_values = len(columns[index].values)
        n_values = min(n_values, self.different.get(index, self.n_rows))
        target = self.schema.target
        n_groups = 1 if target.is_numeric else target.n_outputs
        return min(self.n_rows, n_values * n_nodes * n_groups)

    def batches(
        self, requested: NodeAttributes
    ) -> Iterator[tuple[list[int], NodeAttributes]]:
        """Yield batches: indices of requests, and their nodes and attributes."""
        asking: dict[int, list[int]] = defaultdict(list)
        for place, (_, attributes) in enumerate(requested):
            for index in attributes:
                asking[index].append(place)
        together: dict[int, list[int]] = defaultdict(list)
        n_together = 0
        for index in sorted(asking):
            places = asking[index]
            single, n_lines = self.lines(index, 1), self.lines(index, len(places))
            if single > self.max_lines:
                raise self.refusal(index, single)
            if n_lines > self.max_lines:
                step = max(1, self.max_lines // single)
                for first in range(0, len(places), step):
                    part = places[first : first + step]
                    yield part, [(requested[place][0], [index]) for place in part]
                continue
            if n_together + n_lines > self.max_lines:
                yield _batch(together, requested)
                together, n_together = defaultdict(list), 0
            n_together += n_lines
            for place in places:
                together[place].append(index)
        if together:
            yield _batch(together, requested)

    def check(self, requested: NodeAttributes) -> None:
        """Refuse requests that must be in memory together and do not fit."""
        indices = {index for _, attributes in requested for index in attributes}
        lines = {index: self.lines(index, len(requested)) for index in sorted(indices)}
        if sum(lines.values()) > self.max_lines:
            largest = max(lines, key=lambda index: lines[index])
            raise self.refusal(largest, sum(lines.values()))

    def check_bins(self, batch: TableBatch, lines: NDArray[np.bool_]) -> None:
        """Refuse to open bins if the tables become too large."""
        if len(lines) + MAX_LINES > self.max_lines:
            opened = batch.attribute[batch.owner[lines]]
            index = int(np.bincount(opened).argmax())
            name = self.schema.attributes[index].name
            n_bytes = (len(lines) + MAX_LINES) * self.n_bytes
            raise ParameterError(
                Setting("memory_limit", self.budget.given),
                f" is too small for the opened bins of column {name!r}",
                remedy=phrase(
                    "raise it to {}, or grow a smaller tree ({} or {})",
                    self.budget.limit_for_tables(2 * n_bytes),
                    Setting("max_depth", 12),
                    Setting("min_samples_leaf", 100),
                ),
            )

    def refusal(self, index: int, n_lines: int) -> ParameterError:
        """Return the error for a column of too many values, with remedies."""
        name = self.schema.attributes[index].name
        limit = self.budget.limit_for_tables(n_lines * self.n_bytes)
        target = self.schema.target
        alternative = phrase("exclude the column ({})", Setting("ignore", [name]))
        if not target.is_numeric and target.n_outputs <= MAX_BINNED_CLASSES:
            settings = Setting("recipe", "cart"), Setting("missing_policy", "branch")
            alternative = phrase("count numbers in bins ({}, {})", *settings)
        return ParameterError(
            Setting("memory_limit", self.budget.given),
            f" is too small for all values of column {name!r}",
            remedy=phrase("raise it to {}, or {}", limit, alternative),
        )


def _batch(
    together: Mapping[int, list[int]], requested: NodeAttributes
) -> tuple[list[int], NodeAttributes]:
    places = sorted(together)
    return places, [(requested[place][0], together[place]) for place in places]
