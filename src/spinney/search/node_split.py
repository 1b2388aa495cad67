"""The best split of each node of a level, from the best splits of its attributes.

Merits are a tie if they are equal within a relative 1e-12, or an absolute 1e-12 below
their unit. A tie goes to the first attribute in column order, or in the user's order.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import first_best_by, maxima, starts_of
from spinney._support.ties import TOLERANCE
from spinney.data import Attribute, Schema
from spinney.errors import ParameterError, Setting
from spinney.recipes import Recipe
from spinney.search.level_splits import LevelSplits
from spinney.search.tree_search import Search
from spinney.trees import Candidate, Reason, Threshold


@dataclass(frozen=True, slots=True)
class Decision:
    """The candidates of a node, and the winner, or the reason for a leaf."""

    candidates: Sequence[Candidate]
    chosen: int | None = None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LevelDecisions:
    """The decision at each node of a level: its split, or the reason for a leaf.

    A ``Candidate`` is made when it is read.

    Parameters
    ----------
    parts : sequence of LevelSplits
        The best splits of all attributes, by parts of the level.
    splits : NodeSplits
        The same splits, ordered by node.
    chosen : array of shape (nodes,)
        The index of the winner among the node's own splits, or -1.
    reasons : list
        The reasons of leaves.
    """

    parts: Sequence[LevelSplits]
    splits: "NodeSplits"
    chosen: Integers
    reasons: list[Reason | None]

    def candidate(self, line: int) -> Candidate:
        """Return one of the splits."""
        part = self.parts[int(self.splits.part[line])]
        return part.candidate(int(self.splits.number[line]))

    def of_nodes(self, given: Mapping[int, Candidate]) -> list[Decision]:
        """Return the decision of each node; all winners are made at once.

        A split that was ``given`` to a node wins whatever its merit.
        """
        winners = self._winners()
        decisions = []
        for node, (start, end) in enumerate(pairwise(self.splits.start.tolist())):
            own = LazyCandidates(self, range(start, end), winners)
            chosen = int(self.chosen[node])
            winner = None if chosen < 0 else chosen
            decision = Decision(own, winner, self.reasons[node])
            decisions.append(
                own.with_candidate(given[node]) if node in given else decision
            )
        return decisions

    def _winners(self) -> dict[int, Candidate]:
        """Return the winning split of each node, by its line."""
        lines = (self.splits.start[:-1] + self.chosen)[self.chosen >= 0]
        winners: dict[int, Candidate] = {}
        for number, part in enumerate(self.parts):
            own_lines = lines[self.splits.part[lines] == number]
            cached = (
                part.candidates(self.splits.number[own_lines]) if len(own_lines) else []
            )
            winners.update(zip(own_lines.tolist(), cached, strict=True))
        return winners


class LazyCandidates(Sequence[Candidate]):
    """The candidates of a node, each made on first access.

    The nodes of a level share ``cached`` candidates, by line.
    """

    __slots__ = ("_cached", "_level", "_lines")

    def __init__(
        self, level: LevelDecisions, lines: Sequence[int], cached: dict[int, Candidate]
    ) -> None:
        self._level, self._lines, self._cached = level, lines, cached

    def with_candidate(self, forced: Candidate) -> Decision:
        """Return the decision for a forced candidate, among the others.

        It is placed before the candidate of its attribute, and has a line of its own.
        """
        lines = list(self._lines)
        attributes = self._level.splits.attribute[lines]
        first = int(np.count_nonzero(attributes < forced.attribute))
        cached = {**self._cached, -1: forced}
        lines.insert(first, -1)
        return Decision(LazyCandidates(self._level, lines, cached), first)

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self._lines)

    @property
    def level(self) -> LevelDecisions:
        """The decisions of the whole level."""
        return self._level

    def at_level(self, level: LevelDecisions) -> "LazyCandidates":
        """Return the same candidates of a rewritten level, except a forced one."""
        forced = {line: self._cached[line] for line in self._lines if line < 0}
        return LazyCandidates(level, self._lines, forced)

    @overload
    def __getitem__(self, position: int) -> Candidate: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Candidate, ...]: ...
    def __getitem__(self, position: int | slice) -> Candidate | tuple[Candidate, ...]:
        """Return a candidate, or some."""
        if isinstance(position, slice):
            return tuple(self[index] for index in range(*position.indices(len(self))))
        line = self._lines[position]
        if line not in self._cached:
            self._cached[line] = self._level.candidate(line)
        return self._cached[line]


def rewrite_decision(
    decision: Decision, search: Search, levels: dict[int, LevelDecisions]
) -> Decision | None:
    """Return a decision with the thresholds of another search, between the same rows.

    Both searches find the same splits. ``levels`` caches whole levels. None if the
    candidates do not come from a level.
    """
    candidates = decision.candidates
    if not isinstance(candidates, LazyCandidates):
        return None
    level = candidates.level
    if id(level) not in levels:
        parts = [replace(part, search=search) for part in level.parts]
        levels[id(level)] = replace(level, parts=parts)
    return replace(decision, candidates=candidates.at_level(levels[id(level)]))


def decide_level(
    search: Search,
    parts: Sequence[LevelSplits],
    schema: Schema,
    *,
    totals: Floats,
    max_distinct: Integers,
    forced: Mapping[int, int],
    paid: Callable[[int], Collection[int]],
) -> LevelDecisions:
    """Return the decision of each node: the best split of its attributes.

    ``totals`` are the weights of the nodes. ``max_distinct`` is the largest number of
    values of an attribute at the node, -1 if none was searched. An attribute's merit is
    divided by 1 + its test cost, unless the cost was ``paid`` above. A ``forced``
    attribute wins whatever its merit.
    """
    n_nodes = len(totals)
    splits = NodeSplits.of(parts, n_nodes)
    is_eligible = splits.every
    gates = (
        (_competes(search, splits, schema), Reason.MIN_GAIN),
        (splits.gain >= search.recipe.min_gain * (1 - TOLERANCE), Reason.MIN_GAIN),
        (_significant(search, splits), Reason.SIGNIFICANCE),
    )
    has_candidates = np.bincount(splits.node, minlength=n_nodes) > 0
    reasons: list[Reason | None] = [
        None if is_split else _reason_for_none(int(max_distinct[node]))
        for node, is_split in enumerate(has_candidates)
    ]
    for passed, reason in gates:
        is_eligible = is_eligible & passed
        still_has = np.bincount(splits.node[is_eligible], minlength=n_nodes) > 0
        for node in np.flatnonzero(has_candidates & ~still_has).tolist():
            reasons[node] = reason
        has_candidates = still_has
    chosen = _first_best(search, splits, schema, is_eligible, totals, paid)
    for node, attribute in forced.items():
        chosen[node] = _forced(splits, node, schema.attributes[attribute], attribute)
        reasons[node] = None
    chosen = np.where(chosen < 0, -1, chosen - splits.start[:-1])
    return LevelDecisions(parts, splits, chosen, reasons)


@dataclass(frozen=True, slots=True, eq=False)
class NodeSplits:
    """The best splits of all parts of a level, by node, in column order.

    Parameters
    ----------
    part, number : arrays of shape (splits,)
        The part of each split, and its position there.
    start : array of shape (nodes + 1,)
        Where the splits of each node begin.
    node, attribute, gain, merit : arrays of shape (splits,)
        The node and attribute of each split, its gain and merit.
    threshold : array of shape (splits,)
        Whether it is a threshold.
    """

    part: Integers
    number: Integers
    start: Integers
    node: Integers
    attribute: Integers
    gain: Floats
    merit: Floats
    threshold: NDArray[np.bool_]

    @property
    def every(self) -> NDArray[np.bool_]:
        """A mask of all splits."""
        return np.ones(len(self.node), dtype=bool)

    @classmethod
    def of(cls, parts: Sequence[LevelSplits], n_nodes: int) -> "NodeSplits":
        """Return the splits of all nodes."""
        node = np.concatenate([part.tables.node for part in parts])
        attribute = np.concatenate([part.tables.attribute for part in parts])
        order = np.lexsort((attribute, node))
        counts = np.bincount(node, minlength=n_nodes)
        return cls(
            np.repeat(np.arange(len(parts)), [len(part) for part in parts])[order],
            np.concatenate([np.arange(len(part)) for part in parts])[order],
            starts_of(counts),
            node[order],
            attribute[order],
            np.concatenate([part.gain for part in parts])[order],
            np.concatenate([part.merit for part in parts])[order],
            np.concatenate([part.is_threshold for part in parts])[order],
        )

    @classmethod
    def of_candidates(cls, candidates: Sequence[Candidate]) -> "NodeSplits":
        """Return the splits of one node."""
        n_splits = len(candidates)
        zeros, numbers = np.zeros(n_splits, np.int64), np.arange(n_splits)
        thresholds = [isinstance(c.split, Threshold) for c in candidates]
        return cls(
            zeros,
            numbers,
            np.array([0, n_splits]),
            zeros,
            np.array([c.attribute for c in candidates], np.int64),
            np.array([c.gain for c in candidates], np.float64),
            np.array([c.merit for c in candidates], np.float64),
            np.array(thresholds, np.bool_),
        )


def _competes(search: Search, splits: NodeSplits, schema: Schema) -> NDArray[np.bool_]:
    """Return a mask of the splits that compete at their node by the criterion."""
    criterion = search.criterion
    if not criterion.average:
        return splits.every
    unit = np.maximum(maxima(splits.gain, splits.start), 1.0)
    min_gains = _averages(search, splits, schema) - (criterion.slack + TOLERANCE * unit)
    enough = splits.gain >= min_gains[splits.node]
    return np.asarray(enough & _has_corrected_gain(search, splits))


def _averages(search: Search, splits: NodeSplits, schema: Schema) -> Floats:
    """Return the average gain at each node; infinite if no split counts in it."""
    is_counted = _in_average(search, splits, schema)
    n_nodes = len(splits.start) - 1
    n_counted = np.bincount(splits.node[is_counted], minlength=n_nodes)
    total = np.bincount(
        splits.node[is_counted], splits.gain[is_counted], minlength=n_nodes
    )
    infinite = np.full(n_nodes, np.inf)
    return np.asarray(np.divide(total, n_counted, out=infinite, where=n_counted > 0))


def _in_average(
    search: Search, splits: NodeSplits, schema: Schema
) -> NDArray[np.bool_]:
    """Return a mask of the splits that count in the average gain.

    Not counted are thresholds without gain after the correction, and nominal attributes
    of many values, whose gains are inflated.
    """
    has_many = _many_values(search, schema)[splits.attribute]
    return np.asarray(_has_corrected_gain(search, splits) & ~has_many)


def _has_corrected_gain(search: Search, splits: NodeSplits) -> NDArray[np.bool_]:
    """Return a mask of splits with a positive gain after the correction."""
    recipe = search.recipe
    if not recipe.mdl_correction:
        return splits.every
    return np.asarray(~splits.threshold | (splits.gain > recipe.min_gain))


def _many_values(search: Search, schema: Schema) -> NDArray[np.bool_]:
    """Return a mask of attributes with many values; none if all have many."""
    limit = search.criterion.many_values * search.total * (1 - TOLERANCE)
    has_many = np.array(
        [a.kind == "nominal" and len(a.values) >= limit for a in schema.attributes],
        dtype=bool,
    )
    return has_many & ~has_many.all()


def _significant(search: Search, splits: NodeSplits) -> NDArray[np.bool_]:
    """Return a mask of splits whose p is at most the recipe's level, if it has one."""
    alpha = search.recipe.alpha_split
    if alpha is None or not search.criterion.chance:
        return splits.every
    return np.asarray(np.exp(-splits.merit) <= alpha * (1 + TOLERANCE))


