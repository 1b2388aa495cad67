"""Cuts that are drawn, not sought: extremely randomised trees.

At each node one cut is drawn for every attribute that is looked at, and the best of
those is taken (Geurts, Ernst and Wehenkel 2006, "Extremely randomized trees"). Of a
number it is uniform between the least and the greatest value there; of a nominal
attribute that is split in two, every value throws a coin until both sides have one.

A table is made as coarse as the drawn cut, so that there is nothing to choose, and the
candidate that comes of it is given the cut itself and its counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.keyed_random import coin, uniform
from spinney.data import Attribute, Schema
from spinney.search.node_split import Decision
from spinney.trees import Candidate, CountTable, Groups, Threshold


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cut that was drawn: the full table, a threshold, and each value's branch.

    The first value of a nominal attribute is in the first branch.
    """

    table: CountTable
    threshold: float | None
    branches: Integers


def coarse_tables(
    tables: Mapping[int, CountTable], schema: Schema, key: int, *, binary: bool
) -> tuple[dict[int, CountTable], dict[int, Drawn]]:
    """Return tables of two values each, and what was drawn to make them so.

    Nominal attributes stay as they are unless they are to be split in two, and so do
    those with fewer than two values.
    """
    coarse, cuts = dict(tables), {}
    for index, table in tables.items():
        attribute = schema.attributes[index]
        if len(table.values) < 2 or (attribute.kind == "nominal" and not binary):
            continue
        cut = _draw(table, attribute, index, key)
        # One value stands for each side: of numbers those that meet at the cut.
        left, right = (np.flatnonzero(cut.branches == side) for side in (0, 1))
        ends = [left[0 if attribute.kind == "nominal" else -1], right[0]]
        sides = table.merged(cut.branches, 2)
        coarse[index] = replace(sides, values=table.values[ends])
        cuts[index] = cut
    return coarse, cuts


def _draw(table: CountTable, attribute: Attribute, index: int, key: int) -> Drawn:
    """Draw the cut of an attribute."""
    if attribute.kind == "nominal":
        turn = 0
        branches = np.zeros(len(table.values), dtype=np.int64)
        while len(np.unique(branches)) < 2:
            branches[:] = [coin(key, index, int(v), turn) for v in table.values]
            turn += 1
        return Drawn(table, None, branches ^ branches[0])
    low, high = float(table.values[0]), float(table.values[-1])
    share = uniform(key, index)
    # Not low + share · (high − low): the range of two floats may be none.
    cut = low * (1 - share) + high * share
    cut = cut if low <= cut < high else low
    if attribute.kind == "ordinal":
        cut = float(np.floor(cut)) + 0.5
    return Drawn(table, cut, (table.values > cut).astype(np.int64))


def with_drawn_cuts(decision: Decision, cuts: Mapping[int, Drawn]) -> Decision:
    """Return a decision over coarse tables as one about the cuts that were drawn."""
    candidates = tuple(
        _refined(candidate, cuts[candidate.attribute])
        if candidate.attribute in cuts
        else candidate
        for candidate in decision.candidates
    )
    return replace(decision, candidates=candidates)


def _refined(candidate: Candidate, cut: Drawn) -> Candidate:
    """Return a candidate with the cut that was drawn."""
    split = candidate.split
    if isinstance(split, Threshold):
        if cut.threshold is None or not np.isfinite(split.threshold):
            return candidate
        return replace(candidate, split=replace(split, threshold=cut.threshold))
    assert isinstance(split, Groups)
    turned = int(cut.table.values[0]) not in split.groups[0]
    sides = cut.branches ^ turned
    groups = tuple(
        tuple(int(code) for code in cut.table.values[sides == side]) for side in (0, 1)
    )
    return replace(candidate, split=replace(split, groups=groups), table=cut.table)
