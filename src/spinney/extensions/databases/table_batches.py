"""How many count tables one question asks for, so that their lines fit into memory.

A line is a value of a column at a node, with its weights by class. Where all different
numbers of a column are counted there are up to as many as the table has rows.
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
"""Bytes of a line while its table is counted and searched, and more for each class."""
MAX_BINNED_CLASSES = 6
"""Numbers are counted in bins for at most so many classes (``search.bin_bounds``)."""

NodeAttributes = Sequence[tuple[int, Sequence[int]]]
"""Nodes, and the attributes that are asked about there."""


@dataclass(frozen=True, slots=True)
class TableWorkspace:
    """How many lines of tables may come from an engine at once.

    Parameters
    ----------
    budget : MemoryBudget
    schema : Schema
    n_rows : int
        How many rows there are.
    different : dict of int to int
        About how many different numbers columns have; those of small tables are absent.
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
        """How many lines have room."""
        return self.budget.tables // self.n_bytes

    def lines(self, index: int, n_nodes: int) -> int:
        """Return how many lines an attribute has at most at so many nodes."""
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
        """Give places of what is wanted, and what is asked there by one question."""
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
        """Refuse what has to be in memory as a whole, and has no room there."""
        indices = {index for _, attributes in requested for index in attributes}
        lines = {index: self.lines(index, len(requested)) for index in sorted(indices)}
        if sum(lines.values()) > self.max_lines:
            largest = max(lines, key=lambda index: lines[index])
            raise self.refusal(largest, sum(lines.values()))

    def check_bins(self, batch: TableBatch, lines: NDArray[np.bool_]) -> None:
        """Refuse to open bins where the tables of bins have grown too large."""
        if len(lines) + MAX_LINES > self.max_lines:
            opened = batch.attribute[batch.owner[lines]]
            index = int(np.bincount(opened).argmax())
            name = self.schema.attributes[index].name
            n_bytes = (len(lines) + MAX_LINES) * self.n_bytes
            raise ParameterError(
                Setting("memory_limit", self.budget.given),
                f" has no room for the bins of column {name!r} that must be opened",
                remedy=phrase(
                    "raise it to {}, or grow a smaller tree ({} or {})",
                    self.budget.limit_for_tables(2 * n_bytes),
                    Setting("max_depth", 12),
                    Setting("min_samples_leaf", 100),
                ),
            )

    def refusal(self, index: int, n_lines: int) -> ParameterError:
        """Return the error for a column of too many values, with what helps."""
        name = self.schema.attributes[index].name
        limit = self.budget.limit_for_tables(n_lines * self.n_bytes)
        target = self.schema.target
        alternative = phrase("leave the column out ({})", Setting("ignore", [name]))
        if not target.is_numeric and target.n_outputs <= MAX_BINNED_CLASSES:
            settings = Setting("recipe", "cart"), Setting("missing_policy", "branch")
            alternative = phrase("count numbers in bins ({}, {})", *settings)
        return ParameterError(
            Setting("memory_limit", self.budget.given),
            f" has no room for all values of column {name!r}",
            remedy=phrase("raise it to {}, or {}", limit, alternative),
        )


def _batch(
    together: Mapping[int, list[int]], requested: NodeAttributes
) -> tuple[list[int], NodeAttributes]:
    places = sorted(together)
    return places, [(requested[place][0], together[place]) for place in places]