def _first_best(
    search: Search,
    splits: NodeSplits,
    schema: Schema,
    is_eligible: NDArray[np.bool_],
    totals: Floats,
    paid: Callable[[int], Collection[int]],
) -> Integers:
    """Return the first best of the eligible splits of each node, -1 without any."""
    lines = np.flatnonzero(is_eligible)
    if search.preference:
        rank = np.full(len(schema.attributes), len(search.preference))
        for order, attribute in reversed(list(enumerate(search.preference))):
            rank[attribute] = order
        ranks = rank[splits.attribute[lines]]
        lines = lines[np.lexsort((ranks, splits.node[lines]))]
    node, scores = splits.node[lines], splits.merit[lines]
    if any(attribute.cost for attribute in schema.attributes):
        pairs = zip(splits.attribute[lines].tolist(), node.tolist(), strict=True)
        prices = [
            test_cost(attribute, schema, paid(number)) for attribute, number in pairs
        ]
        scores = scores / (1 + np.array(prices, dtype=np.float64))
    criterion = search.criterion
    unit = 1.0 if criterion.chance else criterion.gain_units(totals)
    start = np.searchsorted(node, np.arange(len(totals) + 1))
    first = first_best_by(scores, start, criterion.tolerance, unit)
    return np.append(lines, -1)[first]  # of none the -1 at the end


