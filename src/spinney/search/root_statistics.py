"""Statistics of the attributes over all training rows, for the search at every node."""

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
    """Statistics of one attribute over all training rows.

    Parameters
    ----------
    default_value : float
        The mean of a number in 12 digits, the mode of nominal codes, or the ordered
        code nearest to the mean. 0 if no value is known.
    ranks : array of int
        The rank of each code by the mean of a numeric target, lowest first. Rows with a
        missing value count at the mode; codes without rows have the overall mean. Empty
        for a number.
    """

    default_value: float
    ranks: Integers


def statistics_of(table: CountTable, attribute: Attribute) -> RootStatistics:
    """Return the statistics of an attribute from the root's table.

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
        filled = table.with_missing_at(heaviest(sizes))
        weight, first, _ = filled.total
        means = np.full(len(ranks), first / weight)
        means[table.values] = filled.weights[:, 1] / filled.weights[:, 0]
        ranks[np.argsort(means, kind="stable")] = np.arange(len(ranks))
    return RootStatistics(typical, ranks)


def typical_value(values: NDArray[Any], sizes: Floats, kind: str) -> float:
    """Return the value to impute for a missing one, of values that weigh ``sizes``.

    A number or an ordered code may occur several times.

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
    """Return the statistics of the root's tables, by attribute."""
    return {
        index: statistics_of(table, schema.attributes[index])
        for index, table in tables.items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class RootSummary:
    """Statistics and traits of all attributes over all rows.

    Parameters
    ----------
    cuts : mapping of int to array
        The cuts between the buckets of numeric attributes, if they have any.
    observed : mapping of int to array
        The values of attributes over all rows.
    statistics : mapping of int to RootStatistics
        The statistics of each attribute.
    traits : AttributeTraits
        The traits of each attribute, a line each.
    """

    cuts: Mapping[int, Floats] = field(default_factory=dict)
    observed: Mapping[int, NDArray[Any]] = field(default_factory=dict)
    statistics: Mapping[int, RootStatistics] = field(default_factory=dict)
    traits: AttributeTraits = field(default_factory=lambda: AttributeTraits.unknown(0))

    def with_tables(
        self, batch: TableBatch, schema: Schema, recipe: Recipe
    ) -> "RootSummary":
        """Return the summary with these tables of all rows added.

        Existing attributes stay unchanged.
        """
        cuts, observed = dict(self.cuts), dict(self.observed)
        statistics = dict(self.statistics)
        traits = self.traits.resized(len(schema.attributes))
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
                is_multiway = recipe.grouping == "multiway"
                traits.kind[index] = NOMINAL if is_multiway else ORDINAL
                traits.n_codes[index] = len(cuts[index]) + 1
            elif numeric:
                traits.step[index] = recipe.min_step_of(table.values)
        return RootSummary(cuts, observed, statistics, traits)

    def is_equivalent(
        self, other: "RootSummary", *, typical: bool, ranks: bool
    ) -> bool:
        """Return whether two summaries lead to the same splits.

        The imputed values are compared if ``typical``, the orders of codes if
        ``ranks``.
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
            np.array_equal(statistics.ranks, other.statistics[index].ranks)
            for index, statistics in self.statistics.items()
        )
