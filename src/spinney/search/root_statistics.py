"""What all training rows together say of the attributes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import heaviest
from spinney.data import Attribute, Schema
from spinney.recipes import Recipe
from spinney.search.buckets import cuts_of
from spinney.search.table_traits import KINDS, NOMINAL, ORDINAL, AttributeTraits
from spinney.trees import CountTable, TableBatch


@dataclass(frozen=True, slots=True, eq=False)
class RootStatistics:
    """What all training rows together say of one attribute.

    Parameters
    ----------
    default_value : float
        The mean of a number in 12 digits; the commonest code, or of ordered codes
        that next to their mean. 0 where no value is known.
    ranks : array of int
        The position of each code in the order of the mean of a numeric target, lowest
        first. Rows whose value is missing count at the commonest code; codes
        without rows have the mean of all. Empty for a number.
    """

    default_value: float
    ranks: Integers


def statistics_of(table: CountTable, attribute: Attribute) -> RootStatistics:
    """Return what the root's table says of its attribute.

    >>> table = CountTable.of_moments([[1, 9, 81], [2, 2, 2]])
    >>> found = statistics_of(table, Attribute("sort", "nominal", ("a", "b", "c")))
    >>> found.default_value, found.ranks.tolist()
    (1.0, [2, 0, 1])
    """
    if not len(table.values):
        return RootStatistics(0.0, np.arange(len(attribute.values)))
    sizes = table.sizes
    typical = typical_value(table.values, sizes, attribute.kind)
    ranks = np.arange(len(attribute.values))
    if table.is_moments and attribute.kind == "nominal":
        fill_missing = table.with_missing_at(heaviest(sizes))
        weight, first, _ = fill_missing.total
        means = np.full(len(ranks), first / weight)
        means[table.values] = fill_missing.weights[:, 1] / fill_missing.weights[:, 0]
        ranks[np.argsort(means, kind="stable")] = np.arange(len(ranks))
    return RootStatistics(typical, ranks)


def typical_value(values: NDArray[Any], sizes: Floats, kind: str) -> float:
    """Return what stands for a missing value, of values that weigh ``sizes``.

    A number or an ordered code may be there several times.

    >>> typical_value(np.array([1.0, 2.0]), np.array([1.0, 3.0]), "numeric")
    1.75
    """
    if kind == "nominal":
        return float(values[heaviest(sizes)])
    # No product of vectors: for one so long its library would start its threads.
    mean = float((sizes / sizes.sum() * values).sum())
    typical = float(f"{mean:.12g}")
    return float(np.rint(typical)) if kind == "ordinal" else typical


def statistics_by_attribute(
    tables: Mapping[int, CountTable], schema: Schema
) -> dict[int, RootStatistics]:
    """Return what the root's tables say, by attribute."""
    return {
        index: statistics_of(table, schema.attributes[index])
        for index, table in tables.items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class RootSummary:
    """What is known of each attribute from all rows, for the search at every node.

    Parameters
    ----------
    cuts : mapping of int to array
        The cuts between the buckets of numeric attributes, if they have any.
    observed : mapping of int to array
        The values of attributes over all rows.
    statistics : mapping of int to RootStatistics
        What all rows say of each attribute.
    traits : Traits
        What the search asks of each attribute, a line each.
    """

    cuts: Mapping[int, Floats] = field(default_factory=dict)
    observed: Mapping[int, NDArray[Any]] = field(default_factory=dict)
    statistics: Mapping[int, RootStatistics] = field(default_factory=dict)
    traits: AttributeTraits = field(default_factory=lambda: AttributeTraits.unknown(0))

    def with_tables(
        self, batch: TableBatch, schema: Schema, recipe: Recipe
    ) -> "RootSummary":
        """Return what is known after these tables of all rows have been seen.

        What was known of their attributes before stays.
        """
        cuts, observed = dict(self.cuts), dict(self.observed)
        statistics = dict(self.statistics)
        traits = self.traits.with_room(len(schema.attributes))
        for number, index in enumerate(batch.attribute.tolist()):
            if index in statistics:
                continue
            attribute = schema.attributes[index]
            numeric = attribute.kind == "numeric"
            table = batch.table(number, codes=not numeric)
            statistics[index] = statistics_of(table, attribute)
            observed[index] = table.values
            traits.numeric[index] = numeric
            traits.kind[index] = KINDS.index(attribute.kind)
            traits.n_codes[index] = len(attribute.values)
            traits.typical[index] = statistics[index].default_value
            if numeric and recipe.bucketing is not None:
                cuts[index] = cuts_of(table, recipe.bucketing, recipe.n_buckets)
                several = recipe.grouping == "multiway"
                traits.kind[index] = NOMINAL if several else ORDINAL
                traits.n_codes[index] = len(cuts[index]) + 1
            elif numeric:
                traits.step[index] = recipe.step_of(table.values)
        return RootSummary(cuts, observed, statistics, traits)

    def is_equivalent(
        self, other: "RootSummary", *, typical: bool, ranks: bool
    ) -> bool:
        """Return whether all rows say the same of the attributes as others do.

        What stands for a missing value, and the order of codes by a numeric target,
        are compared where they are asked for.
        """
        mine, theirs = self.traits, other.traits
        names = [
            "numeric",
            "kind",
            "n_codes",
            "step",
            *(["typical"] if typical else []),
        ]
        if not all(np.array_equal(getattr(mine, n), getattr(theirs, n)) for n in names):
            return False
        if [*self.cuts] != [*other.cuts]:
            return False
        same = all(np.array_equal(cuts, other.cuts[i]) for i, cuts in self.cuts.items())
        if not ranks:
            return same
        return same and all(
            np.array_equal(own.ranks, other.statistics[index].ranks)
            for index, own in self.statistics.items()
        )