def _forced(splits: NodeSplits, node: int, attribute: Attribute, index: int) -> int:
    lines = np.flatnonzero((splits.node == node) & (splits.attribute == index))
    if len(lines):
        return int(lines[0])
    raise ParameterError(
        Setting("forced_splits"),
        f": the attribute {attribute.name!r} cannot split its node: it has one value "
        "there, or its branches would be too small; force another one",
    )


def _reason_for_none(max_distinct: int) -> Reason:
    """Return the reason for a leaf, given the largest number of distinct values."""
    if max_distinct < 0:
        return Reason.EXHAUSTED
    return Reason.IDENTICAL if max_distinct < 2 else Reason.ROWS_IN_LEAF


def score(candidate: Candidate, schema: Schema, paid: Collection[int]) -> float:
    """Return a merit divided by 1 + the test cost that is not ``paid`` yet."""
    return candidate.merit / (1 + test_cost(candidate.attribute, schema, paid))


def test_cost(attribute: int, schema: Schema, paid: Collection[int]) -> float:
    """Return the cost of testing an attribute, without columns that were paid for."""
    paid_columns = set(schema.input_columns(paid))
    columns = schema.input_columns([attribute])
    return sum(
        schema.attributes[index].cost for index in columns if index not in paid_columns
    )


def is_significant(candidate: Candidate, recipe: Recipe) -> bool:
    """Return whether a candidate's p is at most the recipe's level, if it has one."""
    if recipe.alpha_split is None or candidate.p_value is None:
        return True
    return candidate.p_value <= recipe.alpha_split * (1 + TOLERANCE)


def compete(
    search: Search, candidates: Sequence[Candidate], schema: Schema
) -> list[int]:
    """Return which candidates the criterion lets compete."""
    splits = NodeSplits.of_candidates(candidates)
    return np.flatnonzero(_competes(search, splits, schema)).tolist()


def average_gain(
    search: Search, candidates: Sequence[Candidate], schema: Schema
) -> tuple[float, list[int]]:
    """Return the average gain, infinite without any, and the indices that count."""
    splits = NodeSplits.of_candidates(candidates)
    counted = np.flatnonzero(_in_average(search, splits, schema)).tolist()
    return float(_averages(search, splits, schema)[0]), counted
