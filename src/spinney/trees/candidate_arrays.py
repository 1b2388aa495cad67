"""The candidates of all nodes as arrays, in the form of model files.

The entries of one node, candidate, split or group are adjacent, without gaps, and
counts give their number.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import starts_of
from spinney.data import Schema, Target
from spinney.trees.counts import CountTable
from spinney.trees.node import Candidate
from spinney.trees.split_arrays import SplitArrays, arrays_of_splits, entries_of

GIVEN = 2  # among the marks that say whether a split is exact


@dataclass(frozen=True, eq=False, kw_only=True)
class CandidateArrays:
    """The candidates of all nodes as arrays, in the order of the nodes and attributes.

    Parameters
    ----------
    count, chosen : arrays of int64, one for each node
        The number of its candidates, and the index of the winner, or -1.
    splits : SplitArrays
        The splits of the candidates.
    gain, merit, p_value : arrays, one for each candidate
        As in :class:`~spinney.trees.node.Candidate`; NaN stands for no p-value.
    exact : array of int, one for each candidate
        1 if the split is known to be the best of its form, else 0; ``GIVEN`` for a
        user's condition.
    bound : array of float, one for each candidate, optional
        Upper bounds on the gains of the form, NaN if unknown; None stands for all NaN.
    n_values : array of int64, one for each candidate
        The number of values in its table.
    values, weights, rows : arrays, one line for each value
        The count tables, with codes as numbers.
    missing_weights, missing_rows : arrays, one line for each candidate
        The counts of rows whose value is missing.
    """

    count: Integers
    chosen: Integers
    splits: SplitArrays
    gain: Floats
    merit: Floats
    exact: NDArray[Any]
    p_value: Floats
    n_values: Integers
    values: Floats
    weights: Floats
    rows: Integers
    missing_weights: Floats
    missing_rows: Integers
    bound: Floats | None = None

    @cached_property
    def _starts(self) -> tuple[Integers, Integers]:
        """The start of each node's candidates, and of each candidate's values."""
        return starts_of(self.count), starts_of(self.n_values)

    def at_node(
        self, node: int, schema: Schema
    ) -> tuple[tuple[Candidate, ...], int | None]:
        """Return the candidates of a node, and the index of the winner."""
        first, end = self._starts[0][node : node + 2].tolist()
        chosen = int(self.chosen[node])
        candidates = tuple(self.candidate(line, schema) for line in range(first, end))
        return candidates, None if chosen < 0 else chosen

    def candidate(self, line: int, schema: Schema) -> Candidate:
        """Return a candidate."""
        split, exactness = self.splits.split(line), int(self.exact[line])
        lines = slice(*self._starts[1][line : line + 2].tolist())
        values: NDArray[Any] = self.values[lines]
        if schema.attributes[split.attribute].kind != "numeric":
            values = values.astype(np.int64)
        missing_counts = self.missing_weights[line], self.missing_rows[line]
        p_value = float(self.p_value[line])
        bound = np.nan if self.bound is None else float(self.bound[line])
        return Candidate(
            split,
            CountTable(values, self.weights[lines], self.rows[lines], *missing_counts),
            float(self.gain[line]),
            float(self.merit[line]),
            exactness == 1,
            None if np.isnan(p_value) else p_value,
            given=exactness == GIVEN,
            bound=None if np.isnan(bound) else bound,
        )

    def winners(self) -> "CandidateArrays":
        """Return the winning candidates, one for each inner node."""
        is_inner = self.chosen >= 0
        lines = self._starts[0][:-1][is_inner] + self.chosen[is_inner]
        one = np.ones(len(lines), np.int64)
        return self.of_lines(lines, one, np.zeros_like(one))

    def of_nodes(
        self, nodes: Integers, is_inner: NDArray[np.bool_]
    ) -> "CandidateArrays":
        """Return the candidates of some nodes; leaves have no winner."""
        chosen = np.where(is_inner, self.chosen[nodes], -1)
        return self.of_lines(entries_of(self.count, nodes), self.count[nodes], chosen)

    def of_lines(
        self, lines: Integers, count: Integers, chosen: Integers
    ) -> "CandidateArrays":
        """Return some of the candidates, in any order, assigned to other nodes."""
        value_lines = entries_of(self.n_values, lines)
        return CandidateArrays(
            count=count,
            chosen=chosen,
            splits=self.splits.of_lines(lines),
            gain=self.gain[lines],
            merit=self.merit[lines],
            exact=self.exact[lines],
            p_value=self.p_value[lines],
            n_values=self.n_values[lines],
            values=self.values[value_lines],
            weights=self.weights[value_lines],
            rows=self.rows[value_lines],
            missing_weights=self.missing_weights[lines],
            missing_rows=self.missing_rows[lines],
            bound=None if self.bound is None else self.bound[lines],
        )


def joined_candidates(parts: Sequence[CandidateArrays]) -> CandidateArrays:
    """Return concatenated candidates without nodes; none has a bound."""

    def concatenated(arrays: Sequence[Any], kind: type) -> dict[str, Any]:
        return {
            entry.name: np.concatenate([getattr(each, entry.name) for each in arrays])
            for entry in fields(kind)
            if entry.name not in ("splits", "bound")
        }

    splits = concatenated([part.splits for part in parts], SplitArrays)
    fields_of_candidates = concatenated(parts, CandidateArrays)
    return CandidateArrays(**fields_of_candidates, splits=SplitArrays(**splits))


def arrays_of_candidates(
    by_node: Iterable[tuple[Sequence[Candidate], int | None]], target: Target
) -> CandidateArrays:
    """Return the candidates of nodes, and the winners, as arrays."""
    candidates, count, chosen = list[Candidate](), list[int](), list[int]()
    for of_node, winner in by_node:
        candidates.extend(of_node)
        count.append(len(of_node))
        chosen.append(-1 if winner is None else winner)
    tables = [candidate.table for candidate in candidates]
    values = [np.asarray(table.values, dtype=np.float64) for table in tables]
    p_values = [np.nan if c.p_value is None else c.p_value for c in candidates]

    def lines(arrays: Iterable[NDArray[Any]], width: int, dtype: type) -> NDArray[Any]:
        blocks = [np.empty((0, width), dtype), *(a.reshape(-1, width) for a in arrays)]
        return np.concatenate(blocks)

    width, n_outputs = target.width, target.n_outputs
    return CandidateArrays(
        count=np.array(count, np.int64),
        chosen=np.array(chosen, np.int64),
        splits=arrays_of_splits([candidate.split for candidate in candidates]),
        gain=np.array([c.gain for c in candidates], np.float64),
        merit=np.array([c.merit for c in candidates], np.float64),
        exact=np.array([GIVEN if c.given else c.exact for c in candidates], np.int64),
        p_value=np.array(p_values, np.float64),
        n_values=np.array([len(of_node) for of_node in values], np.int64),
        values=np.concatenate([np.empty(0), *values]),
        weights=lines((t.weights for t in tables), width, np.float64),
        rows=lines((t.rows for t in tables), n_outputs, np.int64),
        missing_weights=lines((t.missing for t in tables), width, np.float64),
        missing_rows=lines((t.missing_rows for t in tables), n_outputs, np.int64),
        bound=bounds_of(candidates),
    )


def bounds_of(candidates: Sequence[Candidate]) -> Floats | None:
    """Return the bounds of candidates, NaN for none; None if none has a bound."""
    bounds = [np.nan if c.bound is None else c.bound for c in candidates]
    return None if np.isnan(bounds).all() else np.array(bounds)
