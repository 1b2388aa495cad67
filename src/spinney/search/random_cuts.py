"""Random cuts, for extremely randomised trees.

At each node one cut is drawn for every sampled attribute, and the best cut is taken
(Geurts, Ernst and Wehenkel 2006, "Extremely randomized trees"). For a number the cut is
uniform between the least and the greatest value at the node. For a nominal attribute
that is split in two, a coin is tossed for every value until both sides have one.

A table is reduced to the two sides of the drawn cut, so the search has one choice. The
resulting candidate then gets the threshold and its full counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.keyed_random import coin, uniform
from spinney.data import Attribute, Schema
from spinney.search.attribute_split import best_splits
from spinney.search.level_splits import LevelSplits
from spinney.search.tree_search import Search
from spinney.trees import Candidate, CountTable, Groups, TableBatch, Threshold


@dataclass(frozen=True, slots=True)
class RandomCut:
    """A random cut: the full table, a threshold, and each value's branch.

    The first value of a nominal attribute is in the first branch.
    """

    table: CountTable
    threshold: float | None
    branches: Integers


@dataclass(frozen=True, eq=False)
class RandomCutSplits(LevelSplits):
    """Splits at random cuts, by node and attribute."""

    random_cuts: Mapping[tuple[int, int], RandomCut] = field(default_factory=dict)

    def candidates(self, numbers: Integers) -> list[Candidate]:
        """Return splits with their random cuts."""
        nodes = self.tables.node[numbers].tolist()
        searched = super().candidates(numbers)
        cuts = [
            self.random_cuts.get((n, c.attribute))
            for n, c in zip(nodes, searched, strict=True)
        ]
        pairs = zip(searched, cuts, strict=True)
        return [c if cut is None else _with_random_cut(c, cut) for c, cut in pairs]


def random_cut_splits(
    search: Search, batch: TableBatch, schema: Schema, keys: Sequence[int]
) -> RandomCutSplits:
    """Return the split of each table at a random cut; ``keys`` are the nodes' keys.

    Nominal attributes with other than binary splits are searched.
    """
    binary = search.recipe.grouping == "binary"
    coarse: list[dict[int, CountTable]] = [{} for _ in keys]
    random_cuts: dict[tuple[int, int], RandomCut] = {}
    pairs = zip(batch.node.tolist(), batch.attribute.tolist(), strict=True)
    for number, (node, index) in enumerate(pairs):
        attribute = schema.attributes[index]
        table = batch.table(number, codes=attribute.kind != "numeric")
        coarse[node][index] = table
        if len(table.values) < 2 or (attribute.kind == "nominal" and not binary):
            continue
        cut = random_cuts[node, index] = _draw_cut(table, attribute, index, keys[node])
        # One value stands for each side: of numbers those that meet at the cut.
        left, right = (np.flatnonzero(cut.branches == side) for side in (0, 1))
        ends = [left[0 if attribute.kind == "nominal" else -1], right[0]]
        sides = table.merged(cut.branches, 2)
        coarse[node][index] = replace(sides, values=table.values[ends])
    splits = best_splits(search, TableBatch.of(coarse), schema)
    field_values = {f.name: getattr(splits, f.name) for f in fields(splits)}
    return RandomCutSplits(**field_values, random_cuts=random_cuts)


def _draw_cut(
    table: CountTable, attribute: Attribute, index: int, key: int
) -> RandomCut:
    """Return a random cut of an attribute."""
    if attribute.kind == "nominal":
        toss = 0
        branches = np.zeros(len(table.values), dtype=np.int64)
        while len(np.unique(branches)) < 2:
            branches[:] = [coin(key, index, int(v), toss) for v in table.values]
            toss += 1
        return RandomCut(table, None, branches ^ branches[0])
    low, high = float(table.values[0]), float(table.values[-1])
    share = uniform(key, index)
    # Not low + share · (high − low): the range of two floats may be none.
    cut = low * (1 - share) + high * share
    cut = cut if low <= cut < high else low
    if attribute.kind == "ordinal":
        cut = float(np.floor(cut)) + 0.5
    return RandomCut(table, cut, (table.values > cut).astype(np.int64))


def _with_random_cut(candidate: Candidate, cut: RandomCut) -> Candidate:
    """Return a candidate with its random cut."""
    split = candidate.split
    if isinstance(split, Threshold):
        if cut.threshold is None or not np.isfinite(split.threshold):
            return candidate
        return replace(candidate, split=replace(split, threshold=cut.threshold))
    assert isinstance(split, Groups)
    swapped = int(cut.table.values[0]) not in split.groups[0]
    sides = cut.branches ^ swapped
    groups = tuple(
        tuple(int(code) for code in cut.table.values[sides == side]) for side in (0, 1)
    )
    return replace(candidate, split=replace(split, groups=groups), table=cut.table)
